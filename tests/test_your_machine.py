"""The measured roofline: the kept measurement on the page, a reader's own in a kernel."""

import re

import pytest

from primer import explore, figures
from primer.explore import payload
from primer.explore.frames import FrameRenderer
from primer.figures import your_machine
from primer.machine import snapshot
from tests.test_machine import made, point

SHOWN = figures.load("your-machine")


def rows(outcome):
    return {row.name: row for row in outcome.rows}


def test_it_opens_on_the_kept_measurement():
    machine = snapshot()
    assert SHOWN.level == "hardware"
    assert [c.name for c in SHOWN.controls] == ["kernel"]
    assert SHOWN.control("kernel").values == machine.kernels
    assert machine.date in SHOWN.assumes


def test_every_kernel_reads_out_its_own_measurement():
    machine = snapshot()
    for kernel in machine.kernels:
        seen = rows(SHOWN.evaluate({"kernel": kernel}))
        measured = machine.points[machine.kernels.index(kernel)]
        assert seen["measured_time_s"].value == measured.time_s
        assert seen["measured_flop_per_s"].value == measured.work_flop / measured.time_s
        share = seen["time_s"].value / measured.time_s
        assert seen["attainable_frac"].value == pytest.approx(share)
        assert share == pytest.approx(
            seen["measured_flop_per_s"].value / seen["attainable_flop_per_s"].value
        )
        assert seen["n_threads"].value == machine.n_threads


def test_the_sentence_follows_the_state():
    machine = made(
        point(),  # 100 % of the slope that it set
        point("add", work_flop=9e7),
        point("dot", time_s=2.0, slowest_s=3.0),
        point("loops", work_flop=1e9, traffic_bytes=1e6, time_s=2.0),
        point("matmul", work_flop=1e9, traffic_bytes=1e6),
        point("stencil", time_s=0.5),
    )
    shown = your_machine.measured(machine)
    sentences = {k: shown.evaluate({"kernel": k}).spoken for k in machine.kernels}
    assert len(set(sentences.values())) == 6
    assert sentences["triad"].startswith("This loop set the slope")
    assert sentences["dot"].startswith("The memory is the limit, and this code keeps it less")
    assert "50 %" in sentences["dot"]
    assert "keeps them busy: 100 %" in sentences["matmul"]
    assert "could reach 1 GFLOP/s" in sentences["loops"]
    assert sentences["stencil"].startswith("Above its roof: 200 MFLOP/s where the model allows")


def test_a_point_above_its_roof_says_so_in_the_picture():
    figure = your_machine.draw_your_machine(made(point("dot", time_s=0.5)).place("dot"))
    assert figure.label.get_text() == "dot product: 200 MFLOP/s, above its roof"


def test_dot_ring_and_bars_stand_where_the_numbers_say():
    """0.1 FLOP/B at 1 GB/s: the ring at 0.1 GFLOP/s; 2 s measured: the dot at half of it."""
    placed = made(point("dot", time_s=2.0, slowest_s=3.0)).place("dot")
    figure = your_machine.draw_your_machine(placed)
    assert figure.roofline.dot.get_xydata().tolist() == [[0.1, 1e8]]
    assert figure.dot.get_xydata().tolist() == [[0.1, 5e7]]
    model, measured = (bar.get_width() for bar in figure.time_bars)
    assert measured == pytest.approx(2 * model)
    assert [label.get_text() for label in figure.time_labels] == ["1 s", "2 s"]


def test_a_readers_own_machine_is_driven_live():
    machine = made(point(), point("dot", time_s=0.7), name="A very long name of a processor, 2 GHz")
    live = explore.show(your_machine.measured(machine))
    assert "A very long name" in live.view.value
    live.controls["kernel"].value = "dot"
    assert re.search(r'data-name="measured_time_s" data-value="0\.7"', live.view.value)
    assert live.errors == []


def test_precisions_of_a_gpu_have_roofs_of_their_own():
    peaks = (
        point("matmul", work_flop=1e9),
        point("matmul", compute="bf16", work_flop=8e9),
    )
    kernels = [point(f"matmul_64_{p}", compute=p, work_flop=5e8) for p in ("fp32", "bf16")]
    shown = your_machine.measured(made(*kernels, device="cuda", peaks=peaks))
    renderer = FrameRenderer(shown)
    roofs = []
    for kernel in ("matmul_64_fp32", "matmul_64_bf16"):
        svg = renderer.svg({"kernel": kernel})
        roofs.append(re.search(r">([^<]*GFLOP/s (?:fp32|bf16))<", svg)[1])
    assert roofs == ["1 GFLOP/s fp32", "8 GFLOP/s bf16"]
    assert "thread" not in shown.assumes


def test_only_kernels_with_flop_and_bytes_are_drawn():
    machine = made(point("copy", work_flop=0), point("dot"))
    assert your_machine.measured(machine).control("kernel").values == ("dot",)
    with pytest.raises(ValueError, match="machine must have a kernel with FLOP and bytes"):
        your_machine.measured(made(point("copy", work_flop=0)))


def test_every_dot_lies_inside_the_axes():
    (left, right), (low, high) = your_machine.limits(snapshot())
    for kernel in snapshot().kernels:
        placed = snapshot().place(kernel)
        assert left < placed.model.intensity_flop_per_byte < right
        assert low < placed.judgement.measured_flop_per_s < high
    assert low < max(p.flop_per_s for p in snapshot().peaks) < high


def test_the_drawn_figure_says_what_it_shows():
    html = your_machine.draw_your_machine(snapshot().place("dot"))._repr_html_()
    assert "Measured roofline of" in html
    assert "dot product reaches" in html


def test_it_is_light():
    assert len(payload.script(SHOWN)) < 60_000

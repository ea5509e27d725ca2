"""The double-buffer figure: what each state shows, by hand and against the model."""

from __future__ import annotations

import numpy as np
import pytest

from primer import buffering, hardware
from primer.figures import _bufferruns as runs
from primer.figures import _buffersheet as sheet
from primer.figures.double_buffer import EXPLORABLE, draw_double_buffer

BASE = EXPLORABLE.default_state


def run(**state):
    return runs.compute(**(BASE | state))


def spoken(**state):
    return EXPLORABLE.evaluate(BASE | state).spoken


def test_a_tile_of_a_v5e_by_hand():
    # four arrays of 128 · 128 weights of 2 B; 819 GB/s and 1.5 GHz; 6 · 6 of them are 768 · 3072
    one = run()
    assert one.tile_bytes == 131_072
    assert one.load_cycles == pytest.approx(131_072 / 819e9 * 1.5e9) == pytest.approx(240.06, 1e-5)
    assert one.schedule.n_tiles == 36
    assert run(bandwidth=2.0).load_cycles == pytest.approx(120.03, 1e-4)


def test_one_row_takes_what_its_bytes_take():
    # 768 · 3072 weights of 2 B are 4.72 MB; at 0.819 TB/s 5.76 µs, and one cycle for the row
    one = run(m=1)
    assert one.time_s == pytest.approx(4_718_592 / 0.819e12 + 1 / 1.5e9)
    assert one.time_s == pytest.approx(5.76e-6, rel=1e-3)
    assert one.schedule.total_cycles == pytest.approx(8642 + 1, abs=0.3)


def test_the_stall_ends_at_the_ridge():
    # up to 240 rows all 36 copies show; from there on only the first
    load = run().load_cycles
    for m in runs.M_VALUES:
        stall = run(m=m).schedule.stall_cycles
        expected = load if m > load else 36 * load - 35 * m
        assert stall == pytest.approx(expected, rel=1e-9)
    ridge = hardware.load("tpu_v5e").ridge_flop_per_byte("bf16")
    assert ridge == pytest.approx(197e12 / 819e9) == pytest.approx(load, rel=3e-3)
    assert run(bandwidth=0.5).ridge_flop_per_byte == pytest.approx(2 * ridge)


def test_in_turns_by_hand():
    assert run(n_buffers=1, m=128).schedule.total_cycles == pytest.approx(36 * (240.0586 + 128))


@pytest.mark.parametrize("bandwidth", runs.BANDWIDTHS)
@pytest.mark.parametrize("m", runs.M_VALUES)
def test_three_buffers_are_two_where_copies_are_alike(m, bandwidth):
    two, three = (run(n_buffers=n, m=m, bandwidth=bandwidth).schedule for n in (2, 3))
    assert three.total_cycles == pytest.approx(two.total_cycles, rel=1e-12)
    uneven = [
        run(n_buffers=n, m=m, bandwidth=bandwidth, uneven=True).schedule.total_cycles
        for n in (1, 2, 3)
    ]
    assert uneven == sorted(uneven, reverse=True)


def test_uneven_copies_by_hand():
    # long first: 1.5 L, then a step is the longer of the work and the next copy, then the last work
    load = run().load_cycles
    found = run(m=240, uneven=True).schedule.total_cycles
    assert found == pytest.approx(1.5 * load + 18 * 240 + 17 * 1.5 * load + 240)
    assert runs.copies(1.0, True).sum() == pytest.approx(36 * load)


@pytest.mark.parametrize("uneven", [False, True])
@pytest.mark.parametrize("n_buffers", [1, 2, 3])
def test_the_dot_of_every_state_lies_on_its_curve(n_buffers, uneven):
    for bandwidth in runs.BANDWIDTHS:
        points = dict(runs.curve(n_buffers, bandwidth, uneven))
        assert list(points) == sorted(points)
        for m in runs.M_VALUES:
            state = {"n_buffers": n_buffers, "bandwidth": bandwidth, "uneven": uneven, "m": m}
            found = run(**state).schedule
            assert points[m] == found.per_tile_cycles
            if not uneven:
                form = buffering.count(
                    runs.load_cycles(bandwidth), m, n_tiles=36, n_buffers=n_buffers
                )
                assert points[m] == pytest.approx(form.total_cycles / 36)


def lengths(patch, y):
    """Widths in cycles of the rectangles that stand at a height."""
    corners = patch.get_path().vertices.reshape(-1, 5, 2)
    return [(c[1, 0] - c[0, 0]) / sheet.PER_CYCLE for c in corners if c[0, 1] == y]


def test_the_chart_is_the_schedule():
    gantt = draw_double_buffer(run()).gantt
    # seven copies of 240 cycles in 1,750, and a piece of the eighth
    assert lengths(gantt.fills, sheet.MEMORY_Y) == pytest.approx([240.06] * 7 + [69.59], rel=1e-3)
    assert lengths(gantt.works, sheet.ARRAYS_Y)[:6] == pytest.approx([128] * 6)
    # first for a whole copy, then for the rest of each
    waits = lengths(gantt.waits, sheet.ARRAYS_Y)
    assert waits == pytest.approx([240.06] + [112.06] * 6, rel=1e-3)
    # tiles 1, 3, 5, 7 lie in buffer A, the others in B; none waits, as the arrays do
    assert len(lengths(gantt.works, sheet.BUFFER_Y[0])) == 4
    assert len(lengths(gantt.works, sheet.BUFFER_Y[1])) == 3
    assert lengths(gantt.full, sheet.BUFFER_Y[0]) == []
    assert [name.get_text() for name in gantt.names] == ["buffer A", "buffer B", ""]


def test_full_buffers_wait_where_work_is_long():
    gantt = draw_double_buffer(run(m=1024, n_buffers=3)).gantt
    # tile 2 is there at 480 and used from 240 + 1024 on
    assert lengths(gantt.full, sheet.BUFFER_Y[1])[0] == pytest.approx(1264.06 - 480.12, rel=1e-3)
    assert "360 or 120 cycles" in draw_double_buffer(run(uneven=True)).gantt.title.get_text()


def test_nothing_leaves_the_chart():
    gantt = draw_double_buffer(run()).gantt
    for state in EXPLORABLE.states():
        gantt.update(runs.compute(**state))
        for patch in (gantt.fills, gantt.works, gantt.waits, gantt.full):
            xs = patch.get_path().vertices[:, 0]
            shown = xs[xs > 0]  # an empty patch lies outside the picture
            assert (shown >= sheet.TIME_X - 1e-9).all()
            assert (shown <= sheet.RIGHT + 1e-9).all()


def test_readout_and_words():
    rows = {row.name: row for row in EXPLORABLE.evaluate(BASE).rows}
    assert rows["tile_bytes"].text == "131,072 B"
    assert rows["load_cycles"].text == "240.1 cycles"
    assert rows["stall_frac"].value == pytest.approx(1 - 36 * 128 / rows["total_cycles"].value)
    figure = draw_double_buffer(run())
    assert figure.gantt.total.get_text().startswith("all 36 tiles: 8,770 cycles, 5.85 µs; the arr")
    assert figure.alt.startswith("Two buffers, 36 tiles of weights. A copy takes 240 cycles and")
    assert "one and a half times" in draw_double_buffer(run(uneven=True)).alt
    assert spoken(m=1).startswith(
        "A tile takes 240.1 cycles to arrive, and one row uses it up in a"
    )
    assert spoken(n_buffers=3).endswith("as every tile takes equally long.")
    assert "240.5 FLOP/B" in spoken(m=240)


def test_every_sentence_is_true():
    for state in EXPLORABLE.states():
        outcome = EXPLORABLE.evaluate(state)
        found, text = outcome.result, outcome.spoken
        done, load = found.schedule, found.load_cycles
        even = buffering.count(load, found.m, n_tiles=36)
        first = done.fill_cycles
        gaps = np.diff(done.load_start_cycle) - runs.copies(state["bandwidth"], found.uneven)[:-1]
        assert "{" not in text
        if "for every tile" in text:
            assert (done.work_start_cycle[1:] > done.work_end_cycle[:-1]).all()
        if "never pauses" in text or "busy all the time" in text or "all busy" in text:
            assert gaps.max() < 1
        if "first tile only" in text or "first copy only" in text or "only the first" in text:
            assert done.stall_cycles - first < 36
        if "the memory pauses" in text or "has to pause" in text:
            assert gaps.max() > 1
        if "just as the one before" in text:
            assert abs(found.m - found.ridge_flop_per_byte) < 0.004 * found.m
        if "Try a third buffer" in text:
            more = runs.compute(**(state | {"n_buffers": 3})).schedule
            assert more.total_cycles < 0.99 * done.total_cycles
        if "third buffer changes nothing" in text:
            less = runs.compute(**(state | {"n_buffers": 2})).schedule
            assert less.total_cycles == pytest.approx(done.total_cycles, rel=1e-3)
        if "not much more" in text:
            assert done.stall_frac < even.stall_frac + 0.02
        if "cost next to nothing" in text:
            assert even.total_cycles < 1.03 * 36 * load

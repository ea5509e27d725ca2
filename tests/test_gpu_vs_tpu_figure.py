"""The figure of a GPU beside a TPU: what each state shows and says, against the model."""

from __future__ import annotations

import pytest

from primer import hardware, roofline
from primer.figures import _blockedruns as runs
from primer.figures.gpu_vs_tpu import EXPLORABLE, NEVER, cache_decides, draw_gpu_vs_tpu
from primer.workloads import Matmul

BASE = EXPLORABLE.default_state


def pair(**state):
    return runs.compute(**(BASE | state))


def spoken(**state):
    return EXPLORABLE.evaluate(BASE | state).spoken


def test_it_opens_on_the_one_matmul():
    assert (BASE["m"], BASE["n"], BASE["k"]) == (1024, 3072, 768)
    # 4 · 24 blocks of 256 x 128 for 132 multiprocessors; 6 · 6 steps of 1,024 rows
    assert (pair().gpu.n_blocks, pair().gpu.n_waves, pair().tpu.n_steps) == (96, 1, 36)
    assert pair().gpu.parts.useful * 1e6 == pytest.approx(4.88, abs=0.01)
    # 96 of 132 used: 4.88 · 132 / 96
    assert pair().gpu.compute_time_s * 1e6 == pytest.approx(6.715, abs=0.01)
    assert pair().tpu.compute_time_s * 1e6 == pytest.approx(24.58, abs=0.01)


def test_a_reader_reaches_the_waves_of_chapter_three():
    two = pair(block="128x128").gpu
    assert (two.n_blocks, two.n_waves, two.n_last_blocks) == (192, 2, 60)
    assert two.compute_time_s == pytest.approx(pair().gpu.compute_time_s)
    # half the reuse: 64 FLOP for a byte from the cache instead of 85.3
    assert two.cache_bytes == pytest.approx(pair().gpu.cache_bytes * 4 / 3)
    assert "waits for its L2 cache" in spoken(block="128x128")


def test_the_chosen_block_is_the_fastest():
    for state in EXPLORABLE.states():
        if state["block"] == runs.FASTEST:
            times = [pair(**state | {"block": name}).gpu.time_s for name in runs.TO_CHOOSE]
            assert pair(**state).gpu.time_s == min(times)


def test_nothing_beats_its_roofline():
    for state in EXPLORABLE.states():
        shown = runs.compute(**state)
        work = Matmul(state["m"], state["n"], state["k"])
        for chip, found in ((runs.GPU, shown.gpu), (runs.TPU, shown.tpu)):
            assert found.time_s >= roofline.place(hardware.load(chip), work).time_s
        assert shown.gpu.parts.weights == shown.tpu.parts.idle == 0  # what NEVER says


def test_the_picture_adds_up():
    figure = draw_gpu_vs_tpu(pair(m=395, n=1000))
    for bar, found in (
        (figure.gpu, pair(m=395, n=1000).gpu),
        (figure.tpu, pair(m=395, n=1000).tpu),
    ):
        width = 0.0
        for name, part in bar.parts.items():
            xs = part.get_path().vertices[:, 0]
            drawn = xs.max() - xs.min()
            assert drawn == pytest.approx(getattr(found.shares, name) * 408, abs=0.41)
            width += drawn
        assert width == pytest.approx(408, abs=2)
    cells = [cell.get_text() for cell in figure.table.cells]
    assert len(cells) == 8 * 4
    assert cells[2] == f"{pair(m=395, n=1000).tpu.parts.useful * 1e6:.2f} µs"
    texts = {cell.get_gid(): cell.get_text() for cell in figure.table.cells}
    assert {texts[gid] for gid in NEVER if gid in texts} == {"–", ""}


def test_titles_and_words():
    figure = draw_gpu_vs_tpu(pair(block="128x128"))
    assert (
        figure.gpu.words.get_text() == "192 blocks of 128 × 128, 132 cores: 2 waves, 60 in the last"
    )
    assert figure.tpu.words.get_text() == "36 steps: 1,024 rows past 128 × 512 weights"
    assert figure.tpu.title.get_text() == "TPU v5e: 26.6 µs, 92.2 % of its peak"
    assert draw_gpu_vs_tpu(pair()).gpu.words.get_text().endswith("1 wave, 36 idle")
    assert draw_gpu_vs_tpu(pair(m=1)).tpu.words.get_text().startswith("36 steps: 1 row past")
    assert "TPU 26.6 µs: useful 92.4%, fill 2.1%, tail 5.5%." in figure.alt
    one_row = draw_gpu_vs_tpu(pair(m=1, n=1000, k=3072, block="128x128"))
    assert one_row.gpu.title.get_text() == "H100: 13.5 µs, < 0.1 % of its peak"  # some, not 0.0


def test_every_sentence_is_true():
    names = {"padding past": "padding", "cores without": "idle", "waiting for weights": "weights",
             "copies that": "copy", "fill and tail": "ends"}  # fmt: skip
    for state in EXPLORABLE.states():
        outcome = EXPLORABLE.evaluate(state)
        assert "{" not in outcome.spoken
        sentences = outcome.spoken.split(". ")
        for key, found in (("GPU", outcome.result.gpu), ("TPU", outcome.result.tpu)):
            (said,) = [s for s in sentences if s.startswith((f"The {key} w", f"Of the {key}"))]
            shares = found.shares
            losses = {
                "padding": shares.padding, "idle": shares.idle, "weights": shares.weights,
                "copy": shares.copy, "ends": shares.fill + shares.tail,
            }  # fmt: skip
            if "waits for" in said:
                assert found.copy_time_s > 0.9 * found.time_s
                assert shares.useful < 0.5
                assert ("main memory" in said) == (not cache_decides(found))
            else:
                first = said.split("the largest loss is ")[1]
                named = [name for start, name in names.items() if first.startswith(start)]
                assert losses[named[0]] == max(losses.values())
    # 989.4 over 197
    assert "peak is 5.0 times the TPU’s" in spoken()


def test_one_row_waits_for_memory_on_both():
    assert spoken(m=1).count("waits for main memory") == 2
    assert pair(m=1).gpu.machine.block_m == 64


def test_bad_states_are_named():
    with pytest.raises(ValueError, match="m must be one of"):
        EXPLORABLE.evaluate({"m": 7})

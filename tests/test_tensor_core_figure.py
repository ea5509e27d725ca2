"""The Tensor Core figure: every instruction in mid-course, and the marks that the picture makes."""

from __future__ import annotations

import numpy as np
import pytest

from primer.figures._tensorcoreruns import N_STEPS, SIZES, compute, run
from primer.figures._tensorcoresheet import layout
from primer.figures._tensorcorewords import registers
from primer.figures.tensor_core import EXPLORABLE, draw_tensor_core

BASE = EXPLORABLE.default_state


def spoken(**state):
    return EXPLORABLE.evaluate(BASE | state).spoken


def rows(**state):
    return {row.name: row for row in EXPLORABLE.evaluate(BASE | state).rows}


def n_boxes(patch):
    """Rectangles of a path; without any it is one of no size, outside the picture."""
    corners = patch.get_path().vertices
    return 0 if (corners < 0).all() else len(corners) // 5


def test_ampere_by_hand():
    # five blocks of 8 × 4 × 8 out of eight: one element block has both halves of k, three have one
    result = compute("8.0", 5, 5)
    assert result.n_fma_done == 5 * 256
    assert result.n_complete == 8 * 4
    depth = result.depth[0]
    assert (depth[:8, :4] == 16).all()
    assert np.count_nonzero(depth == 8) == 3 * 32
    assert result.held("a")[:2] == ((1, 2), (1, 3))
    assert registers(result) == (
        "A [1, 2–3] [9, 2–3]\n    [1, 10–11] [9, 10–11]\nB [2–3, 1] [10–11, 1]\n"
        "D [1, 2–3] [9, 2–3]\nas [row, column]"
    )


@pytest.mark.parametrize("generation", SIZES)
def test_all_take_eight_cycles(generation):
    found = run(generation)
    assert found.schedule.n_steps == found.issue.least_cycles == N_STEPS
    for step in range(N_STEPS + 1):
        result = compute(generation, 0, step)
        assert result.depth.sum() == result.n_fma_done
        assert result.n_fma_done == step * found.issue.n_units * found.issue.fma_per_unit
    assert compute(generation, 0, 99).step == N_STEPS


@pytest.mark.parametrize(
    ("generation", "n_held", "n_rows", "n_columns"),
    [("7.0", 16, 2, 4), ("7.5", 10, 2, 2), ("8.0", 16, 2, 2), ("9.0", 8, 2, 4)],
)
def test_what_every_lane_holds(generation, n_held, n_rows, n_columns):
    # A + B + D: 4 + 4 + 8; 4 + 2 + 4; 8 + 4 + 4; none + none + 16 / 2
    for lane in range(32):
        result = compute(generation, lane, 0)
        held = result.held("d")
        assert result.n_held == n_held == sum(len(result.held(x)) for x in "abd")
        assert (len({i for i, _ in held}), len({j for _, j in held})) == (n_rows, n_columns)


@pytest.mark.parametrize("generation", SIZES)
@pytest.mark.parametrize("step", [0, 3, 5, 8])
def test_the_picture_marks_what_happened(generation, step):
    result = compute(generation, 9, step)
    figure = draw_tensor_core(result).matrices
    rows_, columns, _ = result.run.schedule.block
    one = result.run.instruction
    assert n_boxes(figure.now) == (result.run.issue.n_units if step else 0)
    assert n_boxes(figure.done) == result.n_complete // (rows_ * columns)
    partial = np.count_nonzero((result.depth > 0) & (result.depth < one.k))
    assert n_boxes(figure.part) == partial // (rows_ * columns)
    assert n_boxes(figure.held) == result.n_held


def test_the_marks_stand_in_their_cells():
    place = layout("8.0")
    x, y, w, h = place.block("d", 9, 3)
    x0, y0, *_ = place.block("d", 0, 0)
    assert (w, h) == pytest.approx((place.cell, place.cell))
    assert (x - x0, y0 - y) == pytest.approx((3 * place.cell, 9 * place.cell))
    # D stands under B and beside A
    assert place.block("b", 0, 3)[0] == pytest.approx(x)
    assert place.block("a", 9, 0)[1] == pytest.approx(y)
    # Hopper's second warp begins below a gap
    hopper = layout("9.0")
    gap = hopper.block("d", 15, 0)[1] - hopper.block("d", 16, 0)[1] - hopper.cell
    assert gap == pytest.approx(3)


def test_the_largest_results_to_scale():
    areas = {}
    for generation in SIZES:
        corners = draw_tensor_core(compute(generation, 0, 0)).words.mine.get_path().vertices
        width, height = np.ptp(corners, axis=0)
        areas[generation] = round(width * height * 4)
    assert areas == {"7.0": 256, "7.5": 128, "8.0": 128, "9.0": 64 * 256, "10.0": 128 * 256}


def test_readout_by_hand():
    ampere = rows()
    assert (ampere["n_fma"].value, ampere["operand_bytes"].value) == (2048, 768)
    assert ampere["fma_per_unit_derived"].text == "256.1"
    assert ampere["basis"].text == "312 TFLOP/s, 432 units, 1.41 GHz"
    assert ampere["block"].text == "8 × 4 × 8 (published)"
    assert ampere["shared_cycles"].text == "no cycles: not used"
    hopper = rows(generation="9.0")
    # (64 + 16) · 16 · 2 B = 2560 B at 128 B per cycle; 2 · 64 · 16 · 16 / 2560 = 12.8
    assert hopper["shared_cycles"].value == 20
    assert hopper["intensity_flop_per_byte"].value == 12.8
    assert hopper["fma_per_unit_derived"].text == "512.0"
    assert hopper["basis"].text == "989.4 TFLOP/s, 528 units, 1.83 GHz"
    assert hopper["block"].text == "8 × 4 × 16 (ours; the count is right)"
    assert rows(generation="10.0")["d_home"].value == "tensor memory"


def test_sentences():
    assert spoken(step=0).startswith("Nothing is multiplied yet. Lane 5 holds 16 numbers")
    assert spoken().startswith("1,280 of 2,048 multiply-adds are done. Lane 5 holds")
    assert "two whole rows of A and two whole columns of B" in spoken()
    assert "the eight lanes of its group can" in spoken(generation="7.0")
    assert spoken(generation="9.0").endswith("rows of A and four whole columns of B.")
    assert "One thread started the instruction" in spoken(generation="10.0")
    assert "with 768 B of A and B: 5.33 FLOP for each byte" in spoken(step=8)
    assert "it needs 20 cycles" in spoken(generation="9.0", step=8)
    for generation in ("9.0", "10.0"):
        # "fed in time": the largest size needs fewer cycles of shared memory than of multiplying
        largest = run(generation).largest
        n_units, rate = run(generation).issue.n_units, run(generation).issue.fma_per_unit
        assert largest.shared_bytes / 128 < largest.n_fma / (n_units * rate)
    for state in list(EXPLORABLE.states())[::37]:
        assert "{" not in EXPLORABLE.evaluate(state).spoken


def test_alt():
    assert draw_tensor_core(compute("8.0", 5, 5)).alt == (
        "The instruction mma.m16n8k16 after 5 of 8 cycles: 1,280 of 2,048 multiply-adds, 32 of 128 "
        "elements of D complete. Lane 5 holds 16 numbers."
    )


@pytest.mark.parametrize(
    ("state", "message"),
    [
        (("8.6", 0, 0), "generation must be one of 7.0, 7.5, 8.0, 9.0, 10.0"),
        (("8.0", 32, 0), "lane must be at most 31; got 32"),
        (("8.0", -1, 0), "lane must be an integer of at least 0"),
        (("8.0", 0, -1), "step must be an integer of at least 0"),
        (("8.0", 0, 1.0), "step must be an integer of at least 0; got 1.0"),
        (("8.0", True, 0), "lane must be an integer of at least 0; got True"),
    ],
)
def test_bad_input_is_named(state, message):
    with pytest.raises(ValueError, match=message):
        compute(*state)

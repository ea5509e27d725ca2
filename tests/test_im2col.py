"""The stepper of im2col: copies counted by hand and by sets, pixels where the window is."""

from __future__ import annotations

import random

import numpy as np
import pytest

from primer.figures._patches import SIDE, compute
from primer.figures.im2col import (
    EXPLORABLE,
    MATRIX_X,
    ROOM,
    cell_size,
    draw_im2col,
    row_text,
)

STATES = random.Random(5).sample([s for s in EXPLORABLE.states() if s], 60)


def test_overlap_by_hand():
    # 3 × 3, stride 1, no padding: the first row of the matrix is new; each place to the right
    # brings one new column of three; each new line of places one new row of pixels.
    again = [compute(3, 1, 0, 1, step).n_again for step in range(16)]
    assert again == [0, 6, 6, 6, 6, 8, 8, 8, 6, 8, 8, 8, 6, 8, 8, 8]
    # 16 · 9 numbers of 36 pixels: 108 copies
    assert compute(3, 1, 0, 1, 15).n_copies == 16 * 9 - 36 == sum(again)
    # stride as long as the window: each pixel once
    assert compute(3, 3, 0, 1, 35).n_copies == compute(2, 2, 0, 3, 35).n_copies == 0


def test_the_blow_up_by_hand():
    def blow_up(*state):
        return compute(*state, 0).conv.blow_up

    assert blow_up(3, 1, 1, 1) == blow_up(3, 1, 1, 3) == 9
    assert blow_up(3, 2, 1, 1) == 2.25
    assert blow_up(3, 1, 0, 1) == 16 * 9 / 36 == 4
    assert blow_up(2, 1, 0, 1) == 25 * 4 / 36
    assert blow_up(1, 1, 0, 1) == blow_up(2, 2, 0, 1) == 1
    assert blow_up(1, 2, 0, 1) == 0.25


def test_row_in_writing():
    assert row_text(compute(3, 1, 1, 1, 0)) == "row 1 of 36:\n0 0 0 0 1 2 0 7 8"
    assert row_text(compute(2, 2, 0, 3, 99)).endswith("29 30 35 36\nand 8 from those behind")


@pytest.mark.parametrize("state", STATES)
def test_copies_against_sets(state):
    result = compute(**state)
    seen: set[int] = set()
    copies = 0
    for number in result.patches.numbers[: result.i_place + 1].flat:
        copies += number in seen
        seen |= {int(number)} - {0}
    assert result.n_copies == copies
    assert not result.patches.numbers.flags.writeable


@pytest.mark.parametrize("state", STATES[:25])
def test_the_window_stands_on_the_pixels_of_its_row(state):
    result = compute(**state)
    top, left = result.corner
    window = range(state["kernel"])
    expected = [
        (top + i) * SIDE + left + j + 1
        if 0 <= top + i < SIDE and 0 <= left + j < SIDE else 0
        for i in window for j in window
    ]  # fmt: skip
    assert result.row[: len(expected)].tolist() == expected


@pytest.mark.parametrize("state", STATES[:25])
def test_the_matrix_is_filled_once(state):
    result = compute(**state)
    figure = draw_im2col(result)
    rows, columns = result.conv.patch_matrix_shape
    w, h = cell_size(rows, columns)
    assert columns * w <= ROOM[0] + 1e-9
    assert rows * h <= ROOM[1] + 1e-9
    area = 0.0
    for artist in figure.kinds.values():
        corners = artist.get_path().vertices.reshape(-1, 5, 2)
        area += sum(float(abs((c[2] - c[0]).prod())) for c in corners if c[0][0] >= MATRIX_X - 1)
    assert area == pytest.approx(rows * columns * w * h)
    low = figure.here.get_path().vertices[0][1]
    assert low == pytest.approx(figure.cover.get_path().vertices[2][1])


def test_padding_goes_with_the_large_window():
    assert EXPLORABLE.choices(EXPLORABLE.default_state, "padding") == (0, 1)
    small = EXPLORABLE.snap(EXPLORABLE.default_state | {"kernel": 2}, "kernel")
    assert small["padding"] == 0
    assert EXPLORABLE.choices(small, "padding") == (0,)


def test_sentences():
    def spoken(**state):
        return EXPLORABLE.evaluate(state).spoken

    assert spoken().startswith("8 of 9 numbers of this row stand in the matrix already")
    assert spoken(step=0).startswith("The first place")
    assert "9 × as many numbers as the image" in spoken(step=35)
    assert spoken(kernel=1, padding=0).startswith("A 1 × 1 window takes one pixel")
    assert spoken(stride=3, step=1).startswith("The stride is as long as the window")
    for state in STATES:
        assert "{" not in EXPLORABLE.evaluate(state).spoken


def test_rows_are_those_of_the_model():
    rows = {row.name: row.value for row in EXPLORABLE.evaluate({"channels": 3}).rows}
    # 108 pixels, 36 · 27 in the matrix, 27 · 8 weights, 36 · 8 results, two bytes each
    assert rows["compulsory_bytes"] == 2 * (108 + 216 + 288)
    assert rows["materialized_bytes"] == 2 * (108 + 216 + 288 + 2 * 972)
    assert rows["flop"] == 2 * 36 * 27 * 8
    assert rows["gemm"] == "36 × 27 · 27 × 8"
    assert np.isclose(rows["blow_up"], 9)


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="stride must be a positive integer; got 0"):
        compute(3, 0, 0, 1, 0)
    with pytest.raises(ValueError, match="kernel must span at most the padded image, 6 here"):
        compute(7, 1, 0, 1, 0)
    with pytest.raises(ValueError, match="must be possible"):
        EXPLORABLE.evaluate({"kernel": 1, "padding": 1})

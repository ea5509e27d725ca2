"""The thread figure: warps in blocks by hand, and every state against the model's numbering."""

from __future__ import annotations

import pytest

from primer import threads
from primer.figures import _threadsheet as sheet
from primer.figures.thread_hierarchy import EXPLORABLE, compute, draw_thread_hierarchy

STATES = [state for state in EXPLORABLE.states() if state]


def spoken(**state):
    return EXPLORABLE.evaluate(state).spoken


def test_it_opens_where_a_warp_is_no_row():
    # 100 threads are 3 · 32 + 4: four warps, 28 lanes empty; thread 32 stands at x = 2, y = 3
    found = compute(**EXPLORABLE.default_state)
    assert (found.n_threads, found.n_warps, found.n_idle_lanes) == (100, 4, 28)
    assert (found.thread, found.i_warp, found.i_lane) == ((2, 3, 0), 1, 0)
    rows = {row.name: row.text for row in EXPLORABLE.evaluate({}).rows}
    assert (rows["lanes_frac"], rows["thread_xy"]) == ("78.1 %", "(2, 3)")


@pytest.mark.parametrize(
    ("block_x", "block_y", "n_warps", "lanes"),
    [(32, 8, 8, "100 %"), (33, 1, 2, "51.6 %"), (4, 4, 1, "50 %"), (32, 26, 26, "100 %")],
)
def test_blocks_that_a_reader_can_reach(block_x, block_y, n_warps, lanes):
    state = EXPLORABLE.snap({"block_x": block_x, "block_y": block_y, "thread": 0})
    rows = {row.name: row for row in EXPLORABLE.evaluate(state).rows}
    assert (rows["n_warps"].value, rows["lanes_frac"].text) == (n_warps, lanes)


@pytest.mark.parametrize("state", STATES[::9], ids=str)
def test_the_pieces_of_warps_are_the_models_numbering(state):
    place = compute(**state)
    numbers = threads.number(state["block_x"], state["block_y"])[0]
    assert numbers[place.thread[1], place.thread[0]] == state["thread"] == place.i_thread
    seen = []
    for i in range(place.n_warps):
        mine = [
            int(numbers[row, column + j])
            for row, column, n in sheet.segments(place, i)
            for j in range(n)
        ]
        assert {number // 32 for number in mine} == {i}
        seen += mine
    assert seen == list(range(place.n_threads))


def test_the_picture_marks_the_thread_in_both_places():
    place = compute(10, 10, 33)
    figure = draw_thread_hierarchy(place)
    side = min(sheet.BLOCK_WIDTH / 10, sheet.BLOCK_HEIGHT / 10)
    block = figure.block.painted.here.get_path().vertices
    assert block[0] == pytest.approx((sheet.BLOCK_X + 3 * side, sheet.GRID_TOP - 4 * side))
    lanes = figure.warps.painted.here.get_path().vertices
    assert lanes[0] == pytest.approx(
        (sheet.WARPS_X + sheet.LANE, sheet.WARPS_TOP - 2 * sheet.MOST_ROW)
    )
    empty = figure.warps.empty.get_path().vertices
    assert empty[1][0] - empty[0][0] == pytest.approx(28 * sheet.LANE)
    assert "lane 1 of warp 1" in figure.alt


def test_sentences():
    assert spoken().startswith("Warps do not follow the rows")
    assert spoken().endswith("78.1 % of the lanes hold a thread.")
    assert spoken(block_x=32, block_y=8).startswith("Every row is a warp, but only because")
    assert spoken(block_x=64, block_y=8).startswith("Every row is cut into 2 warps. All lanes")
    assert spoken(block_x=16, block_y=16).startswith("2 rows make a warp")
    assert spoken(block_x=4, block_y=4, thread=1).startswith("The whole block is one warp. It has")
    cut = spoken(block_x=33, block_y=1)
    assert cut.startswith("The row is cut after every 32 threads. The last warp has 31 empty lanes")


def test_every_sentence_is_true():
    for state in STATES:
        text, place = EXPLORABLE.evaluate(state).spoken, compute(**state)
        pieces = [sheet.segments(place, i) for i in range(place.n_warps)]
        assert "{" not in text
        assert ("All lanes" in text) == (place.n_threads % 32 == 0)
        if "Every row is a warp" in text:
            assert all(len(piece) == 1 for piece in pieces)
            assert len(pieces) == state["block_y"]
        if "rows make a warp" in text:
            assert all(first[0][1] == 0 for first in pieces)
        if "do not follow the rows" in text:
            assert any(piece[0][1] > 0 for piece in pieces)


def test_impossible_states_are_refused():
    assert not EXPLORABLE.is_valid({"block_x": 64, "block_y": 32, "thread": 0})
    assert not EXPLORABLE.is_valid({"block_x": 4, "block_y": 4, "thread": 16})
    with pytest.raises(ValueError, match="block must have at most 1,024 threads"):
        compute(64, 32, 0)
    with pytest.raises(ValueError, match=r"thread.y must be less than the 4 there are; got 4"):
        compute(4, 4, 16)

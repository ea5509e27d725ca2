"""The bundles figure: its grid and its words against the schedule, state by state."""

from __future__ import annotations

import pytest

from primer import bundles
from primer.figures import _bundlesruns as runs
from primer.figures import _bundlessheet as sheet
from primer.figures.bundles import EXPLORABLE, draw_bundles

BASE = EXPLORABLE.default_state
PLANS = [(weights, overlap) for weights in runs.WEIGHTS for overlap in runs.OVERLAPS]


def view(**state):
    return runs.compute(**(BASE | state))


def spoken(**state):
    return EXPLORABLE.evaluate(BASE | state).spoken


def test_a_reader_sees_what_overlap_is_worth():
    # 18 bundles alone; the slots allow 4, one buffer 8; with new weights 22, 8 and 12
    intervals = [view(weights=w, overlap=o).schedule.interval_cycles for w, o in PLANS]
    assert intervals == [18, 8, 4, 22, 12, 8]
    assert view(overlap="none").schedule.n_bundles == 72


def test_the_longest_plan_fits_the_steps_and_the_grid():
    assert runs.LONGEST == 22 * 4
    assert EXPLORABLE.control("step").values == tuple(range(88))
    assert sheet.column_x(88) == pytest.approx(sheet.RIGHT)


@pytest.mark.parametrize(("weights", "overlap"), PLANS)
def test_every_operation_has_its_cell(weights, overlap):
    found = runs.plan(weights, overlap)
    drawn = sheet.cells(found)
    places = [box for boxes in drawn.values() for box in boxes]
    assert len(places) == 4 * len(found.program.operations)
    assert len({box[:2] for box in places}) == len(places), "two operations in one cell"
    dark = sum(len(boxes) for (_, shade), boxes in drawn.items() if shade == "dark")
    assert dark == 2 * len(found.program.operations)  # tiles 1 and 3
    for x, y, w, h in places:
        assert x >= sheet.GRID_X
        assert x + w <= sheet.column_x(found.n_bundles)
        assert y >= sheet.BOTTOM
        assert y + h <= sheet.TOP


def test_rows_are_the_slots_of_the_machine():
    assert sorted(sheet.ROWS) == sorted(
        (slot, i) for slot, number in bundles.load("tpu_v2").slots for i in range(number)
    )


@pytest.mark.parametrize(("weights", "overlap"), PLANS)
def test_every_bundle_in_words(weights, overlap):
    figure = draw_bundles(view(weights=weights, overlap=overlap, step=0))
    for step in range(0, runs.LONGEST, 3):
        here = view(weights=weights, overlap=overlap, step=step)
        figure.update(here)
        lines = [line.get_text() for line in figure.listing.lines]
        filled = [line for line in lines if not line.endswith("–")]
        assert len(filled) == len(here.started)
        for tile, i in here.started:
            name = here.schedule.program.operations[i].name
            assert f"{name}, tile {tile + 1}" in filled
        x = figure.listing.frame.get_path().vertices[:, 0]
        assert x.min() < sheet.column_x(here.bundle) < sheet.column_x(here.bundle + 1) < x.max()


def test_a_step_past_the_end_stays_there():
    last = view(step=87)
    assert last.bundle == last.schedule.n_bundles - 1
    assert [last.schedule.program.operations[i].name for _, i in last.started] == ["copy out"]


def test_it_opens_on_a_bundle_of_four_tiles():
    assert view().n_tiles_at == 4
    assert len(view().started) == 7
    assert "Bundle 20 works for 4 tiles at once." in spoken()
    assert "Bundle 20: copy out of tile 1" in draw_bundles(view()).alt


def test_every_sentence_is_true():
    for state in EXPLORABLE.states():
        outcome = EXPLORABLE.evaluate(state)
        found, text = outcome.result.schedule, outcome.spoken
        assert "{" not in text
        if "is empty" in text:
            assert not outcome.result.started
        if "No schedule can do better" in text:
            assert found.interval_cycles == found.resource_bound_cycles
        if "the only buffer" in text:
            assert state["overlap"] == "one_buffer"
            assert found.interval_cycles == found.recurrence_bound_cycles
            assert found.recurrence_bound_cycles > found.resource_bound_cycles
        if "One tile after another" in text:
            assert found.interval_cycles == found.tile_cycles
    assert "load, store, ALU, push and pop are full" in spoken()
    assert "load and push are full" in spoken(weights="new")


def test_the_slots_that_are_named_full_are_full():
    for weights in runs.WEIGHTS:
        here = view(weights=weights)
        slots = dict(here.schedule.slots)
        for slot in slots:
            number = here.schedule.program.count(slot)
            is_full = number == slots[slot] * here.schedule.interval_cycles
            assert (slot in here.busiest) == is_full

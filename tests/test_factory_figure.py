"""The factory's figure: as many boxes as machines, and the shorter bar wins."""

from __future__ import annotations

import pytest
from matplotlib.path import Path

from primer import factory
from primer.figures.factory import (
    BELTS,
    EXPLORABLE,
    MACHINES,
    PART,
    REUSES,
    SIDE,
    belt_places,
    boxes,
    counted,
    draw_factory,
    machine_places,
    shares,
)


def _areas(path: Path) -> list[float]:
    """Areas of the rectangles of a path; a box outside the floor stands for nothing."""
    corners = path.vertices.reshape(-1, 5, 2)
    return [float(abs((c[2] - c[0]).prod())) for c in corners if c[0][0] >= 0]


@pytest.mark.parametrize("state", list(EXPLORABLE.states())[::7])
def test_boxes_count_machines_and_parts(state):
    shop = factory.starve(state["n_machines"], state["belt_parts_per_s"], reuse=state["reuse"])
    drawn = draw_factory(shop)
    busy = sum(_areas(drawn.busy.get_path())) / SIDE**2
    assert busy == pytest.approx(shop.n_busy_machines)
    parts = sum(_areas(drawn.parts.get_path())) / PART**2
    assert parts == pytest.approx(shop.belt_parts_per_s * shop.belt_frac)
    # A machine that works some of the time is filled in part and framed as idle.
    whole = int(shop.n_busy_machines + 1e-9)
    assert len(_areas(drawn.idle.get_path())) == shop.n_machines - whole
    assert len(_areas(drawn.uses.get_path())) == state["reuse"]
    feeds, can = (bar.get_width() for bar in drawn.bars)
    assert (feeds < can) == (shop.bound == "belt")
    line = drawn.done.get_xdata()[0] - drawn.bars[0].get_x()
    assert line == pytest.approx(min(feeds, can))


def test_the_story_of_the_text():
    """8 machines, 2 parts per second: 2 work; 16: still 2; reuse 4: all 8."""
    assert draw_factory(factory.starve(8, 2)).shop_label.get_text() == (
        "8 machines: 2 busy, 6 idle"
    )
    assert draw_factory(factory.starve(16, 2)).shop_label.get_text() == (
        "16 machines: 2 busy, 14 idle"
    )
    full = draw_factory(factory.starve(8, 2, reuse=4))
    assert full.shop_label.get_text() == "8 machines: 8 busy"
    assert full.done_label.get_text() == "done: 8 operations per second"


def test_three_sentences_for_three_situations():
    starved = EXPLORABLE.evaluate({}).spoken
    assert "25 % of the machines are busy" in starved
    assert "up to 4 uses" in starved
    assert EXPLORABLE.evaluate({"reuse": 4}).spoken.startswith("Exactly full")
    over = EXPLORABLE.evaluate({"reuse": 8}).spoken
    assert "the belt runs at 50 %" in over
    assert "more machines make more" in over


def test_places_do_not_overlap_and_stay_inside():
    for places in (machine_places(max(MACHINES)), belt_places(max(BELTS))):
        for i, (x, y, w, h) in enumerate(places):
            assert x >= 0
            assert x + w <= 100
            assert y >= 0
            for other_x, other_y, *_ in places[:i]:
                assert abs(x - other_x) >= w or abs(y - other_y) >= h


def test_shares_of_nothing_and_of_everything():
    places = machine_places(3)
    assert shares(places, 0) == ([], places)
    assert shares(places, 3) == (places, [])
    assert _areas(boxes([])) == []
    assert counted(1, "machine") == "1 machine"
    assert counted(2, "machine") == "2 machines"


def test_parts_lie_on_the_belt():
    drawn = draw_factory(factory.starve(8, 4))
    belt = next(line for line in drawn.ax.lines if line.get_gid() == "belt")
    start, end = belt.get_xdata()
    for x, y, w, _ in belt_places(4):
        assert start <= x
        assert x + w <= end
        assert belt.get_ydata()[0] < y < belt.get_ydata()[0] + 1


def test_the_readout_is_exact():
    shop = factory.starve(12, 3, reuse=5)
    rows = {r.name: r.value for r in EXPLORABLE.readout(shop)}
    assert rows["busy_frac"] == shop.busy_frac
    assert rows["full_reuse"] == 4.0
    assert REUSES[0] == 1


def test_the_picture_has_words():
    assert (
        "25% of the machines are busy; bound by the belt" in draw_factory(factory.starve(8, 2)).alt
    )

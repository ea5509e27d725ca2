"""The memory wall: the history of each family, by hand where the tables allow it."""

from __future__ import annotations

import dataclasses
import re

import pytest

from primer import hardware
from primer.figures import memory_wall
from primer.figures._history import FAMILIES, History, Milestone, history
from primer.figures.memory_wall import EXPLORABLE, draw_memory_wall


def test_nvidia_by_hand():
    """V100: 125 / 0.9 = 139; A100 80 GB: 312 / 2.039 = 153; H100: 989.4 / 3.35 = 295."""
    ridges = {m.label: round(m.ridge_flop_per_byte) for m in history(FAMILIES[0]).milestones}
    assert ridges["V100"] == 139
    assert ridges["H100"] == 295
    assert next(v for k, v in ridges.items() if k.endswith("80 GB")) == 153


@pytest.mark.parametrize("family", FAMILIES)
def test_a_history_holds_the_family_in_order(family):
    found = history(family)
    assert [m.year for m in found.milestones] == sorted(m.year for m in found.milestones)
    labels = [m.label for m in found.milestones]
    assert len(set(labels)) == len(labels)
    known = {c.name for c in map(hardware.load, hardware.names()) if c.family == family}
    assert 1 <= len(labels) <= len(known)
    for m in found.milestones:
        assert m.compute in ("bf16", "fp16")
        assert m.ridge_flop_per_byte == pytest.approx(m.peak_flop_per_s / m.bandwidth_bytes_per_s)
        assert m.first_year <= m.year <= m.last_year


def _made(*ridges: float, announced: int = 0) -> History:
    chips = tuple(
        Milestone(
            label=f"c{i}", first_year=2018.0 + i, last_year=2018.0 + i, announced=False,
            compute="bf16", peak_flop_per_s=ridge * 1e12, bandwidth_bytes_per_s=1e12,
            ridge_flop_per_byte=ridge,
        )
        for i, ridge in enumerate(ridges)
    )  # fmt: skip
    last = len(chips) - announced
    plans = tuple(dataclasses.replace(m, announced=True) for m in chips[last:])
    return History(family=FAMILIES[0], milestones=chips[:last] + plans)


def test_three_shapes_of_a_history():
    rising = memory_wall.sentence(_made(100, 200, 300))
    assert "the wall still rises" in rising
    level = memory_wall.sentence(_made(100, 295, 200, 300, 280))
    assert "about as high with c1, in 2019, as with any chip since" in level
    jump = memory_wall.sentence(_made(100, 560, 300))
    assert "highest with c1, in 2019, not with the newest" in jump
    assert "no history yet" in memory_wall.sentence(_made(100))


def test_announced_chips_do_not_count():
    found = _made(100, 200, 900, announced=1)
    assert found.newest.label == "c1"
    assert found.highest.label == "c1"
    drawn = draw_memory_wall(found)
    assert len(drawn.lines["ridge"][3].get_xdata()) == 2
    assert len(drawn.lines["ridge"][4].get_xdata()) == 1
    assert "c2 900 (announced)" in drawn.alt


def test_a_date_known_by_year_is_drawn_as_an_interval():
    wide = dataclasses.replace(_made(100).milestones[0], first_year=2018.0, last_year=2019.0)
    later = _made(100, 200).milestones[1]
    drawn = draw_memory_wall(History(family=FAMILIES[0], milestones=(wide, later)))
    xs = list(drawn.lines["ridge"][2].get_xdata())
    assert xs[:2] == [2018.0, 2019.0]
    assert len(xs) == 3


@pytest.mark.parametrize("family", FAMILIES)
def test_growth_is_relative_to_the_first_chip(family):
    found = history(family)
    drawn = draw_memory_wall(found)
    for name in ("peak", "bandwidth"):
        heights = list(drawn.lines[name][3].get_ydata())
        assert heights[0] == 1.0
        low, high = memory_wall.GROWTH_LIMITS
        assert all(low < h < high for h in heights)
    assert found.peak_ratio / found.bandwidth_ratio == pytest.approx(
        found.newest.ridge_flop_per_byte / found.first.ridge_flop_per_byte
    )
    assert all(m.ridge_flop_per_byte < memory_wall.RIDGE_LIMIT for m in found.milestones)


@pytest.mark.parametrize("family", FAMILIES)
def test_labels_stand_clear_of_each_other(family):
    drawn = draw_memory_wall(history(family))
    shown = [label for label in drawn.labels if label.get_visible()]
    assert len(shown) == len(history(family).milestones)
    boxes = [label.get_window_extent().shrunk(0.98, 0.9) for label in shown]
    for i, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:i]), shown[i].get_text()


def test_an_unknown_family_is_refused():
    with pytest.raises(ValueError, match="family must be one of"):
        history("NVIDIA")


def test_sentences_have_no_holes():
    for state in EXPLORABLE.states():
        assert not re.search(r"[{}]", EXPLORABLE.evaluate(state).spoken)

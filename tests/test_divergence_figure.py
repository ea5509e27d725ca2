"""The divergence figure: programs counted by hand, and cells that are the masks."""

from __future__ import annotations

import numpy as np
import pytest

from primer.figures import divergence as fig
from primer.figures._branches import PATTERNS, UNEVEN, compute
from primer.figures.divergence import EXPLORABLE, draw_divergence

# Blocks of 3 before, 9 then, 6 else, 3 after: issued, and the longest way of one lane.
COUNTS = {
    "uniform": (3 + 9 + 3, 15),
    "half": (3 + 9 + 6 + 3, 15),
    "alternating": (21, 15),
    "one": (21, 15),
    "tail": (15, 15),
    # in the then: 2, branches of 4 and 4, 2; a lane runs one of them, 3 + 2 + 4 + 2 + 3
    "nested": (3 + 2 + 4 + 4 + 2 + 6 + 3, 14),
    "switch": (3 + 4 * 5 + 3, 11),
    "loop_even": (3 + 4 * 3 + 3, 18),
    "loop_uneven": (3 + 8 * 3 + 3, 30),
    "loop_one": (30, 30),
}


@pytest.mark.parametrize("mask", list(PATTERNS))
def test_counts_by_hand(mask):
    run = compute(mask).run
    assert (run.n_issued, run.n_needed) == COUNTS[mask]
    assert run.n_issued <= 30  # what the picture has room for


def test_lanes_at_work_by_hand():
    # 6 rows of 32 lanes, 9 and 6 of 16: 432 of 21 · 32
    assert compute("half").run.lanes_frac == 432 / 672
    # 6 of 32, then 9 of one lane and 6 of 31
    assert compute("one").run.lanes_frac == (192 + 9 + 186) / 672
    # the same work as in the even loop, in 30 instead of 18 issues
    assert sum(UNEVEN) == 4 * 32
    even, uneven = compute("loop_even").run, compute("loop_uneven").run
    assert even.n_lane_instructions == uneven.n_lane_instructions == 18 * 32
    assert uneven.lanes_frac == pytest.approx(18 / 30)
    # 3 + 1 · 3 + 3 for all, 7 · 3 for one lane
    assert compute("loop_one").run.lanes_frac == (9 * 32 + 21) / (30 * 32)


@pytest.mark.parametrize("mask", list(PATTERNS))
def test_the_picture_is_the_mask(mask):
    result = compute(mask)
    figure = draw_divergence(result)
    active = result.run.active
    seen = np.zeros_like(active)
    for wanted in (True, False):
        for x, y, width, _ in fig.cells(active.tolist(), wanted):
            row = round((fig.TIME_TOP - y) / fig.ROW) - 1
            start, n = round((x - fig.LEFT) / fig.PITCH), round(width / fig.PITCH)
            assert (active[row, start : start + n] == wanted).all()
            assert not seen[row, start : start + n].any()
            seen[row, start : start + n] = True
    assert seen.all()
    assert f"{result.run.n_issued} issued" in figure.verdict.get_text()
    assert figure.code.get_text() == result.pattern.code


@pytest.mark.parametrize("mask", list(PATTERNS))
def test_blocks_cover_all_issues(mask):
    result = compute(mask)
    blocks = list(result.blocks())
    assert len(blocks) <= fig.MOST_BLOCKS
    assert [first for _, first, _ in blocks] == [
        sum(n for *_, n in blocks[:i]) for i in range(len(blocks))
    ]
    assert sum(n for *_, n in blocks) == result.run.n_issued


def test_where_lanes_meet_again():
    assert list(compute("uniform").joins()) == list(compute("loop_even").joins()) == []
    assert list(compute("half").joins()) == [(18, 0, 31)]
    # behind the inner branch only the first half is together
    assert list(compute("nested").joins()) == [(13, 0, 15), (21, 0, 31)]
    assert list(compute("loop_uneven").joins()) == [(27, 0, 31)]
    trips = [name for name, *_ in compute("loop_uneven").blocks()]
    assert trips == ["before", *(f"trip {i}" for i in range(1, 9)), "after"]


def test_sentences():
    for mask in PATTERNS:
        outcome = EXPLORABLE.evaluate({"mask": mask})
        assert "{" not in outcome.spoken
        run = outcome.result.run
        if "nobody waits" in outcome.spoken or "every lane takes it" in outcome.spoken:
            assert run.lanes_frac == 1
        assert ("no lane needs more" in outcome.spoken) <= (run.n_needed < run.n_issued)
    assert EXPLORABLE.evaluate({"mask": "half"}).spoken.endswith(
        "21 instructions, though no lane needs more than 15."
    )
    assert "only 60 % of the lanes" in EXPLORABLE.evaluate({"mask": "loop_uneven"}).spoken


def test_bad_input_is_named():
    with pytest.raises(ValueError, match=r"mask must be one of uniform, .*did you mean 'half'"):
        compute("halv")

"""The memory figure: walks counted by hand, and every step against a replay."""

from __future__ import annotations

import numpy as np
import pytest

from primer import cache
from primer.figures._cachegrid import record
from primer.figures._patternruns import (
    BYTES,
    LAYOUTS,
    LEADS,
    LEVEL,
    SETS,
    WALKS,
    WAYS,
    compute,
    pattern,
)
from primer.figures.memory_pattern import EXPLORABLE, draw_memory_pattern

ALL = [(layout, walk, ld) for layout in LAYOUTS for walk in WALKS for ld in LEADS]


def misses(layout, walk, ld):
    return compute(layout, walk, ld, 64).n_misses


def test_walks_by_hand():
    # Along the lines: 64 numbers are 16 lines of four.
    assert misses("row_major", "rows", 8) == misses("column_major", "columns", 16) == 16
    # ld 8 is two lines: a column of eight falls on sets 0 and 2, which hold four lines.
    assert misses("row_major", "columns", 8) == 64
    # ld 20 is five lines, 5 mod 4 = 1: two lines for each set, and all eight stay.
    assert misses("row_major", "columns", 20) == 16
    # ld 16 is four lines: all in one set, so that even the four lines of a tile collide.
    assert misses("column_major", "tiles", 16) == 64
    assert misses("column_major", "tiles", 8) == 16
    assert [pattern("row_major", "rows", ld).n_sets_used for ld in LEADS] == [2, 1, 2, 4]


def test_padding_by_one_number_moves_little_in_a_cache_of_lines():
    # Rows of 17 begin on lines 0, 4, 8, 12, 17, 21, 25, 29: four of them in set 0, four in set 1.
    walk = pattern("row_major", "columns", 17)
    lines = walk.trace.line[:8]
    assert lines.tolist() == [0, 4, 8, 12, 17, 21, 25, 29]
    assert np.bincount(lines % SETS).tolist() == [4, 4]
    assert misses("row_major", "columns", 17) > 3 * misses("row_major", "columns", 20)


@pytest.mark.parametrize(("layout", "walk", "ld"), ALL)
def test_every_step(layout, walk, ld):
    run = pattern(layout, walk, ld)
    assert sorted(set(zip(run.row.tolist(), run.column.tolist(), strict=True))) == [
        (i, j) for i in range(8) for j in range(8)
    ]
    for step in range(65):
        trace, held = run.trace, run.trace.held(step)
        assert trace.count(step, "hit") + trace.n_misses(step) == step
        assert len(held) <= SETS * WAYS
        assert all((trace.slots[step][s] % SETS == s)[trace.slots[step][s] >= 0].all()
                   for s in range(SETS))  # fmt: skip
        assert trace.count(step, "compulsory") == len(set(trace.line[:step].tolist()))
        if step:
            replayed = cache.replay(run.element[:step] * BYTES, LEVEL, events=True)
            lines = replayed.events.contents[0]
            assert held == tuple(sorted(lines[lines >= 0].tolist()))


def test_transposing_layout_and_walk_together_changes_nothing():
    for ld in LEADS:
        one, other = pattern("row_major", "rows", ld), pattern("column_major", "columns", ld)
        assert one.element.tolist() == other.element.tolist()
        assert np.array_equal(one.row, other.column)


def test_a_line_keeps_its_place():
    trace = record([0, 64, 128, 64, 192], cache.CacheLevel(64, 2, 16))
    assert trace.slots[:, 0].tolist() == [[-1, -1], [0, -1], [0, 4], [8, 4], [8, 4], [12, 4]]


def test_the_picture_marks_what_happened():
    result = compute("row_major", "columns", 8, 9)
    figure = draw_memory_pattern(result)
    assert len(figure.matrix.marks.get_path().vertices) == 4 * 9 + 5
    held = result.walk.trace.held(9)
    assert len(figure.matrix.held.get_path().vertices) == 5 * (4 + 1) * len(held)
    assert "9 accesses, 9 misses" in figure.alt
    assert compute("row_major", "columns", 8, 99).step == 64


def test_sentences():
    def spoken(**state):
        return EXPLORABLE.evaluate(state).spoken

    assert spoken(step=0).startswith("Nothing is in the cache yet. The walk will step 8")
    assert spoken(step=5).startswith("Line 8 comes for the first time, into set 0")
    assert "Line 0 has to leave" in spoken(step=5)
    assert spoken(step=9).startswith("Line 0 was here and had to leave set 0")
    assert spoken(step=64).startswith("64 of 64 accesses missed. What is 8 apart")
    assert spoken(step=64, ld=20).startswith("The walk jumps 20 numbers")
    assert spoken(step=64, walk="rows").startswith("16 misses, 48 hits")
    # 56 misses, 34 of them on lines that had been there, against 8 hits: nothing stays.
    few = spoken(step=64, layout="column_major", walk="tiles", ld=17)
    assert few.startswith("56 of 64 accesses missed. What is 17 apart")
    assert spoken(step=64, walk="tiles", ld=17).startswith("28 misses. Rows of 17 begin in the")
    assert spoken(step=64, walk="rows", ld=17).startswith("22 misses, 42 hits")
    rows = {row.name: row.value for row in EXPLORABLE.evaluate({"step": 64}).rows}
    assert rows["traffic_bytes"] == 64 * 16
    assert (rows["n_hits"], rows["n_misses"], rows["n_conflict"]) == (0, 64, 48)
    for state in list(EXPLORABLE.states())[::17]:
        assert "{" not in EXPLORABLE.evaluate(state).spoken


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="ld must be at least the 8 elements"):
        compute("row_major", "rows", 7, 0)
    with pytest.raises(ValueError, match="walk must be one of"):
        compute("row_major", "zigzag", 8, 0)
    with pytest.raises(ValueError, match="addresses must not be empty"):
        record([], LEVEL)

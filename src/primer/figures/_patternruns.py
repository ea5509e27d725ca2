"""A walk over a matrix of 8 × 8 as the addresses it makes, and what a small cache does of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from primer._checks import fail, one_of, whole
from primer.cache import CAUSES, CacheLevel
from primer.figures._cachegrid import Trace, record

SIDE = 8
LINE = 4  # numbers, of four bytes
BYTES = 4
SETS, WAYS = 4, 2
LEVEL = CacheLevel(SETS * WAYS * LINE * BYTES, WAYS, LINE * BYTES)
LAYOUTS = ("row_major", "column_major")
WALKS = ("rows", "columns", "tiles")
LEADS = (8, 16, 17, 20)
TILE = 4
N_ACCESSES = SIDE * SIDE


@dataclass(frozen=True, kw_only=True, eq=False)
class Walk:
    """All accesses of one walk; arrays are (64,) and read-only.

    Parameters
    ----------
    layout, walk : str
    ld : int [elements]
        Distance of two rows in memory, of two columns if they are what lies together.
    row, column : int array
        The touched element.
    element : int array
        Its place in memory, counted in numbers.
    trace : Trace
    """

    layout: str
    walk: str
    ld: int
    row: NDArray[np.int64]
    column: NDArray[np.int64]
    element: NDArray[np.int64]
    trace: Trace

    @property
    def n_lines(self) -> int:
        """Lines from the first to the last element, int."""
        return ((SIDE - 1) * self.ld + SIDE - 1) // LINE + 1

    @property
    def stride_elements(self) -> int:
        """From one element of the walk to the next, as most steps are, int."""
        return 1 if (self.layout == "row_major") != (self.walk == "columns") else self.ld

    @property
    def n_sets_used(self) -> int:
        """Sets on which the elements fall that lie one `ld` apart, int."""
        return len({(i * self.ld // LINE) % SETS for i in range(SIDE)})


def order(walk: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows and columns in the order of a walk.

    >>> [x[:6].tolist() for x in order("tiles")]
    [[0, 0, 0, 0, 1, 1], [0, 1, 2, 3, 0, 1]]
    """
    one_of("walk", walk, WALKS)
    outer, inner = (axis.reshape(-1) for axis in np.indices((SIDE, SIDE)))
    if walk == "rows":
        return outer, inner
    if walk == "columns":
        return inner, outer
    per = SIDE // TILE
    tile_row, tile_column, i, j = np.indices((per, per, TILE, TILE))
    return (tile_row * TILE + i).reshape(-1), (tile_column * TILE + j).reshape(-1)


@cache
def pattern(layout: str, walk: str, ld: int) -> Walk:
    """Run one walk through the cold cache."""
    one_of("layout", layout, LAYOUTS)
    row, column = order(walk)
    lead = whole("ld", ld)
    if lead < SIDE:
        fail("ld", f"be at least the {SIDE} elements that lie together", lead)
    element = row * lead + column if layout == "row_major" else column * lead + row
    for steps in (row, column, element):
        steps.flags.writeable = False
    return Walk(
        layout=layout, walk=walk, ld=lead, row=row, column=column, element=element,
        trace=record(element * BYTES, LEVEL),
    )  # fmt: skip


@dataclass(frozen=True)
class PatternStep:
    """How far a walk has come.

    Parameters
    ----------
    walk : Walk
    step : int
        Accesses made.
    """

    walk: Walk
    step: int

    @property
    def last(self) -> int:
        """Index of the last access; of the first, if none is made, int."""
        return max(self.step - 1, 0)

    @property
    def line(self) -> int:
        """Line of the last access, int."""
        return int(self.walk.trace.line[self.last])

    @property
    def set_index(self) -> int:
        """The set in which that line may live, int."""
        return self.line % SETS

    @property
    def n_misses(self) -> int:
        """Misses so far, int."""
        return self.walk.trace.n_misses(self.step)

    @property
    def cause(self) -> str:
        """What the last access was: "hit", or the cause of its miss; "none" before the first."""
        return CAUSES[self.walk.trace.cause[self.last]] if self.step else "none"

    @property
    def evicted(self) -> int:
        """The line that the last access pushed out, -1 for none."""
        return int(self.walk.trace.evicted[self.last]) if self.step else -1


def compute(layout: str, walk: str, ld: int, step: int) -> PatternStep:
    """A walk after so many accesses; past the end it stays there."""
    return PatternStep(pattern(layout, walk, ld), min(whole("step", step, minimum=0), N_ACCESSES))

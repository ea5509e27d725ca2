"""Products on systolic arrays, as the figure shows them: a run, and how far it has come."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from primer import systolic
from primer._checks import one_of, whole
from primer.explore.explorable import State
from primer.systolic import SystolicCount, SystolicRun

Ints = NDArray[np.int64]
VIEWS = ("values", "heat")
EVERY = 32  # cycles from picture to picture where there are too many
MOST_VALUES = 8  # cells along a side up to which there is room for numbers
# What a cell does in a cycle, in the order of `primer.systolic.Shares`.
USEFUL, WAITING, PADDING, LOADING, STALLED = range(5)


class Preset(NamedTuple):
    """A product and an array.

    `words` are what memory brings in a cycle, None as many as are asked for; with `overlaps` each
    fold starts as soon as there is room.
    """

    m: int
    n: int
    k: int
    side: int
    words: int | None = None
    overlaps: bool = False


PRESETS = {
    "square": Preset(4, 4, 4, 4),
    "long": Preset(4, 4, 16, 4),
    "starved": Preset(4, 4, 16, 4, words=4),
    "edges": Preset(5, 7, 3, 4),
    "folds": Preset(8, 8, 8, 4),
    "folds_overlap": Preset(8, 8, 8, 4, overlaps=True),
    "batch_1": Preset(1, 8, 8, 4),
    "batch_1_overlap": Preset(1, 8, 8, 4, overlaps=True),
    "eight": Preset(8, 8, 8, 8),
    "large": Preset(128, 128, 128, 128),
}


class Setup(NamedTuple):
    """A product, an array, and what stays in place."""

    preset: str
    dataflow: str

    @property
    def product(self) -> Preset:
        """Its sizes."""
        return PRESETS[self.preset]

    @property
    def is_large(self) -> bool:
        """Whether there is no room for numbers."""
        return self.product.side > MOST_VALUES


def matrices(m: int, n: int, k: int) -> tuple[Ints, Ints]:
    """Small numbers, no two neighbors alike, and no zero: that is what padding looks like.

    >>> [x.tolist() for x in matrices(2, 2, 2)]
    [[[1, 3], [4, 6]], [[2, 5], [4, 7]]]
    """
    i, p = np.indices((m, k))
    q, j = np.indices((k, n))
    return 1 + (3 * i + 2 * p) % 7, 1 + (1 + 2 * q + 3 * j) % 7


@cache
def count(setup: Setup) -> SystolicCount:
    """What it costs: the run itself where its values are shown."""
    if not setup.is_large:
        return run(setup)
    m, n, k, side, words, overlaps = setup.product
    return systolic.count(
        m, n, k, rows=side, cols=side, dataflow=setup.dataflow, double_buffer=overlaps,
        bandwidth_words_per_cycle=words,
    )  # fmt: skip


@cache
def run(setup: Setup) -> SystolicRun:
    """Every value in every cell, cycle by cycle."""
    m, n, k, side, words, overlaps = setup.product
    return systolic.simulate(
        *matrices(m, n, k), rows=side, cols=side, dataflow=setup.dataflow, double_buffer=overlaps,
        bandwidth_words_per_cycle=words,
    )  # fmt: skip


def busy(setup: Setup) -> NDArray[np.bool_]:
    """Which cells make a product that counts, bool array (n_cycles, rows, cols)."""
    record = run(setup).busy
    assert record is not None
    return record


class Phase(NamedTuple):
    """What the cell in the corner does for some cycles; the cell (i, j) does it i + j cycles later.

    `fold` is the number of rows and columns that are used while words stream.
    """

    start: int
    end: int
    state: int
    fold: tuple[int, int]


@cache
def phases(setup: Setup) -> tuple[Phase, ...]:
    """All phases, in cycles of the array: stalls do not count."""
    found = list(_large_phases(setup) if setup.is_large else _phases(run(setup), setup))
    return tuple(phase for phase in found if phase.end > phase.start)


def _large_phases(setup: Setup) -> Iterator[Phase]:
    """One fold that fills the array."""
    side = setup.product.side
    start = 0 if setup.dataflow == "os" else side
    yield Phase(0, start, LOADING, (side, side))
    yield Phase(start, start + side, USEFUL, (side, side))


def _phases(done: SystolicRun, setup: Setup) -> Iterator[Phase]:
    """A fold streams; what is loaded is seen where nothing does."""
    folds, clock = done.folds, np.cumsum(~done.frozen) - 1
    steps = {"os": done.k, "ws": done.m, "is": done.n}[setup.dataflow]
    streamed = 0
    for f in range(done.n_folds):
        load, start = (int(clock[x[f]]) for x in (folds.load_cycle, folds.start_cycle))
        yield Phase(max(load, streamed), start, LOADING, (0, 0))
        streamed = start + steps
        yield Phase(start, streamed, USEFUL, (int(folds.n_rows[f]), int(folds.n_cols[f])))


@cache
def states(setup: Setup, t: int) -> Ints:
    """What each cell does in a cycle, int array (rows, cols)."""
    side = setup.product.side
    if not setup.is_large:
        frozen = run(setup).frozen
        if frozen[t]:
            return np.full((side, side), STALLED)
        t = int(np.count_nonzero(~frozen[:t]))
    i, j = np.indices((side, side))
    own = t - i - j  # where the corner was when it did what the cell does now
    found = np.full((side, side), WAITING)
    for start, end, state, (n_rows, n_cols) in phases(setup):
        inside = (start <= own) & (own < end)
        found[inside] = state
        if state == USEFUL:
            found[inside & ((i >= n_rows) | (j >= n_cols))] = PADDING
    return found


@cache
def history(setup: Setup) -> Ints:
    """How many cells are in each state, int array (n_cycles, 5); of a large array, from phases."""
    n_cycles = int(count(setup).n_cycles)
    if not setup.is_large:
        rows = [np.bincount(states(setup, t).ravel(), minlength=5) for t in range(n_cycles)]
        return np.array(rows)
    side = setup.product.side
    skew = side - np.abs(np.arange(1 - side, side))  # cells that are so many cycles late
    found = np.zeros((n_cycles, 5), dtype=np.int64)
    for start, end, state, _ in phases(setup):
        active = np.zeros(n_cycles, dtype=np.int64)
        active[start:end] = 1
        found[:, state] += np.convolve(active, skew)[:n_cycles]
    found[:, WAITING] = side * side - found.sum(axis=1)
    return found


@dataclass(frozen=True)
class Step:
    """How far a product has come.

    Parameters
    ----------
    setup : Setup
    view : str
        "values" or "heat".
    cycle : int
        Cycles that are over; the last of them is shown, and before the first what waits.
    """

    setup: Setup
    view: str
    cycle: int

    @property
    def count(self) -> SystolicCount:
        """What all of it costs."""
        return count(self.setup)

    @property
    def t(self) -> int:
        """Index of the cycle that is shown; -1 before the first."""
        return self.cycle - 1

    @cached_property
    def states(self) -> Ints:
        """What each cell does now, int array (rows, cols)."""
        if not self.cycle:
            return np.full((self.setup.product.side,) * 2, WAITING)
        return states(self.setup, self.t)

    @property
    def n_busy(self) -> int:
        """Cells that multiply now, int."""
        return int(np.count_nonzero(self.states == USEFUL))

    @property
    def n_done(self) -> int:
        """Products made so far, int."""
        return int(history(self.setup)[: self.cycle, USEFUL].sum())

    @cached_property
    def worked(self) -> Ints:
        """Products that each cell has made so far, int array (rows, cols)."""
        if not self.setup.is_large:
            done: Ints = busy(self.setup)[: self.cycle].sum(axis=0)
            return done
        i, j = np.indices((self.setup.product.side,) * 2)
        start, end = next((p.start, p.end) for p in phases(self.setup) if p.state == USEFUL)
        late: Ints = np.clip(self.cycle - start - i - j, 0, end - start)
        return late

    @property
    def fold(self) -> int:
        """The fold whose first word has entered last, counted from 1; 0 before that."""
        if self.setup.is_large:
            return 1
        return int(np.count_nonzero(run(self.setup).folds.load_cycle < max(self.cycle, 1)))


@cache
def cycles(setup: Setup) -> tuple[int, ...]:
    """The cycles of which there is a picture."""
    last = int(count(setup).n_cycles)
    if not setup.is_large:
        return tuple(range(last + 1))
    return (*range(0, last, EVERY), last)


def is_possible(setup: Setup) -> bool:
    """Only one dataflow is starved: of the others the load is."""
    return setup.product.words is None or setup.dataflow == "os"


@cache
def all_cycles() -> tuple[int, ...]:
    """All cycles of which some product has a picture."""
    setups = itertools.starmap(Setup, itertools.product(PRESETS, systolic.DATAFLOWS))
    found = {cycle for setup in setups if is_possible(setup) for cycle in cycles(setup)}
    return tuple(sorted(found))


def is_valid(state: State) -> bool:
    """Whether there is such a picture."""
    setup = Setup(state["preset"], state["dataflow"])
    return is_possible(setup) and state["cycle"] in cycles(setup)


def compute(preset: str, dataflow: str, view: str, cycle: int) -> Step:
    """A product after so many cycles; past the end it stays there."""
    one_of("preset", preset, tuple(PRESETS))
    setup = Setup(preset, one_of("dataflow", dataflow, systolic.DATAFLOWS))
    one_of("view", view, VIEWS)
    last = int(count(setup).n_cycles)
    return Step(setup, view, min(whole("cycle", cycle, minimum=0), last))

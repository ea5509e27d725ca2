"""A short stream of accesses through one cache, kept step by step for pictures."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from primer import cache
from primer._checks import fail
from primer.cache import CAUSES, CacheLevel
from primer.figures._boxes import Box


@dataclass(frozen=True, kw_only=True, eq=False)
class Trace:
    """What a cache did and held, all arrays read-only.

    Parameters
    ----------
    level : CacheLevel
    line : int array (n,)
        The line of each access.
    cause : int array (n,)
        Index into `primer.cache.CAUSES`; 0 is a hit.
    evicted : int array (n,)
        The line that had to leave, -1 for none.
    slots : int array (n + 1, n_sets, ways)
        The line in each place of the cache after so many accesses, -1 where it is empty. A line
        keeps its place as long as it stays.
    """

    level: CacheLevel
    line: NDArray[np.int64]
    cause: NDArray[np.int64]
    evicted: NDArray[np.int64]
    slots: NDArray[np.int64]

    def count(self, n: int, cause: str) -> int:
        """How many of the first n accesses hit, or missed for one cause."""
        return int(np.count_nonzero(self.cause[:n] == CAUSES.index(cause)))

    def n_misses(self, n: int) -> int:
        """Misses among the first n accesses, int."""
        return int(np.count_nonzero(self.cause[:n]))

    def held(self, n: int) -> tuple[int, ...]:
        """Lines in the cache after n accesses, sorted."""
        lines = self.slots[n]
        return tuple(sorted(int(line) for line in lines[lines >= 0]))


def record(addresses: Any, level: CacheLevel, *, is_store: Any = None) -> Trace:
    """Replay a stream and follow every line to its place.

    >>> trace = record([0, 16, 32, 0], CacheLevel(32, 1, 16))
    >>> [CAUSES[c] for c in trace.cause], trace.slots[-1].tolist()
    (['compulsory', 'compulsory', 'compulsory', 'capacity'], [[0], [1]])
    """
    if len(addresses) == 0:
        fail("addresses", "not be empty", addresses)
    run = cache.replay(addresses, level, is_store=is_store, events=True)
    events = run.events
    assert events is not None
    slots = np.full((len(events.line) + 1, level.n_sets, level.n_ways), -1, dtype=np.int64)
    for i, line in enumerate(events.line):
        slots[i + 1] = slots[i]
        if events.cause[i, 0]:
            chosen = slots[i + 1, events.set_index[i, 0]]
            chosen[np.flatnonzero(chosen == events.evicted_line[i, 0])[0]] = line
    slots.flags.writeable = False
    return Trace(
        level=level, line=events.line, cause=events.cause[:, 0],
        evicted=events.evicted_line[:, 0], slots=slots,
    )  # fmt: skip


def inset(box: Box, by: float) -> Box:
    """A rectangle drawn in by so many points on each side."""
    x, y, w, h = box
    return (x + by, y + by, w - 2 * by, h - 2 * by)


def crosses(places: Iterable[Box], by: float = 3.5) -> list[tuple[float, float, float, float]]:
    """The strokes of a × in each rectangle."""
    strokes = []
    for place in places:
        x, y, w, h = inset(place, by)
        strokes += [(x, y, x + w, y + h), (x, y + h, x + w, y)]
    return strokes

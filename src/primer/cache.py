"""A simulator of set-associative caches: what hits, what misses, and why.

An address belongs to line ⌊address / line size⌋, and a line may only live in set

    line mod (number of sets),    number of sets = size / (line size · ways),

so lines that are a multiple of that apart compete for the same few ways. A miss has one of three
causes (Hill's three Cs): *compulsory*, the first touch of the line ever; *capacity*, a fully
associative LRU cache of the same size would miss too; *conflict*, all others.

Caches are write-back with write-allocate: a store that misses first fetches its line, and memory
learns of it when the dirty line is evicted. A store is a use of its line, as a load is. A request
that misses goes down to the first level that has the line; then the line is placed in the levels
above, lowest first, and each dirty victim is written to the level below, as a use of its line
there. How levels relate has to be said:

- "nine" (neither inclusive nor exclusive): levels decide for themselves. A dirty victim that the
  next level does not hold is allocated there, without a fetch.
- "inclusive": what leaves a level also leaves all levels above it. Hits above are not heard of
  below, so that a hot line may go. Levels must not get smaller downwards.
- "exclusive": a line is in one level at a time. It comes from memory to the first level; victims,
  dirty or not, move down; a hit further down moves the line up again. In the levels below, the
  line that arrived first leaves first.

Left out: time, bandwidth, prefetching, the TLB, sharing between cores, write buffers, stores that
bypass the cache, and the replacement of real CPUs, which only resembles LRU and may hash the set.
Levels share one line size.

Sources: Hennessy, Patterson, "Computer Architecture", 6th edition, appendix B; Hill, Smith,
"Evaluating associativity in CPU caches", IEEE Transactions on Computers 38(12), 1989.

>>> one_set = CacheLevel(size_bytes=256, ways=4, line_bytes=64)
>>> a, b, c, d, e = range(0, 320, 64)
>>> run = replay([a, b, a, c, d, e, a, b], one_set, events=True)
>>> run.events.hit_level.tolist()  # 0: there; 1: from memory. The fifth line pushed out b, not a
[1, 1, 0, 1, 1, 1, 0, 1]
>>> run.levels[0].n_compulsory, run.levels[0].n_capacity, run.levels[0].n_conflict
(5, 1, 0)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from primer import _cacheevents, _cachesim, _cachestate, _cachestream, _checks
from primer._cachecounts import CAUSES, CacheEvents, CacheResult, LevelCounts
from primer._cachelevels import INCLUSIONS, POLICIES, CacheLevel, check_levels

__all__ = [
    "CAUSES", "INCLUSIONS", "POLICIES", "CacheEvents", "CacheLevel", "CacheResult", "LevelCounts",
    "replay",
]  # fmt: skip

MOST_EVENTS = 100_000


def replay(
    addresses: ArrayLike,
    levels: CacheLevel | Sequence[CacheLevel],
    *,
    is_store: ArrayLike | None = None,
    inclusion: str = "nine",
    events: bool = False,
    flush: bool = False,
    element_bytes: int = 1,
) -> CacheResult:
    """Send a stream of accesses through cold caches.

    Parameters
    ----------
    addresses : int array (n_accesses,) [B]
        Where each accessed element begins, in the order of the program.
    levels : CacheLevel or sequence of CacheLevel
        Nearest to the core first.
    is_store : bool array (n_accesses,), optional
        Which accesses are stores; without it all are loads.
    inclusion : str
        "nine", "inclusive" or "exclusive".
    events : bool
        Also record what happened at each access, of at most 100,000.
    flush : bool
        At the end, write all dirty lines back and count them.
    element_bytes : int [B]
        Size of every element; one that would cross a line is refused.

    Returns
    -------
    CacheResult

    Raises
    ------
    ValueError
        If addresses are negative, not integers or cross a line, if the stores do not match them,
        or if the levels cannot stand together.

    Examples
    --------
    512 doubles are stored one after another: eight per line, so one store in eight misses.

    >>> run = replay(np.arange(0, 4096, 8), CacheLevel(1024, 2, 64), is_store=np.ones(512, bool),
    ...              flush=True)
    >>> run.levels[0].n_misses, run.levels[0].n_hits, run.memory_read_bytes, run.memory_write_bytes
    (64, 448, 4096, 4096)
    """
    stack = check_levels(levels, inclusion)
    wants_events = _checks.flag("events", events)
    wants_flush = _checks.flag("flush", flush)
    stream = _cachestream.check(addresses, is_store, element_bytes, stack[0].line_bytes)
    n_accesses = len(stream.addresses)
    if wants_events and n_accesses > MOST_EVENTS:
        _checks.fail("addresses", f"be at most {MOST_EVENTS:,} where events=True", n_accesses)
    state = _cachestate.build(
        [level.geometry for level in stack], stream.line_numbers, INCLUSIONS.index(inclusion)
    )
    happened = None
    if wants_events:
        happened = _cacheevents.record(state, stream, stack)
    elif n_accesses:
        _cachesim.replay(
            state, stream.addresses, stream.stores, 0, n_accesses, stream.shift, stream.base
        )
    n_stores = int(np.count_nonzero(stream.stores))
    return result(
        state, stack, inclusion, n_lines=len(stream.line_numbers), n_accesses=n_accesses,
        n_stores=n_stores, flush=wants_flush, events=happened,
    )  # fmt: skip


def result(
    state: NDArray[np.int64],
    levels: tuple[CacheLevel, ...],
    inclusion: str,
    *,
    n_lines: int,
    n_accesses: int,
    n_stores: int,
    flush: bool,
    events: CacheEvents | None = None,
) -> CacheResult:
    """The counts that a simulator's array holds after a run (for `primer.tiling`)."""
    if flush:
        _cachestate.flush(state, n_lines)
    counts = [LevelCounts(**level) for level in _cachestate.counts(state, n_lines, n_accesses)]
    last, line_bytes = counts[-1], levels[0].line_bytes
    return CacheResult(
        levels=tuple(counts),
        n_accesses=n_accesses,
        n_loads=n_accesses - n_stores,
        n_stores=n_stores,
        memory_read_bytes=last.n_misses * line_bytes,
        memory_write_bytes=last.n_writebacks * line_bytes,
        inclusion=inclusion,
        events=events,
    )

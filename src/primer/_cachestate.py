"""The array that the cache simulator's engine works on: built, read, and emptied with NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from primer import _cachelayout as layout

Integers = NDArray[np.int64]

_LONGEST_EPOCH = 512  # lines; what an epoch may take to sort


def build(
    geometry: list[tuple[int, int, bool]], line_numbers: Integers, inclusion: int
) -> Integers:
    """An array for cold caches.

    Parameters
    ----------
    geometry : list of (n_sets, ways, is_lru)
        Of each level.
    line_numbers : int array (n_lines,)
        Address / line size of each line that the program will touch; lines are then spoken of by
        their place in this array.
    inclusion : int
        NINE, INCLUSIVE or EXCLUSIVE.

    Returns
    -------
    int64 array
        As described in `primer._cachelayout`.
    """
    n_levels = len(geometry)
    head = [n_levels, inclusion, *([0] * n_levels)]
    parts, at, n_shadow = [np.array(head, dtype=np.int64)], len(head), 0
    for level, (n_sets, ways, is_lru) in enumerate(geometry):
        parts[0][layout.STARTS + level] = at
        n_shadow = n_sets * ways + (n_shadow if inclusion == layout.EXCLUSIVE else 0)
        is_last = level == n_levels - 1
        kind = _kind(n_sets, is_lru, level, is_last, inclusion)
        parts.append(_block(at, n_sets, ways, kind, n_shadow, line_numbers))
        at += len(parts[-1])
    return np.concatenate(parts)


def _kind(n_sets: int, is_lru: bool, level: int, is_last: bool, inclusion: int) -> int:
    """How the engine replaces lines in a level.

    Lines of a lower exclusive level leave it when they are used, so the order is that of arrival.
    """
    if not is_lru or (inclusion == layout.EXCLUSIVE and level > 0):
        return layout.FIFO
    keeps_all = inclusion != layout.INCLUSIVE or is_last
    return layout.SHADOWED if n_sets == 1 and keeps_all else layout.LRU


def _block(
    at: int, n_sets: int, ways: int, kind: int, n_shadow: int, line_numbers: Integers
) -> Integers:
    """The block of one level that begins at position `at`."""
    n_lines = len(line_numbers)
    n_live = min(n_shadow, n_lines)
    epoch = max(1, min(n_live // 2, _LONGEST_EPOCH))
    n_epochs = 1 << (4 * (n_live // epoch + 1) + 2).bit_length()
    sets = layout.HEAD + 2 * n_lines
    log = sets + (0 if kind == layout.SHADOWED else n_sets * (2 * ways + 1))
    beginnings = log + n_epochs * epoch
    block = np.zeros(beginnings + n_epochs, dtype=np.int64)
    block[[layout.WAYS, layout.KIND, layout.CAPACITY]] = ways, kind, n_shadow
    block[[layout.LOG, layout.BEGINNINGS]] = at + log, at + beginnings
    block[[layout.EPOCH, layout.MASK]] = epoch, n_epochs - 1
    block[[layout.CLOCK, layout.OLDEST, layout.FRESH, beginnings]] = 1
    block[[layout.DROPPED, layout.VICTIM, layout.OLD_AT]] = -1
    if kind != layout.SHADOWED:
        homes = at + sets + (line_numbers % n_sets) * (2 * ways + 1)
        block[layout.HEAD + 1 : sets : 2] = homes << layout.SHIFT
        block[sets:log].reshape(n_sets, 2 * ways + 1)[:, 1:] = -1
    return block


def blocks(state: Integers) -> list[Integers]:
    """Views of the blocks of all levels."""
    n_levels = int(state[layout.N_LEVELS])
    starts = [int(state[layout.STARTS + level]) for level in range(n_levels)]
    return [state[begin:end] for begin, end in zip(starts, [*starts[1:], len(state)], strict=True)]


def ticks(block: Integers, n_lines: int) -> Integers:
    """A view of the last touch of each line in a block; 0 is never."""
    return block[layout.HEAD : layout.HEAD + 2 * n_lines : 2]


def homes(block: Integers, n_lines: int) -> Integers:
    """A view of the sets of all lines in a block, and of the flags beside them."""
    return block[layout.HEAD + 1 : layout.HEAD + 2 * n_lines : 2]


def flush(state: Integers, n_lines: int) -> None:
    """Write all dirty lines back, through every level below; nothing is evicted."""
    on_the_way = np.zeros(n_lines, dtype=np.int64)
    for block in blocks(state):
        level = homes(block, n_lines)
        on_the_way |= level & layout.DIRTY
        level &= ~np.int64(layout.DIRTY)
        block[layout.N_WRITEBACKS] += np.count_nonzero(on_the_way)


def counts(state: Integers, n_lines: int, n_accesses: int) -> list[dict[str, int]]:
    """What each level counted, and what follows from it."""
    found = []
    inclusion, n_asked = state[layout.INCLUSION], n_accesses
    for i, block in enumerate(blocks(state)):
        level = homes(block, n_lines)
        n_misses, n_far = int(block[layout.N_MISSES]), int(block[layout.N_FAR])
        n_first = int(np.count_nonzero(ticks(block, n_lines)))
        n_present = int(np.count_nonzero(level & layout.PRESENT))
        is_filled = i == 0 or inclusion != layout.EXCLUSIVE
        n_fills = int(block[layout.N_RECEIVED]) + (n_misses if is_filled else 0)
        found.append(
            {
                "n_accesses": n_asked,
                "n_hits": n_asked - n_misses,
                "n_misses": n_misses,
                "n_compulsory": n_first,
                "n_capacity": n_far - n_first,
                "n_conflict": n_misses - n_far,
                "n_store_misses": int(block[layout.N_STORE_MISSES]),
                "n_fills": n_fills,
                "n_evictions": n_fills - n_present - int(block[layout.N_REMOVED]),
                "n_removals": int(block[layout.N_REMOVED]),
                "n_writebacks": int(block[layout.N_WRITEBACKS]),
                "n_dirty": int(np.count_nonzero(level & layout.DIRTY)),
            }
        )
        n_asked = n_misses
    return found


def contents(
    state: Integers, line_numbers: Integers, geometry: list[tuple[int, int, bool]]
) -> tuple[Integers, ...]:
    """Per level, line numbers (n_sets, ways): what leaves first stands last, -1 is empty."""
    found = []
    for block, (n_sets, ways, _) in zip(blocks(state), geometry, strict=True):
        n_lines = len(line_numbers)
        present = np.flatnonzero(homes(block, n_lines) & layout.PRESENT)
        is_fifo = block[layout.KIND] == layout.FIFO
        order = (_arrivals if is_fifo else ticks)(block, n_lines)[present]
        table = np.full((n_sets, ways), -1, dtype=np.int64)
        for line in line_numbers[present[np.argsort(order)]].tolist():
            row = table[line % n_sets]
            row[1:] = row[:-1].copy()
            row[0] = line
        table.flags.writeable = False
        found.append(table)
    return tuple(found)


def _arrivals(block: Integers, n_lines: int) -> Integers:
    """The order in which lines came into their FIFO sets, comparable within a set."""
    begin, ways = layout.HEAD + 2 * n_lines, int(block[layout.WAYS])
    end = (
        int(block[layout.LOG] - block[layout.BEGINNINGS]) + len(block) - int(block[layout.MASK]) - 1
    )
    rows = block[begin:end].reshape(-1, 2 * ways + 1)[:, : ways + 1]
    arrival = np.zeros(n_lines, dtype=np.int64)
    for hand, *lines in rows.tolist():
        for age, line in enumerate(lines[hand:] + lines[:hand]):
            if line >= 0:
                arrival[line] = age
    return arrival

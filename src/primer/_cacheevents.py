"""A replay access by access: what changed at each, for those who step through it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from primer import _cachelayout as layout
from primer import _cachesim as sim
from primer import _cachestate
from primer._cachecounts import CacheEvents
from primer._cachelevels import CacheLevel
from primer._cachestream import NumberedStream


def record(
    state: NDArray[np.int64], stream: NumberedStream, levels: tuple[CacheLevel, ...]
) -> CacheEvents:
    """Replay a stream and write down, at each access, by how much the counts change."""
    n_accesses = len(stream.addresses)
    blocks = _cachestate.blocks(state)
    counts = np.zeros((n_accesses + 1, len(levels), layout.HEAD - layout.N_MISSES), dtype=np.int64)
    victims = np.full((n_accesses, len(levels)), -1, dtype=np.int64)
    for i in range(n_accesses):
        sim.replay(state, stream.addresses, stream.stores, i, i + 1, stream.shift, stream.base)
        for level, block in enumerate(blocks):
            counts[i + 1, level] = block[layout.N_MISSES : layout.HEAD]
            victims[i, level] = block[layout.VICTIM]
            block[layout.VICTIM] = -1
    changes = np.diff(counts, axis=0)
    missed = changes[:, :, 0]
    is_far = changes[:, :, layout.N_FAR - layout.N_MISSES]
    lines = (stream.addresses >> stream.shift) - stream.base
    numbers = stream.line_numbers[lines]
    n_sets = np.array([level.n_sets for level in levels])
    cause = missed * (3 - is_far)
    cause[_is_first(lines)] = 1
    events = CacheEvents(
        line=numbers,
        is_store=stream.stores.copy() if len(stream.stores) else np.zeros(n_accesses, np.bool_),
        hit_level=missed.sum(axis=1),
        cause=cause,
        set_index=numbers[:, None] % n_sets,
        evicted_line=np.where(victims < 0, -1, stream.line_numbers[victims]),
        n_writebacks=changes[:, :, layout.N_WRITEBACKS - layout.N_MISSES],
        contents=_cachestate.contents(
            state, stream.line_numbers, [level.geometry for level in levels]
        ),
    )
    for array in vars(events).values():
        if isinstance(array, np.ndarray):
            array.flags.writeable = False
    return events


def _is_first(lines: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Where a line occurs for the first time, bool array (n_accesses,)."""
    is_first = np.zeros(len(lines), dtype=np.bool_)
    is_first[np.unique(lines, return_index=True)[1]] = True
    return is_first

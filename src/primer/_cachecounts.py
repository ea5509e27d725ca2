"""What a replay gives back: counts, and events for those who step through it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

CAUSES = ("hit", "compulsory", "capacity", "conflict")


@dataclass(frozen=True, kw_only=True)
class LevelCounts:
    """What one level counted.

    Parameters
    ----------
    n_accesses, n_hits, n_misses : int
        Requests from above (for the first level, the program's accesses; for others, the misses of
        the level above; write-backs are not among them), hits + misses = accesses.
    n_compulsory, n_capacity, n_conflict : int
        The misses by cause: first touch of the line ever; not in the shadow either; the rest. The
        shadow is a fully associative LRU cache of the level's size that sees the same requests and
        write-backs; for an exclusive level, one of the size of all levels down to this one that
        sees all accesses, as its lines add to those above. So the rest is what sets cost, and also
        what FIFO costs against LRU, and what inclusion takes out of a level. Hits that the shadow
        would have missed are not set against it.
    n_store_misses : int
        Misses whose access was a store.
    n_fills : int
        Lines placed, fetched from below or received from above.
    n_evictions : int
        Lines that left because another one needed their place.
    n_removals : int
        Lines taken out otherwise: with the line of a level below that includes this one, or moved
        up to the first level from an exclusive one.
    n_writebacks : int
        Dirty lines that left this level and were written to the one below, or to memory.
    n_dirty : int
        Dirty lines that it still holds; none after ``flush=True``.
    """

    n_accesses: int
    n_hits: int
    n_misses: int
    n_compulsory: int
    n_capacity: int
    n_conflict: int
    n_store_misses: int
    n_fills: int
    n_evictions: int
    n_removals: int
    n_writebacks: int
    n_dirty: int

    @property
    def hit_frac(self) -> float:
        """Hits / accesses, float; 0 without any."""
        return self.n_hits / self.n_accesses if self.n_accesses else 0.0


@dataclass(frozen=True, kw_only=True)
class CacheEvents:
    """What happened at each access; all arrays are read-only and begin with n_accesses.

    Parameters
    ----------
    line : int array (n_accesses,)
        Address / line size.
    is_store : bool array (n_accesses,)
    hit_level : int array (n_accesses,)
        Which level had the line, 0 for the first; the number of levels stands for memory.
    cause : int array (n_accesses, n_levels)
        Index into `CAUSES`; 0 also where a level was not asked.
    set_index : int array (n_accesses, n_levels)
        The set in which the line may live.
    evicted_line : int array (n_accesses, n_levels)
        The line that left a level to make room, -1 for none. If several did (the second for the
        dirty victim of the level above), the first.
    n_writebacks : int array (n_accesses, n_levels)
        Dirty lines that left each level.
    contents : tuple of int array (n_sets, ways)
        Per level, the lines held at the end; in each set the one that has to leave first stands
        last, -1 is empty. For the contents after step i, replay the first i accesses.
    """

    line: NDArray[np.int64]
    is_store: NDArray[np.bool_]
    hit_level: NDArray[np.int64]
    cause: NDArray[np.int64]
    set_index: NDArray[np.int64]
    evicted_line: NDArray[np.int64]
    n_writebacks: NDArray[np.int64]
    contents: tuple[NDArray[np.int64], ...]


@dataclass(frozen=True, kw_only=True)
class CacheResult:
    """Counts of a replay.

    Parameters
    ----------
    levels : tuple of LevelCounts
        Nearest to the core first.
    n_accesses, n_loads, n_stores : int
        As the program made them; a store that misses is no load.
    memory_read_bytes, memory_write_bytes : int [B]
        Lines fetched from memory (misses of the last level) and lines written to it (its
        write-backs), times the line size.
    inclusion : str
    events : CacheEvents, optional
        Where they were asked for.
    """

    levels: tuple[LevelCounts, ...]
    n_accesses: int
    n_loads: int
    n_stores: int
    memory_read_bytes: int
    memory_write_bytes: int
    inclusion: str
    events: CacheEvents | None = None

    @property
    def traffic_bytes(self) -> int:
        """All that crosses the memory interface, both ways, int [B]."""
        return self.memory_read_bytes + self.memory_write_bytes

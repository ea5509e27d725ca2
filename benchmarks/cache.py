"""The cache simulator beside pycachesim, on the same tiled matrix products, with equal counts.

pycachesim (RRZE-HPC, AGPL) is compared with, never depended on; where it is not installed, its
columns stay empty. It gets its best case, a list of addresses that is ready before its clock
starts. `cache.replay` gets the same addresses as an array, `tiling.replay` makes its own.
All run on one thread; the best of some runs counts, as what disturbs a run only slows it down.

    python benchmarks/cache.py
"""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from primer import cache, tiling
from primer.cache import CacheLevel

SMALL = (CacheLevel(4 * 1024, 4, 64), CacheLevel(32 * 1024, 8, 64))
LARGE = (CacheLevel(32 * 1024, 8, 64), CacheLevel(256 * 1024, 8, 64))


@dataclass(frozen=True)
class Case:
    """A product of n x n matrices, and the caches it goes through."""

    n: int
    tile: int | None
    element_bytes: int
    levels: tuple[CacheLevel, ...]
    order: str = "ijk"

    def __str__(self) -> str:
        nest = f"tiles of {self.tile}" if self.tile else self.order
        sizes = " + ".join(f"{level.size_bytes // 1024} KiB" for level in self.levels)
        return f"n = {self.n}, fp{8 * self.element_bytes}, {nest}, {sizes}"

    @property
    def options(self) -> dict[str, Any]:
        """Of `tiling.stream` and `tiling.replay`."""
        tiles = self.tile or ()
        return {"order": self.order, "tiles": tiles, "element_bytes": self.element_bytes}


CASES = (
    Case(96, 16, 4, LARGE),
    Case(96, 16, 8, LARGE),
    Case(128, 16, 8, LARGE),
    Case(128, None, 4, LARGE, "ikj"),
    Case(128, None, 4, LARGE),
    Case(64, 8, 8, SMALL),
    Case(128, 16, 8, SMALL),
)


def best(do: Callable[[], Any], repeat: int = 9) -> tuple[float, Any]:
    """Least seconds of some calls, after one to warm up, and what the last one returned."""
    do()
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        found = do()
        times.append(time.perf_counter() - start)
    return min(times), found


def misses(result: cache.CacheResult) -> list[int]:
    """Of all levels."""
    return [level.n_misses for level in result.levels]


def peer(case: Case, addresses: list[int]) -> tuple[float, list[int]] | None:
    """Seconds and misses of pycachesim, which is told of loads only, so that it is true LRU."""
    try:
        pycachesim = importlib.import_module("cachesim")
    except ImportError:
        return None

    def run() -> list[int]:
        memory = pycachesim.MainMemory()
        below, caches = None, []
        for i, level in reversed(list(enumerate(case.levels))):
            links = {"load_from": below, "store_to": below} if below else {}
            geometry = (level.n_sets, level.n_ways, level.line_bytes)
            below = pycachesim.Cache(f"L{i + 1}", *geometry, "LRU", **links)
            caches.insert(0, below)
        memory.load_to(caches[-1])
        memory.store_from(caches[-1])
        start.append(time.perf_counter())
        pycachesim.CacheSimulator(caches[0], memory).load(addresses, length=1)
        end.append(time.perf_counter())
        return [level.stats()["MISS_count"] for level in caches]

    start: list[float] = []
    end: list[float] = []
    _, found = best(run)
    return min(e - s for s, e in zip(start, end, strict=True)), found


def line(case: Case) -> str:
    """One row of the table."""
    n, options = case.n, case.options
    addresses = tiling.stream(n, n, n, **options).addresses
    array_s, array = best(lambda: cache.replay(addresses, case.levels))
    nest_s, nest = best(lambda: tiling.replay(n, n, n, case.levels, stores=False, **options))
    if array != nest:
        sys.exit(f"{case}: the two replays of primer differ")
    rate = len(addresses) / 1e6
    cells = [str(case), f"{len(addresses):,}", " / ".join(f"{x:,}" for x in misses(nest))]
    cells += [f"{rate / array_s:.0f}", f"{rate / nest_s:.0f}"]
    theirs = peer(case, addresses.tolist())
    if theirs is None:
        return "| " + " | ".join([*cells, "", "", ""]) + " |"
    peer_s, counted = theirs
    if counted != misses(nest):
        sys.exit(f"{case}: pycachesim counts {counted} misses, primer {misses(nest)}")
    cells += [f"{rate / peer_s:.0f}", f"{peer_s / array_s:.1f}", f"{peer_s / nest_s:.1f}"]
    return "| " + " | ".join(cells) + " |"


def main() -> int:
    """Print one Markdown table; rates are in million accesses per second."""
    print("| product | accesses | misses L1 / L2 | from an array | generated | pycachesim", end="")
    print(" | array, times | generated, times |\n|---|--:|--:|--:|--:|--:|--:|--:|")
    for case in CASES:
        print(line(case), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

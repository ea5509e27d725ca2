"""What the tiling figure counts: the real product, and a small one to step through.

Without Numba a size of 128 takes some seconds once; every run is kept.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from primer import tiling
from primer._checks import fail, one_of, whole
from primer.cache import CacheLevel, CacheResult
from primer.figures._cachegrid import Trace, record

ORDERS = ("ijk", "ikj")
SIZES = (64, 96, 128)
ELEMENT_BYTES = {"fp32": 4, "fp64": 8}
TILES: dict[str, tuple[int, ...]] = {
    "none": (), "4": (4,), "8": (8,), "16": (16,), "32": (32,), "48-16-4": (48, 16, 4),
}  # fmt: skip
_L1, _L2 = CacheLevel(4 * 1024, 4), CacheLevel(32 * 1024, 8)
CACHES: dict[str, tuple[CacheLevel, ...]] = {
    "32k_8way": (_L2,),
    "4k_4way": (_L1,),
    "4k_full": (CacheLevel(4 * 1024),),
    "4k_32k": (_L1, _L2),
}

# The small product: A is 4 × 8, B is 8 × 8; lines of four numbers, eight lines in the cache.
M, N, K = 4, 8, 8
LINE, ROOM = 4, 8
SMALL_TILES: dict[str, tuple[int, ...]] = {
    "none": (), "4": (2,), "8": (2,), "16": (4,), "32": (8,), "48-16-4": (4, 2),
}  # fmt: skip
PER_STEP = 8
N_STEPS = M * N * K // PER_STEP


@dataclass(frozen=True, kw_only=True, eq=False)
class SmallRun:
    """The small product, access by access.

    Parameters
    ----------
    steps : primer.tiling.Steps
        Operand, row and column of each access.
    trace : Trace
        What the small cache did.
    ends : int array (n_steps + 1,)
        Accesses made after each step of eight multiply-adds.
    """

    steps: tiling.Steps
    trace: Trace
    ends: NDArray[np.int64]


@cache
def small_run(order: str, tile: str) -> SmallRun:
    """Both orders load B once per multiply-add, and every step ends with a store of C."""
    tiles = [(min(t, M), t, t) for t in SMALL_TILES[one_of("tile", tile, tuple(SMALL_TILES))]]
    steps = tiling.steps(M, N, K, order=order, tiles=tiles, align_bytes=4 * LINE)
    level = CacheLevel(4 * LINE * ROOM, line_bytes=4 * LINE)
    trace = record(steps.addresses, level, is_store=steps.is_store)
    last = np.flatnonzero(steps.operand == 1)[PER_STEP - 1 :: PER_STEP]
    stores = np.flatnonzero(steps.is_store)
    ends: NDArray[np.int64] = np.append(0, stores[np.searchsorted(stores, last)] + 1)
    ends.flags.writeable = False
    return SmallRun(steps=steps, trace=trace, ends=ends)


@dataclass(frozen=True, kw_only=True, eq=False)
class Product:
    """An n × n product in a cache.

    Parameters
    ----------
    order, tile, cache, storage : str
    n : int
    run : CacheResult
        Its counts, with everything written back at the end.
    """

    order: str
    tile: str
    cache: str
    n: int
    storage: str
    run: CacheResult

    @property
    def levels(self) -> tuple[CacheLevel, ...]:
        """Nearest to the core first."""
        return CACHES[self.cache]

    @property
    def element_bytes(self) -> int:
        """Size of a number, int [B]."""
        return ELEMENT_BYTES[self.storage]

    @property
    def compulsory_bytes(self) -> int:
        """A, B and C once each, int [B]."""
        return 3 * self.n**2 * self.element_bytes

    @property
    def floor_bytes(self) -> float:
        """What no order can undercut with a store of the last level's size, float [B]."""
        n, size = self.n, self.levels[-1].size_bytes
        return tiling.floor_bytes(n, n, n, size, element_bytes=self.element_bytes)

    @property
    def floor_ratio(self) -> float:
        """Distance from the floor, float."""
        return self.run.traffic_bytes / self.floor_bytes

    @property
    def column_room(self) -> int:
        """Places of the first level that the lines of one column of B may use, int."""
        level = self.levels[0]
        pitch = self.n * self.element_bytes // level.line_bytes
        return level.n_sets // math.gcd(pitch, level.n_sets) * level.n_ways

    @property
    def tile_side(self) -> int:
        """The innermost tile but for registers, int; 0 without tiles."""
        tiles = TILES[self.tile]
        return tiles[min(1, len(tiles) - 1)] if tiles else 0

    @property
    def tile_bytes(self) -> int:
        """A tile of each matrix, int [B]; 0 without tiles."""
        return 3 * self.tile_side**2 * self.element_bytes

    @property
    def tile_and_rows_bytes(self) -> int:
        """A tile of one matrix and a row of each of the other two, int [B]."""
        return (self.tile_side**2 + 2 * self.tile_side) * self.element_bytes


@cache
def product(order: str, tile: str, cache: str, n: int, storage: str) -> Product:
    """Count a product."""
    run = tiling.replay(
        n, n, n, CACHES[cache], order=order, tiles=[(t, t, t) for t in TILES[tile]],
        element_bytes=ELEMENT_BYTES[storage], flush=True,
    )  # fmt: skip
    return Product(order=order, tile=tile, cache=cache, n=n, storage=storage, run=run)


@dataclass(frozen=True)
class TilingRun:
    """A product in a cache, and how far the small one has come.

    Parameters
    ----------
    product : Product
    small : SmallRun
    step : int
        Steps of the small product that are done.
    """

    product: Product
    small: SmallRun
    step: int

    @property
    def n_done(self) -> int:
        """Accesses of the small product so far, int."""
        return int(self.small.ends[self.step])

    @property
    def now(self) -> range:
        """The accesses of this step; none before the first."""
        return range(int(self.small.ends[max(self.step - 1, 0)]), self.n_done)


def compute(order: str, tile: str, cache: str, n: int, storage: str, step: int) -> TilingRun:
    """Count a product in a cache; a step past the end stays at the end."""
    one_of("order", order, ORDERS)
    one_of("tile", tile, tuple(TILES))
    one_of("cache", cache, tuple(CACHES))
    one_of("storage", storage, tuple(ELEMENT_BYTES))
    side = whole("n", n)
    if side not in SIZES:
        fail("n", f"be one of {', '.join(map(str, SIZES))}", side)
    at = min(whole("step", step, minimum=0), N_STEPS)
    return TilingRun(product(order, tile, cache, side, storage), small_run(order, tile), at)

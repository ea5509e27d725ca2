"""Threads: where one thread of a GPU kernel stands among blocks, warps and lanes.

A kernel runs as a grid of blocks, and a block as threads in up to three dimensions. The hardware
sees none of the dimensions. It numbers the threads of a block, x fastest, and cuts the row of
numbers into warps of 32:

    i_thread = x + y · block_x + z · block_x · block_y
    i_warp = ⌊i_thread / 32⌋        i_lane = i_thread mod 32

So a row of a block is a warp only where it has 32 threads, and a block whose size is no multiple of
32 ends with a warp that is not full. Its empty lanes take a place all the same.

A warp issues one instruction for all of its lanes. Since Volta each thread has a program counter of
its own, so that nothing promises that they stay in step. Left out: clusters, limits of grids, and
when warps run.

Source: NVIDIA's headers, for the order of threads (`cub::RowMajorTid`) and for the limits
(`primer.capabilities`; at most 64 threads along z: CCCL, arch_traits.h).

>>> at = place(10, 10, thread=(2, 3))
>>> at.i_thread, at.i_warp, at.i_lane, at.n_warps, at.n_idle_lanes
(32, 1, 0, 4, 28)
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from primer import _checks, capabilities
from primer._checks import whole

MAX_BLOCK_Z = 64
Index = tuple[int, int, int]
_AXES = "xyz"


@dataclass(frozen=True, kw_only=True)
class Place:
    """A thread in its block and grid.

    Parameters
    ----------
    block_shape, grid_shape : (int, int, int)
        Threads of a block, and blocks of the grid, along x, y, z.
    thread, block : (int, int, int)
        The thread in its block, and that block in the grid, along x, y, z.
    i_thread : int
        Number of the thread in its block.
    i_warp, i_lane : int
        Its warp in the block, and its lane in the warp.
    i_block : int
        Number of the block in the grid, x fastest. Blocks may run in any order.
    i_global : (int, int, int)
        The thread in the grid: block index times block size plus thread index, along each axis.
    n_threads, n_warps : int
        Of one block.
    n_idle_lanes : int
        Lanes of the block's last warp that hold no thread.
    lanes_frac : float
        Threads as a share of the lanes that the block's warps have.
    n_blocks : int
        Of the grid.
    """

    block_shape: Index
    grid_shape: Index
    thread: Index
    block: Index
    i_thread: int
    i_warp: int
    i_lane: int
    i_block: int
    i_global: Index
    n_threads: int
    n_warps: int
    n_idle_lanes: int
    lanes_frac: float
    n_blocks: int


def place(
    block_x: int,
    block_y: int = 1,
    block_z: int = 1,
    *,
    thread: Sequence[int] = (0, 0, 0),
    grid: Sequence[int] = (1, 1, 1),
    block: Sequence[int] = (0, 0, 0),
    capability: str = "9.0",
) -> Place:
    """Find the warp and lane of a thread.

    Parameters
    ----------
    block_x, block_y, block_z : int
        Threads of a block along each axis.
    thread : sequence of up to 3 int
        Index of the thread in its block; what is left out is 0.
    grid : sequence of up to 3 int
        Blocks of the grid along each axis; what is left out is 1.
    block : sequence of up to 3 int
        Index of the block in the grid.
    capability : str
        Whose limits hold; see `capabilities.names`.

    Returns
    -------
    Place

    Raises
    ------
    ValueError
        If a size is not a positive integer, a block has more threads than the capability allows
        or more than 64 along z, or an index lies outside.

    Examples
    --------
    A block of 32 × 8 is 256 threads, eight warps, each of them one row.

    >>> at = place(32, 8, thread=(5, 3), grid=(8, 8), block=(1, 2))
    >>> at.n_threads, at.n_warps, at.i_warp, at.i_lane, at.n_blocks
    (256, 8, 3, 5, 64)
    >>> at.i_global
    (37, 19, 0)
    >>> place(33).n_warps, round(place(33).lanes_frac, 3)
    (2, 0.516)
    """
    shape, limits = _shape(block_x, block_y, block_z, capability)
    blocks = _sizes("grid", grid)
    at, of = _index("thread", thread, shape), _index("block", block, blocks)
    i_thread = _number(at, shape)
    n_threads, lanes = shape[0] * shape[1] * shape[2], limits.warp_size
    n_warps = -(-n_threads // lanes)
    i_x, i_y, i_z = (b * size + t for b, size, t in zip(of, shape, at, strict=True))
    return Place(
        block_shape=shape, grid_shape=blocks, thread=at, block=of,
        i_thread=i_thread, i_warp=i_thread // lanes, i_lane=i_thread % lanes,
        i_block=_number(of, blocks), i_global=(i_x, i_y, i_z),
        n_threads=n_threads, n_warps=n_warps,
        n_idle_lanes=n_warps * lanes - n_threads,
        lanes_frac=n_threads / (n_warps * lanes),
        n_blocks=blocks[0] * blocks[1] * blocks[2],
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Cover:
    """A grid that is large enough for a number of elements.

    Parameters
    ----------
    grid_shape : (int, int, int)
        Blocks along x, y, z.
    n_blocks, n_threads : int
        Of the whole grid.
    n_outside : int
        Threads without an element: why a kernel begins with `if (i < n)`.
    outside_frac : float
        Their share.
    """

    grid_shape: Index
    n_blocks: int
    n_threads: int
    n_outside: int
    outside_frac: float


def cover(
    size_x: int,
    size_y: int = 1,
    size_z: int = 1,
    *,
    block: Sequence[int],
    capability: str = "9.0",
) -> Cover:
    """Round a number of elements up to whole blocks.

    Parameters
    ----------
    size_x, size_y, size_z : int
        Elements along each axis, one for each thread.
    block : sequence of up to 3 int
        Threads of a block along each axis; what is left out is 1.
    capability : str
        Whose limits hold.

    Returns
    -------
    Cover

    Raises
    ------
    ValueError
        If a size is not a positive integer, or the block is larger than the capability allows.

    Examples
    --------
    >>> cover(1000, block=(256,))
    Cover(grid_shape=(4, 1, 1), n_blocks=4, n_threads=1024, n_outside=24, outside_frac=0.0234375)
    """
    sizes = whole("size_x", size_x), whole("size_y", size_y), whole("size_z", size_z)
    shape, _ = _shape(*_sizes("block", block), capability)
    grid_x, grid_y, grid_z = (-(-n // b) for n, b in zip(sizes, shape, strict=True))
    n_blocks = grid_x * grid_y * grid_z
    n_threads = n_blocks * shape[0] * shape[1] * shape[2]
    n_outside = n_threads - sizes[0] * sizes[1] * sizes[2]
    return Cover(
        grid_shape=(grid_x, grid_y, grid_z), n_blocks=n_blocks, n_threads=n_threads,
        n_outside=n_outside, outside_frac=n_outside / n_threads,
    )  # fmt: skip


def number(
    block_x: int, block_y: int = 1, block_z: int = 1, *, capability: str = "9.0"
) -> NDArray[np.int64]:
    """The numbers of all threads of a block, x fastest.

    Parameters
    ----------
    block_x, block_y, block_z : int
        Threads along each axis.
    capability : str
        Whose limits hold.

    Returns
    -------
    int array (block_z, block_y, block_x)
        Divided by 32 they give warps, and the remainders are lanes.

    Raises
    ------
    ValueError
        As `place`.

    Examples
    --------
    >>> number(3, 2).tolist()
    [[[0, 1, 2], [3, 4, 5]]]
    """
    (x, y, z), _ = _shape(block_x, block_y, block_z, capability)
    return np.arange(x * y * z).reshape(z, y, x)


def _shape(
    block_x: object, block_y: object, block_z: object, capability: str
) -> tuple[Index, capabilities.Capability]:
    """The sizes of a block, if the capability allows them."""
    limits = capabilities.load(capability)
    shape = (whole("block_x", block_x), whole("block_y", block_y), whole("block_z", block_z))
    if shape[2] > MAX_BLOCK_Z:
        _checks.fail("block_z", f"be at most {MAX_BLOCK_Z}", shape[2])
    most = limits.max_threads_per_block
    if shape[0] * shape[1] * shape[2] > most:
        _checks.fail("block", f"have at most {most:,} threads", " × ".join(map(str, shape)))
    return shape, limits


def _sizes(name: str, given: object) -> Index:
    """Up to three sizes, filled up with ones."""
    x, y, z = _three(name, given, 1)
    return whole(f"{name}.x", x), whole(f"{name}.y", y), whole(f"{name}.z", z)


def _index(name: str, given: object, shape: Index) -> Index:
    """Up to three indices, filled up with zeros, each inside its axis."""
    found = []
    for axis, value, size in zip(_AXES, _three(name, given, 0), shape, strict=True):
        at = whole(f"{name}.{axis}", value, minimum=0)
        if at >= size:
            _checks.fail(f"{name}.{axis}", f"be less than the {size} there are", at)
        found.append(at)
    return found[0], found[1], found[2]


def _three(name: str, given: object, filler: int) -> tuple[object, object, object]:
    """Up to three entries, filled up."""
    plain = given.tolist() if isinstance(given, np.ndarray) else given
    is_text = isinstance(plain, str | bytes)
    if is_text or not isinstance(plain, Sequence) or not 1 <= len(plain) <= 3:
        _checks.fail(name, "be one to three whole numbers, along x, y, z", given)
    x, y, z = [*plain, filler, filler][:3]
    return x, y, z


def _number(at: Index, shape: Index) -> int:
    """Position in a row of numbers, x fastest."""
    return at[0] + at[1] * shape[0] + at[2] * shape[0] * shape[1]

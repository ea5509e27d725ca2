"""Waves: the tiles of a product, handed out to the multiprocessors of a GPU in rounds.

A matrix product is cut into tiles of the result. One thread block (CTA) computes one tile, and a
GPU with S multiprocessors computes S of them side by side: a wave. What is left over for the last
wave keeps a few multiprocessors busy and all others waiting, for as long as a full one takes:

    tiles = ⌈m / tile_m⌉ · ⌈n / tile_n⌉
    utilization = m·n / (tile_m · tile_n · S · ⌈tiles / S⌉)

Two losses hide in it, and they are told apart: tiles that hang over the edge of the result compute
what nobody asked for, and the last wave, the tail, is not full. Smaller tiles lose less to both,
but do less arithmetic per byte: a tile of t × t does t / e FLOP for each byte of e-byte operands.

Every tile takes the same time here, also those that hang over the edge. Left out: the time to
start a block and to write its tile, caches, clocks that fall under load, kernels whose blocks stay
and fetch tiles of unequal size (stream-K), and other kernels that fill the gaps.

Source: NVIDIA, Matrix Multiplication Background User's Guide, on tile and wave quantization.

>>> one = count(1024, 3072, tile=128, n_sms=132)
>>> one.n_tiles, one.n_waves, round(one.utilization_frac, 3)
(192, 2, 0.727)
>>> [round(count(128 * t, 128, tile=128, n_sms=132).utilization_frac, 3) for t in (132, 133)]
[1.0, 0.504]
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from primer import _checks
from primer._products import element_bytes
from primer._waveschedule import Schedule, schedule

__all__ = ["Schedule", "Waves", "count", "schedule", "sweep"]

PARTIAL_BYTES = 4.0  # a sum that waits for its other parts is kept in fp32


@dataclass(frozen=True, kw_only=True)
class Waves:
    """A product as waves of tiles.

    Parameters
    ----------
    m, n : int
        The result.
    tile_m, tile_n : int
        What one block computes of it.
    n_sms, blocks_per_sm, n_splits : int
        As in `count`.
    n_tiles_m, n_tiles_n : int
        Tiles down and across.
    n_blocks : int
        Blocks to hand out: one for each tile, and for each part of k if it is split.
    n_waves : int
        Waves of n_sms · blocks_per_sm blocks, the last one counted whole.
    n_tail_blocks : int
        Blocks in the last wave.
    span_tiles : float
        Time from the first block to the last, in times that one whole tile takes a multiprocessor.
    utilization_frac : float
        Wanted results, as a share of what all multiprocessors could have computed in that time.
    edge_frac : float
        Share that was computed beyond the edges of the result.
    tail_frac : float
        Share in which multiprocessors had no tile. The three add up to one.
    intensity_flop_per_byte : float [FLOP/B]
        FLOP of a tile per byte of its operands, whatever k:
        2·tile_m·tile_n / ((tile_m + tile_n)·e).
    partial_bytes : float [B]
        Sums that are written and read again because k is split; 0 if it is not.
    """

    m: int
    n: int
    tile_m: int
    tile_n: int
    n_sms: int
    blocks_per_sm: int
    n_splits: int
    n_tiles_m: int
    n_tiles_n: int
    n_blocks: int
    n_waves: int
    n_tail_blocks: int
    span_tiles: float
    utilization_frac: float
    edge_frac: float
    tail_frac: float
    intensity_flop_per_byte: float
    partial_bytes: float

    @property
    def n_tiles(self) -> int:
        """Tiles of the result, int."""
        return self.n_tiles_m * self.n_tiles_n


def count(
    m: int,
    n: int,
    *,
    tile: int | tuple[int, int],
    n_sms: int,
    blocks_per_sm: int = 1,
    n_splits: int = 1,
    storage: str = "bf16",
) -> Waves:
    """Cut a result of m × n into tiles, and the tiles into waves.

    Parameters
    ----------
    m, n : int
        Rows and columns of the result.
    tile : int or (int, int)
        Rows and columns that one block computes; one number for a square.
    n_sms : int
        Multiprocessors.
    blocks_per_sm : int
        Blocks that live on a multiprocessor at once. They share its arithmetic, so that each
        takes longer: there are fewer waves, and no time is gained. Where one block alone cannot
        keep a multiprocessor busy, more of them do gain, which is not modeled here.
    n_splits : int
        Blocks that share a tile, each with its part of k (split-K). They are shorter, so the tail
        is; their partial sums cost traffic, `partial_bytes`, whose time is not counted.
    storage : str
        Format of the operands in memory.

    Returns
    -------
    Waves

    Raises
    ------
    ValueError
        If a size or count is not a positive integer, or the format unknown.

    Examples
    --------
    132 tiles fit 132 multiprocessors. One more row of the result is twelve more tiles, and they
    take as long as all others together.

    >>> [count(m, 1536, tile=128, n_sms=132).n_tiles for m in (1408, 1409)]
    [132, 144]
    >>> [count(m, 1536, tile=128, n_sms=132).span_tiles for m in (1408, 1409)]
    [1.0, 2.0]
    >>> coarse, fine = (count(1024, 3072, tile=t, n_sms=132) for t in (128, 64))
    >>> round(fine.utilization_frac, 3), fine.intensity_flop_per_byte
    (0.97, 32.0)
    >>> coarse.intensity_flop_per_byte
    64.0
    """
    rows, columns = _checks.whole("m", m), _checks.whole("n", n)
    tile_m, tile_n = _tile(tile)
    sms = _checks.whole("n_sms", n_sms)
    together = _checks.whole("blocks_per_sm", blocks_per_sm)
    parts = _checks.whole("n_splits", n_splits)
    size = element_bytes(storage)
    down, across = -(-rows // tile_m), -(-columns // tile_n)
    blocks, slots = down * across * parts, sms * together
    rounds = -(-blocks // sms)
    # Everything is counted in elements of the result, over one part of k.
    room, computed = rounds * sms * tile_m * tile_n, blocks * tile_m * tile_n
    wanted = rows * columns * parts
    return Waves(
        m=rows, n=columns, tile_m=tile_m, tile_n=tile_n,
        n_sms=sms, blocks_per_sm=together, n_splits=parts,
        n_tiles_m=down, n_tiles_n=across, n_blocks=blocks,
        n_waves=-(-blocks // slots), n_tail_blocks=(blocks - 1) % slots + 1,
        span_tiles=rounds / parts,
        utilization_frac=wanted / room,
        edge_frac=(computed - wanted) / room,
        tail_frac=(room - computed) / room,
        intensity_flop_per_byte=2.0 * tile_m * tile_n / ((tile_m + tile_n) * size),
        partial_bytes=2.0 * PARTIAL_BYTES * wanted if parts > 1 else 0.0,
    )  # fmt: skip


def _tile(tile: object) -> tuple[int, int]:
    if isinstance(tile, tuple | list):
        if len(tile) != 2:
            _checks.fail("tile", "be one size, or rows and columns", tile)
        return _checks.whole("tile", tile[0]), _checks.whole("tile", tile[1])
    side = _checks.whole("tile", tile)
    return side, side


def sweep(sizes: Sequence[int], n: int, **options: Any) -> tuple[Waves, ...]:
    """`count` for several numbers of rows: the steps of a staircase.

    Parameters
    ----------
    sizes : sequence of int
        Values of m.
    n : int
    **options
        As in `count`.

    Raises
    ------
    ValueError
        If there is no size, or `count` refuses one.

    Examples
    --------
    >>> steps = sweep(range(128, 1665, 256), 1536, tile=128, n_sms=132)
    >>> [step.span_tiles for step in steps]
    [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0]
    """
    try:
        n_sizes = len(sizes)
    except TypeError:  # also raised by an array without dimensions
        n_sizes = 0
    if not n_sizes or _checks.is_a(sizes, bytes, Set, Mapping):
        _checks.fail("sizes", "be a sequence with at least one size", sizes)
    return tuple(count(m, n, **options) for m in sizes)

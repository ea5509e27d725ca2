"""Tiled matrix products, as what a cache sees of them.

The nest computes C[m, n] = A[m, k] · B[k, n] on row-major matrices, in any of six loop orders and
with up to three levels of tiles. With order "ijk" and one tile (tm, tn, tk) it is

    for ii in range(0, m, tm):  for jj in range(0, n, tn):  for kk in range(0, k, tk):
        for i in tile:  for j in tile:  for k in tile:  C[i, j] += A[i, k] * B[k, j]

with tiles clipped at the edges. The operand that does not depend on the innermost index stays in a
register while that loop runs: it is loaded before it, and C is stored after it. So "ijk" makes

    [load C]  then, for all k: load A, load B   then store C

and "ikj" makes ``load A`` then, for all j: ``load B, [load C], store C``. `c_access` says when C
is loaded:

- "assign": not at the first touch of an element, as its first product is its value so far;
- "update": always, as C was set to zero beforehand and is added to;
- "memory": C is loaded and stored at every multiply-add, and A and B are loaded: no registers;
- "auto": "assign" for a plain nest that ends in k, where every sum is done in one go; "update"
  for all others. That is what compilers make of the textbook's loops.

Left out: everything in `primer.cache`, and packing, vectors (an access is one element), and
registers beyond the one kept operand.

Sources: Lam, Rothberg, Wolf, "The cache performance and optimizations of blocked algorithms",
ASPLOS 1991; Smith, Lowery, Langou, van de Geijn, "A tight I/O lower bound for matrix
multiplication", arXiv:1702.02017 (2019).

>>> addresses, is_store = stream(2, 2, 2, element_bytes=8, bases=(0, 32, 64))
>>> addresses[:5].tolist(), is_store[:5].tolist()  # two products, then C[0, 0] is stored
([0, 32, 8, 48, 64], [False, False, False, False, True])
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from primer import _cachesim, _cachestate, _checks, _loopnest, _tilednest, cache
from primer._cachelevels import INCLUSIONS, CacheLevel, check_levels
from primer._tiledblocks import blocks, multiply
from primer._tilednest import C_ACCESSES, MOST_LINES, ORDERS, TiledNest
from primer._tiledsteps import Steps, describe
from primer._tiletraffic import Traffic, estimate, floor_bytes

__all__ = [
    "C_ACCESSES", "ORDERS", "Steps", "Stream", "Traffic", "blocks", "floor_bytes", "multiply",
    "replay", "steps", "stream", "traffic",
]  # fmt: skip

MOST_ACCESSES = 2**28
MOST_STEPS = 1_000_000
_BUFFER = 2**14  # accesses handed from the nest to the simulator at a time


class Stream(NamedTuple):
    """Addresses in the order of the program, and which of them are stores; both read-only."""

    addresses: NDArray[np.int64]
    is_store: NDArray[np.bool_]


def stream(
    m: int,
    n: int,
    k: int,
    *,
    order: str = "ijk",
    tiles: Any = (),
    element_bytes: int = 4,
    ld_a: int | None = None,
    ld_b: int | None = None,
    ld_c: int | None = None,
    bases: Sequence[int] | None = None,
    align_bytes: int = 1,
    c_access: str = "auto",
) -> Stream:
    """All accesses of a matrix product, for `primer.cache.replay`.

    Parameters
    ----------
    m, n, k : int
        Rows of C, columns of C, and the length of every dot product.
    order : str
        The three innermost loops from the outside inwards, and those over tiles alike.
    tiles : sequence of (tm, tn, tk)
        Up to three tiles inside each other, the outermost first; they need not divide what they
        lie in. One tile may stand alone, and so may one number for a cube.
    element_bytes : int [B]
        Size of an element of all three matrices.
    ld_a, ld_b, ld_c : int, optional [elements]
        Leading dimension, the distance of two rows; by default the row length: no padding.
    bases : sequence of three int, optional [B]
        Where A, B and C begin; by default one after another from 2**20 on.
    align_bytes : int [B]
        Without `bases`, B and C begin at the next multiple of this.
    c_access : str
        "auto", "assign", "update" or "memory"; see the module.

    Returns
    -------
    Stream
        Two arrays (n_accesses,): addresses int64 [B] and is_store bool.

    Raises
    ------
    ValueError
        If a size is not a positive integer, a tile larger than what it lies in, a leading
        dimension smaller than a row, if matrices overlap, or the stream has more than 2**28
        accesses (`replay` needs no memory for them).

    Examples
    --------
    >>> len(stream(8, 8, 8).addresses)  # 8³ products with two loads, 8² stores
    1088
    >>> len(stream(8, 8, 8, tiles=4).addresses)  # C is loaded and stored twice
    1280
    """
    product = _tilednest.check(
        m, n, k, order=order, tiles=tiles, element_bytes=element_bytes, ld_a=ld_a, ld_b=ld_b,
        ld_c=ld_c, bases=bases, align_bytes=align_bytes, c_access=c_access,
    )  # fmt: skip
    return _stream(product, MOST_ACCESSES)


def _stream(product: TiledNest, most: int) -> Stream:
    if 2 * product.n_macs > most:
        _checks.fail("m * n * k", f"be at most {most // 2:,} where all is listed", product.n_macs)
    parts = [
        (addresses.copy(), stores.copy())
        for addresses, stores, _ in _chunks(product, product.element_bytes)
    ]
    found = Stream(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))
    for array in found:
        array.flags.writeable = False
    return found


def _chunks(product: TiledNest, line_bytes: int, ways: int = 0) -> Iterator[tuple[Any, Any, Any]]:
    """Buffers full of passes: addresses, stores, and per pass what `_loopnest` says of it.

    With the element as line, every access is handed out, with larger lines only those of the
    passes that differ. The buffers are used again for the next chunk.
    """
    array = product.array(line_bytes=line_bytes, ways=ways)
    bounds = np.zeros((len(product.tiles) + 1, 3, 2), dtype=np.int64)
    _loopnest.first_tile(array, bounds)
    axes = ["ijk".index(axis) for axis in product.order]
    longest = 4 * (product.m, product.n, product.k)[axes[2]] + 2
    addresses = np.zeros(max(_BUFFER, longest), dtype=np.int64)
    stores = np.zeros(len(addresses), dtype=np.bool_)
    passes = np.zeros((_BUFFER, 4), dtype=np.int64)
    cursor = np.zeros(3, dtype=np.int64)
    while not cursor[2]:
        n = _loopnest.produce(array, bounds, cursor, addresses, stores, passes)
        end = int(passes[:n, _loopnest.LENGTH].sum())
        yield addresses[:end], stores[:end], passes[:n]


def steps(
    m: int,
    n: int,
    k: int,
    *,
    order: str = "ijk",
    tiles: Any = (),
    element_bytes: int = 4,
    ld_a: int | None = None,
    ld_b: int | None = None,
    ld_c: int | None = None,
    bases: Sequence[int] | None = None,
    align_bytes: int = 1,
    c_access: str = "auto",
) -> Steps:
    """The same accesses with the element that each one touches, at most 1,000,000.

    Parameters are those of `stream`.

    Examples
    --------
    >>> first = steps(2, 2, 2, order="ikj")
    >>> [f"{'ABC'[x]}[{r}, {c}]" for x, r, c in zip(first.operand, first.row, first.column)][:4]
    ['A[0, 0]', 'B[0, 0]', 'C[0, 0]', 'C[0, 0]']
    """
    product = _tilednest.check(
        m, n, k, order=order, tiles=tiles, element_bytes=element_bytes, ld_a=ld_a, ld_b=ld_b,
        ld_c=ld_c, bases=bases, align_bytes=align_bytes, c_access=c_access,
    )  # fmt: skip
    return describe(product, *_stream(product, MOST_STEPS))


def replay(
    m: int,
    n: int,
    k: int,
    levels: CacheLevel | Sequence[CacheLevel],
    *,
    order: str = "ijk",
    tiles: Any = (),
    element_bytes: int = 4,
    ld_a: int | None = None,
    ld_b: int | None = None,
    ld_c: int | None = None,
    bases: Sequence[int] | None = None,
    align_bytes: int = 1,
    c_access: str = "auto",
    inclusion: str = "nine",
    flush: bool = False,
    stores: bool = True,
) -> cache.CacheResult:
    """Send a matrix product through cold caches, without ever listing its accesses.

    The counts are those of `primer.cache.replay` on `stream`, exactly. They come faster because a
    pass that repeats the lines of the one before is simulated only until it can change nothing.

    Parameters
    ----------
    m, n, k, order, tiles, element_bytes, ld_a, ld_b, ld_c, bases, align_bytes, c_access
        As in `stream`; elements may not cross lines.
    levels, inclusion, flush
        As in `primer.cache.replay`.
    stores : bool
        Without them every store counts as a load, so that nothing is written back: what tools
        count that know of no write-backs, and `primer.cache.replay` without `is_store`.

    Returns
    -------
    CacheResult

    Raises
    ------
    ValueError
        For what `stream` and `primer.cache.replay` refuse.

    Examples
    --------
    The column of B walks over 64 lines that compete for 8 of the 64 sets, with 8 ways each.

    >>> level = CacheLevel(32 * 1024, 8, 64)
    >>> replay(64, 64, 64, level, ld_b=128).levels[0].n_conflict > 0
    True
    >>> replay(64, 64, 64, level, ld_b=144).levels[0].n_conflict
    0
    """
    product = _tilednest.check(
        m, n, k, order=order, tiles=tiles, element_bytes=element_bytes, ld_a=ld_a, ld_b=ld_b,
        ld_c=ld_c, bases=bases, align_bytes=align_bytes, c_access=c_access,
    )  # fmt: skip
    stack = check_levels(levels, inclusion)
    wants_flush, has_stores = _checks.flag("flush", flush), _checks.flag("stores", stores)
    lines = _line_numbers(product, stack[0].line_bytes)
    state = _cachestate.build(
        [level.geometry for level in stack], lines, INCLUSIONS.index(inclusion)
    )
    forgets = inclusion == "nine" and all(level.policy == "lru" for level in stack)
    keeps = inclusion != "inclusive" and stack[0].policy == "lru"
    ways = stack[0].n_ways if keeps else 0
    shift, base = stack[0].line_bytes.bit_length() - 1, int(lines[0])
    n_accesses = n_stores = 0
    for addresses, is_store, passes in _chunks(product, stack[0].line_bytes, ways):
        marks = is_store if has_stores else is_store[:0]
        _cachesim.replay_passes(state, addresses, marks, passes, shift, base, forgets)
        repeats = passes[:, _loopnest.REPEATS]
        n_accesses += int(passes[:, _loopnest.N_MEANT] @ repeats)
        n_stores += int(passes[:, _loopnest.N_STORES] @ repeats)
    return cache.result(
        state, stack, inclusion, n_lines=len(lines), n_accesses=n_accesses,
        n_stores=n_stores if has_stores else 0, flush=wants_flush,
    )  # fmt: skip


def _line_numbers(product: TiledNest, line_bytes: int) -> NDArray[np.int64]:
    """All lines from the first to the last that the matrices could touch."""
    if line_bytes % product.element_bytes:
        rule = f"divide the line size {line_bytes}, so that no element crosses a line"
        _checks.fail("element_bytes", rule, product.element_bytes)
    first, last = min(product.bases), max(product.ends)
    n_lines = (last - 1) // line_bytes - first // line_bytes + 1
    if n_lines > MOST_LINES:
        _checks.fail("bases", f"span at most {MOST_LINES:,} lines of {line_bytes} B", n_lines)
    return np.arange(n_lines) + first // line_bytes


def traffic(
    m: int,
    n: int,
    k: int,
    level: CacheLevel,
    *,
    order: str = "ijk",
    tiles: Any = (),
    element_bytes: int = 4,
    ld_a: int | None = None,
    ld_b: int | None = None,
    ld_c: int | None = None,
    bases: Sequence[int] | None = None,
    align_bytes: int = 1,
    c_access: str = "auto",
) -> Traffic:
    """Lines fetched into one cold LRU cache, by a closed form.

    A line is fetched again whenever a loop comes back to it after more distinct lines than the
    cache holds. For each operand and each loop that does not move it (or moves it within a line),
    the lines touched in between are counted; if they fit, the loop is free, else it multiplies
    what the loops inside it fetch. For a tile of T³ that fits, rows of T elements a whole number
    of lines, this is the textbook's 2·(N/T)³·T·⌈T·e/line⌉ for A and B.

    Parameters
    ----------
    m, n, k, order, tiles, element_bytes, ld_a, ld_b, ld_c, bases, align_bytes, c_access
        As in `stream`.
    level : CacheLevel
        Its size and line count; sets do not enter.

    Returns
    -------
    Traffic
        With `is_exact`: the counts are then those of `replay`. They are so for a fully associative
        LRU cache, if rows begin on lines, tiles divide what they lie in and each other's lines,
        and no working set is so close to the size that order decides; else `reason` says why not.

    Raises
    ------
    ValueError
        As in `stream`.

    Examples
    --------
    96 x 96 floats in tiles of 16, 4 KiB: 2 · 6³ · 16 lines of A and B, 6² · 16 of C.

    >>> cold = traffic(96, 96, 96, CacheLevel(4096), tiles=16)
    >>> cold.a_fills, cold.b_fills, cold.c_fills, cold.n_fills, cold.is_exact
    (3456, 3456, 576, 7488, True)
    """
    product = _tilednest.check(
        m, n, k, order=order, tiles=tiles, element_bytes=element_bytes, ld_a=ld_a, ld_b=ld_b,
        ld_c=ld_c, bases=bases, align_bytes=align_bytes, c_access=c_access,
    )  # fmt: skip
    (only,) = check_levels([level], "nine")
    return estimate(product, only)

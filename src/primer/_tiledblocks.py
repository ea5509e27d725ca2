"""The tiles of a matrix product one by one, and the product computed with them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from primer import _checks
from primer._tilednest import ORDERS, check_tiles


def blocks(m: int, n: int, k: int, *, order: str = "ijk", tiles: Any = ()) -> NDArray[np.int64]:
    """The innermost tiles in the order in which they are visited, clipped at the edges.

    Parameters
    ----------
    m, n, k, order, tiles
        As in `stream`.

    Returns
    -------
    int array (n_tiles, 3, 2)
        Per tile, where i, j and k begin and end.

    Examples
    --------
    >>> blocks(10, 10, 10, tiles=4)[-1].tolist()
    [[8, 10], [8, 10], [8, 10]]
    >>> len(blocks(30_000, 32, 32, tiles=32))  # 937 would leave out the last 16 rows
    938
    """
    sizes = tuple(_checks.whole(name, x) for name, x in zip("mnk", (m, n, k), strict=True))
    _checks.one_of("order", order, ORDERS)
    nested = check_tiles(tiles, (sizes[0], sizes[1], sizes[2]))
    found = np.array(list(_boxes([(0, size) for size in sizes], order, nested)))
    found.flags.writeable = False
    return found


def multiply(
    a: ArrayLike, b: ArrayLike, *, order: str = "ijk", tiles: Any = ()
) -> NDArray[np.float64]:
    """The product computed tile by tile, to see that a nest covers everything once.

    Parameters
    ----------
    a, b : float array (m, k), (k, n)
    order, tiles
        As in `stream`.

    Returns
    -------
    float array (m, n)
        a @ b, up to rounding.

    Examples
    --------
    >>> multiply(np.ones((3, 5)), np.ones((5, 2)), tiles=2).tolist()
    [[5.0, 5.0], [5.0, 5.0], [5.0, 5.0]]
    """
    left, right = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if left.ndim != 2 or right.ndim != 2 or left.shape[1] != right.shape[0]:
        _checks.fail("a and b", "be matrices (m, k) and (k, n)", (left.shape, right.shape))
    (m, k), n = left.shape, right.shape[1]
    product = np.zeros((m, n))
    for (i0, i1), (j0, j1), (k0, k1) in blocks(m, n, k, order=order, tiles=tiles):
        product[i0:i1, j0:j1] += left[i0:i1, k0:k1] @ right[k0:k1, j0:j1]
    return product


def _boxes(
    box: list[tuple[int, int]], order: str, tiles: Sequence[tuple[int, int, int]]
) -> Iterator[list[tuple[int, int]]]:
    """The innermost tiles inside a box, each as (begin, end) of i, j and k."""
    if not tiles:
        yield box
        return
    axes = ["ijk".index(axis) for axis in order]
    ranges = [range(*box[axis], tiles[0][axis]) for axis in axes]
    for begins in itertools.product(*ranges):
        inside = list(box)
        for axis, begin in zip(axes, begins, strict=True):
            inside[axis] = begin, min(begin + tiles[0][axis], box[axis][1])
        yield from _boxes(inside, order, tiles[1:])

"""One matrix product, C = A·B, written in four ways that differ by a factor of a hundred.

All do the same 2·m·n·k FLOP. What differs is the order of the loops, and with it how often an
operand comes from a cache and how often from a register.

Every kernel takes `c, a, b` in this order, of one type, rows contiguous, and overwrites `c`. The
compiler may fuse a multiplication with the addition after it: one rounding instead of two, which
changes the last digits, hardly ever for the worse. The register-blocked kernel may also add in
another order, for it keeps one partial sum in each lane of a vector. For any order, fused or not,

    |error of c[i, j]| ≤ γ_k · (|A|·|B|)[i, j],  γ_k = k·u / (1 - k·u),

with u = 2⁻²⁴ in 32 bit and 2⁻⁵³ in 64 bit. Without leave to fuse, half of the peak is out of reach.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from primer._jit import njit

Array = NDArray[Any]

FUSED = frozenset({"contract"})
REORDERED = FUSED | {"reassoc", "nsz"}

# Registers: 4 rows × 3 columns of partial sums, 3 operands that stay and 1 that passes are the 16
# vector registers of AVX2. Twelve independent sums hide the latency of two multiply-add units
# (8 would do), and 7 loads for 12 multiply-adds leave the load ports idle at times.
ROWS, COLUMNS = 4, 3
WIDTH = 32 * COLUMNS  # columns of B that are packed at once
DEPTH_BYTES = 4096  # of each packed row: 7 of them fit in a first cache of 32 KiB
GAP_BYTES = 64  # between packed rows, lest all of them meet in the same sets of the cache
STRIP = 8  # rows of B that are transposed together


@njit(fastmath=FUSED)
def naive(c: Array, a: Array, b: Array) -> None:
    """A dot product for every element; the innermost loop walks down a column of B."""
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            total = c.dtype.type(0)
            for p in range(a.shape[1]):
                total += a[i, p] * b[p, j]
            c[i, j] = total


@njit(fastmath=FUSED)
def ikj(c: Array, a: Array, b: Array) -> None:
    """The same loops in another order: the innermost one runs along rows, in vector registers."""
    c[:] = 0
    for i in range(c.shape[0]):
        for p in range(a.shape[1]):
            x = a[i, p]
            for j in range(c.shape[1]):
                c[i, j] += x * b[p, j]


@njit(fastmath=FUSED)
def tiled(c: Array, a: Array, b: Array, tile: int) -> None:
    """Three loops over tiles around ikj: a tile of B serves all rows of a tile of A.

    A slice ends where the matrix ends, so that the innermost loop runs over a whole array; with
    `min` in its bound it would not be vectorized.
    """
    m, n, k = c.shape[0], c.shape[1], a.shape[1]
    c[:] = 0
    for top in range(0, m, tile):
        for start in range(0, k, tile):
            for left in range(0, n, tile):
                for i in range(top, min(top + tile, m)):
                    row = c[i, left : left + tile]
                    for p in range(start, min(start + tile, k)):
                        x, other = a[i, p], b[p, left : left + tile]
                        for j in range(row.size):
                            row[j] += x * other[j]


@njit(fastmath=REORDERED)
def register_blocked(c: Array, a: Array, b: Array) -> None:
    """ROWS × COLUMNS dot products at a time, whose sums stay in registers from end to end.

    A vector of 8 or 16 neighboring terms is one step of a dot product. Columns of B are therefore
    packed as rows, a block that stays in the second cache; rows of A pass through the first.
    """
    m, n, k = c.shape[0], c.shape[1], a.shape[1]
    depth = min(k, DEPTH_BYTES // c.itemsize)
    stride = depth + GAP_BYTES // c.itemsize
    width = min(WIDTH, (n + COLUMNS - 1) // COLUMNS * COLUMNS)
    rows, columns = np.zeros((ROWS, stride), c.dtype), np.zeros((width, stride), c.dtype)
    sums = np.zeros((ROWS, width), c.dtype)
    c[:] = 0
    for start in range(0, k, depth):
        length = min(depth, k - start)
        for left in range(0, n, width):
            n_columns = min(width, n - left)
            _pack_columns(columns, b, start, length, left, n_columns)
            for top in range(0, m, ROWS):
                n_rows = min(ROWS, m - top)
                for r in range(n_rows):
                    rows[r, :length] = a[top + r, start : start + length]
                for j in range(0, n_columns, COLUMNS):
                    _micro_kernel(sums, rows, columns[j : j + COLUMNS], length, j)
                # Rows and columns beyond the edge were computed from old numbers: not copied.
                for r in range(n_rows):
                    c[top + r, left : left + n_columns] += sums[r, :n_columns]


@njit(fastmath=REORDERED)
def _pack_columns(
    packed: Array, b: Array, start: int, length: int, left: int, n_columns: int
) -> None:
    """packed[j, p] = b[start + p, left + j], a few rows of B at a time."""
    for strip in range(0, length, STRIP):
        for j in range(n_columns):
            for p in range(strip, min(strip + STRIP, length)):
                packed[j, p] = b[start + p, left + j]


@njit(fastmath=REORDERED)
def _micro_kernel(sums: Array, rows: Array, columns: Array, length: int, j: int) -> None:
    """Twelve dot products of four rows with three columns: 7 loads, 12 multiply-adds a step."""
    a0, a1, a2, a3 = rows[0], rows[1], rows[2], rows[3]
    b0, b1, b2 = columns[0], columns[1], columns[2]
    s00 = s01 = s02 = s10 = s11 = s12 = sums.dtype.type(0)
    s20 = s21 = s22 = s30 = s31 = s32 = sums.dtype.type(0)
    for p in range(length):
        x0, x1, x2, x3 = a0[p], a1[p], a2[p], a3[p]
        y0, y1, y2 = b0[p], b1[p], b2[p]
        s00, s01, s02 = s00 + x0 * y0, s01 + x0 * y1, s02 + x0 * y2
        s10, s11, s12 = s10 + x1 * y0, s11 + x1 * y1, s12 + x1 * y2
        s20, s21, s22 = s20 + x2 * y0, s21 + x2 * y1, s22 + x2 * y2
        s30, s31, s32 = s30 + x3 * y0, s31 + x3 * y1, s32 + x3 * y2
    sums[0, j], sums[0, j + 1], sums[0, j + 2] = s00, s01, s02
    sums[1, j], sums[1, j + 1], sums[1, j + 2] = s10, s11, s12
    sums[2, j], sums[2, j + 1], sums[2, j + 2] = s20, s21, s22
    sums[3, j], sums[3, j + 1], sums[3, j + 2] = s30, s31, s32

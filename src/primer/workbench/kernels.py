"""The loops that are measured, each twice: as a loop for Numba, and in NumPy.

Both forms of a kernel take the same arguments, write the same numbers and move the same bytes
beyond the caches: the NumPy form works in blocks that stay in a cache, so that its intermediate
results never reach the memory. A part of the arrays belongs to one thread; both forms let other
threads run meanwhile.

Fused multiply-adds are allowed to the compiler everywhere, a new order of additions only to the
two reductions, which could not use vector units without it.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from primer import _jit

Array = NDArray[Any]
Code = Callable[..., Any]

DEGREE = 32  # of the polynomial: 64 FLOP per element put it near the ridge of a CPU
CHAIN = 8  # dependent multiply-adds per element; elements are independent
STENCIL_FLOP = 6  # four additions and two multiplications
BLOCK = 16_384  # elements: three blocks in 32 bit take 192 KiB


def add(a: Array, b: Array, c: Array) -> None:
    """a = b + c."""
    for i in range(a.size):
        a[i] = b[i] + c[i]


def triad(a: Array, b: Array, c: Array, s: Any) -> None:
    """a = b + s·c, the loop of the STREAM benchmark."""
    for i in range(a.size):
        a[i] = b[i] + s * c[i]


def dot(a: Array, b: Array) -> Any:
    """The sum of a·b."""
    s = a.dtype.type(0)
    for i in range(a.size):
        s += a[i] * b[i]
    return s


def total(a: Array) -> Any:
    """The sum of a: a stream that only reads."""
    s = a.dtype.type(0)
    for i in range(a.size):
        s += a[i]
    return s


def stencil(a: Array, u: Array, center: Any, side: Any) -> None:
    """Inner points of a = center·u + side·(the four neighbors), on a grid."""
    for i in range(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
            a[i, j] = center * u[i, j] + side * around


def polynomial(a: Array, x: Array, s: Any) -> None:
    """a = s + s·x + … + s·x^DEGREE by Horner's rule, as activation functions are computed."""
    for i in range(a.size):
        p = s
        for _ in range(DEGREE):
            p = p * x[i] + s
        a[i] = p


def loops(c: Array, a: Array, b: Array) -> None:
    """C = A·B by three plain loops, the innermost along rows."""
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            c[i, j] = 0
        for k in range(a.shape[1]):
            for j in range(c.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


def fma(x: Array, m: Any, s: Any, n: int) -> None:
    """x = x·m + s, CHAIN times per element and pass, `n` passes; x fits in the first cache.

    The elements of a few vector registers are independent, which hides the latency of one chain.
    """
    for _ in range(n):
        for i in range(x.size):
            v = x[i]
            for _ in range(CHAIN):
                v = v * m + s
            x[i] = v


_REORDER = {"contract", "reassoc", "nsz"}
LOOPS: dict[str, tuple[Code, set[str]]] = {
    "add": (add, {"contract"}),
    "triad": (triad, {"contract"}),
    "dot": (dot, _REORDER),
    "total": (total, _REORDER),
    "stencil": (stencil, {"contract"}),
    "polynomial": (polynomial, {"contract"}),
    "loops": (loops, {"contract"}),
    "fma": (fma, {"contract"}),
}


def _blocks(n: int, size: int = BLOCK) -> list[slice]:
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def numpy_add(a: Array, b: Array, c: Array) -> None:
    """As `add`."""
    np.add(b, c, out=a)


def numpy_triad(a: Array, b: Array, c: Array, s: Any) -> None:
    """As `triad`, in two passes over each block."""
    for block in _blocks(a.size):
        np.multiply(c[block], s, out=a[block])
        np.add(a[block], b[block], out=a[block])


def numpy_dot(a: Array, b: Array) -> Any:
    """As `dot`, with the products of one block in a buffer; BLAS would bring its own threads."""
    s, products = a.dtype.type(0), np.empty(min(BLOCK, a.size), a.dtype)
    for block in _blocks(a.size):
        part = products[: block.stop - block.start]
        s += np.multiply(a[block], b[block], out=part).sum()
    return s


def numpy_total(a: Array) -> Any:
    """As `total`."""
    return a.sum()


def numpy_stencil(a: Array, u: Array, center: Any, side: Any) -> None:
    """As `stencil`, a few rows at a time."""
    n_rows = max(1, BLOCK // u.shape[1])
    for rows in _blocks(u.shape[0] - 2, n_rows):
        top, stop = rows.start, rows.stop
        out = a[1 + top : 1 + stop, 1:-1]
        np.add(u[top:stop, 1:-1], u[2 + top : 2 + stop, 1:-1], out=out)
        np.add(out, u[1 + top : 1 + stop, :-2], out=out)
        np.add(out, u[1 + top : 1 + stop, 2:], out=out)
        np.multiply(out, side, out=out)
        np.add(out, center * u[1 + top : 1 + stop, 1:-1], out=out)


def numpy_polynomial(a: Array, x: Array, s: Any) -> None:
    """As `polynomial`, two passes over a block for each step."""
    for block in _blocks(a.size):
        p = a[block]
        p[...] = s
        for _ in range(DEGREE):
            np.multiply(p, x[block], out=p)
            np.add(p, s, out=p)


NUMPY: dict[str, Code] = {
    "add": numpy_add,
    "triad": numpy_triad,
    "dot": numpy_dot,
    "total": numpy_total,
    "stencil": numpy_stencil,
    "polynomial": numpy_polynomial,
}


def is_compiled() -> bool:
    """Whether Numba does the work; otherwise NumPy does."""
    return _jit.is_enabled()


def code(kernel: str) -> Code:
    """The form of a kernel that can be measured here: the compiled loop, or the NumPy form."""
    return _compiled(kernel) if is_compiled() else NUMPY[kernel]


@functools.cache
def _compiled(kernel: str) -> Code:
    import numba

    function, relaxed = LOOPS[kernel]
    options: dict[str, Any] = {"nogil": True, "fastmath": relaxed, "error_model": "numpy"}
    try:
        compiled: Code = numba.njit(cache=True, **options)(function)
    except RuntimeError:  # nowhere to keep the compiled form
        compiled = numba.njit(**options)(function)
    return compiled

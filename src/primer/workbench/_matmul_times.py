"""How the kernels of `primer.workbench.matmul` are timed: cases, rounds, repeats."""

import functools
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from primer.matmul_speed import LIBRARIES
from primer.workbench import _blas, _cuda, _jobs, matmul_kernels

Array = NDArray[Any]

MIN_REPEATS, MAX_REPEATS = 3, 101
ONCE_S, LONGEST_S = 0.1, 2.5  # a longer run is not repeated, or not made at all
LINE_BYTES = 64


class Case(NamedTuple):
    """What is timed: a kernel at a size, with a tile where it has one."""

    kernel: str
    n: int
    tile: int | None


Times = dict[Case, list[float]]


def rounds(cases: Sequence[Case], compute: str, seconds: float, n_rounds: int) -> Times:
    """Times of all cases, each from its best round, in about that long."""
    share = seconds / (n_rounds * len(cases))
    found: Times = {}
    for _ in range(n_rounds):
        _better(found, _loops(cases, compute, share, found))
        _better(found, _libraries(cases, compute, share))
    return found


def _better(found: Times, more: Times) -> None:
    """Keep the round with the lower median of each case."""
    for case, times in more.items():
        if case not in found or statistics.median(times) < statistics.median(found[case]):
            found[case] = times


def _loops(cases: Sequence[Case], compute: str, share: float, known: Times) -> Times:
    """One round of the loops, without those that would take too long."""
    found: Times = {}
    for case in cases:
        is_loop = case.kernel not in LIBRARIES
        if is_loop and _expected_s(case, found | known) <= LONGEST_S:
            found[case] = _repeat(case, compute, share)
    return found


def _expected_s(case: Case, found: Times) -> float:
    """What the largest smaller product of the same kind took, scaled by its work; 0 if none."""
    smaller = [c for c in found if (c.kernel, c.tile) == (case.kernel, case.tile) and c.n < case.n]
    if not smaller:
        return 0.0
    last = max(smaller, key=lambda c: c.n)
    return min(found[last]) * (case.n / last.n) ** 3


def _libraries(cases: Sequence[Case], compute: str, share: float) -> Times:
    """One round of the libraries, each in a process of its own with one thread."""
    found: Times = {}
    for library in LIBRARIES:
        sizes = [case.n for case in cases if case.kernel == library]
        if not sizes:
            continue
        allowed = 120 + 10 * len(sizes) * (share + LONGEST_S)
        try:
            rows = _blas.on_one_thread(
                f"{__name__}:times", library, sizes, compute, share, timeout_s=allowed
            )
        except (OSError, subprocess.SubprocessError):  # a second process was refused
            continue
        found |= {Case(library, n, None): row for n, row in zip(sizes, rows, strict=True)}
    return found


def times(library: str, sizes: Sequence[int], compute: str, seconds: float) -> list[list[float]]:
    """Times of one library at some sizes, list of float [s], with the threads of this process."""
    if library == "torch":
        _cuda.torch().set_num_threads(1)
    return [_repeat(Case(library, n, None), compute, seconds) for n in sizes]


def call(kernel: str, tile: int | None, c: Array, a: Array, b: Array) -> Callable[[], object]:
    """The run of one kernel that overwrites c."""
    if kernel == "numpy":
        return functools.partial(np.matmul, a, b, out=c)
    if kernel == "torch":
        torch = _cuda.torch()
        x, y, out = (torch.from_numpy(array) for array in (a, b, c))
        return lambda: torch.mm(x, y, out=out)
    run: Callable[..., object] = getattr(matmul_kernels, kernel)
    return functools.partial(run, c, a, b, *([] if tile is None else [tile]))


def _repeat(case: Case, compute: str, seconds: float) -> list[float]:
    """Times of one case, after a small product and a first run; a long run is not repeated."""
    call(case.kernel, case.tile, *_matrices(min(case.n, 8), compute))()
    run = call(case.kernel, case.tile, *_matrices(case.n, compute))
    first = _seconds_of(run)
    if first > ONCE_S:
        return [first]
    found: list[float] = []
    end = time.perf_counter() + seconds
    while len(found) < MIN_REPEATS or (time.perf_counter() < end and len(found) < MAX_REPEATS):
        found.append(_seconds_of(run))
    return found


def _seconds_of(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def _matrices(n: int, compute: str) -> Iterator[Array]:
    """C, A and B, each from the start of a line of the cache."""
    rng = np.random.default_rng(1)
    for _ in range(3):
        matrix = aligned((n, n), _jobs.NUMPY_TYPES[compute])
        rng.random(dtype=matrix.dtype, out=matrix)
        yield matrix


def aligned(shape: tuple[int, int], kind: Any) -> Array:
    """An array that starts where a line of the cache starts; not initialized.

    >>> aligned((3, 5), np.float32).ctypes.data % LINE_BYTES
    0
    """
    size = int(np.prod(shape)) * np.dtype(kind).itemsize
    raw = np.empty(size + LINE_BYTES, np.uint8)
    start = -raw.ctypes.data % LINE_BYTES
    matrix: Array = raw[start : start + size].view(kind).reshape(shape)
    return matrix

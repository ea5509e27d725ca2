"""One matrix product in six kernels: the same numbers, and how fast each comes to them.

Four are loops (`primer.workbench.matmul_kernels`), compiled by Numba once and kept; two call a
library. `multiply` runs one of them, `sweep` times them over sizes and tiles, on one thread.

Arrays start at a line of the cache: vectors that straddle two lines can halve the rate of a loop.
A time is the median of its repeats after one run to warm up, and of several rounds the best one
counts, for a disturbance only ever slows. A run of more than a tenth of a second is not repeated
within a round; one that is expected to take more than 2.5 seconds is left out. Nothing is pinned,
neither clock nor threads.

    python -m primer.workbench.matmul --snapshot matmul.json
"""

import argparse
import datetime
import importlib.metadata
import importlib.util
import os
import platform
import statistics
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from primer import __version__, _checks, units
from primer.matmul_speed import KERNELS, PRECISIONS, MatmulPoint, MatmulSpeed, to_json
from primer.workbench import _blas, _files, _jobs, _system, kernels
from primer.workbench._matmul_times import Case, call, rounds
from primer.workbench.measure import check_path

Array = NDArray[Any]

SIZES = (64, 128, 256, 384, 512, 768, 1024, 2048, 3072)
TILES = (32, 64, 128, 256, 512)
TILE = 64
SECONDS, N_ROUNDS = 6.0, 2


def available() -> tuple[str, ...]:
    """The kernels that can run here, simplest first: torch only where it is installed."""
    return tuple(k for k in KERNELS if k != "torch" or importlib.util.find_spec("torch"))


def multiply(
    a: Array, b: Array, *, kernel: str = "register_blocked", tile: int | None = None
) -> Array:
    """C = A·B by one of the kernels.

    Parameters
    ----------
    a : float array (m, k)
        In 32 or 64 bit, rows contiguous.
    b : float array (k, n)
        Likewise.
    kernel : str
        One of `available()`.
    tile : int, optional
        Edge of a tile of the tiled kernel, not larger than the largest of m, n and k; 64, or what
        fits, by default.

    Returns
    -------
    float array (m, n)
        Each element off by at most γ_k·(|A|·|B|), γ_k = k·u / (1 - k·u), from the exact product.

    Raises
    ------
    ValueError
        If a shape, type or layout does not fit, or there is no such kernel or tile.

    Examples
    --------
    >>> multiply(np.array([[1.0, 2.0]]), np.array([[3.0], [4.0]]), kernel="ikj")
    array([[11.]])
    """
    _operand("a", a)
    _operand("b", b)
    if a.shape[1] != b.shape[0]:
        _checks.fail("b", f"have as many rows as a has columns, {a.shape[1]}", b)
    if a.dtype != b.dtype:
        _checks.fail("b", f"be of the type of a, {a.dtype}", str(b.dtype))
    tile = _tile(kernel, tile, max(*a.shape, b.shape[1]))
    c = np.empty((a.shape[0], b.shape[1]), a.dtype)
    call(kernel, tile, c, a, b)()
    return c


def _operand(name: str, value: Any) -> None:
    if not _checks.is_a(value, np.ndarray) or value.ndim != 2 or value.size == 0:
        _checks.fail(name, "be a two-dimensional array with at least one element", value)
    if value.dtype not in (np.float32, np.float64):
        _checks.fail(name, "be in 32 or 64 bit floating point", str(value.dtype))
    if not value.flags.c_contiguous or not value.flags.aligned:
        _checks.fail(name, "have contiguous rows (np.ascontiguousarray makes them)", value.strides)


def _tile(kernel: str, tile: int | None, largest: int) -> int | None:
    """The tile of a kernel, if it may have one."""
    _checks.one_of("kernel", kernel, KERNELS)
    if kernel == "torch" and kernel not in available():
        _checks.fail("kernel", "be one that is installed here", kernel)
    if kernel != "tiled":
        if tile is not None:
            _checks.fail("tile", f"not be given for the kernel {kernel}", tile)
        return None
    if tile is None:
        return min(TILE, largest)
    if _checks.whole("tile", tile) > largest:
        _checks.fail("tile", f"not be larger than the largest edge, {largest}", tile)
    return int(tile)


def sweep(
    sizes: Iterable[int] = SIZES,
    kernels: Iterable[str] | None = None,
    *,
    tiles: Iterable[int] = TILES,
    compute: str = "fp32",
    seconds: float = SECONDS,
    n_rounds: int = N_ROUNDS,
) -> tuple[MatmulPoint, ...]:
    """Time the kernels over sizes, and the tiled one over tiles, on one thread.

    Parameters
    ----------
    sizes : iterable of int
        Rows and columns of the square matrices.
    kernels : iterable of str, optional
        Of `available()`; by default all of them.
    tiles : iterable of int
        Edges of tiles; those above a size are left out there.
    compute : {"fp32", "fp64"}
    seconds : float [s]
        Time for all repeats together; long runs and compiling come on top.
    n_rounds : int
        How often everything is measured; more rounds find a calm one more surely.

    Returns
    -------
    tuple of MatmulPoint
        By size, then kernel, then tile. A library that cannot be started is left out.

    Raises
    ------
    ValueError
        If a size or tile is not a positive integer, a kernel or precision is unknown, or none
        is given.

    Examples
    --------
    >>> sweep([512], ["numpy"], seconds=1.0)[0].flop_per_s  # doctest: +SKIP
    104310652345.3
    """
    cases = _cases(sizes, available() if kernels is None else kernels, tiles)
    _check(compute, seconds, n_rounds)
    found = rounds(cases, compute, seconds, n_rounds)
    return tuple(_point(case, compute, found[case]) for case in cases if case in found)


def _cases(sizes: Iterable[int], kernels: Iterable[str], tiles: Iterable[int]) -> list[Case]:
    """What a sweep measures, by size, then kernel, then tile."""
    sizes = _several("sizes", sizes)
    tiles = _several("tiles", tiles)
    chosen = tuple(kernels)
    if not chosen:
        _checks.fail("kernels", "have at least one name", chosen)
    for kernel in chosen:
        _checks.one_of("kernels", kernel, available())
    cases = [
        Case(kernel, n, tile)
        for n in sizes for kernel in KERNELS if kernel in chosen
        for tile in ([t for t in tiles if t <= n] if kernel == "tiled" else [None])
    ]  # fmt: skip
    if not cases:
        _checks.fail("tiles", f"have one that is not larger than {sizes[-1]}", tiles)
    return cases


def _check(compute: str, seconds: float, n_rounds: int) -> None:
    _checks.one_of("compute", compute, PRECISIONS)
    _checks.positive("seconds", seconds)
    _checks.whole("n_rounds", n_rounds)


def _several(name: str, values: Iterable[int]) -> tuple[int, ...]:
    """Distinct positive integers, growing, at least one."""
    found = tuple(sorted({_checks.whole(name, value) for value in values}))
    if not found:
        _checks.fail(name, "have at least one number", found)
    return found


def _point(case: Case, compute: str, times: Sequence[float]) -> MatmulPoint:
    return MatmulPoint(
        kernel=case.kernel,
        compute=compute,
        n=case.n,
        tile=case.tile,
        time_s=statistics.median(times),
        fastest_s=min(times),
        n_repeats=len(times),
    )


def measure(
    *,
    sizes: Iterable[int] = SIZES,
    compute: str = "fp32",
    seconds: float = SECONDS,
    n_rounds: int = N_ROUNDS,
) -> MatmulSpeed:
    """Time all kernels on this machine, and the peak beside them.

    Parameters
    ----------
    sizes, compute, seconds, n_rounds
        As in `sweep`.

    Returns
    -------
    MatmulSpeed
        For `primer.figures.matmul_speed.measured`.
    """
    sizes = _several("sizes", sizes)
    _check(compute, seconds, n_rounds)
    before = _peak(compute)
    points = sweep(sizes, compute=compute, seconds=seconds, n_rounds=n_rounds)
    peak = None if before is None else max(before, _peak(compute) or 0.0)
    return MatmulSpeed(
        name=_system.cpu_name(),
        blas=_blas.name(),
        date=datetime.date.today().isoformat(),
        python=platform.python_version(),
        versions=_versions({p.kernel for p in points}),
        compute=compute,
        peak_flop_per_s=peak,
        points=points,
        notes=_notes(),
    )


def _peak(compute: str) -> float | None:
    """Multiply-adds in registers on one thread, float [FLOP/s]; only Numba can run them."""
    if not kernels.is_compiled():
        return None
    found = _jobs.measure(_jobs.fma(compute, 1), 0.5)
    return found.work_flop / found.fastest_s


def _versions(used: set[str]) -> tuple[tuple[str, str], ...]:
    names = ["numpy", *(["numba"] if kernels.is_compiled() else [])]
    names += ["torch"] if "torch" in used else []
    return (("primer", __version__), *((name, importlib.metadata.version(name)) for name in names))


def _notes() -> tuple[str, ...]:
    notes = ["one thread, clock not pinned", "arrays start at a line of the cache"]
    forced = os.environ.get("OPENBLAS_CORETYPE")
    if forced:
        notes.append(f"OPENBLAS_CORETYPE={forced} chose the code of NumPy's library")
    if not kernels.is_compiled():
        notes.append("without Numba the loops ran in plain Python")
    return tuple(notes)


def table(speed: MatmulSpeed) -> str:
    """Rates as text: one line per size, one column per kernel, the tiled one at its best tile."""
    lines = [f"{speed.name}, one thread, {speed.compute}; NumPy: {speed.blas}"]
    if speed.peak_flop_per_s is not None:
        lines.append(f"peak {units.text(speed.peak_flop_per_s, 'FLOP/s', 3)}")
    lines.append("     n" + "".join(f"{kernel:>18s}" for kernel in speed.kernels))
    for n in speed.sizes:
        rates = {p.kernel: 0.0 for p in speed.points}
        for point in (p for p in speed.points if p.n == n):
            rates[point.kernel] = max(rates[point.kernel], point.flop_per_s)
        cells = [units.text(r, "FLOP/s", 3) if (r := rates[k]) else "-" for k in speed.kernels]
        lines.append(f"{n:6d}" + "".join(f"{cell:>18s}" for cell in cells))
    return "\n".join([*lines, *(f"note: {note}" for note in speed.notes)])


def main(arguments: Sequence[str] | None = None) -> int:
    """The command: measure, print, and keep it where a path is given."""
    parser = argparse.ArgumentParser(prog="python -m primer.workbench.matmul", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--snapshot", metavar="PATH", help="write the result there as JSON")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, metavar="N")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for all repeats together")
    parser.add_argument("--rounds", type=int, default=N_ROUNDS, metavar="N")
    parser.add_argument("--compute", default="fp32", help="fp32 or fp64")
    options = parser.parse_args(arguments)
    try:
        if options.snapshot:
            check_path(options.snapshot)
        found = measure(
            sizes=options.sizes,
            compute=options.compute,
            seconds=options.seconds,
            n_rounds=options.rounds,
        )
        print(table(found))
        if options.snapshot:
            _files.write(to_json(found), options.snapshot)
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Whether `primer.workbench.measure` finds the real roof: its loops beside other ways to it.

Slope: the triad beside NumPy's and beside Numba's own parallel loop. Roof: the chains of
multiply-adds beside BLAS, and beside cores × clock × FLOP per cycle where Linux tells the clock.
The clock that Linux tells is often the nominal one: a ratio somewhat above 1 is the boost.
Nothing here passes or fails.

    python benchmarks/peak.py
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from primer.machine import MachinePoint
from primer.workbench import _jobs, _system, kernels, measure

SECONDS = 1.0
LANES = {"avx512f": 16, "avx2": 8, "asimd": 4, "sse2": 4}  # of 32 bit in one register
SCALAR_FLOP_PER_CYCLE = 4  # two multiply-adds: what code without vector units cannot exceed


def line(what: str, value: float, unit: str, beside: str, other: float) -> str:
    """One row: ours, theirs, and how many times theirs."""
    ours, theirs = f"{value / 1e9:8.1f} {unit}", f"{beside} {other / 1e9:.1f} {unit}"
    return f"| {what:24s} | {ours} | {theirs:34s} | {value / other:5.2f} |"


def best(*jobs: _jobs.Job) -> MachinePoint:
    """The fastest of several ways, by median time for its work."""
    points = [_jobs.measure(job, SECONDS) for job in jobs]
    return max(points, key=lambda p: (p.bytes_per_s, p.flop_per_s))


def numpy_triad(bench: _jobs.Bench, n_threads: int) -> _jobs.Job:
    """The same triad in NumPy's blocked form, with the same threads and bytes."""
    ours = bench.stream("triad", n_threads)
    shares = _jobs.split(bench.n, n_threads)

    def part(i: slice) -> _jobs.Call:
        return lambda: kernels.numpy_triad(bench.a[i], bench.b[i], bench.c[i], np.float32(3))

    sample = _jobs.threaded([part(i) for i in shares])
    amounts = (ours.work_flop, ours.traffic_bytes)
    return _jobs.Job("triad", "fp32", "numpy", *amounts, n_threads, sample)


def parallel_triad(bench: _jobs.Bench, n_threads: int) -> _jobs.Job:
    """The same triad with Numba's prange instead of our threads."""
    import numba

    @numba.njit(parallel=True, fastmath={"contract"})
    def run(a: Any, b: Any, c: Any, s: Any) -> None:
        for i in numba.prange(a.size):
            a[i] = b[i] + s * c[i]

    numba.set_num_threads(min(n_threads, numba.config.NUMBA_NUM_THREADS))
    ours = bench.stream("triad", n_threads)
    sample = _jobs.threaded([lambda: run(bench.a, bench.b, bench.c, np.float32(3))])
    amounts = (ours.work_flop, ours.traffic_bytes)
    return _jobs.Job("triad", "fp32", "prange", *amounts, n_threads, sample)


def slopes(n_threads: int) -> Iterator[str]:
    """Rows about the memory."""
    size = measure.default_array_bytes(_system.last_cache_bytes(), _system.available_bytes())
    allocate = _system.fetches_before_writing()
    bench = _jobs.Bench(array_bytes=size, write_allocate=allocate)
    ours = best(bench.stream("triad", n_threads)).bytes_per_s
    theirs = best(numpy_triad(bench, n_threads)).bytes_per_s
    yield line("triad", ours, "GB/s", "NumPy, blocked", theirs)
    if kernels.is_compiled():
        theirs = best(parallel_triad(bench, n_threads)).bytes_per_s
        yield line("triad", ours, "GB/s", "Numba, prange", theirs)
    theirs = best(bench.stream("sum", n_threads)).bytes_per_s
    yield line("triad", ours, "GB/s", "sum, which only reads", theirs)


def roofs(n_threads: int) -> Iterator[str]:
    """Rows about the arithmetic."""
    if not kernels.is_compiled():
        return
    clock, flags = _system.cpu_hz(), _system.cpu_flags()
    lanes = next((n for flag, n in LANES.items() if flag in flags), None)
    for compute, width in (("fp32", 1), ("fp64", 2)):
        ours = best(_jobs.fma(compute, n_threads)).flop_per_s
        yield line(f"chains, {compute}", ours, "GFLOP/s", "BLAS matmul", _blas(compute, n_threads))
        if clock is None:
            continue
        scalar = n_threads * clock * SCALAR_FLOP_PER_CYCLE
        yield line(f"chains, {compute}", ours, "GFLOP/s", "without vector units", scalar)
        for units in (1, 2) if lanes else ():
            peak = n_threads * clock * 2 * units * (lanes or 1) / width
            beside = f"{units} FMA unit{'s' * (units > 1)} × {clock / 1e9:.2f} GHz"
            yield line(f"chains, {compute}", ours, "GFLOP/s", beside, peak)


def _blas(compute: str, n_threads: int) -> float:
    return best(_jobs.matmul(compute, n_threads)).flop_per_s


def main() -> None:
    """Print the table, for one thread and for all."""
    print(f"{_system.cpu_name()}, {_system.n_cpus()} processors, clock not pinned")
    for n_threads in sorted({1, _system.n_cpus()}):
        print(f"\n| {n_threads} thread(s) | measured | beside | ratio |\n|---|---|---|---|")
        for rows in (slopes(n_threads), roofs(n_threads)):
            for row in rows:
                print(row)


if __name__ == "__main__":
    main()

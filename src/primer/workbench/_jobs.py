"""What is timed on a CPU: arrays, threads, repeats."""

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from primer.machine import MachinePoint
from primer.workbench import _system, kernels
from primer.workloads import Matmul, Stream, Workload

MIN_REPEATS, MAX_REPEATS = 5, 301
COLUMNS = 4096  # of the stencil's grid: three rows fit in a second-level cache
FMA_ELEMENTS = {"fp32": 1024, "fp64": 512}  # 4 KiB, well inside the first cache
LOOPS_SIZE = 384
NUMPY_TYPES: dict[str, Any] = {"fp32": np.float32, "fp64": np.float64}
BLAS_VARIABLES = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS",
)  # fmt: skip

Call = Callable[[], object]


@dataclass(frozen=True)
class Job:
    """One measurement to make: `sample(seconds)` runs it over and over and returns the times."""

    kernel: str
    compute: str
    code: str
    work_flop: float
    traffic_bytes: float
    n_threads: int
    sample: Callable[[float], Sequence[float]]


@dataclass(frozen=True)
class Plan:
    """What a device is asked: streams for its slope, arithmetic for its roofs, and kernels."""

    streams: tuple[Job, ...]
    peaks: tuple[Job, ...]
    kernels: tuple[Job, ...]


def measure(job: Job, seconds: float) -> MachinePoint:
    """Run a job for about that long; the result is the median after one run to warm up."""
    times = job.sample(seconds)
    return MachinePoint(
        kernel=job.kernel,
        compute=job.compute,
        code=job.code,
        work_flop=job.work_flop,
        traffic_bytes=job.traffic_bytes,
        time_s=statistics.median(times),
        fastest_s=min(times),
        slowest_s=max(times),
        n_repeats=len(times),
        n_threads=job.n_threads,
    )


def repeat(run: Call, seconds: float) -> list[float]:
    """Times of repeated runs, after one that is not counted."""
    run()
    times: list[float] = []
    end = time.perf_counter() + seconds
    while len(times) < MIN_REPEATS or (time.perf_counter() < end and len(times) < MAX_REPEATS):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return times


def threaded(parts: Sequence[Call]) -> Callable[[float], list[float]]:
    """Each part on a thread of its own; a run ends when the last one has ended."""

    def sample(seconds: float) -> list[float]:
        if len(parts) == 1:
            return repeat(parts[0], seconds)
        parts[0]()  # compiles, before several threads ask for it
        with ThreadPoolExecutor(len(parts)) as pool:
            return repeat(lambda: list(pool.map(_call, parts)), seconds)

    return sample


def _call(part: Call) -> object:
    return part()


def split(n: int, n_parts: int) -> list[slice]:
    """Equal shares of `n` items.

    >>> split(10, 3)
    [slice(0, 3, None), slice(3, 6, None), slice(6, 10, None)]
    """
    edges = [n * i // n_parts for i in range(n_parts + 1)]
    return [slice(a, b) for a, b in pairwise(edges)]


class Bench:
    """Three long vectors in 32 bit, and the jobs that use them.

    Parameters
    ----------
    array_bytes : int [B]
        Of each vector; rounded down to whole rows of the stencil's grid.
    write_allocate : bool
        Whether a stored line is charged twice.
    """

    def __init__(self, *, array_bytes: int, write_allocate: bool) -> None:
        self.n = max(3, array_bytes // (4 * COLUMNS)) * COLUMNS
        self.write_allocate = write_allocate
        self.a, self.b, self.c = (np.empty(self.n, np.float32) for _ in range(3))
        for share in split(self.n, _system.n_cpus()):
            self.a[share], self.b[share], self.c[share] = 0.0, 0.5, 0.25
        self.code = "numba" if kernels.is_compiled() else "numpy"

    def stream(self, kernel: str, n_threads: int) -> Job:
        """One of the vector loops; FLOP and bytes are those of `workloads.Stream`."""
        run = kernels.code({"sum": "total"}.get(kernel, kernel))
        a, b, c, s = self.a, self.b, self.c, np.float32(3)
        arguments: dict[str, Callable[[slice], tuple[Any, ...]]] = {
            "add": lambda i: (a[i], b[i], c[i]),
            "triad": lambda i: (a[i], b[i], c[i], s),
            "dot": lambda i: (b[i], c[i]),
            "sum": lambda i: (b[i],),
        }
        given = [arguments[kernel](share) for share in split(self.n, n_threads)]
        work = Stream(kernel, self.n, "fp32", write_allocate=self.write_allocate)
        return self._job(kernel, work, [partial(run, *g) for g in given])

    def polynomial(self, n_threads: int) -> Job:
        """Two FLOP per degree for each element; one vector read, one written."""
        run, s = kernels.code("polynomial"), np.float32(0.5)
        shares = split(self.n, n_threads)
        flop = 2.0 * kernels.DEGREE * self.n
        work = Amounts(flop, self._bytes(n_read=self.n, n_written=self.n))
        parts: list[Call] = [partial(run, self.a[i], self.b[i], s) for i in shares]
        return self._job("polynomial", work, parts)

    def stencil(self, n_threads: int) -> Job:
        """Every point of the grid read once (its neighbors wait in a cache), inner ones written."""
        run, side, center = kernels.code("stencil"), np.float32(0.125), np.float32(0.5)
        u, a = self.b.reshape(-1, COLUMNS), self.a.reshape(-1, COLUMNS)
        n_inner = (u.shape[0] - 2) * (COLUMNS - 2)
        moved = self._bytes(n_read=self.n, n_written=n_inner)
        rows = [slice(i.start, i.stop + 2) for i in split(u.shape[0] - 2, n_threads)]
        parts: list[Call] = [partial(run, a[i], u[i], center, side) for i in rows]
        return self._job("stencil", Amounts(float(kernels.STENCIL_FLOP * n_inner), moved), parts)

    def _bytes(self, *, n_read: int, n_written: int) -> float:
        return 4.0 * (n_read + n_written * (2 if self.write_allocate else 1))

    def _job(self, kernel: str, work: Workload, parts: Sequence[Call]) -> Job:
        amounts = (work.flop, work.compulsory_bytes)
        return Job(kernel, "fp32", self.code, *amounts, len(parts), threaded(parts))


@dataclass(frozen=True)
class Amounts:
    """FLOP and bytes of a kernel that `workloads` does not have."""

    flop: float
    compulsory_bytes: float


def fma(compute: str, n_threads: int) -> Job:
    """Multiply-adds on a few KiB per thread: nothing but arithmetic."""
    kind, size = NUMPY_TYPES[compute], FMA_ELEMENTS[compute]
    n_passes = 40_000
    run, m, s = kernels.code("fma"), kind(0.999), kind(0.001)
    own = [np.ones(size, kind) for _ in range(n_threads)]
    flop = 2.0 * kernels.CHAIN * size * n_passes * n_threads
    parts: list[Call] = [partial(run, x, m, s, n_passes) for x in own]
    return Job("fma", compute, "numba", flop, 0.0, n_threads, threaded(parts))


def loops(n_threads: int) -> Job:
    """A matrix product as a beginner writes it."""
    n, run = LOOPS_SIZE, kernels.code("loops")
    a, b, c = _matrices(n, "fp32")
    parts: list[Call] = [partial(run, c[i], a[i], b) for i in split(n, n_threads)]
    work = Matmul(n, n, n, "fp32")
    amounts = (work.flop, work.compulsory_bytes)
    return Job("loops", "fp32", "numba", *amounts, n_threads, threaded(parts))


def matmul(compute: str, n_threads: int) -> Job:
    """The matrix product of NumPy's BLAS, which has threads of its own."""
    n = 1024 if n_threads <= 4 else 2048
    work = Matmul(n, n, n, compute)

    def sample(seconds: float) -> Sequence[float]:
        chosen = any(os.environ.get(name) for name in BLAS_VARIABLES)
        if n_threads == _system.n_visible_cpus() and not chosen:
            return blas_times(n, compute, seconds)
        return _blas_elsewhere(n, compute, seconds, n_threads)

    amounts = (work.flop, work.compulsory_bytes)
    return Job("matmul", compute, "BLAS", *amounts, n_threads, sample)


def _matrices(n: int, compute: str) -> Any:
    return np.random.default_rng(1).random((3, n, n)).astype(NUMPY_TYPES[compute])


def blas_times(n: int, compute: str, seconds: float) -> list[float]:
    """Times of C = A·B in this process, with as many threads as BLAS takes."""
    a, b, c = _matrices(n, compute)
    return repeat(lambda: np.matmul(a, b, out=c), seconds)


def _blas_elsewhere(n: int, compute: str, seconds: float, n_threads: int) -> list[float]:
    """The same in a fresh process: BLAS reads its number of threads only when it starts."""
    program = (
        "import json; from primer.workbench import _jobs; "
        f"print(json.dumps(_jobs.blas_times({n}, {compute!r}, {seconds!r})))"
    )
    threads = dict.fromkeys(BLAS_VARIABLES, str(n_threads))
    env = os.environ | threads | {"PYTHONPATH": os.pathsep.join(p or "." for p in sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True, text=True, env=env, check=True, timeout=60 + 10 * seconds,
    )  # fmt: skip
    return [float(t) for t in json.loads(done.stdout)]

"""The roof of the machine that this runs on, and real kernels under it.

Slope: the best vector loop, out of triad and sum on one thread and on all, and the kernels that
are such loops. Roof: independent chains of multiply-adds in registers, in 32 and 64 bit. Both are
the best of medians over two rounds, one before the kernels and one after, so that a clock that
drifts does not lower them. Each kernel: the median of its repeats after one run to warm up.
Nothing is pinned, neither clock nor threads.

Bytes: what the loops load and store, and the fetch of every stored line where the processor does
that (`write_allocate`); non-temporal stores are not assumed. Arrays are four times the last cache,
where memory allows.

Without Numba, NumPy moves the data and BLAS sets the roof; with a GPU, torch does both.

    python -m primer.workbench.measure --snapshot machine.json
"""

import argparse
import datetime
import importlib.metadata
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from primer import __version__, _checks
from primer.machine import Machine, MachinePoint, to_json
from primer.workbench import _cuda, _jobs, _system, kernels
from primer.workbench._jobs import Bench, Job, Plan
from primer.workloads import STREAM_KERNELS

SECONDS = 5.0
CACHES_PER_ARRAY = 4
N_ARRAYS = 3  # of a triad
SMALLEST, LARGEST = 2**26, 2**29  # bytes of one array, unless it is given


def devices() -> tuple[str, ...]:
    """What can be measured here: "cpu", and "cuda" where torch sees a GPU."""
    return ("cpu", "cuda") if _cuda.is_available() else ("cpu",)


def machine(
    *,
    n_threads: int | None = None,
    seconds: float = SECONDS,
    device: str = "cpu",
    write_allocate: bool | None = None,
    array_bytes: int | None = None,
) -> Machine:
    """Measure this machine.

    Parameters
    ----------
    n_threads : int, optional
        Threads to use; by default one for each processor that the program may use.
    seconds : float [s]
        Time for all repeats together; compiling comes on top once, about four seconds.
        More seconds give steadier medians.
    device : str
        "cpu" or "cuda".
    write_allocate : bool, optional
        Whether a stored line is charged twice; by default on x86 processors.
    array_bytes : int [B], optional
        Size of each streamed array. Arrays that fit in a cache measure the cache; three of them
        must fit in the memory.

    Returns
    -------
    Machine
        With `.chip` for `roofline.place`, and `.points`.

    Raises
    ------
    ValueError
        If a number is not positive, if there are more threads than processors or larger arrays
        than memory, or no such device.

    Examples
    --------
    >>> here = machine(seconds=0.1, array_bytes=2**20)  # doctest: +SKIP
    >>> here.chip.bandwidth.status  # doctest: +SKIP
    'measured'
    """
    n_threads = _n_threads(n_threads)
    seconds = _checks.positive("seconds", seconds)
    if array_bytes is not None:
        array_bytes = _checks.whole("array_bytes", array_bytes)
    if write_allocate is not None:
        write_allocate = _checks.flag("write_allocate", write_allocate)
    if _checks.one_of("device", device, ("cpu", "cuda")) == "cuda":
        return _measure_gpu(seconds, array_bytes)
    if write_allocate is None:
        write_allocate = _system.fetches_before_writing()
    return _measure_cpu(n_threads, seconds, write_allocate, array_bytes)


def _n_threads(given: int | None) -> int:
    here = _system.n_cpus()
    if given is None:
        return here
    if _checks.whole("n_threads", given) > here:
        _checks.fail("n_threads", f"be at most the {here} processors of this program", given)
    return int(given)


def _check_fits(array_bytes: int | None, memory: int | None) -> None:
    """Refuse arrays that memory cannot hold, before the system has to."""
    if array_bytes and memory and N_ARRAYS * array_bytes > memory:
        rule = f"be at most a third of the memory, {memory // N_ARRAYS} B"
        _checks.fail("array_bytes", rule, array_bytes)


def _measure_cpu(
    n_threads: int, seconds: float, write_allocate: bool, array_bytes: int | None
) -> Machine:
    _check_fits(array_bytes, _system.memory_bytes())
    cache = _system.last_cache_bytes()
    array_bytes = array_bytes or default_array_bytes(cache, _system.available_bytes())
    bench = Bench(array_bytes=array_bytes, write_allocate=write_allocate)
    slope, peaks, points, notes = _run(_plan_cpu(bench, n_threads), seconds)
    return Machine(
        name=_system.cpu_name(),
        device="cpu",
        date=datetime.date.today().isoformat(),
        python=platform.python_version(),
        versions=_versions("numpy", *(["numba"] if kernels.is_compiled() else [])),
        n_cpus=_system.n_cpus(),
        n_threads=n_threads,
        write_allocate=write_allocate,
        array_bytes=4 * bench.n,
        cache_bytes=cache,
        bandwidth=slope,
        peaks=peaks,
        points=points,
        notes=(*_notes_cpu(4 * bench.n, cache, write_allocate), *notes),
    )


def _plan_cpu(bench: Bench, n_threads: int) -> Plan:
    """Streams and arithmetic on one thread and on all, kernels on all."""
    counts = sorted({1, n_threads})
    streams = [bench.stream(kernel, n) for kernel in ("triad", "sum") for n in counts]
    placed = [bench.stream(kernel, n_threads) for kernel in ("add", "triad", "dot")]
    placed += [bench.stencil(n_threads), bench.polynomial(n_threads)]
    if kernels.is_compiled():
        peaks = [_jobs.fma(precision, n) for precision in ("fp32", "fp64") for n in counts]
        placed.append(_jobs.loops(n_threads))
    else:
        peaks = [_jobs.matmul(precision, n_threads) for precision in ("fp32", "fp64")]
    placed.append(_jobs.matmul("fp32", n_threads))
    return Plan(tuple(streams), tuple(peaks), tuple(placed))


def _measure_gpu(seconds: float, array_bytes: int | None) -> Machine:
    if not _cuda.is_available():
        _checks.fail("device", "be cpu where torch sees no GPU", "cuda")
    _check_fits(array_bytes, _cuda.available_bytes())
    array_bytes = array_bytes or min(_cuda.VECTOR_BYTES, _cuda.available_bytes() // 8)
    bench = _cuda.GpuBench(array_bytes=array_bytes)
    slope, peaks, points, notes = _run(bench.plan(), seconds)
    return Machine(
        name=_cuda.name(),
        device="cuda",
        date=datetime.date.today().isoformat(),
        python=platform.python_version(),
        versions=_versions("torch"),
        n_cpus=_system.n_cpus(),
        n_threads=1,
        write_allocate=False,
        array_bytes=4 * bench.n,
        cache_bytes=_cuda.cache_bytes(),
        bandwidth=slope,
        peaks=peaks,
        points=points,
        notes=(
            "the roof is the best matrix product of torch: a lower bound of the real one",
            "clock not pinned",
            *notes,
        ),
    )


def _run(
    plan: Plan, seconds: float
) -> tuple[MachinePoint, tuple[MachinePoint, ...], tuple[MachinePoint, ...], tuple[str, ...]]:
    """Slope, roofs, kernels, and what could not be measured."""
    roofs = (*plan.streams, *plan.peaks)
    share = seconds / (2 * len(roofs) + len(plan.kernels))
    first = [_jobs.measure(job, share) for job in roofs]
    points, notes = _run_kernels(plan.kernels, share)
    both = [*first, *(_jobs.measure(job, share) for job in roofs)]
    slope = max(
        (p for p in (*both, *points) if p.kernel in STREAM_KERNELS), key=lambda p: p.bytes_per_s
    )
    names = {job.kernel for job in plan.peaks}
    arithmetic = [p for p in (*both, *points) if p.kernel in names]
    peaks = tuple(
        max((p for p in arithmetic if p.compute == precision), key=lambda p: p.flop_per_s)
        for precision in dict.fromkeys(p.compute for p in arithmetic)
    )
    return slope, peaks, points, notes


def _run_kernels(
    jobs: Sequence[Job], share: float
) -> tuple[tuple[MachinePoint, ...], tuple[str, ...]]:
    points, notes = [], []
    for job in jobs:
        try:
            points.append(_jobs.measure(job, share))
        except (OSError, subprocess.SubprocessError) as error:  # a second process was refused
            notes.append(f"{job.kernel} could not be measured: {type(error).__name__}")
    return tuple(points), tuple(notes)


def default_array_bytes(cache: int | None, available: int | None) -> int:
    """Four times the last cache, within reason and an eighth of the memory, int [B].

    >>> default_array_bytes(2**25, 2**34), default_array_bytes(None, 2**28)
    (134217728, 33554432)
    """
    wanted = CACHES_PER_ARRAY * (cache or 2**25)
    within = min(max(wanted, SMALLEST), LARGEST)
    return min(within, available // 8) if available else within


def _notes_cpu(array_bytes: int, cache: int | None, write_allocate: bool) -> tuple[str, ...]:
    notes = ["clock not pinned, threads not pinned"]
    if write_allocate:
        notes.append("bytes count the fetch of every stored line (write-allocate)")
    else:
        notes.append("bytes count loads and stores only, no fetch of stored lines")
    if cache is None:
        notes.append("the size of the last cache is unknown: the arrays may fit in it")
    elif array_bytes < CACHES_PER_ARRAY * cache:
        notes.append("the arrays are less than four times the last cache, which may hold a part")
    if not kernels.is_compiled():
        notes.append("without Numba: NumPy ran the kernels, and BLAS is a lower bound of the roof")
    return tuple(notes)


def _versions(*packages: str) -> tuple[tuple[str, str], ...]:
    found = [(package, importlib.metadata.version(package)) for package in packages]
    return (("primer", __version__), *found)


def write(measured: Machine, path: str | Path) -> None:
    """Keep a machine as JSON: the whole file appears, or nothing.

    Raises
    ------
    ValueError
        If that is no machine, or the path cannot be a new file in a folder that can be written to.
    """
    text = to_json(measured)
    target = check_path(path)
    handle, made = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(made).chmod(0o644)
        Path(made).replace(target)
    except BaseException:
        Path(made).unlink(missing_ok=True)
        raise


def check_path(path: str | Path) -> Path:
    """The path, if a file can be written there."""
    if not _checks.is_a(path, str, os.PathLike) or not _checks.is_a(os.fspath(path), str):
        _checks.fail("snapshot", "be a path", path)
    target = Path(path)
    if not target.parent.is_dir() or not os.access(target.parent, os.W_OK):
        _checks.fail("snapshot", "lie in a folder that can be written to", str(path))
    if target.is_dir():
        _checks.fail("snapshot", "be a file", str(path))
    return target


def main(arguments: Sequence[str] | None = None) -> int:
    """The command: measure, print, and keep it where a path is given."""
    parser = argparse.ArgumentParser(prog="python -m primer.workbench.measure", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--snapshot", metavar="PATH", help="write the result there as JSON")
    parser.add_argument("--threads", type=int, metavar="N", help="default: all processors")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for all repeats together")
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    options = parser.parse_args(arguments)
    try:
        if options.snapshot:
            check_path(options.snapshot)
        found = machine(n_threads=options.threads, seconds=options.seconds, device=options.device)
        print(found)
        if options.snapshot:
            write(found, options.snapshot)
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())

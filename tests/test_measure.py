"""The measurement of this machine: counts by a second method, form and sanity of the times."""

import importlib.util
import math
import os
import statistics
import subprocess
import sys

import numpy as np
import pytest

from primer.machine import from_json, to_json
from primer.workbench import _cuda, _jobs, _system, kernels, measure
from primer.workloads import Matmul, Stream
from tests.test_machine import made

SMALL = {"seconds": 0.1, "array_bytes": 2**20}
HAS_TORCH = importlib.util.find_spec("torch") is not None


# ---- what the kernels do: numbers, and counts by running them on counting operands


class Counter:
    """How many elements were loaded and stored, and how many operations were done."""

    def __init__(self):
        self.n_flop, self.loads, self.stores = 0, set(), set()


class Number:
    """A value that counts the arithmetic that it takes part in."""

    def __init__(self, counter):
        self.counter = counter

    def _operate(self, other):
        self.counter.n_flop += 1
        return Number(self.counter)

    __add__ = __mul__ = __radd__ = __rmul__ = _operate


class Operand:
    """An array that notes which of its elements are touched."""

    def __init__(self, counter, *shape):
        self.counter, self.shape, self.size = counter, shape, math.prod(shape)
        self.dtype = self
        self.type = lambda value: Number(counter)

    def __getitem__(self, at):
        self.counter.loads.add((id(self), at))
        return Number(self.counter)

    def __setitem__(self, at, value):
        self.counter.stores.add((id(self), at))


def counted(kernel, *shapes, n_scalars=0):
    """FLOP and bytes (with write-allocate, 4 B per element) of the plain loop, by running it."""
    counter = Counter()
    operands = [Operand(counter, *shape) for shape in shapes]
    scalars = [Number(counter) for _ in range(n_scalars)]
    kernels.LOOPS[kernel][0](*operands, *scalars)
    fetched = counter.stores - counter.loads
    moved = len(counter.loads) + len(counter.stores) + len(fetched)
    return counter.n_flop, 4 * moved


@pytest.mark.parametrize(
    ("kernel", "n_arrays", "n_scalars"), [("add", 3, 0), ("triad", 3, 1), ("dot", 2, 0)]
)
def test_streams_do_what_workloads_say(kernel, n_arrays, n_scalars):
    work = Stream(kernel, 7, "fp32", write_allocate=True)
    found = counted(kernel, *[(7,)] * n_arrays, n_scalars=n_scalars)
    assert found == (work.flop, work.compulsory_bytes)
    assert counted("total", (7,)) == (7, 28)


@pytest.mark.parametrize("write_allocate", [True, False])
def test_polynomial_and_stencil_are_counted_right(write_allocate):
    bench = _jobs.Bench(array_bytes=1, write_allocate=write_allocate)
    grid = (3, _jobs.COLUMNS)
    n_stored = {"stencil": _jobs.COLUMNS - 2, "polynomial": bench.n}
    for job, shapes, n_scalars in (
        (bench.stencil(1), (grid, grid), 2),
        (bench.polynomial(1), ((bench.n,), (bench.n,)), 1),
    ):
        n_flop, n_bytes = counted(job.kernel, *shapes, n_scalars=n_scalars)
        if job.kernel == "stencil":
            n_bytes += 4 * 4  # the corners travel with their lines, though no point needs them
        if not write_allocate:
            n_bytes -= 4 * n_stored[job.kernel]
        assert (job.work_flop, job.traffic_bytes) == (n_flop, n_bytes)


def test_matrix_products_and_chains_are_counted_right():
    # Three loops do 2·m·n·k FLOP; here every element of A, B and C once.
    assert counted("loops", (2, 3), (2, 5), (5, 3))[0] == Matmul(2, 3, 5).flop
    if kernels.is_compiled():
        job = _jobs.loops(1)
        assert job.work_flop == 2 * _jobs.LOOPS_SIZE**3
        assert job.traffic_bytes == 3 * 4 * _jobs.LOOPS_SIZE**2
    counter = Counter()
    kernels.fma(Operand(counter, 8), Number(counter), Number(counter), 3)
    assert counter.n_flop == 2 * kernels.CHAIN * 8 * 3


def arguments(kernel, n=40_000):
    rng = np.random.default_rng(7)
    x, y, out = (rng.random(n).astype(np.float32) for _ in range(3))
    two, quarter = np.float32(2), np.float32(0.25)
    u, grid = x.reshape(-1, 200), out.reshape(-1, 200)
    grid[...] = 0
    return {
        "add": (out, x, y), "triad": (out, x, y, two), "dot": (x, y), "total": (x,),
        "stencil": (grid, u, two, quarter), "polynomial": (out, x, quarter),
    }[kernel]  # fmt: skip


def expected(kernel, given):
    a, b, *rest = [np.asarray(v, np.float64) for v in given] + [None]
    if kernel == "add":
        return b + rest[0]
    if kernel == "triad":
        return b + 2 * rest[0]
    if kernel == "dot":
        return np.dot(a, b)
    if kernel == "total":
        return a.sum()
    if kernel == "polynomial":
        return 0.25 * np.polyval(np.ones(kernels.DEGREE + 1), b)
    whole = np.zeros_like(b)
    around = b[:-2, 1:-1] + b[2:, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:]
    whole[1:-1, 1:-1] = 2 * b[1:-1, 1:-1] + 0.25 * around
    return whole


@pytest.mark.parametrize("jit", ["0", "1"])
@pytest.mark.parametrize("kernel", list(kernels.NUMPY))
def test_kernels_give_the_numbers_of_numpy(kernel, jit, monkeypatch):
    monkeypatch.setenv("NUMBA_DISABLE_JIT", jit)
    given = arguments(kernel)
    right = expected(kernel, given)
    returned = kernels.code(kernel)(*given)
    found = given[0] if returned is None else returned
    np.testing.assert_allclose(found, right, rtol=1e-4)


@pytest.mark.skipif(not kernels.is_compiled(), reason="needs Numba")
def test_compiled_loops_and_chains_give_the_numbers_of_numpy():
    a, b = np.random.default_rng(3).random((2, 30, 30)).astype(np.float32)
    c = np.empty_like(a)
    kernels.code("loops")(c, a, b)
    np.testing.assert_allclose(c, a @ b, rtol=1e-5)
    x = np.ones(16)
    kernels.code("fma")(x, 0.5, 0.25, 4)  # halves the distance to 1/2, 32 times
    np.testing.assert_allclose(x, 0.5 + 0.5 ** (4 * kernels.CHAIN + 1), rtol=1e-12)


def test_threads_share_all_of_the_work():
    bench = _jobs.Bench(array_bytes=2**18, write_allocate=True)
    for job in (bench.stream("add", 3), bench.polynomial(3), bench.stencil(3)):
        bench.a[:] = np.nan
        job.sample(1e-6)
        inner = bench.a.reshape(-1, _jobs.COLUMNS)
        inner = inner[1:-1, 1:-1] if job.kernel == "stencil" else inner
        assert np.isfinite(inner).all(), job.kernel
        assert job.n_threads == 3


# ---- the measurement itself: form and sanity, never a rate


def check_form(found, n_threads):
    assert found.n_threads == n_threads
    for p in (found.bandwidth, *found.peaks, *found.points):
        assert 0 < p.fastest_s <= p.time_s <= p.slowest_s < math.inf
        assert p.n_repeats >= _jobs.MIN_REPEATS
        assert 1 <= p.n_threads <= n_threads
    assert {p.n_threads for p in found.points} == {n_threads}
    for name in found.kernels:
        placed = found.place(name)
        is_below = placed.measured.flop_per_s <= placed.model.attainable_flop_per_s * (1 + 1e-12)
        assert is_below or not placed.judgement.is_possible
    assert all(q.status == "measured" for q in found.chip.quantities())
    assert from_json(to_json(found)) == found


@pytest.fixture(scope="module")
def here():
    return measure.machine(**SMALL)


def test_this_machine(here):
    check_form(here, _system.n_cpus())
    assert {"add", "triad", "dot", "stencil", "polynomial", "matmul"} <= set(here.kernels)
    assert here.chip.precisions() == ("fp64", "fp32")
    assert "clock not pinned, threads not pinned" in here.notes
    assert "matmul" in str(here)


@pytest.mark.skipif(_system.n_cpus() < 2, reason="one processor")
def test_one_thread_also_holds_for_the_library(monkeypatch):
    """BLAS takes its threads at the start, so that another process has to run it."""
    seen = {}
    monkeypatch.setattr(subprocess, "run", lambda *a, **k: seen.update(k) or Done)
    found = measure.machine(n_threads=1, **SMALL)
    check_form(found, 1)
    assert seen["env"]["OPENBLAS_NUM_THREADS"] == "1"
    assert found.place("matmul").measured.time_s == 2.0


class Done:
    stdout = "[1.0, 2.0, 3.0, 2.0, 2.0]"


def test_another_process_really_runs_the_library():
    times = _jobs._blas_elsewhere(8, "fp32", 1e-4, 1)
    assert len(times) >= _jobs.MIN_REPEATS
    assert all(t > 0 for t in times)


@pytest.mark.skipif(not kernels.is_compiled(), reason="BLAS sets the roof")
def test_a_refused_process_leaves_one_kernel_out(monkeypatch):
    def refuse(*args, **kwargs):
        raise OSError("no")

    monkeypatch.setattr(_jobs, "_blas_elsewhere", refuse)
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    found = measure.machine(**SMALL)
    assert "matmul" not in found.kernels
    assert "matmul could not be measured: OSError" in found.notes


def test_without_numba_numpy_does_it_and_says_so(monkeypatch):
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    found = measure.machine(**SMALL)
    check_form(found, _system.n_cpus())
    assert "loops" not in found.kernels
    assert {p.code for p in found.points} == {"numpy", "BLAS"}
    assert any(note.startswith("without Numba") for note in found.notes)
    assert dict(found.versions).keys() == {"primer", "numpy"}


@pytest.mark.skipif(not HAS_TORCH, reason="needs torch")
def test_the_gpu_jobs_run_on_a_cpu_too():
    plan = _cuda.GpuBench(array_bytes=4000, device="cpu", roof_size=32).plan()
    slope, peaks, points, _ = measure._run(plan, 0.05)
    assert slope.kernel in ("copy", "triad", "add", "dot")
    assert [p.compute for p in peaks] == ["fp32", "bf16"]
    assert [p.kernel for p in points[:3]] == ["add", "triad", "dot"]
    found = made(*points, device="cuda", bandwidth=slope, peaks=peaks)
    assert found.chip.units("bf16") == ("matrix",)
    assert found.chip.units("fp32") == ("vector",)
    assert found.place("matmul_4096_bf16").model.compute == "bf16"


def test_importing_the_workbench_imports_nothing_heavy():
    program = (
        "import sys; from primer.workbench import measure; "
        "print([m for m in ('torch', 'numba', 'matplotlib') if m in sys.modules])"
    )
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=env, check=True
    )
    assert done.stdout.strip() == "[]"


def test_the_median_is_the_median():
    times = [3.0, 1.0, 2.0, 9.0, 2.5]
    job = _jobs.Job("triad", "fp32", "numba", 1.0, 1.0, 1, lambda seconds: times)
    found = _jobs.measure(job, 1.0)
    assert found.time_s == statistics.median(times) == 2.5
    assert (found.fastest_s, found.slowest_s, found.n_repeats) == (1.0, 9.0, 5)


def test_repeats_begin_after_a_warm_up_and_have_a_floor():
    calls = []
    times = _jobs.repeat(lambda: calls.append(1), 1e-9)
    assert len(times) == _jobs.MIN_REPEATS
    assert len(calls) == _jobs.MIN_REPEATS + 1


def test_the_roof_is_the_best_of_the_medians():
    """By hand: triad 2 then 1 s, kernel triad 0.5 s; the chains 4 then 3 s."""
    times = {"triad": iter([2.0, 0.5, 1.0]), "fma": iter([4.0, 3.0])}

    def job(kernel, flop, moved):
        return _jobs.Job(kernel, "fp32", "numba", flop, moved, 1, lambda s: [next(times[kernel])])

    triad, fma = job("triad", 1.0, 8.0), job("fma", 12.0, 0.0)
    slope, peaks, points, _ = measure._run(_jobs.Plan((triad,), (fma,), (triad,)), 1.0)
    assert slope.bytes_per_s == 16.0
    assert [p.flop_per_s for p in peaks] == [4.0]
    assert points[0].time_s == 0.5


# ---- bad input, before any work


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_threads": 0}, "n_threads must be a positive integer; got 0"),
        ({"n_threads": 1.5}, "n_threads must be a positive integer; got 1.5"),
        ({"n_threads": 10**6}, "n_threads must be at most the"),
        ({"seconds": -1}, "seconds must be positive; got -1"),
        ({"seconds": math.inf}, "seconds must be finite"),
        ({"array_bytes": 0}, "array_bytes must be a positive integer; got 0"),
        ({"array_bytes": 10**15}, "array_bytes must be at most a third of the memory, [0-9]+ B"),
        ({"array_bytes": 10**30}, "array_bytes must be at most 1,000,000,000,000,000"),
        ({"write_allocate": "yes"}, "write_allocate must be True or False"),
        ({"device": "gpu"}, "device must be one of cpu, cuda"),
    ],
)
def test_bad_options_are_refused_at_once(options, message, monkeypatch):
    monkeypatch.setattr(_jobs, "measure", lambda *a: pytest.fail("measured"))
    with pytest.raises(ValueError, match=message):
        measure.machine(**options)


def test_no_gpu_no_measurement(monkeypatch):
    monkeypatch.setattr(_cuda, "is_available", lambda: False)
    assert measure.devices() == ("cpu",)
    with pytest.raises(ValueError, match="device must be cpu where torch sees no GPU"):
        measure.machine(device="cuda")


def test_snapshot_is_written_whole_or_not_at_all(tmp_path, monkeypatch, capsys):
    target = tmp_path / "machine.json"
    monkeypatch.setattr(measure, "machine", lambda **options: made())
    assert measure.main(["--snapshot", str(target)]) == 0
    assert from_json(target.read_text("utf-8")) == made()
    assert "made (cpu, 1 thread, 2026-11-29)" in capsys.readouterr().out
    monkeypatch.setattr(measure, "to_json", lambda machine: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        measure.write(made(), target)
    assert [p.name for p in tmp_path.iterdir()] == ["machine.json"]
    assert from_json(target.read_text("utf-8")) == made()


def test_a_path_that_cannot_be_written_stops_the_command_first(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(measure, "machine", lambda **options: pytest.fail("measured"))
    missing = tmp_path / "no" / "machine.json"
    assert measure.main(["--snapshot", str(missing)]) == 2
    assert "snapshot must lie in a folder that can be written to" in capsys.readouterr().err
    assert not missing.parent.exists()
    assert measure.main(["--snapshot", str(tmp_path)]) == 2
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert measure.main(["--snapshot", str(tmp_path / "machine.json")]) == 2
    assert list(tmp_path.iterdir()) == []


def test_the_command_reports_bad_options(capsys):
    assert measure.main(["--threads", "0"]) == 2
    assert "n_threads must be a positive integer" in capsys.readouterr().err


# ---- what the system tells


def test_the_system_is_read_where_it_tells(tmp_path, monkeypatch):
    info = tmp_path / "cpuinfo"
    info.write_text("processor\t: 0\nmodel name\t: Some   CPU\ncpu MHz\t\t: 2500.0\nflags : a b\n")
    monkeypatch.setattr(_system, "CPUINFO", info)
    assert (_system.cpu_name(), _system.cpu_hz()) == ("Some CPU", 2.5e9)
    assert _system.cpu_flags() == {"a", "b"}
    quota = tmp_path / "cpu.max"
    quota.write_text("150000 100000\n")
    monkeypatch.setattr(_system, "QUOTA", quota)
    monkeypatch.setattr(_system, "n_visible_cpus", lambda: 64)
    assert _system.n_cpus() == 1
    quota.write_text("max 100000\n")
    assert _system.n_cpus() == 64


def test_a_silent_system_is_no_failure(tmp_path, monkeypatch):
    for name in ("CPUINFO", "MEMINFO", "CACHES", "QUOTA"):
        monkeypatch.setattr(_system, name, tmp_path / "nothing")
    assert _system.cpu_name().endswith("processor")
    assert _system.last_cache_bytes() is None
    assert _system.available_bytes() is None
    assert _system.memory_bytes() is None or _system.memory_bytes() > 2**20
    assert _system.cpu_hz() is None
    assert measure.default_array_bytes(None, None) == 2**27
    notes = measure._notes_cpu(2**27, None, False)
    assert "the size of the last cache is unknown: the arrays may fit in it" in notes


def test_arrays_must_fit_in_the_memory(monkeypatch):
    monkeypatch.setattr(_system, "memory_bytes", lambda: 3000)
    measure._check_fits(1000, _system.memory_bytes())
    measure._check_fits(10**15, None)
    with pytest.raises(ValueError, match="at most a third of the memory, 1000 B; got 1001"):
        measure.machine(array_bytes=1001)


@pytest.mark.parametrize("path", [None, 3, b"x", np.ones(2)])
def test_only_a_path_can_be_written(path):
    with pytest.raises(ValueError, match="snapshot must be a path; got"):
        measure.write(made(), path)


@pytest.mark.parametrize("machine", [None, "x", {"name": "m"}])
def test_only_a_machine_can_be_written(machine, tmp_path):
    with pytest.raises(ValueError, match="machine must be a Machine; got"):
        measure.write(machine, tmp_path / "machine.json")
    assert list(tmp_path.iterdir()) == []

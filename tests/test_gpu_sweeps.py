"""Kernels and sweeps for a GPU, without one: Numba's simulator, and a device that is played."""

import contextlib
import importlib.util
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from primer.workbench import _gpu_device, gpu_check, gpu_sweeps
from primer.workbench._gpu_device import UnavailableError

simulated = pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("numba", "torch")),
    reason="needs Numba and torch",
)


def in_simulator(program, **variables):
    """What a program prints with Numba's simulator of a GPU, which must be chosen beforehand."""
    env = os.environ | {"NUMBA_ENABLE_CUDASIM": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=env | variables
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# ---- what the kernels do

KERNELS = """
import numpy as np
from primer.workbench import _gpu_kernels as k
a = np.arange(512, dtype=np.float32)
for floats in (1, 2, 4, 8):
    b = np.zeros_like(a)
    k.copy(floats)[2, 32](b, a)
    assert (b == a).all(), floats
assert k.copy(2) is k.copy(2)
for stride, offset in ((1, 0), (1, 1), (3, 0), (3, 2), (32, 0)):
    sums = np.zeros(64, np.float32)
    k.strided[2, 32](sums, a, stride, offset)
    assert sums.sum() == a[offset::stride][: (512 - offset) // stride].sum(), (stride, offset)
for n_rounds, shift in ((1, 37), (3, 37), (5, 500)):
    sums = np.zeros(64, np.float32)
    k.reread[2, 32](sums, a, n_rounds, shift)
    assert sums.sum() == n_rounds * a.sum(), (n_rounds, shift)
for stride in (0, 1, 2, 32, 33):
    sums = np.zeros(64, np.float32)
    k.banks[1, 64](sums, stride, 5)
    # Rounds 1, 3 and 5 read words from lane·stride on, 2 and 4 those 1024 further; word j holds j.
    by_hand = [5 * 32 * lane * stride + 5 * 496 + 2 * 32 * 1024 for lane in range(32)]
    assert sums.tolist() == 2 * by_hand, stride
print("right")
"""


@simulated
def test_kernels_compute_what_they_say():
    assert in_simulator(KERNELS) == "right\n"


COMPILE = """
from numba import cuda, float32, int64
from numba.cuda.cudadrv.error import NvvmSupportError
from primer.workbench import _gpu_kernels as k
a = float32[::1]
sums, steps = (a, a, int64, int64), (a, int64, int64)
plain = {k.strided: sums, k.reread: sums, k.banks: steps}
try:
    for kernel, types in plain.items():
        cuda.compile_ptx(kernel.py_func, types, cc=(9, 0))
    ptx, _ = cuda.compile_ptx(k.banks.py_func, plain[k.banks], cc=(9, 0))
    print(ptx.count("ld.shared"))
    for floats in (1, 2, 4, 8):
        ptx, _ = cuda.compile_ptx(k.copy(floats).py_func, (a, a), cc=(9, 0))
        words = [line.split()[0] for line in ptx.splitlines() if line.strip()]
        moves = "".join(w[0] for w in words if w in ("ld.global.f32", "st.global.f32"))
        print(moves)
except NvvmSupportError:
    print("no compiler")
"""


@simulated
def test_kernels_compile_for_a_gpu_and_load_before_they_store():
    """For compute capability 9.0, where CUDA's compiler is installed; no GPU is needed. What a
    copy holds stays in registers: so many loads, so many stores, as often as it was unrolled."""
    homes = sorted(str(path) for path in Path("/usr/local").glob("cuda*"))
    given = {} if "CUDA_HOME" in os.environ or not homes else {"CUDA_HOME": homes[-1]}
    said = in_simulator(COMPILE, NUMBA_ENABLE_CUDASIM="0", **given).split()
    if said[:2] == ["no", "compiler"]:
        pytest.skip("needs CUDA's compiler")
    # The words that every lane reads in a round, and one before the first round.
    assert said[0] == "33"
    for floats, moves in zip((1, 2, 4, 8), said[1:], strict=True):
        assert re.fullmatch(f"(l{{{floats}}}s{{{floats}}})+", moves)


DEVICE = """
import torch
from primer.workbench._gpu_device import Gpu, HOST_REPEATS
gpu = Gpu(device="cpu", buffer_bytes=2**13, repeats=2)
for experiment, parameters, n in (
    ("copy", dict(floats_per_thread=2, n_warps_per_sm=8), 2),
    ("strided", dict(stride_elements=2, offset_elements=1), 2),
    ("banks", dict(stride_words=2), 2),
    ("l2_read", dict(size_bytes=2**12), 2),
    ("matmul", dict(m=4, n=5, k=6, storage="bf16"), 2),
    ("staircase", dict(m=4, n=5, k=6, storage="fp16"), 2),
    ("small_kernels", dict(n_kernels=3, mode="eager"), HOST_REPEATS - 1),
    ("small_kernels", dict(n_kernels=3, mode="graph"), HOST_REPEATS - 1),
):
    values = gpu.run(experiment, **parameters)
    assert len(values) == n and all(0 < value < 1e15 for value in values), (experiment, values)
assert gpu.about()["device"] == "cpu" and gpu.about()["n_sms"] == 2
print("measured")
"""


@simulated
def test_the_device_runs_every_experiment():
    assert in_simulator(DEVICE) == "measured\n"


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="needs torch")
def test_the_device_knows_every_experiment_that_is_predicted_or_swept(monkeypatch):
    """Keywords as well: an experiment that fails for a wrong one would only leave a note."""
    gpu, asked, wanted = _gpu_device.Gpu(device="cpu"), {}, {}

    def note(name):
        wanted[name] = {frozenset(inspect.signature(getattr(gpu, name)).parameters)}
        return lambda **given: asked.setdefault(name, set()).add(frozenset(given))

    for name in ("copy", "strided", "banks", "l2_read", "product", "small_kernels"):
        monkeypatch.setattr(gpu, name, note(name))
    for row in gpu_check.predict("h200_sxm_141gb").rows:
        gpu.run(row.experiment, **row.parameters)
    for sweep in gpu_sweeps.SWEEPS.values():
        for point in sweep.points:
            gpu.run(sweep.experiment, **point)
    assert asked == wanted


def noted_cuda(said):
    """torch.cuda, as far as times and graphs need it, writing down what it was asked."""

    class Event:
        def __init__(self, *, enable_timing):
            assert enable_timing

        def record(self):
            said.append("record")

        def synchronize(self):
            said.append("wait")

        def elapsed_time(self, other):
            return 8.0  # milliseconds

    class Graph:
        def replay(self):
            said.append("replay")

    @contextlib.contextmanager
    def around(what):
        said.append(f"into {type(what).__name__}")
        yield
        said.append("out")

    class Stream:
        def wait_stream(self, other):
            said.append("wait for stream")

    return SimpleNamespace(
        Event=Event, CUDAGraph=Graph, Stream=Stream, current_stream=Stream, graph=around,
        stream=around,
    )  # fmt: skip


def test_times_lie_between_two_events_around_several_runs():
    """A run to compile; then each repeat: one run ahead of the first event, four between them."""
    gpu, said = _gpu_device.Gpu.__new__(_gpu_device.Gpu), []
    gpu.is_gpu, gpu.repeats, gpu.torch = True, 2, SimpleNamespace(cuda=noted_cuda(said))
    times = gpu._timed(lambda: said.append("run"))
    once = ["run", "record", *["run"] * _gpu_device.RUNS, "record", "wait"]
    assert said == ["run", *once, *once]
    assert times == pytest.approx([8e-3 / _gpu_device.RUNS] * 2)


def test_a_graph_is_warmed_up_on_a_side_stream_and_replayed():
    gpu, said = _gpu_device.Gpu.__new__(_gpu_device.Gpu), []
    gpu.is_gpu, gpu.torch = True, SimpleNamespace(cuda=noted_cuda(said))
    replay = gpu._graph([lambda: said.append("a"), lambda: said.append("b")])
    replay()
    warm_up = ["wait for stream", "into Stream", "a", "b", "out", "wait for stream"]
    assert said == [*warm_up, "into Graph", "a", "b", "out", "replay"]


# ---- the sweeps


class Played:
    """A device whose values are a function of the parameters."""

    def __init__(self, value):
        self.value, self.asked = value, []

    def about(self):
        return {"device": "played"}

    def now(self):
        return {"clocks.sm": "1 MHz"}

    def run(self, experiment, **parameters):
        self.asked.append(experiment)
        found = self.value(**parameters)
        return [0.5 * found, found, 3 * found]


def test_a_sweep_has_a_median_and_a_range_for_each_point():
    device = Played(lambda stride_words: max(1, stride_words))
    points = gpu_sweeps.run(["banks"], device=device)
    assert device.asked == ["banks"] * len(points)
    assert [p.parameters["stride_words"] for p in points] == [0, 1, 2, 3, 4, 8, 16, 32, 33]
    assert {(p.value, p.lowest, p.highest, p.n_repeats) for p in points if p.value == 2} == {
        (2, 1.0, 6, 3)
    }


def test_all_sweeps_by_default_and_every_experiment_is_known():
    device = Played(lambda **parameters: 1.0)
    points = gpu_sweeps.run(device=device)
    assert list(dict.fromkeys(p.sweep for p in points)) == list(gpu_sweeps.SWEEPS)
    assert set(device.asked) == {"copy", "strided", "banks", "staircase"}


def test_the_staircase_crosses_a_full_wave():
    """Twelve tiles of 128 × 128 in each 128 rows of 1,536 columns: 132 tiles at 1,408 rows."""
    sweep = gpu_sweeps.SWEEPS["staircase"]
    tiles = [p["m"] // 128 * (p["n"] // 128) for p in sweep.points]
    assert tiles[0] < 132 in tiles
    assert 144 in tiles


def test_the_table_is_relative_to_the_best(capsys):
    device = Played(lambda stride_words: 1e-9 * max(1, stride_words))
    assert gpu_sweeps.main(["banks"], device) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "device played, clocks.sm 1 MHz"
    assert re.fullmatch(r" +stride_words 33 +33 ns +33.00", lines[-1])
    device = Played(lambda floats_per_thread, n_warps_per_sm: 1e9 * floats_per_thread)
    assert gpu_sweeps.main(["in_flight"], device) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1].split()[-3:] == ["8", "GB/s", "1.00"]


def test_an_unknown_sweep_is_refused(capsys):
    with pytest.raises(ValueError, match="names must be one of in_flight"):
        gpu_sweeps.run(["bank"], device=Played(lambda **p: 1.0))
    assert gpu_sweeps.main(["bank"]) == 2
    assert "did you mean 'banks'?" in capsys.readouterr().err


# ---- without a GPU


@pytest.mark.parametrize("main", [gpu_sweeps.main, lambda: gpu_sweeps.main(["banks"])])
def test_without_a_gpu_it_says_so(main, monkeypatch, capsys):
    monkeypatch.setattr(_gpu_device._cuda, "is_available", lambda: False)
    monkeypatch.setattr(sys, "argv", ["gpu_sweeps"])
    assert main() == 2
    assert capsys.readouterr().err.startswith("error: device must be a GPU that torch can use")


def test_without_torch_it_says_so(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match="torch is not installed"):
        _gpu_device.require()


def test_without_numba_it_says_so():
    def run(**parameters):
        raise UnavailableError("Numba is not installed")

    with pytest.raises(ValueError, match="device must run own kernels; Numba is not installed"):
        gpu_sweeps.run(["banks"], device=Played(run))


@simulated
def test_numba_without_a_gpu_is_told_apart_from_no_numba(monkeypatch):
    from primer.workbench import _gpu_kernels

    monkeypatch.setattr(_gpu_kernels.cuda, "is_available", lambda: False)
    gpu = _gpu_device.Gpu(device="cpu", buffer_bytes=2**12, repeats=1)
    with pytest.raises(UnavailableError, match=r"numba\.cuda finds no GPU"):
        gpu.run("copy", floats_per_thread=1, n_warps_per_sm=8)
    monkeypatch.setitem(sys.modules, "primer.workbench._gpu_kernels", None)
    monkeypatch.delattr("primer.workbench._gpu_kernels")
    with pytest.raises(UnavailableError, match="Numba is not installed"):
        gpu.run("copy", floats_per_thread=1, n_warps_per_sm=8)


def test_nvidia_smi_is_asked_and_may_be_missing(monkeypatch):
    if importlib.util.find_spec("torch") is None:
        pytest.skip("needs torch")
    gpu = _gpu_device.Gpu(device="cpu")

    def answer(command, **options):
        assert command[0] == "nvidia-smi"
        said = "580.159.03, 1980 MHz, 3201 MHz, 1980 MHz, 120.50 W, 700.00 W\n"
        return subprocess.CompletedProcess(command, 0, said, "")

    monkeypatch.setattr(subprocess, "run", answer)
    assert gpu.now() == {
        "driver_version": "580.159.03",
        "clocks.sm": "1980 MHz",
        "clocks.mem": "3201 MHz",
        "clocks.max.sm": "1980 MHz",
        "power.draw": "120.50 W",
        "power.limit": "700.00 W",
    }

    def fail(command, **options):
        raise FileNotFoundError("nvidia-smi")

    monkeypatch.setattr(subprocess, "run", fail)
    assert gpu.now() == {}


def test_importing_them_imports_neither_torch_nor_numba():
    program = (
        "import sys; from primer.workbench import gpu_check, gpu_sweeps; "
        "print([name for name in ('torch', 'numba') if name in sys.modules])"
    )
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=env, check=True
    )
    assert done.stdout.strip() == "[]"
    assert gpu_check.predict("h200_sxm_141gb").rows

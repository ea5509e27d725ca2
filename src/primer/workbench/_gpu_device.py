"""One NVIDIA GPU as a device that measures: torch for products and graphs, Numba for own kernels.

Times on the GPU lie between two of its own events, around several runs, with a run before the first
event so that the host's start is over by then. Times of small kernels are the host's: what a
program waits for. Nothing is pinned; clocks are asked of nvidia-smi before and after.
"""

import importlib.util
import subprocess
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from primer.workbench import _cuda

REPEATS, RUNS = 9, 4
HOST_REPEATS = 31
BUFFER_BYTES = 2**30  # far beyond any second-level cache
COLD_BYTES = 2**28  # of operands that a graph of products goes through, before one is met again
MOST_PRODUCTS = 64
THREADS, WARP = 256, 32  # of a block; threads of a warp
SHIFT = 37 * THREADS  # between two readings of the same buffer
SHARED_ROUNDS = 256
SMALL = 1024  # numbers of a small kernel
ASKED = ("driver_version", "clocks.sm", "clocks.mem", "clocks.max.sm", "power.draw", "power.limit")

Call = Callable[[], object]


class UnavailableError(Exception):
    """Something that this machine cannot measure, with the reason."""


class Device(Protocol):
    """What `gpu_check` and `gpu_sweeps` need of a device."""

    def about(self) -> dict[str, Any]:
        """Its name, size and software."""

    def now(self) -> dict[str, Any]:
        """Driver, clocks and power at this moment."""

    def run(self, experiment: str, **parameters: Any) -> Sequence[float]:
        """Values of an experiment, one for each repeat, in the base unit of its quantity."""


def require() -> None:
    """Refuse to go on without a GPU.

    Raises
    ------
    ValueError
        Saying what is missing.
    """
    if importlib.util.find_spec("torch") is None:
        raise ValueError("device must be a GPU that torch can use; torch is not installed")
    if not _cuda.is_available():
        raise ValueError("device must be a GPU that torch can use; torch sees none here")


class Gpu:
    """The first GPU.

    Parameters
    ----------
    device : str
        As torch names it; "cpu" lets the same code be tried without a GPU, with Numba's simulator.
    buffer_bytes, repeats : int
        Size of each buffer that is copied, and measurements of each point.
    """

    def __init__(
        self, *, device: str = "cuda", buffer_bytes: int = BUFFER_BYTES, repeats: int = REPEATS
    ) -> None:
        self.torch, self.device = _cuda.torch(), device
        self.is_gpu, self.repeats, self.buffer_bytes = device != "cpu", repeats, buffer_bytes
        self.n_sms = self._properties().multi_processor_count if self.is_gpu else 2

    def _properties(self) -> Any:
        return self.torch.cuda.get_device_properties(0)

    def about(self) -> dict[str, Any]:
        """Name, size and software."""
        found: dict[str, Any] = {"device": "cpu", "n_sms": self.n_sms}
        if self.is_gpu:
            found["device"] = _cuda.name()
            found["memory_bytes"] = int(self._properties().total_memory)
            found["l2_bytes"] = _cuda.cache_bytes()
        return found | {"torch": str(self.torch.__version__), "cuda": str(self.torch.version.cuda)}

    def now(self) -> dict[str, Any]:
        """What nvidia-smi says at this moment; empty where it cannot be asked."""
        command = ["nvidia-smi", f"--query-gpu={','.join(ASKED)}", "--format=csv,noheader", "-i0"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=20)
        except (OSError, subprocess.SubprocessError):
            return {}
        return dict(zip(ASKED, (word.strip() for word in done.stdout.split(",")), strict=False))

    def run(self, experiment: str, **parameters: Any) -> Sequence[float]:
        """Values of one experiment, one for each repeat."""
        experiments: dict[str, Callable[..., list[float]]] = {
            "copy": self.copy,
            "strided": self.strided,
            "banks": self.banks,
            "l2_read": self.l2_read,
            "matmul": self.product,
            "staircase": self.product,
            "small_kernels": self.small_kernels,
        }
        return experiments[experiment](**parameters)

    # ---- experiments

    def copy(self, *, floats_per_thread: int, n_warps_per_sm: int) -> list[float]:
        """Rate of a copy, read and written, list of float [B/s]."""
        grid = self._grid(n_warps_per_sm)
        unit = grid * THREADS * floats_per_thread
        n = max(1, self.buffer_bytes // 4 // unit) * unit
        a, b = self._floats(n), self._floats(n)
        kernel = self._kernels().copy(floats_per_thread)[grid, THREADS]
        arrays = self._arrays(b, a)
        return [8 * n / t for t in self._timed(lambda: kernel(*arrays))]

    def strided(self, *, stride_elements: int, offset_elements: int) -> list[float]:
        """Rate of the numbers that are wanted, list of float [B/s]."""
        grid, n = self._grid(32), self.buffer_bytes // 4
        sums, a = self._arrays(self._floats(grid * THREADS), self._floats(n))
        kernel = self._kernels().strided[grid, THREADS]
        wanted = 4 * ((n - offset_elements) // stride_elements)
        run = self._timed(lambda: kernel(sums, a, stride_elements, offset_elements))
        return [wanted / t for t in run]

    def banks(self, *, stride_words: int) -> list[float]:
        """Time in which every warp of a block reads shared memory once, list of float [s]."""
        n_threads = 4 * THREADS if self.is_gpu else WARP
        (sums,) = self._arrays(self._floats(self.n_sms * n_threads))
        kernel = self._kernels().banks[self.n_sms, n_threads]
        rounds = SHARED_ROUNDS if self.is_gpu else 2
        n_reads = rounds * self._kernels().BANKS
        return [t / n_reads for t in self._timed(lambda: kernel(sums, stride_words, rounds))]

    def l2_read(self, *, size_bytes: int) -> list[float]:
        """Rate of reading one buffer again and again, list of float [B/s]."""
        n, grid = size_bytes // 4, self._grid(64)
        rounds = max(1, 16 * self.buffer_bytes // size_bytes) if self.is_gpu else 2
        sums, a = self._arrays(self._floats(grid * THREADS), self._floats(n))
        kernel = self._kernels().reread[grid, THREADS]
        return [4 * n * rounds / t for t in self._timed(lambda: kernel(sums, a, rounds, SHIFT))]

    def product(self, *, m: int, n: int, k: int, storage: str) -> list[float]:
        """Time of one matrix product in a graph of its like, list of float [s].

        Each has operands of its own, so that none of them waits in a cache.
        """
        kind = {"bf16": self.torch.bfloat16, "fp16": self.torch.float16}[storage]
        n_products = min(MOST_PRODUCTS, 1 + COLD_BYTES // (2 * (m * k + k * n + m * n)))
        calls: list[Call] = []
        for _ in range(n_products if self.is_gpu else 2):
            # Numbers that differ: a chip draws less power for equal ones, and clocks higher.
            a, b = (self.torch.randn(s, dtype=kind, device=self.device) for s in ((m, k), (k, n)))
            c = self.torch.empty((m, n), dtype=kind, device=self.device)
            calls.append(lambda a=a, b=b, c=c: self.torch.mm(a, b, out=c))  # type: ignore[misc]
        return [t / len(calls) for t in self._timed(self._graph(calls))]

    def small_kernels(self, *, n_kernels: int, mode: str) -> list[float]:
        """Time of all small kernels as the host sees it, list of float [s]."""
        x = self._floats(SMALL)
        calls: list[Call] = [lambda: x.add_(1.0)] * n_kernels
        run = self._graph(calls) if mode == "graph" else lambda: [call() for call in calls]
        times = []
        for _ in range(HOST_REPEATS):
            self._wait()
            start = time.perf_counter()
            run()
            self._wait()
            times.append(time.perf_counter() - start)
        return times[1:]

    # ---- how it is done

    def _grid(self, n_warps_per_sm: int) -> int:
        """Blocks that put so many warps on every multiprocessor; a simulated GPU gets one."""
        return n_warps_per_sm * WARP // THREADS * self.n_sms if self.is_gpu else 1

    def _floats(self, n: int) -> Any:
        return self.torch.full((n,), 0.5, dtype=self.torch.float32, device=self.device)

    def _kernels(self) -> Any:
        """The own kernels, if Numba can run them on this device."""
        try:
            from primer.workbench import _gpu_kernels
        except ImportError:
            raise UnavailableError("Numba is not installed") from None
        if not _gpu_kernels.cuda.is_available():
            raise UnavailableError("numba.cuda finds no GPU; it may need the package numba-cuda")
        return _gpu_kernels

    def _arrays(self, *tensors: Any) -> list[Any]:
        """Tensors in the form that Numba's kernels take."""
        if not self.is_gpu:
            return [tensor.numpy() for tensor in tensors]
        return [self._kernels().cuda.as_cuda_array(tensor) for tensor in tensors]

    def _wait(self) -> None:
        if self.is_gpu:
            self.torch.cuda.synchronize()

    def _timed(self, run: Call) -> list[float]:
        """Times of one run, list of float [s]."""
        run()  # compiles
        return [self._one_time(run) for _ in range(self.repeats)]

    def _one_time(self, run: Call) -> float:
        if not self.is_gpu:
            start = time.perf_counter()
            run()
            return time.perf_counter() - start
        first, last = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        run()  # the GPU is still at it when the next ones have been launched
        first.record()
        for _ in range(RUNS):
            run()
        last.record()
        last.synchronize()
        return float(first.elapsed_time(last)) * 1e-3 / RUNS

    def _graph(self, calls: Sequence[Call]) -> Call:
        """All calls as one launch."""

        def each() -> None:
            for call in calls:
                call()

        if not self.is_gpu:
            return each
        cuda = self.torch.cuda
        side = cuda.Stream()  # what is captured has to have run before, beside the usual stream
        side.wait_stream(cuda.current_stream())
        with cuda.stream(side):
            each()
        cuda.current_stream().wait_stream(side)
        graph = cuda.CUDAGraph()
        with cuda.graph(graph):
            each()
        replay: Call = graph.replay
        return replay

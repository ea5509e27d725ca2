"""What is timed on a GPU, through torch; torch is imported when a GPU is asked for."""

import importlib
import importlib.util
from typing import Any

from primer.workbench._jobs import Call, Job, Plan, threaded
from primer.workloads import Matmul, Stream

ROOF_SIZE = 8192  # of the product that sets a roof
KERNEL_SIZES = {"matmul_1024": 1024, "matmul_4096": 4096}
VECTOR_BYTES = 2**30  # far beyond the second-level cache of any GPU


def torch() -> Any:
    """The package, imported now."""
    return importlib.import_module("torch")


def is_available() -> bool:
    """Whether torch is installed and sees a GPU."""
    return importlib.util.find_spec("torch") is not None and bool(torch().cuda.is_available())


def name() -> str:
    """Model of the first GPU."""
    return str(torch().cuda.get_device_name(0))


def cache_bytes() -> int | None:
    """Its second-level cache, int [B]."""
    size = getattr(torch().cuda.get_device_properties(0), "L2_cache_size", 0)
    return int(size) or None


def available_bytes() -> int:
    """Free memory of the GPU, int [B]."""
    return int(torch().cuda.mem_get_info()[0])


class GpuBench:
    """Streams and matrix products on one GPU.

    Parameters
    ----------
    array_bytes : int [B]
        Of each vector.
    device : str
        As torch names it; "cpu" lets the same code be tried without a GPU.
    roof_size : int
        Edge of the matrix product that sets a roof.
    """

    def __init__(self, *, array_bytes: int, device: str = "cuda", roof_size: int = ROOF_SIZE):
        self.torch, self.device, self.roof_size = torch(), device, roof_size
        # TensorFloat-32 would turn an fp32 product into another precision.
        self.torch.backends.cuda.matmul.allow_tf32 = False
        self.n = max(1, array_bytes // 4)
        self.a, self.b, self.c = (
            self.torch.full((self.n,), 0.5, dtype=self.torch.float32, device=device)
            for _ in range(3)
        )

    def plan(self) -> Plan:
        """All jobs: the slope from streams, a roof for each precision, kernels."""
        streams = tuple(self.stream(kernel) for kernel in ("copy", "triad"))
        peaks = tuple(self.matmul("matmul", self.roof_size, p) for p in ("fp32", "bf16"))
        placed = [self.stream(kernel) for kernel in ("add", "triad", "dot")]
        for kernel, size in KERNEL_SIZES.items():
            edge = min(size, self.roof_size)
            placed += [self.matmul(f"{kernel}_{p}", edge, p) for p in ("fp32", "bf16")]
        return Plan(streams, peaks, tuple(placed))

    def stream(self, kernel: str) -> Job:
        """One vector operation; whole lines are written, so that none is fetched first."""
        torch, a, b, c = self.torch, self.a, self.b, self.c
        calls: dict[str, Call] = {
            "copy": lambda: a.copy_(b),
            "add": lambda: torch.add(b, c, out=a),
            "triad": lambda: torch.add(b, c, alpha=3.0, out=a),
            "dot": lambda: torch.dot(b, c),
        }
        work = Stream(kernel, self.n, "fp32")
        return self._job(kernel, "fp32", work.flop, work.compulsory_bytes, calls[kernel])

    def matmul(self, kernel: str, n: int, compute: str) -> Job:
        """A square matrix product."""
        kind = {"fp32": self.torch.float32, "bf16": self.torch.bfloat16}[compute]
        a, b, c = (self.torch.full((n, n), 0.5, dtype=kind, device=self.device) for _ in range(3))
        work = Matmul(n, n, n, compute)
        run: Call = lambda: self.torch.mm(a, b, out=c)  # noqa: E731
        return self._job(kernel, compute, work.flop, work.compulsory_bytes, run)

    def _job(self, kernel: str, compute: str, flop: float, moved: float, run: Call) -> Job:
        def whole() -> None:
            run()
            if self.device != "cpu":  # a launch returns before its work is done
                self.torch.cuda.synchronize()

        return Job(kernel, compute, "torch", flop, moved, 1, threaded([whole]))

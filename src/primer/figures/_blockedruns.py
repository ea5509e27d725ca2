"""One product on a GPU and on a TPU, each with blocks of its own."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from primer import blocked_gemm, hardware
from primer.blocked_gemm import BlockedGemm, Machine
from primer.figures._wavesruns import TILES

GPU, TPU = "h100_sxm5_80gb", "tpu_v5e"
# NVIDIA prints no rate of this cache. This chip has the same multiprocessors, and was measured.
CACHE_OF = "h200_sxm_141gb"
DEPTH = 64  # of a GPU's block: 64 numbers of 2 B are a whole line of its copies
FASTEST = "fastest"
TO_CHOOSE = ("256x128", "128x128", "64x64")
BLOCKS = (FASTEST, *TO_CHOOSE)
M_VALUES = (1, 8, 64, 128, 240, 395, 569, 1024, 1409, 2048, 4096)
N_VALUES = (768, 1000, 3072)
K_VALUES = (768, 3072)


@dataclass(frozen=True, kw_only=True)
class Pair:
    """The same product on both machines.

    Parameters
    ----------
    gpu, tpu : BlockedGemm
    is_chosen : bool
        Whether the GPU's block was chosen because it is the fastest.
    """

    gpu: BlockedGemm
    tpu: BlockedGemm
    is_chosen: bool

    @property
    def peak_ratio(self) -> float:
        """Peak of the GPU over that of the TPU, float."""
        return self.gpu.machine.peak_flop_per_s / self.tpu.machine.peak_flop_per_s


@cache
def gpus(block: str) -> tuple[Machine, ...]:
    """The GPU with one block, or with all of them to choose from."""
    rate = hardware.load(CACHE_OF).level("l2").bandwidth
    chip = hardware.load(GPU)
    return tuple(
        blocked_gemm.gpu(
            chip, block=(*TILES[name], DEPTH), cache_bytes_per_s=rate.value if rate else None
        )
        for name in (TO_CHOOSE if block == FASTEST else (block,))
    )


@cache
def tpu() -> Machine:
    """The TPU, whose block follows from its arrays."""
    return blocked_gemm.tpu(hardware.load(TPU))


@cache
def compute(m: int, n: int, k: int, block: str) -> Pair:
    """Run one product on both."""
    return Pair(
        gpu=blocked_gemm.fastest(gpus(block), m, n, k),
        tpu=blocked_gemm.run(tpu(), m, n, k),
        is_chosen=block == FASTEST,
    )

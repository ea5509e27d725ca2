"""Kernels as the memory sees them: how many bytes leave each level of a GPU."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from primer import hardware, roofline
from primer.roofline import HierarchyPoint, LevelPoint, UnpublishedLevel
from primer.workloads import Matmul, Stream, TiledMatmul

LEVELS = {"hbm": "HBM", "l2": "L2", "l1": "L1"}  # far to near, as the data fall
Tile = tuple[int, int]


@dataclass(frozen=True, kw_only=True)
class Kernel:
    """A kernel as the memory sees it.

    Parameters
    ----------
    title : str
        For reading.
    compute : str
        Precision, which selects the roof.
    work_flop : float [FLOP]
    level_bytes : mapping of str to float [B]
        Bytes that leave each level toward the arithmetic, results included.
    lesson : str
        What to notice, whatever the chip.
    """

    title: str
    compute: str
    work_flop: float
    level_bytes: Mapping[str, float]
    lesson: str


def _stream(title: str, loop: str, lesson: str) -> Kernel:
    """A loop over a hundred million elements: nothing is used twice, so every level sees it all."""
    work = Stream(loop, 10**8, "fp32")
    same = dict.fromkeys(LEVELS, work.compulsory_bytes)
    return Kernel(title=title, compute="fp32", work_flop=work.flop, level_bytes=same, lesson=lesson)


def _matmul(
    title: str, m: int, lesson: str, *, registers: Tile, l1: Tile, l2: Tile = (10**6, 10**6)
) -> Kernel:
    """The one matmul with m rows; each store keeps a tile of the result, the L2 all of it."""
    keeps = {"hbm": l2, "l2": l1, "l1": registers}  # what leaves a level fills the next one
    fetched = {
        level: TiledMatmul(
            m, 3072, 768, tile_m=tile[0], tile_n=tile[1], storage="fp16"
        ).traffic_bytes
        for level, tile in keeps.items()
    }
    work = Matmul(m, 3072, 768, storage="fp16")
    return Kernel(
        title=title, compute="fp16", work_flop=work.flop, level_bytes=fetched, lesson=lesson
    )


KERNELS: dict[str, Kernel] = {
    "vector_add": _stream(
        "vector add", "add", "No number is used twice, so all levels move the same bytes."
    ),
    "triad": _stream(
        "triad",
        "triad",
        "Twice the work of the vector add for the same bytes: every dot is further right.",
    ),
    "gemv": _matmul(
        "matmul with one row",
        1,
        "Each weight passes every level once and is used once: no cache can help.",
        registers=(1, 32),
        l1=(1, 128),
    ),
    "gemm_naive": _matmul(
        "matmul, nothing kept",
        1024,
        "Every multiply-add fetches both operands, from the far end.",
        registers=(1, 1),
        l1=(1, 1),
        l2=(1, 1),
    ),
    "gemm_l1": _matmul(
        "matmul, tiles in L1 only",
        1024,
        "A tile of 128 × 128 relieves L2 and HBM, but L1 serves two operands per multiply-add.",
        registers=(1, 1),
        l1=(128, 128),
    ),
    "gemm_32": _matmul(
        "matmul, small tiles",
        1024,
        "One tile of 32 × 32 in L1 and registers: L2 must serve as much as L1 and is slower.",
        registers=(32, 32),
        l1=(32, 32),
    ),
    "gemm_128": _matmul(
        "matmul, large tiles",
        1024,
        "A tile of 64 × 32 within one of 128 × 128: the farther out, the fewer bytes leave it.",
        registers=(64, 32),
        l1=(128, 128),
    ),
}


@dataclass(frozen=True, kw_only=True)
class Waterfall:
    """A kernel placed at every level of a chip.

    Parameters
    ----------
    kernel : Kernel
    point : HierarchyPoint
    measured : tuple of str
        Levels whose rate somebody read off a benchmark: what was reached, not what is possible.
    """

    kernel: Kernel
    point: HierarchyPoint
    measured: tuple[str, ...]

    def level(self, name: str) -> LevelPoint | UnpublishedLevel:
        """One level, whether its bandwidth is known or not."""
        known: dict[str, LevelPoint | UnpublishedLevel] = {
            level.name: level for level in self.point.levels
        }
        known.update({level.name: level for level in self.point.unpublished})
        return known[name]

    @property
    def peak_frac(self) -> float:
        """Attainable rate as a share of the peak."""
        return self.point.attainable_flop_per_s / self.point.peak_flop_per_s


def compute(chip: str, kernel: str) -> Waterfall:
    """Place a kernel under one roof per level."""
    chosen, on = KERNELS[kernel], hardware.load(chip)
    point = roofline.place_levels(
        on,
        work_flop=chosen.work_flop,
        level_bytes=chosen.level_bytes,
        compute=chosen.compute,
        skip_unpublished=True,
    )
    rates = {name: on.level(name).bandwidth for name in LEVELS}
    measured = tuple(name for name, rate in rates.items() if rate and rate.status == "measured")
    return Waterfall(kernel=chosen, point=point, measured=measured)

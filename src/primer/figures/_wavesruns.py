"""A product in tiles on an H100, and how well other sizes with the same tiles would fill it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from primer import hardware, waves
from primer.hardware import Chip
from primer.waves import Waves

CHIP = "h100_sxm5_80gb"
K = 768
M_VALUES = (
    1, 64, 128, 256, 512, 768, 1024, 1152, 1280, 1408, 1409, 1536, 2048, 3072, 4096, 8192, 16_896,
    17_024,
)  # fmt: skip
N_VALUES = (128, 1536, 3072, 4096)
TILES = {"256x128": (256, 128), "128x128": (128, 128), "128x64": (128, 64), "64x64": (64, 64)}
M_LIMITS = (0.8, 24_000.0)
Curve = tuple[tuple[float, float], ...]


@dataclass(frozen=True, kw_only=True)
class WaveRun:
    """One product, and the curve that it lies on.

    Parameters
    ----------
    waves : Waves
    curve : tuple of (m, utilization_frac)
        Of this n and tile, from one row to the largest m.
    time_s : float [s]
        Of the whole product, if every multiprocessor runs at its peak while it has a tile.
    needed_bytes_per_cycle : float [B/cycle]
        Operands that one multiprocessor has to load to compute at its peak.
    """

    waves: Waves
    curve: Curve
    time_s: float
    needed_bytes_per_cycle: float

    @property
    def n_idle_sms(self) -> int:
        """Multiprocessors without a tile in the last wave, int."""
        return self.waves.n_sms - self.waves.n_tail_blocks


def n_sms(chip: Chip) -> int:
    """Multiprocessors of a chip, int."""
    return int(chip.count("sms").value)


@cache
def compute(m: int, n: int, tile: str) -> WaveRun:
    """Cut a product of m × n into tiles and hand them out."""
    chip = hardware.load(CHIP)
    found = waves.count(m, n, tile=TILES[tile], n_sms=n_sms(chip))
    flop_per_cycle = 2 * chip.count("matrix_units").value * chip.count("fma_per_matrix_unit").value
    flop = 2.0 * m * n * K
    return WaveRun(
        waves=found,
        curve=curve(n, tile),
        time_s=flop / chip.peak_flop_per_s("bf16") / found.utilization_frac,
        needed_bytes_per_cycle=flop_per_cycle / found.n_sms / found.intensity_flop_per_byte,
    )


@cache
def curve(n: int, tile: str) -> Curve:
    """Utilization against m: whole tiles, and one row more wherever that begins a wave.

    >>> [point for point in curve(1536, "128x128") if point[0] == 1408]
    [(1408.0, 1.0)]
    """
    rows = TILES[tile][0]
    options = {"tile": TILES[tile], "n_sms": n_sms(hardware.load(CHIP))}
    below = [2**i for i in range(10) if 2**i < rows]
    between = range(rows + rows // 2, 8 * rows, rows)  # a logarithmic axis shows them as bent
    sizes = sorted([*below, *between, *range(rows, M_VALUES[-1] + rows, rows)])
    now = waves.sweep(sizes, n, **options)
    after = waves.sweep([m + 1 for m in sizes], n, **options)
    points: list[tuple[float, float]] = []
    for here, there in zip(now, after, strict=True):
        points.append((float(here.m), here.utilization_frac))
        if there.span_tiles > here.span_tiles and here is not now[-1]:
            points.append((float(there.m), there.utilization_frac))
    return tuple(points)

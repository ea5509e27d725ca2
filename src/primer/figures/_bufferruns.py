"""Weights of one product on their way from a TPU's main memory into its arrays, set by set."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from primer import blocked_gemm, buffering, hardware
from primer.blocked_gemm import Machine
from primer.buffering import Schedule

CHIP = "tpu_v5e"
N, K = 3072, 768
WEIGHT_BYTES = 2  # of bf16
M_VALUES = (1, 8, 32, 64, 120, 128, 180, 240, 256, 360, 480, 512, 1024)
BANDWIDTHS = (0.5, 1.0, 2.0)  # as built, and what if
LONG, SHORT = 1.5, 0.5  # uneven copies, in turn; the same on average
M_LIMITS = (0.8, 1500.0)
Curve = tuple[tuple[float, float], ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class BufferRun:
    """One product, tile by tile: a tile is what all arrays hold at a time.

    Parameters
    ----------
    m : int
        Rows that pass every tile.
    uneven : bool
    tile_bytes : float [B]
    bandwidth_bytes_per_s : float [B/s]
    clock_hz : float [Hz]
    load_cycles : float [cycles]
        Of a copy, on average.
    ridge_flop_per_byte : float [FLOP/B]
        The printed peak over this bandwidth.
    schedule : Schedule
        Of all tiles.
    curve, in_turns : tuple of (m, cycles per tile)
        For any m with these buffers, and with one.
    """

    m: int
    uneven: bool
    tile_bytes: float
    bandwidth_bytes_per_s: float
    clock_hz: float
    load_cycles: float
    ridge_flop_per_byte: float
    schedule: Schedule
    curve: Curve
    in_turns: Curve

    @property
    def time_s(self) -> float:
        """Of the whole product, float [s]."""
        return self.schedule.total_cycles / self.clock_hz


@cache
def machine() -> Machine:
    """The arrays of the chip side by side, and its memory."""
    return blocked_gemm.tpu(hardware.load(CHIP))


def tile_bytes() -> float:
    """Weights that all arrays hold at a time, float [B]."""
    return float(machine().block_k * machine().block_n * WEIGHT_BYTES)


def n_tiles() -> int:
    """Tiles of the product's weights, int."""
    return -(-K // machine().block_k) * -(-N // machine().block_n)


def load_cycles(bandwidth: float) -> float:
    """Cycles in which memory brings one tile, float [cycles]."""
    rate = bandwidth * machine().hbm_bytes_per_s
    return tile_bytes() / rate * machine().clock_hz


def copies(bandwidth: float, uneven: bool) -> np.ndarray:
    """Cycles of every copy, float array (n_tiles,)."""
    share = np.ones(n_tiles())
    if uneven:
        share[::2], share[1::2] = LONG, SHORT
    return share * load_cycles(bandwidth)


@cache
def compute(n_buffers: int, m: int, bandwidth: float, uneven: bool) -> BufferRun:
    """Stream m rows past all weights."""
    return BufferRun(
        m=m, uneven=uneven, tile_bytes=tile_bytes(), clock_hz=machine().clock_hz,
        bandwidth_bytes_per_s=bandwidth * machine().hbm_bytes_per_s,
        load_cycles=load_cycles(bandwidth),
        ridge_flop_per_byte=hardware.load(CHIP).ridge_flop_per_byte("bf16") / bandwidth,
        schedule=buffering.schedule(copies(bandwidth, uneven), float(m), n_buffers=n_buffers),
        curve=curve(n_buffers, bandwidth, uneven),
        in_turns=curve(1, bandwidth, False),
    )  # fmt: skip


@cache
def curve(n_buffers: int, bandwidth: float, uneven: bool) -> Curve:
    """Cycles per tile against m, with every value a reader can choose."""
    load = copies(bandwidth, uneven)
    knees = load_cycles(bandwidth) * np.array([SHORT, 1.0, LONG])
    grid = np.concatenate([np.geomspace(*M_LIMITS, 40), knees, M_VALUES])
    return tuple(
        (float(m), buffering.schedule(load, float(m), n_buffers=n_buffers).per_tile_cycles)
        for m in np.unique(grid)
    )

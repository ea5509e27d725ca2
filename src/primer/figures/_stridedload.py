"""A load with an even stride, and where its elements and sectors stand in the picture."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from primer import warps
from primer._coalescing import LINE_BYTES as LINE
from primer._coalescing import SECTOR_BYTES as SECTOR
from primer.figures._boxes import Box
from primer.figures._lanestrip import LEFT, RIGHT
from primer.warps import MemoryRequest

MEMORY_TOP, MEMORY_H, TOOTH = 150.0, 24.0, 7.0
LINE_TICK, SECTOR_TICK, TIGHT = 8.0, 4.0, 20.0


@dataclass(frozen=True, kw_only=True)
class StridedLoad:
    """A load with an even stride, and what it moves.

    Parameters
    ----------
    stride_elements, offset_bytes : int
    addresses : tuple (32,) of int [B]
    request : MemoryRequest
    """

    stride_elements: int
    offset_bytes: int
    addresses: tuple[int, ...]
    request: MemoryRequest

    @property
    def size(self) -> int:
        """Bytes of an element, int [B]."""
        return self.request.element_bytes

    @property
    def first_byte(self) -> int:
        """Where the first line begins that is touched, int [B]."""
        return self.request.lines[0] * LINE

    @property
    def n_lines_shown(self) -> int:
        """Lines from the first touched one to the last, int."""
        return self.request.lines[-1] - self.request.lines[0] + 1

    def x(self, address: float) -> float:
        """Where a byte stands in the picture."""
        share = (address - self.first_byte) / (self.n_lines_shown * LINE)
        return LEFT + share * (RIGHT - LEFT)


@cache
def compute(stride_elements: int, offset_bytes: int, element_bytes: int) -> StridedLoad:
    """One load of 32 lanes."""
    addresses = warps.strided(
        stride_elements, offset_bytes=offset_bytes, element_bytes=element_bytes
    )
    return StridedLoad(
        stride_elements=stride_elements,
        offset_bytes=offset_bytes,
        addresses=tuple(addresses.tolist()),
        request=warps.coalesce(addresses, element_bytes=element_bytes),
    )


def sectors_box(load: StridedLoad, first: int, n: int) -> Box:
    """Where some neighboring sectors stand."""
    x, end = load.x(SECTOR * first), load.x(SECTOR * (first + n))
    return (x, MEMORY_TOP - MEMORY_H, end - x, MEMORY_H)


def gaps(load: StridedLoad) -> list[Box]:
    """Runs of sectors that nobody asked for, between the first line and the last."""
    low = load.first_byte // SECTOR
    high = low + load.n_lines_shown * LINE // SECTOR
    marks = [low - 1, *load.request.sectors, high]
    return [sectors_box(load, a + 1, b - a - 1) for a, b in pairwise(marks) if b > a + 1]


def edges(load: StridedLoad) -> list[tuple[float, float, float, float]]:
    """Ticks below memory: long ones between lines, short ones between sectors, if there is room."""
    low, per_line = MEMORY_TOP - MEMORY_H, LINE // SECTOR
    has_room = load.x(load.first_byte + LINE) - LEFT > TIGHT
    ticks = []
    for i in range(per_line * load.n_lines_shown + 1):
        x = load.x(load.first_byte + SECTOR * i)
        if i % per_line == 0:
            ticks.append((x, low - LINE_TICK, x, MEMORY_TOP if has_room else low))
        elif has_room:
            ticks.append((x, low - SECTOR_TICK, x, low))
    return ticks


def element_box(load: StridedLoad, address: int) -> Box:
    """Where an element stands: higher than its sector, and never too thin to be seen."""
    x, end = load.x(address), load.x(address + load.size)
    gap = 0.5 if end - x > 2.5 else 0.0
    width = max(end - x - 2 * gap, 1.2)
    return ((x + end - width) / 2, MEMORY_TOP - MEMORY_H, width, MEMORY_H + TOOTH)


def middle(box: Box) -> float:
    """The middle of a box, from left to right."""
    return box[0] + box[2] / 2

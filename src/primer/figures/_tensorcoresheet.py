"""The grids of the Tensor Core figure: A, B and D, what is done, and what a lane holds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba

from primer.figures import _boxes, style
from primer.figures._boxes import Box
from primer.figures._cachegrid import inset
from primer.figures._tensorcoreruns import Run, TensorCoreStep, run

SIZE = (6.0, 4.72)
FONT = 10.5
LEFT, TOP = 22.0, 327.0
WIDTH, HEIGHT, LARGEST_CELL, GAP = 228.0, 306.0, 12.0, 6.0
BAND_GAP, LABEL_ROOM, SET_GAP = 3.0, 26.0, 24.0
BAND_ROOM = 90.0  # beside D, for the names of bands
FINE = 3.0  # points; smaller cells are drawn eight by eight

USED: dict[str, Any] = {"fc": to_rgba(style.MEMORY, 0.35), "ec": style.MEMORY, "lw": 1.0}
PART: dict[str, Any] = {"fc": "none", "ec": style.COMPUTE, "lw": 0.0, "hatch": "//////"}
DONE: dict[str, Any] = {"fc": to_rgba(style.COMPUTE, 0.6), "ec": "none", "lw": 0.0}
NOW: dict[str, Any] = {"fc": "none", "ec": style.CHANGED, "lw": 2.2}
HELD: dict[str, Any] = {"fc": style.INK, "ec": "none", "lw": 0.0}


@dataclass(frozen=True)
class Layout:
    """Where the matrices of one instruction stand.

    Parameters
    ----------
    cell : float [points]
    band : int
        Rows of A and D between two gaps.
    corners : tuple of (x, y)
        Upper left corner of each product: A stands below B's rows, D right of A's columns.
    m, n, k : int
    """

    cell: float
    band: int
    corners: tuple[tuple[float, float], ...]
    m: int
    n: int
    k: int

    def block(
        self, operand: str, row: int, col: int, rows: int = 1, cols: int = 1, product: int = 0
    ) -> Box:
        """A rectangle of elements that lie within one band."""
        x, y = self.corners[product]
        if operand != "a":
            x += self.k * self.cell + GAP
        if operand != "b":
            y -= self.k * self.cell + GAP + row // self.band * BAND_GAP
        down = (row + rows) * self.cell
        return (x + col * self.cell, y - down, cols * self.cell, rows * self.cell)


@cache
def layout(generation: str) -> Layout:
    """The largest cells with which the instruction of a generation fits its room."""
    found = run(generation)
    one = found.instruction
    across = 2 if one.n_products > 1 else 1
    above = LABEL_ROOM if across > 1 else 0.0
    gaps = (found.n_bands - 1) * BAND_GAP + GAP
    high = HEIGHT / across - gaps - above
    wide = (WIDTH - (across - 1) * SET_GAP) / across - GAP
    cell = min(wide / (one.k + one.n), high / (one.k + one.m), LARGEST_CELL)
    w, h = (one.k + one.n) * cell + GAP, (one.k + one.m) * cell + gaps
    taken = across * w + (across - 1) * SET_GAP + (BAND_ROOM if found.n_bands > 1 else 0)
    left = LEFT + max(WIDTH - taken, 0) / 2
    corners = tuple(
        (left + p % across * (w + SET_GAP), TOP - above - p // across * (h + above))
        for p in range(one.n_products)
    )
    return Layout(cell, one.m // found.n_bands, corners, one.m, one.n, one.k)


def _frames(place: Layout) -> list[tuple[float, float, float, float]]:
    """The lines of all grids."""
    step = 1 if place.cell >= FINE else 8
    strokes = []
    for product in range(len(place.corners)):
        for operand, columns, rows in (
            ("a", place.k, place.m), ("b", place.n, place.k), ("d", place.n, place.m),
        ):  # fmt: skip
            band = place.band if operand != "b" else rows
            for top in range(0, rows, band):
                x, y, w, h = place.block(operand, top, 0, band, columns, product)
                strokes += [(x, y + i * place.cell, x + w, y + i * place.cell)
                            for i in range(0, band + 1, step)]  # fmt: skip
                strokes += [(x + j * place.cell, y, x + j * place.cell, y + h)
                            for j in range(0, columns + 1, step)]  # fmt: skip
    return strokes


class Matrices:
    """The grids of one instruction and what happens in them."""

    def __init__(self, ax: Axes) -> None:
        self.used = _boxes.patch(ax, "used", zorder=1, **USED)
        self.part = _boxes.patch(ax, "part", zorder=1, **PART)
        self.done = _boxes.patch(ax, "done", zorder=1, **DONE)
        self.frames = _boxes.patch(ax, "frames", fc="none", ec=style.MUTED, lw=0.5, zorder=2)
        self.now = _boxes.patch(ax, "now", zorder=3, **NOW)
        self.held = _boxes.patch(ax, "held", zorder=4, **HELD)
        look: dict[str, Any] = {"fontsize": FONT, "va": "center"}
        self.letters = [
            ax.text(0, 0, letter, ha="center", fontweight="bold", gid=f"letter-{letter}", **look)
            for letter in "ABD"
        ]
        self.bands = [ax.text(0, 0, "", gid=f"band-{i}", **look) for i in range(4)]

    @property
    def moving(self) -> tuple[Any, ...]:
        """The artists that a state changes."""
        marks = (self.used, self.part, self.done, self.frames, self.now, self.held)
        return (*marks, *self.letters, *self.bands)

    def update(self, result: TensorCoreStep) -> None:
        """Show an instruction after some cycles."""
        place = layout(result.run.name)
        self.frames.set_path(_boxes.lines(_frames(place)))
        self._label(result.run, place)
        used, now = _in_use(result, place)
        self.used.set_path(_boxes.boxes(used))
        self.now.set_path(_boxes.boxes(now))
        part, done = _progress(result, place)
        self.part.set_path(_boxes.boxes(part))
        self.done.set_path(_boxes.boxes(done))
        self.held.set_path(_boxes.boxes(_held(result, place)))

    def _label(self, found: Run, place: Layout) -> None:
        """Letters beside the first product's matrices, and names beside the shares of rows."""
        ax, ay, _, ah = place.block("a", 0, 0, place.band, place.k)
        bx, by, _, bh = place.block("b", 0, 0, place.k, place.n)
        dx, dy, dw, dh = place.block("d", 0, 0, place.band, place.n)
        spots = ((ax - 9, ay + ah / 2), (bx - 9, by + bh / 2), (dx + dw + 9, dy + dh / 2))
        for letter, spot in zip(self.letters, spots, strict=True):
            letter.set_position(spot)
        for i, label in enumerate(self.bands):
            text, spot = _band(found, place, i)
            label.set_text(text)
            label.set_position(spot)


def _band(found: Run, place: Layout, i: int) -> tuple[str, tuple[float, float]]:
    """What the i-th label says, and where."""
    if found.instruction.n_products > 1:
        x, y = place.corners[i]
        return f"lanes {4 * i}–{4 * i + 3}, {4 * i + 16}–{4 * i + 19}", (x, y + 10)
    if found.n_bands == 1:
        return "", (LEFT, TOP)
    x, y, w, h = place.block("d", i * place.band, 0, place.band, place.n)
    is_held = found.instruction.d_home == "registers"
    first = i * place.band
    text = f"warp {i}" if is_held else f"rows {first}–{first + place.band - 1}"
    return text, (x + w + 22, y + h / 2)


def _in_use(result: TensorCoreStep, place: Layout) -> tuple[list[Box], list[Box]]:
    """Blocks of A and B that this cycle reads, and of D that it adds to."""
    if not result.step:
        return [], []
    rows, columns, deep = result.run.schedule.block
    used, now = set(), []
    for product, i, j, k in result.run.schedule.start[result.step - 1].tolist():
        used.add(place.block("a", i, k, rows, deep, product))
        used.add(place.block("b", k, j, deep, columns, product))
        now.append(place.block("d", i, j, rows, columns, product))
    return sorted(used), now


def _progress(result: TensorCoreStep, place: Layout) -> tuple[list[Box], list[Box]]:
    """Blocks of D with a part of their sum, and those with all of it."""
    rows, columns, _ = result.run.schedule.block
    depth = result.depth[:, ::rows, ::columns]
    full = result.run.instruction.k

    def chosen(mask: Any) -> list[Box]:
        return [
            place.block("d", int(i) * rows, int(j) * columns, rows, columns, int(p))
            for p, i, j in np.argwhere(mask)
        ]

    return chosen((depth > 0) & (depth < full)), chosen(depth == full)


def _held(result: TensorCoreStep, place: Layout) -> Iterable[Box]:
    """A mark in each cell that the lane holds."""
    by = place.cell * 0.24 if place.cell > 2 * FINE else 0.0
    for operand in "abd":
        for row, col in result.held(operand):
            yield inset(place.block(operand, row, col, product=result.product), by)

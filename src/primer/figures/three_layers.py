"""Three layers, one GEMM: a linear layer, a convolution and attention, each as A · B = C.

A drawing without controls. All matrices are drawn at one scale, one cell for each number; one row,
one column and the entry where they meet are framed in each, and so is what they come from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.patches import Rectangle

from primer.figures import _boxes, style
from primer.figures._boxes import Box
from primer.figures._gemm import canvas, shape
from primer.figures._picture import Picture
from primer.workloads import Attention, Conv2d, Gemm, Linear

SIZE = (6.0, 6.95)
CELL = 9.6
LEFT = 8.0
CENTERS = (212.0, 299.0, 384.0)  # of A, B and C
MIDDLES = (425.0, 297.0, 171.0, 75.0)  # heights of the four products
SKETCH: dict[str, Any] = {"fc": to_rgba(style.MEMORY, 0.3), "ec": style.MEMORY, "lw": 0.9}
ROW, COLUMN = 1, 2  # the entry that is framed

LINEAR = Linear(2, 3, 4, 6)
CONVOLUTION = Conv2d(5, 5, 1, 3, kernel=3)
ATTENTION = Attention(6, 4)


@dataclass(frozen=True)
class Line:
    """One product of the drawing, and what its three matrices are called."""

    gemm: Gemm
    names: tuple[str, str, str]
    middle: float


def products() -> tuple[Line, ...]:
    """The four products, from the layers themselves.

    >>> [(line.gemm.m, line.gemm.k, line.gemm.n) for line in products()]
    [(6, 4, 6), (9, 9, 3), (6, 4, 6), (6, 6, 4)]
    """
    names = (
        ("tokens", "weights", "outputs"),
        ("patches", "filters", "outputs"),
        ("queries", "keysᵀ", "scores"),
        ("softmax", "values", "outputs"),
    )
    gemms = (*LINEAR.gemms(), *CONVOLUTION.gemms(), *ATTENTION.gemms())
    return tuple(Line(*each) for each in zip(gemms, names, MIDDLES, strict=True))


class ThreeLayersFigure(Picture):
    """Sketches on the left, products on the right.

    Parameters
    ----------
    ax : Axes
        Becomes a sheet measured in points.
    """

    def __init__(self, ax: Axes) -> None:
        self.ax = ax
        self.alt = describe()
        canvas(ax, SIZE)
        for x, sides in zip(CENTERS, ("m × k", "k × n", "m × n"), strict=True):
            ax.text(x, 485, sides, ha="center", va="center", fontweight="bold")
        for line in products():
            self._product(line)
        self._titles()
        self._linear(MIDDLES[0])
        self._convolution(MIDDLES[1])
        self._attention(MIDDLES[2])
        for y in (363.0, 216.0):
            ax.plot([LEFT, 72 * SIZE[0] - LEFT], [y, y], color=style.GRID, lw=1)

    def _product(self, line: Line) -> None:
        """Three matrices with the signs between them and their names below."""
        gemm = line.gemm
        sides = ((gemm.m, gemm.k), (gemm.k, gemm.n), (gemm.m, gemm.n))
        framed = ((ROW, None), (None, COLUMN), (ROW, COLUMN))
        faces = (to_rgba(style.MEMORY, 0.3), style.MEMORY, style.COMPUTE)
        for x, (rows, columns), frame, face, name in zip(
            CENTERS, sides, framed, faces, line.names, strict=True
        ):
            self._matrix(x, line.middle, rows, columns, face)
            self._frame(x, line.middle, rows, columns, frame)
            low = line.middle - max(gemm.m, gemm.k) * CELL / 2
            self.ax.text(
                x, low - 27, f"{name}\n{shape(rows, columns)}", ha="center", va="baseline",
                linespacing=1.2, fontsize=10.5,
            )  # fmt: skip
        for (left, right), sign, ends in zip(
            ((0, 1), (1, 2)), "·=", ((gemm.k, gemm.n), (gemm.n, gemm.n)), strict=True
        ):
            a, b = CENTERS[left] + ends[0] * CELL / 2, CENTERS[right] - ends[1] * CELL / 2
            self.ax.text((a + b) / 2, line.middle, sign, ha="center", va="center", fontsize=16)

    def _matrix(self, x: float, y: float, rows: int, columns: int, face: Any) -> None:
        path = _boxes.boxes(cells(x, y, rows, columns))
        _boxes.patch(self.ax, "", path, fc=face, ec=style.SURFACE, lw=0.9)
        low = (x - columns * CELL / 2, y - rows * CELL / 2)
        edge = style.COMPUTE if face == style.COMPUTE else style.MEMORY
        outline = Rectangle(low, columns * CELL, rows * CELL, fc="none", ec=edge, lw=1.0)
        self.ax.add_patch(outline)

    def _frame(
        self, x: float, y: float, rows: int, columns: int, at: tuple[int | None, int | None]
    ) -> None:
        """A frame around a row, a column or an entry."""
        i, j = at
        left, top = x - columns * CELL / 2, y + rows * CELL / 2
        x0 = left if j is None else left + j * CELL
        y0 = top - rows * CELL if i is None else top - (i + 1) * CELL
        w, h = columns * CELL if j is None else CELL, rows * CELL if i is None else CELL
        self._framed(x0, y0, w, h)

    def _framed(self, x: float, y: float, w: float, h: float) -> None:
        self.ax.add_patch(Rectangle((x, y), w, h, fc="none", ec=style.INK, lw=2.2, zorder=5))

    def _titles(self) -> None:
        texts = (
            ("Linear layer", "2 sequences of 3 tokens,\n4 numbers each"),
            ("Convolution", "3 × 3 windows\non 5 × 5 pixels"),
            ("Attention, one head", "each of 6 tokens\nasks all 6"),
        )
        tops, lows = (469.0, 347.0, 200.0), (406.0, 275.0, 120.0)
        for (title, below), top, low in zip(texts, tops, lows, strict=True):
            self.ax.text(LEFT, top, title, fontweight="bold", va="center", fontsize=12)
            self.ax.text(
                LEFT, low, below, va="top", color=style.MUTED, linespacing=1.25, fontsize=10.5
            )  # fmt: skip

    def _linear(self, y: float) -> None:
        """Two sequences of three tokens, apart from each other."""
        for i, x in enumerate((LEFT + 24, LEFT + 86)):
            path = _boxes.boxes(cells(x, y + 8, 3, 4))
            _boxes.patch(self.ax, "", path, **SKETCH)
            if not i:
                self._framed(x - 2 * CELL, y + 8 - CELL / 2, 4 * CELL, CELL)

    def _convolution(self, y: float) -> None:
        """An image, with the window of the framed row."""
        x = LEFT + 2.5 * CELL
        path = _boxes.boxes(cells(x, y + 10, 5, 5))
        _boxes.patch(self.ax, "", path, **SKETCH)
        i, j = divmod(ROW, CONVOLUTION.out_width)
        left, top = x - 2.5 * CELL, y + 10 + 2.5 * CELL
        self._framed(left + j * CELL, top - (i + 3) * CELL, 3 * CELL, 3 * CELL)

    def _attention(self, y: float) -> None:
        """Queries on the left, keys on the right, a line for every pair."""
        left, right = LEFT + 14, LEFT + 96
        heights = [y - 14 + (2.5 - i) * 11 for i in range(ATTENTION.seq_len)]
        every = [(left, a, right, b) for a in heights for b in heights]
        one = [(left, heights[ROW], right, b) for b in heights]
        _boxes.patch(self.ax, "", _boxes.lines(every), fc="none", ec=style.GRID, lw=0.9)
        _boxes.patch(self.ax, "", _boxes.lines(one), fc="none", ec=style.INK, lw=1.3)
        for x in (left, right):
            self.ax.plot([x] * len(heights), heights, "o", ms=6, color=style.MEMORY, ls="none")
        self.ax.plot([left], [heights[ROW]], "o", ms=7.5, color=style.INK)


def cells(x: float, y: float, rows: int, columns: int) -> Sequence[Box]:
    """The cells of a matrix around a middle."""
    left, top = x - columns * CELL / 2, y + rows * CELL / 2
    return [
        (left + j * CELL, top - (i + 1) * CELL, CELL, CELL)
        for i in range(rows)
        for j in range(columns)
    ]


def describe() -> str:
    """What the picture shows, in words."""
    linear, convolution, scores, values = (
        f"{shape(line.gemm.m, line.gemm.k)} times {shape(line.gemm.k, line.gemm.n)}"
        for line in products()
    )
    return (
        "Three layers, each as one picture: a matrix of m by k times a matrix of k by n. "
        f"A linear layer: tokens times weights, {linear}. A convolution: patches of the image "
        f"times filters, {convolution}. Attention: queries times keys, {scores}, and after the "
        f"softmax, scores times values, {values}. One row, one column and one entry are framed."
    )


def draw_three_layers(*, ax: Axes | None = None) -> ThreeLayersFigure:
    """Draw the three layers.

    Parameters
    ----------
    ax : Axes, optional
        Where to draw; by default on a figure of its own.
    """
    with style.context():
        return ThreeLayersFigure(style.axes(SIZE, box=(0, 0, 1, 1)) if ax is None else ax)

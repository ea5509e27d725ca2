"""A · B = C to scale: the one picture that every layer of chapter 2 becomes.

The axes are measured in points, so that one scale holds along both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from primer.figures import style

LINE = 15.0  # points from one line of a caption to the next
THIN = 1.4  # points; what would be thinner is drawn so


def canvas(ax: Axes, size: tuple[float, float]) -> None:
    """Turn axes that fill a page of `size` inches into an empty sheet measured in points."""
    ax.set_xlim(0, 72 * size[0])
    ax.set_ylim(0, 72 * size[1])
    ax.set_axis_off()


class Product:
    """Three rectangles with "·" and "=" between them, each with lines of text below.

    Parameters
    ----------
    ax : Axes
        See `canvas`.
    name : str
        Distinguishes the artists from those of another product.
    centers : sequence of float
        Where A, B and C stand, from left to right.
    top, height, width : float
        Upper edge of the tallest rectangle, and the room for each of the three.
    n_lines : int
        Lines of text below each.
    """

    def __init__(
        self,
        ax: Axes,
        name: str,
        *,
        centers: Sequence[float],
        top: float,
        height: float,
        width: float,
        n_lines: int,
    ) -> None:
        self.centers, self.top, self.height, self.width = tuple(centers), top, height, width
        self.boxes: list[Rectangle] = []
        self.captions: list[list[Text]] = []
        faces = (_look(style.MEMORY, 0.3), _look(style.MEMORY, 1.0), _look(style.COMPUTE, 0.85))
        for x, letter, look in zip(centers, "abc", faces, strict=True):
            box = Rectangle((x, top), 0, 0, gid=f"{name}-{letter}", lw=1.2, **look)
            ax.add_patch(box)
            self.boxes.append(box)
            self.captions.append(
                column(ax, f"{name}-{letter}", x, top - height - LINE, n_lines, ha="center")
            )
        for left, right, sign in zip(centers, centers[1:], "·=", strict=False):
            ax.text(
                (left + right) / 2, top - height / 2, sign, ha="center", va="center",
                fontsize=17, color=style.INK,
            )  # fmt: skip

    @property
    def moving(self) -> tuple[Any, ...]:
        """The artists that a state changes."""
        return (*self.boxes, *(line for lines in self.captions for line in lines))

    def scale(self, m: int, n: int, k: int) -> float:
        """Points per number at which the product fills its room, float."""
        return min(self.width / max(k, n), self.height / max(m, k))

    def update(
        self, m: int, n: int, k: int, captions: Sequence[str], scale: float | None = None
    ) -> None:
        """Draw one shape, at a scale of its own unless one is given."""
        unit = self.scale(m, n, k) if scale is None else scale
        middle = self.top - self.height / 2
        shapes = ((m, k), (k, n), (m, n))
        for box, x, (rows, columns) in zip(self.boxes, self.centers, shapes, strict=True):
            w, h = max(columns * unit, THIN), max(rows * unit, THIN)
            box.set(x=x - w / 2, y=middle - h / 2, width=w, height=h)
        for lines, text in zip(self.captions, captions, strict=True):
            write(lines, text)


def column(ax: Axes, name: str, x: float, y: float, n_lines: int, **look: Any) -> list[Text]:
    """Empty lines of text below each other, each an artist of its own: `name-0`, `name-1` …"""
    return [
        ax.text(x, y - i * LINE, "", va="baseline", gid=f"{name}-{i}", **look)
        for i in range(n_lines)
    ]


def write(lines: Sequence[Text], text: str) -> None:
    """Fill a column of lines; what is left of it stays empty."""
    words = text.split("\n")
    for i, line in enumerate(lines):
        line.set_text(words[i] if i < len(words) else "")


def _look(color: str, alpha: float) -> dict[str, Any]:
    return {"fc": to_rgba(color, alpha), "ec": color}


def shape(rows: int, columns: int) -> str:
    """A matrix's sides, for reading.

    >>> shape(1024, 768)
    '1,024 × 768'
    """
    return f"{rows:,} × {columns:,}"

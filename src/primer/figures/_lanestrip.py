"""The 32 lanes of a warp, drawn alike in every figure: a row of boxes at the same places.

Axes are sheets measured in points (see `_gemm.canvas`), all of one width.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from matplotlib.axes import Axes
from matplotlib.colors import to_rgba

from primer._lanes import N_LANES
from primer.figures import _boxes, style
from primer.figures._boxes import Box

WIDTH = 5.5  # inches
LEFT, PITCH = 78.0, 9.75  # points; the room on the left is for words
RIGHT = LEFT + N_LANES * PITCH
BOX, HEIGHT = 8.15, 9.0
FONT = 10.5
NUMBERED = (0, 8, 16, 24, 31)

AT_WORK: dict[str, Any] = {"fc": style.COMPUTE, "ec": style.COMPUTE, "lw": 0.8}
WAITS: dict[str, Any] = {"fc": to_rgba(style.IDLE, 0.12), "ec": style.IDLE, "lw": 0.8}
IDLES: dict[str, Any] = {"fc": to_rgba(style.IDLE, 0.2), "ec": "none", "lw": 0}


def center(column: float) -> float:
    """Where a lane, or what stands below it, has its middle."""
    return LEFT + (column + 0.5) * PITCH


def words(ax: Axes, y: float, text: str, **look: Any) -> Any:
    """A label in the room on the left, at the height of what it names."""
    return ax.text(
        LEFT - 9, y, text, ha="right", va="center", fontsize=FONT, **look
    )  # fmt: skip


class LaneStrip:
    """The lanes in a row, those at work filled, the others hollow.

    Parameters
    ----------
    ax : Axes
    top : float
        Upper edge of the boxes; numbers stand above.
    """

    def __init__(self, ax: Axes, top: float) -> None:
        self.bottom = top - HEIGHT
        words(ax, top - HEIGHT / 2, "lanes")
        for lane in NUMBERED:
            ax.text(center(lane), top + 4, str(lane), ha="center", fontsize=FONT)
        self.working = _boxes.patch(ax, "lanes-at-work", zorder=3, **AT_WORK)
        self.waiting = _boxes.patch(ax, "lanes-that-wait", zorder=3, **WAITS)

    @property
    def moving(self) -> tuple[Any, ...]:
        """The artists that a state changes."""
        return (self.working, self.waiting)

    def update(self, at_work: Collection[int]) -> None:
        """Fill some of the lanes."""
        others = [lane for lane in range(N_LANES) if lane not in at_work]
        self.working.set_path(_boxes.boxes(self._boxes(at_work)))
        self.waiting.set_path(_boxes.boxes(self._boxes(others)))

    def _boxes(self, lanes: Iterable[int]) -> list[Box]:
        return [(center(lane) - BOX / 2, self.bottom, BOX, HEIGHT) for lane in lanes]


def legend(
    ax: Axes, owner: str, y: float, entries: Iterable[tuple[float, str, dict[str, Any]]]
) -> None:
    """Boxes with words in a row: each entry has its place, its words, and the look of its box.

    `owner` keeps ids apart from those of other pictures on a page.
    """
    for i, (x, text, look) in enumerate(entries):
        _boxes.patch(ax, f"{owner}-key-{i}", _boxes.boxes([(x, y - 5, 12, 10)]), **look)
        ax.text(x + 17, y, text, va="center", fontsize=FONT)

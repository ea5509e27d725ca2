"""Many rectangles as one artist: what a grid of cells costs on a page."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import PathPatch
from matplotlib.path import Path

Box = tuple[float, float, float, float]
NOWHERE: Box = (-9.0, -9.0, 0.0, 0.0)


def boxes(places: Iterable[Box]) -> Path:
    """Rectangles (x, y, width, height) as one path; without any, a point outside the picture."""
    corners: list[tuple[float, float]] = []
    codes: list[int] = []
    for x, y, w, h in list(places) or [NOWHERE]:
        corners += [(x, y), (x + w, y), (x + w, y + h), (x, y + h), (x, y)]
        codes += [int(Path.MOVETO), *[int(Path.LINETO)] * 3, int(Path.CLOSEPOLY)]
    return Path(corners, codes)


def lines(ends: Iterable[tuple[float, float, float, float]]) -> Path:
    """Straight lines (x0, y0, x1, y1) as one path."""
    points: list[tuple[float, float]] = []
    for x0, y0, x1, y1 in list(ends) or [(*NOWHERE[:2], *NOWHERE[:2])]:
        points += [(x0, y0), (x1, y1)]
    return Path(points, [int(Path.MOVETO), int(Path.LINETO)] * (len(points) // 2))


def patch(ax: Axes, gid: str, path: Path | None = None, **look: Any) -> PathPatch:
    """A path on the axes, empty until it is given one."""
    made = PathPatch(boxes(()) if path is None else path, gid=gid, **look)
    ax.add_patch(made)
    return made

"""Where things stand on the sheet of the systolic figure, measured in points."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from primer.figures import _boxes
from primer.figures._boxes import Box
from primer.figures._systolicsteps import Setup

SIZE = (5.6, 6.0)
WIDTH, HEIGHT = 72 * SIZE[0], 72 * SIZE[1]
LEFT, TOP, SIDE = 92.0, 352.0, 216.0  # upper left corner of the array, and its side
N_WAITING = 4  # words that are shown before they enter
ACROSS, ALONG = 20.0, 16.0  # from one of them to the next, at the left and at the upper edge
LEGEND_X = LEFT + SIDE + 11.0
STRIP_LOW, STRIP_HIGH = 64.0, 98.0  # cycle by cycle
BAR_LOW, BAR_HIGH = 25.0, 39.0  # all cycles together
BAR_LEFT, BAR_RIGHT = 14.0, WIDTH - 14.0
FONT = 10.0
GROUP = 4  # cells along a side that are drawn as one where there are many


def cell(setup: Setup, i: int, j: int) -> Box:
    """Where a cell stands."""
    side = SIDE / setup.product.side
    return (LEFT + j * side, TOP - (i + 1) * side, side, side)


def middle(setup: Setup, i: int, j: int, height: float) -> tuple[float, float]:
    """Middle of a cell, at a height of 0 to 1."""
    x, y, w, h = cell(setup, i, j)
    return x + w / 2, y + height * h


def grid(setup: Setup) -> Path:
    """The lines between the cells, or only the outline of a large array."""
    n = 1 if setup.is_large else setup.product.side
    ends = []
    for i in range(n + 1):
        at = i * SIDE / n
        ends += [(LEFT, TOP - at, LEFT + SIDE, TOP - at), (LEFT + at, TOP, LEFT + at, TOP - SIDE)]
    return _boxes.lines(ends)


def mark(patch: PathPatch, setup: Setup, flags: Any) -> None:
    """Draw marked cells: each by itself, or merged along the rows where there are many."""
    patch.set_visible(bool(flags.any()))
    if not patch.get_visible():
        return
    if not setup.is_large:
        patch.set_path(_boxes.boxes(cell(setup, i, j) for i, j in np.argwhere(flags)))
        return
    side = SIDE / setup.product.side * GROUP
    patch.set_path(
        _boxes.boxes(
            (LEFT + first * side, TOP - (i + 1) * side, length * side, side)
            for i, first, length in runs(flags[::GROUP, ::GROUP])
        )
    )


def runs(flags: Any) -> Iterator[tuple[int, int, int]]:
    """Row, first column and length of each stretch of neighbors that are marked.

    >>> list(runs(np.array([[True, True, False], [False, False, True]])))
    [(0, 0, 2), (1, 2, 1)]
    """
    for i, row in enumerate(flags):
        edges = np.flatnonzero(np.diff(np.concatenate(([0], row.astype(int), [0]))))
        for first, end in edges.reshape(-1, 2):
            yield i, int(first), int(end - first)

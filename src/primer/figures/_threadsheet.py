"""The sheet of the thread figure: a grid, one block of it, and the warps of that block."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.colors import to_rgba

from primer.figures import _boxes, style
from primer.figures._boxes import Box
from primer.threads import Place

SIZE = (5.5, 5.35)
FONT = 10.5
LEFT, RIGHT = 14.0, 382.0
HEAD = 369.0
GRID_TOP, GRID_CELL, N_BLOCKS, MARKED = 350.0, 8.5, 8, (7, 1)  # column and row
BLOCK_X, BLOCK_WIDTH, BLOCK_HEIGHT, MOST_CELL = 112.0, 270.0, 132.0, 20.0
WORDS_Y = 198.0
LANES, LANE, WARPS_X, WARPS_TOP, WARPS_HEIGHT, MOST_ROW = 32, 9.0, 72.0, 130.0, 112.0, 16.0
GAP = 4.0  # points; thinner threads are drawn without borders
TINTS = (to_rgba(style.COMPUTE, 0.2), to_rgba(style.COMPUTE, 0.42))
EMPTY: dict[str, Any] = {"fc": style.SURFACE, "ec": style.IDLE, "lw": 0.7, "hatch": "////"}
HERE: dict[str, Any] = {"fc": style.SURFACE, "ec": style.CHANGED, "lw": 2.2, "zorder": 6}
_WORDS: dict[str, Any] = {"va": "center", "fontsize": FONT}


def segments(place: Place, i_warp: int) -> list[tuple[int, int, int]]:
    """The pieces of rows that a warp covers, as (row, first column, columns).

    >>> from primer import threads
    >>> segments(threads.place(10, 10), 1)
    [(3, 2, 8), (4, 0, 10), (5, 0, 10), (6, 0, 4)]
    """
    width = place.block_shape[0]
    at, end = i_warp * LANES, min((i_warp + 1) * LANES, place.n_threads)
    found = []
    while at < end:
        row, column = divmod(at, width)
        n = min(width - column, end - at)
        found.append((row, column, n))
        at += n
    return found


class Painted:
    """Warps in two tints by turns, and the chosen one dark."""

    def __init__(self, ax: Axes, name: str) -> None:
        self.tints = [
            _boxes.patch(ax, f"{name}-tint-{i}", fc=tint, ec="none", lw=0, zorder=2)
            for i, tint in enumerate(TINTS)
        ]
        self.chosen = _boxes.patch(ax, f"{name}-warp", fc=style.COMPUTE, ec="none", lw=0, zorder=3)
        self.here = _boxes.patch(ax, f"{name}-here", **HERE)

    @property
    def moving(self) -> tuple[Any, ...]:
        """The artists that a state changes."""
        return (*self.tints, self.chosen, self.here)

    def update(self, warps: list[list[Box]], i_warp: int, here: Box) -> None:
        """Paint the places of every warp."""
        for turn, patch in enumerate(self.tints):
            patch.set_path(_boxes.boxes(box for boxes in warps[turn::2] for box in boxes))
        self.chosen.set_path(_boxes.boxes(warps[i_warp]))
        self.here.set_path(_boxes.boxes([here]))


class Block:
    """The threads of one block as a picture of rows and columns, beside the grid it belongs to."""

    def __init__(self, ax: Axes) -> None:
        self._grid(ax)
        self.painted = Painted(ax, "block")
        self.lines = _boxes.patch(ax, "threads", fc="none", ec=style.SURFACE, lw=0.9, zorder=4)
        self.frame = _boxes.patch(ax, "block-frame", fc="none", ec=style.INK, lw=1.4, zorder=5)
        self.title = ax.text(BLOCK_X, HEAD, "", gid="block-title", **_WORDS)
        _boxes.patch(ax, "key-here", _boxes.boxes([(BLOCK_X, WORDS_Y - 5.5, 11, 11)]), **HERE)
        self.words = [
            ax.text(BLOCK_X + 19, WORDS_Y - 17 * i, "", gid=f"thread-words-{i}", **_WORDS)
            for i in range(2)
        ]

    def _grid(self, ax: Axes) -> None:
        """A small grid, and lines from one of its blocks to the large picture."""
        side = GRID_CELL * N_BLOCKS
        ax.text(LEFT, HEAD, "the grid", **_WORDS)
        places = [
            (LEFT + i * GRID_CELL, GRID_TOP - (j + 1) * GRID_CELL, GRID_CELL, GRID_CELL)
            for i in range(N_BLOCKS)
            for j in range(N_BLOCKS)
        ]
        _boxes.patch(ax, "grid", _boxes.boxes(places), fc="none", ec=style.MUTED, lw=0.8)
        x = LEFT + MARKED[0] * GRID_CELL
        y = GRID_TOP - (MARKED[1] + 1) * GRID_CELL
        one = _boxes.boxes([(x, y, GRID_CELL, GRID_CELL)])
        _boxes.patch(ax, "marked", one, fc=style.COMPUTE, ec=style.INK, lw=1.2, zorder=3)
        self.corner = (x + GRID_CELL, y)
        self.zoom = _boxes.patch(ax, "zoom", fc="none", ec=style.MUTED, lw=0.8)
        for i, text in enumerate(("64 blocks,", "in any order")):
            ax.text(LEFT, GRID_TOP - side - 13 - 15 * i, text, **_WORDS)

    @property
    def moving(self) -> tuple[Any, ...]:
        """The artists that a state changes."""
        drawn = (self.zoom, self.lines, self.frame)
        return (*self.painted.moving, *drawn, self.title, *self.words)

    def update(self, place: Place) -> None:
        """Draw one block."""
        columns, rows, _ = place.block_shape
        side = min(BLOCK_WIDTH / columns, BLOCK_HEIGHT / rows, MOST_CELL)

        def box(row: int, column: int, n: int) -> Box:
            return (BLOCK_X + column * side, GRID_TOP - (row + 1) * side, n * side, side)

        warps = [[box(*s) for s in segments(place, i)] for i in range(place.n_warps)]
        self.painted.update(warps, place.i_warp, box(place.thread[1], place.thread[0], 1))
        right, bottom = BLOCK_X + columns * side, GRID_TOP - rows * side
        self.frame.set_path(_boxes.boxes([(BLOCK_X, bottom, columns * side, rows * side)]))
        x, y = self.corner
        top_line = (x, y + GRID_CELL, BLOCK_X - 3, GRID_TOP)
        self.zoom.set_path(_boxes.lines([top_line, (x, y, BLOCK_X - 3, bottom)]))
        xs = [BLOCK_X + i * side for i in range(1, columns)] if side >= GAP else []
        ys = [GRID_TOP - i * side for i in range(1, rows)] if side >= GAP else []
        across = [(BLOCK_X, y, right, y) for y in ys]
        self.lines.set_path(_boxes.lines([*((x, GRID_TOP, x, bottom) for x in xs), *across]))
        self.title.set_text(f"one block: {columns} × {rows} = {place.n_threads:,} threads")
        for line, text in zip(self.words, equations(place), strict=True):
            line.set_text(text)


def equations(place: Place) -> tuple[str, str]:
    """How the number of a thread comes about, and what it is divided into.

    >>> from primer import threads
    >>> equations(threads.place(10, 10, thread=(2, 3)))
    ('x = 2, y = 3: thread 2 + 3 · 10 = 32', '32 = 1 · 32 + 0: warp 1, lane 0')
    """
    x, y, _ = place.thread
    i, warp, lane = place.i_thread, place.i_warp, place.i_lane
    return (
        f"x = {x}, y = {y}: thread {x} + {y} · {place.block_shape[0]} = {i}",
        f"{i} = {warp} · {LANES} + {lane}: warp {warp}, lane {lane}",
    )


class Warps:
    """One row of 32 lanes for each warp of the block."""

    def __init__(self, ax: Axes) -> None:
        self.painted = Painted(ax, "lanes")
        self.empty = _boxes.patch(ax, "empty-lanes", zorder=2, **EMPTY)
        self.lines = _boxes.patch(ax, "lane-borders", fc="none", ec=style.SURFACE, lw=0.8, zorder=4)
        self.title = ax.text(LEFT, WARPS_TOP + 27, "", gid="warps-title", **_WORDS)
        self.last = ax.text(WARPS_X - 7, 0, "", ha="right", gid="last-warp", **_WORDS)
        self.first = ax.text(WARPS_X - 7, 0, "warp 0", ha="right", gid="first-warp", **_WORDS)
        ax.text(WARPS_X - 7, WARPS_TOP + 9, "lane", ha="right", **_WORDS)
        for lane in (0, 8, 16, 24, 31):
            x = WARPS_X + (lane + 0.5) * LANE
            ax.text(x, WARPS_TOP + 9, str(lane), ha="center", **_WORDS)

    @property
    def moving(self) -> tuple[Any, ...]:
        """The artists that a state changes."""
        shown = (self.empty, self.lines, self.title, self.first, self.last)
        return (*self.painted.moving, *shown)

    def update(self, place: Place) -> None:
        """Draw the warps of one block."""
        n = place.n_warps
        high = min(MOST_ROW, WARPS_HEIGHT / n)

        def box(i: int, lane: int, lanes: int) -> Box:
            y = WARPS_TOP - (i + 1) * high
            return (WARPS_X + lane * LANE, y, lanes * LANE, high)

        used = [LANES] * (n - 1) + [LANES - place.n_idle_lanes]
        warps = [[box(i, 0, lanes)] for i, lanes in enumerate(used)]
        self.painted.update(warps, place.i_warp, box(place.i_warp, place.i_lane, 1))
        self.empty.set_path(
            _boxes.boxes([box(n - 1, used[-1], place.n_idle_lanes)] if place.n_idle_lanes else [])
        )
        bottom, right = WARPS_TOP - n * high, WARPS_X + LANES * LANE
        xs = [WARPS_X + i * LANE for i in range(1, LANES)]
        ys = [WARPS_TOP - i * high for i in range(1, n)]
        across = [(WARPS_X, y, right, y) for y in ys]
        self.lines.set_path(_boxes.lines([*((x, WARPS_TOP, x, bottom) for x in xs), *across]))
        self.first.set_y(WARPS_TOP - max(high / 2, 6))
        self.last.set_y(bottom + max(high / 2, 6))
        self.last.set_text(f"warp {n - 1}" if n > 1 else "")
        warp = "1 warp" if n == 1 else f"{n} warps"
        idle = f"{place.n_idle_lanes} lanes empty" if place.n_idle_lanes else "no lane empty"
        self.title.set_text(f"its warps: {warp} of 32 lanes, {idle}")

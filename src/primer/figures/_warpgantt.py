"""Warps below each other over time, and under them the issue slots that they fill.

All warps that get a turn repeat one pattern. A row is therefore one long line with dashes, and one
path with a dash pattern draws the rows of all warps.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch, Rectangle
from matplotlib.path import Path

from primer.figures import _boxes, _labels, style
from primer.figures._warpturns import LATENCIES, LOAD, MATH, READY, ROOM, WAIT, Cycles, Turns

FONT = 10.5
LEFT, RIGHT = 48.0, 384.0
TOP, PITCH, THICK = 400.0, 10.8, 9.0
SLOTS_Y = 221.0
TICKS_Y = 202.0
# Points for a cycle, in tenths, so that all places are exact; and cycles between two ticks.
SCALES = dict(zip(LATENCIES, ((4.8, 20), (2.0, 50), (0.7, 100), (0.4, 200)), strict=True))
CUT = 4.0  # points for a cycle from which on cycles are cut apart

LOOKS: dict[str, tuple[int, dict[str, Any]]] = {
    "ready": (READY, {"color": style.GRID, "lw": THICK, "zorder": 4}),
    "wait": (WAIT, {"color": style.MEMORY, "lw": 1.3, "zorder": 4}),
    "load": (LOAD, {"color": style.MEMORY, "lw": THICK}),
    "math": (MATH, {"color": style.COMPUTE, "lw": THICK}),
}


def row_y(warp: float) -> float:
    """The middle of a warp's row."""
    return TOP - warp * PITCH


def _strokes(ax: Axes, gid: str, *, color: Any, lw: float, zorder: float = 3) -> PathPatch:
    """Dashed lines, as thick as a row.

    They are filled, though there is nothing to fill: otherwise they would be cut to the page when
    they are written, and their dashes would begin elsewhere.
    """
    return _boxes.patch(ax, gid, fc=color, ec=color, lw=lw, capstyle="butt", zorder=zorder)


class Gantt:
    """Rows of warps, issue slots, and an axis of cycles."""

    def __init__(self, ax: Axes) -> None:
        _boxes.patch(
            ax, "places", _boxes.lines((LEFT, row_y(w), RIGHT, row_y(w)) for w in range(ROOM)),
            fc="none", ec=style.GRID, lw=0.8, zorder=0,
        )  # fmt: skip
        frame = Rectangle((LEFT, 0), RIGHT - LEFT, TOP + THICK, visible=False)
        ax.add_patch(frame)
        self.rows = {name: _strokes(ax, name, **look) for name, (_, look) in LOOKS.items()}
        for stroke in self.rows.values():
            stroke.set_clip_path(frame)
        self.late = _strokes(ax, "late", **LOOKS["ready"][1])
        self.room = ax.text(
            (LEFT + RIGHT) / 2, TOP, "", ha="center", va="center", fontsize=FONT,
            color=style.MUTED, gid="room", zorder=2,
        )  # fmt: skip
        _labels.on_ground(self.room, "warp-scheduler")
        self._still(ax)
        self.cuts = _boxes.patch(ax, "cuts", fc="none", ec=style.SURFACE, lw=0.8, zorder=3.5)
        self.ticks = _boxes.patch(ax, "ticks", fc="none", ec=style.MUTED, lw=0.8)
        self.numbers = [
            ax.text(LEFT, TICKS_Y, "", ha="center", va="center", fontsize=FONT, gid=f"cycle-{i}")
            for i in range(5)
        ]

    def _still(self, ax: Axes) -> None:
        for w in range(ROOM):
            text = f"warp {w + 1}" if w in (0, ROOM - 1) else str(w + 1)
            ax.text(LEFT - 6, row_y(w), text, ha="right", va="center", fontsize=9.5)
        empty = _boxes.boxes([(LEFT, SLOTS_Y - THICK / 2, RIGHT - LEFT, THICK)])
        _boxes.patch(ax, "slots-empty", empty, fc="none", ec=style.IDLE, lw=0.5, hatch="////")
        for y, text in ((SLOTS_Y, "slots"), (TICKS_Y, "cycle")):
            ax.text(LEFT - 6, y, text, ha="right", va="center", fontsize=FONT)
        _legend(ax)

    @property
    def moving(self) -> tuple[Any, ...]:
        """The artists that a state changes."""
        return (*self.rows.values(), self.late, self.cuts, self.room, self.ticks, *self.numbers)

    def update(self, result: Turns) -> None:
        """Show some warps."""
        scale, every = SCALES[result.program.latency_cycles]
        self._update_rows(result, scale)
        late = range(len(result.offsets), result.n_warps)
        self.late.set_visible(len(late) > 0)
        self.late.set_path(_boxes.lines((LEFT, row_y(w), RIGHT, row_y(w)) for w in late))
        free = ROOM - result.n_warps
        self.room.set_visible(free > 2)
        self.room.set_text(f"room for {free} more warps")
        self.room.set_y(row_y((result.n_warps + ROOM - 1) / 2))
        self._update_time(scale, every)
        self.cuts.set_visible(scale >= CUT)
        self.cuts.set_path(_cuts(scale, result.n_warps))

    def _update_rows(self, result: Turns, scale: float) -> None:
        """What issues is drawn twice, in its row and in the slot that it takes."""
        start = 100 * -(-max(offset for _, offset in result.offsets) // 100)
        begins = [(row_y(warp), LEFT + (o - start) * scale) for warp, o in result.offsets]
        rows = [(x, y, RIGHT, y) for y, x in begins]
        slots = [(x, SLOTS_Y, RIGHT, SLOTS_Y) for _, x in begins]
        paths = {False: _boxes.lines(rows), True: _boxes.lines(rows + slots)}
        for name, (code, _) in LOOKS.items():
            stroke, issues = self.rows[name], code in (LOAD, MATH)
            stroke.set_path(paths[issues])
            _dash(stroke, result.does == code, scale, start)

    def _update_time(self, scale: float, every: int) -> None:
        n = int((RIGHT - LEFT) / scale / every)
        places = [LEFT + i * every * scale for i in range(n + 1)]
        low = SLOTS_Y - THICK / 2
        self.ticks.set_path(_boxes.lines((x, low - 1, x, low - 5) for x in places))
        for i, number in enumerate(self.numbers):
            number.set_visible(i <= n)
            number.set_x(LEFT + i * every * scale)
            number.set_text(str(i * every))


@cache
def _cuts(scale: float, n_warps: int) -> Path:
    """Lines between cycles, through the rows of some warps and through the slots."""
    places = [LEFT + i * scale for i in range(1, int((RIGHT - LEFT) / scale))]
    half = THICK / 2
    spans = ((row_y(n_warps - 1) - half, TOP + half), (SLOTS_Y - half + 0.4, SLOTS_Y + half - 0.4))
    return _boxes.lines((x, low, x, high) for low, high in spans for x in places)


def _dash(stroke: PathPatch, is_on: Cycles, scale: float, start: int) -> None:
    """Show a stroke where a pattern is on; its lines begin `start` cycles before the pattern does.

    `start` is a multiple of 100, so that many states share one path.
    """
    begins = np.flatnonzero(is_on & ~np.roll(is_on, 1))
    stroke.set_visible(len(begins) > 0)
    if not len(begins):
        return
    period, first = len(is_on), int(begins[0])
    ends = (np.flatnonzero(is_on & ~np.roll(is_on, -1)) + 1 - first) % period
    on = (np.sort(ends) - (begins - first)) * scale
    off = np.append(begins[1:] - first, period) - np.sort(ends)
    dashes = np.stack([on, off * scale], axis=1).reshape(-1)
    # Matplotlib multiplies dashes by the width of the line.
    width = stroke.get_linewidth()
    stroke.set_linestyle(((-start - first) % period * scale / width, tuple(dashes / width)))


def _legend(ax: Axes) -> None:
    """What the strokes mean, in a line above the rows."""
    y = TOP + 21
    look: dict[str, Any] = {"va": "center", "fontsize": FONT}
    words = {"math": (12, "math"), "load": (69, "load"), "wait": (120, "waits for memory"),
             "ready": (245, "ready")}  # fmt: skip
    for name, (x, text) in words.items():
        stroke = LOOKS[name][1]
        _boxes.patch(
            ax, f"key-{name}", _boxes.lines([(x, y, x + 13, y)]), fc="none", capstyle="butt",
            ec=stroke["color"], lw=stroke["lw"],
        )  # fmt: skip
        ax.text(x + 18, y, text, **look)
    empty = _boxes.boxes([(306, y - 4, 13, 8)])
    _boxes.patch(ax, "key-empty", empty, fc="none", ec=style.IDLE, lw=0.5, hatch="////")
    ax.text(324, y, "empty slot", **look)

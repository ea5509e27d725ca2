"""The sheet of the double-buffer figure: who is busy when, what lies where, and the knee."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba

from primer.figures import _boxes, _labels, style
from primer.figures._boxes import Box
from primer.figures._bufferruns import LONG, M_LIMITS, SHORT, BufferRun
from primer.figures._words import Words

SIZE = (6.0, 4.9)
LEFT, RIGHT = 12.0, 422.0
FONT = 10.5
TIME_X, WINDOW = 68.0, 1750.0  # where time starts, and how many cycles are shown
PER_CYCLE = (RIGHT - TIME_X) / WINDOW
TALL, LOW = 19.0, 11.0  # rows of the two units, and of the buffers
MEMORY_Y, ARRAYS_Y = 305.0, 233.0
BUFFER_Y = (287.0, 272.5, 258.0)
KEY_Y = 189.0
PLOT: Box = (44.0, 34.0, RIGHT - 44.0, 92.0)
Y_LIMITS = (60.0, 3000.0)
LEAST = 1.2  # points; what would be thinner is drawn so
ROOM = 8.0  # points that each digit of a tile's number needs
FILLS: dict[str, Any] = {"fc": to_rgba(style.MEMORY, 0.3), "ec": style.MEMORY, "lw": 0.9}
FULL: dict[str, Any] = {"fc": style.MEMORY, "ec": style.MEMORY, "lw": 0.9}
WORKS: dict[str, Any] = {"fc": to_rgba(style.COMPUTE, 0.3), "ec": style.COMPUTE, "lw": 0.9}
WAITS: dict[str, Any] = {"fc": style.SURFACE, "ec": style.IDLE, "lw": 0.8, "hatch": "/////"}
KEYS = (("being copied", FILLS, 12.0), ("full, waits", FULL, 113.0), ("in use", WORKS, 205.0),
        ("the arrays wait", WAITS, 276.0))  # fmt: skip
_WORDS: dict[str, Any] = {"va": "center", "fontsize": FONT}


class Gantt:
    """The memory, the buffers and the arrays over the first cycles."""

    def __init__(self, ax: Axes) -> None:
        self.title = ax.text(LEFT, MEMORY_Y + TALL + 15, "", gid="tile", weight="bold", **_WORDS)
        self.frames = _boxes.patch(ax, "frames", fc="none", ec=style.GRID, lw=0.8, zorder=1)
        self.waits = _boxes.patch(ax, "waits", zorder=2, **WAITS)
        self.fills = _boxes.patch(ax, "fills", zorder=3, **FILLS)
        self.full = _boxes.patch(ax, "full", zorder=3, **FULL)
        self.works = _boxes.patch(ax, "works", zorder=3, **WORKS)
        self.numbers = Words(ax, "numbers")
        self.numbers.set_zorder(4)
        self.names = [
            ax.text(TIME_X - 6, y + LOW / 2, "", ha="right", gid=f"buffer-{i}", **_WORDS)
            for i, y in enumerate(BUFFER_Y)
        ]
        for y, name in ((MEMORY_Y, "memory"), (ARRAYS_Y, "arrays")):
            ax.text(TIME_X - 6, y + TALL / 2, name, ha="right", **_WORDS)
        self.total = ax.text(LEFT, KEY_Y - 21, "", gid="total", **_WORDS)
        _clock(ax)
        for name, look, x in KEYS:
            _boxes.patch(ax, f"key-{name[:4]}", _boxes.boxes([(x, KEY_Y - 5.5, 11, 11)]), **look)
            ax.text(x + 16, KEY_Y, name, **_WORDS)

    @property
    def moving(self) -> tuple[Any, ...]:
        """The artists that a state changes."""
        bars = (self.waits, self.fills, self.full, self.works, self.numbers)
        return (self.title, self.total, self.frames, *bars, *self.names)

    def update(self, run: BufferRun) -> None:
        """Draw what happens in the window."""
        done, n = run.schedule, run.schedule.n_buffers
        lanes = [BUFFER_Y[i] for i in done.i_buffer]
        load = list(zip(done.load_start_cycle, done.load_end_cycle, strict=True))
        work = list(zip(done.work_start_cycle, done.work_end_cycle, strict=True))
        lead = list(zip(done.load_end_cycle, done.work_start_cycle, strict=True))
        copies, uses = bars(load, [MEMORY_Y] * len(load)), bars(work, [ARRAYS_Y] * len(work))
        gaps = [(0.0, work[0][0]), *zip(done.work_end_cycle[:-1], done.work_start_cycle[1:],
                                        strict=True)]  # fmt: skip
        real = [gap for gap in gaps if (gap[1] - gap[0]) * PER_CYCLE > 0.5]
        self.waits.set_path(_boxes.boxes(bars(real, [ARRAYS_Y] * len(real)).values()))
        self.fills.set_path(_boxes.boxes([*copies.values(), *bars(load, lanes, LOW).values()]))
        kept = {i: box for i, box in bars(lead, lanes, LOW, least=0).items() if box[2] > 0.5}
        self.full.set_path(_boxes.boxes(kept.values()))
        self.works.set_path(_boxes.boxes([*uses.values(), *bars(work, lanes, LOW).values()]))
        rows = [(MEMORY_Y, TALL), (ARRAYS_Y, TALL), *((y, LOW) for y in BUFFER_Y[:n])]
        self.frames.set_path(_boxes.boxes((TIME_X, y, RIGHT - TIME_X, h) for y, h in rows))
        self.numbers.show([*_numbers(copies), *_numbers(uses)], 10.0)
        for i, name in enumerate(self.names):
            name.set_text(f"buffer {'ABC'[i]}" if i < n else "")
        self.title.set_text(
            f"a tile: {copy_words(run)} cycles to copy, {run.m:,} to use, one for each row"
        )
        self.total.set_text(total_words(run))


def copy_words(run: BufferRun) -> str:
    """Cycles of a copy, or of the two that take turns."""
    if run.uneven:
        return " or ".join(f"{share * run.load_cycles:.0f}" for share in (LONG, SHORT))
    return f"{run.load_cycles:.0f}"


def total_words(run: BufferRun) -> str:
    """What all tiles take."""
    done = run.schedule
    time, share = run.time_s * 1e6, 100 * done.stall_frac
    whole = f"all {done.n_tiles} tiles: {done.total_cycles:,.0f} cycles, {time:.2f} µs"
    return f"{whole}; the arrays wait {share:.1f} %"


def bars(
    spans: Iterable[tuple[float, float]],
    feet: list[float],
    high: float = TALL,
    least: float = LEAST,
) -> dict[int, Box]:
    """What of the spans lies in the window, by their place in the row.

    >>> box = bars([(0, 175), (1700, 1900), (1800, 1900)], [0, 0, 0])
    >>> sorted(box), box[1][2] == 50 * PER_CYCLE
    ([0, 1], True)
    """
    found = {}
    for i, ((start, end), y) in enumerate(zip(spans, feet, strict=True)):
        if start < WINDOW:
            width = max((min(end, WINDOW) - start) * PER_CYCLE, least)
            x = min(TIME_X + start * PER_CYCLE, RIGHT - width)
            found[i] = (float(x), y, float(width), high)
    return found


def _numbers(boxes: dict[int, Box]) -> list[tuple[float, float, str]]:
    """The numbers of tiles, from 1, where there is room."""
    wide = {i: box for i, box in boxes.items() if box[2] >= ROOM * len(str(i + 1)) + 4}
    return [(x + w / 2, y + h / 2 - 3.6, str(i + 1)) for i, (x, y, w, h) in wide.items()]


def _clock(ax: Axes) -> None:
    """Ticks of time."""
    ticks = range(0, int(WINDOW), 500)
    ends = [TIME_X + t * PER_CYCLE for t in ticks]
    _boxes.patch(
        ax, "ticks", _boxes.lines((x, ARRAYS_Y - 2, x, ARRAYS_Y - 7) for x in ends),
        fc="none", ec=style.MUTED, lw=0.8,
    )  # fmt: skip
    for t, x in zip(ticks, ends, strict=True):
        ax.text(x, ARRAYS_Y - 15, f"{t:,}", ha="center", **_WORDS)
    ax.text(TIME_X - 10, ARRAYS_Y - 15, "cycles", ha="right", **_WORDS)


class Knee:
    """Cycles per tile for any m, between the two that it cannot beat."""

    def __init__(self, ax: Axes) -> None:
        x, y, w, h = PLOT
        page = (72 * SIZE[0], 72 * SIZE[1])
        self.ax = plot = ax.inset_axes((x / page[0], y / page[1], w / page[0], h / page[1]))
        style.log_axis(plot, "x", M_LIMITS)
        style.log_axis(plot, "y", Y_LIMITS)
        plot.grid(True, axis="y")
        plot.set_axisbelow(True)
        self.title = ax.text(LEFT, y + h + 17, "", gid="plot-title", weight="bold", **_WORDS)
        ax.text(RIGHT, 8, "m: rows", ha="right", **_WORDS)
        work = [Y_LIMITS[0], M_LIMITS[1]]
        plot.plot(work, work, color=style.COMPUTE, lw=1.2, ls=(0, (4, 2)))
        plot.text(560, 168, "work: m", color=style.COMPUTE, fontsize=FONT, va="center")
        look: dict[str, Any] = {"lw": 1.2, "ls": (0, (4, 2))}
        (self.copy,) = plot.plot([], [], color=style.MEMORY, gid="copy", **look)
        (self.turns,) = plot.plot([], [], color=style.IDLE, lw=1.4, ls=":", gid="turns")
        (self.ridge,) = plot.plot([], [], color=style.INK, lw=1.0, ls=":", gid="ridge")
        (self.curve,) = plot.plot([], [], color=style.INK, lw=2.0, gid="curve")
        self.curve.set_solid_joinstyle("round")
        (self.dot,) = plot.plot(
            [], [], "o", ms=10, color=style.CHANGED, mec=style.SURFACE, mew=1.4, zorder=5,
            gid="dot", clip_on=False,
        )  # fmt: skip
        words: dict[str, Any] = {"fontsize": FONT, "va": "bottom"}
        self.copy_word = _labels.beside(plot, "copy-word", 2, 3, color=style.MEMORY, **words)
        self.ridge_word = _labels.beside(plot, "ridge-word", 5, 2, **words)
        self.turns_word = _labels.beside(
            plot, "turns-word", -3, 5, ha="right", color=style.MUTED, **words
        )

    @property
    def moving(self) -> tuple[Any, ...]:
        """The artists that a state changes."""
        lines = (self.copy, self.turns, self.ridge, self.curve, self.dot)
        return (self.title, *lines, self.copy_word, self.ridge_word, self.turns_word)

    def update(self, run: BufferRun) -> None:
        """Draw the curve, and the product on it."""
        load, n = run.load_cycles, run.schedule.n_buffers
        self.title.set_text(
            f"cycles per tile, with {('one buffer', '2 buffers', '3 buffers')[n - 1]}"
        )
        self.curve.set_data(*np.transpose(run.curve))
        self.turns.set_data(*np.transpose(run.in_turns))
        self.copy.set_data(M_LIMITS, (load, load))
        self.ridge.set_data((load, load), (Y_LIMITS[0], load))
        self.dot.set_data([run.m], [run.schedule.per_tile_cycles])
        for word, place, text in (
            (self.copy_word, (M_LIMITS[0], load), f"copy: {load:.0f}"),
            (self.ridge_word, (load, Y_LIMITS[0]), f"ridge: {load:.0f}"),
            (self.turns_word, (load, 2 * load), "one buffer" if n > 1 else ""),
        ):
            word.set_position(place)
            word.set_text(text)

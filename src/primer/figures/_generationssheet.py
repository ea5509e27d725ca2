"""The sheet of the TPU generations: arrays and memories to scale, and numbers on strips."""

from __future__ import annotations

import math
from typing import Any

from matplotlib.axes import Axes
from matplotlib.colors import to_rgba

from primer import units
from primer.figures import _boxes, style
from primer.figures._boxes import Box
from primer.figures._generationsruns import (
    GENERATIONS,
    ROWS,
    Arrays,
    Generation,
    Store,
    short,
    values,
)

SIZE = (6.0, 4.9)
LEFT, RIGHT = 12.0, 420.0
FONT = 10.5
HEAD_Y = 340.0
FLOOR_Y = 210.0  # on which arrays and memories stand
CELL, GAP = 0.2, 4.0  # points of one cell of an array, and between arrays
STORE_X = 224.0
PER_ROOT = 5.6  # points of a memory of 1 MiB, whose area is to scale
ROW_Y, ROW = 158.0, 21.0
STRIP_LEFT, STRIP_RIGHT = 124.0, 244.0
VALUE_X, RATIO_X = 366.0, RIGHT
CORE_PAD = 5.0
_WORDS: dict[str, Any] = {"va": "center", "fontsize": FONT}


class Floor:
    """Arrays and memories of one chip."""

    def __init__(self, ax: Axes) -> None:
        self.title = ax.text(LEFT, HEAD_Y, "", gid="title", weight="bold", **_WORDS)
        self.cores = _boxes.patch(ax, "cores", fc="none", ec=style.MUTED, lw=1.0, ls=(0, (3, 2)))
        self.arrays = _boxes.patch(ax, "arrays", fc=style.COMPUTE, ec=style.COMPUTE, lw=0.6)
        self.stores = _boxes.patch(
            ax, "stores", fc=to_rgba(style.MEMORY, 0.3), ec=style.MEMORY, lw=1.0
        )
        self.array_words = ax.text(LEFT, FLOOR_Y - 16, "", gid="array-words", **_WORDS)
        self.store_words = ax.text(STORE_X, FLOOR_Y - 16, "", gid="store-words", **_WORDS)

    @property
    def moving(self) -> tuple[Any, ...]:
        """The artists that a state changes."""
        words = (self.title, self.array_words, self.store_words)
        return (self.cores, self.arrays, self.stores, *words)

    def update(self, found: Generation) -> None:
        """Draw one chip."""
        frames, squares = array_places(found.arrays) if found.arrays else ([], [])
        self.cores.set_path(_boxes.boxes(frames))
        self.arrays.set_path(_boxes.boxes(squares))
        self.stores.set_path(_boxes.boxes(store_places(found.stores)))
        since = found.chip.release.text if found.chip.release else ""
        self.title.set_text(f"{short(found.chip)}, {since}{announced(found)}")
        self.array_words.set_text(array_words(found.arrays))
        self.store_words.set_text(store_words(found.stores))


def announced(found: Generation) -> str:
    """A warning, where numbers may still change."""
    return ": announced" if found.chip.announced else ""


def array_places(found: Arrays) -> tuple[list[Box], list[Box]]:
    """Frames of the cores, and the arrays in them, all cells at one scale."""
    per_core = found.n_arrays // found.n_cores
    across = 2 if per_core == 4 else 1
    down, side = per_core // across, found.side * CELL
    width = across * (side + GAP) - GAP + 2 * CORE_PAD
    height = down * (side + GAP) - GAP + 2 * CORE_PAD
    frames = [(LEFT + i * (width + 8), FLOOR_Y, width, height) for i in range(found.n_cores)]
    squares = [
        (x + CORE_PAD + i * (side + GAP), y + CORE_PAD + j * (side + GAP), side, side)
        for x, y, _, _ in frames
        for j in range(down)
        for i in range(across)
    ]
    return frames, squares


def store_places(stores: tuple[Store, ...]) -> list[Box]:
    """Squares whose area is to scale, one beside the other."""
    places: list[Box] = []
    x = STORE_X
    for store in stores:
        side = PER_ROOT * math.sqrt(store.part_bytes / units.MIB)
        for _ in range(store.n_parts):
            places.append((x, FLOOR_Y, side, side))
            x += side + 8
    return places


def array_words(found: Arrays | None) -> str:
    """How many arrays of which size.

    >>> array_words(Arrays(2, 8, 128)), array_words(Arrays(1, 1, 256))
    ('2 cores: 8 arrays of 128 × 128', '1 core: 1 array of 256 × 256')
    """
    if found is None:
        return "arrays: not among what is known"
    cores = f"{found.n_cores} core{'' if found.n_cores == 1 else 's'}"
    number = f"{found.n_arrays} array{'' if found.n_arrays == 1 else 's'}"
    return f"{cores}: {number} of {found.side} × {found.side}"


def store_words(stores: tuple[Store, ...]) -> str:
    """The memories on the chip.

    >>> store_words((Store("vmem", 2, 2.0**24), Store("cmem", 1, 2.0**27)))
    '2 × 16 + 128 MiB on chip'
    """
    if not stores:
        return ""
    sizes = [units.number(store.part_bytes / units.MIB) for store in stores]
    parts = [
        f"{store.n_parts} × {size}" if store.n_parts > 1 else size
        for store, size in zip(stores, sizes, strict=True)
    ]
    return f"{' + '.join(parts)} MiB on chip"


class Strips:
    """One number to a row: all generations as ticks, this one as a dot, and where it came from."""

    def __init__(self, ax: Axes) -> None:
        self.limits = [limits(i) for i in range(len(ROWS))]
        rows = [(STRIP_LEFT, row_y(i), STRIP_RIGHT, row_y(i)) for i in range(len(ROWS))]
        _boxes.patch(ax, "strips", _boxes.lines(rows), fc="none", ec=style.GRID, lw=0.8, zorder=0)
        look: dict[str, Any] = {"fc": "none", "ec": style.IDLE, "lw": 1.0, "zorder": 1}
        _boxes.patch(ax, "all", _boxes.lines(self._ticks()), **look)
        for i, name in enumerate(ROWS):
            ax.text(LEFT, row_y(i), name, **_WORDS)
        self.head = ax.text(RATIO_X, ROW_Y + ROW, "", ha="right", gid="head", **_WORDS)
        self.step = _boxes.patch(ax, "step", fc="none", ec=style.CHANGED, lw=2.4, zorder=2)
        look = {"ls": "", "marker": "o", "zorder": 3}
        (self.then,) = ax.plot(
            [], [], gid="then", mfc=style.SURFACE, mec=style.CHANGED, mew=1.6, ms=6, **look
        )
        (self.now,) = ax.plot([], [], gid="now", mfc=style.CHANGED, mec=style.CHANGED, ms=8, **look)
        self.values, self.ratios = (
            [ax.text(x, row_y(i), "", ha="right", gid=f"{name}-{i}", **_WORDS)
             for i in range(len(ROWS))]
            for x, name in ((VALUE_X, "value"), (RATIO_X, "ratio"))
        )  # fmt: skip

    def _ticks(self) -> list[tuple[float, float, float, float]]:
        found = [
            (self._x(i, value.amount), row_y(i))
            for name in GENERATIONS
            for i, value in enumerate(values(name))
            if value.amount is not None
        ]
        return [(x, y - 3.5, x, y + 3.5) for x, y in found]

    def _x(self, i: int, amount: float) -> float:
        low, high = self.limits[i]
        share = (math.log(amount) - low) / (high - low)
        return STRIP_LEFT + 6 + share * (STRIP_RIGHT - STRIP_LEFT - 12)

    @property
    def moving(self) -> tuple[Any, ...]:
        """The artists that a state changes."""
        return (self.head, self.step, self.then, self.now, *self.values, *self.ratios)

    def update(self, found: Generation) -> None:
        """Mark one chip."""
        now = {i: self._x(i, v.amount) for i, v in enumerate(found.values) if v.amount is not None}
        ratios = [found.ratio(name) for name in ROWS]
        then = {
            i: self._x(i, found.values_before[i].amount or 0.0)
            for i, ratio in enumerate(ratios)
            if ratio is not None
        }
        self.now.set_data(list(now.values()), [row_y(i) for i in now])
        self.then.set_data(list(then.values()), [row_y(i) for i in then])
        ends = [(x, row_y(i), now[i], row_y(i)) for i, x in then.items()]
        self.step.set_path(_boxes.lines(ends))
        before = found.before
        self.head.set_text(f"against {short(before).removeprefix('TPU ')}" if before else "")
        rows = zip(found.values, ratios, self.values, self.ratios, strict=True)
        for value, ratio, written, times in rows:
            written.set_text(value.text)
            times.set_text("" if ratio is None else ratio_words(ratio))


def limits(i: int) -> tuple[float, float]:
    """Logarithms of the smallest and the largest number of a row."""
    known = [values(name)[i].amount for name in GENERATIONS]
    logs = [math.log(amount) for amount in known if amount is not None]
    return min(logs), max(logs)


def row_y(i: int) -> float:
    """Middle of a row."""
    return ROW_Y - i * ROW


def ratio_words(ratio: float) -> str:
    """Times the number before.

    >>> ratio_words(2.674), ratio_words(0.716), ratio_words(21.06)
    ('2.7×', '0.72×', '21×')
    """
    return f"{units.number(ratio, 2)}×"

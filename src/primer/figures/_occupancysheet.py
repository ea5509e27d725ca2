"""The sheet of the occupancy figure: a multiprocessor with its residents, and four limits.

What fits is the least of the limits. No artist computes it: blocks are drawn as far as the slots
go, bars as far as the sheet, and each limit covers what lies beyond it, so that the least is what
is left to see. Thousands of launches are then put together from a few hundred pieces.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.font_manager import FontProperties
from matplotlib.path import Path
from matplotlib.textpath import TextPath
from matplotlib.transforms import Affine2D

from primer.figures import _boxes, style
from primer.figures._boxes import Box
from primer.figures._occupancyruns import KIB, Residents
from primer.occupancy import NO_LIMIT, Occupancy

SIZE = (5.5, 5.1)
FONT = 10.5
LEFT, RIGHT = 14.0, 382.0

HOME_Y, N_ROWS = 352.0, 4
SLOT_X, SLOT_TOP, SLOT_W, SLOT_H, ROW = 84.0, 333.0, 18.0, 18.0, 22.0
TICK_Y = SLOT_TOP - N_ROWS * ROW - 2.0
KEY_Y = TICK_Y - 27.0
QUARTERS = (0, 25, 50, 75, 100)

LIMIT_NAMES = {
    "warps": "warp slots",
    "registers": "registers",
    "shared_memory": "shared memory",
    "blocks": "block slots",
}
HEAD_Y, LIMIT_TOP, LIMIT_ROW, BAR = 185.0, 161.0, 41.0, 12.0
MOST_BLOCKS, AT_MOST, BAR_END = 32, 336.0, 350.0  # beyond 32 blocks a bar ends a little later

EVEN, ODD = to_rgba(style.COMPUTE, 0.2), to_rgba(style.COMPUTE, 0.5)
EMPTY: dict[str, Any] = {"fc": style.SURFACE, "ec": style.IDLE, "lw": 0, "hatch": "//////"}
FITS: dict[str, Any] = {"fc": style.COMPUTE, "ec": "none", "lw": 0}
COVER: dict[str, Any] = {"fc": style.SURFACE, "ec": "none", "lw": 0, "zorder": 2.6}
EDGE: dict[str, Any] = {"fc": "none", "ec": style.MUTED, "lw": 0.9, "zorder": 3}


def slot_place(scheduler: int, slot: int, n_slots: int = 1) -> Box:
    """Some neighboring warp slots of one scheduler."""
    y = SLOT_TOP - scheduler * ROW - SLOT_H
    return (SLOT_X + slot * SLOT_W, y, n_slots * SLOT_W, SLOT_H)


def at_blocks(n_blocks: int) -> float:
    """Where a bar of so many blocks ends."""
    if n_blocks > MOST_BLOCKS:
        return BAR_END
    return LEFT + n_blocks / MOST_BLOCKS * (AT_MOST - LEFT)


def bar_place(i: int, start: float = LEFT, end: float = BAR_END) -> Box:
    """A part of the bar of the i-th limit."""
    return (start, LIMIT_TOP - i * LIMIT_ROW - 10.0 - BAR, end - start, BAR)


@cache
def digits(number: int) -> Path:
    """A number as outlines around the origin, so that many of them are one artist."""
    written = TextPath((0, 0), str(number), size=9.5, prop=FontProperties(family=style.FONT))
    box = written.get_extents()
    middle = ((box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2)
    return Path(written.vertices - middle, written.codes)


def numbered(places: Iterable[tuple[int, Box]]) -> Path:
    """Numbers in the middle of boxes."""
    drawn = [
        digits(number).transformed(Affine2D().translate(x + w / 2, y + h / 2))
        for number, (x, y, w, h) in places
    ]
    return Path.make_compound_path(*drawn)


class Home:
    """Four schedulers with their warp slots, and the blocks that slots alone allow in them."""

    def __init__(self, ax: Axes) -> None:
        heading(ax, HOME_Y, "Warps on one multiprocessor")
        self.even = _boxes.patch(ax, "even-blocks", fc=EVEN, ec="none", lw=0, zorder=2)
        self.odd = _boxes.patch(ax, "odd-blocks", fc=ODD, ec="none", lw=0, zorder=2)
        self.empty = _boxes.patch(ax, "empty-lanes", zorder=2.2, **EMPTY)
        self.numbers = _boxes.patch(ax, "block-numbers", fc=style.INK, ec="none", lw=0, zorder=2.4)
        self.slots = _boxes.patch(ax, "slots", **EDGE)
        for i in range(N_ROWS):
            _, y, _, h = slot_place(i, 0)
            ax.text(LEFT, y + h / 2, f"scheduler {i}", va="center", fontsize=FONT)
        look: dict[str, Any] = {"va": "top", "ha": "center", "fontsize": FONT}
        ax.text(LEFT, TICK_Y, "occupancy", va="top", fontsize=FONT)
        self.ticks = [
            ax.text(SLOT_X, TICK_Y, f"{share} %" if share else "0", gid=f"tick-{share}", **look)
            for share in QUARTERS
        ]
        self._key(ax)

    def _key(self, ax: Axes) -> None:
        looks: tuple[tuple[str, dict[str, Any], float], ...] = (
            ("block 1, 3, …", {"fc": EVEN, "ec": style.MUTED, "lw": 0.9}, LEFT),
            ("block 2, 4, …", {"fc": ODD, "ec": style.MUTED, "lw": 0.9}, 125.0),
            ("lanes without a thread", EMPTY | {"ec": style.IDLE, "lw": 0.9}, 236.0),
        )
        for i, (words, look, x) in enumerate(looks):
            _boxes.patch(ax, f"key-{i}", _boxes.boxes([(x, KEY_Y - 6, 12, 12)]), **look)
            ax.text(x + 18, KEY_Y, words, va="center", fontsize=FONT)

    @property
    def moving(self) -> tuple[Any, ...]:
        """The artists that a state changes."""
        return (self.even, self.odd, self.empty, self.numbers, self.slots, *self.ticks)

    def update(self, result: Residents) -> None:
        """Move in as many blocks as slots allow."""
        n_slots = result.n_slots_per_scheduler
        self.slots.set_path(
            _boxes.boxes(slot_place(i, j) for i in range(N_ROWS) for j in range(n_slots))
        )
        for share, tick in zip(QUARTERS, self.ticks, strict=True):
            tick.set_x(SLOT_X + share / 100 * n_slots * SLOT_W)
        homes = [[slot_place(*at) for at in result.slots(b)] for b in range(result.n_by_slots)]
        for artist, first in ((self.even, 0), (self.odd, 1)):
            artist.set_path(_boxes.boxes(place for home in homes[first::2] for place in home))
        self.numbers.set_path(numbered((b + 1, home[0]) for b, home in enumerate(homes)))
        share_used = result.n_full_lanes / result.launch.capability.warp_size
        self.empty.set_path(_boxes.boxes(_upper(home[-1], share_used) for home in homes))
        self.empty.set_visible(share_used < 1)


def _upper(place: Box, share: float) -> Box:
    """What is left of a box above a share of its height."""
    x, y, w, h = place
    return (x, y + h * share, w, h * (1 - share))


class LimitBars:
    """How many blocks each limit alone allows, and the covers over what lies beyond."""

    def __init__(self, ax: Axes) -> None:
        heading(ax, HEAD_Y, "Blocks each limit allows")
        look: dict[str, Any] = {"va": "center", "fontsize": FONT}
        rows = range(len(LIMIT_NAMES))
        _boxes.patch(ax, "fits", _boxes.boxes(bar_place(i) for i in rows), zorder=2, **FITS)
        self.words, self.edges, self.counts, self.covers = [], [], [], []
        for i, name in enumerate(LIMIT_NAMES):
            y = LIMIT_TOP - i * LIMIT_ROW
            self.words.append(ax.text(LEFT, y, "", gid=f"words-{name}", zorder=4, **look))
            self.edges.append(_boxes.patch(ax, f"bar-{name}", **EDGE))
            at = bar_place(i)[1] + BAR / 2
            self.counts.append(
                ax.text(0, at, "", gid=f"count-{name}", zorder=4, fontweight="bold", **look)
            )
            self.covers.append(_boxes.patch(ax, f"beyond-{name}", **COVER))
        _boxes.patch(ax, "key-fits", _boxes.boxes([(206.0, HEAD_Y - 6, 12, 12)]), **FITS)
        ax.text(223.0, HEAD_Y, "fits; a full bar is the limit", **look)

    @property
    def moving(self) -> tuple[Any, ...]:
        """The artists that a state changes."""
        return (*self.words, *self.edges, *self.counts, *self.covers)

    def update(self, result: Residents) -> None:
        """Show one launch."""
        launch = result.launch
        for i, (name, words) in enumerate(zip(LIMIT_NAMES, explained(launch), strict=True)):
            allowed = getattr(launch.limits, name)
            end = at_blocks(allowed)
            self.words[i].set_text(f"{LIMIT_NAMES[name]}: {words}")
            self.edges[i].set_path(_boxes.boxes([bar_place(i, LEFT, end)]))
            self.counts[i].set_text("any" if allowed == NO_LIMIT else f"{allowed}")
            self.counts[i].set_x(end + 8)
            beyond = [_over(bar_place(row, end)) for row in range(len(LIMIT_NAMES))]
            if name in ("registers", "shared_memory"):
                beyond += _rest(result, allowed)
            self.covers[i].set_path(_boxes.boxes(beyond))
            self.covers[i].set_visible(end < BAR_END)


def _over(place: Box) -> Box:
    """A little more than a box on three sides, so that no edge of what it covers shines through."""
    x, y, w, h = place
    return (x, y - 1, w + 1, h + 2)


def _rest(result: Residents, n_blocks: int) -> list[Box]:
    """All warp slots behind those of so many blocks, row by row."""
    first = n_blocks * result.launch.n_warps_per_block
    n_slots, places = result.n_slots_per_scheduler, []
    for i in range(N_ROWS):
        taken = (first + N_ROWS - 1 - i) // N_ROWS
        if taken < n_slots:
            places.append(slot_place(i, taken, n_slots - taken))
    return places


def explained(launch: Occupancy) -> tuple[str, str, str, str]:
    """What a block takes of each resource, and how much there is."""
    gpu, n_warps = launch.capability, launch.n_warps_per_block
    per_warp = launch.allocated_registers_per_block // n_warps
    file = gpu.registers_per_sm // gpu.n_schedulers_per_sm
    asked = launch.shared_bytes_per_block
    kept = launch.allocated_shared_bytes_per_block - asked
    plus = f" + {kept // KIB} for the system" if kept else ""
    return (
        f"a block takes {n_warps} of {gpu.max_warps_per_sm}",
        f"a warp takes {per_warp:,}, a file of {file:,} holds {file // per_warp}",
        f"a block takes {asked // KIB} KiB{plus}, of {gpu.shared_bytes_per_sm // KIB}",
        f"a block takes 1 of {gpu.max_blocks_per_sm}",
    )


def heading(ax: Axes, y: float, words: str) -> None:
    """A title of one half of the sheet."""
    ax.text(LEFT, y, words, va="center", fontsize=11.5, fontweight="bold")

"""Where the time goes in the systolic figure: cycle by cycle, and all cells and cycles at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba

from primer.figures import _boxes, style
from primer.figures._boxes import Box
from primer.figures._systolicplaces import (
    BAR_HIGH,
    BAR_LEFT,
    BAR_LOW,
    BAR_RIGHT,
    FONT,
    STRIP_HIGH,
    STRIP_LOW,
)
from primer.figures._systolicsteps import (
    LOADING,
    PADDING,
    STALLED,
    USEFUL,
    WAITING,
    Setup,
    Step,
    count,
    history,
)

MOST_COLUMNS = 64  # of the strip
ORDER = (USEFUL, PADDING, LOADING, STALLED, WAITING)  # from below, and from the left
LOOKS: dict[int, dict[str, Any]] = {
    USEFUL: {"fc": to_rgba(style.COMPUTE, 0.75), "ec": "none", "lw": 0},
    PADDING: {"fc": "none", "ec": style.IDLE, "lw": 0, "hatch": "//////"},
    LOADING: {"fc": "none", "ec": style.MEMORY, "lw": 0, "hatch": "\\\\\\\\\\\\"},
    STALLED: {"fc": to_rgba(style.IDLE, 0.55), "ec": style.INK, "lw": 0, "hatch": "--"},
    WAITING: {"fc": to_rgba(style.IDLE, 0.16), "ec": "none", "lw": 0},
}
NAMES = {
    USEFUL: "useful", WAITING: "fill, drain", PADDING: "padding", LOADING: "loading",
    STALLED: "memory stall",
}  # fmt: skip
SWATCH = 9.0


def percents(parts: Sequence[int]) -> list[int]:
    """Whole percentages that add up to 100: the largest remainders are rounded up.

    >>> percents([1, 1, 1])
    [34, 33, 33]
    """
    exact = [100 * part / sum(parts) for part in parts]
    found = [int(value) for value in exact]
    by_remainder = sorted(range(len(parts)), key=lambda i: found[i] - exact[i])
    for i in by_remainder[: 100 - sum(found)]:
        found[i] += 1
    return found


class Bars:
    """A strip with a column for each cycle, its marker, and one bar for the whole."""

    STILL = tuple(
        f"{group}-{state}"
        for group in ("strip", "whole", "key", "name")
        for state in LOOKS
        if (group, state) != ("strip", WAITING)
    )  # what the cycle does not move

    def __init__(self, ax: Axes) -> None:
        self._setup: Setup | None = None
        self.strip = {
            s: _boxes.patch(ax, f"strip-{s}", **look) for s, look in LOOKS.items() if s != WAITING
        }
        self.whole = {s: _boxes.patch(ax, f"whole-{s}", **look) for s, look in LOOKS.items()}
        self.keys = {s: _boxes.patch(ax, f"key-{s}", **look) for s, look in LOOKS.items()}
        self.names = {
            s: ax.text(0, BAR_LOW - 17, "", fontsize=FONT, va="baseline", gid=f"name-{s}")
            for s in LOOKS
        }
        self.marker = _boxes.patch(ax, "marker", fc="none", ec=style.CHANGED, lw=2.5, zorder=5)
        look: dict[str, Any] = {"fontsize": FONT, "va": "baseline", "fontweight": "bold"}
        ax.text(BAR_LEFT, STRIP_HIGH + 5, "What the cells do, cycle by cycle", **look)
        ax.text(BAR_LEFT, BAR_HIGH + 5, "All cells in all cycles", **look)
        frame = [(BAR_LEFT, STRIP_LOW, BAR_RIGHT - BAR_LEFT, STRIP_HIGH - STRIP_LOW)]
        _boxes.patch(ax, "strip-frame", _boxes.boxes(frame), fc="none", ec=style.GRID, lw=0.8)

    @property
    def moving(self) -> tuple[Any, ...]:
        """The artists that a state changes."""
        groups = (self.strip, self.whole, self.keys, self.names)
        return (*(artist for group in groups for artist in group.values()), self.marker)

    def update(self, step: Step) -> None:
        """Show one product, and how far it is."""
        setup = step.setup
        if setup != self._setup:
            self._setup = setup
            self._strip(setup)
            self._whole(setup)
        x = BAR_LEFT + (BAR_RIGHT - BAR_LEFT) * max(step.t + 0.5, 0) / int(count(setup).n_cycles)
        x = round(x)
        self.marker.set_path(_boxes.lines([(x, STRIP_LOW - 4, x, STRIP_HIGH + 4)]))

    def _strip(self, setup: Setup) -> None:
        """States stacked; of many cycles some."""
        done = history(setup)
        chosen = np.unique(np.linspace(0, len(done) - 1, min(len(done), MOST_COLUMNS)).round())
        levels = done[chosen.astype(int)] / setup.product.side**2 * (STRIP_HIGH - STRIP_LOW)
        width = (BAR_RIGHT - BAR_LEFT) / len(levels)
        low = np.full(len(levels), STRIP_LOW)
        for state in ORDER[:-1]:
            self.strip[state].set_path(_boxes.boxes(_columns(low, levels[:, state], width)))
            low = low + levels[:, state]

    def _whole(self, setup: Setup) -> None:
        """All of it, and what each part is."""
        parts = [int(part) for part in count(setup).pe_cycles]
        shown, x, at = percents(parts), BAR_LEFT, BAR_LEFT
        for state in ORDER:
            width = (BAR_RIGHT - BAR_LEFT) * parts[state] / sum(parts)
            box = [(x, BAR_LOW, width, BAR_HIGH - BAR_LOW)] if width else []
            self.whole[state].set_path(_boxes.boxes(box))
            self.names[state].set_text("")
            key: list[Box] = []
            if width:
                text = f"{NAMES[state]} {shown[state]} %"
                key = [(at, BAR_LOW - 17, SWATCH, SWATCH)]
                self.names[state].set(text=text, x=at + SWATCH + 4)
                at += SWATCH + 14 + 5.6 * len(text)
            self.keys[state].set_path(_boxes.boxes(key))
            x += width


def _columns(low: Any, heights: Any, width: float) -> list[Box]:
    """Neighbors of one height are one box."""
    found: list[Box] = []
    start = 0
    for i in range(1, len(low) + 1):
        if i < len(low) and (low[i], heights[i]) == (low[start], heights[start]):
            continue
        if heights[start] > 0:
            x = BAR_LEFT + start * width
            found.append((x, float(low[start]), (i - start) * width, float(heights[start])))
        start = i
    return found

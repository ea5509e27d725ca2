"""The array of the systolic figure: its cells, what waits at its edges, and what leaves."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba

from primer.figures import _boxes, _systolicwords, style
from primer.figures._gemm import column, write
from primer.figures._systolicplaces import (
    FONT,
    GROUP,
    HEIGHT,
    LEFT,
    LEGEND_X,
    SIDE,
    TOP,
    grid,
    mark,
)
from primer.figures._systolicsteps import (
    LOADING,
    PADDING,
    STALLED,
    USEFUL,
    Setup,
    Step,
    busy,
)
from primer.figures._tells import Tells
from primer.figures._words import Words

HEAT = 4  # shades
SHADES = [to_rgba(style.COMPUTE, alpha) for alpha in np.linspace(0.1, 0.55, HEAT)]
LOOKS: dict[int, dict[str, Any]] = {
    USEFUL: {"fc": to_rgba(style.COMPUTE, 0.28), "ec": style.COMPUTE, "lw": 1.3},
    LOADING: {"fc": to_rgba(style.MEMORY, 0.2), "ec": style.MEMORY, "lw": 1.1},
    PADDING: {"fc": "none", "ec": style.IDLE, "lw": 0.8, "hatch": "////"},
    STALLED: {"fc": to_rgba(style.IDLE, 0.22), "ec": style.IDLE, "lw": 1.1, "ls": (0, (3, 2))},
}
STATE_NAMES = {
    USEFUL: "multiplies", LOADING: "loads", PADDING: "only padding",
    STALLED: "stands still",
}  # fmt: skip
MOVES_RIGHT = {"os": "A", "ws": "A", "is": "B"}
STAYS = {"ws": "B", "is": "A"}
ENTERS_ABOVE = {"os": "↓ B", "ws": "↓ B, to stay", "is": "↓ A, to stay"}


class Cells:
    """What each cell does and has."""

    def __init__(self, ax: Axes) -> None:
        self._setup: Setup | None = None
        self.areas = {s: _boxes.patch(ax, f"cells-{s}", zorder=1, **x) for s, x in LOOKS.items()}
        self.heat = [
            _boxes.patch(ax, f"heat-{level}", zorder=1, fc=shade, ec="none", lw=0)
            for level, shade in enumerate(SHADES)
        ]
        self.grid = _boxes.patch(ax, "grid", fc="none", ec=style.GRID, lw=0.8, zorder=0.5)
        self.factors = Words(ax, "factors")
        self.sums = Words(ax, "sums", weight="bold")
        self.shadows = Words(ax, "shadows", color=style.MEMORY)
        self.tells = Tells(ax, "tells")

    @property
    def moving(self) -> tuple[Any, ...]:
        """The artists that a state changes."""
        words = (self.factors, self.sums, self.shadows)
        return (*self.areas.values(), *self.heat, self.grid, *words, self.tells)

    def update(self, step: Step) -> None:
        """Show one cycle."""
        setup, is_heat = step.setup, step.view == "heat"
        for state, patch in self.areas.items():
            is_shown = not is_heat or state == PADDING
            patch.set_linewidth(0.0 if setup.is_large else LOOKS[state]["lw"])
            if state == LOADING and setup.is_large:  # no number tells it from work
                patch.set(hatch="\\\\\\\\", facecolor="none")
            elif state == LOADING:
                patch.set(hatch=None, facecolor=LOOKS[state]["fc"])
            mark(patch, setup, (step.states == state) & is_shown)
        levels = np.ceil(HEAT * step.worked / most(setup)) * is_heat
        for level, patch in enumerate(self.heat, start=1):
            mark(patch, setup, levels == level)
        self._say(step, is_heat)
        if setup != self._setup:
            self._setup = setup
            self.grid.set_path(grid(setup))
            self.tells.show(() if setup.is_large else _systolicwords.tells(setup))

    def _say(self, step: Step, is_heat: bool) -> None:
        """Numbers, where there is room for them."""
        size = 13.0 if SIDE / step.setup.product.side > _systolicwords.ROOMY else 9.0
        has_values = not step.setup.is_large and not is_heat
        self.factors.show(_systolicwords.factors(step) if has_values else (), size)
        self.shadows.show(_systolicwords.shadows(step) if has_values else (), 9.0)
        if has_values:
            self.sums.show(_systolicwords.sums(step), size)
        else:
            counted = is_heat and not step.setup.is_large
            self.sums.show(_systolicwords.counts(step) if counted else (), size)


def most(setup: Setup) -> int:
    """Products of the cell that makes most of them."""
    if setup.is_large:
        return setup.product.side
    return int(busy(setup).sum(axis=0).max())


class Surroundings:
    """Words on their way in and out, the clock, and what the signs mean."""

    def __init__(self, ax: Axes) -> None:
        self.left = Words(ax, "left")
        self.upper = Words(ax, "upper")
        self.weights = Words(ax, "weights", color=style.MEMORY)
        self.lower = Words(ax, "lower", weight="bold")
        self.clock = Words(ax, "clock", weight="bold")
        self.fold = Words(ax, "fold")
        look: dict[str, Any] = {"fontsize": FONT, "va": "baseline", "ha": "center"}
        self.right_name = ax.text(LEFT - 41, TOP + 8, "", gid="right-name", **look)
        self.down_name = ax.text(LEGEND_X, TOP + 22, "", gid="down-name", fontsize=FONT)
        self.out_name = ax.text(LEGEND_X, TOP - SIDE - 15, "", gid="out-name", fontsize=FONT)
        self._legend(ax)

    def _legend(self, ax: Axes) -> None:
        """Looks of a cell; and what stands in it."""
        y = TOP - 14
        for state, name in STATE_NAMES.items():
            box = [(LEGEND_X, y, 12.0, 12.0)]
            _boxes.patch(ax, f"sign-{state}", _boxes.boxes(box), **LOOKS[state])
            ax.text(LEGEND_X + 17, y + 2, name, fontsize=9.5, va="baseline")
            y -= 18
        self.meaning = column(ax, "meaning", LEGEND_X, y - 10, 6, fontsize=9.5)

    @property
    def moving(self) -> tuple[Any, ...]:
        """The artists that a state changes."""
        words = (self.left, self.upper, self.weights, self.lower, self.clock, self.fold)
        names = (self.right_name, self.down_name, self.out_name)
        return (*words, *names, *self.meaning)

    def update(self, step: Step) -> None:
        """Show one cycle."""
        setup = step.setup
        size = 12.0 if SIDE / setup.product.side > _systolicwords.ROOMY else 9.5
        is_shown = not setup.is_large
        self.left.show(_systolicwords.from_the_left(step) if is_shown else (), size)
        self.upper.show(_systolicwords.from_above(step) if is_shown else (), size)
        self.weights.show(_systolicwords.weights(step) if is_shown else (), size)
        self.lower.show(_systolicwords.leaving(step) if is_shown else (), size)
        n_folds = int(step.count.n_folds)
        self.clock.show([(50, HEIGHT - 20, f"{step.cycle} of {int(step.count.n_cycles)}")], 13.0)
        fold = [(50, HEIGHT - 52, f"fold {step.fold} of {n_folds}")] if n_folds > 1 else []
        self.fold.show([(50, HEIGHT - 36, "cycles"), *fold], FONT)
        dataflow = setup.dataflow
        self.right_name.set_text(f"{MOVES_RIGHT[dataflow]} →")
        self.down_name.set_text(ENTERS_ABOVE[dataflow])
        self.out_name.set_text("" if dataflow == "os" else "↓ sums")
        write(self.meaning, _meaning(step))


def _meaning(step: Step) -> str:
    """What stands in a cell."""
    if step.setup.is_large:
        shade = "\ndarker: more\nproducts\nso far" if step.view == "heat" else ""
        return f"each square:\n{GROUP} × {GROUP} cells{shade}"
    if step.view == "heat":
        return "number:\nproducts\nso far"
    below = "bold: the\nsum so far"
    dataflow = step.setup.dataflow
    shadow = "" if dataflow == "os" else f"\ncolored: the\nnext of {STAYS[dataflow]}"
    return f"a·b: what\nmeets now\n{below}{shadow}"

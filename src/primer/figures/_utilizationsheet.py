"""The sheet of the array-utilization figure: where time goes, and two ways to change the shape."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba

from primer.figures import _boxes, style
from primer.figures._boxes import Box
from primer.figures._utilizationruns import ArrayRun
from primer.figures._words import Words
from primer.systolic import Shares

SIZE = (6.0, 4.9)
LEFT, RIGHT = 12.0, 422.0
FONT = 10.5
HEAD_Y = 338.0
BAR = 15.0
COLUMNS = (140.0, 222.0, 304.0, 388.0)  # of the table, their middles
PLOTS: dict[str, Box] = {
    "m": (48.0, 147.0, RIGHT - 48.0, 74.0),
    "n": (48.0, 24.0, RIGHT - 48.0, 74.0),
}
TICKS = (1, 8, 32, 128, 256, 1024, 4096)
LIMITS = (0.8, 5200.0)
LEAST = 0.4  # points; a part that would be thinner is left out
# The colors of these parts are those of the figure that shows them cell by cell.
LOOKS: dict[str, dict[str, Any]] = {
    "useful": {"fc": to_rgba(style.COMPUTE, 0.75), "ec": style.COMPUTE},
    "padding": {"fc": style.SURFACE, "ec": style.IDLE, "hatch": "//////"},
    "weight_load": {"fc": to_rgba(style.MEMORY, 0.65), "ec": style.MEMORY},
    "fill_drain": {"fc": to_rgba(style.IDLE, 0.16), "ec": style.IDLE},
}
NAMES = {
    "useful": "useful", "padding": "padding", "weight_load": "loading", "fill_drain": "fill, drain",
}  # fmt: skip
LINES: dict[str, dict[str, Any]] = {
    "overlapped": {"color": style.COMPUTE, "lw": 2.0},
    "in_turns": {"color": style.IDLE, "lw": 1.5, "ls": (0, (3, 1.5))},
}
TITLES = {"overlapped": "overlapped", "in_turns": "in turns"}
_WORDS: dict[str, Any] = {"va": "center", "fontsize": FONT}


class Bars:
    """Where the time of all cells goes, with and without overlap."""

    def __init__(self, ax: Axes) -> None:
        for x, (part, look) in zip(COLUMNS, LOOKS.items(), strict=True):
            left = x - 2.9 * len(NAMES[part])
            key = _boxes.boxes([(left - 8, HEAD_Y - 5.5, 11.0, 11.0)])
            _boxes.patch(ax, f"key-{part}", key, lw=0.8, **look)
            ax.text(left + 8, HEAD_Y, NAMES[part], **_WORDS)
        self.rows = {name: Bar(ax, name, HEAD_Y - 18 - 37 * i) for i, name in enumerate(LINES)}

    @property
    def moving(self) -> tuple[Any, ...]:
        """The artists that a state changes."""
        return (*self.rows["overlapped"].moving, *self.rows["in_turns"].moving)

    def update(self, run: ArrayRun) -> None:
        """Divide both."""
        self.rows["overlapped"].update(run.overlapped.shares)
        self.rows["in_turns"].update(run.in_turns.shares)


class Bar:
    """One way to run the product: the parts in numbers, and to scale."""

    def __init__(self, ax: Axes, name: str, y: float) -> None:
        self.foot = y - 8 - BAR
        ax.text(LEFT, y, TITLES[name], **_WORDS)
        sample = _boxes.lines([(LEFT + 68, y, LEFT + 92, y)])
        look = {"ec" if key == "color" else key: value for key, value in LINES[name].items()}
        _boxes.patch(ax, f"sample-{name}", sample, fc="none", **look)
        self.parts = {
            part: _boxes.patch(ax, f"{name}-{part}", lw=0.8, zorder=2, **look)
            for part, look in LOOKS.items()
        }
        self.numbers, self.number_y = Words(ax, f"{name}-numbers"), y - 3.8

    @property
    def moving(self) -> tuple[Any, ...]:
        """The artists that a state changes."""
        return (*self.parts.values(), self.numbers)

    def update(self, shares: Shares) -> None:
        """Divide it."""
        x = LEFT
        for part, patch in self.parts.items():
            width = getattr(shares, part) * (RIGHT - LEFT)
            patch.set_path(_boxes.boxes([(x, self.foot, width, BAR)] if width > LEAST else []))
            x += width
        texts = [percent(getattr(shares, part)) for part in self.parts]
        places = zip(COLUMNS, texts, strict=True)
        self.numbers.show([(at, self.number_y, text) for at, text in places], FONT)


def percent(share: float) -> str:
    """A share for the table.

    >>> percent(0.0), percent(0.00771), percent(0.9797), percent(1e-6)
    ('0 %', '0.77 %', '98.0 %', '0.00 %')
    """
    if not share:
        return "0 %"
    return f"{100 * share:.{1 if share >= 0.0995 else 2}f} %"


class Plot:
    """Utilization against one side of the product."""

    def __init__(self, ax: Axes, swept: str) -> None:
        self.swept = swept
        x, y, w, h = PLOTS[swept]
        page = (72 * SIZE[0], 72 * SIZE[1])
        self.ax = plot = ax.inset_axes((x / page[0], y / page[1], w / page[0], h / page[1]))
        style.log_axis(plot, "x", LIMITS)
        plot.set_xticks(TICKS, [f"{tick:,}" for tick in TICKS])
        plot.set_ylim(0, 1.04)
        plot.set_yticks([0, 0.5, 1], ["0", "50 %", "100 %"])
        plot.grid(True, axis="y")
        plot.set_axisbelow(True)
        self.title = ax.text(LEFT, y + h + 15, "", gid=f"{swept}-title", weight="bold", **_WORDS)
        (self.edge,) = plot.plot([], [], color=style.INK, lw=1.0, ls=":", gid=f"{swept}-edge")
        self.lines = {}
        for name in ("in_turns", "overlapped"):
            (line,) = plot.plot([], [], gid=f"{swept}-{name}", **LINES[name])
            self.lines[name] = line
        (self.dot,) = plot.plot(
            [], [], "o", ms=10, color=style.CHANGED, mec=style.SURFACE, mew=1.4, zorder=5,
            gid=f"{swept}-dot", clip_on=False,
        )  # fmt: skip

    @property
    def moving(self) -> tuple[Any, ...]:
        """The artists that a state changes."""
        return (self.title, self.edge, *self.lines.values(), self.dot)

    def update(self, run: ArrayRun) -> None:
        """Draw both curves, and the product on them."""
        overlapped, in_turns = run.curves[self.swept]
        self.lines["overlapped"].set_data(*np.transpose(overlapped))
        self.lines["in_turns"].set_data(*np.transpose(in_turns))
        self.edge.set_data((run.side, run.side), (0, 1))
        self.dot.set_data([run.size(self.swept)], [run.overlapped.utilization_frac])
        self.title.set_text(f"useful share against {self.swept}, {role(run, self.swept)}")


def role(run: ArrayRun, name: str) -> str:
    """What a side is to the array."""
    if name == run.roles.steps:
        return "which is time: it streams"
    along = "rows" if name == run.roles.rows else "columns"
    return f"along the {along}: padded to {run.side}s"

"""One face for every figure of the book: palette, type, margins, cheap ticks.

Colors are written into figures as these hex values and leave `explore.frames`
as CSS variables, so that one SVG serves light and dark pages. Ticks are plain
text with SI prefixes, because mathtext labels are most of what a frame costs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from primer import units

COMPUTE = "#0b6e99"
MEMORY = "#c2410c"
NETWORK = "#6d28d9"
IDLE = "#64748b"
CHANGED = "#b45309"
INK = "#1f2937"
MUTED = "#526071"
GRID = "#d7dde5"
SURFACE = "#ffffff"

CSS_NAMES = {
    COMPUTE: "compute",
    MEMORY: "memory",
    NETWORK: "network",
    IDLE: "idle",
    CHANGED: "changed",
    INK: "ink",
    MUTED: "muted",
    GRID: "grid",
    SURFACE: "surface",
}

FONT = "DejaVu Sans"

RC: dict[Any, Any] = {
    "font.family": [FONT],
    "font.size": 11.0,
    "text.color": INK,
    "text.parse_math": False,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.facecolor": "none",
    "axes.titlesize": 12.0,
    "axes.labelsize": 11.0,
    "xtick.labelsize": 10.5,
    "ytick.labelsize": 10.5,
    "axes.titlelocation": "left",
    "figure.facecolor": "none",
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "lines.linewidth": 2.0,
    "lines.solid_capstyle": "round",
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.major.size": 3.5,
    "ytick.major.size": 3.5,
    "svg.fonttype": "none",
    "path.simplify": False,
}


@contextmanager
def context(salt: str | None = None) -> Iterator[None]:
    """The book's settings for the artists made inside; nothing global changes.

    Parameters
    ----------
    salt : str, optional
        Makes the ids in an SVG depend on this text and nothing else.
    """
    with mpl.rc_context(RC | ({"svg.hashsalt": salt} if salt else {})):
        yield


def axes(
    size: tuple[float, float] = (6.0, 4.2),
    *,
    box: tuple[float, float, float, float] = (0.12, 0.14, 0.85, 0.8),
) -> Axes:
    """Axes on a figure of their own, with fixed margins and no pyplot state.

    Parameters
    ----------
    size : (float, float) [inch]
        Width and height of the figure.
    box : (float, float, float, float)
        Left, bottom, width, height of the axes as fractions of the figure.
    """
    return Figure(figsize=size, dpi=72).add_axes(box)


def page(ax: Axes) -> Figure:
    """The figure that the axes stand on; a figure within a figure has none of its own."""
    root = ax.get_figure(root=True)
    if root is None:
        raise ValueError("ax must stand on a figure; got axes that were removed from theirs")
    return root


def log_axis(ax: Axes, which: str, limits: tuple[float, float], *, every: int = 1) -> None:
    """A logarithmic axis with one plain-text tick for each `every` decades."""
    getattr(ax, f"set_{which}scale")("log")
    getattr(ax, f"set_{which}lim")(*limits)
    axis = ax.xaxis if which == "x" else ax.yaxis
    axis.set_major_locator(FixedLocator(decades(limits, every)))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: units.tick(value)))


def decades(limits: tuple[float, float], every: int = 1) -> Sequence[float]:
    """Powers of ten within the limits, each `every`-th, counted from 1.

    >>> decades((0.05, 300))
    [0.1, 1.0, 10.0, 100.0]
    """
    low, high = limits
    return [10.0**e for e in range(-30, 31) if low <= 10.0**e <= high and e % every == 0]

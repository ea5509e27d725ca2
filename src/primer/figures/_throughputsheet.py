"""The sheet of the throughput figure: one row for each precision, rates on a logarithmic axis."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes

from primer import units
from primer.figures import _boxes, style
from primer.hardware import PRECISIONS
from primer.matrix_units import Comparison, Rate
from primer.quantities import Quantity

SIZE = (6.0, 4.45)
FONT = 10.5
HEAD, TOP, ROW = 304.0, 258.0, 19.0
AXIS_Y = TOP - (len(PRECISIONS) - 0.4) * ROW
NAME_X, LEFT, RIGHT, RATE_X, RATIO_X = 46.0, 56.0, 264.0, 369.0, 420.0
DECADES = (11.3, 17.2)  # of the axis, in FLOP/s or OP/s
_WORDS: dict[str, Any] = {"va": "center", "fontsize": FONT}
_MARKS: dict[str, dict[str, Any]] = {
    "vector": {"marker": "s", "mfc": style.SURFACE, "mec": style.COMPUTE, "ms": 7.0, "mew": 1.6},
    "matrix": {"marker": "o", "mfc": style.COMPUTE, "mec": style.COMPUTE, "ms": 7.5},
    "sparse": {"marker": "D", "mfc": style.SURFACE, "mec": style.CHANGED, "ms": 6.5, "mew": 1.8},
}


@dataclass(frozen=True, kw_only=True)
class Throughput:
    """The rates of one chip, and which kind of them is written out.

    Parameters
    ----------
    comparison : Comparison
    sparse : bool
        Whether rates for operands with zeros in a pattern are shown.
    """

    comparison: Comparison
    sparse: bool

    def shown(self, rate: Rate) -> tuple[Quantity | None, float | None]:
        """What is written in a row: a rate, and its ratio to the yardstick."""
        if self.sparse:
            return rate.sparse, rate.sparse_ratio
        return rate.dense, rate.ratio


def at_rate(amount: float) -> float:
    """Place of a rate on the axis.

    >>> at_rate(10**11.3) == LEFT
    True
    """
    low, high = DECADES
    return LEFT + (math.log10(amount) - low) / (high - low) * (RIGHT - LEFT)


def row_y(i: int) -> float:
    """Middle of a row."""
    return TOP - i * ROW


class Chart:
    """Marks for vector, matrix and sparse rates, and their numbers beside them."""

    def __init__(self, ax: Axes) -> None:
        self._axis(ax)
        self.title = ax.text(14, HEAD, "", gid="unit", **_WORDS)
        self.head = ax.text(RATE_X, TOP + 22, "", ha="right", gid="kind", **_WORDS)
        ax.text(RATIO_X, TOP + 22, "ratio", ha="right", **_WORDS)
        ax.text(LEFT, TOP + 22, "FLOP/s or OP/s", **_WORDS)
        (self.yardstick,) = ax.plot(
            [], [], color=style.MUTED, lw=1.2, ls=(0, (3, 2)), gid="yardstick", zorder=1
        )
        look: dict[str, Any] = {"fc": "none", "zorder": 2}
        self.gain = _boxes.patch(ax, "gain", ec=style.COMPUTE, lw=1.6, **look)
        self.skip = _boxes.patch(ax, "skip", ec=style.CHANGED, lw=1.4, ls=(0, (2, 1.5)), **look)
        self.marks = {
            name: ax.plot([], [], ls="", gid=name, zorder=4, **mark)[0]
            for name, mark in _MARKS.items()
        }
        self.rates, self.ratios = (
            [
                ax.text(x, row_y(i), "", ha="right", gid=f"{name}-{i}", **_WORDS)
                for i in range(len(PRECISIONS))
            ]
            for x, name in ((RATE_X, "rate"), (RATIO_X, "ratio"))
        )
        self._legend(ax)

    def _axis(self, ax: Axes) -> None:
        rows = [(LEFT, row_y(i), RIGHT, row_y(i)) for i in range(len(PRECISIONS))]
        _boxes.patch(ax, "rows", _boxes.lines(rows), fc="none", ec=style.GRID, lw=0.8, zorder=0)
        for i, name in enumerate(PRECISIONS):
            ax.text(NAME_X, row_y(i), name, ha="right", **_WORDS)
        ax.plot([LEFT, RIGHT], [AXIS_Y, AXIS_Y], color=style.MUTED, lw=0.8)
        for power in range(12, 18):
            x = at_rate(10.0**power)
            long = 4 if power % 2 == 0 else 2.5
            ax.plot([x, x], [AXIS_Y, AXIS_Y - long], color=style.MUTED, lw=0.8)
            if power % 2 == 0:
                label = units.tick(10.0**power)
                ax.text(x, AXIS_Y - 12, label, ha="center", **_WORDS)

    def _legend(self, ax: Axes) -> None:
        """The three marks and the line."""
        words = ("vector units", "matrix units", "sparse operands")
        for x, (mark, look), text in zip((22, 132, 242), _MARKS.items(), words, strict=True):
            ax.plot([x], [36], ls="", gid=f"key-{mark}", **look)
            ax.text(x + 10, 36, text, **_WORDS)
        ax.plot([22, 22], [10, 22], color=style.MUTED, lw=1.2, ls=(0, (3, 2)))
        ax.text(32, 16, "FP32 on the vector units: ratio 1", **_WORDS)

    @property
    def moving(self) -> tuple[Any, ...]:
        """The artists that a state changes."""
        drawn = (self.yardstick, self.gain, self.skip, *self.marks.values())
        return (self.title, self.head, *drawn, *self.rates, *self.ratios)

    def update(self, view: Throughput) -> None:
        """Show one chip."""
        rates = view.comparison.rates
        chosen: dict[str, Sequence[Quantity | None]] = {
            "vector": [rate.vector for rate in rates],
            "matrix": [rate.matrix for rate in rates],
            "sparse": [rate.sparse if view.sparse else None for rate in rates],
        }
        for name, line in self.marks.items():
            points = [(at_rate(q.value), row_y(i)) for i, q in _known(chosen[name])]
            line.set_data([x for x, _ in points], [y for _, y in points])
        self.gain.set_path(_boxes.lines(_links(chosen["vector"], chosen["matrix"])))
        dense = [rate.dense for rate in rates]
        self.skip.set_path(_boxes.lines(_links(dense, chosen["sparse"])))
        yardstick = view.comparison.fp32_vector
        x = [at_rate(yardstick)] * 2 if yardstick else []
        self.yardstick.set_data(x, [TOP + 9, AXIS_Y] if yardstick else [])
        self.title.set_text(unit_words(view.comparison))
        self.head.set_text("sparse rate" if view.sparse else "dense rate")
        for rate, shown, ratio in zip(rates, self.rates, self.ratios, strict=True):
            amount, times = view.shown(rate)
            shown.set_text(rate_words(amount))
            ratio.set_text("" if times is None else ratio_words(times))


def _known(rates: Sequence[Quantity | None]) -> Iterable[tuple[int, Quantity]]:
    return ((i, q) for i, q in enumerate(rates) if q is not None and q.is_published)


def _links(
    start: Sequence[Quantity | None], end: Sequence[Quantity | None]
) -> list[tuple[float, float, float, float]]:
    """Lines from one rate to another, in the rows that have both."""
    ends = dict(_known(end))
    return [
        (at_rate(q.value), row_y(i), at_rate(ends[i].value), row_y(i))
        for i, q in _known(start)
        if i in ends
    ]


def unit_words(comparison: Comparison) -> str:
    """Whose matrix unit it is."""
    unit = comparison.unit
    if unit is None:
        return f"{comparison.chip.name}: no matrix unit in the tables"
    return f"{unit.vendor}’s {unit.title}, since {unit.since}"


def rate_words(rate: Quantity | None) -> str:
    """A rate as its source prints it; a dash where the table has no row."""
    return "–" if rate is None else str(rate)


def ratio_words(ratio: float) -> str:
    """Times the FP32 vector rate.

    >>> ratio_words(14.79), ratio_words(0.01667), ratio_words(118.3)
    ('14.8×', '0.017×', '118×')
    """
    return f"{units.number(ratio, 3 if ratio >= 1 else 2)}×"

"""The sheet of the tiling figure: where things stand, measured in points."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba

from primer.figures import _boxes, style
from primer.figures._boxes import Box
from primer.figures._cachegrid import crosses, inset
from primer.figures._gemm import column, write
from primer.figures._tilingruns import LINE, N_STEPS, K, M, N, TilingRun

SIZE = (5.5, 5.75)
LEFT, RIGHT = 14.0, 382.0
DECADES = (4.5, 8.5)  # of the traffic, in bytes
FONT = 10.5

CELL, GAP = 14.5, 18.0
LOW, SMALL_X = 12.0, 26.0
SHAPES = ((M, K), (K, N), (M, N))
CORNERS = (
    (SMALL_X, LOW + M * CELL),
    (SMALL_X + K * CELL + GAP, LOW + M * CELL + GAP + K * CELL),
    (SMALL_X + K * CELL + GAP, LOW + M * CELL),
)  # upper left, of A, B, C
WORDS_X = SMALL_X + (K + N) * CELL + GAP + 18.0


def cell(operand: int, row: int, col: int, width: int = 1) -> Box:
    """Where some neighbors in a row of a small matrix stand."""
    x, y = CORNERS[operand]
    return (x + col * CELL, y - (row + 1) * CELL, width * CELL, CELL)


def line_place(line: int) -> Box:
    """Where a line of the small matrices stands, counted from the first line of A.

    >>> line_place(0) == cell(0, 0, 0, 4), line_place(9) == cell(1, 0, 4, 4)
    (True, True)
    """
    for operand, (rows, columns) in enumerate(SHAPES):
        per_row = columns // LINE
        if line < rows * per_row:
            return cell(operand, line // per_row, line % per_row * LINE, LINE)
        line -= rows * per_row
    return _boxes.NOWHERE


def at_bytes(amount: float) -> float:
    """Place of an amount of traffic on its logarithmic axis."""
    low, high = DECADES
    return LEFT + (float(np.log10(amount)) - low) / (high - low) * (RIGHT - LEFT)


class SmallProduct:
    """A, B and C around a corner; what is in the cache, and what the last step touched."""

    def __init__(self, ax: Axes) -> None:
        look: dict[str, Any] = {"fc": "none", "lw": 0}
        self.held = _boxes.patch(
            ax, "held", fc=to_rgba(style.COMPUTE, 0.3), ec=style.COMPUTE, lw=1.3, zorder=1
        )
        self.gone = _boxes.patch(
            ax, "gone", **look | {"ec": style.IDLE, "lw": 1.3, "ls": (0, (2.5, 2)), "zorder": 2.5}
        )
        self.touched = _boxes.patch(ax, "touched", fc=style.INK, ec="none", lw=0, zorder=3)
        self.missed = _boxes.patch(
            ax, "missed", fc="none", ec=style.MEMORY, lw=1.8, zorder=4
        )  # fmt: skip
        for operand, name in enumerate("ABC"):
            self._grid(ax, operand, name)
        self.words = column(ax, "words", WORDS_X, LOW + 98, 3, fontsize=FONT)
        self._legend(ax)

    def _grid(self, ax: Axes, operand: int, name: str) -> None:
        rows, columns = SHAPES[operand]
        cells = [cell(operand, i, j) for i in range(rows) for j in range(columns)]
        _boxes.patch(
            ax, f"{name}-grid", _boxes.boxes(cells), fc="none", ec=style.GRID, lw=0.9, zorder=2
        )
        x, y = CORNERS[operand]
        if name == "A":
            ax.text(x - 8, y - rows * CELL / 2, name, ha="center", va="center", fontweight="bold")
        else:
            at = x + columns * CELL + 8
            ax.text(at, y - rows * CELL / 2, name, ha="center", va="center", fontweight="bold")

    def _legend(self, ax: Axes) -> None:
        """In the corner that A and B leave free."""
        x, y = LEFT, CORNERS[1][1] - CELL
        ax.text(x, y, "The same loops, small", fontweight="bold", va="center", fontsize=FONT)
        places = [(x, y - 21 - 18 * i, CELL, CELL) for i in range(4)]
        middles = [(bx + w / 2, by + h / 2) for bx, by, w, h in places]
        _boxes.patch(
            ax, "key-held", _boxes.boxes([places[0]]), fc=to_rgba(style.COMPUTE, 0.3),
            ec=style.COMPUTE, lw=1.3,
        )  # fmt: skip
        dot = _boxes.boxes([inset(places[1], 4.6)])
        _boxes.patch(ax, "key-touched", dot, fc=style.INK, ec="none", lw=0)
        cross = _boxes.lines(crosses([places[2]], 2.6))
        _boxes.patch(ax, "key-missed", cross, fc="none", ec=style.MEMORY, lw=1.8)
        _boxes.patch(
            ax, "key-gone", _boxes.boxes([places[3]]), fc="none", ec=style.IDLE, lw=1.3,
            ls=(0, (2.5, 2)),
        )  # fmt: skip
        words = ("line in the cache", "touched, was there", "touched, missed", "just evicted")
        for (_, middle), text in zip(middles, words, strict=True):
            ax.text(x + CELL + 6, middle, text, va="center", fontsize=FONT)

    @property
    def moving(self) -> tuple[Any, ...]:
        """The artists that a state changes."""
        return (self.held, self.gone, self.touched, self.missed, *self.words)

    def update(self, result: TilingRun) -> None:
        """Show the cache after some steps."""
        steps, trace = result.small.steps, result.small.trace
        first = int(trace.line.min())
        held = trace.held(result.n_done)
        now = result.now
        gone = {int(trace.evicted[i]) for i in now} - {-1, *held}
        self.held.set_path(_boxes.boxes(line_place(line - first) for line in held))
        self.gone.set_path(
            _boxes.boxes(inset(line_place(line - first), 1.5) for line in sorted(gone))
        )
        places = [
            cell(*(int(part[i]) for part in (steps.operand, steps.row, steps.column))) for i in now
        ]
        missed = {place for place, i in zip(places, now, strict=True) if trace.cause[i]}
        hit = sorted(set(places) - missed)
        self.touched.set_path(_boxes.boxes(inset(place, 4.6) for place in hit))
        self.missed.set_path(_boxes.lines(crosses(sorted(missed), 2.6)))
        write(self.words, _words(result))


def _words(result: TilingRun) -> str:
    trace, now = result.small.trace, result.now
    before, done = trace.n_misses(now.start), trace.n_misses(now.stop)
    return f"step {result.step} of {N_STEPS}\nmisses {done - before}\nso far {done}"


def runs(widths: Iterable[float]) -> list[tuple[float, float]]:
    """Shares of a bar, one after another, as (begin, width) in points."""
    found, x = [], LEFT
    for share in widths:
        found.append((x, share * (RIGHT - LEFT)))
        x += share * (RIGHT - LEFT)
    return found

"""A 4 × 4 product by hand: one multiply-add for each step, sixty-four in all.

The left matrix stands to the left of the result and the right one above it, so that each entry
stands where its row and its column meet.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba

from primer.explore.explorable import Control, Explorable, Row
from primer.figures import _boxes, style
from primer.figures._gemm import LINE, canvas, column, write
from primer.figures._picture import Picture, draw

N = 4
A = ((3, 1, 2, 4), (2, 5, 1, 3), (4, 2, 6, 1), (1, 3, 2, 5))
B = ((2, 4, 1, 3), (5, 1, 2, 6), (3, 2, 4, 1), (1, 6, 3, 2))

SIZE = (5.0, 4.05)
CELL = 31.0
LEFT, GAP, TOP = 40.0, 22.0, 284.0
ORIGINS = {
    "A": (LEFT, TOP - N * CELL - GAP),
    "B": (LEFT + N * CELL + GAP, TOP),
    "C": (LEFT + N * CELL + GAP, TOP - N * CELL - GAP),
}  # upper left corners
Ints = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True, eq=False)
class Run:
    """All multiply-adds of a product, in the order of three nested loops.

    Parameters
    ----------
    row, column, inner : int array (n³,)
        Where each belongs: it adds A[row, inner] · B[inner, column] to C[row, column].
    product, sum : int array (n³,)
        What is added, and the entry after it.
    """

    row: Ints
    column: Ints
    inner: Ints
    product: Ints
    sum: Ints


def record(a: Any, b: Any) -> Run:
    """Multiply two square matrices of integers, one multiply-add at a time.

    >>> record([[1, 2], [3, 4]], [[5, 6], [7, 8]]).sum.tolist()
    [5, 19, 6, 22, 15, 43, 18, 50]
    """
    left, right = np.asarray(a), np.asarray(b)
    n = len(left)
    row, column, inner = (axis.reshape(-1) for axis in np.indices((n, n, n)))
    product = left[row, inner] * right[inner, column]
    total = np.cumsum(product.reshape(-1, n), axis=1).reshape(-1)
    for steps in (row, column, inner, product, total):
        steps.flags.writeable = False
    return Run(row=row, column=column, inner=inner, product=product, sum=total)


@cache
def _run() -> Run:
    return record(A, B)


@dataclass(frozen=True)
class DotProductStep:
    """How far the product has come.

    Parameters
    ----------
    run : Run
    step : int
        Multiply-adds done; none at 0.
    """

    run: Run
    step: int

    @property
    def last(self) -> int:
        """Index of the last multiply-add; of the first, if none is done, int."""
        return max(self.step - 1, 0)

    @property
    def entry(self) -> tuple[int, int]:
        """Row and column of the entry at work."""
        return int(self.run.row[self.last]), int(self.run.column[self.last])

    @property
    def n_terms(self) -> int:
        """Products that are in the sum at work, int."""
        return int(self.run.inner[self.last]) + 1 if self.step else 0

    @property
    def running_sum(self) -> int:
        """The sum at work, int."""
        return int(self.run.sum[self.last]) if self.step else 0

    @property
    def n_finished(self) -> int:
        """Entries of C that are done, int."""
        return self.step // N

    @property
    def operand_reads(self) -> int:
        """Numbers of A and B that were fetched, two for each multiply-add, int."""
        return 2 * self.step

    @property
    def n_distinct(self) -> int:
        """How many different places of A and B they came from, int."""
        row, column, inner = (
            getattr(self.run, name)[: self.step] for name in ("row", "column", "inner")
        )
        return len(set(zip(row, inner, strict=True))) + len(set(zip(inner, column, strict=True)))


def compute(step: int) -> DotProductStep:
    """The product of A and B after so many multiply-adds."""
    return DotProductStep(_run(), step)


class DotProductFigure(Picture):
    """Three matrices around a corner, the row and column at work, and the sum in writing.

    Parameters
    ----------
    ax : Axes
        Becomes a sheet measured in points.
    """

    size: ClassVar[tuple[float, float]] = SIZE
    box: ClassVar[tuple[float, float, float, float]] = (0.0, 0.0, 1.0, 1.0)
    depends: ClassVar[dict[str, tuple[str, ...]]] = {}

    def __init__(self, ax: Axes) -> None:
        self.ax = ax
        self.alt = "Two matrices of four by four."
        canvas(ax, SIZE)
        self.strips = _boxes.patch(
            ax, "strips", fc=to_rgba(style.MEMORY, 0.16), ec=style.MEMORY, lw=1.8, zorder=3
        )
        self.operands = _boxes.patch(
            ax, "operands", fc=to_rgba(style.MEMORY, 0.35), ec=style.MEMORY, lw=1.2, zorder=2
        )
        self.done = _boxes.patch(
            ax, "done", fc=to_rgba(style.COMPUTE, 0.2), ec="none", lw=0, zorder=0
        )
        self.here = _boxes.patch(ax, "here", fc="none", ec=style.COMPUTE, lw=2.4, zorder=3)
        for name, values in (("A", A), ("B", B), ("C", None)):
            self._matrix(name, values)
        x, y = ORIGINS["A"][0] + N * CELL / 2, TOP - N * CELL / 2 + LINE
        self.sum = column(ax, "sum", x, y, 3, ha="center")

    def _matrix(self, name: str, values: Any) -> None:
        """Its grid and name, and its numbers; those of C move."""
        ax = self.ax
        places = [place(name, i, j) for i in range(N) for j in range(N)]
        _boxes.patch(ax, f"{name}-grid", _boxes.boxes(places), fc="none", ec=style.GRID, zorder=1)
        x, y = ORIGINS[name]
        side, align = (x - 9, "right") if name == "A" else (x + N * CELL + 9, "left")
        ax.text(side, y - N * CELL / 2, name, fontweight="bold", ha=align, va="center")
        self.entries = [
            ax.text(
                x + CELL / 2, y + CELL / 2, "" if values is None else str(values[i][j]),
                ha="center", va="center", fontsize=13, gid=f"{name}-{i}-{j}", zorder=4,
            )
            for i in range(N)
            for j in range(N)
            for x, y, *_ in [place(name, i, j)]
        ]  # fmt: skip

    @property
    def moving(self) -> tuple[Any, ...]:
        """The artists that a state changes."""
        return (self.strips, self.operands, self.done, self.here, *self.entries, *self.sum)

    def update(self, result: DotProductStep) -> None:
        """Show the product after some multiply-adds."""
        i, j = result.entry
        self.strips.set_path(_boxes.boxes([strip("A", i), strip("B", j)]))
        self.here.set_path(_boxes.boxes([place("C", i, j)]))
        inner = result.n_terms - 1
        self.operands.set_path(
            _boxes.boxes([place("A", i, inner), place("B", inner, j)] if result.step else [])
        )
        finished = [divmod(e, N) for e in range(result.n_finished)]
        self.done.set_path(_boxes.boxes([place("C", *entry) for entry in finished]))
        for e, text in enumerate(self.entries):
            text.set_text(entry_text(result, e))
        write(self.sum, sum_text(result))
        self.alt = (
            f"{sum_text(result)}. ".replace("\n", " ")
            + f"{result.n_finished} of {N * N} entries are finished."
        )


def place(name: str, i: int, j: int) -> _boxes.Box:
    """Where one cell of a matrix stands."""
    x, y = ORIGINS[name]
    return (x + j * CELL, y - (i + 1) * CELL, CELL, CELL)


def strip(name: str, index: int) -> _boxes.Box:
    """A whole row of A, or a whole column of B."""
    x, y = ORIGINS[name]
    if name == "A":
        return (x, y - (index + 1) * CELL, N * CELL, CELL)
    return (x + index * CELL, y - N * CELL, CELL, N * CELL)


def entry_text(result: DotProductStep, e: int) -> str:
    """An entry of C: its value, the sum so far, or nothing yet."""
    n_done = min(max(result.step - e * N, 0), N)
    return str(result.run.sum[e * N + n_done - 1]) if n_done else ""


def sum_text(result: DotProductStep) -> str:
    """The entry at work, written out as far as it goes.

    >>> print(sum_text(compute(2)))
    C[0,0] =
    3·2 + 1·5 + …
    so far 11
    """
    i, j = result.entry
    terms = [f"{A[i][p]}·{B[p][j]}" for p in range(result.n_terms)]
    open_end = [] if result.n_terms == N else ["…"]
    state = "finished:" if result.n_terms == N else "so far"
    return f"C[{i},{j}] =\n{' + '.join(terms + open_end)}\n{state} {result.running_sum}"


def draw_dot_product(result: DotProductStep, *, ax: Axes | None = None) -> DotProductFigure:
    """Draw one step.

    Parameters
    ----------
    result : DotProductStep
        From `compute`.
    ax : Axes, optional
        Where to draw; by default on a figure of its own.
    """
    return draw(DotProductFigure, result, ax)


def readout(result: DotProductStep) -> tuple[Row, ...]:
    """The rows under the figure."""
    i, j = result.entry
    p = max(result.n_terms - 1, 0)
    product = f"{A[i][p]} · {B[p][j]} = {A[i][p] * B[p][j]}" if result.step else "none yet"
    return (
        Row("entry", f"C[{i},{j}]", "", "Entry at work"),
        Row("product", product, "", "Last product"),
        _count("running_sum", result.running_sum, "Its sum so far"),
        _count("n_macs", result.step, "Multiply-adds done"),
        Row("flop", 2.0 * result.step, "FLOP", "Two FLOP for each"),
        Row("n_finished", result.n_finished, "1", "Entries finished", f"{result.n_finished} of 16"),
        _count("operand_reads", result.operand_reads, "Numbers of A and B fetched"),
        _count("n_distinct", result.n_distinct, "Different ones among them"),
    )


def _count(name: str, value: int, label: str) -> Row:
    return Row(name, value, "1", label, str(value))


def sentence(result: DotProductStep) -> str:
    """What happens in this step."""
    if not result.step:
        return (
            "Row 0 of A and column 0 of B meet in C[0,0]. Four products go into its sum: "
            "press play, or step."
        )
    if result.step == N**3:
        return (
            "All {n_macs} multiply-adds are done. They fetched {operand_reads} numbers, but there "
            "are only {n_distinct}: each was fetched four times. Who keeps it fetches it once."
        )
    if result.n_terms == N:
        return (
            "{product} is the last product of {entry}, which is {running_sum}. "
            "{n_finished} entries are finished."
        )
    return "{product} is added to {entry}, which now holds {running_sum}."


EXPLORABLE = Explorable(
    id="dot-product",
    question="Where do the operations of a matrix product come from?",
    level="isa",
    controls=(Control("step", "Multiply-adds done", tuple(range(N**3 + 1)), 3, kind="step"),),
    compute=compute,
    figure=DotProductFigure,
    readout=readout,
    sentence=sentence,
    assumes=(
        "one multiply-add at a time, row by row, and every operand fetched anew. Real machines do "
        "many at once, in another order; the sums are the same, up to rounding."
    ),
)

"""One walk over one matrix: which line each access touches, and whether it is still there.

Memory is folded so that lines of one set stand in one row: what collides is seen at once.
"""

from __future__ import annotations

from typing import Any, ClassVar

from matplotlib.axes import Axes

from primer.explore.explorable import Control, Explorable, Row
from primer.figures._gemm import canvas
from primer.figures._patternruns import (
    BYTES,
    LAYOUTS,
    LEADS,
    LINE,
    N_ACCESSES,
    SIDE,
    TILE,
    WALKS,
    WAYS,
    PatternStep,
    compute,
)
from primer.figures._patternsheet import SIZE, Matrix, Memory
from primer.figures._picture import Picture, draw

LAYOUT_NAMES = {"row_major": "row-major", "column_major": "column-major"}
WALK_NAMES = {"rows": "along rows", "columns": "along columns", "tiles": "tiles of 4 × 4, by rows"}


class MemoryPatternFigure(Picture):
    """The matrix with its walk, and memory with the cache beside it.

    Parameters
    ----------
    ax : Axes
        Becomes a sheet measured in points.
    """

    size: ClassVar[tuple[float, float]] = SIZE
    box: ClassVar[tuple[float, float, float, float]] = (0.0, 0.0, 1.0, 1.0)
    depends: ClassVar[dict[str, tuple[str, ...]]] = {
        "words-0": ("walk", "step"),
        "padding": ("ld",),
        "lines": ("ld",),
    }

    def __init__(self, ax: Axes) -> None:
        self.ax = ax
        self.alt = "A matrix of 8 × 8 in memory."
        canvas(ax, SIZE)
        self.matrix = Matrix(ax)
        self.memory = Memory(ax)

    @property
    def moving(self) -> tuple[Any, ...]:
        """The artists that a state changes."""
        return (*self.matrix.moving, *self.memory.moving)

    def update(self, result: PatternStep) -> None:
        """Show a walk after some accesses."""
        self.matrix.update(result)
        self.memory.update(result.walk)
        self.alt = describe(result)


def describe(result: PatternStep) -> str:
    """What the picture shows, in words."""
    walk = result.walk
    return (
        f"A matrix of {SIDE} × {SIDE}, {walk.layout.replace('_', '-')} with a leading dimension "
        f"of {walk.ld}, walked {WALK_NAMES[walk.walk]}: {result.step} accesses, "
        f"{result.n_misses} misses."
    )


def draw_memory_pattern(result: PatternStep, *, ax: Axes | None = None) -> MemoryPatternFigure:
    """Draw one step of a walk.

    Parameters
    ----------
    result : PatternStep
        From `compute`.
    ax : Axes, optional
        Where to draw; by default on a figure of its own.
    """
    return draw(MemoryPatternFigure, result, ax)


def readout(result: PatternStep) -> tuple[Row, ...]:
    """The rows under the figure."""
    walk, n = result.walk, result.step
    count = walk.trace.count
    return (
        _count("stride_elements", walk.stride_elements, "Numbers from access to access"),
        _count("n_sets_used", walk.n_sets_used, "Sets for what is ld apart", " of 4"),
        _count("line", result.line, "Line of the last access" if n else "Line of the first"),
        _count("set_index", result.set_index, "Its set"),
        Row("cause", result.cause, "", "It was", result.cause),
        _count("n_accesses", n, "Accesses"),
        _count("n_hits", n - result.n_misses, "Hits"),
        _count("n_misses", result.n_misses, "Misses"),
        _count("n_compulsory", count(n, "compulsory"), "of them compulsory"),
        _count("n_capacity", count(n, "capacity"), "of them capacity"),
        _count("n_conflict", count(n, "conflict"), "of them conflict"),
        Row("traffic_bytes", result.n_misses * LINE * BYTES, "B", "Bytes fetched"),
        Row("compulsory_bytes", SIDE * SIDE * BYTES, "B", "Bytes of the matrix"),
    )


def _count(name: str, value: int, label: str, unit: str = "") -> Row:
    return Row(name, value, "1", label, f"{value}{unit}")


def sentence(result: PatternStep) -> str:
    """What the reader sees in this state."""
    if not result.step:
        return (
            "Nothing is in the cache yet. The walk will step {stride_elements} in memory from "
            "one access to the next: press play, or step."
        )
    if result.step < N_ACCESSES:
        return f"{_event(result)} So far {{n_hits}} hits and {{n_misses}} misses."
    return _summary(result)


def _event(result: PatternStep) -> str:
    """The last access."""
    if result.cause == "hit":
        return "Line {line} is in the cache: a hit."
    if result.cause == "compulsory":
        first = "Line {line} comes for the first time, into set {set_index}: a compulsory miss."
        return first if result.evicted < 0 else f"{first} Line {result.evicted} has to leave."
    return (
        f"Line {{line}} was here and had to leave set {{set_index}} for others, which has only "
        f"{WAYS} places: a {{cause}} miss."
    )


def _summary(result: PatternStep) -> str:
    """The whole walk."""
    walk = result.walk
    n_repeated = result.n_misses - walk.trace.count(N_ACCESSES, "compulsory")
    if n_repeated > N_ACCESSES - result.n_misses:
        return (
            f"{{n_misses}} of 64 accesses missed. What is {walk.ld} apart falls into "
            "{n_sets_used} of 4 sets, so lines leave before their next number is needed, though "
            "the cache has room. Another ld spreads them."
        )
    if n_repeated:
        return (
            f"{{n_misses}} misses. Rows of {walk.ld} begin in the middle of a line, so they touch "
            "more lines, and some of these leave too early."
        )
    if walk.stride_elements == 1:
        return (
            "{n_misses} misses, {n_hits} hits: the walk goes along the lines, and uses up each "
            "one while it is there. The layout alone is neither good nor bad; walk and layout "
            "have to match."
        )
    kept = f"{SIDE if walk.walk != 'tiles' else TILE} lines"
    return (
        f"The walk jumps {{stride_elements}} numbers at a time, and still there are only "
        f"{{n_misses}} misses: the {kept} that it comes back to are spread over the sets, and "
        "all of them stay."
    )


EXPLORABLE = Explorable(
    id="memory-pattern",
    question="Which walks over a matrix does the cache reward?",
    level="isa",
    controls=(
        Control(
            "layout", "Layout", LAYOUTS, "row_major", kind="select",
            display=lambda layout: LAYOUT_NAMES[layout],
        ),
        Control(
            "walk", "Walk", WALKS, "columns", kind="select",
            display=lambda walk: WALK_NAMES[walk],
        ),
        Control("ld", "ld: leading dimension", LEADS, 8),
        Control("step", "Accesses made", tuple(range(N_ACCESSES + 1)), 9, kind="step"),
    ),
    compute=compute,
    figure=MemoryPatternFigure,
    readout=readout,
    sentence=sentence,
    assumes=(
        "numbers of four bytes, lines of four numbers, four sets of two ways, LRU, reads only, no "
        "prefetching; real caches have more of everything. Row-major and column-major are "
        "conventions: libraries take flags and leading dimensions, and do not transpose first."
    ),
)  # fmt: skip

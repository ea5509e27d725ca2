"""A product on a systolic array, cycle by cycle: all numbers in all cells, and where time goes."""

from __future__ import annotations

from typing import Any, ClassVar

from matplotlib.axes import Axes

from primer import systolic
from primer.explore.explorable import Control, Explorable, Row
from primer.figures._gemm import canvas
from primer.figures._picture import Picture, draw
from primer.figures._systolicbars import Bars
from primer.figures._systolicplaces import GROUP, SIZE
from primer.figures._systolicsheet import Cells, Surroundings
from primer.figures._systolicsteps import (
    EVERY,
    LOADING,
    PADDING,
    PRESETS,
    STALLED,
    USEFUL,
    VIEWS,
    Step,
    all_cycles,
    compute,
    is_valid,
)

PRESET_NAMES = {
    "square": "4×4 by 4×4, on 4×4 cells",
    "long": "4×16 by 16×4, on 4×4",
    "starved": "4×16 by 16×4, 4 words a cycle",
    "edges": "5×3 by 3×7, on 4×4: left-overs",
    "folds": "8×8 by 8×8, on 4×4: folds",
    "folds_overlap": "8×8 by 8×8, on 4×4: overlapped",
    "batch_1": "1×8 by 8×8, on 4×4: batch 1",
    "batch_1_overlap": "1×8 by 8×8, on 4×4: overlapped",
    "eight": "8×8 by 8×8, on 8×8",
    "large": "128×128 by 128×128, on 128×128",
}
DATAFLOW_NAMES = {
    "os": "output stationary", "ws": "weight stationary", "is": "input stationary",
}  # fmt: skip
VIEW_NAMES = {"values": "values", "heat": "heat: products so far"}


class SystolicFigure(Picture):
    """The array with its numbers; below, what its cells do in every cycle, and all together.

    Parameters
    ----------
    ax : Axes
        Becomes a sheet measured in points.
    """

    size: ClassVar[tuple[float, float]] = SIZE
    box: ClassVar[tuple[float, float, float, float]] = (0.0, 0.0, 1.0, 1.0)
    _SETUP = ("preset", "dataflow")
    _CYCLE = (*_SETUP, "cycle")
    depends: ClassVar[dict[str, tuple[str, ...]]] = {
        **dict.fromkeys((*Bars.STILL, "tells"), _SETUP),
        **dict.fromkeys(("marker", "left", "upper", "weights", "clock", "fold"), _CYCLE),
        "grid": ("preset",),
        **dict.fromkeys(("right-name", "down-name", "out-name"), ("dataflow",)),
        **dict.fromkeys((f"meaning-{i}" for i in range(6)), ("preset", "dataflow", "view")),
    }

    def __init__(self, ax: Axes) -> None:
        self.ax = ax
        self.alt = "A systolic array."
        canvas(ax, SIZE)
        self.cells = Cells(ax)
        self.surroundings = Surroundings(ax)
        self.bars = Bars(ax)

    @property
    def moving(self) -> tuple[Any, ...]:
        """The artists that a state changes."""
        return (*self.bars.moving, *self.surroundings.moving, *self.cells.moving)

    def update(self, result: Step) -> None:
        """Show one cycle."""
        self.cells.update(result)
        self.surroundings.update(result)
        self.bars.update(result)
        self.alt = describe(result)


def describe(result: Step) -> str:
    """What the picture shows, in words."""
    setup, count = result.setup, result.count
    return (
        f"{PRESET_NAMES[setup.preset]}, {DATAFLOW_NAMES[setup.dataflow]}: in cycle {result.cycle} "
        f"of {int(count.n_cycles)}, {result.n_busy} of {setup.product.side**2} cells multiply."
    )


def draw_systolic(result: Step, *, ax: Axes | None = None) -> SystolicFigure:
    """Draw one cycle.

    Parameters
    ----------
    result : Step
        From `compute`.
    ax : Axes, optional
        Where to draw; by default on a figure of its own.
    """
    return draw(SystolicFigure, result, ax)


def readout(result: Step) -> tuple[Row, ...]:
    """The rows under the figure."""
    count, n_pes = result.count, result.setup.product.side**2
    shares = count.shares
    return (
        Row("n_busy", result.n_busy, "1", "Cells that multiply now",
            f"{result.n_busy:,} of {n_pes:,}"),
        _number("n_done", result.n_done, "Products made so far"),
        _number("n_macs", count.n_macs, "All products"),
        _number("n_cycles", count.n_cycles, "All cycles"),
        _number("n_folds", count.n_folds, "Folds"),
        Row("utilization_frac", float(shares.useful), "1", "Cells in use, all cycles together"),
        Row("fill_drain_frac", float(shares.fill_drain), "1", "Lost to fill and drain"),
        Row("padding_frac", float(shares.padding), "1", "Lost to padding"),
        Row("load_frac", float(shares.weight_load), "1", "Lost to loading"),
        Row("stall_frac", float(shares.stall), "1", "Lost to memory stalls"),
        _number("stall_cycles", count.stall_cycles, "Cycles of stall"),
        _number("a_reads", count.a_reads, "Words of A that enter"),
        _number("b_reads", count.b_reads, "Words of B that enter"),
        _number("c_writes", count.c_writes, "Sums that leave"),
    )  # fmt: skip


def _number(name: str, value: Any, label: str) -> Row:
    return Row(name, int(value), "1", label, f"{int(value):,}")


def sentence(result: Step) -> str:
    """What happens in this cycle, and why; at the end, what it came to."""
    states, n_cycles = result.states, int(result.count.n_cycles)
    if not result.cycle:
        return _before(result.setup.dataflow)
    if result.cycle == n_cycles:
        return _after(result)
    if (states == STALLED).all():
        return (
            "The array stands still: memory brings 4 words in a cycle, and while all cells work "
            "they ask for 8. {stall_cycles} of {n_cycles} cycles go that way."
        )
    if not result.n_busy:
        return _idle(result)
    return _flow(result)


def _before(dataflow: str) -> str:
    """What waits at the edges."""
    if dataflow == "os":
        return (
            "A waits at the left, B above, each row and column one place further back than the "
            "one before: that is the skew. Press play, or step."
        )
    held, moving = ("B", "A") if dataflow == "ws" else ("A", "B")
    return (
        f"{held} is to stay in the cells, so it has to be brought there first: from above, what "
        f"belongs into the lowest row ahead. Then {moving} will stream. Press play, or step."
    )


def _idle(result: Step) -> str:
    """Nobody makes a product that counts."""
    if (result.states == LOADING).any():
        held = "B" if result.setup.dataflow == "ws" else "A"
        return (
            f"Numbers of {held} move down, one row in a cycle, until each is in its place. No "
            "cell multiplies yet: loading takes as many cycles as the array has rows."
        )
    return "What is in the array is only padding, or on its way out: no product counts."


def _flow(result: Step) -> str:
    """Fill, full, or drain."""
    states = result.states
    is_streaming = (states == USEFUL) | (states == PADDING)
    if is_streaming.all():
        unused = (states == PADDING).any()
        return (
            "All cells that have something to do multiply: {n_busy}. The matrices do not reach "
            "the others, and what passes there is padding."
            if unused
            else "All cells multiply. Each number that enters is used in every cell of its row or "
            "column on the way, and memory is asked once for all of them."
        )
    if is_streaming[0, 0]:
        return (
            "The front moves on by one diagonal in a cycle. A cell i rows down and j columns to "
            "the right begins i + j cycles after the corner: {n_busy} multiply now."
        )
    if states[0, 0] == LOADING:
        return (
            "The words of one fold are still on their way across, and behind them the corner "
            "already loads for the next: {n_busy} cells multiply now."
        )
    return (
        "The corner has had its words. The front has left it and moves on, and the cells behind "
        "finish one diagonal after the other: {n_busy} multiply now."
    )


def _after(result: Step) -> str:
    """What it came to, and the largest loss."""
    product, shares = result.setup.product, result.count.shares
    losses = {
        "The way across the array: filling and draining": shares.fill_drain,
        "Cells that the matrices do not reach": shares.padding,
        "Loading what is held, before anything can stream": shares.weight_load,
        f"Memory, which brings only {product.words} words in a cycle": shares.stall,
    }
    worst = max(losses, key=lambda name: float(losses[name]))
    return (
        "Done: {n_macs} products in {n_cycles} cycles, {utilization_frac} of what the cells "
        f"could have done. What cost most: {worst[0].lower()}{worst[1:]}."
    )


EXPLORABLE = Explorable(
    id="systolic",
    question="How does a product flow through an array of multipliers?",
    level="hardware",
    controls=(
        Control(
            "preset", "Product", tuple(PRESETS), "square", kind="select",
            display=lambda preset: PRESET_NAMES[preset],
        ),
        Control(
            "dataflow", "Dataflow", systolic.DATAFLOWS, "os", kind="select",
            display=lambda dataflow: DATAFLOW_NAMES[dataflow],
        ),
        Control(
            "view", "Show", VIEWS, "values", kind="select",
            display=lambda view: VIEW_NAMES[view],
        ),
        Control("cycle", "Cycle", all_cycles(), 4, kind="step"),
    ),
    compute=compute,
    figure=SystolicFigure,
    readout=readout,
    sentence=sentence,
    assumes=(
        "one multiply-add for each cell and cycle; cycles are counted from the first word that "
        "enters to the last product, without moving held sums out; a fold that does not fill the "
        "array takes as long as a full one; sums outside the array are added up for free. Of "
        f"128 × 128 cells a square stands for {GROUP} × {GROUP} and shows what the first of them "
        f"does; one cycle in {EVERY} is shown."
    ),
    is_valid=is_valid,
)  # fmt: skip

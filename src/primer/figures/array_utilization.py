"""How much of a systolic array works: what a shape loses to padding, to loading, and to its ends.

Above, where the time of all cells goes, with overlapping folds and without; below, the useful share
against m and against n. Which of the two is padded, and which is time, the dataflow decides.
"""

from __future__ import annotations

from typing import Any, ClassVar

from matplotlib.axes import Axes

from primer import systolic
from primer.explore.explorable import Control, Explorable, Row
from primer.figures._gemm import canvas
from primer.figures._picture import Picture, draw
from primer.figures._utilizationruns import (
    ARRAYS,
    M_VALUES,
    N_VALUES,
    ArrayRun,
    K,
    compute,
)
from primer.figures._utilizationsheet import SIZE, Bars, Plot

NAMES = {"os": "output stationary", "ws": "weight stationary", "is": "input stationary"}
GOOD = 0.9  # useful share from which on nothing large is lost


class ArrayUtilizationFigure(Picture):
    """Two bars and two curves.

    Parameters
    ----------
    ax : Axes
        Becomes a sheet measured in points.
    """

    size: ClassVar[tuple[float, float]] = SIZE
    box: ClassVar[tuple[float, float, float, float]] = (0.0, 0.0, 1.0, 1.0)
    depends: ClassVar[dict[str, tuple[str, ...]]] = {
        **{f"{swept}-title": ("array", "dataflow") for swept in "mn"},
        **{f"{swept}-edge": ("array",) for swept in "mn"},
        **{f"m-{line}": ("n", "array", "dataflow") for line in ("overlapped", "in_turns")},
        **{f"n-{line}": ("m", "array", "dataflow") for line in ("overlapped", "in_turns")},
    }

    def __init__(self, ax: Axes) -> None:
        self.ax = ax
        self.alt = "An array without work."
        canvas(ax, SIZE)
        self.bars, self.plots = Bars(ax), {swept: Plot(ax, swept) for swept in "mn"}

    @property
    def moving(self) -> tuple[Any, ...]:
        """The artists that a state changes."""
        return (*self.bars.moving, *self.plots["m"].moving, *self.plots["n"].moving)

    def update(self, run: ArrayRun) -> None:
        """Show one product."""
        self.bars.update(run)
        for plot in self.plots.values():
            plot.update(run)
        self.alt = describe(run)


def describe(run: ArrayRun) -> str:
    """What the picture shows, in words."""
    done, parts = run.overlapped, run.overlapped.shares
    return (
        f"{done.m:,} × {K} times {K} × {done.n:,} on {run.side} × {run.side} cells, "
        f"{NAMES[done.dataflow]}. With overlapping folds {parts.useful:.1%} of the cells’ time is "
        f"useful, {parts.padding:.1%} padding, {parts.weight_load:.1%} loading and "
        f"{parts.fill_drain:.1%} fill and drain; in turns {run.in_turns.utilization_frac:.1%} is "
        "useful."
    )


def draw_array_utilization(result: ArrayRun, *, ax: Axes | None = None) -> ArrayUtilizationFigure:
    """Draw one product.

    Parameters
    ----------
    result : ArrayRun
        From `compute`.
    ax : Axes, optional
        Where to draw; by default on a figure of its own.
    """
    return draw(ArrayUtilizationFigure, result, ax)


def readout(run: ArrayRun) -> tuple[Row, ...]:
    """The rows under the figure."""
    done, parts = run.overlapped, run.overlapped.shares
    return (
        _share("utilization_frac", done.utilization_frac, "Useful, folds overlapped"),
        _share("in_turns_frac", run.in_turns.utilization_frac, "Useful, folds in turns"),
        _share("padding_frac", parts.padding, "Padding, overlapped"),
        _share("weight_load_frac", parts.weight_load, "Loading, overlapped"),
        _share("fill_drain_frac", parts.fill_drain, "Fill and drain, overlapped"),
        _share("mapping_frac", done.mapping_frac, "Cells that a fold uses, on average"),
        Row("n_folds", done.n_folds, "1", "Folds", f"{done.n_folds:,}"),
        Row("n_cycles", done.n_cycles, "cycles", "Cycles, overlapped", f"{done.n_cycles:,}"),
    )


def _share(name: str, value: float, label: str) -> Row:
    return Row(name, value, "1", label, f"{100 * value:.3g} %")


def sentence(run: ArrayRun) -> str:
    """What the reader sees in this state."""
    parts = run.overlapped.shares
    if parts.useful >= GOOD:
        return _good(run)
    losses = {_padding: parts.padding, _loading: parts.weight_load, _ends: parts.fill_drain}
    worst = max(losses, key=lambda story: losses[story])
    return f"{worst(run)} {{utilization_frac}} of it is useful."


def _good(run: ArrayRun) -> str:
    """Why nothing large is lost."""
    roles, steps = run.roles, run.size(run.roles.steps)
    return (
        f"{roles.rows} and {roles.columns} lie on the array and fill it to the last cell, and "
        f"{steps:,} steps of {roles.steps} pass in each fold: {{utilization_frac}} of the cells’ "
        "time is useful. With folds in turns it would be {in_turns_frac}."
    )


def _padding(run: ArrayRun) -> str:
    """Sides that lie on the array, and do not fill it."""
    roles = run.roles
    short = [name for name in (roles.rows, roles.columns) if run.size(name) < run.padded(name)]
    named = " and ".join(
        f"{name} = {run.size(name):,} up to {run.padded(name):,}" for name in short
    )
    return (
        f"{roles.rows} and {roles.columns} lie on the array, in pieces of {run.side}. Filling "
        f"{named} takes {{padding_frac}} of the cells’ time."
    )


def _loading(run: ArrayRun) -> str:
    """Too few steps for what was loaded."""
    steps, of = run.size(run.roles.steps), run.roles.steps
    held = "weights" if run.overlapped.dataflow == "ws" else "numbers of A"
    used = "one step uses" if steps == 1 else f"{steps:,} steps use"
    return (
        f"{of} is time here, and is not padded. But a fold takes {run.side} cycles to load its "
        f"{held}, and then {used} them: loading takes {{weight_load_frac}} of the cells’ time."
    )


def _ends(run: ArrayRun) -> str:
    """Few folds: their ends weigh."""
    n_folds = run.overlapped.n_folds
    folds = "the only fold" if n_folds == 1 else "all {n_folds} folds"
    return (
        f"The largest loss is the way across the array, {2 * run.side - 2} cycles once for "
        f"{folds}. Fill and drain take {{fill_drain_frac}} of the cells’ time, and less if more "
        "streams."
    )


EXPLORABLE = Explorable(
    id="array-utilization",
    question="Which shapes fill the array?",
    level="hardware",
    controls=(
        Control("m", "m: rows of A", M_VALUES, 1, display=lambda m: f"{m:,}"),
        Control("n", "n: columns of B", N_VALUES, 3072, display=lambda n: f"{n:,}"),
        Control(
            "array", "Array", ARRAYS, 128, kind="select",
            display=lambda side: f"{side} × {side} cells",
        ),
        Control(
            "dataflow", "Dataflow", systolic.DATAFLOWS, "ws", kind="select",
            display=lambda dataflow: NAMES[dataflow],
        ),
    ),
    compute=compute,
    figure=ArrayUtilizationFigure,
    readout=readout,
    sentence=sentence,
    assumes=(
        f"k = {K}, a multiple of both arrays’ sides; every word arrives in time; a row of weights "
        "loads in a cycle. Streams are not padded, where a TPU rounds m up to 8 or 16."
    ),
)  # fmt: skip

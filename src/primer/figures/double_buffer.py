"""Weights that are copied while others are in use: when does the next tile arrive in time?

Above, who is busy in the first cycles, and which buffer holds what; below, the time per tile for
any number of rows, with its knee at the ridge of the chip.
"""

from __future__ import annotations

from typing import Any, ClassVar

from matplotlib.axes import Axes

from primer import units
from primer.explore.explorable import Control, Explorable, Row
from primer.figures._bufferruns import (
    BANDWIDTHS,
    LONG,
    M_VALUES,
    SHORT,
    BufferRun,
    compute,
    machine,
)
from primer.figures._buffersheet import SIZE, Gantt, Knee
from primer.figures._gemm import canvas
from primer.figures._picture import Picture, draw

WORDS = {1: "One buffer", 2: "Two buffers", 3: "Three buffers"}
NAMES = {0.5: "half", 1.0: "as built", 2.0: "double"}


class DoubleBufferFigure(Picture):
    """A chart of who is busy when, and a curve.

    Parameters
    ----------
    ax : Axes
        Becomes a sheet measured in points.
    """

    size: ClassVar[tuple[float, float]] = SIZE
    box: ClassVar[tuple[float, float, float, float]] = (0.0, 0.0, 1.0, 1.0)
    depends: ClassVar[dict[str, tuple[str, ...]]] = {
        "tile": ("m", "bandwidth", "uneven"),
        "frames": ("n_buffers",),
        **{f"buffer-{i}": ("n_buffers",) for i in range(3)},
        "plot-title": ("n_buffers",),
        **dict.fromkeys(("copy", "turns", "ridge", "copy-word", "ridge-word"), ("bandwidth",)),
        "turns-word": ("n_buffers", "bandwidth"),
        "curve": ("n_buffers", "bandwidth", "uneven"),
    }

    def __init__(self, ax: Axes) -> None:
        self.ax = ax
        self.alt = "Nothing is copied."
        canvas(ax, SIZE)
        self.gantt, self.knee = Gantt(ax), Knee(ax)

    @property
    def moving(self) -> tuple[Any, ...]:
        """The artists that a state changes."""
        return (*self.gantt.moving, *self.knee.moving)

    def update(self, run: BufferRun) -> None:
        """Show one product."""
        self.gantt.update(run)
        self.knee.update(run)
        self.alt = describe(run)


def describe(run: BufferRun) -> str:
    """What the picture shows, in words."""
    done = run.schedule
    uneven = ", in turn half as long and one and a half times as long," if run.uneven else ""
    return (
        f"{WORDS[done.n_buffers]}, {done.n_tiles} tiles of weights. A copy takes "
        f"{run.load_cycles:.0f} cycles{uneven} and the work on it {run.m:,}. Together they take "
        f"{done.total_cycles:,.0f} cycles, and the arrays wait for {done.stall_frac:.1%} of them."
    )


def draw_double_buffer(result: BufferRun, *, ax: Axes | None = None) -> DoubleBufferFigure:
    """Draw one product.

    Parameters
    ----------
    result : BufferRun
        From `compute`.
    ax : Axes, optional
        Where to draw; by default on a figure of its own.
    """
    return draw(DoubleBufferFigure, result, ax)


def readout(run: BufferRun) -> tuple[Row, ...]:
    """The rows under the figure."""
    done = run.schedule
    return (
        Row("load_cycles", run.load_cycles, "cycles", "Copy of one tile, on average"),
        Row("total_cycles", done.total_cycles, "cycles", f"All {done.n_tiles} tiles"),
        Row("time_s", run.time_s, "s", "The same in time"),
        Row("stall_cycles", done.stall_cycles, "cycles", "The arrays wait"),
        _share("stall_frac", done.stall_frac, "The arrays wait, of the time"),
        _share("copying_frac", done.copying_frac, "The memory copies, of the time"),
        Row("ridge_flop_per_byte", run.ridge_flop_per_byte, "FLOP/B",
            "Ridge: printed peak over bandwidth"),
        Row("tile_bytes", run.tile_bytes, "B", "One tile, 128 × 512 weights of 2 B",
            f"{run.tile_bytes:,.0f} B"),
    )  # fmt: skip


def _share(name: str, value: float, label: str) -> Row:
    return Row(name, value, "1", label, f"{100 * value:.3g} %")


def sentence(run: BufferRun) -> str:
    """What the reader sees in this state."""
    n = run.schedule.n_buffers
    if n == 1:
        return (
            "One buffer: copying and work take turns. The arrays wait for every tile, "
            "{stall_frac} of the time, and the memory rests while they work."
        )
    if run.uneven:
        return _uneven(run)
    third = "" if n == 2 else (
        " A third buffer changes nothing: it hides what two hide, as every tile takes equally long."
    )  # fmt: skip
    return _even(run) + third


def _even(run: BufferRun) -> str:
    """Who waits for whom, where all copies are alike."""
    if abs(run.m - run.load_cycles) < 1:
        return (
            "A tile arrives just as the one before it is used up: memory and arrays are both busy. "
            "So many rows are the ridge, {ridge_flop_per_byte}, up to rounding. The arrays wait "
            "for the first copy only, {stall_frac} of the time."
        )
    if run.m < run.load_cycles:
        used = "one row uses it up in a cycle" if run.m == 1 else "{m} rows use it up in {m}"
        return (
            f"A tile takes {{load_cycles}} to arrive, and {used}. The memory never pauses, and the "
            "arrays wait for {stall_frac} of the time. More rows would cost next to nothing, up "
            "to the ridge."
        )
    return (
        "The next tile is there before this one is used up: {load_cycles} of copying hide behind "
        "{m} rows. Now the memory pauses. The arrays wait for the first tile only, {stall_frac} of "
        "the time."
    )


def _uneven(run: BufferRun) -> str:
    """The same where a long copy follows a short one."""
    lead = "Copies are long and short in turn."
    if run.schedule.n_buffers == 2:
        if is_short(run):
            return (
                f"{lead} Even the short ones take longer than the work, so the memory is busy all "
                "the time, and it makes no difference: the arrays wait for {stall_frac} of it."
            )
        if is_long(run):
            return (
                f"{lead} Here even the long ones hide behind the work on one tile, and only the "
                "first shows."
            )
        return (
            f"{lead} Each long one is late, and in the short ones the time is not won back: with "
            "both buffers full, the memory has to pause. The arrays wait for {stall_frac} of the "
            "time. Try a third buffer."
        )
    if is_short(run):
        return (
            f"{lead} A third buffer changes nothing here: the memory is busy all the time, and the "
            "arrays wait for {stall_frac} of it."
        )
    if is_long(run):
        return f"{lead} A third buffer changes nothing here: two hide even the long ones."
    return (
        f"{lead} With three buffers the memory runs ahead in the short ones, and the lead covers "
        "the long ones. The arrays wait for {stall_frac} of the time, not much more than if all "
        "copies were alike."
    )


def is_short(run: BufferRun) -> bool:
    """Whether the work takes no longer than the shortest copy, to a cycle."""
    return run.m <= SHORT * run.load_cycles + 1


def is_long(run: BufferRun) -> bool:
    """Whether the work takes as long as the longest copy, to a cycle."""
    return run.m >= LONG * run.load_cycles - 1


def _rate(bandwidth: float) -> str:
    rate = units.text(bandwidth * machine().hbm_bytes_per_s, "B/s", 3)
    return f"{rate}, {NAMES[bandwidth]}"


EXPLORABLE = Explorable(
    id="double-buffer",
    question="When does the next tile arrive in time?",
    level="hardware",
    controls=(
        Control("n_buffers", "Buffers", (1, 2, 3), 2),
        Control("m", "m: rows that pass each tile", M_VALUES, 128, display=lambda m: f"{m:,}"),
        Control("bandwidth", "Main memory", BANDWIDTHS, 1.0, kind="select", display=_rate),
        Control("uneven", "Copies long and short in turn", (False, True), False, kind="toggle"),
    ),
    compute=compute,
    figure=DoubleBufferFigure,
    readout=readout,
    sentence=sentence,
    assumes=(
        "a TPU v5e, 768 × 3072 weights in bf16; rows and results stay on the chip. Memory "
        "delivers at its printed rate and without latency. Left out are the 128 cycles that a tile "
        "takes from its buffer into the arrays, which would show at double bandwidth, and the way "
        "across them."
    ),
)  # fmt: skip

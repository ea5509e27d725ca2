"""A loop in VLIW bundles: which slot starts what, for which tile, and what stays empty.

Above, all bundles from left to right, with a row for each slot. Below, one bundle in words.
"""

from __future__ import annotations

from typing import Any, ClassVar

from matplotlib.axes import Axes

from primer.explore.explorable import Control, Explorable, Row
from primer.figures._bundlesruns import LONGEST, OVERLAPS, WEIGHTS, BundleStep, compute
from primer.figures._bundlessheet import COLORS, NAMES, SIZE, Grid, Listing
from primer.figures._gemm import canvas
from primer.figures._picture import Picture, draw

_OVERLAP_WORDS = {
    "none": "none", "one_buffer": "with one buffer", "two_buffers": "with two buffers",
}  # fmt: skip
_WEIGHT_WORDS = {"kept": "kept in the array", "new": "new with every tile"}
_IN_THE_GRID = (
    *(f"{name}-{shade}" for name in COLORS for shade in ("dark", "light")),
    *("end", "title", "tile-0", "tile-1", "tile-2", "tile-3"),
)


class BundlesFigure(Picture):
    """The slots over time, and one bundle.

    Parameters
    ----------
    ax : Axes
        Becomes a sheet measured in points.
    """

    size: ClassVar[tuple[float, float]] = SIZE
    box: ClassVar[tuple[float, float, float, float]] = (0.0, 0.0, 1.0, 1.0)
    depends: ClassVar[dict[str, tuple[str, ...]]] = dict.fromkeys(
        _IN_THE_GRID, ("weights", "overlap")
    )

    def __init__(self, ax: Axes) -> None:
        self.ax = ax
        self.alt = "No schedule."
        canvas(ax, SIZE)
        self.grid, self.listing = Grid(ax), Listing(ax)

    @property
    def moving(self) -> tuple[Any, ...]:
        """The artists that a state changes."""
        return (*self.grid.moving, *self.listing.moving)

    def update(self, view: BundleStep) -> None:
        """Show one bundle of a schedule."""
        self.grid.update(view.schedule)
        self.listing.update(view)
        self.alt = describe(view)


def describe(view: BundleStep) -> str:
    """What the picture shows, in words."""
    found = view.schedule
    held = ", ".join(
        f"{found.program.operations[i].name} of tile {tile + 1}" for tile, i in view.started
    )
    return (
        f"{found.n_tiles} tiles in {found.n_bundles} bundles of {found.n_slots} slots, a tile "
        f"every {found.interval_cycles}. Bundle {view.bundle}: {held or 'nothing'}."
    )


def draw_bundles(result: BundleStep, *, ax: Axes | None = None) -> BundlesFigure:
    """Draw one bundle of a schedule.

    Parameters
    ----------
    result : BundleStep
        From `compute`.
    ax : Axes, optional
        Where to draw; by default on a figure of its own.
    """
    return draw(BundlesFigure, result, ax)


def readout(view: BundleStep) -> tuple[Row, ...]:
    """The rows under the figure."""
    found = view.schedule
    return (
        _count("bundle", view.bundle, "Bundle"),
        _count("n_filled", len(view.started), "Slots it fills"),
        _count("n_tiles_at", view.n_tiles_at, "Tiles it works for"),
        _cycles("tile_cycles", found.tile_cycles, "Bundles from a tile's start to its end"),
        _cycles("interval_cycles", found.interval_cycles, "Bundles from tile to tile"),
        _cycles("resource_bound_cycles", found.resource_bound_cycles, "Least by the slots"),
        _cycles("recurrence_bound_cycles", found.recurrence_bound_cycles, "Least by the buffers"),
        _cycles("critical_path_cycles", found.critical_path_cycles, "Least for one tile"),
        _count("n_bundles", found.n_bundles, "Bundles of four tiles"),
        Row("filled_frac", found.filled_frac, "1", "Slots filled, once the loop runs"),
    )


def _count(name: str, value: int, label: str) -> Row:
    return Row(name, value, "1", label, str(value))


def _cycles(name: str, value: int, label: str) -> Row:
    return Row(name, value, "cycles", label, str(value))


def sentence(view: BundleStep) -> str:
    """What the reader sees in this state."""
    return f"{_loop(view)} {_here(view)}"


def _loop(view: BundleStep) -> str:
    """How fast the loop is, and why."""
    kinds = [NAMES.get(slot, slot) for slot in view.busiest]
    busiest = f"{', '.join(kinds[:-1])} and {kinds[-1]}" if len(kinds) > 1 else kinds[0]
    if view.overlap == "none":
        return (
            "One tile after another, {interval_cycles} bundles each: most slots wait for one that "
            "is late, and {filled_frac} are filled."
        )
    if view.schedule.interval_cycles == view.schedule.resource_bound_cycles:
        return (
            "A tile starts every {interval_cycles} bundles. No schedule can do better: "
            f"{busiest} are full, once the loop runs. Of all slots, {{filled_frac}} are filled."
        )
    return (
        "A tile starts every {interval_cycles} bundles, though the slots would allow one every "
        "{resource_bound_cycles}: the next copy has to wait until the only buffer is read."
    )


def _here(view: BundleStep) -> str:
    """What this bundle does."""
    if not view.started:
        return "Bundle {bundle} is empty: everything waits."
    if view.n_tiles_at > 1:
        return "Bundle {bundle} works for {n_tiles_at} tiles at once."
    one = "operation" if len(view.started) == 1 else "operations"
    return f"Bundle {{bundle}} starts {{n_filled}} {one}, of one tile."


EXPLORABLE = Explorable(
    id="bundles",
    question="How full can a compiler make its bundles?",
    level="isa",
    controls=(
        Control(
            "weights", "Weights", WEIGHTS, "kept", kind="select", display=_WEIGHT_WORDS.__getitem__
        ),
        Control(
            "overlap", "Overlap of tiles", tuple(OVERLAPS), "two_buffers", kind="select",
            display=_OVERLAP_WORDS.__getitem__,
        ),
        Control("step", "Bundle", tuple(range(LONGEST)), 20, kind="step"),
    ),
    compute=compute,
    figure=BundlesFigure,
    readout=readout,
    sentence=sentence,
    assumes=(
        "a toy with the nine slots of a TPU v2’s bundle, four rows to a tile, and short times: 3 "
        "bundles for a copy, 4 from push to pop, 1 for all else. On a TPU v4, 83 cycles pass from "
        "push to pop and about 480 for a small copy, so more has to be under way. Registers never "
        "run out."
    ),
)  # fmt: skip

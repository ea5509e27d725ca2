"""Ten years of TPUs: their arrays and memories to scale, and what changed from one to the next."""

from __future__ import annotations

from typing import Any, ClassVar

from matplotlib.axes import Axes

from primer import _tables, hardware
from primer.explore.explorable import Control, Explorable, Row
from primer.figures._gemm import canvas
from primer.figures._generationsruns import GENERATIONS, ROWS, Generation, compute, short
from primer.figures._generationssheet import (
    SIZE,
    Floor,
    Strips,
    array_words,
    ratio_words,
    store_words,
)
from primer.figures._picture import Picture, draw

FIELDS = {
    "bf16 peak": "bf16_peak", "8 bits or fewer": "low_bits_peak",
    "memory rate": "bandwidth_bytes_per_s", "memory size": "memory_bytes",
    "on-chip memory": "on_chip_bytes", "links, one way": "oneway_bytes_per_s",
    "ridge": "ridge_flop_per_byte",
}  # fmt: skip
STORIES = {
    "tpu_v1": (
        "One array, for 8-bit integers only. Its memory is slow: the array is kept busy only at "
        "{ridge_flop_per_byte}."
    ),
    "tpu_v2": (
        "bf16 instead of integers, so that it can train; two smaller arrays, a core for each; and "
        "{bandwidth_bytes_per_s_ratio} the memory rate. The ridge falls to {ridge_flop_per_byte}."
    ),
    "tpu_v3": (
        "Twice the arrays and a faster clock: {bf16_peak_ratio} the peak, but only "
        "{bandwidth_bytes_per_s_ratio} the memory rate."
    ),
    "tpu_v4": (
        "Twice the arrays again. Links now reach in three dimensions, and a memory that both "
        "cores share is added."
    ),
    "tpu_v5e": (
        "A smaller chip beside the large ones: one core with half the arrays, on a faster clock, "
        "and one large vector memory."
    ),
    "tpu_v5p": (
        "The arrays of v4 on a faster clock. Memory gains {bandwidth_bytes_per_s_ratio}, the peak "
        "{bf16_peak_ratio}: the ridge falls to {ridge_flop_per_byte}."
    ),
    "tpu_v6e": (
        "Arrays of four times the cells, half as many. The peak gains {bf16_peak_ratio}, memory "
        "{bandwidth_bytes_per_s_ratio}: the ridge rises to {ridge_flop_per_byte}."
    ),
    "tpu_v7": (
        "Large arrays in two cores: {bf16_peak_ratio} the peak, {bandwidth_bytes_per_s_ratio} the "
        "memory rate. With fp8 at twice the rate of bf16, fewer bits pay."
    ),
    "tpu_8t": (
        "Announced for training. What was reported leaves out its arrays and its memory rate, so "
        "there is no ridge."
    ),
    "tpu_8i": (
        "Announced for inference: {memory_bytes_ratio} the memory, {bandwidth_bytes_per_s_ratio} "
        "the rate, {on_chip_bytes_ratio} the vector memory."
    ),
}
CONFLICTS = "data/tpu_conflicts.toml"


class TpuGenerationsFigure(Picture):
    """One TPU to scale, and its numbers among those of all.

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
        self.alt = "No chip."
        canvas(ax, SIZE)
        self.floor, self.strips = Floor(ax), Strips(ax)

    @property
    def moving(self) -> tuple[Any, ...]:
        """The artists that a state changes."""
        return (*self.floor.moving, *self.strips.moving)

    def update(self, found: Generation) -> None:
        """Show one TPU."""
        self.floor.update(found)
        self.strips.update(found)
        self.alt = describe(found)


def describe(found: Generation) -> str:
    """What the picture shows, in words."""
    numbers = ", ".join(
        f"{name} {value.text}"
        for name, value in zip(ROWS, found.values, strict=True)
        if value.text != "–"
    )
    return (
        f"{short(found.chip)}. {array_words(found.arrays)}; {store_words(found.stores)}. {numbers}."
    )


def draw_tpu_generations(result: Generation, *, ax: Axes | None = None) -> TpuGenerationsFigure:
    """Draw one TPU.

    Parameters
    ----------
    result : Generation
        From `compute`.
    ax : Axes, optional
        Where to draw; by default on a figure of its own.
    """
    return draw(TpuGenerationsFigure, result, ax)


def readout(found: Generation) -> tuple[Row, ...]:
    """The rows under the figure: numbers, and their ratios to those of the one before."""
    before = short(found.before) if found.before else "none"
    rows = [Row("follows", before, "", "Compared with"),
            Row("matrix_units", array_words(found.arrays), "", "Matrix units")]  # fmt: skip
    for (name, field), value in zip(FIELDS.items(), found.values, strict=True):
        label = name[0].upper() + name[1:]
        amount = value.text if value.amount is None else value.amount
        rows.append(Row(field, amount, value.unit, label, value.text))
    for name, field in FIELDS.items():
        ratio = found.ratio(name)
        label = f"{name[0].upper() + name[1:]}, times the one before"
        if ratio is None:
            rows.append(Row(f"{field}_ratio", "no number", "", label))
        else:
            rows.append(Row(f"{field}_ratio", ratio, "1", label, ratio_words(ratio)))
    return tuple(rows)


def sentence(found: Generation) -> str:
    """What changed, and where sources disagree."""
    return f"{STORIES[found.chip.id]} Sources: {conflict(found.chip.id)}"


def conflict(chip: str) -> str:
    """What sources say against each other, or leave out.

    >>> conflict("tpu_8t").startswith("All of it comes from reports")
    True
    """
    return _tables.text(f"{CONFLICTS}: {chip}", _tables.read(CONFLICTS)[chip], "text")


def _name(chip: str) -> str:
    return short(hardware.load(chip)).removeprefix("TPU ").removeprefix("TPU")


EXPLORABLE = Explorable(
    id="tpu-generations",
    question="What changed from one TPU to the next?",
    level="hardware",
    controls=(
        Control("generation", "Generation", GENERATIONS, "tpu_v6e", kind="step", display=_name),
    ),
    compute=compute,
    figure=TpuGenerationsFigure,
    readout=readout,
    sentence=sentence,
    assumes=(
        "numbers per chip, as the sources of the hardware tables print them, peaks dense and links "
        "one way; a dash where the tables have nothing. Where one memory size is printed in GB and "
        "the other in GiB, their ratio is off by 7 %; that of 8 bits or fewer compares the fastest "
        "format of each. Arrays and memories are drawn to scale; strips are logarithmic, from the "
        "smallest to the largest of all TPUs. v5e and v5p both "
        "follow v4; v6e follows v5e, 7x follows v5p, and both announced ones follow 7x."
    ),
)  # fmt: skip

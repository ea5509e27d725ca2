"""Matrix units side by side: what each adds to its chip, dense and sparse apart."""

from __future__ import annotations

from typing import Any, ClassVar

from matplotlib.axes import Axes

from primer import hardware, matrix_units
from primer.explore.explorable import Control, Explorable, Row
from primer.figures._gemm import canvas
from primer.figures._picture import Picture, draw
from primer.figures._throughputsheet import SIZE, Chart, Throughput, rate_words, ratio_words
from primer.matrix_units import Comparison

# Every maker and, of NVIDIA, AMD and Google, several generations.
CHIPS = (
    "v100_sxm2_32gb", "t4", "a100_sxm4_80gb", "rtx_4090", "l4", "h100_sxm5_80gb", "b200_sxm",
    "b300_sxm", "mi250x", "mi300x", "mi355x", "tpu_v1", "tpu_v4", "tpu_v5e", "tpu_v5p", "tpu_v7",
    "gaudi3", "trainium2", "groq_lpu_v1", "wse3", "xeon_8480p", "epyc_9755", "grace", "m4_max_40",
)  # fmt: skip
NOTABLE = 1.05  # a ratio worth a sentence


class ThroughputFigure(Picture):
    """Rates of one chip by precision.

    Parameters
    ----------
    ax : Axes
        Becomes a sheet measured in points.
    """

    size: ClassVar[tuple[float, float]] = SIZE
    box: ClassVar[tuple[float, float, float, float]] = (0.0, 0.0, 1.0, 1.0)
    depends: ClassVar[dict[str, tuple[str, ...]]] = {
        **dict.fromkeys(("unit", "vector", "matrix", "gain", "yardstick"), ("chip",)),
        "kind": ("sparse",),
    }

    def __init__(self, ax: Axes) -> None:
        self.ax = ax
        self.alt = "A chip without rates."
        canvas(ax, SIZE)
        self.chart = Chart(ax)

    @property
    def moving(self) -> tuple[Any, ...]:
        """The artists that a state changes."""
        return self.chart.moving

    def update(self, view: Throughput) -> None:
        """Show one chip."""
        self.chart.update(view)
        self.alt = describe(view)


def describe(view: Throughput) -> str:
    """What the picture shows, in words."""
    shown = [
        f"{rate.compute} {rate_words(view.shown(rate)[0])}"
        for rate in view.comparison.rates
        if view.shown(rate)[0] is not None
    ]
    kind = "Sparse" if view.sparse else "Dense"
    return f"{kind} peak rates of {view.comparison.chip.name}: {', '.join(shown) or 'none'}."


def draw_throughput(result: Throughput, *, ax: Axes | None = None) -> ThroughputFigure:
    """Draw one chip.

    Parameters
    ----------
    result : Throughput
        From `compute`.
    ax : Axes, optional
        Where to draw; by default on a figure of its own.
    """
    return draw(ThroughputFigure, result, ax)


def compute(chip: str, sparse: bool) -> Throughput:
    """Lay the rates of a chip side by side."""
    return Throughput(comparison=matrix_units.compare(hardware.load(chip)), sparse=sparse)


def readout(view: Throughput) -> tuple[Row, ...]:
    """The rows under the figure: what is written out in the picture, exact, and two ratios."""
    found = view.comparison
    return (
        Row("matrix_unit", found.unit.title if found.unit else "none", "", "Matrix unit"),
        Row("pattern", pattern(view), "", "Operands"),
        *(_rate(view, compute) for compute in hardware.PRECISIONS),
        _ratio("tf32_ratio", found.rate("tf32").ratio, "TF32 against FP32 vectors, dense"),
        _ratio("half_ratio", _half(found)[1], "16 bits against FP32 vectors, dense"),
    )


def pattern(view: Throughput) -> str:
    """Of which operands the rates hold."""
    if not view.sparse:
        return "dense"
    known = [rate.sparse for rate in view.comparison.rates if rate.sparse is not None]
    return known[0].convention.split(",")[0] if known else "no sparse rate"


def _rate(view: Throughput, compute: str) -> Row:
    shown, _ = view.shown(view.comparison.rate(compute))
    name, label = f"{compute}_rate", f"{compute} rate"
    if shown is None or shown.amount is None:
        return Row(name, rate_words(shown), "", label)
    return Row(name, shown.amount, hardware.rate_unit(compute), label, str(shown))


def _ratio(name: str, ratio: float | None, label: str) -> Row:
    if ratio is None:
        return Row(name, "unknown", "", label)
    return Row(name, ratio, "1", label, ratio_words(ratio))


def _half(found: Comparison) -> tuple[str, float | None]:
    """The faster of the two 16-bit formats, or the one there is, and its ratio."""
    rates = [found.rate(compute) for compute in ("bf16", "fp16")]
    known = [rate for rate in rates if rate.dense is not None and rate.dense.is_published]
    if not known:
        return "", None
    best = max(known, key=lambda rate: rate.dense.value if rate.dense else 0.0)
    return best.compute, best.ratio


def sentence(view: Throughput) -> str:
    """What the reader sees in this state."""
    return _sparse(view.comparison) if view.sparse else _dense(view.comparison)


def _dense(found: Comparison) -> str:
    """What the matrix unit adds."""
    if not found.chip.precisions():
        return (
            "No source that was read gives a dense rate of this chip. What is not published is "
            "not guessed here."
        )
    if found.unit is None:
        return (
            "The tables know no matrix unit of this chip, and no rate but that of its vector "
            "units: it is its own yardstick."
        )
    compute, ratio = _half(found)
    if found.fp32_vector is None or ratio is None:
        return (
            "No FP32 rate of the vector units is published for this chip, so the rates of its "
            f"{found.unit.title} stand without a ratio."
        )
    return (
        f"In {compute}, the peak for products of matrices is {{half_ratio}} the FP32 peak of the "
        f"vector units.{_tf32(found)}"
    )


def _tf32(found: Comparison) -> str:
    """What the switch in a framework can gain."""
    ratio = found.rate("tf32").ratio
    if ratio is None or found.unit is None:
        return ""
    if ratio < NOTABLE:
        return " TF32 gains nothing here."
    return (
        " A program that allows TF32 lets FP32 products run on the matrix units, too: at most "
        "{tf32_ratio}, with inputs cut to ten bits of fraction."
    )


def _sparse(found: Comparison) -> str:
    """When the other kind of rate holds."""
    if not found.has_sparse:
        none = "No sparse rate is printed for this chip"
        if not found.chip.precisions():
            return f"{none}, and no dense one either."
        return f"{none}. What it has as dense rates holds for any operands."
    known = {rate.sparse.convention for rate in found.rates if rate.sparse is not None}
    if any(convention.startswith("sparse") for convention in known):
        return (
            "The one rate that is printed counts zeros that are skipped, as one reader marks it; "
            "how many, and in which pattern, is not said."
        )
    where = "where one operand has two zeros in every four neighbors"
    if not any(convention.startswith("2:4") for convention in known):
        where = "for one operand with zeros in a fixed pattern"
    return (
        f"These rates count multiplications by zero as done. They hold only {where} ({{pattern}}). "
        "A dense product gets the dense rate."
    )


EXPLORABLE = Explorable(
    id="throughput",
    question="What does a matrix unit add to a chip?",
    level="hardware",
    controls=(
        Control(
            "chip", "Chip", CHIPS, "h100_sxm5_80gb", kind="select",
            display=lambda chip: hardware.load(chip).name,
        ),
        Control(
            "sparse", "Sparse rates", (False, True), False, kind="toggle",
            display=lambda on: "shown" if on else "not shown",
        ),
    ),
    compute=compute,
    figure=ThroughputFigure,
    readout=readout,
    sentence=sentence,
    assumes=(
        "peak rates, as sources print them or as cores, cycles and clocks give them; no code "
        "reaches all of a peak. A dash: the table has no such rate, because the unit cannot do it "
        "or because no source that was read prints it."
    ),
)  # fmt: skip

"""The energy ladder: what one operand costs, from the multiply-add to the memory far away.

The axis is energy, logarithmic. Every bar starts at the multiply-add, so its length is the ratio
to it. The instruction around the operation stands apart: it is paid once for each instruction,
whatever it computes.
"""

from __future__ import annotations

from typing import Any, ClassVar

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.text import Text
from matplotlib.transforms import ScaledTranslation, blended_transform_factory

from primer import energy, units
from primer.energy import EnergyLadder, Rung
from primer.explore.explorable import Control, Explorable, Row, State
from primer.figures import style
from primer.figures._picture import Picture, draw

PJ = 1e-12
LIMITS = (0.05, 2600.0)  # pJ
N_ROWS = 7
SLOGAN = (10.0, 100.0)  # the range that the folk rule names, in multiply-adds
COLORS = {"compute": style.COMPUTE, "instruction": style.IDLE}


class EnergyLadderFigure(Picture):
    """One row for each rung, its ratio beside it, and the band of the folk rule.

    Parameters
    ----------
    ax : Axes
        Receives the energies; the rungs' names stand on its left.
    """

    size: ClassVar[tuple[float, float]] = (6.0, 4.1)
    box: ClassVar[tuple[float, float, float, float]] = (0.315, 0.145, 0.5, 0.775)
    depends: ClassVar[dict[str, tuple[str, ...]]] = {
        f"name-{i}": ("node",) for i in range(1, N_ROWS)
    }

    def __init__(self, ax: Axes) -> None:
        self.ax = ax
        self.alt = "An energy ladder without rungs."
        style.log_axis(ax, "x", LIMITS)
        ax.set_ylim(N_ROWS - 0.45, -0.6)
        ax.set_yticks([])
        ax.spines["left"].set_visible(False)
        ax.set_axisbelow(True)
        ax.set_xlabel("energy per operand  [pJ]")
        self._marks()
        self._rungs()

    def _marks(self) -> None:
        """The multiply-add as a line through all rungs, and the band of the folk rule."""
        ax, top = self.ax, self.ax.get_xaxis_transform()
        self.band = Rectangle(
            (1, 0), 0, 1, transform=top, fc=style.GRID, ec="none", alpha=0.55, gid="band", zorder=0
        )
        ax.add_patch(self.band)
        (self.unit_line,) = ax.plot(
            [], [], color=style.COMPUTE, lw=1.6, transform=top, gid="unit", zorder=3
        )
        lifted = top + ScaledTranslation(0, 5 / 72, style.page(ax).dpi_scale_trans)
        self.band_label = ax.text(
            1, 1, "", transform=lifted, ha="center", va="bottom", color=style.MUTED,
            fontsize=10, gid="band-label",
        )  # fmt: skip

    def _rungs(self) -> None:
        """Empty rows: name, bar to the low end, outline to the high end, ratio."""
        ax = self.ax
        beside = blended_transform_factory(
            ax.transAxes + ScaledTranslation(-8 / 72, 0, style.page(ax).dpi_scale_trans),
            ax.transData,
        )
        after = ax.transData + ScaledTranslation(6 / 72, 0, style.page(ax).dpi_scale_trans)
        self.names: list[Text] = []
        self.bars: list[Rectangle] = []
        self.spans: list[Rectangle] = []
        self.ratios: list[Text] = []
        for i in range(N_ROWS):
            name = ax.text(0, i, "", transform=beside, ha="right", va="center", gid=f"name-{i}")
            bar, span = (
                Rectangle((1, i - 0.3), 0, 0.6, gid=f"{kind}-{i}", zorder=2)
                for kind in ("bar", "span")
            )
            ratio = ax.text(1, i, "", transform=after, va="center", gid=f"ratio-{i}", zorder=4)
            ratio.set_fontweight("bold")
            for patch in (bar, span):
                ax.add_patch(patch)
            self.names.append(name)
            self.bars.append(bar)
            self.spans.append(span)
            self.ratios.append(ratio)

    @property
    def moving(self) -> tuple[Any, ...]:
        """The artists that a state changes."""
        marks = (self.band, self.unit_line, self.band_label)
        return (*marks, *self.names, *self.bars, *self.spans, *self.ratios)

    def update(self, result: EnergyLadder) -> None:
        """Move every rung to where `result` puts it."""
        unit = result.multiply_add_j / PJ
        self.unit_line.set_data([unit, unit], [0, 1])
        low, high = (unit * ratio for ratio in SLOGAN)
        self.band.set_x(low)
        self.band.set_width(high - low)
        self.band_label.set_text("10 to 100 multiply-adds")
        self.band_label.set_x((low * high) ** 0.5)
        for i, rung in enumerate(in_order(result)):
            self._set(i, rung, unit)
        self.alt = describe(result)

    def _set(self, i: int, rung: Rung, unit: float) -> None:
        color = COLORS.get(rung.kind, style.MEMORY)
        low, high = rung.energy_j / PJ, rung.upper_j / PJ
        start = LIMITS[0] if rung.kind == "compute" else unit
        self.names[i].set_text(rung.title)
        self.bars[i].set(x=start, width=low - start, fc=color, ec=color, lw=1.0)
        self.spans[i].set(x=low, width=high - low, fc="none", ec=color, lw=1.4)
        self.spans[i].set_visible(high > low)
        self.ratios[i].set_text(
            units.text(rung.energy_j, "J", 3) if rung.kind == "compute" else times(rung)
        )
        self.ratios[i].set_x(high)


def in_order(ladder: EnergyLadder) -> tuple[Rung, ...]:
    """The multiply-add, the instruction around it, then the memories from near to far.

    The order does not depend on the operand, so that a reader can follow a rung.

    >>> [rung.name for rung in in_order(energy.ladder("7nm", "bf16"))][:3]
    ['multiply_add', 'sram_8kb', 'sram_32kb']
    """
    kinds = ("compute", "instruction", "sram", "main")
    return tuple(sorted(ladder.rungs, key=lambda r: (kinds.index(r.kind), r.energy_j, r.upper_j)))


def times(rung: Rung) -> str:
    """The ratio to a multiply-add, for reading.

    >>> times(energy.ladder("45nm", "fp32").rung("dram"))
    '141–283×'
    """
    low, high = (_rounded(ratio) for ratio in rung.ratio_range)
    return f"{low}×" if low == high else f"{low}–{high}×"


def _rounded(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio >= 9.95 else f"{ratio:.1f}"


def describe(ladder: EnergyLadder) -> str:
    """What the picture shows, in words."""
    steps = ", ".join(
        f"{rung.title} {times(rung)}" for rung in in_order(ladder) if rung.kind != "compute"
    )
    return (
        f"Energy ladder at {ladder.title}. A {ladder.operand} multiply-add takes "
        f"{units.text(ladder.multiply_add_j, 'J', 3)}; as multiples of it: {steps}."
    )


def draw_energy_ladder(result: EnergyLadder, *, ax: Axes | None = None) -> EnergyLadderFigure:
    """Draw one ladder.

    Parameters
    ----------
    result : EnergyLadder
        From `energy.ladder`.
    ax : Axes, optional
        Where to draw; by default on a figure of its own.
    """
    return draw(EnergyLadderFigure, result, ax)


def _operands() -> tuple[str, ...]:
    """Operands of any node, from the widest to the narrowest, so that the slider narrows them."""
    known = {operand for node in energy.nodes() for operand in energy.operands(node)}
    return tuple(o for o in ("fp32", "int32", "fp16", "bf16", "int8") if o in known)


def is_valid(state: State) -> bool:
    """Whether the node's table has that operand."""
    return state["operand"] in energy.operands(state["node"])


def compute(node: str, operand: str) -> EnergyLadder:
    """The ladder of one node for one operand."""
    return energy.ladder(node, operand)


def main_memory(ladder: EnergyLadder) -> Rung:
    """The rung of the node's main memory."""
    return ladder.rung(energy.table(ladder.node).main)


def readout(ladder: EnergyLadder) -> tuple[Row, ...]:
    """The rows under the figure."""
    near, far = ladder.rung("sram_8kb"), ladder.rung("sram_1mb")
    main = main_memory(ladder)
    around = [rung for rung in ladder.rungs if rung.kind == "instruction"]
    paid = around[0] if around else None
    return (
        Row("multiply_add_j", ladder.multiply_add_j, "J", "One multiply-add"),
        Row("sram_8kb_ratio", near.ratio, "1", "An operand from 8 KB of SRAM", times(near)),
        Row("sram_1mb_ratio", far.ratio, "1", "An operand from 1 MB of SRAM", times(far)),
        Row(
            "main_ratio", main.ratio, "1", "From main memory, at least", f"{_rounded(main.ratio)}×"
        ),
        Row("main_upper_ratio", main.upper_ratio, "1", "At most", f"{_rounded(main.upper_ratio)}×"),
        Row(
            "instruction_ratio",
            paid.ratio if paid else "no source",
            "1" if paid else "",
            "A GPU's instruction around it",
            times(paid) if paid else "no source",
        ),
    )


def sentence(ladder: EnergyLadder) -> str:
    """What the reader sees in this state."""
    near = ladder.rung("sram_8kb").ratio
    cost = (
        "The nearest memory costs about as much as the multiply-add"
        if near < 1.5
        else "Even the nearest memory costs {sram_8kb_ratio} the multiply-add"
    )
    start = f"{cost}, main memory {{main_ratio}} to {{main_upper_ratio}}. "
    if not any(rung.kind == "instruction" for rung in ladder.rungs):
        return start + (
            "Compared with 45 nm, the large memory on the chip, and HBM2 in place of DRAM, gained "
            "more than the multiply-add; DDR4 is no cheaper than DRAM at its cheapest."
        )
    return start + (
        "A GPU's instruction around it costs {instruction_ratio}: a chip had better do more than "
        "one multiply-add for each."
    )


EXPLORABLE = Explorable(
    id="energy-ladder",
    question="What does it cost to fetch one operand?",
    level="hardware",
    controls=(
        Control(
            "node",
            "Process node",
            energy.nodes(),
            "45nm",
            kind="select",
            display=lambda node: energy.table(node).title,
        ),
        Control("operand", "Operand", _operands(), "fp32"),
    ),
    compute=compute,
    figure=EnergyLadderFigure,
    readout=readout,
    sentence=sentence,
    assumes=(
        "every bit of a 64-bit access is used, so that a 32-bit operand pays half; a lone operand "
        "pays all of it. No wires between the parts, no clock, no leakage, no controller."
    ),
    is_valid=is_valid,
)

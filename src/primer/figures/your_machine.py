"""Measured code under the measured roof of one machine.

The roof is drawn as in every roofline of the book. A ring on it marks what the
model allows the chosen kernel, a filled dot what the code reached, and two bars
show the same as time. The book opens on a measurement that is kept with it;
`measured` makes the same figure of another machine, such as the reader's own.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import ClassVar

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.text import Text
from matplotlib.transforms import offset_copy

from primer import machine as machines
from primer import units
from primer.explore.explorable import Control, Explorable, Row
from primer.figures import style
from primer.figures._picture import Picture, draw
from primer.figures.roofline import RooflineFigure
from primer.machine import Machine, MachinePoint, PlacedKernel

TITLES = {
    "add": "vector add",
    "triad": "triad",
    "dot": "dot product",
    "stencil": "5-point stencil",
    "polynomial": "polynomial",
    "loops": "matmul, loops",
    "matmul": "matmul, BLAS",
}
NEARLY = 0.85  # share of the roof from which code counts as close to it
MODEL_BAR, MEASURED_BAR = 1, 0


def title(kernel: str) -> str:
    """A kernel's name for reading.

    >>> title("dot"), title("matmul_4096_bf16")
    ('dot product', 'matmul 4096 bf16')
    """
    return TITLES.get(kernel, kernel.replace("_", " "))


class YourMachineFigure(Picture):
    """Roof, all kernels as small rings, one of them with its model and its times.

    Parameters
    ----------
    ax : Axes
        Receives the log-log plot; the bars stand below it.
    """

    size: ClassVar[tuple[float, float]] = (6.0, 4.9)
    box: ClassVar[tuple[float, float, float, float]] = (0.13, 0.315, 0.845, 0.605)
    depends: ClassVar[dict[str, tuple[str, ...]]] = {}
    machine: ClassVar[Machine]

    def __init__(self, ax: Axes) -> None:
        self.ax = ax
        self.alt = "A roofline without a kernel."
        x_limits, y_limits = limits(self.machine)
        self._x = x_limits
        self.roofline = RooflineFigure(ax, x_limits=x_limits, y_limits=y_limits, bars=False)
        ax.set_ylabel("rate  [FLOP/s]")
        ax.set_title(self._machine_line(), fontsize=10, pad=9)
        ring = self.roofline.dot
        ring.set(ms=10.5, mec=style.INK, mew=1.6, markerfacecolor="none")
        self.roofline.drop.set_visible(False)
        self.roofline.dot_label.set_visible(False)
        self._dots()
        self._bars(ax.inset_axes((0.0, -0.52, 1.0, 0.26)))

    def _machine_line(self) -> str:
        """Whose roof it is, cut to the width of a phone."""
        name = self.machine.name
        name = name if len(name) <= 34 else f"{name[:33].rstrip()}…"
        threads = "" if self.machine.device == "cuda" else f"{_threads(self.machine)}, "
        return f"{name}: {threads}{self.machine.date}"

    def _dots(self) -> None:
        """Every kernel as a small ring, and the chosen one with its label and its gap."""
        ax, points = self.ax, drawable(self.machine)
        xs = [p.work_flop / p.traffic_bytes for p in points]
        ys = [p.flop_per_s for p in points]
        ax.plot(xs, ys, "o", ms=5, mfc=style.SURFACE, mec=style.MUTED, mew=1.2, ls="", zorder=4)
        (self.gap,) = ax.plot([], [], color=style.CHANGED, lw=1.4, ls=(0, (2, 2)), gid="gap")
        (self.dot,) = ax.plot([], [], "o", ms=7, color=style.CHANGED, gid="measured-dot", zorder=6)
        self.dot.set(mec=style.SURFACE, mew=1.0)
        shifted = offset_copy(ax.transData, style.page(ax), 0, -19, units="points")
        self.label = ax.text(
            self._x[0], points[0].flop_per_s, "", transform=shifted, gid="measured-label",
            color=style.INK, fontweight="bold",
        )  # fmt: skip
        for line in (self.gap, self.dot):
            line.set_clip_on(False)

    def _bars(self, bars: Axes) -> None:
        bars.set_xlim(0, 1)
        bars.set_ylim(-0.5, 1.5)
        bars.set_axis_off()
        bars.set(xticks=[], yticks=[])
        self.time_bars: list[Rectangle] = []
        self.time_labels: list[Text] = []
        rows = (("model", MODEL_BAR, "none", style.INK), ("measured", MEASURED_BAR, None, None))
        for name, y, face, edge in rows:
            color = style.CHANGED if face is None else face
            bars.text(-0.015, y, name, ha="right", va="center", color=style.INK, fontsize=9)
            (bar,) = bars.barh(
                [y], [0], height=0.6, color=color, ec=edge, lw=1.2, gid=f"{name}-bar"
            )
            bar.set_clip_on(False)
            self.time_bars.append(bar)
            label = bars.text(0, y, "", va="center", gid=f"{name}-time", color=style.INK)
            self.time_labels.append(label)

    @property
    def moving(self) -> tuple[Artist, ...]:
        """The artists that a kernel changes."""
        under = self.roofline
        roof = (under.slope, under.roof, under.ridge, under.dot)
        labels = (under.ridge_label, under.roof_label, under.slope_label)
        mine = (self.gap, self.dot, self.label, *self.time_bars, *self.time_labels)
        return (*roof, *labels, *mine)

    def update(self, result: PlacedKernel) -> None:
        """Show one kernel."""
        self.roofline.update(result.model)
        peak = units.text(result.model.peak_flop_per_s, "FLOP/s", 3)
        self.roofline.roof_label.set_text(f"{peak} {result.model.compute}")
        self._lay_slope_label(result)
        x, y = result.model.intensity_flop_per_byte, result.judgement.measured_flop_per_s
        self.dot.set_data([x], [y])
        self.gap.set_data([x, x], [y, result.model.attainable_flop_per_s])
        warning = "" if result.judgement.is_possible else ", above its roof"
        rate = f"{units.text(y, 'FLOP/s', 3)}{warning}"
        self.label.set_text(f"{title(result.measured.kernel)}: {rate}")
        self._stand_by(x, y)
        times = (result.model.time_s, result.measured.time_s)
        for bar, label, time in zip(self.time_bars, self.time_labels, times, strict=True):
            bar.set_width(0.78 * time / max(times))
            label.set_text(units.text(time, "s", 3))
            label.set_x(0.78 * time / max(times) + 0.015)
        self.alt = describe(result)

    def _lay_slope_label(self, result: PlacedKernel) -> None:
        """Into the widest stretch of the slope that no dot occupies."""
        ridge, bandwidth = result.model.ridge_flop_per_byte, result.model.bandwidth_bytes_per_s
        xs = sorted(p.work_flop / p.traffic_bytes for p in drawable(self.machine))
        stops = [self._x[0], *(x for x in xs if x < ridge), ridge]
        start = max(pairwise(stops), key=lambda pair: pair[1] / pair[0])[0]
        self.roofline.slope_label.set_position((start * 1.5, start * 1.5 * bandwidth))

    def _stand_by(self, x: float, y: float) -> None:
        """Right below the dot, or flush with the right edge where it would leave the plot."""
        left, right = self._x
        room = self.ax.get_window_extent().width * math.log(right / x) / math.log(right / left)
        near_right = room < 7.2 * len(self.label.get_text()) + 8
        self.label.set_horizontalalignment("right" if near_right else "left")
        self.label.set_position((right if near_right else x * 1.12, y))


def drawable(machine: Machine) -> tuple[MachinePoint, ...]:
    """Kernels that compute and move something: others have no place on logarithmic axes."""
    found = tuple(p for p in machine.points if p.work_flop > 0 and p.traffic_bytes > 0)
    if not found:
        raise ValueError(
            "machine must have a kernel with FLOP and bytes to be drawn; "
            f"got kernels {machine.kernels!r}"
        )
    return found


def limits(machine: Machine) -> tuple[tuple[float, float], tuple[float, float]]:
    """Whole decades around roof and kernels: intensities, then rates."""
    points = drawable(machine)
    xs = [p.work_flop / p.traffic_bytes for p in points]
    ridges = [machine.chip.ridge_flop_per_byte(p.compute) for p in machine.peaks]
    peaks = [p.flop_per_s for p in machine.peaks]
    low = 10.0 ** math.floor(math.log10(min(xs) / 1.5))
    high = 10.0 ** math.ceil(math.log10(max(*xs, *ridges) * 1.5))
    floor = 10.0 ** math.floor(math.log10(min(p.flop_per_s for p in points) / 2))
    return (low, high), (floor, 10.0 ** math.ceil(math.log10(max(peaks) * 2.5)))


def describe(result: PlacedKernel) -> str:
    """What the picture shows, in words."""
    rate = units.text(result.judgement.measured_flop_per_s, "FLOP/s", 3)
    roof = units.text(result.model.attainable_flop_per_s, "FLOP/s", 3)
    share = f"{result.judgement.attainable_frac:.0%}"
    return (
        f"Measured roofline of {result.machine.name}. {title(result.measured.kernel)} reaches "
        f"{rate} of {roof}, {share} of its roof, {result.model.bound}-bound."
    )


def draw_your_machine(result: PlacedKernel, *, ax: Axes | None = None) -> YourMachineFigure:
    """Draw one kernel of a machine under its roof.

    Parameters
    ----------
    result : PlacedKernel
        From `Machine.place`.
    ax : Axes, optional
        Where to draw; by default on a figure of its own.
    """
    return draw(_figure_of(result.machine), result, ax)


def _figure_of(machine: Machine) -> type[YourMachineFigure]:
    """The figure class of one machine, whose axes and rings never move."""
    return type("YourMachineFigure", (YourMachineFigure,), {"machine": machine})


def readout(result: PlacedKernel) -> tuple[Row, ...]:
    """The rows under the figure."""
    model, seen, measured = result.model, result.judgement, result.measured
    intensity, attainable = model.intensity_flop_per_byte, model.attainable_flop_per_s
    return (
        Row("intensity_flop_per_byte", intensity, "FLOP/B", "Arithmetic intensity"),
        Row("attainable_flop_per_s", attainable, "FLOP/s", "The roof above it (model)"),
        Row("measured_flop_per_s", seen.measured_flop_per_s, "FLOP/s", "Measured rate"),
        Row("attainable_frac", seen.attainable_frac, "1", "Share of its roof"),
        Row("bound", model.bound, "", "Bound by", model.bound),
        Row("time_s", model.time_s, "s", "Time at the roof (model)"),
        Row("measured_time_s", measured.time_s, "s", "Measured time, the median"),
        Row("n_repeats", measured.n_repeats, "1", "Repeats", units.number(measured.n_repeats)),
        Row("n_threads", measured.n_threads, "1", "Threads", units.number(measured.n_threads)),
    )


def sentence(result: PlacedKernel) -> str:
    """What the reader sees in this state."""
    share, memory = result.judgement.attainable_frac, result.model.bound == "memory"
    if not result.judgement.is_possible:
        return (
            "Above its roof: {measured_flop_per_s} where the model allows {attainable_flop_per_s}. "
            "A few percent are noise, for the roof is measured too; more means a wrong count."
        )
    if result.measured.kernel == result.machine.bandwidth.kernel and share >= NEARLY:
        return (
            "This loop set the slope of this roof: {attainable_frac} of it is no surprise. "
            "How close the others come is the question."
        )
    if memory and share >= NEARLY:
        return (
            "The memory is the limit and this code comes close: {attainable_frac} of the roof. "
            "Faster arithmetic would change nothing, fewer bytes would."
        )
    if memory:
        return (
            "The memory is the limit, and this code keeps it less busy than the best loop does: "
            "{attainable_frac} of the roof, {measured_flop_per_s} of {attainable_flop_per_s}."
        )
    if share >= NEARLY:
        return (
            "The math units are the limit and this code keeps them busy: {attainable_frac} of "
            "the roof. A higher peak or less arithmetic would help, faster memory would not."
        )
    return (
        "The math units could reach {attainable_flop_per_s}, this code gets {attainable_frac} "
        "of that. The roof says what the machine allows; the rest is up to the code."
    )


def _threads(machine: Machine) -> str:
    return "1 thread" if machine.n_threads == 1 else f"{machine.n_threads} threads"


def assumes(machine: Machine) -> str:
    """What these numbers take for granted."""
    lines = "stored lines are fetched first" if machine.write_allocate else "no line is fetched"
    who = "" if machine.device == "cuda" else f" with {_threads(machine)}"
    return (
        f"medians of one day ({machine.date}){who}, nothing pinned; the roof is this machine’s "
        "best loop, not a data sheet; every byte comes from main memory once "
        f"({lines} to be written)."
    )


def measured(machine: Machine) -> Explorable:
    """The figure of any measured machine.

    Parameters
    ----------
    machine : Machine
        From `primer.workbench.measure.machine()`, or read with `primer.machine.from_json`.

    Returns
    -------
    Explorable
        For `explore.show`.
    """
    names = tuple(point.kernel for point in drawable(machine))
    opening = "triad" if "triad" in names else names[0]
    return Explorable(
        id="your-machine",
        question="How close does real code come to its roof?",
        level="hardware",
        controls=(Control("kernel", "Kernel", names, opening, kind="select", display=title),),
        compute=machine.place,
        figure=_figure_of(machine),
        readout=readout,
        sentence=sentence,
        assumes=assumes(machine),
    )


EXPLORABLE = measured(machines.snapshot())

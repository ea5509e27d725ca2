"""The canonical roofline: one slope, one roof, and where a kernel lands under them.

Below the log-log plot two bars show the same kernel as time: the longer one is
the bound. One function draws every roofline of the book.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from primer import hardware, roofline, units
from primer.explore.explorable import Control, Explorable, Row, State
from primer.figures import _labels, style
from primer.figures._picture import Picture
from primer.roofline import RooflinePoint

# A page can hold eight chips; `place` takes them all. In the order of their release.
CHIPS = (
    "v100_sxm2_32gb",
    "a100_sxm4_80gb",
    "h100_sxm5_80gb",
    "epyc_9654",
    "tpu_v5e",
    "mi300x",
    "b200_sxm",
    "tpu_v7",
)
X_LIMITS = (0.03, 8192.0)
Y_LIMITS = (2e10, 3e16)


class RooflineFigure(Picture):
    """Slope, roof, ridge, dot, and the two times as bars.

    Parameters
    ----------
    ax : Axes
        Receives the log-log plot; the bars stand below it.
    x_limits : (float, float) [FLOP/B]
    y_limits : (float, float) [FLOP/s]
    bars : bool
        Whether the two times stand below.
    """

    size: ClassVar[tuple[float, float]] = (6.0, 4.7)
    box: ClassVar[tuple[float, float, float, float]] = (0.14, 0.335, 0.835, 0.635)
    depends: ClassVar[dict[str, tuple[str, ...]]] = {
        **dict.fromkeys(
            ("slope", "roof", "ridge", "ridge-label", "roof-label"), ("chip", "compute")
        ),
        "slope-label": ("chip",),
        "serial": ("chip", "compute", "overlap"),
    }

    def __init__(
        self,
        ax: Axes,
        *,
        x_limits: tuple[float, float] = X_LIMITS,
        y_limits: tuple[float, float] = Y_LIMITS,
        bars: bool = True,
    ) -> None:
        self.ax, self._x, self._y = ax, x_limits, y_limits
        self.alt = "A roofline without a kernel."
        style.log_axis(ax, "x", x_limits)
        style.log_axis(ax, "y", y_limits)
        ax.set_axisbelow(True)
        ax.grid(True)
        ax.set_xlabel("arithmetic intensity  [FLOP per byte]")
        ax.set_ylabel("attainable rate  [FLOP/s]")
        self._lines()
        self._labels()
        self.time_bars: list[Rectangle] = []
        self.time_labels: list[Text] = []
        if bars:
            self._bars(ax.inset_axes((0.0, -0.5, 1.0, 0.25)))

    def _lines(self) -> None:
        ax = self.ax
        (self.serial,) = ax.plot([], [], color=style.IDLE, lw=1.6, ls=(0, (4, 2)), gid="serial")
        (self.slope,) = ax.plot([], [], color=style.MEMORY, lw=2.6, gid="slope")
        (self.roof,) = ax.plot([], [], color=style.COMPUTE, lw=2.6, gid="roof")
        (self.ridge,) = ax.plot([], [], color=style.MUTED, lw=1.0, ls=(0, (1, 2)), gid="ridge")
        (self.drop,) = ax.plot([], [], color=style.CHANGED, lw=1.0, gid="drop")
        (self.dot,) = ax.plot(
            [], [], "o", ms=9, color=style.CHANGED, mec=style.SURFACE, mew=1.5, gid="dot", zorder=5
        )
        for line in ax.lines:
            line.set_clip_on(False)

    def _labels(self) -> None:
        self.ridge_label = self._text("ridge-label", -5, 7, color=style.MUTED, ha="right")
        self.roof_label = self._text("roof-label", 0, 7, color=style.COMPUTE, ha="right")
        self.slope_label = self._text(
            "slope-label",
            -4,
            4,
            color=style.MEMORY,
            ha="left",
            rotation=_labels.slope_angle(self.ax),
        )
        self.slope_label.set_rotation_mode("anchor")
        self.dot_label = self._text("dot-label", 0, -17, color=style.INK)
        self.dot_label.set_fontweight("bold")

    def _text(self, gid: str, dx: float, dy: float, **keywords: Any) -> Text:
        return _labels.beside(self.ax, gid, dx, dy, **keywords)

    def _bars(self, bars: Axes) -> None:
        bars.set_xlim(0, 1)
        bars.set_ylim(-0.5, 1.5)
        bars.set_axis_off()
        rows = (("memory", 1, style.MEMORY, "data"), ("compute", 0, style.COMPUTE, "math"))
        for name, y, color, title in rows:
            bars.text(-0.015, y, title, ha="right", va="center", color=color)
            (bar,) = bars.barh([y], [0], height=0.62, color=color, gid=f"{name}-bar")
            bar.set_clip_on(False)
            label = bars.text(0, y, "", va="center", gid=f"{name}-time", color=style.INK)
            self.time_bars.append(bar)
            self.time_labels.append(label)

    @property
    def moving(self) -> tuple[Artist, ...]:
        """The artists that a state changes."""
        lines = (self.serial, self.slope, self.roof, self.ridge, self.drop, self.dot)
        labels = (self.ridge_label, self.roof_label, self.slope_label, self.dot_label)
        return (*lines, *labels, *self.time_bars, *self.time_labels)

    def update(self, result: RooflinePoint) -> None:
        """Move every artist to where `result` puts it."""
        self._update_roof(result)
        self._update_dot(result)
        self._update_bars(result)

    def _update_roof(self, point: RooflinePoint) -> None:
        peak, bandwidth, ridge = (
            point.peak_flop_per_s,
            point.bandwidth_bytes_per_s,
            point.ridge_flop_per_byte,
        )
        left, right = self._x
        start = max(left, self._y[0] / bandwidth)
        self.slope.set_data([start, ridge], [start * bandwidth, peak])
        self.roof.set_data([ridge, right], [peak, peak])
        self.ridge.set_data([ridge, ridge], [self._y[0], peak])
        self.serial.set_visible(not point.overlap)
        xs = [left * (right / left) ** (i / 60) for i in range(61)]
        xs = [x for x in xs if x >= start]
        self.serial.set_data(xs, [1 / (1 / peak + 1 / (x * bandwidth)) for x in xs])
        self.ridge_label.set_text(f"ridge {units.text(ridge, 'FLOP/B', 3)}")
        self.ridge_label.set_position((ridge, peak))
        self.roof_label.set_text(units.text(peak, hardware.rate_unit(point.compute)))
        self.roof_label.set_position((right, peak))
        self.slope_label.set_text(units.text(bandwidth, "B/s"))
        at = max(start * 2.2, left * 2.2)
        self.slope_label.set_position((at, at * bandwidth))

    def _update_dot(self, point: RooflinePoint) -> None:
        x, y = point.intensity_flop_per_byte, point.attainable_flop_per_s
        self.dot.set_data([x], [y])
        self.drop.set_data([x, x], [self._y[0], y])
        self.dot_label.set_text(units.text(y, hardware.rate_unit(point.compute), 3))
        self._stand_by(self.dot_label, x, y)

    def _stand_by(self, label: Text, x: float, y: float) -> None:
        """Right below a dot, or flush with the right edge where it would run out of the plot."""
        left, right = self._x
        room = self.ax.get_window_extent().width * math.log(right / x) / math.log(right / left)
        near_right = room < 7.5 * len(label.get_text()) + 10
        label.set_horizontalalignment("right" if near_right else "left")
        label.set_position((self._x[1] if near_right else x * 1.25, y))

    def _update_bars(self, point: RooflinePoint) -> None:
        if not self.time_bars:
            return
        times = (point.memory_time_s, point.compute_time_s)
        scale = 0.78 / (sum(times) if not point.overlap else max(times))
        starts = (0.0, 0.0 if point.overlap else times[0])
        for bar, label, start, time in zip(
            self.time_bars, self.time_labels, starts, times, strict=True
        ):
            bar.set_x(start * scale)
            bar.set_width(time * scale)
            label.set_text(units.text(time, "s", 3))
            label.set_x((start + time) * scale + 0.015)

    def add(self, point: RooflinePoint, label: str = "") -> None:
        """Another kernel under the same roof."""
        x, y = point.intensity_flop_per_byte, point.attainable_flop_per_s
        self.ax.plot([x], [y], "o", ms=9, color=style.INK, mec=style.SURFACE, mew=1.5, zorder=5)
        rate = units.text(y, hardware.rate_unit(point.compute), 3)
        text = self._text("", 0, -17, color=style.INK)
        text.set_fontweight("bold")
        text.set_text(f"{label}: {rate}" if label else rate)
        self._stand_by(text, x, y)


def draw_roofline(
    *points: RooflinePoint, labels: Sequence[str] = (), ax: Axes | None = None
) -> RooflineFigure:
    """Draw kernels under the roofline of one chip; a single one gets its times as bars.

    Parameters
    ----------
    *points : RooflinePoint
        Results of `roofline.place` on the same chip and precision.
    labels : sequence of str, optional
        A name for each point, written beside its rate.
    ax : Axes, optional
        Where to draw; by default on a figure of its own, whose limits suit the chip.

    Raises
    ------
    ValueError
        If there is no point, the labels do not match, or the roofs differ.
    """
    _check_points(points, labels)
    x_limits, y_limits = _limits(points)
    with style.context():
        alone = len(points) == 1
        if ax is None:
            size = RooflineFigure.size if alone else (6.0, 3.6)
            ax = style.axes(size, box=RooflineFigure.box if alone else (0.14, 0.16, 0.825, 0.81))
        figure = RooflineFigure(ax, x_limits=x_limits, y_limits=y_limits, bars=alone)
        figure.update(points[0])
        for point, label in zip(points[1:], labels[1:] or [""] * len(points[1:]), strict=True):
            figure.add(point, label)
        if labels:
            figure.dot_label.set_text(f"{labels[0]}: {figure.dot_label.get_text()}")
            first = points[0]
            figure._stand_by(
                figure.dot_label, first.intensity_flop_per_byte, first.attainable_flop_per_s
            )
    figure.alt = _describe(points, labels)
    return figure


def _describe(points: Sequence[RooflinePoint], labels: Sequence[str]) -> str:
    """What the picture shows, in words."""
    names = labels or [f"kernel {i}" for i in range(1, len(points) + 1)]
    dots = "; ".join(
        f"{name} at {units.text(p.intensity_flop_per_byte, 'FLOP/B', 3)} reaches "
        f"{units.text(p.attainable_flop_per_s, hardware.rate_unit(p.compute), 3)}, {p.bound}-bound"
        for name, p in zip(names, points, strict=True)
    )
    ridge = units.text(points[0].ridge_flop_per_byte, "FLOP/B", 3)
    return f"Roofline of {points[0].chip_name}, ridge at {ridge}. {dots}."


def _check_points(points: Sequence[RooflinePoint], labels: Sequence[str]) -> None:
    if not points:
        raise ValueError("points must hold at least one roofline point; got none")
    if labels and len(labels) != len(points):
        raise ValueError(
            f"labels must name each of the {len(points)} points; got {len(labels)} labels"
        )
    roofs = {(p.peak_flop_per_s, p.bandwidth_bytes_per_s) for p in points}
    if len(roofs) > 1:
        raise ValueError(f"points must lie under one roof; got {len(roofs)} different roofs")
    for point in points:
        if not (0 < point.intensity_flop_per_byte < math.inf):
            raise ValueError(
                "intensity_flop_per_byte of a drawn point must be positive and finite; "
                f"got {point.intensity_flop_per_byte!r}"
            )


def _limits(points: Sequence[RooflinePoint]) -> tuple[tuple[float, float], tuple[float, float]]:
    """Whole decades around the ridge and the points."""
    xs = [p.intensity_flop_per_byte for p in points] + [points[0].ridge_flop_per_byte]
    low = 10.0 ** math.floor(math.log10(min(xs) / 3))
    high = 10.0 ** math.ceil(math.log10(max(xs) * 20))
    floor = 10.0 ** math.floor(math.log10(low * points[0].bandwidth_bytes_per_s * 3))
    ceiling = 10.0 ** math.ceil(math.log10(points[0].peak_flop_per_s * 3))
    return (low, high), (floor, ceiling)


def _precisions(chips: Sequence[str]) -> tuple[str, ...]:
    """Every precision that one of the chips has, in the order of the tables."""
    found = {p for chip in chips for p in hardware.load(chip).precisions()}
    return tuple(p for p in hardware.PRECISIONS if p in found)


def _intensities() -> tuple[float, ...]:
    """Octaves from 1/16 to 4,096, half ones where ridges lie, and the vector add at 1/12."""
    octaves = {2.0**e for e in range(-4, 13)}
    halves = {float(f"{2 ** (e + 0.5):.4g}") for e in range(5, 10)}
    return tuple(sorted(octaves | halves | {1 / 12}))


def compute(
    chip: str, compute: str, intensity_flop_per_byte: float, overlap: bool
) -> RooflinePoint:
    """Place a kernel that moves one gigabyte at the given intensity."""
    return roofline.place(
        hardware.load(chip),
        work_flop=intensity_flop_per_byte * units.GB,
        traffic_bytes=units.GB,
        compute=compute,
        overlap=overlap,
    )


def is_valid(state: State) -> bool:
    """Whether the chip has a peak for that precision."""
    return state["compute"] in hardware.load(state["chip"]).precisions()


def readout(point: RooflinePoint) -> tuple[Row, ...]:
    """The rows under the figure."""
    unit = hardware.rate_unit(point.compute)
    return (
        Row("attainable_flop_per_s", point.attainable_flop_per_s, unit, "Attainable rate"),
        Row("peak_frac", point.peak_frac, "1", "Share of the chip’s peak"),
        Row("attainable_frac", point.attainable_frac, "1", "Share of the roof above it"),
        Row("bound", point.bound, "", "Bound by", point.bound),
        Row("ridge_flop_per_byte", point.ridge_flop_per_byte, "FLOP/B", "Ridge of this chip"),
        Row("memory_time_s", point.memory_time_s, "s", "Moving one gigabyte"),
        Row("compute_time_s", point.compute_time_s, "s", "Its arithmetic"),
        Row("time_s", point.time_s, "s", "Both together"),
    )


def sentence(point: RooflinePoint) -> str:
    """What the reader sees in this state."""
    if not point.overlap:
        return (
            "Without overlap the copies and the arithmetic take turns: {time_s} in all, "
            "{attainable_frac} of what the roof would allow."
        )
    if point.bound == "memory":
        return (
            "The data arrive too slowly: at {intensity_flop_per_byte} the math units reach "
            "{peak_frac} of their peak. More intensity or more bandwidth helps, more peak does not."
        )
    return (
        "The math units are the limit: at {intensity_flop_per_byte} this kernel can reach the "
        "peak, and the memory waits. More intensity or more bandwidth changes nothing."
    )


EXPLORABLE = Explorable(
    id="roofline",
    question="How fast can a kernel run on this chip?",
    level="hardware",
    controls=(
        Control(
            "chip",
            "Chip",
            CHIPS,
            "h100_sxm5_80gb",
            kind="select",
            display=lambda chip: hardware.load(chip).name,
        ),
        Control("compute", "Precision", _precisions(CHIPS), "bf16", kind="select"),
        Control(
            "intensity_flop_per_byte",
            "Arithmetic intensity",
            _intensities(),
            64.0,
            display=lambda value: units.text(value, "FLOP/B", 3),
        ),
        Control(
            "overlap",
            "Copies overlap with arithmetic",
            (False, True),
            True,
            kind="toggle",
            display=lambda on: "overlapped" if on else "in turns",
        ),
    ),
    compute=compute,
    figure=RooflineFigure,
    readout=readout,
    sentence=sentence,
    assumes=(
        "one memory level, full bandwidth and full peak, every byte moved once; "
        "no latency, no launch cost, no cache."
    ),
    is_valid=is_valid,
)

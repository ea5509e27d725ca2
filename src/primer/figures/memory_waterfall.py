"""The memory waterfall: one kernel, its bytes at every level, and where they run out.

Above, the hierarchical roofline: a slope and a dot for each level, at that
level's own intensity. Below, the same as time: the longest bar is the bound.
"""

from __future__ import annotations

from typing import Any, ClassVar

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from primer import hardware, units
from primer.explore.explorable import Control, Explorable, Row
from primer.figures import _labels, style
from primer.figures._kernels import KERNELS, LEVELS, Waterfall, compute
from primer.roofline import HierarchyPoint, LevelPoint, UnpublishedLevel

CHIPS = ("a100_sxm4_80gb", "h100_sxm5_80gb", "h200_sxm_141gb", "v100_sxm2_32gb")
MARKS = {"hbm": "o", "l2": "s", "l1": "^"}
DASHES: dict[str, Any] = {"hbm": "-", "l2": (0, (6, 2)), "l1": (0, (1.5, 1.5))}

X_LIMITS = (0.03, 2048.0)
Y_LIMITS = (3e10, 3e15)


class MemoryWaterfallFigure:
    """A slope and a dot for each level; below them one bar of time for each, and the math.

    Parameters
    ----------
    ax : Axes
        Receives the log-log plot; the bars stand below it.
    """

    size: ClassVar[tuple[float, float]] = (5.5, 5.8)
    box: ClassVar[tuple[float, float, float, float]] = (0.15, 0.445, 0.825, 0.545)
    depends: ClassVar[dict[str, tuple[str, ...]]] = {}

    def __init__(self, ax: Axes) -> None:
        self.ax = ax
        style.log_axis(ax, "x", X_LIMITS)
        style.log_axis(ax, "y", Y_LIMITS)
        ax.set_axisbelow(True)
        ax.grid(True)
        ax.set_xlabel("arithmetic intensity at each level  [FLOP per byte]")
        ax.set_ylabel("attainable rate  [FLOP/s]")
        self.slopes: dict[str, Line2D] = {}
        self.dots: dict[str, Line2D] = {}
        self.slope_labels: dict[str, Text] = {}
        self._roofs()
        self.bars: dict[str, Rectangle] = {}
        self.times: dict[str, Text] = {}
        self._rows(ax.inset_axes((0.0, -0.81, 1.0, 0.62)))

    def _roofs(self) -> None:
        ax = self.ax
        (self.got,) = ax.plot([], [], color=style.CHANGED, lw=1.2, ls=(0, (4, 3)), gid="got")
        (self.roof,) = ax.plot([], [], color=style.COMPUTE, lw=2.6, gid="roof")
        angle = _labels.slope_angle(ax)
        for name in LEVELS:
            (self.slopes[name],) = ax.plot(
                [], [], color=style.MEMORY, lw=2.2, ls=DASHES[name], gid=f"{name}-slope"
            )
            (self.dots[name],) = ax.plot(
                [], [], MARKS[name], ms=8, mew=1.2, clip_on=False, gid=f"{name}-dot", zorder=5
            )
            label = _labels.beside(ax, f"{name}-slope-label", 0, 0, va="center", color=style.MEMORY)
            label.set_rotation(angle)
            label.set_rotation_mode("anchor")
            _labels.on_ground(label, "memory-waterfall")  # in its line, and so clear of the others
            self.slope_labels[name] = label
        self.roof_label = _labels.beside(ax, "roof-label", 0, 7, color=style.COMPUTE, ha="right")
        self.got_label = _labels.beside(ax, "got-label", 0, -16, color=style.INK, ha="right")
        self.got_label.set_fontweight("bold")
        _labels.on_ground(self.got_label, "memory-waterfall")

    def _rows(self, bars: Axes) -> None:
        """Far to near, then the arithmetic: a title with its mark, a division, and a bar."""
        bars.set_xlim(0, 1)
        bars.set_ylim(-0.5, 3.5)
        bars.set_axis_off()
        rows = [(name, title, style.MEMORY) for name, title in LEVELS.items()]
        for i, (name, title, color) in enumerate([*rows, ("compute", "math", style.COMPUTE)]):
            y = 3 - i
            bars.text(-0.075, y, title, ha="right", va="center", color=color)
            if name in MARKS:
                mark = bars.plot([-0.045], [y], MARKS[name], ms=7, color=color, mew=0)
                mark[0].set_clip_on(False)
            (bar,) = bars.barh([y - 0.22], [0], height=0.3, color=color, gid=f"{name}-bar")
            bar.set_clip_on(False)
            self.bars[name] = bar
            self.times[name] = bars.text(
                0, y + 0.2, "", va="center", gid=f"{name}-time", color=style.INK
            )

    @property
    def moving(self) -> tuple[Artist, ...]:
        """The artists that a state changes."""
        roofs = (*self.slopes.values(), self.roof, self.got, *self.dots.values())
        labels = (*self.slope_labels.values(), self.roof_label, self.got_label)
        return (*roofs, *labels, *self.bars.values(), *self.times.values())

    def update(self, result: Waterfall) -> None:
        """Move every artist to where `result` puts it."""
        self._update_roof(result)
        for name in LEVELS:
            level = result.level(name)
            self._update_slope(level, result.point.peak_flop_per_s)
            self._update_dot(level, result.point)
        self._place_slope_labels(result)
        self._update_rows(result)

    def _update_roof(self, result: Waterfall) -> None:
        point = result.point
        peak, got = point.peak_flop_per_s, point.attainable_flop_per_s
        fastest = max(level.bandwidth_bytes_per_s for level in point.levels)
        right = X_LIMITS[1]
        self.roof.set_data([peak / fastest, right], [peak, peak])
        self.roof_label.set_text(f"{units.text(peak, 'FLOP/s')} {result.kernel.compute}")
        self.roof_label.set_position((right, peak))
        self.got.set_data(X_LIMITS, [got, got])
        for artist in (self.got, self.got_label):
            artist.set_visible(got < peak)
        self.got_label.set_text(f"gets {units.text(got, 'FLOP/s', 3)}")
        self.got_label.set_position((right, got))

    def _update_slope(self, level: LevelPoint | UnpublishedLevel, peak: float) -> None:
        slope = self.slopes[level.name]
        slope.set_visible(isinstance(level, LevelPoint))
        if isinstance(level, LevelPoint):
            bandwidth = level.bandwidth_bytes_per_s
            start = max(X_LIMITS[0], Y_LIMITS[0] / bandwidth)
            slope.set_data([start, peak / bandwidth], [start * bandwidth, peak])

    def _update_dot(self, level: LevelPoint | UnpublishedLevel, point: HierarchyPoint) -> None:
        """On its own roof; hollow, on the axis, where the roof is not known."""
        dot, decides = self.dots[level.name], level.name == point.bound
        color = style.CHANGED if decides else style.INK
        is_known = isinstance(level, LevelPoint)
        height = level.attainable_flop_per_s if isinstance(level, LevelPoint) else Y_LIMITS[0]
        dot.set_data([level.intensity_flop_per_byte], [height])
        dot.set_markerfacecolor(color if is_known else style.SURFACE)
        dot.set_markeredgecolor(style.SURFACE if is_known else color)
        dot.set_markersize(11 if decides else 8)

    def _place_slope_labels(self, result: Waterfall) -> None:
        """Where the slopes are free of dots: left of all, or between them and the roof."""
        nearest = min(result.level(name).intensity_flop_per_byte for name in LEVELS)
        start = X_LIMITS[0] * 2.2 if nearest > 1.2 else nearest * 1.55
        for name, title in LEVELS.items():
            level, label = result.level(name), self.slope_labels[name]
            label.set_visible(isinstance(level, LevelPoint))
            if isinstance(level, LevelPoint):
                at = start * (1.7 if name == "l2" else 1.0)  # not all in one column
                label.set_text(title)
                label.set_position((at, at * level.bandwidth_bytes_per_s))

    def _update_rows(self, result: Waterfall) -> None:
        point = result.point
        for name in LEVELS:
            level = result.level(name)
            amount = units.text(level.traffic_bytes, "B", 3)
            if isinstance(level, LevelPoint):
                rate = units.text(level.bandwidth_bytes_per_s, "B/s")
                self._update_row(name, level.time_s, f"{amount} ÷ {rate}", point)
            else:
                rate = units.text(level.needed_bytes_per_s, "B/s", 3)
                self.bars[name].set_width(0)
                self.times[name].set_text(f"{amount}, rate not published; needs {rate}")
                self.times[name].set_fontweight("normal")
        amount = units.text(point.work_flop, "FLOP", 3)
        peak = units.text(point.peak_flop_per_s, "FLOP/s")
        self._update_row("compute", point.compute_time_s, f"{amount} ÷ {peak}", point)

    def _update_row(self, name: str, time_s: float, division: str, point: HierarchyPoint) -> None:
        self.bars[name].set_width(time_s / point.time_s)
        label, decides = self.times[name], name == point.bound
        ending = ", the slowest" if decides else ""
        label.set_text(f"{division} = {units.text(time_s, 's', 3)}{ending}")
        label.set_fontweight("bold" if decides else "normal")


def readout(result: Waterfall) -> tuple[Row, ...]:
    """The rows under the figure."""
    point = result.point
    rows: list[Row] = []
    for name, title in LEVELS.items():
        level = result.level(name)
        at = level.intensity_flop_per_byte
        rows += [
            Row(f"{name}_bytes", level.traffic_bytes, "B", f"{title}: bytes"),
            Row(f"{name}_intensity_flop_per_byte", at, "FLOP/B", f"{title}: intensity"),
            _time_row(name, title, level),
        ]
    bound = LEVELS.get(point.bound, "the math units")
    return (
        *rows,
        Row("compute_time_s", point.compute_time_s, "s", "Math: time"),
        Row("time_s", point.time_s, "s", "All together"),
        Row("attainable_flop_per_s", point.attainable_flop_per_s, "FLOP/s", "Attainable rate"),
        Row("peak_frac", result.peak_frac, "1", "Share of the chip’s peak"),
        Row("bound", point.bound, "", "Bound by", bound),
    )


def _time_row(name: str, title: str, level: LevelPoint | UnpublishedLevel) -> Row:
    if isinstance(level, LevelPoint):
        return Row(f"{name}_time_s", level.time_s, "s", f"{title}: time")
    return Row(f"{name}_time_s", "not published", "", f"{title}: time")


def sentence(result: Waterfall) -> str:
    """What the reader sees in this state."""
    point = result.point
    if point.bound == "compute":
        verdict = (
            "The data do not run out: the math units are the limit, at {attainable_flop_per_s}."
        )
    else:
        verdict = "The data run out at {bound}: {peak_frac} of the peak is left."
    if point.bound in result.measured:
        verdict += " Its rate is a measurement: the true limit may be higher."
    missing = "".join(
        f" The rate of {LEVELS[level.name]} is not published: below "
        f"{units.text(level.needed_bytes_per_s, 'B/s', 3)} it would decide instead."
        for level in point.unpublished
    )
    return f"{result.kernel.lesson} {verdict}{missing}"


EXPLORABLE = Explorable(
    id="memory-waterfall",
    question="At which level do the data run out?",
    level="hardware",
    controls=(
        Control(
            "chip", "Chip", CHIPS, "a100_sxm4_80gb", kind="select",
            display=lambda chip: hardware.load(chip).name,
        ),
        Control(
            "kernel", "Kernel", tuple(KERNELS), "gemm_l1", kind="select",
            display=lambda name: KERNELS[name].title,
        ),
    ),
    compute=compute,
    figure=MemoryWaterfallFigure,
    readout=readout,
    sentence=sentence,
    assumes=(
        "the matmul is the one matmul with T = 1024 or 1, in fp16; the L2 keeps what it has "
        "fetched, except where nothing is kept; sums stay in registers; all levels work at once "
        "at full bandwidth, which for caches is the rate of reading."
    ),
)  # fmt: skip

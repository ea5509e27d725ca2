"""How well one core hides the latency of its memory, measured beside Little's law.

Above, how many times the rate of one access at a time is reached, over the accesses in flight: the
model's two lines, and a dot for each measurement. Below, the accesses as bars that overlap, each as
long as it is under way. The book opens on a measurement that is kept with it; `measured` makes the
same figure of another one, such as the reader's own.
"""

from __future__ import annotations

import math
from itertools import product
from typing import Any, ClassVar

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from primer import latency_hiding, units
from primer.explore.explorable import Control, Explorable, Row
from primer.figures import style
from primer.figures._boxes import Box, boxes, patch
from primer.figures._picture import Picture, draw
from primer.latency_hiding import BUFFERS, METHODS, HiddenLatency, LatencyHiding

PLACES = {"cache": "in the second cache", "memory": "in main memory"}
WAYS = {"chains": "linked lists, by turns", "prefetch": "loads ahead of need"}
NEARLY = 0.85  # of the model: what is missing may be noise
WINDOW = 2.0  # latencies that the bars show
MANY = 16  # lanes
GAP = 0.012  # of the window, between two accesses of a lane


class LatencyHidingFigure(Picture):
    """A curve over the accesses in flight, and the accesses themselves.

    Parameters
    ----------
    ax : Axes
        Receives the curve; the bars stand below it.
    """

    size: ClassVar[tuple[float, float]] = (6.0, 5.2)
    box: ClassVar[tuple[float, float, float, float]] = (0.115, 0.46, 0.86, 0.465)
    depends: ClassVar[dict[str, tuple[str, ...]]] = dict.fromkeys(
        ("model", "measured", "plain", "plain-label"), ("buffer", "method")
    )
    measurement: ClassVar[LatencyHiding]

    def __init__(self, ax: Axes) -> None:
        self.ax = ax
        self.alt = "A core without accesses."
        counts = sorted({p.n_in_flight for p in self.measurement.points})
        self._top = counts[-1] * 1.3
        ax.set_xlim(0.8, self._top)
        ax.set_ylim(0.8, max(2.0, min(self._top, _fastest(self.measurement) * 2.2)))
        self._scale(ax, counts)
        ax.set_xlabel("accesses in flight")
        ax.set_ylabel("times the rate of one")
        ax.set_title(_machine_line(self.measurement), fontsize=10, pad=9)
        self._curve()
        self._bars(ax.inset_axes((0.0, -0.74, 1.0, 0.37)))

    def _scale(self, ax: Axes, counts: list[int]) -> None:
        """Powers of two on both axes, as plain numbers."""
        powers = [2**e for e in range(int(math.log2(counts[-1])) + 1)]
        for axis, name in ((ax.xaxis, "x"), (ax.yaxis, "y")):
            getattr(ax, f"set_{name}scale")("log", base=2)
            axis.set_major_locator(FixedLocator(powers))
            axis.set_minor_locator(NullLocator())
            axis.set_major_formatter(FuncFormatter(lambda n, _: f"{n:.0f}"))

    def _curve(self) -> None:
        ax = self.ax
        ax.grid(True, axis="y")
        ax.set_axisbelow(True)
        (self.plain,) = ax.plot([], [], color=style.MUTED, lw=1.4, ls=(0, (2, 3)), gid="plain")
        self.plain_label = ax.text(
            self._top, 1, "", gid="plain-label", ha="right", va="top", fontsize=10,
            color=style.MUTED,
        )  # fmt: skip
        (self.model,) = ax.plot([], [], color=style.INK, lw=1.6, gid="model")
        (self.dots,) = ax.plot([], [], "o", ms=6, color=style.MEMORY, gid="measured")
        (self.ring,) = ax.plot(
            [], [], "o", ms=12, mfc="none", mec=style.CHANGED, mew=2.2, gid="chosen", zorder=4
        )
        look: dict[str, Any] = {"va": "top", "fontsize": 10, "color": style.MUTED}
        for y, key in ((0.97, "line: Little’s law with a ceiling"), (0.89, "dots: measured")):
            ax.text(0.02, y, key, transform=ax.transAxes, **look)

    def _bars(self, lanes: Axes) -> None:
        lanes.set_xlim(0, WINDOW)
        lanes.set_ylim(1, 0)
        lanes.set_yticks([])
        lanes.spines["left"].set_visible(False)
        lanes.xaxis.set_major_locator(FixedLocator([0, 1, 2]))
        lanes.xaxis.set_major_formatter(FuncFormatter(lambda n, _: f"{n:.0f}"))
        lanes.set_xlabel("time  [latencies of one access alone]")
        self.head = lanes.text(0, -0.07, "", va="bottom", gid="lanes-head", color=style.INK)
        lanes.text(WINDOW, -0.07, "hatched: waiting in line", ha="right", va="bottom", fontsize=10)
        self.waiting = patch(lanes, "waiting", fc="none", ec=style.IDLE, lw=0.0, hatch="//////")
        self.latency = patch(lanes, "latency", fc=style.MEMORY, lw=0.0)

    @property
    def moving(self) -> tuple[Artist, ...]:
        """The artists that a control changes."""
        curve = (self.plain, self.plain_label, self.model, self.dots, self.ring)
        return (*curve, self.head, self.waiting, self.latency)

    def update(self, result: HiddenLatency) -> None:
        """Show one number of accesses in flight."""
        needed = result.model.n_needed
        self.model.set_data([0.8, needed, self._top], [0.8, needed, needed])
        self.dots.set_data(
            [p.n_in_flight for p in result.curve],
            [result.latency_s / p.time_s for p in result.curve],
        )
        self.ring.set_data([result.point.n_in_flight], [result.speedup])
        self.plain.set_data([0.8, self._top], [result.n_plain] * 2)
        self.plain_label.set_y(result.n_plain * 0.82)
        self.plain_label.set_text(f"a plain loop: {result.n_plain:.1f} ×")
        self._lay_lanes(result)
        self.alt = describe(result)

    def _lay_lanes(self, result: HiddenLatency) -> None:
        """A lane for each access in flight; what is longer than the latency is waiting in line."""
        n, length = result.point.n_in_flight, result.residence_s / result.latency_s
        waiting = max(0.0, length - 1)
        late, busy = [], []
        height = (0.8 if n <= MANY else 1.0) / n  # gaps between thin lanes would only blur
        for lane in range(n):
            y, start = lane / n, -length * lane / n
            while start < WINDOW:
                late += _clipped(start, start + waiting, y, height)
                busy += _clipped(start + waiting, start + length - GAP * WINDOW, y, height)
                start += length
        self.waiting.set_path(boxes(late))
        self.latency.set_path(boxes(busy))
        self.head.set_text(_head(result))


def _clipped(start: float, end: float, y: float, height: float) -> list[Box]:
    """A bar as far as it lies in the window."""
    left, right = max(start, 0.0), min(end, WINDOW)
    return [(left, y, right - left, height)] if right > left else []


def _head(result: HiddenLatency) -> str:
    """What stands above the bars."""
    n = result.point.n_in_flight
    wait = units.text(result.residence_s, "s", 3)
    return (
        f"1 access in flight, for {wait}" if n == 1 else f"{n} accesses in flight, each for {wait}"
    )


def _machine_line(measurement: LatencyHiding) -> str:
    """Whose core it is, cut to the width of a phone."""
    name = measurement.name
    name = name if len(name) <= 34 else f"{name[:33].rstrip()}…"
    return f"{name}: 1 thread, {measurement.date}"


def _fastest(measurement: LatencyHiding) -> float:
    """The highest gain over one access at a time, float."""
    ways = product(BUFFERS, METHODS)
    curves = [curve for way in ways if (curve := measurement.curve(*way))]
    return max(curve[0].time_s / p.time_s for curve in curves for p in curve)


def describe(result: HiddenLatency) -> str:
    """What the picture shows, in words."""
    time, model = (units.text(t, "s", 3) for t in (result.time_s, result.model.time_s))
    where, way = PLACES[result.buffer.name], WAYS[result.point.method]
    return (
        f"{_head(result)}, {where} ({way}): {time} per access measured, {model} by the model, "
        f"{result.speedup:.1f} times the rate of one access at a time."
    )


def draw_latency_hiding(result: HiddenLatency, *, ax: Axes | None = None) -> LatencyHidingFigure:
    """Draw one measured point on its curve.

    Parameters
    ----------
    result : HiddenLatency
        From `LatencyHiding.hide`.
    ax : Axes, optional
        Where to draw; by default on a figure of its own.
    """
    return draw(_figure_of(result.measurement), result, ax)


def _figure_of(measurement: LatencyHiding) -> type[LatencyHidingFigure]:
    """The figure class of one measurement, whose axes never move."""
    return type("LatencyHidingFigure", (LatencyHidingFigure,), {"measurement": measurement})


def readout(result: HiddenLatency) -> tuple[Row, ...]:
    """The rows under the figure."""
    model, point = result.model, result.point
    needed, gain = f"{model.n_needed:.1f}", f"{result.speedup:.1f} ×"
    spread = " to ".join(units.text(t, "s", 3) for t in (point.fastest_s, point.slowest_s))
    return (
        _time("time_s", result.time_s, "Time per access, measured"),
        Row("range_s", spread, "", "Its range in the repeats"),
        _time("model_time_s", model.time_s, "Time per access, model"),
        Row("speedup", result.speedup, "1", "Rate, times that of one access", gain),
        _time("latency_s", result.latency_s, "Latency: one access alone"),
        _time("residence_s", result.residence_s, "Under way: each of these accesses"),
        Row("n_needed", model.n_needed, "1", "In flight to reach the ceiling", needed),
        Row("bytes_in_flight", result.bytes_in_flight, "B", "Bytes in flight"),
        Row("bytes_per_s", result.bytes_per_s, "B/s", "Bytes that arrive"),
        Row("stream_bytes_per_s", result.buffer.stream_bytes_per_s, "B/s", "Reading in order"),
        _time("plain_s", result.buffer.plain_s, "Time per access, plain loop"),
        Row("n_plain", result.n_plain, "1", "In flight in a plain loop", f"{result.n_plain:.1f}"),
        Row("n_repeats", point.n_repeats, "1", "Repeats", units.number(point.n_repeats)),
    )


def _time(name: str, seconds: float, label: str) -> Row:
    return Row(name, seconds, "s", label, units.text(seconds, "s", 3))


def sentence(result: HiddenLatency) -> str:
    """What the reader sees in this state."""
    share = result.model.time_s / result.time_s
    if result.point.n_in_flight == 1:
        return (
            "One access at a time: each step waits its whole {latency_s}, and the core idles. "
            "In a plain loop, where no step needs the one before, it overlaps {n_plain} by itself."
        )
    if result.model.bound == "rate":
        return (
            "The ceiling: about {n_needed} in flight hide all of the latency here. More only wait "
            "in line (hatched): each is under way for {residence_s} instead of {latency_s}."
        )
    if share >= NEARLY:
        return (
            "{n_in_flight} accesses share one wait. One ends every {time_s} instead of every "
            "{latency_s}, though none has become shorter: {residence_s} each."
        )
    return (
        "{n_in_flight} in flight should end {model_time_s} apart, and do so every {time_s}. "
        "The corner is round in reality: queues and the loop’s own work add a little to each."
    )


def assumes(measurement: LatencyHiding) -> str:
    """What these numbers take for granted."""
    return (
        f"one thread of {measurement.name}, medians of one day ({measurement.date}), nothing "
        f"pinned; one access per {measurement.line_bytes} B, in random order; the line takes its "
        "slope from the first dot and its ceiling from the best one: the shape between is tested."
    )


def measured(measurement: LatencyHiding) -> Explorable:
    """The figure of any measurement.

    Parameters
    ----------
    measurement : LatencyHiding
        From `primer.workbench.latency.measure()`, or read with `primer.latency_hiding.from_json`.

    Returns
    -------
    Explorable
        For `explore.show`.
    """
    places = tuple(b.name for b in measurement.buffers)[::-1]
    known = {(p.buffer, p.method, p.n_in_flight) for p in measurement.points}
    ways = tuple(m for m in METHODS if any(m in measurement.methods(b) for b in places))
    counts = tuple(sorted({p.n_in_flight for p in measurement.points}))
    opening = max((n for n in counts if (places[0], ways[0], n) in known and n <= 8), default=1)
    return Explorable(
        id="latency-hiding",
        question="Does a CPU core hide latency the same way?",
        level="hardware",
        controls=(
            Control("buffer", "Data lie", places, places[0], "select", PLACES.__getitem__),
            Control("method", "Kept in flight by", ways, ways[0], "select", WAYS.__getitem__),
            Control("n_in_flight", "Accesses in flight", counts, opening),
        ),
        compute=measurement.hide,
        figure=_figure_of(measurement),
        readout=readout,
        sentence=sentence,
        assumes=assumes(measurement),
        is_valid=lambda state: tuple(state.values()) in known,
    )


EXPLORABLE = measured(latency_hiding.snapshot())

"""The memory wall, measured at one fixed width: how peak and bandwidth of a family grew.

Above, both relative to the family's first chip, on one logarithmic axis: while the upper line is
the steeper one, the wall rises. Below, their quotient in absolute terms, the ridge at 16 bit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, ClassVar

from matplotlib.axes import Axes
from matplotlib.text import Text
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator
from matplotlib.transforms import Bbox, offset_copy

from primer import units
from primer.explore.explorable import Control, Explorable, Row
from primer.figures import style
from primer.figures._history import FAMILIES, History, Milestone, history
from primer.figures._picture import Picture, draw

Point = tuple[float, float]

GROWTH_LIMITS = (0.7, 80.0)
RIDGE_LIMIT = 640.0
LETTER = 6.1  # points, of the labels' type
# Where a label may stand: beside its dot or not, and how many points above it.
PLACES: tuple[Point, ...] = (
    (0, 11), (0, -12), (-1, 0), (1, 0), (-1, 9), (1, 9), (-1, -10), (1, -10), (0, 23),
    (0, -24), (-1, 15), (1, 15), (0, 35), (0, -36),
)  # fmt: skip


class MemoryWallFigure(Picture):
    """Growth of peak and bandwidth above, the ridge below, on one axis of time.

    Parameters
    ----------
    ax : Axes
        Receives the ridge; the growth stands above it.
    """

    size: ClassVar[tuple[float, float]] = (6.0, 5.4)
    box: ClassVar[tuple[float, float, float, float]] = (0.13, 0.07, 0.825, 0.435)
    depends: ClassVar[dict[str, tuple[str, ...]]] = {}

    def __init__(self, ax: Axes) -> None:
        self.ax = ax
        self.alt = "A history without chips."
        self.growth = ax.inset_axes((0.0, 1.2, 1.0, 0.83))
        self._axes()
        self.lines = {
            name: self._series(name, where, color, marker)
            for name, where, color, marker in (
                ("peak", self.growth, style.COMPUTE, "o"),
                ("bandwidth", self.growth, style.MEMORY, "s"),
                ("ridge", self.ax, style.INK, "D"),
            )
        }
        self._words()

    def _axes(self) -> None:
        start, end = span()
        for ax in (self.ax, self.growth):
            ax.set_xlim(start, end)
            ax.set_axisbelow(True)
            ax.grid(True, axis="y")
            ax.xaxis.set_major_locator(FixedLocator(range(int(start) + 1, int(end) + 1)))
            ax.xaxis.set_major_formatter(FuncFormatter(lambda year, _: f"{year:.0f}"))
        self.growth.tick_params(labelbottom=False)
        self.growth.set_yscale("log")
        self.growth.set_ylim(*GROWTH_LIMITS)
        self.growth.yaxis.set_major_locator(FixedLocator([1, 4, 16, 64]))
        self.growth.yaxis.set_minor_locator(NullLocator())
        self.growth.yaxis.set_major_formatter(FuncFormatter(lambda ratio, _: f"{ratio:.0f}×"))
        self.ax.set_ylim(0, RIDGE_LIMIT)
        self.ax.yaxis.set_major_locator(FixedLocator([0, 200, 400, 600]))

    def _series(self, name: str, ax: Axes, color: str, marker: str) -> tuple[Any, ...]:
        """Line, whiskers where only a span of time is known, full and hollow markers."""
        look: dict[str, Any] = {"ls": "", "marker": marker, "ms": 6.5, "mew": 1.5}
        (line,) = ax.plot([], [], color=color, lw=2.0, gid=f"{name}-line")
        (hope,) = ax.plot([], [], color=color, lw=1.4, ls=(0, (3, 2)), gid=f"{name}-hope")
        (spread,) = ax.plot([], [], "|-", color=color, lw=1.2, ms=7, gid=f"{name}-spread")
        (real,) = ax.plot([], [], c=color, gid=f"{name}-real", zorder=4, **look)
        (plan,) = ax.plot([], [], mec=color, gid=f"{name}-plan", zorder=5, **look)
        plan.set_markerfacecolor(style.SURFACE)
        for artist in (line, hope, spread, real, plan):
            artist.set_clip_on(False)
        return (line, hope, spread, real, plan)

    def _words(self) -> None:
        """Titles of the two parts, the two factors, and a label for each chip."""
        top, ax = self.growth, self.ax
        top.text(0, 1.04, "growth since the first chip", transform=top.transAxes)
        ax.text(0, 1.035, "ridge at 16 bit  [FLOP/B]", transform=ax.transAxes)
        self.words: list[Text] = []
        for name, y, color, marker in (
            ("peak", 0.9, style.COMPUTE, "o"), ("bandwidth", 0.76, style.MEMORY, "s"),
        ):  # fmt: skip
            top.plot([0.025], [y], marker, ms=6.5, color=color, transform=top.transAxes)
            word = top.text(
                0.05, y, "", transform=top.transAxes, va="center", color=color,
                gid=f"{name}-word",
            )  # fmt: skip
            self.words.append(word)
        most = max(len(history(family).milestones) for family in FAMILIES)
        self.labels = [
            ax.text(0, 0, "", ha="center", va="center", fontsize=9.5, gid=f"label-{i}")
            for i in range(most)
        ]

    @property
    def moving(self) -> tuple[Any, ...]:
        """The artists that a state changes."""
        drawn = [artist for series in self.lines.values() for artist in series]
        return (*drawn, *self.words, *self.labels)

    def update(self, result: History) -> None:
        """Show one family."""
        first, chips = result.first, result.milestones
        values = {
            "peak": [m.peak_flop_per_s / first.peak_flop_per_s for m in chips],
            "bandwidth": [m.bandwidth_bytes_per_s / first.bandwidth_bytes_per_s for m in chips],
            "ridge": [m.ridge_flop_per_byte for m in chips],
        }
        for name, heights in values.items():
            self._draw(self.lines[name], chips, heights)
        for word, what, ratio in zip(
            self.words,
            ("peak at 16 bit", "memory bandwidth"),
            (result.peak_ratio, result.bandwidth_ratio),
            strict=True,
        ):
            word.set_text(f"{what}: {units.number(ratio, 2)}× by {result.newest.label}")
        self._label(chips)
        self.alt = describe(result)

    def _draw(self, series: tuple[Any, ...], chips: Sequence[Milestone], ys: list[float]) -> None:
        line, hope, spread, real, plan = series
        points = [(m.year, y) for m, y in zip(chips, ys, strict=True)]
        done = [p for m, p in zip(chips, points, strict=True) if not m.announced]
        open_ = [p for m, p in zip(chips, points, strict=True) if m.announced]
        for artist, drawn in ((line, done), (real, done), (plan, open_)):
            artist.set_data([x for x, _ in drawn], [y for _, y in drawn])
        tail = [done[-1], *open_] if open_ else []
        hope.set_data([x for x, _ in tail], [y for _, y in tail])
        # One line with gaps: a year known only roughly is as wide as what is known.
        wide = [(m, y) for m, y in zip(chips, ys, strict=True) if m.last_year - m.first_year > 0.2]
        gap = float("nan")
        spread.set_data(
            [x for m, _ in wide for x in (m.first_year, m.last_year, gap)],
            [v for _, y in wide for v in (y, y, gap)],
        )

    def _label(self, chips: Sequence[Milestone]) -> None:
        texts = [f"{m.label} {m.ridge_flop_per_byte:.0f}" for m in chips]
        spots = [(m.year, m.ridge_flop_per_byte) for m in chips]
        offsets = list(self._free(spots, texts))
        for i, label in enumerate(self.labels):
            label.set_visible(i < len(texts))
            if i < len(texts):
                dx, dy = offsets[i]
                page = style.page(self.ax)
                label.set_transform(offset_copy(self.ax.transData, page, dx, dy, units="points"))
                label.set_position(spots[i])
                label.set_text(texts[i])

    def _free(self, spots: Sequence[Point], texts: Sequence[str]) -> Iterator[Point]:
        """For each label the first place that touches neither line, nor label, nor edge."""
        dots = [tuple(self.ax.transData.transform(spot)) for spot in spots]
        taken = [Bbox.from_bounds(x - 3, y - 3, 6, 6) for x, y in _along(dots)]
        edge = self.ax.get_window_extent()
        for (x, y), text in zip(dots, texts, strict=True):
            half = LETTER * len(text) / 2
            boxes = {
                (dx, dy): Bbox.from_bounds(x + _aside(dx, half) - half, y + dy - 6, 2 * half, 12)
                for dx, dy in PLACES
            }
            free = [
                place for place, box in boxes.items()
                if not any(box.overlaps(other) for other in taken)
                and box.x0 > edge.x0 - 4 and box.x1 < edge.x1 + 6 and box.y0 > edge.y0
            ]  # fmt: skip
            dx, dy = free[0] if free else PLACES[0]
            taken.append(boxes[dx, dy])
            yield _aside(dx, half), dy


def _along(dots: Sequence[Point], n: int = 12) -> Iterator[Point]:
    """The dots, and points on the lines between them."""
    yield from dots
    for (x, y), (to_x, to_y) in pairwise(dots):
        for i in range(1, n):
            yield x + (to_x - x) * i / n, y + (to_y - y) * i / n


def _aside(dx: float, half: float) -> float:
    """A label beside its dot stands half its own width away from it."""
    return 0.0 if dx == 0 else (1 if dx > 0 else -1) * (half + 7)


def span() -> tuple[float, float]:
    """Years of the axis: all families, so that they can be compared."""
    chips = [m for family in FAMILIES for m in history(family).milestones]
    first, last = min(m.first_year for m in chips), max(m.last_year for m in chips)
    return int(first) - 0.15, int(last) + 1.0


def describe(result: History) -> str:
    """What the picture shows, in words."""
    steps = ", ".join(
        f"{m.label} {m.ridge_flop_per_byte:.0f}{' (announced)' if m.announced else ''}"
        for m in result.milestones
    )
    return f"Ridge at 16 bit of each {result.family}, in FLOP per byte: {steps}."


def draw_memory_wall(result: History, *, ax: Axes | None = None) -> MemoryWallFigure:
    """Draw the history of one family.

    Parameters
    ----------
    result : History
        From `history`.
    ax : Axes, optional
        Where to draw; by default on a figure of its own.
    """
    return draw(MemoryWallFigure, result, ax)


def readout(result: History) -> tuple[Row, ...]:
    """The rows under the figure."""

    def ridge(name: str, chip: Milestone, label: str) -> Row:
        text = f"{chip.label}: {units.text(chip.ridge_flop_per_byte, 'FLOP/B', 3)}"
        return Row(name, chip.ridge_flop_per_byte, "FLOP/B", label, text)

    return (
        Row("peak_ratio", result.peak_ratio, "1", "Peak, newest over first",
            f"{units.number(result.peak_ratio, 2)}×"),
        Row("bandwidth_ratio", result.bandwidth_ratio, "1", "Bandwidth, newest over first",
            f"{units.number(result.bandwidth_ratio, 2)}×"),
        ridge("first_ridge_flop_per_byte", result.first, "Ridge of the first"),
        ridge("plateau_ridge_flop_per_byte", result.plateau, "First within a tenth of the highest"),
        ridge("highest_ridge_flop_per_byte", result.highest, "Highest ridge"),
        ridge("newest_ridge_flop_per_byte", result.newest, "Ridge of the newest"),
    )  # fmt: skip


def sentence(result: History) -> str:
    """What the reader sees in this state."""
    growth = "Peak grew {peak_ratio}, bandwidth {bandwidth_ratio}. "
    if len(result.released) == 1:
        return "The tables hold one chip of this family, which is no history yet."
    if result.plateau == result.newest:
        return growth + "The newest chip has the highest ridge: at 16 bit the wall still rises."
    when = f"{result.plateau.label}, in {int(result.plateau.year)},"
    if result.plateau == result.highest:
        return growth + (
            f"The ridge was highest with {when} not with the newest chip: at 16 bit the wall does "
            "not rise with every generation."
        )
    return growth + (
        f"But the ridge was about as high with {when} as with any chip since: at 16 bit the wall "
        "has stopped rising."
    )


EXPLORABLE = Explorable(
    id="memory-wall",
    question="Does arithmetic still outrun the memory?",
    level="hardware",
    controls=(Control("family", "Family", FAMILIES, FAMILIES[0], kind="select"),),
    compute=history,
    figure=MemoryWallFigure,
    readout=readout,
    sentence=sentence,
    assumes=(
        "dense 16-bit peaks and the bandwidths of data sheets, per chip. Chips that are only "
        "announced are hollow and do not count; a bar through a dot is a date known only roughly."
    ),
)

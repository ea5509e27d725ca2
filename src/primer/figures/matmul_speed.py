"""One matrix product in several kernels, timed on one thread of one machine.

Above, a bar for each kernel at the chosen size, and the peak of the arithmetic units where it was
measured. Below, the tiled kernel at the same size over its tile. The book opens on a measurement
that is kept with it; `measured` makes the same figure of another one, such as the reader's own.
"""

from __future__ import annotations

from typing import Any, ClassVar

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from primer import matmul_speed, units
from primer.explore.explorable import Control, Explorable, Row
from primer.figures import style
from primer.figures._picture import Picture, draw
from primer.matmul_speed import LIBRARIES, Comparison, MatmulSpeed

TITLES = {
    "naive": "naive, ijk",
    "ikj": "ikj",
    "tiled": "tiled ikj",
    "register_blocked": "in registers",
    "numpy": "NumPy",
    "torch": "torch",
}
WORDS = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six"}
NOT_MEASURED = "not measured"
CLEARLY = 1.15  # times as fast: less may be noise


class MatmulSpeedFigure(Picture):
    """Bars of all kernels, and the tiled one over its tile.

    Parameters
    ----------
    ax : Axes
        Receives the tiles; the bars stand above it.
    """

    size: ClassVar[tuple[float, float]] = (6.0, 5.3)
    box: ClassVar[tuple[float, float, float, float]] = (0.1, 0.115, 0.875, 0.255)
    depends: ClassVar[dict[str, tuple[str, ...]]] = {}
    speed: ClassVar[MatmulSpeed]

    def __init__(self, ax: Axes) -> None:
        self.ax = ax
        self.alt = "Kernels without a size."
        self._bars()
        self._tiles()

    def _bars(self) -> None:
        """One row for each kernel, simplest on top."""
        kernels, top = self.speed.kernels, fastest(self.speed)
        self.rows = self.ax.inset_axes((0.105, 1.64, 0.67, 1.58))
        self.rows.set_xlim(0, top * 1.02)
        self.rows.set_ylim(len(kernels) - 0.4, -0.6)
        self.rows.set_yticks(range(len(kernels)), [TITLES[k] for k in kernels])
        self.rows.tick_params(axis="y", length=0)
        self.rows.xaxis.set_major_formatter(FuncFormatter(lambda rate, _: units.tick(rate)))
        self.rows.xaxis.set_major_locator(FixedLocator(steps(top)))
        self.rows.set_xlabel("rate  [FLOP/s]")
        self.bars, self.words = [], []
        for i, kernel in enumerate(kernels):
            color = style.IDLE if kernel in LIBRARIES else style.COMPUTE
            (bar,) = self.rows.barh([i], [0], height=0.62, color=color, gid=f"{kernel}-bar")
            self.bars.append(bar)
            word = self.rows.text(top * 1.35, i, "", ha="right", va="center", gid=f"{kernel}-rate")
            self.words.append(word)
        self._peak()

    def _peak(self) -> None:
        peak = self.speed.peak_flop_per_s
        if peak is None:
            return
        self.rows.axvline(peak, color=style.INK, lw=1.4, ls=(0, (4, 3)))
        label = f"peak of one thread  {units.text(peak, 'FLOP/s', 3)}"
        self.rows.text(fastest(self.speed) * 1.35, -0.85, label, ha="right", va="bottom")

    def _tiles(self) -> None:
        """Rate of the tiled kernel over its tile, on a scale of powers of two."""
        ax = self.ax
        tiles = sorted({p.tile for p in self.speed.points if p.tile is not None})
        best = max(p.flop_per_s for p in self.speed.points if p.kernel in ("tiled", "ikj"))
        ax.set_xscale("log", base=2)
        ax.set_xlim(tiles[0] / 1.25, tiles[-1] * 1.25)
        ax.xaxis.set_major_locator(FixedLocator(tiles))
        ax.xaxis.set_minor_locator(NullLocator())
        ax.xaxis.set_major_formatter(FuncFormatter(lambda tile, _: f"{tile:.0f}"))
        ax.set_ylim(0, best * 1.12)
        ax.yaxis.set_major_locator(FixedLocator(steps(best)))
        ax.yaxis.set_major_formatter(FuncFormatter(lambda rate, _: units.tick(rate)))
        ax.set_axisbelow(True)
        ax.grid(True, axis="y")
        ax.set_xlabel("edge of a tile")
        ax.text(0, 1.07, "tiled ikj  [FLOP/s]; dashed: ikj without tiles", transform=ax.transAxes)
        (self.level,) = ax.plot([], [], color=style.MUTED, lw=1.4, ls=(0, (4, 3)), gid="ikj-level")
        (self.curve,) = ax.plot([], [], "o-", color=style.COMPUTE, ms=5, gid="tiles")
        look: dict[str, Any] = {"ms": 11, "mec": style.CHANGED, "mew": 2.0, "zorder": 4}
        (self.dot,) = ax.plot([], [], "o", markerfacecolor="none", gid="tile-dot", **look)

    @property
    def moving(self) -> tuple[Artist, ...]:
        """The artists that a size or a tile changes."""
        return (*self.bars, *self.words, self.level, self.curve, self.dot)

    def update(self, result: Comparison) -> None:
        """Show one size and tile."""
        for kernel, bar, word in zip(self.speed.kernels, self.bars, self.words, strict=True):
            rate = result.rate(kernel)
            bar.set_width(rate or 0)
            word.set_text("too slow" if rate is None else units.text(rate, "FLOP/s", 3))
        plain = result.rate("ikj")
        level = [] if plain is None else [plain, plain]
        self.level.set_data(self.ax.get_xlim() if level else [], level)
        self.curve.set_data(
            [p.tile or 0 for p in result.tiled], [p.flop_per_s for p in result.tiled]
        )
        self.dot.set_data([result.tile], [result.rate("tiled") or 0])
        self.alt = describe(result)


def fastest(speed: MatmulSpeed) -> float:
    """The highest rate that the bars must reach, float [FLOP/s]."""
    rates = [p.flop_per_s for p in speed.points]
    return max(*rates, speed.peak_flop_per_s or 0.0)


def steps(top: float) -> list[float]:
    """Three to seven round numbers from zero up to a rate.

    >>> steps(117e9)[-1], steps(48e9)
    (100000000000.0, [0.0, 10000000000.0, 20000000000.0, 30000000000.0, 40000000000.0])
    """
    decade = 10.0 ** (len(str(int(top))) - 1)
    step = next(s * decade for s in (0.2, 0.5, 1.0, 2.0) if top / (s * decade) < 7)
    return [i * step for i in range(int(top / step) + 1)]


def describe(result: Comparison) -> str:
    """What the picture shows, in words."""
    rates = ", ".join(
        f"{TITLES[p.kernel]} {units.text(p.flop_per_s, 'FLOP/s', 3)}" for p in result.points
    )
    what = f"A product of {result.n} × {result.n} matrices in {result.speed.compute}"
    return f"{what}, on one thread: {rates}."


def draw_matmul_speed(result: Comparison, *, ax: Axes | None = None) -> MatmulSpeedFigure:
    """Draw all kernels at one size.

    Parameters
    ----------
    result : Comparison
        From `MatmulSpeed.compare`.
    ax : Axes, optional
        Where to draw; by default on a figure of its own.
    """
    return draw(_figure_of(result.speed), result, ax)


def _figure_of(speed: MatmulSpeed) -> type[MatmulSpeedFigure]:
    """The figure class of one measurement, whose axes never move."""
    return type("MatmulSpeedFigure", (MatmulSpeedFigure,), {"speed": speed})


def readout(result: Comparison) -> tuple[Row, ...]:
    """The rows under the figure: one for each kernel, and what they have in common."""
    kernels = result.speed.kernels
    work = Row("flop", result.work.flop, "FLOP", "Work of every kernel")
    each = result.work.b_bytes
    rows = [work, Row("matrix_bytes", each, "B", "Size of each matrix")]
    rows += [_rate(f"{k}_flop_per_s", result.rate(k), f"Rate, {TITLES[k]}") for k in kernels]
    rows.append(_share("tiling_ratio", result, "tiled", "ikj", "Tiled over plain ikj"))
    rows.append(
        _share("numpy_ratio", result, "register_blocked", "numpy", "In registers over NumPy")
    )
    return tuple(rows)


def _rate(name: str, rate: float | None, label: str) -> Row:
    if rate is None:
        return Row(name, NOT_MEASURED, "", label)
    return Row(name, rate, "FLOP/s", label, units.text(rate, "FLOP/s", 3))


def _share(name: str, result: Comparison, ours: str, theirs: str, label: str) -> Row:
    ratio = _ratio(result, ours, theirs)
    if ratio is None:
        return Row(name, NOT_MEASURED, "", label)
    return Row(name, ratio, "1", label, f"{ratio:.2f} ×")


def _ratio(result: Comparison, ours: str, theirs: str) -> float | None:
    above, below = result.rate(ours), result.rate(theirs)
    return None if above is None or below is None else above / below


def sentence(result: Comparison) -> str:
    """What the reader sees in this state."""
    gain = _ratio(result, "tiled", "ikj")
    if gain is None:
        return "The tiled kernel at this size: {tiled_flop_per_s} with a tile of {tile}."
    if gain > CLEARLY:
        start = (
            "Tiles pay here: {tiling_ratio} the rate of plain ikj, which fetches a matrix of "
            "{matrix_bytes} again for every row."
        )
    elif gain < 1 / CLEARLY:
        start = (
            "Tiles do not pay here: {tiling_ratio} the rate of plain ikj. The caches and long runs "
            "along rows already serve ikj well, and short rows cost time."
        )
    else:
        start = "Tiles change little here: {tiling_ratio} the rate of plain ikj."
    if _ratio(result, "register_blocked", "numpy") is None:
        return start
    return start + " Sums that stay in registers reach {numpy_ratio} the rate of NumPy."


def assumes(speed: MatmulSpeed) -> str:
    """What these numbers take for granted."""
    return (
        f"{speed.name}, one thread, medians of one day ({speed.date}), nothing pinned; square "
        f"matrices in {speed.compute} that start at a line of the cache; NumPy calls {speed.blas}."
    )


def measured(speed: MatmulSpeed) -> Explorable:
    """The figure of any measurement in which the tiled kernel took part.

    Parameters
    ----------
    speed : MatmulSpeed
        From `primer.workbench.matmul.measure()`, or read with `primer.matmul_speed.from_json`.

    Returns
    -------
    Explorable
        For `explore.show`.
    """
    sizes = tuple(n for n in speed.sizes if speed.tiles(n))
    if not sizes:
        raise ValueError(f"speed must have the tiled kernel; got {speed.kernels!r}")
    tiles = tuple(sorted({tile for n in sizes for tile in speed.tiles(n)}))
    opening = 512 if 512 in sizes else sizes[-1]
    fit = speed.tiles(opening)
    count = WORDS.get(len(speed.kernels), str(len(speed.kernels)))
    return Explorable(
        id="matmul-speed",
        question=f"How fast are {count} ways to write one matmul?",
        level="hardware",
        controls=(
            Control("n", "Rows and columns", sizes, opening),
            Control("tile", "Edge of a tile", tiles, 64 if 64 in fit else fit[-1]),
        ),
        compute=speed.compare,
        figure=_figure_of(speed),
        readout=readout,
        sentence=sentence,
        assumes=assumes(speed),
        is_valid=lambda state: state["tile"] in speed.tiles(state["n"]),
    )


EXPLORABLE = measured(matmul_speed.snapshot())

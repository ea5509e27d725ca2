"""A matrix product under the roof: its three sides, its three matrices, its reach.

The roofline holds one dot. A row of marks below it shows where the same product
stands for every number of rows, from the cliff at one to the limit that the
other two sides set. Three bars weigh the matrices that must be moved.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.text import Text

from primer import hardware, roofline, units
from primer.explore.explorable import Control, Explorable, Row, State
from primer.figures import _labels, style
from primer.figures.roofline import RooflineFigure
from primer.roofline import RooflinePoint
from primer.workloads import Matmul

CHIPS = ("a100_sxm4_80gb", "h100_sxm5_80gb", "mi300x", "tpu_v5e")
ROWS = tuple(2**e for e in range(14))
SIDES = (128, 768, 3072, 8192)
STORAGES = ("tf32", "bf16", "int8")

X_LIMITS = (0.1, 200_000.0)
Y_LIMITS = (2e10, 1e16)
REACH_Y = 5e10
MISSING = {"m": "B", "n": "A", "k": "C"}  # the one matrix that a side is not part of


@dataclass(frozen=True, kw_only=True)
class GemmPoint:
    """A product placed on a chip, with the row of products that differ in m alone.

    Parameters
    ----------
    work : Matmul
    point : RooflinePoint
        `work` with its compulsory bytes, computed in the format that it is stored in.
    reach_flop_per_byte : tuple of float [FLOP/B]
        Intensity for each number of rows in `ROWS`.
    """

    work: Matmul
    point: RooflinePoint
    reach_flop_per_byte: tuple[float, ...]

    @property
    def limit_flop_per_byte(self) -> float:
        """What the intensity approaches as m grows, float [FLOP/B]."""
        return self.work.intensity_limit_flop_per_byte

    @property
    def short_sides(self) -> tuple[str, ...]:
        """Names of the shortest sides; one of them unless some are equal."""
        sides = {name: getattr(self.work, name) for name in MISSING}
        return tuple(name for name, size in sides.items() if size == min(sides.values()))


def compute(chip: str, m: int, n: int, k: int, storage: str) -> GemmPoint:
    """Place one matrix product, stored and computed in one format."""
    work = Matmul(m, n, k, storage=storage)
    return GemmPoint(
        work=work,
        point=roofline.place(hardware.load(chip), work, compute=storage),
        reach_flop_per_byte=_reach(n, k, storage),
    )


@cache
def _reach(n: int, k: int, storage: str) -> tuple[float, ...]:
    works = (Matmul(rows, n, k, storage=storage) for rows in ROWS)
    return tuple(work.intensity_flop_per_byte for work in works)


class GemmIntensityFigure:
    """The roofline with one dot, the reach of m below it, and three bars of bytes.

    Parameters
    ----------
    ax : Axes
        Receives the log-log plot; the bars stand below it.
    """

    size: ClassVar[tuple[float, float]] = (5.5, 4.9)
    box: ClassVar[tuple[float, float, float, float]] = (0.15, 0.4, 0.825, 0.585)
    depends: ClassVar[dict[str, tuple[str, ...]]] = {
        **dict.fromkeys(
            ("slope", "roof", "ridge", "ridge-label", "roof-label"), ("chip", "storage")
        ),
        "slope-label": ("chip",),
        "serial": (),
        "path": ("chip", "n", "k", "storage"),
        **dict.fromkeys(("reach", "wall", "wall-label", "cliff-label"), ("n", "k", "storage")),
        "here": ("m", "n", "k", "storage"),
        **dict.fromkeys(("a-bar", "b-bar", "c-bar"), ("m", "n", "k")),
        "a-bytes": ("m", "k", "storage"),
        "b-bytes": ("k", "n", "storage"),
        "c-bytes": ("m", "n", "storage"),
    }

    def __init__(self, ax: Axes) -> None:
        self.roof = RooflineFigure(ax, x_limits=X_LIMITS, y_limits=Y_LIMITS, bars=False)
        self.roof.drop.set_visible(False)  # the mark below the dot says where it stands
        self._reach(ax)
        self.bars: list[Any] = []
        self.weights: list[Text] = []
        self._weights(ax.inset_axes((0.0, -0.655, 1.0, 0.4)))

    def _reach(self, ax: Axes) -> None:
        """Where the product can go when only m changes: on the roof, and as marks below."""
        (self.path,) = ax.plot(
            [],
            [],
            color=style.CHANGED,
            lw=8,
            alpha=0.28,
            solid_capstyle="butt",
            gid="path",
            zorder=1,
        )
        (self.reach,) = ax.plot(
            [], [], color=style.MUTED, lw=1, marker="o", ms=3.5, gid="reach", zorder=3
        )
        (self.here,) = ax.plot(
            [], [], "o", ms=8, color=style.CHANGED, mec=style.SURFACE, mew=1, gid="here", zorder=4
        )
        (self.wall,) = ax.plot([], [], color=style.MUTED, lw=2.2, gid="wall", zorder=3)
        self.cliff_label = _labels.beside(
            ax, "cliff-label", -7, 0, ha="right", va="center", color=style.MUTED
        )
        self.wall_label = _labels.beside(
            ax, "wall-label", 6, 0, ha="left", va="center", color=style.MUTED
        )
        _labels.on_ground(self.wall_label, "gemm-intensity")  # the ridge's line may cross it

    def _weights(self, bars: Axes) -> None:
        bars.set_xlim(0, 1)
        bars.set_ylim(-0.6, 3.1)
        bars.set_axis_off()
        bars.text(0, 2.85, "bytes to move", color=style.MUTED, va="center")
        for y, name, shape in ((2, "A", "m × k"), (1, "B", "k × n"), (0, "C", "m × n")):
            bars.text(-0.015, y, f"{name}, {shape}", ha="right", va="center", color=style.MEMORY)
            (bar,) = bars.barh([y], [0], height=0.62, color=style.MEMORY, gid=f"{name.lower()}-bar")
            bar.set_clip_on(False)
            self.bars.append(bar)
            label = bars.text(
                1, y, "", ha="right", va="center", gid=f"{name.lower()}-bytes", color=style.INK
            )
            self.weights.append(label)

    @property
    def moving(self) -> tuple[Artist, ...]:
        """The artists that a state changes."""
        reach = (self.path, self.reach, self.wall, self.here, self.cliff_label, self.wall_label)
        roof = (artist for artist in self.roof.moving if artist is not self.roof.drop)
        return (*reach, *roof, *self.bars, *self.weights)

    def update(self, result: GemmPoint) -> None:
        """Move every artist to where `result` puts it."""
        self.roof.update(result.point)
        self._update_reach(result)
        self._update_weights(result.work)

    def _update_reach(self, result: GemmPoint) -> None:
        point, marks, limit = result.point, result.reach_flop_per_byte, result.limit_flop_per_byte
        ridge, bandwidth = point.ridge_flop_per_byte, point.bandwidth_bytes_per_s
        corner = [ridge] if marks[0] < ridge < limit else []
        xs = [marks[0], *corner, limit]
        self.path.set_data(xs, [min(point.peak_flop_per_s, x * bandwidth) for x in xs])
        self.reach.set_data([*marks, limit], [REACH_Y] * (len(marks) + 1))
        self.reach.set_markevery(slice(0, len(marks)))
        self.here.set_data([point.intensity_flop_per_byte], [REACH_Y])
        self.wall.set_data([limit, limit], [REACH_Y / 1.7, REACH_Y * 1.7])
        self.cliff_label.set_text(f"m = {ROWS[0]}")
        self.cliff_label.set_position((marks[0], REACH_Y))
        self.wall_label.set_text(f"limit {units.number(limit, 3)}")
        self.wall_label.set_position((limit, REACH_Y))

    def _update_weights(self, work: Matmul) -> None:
        sizes = (work.a_bytes, work.b_bytes, work.c_bytes)
        for bar, label, size in zip(self.bars, self.weights, sizes, strict=True):
            bar.set_width(0.78 * size / work.compulsory_bytes)
            label.set_text(units.text(size, "B", 3))


def is_valid(state: State) -> bool:
    """Whether the chip computes in that format."""
    return state["storage"] in hardware.load(state["chip"]).precisions()


def readout(result: GemmPoint) -> tuple[Row, ...]:
    """The rows under the figure."""
    work, point = result.work, result.point
    rate = hardware.rate_unit(point.compute)
    return (
        Row("work_flop", work.flop, rate.removesuffix("/s"), "Work"),
        Row("a_bytes", work.a_bytes, "B", "A, the left matrix"),
        Row("b_bytes", work.b_bytes, "B", "B, the right matrix"),
        Row("c_bytes", work.c_bytes, "B", "C, the result"),
        Row("compulsory_bytes", work.compulsory_bytes, "B", "Each of them once"),
        Row("intensity_flop_per_byte", point.intensity_flop_per_byte, "FLOP/B", "Intensity"),
        Row(
            "limit_flop_per_byte", result.limit_flop_per_byte, "FLOP/B", "Its limit, m without end"
        ),
        Row("ridge_flop_per_byte", point.ridge_flop_per_byte, "FLOP/B", "Ridge of this chip"),
        Row("attainable_flop_per_s", point.attainable_flop_per_s, rate, "Attainable rate"),
        Row("peak_frac", point.peak_frac, "1", "Share of the chip’s peak"),
        Row("bound", point.bound, "", "Bound by"),
        Row("time_s", point.time_s, "s", "Time at best"),
    )


def sentence(result: GemmPoint) -> str:
    """What the reader sees in this state: which side is short, and what would help."""
    point, short = result.point, result.short_sides
    if point.bound == "compute":
        return (
            "All three sides are long enough: {intensity_flop_per_byte} lies right of the ridge, "
            "and the product can reach the peak."
        )
    why = f"{' and '.join(short)} are the short sides."
    if len(short) == 1:
        side, matrix = short[0], MISSING[short[0]]
        why = (
            f"{side} is the short side, so {matrix}, the matrix without it, weighs most: "
            f"each of its numbers is good for only {{{side}}} multiply-adds."
        )
    if result.limit_flop_per_byte < point.ridge_flop_per_byte:
        return (
            f"{why} More rows cannot save this one: with these n and k the intensity stays below "
            "{limit_flop_per_byte}, left of the ridge."
        )
    return (
        f"{why} The slope ends at {{ridge_flop_per_byte}}, and this is {{intensity_flop_per_byte}}."
    )


EXPLORABLE = Explorable(
    id="gemm-intensity",
    question="How large must a matrix product be to leave the slope?",
    level="hardware",
    controls=(
        Control(
            "chip", "Chip", CHIPS, "h100_sxm5_80gb", kind="select",
            display=lambda chip: hardware.load(chip).name,
        ),
        Control("m", "m: rows of A and C", ROWS, 16, display=lambda m: f"{m:,}"),
        Control("n", "n: columns of B and C", SIDES, 3072, display=lambda n: f"{n:,}"),
        Control("k", "k: columns of A, rows of B", SIDES, 768, display=lambda k: f"{k:,}"),
        Control(
            "storage", "Stored and computed in", STORAGES, "bf16", kind="select",
            display=lambda name: "tf32 (4 bytes)" if name == "tf32" else name,
        ),
    ),
    compute=compute,
    figure=GemmIntensityFigure,
    readout=readout,
    sentence=sentence,
    assumes=(
        "each matrix crosses the memory bus once, C is stored like A and B, tf32 takes four bytes; "
        "full bandwidth and full peak, no partial tiles, no launch cost."
    ),
    is_valid=is_valid,
)  # fmt: skip

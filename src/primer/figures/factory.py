"""The factory and its belt: machines that stand idle because parts arrive too slowly.

Above, one second of the belt and the shop: parts, machines, who works. Below, the two rates that
decide, as bars on one scale; the shorter one is what gets done.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from matplotlib.axes import Axes
from matplotlib.patches import PathPatch, Rectangle
from matplotlib.text import Text
from matplotlib.transforms import offset_copy

from primer import factory, units
from primer.explore.explorable import Control, Explorable, Row
from primer.factory import Shop
from primer.figures import style
from primer.figures._boxes import Box, boxes
from primer.figures._picture import Picture, draw

MACHINES = (2, 4, 6, 8, 12, 16)
BELTS = (1, 2, 3, 4)
REUSES = tuple(range(1, 9))

# The picture is 100 wide and 61 high.
WIDTH, HEIGHT = 100.0, 61.0
LABEL_Y = 58.0
N_COLUMNS, STEP, SIDE = 8, 6.2, 4.6
SHOP_X, SHOP_Y = 47.0, 47.5
BELT_X, BELT_END, BELT_Y, PART = 3.0, 43.0, 45.0, 4.0
USES_X, USES_Y, USE = 12.5, 29.2, 3.0
BAR_X, BAR_END, BAR_HEIGHT = 22.0, 86.0, 5.4
RATE_LIMIT = max(max(MACHINES), max(BELTS) * max(REUSES))


class FactoryFigure(Picture):
    """Belt, parts, machines, and the two rates as bars.

    Parameters
    ----------
    ax : Axes
        Becomes the floor of the factory.
    """

    size: ClassVar[tuple[float, float]] = (6.0, 3.75)
    box: ClassVar[tuple[float, float, float, float]] = (0.01, 0.01, 0.98, 0.98)
    depends: ClassVar[dict[str, tuple[str, ...]]] = {
        "uses": ("reuse",),
        "uses-label": ("reuse",),
        "belt-label": ("belt_parts_per_s",),
        "can-bar": ("n_machines",),
        "can-rate": ("n_machines",),
        "feeds-bar": ("belt_parts_per_s", "reuse"),
        "feeds-rate": ("belt_parts_per_s", "reuse"),
    }

    def __init__(self, ax: Axes) -> None:
        self.ax = ax
        self.alt = "A factory without machines."
        ax.set_xlim(0, WIDTH)
        ax.set_ylim(0, HEIGHT)
        ax.set_axis_off()
        self._floor()
        self._shop()
        self._bars()

    def _floor(self) -> None:
        """What never moves: the belt, the walls of the shop, and one part beside its uses."""
        ax = self.ax
        walls = Rectangle(
            (SHOP_X, SHOP_Y - 5.4), WIDTH - SHOP_X - 2, 14.0, fc="none", ec=style.MUTED, lw=1.0
        )
        ax.add_patch(walls)
        middle = USES_Y + USE / 2
        ax.add_patch(Rectangle((BELT_X, middle - PART / 2), PART, PART, fc=style.MEMORY))
        ax.plot([BELT_X, BELT_END], [BELT_Y, BELT_Y], color=style.MUTED, lw=2.0, gid="belt")
        for x in (BELT_X + 1.6, (BELT_X + BELT_END) / 2, BELT_END - 1.6):
            ax.plot([x], [BELT_Y - 2.0], "o", ms=7, mfc="none", mec=style.MUTED, mew=1.4)
        self._arrow(BELT_END - 0.6, SHOP_X - 0.4, BELT_Y + PART / 2)
        self._arrow(BELT_X + PART + 0.6, USES_X, middle)

    def _arrow(self, start: float, end: float, y: float) -> None:
        look = {"arrowstyle": "->", "color": style.MUTED, "lw": 1.4}
        self.ax.annotate("", (end, y), (start, y), arrowprops=look)

    def _shop(self) -> None:
        """Parts on the belt, the uses of one part, and the machines."""
        self.parts = self._patch("parts", style.MEMORY, style.MEMORY)
        self.gaps = self._patch("gaps", "none", style.MEMORY, dashed=True)
        self.uses = self._patch("uses", style.COMPUTE, style.COMPUTE)
        self.idle = self._patch("idle", "none", style.IDLE, dashed=True)
        self.busy = self._patch("busy", style.COMPUTE, style.COMPUTE)
        self.belt_label = self._text(BELT_X, LABEL_Y, "belt-label", color=style.MEMORY)
        self.shop_label = self._text(SHOP_X, LABEL_Y, "shop-label", color=style.COMPUTE)
        self.uses_label = self._text(BELT_X, USES_Y + 7.4, "uses-label", color=style.INK)

    def _patch(self, gid: str, face: str, edge: str, *, dashed: bool = False) -> PathPatch:
        patch = PathPatch(boxes(()), fc=face, ec=edge, lw=1.2, gid=gid)
        if dashed:
            patch.set_linestyle((0, (2.5, 2)))
        self.ax.add_patch(patch)
        return patch

    def _text(self, x: float, y: float, gid: str, **keywords: Any) -> Text:
        return self.ax.text(x, y, "", va="center", gid=gid, **keywords)

    def _bars(self) -> None:
        """The two rates, and the line at the smaller one."""
        ax = self.ax
        self.bars: list[Rectangle] = []
        self.rates: list[Text] = []
        rows = (
            ("feeds", 18.6, style.MEMORY, "belt feeds"),
            ("can", 11.0, style.COMPUTE, "shop can do"),
        )
        for name, y, color, title in rows:
            ax.text(BAR_X - 1.6, y, title, ha="right", va="center", color=color, fontsize=10.5)
            bar = Rectangle((BAR_X, y - BAR_HEIGHT / 2), 0, BAR_HEIGHT, fc=color, gid=f"{name}-bar")
            ax.add_patch(bar)
            self.bars.append(bar)
            self.rates.append(self._text(BAR_X, y, f"{name}-rate", color=style.INK))
        (self.done,) = ax.plot([], [], color=style.CHANGED, lw=2.0, ls=(0, (4, 2)), gid="done")
        below = offset_copy(ax.transData, style.page(ax), 0, -8, units="points")
        self.done_label = ax.text(
            BAR_X, 7.0, "", transform=below, ha="left", va="center", color=style.CHANGED,
            fontweight="bold", gid="done-label",
        )  # fmt: skip

    @property
    def moving(self) -> tuple[Any, ...]:
        """The artists that a state changes."""
        drawn = (self.parts, self.gaps, self.uses, self.idle, self.busy)
        labels = (self.belt_label, self.shop_label, self.uses_label)
        return (*drawn, *labels, *self.bars, *self.rates, self.done, self.done_label)

    def update(self, result: Shop) -> None:
        """Show how one shop runs."""
        self._update_belt(result)
        self._update_machines(result)
        self._update_bars(result)
        self.alt = describe(result)

    def _update_belt(self, shop: Shop) -> None:
        used = shop.belt_parts_per_s * shop.belt_frac
        places = belt_places(shop.belt_parts_per_s)
        full, rest = shares(places, used)
        self.parts.set_path(boxes(full))
        self.gaps.set_path(boxes(rest))
        self.belt_label.set_text(f"belt: {counted(shop.belt_parts_per_s, 'part')} per second")
        n = round(shop.reuse)
        self.uses.set_path(
            boxes([(USES_X + 1.2 + i * (USE + 1.2), USES_Y, USE, USE) for i in range(n)])
        )
        self.uses_label.set_text(f"reuse: each part serves {counted(shop.reuse, 'operation')}")

    def _update_machines(self, shop: Shop) -> None:
        places = machine_places(shop.n_machines)
        working, waiting = shares(places, shop.n_busy_machines)
        self.busy.set_path(boxes(working))
        self.idle.set_path(boxes(waiting))
        idle = shop.n_machines - shop.n_busy_machines
        waits = f", {units.number(idle, 3)} idle" if idle else ""
        self.shop_label.set_text(
            f"{shop.n_machines} machines: {units.number(shop.n_busy_machines, 3)} busy{waits}"
        )

    def _update_bars(self, shop: Shop) -> None:
        feeds = shop.belt_parts_per_s * shop.reuse
        can = shop.n_machines * shop.machine_operations_per_s
        for bar, label, rate in zip(self.bars, self.rates, (feeds, can), strict=True):
            bar.set_width(rate / RATE_LIMIT * (BAR_END - BAR_X))
            label.set_text(f"{units.number(rate, 3)} per s")
            label.set_x(BAR_X + bar.get_width() + 1.6)
        x = BAR_X + shop.operations_per_s / RATE_LIMIT * (BAR_END - BAR_X)
        self.done.set_data([x, x], [7.0, 22.6])
        self.done_label.set_text(f"done: {counted(shop.operations_per_s, 'operation')} per second")
        self.done_label.set_x(min(x, 55.0))


def counted(amount: float, noun: str) -> str:
    """A number of things.

    >>> counted(1.0, "part"), counted(2.5, "part")
    ('1 part', '2.5 parts')
    """
    return f"{units.number(amount, 3)} {noun}{'' if amount == 1 else 's'}"


def shares(places: Sequence[Box], amount: float) -> tuple[list[Box], list[Box]]:
    """The places that are taken, the last one in part, and the frames of what is left over.

    >>> shares([(0, 0, 4, 4), (5, 0, 4, 4), (10, 0, 4, 4)], 1.5)
    ([(0, 0, 4, 4), (5, 0, 4, 2.0)], [(5, 0, 4, 4), (10, 0, 4, 4)])
    """
    full = int(amount + 1e-9)
    taken, left = list(places[:full]), list(places[full:])
    part = amount - full
    if left and part > 1e-9:
        x, y, w, h = left[0]
        taken.append((x, y, w, h * part))
    return taken, left


def belt_places(parts_per_s: float) -> list[Box]:
    """Where the parts of one second lie on the belt, the first one nearest the shop."""
    n = round(parts_per_s)
    step = (BELT_END - BELT_X) / n
    return [(BELT_END - (i + 0.5) * step - PART / 2, BELT_Y + 0.5, PART, PART) for i in range(n)]


def machine_places(n: int) -> list[Box]:
    """A grid of machines, row by row from the top."""
    return [
        (SHOP_X + 0.8 + (i % N_COLUMNS) * STEP, SHOP_Y + 2.4 - (i // N_COLUMNS) * STEP, SIDE, SIDE)
        for i in range(n)
    ]


def describe(shop: Shop) -> str:
    """What the picture shows, in words."""
    return (
        f"A factory with {shop.n_machines} machines on a belt of "
        f"{counted(shop.belt_parts_per_s, 'part')} per second; each part serves "
        f"{counted(shop.reuse, 'operation')}. {shop.busy_frac:.0%} of the machines are busy; "
        f"bound by the {shop.bound}."
    )


def draw_factory(result: Shop, *, ax: Axes | None = None) -> FactoryFigure:
    """Draw one shop.

    Parameters
    ----------
    result : Shop
        From `factory.starve`, with at most 16 machines, 4 parts per second and a reuse of 8.
    ax : Axes, optional
        Where to draw; by default on a figure of its own.
    """
    return draw(FactoryFigure, result, ax)


def compute(n_machines: int, belt_parts_per_s: int, reuse: int) -> Shop:
    """Run the shop; each machine does one operation per second."""
    return factory.starve(n_machines, belt_parts_per_s, reuse=reuse)


def readout(shop: Shop) -> tuple[Row, ...]:
    """The rows under the figure."""
    return (
        Row("operations_per_s", shop.operations_per_s, "1", "Operations per second",
            units.number(shop.operations_per_s, 3)),
        Row("busy_frac", shop.busy_frac, "1", "Machines busy"),
        Row("belt_frac", shop.belt_frac, "1", "Belt in use"),
        Row("full_reuse", shop.full_reuse, "1", "Reuse at which the shop is full",
            units.number(shop.full_reuse, 3)),
        Row("bound", shop.bound, "", "Bound by", shop.bound),
    )  # fmt: skip


def sentence(shop: Shop) -> str:
    """What the reader sees in this state."""
    if shop.bound == "belt":
        return (
            "The belt starves the shop: {busy_frac} of the machines are busy. Another machine "
            "would only wait with the rest; a faster belt or more reuse helps, up to {full_reuse} "
            "uses of each part."
        )
    if shop.belt_frac == 1:
        return (
            "Exactly full: belt and machines are both busy all the time. More of only one of them "
            "changes nothing."
        )
    return (
        "The machines are the limit and all of them work; the belt runs at {belt_frac}. Now, and "
        "only now, more machines make more."
    )


EXPLORABLE = Explorable(
    id="factory",
    question="When do more machines make more?",
    level="hardware",
    controls=(
        Control("n_machines", "Machines", MACHINES, 8),
        Control("belt_parts_per_s", "Parts per second", BELTS, 2),
        Control("reuse", "Reuse: operations on each part", REUSES, 1),
    ),
    compute=compute,
    figure=FactoryFigure,
    readout=readout,
    sentence=sentence,
    assumes=(
        "each machine does one operation per second; parts arrive evenly, never pile up, and any "
        "machine can take any part. Busy and idle are averages over time."
    ),
)  # fmt: skip

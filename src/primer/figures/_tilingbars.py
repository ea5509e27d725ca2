"""The upper half of the tiling figure: misses by cause, and the traffic against its floors."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes

from primer import units
from primer.cache import CacheLevel
from primer.figures import _boxes, style
from primer.figures._tilingruns import Product
from primer.figures._tilingsheet import FONT, LEFT, RIGHT, at_bytes, runs

CAUSES: dict[str, dict[str, Any]] = {
    "compulsory": {"fc": style.SURFACE, "hatch": ""},
    "capacity": {"fc": "none", "hatch": "////"},
    "conflict": {"fc": style.MEMORY, "hatch": ""},
}
TITLES = (402.0, 361.0)
BAR = 12.0
AXIS_Y = 258.0


class RealProduct:
    """One bar of causes for each level, and one axis of traffic."""

    def __init__(self, ax: Axes) -> None:
        self._misses(ax)
        self._traffic(ax)

    def _misses(self, ax: Axes) -> None:
        self.titles = [
            ax.text(LEFT, y, "", va="center", fontsize=FONT, gid=f"title-{i}")
            for i, y in enumerate(TITLES)
        ]
        self.causes = {
            cause: _boxes.patch(ax, cause, ec=style.MEMORY, lw=0.6, zorder=2, **look)
            for cause, look in CAUSES.items()
        }
        self.frames = _boxes.patch(ax, "frames", fc="none", ec=style.MEMORY, lw=1.2, zorder=3)
        x = LEFT
        for cause, look in CAUSES.items():
            key = _boxes.boxes([(x, 321, BAR, BAR)])
            _boxes.patch(ax, f"key-{cause}", key, ec=style.MEMORY, lw=0.8, **look)
            ax.text(x + BAR + 5, 327, cause, va="center", fontsize=FONT)
            x += 92
        ax.text(RIGHT, 327, "causes, share", va="center", ha="right", fontsize=FONT)

    def _traffic(self, ax: Axes) -> None:
        """A logarithmic axis, two marks on it, and the way from the floor to the traffic."""
        self.traffic = ax.text(
            LEFT, AXIS_Y + 40, "", va="center", fontsize=FONT, gid="traffic"
        )  # fmt: skip
        ax.plot([LEFT, RIGHT], [AXIS_Y, AXIS_Y], color=style.MUTED, lw=0.8)
        for power in range(5, 9):
            x = at_bytes(10.0**power)
            ax.plot([x, x], [AXIS_Y, AXIS_Y - 4], color=style.MUTED, lw=0.8)
            label = units.text(10.0**power, "B")
            ax.text(x, AXIS_Y - 11, label, ha="center", va="center", fontsize=FONT)
        (self.way,) = ax.plot([], [], color=style.MEMORY, lw=4.0, gid="distance", zorder=3)
        self.way.set_solid_capstyle("butt")
        (self.dot,) = ax.plot([], [], "o", ms=10, color=style.MEMORY, mec=style.SURFACE, gid="dot")
        (self.floor,) = ax.plot([], [], color=style.INK, lw=2.4, gid="floor", zorder=4)
        dotted: dict[str, Any] = {"color": style.INK, "lw": 1.6, "ls": (0, (1.5, 1.5))}
        (self.once,) = ax.plot([], [], gid="each-once", zorder=4, **dotted)
        y = AXIS_Y - 29
        ax.plot([LEFT, LEFT + 14], [y, y], color=style.INK, lw=2.4)
        ax.text(LEFT + 20, y, "floor of any order", va="center", fontsize=FONT)
        ax.plot([LEFT + 152, LEFT + 166], [y, y], **dotted)
        ax.text(LEFT + 172, y, "each matrix once", va="center", fontsize=FONT)

    @property
    def moving(self) -> tuple[Any, ...]:
        """The artists that a state changes."""
        marks = (self.way, self.floor, self.once, self.dot, self.traffic)
        return (*self.titles, *self.causes.values(), self.frames, *marks)

    def update(self, product: Product) -> None:
        """Show one product."""
        self._update_misses(product)
        self._update_traffic(product)

    def _update_misses(self, product: Product) -> None:
        places: dict[str, list[_boxes.Box]] = {cause: [] for cause in CAUSES}
        frames: list[_boxes.Box] = []
        shift = 0.0 if len(product.levels) > 1 else (TITLES[1] - TITLES[0]) / 2
        for title in self.titles:
            title.set_text("")
        for i, (level, counts) in enumerate(zip(product.levels, product.run.levels, strict=True)):
            top = TITLES[i] + shift
            self.titles[i].set_y(top)
            self.titles[i].set_text(
                f"{level_name(level)}: {counts.n_misses:,} misses in {counts.n_accesses:,} accesses"
            )
            shares = [getattr(counts, f"n_{cause}") / counts.n_misses for cause in CAUSES]
            for cause, (x, width) in zip(CAUSES, runs(shares), strict=True):
                if width:
                    places[cause].append((x, top - 9 - BAR, width, BAR))
            frames.append((LEFT, top - 9 - BAR, RIGHT - LEFT, BAR))
        for cause, artist in self.causes.items():
            artist.set_path(_boxes.boxes(places[cause]))
        self.frames.set_path(_boxes.boxes(frames))

    def _update_traffic(self, product: Product) -> None:
        floor, moved = at_bytes(product.floor_bytes), at_bytes(product.run.traffic_bytes)
        once = at_bytes(product.compulsory_bytes)
        middle = AXIS_Y + 13
        self.way.set_data([floor, moved], [middle, middle])
        self.dot.set_data([moved], [middle])
        self.floor.set_data([floor, floor], [AXIS_Y, AXIS_Y + 26])
        self.once.set_data([once, once], [AXIS_Y, AXIS_Y + 26])
        self.once.set_visible(once != floor)
        amount = units.text(product.run.traffic_bytes, "B", 3)
        self.traffic.set_text(f"To and from memory: {amount}, {ratio(product)} the floor")


def level_name(level: CacheLevel) -> str:
    """Size and ways.

    >>> level_name(CacheLevel(4096, 4)), level_name(CacheLevel(4096))
    ('4 KiB, 4-way', '4 KiB, full')
    """
    ways = "full" if level.ways is None else f"{level.ways}-way"
    return f"{units.text(level.size_bytes, 'B', binary=True)}, {ways}"


def ratio(product: Product) -> str:
    """Distance from the floor, for reading."""
    return f"{units.number(product.floor_ratio, 3)} ×"

"""How many issue slots some warps fill, for every number of warps: simulated and in closed form."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes

from primer.figures import _boxes, _labels, style
from primer.figures._warpgantt import FONT, LEFT, RIGHT
from primer.figures._warpturns import ROOM, Program, Turns

MOST = 24  # warps on the axis
LOW, HIGH = 50.0, 158.0
KEY_Y = 174.0
PER_WARP = (RIGHT - LEFT) / MOST


def x_of(n_warps: float) -> float:
    """Where a number of warps stands."""
    return LEFT + n_warps * PER_WARP


def y_of(share: float) -> float:
    """Where a share of the slots stands."""
    return LOW + share * (HIGH - LOW)


class Curve:
    """Share of issue slots in use against warps, and the state that is shown."""

    def __init__(self, ax: Axes) -> None:
        self._axes(ax)
        self._beyond(ax)
        dotted: dict[str, Any] = {"color": style.MEMORY, "lw": 1.6, "ls": (0, (4, 2))}
        (self.ceiling,) = ax.plot([], [], gid="ceiling", zorder=2, **dotted)
        self.ceiling_name = ax.text(
            RIGHT, LOW, "", ha="right", va="center", fontsize=FONT, color=style.MEMORY,
            gid="ceiling-name", zorder=4,
        )  # fmt: skip
        (self.line,) = ax.plot([], [], color=style.COMPUTE, lw=1.6, gid="line", zorder=3)
        look: dict[str, Any] = {"ls": "", "marker": "o", "zorder": 4}
        (self.dots,) = ax.plot([], [], ms=4.5, color=style.COMPUTE, gid="dots", **look)
        (self.here,) = ax.plot(
            [], [], ms=10, color=style.CHANGED, mec=style.SURFACE, mew=1.2, gid="here", **look
        )
        self.here.set_zorder(6)
        self.share = ax.text(LEFT, LOW, "", va="center", fontweight="bold", gid="share", zorder=6)

    def _axes(self, ax: Axes) -> None:
        ends = [(LEFT, y_of(s), RIGHT, y_of(s)) for s in (0.5, 1.0)]
        _boxes.patch(ax, "grid", _boxes.lines(ends), fc="none", ec=style.GRID, lw=0.8, zorder=1)
        sides = [(LEFT, HIGH, LEFT, LOW), (LEFT, LOW, RIGHT, LOW)]
        steps = range(0, MOST + 1, 4)
        sides += [(x_of(n), LOW, x_of(n), LOW - 4) for n in steps]
        _boxes.patch(ax, "sides", _boxes.lines(sides), fc="none", ec=style.MUTED, lw=0.8)
        look: dict[str, Any] = {"va": "center", "fontsize": FONT}
        for n in steps:
            ax.text(x_of(n), LOW - 11, str(n), ha="center", **look)
        for s in (0.0, 0.5, 1.0):
            ax.text(LEFT - 6, y_of(s), f"{100 * s:.0f} %", ha="right", **look)
        ax.text((LEFT + RIGHT) / 2, LOW - 29, "warps on one scheduler", ha="center", **look)
        ax.text(12, KEY_Y, "Slots in use", fontweight="bold", **look)
        x = 158.0
        ax.plot([x], [KEY_Y], "o", ms=4.5, color=style.COMPUTE)
        ax.text(x + 8, KEY_Y, "simulated", **look)
        ax.plot([x + 82, x + 98], [KEY_Y, KEY_Y], color=style.COMPUTE, lw=1.6)
        ax.text(x + 104, KEY_Y, "closed form", **look)

    def _beyond(self, ax: Axes) -> None:
        """Where no scheduler has room."""
        side = x_of(ROOM) + PER_WARP / 2
        place = _boxes.boxes([(side, LOW, RIGHT - side, HIGH - LOW)])
        _boxes.patch(
            ax, "beyond", place, fc="none", ec=style.IDLE, lw=0, hatch="\\\\\\\\", alpha=0.35,
            zorder=0.5,
        )  # fmt: skip
        self.beyond = ax.text(
            (side + RIGHT) / 2, LOW, f"{ROOM} at most", ha="center", va="center", fontsize=FONT,
            gid="beyond-name", zorder=5,
        )  # fmt: skip
        _labels.on_ground(self.beyond, "warp-scheduler")

    @property
    def moving(self) -> tuple[Any, ...]:
        """The artists that a state changes."""
        return (self.ceiling, self.ceiling_name, self.line, self.dots, self.beyond, self.here,
                self.share)  # fmt: skip

    def update(self, result: Turns) -> None:
        """Show one number of warps among all."""
        program, limit = result.program, result.bound.bandwidth_limit
        self.ceiling.set_visible(limit < 1)
        self.ceiling_name.set_visible(limit < 1)
        if limit < 1:
            self.ceiling.set_data([LEFT, RIGHT], [y_of(limit), y_of(limit)])
            self.ceiling_name.set_text(f"memory’s limit {100 * limit:.0f} %")
            self.ceiling_name.set_y(y_of(limit) + 9)
        points = _closed_form(program)
        self.line.set_data([x_of(n) for n, _ in points], [y_of(s) for _, s in points])
        counts = range(1, ROOM + 1)
        shares = [program.run(n).utilization_frac for n in counts]
        self.dots.set_data([x_of(n) for n in counts], [y_of(s) for s in shares])
        self.beyond.set_y(y_of(0.85 if program.bound(MOST - 4).utilization_frac < 0.6 else 0.2))
        self._update_here(result)

    def _update_here(self, result: Turns) -> None:
        share = result.run.utilization_frac
        x, y = x_of(result.n_warps), y_of(share)
        self.here.set_data([x], [y])
        self.share.set_text(f"{100 * share:.3g} %")
        rises = result.program.bound(result.n_warps + 2).utilization_frac - share > 0.03
        if rises or y - LOW >= 22:
            self.share.set_position((x + 10, max(y - 12, LOW + 9)))
        else:  # above the line, and above what is written along the ceiling
            is_named = self.ceiling_name.get_visible() and x > RIGHT - 160
            self.share.set_position((x + 10, y + (24 if is_named else 12)))


def _closed_form(program: Program) -> list[tuple[float, float]]:
    """Corners of the line; in round robin it is a curve."""
    if program.policy == "rr":
        shares = [program.bound(n).utilization_frac for n in range(1, MOST + 1)]
        return [(0.0, 0.0), *enumerate(shares, start=1)]
    one = program.bound(1)
    top = min(1.0, one.bandwidth_limit)
    corner = min(top / one.latency_limit, MOST)
    return [(0.0, 0.0), (corner, corner * one.latency_limit), (MOST, corner * one.latency_limit)]

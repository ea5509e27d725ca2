"""The sheet of the bundles figure: slots over time, and what one bundle holds."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.colors import to_rgba

from primer.bundles import Schedule
from primer.figures import _boxes, style
from primer.figures._boxes import Box
from primer.figures._bundlesruns import LONGEST, N_TILES, BundleStep

SIZE = (6.0, 4.55)
LEFT, RIGHT = 12.0, 422.0
FONT = 10.5
# Slots in the order in which a row of data meets them; two of a kind lie together.
ROWS = (
    ("scalar", 0), ("scalar", 1), ("misc", 0), ("load", 0), ("push", 0), ("pop", 0), ("alu", 0),
    ("alu", 1), ("store", 0),
)  # fmt: skip
NAMES = {"alu": "ALU"}
GRID_X, TOP, ROW = 62.0, 276.0, 15.0
COLUMN = (RIGHT - GRID_X) / LONGEST
BOTTOM = TOP - ROW * len(ROWS)
TILE_Y, HEAD_Y = TOP + 11, TOP + 38
AXIS_Y, KEY_Y, LIST_Y, LINE = BOTTOM - 10, BOTTOM - 34, BOTTOM - 62, 17.0
LIST_X = (LEFT, 152.0, 290.0)
COLORS = {"compute": style.COMPUTE, "memory": style.MEMORY, "steering": style.IDLE}
KEYS = (("memory", "copy, load, store"), ("compute", "array and vector"), ("steering", "steering"))
_WORDS: dict[str, Any] = {"va": "center", "fontsize": FONT}


def role(operation: str) -> str:
    """What an operation is for, by the first word of its name.

    >>> role("push x0"), role("copy in"), role("wait out")
    ('compute', 'memory', 'steering')
    """
    verb = operation.split(" ")[0]
    if verb in ("push", "pop", "add", "clip"):
        return "compute"
    return "memory" if verb in ("copy", "load", "store") else "steering"


class Grid:
    """All bundles from left to right, one row for each slot; tiles in turn dark and light."""

    def __init__(self, ax: Axes) -> None:
        for i, (slot, number) in enumerate(ROWS):
            if not number:
                height = 0.5 + 0.5 * (ROWS.count((slot, 1)))
                y = TOP - ROW * (i + height)
                ax.text(LEFT, y, NAMES.get(slot, slot), **_WORDS)
        lines = [(GRID_X, TOP - ROW * i, RIGHT, TOP - ROW * i) for i in range(len(ROWS) + 1)]
        _boxes.patch(ax, "rows", _boxes.lines(lines), fc="none", ec=style.GRID, lw=0.8, zorder=0)
        for bundle in range(0, LONGEST, 20):
            ax.text(column_x(bundle + 0.5), AXIS_Y, str(bundle), ha="center", **_WORDS)
        ax.text(LEFT, AXIS_Y, "bundle", **_WORDS)
        ax.text(LEFT, TILE_Y, "tile", **_WORDS)
        self.cells = {
            (name, shade): _boxes.patch(
                ax, f"{name}-{shade}", fc=to_rgba(color, alpha), ec=color, lw=0.5, zorder=2
            )
            for name, color in COLORS.items()
            for shade, alpha in (("dark", 1.0), ("light", 0.3))
        }
        self.end = _boxes.patch(ax, "end", fc="none", ec=style.INK, lw=1.2, zorder=3)
        self.title = ax.text(LEFT, HEAD_Y, "", gid="title", weight="bold", **_WORDS)
        self.numbers = [ax.text(0, TILE_Y, "", gid=f"tile-{i}", **_WORDS) for i in range(N_TILES)]
        ax.text(RIGHT, HEAD_Y, "tiles 1, 3 dark; 2, 4 light", ha="right", **_WORDS)
        self._legend(ax)

    def _legend(self, ax: Axes) -> None:
        x = LEFT
        for name, words in KEYS:
            for i, alpha in enumerate((1.0, 0.3)):
                look = {"fc": to_rgba(COLORS[name], alpha), "ec": COLORS[name], "lw": 0.8}
                key = _boxes.boxes([(x + 12 * i, KEY_Y - 5, 10, 10)])
                _boxes.patch(ax, f"key-{name}-{i}", key, **look)
            ax.text(x + 29, KEY_Y, words, **_WORDS)
            x += 146

    @property
    def moving(self) -> tuple[Any, ...]:
        """The artists that a state changes."""
        return (*self.cells.values(), self.end, self.title, *self.numbers)

    def update(self, found: Schedule) -> None:
        """Fill the grid."""
        places = cells(found)
        for key, patch in self.cells.items():
            patch.set_path(_boxes.boxes(places[key]))
        x = column_x(found.n_bundles)
        self.end.set_path(_boxes.lines([(x, TOP, x, BOTTOM)]))
        self.title.set_text(f"{found.n_bundles} bundles, a tile every {found.interval_cycles}")
        for i, number in enumerate(self.numbers):
            number.set_x(column_x(i * found.interval_cycles))
            number.set_text(str(i + 1))


def cells(found: Schedule) -> dict[tuple[str, str], list[Box]]:
    """Rectangles by role, and by whether the tile is dark or light."""
    places: dict[tuple[str, str], list[Box]] = {
        (name, shade): [] for name in COLORS for shade in ("dark", "light")
    }
    for tile, bundles in enumerate(found.bundle):
        shade = "light" if tile % 2 else "dark"
        triples = zip(found.program.operations, bundles, found.unit, strict=True)
        for operation, bundle, unit in triples:
            row = ROWS.index((operation.slot, int(unit)))
            box = (column_x(bundle), TOP - ROW * (row + 1) + 2, COLUMN - 0.6, ROW - 4)
            places[role(operation.name), shade].append(box)
    return places


def column_x(bundle: float) -> float:
    """Left edge of a bundle's column."""
    return GRID_X + COLUMN * float(bundle)


class Listing:
    """The bundle that is looked at: a frame in the grid, and its slots in words."""

    def __init__(self, ax: Axes) -> None:
        self.frame = _boxes.patch(ax, "frame", fc="none", ec=style.CHANGED, lw=1.8, zorder=4)
        self.head = ax.text(
            LEFT, LIST_Y, "", gid="head", color=style.CHANGED, weight="bold", **_WORDS
        )
        self.lines = [
            ax.text(LIST_X[i // 3], LIST_Y - LINE * (1 + i % 3), "", gid=f"slot-{i}", **_WORDS)
            for i in range(len(ROWS))
        ]

    @property
    def moving(self) -> tuple[Any, ...]:
        """The artists that a state changes."""
        return (self.frame, self.head, *self.lines)

    def update(self, view: BundleStep) -> None:
        """Show one bundle."""
        found, started = view.schedule, view.started
        box = (column_x(view.bundle) - 1, BOTTOM - 2, COLUMN + 1.4, TOP - BOTTOM + 4)
        self.frame.set_path(_boxes.boxes([box]))
        self.head.set_text(f"Bundle {view.bundle}: {len(started)} of {found.n_slots} slots filled")
        held = {
            (found.program.operations[i].slot, int(found.unit[i])):
                f"{found.program.operations[i].name}, tile {tile + 1}"
            for tile, i in started
        }  # fmt: skip
        for line, (slot, number) in zip(self.lines, ROWS, strict=True):
            words = held.get((slot, number))
            line.set_text(words or f"{NAMES.get(slot, slot)}: –")
            line.set_color(style.INK if words else style.MUTED)

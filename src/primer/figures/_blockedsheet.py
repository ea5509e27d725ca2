"""The sheet of the figure that sets a GPU beside a TPU: two bars, and a table of their parts."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.colors import to_rgba

from primer.blocked_gemm import BlockedGemm
from primer.figures import _boxes, style
from primer.figures._blockedruns import Pair

SIZE = (6.0, 4.8)
LEFT, RIGHT = 12.0, 420.0
FONT = 10.5
BAR, STRIP = 22.0, 6.0
GPU_Y, TPU_Y = 281.0, 192.0  # lower edges of the two bars
TABLE_Y, ROW = 132.0, 16.5
NAME_X = LEFT + 20
COLUMNS = (244.0, 292.0, 366.0, 414.0)  # right edges: time and share of the GPU, and of the TPU
LEAST = 0.4  # points; a part that would be thinner is left out
_SOFT = to_rgba(style.MEMORY, 0.3)
LOOKS: dict[str, dict[str, Any]] = {
    "useful": {"fc": style.COMPUTE, "ec": style.COMPUTE},
    "padding": {"fc": style.SURFACE, "ec": style.COMPUTE, "hatch": "\\\\\\\\"},
    "idle": {"fc": style.SURFACE, "ec": style.IDLE, "hatch": "////"},
    "weights": {"fc": to_rgba(style.COMPUTE, 0.28), "ec": style.COMPUTE},
    "copy": {"fc": style.MEMORY, "ec": style.MEMORY},
    "fill": {"fc": _SOFT, "ec": style.MEMORY},
    "tail": {"fc": style.SURFACE, "ec": style.MEMORY, "hatch": "---"},
}
NAMES = {
    "useful": "useful multiply-adds",
    "padding": "padding past the edges",
    "idle": "cores without a block",
    "weights": "waiting for weights",
    "copy": "copies not hidden",
    "fill": "fill: before the first step",
    "tail": "tail: after the last step",
}
_WORDS: dict[str, Any] = {"va": "center", "fontsize": FONT}


class Bar:
    """One machine: what it did, where its time went, and how long it copied."""

    def __init__(self, ax: Axes, name: str, y: float) -> None:
        self.y = y
        self.title = ax.text(LEFT, y + BAR + 30, "", gid=f"{name}-title", weight="bold", **_WORDS)
        self.words = ax.text(LEFT, y + BAR + 12, "", gid=f"{name}-words", **_WORDS)
        self.parts = {
            part: _boxes.patch(ax, f"{name}-{part}", lw=0.8, zorder=2, **look)
            for part, look in LOOKS.items()
        }
        self.strip = _boxes.patch(ax, f"{name}-copying", fc=style.MEMORY, ec="none", zorder=2)
        frame = [(LEFT, y - STRIP - 2, RIGHT - LEFT, STRIP)]
        _boxes.patch(ax, f"{name}-frame", _boxes.boxes(frame), fc="none", ec=style.GRID, lw=0.8)

    @property
    def moving(self) -> tuple[Any, ...]:
        """The artists that a state changes."""
        return (self.title, self.words, *self.parts.values(), self.strip)

    def update(self, found: BlockedGemm, title: str, words: str) -> None:
        """Divide the bar."""
        x = LEFT
        for part, share in found.shares._asdict().items():
            width = share * (RIGHT - LEFT)
            places = [(x, self.y, width, BAR)] if width > LEAST else []
            self.parts[part].set_path(_boxes.boxes(places))
            x += width
        copying = found.copy_time_s / found.time_s * (RIGHT - LEFT)
        self.strip.set_path(_boxes.boxes([(LEFT, self.y - STRIP - 2, copying, STRIP)]))
        self.title.set_text(title)
        self.words.set_text(words)


class Table:
    """The parts by name, in time and in shares, of both machines."""

    def __init__(self, ax: Axes) -> None:
        for (right, _), name in zip((COLUMNS[1:3], COLUMNS[3:] * 2), ("GPU", "TPU"), strict=True):
            ax.text(right - 28, TABLE_Y + ROW, name, ha="center", weight="bold", **_WORDS)
        for i, (part, look) in enumerate(LOOKS.items()):
            y = TABLE_Y - i * ROW
            key = _boxes.boxes([(LEFT, y - 5.5, 11.0, 11.0)])
            _boxes.patch(ax, f"key-{part}", key, lw=0.8, **look)
            ax.text(NAME_X, y, NAMES[part], **_WORDS)
        y = TABLE_Y - len(LOOKS) * ROW - 2
        strip = _boxes.boxes([(LEFT, y - STRIP / 2, 11.0, STRIP)])
        _boxes.patch(ax, "key-copying", strip, fc=style.MEMORY, ec="none")
        ax.text(NAME_X, y, "thin bar: all copying", **_WORDS)
        rows = [*(TABLE_Y - i * ROW for i in range(len(LOOKS))), y]
        self.cells = [
            ax.text(x, y, "", ha="right", gid=f"cell-{i}-{j}", **_WORDS)
            for i, y in enumerate(rows)
            for j, x in enumerate(COLUMNS)
        ]

    @property
    def moving(self) -> tuple[Any, ...]:
        """The artists that a state changes."""
        return tuple(self.cells)

    def update(self, pair: Pair) -> None:
        """Write the numbers."""
        gpu, tpu = (columns(found) for found in (pair.gpu, pair.tpu))
        texts = [text for row in zip(gpu, tpu, strict=True) for cell in row for text in cell]
        for cell, text in zip(self.cells, texts, strict=True):
            cell.set_text(text)


def columns(found: BlockedGemm) -> list[tuple[str, str]]:
    """Time and share of each part, and of all copies."""
    times = (*found.parts, found.copy_time_s)
    return [(micros(time), percent(time / found.time_s)) for time in times]


def micros(time_s: float) -> str:
    """A time for a table.

    >>> micros(4.8836e-6), micros(1.234e-4), micros(0.0), micros(2e-9)
    ('4.88 µs', '123 µs', '–', '0.00 µs')
    """
    if time_s == 0:
        return "–"
    number = time_s * 1e6
    return f"{number:.2f} µs" if number < 100 else f"{number:,.0f} µs"


def percent(share: float) -> str:
    """A share for a table.

    >>> percent(0.1234), percent(0.0)
    ('12.3 %', '')
    """
    return f"{100 * share:.1f} %" if share else ""

"""The sheet of the memory figure: the matrix above; below, memory folded along the sets."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.path import Path

from primer.figures import _boxes, style
from primer.figures._boxes import Box
from primer.figures._cachegrid import crosses, inset
from primer.figures._gemm import column, write
from primer.figures._patternruns import LINE, N_ACCESSES, SETS, SIDE, WAYS, PatternStep, Walk

SIZE = (5.5, 4.75)
FONT = 10.5
CELL, MATRIX_X, MATRIX_TOP = 19.0, 28.0, 318.0
WORDS_X = MATRIX_X + SIDE * CELL + 24.0

N_COLUMNS = 10  # of memory lines, one set below the other
LINE_W, LINE_H, MEMORY_X, MEMORY_TOP = 33.0, 20.0, 48.0, 96.0

HELD: dict[str, Any] = {"fc": to_rgba(style.COMPUTE, 0.3), "ec": style.COMPUTE, "lw": 1.2}
CROSS: dict[str, Any] = {"fc": "none", "ec": style.MEMORY, "lw": 1.6}
HERE: dict[str, Any] = {"fc": "none", "ec": style.CHANGED, "lw": 2.6}


def cell(row: int, col: int) -> Box:
    """An element in the matrix."""
    return (MATRIX_X + col * CELL, MATRIX_TOP - (row + 1) * CELL, CELL, CELL)


def line_place(line: int) -> Box:
    """A line in memory: one row for each set.

    >>> line_place(4) == (MEMORY_X + LINE_W, MEMORY_TOP - LINE_H, LINE_W, LINE_H)
    True
    """
    fold, row = divmod(line, SETS)
    return (MEMORY_X + fold * LINE_W, MEMORY_TOP - (row + 1) * LINE_H, LINE_W, LINE_H)


def element_place(element: int) -> Box:
    """A number in memory."""
    x, y, w, h = line_place(element // LINE)
    width = w / LINE
    return (x + element % LINE * width, y, width, h)


class Matrix:
    """The matrix, what each access of the walk so far was, and what is in the cache now."""

    def __init__(self, ax: Axes) -> None:
        cells = [cell(i, j) for i in range(SIDE) for j in range(SIDE)]
        self.held = _boxes.patch(ax, "held", zorder=1, **HELD)
        _boxes.patch(ax, "grid", _boxes.boxes(cells), fc="none", ec=style.GRID, lw=0.9, zorder=2)
        self.marks = _boxes.patch(ax, "marks", zorder=3, **CROSS)
        self.here = _boxes.patch(ax, "here", zorder=4, **HERE)
        for i in range(SIDE):
            look: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": FONT}
            x, y, *_ = cell(i, i)
            ax.text(x + CELL / 2, MATRIX_TOP + 9, str(i), **look)
            ax.text(MATRIX_X - 11, y + CELL / 2, str(i), **look)
        self.words = column(ax, "words", WORDS_X, MATRIX_TOP - 12, 2, fontsize=FONT)
        self._legend(ax)

    def _legend(self, ax: Axes) -> None:
        places = [(WORDS_X, MATRIX_TOP - 70 - 18 * i, 13.0, 13.0) for i in range(4)]
        _boxes.patch(ax, "key-here", _boxes.boxes([inset(places[0], 1)]), **HERE)
        _boxes.patch(ax, "key-miss", _boxes.lines(crosses([places[1]], 2)), **CROSS)
        _boxes.patch(ax, "key-hit", _boxes.boxes([inset(places[2], 4)]), **CROSS)
        _boxes.patch(ax, "key-held", _boxes.boxes([places[3]]), **HELD)
        words = ("the last access", "a miss", "a hit", "in the cache now")
        for (x, y, _, h), text in zip(places, words, strict=True):
            ax.text(x + 21, y + h / 2, text, va="center", fontsize=FONT)

    @property
    def moving(self) -> tuple[Any, ...]:
        """The artists that a state changes."""
        return (self.held, self.marks, self.here, *self.words)

    def update(self, result: PatternStep) -> None:
        """Show a walk after some accesses."""
        walk, n = result.walk, result.step
        held = set(walk.trace.held(n))
        places = [cell(int(i), int(j)) for i, j in zip(walk.row, walk.column, strict=True)]
        inside = [p for p, line in zip(places, walk.trace.line, strict=True) if int(line) in held]
        self.held.set_path(_boxes.boxes([*inside, *map(line_place, sorted(held))]))
        was = list(zip(places[:n], walk.trace.cause[:n].tolist(), strict=True))
        crossed = _boxes.lines(crosses((place for place, cause in was if cause), 5))
        squares = _boxes.boxes(inset(place, 7) for place, cause in was if not cause)
        self.marks.set_path(Path.make_compound_path(crossed, squares))
        now = [int(e) for e in walk.element[max(n - 1, 0) : n]]
        there = [place for e in now for place in (line_place(e // LINE), element_place(e))]
        self.here.set_path(_boxes.boxes([*places[n - 1 : n], *there] if n else []))
        write(self.words, _words(result))


def _words(result: PatternStep) -> str:
    n, walk = result.step, result.walk
    if not n:
        return "nothing touched yet"
    i, j = int(walk.row[n - 1]), int(walk.column[n - 1])
    found = "a hit" if result.cause == "hit" else f"a {result.cause} miss"
    where = f"line {result.line}, set {result.set_index}"
    return f"access {n} of {N_ACCESSES}: [{i}, {j}]\n{where}: {found}"


class Memory:
    """Lines of memory, one row for each set."""

    def __init__(self, ax: Axes) -> None:
        self.padding = _boxes.patch(
            ax, "padding", fc="none", ec=style.IDLE, lw=0.0, hatch="\\\\\\\\", zorder=0.5
        )
        self.lines = _boxes.patch(ax, "lines", fc="none", ec=style.MUTED, lw=0.8, zorder=2)
        look: dict[str, Any] = {"va": "center", "fontsize": FONT}
        title = f"Memory, line below line: each row is a set with {WAYS} places"
        ax.text(MATRIX_X - 20, MEMORY_TOP + 28, title, fontweight="bold", **look)
        for fold in range(N_COLUMNS):
            x = line_place(fold * SETS)[0] + LINE_W / 2
            ax.text(x, MEMORY_TOP + 10, str(fold * SETS), ha="center", **look)
        for s in range(SETS):
            y = line_place(s)[1] + LINE_H / 2
            ax.text(MEMORY_X - 7, y, f"set {s}", ha="right", **look)

    @property
    def moving(self) -> tuple[Any, ...]:
        """The artists that a state changes."""
        return (self.padding, self.lines)

    def update(self, walk: Walk) -> None:
        """Lay the matrix out."""
        used = set(walk.element.tolist())
        blank = [e for e in range(walk.n_lines * LINE) if e not in used]
        self.padding.set_path(_boxes.boxes(element_place(e) for e in blank))
        self.lines.set_path(_boxes.boxes(line_place(line) for line in range(walk.n_lines)))

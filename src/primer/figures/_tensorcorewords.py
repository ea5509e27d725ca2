"""Beside the grids of the Tensor Core figure: what cannot be drawn in them."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.colors import to_rgba

from primer import tensorcores
from primer.figures import _boxes, style
from primer.figures._boxes import Box
from primer.figures._cachegrid import inset
from primer.figures._gemm import LINE, column, write
from primer.figures._tensorcoreruns import SIZES, TensorCoreStep, run
from primer.figures._tensorcoresheet import DONE, FONT, HELD, NOW, PART, TOP, USED

WORDS_X = 272.0
SCALE, SCALE_TOP = 0.5, 102.0  # points per element of the small picture, and its upper edge


class Words:
    """What cannot be drawn: sizes, registers, the key, and D of all generations to one scale."""

    def __init__(self, ax: Axes) -> None:
        look: dict[str, Any] = {"fontsize": FONT}
        self.title = ax.text(WORDS_X, TOP - 6, "", gid="title", fontweight="bold", fontsize=11.5)
        self.cycle = column(ax, "cycle", WORDS_X, TOP - 23, 2, **look)
        self.lane = ax.text(WORDS_X, TOP - 64, "", gid="lane", fontweight="bold", **look)
        self.registers = column(ax, "registers", WORDS_X, TOP - 64 - LINE, 5, **look)
        self._key(ax)
        title = "Largest D, to one scale"
        ax.text(WORDS_X, SCALE_TOP + 7, title, fontweight="bold", **look)
        sizes = sorted({_largest(name) for name in SIZES})
        _boxes.patch(ax, "scale", _boxes.boxes(sizes), fc="none", ec=style.MUTED, lw=0.9)
        self.mine = _boxes.patch(
            ax, "mine", fc=to_rgba(style.COMPUTE, 0.6), ec=style.COMPUTE, lw=1.2
        )
        for name, down in (("Hopper", 16.0), ("Blackwell", 48.0)):
            y = SCALE_TOP - down
            ax.text(WORDS_X + 122, y, name, ha="right", va="center", fontsize=FONT)
        self.size = ax.text(WORDS_X, SCALE_TOP - 64 - 14, "", gid="size", **look)

    def _key(self, ax: Axes) -> None:
        places = [(WORDS_X, TOP - 166 - 15.5 * i, 12.0, 10.0) for i in range(3)]
        second = WORDS_X + 77
        _boxes.patch(ax, "key-used", _boxes.boxes([places[0]]), **USED)
        _boxes.patch(ax, "key-now", _boxes.boxes([inset(places[1], 0.5)]), **NOW)
        _boxes.patch(ax, "key-held", _boxes.boxes([inset(places[2], 1.5)]), **HELD)
        more = [(second, y, w, h) for _, y, w, h in places]
        _boxes.patch(ax, "key-part", _boxes.boxes([more[0]]), **PART)
        _boxes.patch(ax, "key-done", _boxes.boxes([more[1]]), **DONE)
        texts = ("read now", "added to", "held by the lane", "partial sum", "complete")
        for (x, y, w, h), text in zip([*places, *more[:2]], texts, strict=True):
            ax.text(x + w + 6, y + h / 2, text, va="center", fontsize=FONT)

    @property
    def moving(self) -> tuple[Any, ...]:
        """The artists that a state changes."""
        return (self.title, *self.cycle, self.lane, *self.registers, self.mine, self.size)

    def update(self, result: TensorCoreStep) -> None:
        """Say what the grids show."""
        found = result.run
        one, issue, largest = found.instruction, found.issue, found.largest
        self.title.set_text(one.name)
        units = f"{issue.n_units} × " if issue.n_units > 1 else ""
        write(
            self.cycle,
            f"{result.step} of at least {found.schedule.n_steps} cycles\n"
            f"FMA per cycle: {units}{issue.fma_per_unit:,}",
        )
        whose = " of warp 0" if one.n_threads > 32 else ""
        self.lane.set_text(f"Lane {result.lane}{whose} holds" if found.fragments else "No lane")
        write(self.registers, registers(result))
        self.mine.set_path(_boxes.boxes([_largest(found.name)]))
        several = f"{one.n_products} of " if one.n_products > 1 else ""
        self.size.set_text(f"this one: {several}{largest.m} × {largest.n}")


def registers(result: TensorCoreStep) -> str:
    """The lane's numbers, register by register: a bracket is a register of A or B, two of D."""
    lines = []
    for operand in "abd":
        held = result.held(operand)
        pieces = [_span(*pair) for pair in zip(held[::2], held[1::2], strict=True)]
        for i in range(0, len(pieces), 2):
            letter = operand.upper() if not i else "   "
            lines.append(f"{letter} {' '.join(pieces[i : i + 2])}")
    one = result.run.instruction
    if one.d_home != "registers":
        return (
            "holds a part: A and B lie\nin shared memory, D in\ntensor memory.\n"
            "(Squares: 8 × 8 numbers)"
        )
    if one.n_threads > 32:
        lines.append("A and B: in shared memory")
    return "\n".join([*lines, "as [row, column]"])


def _span(first: tuple[int, int], second: tuple[int, int]) -> str:
    """Two neighbors.

    >>> _span((1, 2), (1, 3)), _span((4, 0), (5, 0))
    ('[1, 2–3]', '[4–5, 0]')
    """
    (i, j), (k, l_) = first, second
    return f"[{i}, {j}–{l_}]" if i == k else f"[{i}–{k}, {j}]"


def _largest(generation: str) -> Box:
    """D of the largest instruction, to scale; several products stand side by side."""
    one = tensorcores.instruction(run(generation).instruction.family)
    across = 2 if one.n_products > 1 else 1
    w, h = one.n * across * SCALE, one.m * across * SCALE
    return (WORDS_X, SCALE_TOP - h, w, h)

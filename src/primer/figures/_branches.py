"""Small programs with one branch or loop each, for one warp."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from typing import Any

from primer import _checks, warps
from primer.warps import Divergence, If, Instructions, Loop, Switch

LANES = range(32)
BEFORE, AFTER = Instructions(3, "before"), Instructions(3, "after")
THEN, ELSE = Instructions(9, "then"), Instructions(6, "else")
BODY = Instructions(3, "trip")
UNEVEN = (
    *(3, 5, 1, 8, 4, 2, 6, 3, 4, 7, 2, 5, 1, 4, 3, 6),
    *(2, 4, 8, 3, 5, 4, 1, 7, 3, 5, 2, 6, 4, 3, 5, 2),
)  # trips: four on average


@dataclass(frozen=True, kw_only=True)
class Pattern:
    """A program, and how to speak of it.

    Parameters
    ----------
    name : str
        In the list of patterns.
    code : str
        Its branch, for the head of the picture.
    program : tuple of nodes
    """

    name: str
    code: str
    program: tuple[Any, ...]


def _branch(name: str, code: str, condition: Sequence[bool], otherwise: Any = ELSE) -> Pattern:
    return Pattern(
        name=name, code=code, program=(BEFORE, If(condition, THEN, otherwise), AFTER)
    )  # fmt: skip


def _loop(name: str, code: str, n_trips: Sequence[int]) -> Pattern:
    return Pattern(name=name, code=code, program=(BEFORE, Loop(n_trips, BODY), AFTER))


_INNER = If(
    [lane % 2 == 0 for lane in LANES], Instructions(4, "then, then"), Instructions(4, "then, else")
)
_SHORT = Instructions(2, "then")
_NESTED = If([lane < 16 for lane in LANES], (_SHORT, _INNER, _SHORT), ELSE)
_CASES = [Instructions(5, f"case {i}") for i in range(4)]

PATTERNS = {
    "uniform": _branch("the whole warp alike", "if (warp % 2 == 0)", [True] * 32),
    "half": _branch("half and half", "if (lane < 16)", [lane < 16 for lane in LANES]),
    "alternating": _branch(
        "every second lane", "if (lane % 2 == 0)", [lane % 2 == 0 for lane in LANES]
    ),
    "one": _branch("one lane alone", "if (lane == 0)", [lane == 0 for lane in LANES]),
    "tail": _branch("no else", "if (lane < 20), no else", [lane < 20 for lane in LANES], ()),
    "nested": Pattern(
        name="a branch in a branch", code="if (lane < 16), in it if (lane % 2 == 0)",
        program=(BEFORE, _NESTED, AFTER),
    ),
    "switch": Pattern(
        name="a switch of four", code="switch (lane % 4)",
        program=(BEFORE, Switch([lane % 4 for lane in LANES], _CASES), AFTER),
    ),
    "loop_even": _loop("a loop, four trips each", "for (4 trips)", [4] * 32),
    "loop_uneven": _loop("a loop, one to eight trips", "for (1 to 8 trips)", UNEVEN),
    "loop_one": _loop("a loop, one lane late", "for (1 trip, lane 0: 8)", [8] + [1] * 31),
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class BranchRun:
    """One warp in one program.

    Parameters
    ----------
    mask : str
        Key of the pattern.
    pattern : Pattern
    run : Divergence
    """

    mask: str
    pattern: Pattern
    run: Divergence

    def blocks(self) -> Iterator[tuple[str, int, int]]:
        """Labels of the blocks, and the first issue and the number of each."""
        start = 0
        for name, group in groupby(self.run.names):
            n = len(list(group))
            if name != BODY.name:
                yield name, start, n
            else:
                each = BODY.n_instructions
                yield from ((f"{name} {i + 1}", start + i * each, each) for i in range(n // each))
            start += n

    def joins(self) -> Iterator[tuple[int, int, int]]:
        """Issues before which lanes come back to those at work, and the first and last lane then.

        >>> list(compute("nested").joins())
        [(13, 0, 15), (21, 0, 31)]
        """
        active = self.run.active
        for i in range(1, len(active)):
            stay = (active[i] | ~active[i - 1]).all()
            if stay and active[i].sum() > active[i - 1].sum():
                lanes = active[i].nonzero()[0]
                yield i, int(lanes[0]), int(lanes[-1])


@cache
def compute(mask: str) -> BranchRun:
    """Run one pattern."""
    pattern = PATTERNS[_checks.one_of("mask", mask, tuple(PATTERNS))]
    return BranchRun(mask=mask, pattern=pattern, run=warps.diverge(pattern.program))

"""An exercise whose answer is a number, or any number within a range.

>>> exercise = Number(answer=lambda: 0.024, unit="ms", rel_tol=0.02)
>>> exercise.grade("24 ms"), exercise.grade("0.0238 s")
(✓ Right., ✓ Right.)
>>> exercise.grade("24 s")
✗ Not yet. You are off by a power of a thousand: go through the prefixes, kilo, mega, giga, and \
milli, micro, nano.
>>> exercise.grade(None)
… No answer yet. Asked for: a number in ms, right within 2 % of its value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from primer import _checks, units
from primer.exercises import slips
from primer.exercises.reading import Ends, Unit
from primer.exercises.slips import Slip
from primer.exercises.verdict import NO_ANSWER, Verdict, is_blank, not_yet, unreadable

RIGHT = "Right."
NOT_WHOLE = "A whole number is asked for: think about which way to round."


@dataclass(frozen=True)
class Number:
    """An exercise whose answer is a number.

    Parameters
    ----------
    answer : callable
        Computes the right value from the models, in the base unit; or a pair, the ends of the
        range in which every value is right.
    unit : str
        What the answer is asked in, as in `reading.Unit`: "ms", "%", "tokens", or nothing.
    rel_tol, abs_tol : float
        An answer is right within either tolerance; `abs_tol` is in the base unit.
    what : str
        Which number is meant, where the exercise asks for more than one. Its words may stand
        behind a number.
    is_whole : bool
        Whether it is a count that must be hit exactly; the tolerances then do not matter.
    slips : tuple of Slip
        Its typical wrong answers; those of `slips.usual` come after them.
    accepted : tuple of Slip
        Answers that are right too, under another reading that the hint states.
    otherwise : str
        Hint when no slip matches.

    Raises
    ------
    ValueError
        If the unit is unknown or a tolerance negative.
    """

    answer: Callable[[], float | Ends]
    unit: str = ""
    rel_tol: float = 0.01
    abs_tol: float = 0.0
    what: str = ""
    is_whole: bool = False
    slips: tuple[Slip, ...] = ()
    accepted: tuple[Slip, ...] = ()
    otherwise: str = "Go through your estimate once more, one factor at a time."

    def __post_init__(self) -> None:
        _checks.fraction("rel_tol", self.rel_tol)
        _checks.non_negative("abs_tol", self.abs_tol)
        _ = self.reader

    @cached_property
    def reader(self) -> Unit:
        """What reads the answer."""
        return Unit(self.unit, self.what)

    @property
    def tolerances(self) -> tuple[float, float]:
        """Relative and absolute, as used: a count is exact but for rounding."""
        return (1e-9, 0.0) if self.is_whole else (self.rel_tol, self.abs_tol)

    def asked(self) -> str:
        """The form of an answer and its tolerance, in words.

        >>> Number(answer=lambda: 7.0, unit="tokens", is_whole=True).asked()
        'a whole number of tokens'
        >>> Number(answer=lambda: 0.5, what="the share in (a)", abs_tol=0.02).asked()
        'the share in (a): a number, right within 1 % of its value or 0.02'
        """
        kind = "a whole number" if self.is_whole else "a number"
        if self.unit:
            kind += f" of {self.unit}" if self.reader.is_counted else f" in {self.unit}"
        if not self.is_whole:
            within = [f"{100 * self.rel_tol:g} % of its value"] if self.rel_tol else []
            within += [units.text(self.abs_tol, self.reader.base)] if self.abs_tol else []
            kind += f", right within {' or '.join(within)}" if within else ", exactly"
        return f"{self.what}: {kind}" if self.what else kind

    def ends(self) -> Ends:
        """The right value's ends, equal for a single value."""
        return _pair(self.answer())

    def wrongs(self) -> Iterator[tuple[Slip, Ends]]:
        """Every slip with each of its wrong values, in order of priority."""
        right = self.ends()
        usual = () if self.reader.is_counted else slips.usual(self.reader.base)
        for slip in (*self.slips, *usual):
            for ends in slip.ends(right):
                yield slip, ends

    def grade(self, answer: Any) -> Verdict:
        """Judge an answer of any type; this never raises because of the answer."""
        if is_blank(answer):
            return Verdict(None, f"{NO_ANSWER} Asked for: {self.asked()}.")
        right = self.ends()
        try:
            given = self.reader.read(answer, ranges=right[0] != right[1])
        except ValueError as problem:
            return unreadable(problem)
        rel_tol, abs_tol = self.tolerances
        if gap(given, right) <= rel_tol or _is_within(given, right, abs_tol):
            return Verdict(True, RIGHT)
        for also in self.accepted:
            if any(gap(given, ends) <= rel_tol for ends in also.ends(right)):
                return Verdict(True, f"{RIGHT} {also.hint}")
        return not_yet(self._hint(given))

    def _hint(self, given: Ends) -> str:
        near = [
            (gap(given, ends), slip.hint)
            for slip, ends in self.wrongs()
            if gap(given, ends) <= max(slip.rel_tol, 1e-9)
        ]
        if hint := slips.nearest(near):
            return hint
        if self.is_whole and not all(end.is_integer() for end in given):
            return NOT_WHOLE
        return self.otherwise


def gap(given: Ends, wanted: Ends) -> float:
    """How far the answer leaves the wanted range, relative to the larger of the two; 0 inside.

    >>> gap((1.0, 1.0), (1.0, 2.0)), gap((1.0, 4.0), (1.0, 2.0))
    (0.0, 0.5)
    """
    low, high = wanted
    return max(_relative(given[0], low, high), _relative(given[1], low, high))


def _relative(value: float, low: float, high: float) -> float:
    near = min(max(value, low), high)
    return abs(value - near) / max(abs(value), abs(near)) if value != near else 0.0


def _is_within(given: Ends, right: Ends, abs_tol: float) -> bool:
    return right[0] - abs_tol <= given[0] and given[1] <= right[1] + abs_tol


def _pair(value: float | Ends) -> Ends:
    low, high = value if isinstance(value, tuple) else (value, value)
    if not (math.isfinite(low) and math.isfinite(high) and low <= high):
        _checks.fail("answer", "compute a finite number or a range of them", (low, high))
    return float(low), float(high)

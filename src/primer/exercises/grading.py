"""How an answer is judged: tolerance, unit, and the slips that people make.

An exercise computes its answer from the models when it is asked, so neither
this package nor a notebook holds a table of answers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Any

from primer import units


@dataclass(frozen=True)
class Verdict:
    """What the checker says.

    Attributes
    ----------
    is_right : bool or None
        None while there is no answer.
    message : str
        A sentence for the reader.
    """

    is_right: bool | None
    message: str

    def __str__(self) -> str:
        mark = {True: "✓", False: "✗", None: "…"}[self.is_right]
        return f"{mark} {self.message}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        kind = {True: "right", False: "wrong", None: "open"}[self.is_right]
        return f'<p class="verdict {kind}" role="status">{escape(str(self))}</p>'


@dataclass(frozen=True)
class Slip:
    """A typical wrong answer, computed like the right one, and the hint for it."""

    answer: Callable[[], float]
    hint: str


@dataclass(frozen=True)
class Number:
    """An exercise whose answer is a number.

    Parameters
    ----------
    answer : callable
        Computes the right value in `unit`.
    unit : str
        Base unit in which a bare number is read; "1" for a count or a fraction.
    rel_tol, abs_tol : float
        An answer is right within either tolerance.
    slips : tuple of Slip
        Typical wrong answers; the first that matches gives the hint.
    otherwise : str
        Hint when none matches.
    noun : str
        What a count counts; a reader may write it behind the number ("569 tokens").
    """

    answer: Callable[[], float]
    unit: str = "1"
    rel_tol: float = 0.01
    abs_tol: float = 0.0
    slips: tuple[Slip, ...] = ()
    otherwise: str = "Go through your estimate once more, one factor at a time."
    noun: str = ""

    def grade(self, answer: Any) -> Verdict:
        """Judge an answer; anything that is not a number gets a sentence, never an exception."""
        if answer is None or answer == "":
            return Verdict(None, "No answer yet.")
        try:
            value = self._read(answer)
        except ValueError as error:
            return Verdict(False, f"This could not be read as an answer: {error}")
        right = self.answer()
        if self._same(value, right):
            return Verdict(True, "Right.")
        for slip in self.slips:
            if self._same(value, slip.answer()) or math.isclose(value, slip.answer(), rel_tol=0.01):
                return Verdict(False, f"Not yet. {slip.hint}")
        return Verdict(False, f"Not yet. {self._percent(value, right) or self.otherwise}")

    def _read(self, answer: Any) -> float:
        if isinstance(answer, str):
            value, unit = units.parse(answer.strip().removesuffix(self.noun))
            if unit not in ("1", self.unit):
                raise ValueError(f"unit must be {self._unit_name()}; got {unit!r}")
            return value
        if isinstance(answer, bool) or not isinstance(answer, (int, float)):
            number = getattr(answer, "item", lambda: None)()
            if isinstance(number, bool) or not isinstance(number, (int, float)):
                raise ValueError(f"answer must be a number; got {answer!r}")
            answer = number
        if not math.isfinite(answer):
            raise ValueError(f"answer must be finite; got {answer!r}")
        return float(answer)

    def _unit_name(self) -> str:
        return "none, it is a plain number" if self.unit == "1" else self.unit

    def _same(self, value: float, wanted: float) -> bool:
        return math.isclose(value, wanted, rel_tol=self.rel_tol, abs_tol=self.abs_tol)

    def _percent(self, value: float, right: float) -> str:
        if self.unit == "1" and self._same(value / 100, right):
            return "The unit is a fraction between 0 and 1, not percent."
        return ""

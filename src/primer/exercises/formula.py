"""An exercise whose answer is a formula in named variables, compared where it is evaluated.

>>> exercise = Formula(
...     reference=lambda n, e: 2 * n**3 / (3 * n**2 * e),
...     variables={"n": draws.whole(2, 4096), "e": draws.among(1, 2, 4)},
...     slips=(slips.MULTIPLY_ADD,),
... )
>>> exercise.grade("2n/(3e)")
✗ This could not be read as an answer: '2n/(3e)' is not arithmetic that can be read (write every \
*, as in 2*n).
>>> exercise.grade("I = 2*n/(3*e)"), exercise.grade("n/e - n/(3*e)")
(✓ Right., ✓ Right.)
>>> exercise.grade("n/(3*e)")
✗ Not yet. Look for a factor of two: a multiply-add is two operations, a multiply and an add.
"""

from __future__ import annotations

import contextlib
import math
import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from primer import _checks
from primer.exercises import arithmetic, draws, slips
from primer.exercises.draws import Draw, Point
from primer.exercises.number import RIGHT, gap
from primer.exercises.slips import Slip
from primer.exercises.verdict import NO_ANSWER, Verdict, attribute, is_blank, not_yet, unreadable

N_POINTS = 24
_TRIES = 20 * N_POINTS
_LEFT_SIDE = re.compile(r"^\s*[A-Za-z_]\w*\s*=(?!=)")


class _Trial(NamedTuple):
    point: Point
    right: float
    given: float
    largest: float


@dataclass(frozen=True)
class Formula:
    """An exercise whose answer is a formula.

    A formula is right if it agrees with the reference at every one of some drawn points, within
    `rel_tol`; where terms cancel, also within the rounding of the largest of them.

    Parameters
    ----------
    reference : callable
        Computes the right value from the models; takes the variables by name. A point at which it
        divides by zero or overflows is not tried.
    variables : mapping of str to callable
        How each variable is drawn, from `draws`.
    rel_tol : float
    slips : tuple of Slip
        `times` is applied at each point; what `at` is given takes the variables by name.
    otherwise : str
        Hint when no slip matches at every point.

    Raises
    ------
    ValueError
        If there is no variable.
    """

    reference: Callable[..., float]
    variables: Mapping[str, Draw]
    rel_tol: float = 1e-6
    slips: tuple[Slip, ...] = ()
    otherwise: str = "Derive it once more, and try it with small numbers by hand."

    def __post_init__(self) -> None:
        _checks.fraction("rel_tol", self.rel_tol)
        if not self.variables:
            _checks.fail("variables", "name one variable or more", self.variables)

    def asked(self) -> str:
        """The form of an answer and its tolerance, in words."""
        names = ", ".join(self.variables)
        return f"a formula in {names}, as text, right if it agrees wherever it is tried"

    def grade(self, answer: Any) -> Verdict:
        """Judge an answer of any type; this never raises because of the answer."""
        if is_blank(answer):
            return Verdict(None, f"{NO_ANSWER} Asked for: {self.asked()}.")
        tried = self._tried()
        try:
            trials = _evaluate(_text(answer), tried)
        except arithmetic.NoValueError as problem:
            return not_yet(f"Your formula does not always have a value: {problem}.")
        except ValueError as problem:
            return unreadable(problem)
        scale = max(abs(t.right) for t in trials)
        wrong = [t for t in trials if not self._agrees(t, scale)]
        return not_yet(self._hint(trials, wrong)) if wrong else Verdict(True, RIGHT)

    def _tried(self) -> list[tuple[Point, float]]:
        """Points and the reference there, the same ones every time."""
        rng = random.Random(0)
        found: list[tuple[Point, float]] = []
        for _ in range(_TRIES):
            point = draws.draw(self.variables, rng)
            try:
                right = float(self.reference(**point))
            except (ZeroDivisionError, OverflowError):
                continue
            if math.isfinite(right):
                found.append((point, right))
            if len(found) == N_POINTS:
                return found
        _checks.fail(
            "variables", "be drawn where the reference has a value", sorted(self.variables)
        )

    def _agrees(self, trial: _Trial, scale: float) -> bool:
        # The cap keeps "1e30 - 1e30 + 5" from being as good as any other number.
        rounding = min(1e-13 * trial.largest, 1e-9 * scale) if scale else 1e-13 * trial.largest
        return _gap(trial.given, trial.right) <= self.rel_tol or (
            abs(trial.given - trial.right) <= rounding
        )

    def _hint(self, trials: list[_Trial], wrong: list[_Trial]) -> str:
        near = []
        for slip in self.slips:
            for leads_to in slip.wrongs:
                off = max(_gap(t.given, leads_to(t.right, **t.point)) for t in trials)
                if off <= slip.rel_tol:
                    near.append((off, slip.hint))
        if hint := slips.nearest(near):
            return hint
        if len(wrong) < len(trials):
            return (
                f"It is right for some values and wrong for others: {draws.text(wrong[0].point)}."
            )
        return self.otherwise


def _evaluate(text: str, tried: list[tuple[Point, float]]) -> list[_Trial]:
    trials = []
    for point, right in tried:
        try:
            given, largest = arithmetic.evaluate(text, point)
        except arithmetic.NoValueError as problem:
            raise arithmetic.NoValueError(f"{problem} at {draws.text(point)}") from None
        trials.append(_Trial(point, right, given, largest))
    return trials


def _gap(given: float, wanted: float) -> float:
    return gap((given, given), (wanted, wanted))


def _text(answer: Any) -> str:
    """The formula as arithmetic reads it; a SymPy expression writes itself so."""
    if attribute(answer, "free_symbols") or isinstance(answer, (int, float)):
        with contextlib.suppress(Exception):
            answer = str(answer)
    if not isinstance(answer, str):
        raise ValueError(f"a formula as text is asked for, got {type(answer).__name__}")
    text = _LEFT_SIDE.sub("", answer)
    try:
        arithmetic.parse(text)
    except ValueError as problem:
        missing = re.search(r"(?<![A-Za-z_\d.])\d+\s*[A-Za-z_(]", text)
        hint = f" (write every *, as in {_with_star(missing[0])})" if missing else ""
        raise ValueError(f"{problem}{hint}") from None
    return text


def _with_star(cut: str) -> str:
    return f"{cut[:-1].strip()}*{'(…)' if cut.endswith('(') else cut[-1]}"

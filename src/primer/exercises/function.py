"""An exercise whose answer is a function: called, timed, and compared with one from the models.

>>> exercise = Function(
...     name="area",
...     reference=lambda width, height: width * height,
...     variables={"width": draws.real(1, 9), "height": draws.real(1, 9)},
...     cases=({"width": 2, "height": 3},),
... )
>>> exercise.grade(lambda a, b: a * b)
✓ Right.
>>> exercise.grade(lambda a, b: a + b)
✗ Not yet. area(2, 3) gives 5. Take these arguments through your function by hand.
>>> exercise.grade(lambda a: a)
✗ Not yet. area(2, 3) raises TypeError: <lambda>() takes 1 positional argument but 2 were given.
"""

from __future__ import annotations

import copy
import dis
import random
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from primer import _checks
from primer.exercises import _deadline, draws, slips
from primer.exercises.draws import Draw, Point
from primer.exercises.number import RIGHT
from primer.exercises.slips import Slip
from primer.exercises.verdict import NO_ANSWER, Verdict, attribute, is_blank, not_yet, unreadable

_MOST_BITS = 1023  # of an integer that fits in a float


@dataclass
class _Call:
    """One call of the reader's function, and what came of it."""

    point: Point
    value: Any = None
    error: BaseException | None = None
    right: Any = None


@dataclass(frozen=True)
class Function:
    """An exercise whose answer is a function.

    Parameters
    ----------
    name : str
        What the exercise calls the function.
    reference : callable
        Computes the right result from the models, a number, a text, a bool, or an array or
        sequence of numbers; takes the same arguments by name.
    variables : mapping of str to callable
        How each argument is drawn for the fresh cases, in the order in which they are passed.
    cases : tuple of mapping
        Arguments that are always tried, and first; those that are left out take their defaults.
    rel_tol, abs_tol : float
        Numbers are right within either.
    time_limit_s : float [s]
        For all calls together.
    n_fresh : int
        Drawn anew for every check, so that no table of answers passes.
    slips : tuple of Slip
        Their `at` takes the arguments by name and is a typical wrong function.
    otherwise : str
        Hint when no slip matches every call.
    """

    name: str
    reference: Callable[..., Any]
    variables: Mapping[str, Draw]
    cases: tuple[Mapping[str, Any], ...] = ()
    rel_tol: float = 1e-6
    abs_tol: float = 0.0
    time_limit_s: float = 5.0
    n_fresh: int = 20
    slips: tuple[Slip, ...] = ()
    otherwise: str = "Take these arguments through your function by hand."

    def __post_init__(self) -> None:
        _checks.positive("time_limit_s", self.time_limit_s)
        for case in self.cases:
            for name in case:
                _checks.one_of("cases", name, tuple(self.variables))

    def asked(self) -> str:
        """The form of an answer and its tolerance, in words."""
        return f"the function {self.name}({', '.join(self.variables)})"

    def grade(self, answer: Any) -> Verdict:
        """Judge an answer of any type; this never raises because of the answer."""
        if is_blank(answer) or _is_stub(answer):
            return Verdict(None, f"{NO_ANSWER} Asked for: {self.asked()}.")
        if not callable(answer):
            got = type(answer).__name__
            return unreadable(f"{self.name} itself is asked for, without parentheses, got {got}")
        points = self._points()
        calls = [_Call(copy.deepcopy(point)) for point in points]
        started: list[_Call] = []
        if not _deadline.run(lambda: _call_all(answer, calls, started), self.time_limit_s):
            at = self._written(started[-1].point if started else {})
            return not_yet(f"{at} is not done after {self.time_limit_s:g} s.")
        # Not before: a function can look into the frames that call it.
        return self._judge([self._compared(p, c) for p, c in zip(points, calls, strict=True)])

    def _compared(self, point: Point, call: _Call) -> _Call:
        """The call with the right result beside it."""
        right = self.reference(**copy.deepcopy(point))
        return _Call(point, call.value, call.error, right)

    def _points(self) -> list[Point]:
        rng = random.Random()
        fresh = [draws.draw(self.variables, rng) for _ in range(self.n_fresh)]
        return [*map(dict, self.cases), *fresh]

    def _written(self, point: Point) -> str:
        names = list(self.variables)
        # An argument behind one that is left out has to be named.
        n_first = next((i for i, name in enumerate(names) if name not in point), len(names))
        parts = [
            draws.shown(value) if names.index(name) < n_first else f"{name}={draws.shown(value)}"
            for name, value in point.items()
        ]
        return f"{self.name}({', '.join(parts)})"

    def _judge(self, calls: list[_Call]) -> Verdict:
        for call in calls:
            written = self._written(call.point)
            if isinstance(call.error, NotImplementedError):
                return Verdict(None, f"{NO_ANSWER} Asked for: {self.asked()}.")
            if call.error is not None:
                return not_yet(f"{written} raises {_said(call.error)}.")
            if problem := _misshaped(call.value, call.right):
                return not_yet(f"{written} returns {problem}")
        wrong = [c for c in calls if _gap(c.value, c.right, self.abs_tol) > self.rel_tol]
        if not wrong:
            return Verdict(True, RIGHT)
        shown = draws.shown(wrong[0].value)
        return not_yet(f"{self._written(wrong[0].point)} gives {shown}. {self._hint(calls)}")

    def _hint(self, calls: list[_Call]) -> str:
        near = []
        for slip in self.slips:
            for leads_to in slip.wrongs:
                off = max(_gap(c.value, leads_to(_number(c.right), **c.point)) for c in calls)
                if off <= slip.rel_tol:
                    near.append((off, slip.hint))
        return slips.nearest(near) or self.otherwise


def _call_all(function: Callable[..., Any], calls: list[_Call], started: list[_Call]) -> None:
    for call in calls:
        started.append(call)
        point = copy.deepcopy(call.point)
        try:
            call.value = function(*point.values())
        except (Exception, SystemExit) as error:
            call.error = error


def _is_stub(answer: Any) -> bool:
    """Whether a function does nothing but return None, as one with only `...` in it does."""
    code = attribute(answer, "__code__")
    if not isinstance(code, types.CodeType):
        return False
    steps = [s for s in dis.get_instructions(code) if s.opname not in ("RESUME", "NOP")]
    return len(steps) <= 2 and steps[0].opname.endswith("_CONST") and steps[0].argval is None


def _said(error: BaseException) -> str:
    try:
        text = " ".join(str(error).split())
    except Exception:
        text = ""
    text = text if len(text) <= 120 else text[:119] + "…"
    return f"{type(error).__name__}: {text}".rstrip(": .")


def _number(value: Any) -> Any:
    """Numbers as an array of floats, all else as it is."""
    if isinstance(value, (str, bool, np.bool_)):
        return value
    return np.asarray(value, dtype=float)


def _misshaped(value: Any, right: Any) -> str:
    """What is wrong with the form of a result; "" if nothing is."""
    kind = type(value).__name__
    if value is None:
        return "None: is a return missing?"
    if isinstance(right, (bool, np.bool_)):
        return (
            ""
            if isinstance(value, (bool, np.bool_))
            else f"{kind}, where True or False is asked for."
        )
    if isinstance(right, str):
        return "" if isinstance(value, str) else f"{kind}, where text is asked for."
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        return f"an integer of {value.bit_length()} bits, which is too large to be right."
    wanted = np.shape(right)
    form = f"an array of shape {wanted}" if wanted else "one number"
    try:
        if isinstance(value, (str, bool, np.bool_)):
            raise TypeError
        shape = np.asarray(value, dtype=float).shape
    except Exception:
        return f"{kind}, where {form} is asked for."
    if shape not in (wanted, (1,) if wanted == () else wanted):
        return f"an array of shape {shape}, where {form} is asked for."
    return ""


def _gap(value: Any, right: Any, abs_tol: float = 0.0) -> float:
    """The largest relative difference; infinite for another text."""
    if isinstance(right, (str, bool, np.bool_)):
        return 0.0 if bool(value == right) else float("inf")
    got, wanted = np.asarray(value, dtype=float), np.asarray(right, dtype=float)
    with np.errstate(all="ignore"):
        size = np.maximum(np.abs(got), np.abs(wanted))
        off = np.abs(got - wanted)
        gaps = np.where((got == wanted) | (off <= abs_tol), 0.0, off / size)
    gaps = np.where(
        np.isnan(gaps) & ~(np.isnan(got) & np.isnan(wanted)), np.inf, np.nan_to_num(gaps)
    )
    return float(gaps.max(initial=0.0))

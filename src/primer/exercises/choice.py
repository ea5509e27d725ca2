"""An exercise whose answer is one of several.

>>> exercise = Choice(
...     options=("memory", "compute"),
...     answer=lambda: "memory",
...     hints={"compute": "Compare the intensity with the ridge."},
... )
>>> exercise.grade("Memory"), exercise.grade("compute")
(✓ Right., ✗ Not yet. Compare the intensity with the ridge.)
>>> exercise.grade(3)
✗ This could not be read as an answer: one of 'memory', 'compute' is asked for, got int.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from primer import _checks
from primer.exercises.number import RIGHT
from primer.exercises.verdict import NO_ANSWER, Verdict, is_blank, not_yet, unreadable


@dataclass(frozen=True)
class Choice:
    """An exercise whose answer is one of several.

    Parameters
    ----------
    options : tuple of str
        Different even without regard to case. True and False stand for "yes" and "no".
    answer : callable
        Computes the right option from the models.
    hints : mapping of str to str
        For a wrong option, what was overlooked.
    otherwise : str
        Hint for the other options.

    Raises
    ------
    ValueError
        If there are fewer than two different options, or a hint belongs to none.
    """

    options: tuple[str, ...]
    answer: Callable[[], str]
    hints: Mapping[str, str] = field(default_factory=dict)
    otherwise: str = "Go back to the figure, and move one control at a time."

    def __post_init__(self) -> None:
        if len({o.casefold() for o in self.options}) < max(2, len(self.options)):
            _checks.fail("options", "be two or more, all different", self.options)
        for name in self.hints:
            _checks.one_of("hints", name, self.options)

    def asked(self) -> str:
        """The options, in words."""
        return f"one of {', '.join(map(repr, self.options))}"

    def grade(self, answer: Any) -> Verdict:
        """Judge an answer of any type; this never raises because of the answer."""
        if is_blank(answer):
            return Verdict(None, f"{NO_ANSWER} Asked for: {self.asked()}.")
        known = {o.casefold(): o for o in self.options}
        chosen = known.get(_word(answer))
        if chosen is None:
            got = repr(answer[:40]) if isinstance(answer, str) else type(answer).__name__
            return unreadable(f"{self.asked()} is asked for, got {got}")
        if chosen == _checks.one_of("answer", self.answer(), self.options):
            return Verdict(True, RIGHT)
        return not_yet(self.hints.get(chosen, self.otherwise))


def _word(answer: Any) -> str:
    """The answer's text without case, quotes and brackets: "(B)." is "b"."""
    if isinstance(answer, bool):
        return "yes" if answer else "no"
    return answer.strip(" \t\n().\"'").casefold() if isinstance(answer, str) else ""

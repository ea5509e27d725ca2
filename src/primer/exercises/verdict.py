"""What a checker says to a reader."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any, Protocol

NO_ANSWER = "No answer yet."


@dataclass(frozen=True)
class Verdict:
    """A judgement and one sentence; never the answer.

    Parameters
    ----------
    is_right : bool or None
        None while there is no answer.
    message : str
        A sentence for the reader.

    Examples
    --------
    >>> Verdict(False, "Not yet. Bits or bytes?")
    ✗ Not yet. Bits or bytes?
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


class Exercise(Protocol):
    """What every kind of exercise can do."""

    def asked(self) -> str:
        """The form of an answer and its tolerance, in words."""

    def grade(self, answer: Any) -> Verdict:
        """Judge an answer of any type; `graded` catches what a hostile one raises."""


def graded(exercise: Exercise, answer: Any) -> Verdict:
    """The door for every answer: whatever it does when it is looked at, there is a verdict."""
    try:
        if isinstance(answer, str):
            answer = str.__str__(answer)  # a subclass may have methods of its own
        return exercise.grade(answer)
    except KeyboardInterrupt:
        raise
    except BaseException:  # an answer may even raise SystemExit; nothing of it is shown
        return unreadable("it raises an error when it is looked at")


def is_blank(answer: Any) -> bool:
    """Whether nothing was answered: None, `...`, or text without a letter.

    >>> is_blank(None), is_blank("  "), is_blank(0)
    (True, True, False)
    """
    return answer is None or answer is ... or (isinstance(answer, str) and not answer.strip())


def attribute(answer: Any, name: str) -> Any:
    """An attribute of whatever was answered; None where it has none or does not let one ask."""
    try:
        return getattr(answer, name, None)
    except Exception:
        return None


def not_yet(hint: str) -> Verdict:
    """A wrong answer's verdict."""
    return Verdict(False, f"Not yet. {hint}")


def unreadable(problem: object) -> Verdict:
    """The verdict on what cannot be read as an answer."""
    return Verdict(False, f"This could not be read as an answer: {problem}.")

"""Checks of a reader's answers: a verdict and a hint, never the answer."""

from __future__ import annotations

from typing import Any

from primer.exercises.grading import Verdict

__all__ = ["Verdict", "check"]


def check(exercise_id: str, answer: Any) -> Verdict:
    """Grade an answer to an exercise of the book.

    Parameters
    ----------
    exercise_id : str
        As printed beside the exercise, for example "1.1"; an unknown one names the nearest.
    answer : number or str
        A number in the unit asked for, or text with a unit ("1.5 TB/s"). None means
        that there is no answer yet.

    Returns
    -------
    Verdict
        Whether it is right, and a sentence that says so or names the likely slip.
    """
    from primer.exercises import bank

    return bank.find(exercise_id).grade(answer)

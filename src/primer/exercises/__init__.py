"""Checks of a reader's answers: a verdict and a hint, never the answer.

A check knows no table of answers: each one is computed from the models when it is asked for. Four
kinds of exercises are graded: numbers with units, formulas in named variables, functions that a
reader writes, and choices. Every kind states its form and tolerance before there is an answer:

>>> check("1.1", None)
… No answer yet. Asked for: a whole number of tokens.
"""

from __future__ import annotations

from typing import Any

from primer.exercises.choice import Choice
from primer.exercises.formula import Formula
from primer.exercises.function import Function
from primer.exercises.number import Number
from primer.exercises.slips import Slip
from primer.exercises.verdict import Exercise, Verdict, graded

__all__ = ["Choice", "Exercise", "Formula", "Function", "Number", "Slip", "Verdict", "check", "ids"]


def check(exercise_id: str, answer: Any) -> Verdict:
    """Grade an answer to an exercise of the book.

    Parameters
    ----------
    exercise_id : str
        As printed beside the exercise, such as "1.1".
    answer : object
        What the exercise asks for: a number, bare or as text with a unit ("1.5 TB/s", "21.9 %",
        "T = 24 milliseconds", "1/12", "sqrt(2)**2"); a formula as text ("2*n/(3*e)"); a function;
        or a choice. None means that there is no answer yet. No answer makes this raise.

    Returns
    -------
    Verdict
        Whether it is right within the exercise's tolerance, and a sentence that says so or names
        the likely slip.

    Raises
    ------
    ValueError
        If there is no such exercise; the message names the nearest.
    """
    from primer.exercises import bank

    return graded(bank.find(exercise_id), answer)


def ids() -> tuple[str, ...]:
    """The exercises that have a check, in the order of the book.

    >>> "1.1" in ids()
    True
    """
    from primer.exercises import bank

    return bank.ids()

"""The exercises that can be checked, topic by topic, each with its answer as a computation."""

from __future__ import annotations

from functools import cache

from primer import _checks
from primer.exercises.bank import (
    energy,
    factory,
    matmul,
    multiprocessors,
    roofline,
    systolic,
    warps,
)
from primer.exercises.verdict import Exercise

_TOPICS = (energy, factory, roofline, matmul, warps, multiprocessors, systolic)


@cache
def exercises() -> dict[str, Exercise]:
    """All exercises by their number, in the order of the book."""
    found: dict[str, Exercise] = {}
    for topic in _TOPICS:
        for exercise_id, exercise in topic.EXERCISES.items():
            if exercise_id in found:
                _checks.fail("exercise", "be declared once", exercise_id)
            found[exercise_id] = exercise
    return dict(sorted(found.items(), key=lambda item: [int(n) for n in item[0].split(".")]))


def ids() -> tuple[str, ...]:
    """Exercises that have a check."""
    return tuple(exercises())


def find(exercise_id: str) -> Exercise:
    """The exercise of that number; an unknown one names the nearest."""
    return exercises()[_checks.one_of("exercise", exercise_id, ids())]

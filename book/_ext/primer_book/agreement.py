"""One comparison of a simulator with an independent tool or a second method.

A subject recomputes every case of a committed table (`tests/data`) or of a second method. One that
deviates more than it allows is an error: a page that says "agrees" was made by a comparison that
did.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
DATA = "tests/data"


@dataclass(frozen=True)
class Case:
    """One number computed twice."""

    name: str
    ours: float
    theirs: float

    @property
    def deviation(self) -> float:
        """Relative; the absolute difference where the other value is zero."""
        difference = abs(self.ours - self.theirs)
        return difference / abs(self.theirs) if self.theirs else difference


@dataclass(frozen=True)
class Subject:
    """One comparison of one simulator.

    Parameters
    ----------
    module : str
        The module of `primer` that is compared.
    quantity : str
        What is compared, in words.
    against : str
        The tool with its version, or the second method.
    allowed_frac : float
        The largest deviation that counts as agreement.
    why : str
        Why it is not zero; empty where it is.
    cases : callable
        Gives all cases; gets the table's rows where there is a table.
    table : str
        File below `tests/data`; empty for a second method.
    """

    module: str
    quantity: str
    against: str
    allowed_frac: float
    why: str
    cases: Callable[[list[Any]], Iterable[Case]]
    table: str = ""

    @property
    def key(self) -> str:
        return f"{self.module}: {self.quantity}"


@dataclass(frozen=True)
class Agreement:
    """What a comparison found."""

    subject: Subject
    n_cases: int
    worst: Case

    def __post_init__(self) -> None:
        found, allowed = self.worst.deviation, self.subject.allowed_frac
        if not found <= allowed:
            raise ValueError(
                f"{self.subject.key} must agree with {self.subject.against} within {allowed:g}; "
                f"got {found:g} for {self.worst.name}"
            )


def run(subject: Subject, root: Path = ROOT) -> Agreement:
    """Recompute every case of a subject; `ValueError` where one deviates too far."""
    cases = list(subject.cases(_rows(subject, root)))
    if not cases:
        raise ValueError(f"{subject.key} must have at least one case; got none")
    return Agreement(subject, len(cases), max(cases, key=lambda case: case.deviation))


def _rows(subject: Subject, root: Path) -> list[Any]:
    if not subject.table:
        return []
    rows: list[Any] = json.loads((root / DATA / subject.table).read_text("utf-8"))["rows"]
    return rows

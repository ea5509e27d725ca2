"""The factory and its belt."""

from __future__ import annotations

from primer import factory
from primer.exercises import slips
from primer.exercises.number import Number
from primer.exercises.slips import Slip
from primer.exercises.verdict import Exercise


def _shop() -> factory.Shop:
    return factory.starve(15, 3.0)


_FULL_REUSE = Number(
    answer=lambda: _shop().full_reuse,
    rel_tol=0.01,
    what="the reuse at which no machine waits",
    slips=(
        slips.UPSIDE_DOWN,
        Slip("product", "Machines wait for parts: divide what they want by what arrives.").at(
            lambda: _shop().n_machines * _shop().operations_per_s
        ),
        Slip("without the belt", "That is what the machines want. How much arrives?").at(
            lambda: float(_shop().n_machines)
        ),
        Slip("the belt alone", "That is what arrives. How much do the machines want?").at(
            lambda: _shop().operations_per_s
        ),
        Slip("idle share", "That is the share of machines that wait when no part is reused.").at(
            lambda: _shop().idle_frac
        ),
    ),
    otherwise="How many operations do all machines do in a second, and how many parts arrive?",
)

EXERCISES: dict[str, Exercise] = {"0.2": _FULL_REUSE}

"""The catalogue of wrong turns: each with its hint, and the wrong values it leads to.

A slip is computed from the right value (`times`) or from the models (`at`) when an answer is
graded, and its hint names the mistake, never the answer. Which slip speaks:

1. the right answer, and any alternative that an exercise accepts, go before every slip;
2. of the slips within whose tolerance an answer lies, the nearest one;
3. of those that coincide there, the first: an exercise's own in the order in which it lists them,
   then the `usual` ones of its unit.

>>> BITS.ends((3.0, 3.0))
((24.0, 24.0), (0.375, 0.375))
>>> SPARSE_PEAK.at(lambda: 7.0).ends((3.0, 3.0))
((7.0, 7.0),)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from primer import _checks
from primer.exercises.reading import Ends

Wrong = Callable[..., Any]


@dataclass(frozen=True)
class Slip:
    """A typical mistake.

    Parameters
    ----------
    name : str
        What teachers call it.
    hint : str
        A sentence for the reader. It holds no number that could be the answer.
    wrongs : tuple of callable
        Each takes the right value, and by name the point at which a formula or a function was
        tried, and returns the wrong value; for an exercise with a number also a pair, a range.
    rel_tol : float
        How near an answer must be; zero for an off-by-one.
    """

    name: str
    hint: str
    wrongs: tuple[Wrong, ...] = ()
    rel_tol: float = 0.01

    def __post_init__(self) -> None:
        _checks.fraction("rel_tol", self.rel_tol)
        if not self.hint.strip():
            _checks.fail("hint", "be a sentence", self.hint)

    def times(self, *factors: float) -> Slip:
        """The same mistake, where it multiplies the right value by one of these."""
        return replace(self, wrongs=tuple(_times(_checks.finite("factor", f)) for f in factors))

    def at(self, *computed: Wrong) -> Slip:
        """The same mistake, where the models say what it leads to."""
        return replace(self, wrongs=tuple(_computed(c) for c in computed))

    def saying(self, hint: str) -> Slip:
        """The same mistake with a hint of the exercise's own."""
        return replace(self, hint=hint)

    def ends(self, right: Ends) -> tuple[Ends, ...]:
        """Both ends of each wrong number, for the right number's both ends; finite ones only."""
        found = (_ends(wrong, right) for wrong in self.wrongs)
        return tuple(ends for ends in found if all(map(math.isfinite, ends)))


def _times(factor: float) -> Wrong:
    return lambda right, **_point: right * factor


def _computed(wrong: Wrong) -> Wrong:
    return lambda _right, **point: wrong(**point)


def _ends(wrong: Wrong, right: Ends) -> Ends:
    values: list[float] = []
    for end in right:
        try:
            found = wrong(end)
        except (ZeroDivisionError, OverflowError):
            found = math.nan
        values += found if isinstance(found, tuple) else [found]
    return float(min(values)), float(max(values))


def _each(*functions: Callable[[float], float]) -> tuple[Wrong, ...]:
    return tuple(_of_right(f) for f in functions)


def _of_right(function: Callable[[float], float]) -> Wrong:
    return lambda right, **_point: function(right)


MULTIPLY_ADD = Slip(
    "multiply-add",
    "Look for a factor of two: a multiply-add is two operations, a multiply and an add.",
).times(2, 0.5)
SPARSE_PEAK = Slip("sparse peak", "Is that the sparse peak? Take the dense one.").times(2)
TWO_WAY_LINK = Slip(
    "two-way link",
    "Data sheets add both directions of a link. A message that travels one way gets one of them.",
).times(2, 0.5)
GIB = Slip(
    "GB for GiB", "Decimal or binary? GB counts in powers of ten, GiB in powers of two."
).times(1.073741824, 1 / 1.073741824)
BITS = Slip("bits for bytes", "Bits or bytes? A byte has eight bits.").times(8, 0.125)
PER_SM = Slip(
    "per SM", "One SM or the whole chip? Check for each number which of the two it counts."
)
PER_SCHEDULER = Slip(
    "per scheduler",
    "An SM has several schedulers. Check for each number whether it counts one of them or all.",
).times(4, 0.25)
RATIO_FOR_SHARE = Slip(
    "ratio for share",
    "That is the ratio of one part to the other. Asked for is the share of the whole.",
    _each(lambda p: p / (1 - p)),
)
SHARE_FOR_RATIO = Slip(
    "share for ratio",
    "That is the share of the whole. Asked for is the ratio of one part to the other.",
    _each(lambda r: r / (1 + r)),
)
OTHER_PART = Slip(
    "the other part",
    "That is the other part. The two together make up the whole.",
    _each(lambda p: 1 - p),
)
UPSIDE_DOWN = Slip("upside down", "Your ratio stands upside down.", _each(lambda ratio: 1 / ratio))
PERCENT = Slip(
    "percent for fraction",
    "The unit: percent or fraction? With a % sign behind the number there is no doubt.",
).times(100, 0.01)
WIDE_ACCESS = Slip(
    "64-bit access",
    "How wide is the access in the table, and how wide is your operand? A narrow operand pays for "
    "its share of a wide access.",
).times(2, 0.5)
OFF_BY_ONE = Slip(
    "off by one",
    "Very close. Count again at the ends: is the last one in or out?",
    _each(lambda n: n - 1, lambda n: n + 1),
    rel_tol=0.0,
)
PREFIX = Slip(
    "prefix",
    "You are off by a power of a thousand: go through the prefixes, kilo, mega, giga, and milli, "
    "micro, nano.",
).times(1e3, 1e-3, 1e6, 1e-6, 1e9, 1e-9, 1e12, 1e-12)

CATALOGUE = (
    MULTIPLY_ADD, SPARSE_PEAK, TWO_WAY_LINK, GIB, BITS, PER_SM, PER_SCHEDULER, RATIO_FOR_SHARE,
    SHARE_FOR_RATIO, OTHER_PART, UPSIDE_DOWN, PERCENT, WIDE_ACCESS, OFF_BY_ONE, PREFIX,
)  # fmt: skip


def usual(base_unit: str) -> tuple[Slip, ...]:
    """The mistakes that a unit invites, whatever the exercise: tried after its own.

    >>> [slip.name for slip in usual("B/s")], [slip.name for slip in usual("1")]
    (['bits for bytes', 'GB for GiB', 'prefix'], ['percent for fraction'])
    """
    if base_unit == "1":
        return (PERCENT,)
    found = []
    if "B" in base_unit.split("/"):
        found.append(BITS)
    if base_unit in ("B", "B/s"):
        found.append(GIB)
    return (*found, PREFIX)


def nearest(distances: Iterable[tuple[float, str]]) -> str:
    """The hint at the smallest distance, the first of those that coincide; "" if there is none.

    Parameters
    ----------
    distances : iterable of (float, str)
        How far off each slip within tolerance is, relative to it, in order of priority.
    """
    # Two computations of one wrong value differ in their last digits.
    rounded = ((round(gap, 6), hint) for gap, hint in distances)
    return min(rounded, key=lambda pair: pair[0], default=(0.0, ""))[1]

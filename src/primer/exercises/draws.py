"""Values at which a formula or a function is tried: how each of its variables is drawn.

>>> rng = random.Random(1)
>>> point = draw({"n": whole(2, 64), "element_bytes": among(0.5, 1, 2, 4)}, rng)
>>> 2 <= point["n"] <= 64, point["element_bytes"] in (0.5, 1, 2, 4)
(True, True)
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from typing import Any

from primer import _checks

Draw = Callable[[random.Random], Any]
Point = dict[str, Any]


def real(low: float, high: float) -> Draw:
    """A float between two positive ends, any power of ten as likely as another."""
    _checks.positive("low", low)
    if _checks.finite("high", high) <= low:
        _checks.fail("high", "be above low", high)
    return lambda rng: math.exp(rng.uniform(math.log(low), math.log(high)))


def whole(low: int, high: int) -> Draw:
    """An int from low to high, both ends included."""
    _checks.whole("low", low, minimum=-(10**9))
    _checks.whole("high", high, minimum=low + 1)
    return lambda rng: rng.randint(low, high)


def among(*values: Any) -> Draw:
    """One of the values."""
    if len(values) < 2:
        _checks.fail("values", "be two or more", values)
    return lambda rng: rng.choice(values)


def draw(variables: Mapping[str, Draw], rng: random.Random) -> Point:
    """One value for each variable."""
    return {name: one(rng) for name, one in variables.items()}


def text(point: Mapping[str, Any]) -> str:
    """A point for reading.

    >>> text({"n": 48, "e": 0.123456})
    'n = 48, e = 0.1235'
    """
    return ", ".join(f"{name} = {shown(value)}" for name, value in point.items())


def shown(value: Any, longest: int = 60) -> str:
    """A value for reading, short whatever it is."""
    if isinstance(value, float):
        return f"{value:.4g}"
    try:
        written = repr(value.item() if hasattr(value, "item") else value)
    except Exception:
        written = type(value).__name__
    return written if len(written) <= longest else written[: longest - 1] + "…"

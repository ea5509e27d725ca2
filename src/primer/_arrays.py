"""Arguments that may be a number or an array of numbers, and results of their common shape.

>>> sizes = wholes("m", [1, 2, 3])
>>> shaped(sizes * 2, common_shape({"m": sizes, "k": wholes("k", 5)})).tolist()
[2, 4, 6]
>>> wholes("m", [1, 0])
Traceback (most recent call last):
    ...
ValueError: m must be a positive integer; got 0
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from primer import _checks


def wholes(name: str, value: Any, *, minimum: int = 1, maximum: int = _checks.LARGEST_WHOLE) -> Any:
    """An integer, or an int64 array; lists, tuples and ranges are arrays, too."""
    if not _is_many(value):
        return _checks.whole(name, value, minimum=minimum, maximum=maximum)
    found = _array(name, value, "be an integer or an array of integers", "iu")
    wrong = found[(found < minimum) | (found > maximum)]
    if wrong.size:
        _checks.whole(name, wrong.flat[0], minimum=minimum, maximum=maximum)
    return found.astype(np.int64)


def positives(name: str, value: Any) -> Any:
    """A number above zero, or a float64 array of such; infinity is welcome."""
    if not _is_many(value):
        number = _checks.real(name, value)
        return number if number == np.inf else _checks.positive(name, value)
    found = _array(name, value, "be a number or an array of numbers", "iuf").astype(np.float64)
    wrong = found[~(found > 0)]
    if wrong.size:
        _checks.positive(name, wrong.flat[0])
    return found


def _is_many(value: Any) -> bool:
    return _checks.is_a(value, np.ndarray, list, tuple, range)


def _array(name: str, value: Any, rule: str, kinds: str) -> Any:
    """What NumPy makes of it, if that is neither empty nor of another kind."""
    try:
        found = np.asarray(value)
    except Exception:  # of arrays from elsewhere: whatever their library raises
        _checks.fail(name, rule, value)
    if np.ma.is_masked(value):
        _checks.fail(name, "have no masked element", value)
    if found.size == 0:
        _checks.fail(name, "not be empty", value)
    if found.dtype.kind not in kinds:
        _checks.fail(name, rule, value)
    return found


def common_shape(given: Mapping[str, Any]) -> tuple[int, ...]:
    """What all of them together broadcast to; () if all are numbers."""
    shapes = {name: np.shape(value) for name, value in given.items()}
    try:
        return np.broadcast_shapes(*shapes.values())
    except ValueError:
        known = ", ".join(f"{name} {shape}" for name, shape in shapes.items() if shape)
        raise ValueError(f"arrays must broadcast to one shape; got {known}") from None


def shaped(value: Any, shape: tuple[int, ...]) -> Any:
    """A plain number, or a read-only view of the whole shape."""
    if shape:
        return np.broadcast_to(value, shape)
    return value.item() if _checks.is_a(value, np.ndarray, np.generic) else value

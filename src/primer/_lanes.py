"""One value for each lane of a warp: what the models of warps take, checked.

>>> flags("mask", [True, False], 2)
(True, False)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any

from primer import _checks

N_LANES = 32
ELEMENT_BYTES = (1, 2, 4, 8, 16)  # what one instruction can move for one lane


@dataclass(frozen=True, kw_only=True)
class Access:
    """What the active lanes of a warp ask of a memory, the lanes in ascending order."""

    element_bytes: int
    lanes: tuple[int, ...]
    addresses: tuple[int, ...]


def access(addresses: Any, element_bytes: int, mask: Any = None) -> Access:
    """Check an access; addresses of lanes that are switched off are not looked at."""
    size = element_size(element_bytes)
    places = items("addresses", addresses)
    if mask is None:
        lanes = tuple(range(len(places)))
    else:
        given = flags("mask", mask, len(places))
        lanes = tuple(lane for lane, is_on in enumerate(given) if is_on)
    if not lanes:
        _checks.fail("mask", "leave at least one lane active", mask)
    checked = tuple(_address(f"addresses[{lane}]", places[lane], size) for lane in lanes)
    return Access(element_bytes=size, lanes=lanes, addresses=checked)


def element_size(element_bytes: object) -> int:
    """A size that one instruction can move for one lane."""
    size = _checks.whole("element_bytes", element_bytes)
    if size not in ELEMENT_BYTES:
        _checks.fail("element_bytes", "be one of 1, 2, 4, 8, 16", element_bytes)
    return size


def _address(name: str, value: object, size: int) -> int:
    address = _checks.whole(name, value, minimum=0)
    if address % size:
        _checks.fail(name, f"be a multiple of element_bytes = {size}, as the GPU demands", value)
    return address


def items(name: str, values: Any, n: int | None = None) -> tuple[Any, ...]:
    """The values of up to 32 lanes, or of exactly n, not looked at yet."""
    expected = f"{n}" if n else f"1 to {N_LANES}"
    rule = f"hold {expected} values, one for each lane"
    if not _checks.is_a(values, Iterable) or _checks.is_a(values, str, bytes):
        _checks.fail(name, rule, values)
    try:
        listed = tuple(islice(values, N_LANES + 1))
    except TypeError:  # an array without dimensions calls itself iterable
        _checks.fail(name, rule, values)
    if not 1 <= len(listed) <= N_LANES or (n and len(listed) != n):
        _checks.fail(name, rule, values)
    return listed


def flags(name: str, values: Any, n: int = N_LANES) -> tuple[bool, ...]:
    """One True or False for each of n lanes."""
    return tuple(
        _checks.flag(f"{name}[{lane}]", value) for lane, value in enumerate(items(name, values, n))
    )


def counts(name: str, values: Any, maximum: int, n: int = N_LANES) -> tuple[int, ...]:
    """One integer from 0 to `maximum` for each of n lanes.

    >>> counts("choice", [0, 2], 1, 2)
    Traceback (most recent call last):
        ...
    ValueError: choice[1] must be at most 1; got 2
    """
    return tuple(
        _checks.whole(f"{name}[{lane}]", value, minimum=0, maximum=maximum)
        for lane, value in enumerate(items(name, values, n))
    )

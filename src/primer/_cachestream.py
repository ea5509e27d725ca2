"""Streams of addresses: checked, and their lines numbered for the simulator."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from primer import _checks


@dataclass(frozen=True)
class NumberedStream:
    """Addresses with line = (address >> shift) - base, an index into `line_numbers`."""

    addresses: NDArray[np.int64]
    stores: NDArray[np.bool_]
    shift: int
    base: int
    line_numbers: NDArray[np.int64]


def check(
    addresses: ArrayLike, is_store: ArrayLike | None, element_bytes: int, line_bytes: int
) -> NumberedStream:
    """Check a stream and number its lines; without stores `stores` is empty."""
    size = _checks.whole("element_bytes", element_bytes)
    if size > line_bytes:
        _checks.fail("element_bytes", f"fit into a line of {line_bytes} B", size)
    places, low, high = _addresses(addresses)
    stores = np.zeros(0, dtype=np.bool_)
    if is_store is not None:
        stores = np.ascontiguousarray(is_store)
        if stores.size == 0 == len(places):
            stores = stores.astype(np.bool_)
        if stores.dtype != np.bool_ or stores.shape != places.shape:
            _checks.fail("is_store", f"be {len(places)} booleans, one per address", is_store)
    if size > 1 and len(places):
        crossing = np.flatnonzero(places % line_bytes > line_bytes - size)
        if len(crossing):
            rule = f"be of elements of {size} B that do not cross a line of {line_bytes} B"
            _checks.fail("addresses", rule, places[crossing[0]])
    return _number(places, stores, line_bytes, low, high)


def _addresses(addresses: ArrayLike) -> tuple[NDArray[np.int64], int, int]:
    """The addresses as an array, the lowest and the highest."""
    rule = "be a one-dimensional array of integers, zero or above and below 2**62"
    try:
        places = np.asarray(addresses)
    except (ValueError, TypeError, OverflowError):
        _checks.fail("addresses", rule, addresses)
    if places.ndim == 1 and places.size == 0:
        return np.zeros(0, dtype=np.int64), 0, -1
    if places.ndim != 1 or places.dtype.kind not in "iu":
        _checks.fail("addresses", rule, addresses)
    low, high = int(places.min()), int(places.max())
    for extreme in (low, high):
        if not 0 <= extreme < 2**62:
            _checks.fail("addresses", rule, extreme)
    return np.ascontiguousarray(places, dtype=np.int64), low, high


def _number(
    places: NDArray[np.int64], stores: NDArray[np.bool_], line_bytes: int, low: int, high: int
) -> NumberedStream:
    """Number the lines from the lowest; if most numbers would be idle, only those that occur."""
    shift = line_bytes.bit_length() - 1
    base = low >> shift
    n_lines = (high >> shift) - base + 1 if len(places) else 0
    if n_lines <= max(2**16, 4 * len(places)):
        return NumberedStream(places, stores, shift, base, np.arange(base, base + n_lines))
    numbers, lines = np.unique(places >> shift, return_inverse=True)
    return NumberedStream(lines.astype(np.int64), stores, 0, 0, numbers)

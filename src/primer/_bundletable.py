"""The bundles of real TPUs, from the table."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from primer import _checks, _tables
from primer._bundleprogram import SLOTS
from primer._tables import Bounds
from primer.quantities import Quantity, Source

FILE = "data/bundles.toml"
_NUMBERS = {
    "width": Bounds("bit", 64, 4096),
    "alu": Bounds("cycles", 1, 100),
    "push_to_pop": Bounds("cycles", 10, 1000),
    "push_interval": Bounds("cycles", 1, 100),
    "copy": Bounds("cycles", 50, 5000),
}
_KEYS = ("title", "note", "source", "published", "read", "slots", "number")


@dataclass(frozen=True, kw_only=True, repr=False)
class Format:
    """What one long instruction can start.

    Parameters
    ----------
    id, title : str
    slots : tuple of (str, int)
        Places for operations of each kind.
    numbers : tuple of Quantity [bit, cycles]
        Its width, and times that were measured; whatever the sources give.
    source : Source
    published, read, note : str
    """

    id: str
    title: str
    slots: tuple[tuple[str, int], ...]
    numbers: tuple[Quantity, ...]
    source: Source
    published: str
    read: str
    note: str = ""

    def __repr__(self) -> str:
        return f"<Format {self.id}: {self.n_slots} slots>"

    @property
    def n_slots(self) -> int:
        """Operations that one bundle can start, int."""
        return sum(number for _, number in self.slots)

    def number(self, name: str) -> Quantity:
        """One of its numbers."""
        known = {q.name: q for q in self.numbers}
        return known[_checks.one_of("number", name, tuple(known))]


def names() -> tuple[str, ...]:
    """The identifiers in the table.

    >>> names()
    ('tpu_v2', 'tpu_v4')
    """
    return tuple(_tables.read(FILE)["bundle"])


def load(name: str) -> Format:
    """One row of the table.

    Parameters
    ----------
    name : str
        One of `names`.

    Raises
    ------
    ValueError
        If there is none of that name, or its row breaks a rule.

    Examples
    --------
    >>> load("tpu_v2"), str(load("tpu_v2").number("width"))
    (<Format tpu_v2: 9 slots>, '322 bit')
    """
    return _load(_checks.one_of("name", name, names()))


@functools.cache
def _load(name: str) -> Format:
    return build(name, _tables.read(FILE)["bundle"][name])


def build(name: str, row: Mapping[str, Any]) -> Format:
    """Check one row of the table and freeze it."""
    where = f"bundles.toml: bundle.{name}"
    _tables.keys(where, row, _KEYS)
    slots = row.get("slots", {})
    _tables.keys(f"{where}.slots", slots, SLOTS)
    table = row.get("number", {})
    _tables.keys(f"{where}.number", table, tuple(_NUMBERS))
    origin = _tables.origin(where, {**row, "status": "published"})
    return Format(
        id=name,
        title=_tables.text(where, row, "title"),
        slots=tuple((s, _checks.whole(f"{where}.slots.{s}", slots.get(s))) for s in SLOTS),
        numbers=tuple(
            _tables.quantity(f"{where}.number.{key}", key, entry, bounds=_NUMBERS[key])
            for key, entry in table.items()
        ),
        source=origin["source"],
        published=origin["published"],
        read=origin["read"],
        note=_tables.text(where, row, "note", ""),
    )

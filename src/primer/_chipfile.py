"""Reading and checking the hardware tables: one TOML file per chip.

Every rule is checked when a file is read, so that a slip (a unit a thousand times too large, a
source that does not exist, a misspelled key) stops at once, with the name of file and field.
"""

import dataclasses
import functools
from collections.abc import Mapping
from importlib import resources
from typing import Any

from primer import _checks, _tables, units
from primer._chip import (
    FAMILIES,
    PRECISIONS,
    UNIT_KINDS,
    Chip,
    Link,
    MemoryLevel,
    Peak,
    Peaks,
    rate_unit,
)
from primer._chipbounds import KINDS, bounds
from primer.quantities import STATUSES, Fact, Quantity, Source

CHIPS = "data/chips"
SOURCES = "data/sources.toml"
EXAMPLES = "data/examples.toml"

_SECTIONS = (
    "chip", "release", "peak", "peak_sparse", "memory", "link", "count", "clock", "tdp",
)  # fmt: skip
_FIELD_KEYS = (
    "value", "upper", "unit", "convention", "sku", "source", "published", "read", "status", "note",
)  # fmt: skip


@functools.cache
def ids() -> tuple[str, ...]:
    """The names of the chip files, without their ending; none of them is opened."""
    files = resources.files("primer").joinpath(CHIPS).iterdir()
    return tuple(sorted(f.name.removesuffix(".toml") for f in files if f.name.endswith(".toml")))


def read_raw(chip: str) -> dict[str, Any]:
    """One chip's file as TOML reads it, unchecked."""
    return _tables.read_anew(f"{CHIPS}/{chip}.toml")


@functools.cache
def read_sources() -> dict[str, Source]:
    """Key -> source, checked."""
    return build_sources(_tables.read_anew(SOURCES))


def build_sources(raw: Mapping[str, Any]) -> dict[str, Source]:
    """Check the table of sources and freeze it."""
    return {k: _tables.build_source(f"sources.toml: {k}", k, entry) for k, entry in raw.items()}


def read_chip(chip: str) -> Chip:
    """Read, check and freeze one chip."""
    return build_chip(chip, read_raw(chip), read_sources())


def build_chip(chip: str, raw: Mapping[str, Any], known: Mapping[str, Source]) -> Chip:
    """Check the contents of a chip's file and freeze them.

    Parameters
    ----------
    chip : str
        Its identifier.
    raw : mapping
        The file as TOML reads it.
    known : mapping of str to Source
        The sources that it may cite.

    Raises
    ------
    ValueError
        Naming the file, the field, the rule and the value.
    """
    reader = _Reader(chip, raw, known)
    head = reader.head()
    return Chip(
        id=chip,
        **head,
        announced=reader.announced(),
        peak=reader.peaks("peak", "dense"),
        peak_sparse=reader.peaks("peak_sparse", "sparse"),
        memory=reader.memory(),
        links=reader.links(),
        counts=reader.group("count"),
        clocks=reader.group("clock"),
        tdp=reader.quantity("tdp", raw["tdp"]) if "tdp" in raw else None,
        release=reader.fact("release", raw["release"]),
    )


class _Reader:
    """One file: its tables become quantities."""

    def __init__(self, chip: str, raw: Mapping[str, Any], known: Mapping[str, Source]) -> None:
        self.id, self.file, self.raw, self.known = chip, f"{chip}.toml", raw, known
        _tables.keys(self.file, raw, _SECTIONS)
        for section in ("chip", "release", "peak", "memory"):
            if section not in raw:
                _checks.fail(f"{self.file}: {section}", "be there", None)

    def head(self) -> dict[str, str]:
        """Name, maker, family and the like."""
        keys = ("name", "vendor", "kind", "family", "sku", "note")
        where, table = f"{self.file}: chip", self.raw["chip"]
        _tables.keys(where, table, (*keys, "announced"))
        _checks.one_of(f"{where}.kind", table.get("kind"), KINDS)
        _checks.one_of(f"{where}.family", table.get("family"), FAMILIES)
        return {k: _tables.text(where, table, k, "" if k == "note" else None) for k in keys}

    def announced(self) -> bool:
        """Whether the file says that the chip is announced only."""
        return _checks.flag(
            f"{self.file}: chip.announced", self.raw["chip"].get("announced", False)
        )

    def common(self, name: str, table: Mapping[str, Any]) -> dict[str, Any]:
        """What numbers and statements share: source, dates, convention, status, note."""
        where = f"{self.file}: {name}"
        key = _checks.key_of(f"{where}.source", table.get("source"), self.known, SOURCES)
        published = _tables.date(
            f"{where}.published", _tables.text(where, table, "published"), vague=True
        )
        read = _tables.date(f"{where}.read", _tables.text(where, table, "read"), vague=False)
        if published != "not stated" and published > read:
            _checks.fail(f"{where}.published", f"not be later than read ({read})", published)
        return {
            "name": name,
            "convention": _tables.text(where, table, "convention", ""),
            "sku": _tables.text(where, table, "sku", self.raw["chip"].get("sku")),
            "source": self.known[key],
            "published": published,
            "read": read,
            "status": _checks.one_of(f"{where}.status", table.get("status"), STATUSES),
            "note": _tables.text(where, table, "note", ""),
        }

    def quantity(self, name: str, table: object, rule: str = "") -> Quantity:
        """One field; `rule` is its name in the table of bounds, where that differs."""
        where = f"{self.file}: {name}"
        _tables.keys(where, table, _FIELD_KEYS)
        assert isinstance(table, Mapping)
        base, low, high = bounds(rule or name, kind=self.raw["chip"]["kind"], chip=self.id)
        common = self.common(name, table)
        shown = _tables.text(where, table, "unit")
        if units.to_base(1, shown)[1] != base:
            _checks.fail(f"{where}.unit", f"measure {base}", shown)
        missing = common["status"] == "not published"
        if missing == ("value" in table):
            rule = "be left out where status is" if missing else "be there unless status is"
            _checks.fail(f"{where}.value", f'{rule} "not published"', table.get("value"))
        amounts: list[float | None] = [None, None]
        for i, key in enumerate(("value", "upper")):
            if key in table:
                amount, _ = units.to_base(_checks.positive(f"{where}.{key}", table[key]), shown)
                if not low <= amount <= high:
                    span = f"{units.text(low, base)} and {units.text(high, base)}"
                    _checks.fail(f"{where}.{key}", f"lie between {span}", f"{table[key]} {shown}")
                if base == "1":
                    _checks.whole(f"{where}.{key}", table[key])
                amounts[i] = amount
        return Quantity(amount=amounts[0], upper=amounts[1], unit=base, shown=shown, **common)

    def fact(self, name: str, table: object) -> Fact:
        _tables.keys(f"{self.file}: {name}", table, ("text", *_FIELD_KEYS[3:]))
        assert isinstance(table, Mapping)
        where, text = f"{self.file}: {name}.text", table.get("text", "not stated")
        text = _tables.date(where, text, vague=True, interval=True)
        return Fact(text="" if text == "not stated" else text, **self.common(name, table))

    def peaks(self, section: str, kind: str) -> Peaks:
        entries = []
        for compute, kinds in self.raw.get(section, {}).items():
            _checks.one_of(f"{self.file}: {section}", compute, PRECISIONS)
            _tables.keys(f"{self.file}: {section}.{compute}", kinds, UNIT_KINDS)
            for unit, table in kinds.items():
                rate = self.quantity(f"{section}.{compute}.{unit}", table)
                if kind not in rate.convention or unit not in rate.convention:
                    where = f"{self.file}: {rate.name}.convention"
                    _checks.fail(where, f"say {kind!r} and {unit!r}", rate.convention)
                entries.append(Peak(compute=compute, unit=unit, rate=rate))
        order = {p: i for i, p in enumerate(PRECISIONS)}
        entries.sort(key=lambda e: (order[e.compute], e.unit))
        return Peaks(self.raw["chip"]["name"], kind, tuple(entries))

    def memory(self) -> tuple[MemoryLevel, ...]:
        tables = self.raw["memory"]
        levels = []
        for name, table in tables.items():
            where = f"{self.file}: memory.{name}"
            fields = ("capacity", "bandwidth", "latency")
            _tables.keys(where, table, ("title", "scope", *fields))
            scope = _checks.one_of(f"{where}.scope", table.get("scope"), ("core", "chip"))
            group = "main" if name == list(tables)[-1] else scope
            found = {
                f: self.quantity(f"memory.{name}.{f}", table[f], f"memory.{group}.{f}")
                for f in fields
                if f in table
            }
            title = _tables.text(where, table, "title")
            levels.append(MemoryLevel(name=name, title=title, scope=scope, **found))
        if levels[-1].bandwidth is None or levels[-1].capacity is None:
            _checks.fail(f"{self.file}: memory", "end with a main memory", levels[-1].name)
        return tuple(levels)

    def links(self) -> tuple[Link, ...]:
        found = []
        for name, table in self.raw.get("link", {}).items():
            where = f"{self.file}: link.{name}"
            fields = ("oneway", "oneway_per_link", "n_links")
            _tables.keys(where, table, ("title", "kind", "topology", *fields))
            kind = _checks.one_of(f"{where}.kind", table.get("kind"), ("scale_up", "host"))
            if "oneway" not in table:
                _checks.fail(f"{where}.oneway", "be there", None)
            numbers = {f: self.quantity(f"link.{name}.{f}", table[f]) for f in fields if f in table}
            title = _tables.text(where, table, "title")
            topology = _tables.text(where, table, "topology", "")
            found.append(Link(name=name, title=title, kind=kind, topology=topology, **numbers))
        return tuple(found)

    def group(self, section: str) -> tuple[Quantity, ...]:
        tables = self.raw.get(section, {})
        return tuple(self.quantity(f"{section}.{name}", t) for name, t in tables.items())


@functools.cache
def read_examples() -> dict[str, Chip]:
    """Identifier -> fictional chip."""
    found = {}
    for key, table in _tables.read_anew(EXAMPLES).items():
        where = f"examples.toml: {key}"
        _tables.keys(where, table, ("name", "unit", "peak", "bandwidth"))
        peaks = {}
        for compute, written in table["peak"].items():
            amount, base = units.parse(written)
            if base != rate_unit(compute):
                _checks.fail(f"{where}.peak.{compute}", f"measure {rate_unit(compute)}", written)
            peaks[compute] = amount
        bandwidth, base = units.parse(table["bandwidth"])
        if base != "B/s":
            _checks.fail(f"{where}.bandwidth", "measure B/s", table["bandwidth"])
        chip = Chip.custom(
            table["name"],
            peak_flop_per_s=peaks,
            bandwidth_bytes_per_s=bandwidth,
            unit=table["unit"],
        )
        found[key] = dataclasses.replace(chip, id=key, kind="example")
    return found

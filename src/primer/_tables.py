"""Reading the small tables (energy, links, capabilities, language models), checked as they load.

Each number keeps its unit, source, dates and status, exactly as in the chips' files. A table may
state what its rows share once; a row that differs says so itself.
"""

import datetime
import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

from primer import _checks, units
from primer.quantities import STATUSES, Quantity, Source

SOURCES = ("data/sources.toml", "data/sources_tables.toml")
ORIGIN_KEYS = ("source", "published", "read", "status")
FIELD_KEYS = ("value", "upper", "unit", "convention", "note", *ORIGIN_KEYS)


@dataclass(frozen=True)
class Bounds:
    """What a value may be: its base unit, and the lowest and highest that make sense.

    A range that is wide enough to hide a wrong prefix is no check, so each value of a table must
    leave its range when it is multiplied or divided by 1000.
    """

    unit: str
    low: float
    high: float


@functools.cache
def read(path: str) -> dict[str, Any]:
    """A file of the package as TOML reads it; callers must not change it."""
    return read_anew(path)


def read_anew(path: str) -> dict[str, Any]:
    """The same for the caller alone, and not kept."""
    written = resources.files("primer").joinpath(path).read_text(encoding="utf-8")
    try:
        return tomllib.loads(written)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path} must be TOML; {error}") from error


@functools.cache
def known_sources() -> dict[str, Source]:
    """Every source that a small table may cite: those of the chips, and those of its own."""
    found: dict[str, Source] = {}
    for path in SOURCES:
        for key, entry in read(path).items():
            if key in found:
                _checks.fail(f"{path}: {key}", "differ from the keys of the other file", key)
            found[key] = build_source(f"{path}: {key}", key, entry)
    return found


def build_source(where: str, key: str, entry: Mapping[str, Any]) -> Source:
    """Check one source and freeze it."""
    keys(where, entry, ("title", "address", "kind"))
    address = text(where, entry, "address")
    if not address.startswith(("https://", "http://")) or " " in address:
        _checks.fail(f"{where}.address", "be an http(s) address", address)
    kind = _checks.one_of(f"{where}.kind", entry.get("kind"), ("primary", "secondary", "derived"))
    return Source(key=key, title=text(where, entry, "title"), address=address, kind=kind)


def keys(where: str, table: object, allowed: tuple[str, ...]) -> None:
    """Refuse what is not a table, and keys that nobody reads."""
    if not isinstance(table, Mapping):
        _checks.fail(where, "be a table", table)
    for key in table:
        _checks.one_of(f"{where}: key", key, allowed)


def text(where: str, table: Mapping[str, Any], key: str, default: str | None = None) -> str:
    """A text; without a default it may not be missing or empty."""
    value = table.get(key, default)
    if not isinstance(value, str) or (default is None and not value):
        _checks.fail(f"{where}.{key}", "be a text", value)
    return value


def texts(where: str, table: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """A list of at least one text."""
    value = table.get(key)
    is_list = isinstance(value, list) and value and all(isinstance(v, str) and v for v in value)
    if not is_list:
        _checks.fail(f"{where}.{key}", "be a list of texts", value)
    return tuple(table[key])


def source(where: str, key: object) -> Source:
    """One known source."""
    return known_sources()[_checks.key_of(f"{where}.source", key, known_sources(), SOURCES[1])]


def date(where: str, value: str, *, vague: bool, interval: bool = False) -> str:
    """An ISO date; where `vague`, also "not stated", a year, or a year and month.

    With `interval`, also two of these with a slash between them.
    """
    if vague and value == "not stated":
        return value
    if interval and "/" in value:
        first, _, last = value.partition("/")
        for end in (first, last):
            date(where, end, vague=vague)
        if last < first:
            _checks.fail(where, "end no sooner than it begins", value)
        return value
    padded = value + "-01-01"[len(value) - 4 :] if vague and len(value) in (4, 7) else value
    try:
        datetime.date.fromisoformat(padded)
    except ValueError:
        _checks.fail(where, "be a date such as 2026-11-29", value)
    return value


def origin(where: str, table: Mapping[str, Any], allowed: tuple[str, ...] = STATUSES) -> Any:
    """Source, dates and status of a field, as keywords of `Quantity`."""
    published = date(f"{where}.published", text(where, table, "published"), vague=True)
    read_on = date(f"{where}.read", text(where, table, "read"), vague=False)
    if published != "not stated" and published > read_on:
        _checks.fail(f"{where}.published", f"not be later than read ({read_on})", published)
    return {
        "source": source(where, table.get("source")),
        "published": published,
        "read": read_on,
        "status": _checks.one_of(f"{where}.status", table.get("status"), allowed),
    }


def quantity(
    where: str,
    name: str,
    table: object,
    *,
    bounds: Bounds,
    shared: Mapping[str, Any] | None = None,
    also: tuple[str, ...] = (),
    sku: str = "",
) -> Quantity:
    """Check one field and freeze it.

    Parameters
    ----------
    where, name : str
        Its file and place for messages, and its name in the result.
    table : mapping
        The field's keys, as TOML reads them.
    bounds : Bounds
        What its value, and the upper end of its range, may be.
    shared : mapping, optional
        Keys that the field takes over where it does not state them itself.
    also : tuple of str
        Further keys that the caller reads.
    sku : str
        What the number belongs to.

    Raises
    ------
    ValueError
        Naming the place, the rule and the value.
    """
    keys(where, table, (*FIELD_KEYS, *also))
    assert isinstance(table, Mapping)
    full = {**(shared or {}), **table}
    shown = text(where, full, "unit")
    if units.to_base(1, shown)[1] != bounds.unit:
        _checks.fail(f"{where}.unit", f"measure {bounds.unit}", shown)
    if "value" not in full:
        _checks.fail(f"{where}.value", "be there", None)
    amounts = [amount(f"{where}.{k}", full.get(k), shown, bounds) for k in ("value", "upper")]
    if amounts[1] is not None and amounts[0] is not None and amounts[1] <= amounts[0]:
        _checks.fail(f"{where}.upper", f"lie above value ({full['value']})", full["upper"])
    return Quantity(
        name=name,
        amount=amounts[0],
        upper=amounts[1],
        unit=bounds.unit,
        shown=shown,
        convention=text(where, full, "convention", ""),
        note=text(where, full, "note", ""),
        sku=sku,
        **origin(where, full, tuple(s for s in STATUSES if s != "not published")),
    )


def amount(where: str, value: object, shown: str, bounds: Bounds) -> float | None:
    """One value in base units, inside its bounds; None stays None."""
    if value is None:
        return None
    number = _checks.non_negative(where, value)
    found, _ = units.to_base(number, shown)
    if not bounds.low <= found <= bounds.high:
        span = f"{units.text(bounds.low, bounds.unit)} and {units.text(bounds.high, bounds.unit)}"
        _checks.fail(where, f"lie between {span}", f"{value} {shown}")
    if bounds.unit == "1":
        _checks.whole(where, value, minimum=0)
    return found

"""The hardware tables as columns, cells and rows: pure functions of chips, without Sphinx or HTML.

A column picks one number of a chip. Most columns print one unit for all chips, so that the eye can
compare; capacities keep the prefix that their source prints, decimal or binary.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from primer import units
from primer.hardware import (
    FAMILIES,
    PRECISIONS,
    UNIT_KINDS,
    Chip,
    Fact,
    Link,
    Quantity,
    rate_unit,
)

MARKS = {"derived": "d", "measured": "m", "assumed": "a"}
NOTED = "*"
SUMMARY = (
    "peak16", "bandwidth", "ridge16", "capacity", "onchip", "scaleup", "host", "tdp", "release",
)  # fmt: skip
CSV_HEAD = (
    "chip", "name", "vendor", "kind", "field", "status", "value", "upper", "unit", "shown",
    "convention", "sku", "source_key", "source", "address", "published", "read", "note",
)  # fmt: skip

Found = tuple[Quantity | Fact | None, str]


@dataclass(frozen=True)
class Column:
    """One column: how to find its number in a chip, and the unit of all its cells.

    Without `unit` every cell prints the unit of its source.
    """

    key: str
    title: str
    find: Callable[[Chip], Found]
    unit: str = ""
    group: str = ""
    is_marked: bool = True


@dataclass(frozen=True)
class Cell:
    """What one cell shows; `value` is in the base unit, None where there is no number."""

    text: str
    value: float | str | None = None
    unit: str = ""
    remark: str = ""
    marks: tuple[tuple[str, str], ...] = ()

    @property
    def is_number(self) -> bool:
        return isinstance(self.value, float)


ABSENT = Cell("no entry")


def select(chips: Iterable[Chip], *, kind: str = "", family: str = "") -> list[Chip]:
    """The chips of some kinds and families, in reading order: by family, then by date.

    `kind` holds words such as "gpu tpu"; `family` names of families with commas between them.
    """
    kept = sorted(chips, key=_order)
    for what, given in (("kind", kind.split()), ("family", _names(family))):
        known = {getattr(chip, what) for chip in kept}
        for word in given:
            if word not in known:
                raise ValueError(f"{what} must be of {', '.join(sorted(known))}; got {word!r}")
        kept = [chip for chip in kept if not given or getattr(chip, what) in given]
    return kept


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _order(chip: Chip) -> tuple[int, str, str]:
    place = FAMILIES.index(chip.family) if chip.family in FAMILIES else len(FAMILIES)
    released = chip.release.text if chip.release else ""
    return place, released or "9999", chip.id


def columns(chips: Sequence[Chip], names: str = "") -> list[Column]:
    """The columns of these names, in that order; a column without any entry is left out.

    Names are those of `SUMMARY`, "summary" for all of them, "bf16.matrix" and the like for one
    roof, "matrix" or "vector" for all roofs of a kind of unit, and "peaks" for all roofs.
    """
    known = _columns()
    groups = {kind: tuple(k for k in known if k.endswith(f".{kind}")) for kind in UNIT_KINDS}
    groups |= {"summary": SUMMARY, "peaks": tuple(k for kind in UNIT_KINDS for k in groups[kind])}
    wanted = [
        key for word in (names or "summary peaks").split() for key in groups.get(word, (word,))
    ]
    for key in wanted:
        if key not in known:
            raise ValueError(f"columns must be of {', '.join([*groups, *SUMMARY])}; got {key!r}")
    found = [known[key] for key in dict.fromkeys(wanted)]
    return [column for column in found if any(column.find(chip)[0] for chip in chips)]


def _columns() -> dict[str, Column]:
    found = [
        Column("peak16", "16-bit peak", _peak16, "TFLOP/s"),
        Column("bandwidth", "Bandwidth", _bandwidth, "TB/s"),
        Column("ridge16", "16-bit ridge", _ridge16, "FLOP/B", is_marked=False),
        Column("capacity", "Capacity", lambda chip: (chip.memory[-1].capacity, "")),
        Column("onchip", "On chip", _on_chip),
        Column("scaleup", "Link to peers", lambda chip: _link(chip, "scale_up"), "GB/s"),
        Column("host", "Link to host", lambda chip: _link(chip, "host"), "GB/s"),
        Column("tdp", "TDP", lambda chip: (chip.tdp, ""), "W"),
        Column("release", "Release", lambda chip: (chip.release, "")),
    ]
    found += [_peak_column(compute, kind) for kind in UNIT_KINDS for compute in PRECISIONS]
    return {column.key: column for column in found}


def _peak_column(compute: str, kind: str) -> Column:
    def find(chip: Chip) -> Found:
        rates = (e.rate for e in chip.peak.entries if (e.compute, e.unit) == (compute, kind))
        return next(rates, None), ""

    group = f"{kind.capitalize()} units, dense"
    return Column(f"{compute}.{kind}", compute, find, "T" + rate_unit(compute), group)


def _sixteen_bit(chip: Chip) -> tuple[str, str] | None:
    """The 16-bit precision of the book for this chip, and the unit that computes it."""
    for compute in ("bf16", "fp16"):
        if kinds := chip.units(compute):
            return compute, kinds[0]
    return None


def _peak16(chip: Chip) -> Found:
    if (found := _sixteen_bit(chip)) is None:
        return None, ""
    compute, kind = found
    remark = " ".join(word for word in found if word not in ("bf16", "matrix"))
    return chip.peak.find(compute, kind), remark


def _bandwidth(chip: Chip) -> Found:
    return chip.memory[-1].bandwidth, chip.memory[-1].title


def _ridge16(chip: Chip) -> Found:
    slope = chip.memory[-1].bandwidth
    if (found := _sixteen_bit(chip)) is None or slope is None or not slope.is_published:
        return None, ""
    ridge = chip.ridge_flop_per_byte(*found)
    return Quantity(name="ridge16", amount=ridge, unit="FLOP/B", status="derived"), ""


def _on_chip(chip: Chip) -> Found:
    """The outermost level below main memory that the whole chip shares."""
    shared = [level for level in chip.memory[:-1] if level.scope == "chip" and level.capacity]
    return (shared[-1].capacity, shared[-1].title) if shared else (None, "")


def _link(chip: Chip, kind: str) -> Found:
    def rate(link: Link) -> float:
        return link.oneway.amount or 0.0

    links = [link for link in chip.links if link.kind == kind]
    if not links:
        return None, ""
    fastest = max(links, key=rate)
    return fastest.oneway, fastest.title


def cell(column: Column, chip: Chip) -> Cell:
    """What a column shows of a chip."""
    found, remark = column.find(chip)
    if found is None:
        return ABSENT
    marks = _marks(found) if column.is_marked else ()
    if isinstance(found, Fact):
        return Cell(str(found), found.text or None, "", remark, marks)
    if not found.is_published:
        return Cell(str(found), None, found.unit, "", marks)
    if not column.unit:
        return Cell(str(found), found.value, found.unit, remark, marks)
    digits = 4 if found.status == "derived" else 7
    text = units.number(found.to(column.unit), digits)
    if found.upper is not None:
        upper = units.in_unit(found.upper, found.unit, column.unit)
        text += f"–{units.number(upper, digits)}"
    return Cell(text, found.value, found.unit, remark, marks)


def _marks(found: Quantity | Fact) -> tuple[tuple[str, str], ...]:
    marks = [(MARKS[found.status], found.status)] if found.status in MARKS else []
    return (*marks, (NOTED, "has a note")) if found.note else tuple(marks)


def fields(chip: Chip) -> Iterator[tuple[str, Quantity | Fact]]:
    """Every field of a chip with what its level or link is called: the date first, then numbers."""
    titles = {f"memory.{level.name}": level.title for level in chip.memory}
    titles |= {f"link.{link.name}": link.title for link in chip.links}
    if chip.release:
        yield "", chip.release
    for quantity in chip.quantities():
        yield titles.get(quantity.name.rpartition(".")[0], ""), quantity


def as_csv(chips: Iterable[Chip]) -> str:
    """All fields of all chips, one a line; values in base units, written exactly."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(CSV_HEAD)
    for chip in chips:
        head = (chip.id, chip.name, chip.vendor, chip.kind)
        for _, field in fields(chip):
            writer.writerow([*head, field.name, field.status, *_amounts(field), *_origin(field)])
    return out.getvalue()


def _amounts(field: Quantity | Fact) -> tuple[str, str, str, str]:
    if isinstance(field, Fact):
        return field.text, "", "date", field.text
    amount, upper = ("" if x is None else repr(x) for x in (field.amount, field.upper))
    return amount, upper, field.unit, str(field) if field.is_published else ""


def _origin(field: Quantity | Fact) -> tuple[str, ...]:
    source = field.source
    where = (source.key, source.title, source.address)
    return (field.convention, field.sku, *where, field.published, field.read, field.note)

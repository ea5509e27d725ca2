"""The hardware tables as HTML. Without a script the whole tables are there.

`tables.js` adds a filter and headings that sort, by `data-value`: the exact number in base units.
Every field of a chip has an anchor of its own, such as ``h100_sxm5_80gb.peak.bf16.matrix``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape
from itertools import groupby

from primer.hardware import Chip, Fact, Quantity
from primer_book import chiptable
from primer_book.chiptable import Cell, Column

_MISSING = '<span aria-hidden="true">—</span><span class="visually-hidden">no entry</span>'


def table(chips: Sequence[Chip], columns: Sequence[Column], caption: str, name: str) -> str:
    """A table of chips as HTML, in a box that scrolls by itself."""
    tools = (
        f'<p class="tools" hidden><label for="{name}-filter">Show only</label> '
        f'<input type="search" id="{name}-filter" autocomplete="off" spellcheck="false" '
        f'placeholder="name, vendor, kind, memory"> '
        '<span class="count" role="status"></span></p>'
    )
    body = "\n".join(_row(chip, columns) for chip in chips)
    return (
        f'<div class="chips" id="{name}">{tools}'
        f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(caption)}">'
        f'<table><caption class="visually-hidden">{escape(caption)}</caption>\n'
        f"<thead>{_head(columns)}</thead>\n<tbody>\n{body}\n</tbody></table></div></div>"
    )


def _head(columns: Sequence[Column]) -> str:
    """One row of headings, with a row above it where columns stand in groups."""
    groups = [(name, list(part)) for name, part in groupby(columns, lambda c: c.group)]
    own = "".join(map(_heading, columns))
    chip = '<th scope="col" class="chip" data-sort="text">Chip</th>'
    if not any(name for name, _ in groups):
        return f"<tr>{chip}{own}</tr>"
    above = "".join(
        f'<th scope="colgroup" colspan="{len(part)}">{escape(name)}</th>'
        if name
        else f'<td colspan="{len(part)}"></td>'
        for name, part in groups
    )
    return f'<tr class="groups"><td class="chip"></td>{above}</tr>\n<tr>{chip}{own}</tr>'


def _heading(column: Column) -> str:
    how = "text" if column.key == "release" else "number"
    unit = f' <span class="unit">{escape(column.unit)}</span>' if column.unit else ""
    spoken = f' <span class="visually-hidden">{column.group}</span>' if column.group else ""
    title = escape(column.title)
    return (
        f'<th scope="col" data-sort="{how}" data-column="{column.key}">{title}{spoken}{unit}</th>'
    )


def _row(chip: Chip, columns: Sequence[Column]) -> str:
    memory = " ".join(level.title for level in chip.memory)
    about = (chip.name, chip.id, chip.vendor, chip.kind, chip.family, chip.sku, memory)
    words = " ".join(about).lower()
    link = f'<a href="#{chip.id}">{escape(chip.name)}</a>'
    vendor = f' <span class="vendor">{escape(chip.vendor)}</span>'
    cells = "".join(_cell(chiptable.cell(column, chip)) for column in columns)
    return (
        f'<tr data-chip="{chip.id}" data-find="{escape(words)}">'
        f'<th scope="row" class="chip">{link}{vendor}</th>{cells}</tr>'
    )


def _cell(cell: Cell) -> str:
    if cell is chiptable.ABSENT:
        return f'<td class="absent">{_MISSING}</td>'
    remark = f'<span class="remark">{escape(cell.remark)}</span>' if cell.remark else ""
    marks = "".join(
        f'<abbr class="flag" title="{meaning}">{letter}</abbr>' for letter, meaning in cell.marks
    )
    if cell.value is None:
        return f'<td class="unpublished">{escape(cell.text)}{marks}</td>'
    value = repr(cell.value) if cell.is_number else str(cell.value)
    unit = f' data-unit="{cell.unit}"' if cell.unit else ""
    return f'<td data-value="{value}"{unit}>{escape(cell.text)}{marks}{remark}</td>'


def field_list(chip: Chip) -> str:
    """Everything that is known of one chip, folded, field by field."""
    rows = "\n".join(_field(chip, title, field) for title, field in chiptable.fields(chip))
    note = f'<p class="note">{escape(chip.note)}</p>' if chip.note else ""
    about = f"{escape(chip.vendor)}, {escape(chip.kind.upper())}, {escape(chip.sku)}."
    head = "".join(f'<th scope="col">{h}</th>' for h in ("Field", "Value", "Meaning and source"))
    label = f"All fields of {escape(chip.name)}"
    return (
        f'<details class="fields" data-chip="{chip.id}"><summary>{escape(chip.name)}</summary>'
        f'<div id="{chip.id}"><p>{about}</p>{note}'
        f'<div class="scroll" role="region" tabindex="0" aria-label="{label}">'
        f"<table><thead><tr>{head}</tr></thead>\n"
        f"<tbody>\n{rows}\n</tbody></table></div></div></details>"
    )


def _field(chip: Chip, title: str, field: Quantity | Fact) -> str:
    called = f'<span class="remark">{escape(title)}</span>' if title else ""
    status = "" if field.status in ("published", "not published") else field.status
    value = escape(str(field)) + (f'<span class="remark">{status}</span>' if status else "")
    meaning = [field.convention]
    meaning += [f"SKU: {field.sku}" if field.sku != chip.sku else "", field.note]
    told = "".join(f"<p>{escape(text)}</p>" for text in meaning if text)
    source = field.source
    link = f'<a href="{escape(source.address)}">{escape(source.title)}</a>'
    appeared = "not dated" if field.published == "not stated" else f"published {field.published}"
    state = ' class="unpublished"' if str(field) == "not published" else ""
    return (
        f'<tr id="{chip.id}.{field.name}"><th scope="row"><code>{field.name}</code>{called}</th>'
        f"<td{state}>{value}</td>"
        f'<td>{told}<p class="source">{link}, {appeared}, read {field.read}</p></td></tr>'
    )


def source_list(chips: Sequence[Chip]) -> str:
    """Every source that the tables cite, with how much rests on it."""
    cited = [(field.source, chip.id) for chip in chips for _, field in chiptable.fields(chip)]
    n_fields = Counter(source.key for source, _ in cited)
    n_chips = Counter(key for key, _ in {(source.key, chip) for source, chip in cited})
    rows = "\n".join(
        f'<tr id="source-{source.key}">'
        f'<th scope="row"><a href="{escape(source.address)}">{escape(source.title)}</a></th>'
        f"<td>{source.kind}</td><td>{n_fields[source.key]}</td><td>{n_chips[source.key]}</td></tr>"
        for source in sorted({source for source, _ in cited}, key=lambda s: s.title.lower())
    )
    head = '<th scope="col">Source</th><th scope="col">Kind</th>'
    head += '<th scope="col">Fields</th><th scope="col">Chips</th>'
    return (
        '<div class="sources"><div class="scroll" role="region" tabindex="0" '
        'aria-label="Sources of the hardware tables"><table>'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody></table></div></div>"
    )

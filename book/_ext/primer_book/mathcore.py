"""KaTeX's MathML 3 rewritten into MathML Core, the part that browsers lay out."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping

from primer_book.letters import styled

# In this color KaTeX shows a command that it knows and is told not to trust.
ERROR_COLOR = "#bad000"
_SPACES_EM = {"\u200a": 0.0556, "\u2009": 0.1667, "\u2005": 0.2222, "\u2005\u200a": 0.2778}
_NEGATIVE = "\u2063"
_ACCENTS = {"^": "\u02c6", "~": "\u02dc"}
_WIDE_ACCENTS = {"^": "\u0302", "~": "\u0303"}
_APPLY = "\u2061"
_TOKENS = {"mi", "mn", "mo", "mtext", "ms"}
_SCRIPTED = {"msub", "msup", "msubsup", "munder", "mover", "munderover"}
# KaTeX leaves it to its struts to keep the rows of a table apart.
_STRUT_EM = 0.3


def rewrite(parent: ET.Element) -> None:
    """Rewrite every descendant of an element, children before their parents."""
    for index, child in enumerate(list(parent)):
        rewrite(child)
        parent[index] = _rewritten(child)
    if parent.tag == "mrow":
        _join_upright(parent)
    if parent.tag in {"mrow", "mtd", "math"}:
        _space_functions(parent)


def _rewritten(node: ET.Element) -> ET.Element:
    if node.get("mathcolor") == ERROR_COLOR:
        raise ValueError(f"{''.join(node.itertext())} is not allowed in the book")
    if node.tag in _TOKENS:
        return _token(node)
    special = {
        "mtable": _table,
        "menclose": _enclosure,
        "mpadded": _padded,
        "mtd": _cell,
        "mover": _accent,
    }
    if node.tag in special:
        return special[node.tag](node)
    if node.tag in {"mrow", "mstyle"} and not node.attrib and len(node) == 1:
        return node[0]
    return node


def _token(node: ET.Element) -> ET.Element:
    if len(node):
        node = _without_nesting(node)
        if node.tag not in _TOKENS:
            return node
    text, variant = node.text or "", node.attrib.pop("mathvariant", "")
    if node.tag == "mtext":
        if text.rstrip(_NEGATIVE) in _SPACES_EM:
            return _space(text)
        if variant not in {"", "normal"}:
            node.set("class", f"pr-{variant}")
    elif variant == "normal" and node.tag == "mi" and len(text) == 1:
        # Browsers slant a lone letter; "normal" is the one variant they kept.
        if styled(text, "italic") != text:
            node.set("mathvariant", "normal")
    elif not (variant == "italic" and len(text) == 1):
        node.text = styled(text, variant)
    return node


def _without_nesting(node: ET.Element) -> ET.Element:
    """Undo KaTeX's elements inside a token, which browsers drop."""
    if node.tag == "mo" and all(part.tag in _TOKENS | {"mrow"} for part in node.iter()):
        flat = ET.Element("mo", node.attrib)
        flat.text = "".join(node.itertext())
        return flat
    if len(node) == 1 and not node.attrib:
        return node[0]
    node.tag = "mrow"
    return node


def _space(text: str) -> ET.Element:
    if text.endswith(_NEGATIVE):
        # Takes back space that LaTeX would have put in; browsers never put it in.
        return ET.Element("mspace")
    return ET.Element("mspace", {"width": f"{_SPACES_EM[text]}em"})


def _join_upright(row: ET.Element) -> None:
    r"""Make one word of the letters of ``\mathrm{GB/s}``."""
    upright = [c.tag == "mi" and c.get("mathvariant") == "normal" for c in row]
    slashes = [c.tag == "mi" and not c.attrib and (c.text or "") in "/%°" for c in row]
    if len(row) > 1 and any(upright) and all(a or b for a, b in zip(upright, slashes, strict=True)):
        word = ET.Element("mi")
        word.text = "".join(row.itertext())
        row[:] = [word]


def _space_functions(row: ET.Element) -> None:
    r"""Put the thin spaces around names as in ``n \log n``, which browsers leave out."""
    parts = list(row)
    spaced: list[ET.Element] = []
    for index, part in enumerate(parts):
        before = parts[index - 1] if index else None
        if _is_function(part) and not _is_applied(part) and _is_operand(before):
            spaced.append(ET.Element("mspace", {"width": "0.1667em"}))
        if before is not None and _is_applied(before) and _is_operand(part, opening=True):
            spaced.append(ET.Element("mspace", {"width": "0.1667em"}))
        spaced.append(part)
    row[:] = spaced


def _is_applied(part: ET.Element) -> bool:
    """Whether a part ends with the invisible sign between a function and its argument."""
    if part.tag == "mo":
        return part.text == _APPLY
    return part.tag in _SCRIPTED and len(part[0]) > 0 and _is_applied(part[0][-1])


def _is_function(part: ET.Element) -> bool:
    return (part.tag == "mi" and len(part.text or "") > 1) or _is_applied(part)


def _is_operand(part: ET.Element | None, *, opening: bool = False) -> bool:
    """Whether a part is a letter, number or group, which needs space beside a name."""
    if part is None or part.tag in {"mspace", "mtext"}:
        return False
    if part.tag == "mo":
        return not opening and (part.text or "") in ")]}!⌉⌋"
    first = next((leaf for leaf in part.iter() if leaf.tag in _TOKENS), None)
    return first is None or not (opening and first.tag == "mo" and first.get("fence"))


def _accent(node: ET.Element) -> ET.Element:
    """Use the signs that fonts have as accents, and let only wide ones grow."""
    if node.get("accent") == "true" and node[1].tag == "mo":
        sign = node[1]
        accents = _WIDE_ACCENTS if sign.get("stretchy") == "true" else _ACCENTS
        sign.text = accents.get(sign.text or "", sign.text)
        sign.attrib.setdefault("stretchy", "false")
    return node


def _cell(cell: ET.Element) -> ET.Element:
    """Move KaTeX's style wrapper onto the cell itself."""
    if len(cell) == 1 and cell[0].tag == "mstyle":
        style = cell[0]
        cell.attrib.update(style.attrib)
        cell[:] = list(style)
    if cell.get("scriptlevel") == "0":
        del cell.attrib["scriptlevel"]
    return cell


def _padded(node: ET.Element) -> ET.Element:
    """Replace MathML 3's relative widths (around the label of an arrow)."""
    if node.get("width", "").startswith("+"):
        row = ET.Element("mrow", {"style": f"padding:0 {node.get('lspace', '0')}"})
        row[:] = list(node)
        return row
    return node


def _enclosure(node: ET.Element) -> ET.Element:
    if node.get("notation") != "box":
        raise ValueError(f"browsers cannot draw the {node.get('notation')} of \\cancel and its kin")
    box = ET.Element("mrow", {"class": "pr-box"})
    while len(node) == 1 and node[0].tag == "mstyle":
        node = node[0]
    if node.get("displaystyle"):
        box.set("displaystyle", node.get("displaystyle", ""))
    box[:] = list(node)
    return box


def _table(table: ET.Element) -> ET.Element:
    """Turn the attributes of a MathML 3 table into styles of its cells."""
    if table.get("width"):
        raise ValueError(r"\tag is not known here: write $$…$$ (label) to number an equation")
    attributes = dict(table.attrib)
    table.attrib.clear()
    for i_row, row in enumerate(table):
        for i_column, cell in enumerate(row):
            last = (i_row == len(table) - 1, i_column == len(row) - 1)
            cell.set("style", _cell_style(attributes, i_row, i_column, last))
    return table


def _cell_style(
    table: Mapping[str, str], i_row: int, i_column: int, last: tuple[bool, bool]
) -> str:
    def entry(name: str, index: int, default: str) -> str:
        values = table.get(name, "").split() or [default]
        return values[min(index, len(values) - 1)]

    def half(name: str, index: int, extra_em: float = 0.0) -> str:
        gap_em = float(entry(name, index, "0em").removesuffix("em")) + extra_em
        return f"{gap_em / 2:.3g}em" if gap_em else "0"

    top = "0" if i_row == 0 else half("rowspacing", i_row - 1, _STRUT_EM)
    bottom = "0" if last[0] else half("rowspacing", i_row, _STRUT_EM)
    left = "0" if i_column == 0 else half("columnspacing", i_column - 1)
    right = "0" if last[1] else half("columnspacing", i_column)
    rules = [f"padding:{top} {right} {bottom} {left}"]
    align = entry("columnalign", i_column, "center")
    if align != "center":
        rules.append(f"text-align:{align}")
    for attribute, side, index, is_last in (
        ("rowlines", "bottom", i_row, last[0]),
        ("columnlines", "right", i_column, last[1]),
    ):
        line = entry(attribute, index, "none")
        if line != "none" and not is_last:
            rules.append(f"border-{side}:1px {line}")
    return ";".join(rules)

"""The ledger of claims: what two source documents got wrong, and where the book has it right.

`book/claims.toml` is the list. `anchors` finds, from sources alone, everything on a page that a
link can lead to; the tests use it, and so can whoever renames a heading.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.nodes import make_id
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from primer_book import depends, fingerprint, references

ROOT = Path(__file__).resolve().parents[3]
FILE = "book/claims.toml"
VERDICTS = ("wrong", "imprecise")
PLACES = ("page", "chapter", "out_of_scope")
GROUPS = {
    "page": "Right in the book",
    "chapter": "In a chapter that is in preparation",
    "out_of_scope": "Out of scope",
}
_HEADING = re.compile(r"^#{1,6} (.+)$")
_LABEL = re.compile(r"^\(([\w-]+)\)=$")
_BLOCK = re.compile(r"^:{3,}\{(exercise|predict|lies)\}\s*(\S*)")


@dataclass(frozen=True)
class Claim:
    """One claim in our words; exactly one of `page`, `chapter` and `out_of_scope` is given."""

    id: str
    verdict: str
    claim: str
    right: str
    page: str = ""
    anchor: str = ""
    chapter: int | None = None
    out_of_scope: str = ""

    @property
    def place(self) -> str:
        return next(name for name in PLACES if getattr(self, name) not in ("", None))


def read(text: str) -> tuple[Claim, ...]:
    """Read the ledger; a mistake is a ValueError that names the claim."""
    return tuple(_claim(key, table) for key, table in tomllib.loads(text)["claims"].items())


def _claim(key: str, table: Mapping[str, Any]) -> Claim:
    where = f"{FILE}: {key}"
    unknown = set(table) - set(Claim.__dataclass_fields__)
    if unknown:
        raise ValueError(f"{where} has an unknown field; got {sorted(unknown)[0]!r}")
    if table.get("verdict") not in VERDICTS:
        raise ValueError(f"{where}.verdict must be one of {VERDICTS}; got {table.get('verdict')!r}")
    for field in ("claim", "right"):
        if not str(table.get(field, "")).strip():
            raise ValueError(f"{where}.{field} must not be empty")
    if len(set(PLACES) & set(table)) != 1:
        raise ValueError(f"{where} must have exactly one of {', '.join(PLACES)}")
    if ("page" in table) != bool(table.get("anchor")):
        raise ValueError(f"{where} must have page and anchor together")
    if not 0 <= table.get("chapter", 0) <= references.LAST_CHAPTER:
        raise ValueError(f"{where}.chapter must lie between 0 and {references.LAST_CHAPTER}")
    return Claim(id=key, **table)


def load(root: Path = ROOT) -> tuple[Claim, ...]:
    return read((root / FILE).read_text("utf-8"))


def anchors(page: str, root: Path = ROOT) -> set[str]:
    """Ids on the built page, from its source: headings, labels, exercises, figures, blocks."""
    text = (root / f"{page}.md").read_text("utf-8")
    found = set(fingerprint.shown(text))
    fence = ""
    for line in text.split("\n"):
        # A comment in code looks like a heading.
        if mark := re.match(r"`{3,}", line):
            fence = "" if fence else mark[0]
        elif not fence:
            found |= _ids(line)
    if "{reading}" in text:
        found |= {f"reading-{key}" for key in references.load(root).sections}
    return found


def _ids(line: str) -> set[str]:
    if heading := _HEADING.match(line):
        return {make_id(heading[1])}
    if label := _LABEL.match(line):
        return {make_id(label[1])}
    if block := _BLOCK.match(line):
        named = {
            "exercise": f"ex-{block[2].replace('.', '-')}",
            "predict": f"predict-{block[2]}",
            "lies": "where-this-model-lies",
        }
        return {named[block[1]]}
    return set()


class Ledger(SphinxDirective):
    """``{claims}``: the whole ledger, one table for each kind of place."""

    def run(self) -> list[nodes.Node]:
        depends.note(self.env, "claims")
        found: list[nodes.Node] = []
        everything = load(Path(self.env.srcdir))
        for place, title in GROUPS.items():
            chosen = [claim for claim in everything if claim.place == place]
            if place == "chapter":
                chosen.sort(key=lambda claim: claim.chapter or 0)
            if chosen:
                head = nodes.title("", f"{title} ({len(chosen)})")
                section = nodes.section("", head, ids=[f"claims-{place.replace('_', '-')}"])
                section += self.table(chosen)
                found.append(section)
        return found

    def table(self, chosen: list[Claim]) -> nodes.table:
        heads = ("No.", "Claim", "Right")
        group = nodes.tgroup(cols=len(heads))
        group += [nodes.colspec(colwidth=width) for width in (12, 34, 54)]
        titles = [[nodes.paragraph("", head)] for head in heads]
        group += nodes.thead("", self.row(titles))
        body = nodes.tbody()
        for claim in chosen:
            name = nodes.paragraph("", "", nodes.strong("", claim.id))
            name += nodes.Text(f" {claim.verdict}")
            right = [self.said(claim.right), *self.where(claim)]
            body += self.row([[name], [self.said(claim.claim)], right], claim.id.lower())
        group += body
        return nodes.table("", group, classes=["claims"])

    def row(self, cells: list[list[nodes.Node]], anchor: str = "") -> nodes.row:
        filled = [nodes.entry("", *cell) for cell in cells]
        return nodes.row("", *filled, ids=[anchor] if anchor else [])

    def said(self, text: str) -> nodes.paragraph:
        return nodes.paragraph("", "", *self.state.inline_text(text, self.lineno)[0])

    def where(self, claim: Claim) -> list[nodes.Node]:
        """A line below what is right: the place, the chapter, or the reason."""
        if claim.out_of_scope:
            return [self.said(claim.out_of_scope)]
        if not claim.page:
            return [nodes.paragraph("", f"Chapter {claim.chapter}")]
        target = self.env.app.builder.get_relative_uri(self.env.docname, claim.page)
        shown = title(claim.page, claim.anchor, Path(self.env.srcdir))
        link = nodes.reference("", shown, refuri=f"{target}#{claim.anchor}", internal=True)
        return [nodes.paragraph("", "", link)]


def title(page: str, anchor: str, root: Path) -> str:
    """What a link to a place says: its heading, the figure's question, or the block's title."""
    if anchor.startswith("reading-"):
        return references.load(root).sections[anchor.removeprefix("reading-")]
    text = (root / f"{page}.md").read_text("utf-8")
    if anchor in fingerprint.shown(text):
        return _question(anchor)
    headings = re.findall(_HEADING.pattern, text, re.M)
    known = {make_id(heading): heading for heading in headings}
    return str(known.get(anchor) or anchor.replace("-", " ").capitalize())


def _question(figure_id: str) -> str:
    from primer import drawings, figures

    if figure_id in drawings.ids():
        return drawings.load(figure_id).question
    return figures.load(figure_id).question


def _digest(root: Path) -> str:
    """The ledger, what its numbers reach, and the headings that its links show."""
    import primer

    tracer = fingerprint.Tracer(Path(primer.__file__).parent, root / "requirements.txt")
    text = (root / FILE).read_text("utf-8").replace('\\"', '"')
    pages = {root / f"{claim.page}.md" for claim in load(root) if claim.page}
    return fingerprint.digest([tracer.page(text)], [root / FILE, root / references.FILE, *pages])


depends.register("claims", _digest)


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("claims", Ledger, override=True)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

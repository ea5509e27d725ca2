"""Further reading from one list of data: the folded list of each chapter, and the whole by section.

`book/references.toml` is the list. An icon says for what a reader would open a reference, another
how deep it goes. Each has its word beside it: color alone tells nobody anything for certain.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from primer_book import depends
from primer_book.fingerprint import digest
from primer_book.tags import Phrase, make, register_nodes

ROOT = Path(__file__).resolve().parents[3]
FILE = "book/references.toml"
LAST_CHAPTER = 10
# The order of these is the order of every list.
INTENTS = {"hardware": "🔧", "accelerators": "⚙️", "workloads": "🧠", "scaling": "📊"}
DEPTHS = {"concept": "🟢", "architecture": "🟡", "implementation": "🔴"}


@dataclass(frozen=True)
class Reference:
    """One thing to read; `gives` is a line in our words, `chapters` are those that list it."""

    key: str
    authors: str
    title: str
    venue: str
    year: int
    address: str
    intent: str
    depth: str
    section: str
    chapters: tuple[int, ...]
    gives: str

    @property
    def order(self) -> tuple[int, int, str]:
        return list(INTENTS).index(self.intent), list(DEPTHS).index(self.depth), self.authors


@dataclass(frozen=True)
class Library:
    """All references, and the titles of the sections in their order."""

    sections: Mapping[str, str]
    references: tuple[Reference, ...]

    def of_chapter(self, chapter: int) -> list[Reference]:
        found = [item for item in self.references if chapter in item.chapters]
        if not found:
            raise ValueError(f"{FILE}: no reference names chapter {chapter}")
        return sorted(found, key=lambda item: item.order)

    def of_section(self, section: str) -> list[Reference]:
        found = [item for item in self.references if item.section == section]
        return sorted(found, key=lambda item: item.order)


def read(text: str) -> Library:
    """Read the list; a mistake is a ValueError that names the reference and the field."""
    raw = tomllib.loads(text)
    sections = raw["sections"]
    items = tuple(_reference(key, table, sections) for key, table in raw["references"].items())
    for field in ("title", "address"):
        seen: dict[str, str] = {}
        for item in items:
            same = re.sub(r"\W+", "", getattr(item, field)).lower()
            if same in seen:
                raise ValueError(f"{FILE}: {item.key} and {seen[same]} have the same {field}")
            seen[same] = item.key
    return Library(sections, items)


def _reference(key: str, table: Mapping[str, Any], sections: Mapping[str, str]) -> Reference:
    def fail(field: str, rule: str) -> ValueError:
        return ValueError(f"{FILE}: {key}.{field} must {rule}; got {table.get(field)!r}")

    names = {field.name for field in fields(Reference)} - {"key"}
    for field in sorted(names - set(table)):
        raise fail(field, "be there")
    for field in sorted(set(table) - names):
        raise fail(field, f"be one of {', '.join(sorted(names))}")
    for field in ("authors", "title", "venue", "gives"):
        if not str(table[field]).strip():
            raise fail(field, "not be empty")
    for field, known in (("intent", INTENTS), ("depth", DEPTHS), ("section", sections)):
        if table[field] not in known:
            raise fail(field, f"be one of {', '.join(known)}")
    if not re.fullmatch(r"https://[\w.-]+\.[a-z]+/\S*", table["address"]):
        raise fail("address", "be an https address")
    if not isinstance(table["year"], int) or not 1900 < table["year"] < 2100:
        raise fail("year", "be a year")
    chapters = tuple(table["chapters"])
    if not chapters or not set(chapters) <= set(range(LAST_CHAPTER + 1)):
        raise fail("chapters", f"name chapters from 0 to {LAST_CHAPTER}")
    return Reference(key=key, **{**table, "chapters": chapters})


@lru_cache
def _load(text: str) -> Library:
    return read(text)


def load(root: Path = ROOT) -> Library:
    return _load((root / FILE).read_text("utf-8"))


def listed(items: Sequence[Reference]) -> nodes.bullet_list:
    """References as a list of the page."""
    found = nodes.bullet_list(bullet="-", classes=["references"])
    for item in items:
        link = nodes.reference("", "", nodes.emphasis("", item.title), refuri=item.address)
        said = nodes.paragraph("", "", nodes.Text(f"{item.authors}, "), link)
        said += nodes.Text(f", {item.venue}, {item.year}. {item.gives} ")
        tags = (_tag(INTENTS, item.intent), nodes.Text(" · "), _tag(DEPTHS, item.depth))
        said += make(Phrase, "span", *tags, classes=["reference-tags"])
        found += nodes.list_item("", said)
    return found


def _tag(icons: Mapping[str, str], word: str) -> nodes.Node:
    """An icon that is only seen, and its word."""
    icon = make(Phrase, "span", nodes.Text(icons[word]), **{"aria-hidden": "true"})
    return make(Phrase, "span", icon, nodes.Text(f" {word}"))


def markdown(chapter: int) -> str:
    """The list of a chapter, for a notebook."""
    return "\n".join(
        f"- {item.authors}, [*{item.title}*]({item.address}), {item.venue}, {item.year}. "
        f"{item.gives} {INTENTS[item.intent]} {item.intent} · {DEPTHS[item.depth]} {item.depth}"
        for item in load().of_chapter(chapter)
    )


class Reading(SphinxDirective):
    """``{reading}``: every reference of the book, by section."""

    def run(self) -> list[nodes.Node]:
        depends.note(self.env, "references")
        library = load(Path(self.env.srcdir))
        found: list[nodes.Node] = []
        for key, title in library.sections.items():
            section = nodes.section("", nodes.title("", title), ids=[f"reading-{key}"])
            section += listed(library.of_section(key))
            found.append(section)
        return found


depends.register("references", lambda root: digest([], [root / FILE]))


def setup(app: Sphinx) -> dict[str, Any]:
    register_nodes(app)
    app.add_directive("reading", Reading, override=True)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

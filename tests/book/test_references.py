"""Further reading: every reference whole, in its section and in the chapters that it names."""

from __future__ import annotations

import re

import pytest
from bs4 import BeautifulSoup

from primer_book import notebooks, references
from tests.book.source import parse, walk
from tests.conftest import ROOT

TEXT = (ROOT / references.FILE).read_text("utf-8")
LIBRARY = references.read(TEXT)
KEYS = [item.key for item in LIBRARY.references]


def test_the_sections_of_the_plan_are_there():
    wanted = {"core", "accelerators", "power", "scaling", "industry", "correctness"}
    assert wanted <= set(LIBRARY.sections)
    for section in LIBRARY.sections:
        assert LIBRARY.of_section(section), section


def test_every_chapter_has_a_list_with_all_depths():
    for chapter in range(references.LAST_CHAPTER + 1):
        found = LIBRARY.of_chapter(chapter)
        assert 4 <= len(found) <= 20, chapter
        assert {item.depth for item in found} == set(references.DEPTHS), chapter
        assert found == sorted(found, key=lambda item: item.order)


@pytest.mark.parametrize("item", LIBRARY.references, ids=lambda item: item.key)
def test_a_reference_says_what_it_gives(item):
    assert item.gives.endswith((".", "?"))
    assert 4 <= len(item.gives.split()) <= 30
    assert not re.search(r"\bet al\b", item.authors)
    assert str(item.year) not in item.venue.replace("arXiv", "").split()[-1:]


def test_the_slips_of_the_outline_are_gone():
    by_key = {item.key: item for item in LIBRARY.references}
    assert by_key["hennessy_patterson"].authors == "Hennessy, Patterson"
    assert by_key["scaling_book"].authors == "Austin and others"
    assert "Google DeepMind" in by_key["scaling_book"].venue
    assert "personal blog" in by_key["tpu_deep_dive"].venue
    assert by_key["chandrakasan"].title == "Low Power Digital CMOS Design"
    assert by_key["chandrakasan"].year == 1995


@pytest.mark.parametrize("path", sorted((ROOT / "chapters").glob("*.md")), ids=lambda p: p.stem)
def test_a_chapter_takes_its_list_from_here(path):
    blocks = [part for part in walk(parse(path.read_text("utf-8"))) if part.name == "deeper"]
    assert [block.argument for block in blocks] == [str(int(path.stem[:2]))]


ONE = """\
[sections]
core = "Core"

[references.a]
authors = "A"
title = "T"
venue = "V"
year = 2000
address = "https://a.org/x"
intent = "hardware"
depth = "concept"
section = "core"
chapters = [1]
gives = "What it gives."
"""


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('venue = "V"\n', "", "a.venue must be there"),
        ('venue = "V"', 'vneue = "V"\nvenue = "V"', "a.vneue must be one of"),
        ('authors = "A"', 'authors = " "', "a.authors must not be empty"),
        ("year = 2000", 'year = "2000"', "a.year must be a year"),
        ("https://", "http://", "a.address must be an https address"),
        ('intent = "hardware"', 'intent = "fun"', "a.intent must be one of hardware"),
        ('depth = "concept"', 'depth = "deep"', "a.depth must be one of concept"),
        ('section = "core"', 'section = "else"', "a.section must be one of core"),
        ("chapters = [1]", "chapters = []", "a.chapters must name chapters from 0 to 10"),
        ("chapters = [1]", "chapters = [11]", "a.chapters must name chapters"),
    ],
)
def test_mistakes_are_named(old, new, complaint):
    assert references.read(ONE)
    with pytest.raises(ValueError, match=re.escape(complaint)):
        references.read(ONE.replace(old, new))


@pytest.mark.parametrize("field", ["title", "address"])
def test_nothing_is_listed_twice(field):
    second = ONE.partition("[references.a]")[2]
    changed = {"title": ('"https://a.org/x"', '"https://b.org/x"'), "address": ('"T"', '"U"')}
    again = ONE + "[references.b]" + second.replace(*changed[field])
    with pytest.raises(ValueError, match=f"b and a have the same {field}"):
        references.read(again)


def test_an_unknown_chapter_has_no_list():
    with pytest.raises(ValueError, match="no reference names chapter 7"):
        references.read(ONE).of_chapter(7)


def test_the_notebook_has_the_list():
    text = notebooks.convert(
        "---\njupytext: {text_representation: {extension: .md, format_name: myst}}\n"
        "kernelspec: {name: python3}\n---\n\n# T\n\n:::{deeper} 1\n:::\n",
        "chapters/01_x.md", {}, notebooks.Addresses(),
    )  # fmt: skip
    assert "<summary>For readers who want to go deeper</summary>" in text
    assert "🔧 hardware · 🟢 concept" in text
    for item in LIBRARY.of_chapter(1):
        assert item.address in text


def test_the_built_page_lists_all_by_section(site):
    page = BeautifulSoup((site / "book/reading.html").read_text("utf-8"), "html.parser")
    for key, title in LIBRARY.sections.items():
        section = page.select_one(f"section#reading-{key}")
        assert section.select_one("h2").text.startswith(title)
        links = [link["href"] for link in section.select("ul.references a.external")]
        assert links == [item.address for item in LIBRARY.of_section(key)]
    tags = [tag.text.split(" · ") for tag in page.select("ul.references .reference-tags")]
    assert len(tags) == len(KEYS)
    words = {text.partition(" ")[2] for pair in tags for text in pair}
    assert words == {*references.INTENTS, *references.DEPTHS}, "each icon has its word beside it"
    icons = page.select("ul.references span[aria-hidden=true]")
    assert len(icons) == 2 * len(KEYS)


@pytest.mark.parametrize("path", sorted((ROOT / "chapters").glob("*.md")), ids=lambda p: p.stem)
def test_the_built_chapter_ends_with_its_list(site, path):
    page = BeautifulSoup((site / f"chapters/{path.stem}.html").read_text("utf-8"), "html.parser")
    links = [link["href"] for link in page.select("details.deeper a.external")]
    assert links == [item.address for item in LIBRARY.of_chapter(int(path.stem[:2]))]

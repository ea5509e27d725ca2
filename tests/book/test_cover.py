"""The cover: every chapter that exists is linked, the others are called what they are."""

from __future__ import annotations

import re

from bs4 import BeautifulSoup

from tests.conftest import ROOT

COVER = (ROOT / "book/index.md").read_text("utf-8")
MAP = dict(re.findall(r"^\| (\d+) \| (.*) \|$", COVER, re.M))
CHAPTERS = {str(int(path.stem[:2])): path for path in (ROOT / "chapters").glob("*.md")}


def test_the_map_has_eleven_chapters():
    assert list(MAP) == [str(number) for number in range(11)]


def test_the_map_links_the_chapters_that_exist():
    for number, row in MAP.items():
        path = CHAPTERS.get(number)
        linked = re.search(r"\]\(\.\./chapters/([\w.]+)\)", row)
        there = linked[1] if linked else None
        if path:
            title = f"[its title](../chapters/{path.name})"
            assert there == path.name, f"link chapter {number} on the map of book/index.md: {title}"
            assert "in preparation" not in row, f"remove '(*in preparation*)' from the row: {row}"
        else:
            assert there is None, f"the map links a chapter that is not in chapters/: {row}"
            assert "(*in preparation*)" in row, f"say '(*in preparation*)' in the row: {row}"


def test_every_chapter_stands_in_the_table_of_contents():
    listed = re.findall(r"^ *- file: (chapters/\S+)$", (ROOT / "_toc.yml").read_text("utf-8"), re.M)
    written = sorted(f"chapters/{path.stem}" for path in CHAPTERS.values())
    missing = sorted(set(written) - set(listed))
    assert not missing, f"add to _toc.yml, or they are not built: {missing}"
    gone = sorted(set(listed) - set(written))
    assert not gone, f"remove from _toc.yml, there are no such chapters: {gone}"
    assert listed == written, f"_toc.yml must list the chapters in their order; got {listed}"


def test_the_map_calls_chapters_by_their_titles():
    for number, path in CHAPTERS.items():
        title = re.search(rf"^# {number} — (.+)$", path.read_text("utf-8"), re.M)
        assert title, f"{path.name} must have the title '# {number} — …'"
        wanted = f"[{title[1]}](../chapters/{path.name})"
        assert wanted in MAP[number], f"row {number} of the map in book/index.md must say {wanted}"


def test_ten_questions_each_with_its_chapter():
    questions = re.findall(r"^\d+\. (.+)$", COVER, re.M)
    assert len(questions) == 10
    for question in questions:
        waiting = re.search(r"\(\*Chapter (\d+)\*\)$", question)
        assert "?" in question
        if waiting:
            assert waiting[1] not in CHAPTERS, f"link the figure that answers: {question}"
        else:
            assert "{ref}`" in question


def test_the_built_cover_shows_the_figure(site):
    page = BeautifulSoup((site / "book/index.html").read_text("utf-8"), "html.parser")
    frame = page.select_one("figure.drawn .frame[role=img]")
    assert "NVLink 2,199" in frame["aria-label"]
    assert not page.select("div.cell_input"), "the cover shows no code"

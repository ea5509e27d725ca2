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
        assert (linked[1] if linked else None) == (path.name if path else None), row
        assert ("*in preparation*" in row) != bool(path), row


def test_the_map_calls_chapters_by_their_titles():
    for number, path in CHAPTERS.items():
        title = re.search(rf"^# {number} — (.+)$", path.read_text("utf-8"), re.M)
        assert title, path.name
        assert f"[{title[1]}](" in MAP[number]


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

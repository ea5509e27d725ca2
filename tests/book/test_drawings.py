"""Drawings and the book around them: shipped letters, scripts on their pages only, anchors."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import pytest

from primer import drawings, explore, figures
from primer.drawings import gpu_die, sm_inside
from primer_book import claims, fonts, pages
from tests.conftest import ROOT

SHIPPED = set(fonts.LATIN + fonts.GREEK + fonts.FIGURE_SIGNS)
STATIC = {"drawing.js": ROOT / "book/_static", "drawing.css": ROOT / "src/primer/explore/static"}


@pytest.mark.parametrize("sheet", [gpu_die.sheet, sm_inside.sheet])
def test_every_sign_of_a_picture_is_shipped(sheet):
    written = set("".join(text.get_text() for text in sheet().texts))
    assert written - {"\n"} <= SHIPPED


@dataclass
class App:
    """What a page asks of Sphinx while it is written."""

    files: list[str] = field(default_factory=list)

    def add_js_file(self, name: str, **options: Any) -> None:
        self.files.append(name)

    def add_css_file(self, name: str, **options: Any) -> None:
        self.files.append(name)


def _written(body: str) -> list[str]:
    app = App()
    pages.write(app, "page", "page.html", {"body": body}, None)  # type: ignore[arg-type]
    return app.files


@pytest.mark.parametrize("name", drawings.ids())
def test_a_page_with_a_drawing_gets_its_script_and_styles(name, monkeypatch):
    monkeypatch.setenv("PRIMER_BOOK", "1")
    body = f"<p>Before.</p>{explore.show(name)._repr_html_()}"
    assert _written(body) == ["drawing.js", "explore.css", "drawing.css"]
    assert _written("<p>figure drawing</p>") == []


def test_a_drawing_that_is_shown_twice_is_a_warning(monkeypatch):
    said: list[tuple[Any, ...]] = []
    monkeypatch.setattr(pages.log, "warning", lambda *words, **where: said.append(words))
    body = drawings.load("gpu-die").html()
    _written(body)
    assert said == []
    _written(body + body)
    assert said == [("figure %r is shown twice on one page", "gpu-die")]


@pytest.mark.parametrize(("name", "folder"), STATIC.items())
def test_files_are_where_the_page_looks(name, folder):
    assert (folder / name).is_file()


def test_the_script_knows_the_names_of_the_element():
    """Class names and data of the page contract that script and style rely on."""
    html = drawings.load("gpu-die").html()
    script = (ROOT / "book/_static/drawing.js").read_text("utf-8")
    for selector in re.findall(r'querySelector(?:All)?\("([^"]+)"\)', script):
        last = selector.split()[-1]
        name = last.split(".")[-1] if "." in last else last.strip("[]")
        assert name in html, selector


def test_a_claim_may_lead_to_a_drawing(tmp_path):
    (tmp_path / "chapters").mkdir()
    page = '# One\n\n```{code-cell}\nexplore.show("ptx-sass")\nexplore.show("roofline")\n```\n'
    (tmp_path / "chapters/x.md").write_text(page)
    assert {"ptx-sass", "roofline"} <= claims.anchors("chapters/x", tmp_path)
    question = drawings.load("ptx-sass").question
    assert claims.title("chapters/x", "ptx-sass", tmp_path) == question
    assert claims.title("chapters/x", "roofline", tmp_path) == figures.load("roofline").question

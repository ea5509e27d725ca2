"""Drawings on built pages: every part explains itself to a pointer, a finger and a keyboard."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from playwright.sync_api import Locator, Page, expect

from primer import drawings
from primer.explore.drawing import HINT, Drawing, Part
from primer_book import fingerprint
from tests.browser import axe, pages


def _shown() -> list[tuple[str, str]]:
    """Page and id of every drawing that a chapter shows."""
    sources = {name: (pages.ROOT / f"{name}.md").read_text("utf-8") for name in pages.chapters()}
    return [
        (name, shown)
        for name, text in sources.items()
        for shown in fingerprint.shown(text)
        if shown in drawings.ids()
    ]


SHOWN = _shown()
#: A spot within every place of a part that no other part covers.
CORNER = {"x": 4, "y": 4}
every_drawing = pytest.mark.parametrize(("page_name", "drawing_id"), SHOWN)


def _figure(page: Page, drawing_id: str) -> Locator:
    return page.locator(f'figure.drawing[data-drawing="{drawing_id}"]')


def _first(figure: Locator, part: str) -> Locator:
    return figure.locator(f'.frame [data-part="{part}"]').first


def _lit(figure: Locator) -> set[str]:
    found = figure.locator(".frame .lit").evaluate_all("all => all.map(e => e.dataset.part)")
    return set(found)


def _explains(figure: Locator, part: Part) -> None:
    """The part is lit in all of its places, and nothing else; its words stand below."""
    says = figure.locator(".says")
    expect(says).to_contain_text(part.text)
    expect(says).to_contain_text(part.label)
    assert _lit(figure) == {part.id}
    places = figure.locator(f'.frame [data-part="{part.id}"]').count()
    assert figure.locator(".frame .lit").count() == places


def _rests(figure: Locator) -> None:
    expect(figure.locator(".says")).to_have_text(HINT)
    assert _lit(figure) == set()


@every_drawing
def test_each_part_explains_itself_to_keyboard_and_pointer(page_name, drawing_id, page_of):
    page = page_of(page_name)
    drawing, figure = drawings.load(drawing_id), _figure(page, drawing_id)
    _rests(figure)
    height = figure.evaluate("f => f.offsetHeight")
    _first(figure, drawing.parts[0].id).focus()
    for part in drawing.parts:
        assert page.evaluate("document.activeElement.dataset.part") == part.id
        _explains(figure, part)
        assert figure.evaluate("f => f.offsetHeight") == height, f"{part.id} moves the page"
        page.keyboard.press("Tab")
    _rests(figure)
    for part in drawing.parts:
        places = figure.locator(f'.frame [data-part="{part.id}"]')
        for i in {0, places.count() - 1}:
            places.nth(i).hover(position=CORNER)
            _explains(figure, part)
    figure.locator("figcaption").hover()
    _rests(figure)
    _clicks_keep(page, figure, drawing)


def _clicks_keep(page: Page, figure: Locator, drawing: Drawing) -> None:
    """A click keeps a part when the pointer leaves; Enter keeps another one; Escape neither."""
    one, other = drawing.parts[0], drawing.parts[-1]
    place = _first(figure, one.id)
    place.click(position=CORNER)
    expect(place).to_have_attribute("aria-pressed", "true")
    figure.locator("figcaption").hover()
    _explains(figure, one)
    _first(figure, other.id).focus()
    page.keyboard.press("Enter")
    expect(place).to_have_attribute("aria-pressed", "false")
    _explains(figure, other)
    found = [finding for finding in axe.findings(page) if finding.is_ours]
    assert not found, "\n".join(map(str, found))
    page.keyboard.press("Escape")
    _rests(figure)


@every_drawing
def test_on_a_phone_the_explanation_stays_in_sight(page_name, drawing_id, page_of):
    page = page_of(page_name, scheme="dark", width=390)
    drawing, figure = drawings.load(drawing_id), _figure(page, drawing_id)
    height = figure.evaluate("f => f.offsetHeight")
    for part in drawing.parts:
        place = _first(figure, part.id)
        place.scroll_into_view_if_needed()
        place.focus()
        expect(figure.locator(".says")).to_be_in_viewport(ratio=0.9)
        assert figure.evaluate("f => f.offsetHeight") == height, f"{part.id} moves the page"
    found = [finding for finding in axe.findings(page) if finding.is_ours]
    assert not found, "\n".join(map(str, found))
    assert figure.evaluate("f => f.scrollWidth <= f.clientWidth"), "wider than its frame"


@every_drawing
def test_without_a_script_and_in_print_all_is_said_in_words(page_name, drawing_id, page_of):
    drawing = drawings.load(drawing_id)
    still = _figure(page_of(page_name, javascript=False), drawing_id)
    assert still.locator("[tabindex]").count() == 0
    printed = page_of(page_name)
    printed.emulate_media(media="print")
    printed.evaluate("dispatchEvent(new Event('beforeprint'))")
    for figure in (still, _figure(printed, drawing_id)):
        expect(figure.locator(".says")).to_be_hidden()
        for part in drawing.parts:
            row = figure.locator(f'[data-for="{part.id}"] dd')
            expect(row).to_be_visible()
            expect(row).to_have_text(part.text)


class _Ids(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.found += [value for name, value in attrs if name == "id"]


@pytest.mark.parametrize("page_name", sorted({name for name, _ in SHOWN}))
def test_ids_are_unique_on_a_page_with_drawings(page_name, site):
    parser = _Ids()
    parser.feed((site / f"{page_name}.html").read_text("utf-8"))
    assert len(parser.found) == len(set(parser.found))


@pytest.mark.parametrize("page_name", ["index", *pages.chapters()])
def test_the_script_loads_only_where_there_is_a_drawing(page_name, site):
    html = (site / f"{page_name}.html").read_text("utf-8")
    has_script = "drawing.js" in html
    assert has_script == ('class="drawing"' in html)

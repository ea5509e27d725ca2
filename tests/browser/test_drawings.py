"""Drawings on built pages: every part explains itself to a pointer, a finger and a keyboard."""

from __future__ import annotations

from collections import Counter
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

_SEEN = """figure => ({
  says: figure.querySelector('.says').textContent,
  lit: [...figure.querySelectorAll('.frame .lit')].map(e => e.dataset.part),
  focused: document.activeElement.dataset.part ?? '',
  height: figure.offsetHeight,
})"""

_IN_SIGHT = """figure => {
  const box = figure.querySelector('.says').getBoundingClientRect();
  return Math.min(box.bottom, innerHeight) - Math.max(box.top, 0) >= 0.9 * box.height;
}"""

_IN_WORDS = """figure => ({
  isHidden: !figure.querySelector('.says').checkVisibility(),
  nReachable: figure.querySelectorAll('[tabindex]').length,
  words: Object.fromEntries([...figure.querySelectorAll('[data-for]')]
    .filter(row => row.querySelector('dd').checkVisibility() && row.offsetHeight > 0)
    .map(row => [row.dataset.for, row.querySelector('dd').textContent])),
})"""


def _figure(page: Page, drawing_id: str) -> Locator:
    return page.locator(f'figure.drawing[data-drawing="{drawing_id}"]')


def _first(figure: Locator, part: str) -> Locator:
    return figure.locator(f'.frame [data-part="{part}"]').first


def _explains(figure: Locator, part: Part) -> dict:
    """The part is lit in all of its places, and nothing else; its words stand below."""
    seen = figure.evaluate(_SEEN)
    assert part.text in seen["says"]
    assert part.label in seen["says"]
    assert set(seen["lit"]) == {part.id}
    assert len(seen["lit"]) == figure.locator(f'.frame [data-part="{part.id}"]').count()
    return seen


def _rests(figure: Locator) -> dict:
    seen = figure.evaluate(_SEEN)
    assert (seen["says"], seen["lit"]) == (HINT, [])
    return seen


@every_drawing
def test_each_part_explains_itself_to_keyboard_and_pointer(page_name, drawing_id, visit):
    page = visit(page_name)
    drawing, figure = drawings.load(drawing_id), _figure(page, drawing_id)
    height = _rests(figure)["height"]
    _first(figure, drawing.parts[0].id).focus()
    for part in drawing.parts:
        seen = _explains(figure, part)
        assert seen["focused"] == part.id
        assert seen["height"] == height, f"{part.id} moves the page"
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
def test_on_a_phone_the_explanation_stays_in_sight(page_name, drawing_id, visit):
    page = visit(page_name, scheme="dark", width=390)
    drawing, figure = drawings.load(drawing_id), _figure(page, drawing_id)
    page.wait_for_function("f => f.offsetWidth <= 390", arg=figure.element_handle())
    height = figure.evaluate("f => f.offsetHeight")
    for part in drawing.parts:
        place = _first(figure, part.id)
        place.scroll_into_view_if_needed()
        place.focus()
        assert figure.evaluate(_IN_SIGHT), f"{part.id} is explained out of sight"
        assert _explains(figure, part)["height"] == height, f"{part.id} moves the page"
    found = [finding for finding in axe.findings(page, only_colors=True) if finding.is_ours]
    assert not found, "\n".join(map(str, found))
    assert figure.evaluate("f => f.scrollWidth <= f.clientWidth"), "wider than its frame"


def _assert_all_in_words(figure: Locator, drawing: Drawing) -> dict:
    found = figure.evaluate(_IN_WORDS)
    assert found["isHidden"]
    assert found["words"] == {part.id: part.text for part in drawing.parts}
    return found


@every_drawing
def test_in_print_all_is_said_in_words(page_name, drawing_id, visit):
    page = visit(page_name)
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    _assert_all_in_words(_figure(page, drawing_id), drawings.load(drawing_id))
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")


@every_drawing
def test_without_a_script_all_is_said_in_words(page_name, drawing_id, visit):
    page = visit(page_name, javascript=False)
    found = _assert_all_in_words(_figure(page, drawing_id), drawings.load(drawing_id))
    assert found["nReachable"] == 0


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
    twice = sorted(name for name, n in Counter(parser.found).items() if n > 1)
    assert not twice, f"each of these ids stands twice, so that links lead to the first: {twice}"


@pytest.mark.parametrize("page_name", ["index", *pages.chapters()])
def test_the_script_loads_only_where_there_is_a_drawing(page_name, site):
    html = (site / f"{page_name}.html").read_text("utf-8")
    has_script = "drawing.js" in html
    assert has_script == ('class="drawing"' in html)

"""Every built page, with the network cut: quiet, readable, and usable without a mouse."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from primer_book.assets import cut_sheets, theme_css
from tests.book import weight
from tests.browser import axe, pages

every_page = pages.every("name", pages.names())
both_schemes = pytest.mark.parametrize("scheme", ["light", "dark"])
SAMPLE = ["book/index", "book/hardware", *pages.chapters()[:1]]

#: Findings in the theme's own markup, each with what would override it.
THEME_FINDINGS: tuple[axe.Excused, ...] = ()

# Text of pictures, which axe does not look at, against the first ground that is not transparent.
_PALE_TEXT = """() => {
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const rgba = color => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = ([r, g, b]) => [r, g, b].map(v => v / 255)
    .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = element => {
    for (let e = element; e; e = e.parentElement) {
      const color = rgba(getComputedStyle(e).backgroundColor);
      if (color[3] > 250) return color;
    }
    return [255, 255, 255, 255];
  };
  return [...document.querySelectorAll('figure.explorable svg text, figure.drawing svg text')]
    .filter(text => text.textContent.trim() && !text.closest('[data-on-shape]'))
    .map(text => {
      const [a, b] = [light(rgba(getComputedStyle(text).fill)), light(ground(text))];
      const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      return [text.textContent.trim(), Math.round(ratio * 100) / 100];
    })
    .filter(([, ratio]) => ratio < 4.5);
}"""

_TOO_WIDE = """() => [...document.body.querySelectorAll('*')]
  .filter(e => e.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
  .map(e => `${e.tagName.toLowerCase()}.${[...e.classList].join('.')}`).slice(0, 8)"""

_HAS_CLASS = """names => {
  const shown = [...document.querySelectorAll('[class]')].flatMap(e => [...e.classList]);
  const known = new Set(shown);
  return names.filter(name => known.has(name));
}"""

_SCROLLS = "() => document.documentElement.scrollWidth > document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def unstyled() -> list[str]:
    """Classes whose rules are cut from the theme's style sheets."""
    return sorted(set().union(*(sheet.dropped for sheet in cut_sheets(theme_css(), ()))))


@every_page
def test_opens_from_a_file_with_the_network_cut(name, visit, site, unstyled):
    visit.close()
    page = visit(name)
    assert page.locator("h1:visible").count() == 1
    assert page.title()
    for top in ("document.body.scrollHeight", "0"):
        page.evaluate(f"scrollTo({{top: {top}, behavior: 'instant'}})")
    assert page.evaluate(_HAS_CLASS, unstyled) == []
    counted = weight.first_load((site / f"{name}.html").resolve())
    assert set(weight.files(visit.watch.asked)) <= set(counted)


@every_page
@both_schemes
def test_no_accessibility_finding(name, scheme, visit):
    page = visit(name, scheme=scheme)
    found = axe.findings(page, only_colors=scheme == "dark")
    left = axe.unexcused(found, THEME_FINDINGS)
    assert not left, "\n".join(map(str, left))


@every_page
@both_schemes
def test_text_in_pictures_is_readable(name, scheme, visit):
    assert visit(name, scheme=scheme).evaluate(_PALE_TEXT) == []


@every_page
def test_a_phone_need_not_scroll_sideways(name, visit):
    page = visit(name, width=390)
    assert not page.evaluate(_SCROLLS), f"too wide: {page.evaluate(_TOO_WIDE)}"


@pytest.mark.parametrize("name", SAMPLE)
def test_opens_dark_and_on_a_phone(name, page_of):
    page = page_of(name, scheme="dark", width=390)
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert not page.evaluate(_SCROLLS), f"too wide: {page.evaluate(_TOO_WIDE)}"
    assert page.evaluate(_PALE_TEXT) == []


@pytest.mark.parametrize("name", ["index", "search", *pages.chapters()[:1]])
def test_opens_over_http(name, page_of):
    page = page_of(name, via="http")
    expect(page).to_have_title(re.compile("Compute Is Cheap"))  # the front page redirects


def test_findings_excused_are_findings_of_the_theme():
    for excused in THEME_FINDINGS:
        assert excused.reason, f"{excused.rule} at {excused.target} is excused without a reason"


def test_pale_text_is_found_wherever_it_is(page_of):
    page = page_of(pages.chapters()[0])
    for css in (
        "article p { color: #bbb }",
        "article p:nth-of-type(4) { background: #555 }",
        ".highlight .k { color: #ddd !important }",
        ".bd-sidebar-primary nav a { color: #ddd !important }",
    ):
        style = page.add_style_tag(content=css)
        found = axe.findings(page, only_colors=True)
        assert {finding.rule for finding in found} == {"color-contrast"}, css
        style.evaluate("e => e.remove()")
    assert axe.findings(page, only_colors=True) == []

"""Every built page, with the network cut: quiet, readable, and usable without a mouse."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser import axe, pages

PAGES = pages.names()

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

_SCROLLS = "() => document.documentElement.scrollWidth > document.documentElement.clientWidth"


@pytest.mark.parametrize("name", PAGES)
def test_opens_from_a_file_with_the_network_cut(name, page_of):
    page = page_of(name)
    assert page.locator("h1:visible").count() == 1
    assert page.title()
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    page.wait_for_timeout(200)  # what wakes late may complain late


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_accessibility_finding(name, scheme, page_of):
    page = page_of(name, scheme=scheme)
    found = axe.unexcused(axe.findings(page), THEME_FINDINGS)
    assert not found, "\n".join(map(str, found))


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_in_pictures_is_readable(name, scheme, page_of):
    page = page_of(name, scheme=scheme)
    assert page.evaluate(_PALE_TEXT) == []


@pytest.mark.parametrize("name", PAGES)
def test_a_phone_need_not_scroll_sideways(name, page_of):
    page = page_of(name, width=390)
    assert not page.evaluate(_SCROLLS), f"too wide: {page.evaluate(_TOO_WIDE)}"


@pytest.mark.parametrize("name", ["index", "search", *pages.chapters()[:1]])
def test_opens_over_http(name, page_of):
    page = page_of(name, via="http")
    expect(page).to_have_title(re.compile("Compute Is Cheap"))  # the front page redirects


def test_findings_excused_are_findings_of_the_theme():
    for excused in THEME_FINDINGS:
        assert excused.reason, f"{excused.rule} at {excused.target} is excused without a reason"

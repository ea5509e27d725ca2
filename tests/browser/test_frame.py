"""What stands around a page's text: menu, search, contents, tips, downloads, the way back up."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser import axe

# Two scrolls within a frame are one to a page.
_SCROLL = """top => new Promise(done => {
  addEventListener('scroll', () => setTimeout(done), {once: true});
  scrollTo({top, behavior: 'instant'});
})"""

PAGE = "chapters/01_roofline"
DOWNLOADS = ".dropdown-download-buttons"


def test_a_tip_names_a_button_to_pointer_and_keyboard(visit):
    page = visit(PAGE)
    button = page.get_by_role("button", name="Toggle primary sidebar")
    tip = page.get_by_role("tooltip")
    button.hover()
    expect(tip).to_have_text("Toggle primary sidebar")
    assert button.get_attribute("aria-describedby") == tip.get_attribute("id")
    box, at = tip.bounding_box(), button.bounding_box()
    assert at["y"] + at["height"] < box["y"] < at["y"] + at["height"] + 12
    middle = at["x"] + at["width"] / 2
    assert box["x"] + box["width"] / 2 == pytest.approx(middle, abs=1)
    page.mouse.move(600, 500)
    expect(tip).to_have_count(0)
    button.focus()
    expect(tip).to_be_visible()
    page.keyboard.press("Escape")
    expect(tip).to_have_count(0)
    assert not page.locator("[data-bs-toggle=tooltip][title]").count(), "a second tip"


@pytest.mark.parametrize("width", [1280, 390])
def test_the_downloads_unfold_by_keyboard_and_stay_in_the_window(width, visit):
    page = visit(PAGE, width=width)
    button, menu = page.locator(f"{DOWNLOADS} > button"), page.locator(f"{DOWNLOADS} > ul")
    items = menu.locator(".dropdown-item")
    button.focus()
    page.keyboard.press("Enter")
    expect(menu).to_be_visible()
    expect(button).to_have_attribute("aria-expanded", "true")
    box = menu.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    page.keyboard.press("ArrowDown")
    expect(items.first).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(items.first).to_be_focused()
    page.keyboard.press("Escape")
    expect(button).to_be_focused()
    expect(button).to_have_attribute("aria-expanded", "false")
    page.keyboard.press("ArrowUp")
    expect(items.last).to_be_focused()
    page.keyboard.press("Tab")
    expect(button).to_have_attribute("aria-expanded", "false")
    button.click()
    expect(button).to_have_attribute("aria-expanded", "true")
    page.locator("article h1").click()
    expect(button).to_have_attribute("aria-expanded", "false")


def test_the_contents_mark_what_is_read(visit):
    page = visit(PAGE)
    marked = page.locator("#pst-secondary-sidebar .page-toc a.active")
    expect(marked).to_have_count(0)
    for i in (3, 1):
        heading = page.locator("article h2").nth(i)
        heading.evaluate("e => e.scrollIntoView({behavior: 'instant'})")
        title = heading.inner_text().rstrip("#\n")
        expect(marked).to_have_text(title)


def test_on_a_phone_a_button_leads_back_up(visit):
    page = visit(PAGE, width=390)
    back = page.locator("#pst-back-to-top")
    for top, is_there in ((2000, False), (1800, True), (1900, False), (1850, True)):
        page.evaluate(_SCROLL, top)
        expect(back).to_be_visible(visible=is_there)
    page.evaluate("document.documentElement.style.scrollBehavior = 'auto'")
    back.click()
    expect(back).to_be_hidden()
    assert page.evaluate("scrollY") == 0


def test_the_search_opens_by_keyboard_and_leads_to_results(page_of):
    page = page_of(PAGE)
    page.keyboard.press("ControlOrMeta+k")
    dialog = page.locator("#pst-search-dialog")
    expect(dialog).to_be_visible()
    expect(dialog.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("roofline")
    page.keyboard.press("Enter")
    expect(page.locator("#search-results ul.search li").first).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone_menu_and_contents_unfold_and_are_accessible(scheme, page_of):
    page = page_of(PAGE, scheme=scheme, width=390)
    for side, inside in (("primary", ".bd-links a"), ("secondary", ".page-toc a")):
        dialog = page.locator(f"#pst-{side}-sidebar-modal")
        expect(dialog).to_be_hidden()
        page.locator(f".{side}-toggle").click()
        expect(dialog.locator(inside).first).to_be_visible()
        found = axe.findings(page, only_colors=scheme == "dark")
        assert not found, "\n".join(map(str, found))
        page.keyboard.press("Escape")
        expect(dialog).to_be_hidden()


def test_the_menu_folds_away_and_the_reader_chooses_light_or_dark(page_of):
    page = page_of(PAGE)
    menu = page.locator("#pst-primary-sidebar")
    expect(menu).to_be_visible()
    page.locator(".primary-toggle").click()
    expect(menu).not_to_be_in_viewport()
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    for _ in range(3):
        page.locator(".theme-switch-button").click()
        if page.evaluate("document.documentElement.dataset.theme") == "dark":
            break
    assert page.evaluate(ground) != light


def test_what_has_the_focus_has_a_ring(visit):
    page = visit(PAGE)
    ring = """() => {
      const focused = document.activeElement;  // a summary's ring is around its arrow
      return [focused, ...focused.querySelectorAll('*')].map(getComputedStyle).some(style =>
        style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0
        || style.boxShadow !== 'none');
    }"""
    for _ in range(14):
        page.keyboard.press("Tab")
        assert page.evaluate(ring), page.evaluate("document.activeElement.outerHTML")[:200]

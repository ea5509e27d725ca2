"""Hardware tables and glossary links in a browser: sorted, filtered and explained by keyboard."""

from __future__ import annotations

import csv
from itertools import pairwise

import pytest
from playwright.sync_api import Locator, Page, expect

from primer import hardware
from tests.browser import axe

PAGE = "book/hardware"
FIRST = "#chips-1"
N_CHIPS = len(hardware.names())


def heading(page: Page, column: str) -> Locator:
    return page.locator(f'{FIRST} th[data-column="{column}"]')


def values(page: Page, column: str) -> list[str | None]:
    """`data-value` of the column, from the top row down."""
    script = """(th) => { const i = th.cellIndex;
      const rows = [...th.closest('table').tBodies[0].rows];
      return rows.map(row => row.cells[i].dataset.value ?? null); }"""
    found: list[str | None] = heading(page, column).evaluate(script)
    return found


def names(page: Page) -> list[str]:
    return page.locator(f"{FIRST} tbody tr").evaluate_all("rows => rows.map(r => r.dataset.chip)")


def test_without_a_script_the_whole_tables_are_there(visit):
    page = visit(PAGE, javascript=False)
    assert sorted(names(page)) == sorted(hardware.names())
    assert page.locator(".chips button, .chips input:visible").count() == 0
    assert page.locator("details.fields").count() == N_CHIPS
    page.locator("details.fields > summary").first.click()
    expect(page.locator("details.fields[open] tbody tr").first).to_be_visible()


def test_a_heading_sorts_by_keyboard_and_missing_values_stay_last(visit):
    page = visit(PAGE)
    own = names(page)
    th = heading(page, "ridge16")
    th.locator("button").focus()
    page.keyboard.press("Enter")
    expect(th).to_have_attribute("aria-sort", "descending")
    shown = values(page, "ridge16")
    known = [float(value) for value in shown if value is not None]
    assert known == sorted(known, reverse=True)
    assert shown[len(known) :] == [None] * (N_CHIPS - len(known))
    assert 0 < len(known) < N_CHIPS
    page.keyboard.press("Space")
    expect(th).to_have_attribute("aria-sort", "ascending")
    shown = values(page, "ridge16")
    assert [float(v) for v in shown[: len(known)]] == sorted(known)
    assert shown[len(known) :] == [None] * (N_CHIPS - len(known))
    page.keyboard.press("Enter")
    assert th.get_attribute("aria-sort") is None
    assert names(page) == own


def test_only_one_column_is_sorted_and_dates_sort_as_dates(page_of):
    page = page_of(PAGE)
    heading(page, "tdp").locator("button").click()
    heading(page, "release").locator("button").click()
    assert page.locator(f"{FIRST} [aria-sort]").count() == 1
    dates = [value for value in values(page, "release") if value]
    assert all(one <= other for one, other in pairwise(dates))
    expect(page.locator(f"{FIRST} .count")).to_have_text("Sorted, ascending.")


def test_the_filter_keeps_what_it_is_asked_for_and_says_how_many(visit):
    page = visit(PAGE)
    field = page.get_by_label("Show only").first
    field.fill("GOOGLE hbm")
    visible = page.locator(f"{FIRST} tbody tr:visible")
    kept = visible.evaluate_all("rows => rows.map(r => r.dataset.chip)")
    wanted = [
        chip.id
        for chip in map(hardware.load, hardware.names())
        if chip.vendor == "Google" and any("HBM" in level.title for level in chip.memory)
    ]
    assert sorted(kept) == sorted(wanted)
    expect(page.locator(f"{FIRST} .count")).to_have_text(f"{len(kept)} of {N_CHIPS} chips.")
    field.fill("no such chip")
    assert visible.count() == 0
    field.fill("")
    assert visible.count() == N_CHIPS


def test_the_name_of_a_chip_unfolds_its_fields_again_and_again(visit):
    page = visit(PAGE)
    chip = hardware.names()[0]
    folded = page.locator(f'details.fields[data-chip="{chip}"]')
    for _ in range(2):
        page.locator(f'{FIRST} a[href="#{chip}"]').focus()
        page.keyboard.press("Enter")
        expect(folded).to_have_attribute("open", "")
        folded.locator("summary").click()
        assert folded.get_attribute("open") is None


def test_a_link_leads_to_one_number(page_of):
    page = page_of(PAGE, fragment="#h100_sxm5_80gb.link.nvlink.oneway")
    row = page.locator("[id='h100_sxm5_80gb.link.nvlink.oneway']")
    expect(row).to_be_in_viewport(timeout=10_000)
    expect(row).to_contain_text("450 GB/s")
    link = row.locator("a")
    assert link.get_attribute("href").startswith("http")
    link.focus()
    expect(link).to_be_focused()


def test_the_file_that_is_linked_is_there(visit, site):
    page = visit(PAGE)
    href = page.get_by_role("link", name="hardware.csv").get_attribute("href")
    rows = list(csv.DictReader((site / "book" / href).read_text("utf-8").splitlines()))
    assert len(rows) == page.locator("details.fields tbody tr").count()


def test_on_a_phone_only_the_table_scrolls_and_the_names_stay(page_of):
    page = page_of(PAGE, width=390)
    box = page.locator(f"{FIRST} .scroll")
    name = page.locator(f"{FIRST} tbody th").first
    before = name.bounding_box()
    assert box.evaluate("e => e.scrollWidth > e.clientWidth")
    box.evaluate("e => { e.scrollLeft = 400; }")
    after = name.bounding_box()
    assert (before["x"], before["width"]) == (after["x"], after["width"])
    assert after["width"] < 0.45 * 390
    page.locator("details.fields > summary").first.click()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_unfolded_sorted_and_filtered_there_is_no_accessibility_finding(scheme, page_of):
    page = page_of(PAGE, scheme=scheme)
    page.locator("details.fields > summary").first.click()
    heading(page, "bandwidth").locator("button").click()
    page.get_by_label("Show only").first.fill("nvidia")
    found = axe.findings(page, only_colors=scheme == "dark")
    assert not found, "\n".join(map(str, found))


# --- terms -----------------------------------------------------------------------

TERM = "a:has(> .std-term)"


def _term(page: Page) -> Locator:
    page.wait_for_function("window.primerTerms")
    link = page.locator(TERM).first
    link.scroll_into_view_if_needed()
    return link


def test_a_term_explains_itself_on_focus_and_escape_ends_it(visit):
    page = visit("book/conventions")
    link = _term(page)
    link.focus()
    tip = page.get_by_role("tooltip")
    expect(tip).to_be_visible()
    assert link.get_attribute("aria-describedby") == tip.get_attribute("id")
    anchor = link.get_attribute("href").partition("#")[2]
    told = tip.text_content()
    assert told == page.evaluate("id => window.primerTerms[id]", anchor)
    assert not axe.findings(page)
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()
    assert link.get_attribute("aria-describedby") is None


@pytest.mark.parametrize("width", [1280, 390])
def test_a_term_explains_itself_under_the_pointer_which_may_move_onto_it(width, visit):
    page = visit("book/conventions", width=width)
    link = _term(page)
    link.hover()
    tip = page.get_by_role("tooltip")
    expect(tip).to_be_visible()
    box = tip.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    tip.hover()
    page.wait_for_timeout(400)
    expect(tip).to_be_visible()
    page.mouse.move(1, 1)
    expect(tip).to_be_hidden()


def test_the_conventions_link_to_a_state_and_to_a_number(page_of):
    page = page_of("book/conventions")
    page.get_by_role("link", name="This link").click()
    chip = page.locator('#roofline [data-control="chip"]')
    expect(chip).to_have_value("tpu_v5e")
    expect(page.locator('#roofline [data-control="overlap"]')).not_to_be_checked()
    page.go_back()
    page.get_by_role("link", name="h100_sxm5_80gb.link").click()
    expect(page.locator("tr:target")).to_be_visible()


def test_every_definition_is_that_of_the_glossary(visit):
    page = visit("book/glossary")
    page.wait_for_function("window.primerTerms")
    told = page.evaluate("window.primerTerms")
    shown = page.evaluate(
        """() => Object.fromEntries([...document.querySelectorAll('dl.glossary > dt')].map(dt => {
          let dd = dt; while (dd.tagName !== 'DD') dd = dd.nextElementSibling;
          return [dt.id, dd.textContent.replace(/\\s+/g, ' ').trim()]; }))"""
    )
    assert told == shown


def test_a_page_without_terms_loads_nothing_for_them(page_of):
    page = page_of("book/api/units")
    assert page.locator('script[src*="terms"]').count() == 0

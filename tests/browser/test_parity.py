"""The pages tell what the package computes: every control, moved by keyboard, every row."""

from __future__ import annotations

from urllib.parse import parse_qs

import pytest
from playwright.sync_api import Locator, Page

from primer import figures
from primer.explore.explorable import Explorable, key
from tests.browser import explorables, pages

PAGES = pages.names()


def _figures(page: Page) -> list[Locator]:
    return page.locator("figure.explorable[data-explorable]").all()


@pytest.mark.parametrize("name", PAGES)
def test_readouts_equal_the_models(name, page_of, record_property):
    page = page_of(name)
    url = page.url
    for i, figure in enumerate(_figures(page)):
        explorable = figures.load(figure.get_attribute("data-explorable"))
        explorables.assert_true_to_model(explorable, explorables.shown(figure))
        found = explorables.controls(figure)
        assert [c.name for c in found] == [c.name for c in explorable.controls]
        pictures = set()
        for moved in found:
            # Each from the default state: elsewhere a control may rightly have nowhere to go.
            page.goto("about:blank")
            page.goto(url)
            pictures |= _move_and_compare(_figures(page)[i], explorable, moved)
        assert len(pictures) > 1, f"{explorable.id}: the picture never changed"
        _record_latency(page, figure, record_property)


def _move_and_compare(
    figure: Locator, explorable: Explorable, moved: explorables.Control
) -> set[tuple[str, ...]]:
    """Compare after each move of one control; the pictures seen on the way."""
    pictures, n_moves = {explorables.shown(figure).pictures}, 0
    for _ in explorables.moves(figure, moved):
        n_moves += 1
        now = explorables.shown(figure)
        explorables.assert_true_to_model(explorable, now)
        pictures.add(now.pictures)
    assert n_moves, f"{explorable.id}: nothing moved {moved.name}"
    return pictures


def _record_latency(page: Page, figure: Locator, record_property) -> None:
    name = figure.get_attribute("data-explorable")
    for slider in (c.name for c in explorables.controls(figure) if c.kind == "range"):
        times = explorables.latency(page, figure, slider)
        script, painted = (explorables.percentile(times[k], 95) for k in ("script", "frame"))
        said = f"95 % of changes within {script:.1f} ms of script, painted within {painted:.1f} ms"
        record_property(f"measured {name}, {slider}", said)


@pytest.mark.parametrize("name", PAGES)
def test_the_link_to_a_state_opens_that_state(name, page_of):
    page = page_of(name)
    for figure in _figures(page):
        explorable_id = figure.get_attribute("data-explorable")
        for moved in explorables.controls(figure):
            for _ in explorables.moves(figure, moved):
                break
        left = explorables.shown(figure)
        fragment = page.evaluate("location.hash")
        assert fragment.startswith(f"#{explorable_id}?")
        own = fragment.split(";")[0]  # the states of other figures stand behind it
        said = {k: v[0] for k, v in parse_qs(own.partition("?")[2]).items()}
        state = explorables.typed_state(figures.load(explorable_id), left.state)
        assert said == {k: key(v) for k, v in state.items()}

        again = page_of(name, fragment=fragment)
        reopened = again.locator(f'figure.explorable[data-explorable="{explorable_id}"]')
        again.wait_for_function(
            "([f, s]) => f.dataset.state === s",
            arg=[reopened.element_handle(), figure.get_attribute("data-state")],
            timeout=15_000,
        )
        assert explorables.shown(reopened) == left


@pytest.mark.parametrize("name", PAGES)
def test_controls_are_labelled_and_in_the_tab_order(name, page_of):
    page = page_of(name)
    for figure in _figures(page):
        for found in explorables.controls(figure):
            handle = explorables.control(figure, found.name)
            assert handle.evaluate(
                "e => e.tabIndex >= 0 && !e.closest('[hidden], [aria-hidden=true]')"
            )
            label = handle.evaluate("e => e.labels?.[0]?.innerText.trim() ?? ''")
            assert label, f"{found.name} has no visible label"
            if found.kind == "range":
                assert handle.get_attribute("aria-valuetext")
        assert figure.locator(".frame[role=img]").get_attribute("aria-label")


@pytest.mark.parametrize("name", PAGES)
def test_without_javascript_the_default_state_is_there(name, page_of):
    page = page_of(name, javascript=False)
    for figure in _figures(page):
        explorable = figures.load(figure.get_attribute("data-explorable"))
        assert figure.locator(".frame svg").is_visible()
        assert "run" in figure.locator(".how-to-run").inner_text()
        shown_rows = figure.locator("table.readout tr[data-name]")
        assert shown_rows.count() == len(explorable.evaluate(explorable.default_state).rows)
        assert not figure.locator("[data-control]:visible").count(), "a control that does nothing"

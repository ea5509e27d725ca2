"""The pages tell what the package computes: every control, moved by keyboard, every row."""

from __future__ import annotations

import re
from urllib.parse import parse_qs

import pytest
from playwright.sync_api import ElementHandle, Page

from primer import figures
from primer.explore.explorable import Explorable, key
from tests.browser import explorables, pages

SHOWN = pages.explorables()
every_explorable = pytest.mark.parametrize(("name", "explorable_id"), SHOWN)
every_page = pytest.mark.parametrize("name", list(dict.fromkeys(name for name, _ in SHOWN)))
#: Changes of a slider that are timed; `make bench` times more of them.
N_TIMED = 16

_LABELS = """figure => [...figure.querySelectorAll('[data-control]')].map(e => ({
  name: e.dataset.control,
  label: e.labels?.[0]?.innerText.trim() ?? '',
  isReachable: e.tabIndex >= 0 && !e.closest('[hidden], [aria-hidden=true]'),
  says: e.type !== 'range' || Boolean(e.getAttribute('aria-valuetext')),
}))"""

_STILL = """figures => figures.map(figure => ({
  id: figure.dataset.explorable,
  isDrawn: figure.querySelector('.frame svg').checkVisibility(),
  isNamed: Boolean(figure.querySelector('.frame[role=img]').getAttribute('aria-label')),
  howToRun: figure.querySelector('.how-to-run').innerText,
  nRows: figure.querySelectorAll('table.readout tr[data-name]').length,
  nControls: [...figure.querySelectorAll('[data-control]')].filter(e => e.checkVisibility()).length,
}))"""


@pytest.mark.parametrize("name", pages.names())
def test_a_page_has_the_explorables_that_its_source_shows(name, site):
    html = (site / f"{name}.html").read_text("utf-8")
    found = re.findall(r'<figure class="explorable" id="[\w-]+" data-explorable="([\w-]+)"', html)
    assert found == [shown for page, shown in SHOWN if page == name]


@every_explorable
def test_readouts_equal_the_models(name, explorable_id, visit, record_property):
    page = visit(name)
    explorable = figures.load(explorable_id)
    figure = explorables.find(page, explorable_id)
    opening = explorables.shown(figure)
    explorables.assert_true_to_model(explorable, opening)
    found = explorables.controls(figure)
    assert [c.name for c in found] == [c.name for c in explorable.controls]
    state, pictures = figure.get_attribute("data-state"), {opening.pictures}
    for moved in found:
        # Each from the opening state: elsewhere a control may rightly have nowhere to go.
        explorables.bring_to(page, figure, state)
        pictures |= _move_and_compare(page, figure, explorable, moved)
    assert len(pictures) > 1, f"{explorable.id}: the picture never changed"
    _record_latency(page, figure, explorable, record_property)


def _move_and_compare(
    page: Page, figure: ElementHandle, explorable: Explorable, moved: explorables.Control
) -> set[tuple[str, ...]]:
    """Compare after each move of one control; the pictures seen on the way."""
    pictures = set()
    for now in explorables.moves(page, figure, moved):
        explorables.assert_true_to_model(explorable, now)
        pictures.add(now.pictures)
    assert pictures, f"{explorable.id}: nothing moved {moved.name}"
    return pictures


def _record_latency(
    page: Page, figure: ElementHandle, explorable: Explorable, record_property
) -> None:
    """Time the slider with the most places."""
    sliders = [c.name for c in explorables.controls(figure) if c.kind == "range"]
    for slider in sorted(sliders, key=lambda name: -len(explorable.control(name).values))[:1]:
        times = explorables.latency(page, figure, slider, N_TIMED)
        script, painted = (explorables.percentile(times[k], 95) for k in ("script", "frame"))
        said = f"95 % of changes within {script:.1f} ms of script, painted within {painted:.1f} ms"
        record_property(f"measured {explorable.id}, {slider}", said)


@every_page
def test_the_link_to_a_state_opens_that_state(name, visit, page_of):
    page, left = visit(name), {}
    for explorable_id in (shown for where, shown in SHOWN if where == name):
        figure = explorables.find(page, explorable_id)
        for moved in explorables.controls(figure):
            next(explorables.moves(page, figure, moved), None)
        left[explorable_id] = explorables.shown(figure)
        fragment = page.evaluate("location.hash")
        own, _, query = fragment[1:].split(";")[0].partition("?")
        assert own == explorable_id  # the states of other figures stand behind it
        state = explorables.typed_state(figures.load(explorable_id), left[explorable_id].state)
        said = {k: v[0] for k, v in parse_qs(query).items()}
        assert said == {k: key(v) for k, v in state.items()}
    again = page_of(name, fragment=fragment)
    for explorable_id, before in left.items():
        figure = explorables.find(again, explorable_id)
        explorables.wait_for(again, figure, before.state)
        assert explorables.shown(figure) == before


@every_explorable
def test_controls_are_labelled_and_in_the_tab_order(name, explorable_id, visit):
    for found in explorables.find(visit(name), explorable_id).evaluate(_LABELS):
        assert found["isReachable"], found
        assert found["label"], f"{found['name']} has no visible label"
        assert found["says"], f"{found['name']} does not say its value"


@every_page
def test_without_javascript_the_default_state_is_there(name, visit):
    page = visit(name, javascript=False)
    for found in page.locator("figure.explorable").evaluate_all(_STILL):
        explorable = figures.load(found["id"])
        assert found["isDrawn"]
        assert found["isNamed"]
        assert "run" in found["howToRun"]
        assert found["nRows"] == len(explorable.evaluate(explorable.default_state).rows)
        assert not found["nControls"], "a control that does nothing"

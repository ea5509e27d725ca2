"""A learner's way: the notebook in JupyterLab, its cells run, its controls moved by keyboard."""

from __future__ import annotations

import json
import shutil
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Locator

from primer import figures, hardware, roofline
from primer.explore.explorable import Explorable
from primer_book import fingerprint
from tests.browser import explorables, lab

ROOT = Path(__file__).resolve().parents[2]
#: Fields of a roofline point that do not depend on how much work there is.
RATES = (
    "intensity_flop_per_byte",
    "ridge_flop_per_byte",
    "peak_flop_per_s",
    "bandwidth_bytes_per_s",
    "attainable_flop_per_s",
    "bound",
    "peak_frac",
)

# A live figure is replaced as a whole, so it is looked up anew each time.
_MOVED_ON = f"""([output, state, picture]) => {{
  const figure = output.querySelector('figure.explorable');
  return figure && figure.dataset.state !== state
    && ({explorables.DIGEST})(figure.querySelector('.frame svg').outerHTML) !== picture;
}}"""

_CHANGED = """([output, state]) => {
  const figure = output.querySelector('figure.explorable');
  return figure && figure.dataset.state !== state;
}"""
CHAPTERS = sorted(path.name for path in (ROOT / "notebooks").glob("[0-9]*.ipynb"))

pytestmark = pytest.mark.lab


@pytest.fixture
def notebooks(tmp_path):
    source = ROOT / "notebooks" / "01_roofline.ipynb"
    assert source.exists(), "make notebooks"
    shutil.copy(source, tmp_path)
    return tmp_path


def test_roofline_notebook_runs_and_its_explorable_is_live(notebooks, watched):
    context, _ = watched(viewport={"width": 1280, "height": 900})
    with lab.running(notebooks) as server, closing(context.new_page()) as page:
        notebook = lab.Notebook(page, server)
        notebook.open("01_roofline.ipynb")
        assert notebook.run_all() == []
        output = notebook.output_of("roofline").first
        figure = output.locator("figure.explorable")
        _assert_true(figure)
        changed = _move_sliders(output)
        assert "intensity_flop_per_byte" in changed
        assert notebook.problems() == []
        notebook.shut()


@pytest.mark.slow
@pytest.mark.parametrize("name", CHAPTERS)
def test_every_explorable_of_a_chapter_is_live(name, tmp_path, watched):
    shutil.copy(ROOT / "notebooks" / name, tmp_path)
    text = (ROOT / "chapters" / name).with_suffix(".md").read_text("utf-8")
    context, _ = watched(viewport={"width": 1280, "height": 900})
    with lab.running(tmp_path) as server, closing(context.new_page()) as page:
        notebook = lab.Notebook(page, server)
        notebook.open(name)
        assert notebook.run_all() == []
        for shown in fingerprint.explorables(text):
            _assert_live(notebook.output_of(shown).first, figures.load(shown))
        assert notebook.problems() == []
        notebook.shut()


def _assert_live(output: Locator, explorable: Explorable) -> None:
    """It opens in its default state, and a control brings the model's numbers for another."""
    figure = output.locator("figure.explorable")
    assert json.loads(figure.get_attribute("data-state")) == explorable.default_state
    text = figure.get_attribute("data-state")
    if output.get_by_role("slider").count():
        slider = output.get_by_role("slider").last
        is_last = slider.get_attribute("aria-valuenow") == slider.get_attribute("aria-valuemax")
        slider.focus()
        slider.press("ArrowLeft" if is_last else "ArrowRight")
    else:
        menu = output.get_by_role("combobox").first
        menu.select_option(index=(menu.evaluate("menu => menu.selectedIndex") + 1) % 2)
    output.page.wait_for_function(_CHANGED, arg=[output.element_handle(), text], timeout=15_000)
    explorables.assert_true_to_model(explorable, explorables.shown(figure))


def _move_sliders(output: Locator) -> set[str]:
    """Press a key on each slider of a live explorable; the names of the values that changed."""
    figure = output.locator("figure.explorable")
    changed: set[str] = set()
    sliders = output.get_by_role("slider")
    for i in range(sliders.count()):
        for pressed in _keys(sliders.nth(i)):
            before, text = explorables.shown(figure), figure.get_attribute("data-state")
            sliders.nth(i).focus()
            sliders.nth(i).press(pressed)
            known = [output.element_handle(), text, before.pictures[0]]
            output.page.wait_for_function(_MOVED_ON, arg=known, timeout=15_000)
            now = _assert_true(figure)
            changed |= {name for name in now.state if now.state[name] != before.state[name]}
    return changed


def _keys(slider: Locator) -> tuple[str, ...]:
    """Two steps to where there is room."""
    at, end = (float(slider.get_attribute(f"aria-value{x}")) for x in ("now", "max"))
    return ("ArrowRight", "ArrowRight") if at + 2 <= end else ("ArrowLeft", "ArrowLeft")


def _assert_true(figure: Locator) -> explorables.Shown:
    """The live figure shows one picture, and the numbers of the model in this very process."""
    now = explorables.shown(figure)
    explorables.assert_true_to_model(figures.load("roofline"), now)
    _assert_like_place(now)
    return now


def _assert_like_place(now: explorables.Shown) -> None:
    """The same numbers, this time straight from the model, without the explorable."""
    bytes_moved = 2.0**30
    options = {k: v for k, v in now.state.items() if k not in ("chip", "intensity_flop_per_byte")}
    point = roofline.place(
        hardware.load(now.state["chip"]),
        work_flop=now.state["intensity_flop_per_byte"] * bytes_moved,
        traffic_bytes=bytes_moved,
        **options,
    )
    shown = {name: value for name, value, _ in now.rows if name in RATES}
    assert {"attainable_flop_per_s", "bound"} <= shown.keys()
    for name, text in shown.items():
        expected = getattr(point, name)
        if isinstance(expected, str):
            assert text == expected
        else:
            assert float(text) == pytest.approx(expected, rel=1e-12), (name, now.state)

"""Read and drive a `figure.explorable` of a page, as the page contract has it.

Tests and the benchmark share this: what a figure shows at one moment, every move
that a keyboard can make, and what a move costs.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import ElementHandle, Locator, Page

from primer.explore.explorable import Explorable, key

#: A picture as a few numbers, for pictures are only ever compared.
DIGEST = """text => {
  let a = 0x811c9dc5, b = 0;
  for (let i = 0; i < text.length; i++) {
    a = Math.imul(a ^ text.charCodeAt(i), 0x01000193);
    b = Math.imul(b + text.charCodeAt(i), 0x9e3779b1) ^ (b >>> 13);
  }
  return `${text.length} ${a} ${b}`;
}"""

_SHOWN = f"""figure => ({{
  state: figure.dataset.state ?? null,
  rows: [...figure.querySelectorAll('table.readout tr[data-name]')]
    .map(row => [row.dataset.name, row.dataset.value, row.dataset.unit]),
  sentence: figure.querySelector('.sentence')?.textContent.trim() ?? '',
  pictures: [...figure.querySelectorAll('.frame svg')].map(svg => ({DIGEST})(svg.outerHTML)),
}})"""

# Waits until the state is another one (the first move also loads the frames), and reads it.
_CHANGED = f"""async ([figure, before, ms]) => {{
  const end = performance.now() + ms;
  while (figure.dataset.state === before) {{
    if (performance.now() > end) throw new Error(`still in state ${{before}}`);
    await new Promise(done => setTimeout(done));
  }}
  return ({_SHOWN})(figure);
}}"""

_VALUE = """([figure, name]) => {
  const input = figure.querySelector(`[data-control="${name}"]`);
  return [input.type === 'checkbox' ? String(input.checked) : input.value, figure.dataset.state];
}"""

_CHOOSE = """([figure, name, value]) => {
  const input = figure.querySelector(`[data-control="${name}"]`);
  const option = [...input.options].find(o => o.value === value);
  if (input.value === value || option.disabled) return false;
  input.focus();
  input.value = value;
  for (const kind of ['input', 'change']) input.dispatchEvent(new Event(kind, {bubbles: true}));
  return true;
}"""

_IS_IN = """([figure, wanted]) => {
  const state = Object.entries(JSON.parse(figure.dataset.state));
  return state.length === Object.keys(wanted).length
    && state.every(([name, value]) => wanted[name] === value);
}"""

# By way of the address, as a reader's link would.
_OPEN = """([figure, state]) => {
  const query = Object.entries(JSON.parse(state)).map(([k, v]) => `${k}=${encodeURIComponent(v)}`);
  location.hash = `${figure.id}?${query.join('&')}`;
}"""

_CONTROLS = """figure => [...figure.querySelectorAll('[data-control]')].map(input => ({
  name: input.dataset.control,
  kind: input.tagName === 'SELECT' ? 'select' : input.type,
  options: input.tagName === 'SELECT'
    ? [...input.options].filter(o => !o.disabled).map(o => o.value) : [],
}))"""

_LATENCY = """async ([figure, name, n]) => {
  const input = figure.querySelector(`[data-control="${name}"]`);
  const low = Number(input.min || 0), step = Number(input.step) || 1;
  const places = Math.floor((Number(input.max || 100) - low) / step) + 1;
  const painted = () => new Promise(done => requestAnimationFrame(() => setTimeout(done, 0)));
  const script = [], frame = [];
  for (let i = 0; i < n; i++) {
    input.value = low + step * ((i * 7) % places);
    const start = performance.now();
    input.dispatchEvent(new Event('input', {bubbles: true}));
    script.push(performance.now() - start);
    await painted();
    frame.push(performance.now() - start);
  }
  return {script, frame};
}"""

#: What one press of a key on a slider should reach, ends first.
RANGE_KEYS = ("Home", "ArrowRight", "ArrowRight", "End", "ArrowLeft")
MOST_OPTIONS = 8
WAIT_MS = 15_000

#: A handle is faster, a locator finds a figure that was replaced.
Figure = Locator | ElementHandle


@dataclass(frozen=True)
class Shown:
    """What a figure shows at one moment, taken in one piece."""

    state: dict[str, Any]
    rows: tuple[tuple[str, str, str], ...]
    sentence: str
    pictures: tuple[str, ...]


@dataclass(frozen=True)
class Control:
    """A native control: `kind` is "range", "select" or "checkbox"."""

    name: str
    kind: str
    options: tuple[str, ...]


def shown(figure: Figure) -> Shown:
    """What the figure shows now."""
    return _decoded(figure.evaluate(_SHOWN))


def _decoded(raw: dict[str, Any]) -> Shown:
    assert raw["state"], "the figure has no data-state"
    rows = tuple(tuple(row) for row in raw["rows"])
    return Shown(json.loads(raw["state"]), rows, raw["sentence"], tuple(raw["pictures"]))


def controls(figure: Figure) -> list[Control]:
    """The figure's controls, in their order."""
    return [
        Control(raw["name"], raw["kind"], tuple(raw["options"]))
        for raw in figure.evaluate(_CONTROLS)
    ]


def find(page: Page, explorable_id: str) -> ElementHandle:
    """The figure of that id."""
    found = page.query_selector(f'figure.explorable[data-explorable="{explorable_id}"]')
    assert found, f"{explorable_id} is not on the page"
    return found


def moves(page: Page, figure: ElementHandle, moved: Control) -> Iterator[Shown]:
    """Make the control's moves one by one by keyboard; what the figure shows after each."""
    if moved.kind == "select":
        for value in moved.options[:MOST_OPTIONS]:
            before = figure.get_attribute("data-state")
            if page.evaluate(_CHOOSE, [figure, moved.name, value]):
                yield _changed(page, figure, before)
        return
    figure.eval_on_selector(f'[data-control="{moved.name}"]', "e => e.focus()")
    for pressed in RANGE_KEYS if moved.kind == "range" else ("Space", "Space"):
        value, before = page.evaluate(_VALUE, [figure, moved.name])
        page.keyboard.press(pressed)
        if page.evaluate(_VALUE, [figure, moved.name])[0] != value:  # at its end a slider stays
            yield _changed(page, figure, before)


def _changed(page: Page, figure: ElementHandle, before: str | None) -> Shown:
    return _decoded(page.evaluate(_CHANGED, [figure, before, WAIT_MS]))


def wait_for(page: Page, figure: ElementHandle, state: dict[str, Any]) -> None:
    """Wait until the figure is in a state."""
    page.wait_for_function(_IS_IN, arg=[figure, state], timeout=WAIT_MS)


def bring_to(page: Page, figure: ElementHandle, state: str) -> None:
    """Bring the figure to a state (as in its `data-state`) by way of the address."""
    page.evaluate(_OPEN, [figure, state])
    wait_for(page, figure, json.loads(state))


def typed_state(explorable: Explorable, raw: dict[str, Any]) -> dict[str, Any]:
    """A page's state in the controls' own values: JSON has one kind of number."""
    assert set(raw) == {c.name for c in explorable.controls}
    return {c.name: _own_value(c.values, raw[c.name]) for c in explorable.controls}


def _own_value(values: tuple[Any, ...], raw: Any) -> Any:
    for value in values:
        if key(value) == raw or (value == raw and isinstance(value, bool) == isinstance(raw, bool)):
            return value
    raise AssertionError(f"{raw!r} is none of the control's values {values!r}")


def same(text: str, value: float | int | bool | str) -> bool:
    """Whether a `data-value` is exactly that value."""
    if isinstance(value, bool | str):
        return text in (str(value), key(value))
    number = float(text)
    return number == float(value) or (math.isnan(number) and math.isnan(value))


def assert_true_to_model(explorable: Explorable, now: Shown) -> None:
    """Every row of the readout is what `primer` computes for this state at this moment."""
    state = typed_state(explorable, now.state)
    outcome = explorable.evaluate(state)
    assert [row[0] for row in now.rows] == [row.name for row in outcome.rows], state
    for (name, value, unit), row in zip(now.rows, outcome.rows, strict=True):
        assert same(value, row.value), f"{name} in {state}: page {value}, model {row.value!r}"
        assert unit == row.unit, f"unit of {name} in {state}"
    assert now.sentence == outcome.spoken, state
    assert len(now.pictures) == 1, f"{len(now.pictures)} pictures in {state}"


def latency(page: Page, figure: ElementHandle, name: str, n: int) -> dict[str, list[float]]:
    """Milliseconds of `n` changes of a slider: of the script alone, and until painted."""
    times: dict[str, list[float]] = page.evaluate(_LATENCY, [figure, name, n])
    return times


def percentile(values: list[float], percent: float) -> float:
    """The smallest value that `percent` of all do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, math.ceil(percent / 100 * len(ordered)) - 1)]

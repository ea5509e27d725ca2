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

from playwright.sync_api import Locator, Page

from primer.explore.explorable import Explorable, key

_SHOWN = """figure => ({
  state: figure.dataset.state ?? null,
  rows: [...figure.querySelectorAll('table.readout tr[data-name]')]
    .map(row => [row.dataset.name, row.dataset.value, row.dataset.unit]),
  sentence: figure.querySelector('.sentence')?.textContent.trim() ?? '',
  pictures: [...figure.querySelectorAll('.frame svg')].map(svg => svg.outerHTML),
})"""

_CHANGED = """([figure, before]) => (figure.dataset.state ?? null) !== before"""

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


def shown(figure: Locator) -> Shown:
    """What the figure shows now."""
    raw = figure.evaluate(_SHOWN)
    assert raw["state"], "the figure has no data-state"
    rows = tuple(tuple(row) for row in raw["rows"])
    return Shown(json.loads(raw["state"]), rows, raw["sentence"], tuple(raw["pictures"]))


def controls(figure: Locator) -> list[Control]:
    """The figure's controls, in their order."""
    return [
        Control(raw["name"], raw["kind"], tuple(raw["options"]))
        for raw in figure.evaluate(_CONTROLS)
    ]


def control(figure: Locator, name: str) -> Locator:
    """The native control of that name."""
    return figure.locator(f'[data-control="{name}"]')


def moves(figure: Locator, moved: Control) -> Iterator[str]:
    """Make the control's moves one by one by keyboard; each is named after it was made."""
    handle = control(figure, moved.name)
    if moved.kind == "range":
        for pressed in RANGE_KEYS:
            yield from _move(figure, handle, pressed)
    elif moved.kind == "checkbox":
        for _ in range(2):
            yield from _move(figure, handle, "Space")
    else:
        for value in moved.options[:MOST_OPTIONS]:
            yield from _choose(figure, handle, value)


def _move(figure: Locator, handle: Locator, pressed: str) -> Iterator[str]:
    read = "e => e.type === 'checkbox' ? String(e.checked) : e.value"
    value, before = handle.evaluate(read), figure.get_attribute("data-state")
    handle.focus()
    handle.press(pressed)
    if handle.evaluate(read) != value:  # at its end a slider rightly stays
        _settle(figure, before)
        yield pressed


def _choose(figure: Locator, handle: Locator, value: str) -> Iterator[str]:
    if handle.evaluate("e => e.value") == value:
        return
    if handle.locator(f'option[value="{value}"]').evaluate("e => e.disabled"):
        return  # another choice has made it impossible since
    before = figure.get_attribute("data-state")
    handle.focus()
    handle.select_option(value)
    _settle(figure, before)
    yield value


def _settle(figure: Locator, before: str | None) -> None:
    """Wait until the state is another one; the first move also loads the frames."""
    figure.page.wait_for_function(_CHANGED, arg=[figure.element_handle(), before], timeout=15_000)


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


def latency(page: Page, figure: Locator, name: str, n: int = 60) -> dict[str, list[float]]:
    """Milliseconds of `n` changes of a slider: of the script alone, and until painted."""
    times: dict[str, list[float]] = page.evaluate(_LATENCY, [figure.element_handle(), name, n])
    return times


def percentile(values: list[float], percent: float) -> float:
    """The smallest value that `percent` of all do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, math.ceil(percent / 100 * len(ordered)) - 1)]

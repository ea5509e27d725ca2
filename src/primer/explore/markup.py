"""The HTML of an explorable: the same figure element on the page and in a kernel.

The element names and `data-` attributes are a contract: the page script, the
tests, screen readers and teachers' links rely on them.
"""

from __future__ import annotations

import json
from functools import cache
from html import escape
from importlib.resources import files

from primer.explore.explorable import Control, Explorable, Outcome, State, key

SPEEDS_MS = {"slow": 1200, "normal": 400, "fast": 150}
HOW_TO_RUN = (
    "This picture answers to its controls when scripts are allowed. To drive the model itself, "
    "run the chapter as a notebook."
)


@cache
def stylesheet(*names: str) -> str:
    """The style sheets of these names, for a kernel's output, which brings its own."""
    folder = files("primer.explore").joinpath("static")
    return "".join(folder.joinpath(f"{name}.css").read_text("utf-8") for name in names)


def state_json(state: State) -> str:
    """A state as JSON, in the order of the controls."""
    return json.dumps(state, ensure_ascii=False, separators=(",", ":"))


def frame(explorable: Explorable, outcome: Outcome, svg: str) -> str:
    """The picture, with its sentence as text alternative."""
    label = escape(f"{explorable.question} {outcome.spoken}")
    return f'<div class="frame" role="img" aria-label="{label}">{svg}</div>'


def sentence(outcome: Outcome) -> str:
    """The sentence under the figure; it is announced when it changes."""
    return f'<p class="sentence" aria-live="polite">{escape(outcome.spoken)}</p>'


def readout(outcome: Outcome) -> str:
    """The table of exact values: data for tests, text for readers."""
    rows = "".join(
        f'<tr data-name="{escape(row.name)}" data-value="{escape(key(row.value))}" '
        f'data-unit="{escape(row.unit)}">'
        f'<th scope="row">{escape(row.label)}</th><td>{escape(row.text)}</td></tr>'
        for row in outcome.rows
    )
    return f'<table class="readout"><tbody>{rows}</tbody></table>'


def assumes(explorable: Explorable) -> str:
    """The line that names what the model leaves out."""
    return f'<p class="assumes"><span>Assumes</span> {escape(explorable.assumes)}</p>'


def control(explorable: Explorable, knob: Control, state: State) -> str:
    """A native, labelled form control; `data-type` says how its keys are written in JSON."""
    name, value = f"{explorable.id}-{knob.name}", state[knob.name]
    shown = escape(knob.display(value))
    if knob.kind == "toggle":
        checked = " checked" if value else ""
        return (
            f'<div class="control switch"><input type="checkbox" autocomplete="off" id="{name}" '
            f'data-control="{knob.name}" data-type="flag"{checked}>'
            f'<label for="{name}">{escape(knob.label)}</label></div>'
        )
    label = f'<label for="{name}">{escape(knob.label)}</label>'
    if knob.kind == "select":
        return f'<div class="control">{label}{_select(name, knob, value)}</div>'
    values = [[key(v), knob.display(v)] for v in knob.values]
    play = player() if knob.kind == "step" else ""
    return (
        f'<div class="control">{label}<output for="{name}">{shown}</output>'
        f'<input type="range" autocomplete="off" id="{name}" data-control="{knob.name}" '
        f'data-type="{_type(knob)}" '
        f'min="0" max="{_last(explorable, knob, state)}" step="1" value="{knob.index(value)}" '
        f'aria-valuetext="{shown}" data-values="{escape(json.dumps(values, ensure_ascii=False))}">'
        f"{play}</div>"
    )


def _last(explorable: Explorable, knob: Control, state: State) -> int:
    """Index of the last value that can be chosen: where a slider ends."""
    reached = explorable.reach(state, knob.name, knob.values[-1])
    return knob.index((reached or state)[knob.name])


def player() -> str:
    """What plays a stepper, hidden until there is a script to do it."""
    speeds = "".join(
        f'<option value="{interval}"{" selected" if name == "normal" else ""}>{name}</option>'
        for name, interval in SPEEDS_MS.items()
    )
    return (
        '<div class="player" hidden><button type="button" class="play">Play</button>'
        f'<label>speed <select class="speed" autocomplete="off">{speeds}</select></label></div>'
    )


def _select(name: str, knob: Control, value: object) -> str:
    options = "".join(
        f'<option value="{escape(key(v))}"{" selected" if v == value else ""}>'
        f"{escape(knob.display(v))}</option>"
        for v in knob.values
    )
    return (
        f'<select autocomplete="off" id="{name}" data-control="{knob.name}" '
        f'data-type="{_type(knob)}">{options}</select>'
    )


def _type(knob: Control) -> str:
    return "text" if isinstance(knob.values[0], str) else "number"


def page_figure(explorable: Explorable, outcome: Outcome, svg: str) -> str:
    """The whole element for the published page, in one given state."""
    controls = "".join(control(explorable, c, outcome.state) for c in explorable.controls)
    return (
        f"{opening_tag(explorable, outcome)}<figcaption>{escape(explorable.question)}</figcaption>"
        f'<div class="controls" hidden>{controls}</div>{frame(explorable, outcome, svg)}'
        f"{sentence(outcome)}{readout(outcome)}{assumes(explorable)}"
        f'<p class="how-to-run">{escape(HOW_TO_RUN)}</p></figure>'
    )


def opening_tag(explorable: Explorable, outcome: Outcome) -> str:
    """The figure element itself, which carries id, level and state."""
    return (
        f'<figure class="explorable" id="{explorable.id}" data-explorable="{explorable.id}" '
        f'data-level="{explorable.level}" data-state="{escape(state_json(outcome.state))}">'
    )

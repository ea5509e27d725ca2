"""The small form under an exercise, in which a reader of the page checks a number.

What it needs to know is written by the grader that notebooks use, so the page and the notebook
say the same. The key holds the right value and the slips' values; it is encoded, so that nobody
reads an answer in passing, and no more than that: the solution stands folded on the same page.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from docutils import nodes

from primer.exercises import Number, bank, slips
from primer.exercises.number import NOT_WHOLE
from primer_book import depends, numbers
from primer_book.fingerprint import digest
from primer_book.tags import Box, Control, make


def find(number: str, options: Mapping[str, Any]) -> Number:
    """The grader of an exercise: the bank's, or one made from the directive's options.

    Raises ValueError, naming the option, where they do not give a number.
    """
    expression = str(options.get("check") or "").strip()
    if expression:
        return _made(expression, options)
    if given := [name for name in ("unit", "tolerance") if name in options]:
        raise ValueError(f":{given[0]}: needs an expression in :check:")
    try:
        exercise = bank.find(number)
    except ValueError as error:
        raise ValueError(f":check: without an expression: {error}") from error
    if not isinstance(exercise, Number):
        raise ValueError(f":check: is for a number, and {number} is a {type(exercise).__name__}")
    return exercise


def _made(expression: str, options: Mapping[str, Any]) -> Number:
    measure = numbers.measure(expression, str(options.get("unit") or "").strip())
    return Number(
        answer=lambda: measure.value,
        unit=measure.unit,
        rel_tol=tolerance(options.get("tolerance", "0.01")),
        slips=(slips.MULTIPLY_ADD,),
    )


def tolerance(given: str) -> float:
    """The option ``:tolerance:`` as a number."""
    try:
        value = float(given)
    except ValueError:
        value = -1.0
    if not 0 < value < 1:
        raise ValueError(f":tolerance: must be between 0 and 1, got {given!r}")
    return value


def depends_on(number: str) -> str:
    """Name of what a page with this exercise's form takes from the bank."""
    return f"check {number}"


def _digest(number: str, root: Path) -> str:
    """What the form holds now: its page is read again when that changes."""
    exercise = bank.find(number)
    return digest([f"{exercise.asked()}{key(exercise)}"], [])


for _number, _exercise in bank.exercises().items():
    if isinstance(_exercise, Number):
        depends.register(depends_on(_number), partial(_digest, _number))


def key(exercise: Number) -> str:
    """All that the script compares an answer with, encoded."""
    right = exercise.ends()
    rel_tol, abs_tol = exercise.tolerances
    known = {
        "right": right,
        "rel_tol": rel_tol,
        "abs_tol": abs_tol,
        "whole": NOT_WHOLE if exercise.is_whole else "",
        "accepted": [
            {"ends": ends, "hint": also.hint}
            for also in exercise.accepted
            for ends in also.ends(right)
        ],
        "slips": [
            {"ends": ends, "rel_tol": slip.rel_tol, "hint": slip.hint}
            for slip, ends in exercise.wrongs()
        ],
        "otherwise": exercise.otherwise,
    }
    return base64.b64encode(json.dumps(known).encode("ascii")).decode("ascii")


def form(number: str, exercise: Number) -> nodes.Node:
    """The form; hidden until the script that can read it has loaded."""
    anchor = f"check-{number.replace('.', '-')}"
    reader = exercise.reader
    made = make(Box, "form", classes=["check"], ids=[anchor])
    made["html"] = {
        "autocomplete": "off",
        "hidden": "hidden",
        "data-key": key(exercise),
        "data-unit": "" if reader.base == "1" else reader.base,
        "data-written": reader.written,
        "data-about": reader.about,
        "data-factor": repr(reader.factor),
    }
    asked = f"Asked for: {exercise.asked()}."
    made += entry(anchor, label="Check my answer", button="Check", unit=reader.written, asked=asked)
    made += result(anchor)
    return made


def entry(
    anchor: str,
    *,
    label: str,
    button: str,
    unit: str,
    about: str = "",
    asked: str = "",
    **html: str,
) -> nodes.Node:
    """A row of label, field, unit and button, and what is asked for under it."""
    notes = {"unit": unit, "asked": asked}
    spans = {
        name: make(Control, "span", nodes.Text(text), classes=[name], ids=[f"{anchor}-{name}"])
        for name, text in notes.items()
        if text
    }
    described = [*([about] if about else []), *(span["ids"][0] for span in spans.values())]
    field = make(
        Control, "input", ids=[f"{anchor}-field"], type="text", autocapitalize="off",
        spellcheck="false", **{"aria-describedby": " ".join([*described, f"{anchor}-result"])},
    )  # fmt: skip
    parts = [
        make(Control, "label", nodes.Text(label), **{"for": f"{anchor}-field"}),
        field,
        *([spans["unit"]] if unit else []),
        make(Control, "button", nodes.Text(button), type="submit"),
        *([spans["asked"]] if asked else []),
    ]
    return make(Control, "div", *parts, classes=["entry"], **html)


def result(anchor: str) -> nodes.Node:
    """The line in which a script answers."""
    return make(
        Control, "p", classes=["result"], ids=[f"{anchor}-result"], **{"aria-live": "polite"}
    )

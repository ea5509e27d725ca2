"""The form under an exercise says what the grader of the notebook says, and never the answer."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

import pytest
import quickjs

from primer.exercises import Number, bank, slips
from primer_book import checks

STATIC = Path(__file__).resolve().parents[2] / "book" / "_static"
NUMBERS = {name: e for name, e in bank.exercises().items() if isinstance(e, Number)}
FORM = """
function check(data, written) {
  let submit;
  const field = {value: written, setAttribute() {}, focus() {}};
  const parts = {".result": {}, input: field};
  const form = {
    dataset: data, hidden: true, classList: {toggle() {}},
    addEventListener(kind, listener) { submit = listener; },
    querySelector(selector) { return parts[selector]; },
  };
  globalThis.document = {querySelectorAll() { return [form]; }};
  SCRIPTS.forEach((script) => (0, eval)(script));
  submit({preventDefault() {}});
  return JSON.stringify([parts[".result"].textContent, form.hidden]);
}
"""


def page_says(exercise: Number, typed: str) -> str:
    """The form's verdict, as the script finds it."""
    context = quickjs.Context()
    scripts = [(STATIC / name).read_text("utf-8") for name in ("reading.js", "check.js")]
    context.add_callable("atob", lambda text: base64.b64decode(text).decode("latin-1"))
    context.eval(f"const SCRIPTS = {json.dumps(scripts)};{FORM}")
    html = checks.form("1.1", exercise)["html"]
    data = {k.removeprefix("data-"): v for k, v in html.items() if k.startswith("data-")}
    said, is_hidden = json.loads(context.eval(f"check({json.dumps(data)}, {json.dumps(typed)})"))
    assert is_hidden is False
    return str(said)


def typed_answers(exercise: Number) -> list[str]:
    """The right answer, every slip, what lies near them, and something else."""
    factor = exercise.reader.factor
    ends = [exercise.ends(), *(e for _, e in exercise.wrongs())]
    ends += [e for also in exercise.accepted for e in also.ends(exercise.ends())]
    values = [end / factor for pair in ends for end in pair]
    values += [1.004 * value for value in values] + [1.37 * values[0] + 0.11]
    return [repr(value) for value in values]


@pytest.mark.parametrize("name", NUMBERS)
def test_page_and_notebook_agree(name: str) -> None:
    exercise = NUMBERS[name]
    seen = set()
    for typed in typed_answers(exercise):
        assert page_says(exercise, typed) == str(exercise.grade(typed)), typed
        seen.add(page_says(exercise, typed))
    assert len(seen) >= 3


LINK = Number(lambda: 450e9, unit="GB/s", slips=(slips.TWO_WAY_LINK,))
SHARE = Number(lambda: 0.21875, unit="%", slips=(slips.RATIO_FOR_SHARE, slips.OTHER_PART))
RANGE = Number(lambda: (141.3, 282.6), slips=(slips.WIDE_ACCESS,))
COUNT = Number(lambda: 12000.0, unit="warps", is_whole=True, slips=(slips.OFF_BY_ONE,))


@pytest.mark.parametrize(
    ("exercise", "typed"),
    [
        *[(LINK, t) for t in ("450", "450 GB/s", "4.5e11 B/s", "0.45 TB/s", "3600 Gb/s", "900")],
        *[(LINK, t) for t in ("450 MB/s", "3600", "~ 450", "450e9", "419", "480 GiB/s", "17")],
        *[(SHARE, t) for t in ("21.9", "21.9 %", "21,9 %", "0.219", "28", "78.1 %", "7/32")],
        *[(RANGE, t) for t in ("200", "141-283", "141 to 283", "150 – 200", "300", "300-500")],
        *[(RANGE, t) for t in ("140", "1e2-2e2", "2e-3", "0.006")],
        *[(COUNT, t) for t in ("12000", "12,000", "12 000 warps", "12001", "11999.5", "12 k")],
    ],
)
def test_page_and_notebook_read_alike(exercise: Number, typed: str) -> None:
    if typed == "12 k":  # a prefix alone is a habit of forms
        assert page_says(exercise, typed) == "✓ Right."
    else:
        assert page_says(exercise, typed) == str(exercise.grade(typed))


@pytest.mark.parametrize("typed", ["", "apples", "3 apples", "1..2", "5 s", "--1", "1e999"])
def test_what_is_no_number_gets_a_message(typed: str) -> None:
    said = page_says(LINK, typed)
    assert said.startswith(f"“{typed}” is not a number here" if typed else "Write a number first")
    assert "450" not in said


@pytest.mark.parametrize("name", NUMBERS)
def test_the_answer_is_not_in_plain_sight(name: str) -> None:
    exercise = NUMBERS[name]
    html = checks.form(name, exercise)["html"]
    shown = " ".join(str(value) for key, value in html.items() if key != "data-key")
    found = [float(number) for number in re.findall(r"\d+(?:\.\d+)?", shown + exercise.asked())]
    assert not any(exercise.grade(number).is_right for number in found if number not in (0, 1, 2))
    assert "right" not in str(html["data-key"])


def _find(**options: Any) -> Number:
    return checks.find("1.1", options)


def test_without_an_expression_the_bank_is_asked() -> None:
    assert _find(check="") is bank.find("1.1")
    with pytest.raises(ValueError, match="exercise must be one of"):
        checks.find("77.1", {"check": None})
    with pytest.raises(ValueError, match=r"1\.4 is a Function"):
        checks.find("1.4", {"check": ""})
    with pytest.raises(ValueError, match=":unit: needs an expression"):
        _find(check="", unit="s")


def test_an_expression_is_evaluated_from_the_models() -> None:
    made = _find(check="h100_sxm5_80gb.bandwidth", unit="TB/s", tolerance="0.05")
    assert page_says(made, "3.4") == "✓ Right."
    assert "two" in page_says(made, "6.7 TB/s")
    assert "bits" in page_says(made, "26.8")
    assert "prefixes" in page_says(made, "3350")
    assert "binary" in page_says(made, str(3.35 * 1.073741824))
    fraction = _find(check="1 / 12")
    assert page_says(fraction, "1/12") == page_says(fraction, "8.3 %") == "✓ Right."
    assert "percent" in page_says(fraction, "8.33")
    with pytest.raises(ValueError, match="between 0 and 1, got '7'"):
        _find(check="1 / 12", tolerance="7")
    with pytest.raises(ValueError, match="must be a known unit"):
        _find(check="1 / 12", unit="TBs")

"""The form under an exercise says what the grader of the notebook says, and never the answer."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

import pytest
import quickjs
from hypothesis import given
from hypothesis import strategies as st

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


#: Texts that the page and the notebook must read as the same number, or both refuse; by unit.
TEXTS = {
    "": (
        "sqrt(2)**2",
        "1/12",
        "2 + 3*4",
        "(2 + 3)*4",
        "-2**2",
        "2**-1",
        "2**3**2",
        "2^10",
        "2⁻³",
        "10 - 4 - 3",
        "12/4/3",
        "3×10⁸",
        "7·3",
        "8÷2",
        "1,5×10³",
        "1,000 − 1",
        "(1,000 + 1)*2",
        "12 000",
        "12'000",
        "1 000 000/2",
        "1_000",
        "0,219",
        "0,219 + 1",
        "1,234,567.8",
        ".5",
        "5.",
        "1e3",
        "2.5E-3",
        "- 3",
        "+4",
        "2*-3",
        "2 - -3",
        "21.9 %",
        "21,9%",
        "50 percent",
        "4x",
        "4.1 ×",
        "4 times",
        "x = 5",
        "x=5.",
        "≈ 3.5",
        "= 7",
        "t_1 = 2/3",
        "sqrt(16)/4 x",
        "2*pi",
        "log2(8)",
        "3 ratios",
        "3 ratio per token",
        "sqrt (4)",
        "2/sqrt(4)",
        "2 *sqrt(4)",
        "",
        "1/0",
        "sqrt(-1)",
        "(-8)**(1/3)",
        "0**-1",
        "9**9**9",
        "1e999",
        "1/1e999",
        "1e-400",
        "2(3)",
        "(2",
        "2)",
        "()",
        "sqrt",
        "sqrt()",
        "2 3",
        "1..2",
        "1,2,3",
        "1,,2",
        "--1",
        "* 2",
        "3 apples",
        "2n",
        "nan",
        "inf",
        "constructor",
        "3 constructor",
        "x == 5",
        "0x",
        "1j",
        "e",
        "pi(2)",
        "alert(1)",
        "[1]",
        "1;2",
        "1 if 1 else 2",
        "3 to",
        "3 %%",
        "5 ms",
        "1" * 201,
    ),
    "ms": (
        "24",
        "24 ms",
        "24ms.",
        "0.024 s",
        "24000 µs",
        "24000 μs",
        "24000us",
        "24 milliseconds",
        "24 Millisecond.",
        "0.024 seconds",
        "1 sec",
        "24000 microseconds",
        "2.4e7 nanoseconds",
        "T = 24 ms",
        "12e8/50e9 s",
        "48/2 ms",
        "24 ks",
        "24 kiloseconds",
        "24 B",
        "24 m s",
        "24 %",
    ),
    "GB/s": (
        "450",
        "450 GB/s",
        "4.5e11 B/s",
        "0.45 TB/s",
        "3600 Gb/s",
        "3600 Gbit/s",
        "450 GB / s",
        "450 gigabytes per second",
        "450 GB per second",
        "450 GiB/s",
        "3600 gigabits/s",
        "450 KB/s",
        "450 GB",
        "450 mB/s",
        "450 GB/sec",
        "450 gibibytes/second",
        "450 GB/s/s",
    ),
    "FLOP/B": ("295.3", "1/12 FLOP/B", "4 flop/byte", "4 FLOPs per byte", "4 OP/B", "4 kFLOP/B"),
    "TFLOP/s": ("989", "989 TOP/s", "1 PFLOP/s", "1 petaflop per second", "989 TFLOPS"),
    "MB": ("80 MiB", "640 Mbit", "80 megabytes", "8 bits", "80 Mb", "8e7 bytes", "3 µB"),
    "%": ("50", "50%", "0.5 x", "50 percent", "50 ratios"),
    "tokens": ("569", "569 tokens", "1 token.", "7·3 tokens", "T = 569", "569 warps", "569 tok"),
    "W": ("3 kW", "3 milliwatts", "3 mW", "3 uW", "3 watt", "3 KW"),
}


def page_reads(exercise: Number, texts: tuple[str, ...]) -> list[float | None]:
    context = quickjs.Context()
    context.eval((STATIC / "reading.js").read_text("utf-8"))
    html = checks.form("1.1", exercise)["html"]
    data = {k.removeprefix("data-"): v for k, v in html.items() if k.startswith("data-")}
    call = (
        f"JSON.stringify({json.dumps(texts)}.map((t) => primerReading.read(t, {json.dumps(data)})))"
    )
    return list(json.loads(context.eval(call)))


@pytest.mark.parametrize("unit", TEXTS)
def test_page_and_notebook_read_the_same_numbers(unit: str) -> None:
    exercise = Number(lambda: 0.5, unit=unit, what="the ratio per token")
    found = {}
    for typed in TEXTS[unit]:
        try:
            found[typed] = exercise.reader.read(typed)[0]
        except ValueError:
            found[typed] = None
    for typed, value in zip(found, page_reads(exercise, tuple(found)), strict=True):
        wanted = found[typed]
        assert value == (None if wanted is None else pytest.approx(wanted, rel=1e-14)), typed
    assert sum(value is not None for value in found.values()) >= 3


_ARITHMETIC = st.recursive(
    st.sampled_from(["2", "3.5", "1e3", "0,5", "1,000", "12 000", ".25"]),
    lambda inner: st.one_of(
        st.builds("{} {} {}".format, inner, st.sampled_from(["+", "-", "*", "/", "×"]), inner),
        st.builds("{}**{}".format, inner, st.sampled_from(["2", "-1", "0.5"])),
        st.builds("({})".format, inner),
        st.builds("-{}".format, inner),
        st.builds("sqrt({})".format, inner),
    ),
    max_leaves=8,
)


@given(st.lists(_ARITHMETIC, min_size=20, max_size=40))
def test_arithmetic_is_the_same_on_the_page(texts: list[str]) -> None:
    exercise = Number(lambda: 0.5)
    for typed, value in zip(texts, page_reads(exercise, tuple(texts)), strict=True):
        try:
            wanted = exercise.reader.read(typed)[0]
        except ValueError:
            assert value is None, typed
        else:
            assert value == pytest.approx(wanted, rel=1e-9, abs=1e-9), typed


@pytest.mark.parametrize(
    "typed", ["200 multiply-adds", "141 to 283 multiply-adds.", "x = 200", "sqrt(40000)"]
)
def test_page_and_notebook_know_what_a_number_is_about(typed: str) -> None:
    exercise = Number(lambda: (141.3, 282.6), what="multiply-adds per number")
    assert page_says(exercise, typed) == str(exercise.grade(typed)), typed


@pytest.mark.parametrize(
    "typed", ["", "apples", "3 apples", "1..2", "5 s", "--1", "1e999", "1/0", "alert(1)"]
)
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

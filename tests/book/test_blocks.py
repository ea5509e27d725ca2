"""The directives of a chapter, as Sphinx builds them, and the script that reads predictions."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import quickjs
from bs4 import BeautifulSoup
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace, patch_docutils

STATIC = Path(__file__).resolve().parents[2] / "book" / "_static"
RIDGE = 989.4e12 / 3.35e12
CHAPTER = """\
# Title

:::{promise}
You will predict *much*, such as {num}`h100_sxm5_80gb.peak.bf16`.
:::

(the-roof)=
## The roof

:::{predict} the-ridge
:answer: h100_sxm5_80gb.ridge_flop_per_byte("bf16")
:unit: FLOP/B
:tolerance: 0.2
:reveal: The peak is {num}`h100_sxm5_80gb.peak.bf16`.

Where is the **ridge**?
:::

:::{takeaway}
:killer: the-roof The canonical roofline
:model: A *slope* and a roof

One sentence.
:::

## Exercises

::::{exercise} 1.1 A title
:kind: break-it

Break $x$, unlike {ref}`ex-1-1`.

:::{solution}
It is {num}`2 + 2`.
:::
::::

:::{lies}
- Much is left out.
:::

:::{deeper}
- A book.
:::
"""
Build = Callable[..., tuple[BeautifulSoup, str]]


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """Build one page in a project of its own: (its HTML, what Sphinx complained about)."""

    def build_page(text: str, builder: str = "html") -> tuple[BeautifulSoup, str]:
        source, out = tmp_path / "source", tmp_path / builder
        source.mkdir(exist_ok=True)
        (source / "index.md").write_text(text, "utf-8")
        complaints = io.StringIO()
        options: dict[str, Any] = {
            "extensions": ["myst_parser", "primer_book.numbers", "primer_book.blocks"],
            "myst_enable_extensions": ["colon_fence", "dollarmath"],
            "html_theme": "basic",
            "html_static_path": [str(STATIC)],
            "suppress_warnings": ["config.cache"],
        }
        with patch_docutils(), docutils_namespace():
            app = Sphinx(
                source, None, out, out / "doctrees", builder, options, status=None,
                warning=complaints, freshenv=True,
            )  # fmt: skip
            app.config.nitpicky = True
            app.build()
        suffix = "html" if builder == "html" else "txt"
        page = (out / f"index.{suffix}").read_text("utf-8")
        return BeautifulSoup(page, "html.parser"), complaints.getvalue()

    return build_page


def _scripts(page: BeautifulSoup) -> list[str]:
    """The deferred scripts of the book's own, in their order."""
    sources = [str(script["src"]) for script in page.select("script[src*='_static/'][defer]")]
    return [source.split("/")[-1].split("?")[0] for source in sources]


def test_page_contract(build: Build) -> None:
    page, complaints = build(CHAPTER)
    assert complaints == ""
    number = page.select_one("div.promise span.num")
    assert number is not None
    assert number.text == "989.4 TFLOP/s"
    assert number["title"] == "h100_sxm5_80gb.peak.bf16"
    exercise = page.select_one("section.exercise#ex-1-1")
    assert exercise is not None
    assert exercise.h3 is not None
    assert exercise.h3.text.startswith("Exercise 1.1 — A title break it")
    assert exercise.select_one("details.solution:not([open]) span.num") is not None
    assert "unlike Exercise 1.1" in exercise.text
    link = page.select_one("div.takeaway dd a[href='#the-roof']")
    assert link is not None
    assert link.text == "The canonical roofline"
    assert [term.text for term in page.select("div.takeaway dt")] == [
        "The figure", "Mental model", "Takeaway",
    ]  # fmt: skip
    assert page.select_one("div.takeaway dd em") is not None
    assert page.select_one("div.lies li") is not None
    assert page.select_one("details.deeper:not([open]) li") is not None
    assert _scripts(page) == ["reading.js", "predict.js"]


def test_prediction_form(build: Build) -> None:
    form = build(CHAPTER)[0].select_one("form.predict")
    assert form is not None
    assert form["data-value"] == repr(RIDGE)
    assert (form["data-unit"], form["data-factor"]) == ("FLOP/B", "1.0")
    assert form["data-tolerance"] == "0.2"
    field = form.select_one("input")
    assert field is not None
    label = form.select_one(f"label[for='{field['id']}']")
    assert label is not None
    for name in str(field["aria-describedby"]).split():
        assert form.select_one(f"#{name}") is not None, name
    assert form.select_one("[aria-live=polite]") is not None
    assert form.select_one(".question strong") is not None
    answer = form.select_one("details:not([open])")
    assert answer is not None
    assert "The model says 295.3 FLOP/B. The peak is 989.4 TFLOP/s." in answer.text
    answer.extract()
    assert "295" not in form.text


def test_page_without_prediction_loads_no_script(build: Build) -> None:
    page, complaints = build("# Title\n\n:::{promise}\nText\n:::\n")
    assert complaints == ""
    assert _scripts(page) == []


def test_other_writers_print_the_contents(build: Build) -> None:
    page, complaints = build(CHAPTER, "text")
    assert complaints == ""
    for text in ("989.4 TFLOP/s", "Where is the **ridge**?", "295.3 FLOP/B", "Solution of 1.1"):
        assert text in page.text
    assert "Commit" not in page.text


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("{num}`2 + 2`", "{num}`2 + h100`", ":34: ERROR: num: 'h100' is neither a chip"),
        ("the-roof The", "no-roof The", "undefined label: 'no-roof'"),
        (":killer: the-roof The canonical roofline\n", "", "the option :killer: is missing"),
        (":killer: the-roof The canonical roofline", ":killer: the-roof", "LABEL Title"),
        (":model: A *slope* and a roof", "", "the option :model: is missing"),
        (":kind: break-it", ":kind: riddle", "riddle"),
        (":kind: break-it\n", "", "the option :kind: is missing"),
        ("{exercise} 1.1", "{exercise} one", "must look like 1.1"),
        (":::{solution}", ":::{deeper}", "has no {solution} inside"),
        (":::{deeper}", ":::{solution}", "must stand inside an exercise"),
        (":unit: FLOP/B", ":unit: FLOPs/B", "FLOPs/B"),
        (":unit: FLOP/B\n", "", "the option :unit: is missing"),
        (":tolerance: 0.2", ":tolerance: 20", "between 0 and 1, got '20'"),
        ("{predict} the-ridge", "{predict} The-ridge", "must be lower case"),
        (':answer: h100_sxm5_80gb.ridge_flop_per_byte("bf16")', ":answer: 1 - 2", "above zero"),
        ("Where is the **ridge**?\n", "", "none found"),
        ("- A book.\n", "", "none found"),
    ],
)
def test_mistakes_are_errors(build: Build, old: str, new: str, complaint: str) -> None:
    assert CHAPTER.count(old) == 1
    complaints = build(CHAPTER.replace(old, new))[1]
    assert complaint in complaints
    assert "index.md:" in complaints


def test_an_exercise_exists_once(build: Build) -> None:
    exercise = CHAPTER[CHAPTER.index("::::{exercise}") : CHAPTER.index(":::{lies}")]
    assert "Exercise 1.1 exists already" in build(CHAPTER + "\n" + exercise)[1]


FAKE_FORM = """
function guess(data, written) {
  let submit;
  const field = {value: written, readOnly: false, setAttribute() {}, focus() {}};
  const parts = {".result": {}, ".answer": {}, ".entry": {}};
  const form = {
    dataset: data, classList: {add() {}},
    addEventListener(kind, listener) { submit = listener; },
    querySelector(selector) { return parts[selector]; },
    querySelectorAll() { return [field, {}]; },
  };
  globalThis.document = {querySelectorAll() { return [form]; }};
  SCRIPTS.forEach((script) => (0, eval)(script));
  const before = parts[".answer"].hidden;
  submit({preventDefault() {}});
  return JSON.stringify([parts[".result"].textContent, before, parts[".answer"].hidden]);
}
"""


def _texts(*names: str) -> str:
    return json.dumps([(STATIC / name).read_text("utf-8") for name in names])


def guess(typed: str, /, **data: str) -> tuple[str, bool]:
    """What the script says about a guess, and whether it then shows the answer."""
    known = {"value": repr(RIDGE), "unit": "FLOP/B", "written": "FLOP/B", "factor": "1.0"}
    context = quickjs.Context()
    context.eval(f"const SCRIPTS = {_texts('reading.js', 'predict.js')};{FAKE_FORM}")
    given = json.dumps({**known, "tolerance": "0.1", **data}), json.dumps(typed)
    said, hidden_before, hidden_after = json.loads(context.eval(f"guess({given[0]}, {given[1]})"))
    assert hidden_before is True
    return said, not hidden_after


PEAK = {"value": "989400000000000.0", "unit": "FLOP/s", "written": "TFLOP/s", "factor": "1e12"}
TWELFTH = {"value": repr(1 / 12)}
THOUSAND = {"value": "1000.0", "unit": "", "written": "tiles"}
SHARE = {"value": "0.5", "unit": "", "written": "%", "factor": "0.01"}
BYTES = {"value": "2097152.0", "unit": "B", "written": "MiB", "factor": "1048576.0"}


@pytest.mark.parametrize(
    ("written", "data", "said"),
    [
        ("300", {}, "within 10%"),
        ("886", {}, "3.0 times too high"),
        ("100", {}, "3.0 times too low"),
        ("3e2", {}, "within 10%"),
        ("~ 3.6E+2", {}, "22% too high"),
        ("200 FLOP/B", {}, "32% too low"),
        ("0.3 k", {}, "within 10%"),
        ("295343", {}, "1000 times too high"),
        ("0,083", TWELFTH, "within 10%"),
        (".083", TWELFTH, "within 10%"),
        ("1/12", TWELFTH, "within 10%"),
        ("83 m", TWELFTH, "within 10%"),
        ("1", TWELFTH, "12 times too high"),
        ("1,000", THOUSAND, "within 10%"),
        ("1 000 tiles", THOUSAND, "within 10%"),
        ("1,0", THOUSAND, "1000 times too low"),
        ("1.5 T", PEAK, "660 times too low"),
        ("989.4e12 FLOP/s", PEAK, "within 10%"),
        ("1 PFLOP/s", PEAK, "within 10%"),
        ("989", PEAK, "within 10%"),
        ("50", SHARE, "within 10%"),
        ("50 %", SHARE, "within 10%"),
        ("50 %", {**SHARE, "written": "times", "factor": "1.0"}, "within 10%"),
        ("2", BYTES, "within 10%"),
        ("2 MB", BYTES, "within 10%"),
        ("2048 KiB", BYTES, "within 10%"),
    ],
)
def test_guesses_are_read(written: str, data: dict[str, str], said: str) -> None:
    verdict, is_shown = guess(written, **data)
    assert said in verdict
    assert is_shown


@pytest.mark.parametrize(
    "written", ["abc", "3..4", "1,2,3", "3 apples", "1 TB", "--3", "e5", "1/", "30 %"]
)
def test_other_text_gets_a_message(written: str) -> None:
    verdict, is_shown = guess(written)
    assert verdict.startswith(f"“{written}” is not a number here")
    assert not is_shown


@pytest.mark.parametrize(
    ("written", "message"),
    [("  ", "Write a number first."), ("-3", "above zero"), ("0", "above zero")],
)
def test_no_number_gets_a_message(written: str, message: str) -> None:
    verdict, is_shown = guess(written)
    assert message in verdict
    assert not is_shown

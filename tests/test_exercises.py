"""Graders: the reference passes, each typical mistake gets its own hint, nothing gives answers."""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize
from pathlib import Path

import pytest

from primer import exercises, units
from primer.exercises import Choice, Number, Slip, bank, slips

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = Path(exercises.__file__).parent
NUMBERS = {name: e for name, e in bank.exercises().items() if isinstance(e, Number)}
OCCUPANCY = Number(
    answer=lambda: 7 / 32,  # 2 blocks of 7 warps among 64
    slips=(slips.RATIO_FOR_SHARE, slips.OTHER_PART),
)


# --- right answers (K1) ------------------------------------------------------------


@pytest.mark.parametrize("answer", ["sqrt(2)**2", 2**0.5 * 2**0.5, 1.9999999998, "2", "4/2", "2x"])
def test_rounding_does_not_make_an_answer_wrong(answer):
    assert Number(answer=lambda: 2.0, rel_tol=1e-6).grade(answer).is_right
    assert Number(answer=lambda: 1.0).grade(0.9999999998).is_right


@pytest.mark.parametrize("answer", [0.21875, 0.219, "0.219", "21.9 %", "21,9%", "7/32"])
def test_equivalents_of_a_share_are_right(answer):
    assert OCCUPANCY.grade(answer).is_right


def test_a_bare_percentage_gets_a_hint_about_the_unit():
    verdict = OCCUPANCY.grade(21.9)
    assert verdict.is_right is False
    assert "percent or fraction" in verdict.message


def test_tolerances_are_the_stated_ones():
    exercise = Number(answer=lambda: 100.0, rel_tol=0.02, abs_tol=5.0, unit="s")
    assert exercise.asked() == "a number in s, right within 2 % of its value or 5 s"
    assert exercise.grade(95).is_right
    assert exercise.grade(105).is_right
    assert not exercise.grade(94.9).is_right
    assert "within 2 %" in exercise.grade(None).message
    whole = Number(answer=lambda: 569.0, unit="tokens", is_whole=True)
    assert whole.grade(569).is_right
    assert "whole number" in whole.grade(568.6).message


def test_zero_is_met_exactly_or_within_the_absolute_tolerance():
    assert Number(answer=lambda: 0.0).grade("1 - 1").is_right
    assert not Number(answer=lambda: 0.0).grade(1e-9).is_right
    assert Number(answer=lambda: 0.0, abs_tol=1e-6).grade(1e-9).is_right


@pytest.mark.parametrize("blank", [None, "", "  ", ...])
@pytest.mark.parametrize("name", bank.ids())
def test_no_answer_is_neither_right_nor_wrong(name, blank):
    verdict = exercises.check(name, blank)
    assert verdict.is_right is None
    assert verdict.message.startswith("No answer yet. Asked for: ")


# --- the bank: references, slips, hand values ---------------------------------------


@pytest.mark.parametrize(
    ("name", "answers"),
    [
        # 45 nm: 1.3 to 2.6 nJ per 64-bit access, a quarter of it for 16 bits, over 1.1 + 0.4 pJ
        ("0.1", [216.7, 433, 300, "217-433", "217 to 433", (220, 400)]),
        ("0.2", [5, "5", "15/3", 5.0]),  # 15 machines, 3 parts a second
        # 3 arrays of 4e8 B over 50 GB/s; with write-allocate 4 arrays
        ("0.3", ["24 ms", 24, "0.024 s", "12e8/50e9 s", "32 ms"]),
        ("1.1", [569, "569 tokens", 569.0]),  # 295.34·768·3072 / (768·3072 − 295.34·3840) = 568.9
        ("1.2", ["5.3/3.35", 1.58, 1.6, "1.6x"]),
        ("1.3", [2, "2x", "16/8", "2 times"]),
    ],
)
def test_hand_values_are_right(name, answers):
    for answer in answers:
        assert exercises.check(name, answer).is_right, answer


def test_the_accepted_reading_is_named():
    assert "write-allocate" in exercises.check("0.3", "32 ms").message
    assert "write-allocate" not in exercises.check("0.3", "24 ms").message


@pytest.mark.parametrize(
    ("name", "answer", "hint"),
    [
        ("0.1", 600, "wide is the access"),
        ("0.1", "867 to 1733", "wide is the access"),
        ("0.1", "812 to 1625", "Those are adds"),
        ("0.1", "295 to 591", "Those are multiplies"),
        ("0.2", 0.2, "upside down"),
        ("0.2", 45, "divide"),
        ("0.3", "16 ms", "The result"),
        ("0.3", "24 s", "prefixes"),
        ("0.3", "192 ms", "eight bits"),
        ("0.3", "22.35 ms", "binary"),
        ("1.1", 295, "the ridge itself"),
        ("1.1", 568, "Very close"),
        ("1.1", 570, "Very close"),
        ("1.1", 568.9, "whole number"),
        ("1.2", 1.32, "ratio of the peaks"),
        ("1.2", 0.632, "Upside down"),
        ("1.3", 1, "The work stays"),
        ("1.3", 0.25, "That is an intensity"),
        ("1.3", 7, "Count the numbers"),
    ],
)
def test_wrong_turns_are_recognized(name, answer, hint):
    verdict = exercises.check(name, answer)
    assert verdict.is_right is False
    assert hint in verdict.message


@pytest.mark.parametrize("name", NUMBERS)
def test_every_slip_gives_its_own_hint(name):
    exercise = NUMBERS[name]
    right = exercise.ends()
    first_at: dict[tuple[float, float], str] = {}
    for slip, ends in exercise.wrongs():
        key = (round(ends[0], 9), round(ends[1], 9))
        if key == (round(right[0], 9), round(right[1], 9)):
            pytest.fail(f"{name}: the slip {slip.name!r} leads to the right answer")
        hint = first_at.setdefault(key, slip.hint)
        # In the far half of a range, the near half of which is right or another slip's.
        answer = ends[1] / exercise.reader.factor
        verdict = exercise.grade(answer)
        others = [s.hint for s, e in exercise.wrongs() if e[0] <= ends[1] <= e[1]]
        assert verdict.is_right is False, slip.name
        assert verdict.message in (f"Not yet. {hint}", f"Not yet. {others[0]}"), slip.name


@pytest.mark.parametrize("slip", slips.CATALOGUE, ids=lambda slip: slip.name)
def test_the_catalogue_speaks_for_itself(slip):
    used = slip if slip.wrongs else slip.times(132)
    exercise = Number(answer=lambda: 0.3, unit="FLOP/B", slips=(used,))
    for _, ends in zip(used.wrongs, used.ends((0.3, 0.3)), strict=True):
        assert exercise.grade(ends[0]).message == f"Not yet. {slip.hint}"
    assert not re.search(r"\d", slip.hint), "a digit in a hint may be somebody's answer"


# --- priority ----------------------------------------------------------------------


def test_slips_that_coincide_speak_in_their_order():
    both = (slips.SPARSE_PEAK, slips.MULTIPLY_ADD)
    for first, second in (both, both[::-1]):
        exercise = Number(answer=lambda: 3.0, slips=(first.times(2), second.times(2)))
        assert exercise.grade(6).message == f"Not yet. {first.hint}"


def test_the_nearest_slip_speaks():
    near, far = Slip("near", "Near."), Slip("far", "Far.")
    exercise = Number(answer=lambda: 1.0, slips=(far.at(lambda: 2.01), near.at(lambda: 2.0)))
    assert exercise.grade(2.0).message == "Not yet. Near."
    assert exercise.grade(2.01).message == "Not yet. Far."


def test_an_exercises_own_slips_go_before_the_usual_ones():
    own = Slip("own", "Own.").times(1000)
    assert Number(answer=lambda: 1.0, unit="s", slips=(own,)).grade(1000).message == "Not yet. Own."


def test_the_right_answer_goes_before_every_slip():
    assert Number(answer=lambda: 0.0, slips=(slips.MULTIPLY_ADD,)).grade(0).is_right


def test_slips_without_a_value_are_silent():
    assert slips.RATIO_FOR_SHARE.ends((1.0, 1.0)) == ()
    assert slips.UPSIDE_DOWN.ends((0.0, 0.0)) == ()


# --- nothing gives the answer away (K2) ----------------------------------------------


def _spellings(value: float) -> set[str]:
    """How an answer could stand somewhere: exact, rounded, as a percentage; two digits or more."""
    found = {repr(value), f"{value:.10g}"}
    for digits in (3, 4, 5):
        found |= {units.number(value, digits), f"{value:.{digits}g}", f"{100 * value:.{digits}g}"}
    return {text for text in found if len(re.sub(r"\D", "", text).strip("0")) > 1}


def _numbers_in(text: str) -> set[str]:
    found = re.findall(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?", text)
    return {number.rstrip(",") for number in found}


def _answers(exercise: Number) -> set[str]:
    ends = exercise.ends()
    return {s for end in ends for s in _spellings(end) | _spellings(end / exercise.reader.factor)}


#: Exercises whose answer the chapter's own text holds, with the reason.
TAUGHT = {"0.1": "one end of the range happens to be the growth of the TPUs' bandwidth"}


def _notebook_of(name: str) -> Path | None:
    return next(iter((ROOT / "notebooks").glob(f"{int(name.split('.')[0]):02d}_*.ipynb")), None)


@pytest.mark.parametrize("name", NUMBERS)
def test_messages_do_not_hold_the_answer(name):
    exercise = NUMBERS[name]
    ends = exercise.ends()
    wrong = [e for _, pair in exercise.wrongs() for e in pair]
    tried = [w / exercise.reader.factor for w in wrong] + [-1, "x", "3 apples", [1], None]
    tried += [1.37 * ends[1] / exercise.reader.factor]
    for answer in tried:
        verdict = exercise.grade(answer)
        if verdict.is_right:
            continue
        for number in _numbers_in(verdict.message.replace("within 1 %", "").replace("2 %", "")):
            assert exercise.grade(number).is_right is not True, verdict.message


def _without_solutions(cell: dict) -> str:
    return re.sub(r"<details>.*?</details>", "", "".join(cell["source"]), flags=re.S)


def _statement(notebook: dict, name: str) -> str:
    """An exercise from its heading to the next one, without its solution."""
    text = "\n".join(_without_solutions(cell) for cell in notebook["cells"])
    return re.search(rf"^#+ Exercise {re.escape(name)}\b.*?(?=^#+ |\Z)", text, re.M | re.S)[0]


@pytest.mark.parametrize("name", NUMBERS)
def test_notebooks_hold_the_answer_only_in_the_solution(name):
    path = _notebook_of(name)
    if path is None:
        pytest.skip("its chapter has no notebook yet")
    notebook = json.loads(path.read_text("utf-8"))
    hidden = _answers(NUMBERS[name])
    assert not hidden & _numbers_in(_statement(notebook, name).split("\n", 1)[1])
    assert not hidden & _numbers_in(json.dumps([c["metadata"] for c in notebook["cells"]]))
    assert not hidden & _numbers_in(json.dumps(notebook["metadata"]))
    # A number as short as 24 stands in a chapter for other things, too.
    telling = {h for h in hidden if len(re.sub(r"\D", "", h).strip("0")) >= 3}
    for cell in notebook["cells"]:
        assert not cell.get("outputs"), "notebooks come without outputs"
        if cell["cell_type"] == "code" or name not in TAUGHT:
            assert not telling & _numbers_in(_without_solutions(cell)), cell["source"]


def _literals(path: Path) -> set[str]:
    """The numbers in the code and the texts of a module; comments and docstrings too."""
    tokens = tokenize.generate_tokens(io.StringIO(path.read_text("utf-8")).readline)
    return {n for t in tokens for n in (_numbers_in(t.string) if t.type != tokenize.OP else ())}


@pytest.mark.parametrize("name", NUMBERS)
def test_the_bank_holds_no_answer(name):
    for path in (PACKAGE / "bank").glob("*.py"):
        assert not _answers(NUMBERS[name]) & _literals(path), path.name


def test_no_answer_is_a_constant_of_the_bank():
    """Every answer is a call: `lambda: 4.1` or a name bound to a number would be a table."""
    for path in (PACKAGE / "bank").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.keyword) and node.arg in ("answer", "reference"):
                body = node.value.body if isinstance(node.value, ast.Lambda) else node.value
                assert not isinstance(body, ast.Constant), ast.unparse(node)


def test_the_occupancy_case_of_k2():
    for answer in (0.4375, 0.28, 2, 0.5, "7 warps", None, 21.875 / 3):
        said = OCCUPANCY.grade(answer)
        assert said.is_right is not True
        assert not {"0.21875", "21.875", "0.2188", "21.9"} & _numbers_in(said.message)


# --- the door ----------------------------------------------------------------------


def test_ids_are_in_the_order_of_the_book():
    ids = exercises.ids()
    assert ids[:7] == ("0.1", "0.2", "0.3", "1.1", "1.2", "1.3", "1.4")
    assert list(ids) == sorted(ids, key=lambda one: [int(part) for part in one.split(".")])


def test_an_unknown_exercise_names_the_nearest():
    with pytest.raises(ValueError, match=r"exercise must be one of .*; got '11'"):
        exercises.check("11", 3)
    with pytest.raises(ValueError, match="exercise must be one of"):
        exercises.check(1.1, 3)


def test_verdicts_display_in_both_ways():
    verdict = exercises.check("1.1", "<script>")
    assert repr(verdict).startswith("✗ This could not be read")
    assert "&lt;script&gt;" in verdict._repr_html_()
    assert 'class="verdict right"' in exercises.check("1.1", 569)._repr_html_()
    assert 'class="verdict open"' in exercises.check("1.1", None)._repr_html_()


def test_choices():
    exercise = Choice(
        options=("memory", "compute", "neither"),
        answer=lambda: "memory",
        hints={"compute": "Compare with the ridge."},
    )
    for right in ("memory", " Memory ", "(memory)", "MEMORY."):
        assert exercise.grade(right).is_right
    assert exercise.grade("compute").message == "Not yet. Compare with the ridge."
    assert "memory" not in exercise.grade("neither").message
    assert exercise.grade("mem").message.startswith("This could not be read")
    assert Choice(options=("yes", "no"), answer=lambda: "no").grade(False).is_right
    with pytest.raises(ValueError, match="options must be two or more"):
        Choice(options=("a", "A"), answer=lambda: "a")
    with pytest.raises(ValueError, match="hints must be one of"):
        Choice(options=("a", "b"), answer=lambda: "a", hints={"c": "x"})

"""What counts as a number, and that nothing a reader passes can raise or run."""

from __future__ import annotations

import dataclasses
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from primer import exercises, hardware
from primer.exercises import Choice, Formula, Function, Number, arithmetic, bank, draws
from primer.exercises.reading import Unit
from primer.exercises.verdict import graded


def _read(answer, unit=""):
    low, high = Unit(unit).read(answer)
    assert low == high
    return low


@pytest.mark.parametrize(
    ("answer", "unit", "value"),
    [
        ("1.5 TB/s", "B/s", 1.5e12),
        ("1.5e12", "B/s", 1.5e12),
        ("1.5", "TB/s", 1.5e12),
        ("1,5·10¹² B/s", "TB/s", 1.5e12),
        ("12 Tb/s", "B/s", 1.5e12),
        ("1500 GB / s", "B/s", 1.5e12),
        ("24 ms", "s", 0.024),
        ("24ms", "s", 0.024),
        ("24000 μs", "ms", 0.024),
        ("50 %", "", 0.5),
        ("50%", "%", 0.5),
        ("50", "%", 0.5),
        ("0.219", "", 0.219),
        ("21.9 %", "", 0.219),
        ("1/12", "", 1 / 12),
        ("1/12 FLOP/B", "FLOP/B", 1 / 12),
        ("sqrt(2)**2", "", 2.0),
        ("2^10", "", 1024.0),
        ("2⁻³", "", 0.125),
        ("(1,000 − 1)×2", "", 1998.0),
        ("12 000", "", 12000.0),
        ("12'000", "", 12000.0),
        ("1_000", "", 1000.0),
        ("0,219", "", 0.219),
        ("1,000", "", 1000.0),
        ("-3e-2", "", -0.03),
        ("≈ 3.35", "TB/s", 3.35e12),
        ("569 tokens", "tokens", 569.0),
        ("1 token", "tokens", 1.0),
        ("4.1x", "", 4.1),
        ("4.1 ×", "", 4.1),
        ("4 times", "", 4.0),
        ("3 J", "J", 3.0),
        ("3J", "J", 3.0),
        ("5 GiB", "B", 5 * 2**30),
        ("40 TOP/s", "FLOP/s", 4e13),
        ("max(1,2)*pi", "", 2 * math.pi),
        ("24 ms.", "s", 0.024),
        ("24.", "ms", 0.024),
        ("24 milliseconds", "s", 0.024),
        ("1 Second", "s", 1.0),
        ("24 microseconds.", "ms", 24e-6),
        ("3 kilobytes", "B", 3000.0),
        ("8 bits", "B", 1.0),
        ("2 gigabytes per second", "TB/s", 2e9),
        ("2 GB per second", "B/s", 2e9),
        ("4 flop/byte", "FLOP/B", 4.0),
        ("50 percent", "", 0.5),
        ("T=569", "tokens", 569.0),
        ("t_total ≈ 24 ms", "s", 0.024),
        ("T = 24 ms.", "s", 0.024),
        ("569 tokens.", "tokens", 569.0),
        (7, "ms", 0.007),
        (Fraction(7, 32), "", 0.21875),
        (Decimal("0.219"), "", 0.219),
        (np.float32(0.5), "", 0.5),
        (np.int64(569), "tokens", 569.0),
        (np.array(2.5), "", 2.5),
        (np.array([2.5]), "", 2.5),
        (np.str_("24 ms"), "s", 0.024),
    ],
)
def test_equivalent_spellings(answer, unit, value):
    assert math.isclose(_read(answer, unit), value, rel_tol=1e-12)


def test_a_quantity_brings_its_unit():
    bandwidth = hardware.load("h100_sxm5_80gb").bandwidth
    assert _read(bandwidth, "TB/s") == bandwidth.value
    with pytest.raises(ValueError, match="a value in s is asked for, got B/s"):
        Unit("s").read(bandwidth)


@pytest.mark.parametrize(
    ("answer", "unit", "said"),
    [
        ("24 GB", "s", "a value in s is asked for, got '24 GB'"),
        ("3 TBs", "TB/s", "did you mean 'TB/s'"),
        ("50 %", "s", "a value in s|not arithmetic"),
        ("3 apples", "", "a plain number is asked for, got '3 apples'"),
        ("three", "tokens", "'three' is not known"),
        ("2n", "", "a plain number is asked for"),
        ("1,2,3", "", "not plain arithmetic"),
        ("--1", "", "begins with two signs"),
        ("T==5", "", "not plain arithmetic"),
        ("24 kiloseconds", "s", "a known unit|a value in s"),
        ("1/0", "", "divides by zero"),
        ("9**9**9**9", "", "beyond every number"),
        ("(-8)**(1/3)", "", "not a real number"),
        ("sqrt(-1)", "", "has no value"),
        ("3j", "", "a plain number is asked for"),
        ("True", "", "not known|not plain"),
        ("__import__('os').system('true')", "", "not plain arithmetic"),
        ("().__class__", "", "not plain arithmetic"),
        ("[1]*99", "", "not plain arithmetic"),
        ("1" * 201, "", "longer than 200"),
        ("(" * 150, "", "not arithmetic"),
        ("1\x00", "", "not arithmetic"),
        ("\ud800", "", "not arithmetic"),
        ("24if", "", "a plain number"),
        (True, "", "a plain number is asked for, got bool"),
        (1 + 2j, "", "got complex"),
        ([1, 2, 3], "", "got list"),
        (np.arange(3), "", "one number is asked for, got 3"),
        (float("nan"), "", "finite"),
        (10**400, "", "finite"),
        ("1e999", "", "beyond every number"),
        (object(), "tokens", "a number of tokens is asked for, got object"),
        ({"a": 1}, "s", "a value in s is asked for, got dict"),
    ],
)
def test_the_rest_gets_a_sentence(answer, unit, said):
    with pytest.raises(ValueError, match=said):
        Unit(unit).read(answer)


class _Hostile:
    def __getattr__(self, name):
        raise RuntimeError("no")

    def __float__(self):
        raise MemoryError

    def __repr__(self):
        raise RuntimeError("no")

    __str__ = __repr__
    __eq__ = None
    __hash__ = None


KINDS = {
    **bank.exercises(),
    "formula": Formula(reference=lambda n: 2 * n, variables={"n": draws.whole(1, 9)}),
    "choice": Choice(options=("yes", "no"), answer=lambda: "yes"),
    "function": Function(
        name="f", reference=lambda n: n, variables={"n": draws.whole(1, 9)}, n_fresh=2
    ),
}
_ANY = st.one_of(
    st.text(max_size=30),
    st.text(alphabet="0123456789.,eE+-*/^()% nsqrtkMGTBmsµ–_", max_size=20),
    st.floats(),
    st.integers(),
    st.complex_numbers(),
    st.binary(max_size=5),
    st.lists(st.floats(), max_size=3),
    st.dictionaries(st.text(max_size=2), st.integers(), max_size=2),
)


@pytest.mark.parametrize("name", KINDS)
@given(answer=_ANY)
def test_no_answer_raises(name, answer):
    verdict = KINDS[name].grade(answer)
    assert str(verdict)
    assert verdict._repr_html_().startswith("<p")


@pytest.mark.parametrize("name", KINDS)
def test_no_hostile_object_raises(name):
    for answer in (_Hostile(), _Hostile, dataclasses.dataclass, np.array([object()]), print):
        assert KINDS[name].grade(answer).is_right is False


@given(st.floats(allow_nan=False, allow_infinity=False, width=32))
def test_reading_is_the_inverse_of_writing(value):
    assert _read(repr(value)) == value
    assert _read(f"{value!r} ms", "s") == pytest.approx(value / 1000)


def test_ranges_only_where_a_range_is_asked_for():
    unit = Unit("ms")
    for text in ("3 to 4 ms", "3–4 ms", "3 - 4 ms", "3 ms .. 4 ms", "0.003 s to 4 ms"):
        assert unit.read(text, ranges=True) == pytest.approx((0.003, 0.004)), text
    assert unit.read((4, 3), ranges=True) == pytest.approx((0.003, 0.004))
    assert unit.read("1e-3 s", ranges=True) == pytest.approx((1e-3, 1e-3))
    assert unit.read("10-3") == pytest.approx((0.007, 0.007))
    with pytest.raises(ValueError, match="got tuple"):
        unit.read((3, 4))


def test_units_are_checked_when_an_exercise_is_declared():
    with pytest.raises(ValueError, match="unit must be a known unit"):
        Number(answer=lambda: 1.0, unit="TBs")
    with pytest.raises(ValueError, match="rel_tol must lie between 0 and 1; got 2"):
        Number(answer=lambda: 1.0, rel_tol=2)
    with pytest.raises(ValueError, match="abs_tol must be zero or positive; got -1"):
        Number(answer=lambda: 1.0, abs_tol=-1)


def test_arithmetic_reports_the_largest_term():
    assert arithmetic.evaluate("1e9 - 1e9 + 1").largest == 1e9


def test_a_plain_number_may_say_what_it_is_about():
    exercise = Number(answer=lambda: 200.0, what="multiply-adds per number (any in the range)")
    for answer in ("200", "200 multiply-adds", "200 Multiply-adds per number.", "200 multiply-add"):
        assert exercise.grade(answer).is_right, answer
    for answer in ("200 apples", "200 multiply-adds of apples", "200 in"):
        assert exercise.grade(answer).message.startswith("This could not be read"), answer
    assert exercises.check("0.1", "300 multiply-adds").is_right
    assert exercises.check("0.1", "217 to 433 multiply-adds").is_right


# ---- the door


class _Text(str):
    """Text with a will of its own."""

    def strip(self, *args):
        raise RuntimeError("no")

    casefold = replace = translate = __format__ = __repr__ = __len__ = __eq__ = strip
    __hash__ = str.__hash__


def _raising(error):
    class Raising:
        def __getattribute__(self, name):
            raise error

    return Raising()


class _Meta(type):
    @property
    def __name__(cls):
        raise RuntimeError("no")


class _Nameless(metaclass=_Meta):
    pass


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize(
    "error", [RuntimeError, ValueError, SystemExit, GeneratorExit, RecursionError, MemoryError]
)
def test_what_raises_when_it_is_looked_at_gets_a_verdict(name, error):
    verdict = graded(KINDS[name], _raising(error))
    assert verdict.is_right is False
    assert "<p" in verdict._repr_html_()
    assert str(graded(KINDS[name], _Nameless()))


def test_an_interrupt_is_no_answer():
    with pytest.raises(KeyboardInterrupt):
        exercises.check("1.1", _raising(KeyboardInterrupt))


@pytest.mark.parametrize("name", bank.ids())
def test_text_of_any_class_is_text(name):
    for written in ("569", "24 ms", "memory", "", "what?"):
        assert str(exercises.check(name, _Text(written))) == str(exercises.check(name, written))
    assert type(exercises.check(name, _Text("what?")).message) is str

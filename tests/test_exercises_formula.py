"""Formulas are compared where they are evaluated, not how they are written."""

from __future__ import annotations

import pytest

from primer import workloads
from primer.exercises import Formula, Slip, draws, slips


def _intensity(n, storage_bytes):
    storage = {1: "int8", 2: "bf16", 4: "fp32"}[storage_bytes]
    return workloads.Matmul(n, n, n, storage).intensity_flop_per_byte


# A square matmul: 2·n³ FLOP over 3·n²·e bytes.
SQUARE = Formula(
    reference=lambda n, e: _intensity(n, e),
    variables={"n": draws.whole(2, 4096), "e": draws.among(1, 2, 4)},
    slips=(
        slips.MULTIPLY_ADD,
        Slip("output forgotten", "Is the result free?").at(lambda n, e: n / e),
        slips.UPSIDE_DOWN,
    ),
)


@pytest.mark.parametrize(
    "answer",
    ["2*n/(3*e)", "2/3 * n / e", "n/(1.5*e)", "I = 2*n**3/(3*n**2*e)",
     "2·n / (3·e)", "2×n÷(3×e)", "(n + n)/e/3", "sqrt(4*n^2)/(3*e)", "0.6666666666667*n/e",
     "n/e - n/(3*e)"],
)  # fmt: skip
def test_equivalent_formulas_are_right(answer):
    assert SQUARE.grade(answer).is_right


def test_sympy_expressions_are_read():
    class Expression:
        free_symbols = frozenset({"n", "e"})

        def __str__(self):
            return "2*n/(3*e)"

    assert SQUARE.grade(Expression()).is_right


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("n/(3*e)", "multiply-add"),
        ("n/e", "Is the result free?"),
        ("3*e/(2*n)", "upside down"),
        ("n + e", "Derive it"),
        ("max(2*n/(3*e), 200)", "right for some values and wrong for others: n = "),
        ("1e30 - 1e30 + 5", "Derive it"),
        ("1/(n - n)", "divides by zero at n ="),
        ("log(-n)", "has no value at n ="),
    ],
)
def test_wrong_formulas_get_a_hint(answer, said):
    verdict = SQUARE.grade(answer)
    assert verdict.is_right is False
    assert said in verdict.message
    assert verdict.message.startswith("Not yet.")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("2n/(3e)", "write every *, as in 2*n"),
        ("2(n/e)", "the * in front of every bracket"),
        ("n(2)", "write the * after n"),
        ("2*k/(3*e)", "'k' is not known; the names are n, e"),
        ("import os", "not arithmetic"),
        ("n.real", "not plain arithmetic"),
        (["n"], "a formula as text is asked for, got list"),
    ],
)
def test_other_text_gets_a_message(answer, said):
    verdict = SQUARE.grade(answer)
    assert verdict.is_right is False
    assert said in verdict.message


def test_zeros_by_cancelling_are_zeros():
    # Zero wherever n is even, one elsewhere: the reference has exact zeros among its values.
    parity = Formula(reference=lambda n: float(n % 2), variables={"n": draws.whole(1, 1000)})
    assert parity.grade("n - 2*floor(n/2)").is_right
    assert parity.grade("n - 2*floor(n/2) + 0.1*n - 0.3*n + 0.2*n").is_right
    assert not parity.grade("n - 2*floor(n/2) + 1e-7").is_right
    nothing = Formula(reference=lambda n: 0.0, variables={"n": draws.real(1, 10)})
    assert nothing.grade("sqrt(n)**2 - n").is_right
    assert not nothing.grade("n - 1").is_right


def test_points_without_a_reference_are_not_tried():
    exercise = Formula(reference=lambda n: 1 / (n - 2), variables={"n": draws.whole(1, 3)})
    assert exercise.grade("1/(n - 2)").is_right


def test_declarations_are_checked():
    with pytest.raises(ValueError, match="variables must name one variable or more"):
        Formula(reference=lambda: 1.0, variables={})
    nowhere = Formula(reference=lambda n: 1 / 0, variables={"n": draws.whole(1, 3)})
    with pytest.raises(ValueError, match="variables must be drawn where"):
        nowhere.grade("n")
    with pytest.raises(ValueError, match="high must be above low; got 1"):
        draws.real(2, 1)
    with pytest.raises(ValueError, match="low must be positive; got 0"):
        draws.real(0, 1)
    with pytest.raises(ValueError, match="high must be an integer of at least 3"):
        draws.whole(2, 2)
    with pytest.raises(ValueError, match="values must be two or more"):
        draws.among(1)

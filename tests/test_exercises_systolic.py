"""The checked exercises of chapter 4: hand values pass, each wrong turn gets its own hint."""

from __future__ import annotations

import pytest

from primer import exercises


@pytest.mark.parametrize(
    ("name", "answers"),
    [
        # 4 to load, 3 · 8 to the last of four folds, 8 + 4 + 4 - 2 for it
        ("4.1", [42, "42", "42 cycles", "4 + 3*8 + 14"]),
        # four folds of 256 columns for 800
        ("4.2", ["78.1 %", "800/1024", 0.78125, "78 %"]),
        # 918e12 / 1638e9 FLOP/B; a byte is half a multiply-add at the 16-bit ridge
        ("4.3", [280, "280 rows", "918/1.638/2", "281"]),
        # 27 rows and 8 columns of 128 x 128
        ("4.5", ["1.32 %", "27*8/128**2", 0.01318]),
    ],
)
def test_hand_values_are_right(name, answers):
    for answer in answers:
        assert exercises.check(name, answer).is_right, answer


@pytest.mark.parametrize(
    ("name", "answer", "hint"),
    [
        ("4.1", 72, "without shadow weights"),
        ("4.1", 60, "the way across for each fold"),
        ("4.1", 56, "the way across for each fold"),
        ("4.1", 38, "first load"),
        ("4.1", 36, "get across"),
        ("4.1", 30, "rows of the fold through"),
        ("4.1", 46, "Nothing is added"),
        ("4.1", 32, "every cell at work"),
        ("4.1", 41, "number them from zero"),
        ("4.1", 1000, "The first load, the starts"),
        ("4.2", "89.3 %", "on 128 columns"),
        ("4.2", "50.4 %", "129 outputs"),
        ("4.2", "61 %", "all cells"),
        ("4.2", "21.9 %", "empty part"),
        ("4.2", "1.28", "Upside down"),
        ("4.2", "12.5 %", "last fold alone"),
        ("4.2", "33 %", "How many folds"),
        ("4.3", 560, "answer to (a), and to (c)"),
        ("4.3", 1121, "other way round"),
        ("4.3", 120, "of the v5e"),
        ("4.3", 241, "of the v5e"),
        ("4.3", 140, "multiply-add is two"),
        ("4.3", 7, "time for M rows"),
        ("4.5", 9 * 8 / 128**2, "three channels"),
        ("4.5", "5.5 %", "another dataflow"),
        ("4.5", "18.6 %", "another dataflow"),
        # 73,008 multiply-adds in 128 + 338 + 254 cycles
        ("4.5", 73_008 / (128**2 * 720), "time"),
        ("4.5", 27 / 128, "share of the rows"),
        ("4.5", 8 / 128, "share of the columns"),
        ("4.5", "98.7 %", "empty part"),
        ("4.5", "50 %", "How many cells"),
    ],
)
def test_wrong_turns_are_recognized(name, answer, hint):
    verdict = exercises.check(name, answer)
    assert verdict.is_right is False
    assert hint in verdict.message


def folds(size, side):
    return -(-size // side)


def ws_cycles(m, n, k, side, double_buffer):
    n_folds = folds(k, side) * folds(n, side)
    if double_buffer:
        return side + (n_folds - 1) * max(m, side) + m + 2 * side - 2
    return n_folds * (side + m + 2 * side - 2)


def test_a_right_function_passes():
    assert exercises.check("4.4", ws_cycles).is_right


def test_a_stub_is_no_answer():
    assert exercises.check("4.4", lambda m, n, k, side, double_buffer: None).is_right is None


def with_folds(count):
    """`ws_cycles` with another count of folds."""

    def wrong(m, n, k, side, double_buffer):
        n_folds, front = count(n, k, side), m + 2 * side - 2
        if double_buffer:
            return side + (n_folds - 1) * max(m, side) + front
        return n_folds * (side + front)

    return wrong


def with_interval(interval):
    """`ws_cycles` with other cycles from the start of a fold to the next."""

    def wrong(m, n, k, side, double_buffer):
        front = m + 2 * side - 2
        if double_buffer:
            n_folds = folds(k, side) * folds(n, side)
            return side + (n_folds - 1) * interval(m, side) + front
        return ws_cycles(m, n, k, side, False)

    return wrong


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda m, n, k, side, _: ws_cycles(m, n, k, side, False), "does not look at"),
        (lambda m, n, k, side, _: ws_cycles(m, n, k, side, True), "waits for the one before"),
        (with_folds(lambda n, k, side: (n // side) * (k // side)), "Round up"),
        (with_folds(lambda n, k, side: folds(k, side)), "columns of B fall into"),
        (with_folds(lambda n, k, side: folds(n, side)), "rows of B fall into"),
        (with_interval(lambda m, side: m), "before its weights are in"),
        (with_interval(lambda m, side: m + 2 * side - 2), "only the last front"),
        (
            lambda m, n, k, side, db: ws_cycles(folds(m, side) * side, n, k, side, db),
            "are time",
        ),
        (lambda *given: ws_cycles(*given) - 1, "number them from zero"),
        (lambda *given: ws_cycles(*given) + given[3], "leaves with its last product"),
        (lambda m, n, k, side, db: 2 * m + n + k, "First the folds"),
        (lambda m, n, k, side, db: "many", "where one number is asked for"),
    ],
)
def test_wrong_functions_get_a_hint(answer, said):
    verdict = exercises.check("4.4", answer)
    assert verdict.is_right is False
    assert said in verdict.message


def test_the_way_across_has_two_directions():
    def wrong(m, n, k, side, double_buffer):
        n_folds = folds(k, side) * folds(n, side)
        if double_buffer:
            return side + (n_folds - 1) * max(m, side) + m + side - 1
        return n_folds * (side + m + side - 1)

    assert "both directions" in exercises.check("4.4", wrong).message

"""The checked exercises of chapter 2: hand values pass, each wrong turn gets its own hint."""

from __future__ import annotations

import pytest

from primer import exercises


@pytest.mark.parametrize(
    ("name", "answers"),
    [
        # 128 · 1,024 lines of B, 1,024 of A and 1,024 of C
        ("2.1", [128 * 1024 + 2048, 131072, "133,120", "1.3e5"]),
        ("2.2", [4, "4", 4.0]),
        # 10.5 + 2 + 0.5 d² weights, two FLOP each; 4·T·d for the pairs: 6.5 d
        ("2.3", [6.5 * 4096, "26,624", "26600", "13*4096/2"]),
        # 1 unit of 1.9
        ("2.6", ["52.6 %", "10/19", 0.526, "53 %"]),
    ],
)
def test_hand_values_are_right(name, answers):
    for answer in answers:
        assert exercises.check(name, answer).is_right, answer


def test_the_other_reading_is_named():
    verdict = exercises.check("2.3", 13 * 4096)
    assert verdict.is_right
    assert "mask" in verdict.message


@pytest.mark.parametrize(
    ("name", "answer", "hint"),
    [
        ("2.1", 2_130_960, "without the padding"),
        ("2.1", 128**3, "without the padding"),
        ("2.1", 56_448, "smaller matrices"),
        ("2.1", 3072, "each matrix once"),
        ("2.1", 128**3 / 8, "does a line hold"),
        ("2.1", 16, "the factor"),
        ("2.1", 5, "How many lines has B"),
        ("2.2", 8, "by their bytes"),
        ("2.2", 16, "has sets"),
        ("2.2", 2, "little volume"),
        ("2.2", 32, "larger than the cache"),
        ("2.2", 64, "one of the sides"),
        ("2.3", 6 * 4096, "Count the weights of this layer"),
        ("2.3", 12 * 4096, "Count the weights of this layer"),
        ("2.3", 4.75 * 4096, "count the gate"),
        ("2.3", 7.25 * 4096, "narrower here"),
        ("2.3", 21_504, "four tables"),
        ("2.3", 3.25 * 4096, "factor of two"),
        ("2.6", "47.4 %", "share of matmul"),
        ("2.6", "10 %", "share before"),
        ("2.6", "90 %", "matmul’s share before"),
        ("2.6", "5.26", "times as fast"),
        ("2.6", "19 %", "units of the old"),
    ],
)
def test_wrong_turns_are_recognized(name, answer, hint):
    verdict = exercises.check(name, answer)
    assert verdict.is_right is False
    assert hint in verdict.message


def places(size, kernel, stride, padding):
    return (size + 2 * padding - kernel) // stride + 1


def conv_gemm(size, c_in, c_out, kernel, stride, padding):
    return places(size, kernel, stride, padding) ** 2, c_out, c_in * kernel**2


def test_a_right_function_passes():
    assert exercises.check("2.5", conv_gemm).is_right


def with_places(count):
    """`conv_gemm` with another count of places along an axis."""

    def wrong(size, c_in, c_out, kernel, stride, padding):
        return count(size, kernel, stride, padding) ** 2, c_out, c_in * kernel**2

    return wrong


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (with_places(lambda n, k, s, p: places(n, k, s, 0)), "does not look at padding"),
        (with_places(lambda n, k, s, p: (n + p - k) // s + 1), "both sides"),
        (with_places(lambda n, k, s, p: places(n, k, s, p) - 1), "one place more"),
        (with_places(lambda n, k, s, p: -(-(n + 2 * p - k) // s) + 1), "Round down"),
        (with_places(lambda n, k, s, p: n), "each pixel a place"),
        (lambda n, i, o, k, s, p: (places(n, k, s, p), o, i * k**2), "down and across"),
        (lambda n, i, o, k, s, p: (places(n, k, s, p) ** 2, o, k**2), "every channel"),
        (lambda n, i, o, k, s, p: (places(n, k, s, p) ** 2, i * k**2, o), "In which order"),
        (lambda n, i, o, k, s, p: (n, o, i), "Count the places"),
        (lambda n, i, o, k, s, p: n, "where an array of shape (3,) is asked for"),
    ],
)
def test_wrong_functions_get_a_hint(answer, said):
    verdict = exercises.check("2.5", answer)
    assert verdict.is_right is False
    assert said in verdict.message

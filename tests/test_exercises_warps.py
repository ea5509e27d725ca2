"""The checked exercises of chapter 3: hand values pass, each wrong turn gets its own hint."""

from __future__ import annotations

import pytest

from primer import exercises


@pytest.mark.parametrize(
    ("name", "answers"),
    [
        # 16 · 5i ≥ 310 + (i − 1) + 4i, so 75i ≥ 309 and i ≥ 4.12
        ("3.1", [5, "5", 5.0]),
        # bytes 2 to 65 lie in sectors 0, 1 and 2: 64 of 96
        ("3.2", ["2/3", 64 / 96, "66.7 %", "67 %"]),
        # 192 tiles in two waves of 148
        ("3.3", [192 / 296, "64.9 %", "0.65"]),
        # 64 · 16 · 40 / 2048 = 20 cycles of 2 · (64 · 16 + 16 · 40) / 128 = 26
        ("3.5", [20 / 26, "76.9 %", "10/13", 0.77]),
        # 32 warps of 32 trips, against 1 + 2 + … + 32 = 528
        ("3.7", [1024 / 528, "1.94", "64/33"]),
    ],
)
def test_hand_values_are_right(name, answers):
    for answer in answers:
        assert exercises.check(name, answer).is_right, answer


@pytest.mark.parametrize(
    ("name", "answer", "hint"),
    [
        ("3.1", 4, "round is longer"),
        ("3.1", 6, "Count again"),
        ("3.1", 63, "how many warps"),
        ("3.1", 20, "math to do"),
        ("3.1", 4.12, "way to round"),
        ("3.1", 40, "Write the instructions"),
        ("3.2", "80 %", "That is (b)"),
        ("3.2", "50 %", "a whole line"),
        ("3.2", 1, "from byte 0 on"),
        ("3.2", "33.3 %", "in vain"),
        ("3.2", 1.5, "Upside down"),
        ("3.2", 3, "how many sectors"),
        ("3.2", "12 %", "first and the last byte"),
        ("3.3", "72.7 %", "That is the H100"),
        ("3.3", 192 / 148, "Waves come whole"),
        ("3.3", "77.1 %", "Waves come whole"),
        ("3.3", "29.7 %", "last wave is"),
        ("3.3", "35.1 %", "SMs wait"),
        ("3.3", "86.5 %", "half the side"),
        ("3.3", "10 %", "How many tiles"),
        ("3.5", 20 / 46, "two stopwatches"),
        ("3.5", 1, "arrive in time"),
        ("3.5", 10 / 26, "factor of two"),
        ("3.5", 26 / 20, "Upside down"),
        ("3.5", 6 / 26, "in which they wait"),
        ("3.5", 0.1, "side by side"),
        ("3.7", 2, "not sixteen"),
        ("3.7", 528 / 1024, "Upside down"),
        ("3.7", 32, "longest loop"),
        ("3.7", 1, "How often"),
        ("3.7", 16.5, "mean number"),
        ("3.7", 5, "How many trips"),
    ],
)
def test_wrong_turns_are_recognized(name, answer, hint):
    verdict = exercises.check(name, answer)
    assert verdict.is_right is False
    assert hint in verdict.message


def blocks_by_registers(threads, registers):
    per_warp = -(-registers * 32 // 256) * 256
    return 4 * (16_384 // per_warp) // -(-threads // 32)


def test_a_right_function_passes():
    assert exercises.check("3.4", blocks_by_registers).is_right


def test_the_launch_of_the_exercise():
    # 92 · 32 → 3,072: five in a part, twenty in all, two blocks of seven. 80 · 32 = 2,560: six.
    assert [blocks_by_registers(224, r) for r in (92, 81, 80)] == [2, 2, 3]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda t, r: 65_536 // (t * r), "given to whole warps"),
        (
            lambda t, r: 65_536 // (-(-r * 32 // 256) * 256) // -(-t // 32),
            "left of a part is lost",
        ),
        (lambda t, r: 4 * (16_384 // (-(-r * 32 // 256) * 256 * -(-t // 32))), "different parts"),
        (lambda t, r: 16_384 // (-(-r * 32 // 256) * 256) // -(-t // 32), "There are four"),
        (lambda t, r: 4 * (16_384 // (r * 32)) // -(-t // 32), "multiple of 256"),
        (
            lambda t, r: 4 * (16_384 // (-(-r * 32 // 256) * 256)) // max(1, t // 32),
            "one warp more",
        ),
        (lambda t, r: 7, "First the registers of a warp"),
        (lambda t: t, "raises TypeError"),
        (lambda t, r: (t, r), "where one number is asked for"),
    ],
)
def test_wrong_functions_get_a_hint(answer, said):
    verdict = exercises.check("3.4", answer)
    assert verdict.is_right is False
    assert said in verdict.message

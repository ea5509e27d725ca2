"""Paths of SVG, rewritten: the same points in fewer letters."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from primer.figures._paths import relative

_PIECE = re.compile(r"([MmLlHhVvQqCcz])([^A-Za-z]*)")
_NUMBER = re.compile(r"-?(?:\d+\.?\d*|\.\d+)")
_AXES = {"h": "x", "v": "y"}


def points(path: str) -> list[tuple[str, tuple[float, ...]]]:
    """Commands of a path with all of their points made absolute, as SVG's own rules have it."""
    here = start = (0.0, 0.0)
    found = []
    for command, text in _PIECE.findall(path):
        numbers = [float(number) for number in _NUMBER.findall(text)]
        base = here if command.islower() else (0.0, 0.0)
        if command in "hv":
            numbers = [*numbers, 0.0] if command == "h" else [0.0, *numbers]
        absolute = tuple(round(n + base[i % 2], 6) for i, n in enumerate(numbers))
        here = (absolute[-2], absolute[-1]) if absolute else start
        start = here if command in "Mm" else start
        found.append(({"h": "L", "v": "L"}.get(command, command.upper()), absolute))
    return found


@pytest.mark.parametrize(
    ("path", "short"),
    [
        # By hand: 10.26 is 10.3, and 20.04 is 20; from there 5 to the right, 1.5 up, and home.
        ("M 10.26 20.04 L 15.3 20 L 15.3 18.5 L 10.3 20 z", "M10.3 20h5v-1.5l-5 1.5z"),
        # A closed figure ends where it began: the next one starts 2 to the right of that.
        ("M 1 1 L 2 1 L 2 2 z M 3 1 L 4 1", "M1 1h1v1zm2 0h1"),
        ("M 0 0 Q 1 2 3 4 C 3.5 4 3 3 2.5 3.5", "M0 0q1 2 3 4c.5 0 0-1-.5-.5"),
        ("M 5 5 L 5 5 z", "M5 5h0z"),
        # Rounded where each point stands: three steps of 0.04 are one of 0.1, not of none.
        ("M 0 0 L 0.04 0 L 0.08 0 L 0.12 0", "M0 0h0h.1h0"),
        ("M 0 0 A 1 1 0 0 0 2 2", "M 0 0 A 1 1 0 0 0 2 2"),
        ("", ""),
    ],
)
def test_by_hand(path: str, short: str) -> None:
    assert relative(path) == short


number = st.floats(-2000, 2000).map(lambda value: round(value, 6))
pair = st.tuples(number, number)


@given(st.lists(st.tuples(st.sampled_from("MLQCz"), pair, pair, pair), max_size=12))
def test_every_point_stays_where_it_was_to_a_tenth(steps) -> None:
    takes = {"M": 1, "L": 1, "Q": 2, "C": 3, "z": 0}
    steps = [("M", (1.0, 2.0), (0.0, 0.0), (0.0, 0.0)), *steps]
    path = " ".join(
        f"{command} " + " ".join(f"{x:.6f} {y:.6f}" for x, y in places[: takes[command]])
        for command, *places in steps
    )
    before, after = points(path), points(relative(path))
    assert [command for command, _ in before] == [command for command, _ in after]
    for (_, ours), (_, theirs) in zip(before, after, strict=True):
        assert theirs == pytest.approx(ours, abs=0.0500001)
    assert len(relative(path)) <= len(path)

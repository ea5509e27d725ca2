"""A reader's function is called, timed and compared; whatever it does becomes a verdict."""

from __future__ import annotations

import contextlib
import sys
import threading
import time

import numpy as np
import pytest

from primer import exercises
from primer.exercises import Function, draws, slips


def attainable(peak, bandwidth, intensity, overlap=True):
    compute_s, memory_s = intensity / peak, 1 / bandwidth
    if overlap:
        return intensity / max(compute_s, memory_s)
    return intensity / (compute_s + memory_s)


def _harmonic(peak, bandwidth, intensity, overlap=True):
    slope = intensity * bandwidth
    return np.minimum(peak, slope) if overlap else np.float64(1 / (1 / peak + 1 / slope))


@pytest.mark.parametrize("answer", [attainable, _harmonic])
def test_reference_and_equivalents_pass(answer):
    assert exercises.check("1.4", answer).is_right


def _stub(peak, bandwidth, intensity, overlap=True):
    """To be written."""


def _later(peak, bandwidth, intensity, overlap=True):
    raise NotImplementedError


@pytest.mark.parametrize("answer", [None, _stub, _later, lambda peak: None])
def test_a_stub_is_no_answer_yet(answer):
    verdict = exercises.check("1.4", answer)
    assert verdict.is_right is None
    assert "attainable(peak, bandwidth, intensity, overlap)" in verdict.message


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda p, b, i, o=True: attainable(p, b, i), "does not look at overlap"),
        (lambda p, b, i, o=True: attainable(p, b, i, False), "does not look at overlap"),
        (
            lambda p, b, i, o=True: max(p, b * i) if o else attainable(p, b, i, o),
            "the *lower* of the two",
        ),
        (
            lambda p, b, i, o=True: attainable(p, b, i) if o else (p + b * i) / 2,
            "Speeds cannot be added",
        ),
        (lambda p, b, i, o=True: attainable(p, b, 1 / i, o), "multiply, do not divide"),
        (lambda p, b, i, o=True: 50.0, "attainable(100, 10, 40) gives 50. Take one byte"),
        (lambda p, b, i, o=True: print(p), "attainable(100, 10, 5) returns None: is a return"),
        (lambda p, b, i: attainable(p, b, i), "attainable(100, 10, 10, False) raises TypeError"),
        (lambda p, b, i, o=True: 1 / 0, "raises ZeroDivisionError: division by zero"),
        (lambda p, b, i, o=True: sys.exit(3), "raises SystemExit: 3"),
        (lambda p, b, i, o=True: "50", "returns str, where one number is asked for"),
        (lambda p, b, i, o=True: True, "returns bool, where one number is asked for"),
        (lambda p, b, i, o=True: [p, b], "an array of shape (2,), where one number is asked for"),
        (lambda p, b, i, o=True: float("nan"), "gives nan"),
    ],
)
def test_wrong_functions_get_a_hint(answer, said):
    verdict = exercises.check("1.4", answer)
    assert verdict.is_right is False
    assert said in verdict.message


@pytest.mark.parametrize("answer", [50.0, "attainable", [attainable]])
def test_what_is_no_function_is_explained(answer):
    said = exercises.check("1.4", answer).message
    assert "attainable itself is asked for, without parentheses" in said


def _area(**options):
    return Function(
        name="area",
        reference=lambda width, height: width * height,
        variables={"width": draws.real(1, 9), "height": draws.real(1, 9)},
        cases=({"width": 2, "height": 3},),
        **options,
    )


def test_a_table_of_the_visible_cases_does_not_pass():
    assert not _area().grade(lambda w, h: {(2, 3): 6}.get((w, h), 0)).is_right


def _forever(w, h):
    while True:
        with contextlib.suppress(Exception):
            time.sleep(0.001)


def test_an_endless_loop_is_stopped():
    began, before = time.monotonic(), threading.active_count()
    verdict = _area(time_limit_s=0.2).grade(_forever)
    assert verdict.message == "Not yet. area(2, 3) is not done after 0.2 s."
    assert time.monotonic() - began < 3
    assert threading.active_count() == before


def test_checks_run_in_any_thread():
    found = []
    thread = threading.Thread(target=lambda: found.append(_area().grade(lambda w, h: w * h)))
    thread.start()
    thread.join()
    assert found[0].is_right


def test_prints_of_the_function_are_not_shown(capsys):
    assert _area().grade(lambda w, h: print("step") or w * h).is_right
    assert capsys.readouterr().out == ""


def test_endless_recursion_and_strange_errors_are_verdicts():
    def deep(w, h):
        return deep(w, h)

    class StrangeError(Exception):
        def __str__(self):
            raise RuntimeError

    def strange(w, h):
        raise StrangeError

    assert "RecursionError" in _area().grade(deep).message
    assert _area().grade(strange).message == "Not yet. area(2, 3) raises StrangeError."


ROWS = Function(
    name="rows",
    reference=lambda n: np.arange(n) / 2,
    variables={"n": draws.whole(2, 9)},
    slips=(slips.MULTIPLY_ADD,),
)
KEPT = Function(
    name="name",
    reference=lambda n: "memory" if n < 5 else "compute",
    variables={"n": draws.whole(1, 9)},
)
EVEN = Function(name="even", reference=lambda n: n % 2 == 0, variables={"n": draws.whole(1, 9)})


def test_arrays_texts_and_bools():
    assert ROWS.grade(lambda n: [i / 2 for i in range(n)]).is_right
    assert ROWS.grade(lambda n: tuple(np.arange(n) * np.float32(0.5))).is_right
    assert "multiply-add" in ROWS.grade(np.arange).message
    assert "where an array of shape" in ROWS.grade(lambda n: np.zeros(n + 1)).message
    assert "where an array of shape" in ROWS.grade(lambda n: 0.5).message
    assert "returns dict" in ROWS.grade(lambda n: {}).message
    assert KEPT.grade(lambda n: "memory" if n < 5 else "compute").is_right
    assert "gives 'memory'" in KEPT.grade(lambda n: "memory").message
    assert "where text is asked for" in KEPT.grade(lambda n: 3).message
    assert EVEN.grade(lambda n: np.bool_(n % 2 == 0)).is_right
    assert "where True or False" in EVEN.grade(lambda n: 1).message


def test_the_function_cannot_change_what_it_is_compared_with():
    total = Function(
        name="total",
        reference=lambda values: sum(values),
        variables={"values": draws.among([1, 2], [3, 4])},
    )
    assert total.grade(lambda values: sum(values.pop() for _ in range(2))).is_right


def test_declarations_are_checked():
    with pytest.raises(ValueError, match="time_limit_s must be positive; got 0"):
        _area(time_limit_s=0)
    with pytest.raises(ValueError, match="cases must be one of n"):
        Function(name="f", reference=abs, variables={"n": draws.whole(1, 2)}, cases=({"m": 1},))


# ---- frames, and results of any size


def _locals_above():
    """Everything that the frames above hold, and what those objects hold in turn."""
    found, frame = [], sys._getframe(1)
    while frame is not None:
        found += frame.f_locals.values()
        frame = frame.f_back
    for _ in range(4):
        held = [vars(x).values() for x in found if hasattr(x, "__dict__") and type(x) is not type]
        held += [x for x in found if isinstance(x, (list, tuple, set))]
        held += [x.values() for x in found if isinstance(x, dict) and len(x) < 20]
        found += [x for group in held for x in list(group)[:50]]
    return found


def test_a_function_finds_no_answer_in_the_frames_that_call_it():
    seen = []
    area = Function(
        name="area",
        reference=lambda width, height: float(width) ** 3 / height,
        variables={"width": draws.real(1, 9), "height": draws.real(1, 9)},
        n_fresh=3,
    )

    def spy(width, height):
        wanted = float(width) ** 3 / height
        seen.append(any(type(x) is float and x == wanted for x in _found(wanted)))
        return 0.0

    def _found(wanted):
        return [x for x in _locals_above() if x is not wanted]

    assert area.grade(spy).is_right is False
    assert seen == [False] * 3


def test_a_function_cannot_change_the_arguments_of_the_reference():
    def meddle(width, height):
        frame = sys._getframe(1)
        while frame is not None:
            for call in frame.f_locals.get("calls", []):
                call.point.update(width=1, height=1)
            frame = frame.f_back
        return 1

    assert _area().grade(meddle).is_right is False


@pytest.mark.parametrize("n_bits", [1024, 10**5, 10**9])
def test_a_huge_integer_is_described_and_not_written(n_bits):
    value = 1 << (n_bits - 1)
    began = time.monotonic()
    message = _area().grade(lambda w, h: value).message
    assert message == (
        f"Not yet. area(2, 3) returns an integer of {n_bits} bits, which is too large to be right."
    )
    assert time.monotonic() - began < 1

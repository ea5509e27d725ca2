"""Controls, states and the rule by which a control may move those after it."""

from __future__ import annotations

import pytest

from primer.explore import markup
from primer.explore.explorable import Control, Explorable, Row, key


class _Silent:
    moving = ()


def _double(a: str, b: int) -> int:
    return {"x": 1, "y": 2}[a] * b


def _pair(is_valid=lambda state: True) -> Explorable:
    return Explorable(
        id="pair",
        question="How much?",
        level="framework",
        controls=(
            Control("a", "A", ("x", "y"), "x", kind="select"),
            Control("b", "B", (1, 2, 3, 4), 2, display=lambda b: f"{b} units"),
        ),
        compute=_double,
        figure=_Silent,
        readout=lambda n: (Row("n", n, "", "Count"),),
        sentence=lambda n: "{b} make {n}.",
        assumes="nothing.",
        is_valid=is_valid,
    )


def test_states_run_with_the_last_control_fastest():
    states = list(_pair().states())
    assert len(states) == _pair().n_states == 8
    assert states[0] == {"a": "x", "b": 1}
    assert states[1] == {"a": "x", "b": 2}
    assert states[4] == {"a": "y", "b": 1}


def test_an_impossible_state_is_none_and_keeps_its_place():
    only_even = _pair(lambda s: s["b"] % 2 == 0)
    assert [s and s["b"] for s in only_even.states()] == [None, 2, None, 4] * 2


def test_outcome_fills_sentence_with_texts_of_controls_and_rows():
    outcome = _pair().evaluate({"a": "y", "b": 3})
    assert outcome.result == 6
    assert outcome.spoken == "3 units make 6."


def test_snap_moves_only_later_controls_nearest_first():
    picky = _pair(lambda s: s["a"] == "x" or s["b"] in (1, 4))
    # From b = 2, the values 1 and 4 are possible with y: 1 is one step away, 4 two.
    assert picky.snap({"a": "y", "b": 2}, "a") == {"a": "y", "b": 1}
    # From b = 3 the nearest is 4.
    assert picky.snap({"a": "y", "b": 3}, "a") == {"a": "y", "b": 4}
    # b is the last control: it has nothing to move, and never moves a.
    assert picky.snap({"a": "y", "b": 2}, "b") is None
    assert picky.choices({"a": "y", "b": 1}, "b") == (1, 4)
    assert picky.choices({"a": "x", "b": 2}, "a") == ("x", "y")


def test_snap_of_a_tie_takes_the_lower_value():
    ends = _pair(lambda s: s["a"] == "x" or s["b"] in (1, 3))
    assert ends.snap({"a": "y", "b": 2}, "a") == {"a": "y", "b": 1}


def test_a_slider_goes_on_to_the_next_value_that_can_be_chosen():
    sparse = _pair(lambda s: s["b"] in (1, 4) if s["a"] == "y" else s["b"] < 3)
    # from 1, a step up to 2 is impossible with y: on to 4; and back from there to 1
    assert sparse.reach({"a": "y", "b": 1}, "b", 2) == {"a": "y", "b": 4}
    assert sparse.reach({"a": "y", "b": 4}, "b", 3) == {"a": "y", "b": 1}
    # with x nothing follows 2: a slider that is pulled to its end stops there
    assert sparse.reach({"a": "x", "b": 1}, "b", 4) == {"a": "x", "b": 2}
    assert sparse.reach({"a": "x", "b": 2}, "b", 3) is None
    # a possible value is simply reached, and later controls may follow
    assert sparse.reach({"a": "x", "b": 2}, "b", 1) == {"a": "x", "b": 1}
    assert sparse.reach({"a": "x", "b": 2}, "a", "y") == {"a": "y", "b": 1}


def test_a_slider_of_the_page_ends_with_the_last_value_that_can_be_chosen():
    short = _pair(lambda s: s["a"] == "y" or s["b"] < 3)
    control = short.control("b")
    assert 'max="1"' in markup.control(short, control, {"a": "x", "b": 2})
    assert 'max="3"' in markup.control(short, control, {"a": "y", "b": 2})


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({"a": "z"}, "a must be one of"),
        ({"b": 9}, "b must be one of"),
        ({"c": 1}, "control must be one of"),
    ],
)
def test_unknown_values_and_names_say_which(state, message):
    with pytest.raises(ValueError, match=message):
        _pair().check(state)


def test_impossible_state_is_refused():
    with pytest.raises(ValueError, match="must be possible"):
        _pair(lambda s: s["b"] != 2).check({"a": "x"})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"values": (), "default": 1}, "distinct and not empty"),
        ({"values": (1, 1), "default": 1}, "distinct and not empty"),
        ({"values": (1, 2), "default": 3}, "default of control 'q'"),
        ({"values": (1, 2), "default": 1, "kind": "toggle"}, r"\(False, True\)"),
        ({"values": (1, 2), "default": 1, "kind": "dial"}, "kind must be one of"),
    ],
)
def test_bad_controls_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        Control("q", "Q", **arguments)


def test_keys_tell_types_apart():
    assert [key(v) for v in (True, 1, 1.0, "1")] == ["true", "1", "1.0", "1"]


def test_row_text_has_unit_percent_or_word():
    assert Row("x", 989.4e12, "FLOP/s", "X").text == "989.4 TFLOP/s"
    assert Row("x", 0.25, "1", "X").text == "25 %"
    assert Row("x", "memory", "", "X").text == "memory"

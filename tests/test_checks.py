"""One tone for all messages, and no way around them."""

import math
import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from primer import _checks

NUMERIC = (_checks.finite, _checks.positive, _checks.non_negative, _checks.fraction)


@pytest.mark.parametrize("check", [*NUMERIC, _checks.whole])
@pytest.mark.parametrize(
    "value", ["1", None, True, np.True_, math.nan, 1j, [1], np.array([1.0]), np.array(1.0), b"1"]
)
def test_only_one_real_number_passes(check, value):
    with pytest.raises(ValueError, match=r"^size must .+; got "):
        check("size", value)


@pytest.mark.parametrize(
    ("check", "value"),
    [
        (_checks.positive, 0),
        (_checks.positive, -1e-300),
        (_checks.positive, math.inf),
        (_checks.non_negative, -1),
        (_checks.non_negative, math.inf),
        (_checks.finite, -math.inf),
        (_checks.finite, 10**400),
        (_checks.fraction, 1.0000001),
        (_checks.fraction, -0.1),
        (_checks.whole, 0),
        (_checks.whole, 3.0),
        (_checks.whole, np.float64(3)),
    ],
)
def test_numbers_out_of_range_are_refused(check, value):
    with pytest.raises(ValueError, match=r"^size must .+; got "):
        check("size", value)


def test_the_message_names_parameter_rule_and_value():
    with pytest.raises(ValueError, match=r"^n must be a positive integer; got -3$"):
        _checks.whole("n", -3)
    with pytest.raises(ValueError, match=r"^n must be an integer of at least 2; got 1$"):
        _checks.whole("n", 1, minimum=2)
    with pytest.raises(ValueError, match=r"^e must lie above 0 and not above 1; got 0$"):
        _checks.fraction("e", 0, zero=False)
    with pytest.raises(ValueError, match=r"^x must be positive; got an array of shape \(2, 3\)$"):
        _checks.positive("x", np.ones((2, 3)))
    with pytest.raises(ValueError, match=r"^x must be positive; got -2.5$"):
        _checks.positive("x", np.float64(-2.5))


def test_long_values_are_cut():
    with pytest.raises(ValueError, match=r"…$") as caught:
        _checks.positive("x", "a" * 1000)
    assert len(str(caught.value)) < 120


def test_one_of_names_the_nearest():
    with pytest.raises(ValueError, match=re.escape("(did you mean 'bf16'?); got 'BF16'")):
        _checks.one_of("compute", "BF16", ("fp16", "bf16"))
    with pytest.raises(ValueError, match=r"^compute must be one of fp16, bf16; got 7$"):
        _checks.one_of("compute", 7, ("fp16", "bf16"))


def test_flag_takes_booleans_only():
    assert _checks.flag("overlap", np.False_) is False
    for value in (1, 0, "yes", None):
        with pytest.raises(ValueError, match=r"^overlap must be True or False; got "):
            _checks.flag("overlap", value)


@given(st.floats(min_value=1e-300, max_value=1e300))
def test_good_values_come_back_as_plain_numbers(x):
    for check in (_checks.finite, _checks.positive, _checks.non_negative):
        for given_as in (x, np.float64(x), Fraction(x)):
            assert type(check("x", given_as)) is float
            assert check("x", given_as) == x


@given(st.integers(min_value=1, max_value=10**15))
def test_whole_numbers_come_back_as_int(n):
    assert type(_checks.whole("n", np.int64(n))) is int
    assert _checks.whole("n", np.int64(n)) == n


@pytest.mark.parametrize("value", [10**15 + 1, 10**400, 10**6000, 1 << 10**6], ids=range(4))
def test_whole_numbers_stay_small_enough_for_products(value):
    with pytest.raises(ValueError, match=r"^n must be at most 1,000,000,000,000,000; got "):
        _checks.whole("n", value)
    with pytest.raises(ValueError, match=r"^n must be at most 17; got 18$"):
        _checks.whole("n", 18, maximum=17)


def test_a_span_of_time_is_no_whole_number():
    with pytest.raises(ValueError, match=r"^n must be a positive integer; got "):
        _checks.whole("n", np.timedelta64(3))


class _Unspeakable:
    def __repr__(self):
        raise RuntimeError("no")


@pytest.mark.parametrize(
    "value", [_Unspeakable(), -(10**6000), "a" * 10**6, b"a" * 10**6], ids=range(4)
)
def test_every_value_has_a_short_message(value):
    with pytest.raises(ValueError, match=r"^x must be positive.*; got ") as caught:
        _checks.positive("x", value)
    assert len(str(caught.value)) < 120


def test_results_must_be_finite():
    _checks.keeps_finite("x", 1.0, time_s=2.0)
    for result in (math.inf, -math.inf, math.nan):
        with pytest.raises(ValueError, match=r"^x must leave time_s finite; got 1\.0$"):
            _checks.keeps_finite("x", 1.0, energy_j=1.0, time_s=result)


def test_real_welcomes_infinity_and_nan():
    assert _checks.real("x", math.inf) == math.inf
    assert math.isnan(_checks.real("x", math.nan))
    for value in (None, True, "1", np.ones(2)):
        with pytest.raises(ValueError, match=r"^x must be a number; got "):
            _checks.real("x", value)

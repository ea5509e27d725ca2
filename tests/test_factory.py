"""The factory: machines on a belt, against a hand count, the roofline and a simulated day."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from primer import factory, hardware, roofline

RATES = st.floats(1e-3, 1e6)


# ---- values derived by hand


@pytest.mark.parametrize(
    ("reuse", "busy", "bound"),
    [
        (1, 0.25, "belt"),
        (2, 0.5, "belt"),
        (3, 0.75, "belt"),
        (4, 1, "machines"),
        (8, 1, "machines"),
    ],
)
def test_eight_machines_on_a_belt_of_two(reuse, busy, bound):
    # 8 machines ask for 8 operations/s; 2 parts/s used r times feed 2 r. Full at r = 4.
    shop = factory.starve(8, 2, reuse=reuse)
    assert (shop.busy_frac, shop.idle_frac, shop.bound) == (busy, 1 - busy, bound)
    assert shop.operations_per_s == min(8, 2 * reuse)
    assert shop.n_busy_machines == 8 * busy
    assert shop.full_reuse == 4


def test_a_fast_shop_leaves_the_belt_half_used():
    # 4 machines of 3 operations/s ask for 12; the belt feeds 6 * 4 = 24.
    shop = factory.starve(4, 6, reuse=4, machine_operations_per_s=3)
    assert (shop.operations_per_s, shop.belt_frac, shop.full_reuse) == (12, 0.5, 2)


# ---- second methods


@given(st.integers(1, 1000), RATES, st.floats(1e-3, 1e3), RATES)
def test_it_is_the_roofline(n_machines, belt, reuse, each):
    shop = factory.starve(n_machines, belt, reuse=reuse, machine_operations_per_s=each)
    chip = hardware.Chip.custom(
        "shop", peak_flop_per_s={"fp32": n_machines * each}, bandwidth_bytes_per_s=belt
    )
    point = roofline.place(chip, compute="fp32", work_flop=reuse, traffic_bytes=1)
    assert shop.operations_per_s == pytest.approx(point.attainable_flop_per_s)
    assert shop.busy_frac == pytest.approx(point.peak_frac)
    assert shop.full_reuse == pytest.approx(point.ridge_flop_per_byte)


@pytest.mark.parametrize(
    ("n_machines", "belt", "reuse"), [(8, 2, 1), (8, 2, 4), (3, 5, 2), (7, 3, 2)]
)
def test_a_simulated_day_does_the_same(n_machines, belt, reuse):
    n_seconds, waiting, done = 1000, 0, 0
    for _ in range(n_seconds):
        waiting += belt * reuse
        busy = min(n_machines, waiting)
        waiting, done = waiting - busy, done + busy
    assert (
        done / (n_seconds * n_machines) == factory.starve(n_machines, belt, reuse=reuse).busy_frac
    )


# ---- properties


@given(st.integers(1, 1000), RATES, st.floats(1e-3, 1e3), RATES)
def test_shares_are_shares_and_one_side_is_full(n_machines, belt, reuse, each):
    shop = factory.starve(n_machines, belt, reuse=reuse, machine_operations_per_s=each)
    assert 0 < shop.busy_frac <= 1
    assert 0 < shop.belt_frac <= 1
    assert max(shop.busy_frac, shop.belt_frac) == pytest.approx(1)
    assert shop.busy_frac + shop.idle_frac == pytest.approx(1)


# ---- bad input


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: factory.starve(0, 2), "n_machines must be a positive integer; got 0"),
        (lambda: factory.starve(2.5, 2), "n_machines must be a positive integer; got 2.5"),
        (lambda: factory.starve(8, 0), "belt_parts_per_s must be positive; got 0"),
        (lambda: factory.starve(8, 2, reuse=-1), "reuse must be positive; got -1"),
        (
            lambda: factory.starve(8, 2, machine_operations_per_s=float("inf")),
            "machine_operations_per_s must be finite; got inf",
        ),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


_ANY_SIZE = st.floats(min_value=5e-324, max_value=1.7e308)


@given(st.integers(1, 10**15), _ANY_SIZE, _ANY_SIZE, _ANY_SIZE)
def test_a_shop_is_finite_or_refused(n_machines, belt, reuse, each):
    try:
        shop = factory.starve(n_machines, belt, reuse=reuse, machine_operations_per_s=each)
    except ValueError as error:
        assert " must " in str(error)  # noqa: PT017
    else:
        numbers = [value for value in vars(shop).values() if isinstance(value, float)]
        assert all(math.isfinite(number) for number in numbers)


def test_a_belt_that_feeds_nothing_is_refused():
    with pytest.raises(ValueError, match=r"reuse must be large enough .*; got 1e-308"):
        factory.starve(8, 1e-308, reuse=1e-308)
    with pytest.raises(ValueError, match="n_machines must be at most"):
        factory.starve(10**400, 1)

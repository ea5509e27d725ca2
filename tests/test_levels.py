"""The hierarchical roofline: one dot per level of memory."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from primer import hardware, roofline

H100 = hardware.load("h100_sxm5_80gb")
TOY = hardware.example("toy")
AMOUNTS = st.floats(1e-3, 1e18)


def test_every_level_has_its_own_bytes():
    # 1e12 FLOP. L2 passes 1e11 B at 7.219 TB/s = 13.85 ms, HBM 1e10 B at 2.039 TB/s = 4.90 ms,
    # computing takes 1e12 / 312e12 = 3.21 ms: L2 decides.
    a100 = hardware.load("a100_sxm4_80gb")
    seen = roofline.place_levels(a100, work_flop=1e12, level_bytes={"l2": 1e11, "hbm": 1e10})
    assert (seen.bound, seen.time_s) == ("l2", pytest.approx(13.852e-3, rel=1e-4))
    assert seen.compute_time_s == pytest.approx(3.205e-3, rel=1e-3)
    assert [level.intensity_flop_per_byte for level in seen.levels] == [10, 100]
    assert seen.attainable_flop_per_s == pytest.approx(72.19e12)


@given(AMOUNTS, AMOUNTS)
def test_one_level_is_the_plain_roofline(flop, traffic):
    plain = roofline.place(H100, work_flop=flop, traffic_bytes=traffic)
    seen = roofline.place_levels(H100, work_flop=flop, level_bytes={"hbm": traffic})
    assert seen.time_s == plain.time_s
    assert seen.attainable_flop_per_s == plain.attainable_flop_per_s
    assert seen.bound == {"memory": "hbm"}.get(plain.bound, plain.bound)


def test_a_level_without_a_rate_needs_one():
    with pytest.raises(ValueError, match=r"memory.l2.bandwidth of H100 .*got 'not published'"):
        roofline.place_levels(H100, work_flop=1, level_bytes={"l2": 1})
    with pytest.raises(ValueError, match="level_bandwidth must hold a rate for level 'shared'"):
        roofline.place_levels(H100, work_flop=1, level_bytes={"shared": 1})
    seen = roofline.place_levels(
        H100, work_flop=0, level_bytes={"l2": 55e12}, level_bandwidth={"l2": 5.5e12}
    )
    assert (seen.bound, seen.time_s, seen.attainable_flop_per_s) == ("l2", 10.0, 0.0)


@given(AMOUNTS, AMOUNTS, AMOUNTS)
def test_no_level_is_outrun(flop, near, far):
    a100 = hardware.load("a100_sxm4_80gb")
    seen = roofline.place_levels(a100, work_flop=flop, level_bytes={"l2": near, "hbm": far})
    assert seen.time_s == max(seen.compute_time_s, *(level.time_s for level in seen.levels))
    assert seen.attainable_flop_per_s <= seen.peak_flop_per_s
    for level in seen.levels:
        assert seen.attainable_flop_per_s <= level.attainable_flop_per_s
        moved = level.traffic_bytes / seen.time_s
        assert moved <= level.bandwidth_bytes_per_s * (1 + 1e-12)


BAD = [
    (lambda: levels(level_bytes={}), r"level_bytes must map at least one level"),
    (lambda: levels(level_bytes={"l3": 1}), r"level must be one of main; got 'l3'"),
    (lambda: levels(level_bytes={"main": -1}), r"level_bytes\['main'\] must be zero or positive"),
    (lambda: levels(work_flop=0, level_bytes={"main": 0}), r"work_flop must be positive where all"),
]


def levels(work_flop=1, **options):
    return roofline.place_levels(TOY, work_flop=work_flop, **options)


@pytest.mark.parametrize(("call", "message"), BAD)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"level_bandwidth": {"hmb": 1e12}}, r"level_bandwidth must be .*mean 'hbm'.*got 'hmb'"),
        ({"level_bandwidth": {3: 1e12}}, "level_bandwidth must be one of .*got 3"),
        ({"level_bandwidth": 3}, "level_bandwidth must map levels to bandwidths; got 3"),
        ({"level_bandwidth": np.ones(2)}, "level_bandwidth must map levels.*got an array"),
        ({"level_bytes": np.ones(2)}, "level_bytes must map at least one level.*got an array"),
        ({"level_bytes": {"hbm": 1e-320}}, "traffic_bytes must leave flop_per_byte finite"),
        (
            {"level_bytes": {"hbm": 1e308}, "level_bandwidth": {"hbm": 1e-308}},
            r"level_bytes\['hbm'\] must leave time_s finite; got 1e",
        ),
    ],
)
def test_levels_and_rates_are_named(change, message):
    given = {"work_flop": 1e12, "level_bytes": {"hbm": 1e10}} | change
    with pytest.raises(ValueError, match=message):
        roofline.place_levels(hardware.load("a100_sxm4_80gb"), **given)


@pytest.mark.parametrize("chip", ["x", None, 3, np.ones(2)])
def test_only_a_chip_has_levels(chip):
    with pytest.raises(ValueError, match="chip must be a Chip"):
        roofline.place_levels(chip, work_flop=1, level_bytes={"hbm": 1})


def test_rates_of_levels_that_carry_nothing_are_no_mistake():
    chip = hardware.load("a100_sxm4_80gb")
    point = roofline.place_levels(
        chip, work_flop=1e12, level_bytes={"hbm": 1e10}, level_bandwidth={"hbm": 1e12, "l2": 5e12}
    )
    assert [level.name for level in point.levels] == ["hbm"]

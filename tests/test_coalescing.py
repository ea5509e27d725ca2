"""Coalescing: sectors counted by hand, byte by byte, and as a property of any access."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from primer import warps
from primer.warps import coalesce, strided


@pytest.mark.parametrize(
    ("size", "stride", "offset", "n_sectors", "efficiency"),
    [
        # 4 B: 32 lanes are 128 B, four sectors; a stride of s spreads them over min(4s, 32).
        (4, 1, 0, 4, 1.0),
        (4, 2, 0, 8, 1 / 2),
        (4, 4, 0, 16, 1 / 4),
        (4, 8, 0, 32, 1 / 8),
        (4, 9, 0, 32, 1 / 8),
        # All lanes want the same four bytes: one sector, 4 of 32 B.
        (4, 0, 0, 1, 1 / 8),
        # One float further, the last one lies in a fifth sector: 128 of 160 B.
        (4, 1, 4, 5, 0.8),
        # A whole sector further is as good as none.
        (4, 1, 32, 4, 1.0),
        (8, 1, 0, 8, 1.0),
        (8, 1, 8, 9, 8 / 9),
        (16, 1, 0, 16, 1.0),
        (16, 1, 16, 17, 16 / 17),
        (2, 1, 0, 2, 1.0),
        # 2 B, stride 9: 18 B from lane to lane, 31 · 18 + 2 = 560 B, 17.5 sectors, none skipped
        (2, 9, 0, 18, 64 / (18 * 32)),
        (1, 1, 0, 1, 1.0),
        # 1 B, stride 9: 31 · 9 + 1 = 280 B, 8.75 sectors
        (1, 9, 0, 9, 32 / (9 * 32)),
    ],
)
def test_anchors(size, stride, offset, n_sectors, efficiency):
    addresses = strided(stride, offset_bytes=offset, element_bytes=size)
    found = coalesce(addresses, element_bytes=size)
    assert found.n_sectors == n_sectors
    assert found.moved_bytes == 32 * n_sectors
    assert found.efficiency_frac == efficiency
    assert found.requested_bytes == 32 * size


def test_lines_are_four_sectors():
    # floats with stride 2 span 256 B: two lines; from byte 64 on, they reach into a third
    assert coalesce(strided(2)).lines == (0, 1)
    assert coalesce(strided(2, offset_bytes=64)).lines == (0, 1, 2)
    # one sector of each of 32 lines
    column = coalesce(strided(32))
    assert column.lines == tuple(range(32))
    assert column.sectors == tuple(range(0, 128, 4))


def test_the_order_of_lanes_does_not_matter():
    rng = np.random.default_rng(0)
    for order in (np.arange(32)[::-1], rng.permutation(32)):
        assert coalesce(strided(1)[order]) == coalesce(strided(1))


def test_lanes_that_are_off_ask_for_nothing():
    even = [lane % 2 == 0 for lane in range(32)]
    half = coalesce(strided(1), mask=even)
    assert (half.n_lanes, half.n_sectors, half.useful_bytes) == (16, 4, 64)
    # a stencil's left neighbor: lane 0 has none, and does not ask
    assert coalesce(strided(1) - 4, mask=[lane > 0 for lane in range(32)]).useful_bytes == 124
    assert coalesce([7, 8], element_bytes=8, mask=[False, True]).sectors == (0,)


SIZES = st.sampled_from([1, 2, 4, 8, 16])


@given(SIZES, st.lists(st.integers(0, 200), min_size=1, max_size=32), st.data())
def test_byte_by_byte(size, elements, data):
    """The definition taken literally, over the bytes of all active lanes."""
    mask = data.draw(st.lists(st.booleans(), min_size=len(elements), max_size=len(elements)))
    if not any(mask):
        mask[0] = True
    addresses = [size * element for element in elements]
    found = coalesce(addresses, element_bytes=size, mask=mask)
    asked = {a + b for a, is_on in zip(addresses, mask, strict=True) if is_on for b in range(size)}
    sectors = {byte // 32 for byte in asked}
    assert found.sectors == tuple(sorted(sectors))
    assert found.lines == tuple(sorted({s // 4 for s in sectors}))
    assert (found.useful_bytes, found.moved_bytes) == (len(asked), 32 * len(sectors))
    assert found.efficiency_frac == len(asked) / (32 * len(sectors))
    assert 0 < found.efficiency_frac <= 1
    assert found.n_ideal_sectors <= found.n_sectors <= found.n_lanes
    assert found.useful_bytes <= found.requested_bytes


@given(SIZES, st.integers(1, 64), st.integers(0, 64))
def test_a_shift_by_whole_sectors_changes_nothing(size, stride, n):
    addresses = strided(stride, element_bytes=size)
    here = coalesce(addresses, element_bytes=size)
    there = coalesce(addresses + 32 * n, element_bytes=size)
    assert there.sectors == tuple(s + n for s in here.sectors)
    assert there.efficiency_frac == here.efficiency_frac


def test_inputs_of_any_kind():
    expected = coalesce(list(range(0, 128, 4)))
    assert coalesce(range(0, 128, 4)) == expected
    assert coalesce(np.arange(0, 128, 4, dtype=np.uint32), element_bytes=np.int64(4)) == expected
    assert all(type(sector) is int for sector in coalesce(np.arange(0, 128, 4)).sectors)
    assert hash(expected) == hash(coalesce(strided(1)))


@pytest.mark.parametrize(
    ("addresses", "options", "message"),
    [
        ([0], {"element_bytes": 3}, "element_bytes must be one of 1, 2, 4, 8, 16; got 3"),
        ([0], {"element_bytes": 32}, "element_bytes must be one of"),
        ([0], {"element_bytes": True}, "element_bytes must be a positive integer; got True"),
        ([0], {"element_bytes": "4"}, "element_bytes must be a positive integer; got '4'"),
        ([0, 6], {}, r"addresses\[1\] must be a multiple of element_bytes = 4, .*; got 6"),
        ([0, -4], {}, r"addresses\[1\] must be an integer of at least 0; got -4"),
        ([0.0], {}, r"addresses\[0\] must be an integer"),
        ([float("nan")], {}, r"addresses\[0\] must be an integer"),
        ([True], {}, r"addresses\[0\] must be an integer"),
        ([10**400], {}, r"addresses\[0\] must be at most .*an integer of"),
        ([], {}, "addresses must hold 1 to 32 values, one for each lane"),
        (range(33), {"element_bytes": 1}, "addresses must hold 1 to 32 values"),
        (np.zeros((2, 2), int), {}, r"addresses\[0\] must be an integer .* shape \(2,\)"),
        (np.array(4), {}, "addresses must hold 1 to 32 values"),
        ("0123", {}, "addresses must hold 1 to 32 values.*'0123'"),
        (7, {}, "addresses must hold 1 to 32 values.*got 7"),
        ([0, 4], {"mask": [False, False]}, "mask must leave at least one lane active"),
        ([0, 4], {"mask": [True]}, "mask must hold 2 values, one for each lane"),
        ([0, 4], {"mask": [1, 0]}, r"mask\[0\] must be True or False; got 1"),
        ([0, 4], {"mask": 3}, "mask must hold 2 values"),
    ],
)
def test_bad_input_is_named(addresses, options, message):
    with pytest.raises(ValueError, match=message):
        coalesce(addresses, **options)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"stride_elements": -1}, "stride_elements must be an integer of at least 0; got -1"),
        ({"stride_elements": 1.5}, "stride_elements must be an integer"),
        ({"stride_elements": 2**60}, "stride_elements must be at most"),
        ({"stride_elements": 1, "offset_bytes": -4}, "offset_bytes must be an integer of at least"),
        ({"stride_elements": 1, "element_bytes": 0}, "element_bytes must be a positive integer"),
    ],
)
def test_bad_strides_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        warps.strided(**arguments)

"""Banks: conflicts counted by hand, by brute force, and by what padding has to do."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from primer.warps import bank_conflict_ways, banks, strided, tile_addresses

LANES = range(32)


def test_c8_strides_and_the_broadcast():
    # s = 18: lanes 0 and 16 meet in bank 0, at words 0 and 288 = 9 · 32: two words, two ways.
    # s = 20: lanes 0, 8, 16, 24 (8 · 20 = 5 · 32). s = 32: all lanes. s = 33: lane i in bank i.
    ways = {0: 1, 1: 1, 2: 2, 18: 2, 20: 4, 31: 1, 32: 32, 33: 1}
    assert {s: bank_conflict_ways(s) for s in ways} == ways
    assert banks([0] * 32).is_broadcast
    assert not banks(strided(1)).is_broadcast


def test_c8_for_every_stride():
    for s in range(1, 200):
        assert bank_conflict_ways(s) == math.gcd(s, 32)
        assert banks(strided(s)).n_wavefronts == math.gcd(s, 32)


def test_gcd_is_a_property_of_whole_warps_and_four_bytes_only():
    # Half of a warp over two rows of banks: 16 lanes, stride 2, all of them in banks of their own.
    first_half = [lane < 16 for lane in LANES]
    assert bank_conflict_ways(2, mask=first_half) == 1
    # Pairs of words, 16 lanes to a phase: stride 2 is side by side, though gcd(2, 32) is 2.
    assert bank_conflict_ways(2, element_bytes=8) == 1
    # Bytes and half words that share a word are one word.
    assert banks(np.arange(32), element_bytes=1).n_wavefronts == 1
    assert banks(2 * np.arange(32), element_bytes=2).is_broadcast


@pytest.mark.parametrize(
    ("size", "stride", "n_wavefronts", "ideal", "ways"),
    [
        # 16 lanes · 2 words fill 32 banks once: one wavefront for each half of the warp
        (8, 1, 2, 2, 1),
        # words 4i, 4i + 1: lanes i and i + 8 of a half meet
        (8, 2, 4, 2, 2),
        # words 8i, 8i + 1: lanes i, i + 4, i + 8, i + 12 meet
        (8, 4, 8, 2, 4),
        # 8 lanes · 4 words fill 32 banks once: one for each quarter
        (16, 1, 4, 4, 1),
        # words 8i … 8i + 3: lanes i and i + 4 of a quarter meet
        (16, 2, 8, 4, 2),
        # one word for all in each phase
        (8, 0, 2, 2, 1),
    ],
)
def test_wide_elements(size, stride, n_wavefronts, ideal, ways):
    found = banks(strided(stride, element_bytes=size), element_bytes=size)
    assert (found.n_wavefronts, found.n_ideal_wavefronts, found.n_ways) == (
        n_wavefronts, ideal, ways,
    )  # fmt: skip
    assert found.n_excess_wavefronts == n_wavefronts - ideal


@pytest.mark.parametrize("size", [4, 8, 16])
def test_one_element_of_padding_cures_a_column(size):
    bad = banks(tile_addresses(32, element_bytes=size), element_bytes=size)
    good = banks(
        tile_addresses(32, padding_elements=1, element_bytes=size), element_bytes=size
    )  # fmt: skip
    # unpadded, every lane begins in bank 0: 32 lanes, 16 in each half, 8 in each quarter
    assert bad.n_wavefronts == 32
    assert good.n_excess_wavefronts == 0
    for padding in (0, 1):
        row = tile_addresses(
            32, padding_elements=padding, walk="row", index=5, element_bytes=size
        )  # fmt: skip
        assert banks(row, element_bytes=size).n_excess_wavefronts == 0


def test_every_column_and_row_of_a_tile():
    tile = 4 * np.arange(32 * 33).reshape(32, 33)
    for index in LANES:
        column = tile_addresses(32, padding_elements=1, index=index)
        assert column.tolist() == tile[:, index].tolist()
        row = tile_addresses(32, padding_elements=1, walk="row", index=index)
        assert row.tolist() == tile[index, :32].tolist()


def by_brute_force(addresses, size, mask):
    """Let phase after phase pass over the banks until each active lane has all its words."""
    n_phases = {8: 2, 16: 4}.get(size, 1)
    total = 0
    for phase in range(n_phases):
        wanted = set()
        for lane in range(phase * 32 // n_phases, (phase + 1) * 32 // n_phases):
            if lane < len(addresses) and mask[lane]:
                wanted |= {(addresses[lane] + b) // 4 for b in range(size)}
        while wanted:
            served = {}
            for word in sorted(wanted):
                served.setdefault(word % 32, word)
            wanted -= set(served.values())
            total += 1
    return total


@given(
    st.sampled_from([1, 2, 4, 8, 16]),
    st.lists(st.integers(0, 300), min_size=1, max_size=32),
    st.data(),
)
def test_any_access_by_brute_force(size, elements, data):
    mask = data.draw(st.lists(st.booleans(), min_size=len(elements), max_size=len(elements)))
    if not any(mask):
        mask[-1] = True
    addresses = [size * element for element in elements]
    found = banks(addresses, element_bytes=size, mask=mask)
    assert found.n_wavefronts == by_brute_force(addresses, size, mask)
    assert 1 <= found.n_ideal_wavefronts <= found.n_wavefronts <= 32
    assert found.n_ways <= found.n_wavefronts - found.n_ideal_wavefronts + 1
    on = [(lane, a) for lane, a in enumerate(addresses) if mask[lane]]
    n_phases = len(found.words)
    asked = Counter((lane * n_phases // 32, a // 4 + w) for lane, a in on
                    for w in range(-(-size // 4)))  # fmt: skip
    listed = [(p, word) for p, phase in enumerate(found.words) for bank in phase for word in bank]
    assert sorted(listed) == sorted(asked)
    assert found.is_broadcast == (max(asked.values()) > 1)
    for phase in found.words:
        assert all(word % 32 == bank for bank, words in enumerate(phase) for word in words)


def test_turning_banks_round_changes_nothing():
    rng = np.random.default_rng(1)
    for _ in range(50):
        addresses = 4 * rng.integers(0, 500, 32)
        one = banks(addresses)
        assert banks(addresses + 4 * 7).n_wavefronts == one.n_wavefronts
        assert banks(rng.permutation(addresses)).n_wavefronts == one.n_wavefronts


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bank_conflict_ways(-1), "stride_words must be an integer of at least 0; got -1"),
        (lambda: bank_conflict_ways(1.0), "stride_words must be an integer"),
        (lambda: bank_conflict_ways(True), "stride_words must be an integer"),
        (lambda: bank_conflict_ways(1, padding_words=-1), "padding_words must be an integer of"),
        (lambda: bank_conflict_ways(1, element_bytes=3), "element_bytes must be one of"),
        (
            lambda: bank_conflict_ways(33, element_bytes=8),
            "stride_words must keep elements of 8 B aligned .* padding_words = 0; got 33",
        ),
        (
            lambda: bank_conflict_ways(32, padding_words=2, element_bytes=16),
            "stride_words must keep elements of 16 B aligned",
        ),
        (
            lambda: bank_conflict_ways(1, mask=[False] * 32),
            "mask must leave at least one lane active",
        ),
        (lambda: bank_conflict_ways(1, mask=[True] * 33), "mask must hold 32 values"),
        (lambda: banks([4], element_bytes=8), r"addresses\[0\] must be a multiple of"),
        (lambda: banks([-4]), r"addresses\[0\] must be an integer of at least 0; got -4"),
        (lambda: banks(range(0, 132, 4)), "addresses must hold 1 to 32 values"),
        (lambda: tile_addresses(0), "width_elements must be a positive integer; got 0"),
        (lambda: tile_addresses(32, walk="diagonal"), "walk must be one of column, row"),
        (lambda: tile_addresses(32, index=32), "index must be at most 31; got 32"),
        (lambda: tile_addresses(16, walk="row"), "width_elements must be at least the 32 lanes"),
        (lambda: tile_addresses(32, padding_elements=-1), "padding_elements must be an integer"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()

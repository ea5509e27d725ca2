"""Waves: anchors by hand, a scheduler that hands out block by block, and laws of any shape."""

from __future__ import annotations

import os
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from primer import hardware, waves
from primer._waveschedule import _hand_out

H100 = int(hardware.load("h100_sxm5_80gb").count("sms").value)


def test_the_chip_of_the_anchors_has_132_multiprocessors():
    assert H100 == 132


# ---- values derived by hand


@pytest.mark.parametrize(
    ("m", "n", "tile", "n_tiles", "n_waves", "utilization"),
    [
        # 8 · 24 tiles; 132 + 60, so 192 of 264 places are used
        (1024, 3072, 128, 192, 2, 192 / 264),
        # 32 · 32 tiles; 7 · 132 = 924, and 100 in the eighth wave
        (4096, 4096, 128, 1024, 8, 1024 / 1056),
        # 11 · 12 tiles: exactly one wave
        (1408, 1536, 128, 132, 1, 1.0),
        # 12 · 12 tiles: twelve too many
        (1536, 1536, 128, 144, 2, 144 / 264),
        # one column of tiles: the 132nd, and the 133rd
        (16_896, 128, 128, 132, 1, 1.0),
        (17_024, 128, 128, 133, 2, 133 / 264),
        # 16 · 48 tiles of 64 x 64: 5 · 132 = 660, and 108 in the sixth wave
        (1024, 3072, 64, 768, 6, 768 / 792),
        # 7 · 19: the only other way to make 133
        (896, 2432, 128, 133, 2, 133 / 264),
        # 4 · 24 tiles of 256 x 128: less than a wave
        (1024, 3072, (256, 128), 96, 1, 96 / 132),
    ],
)
def test_anchors(m, n, tile, n_tiles, n_waves, utilization):
    found = waves.count(m, n, tile=tile, n_sms=H100)
    assert (found.n_tiles, found.n_waves) == (n_tiles, n_waves)
    assert found.utilization_frac == pytest.approx(utilization, rel=1e-15)
    assert found.edge_frac == 0  # the tiles fit all of these shapes
    assert found.span_tiles == n_waves


@pytest.mark.parametrize(
    ("m", "n", "tile", "percent"),
    [
        (1024, 3072, 128, 72.7), (4096, 4096, 128, 97.0), (1408, 1536, 128, 100.0),
        (1536, 1536, 128, 54.5), (17_024, 128, 128, 50.4), (1024, 3072, 64, 97.0),
    ],
)  # fmt: skip
def test_anchors_as_they_are_told(m, n, tile, percent):
    assert round(100 * waves.count(m, n, tile=tile, n_sms=H100).utilization_frac, 1) == percent


def test_smaller_tiles_fill_better_and_reuse_less():
    # 2 · 128 · 128 · k FLOP on 2 · 128 · k numbers of two bytes: 64 FLOP/B; half of it with 64
    coarse, fine = (waves.count(1024, 3072, tile=t, n_sms=H100) for t in (128, 64))
    assert (coarse.intensity_flop_per_byte, fine.intensity_flop_per_byte) == (64, 32)
    assert fine.utilization_frac > coarse.utilization_frac
    # 256 x 128: 2 · 256 · 128 / (384 · 2) = 85.3; four bytes halve it
    wide = waves.count(1024, 3072, tile=(256, 128), n_sms=H100)
    assert wide.intensity_flop_per_byte == pytest.approx(85 + 1 / 3)
    assert waves.count(
        1024, 3072, tile=(256, 128), n_sms=H100, storage="fp32"
    ).intensity_flop_per_byte == pytest.approx(wide.intensity_flop_per_byte / 2)


def test_one_more_row_by_hand():
    # 1409 rows are 12 rows of tiles, the last with one row of results: 144 tiles in 2 waves.
    found = waves.count(1409, 1536, tile=128, n_sms=132)
    room = 2 * 132 * 128 * 128
    assert (found.n_tiles_m, found.n_tiles, found.n_tail_blocks) == (12, 144, 12)
    assert found.utilization_frac == pytest.approx(1409 * 1536 / room)
    assert found.edge_frac == pytest.approx(127 * 1536 / room)
    assert found.tail_frac == pytest.approx((264 - 144) / 264)
    before = waves.count(1408, 1536, tile=128, n_sms=132)
    assert found.span_tiles == 2 * before.span_tiles


def test_the_time_of_the_one_matmul():
    # 4.832 GFLOP at 989.4 TFLOP/s are 4.88 µs; with 8/11 of the room used, 6.71 µs
    chip = hardware.load("h100_sxm5_80gb")
    found = waves.count(1024, 3072, tile=128, n_sms=132)
    seconds = 2 * 1024 * 3072 * 768 / chip.peak_flop_per_s("bf16") / found.utilization_frac
    assert found.utilization_frac == pytest.approx(8 / 11)
    assert seconds * 1e6 == pytest.approx(4.8836 * 11 / 8, abs=5e-4)


def test_blocks_that_share_a_multiprocessor_gain_waves_but_no_time():
    # 192 blocks in 264 places: one wave, as a profiler counts them, and the same time
    alone = waves.count(1024, 3072, tile=128, n_sms=132)
    shared = waves.count(1024, 3072, tile=128, n_sms=132, blocks_per_sm=2)
    assert (alone.n_waves, shared.n_waves) == (2, 1)
    assert (shared.n_tail_blocks, shared.span_tiles) == (192, 2)
    assert shared.utilization_frac == alone.utilization_frac


def test_splitting_k_by_hand():
    # 384 blocks of half the length: 3 rounds of 0.5; 192 / (132 · 1.5) = 97 %
    split = waves.count(1024, 3072, tile=128, n_sms=132, n_splits=2)
    assert (split.n_blocks, split.span_tiles) == (384, 1.5)
    assert split.utilization_frac == pytest.approx(192 / 198)
    # two sums of four bytes for each result, written and read
    assert split.partial_bytes == 2 * 2 * 4 * 1024 * 3072
    assert waves.count(1024, 3072, tile=128, n_sms=132).partial_bytes == 0


def test_a_sweep_is_a_staircase():
    steps = waves.sweep(range(128, 4097, 128), 1536, tile=128, n_sms=132)
    # twelve tiles per step, eleven steps per wave
    assert [step.span_tiles for step in steps] == [float(-(-i // 11)) for i in range(1, 33)]
    full = [step.m for step in steps if step.utilization_frac == 1]
    assert full == [1408, 2816]
    assert waves.sweep(np.array([128]), 128, tile=128, n_sms=132)[0].n_tiles == 1


# ---- a second method: blocks handed out one by one


@settings(max_examples=60)
@given(
    m=st.integers(1, 900), n=st.integers(1, 900), tile=st.sampled_from([32, 64, (128, 32)]),
    n_sms=st.integers(1, 40), together=st.integers(1, 3),
)  # fmt: skip
def test_the_scheduler_takes_as_long_as_the_formula(m, n, tile, n_sms, together):
    found = waves.count(m, n, tile=tile, n_sms=n_sms, blocks_per_sm=together)
    run = waves.schedule(found.n_blocks, n_sms, blocks_per_sm=together)
    assert run.span_tiles == pytest.approx(found.span_tiles, rel=1e-9)
    assert run.utilization_frac == pytest.approx(found.utilization_frac + found.edge_frac)


@settings(max_examples=40)
@given(n_blocks=st.integers(1, 200), n_sms=st.integers(1, 20), parts=st.integers(1, 4))
def test_splits_take_as_long_as_shorter_blocks(n_blocks, n_sms, parts):
    found = waves.count(n_blocks, 1, tile=1, n_sms=n_sms, n_splits=parts)
    run = waves.schedule(found.n_blocks, n_sms, work=1 / parts)
    assert run.span_tiles == pytest.approx(found.span_tiles, rel=1e-9)


def test_waves_of_a_real_size_appear_by_themselves():
    run = waves.schedule(192, 132)
    assert run.start_tiles.tolist() == [0.0] * 132 + [1.0] * 60
    assert run.i_sm.tolist() == [*range(132), *range(60)]
    assert not run.i_sm.flags.writeable


def test_two_blocks_share_a_multiprocessor_by_hand():
    # three blocks on one: the first two run at half speed until 2, the third alone until 3
    run = waves.schedule(3, 1, blocks_per_sm=2)
    assert run.end_tiles.tolist() == [2.0, 2.0, 3.0]
    # work 1 and 3 together: after 2 the short one is done, the long one has 2 left and is alone
    uneven = waves.schedule(2, 1, blocks_per_sm=2, work=[1, 3])
    assert uneven.end_tiles.tolist() == [2.0, 4.0]


@settings(max_examples=60)
@given(
    work=st.lists(st.floats(0.01, 10), min_size=1, max_size=60),
    n_sms=st.integers(1, 12), together=st.integers(1, 3),
)  # fmt: skip
def test_uneven_blocks_keep_the_bounds_of_list_scheduling(work, n_sms, together):
    run = waves.schedule(len(work), n_sms, blocks_per_sm=together, work=work)
    total, longest = sum(work), max(work)
    assert run.span_tiles >= max(total / n_sms, longest) * (1 - 1e-9)
    # Graham 1966: handing out in any order costs at most (1 - 1/S) of one more block, which
    # with neighbors takes as many times longer
    assert run.span_tiles <= (total / n_sms + together * longest) * (1 + 1e-9)
    assert ((run.end_tiles - run.start_tiles) >= np.array(work) * (1 - 1e-9)).all()
    for sm in range(n_sms):
        mine = run.i_sm == sm
        events = np.sort(run.start_tiles[mine])
        alive = [
            int(((run.start_tiles[mine] <= t) & (run.end_tiles[mine] > t)).sum()) for t in events
        ]
        assert max(alive, default=0) <= together


def test_without_the_compiler_the_same():
    work = np.linspace(0.3, 2, 50)
    run = waves.schedule(50, 7, blocks_per_sm=2, work=work)
    where, start, end = np.zeros(50, dtype=np.int64), np.zeros(50), np.zeros(50)
    _hand_out.py_func(work, 7, 2, where, start, end)
    assert run.i_sm.tolist() == where.tolist()
    assert run.end_tiles.tolist() == end.tolist()


def test_with_the_compiler_switched_off():
    code = "from primer import waves; print(waves.schedule(5, 2).span_tiles)"
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == "3.0"


# ---- properties


SIZES = st.integers(1, 10**6)


@given(
    m=SIZES, n=SIZES, tile=st.tuples(st.integers(1, 512), st.integers(1, 512)),
    n_sms=st.integers(1, 500), parts=st.integers(1, 8), together=st.integers(1, 8),
)  # fmt: skip
def test_nothing_is_lost(m, n, tile, n_sms, parts, together):
    options = {"tile": tile, "n_sms": n_sms, "n_splits": parts, "blocks_per_sm": together}
    found = waves.count(m, n, **options)
    shares = (found.utilization_frac, found.edge_frac, found.tail_frac)
    assert sum(shares) == pytest.approx(1)
    assert min(shares) >= 0
    assert found.utilization_frac > 0
    exact = Fraction(m * n * parts, tile[0] * tile[1] * n_sms * -(-found.n_blocks // n_sms))
    assert found.utilization_frac == float(exact)
    assert 1 <= found.n_tail_blocks <= n_sms * together
    assert (found.n_waves - 1) * n_sms * together + found.n_tail_blocks == found.n_blocks
    assert found == waves.count(np.int64(m), np.int32(n), **options)
    # one more row never takes less time
    assert waves.count(m + 1, n, **options).span_tiles >= found.span_tiles


@given(n_tiles=st.integers(1, 10_000), n_sms=st.integers(1, 300))
def test_the_tail_costs_less_than_one_wave(n_tiles, n_sms):
    found = waves.count(n_tiles, 1, tile=1, n_sms=n_sms)
    assert n_tiles / n_sms <= found.span_tiles < n_tiles / n_sms + 1


# ---- bad input


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"m": 0}, "m must be a positive integer; got 0"),
        ({"n": 3072.0}, r"n must be a positive integer; got 3072.0"),
        ({"m": True}, "m must be a positive integer; got True"),
        ({"m": "1024"}, "m must be a positive integer; got '1024'"),
        ({"m": float("nan")}, "m must be a positive integer; got nan"),
        ({"m": 10**16}, "m must be at most 1,000,000,000,000,000"),
        ({"tile": (128,)}, r"tile must be one size, or rows and columns; got \(128,\)"),
        ({"tile": (128, 0)}, "tile must be a positive integer; got 0"),
        ({"tile": "128"}, "tile must be a positive integer; got '128'"),
        ({"tile": None}, "tile must be a positive integer; got None"),
        ({"n_sms": -1}, "n_sms must be a positive integer; got -1"),
        ({"blocks_per_sm": 0}, "blocks_per_sm must be a positive integer; got 0"),
        ({"n_splits": 1.5}, "n_splits must be a positive integer; got 1.5"),
        ({"storage": "bf15"}, "storage must be one of .*did you mean 'bf16'"),
    ],
)
def test_bad_shapes_are_named(change, message):
    good = {"m": 1024, "n": 3072, "tile": 128, "n_sms": 132}
    with pytest.raises(ValueError, match=message):
        waves.count(**{**good, **change})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: waves.schedule(0, 2), "n_blocks must be a positive integer; got 0"),
        (lambda: waves.schedule(20_001, 2), "n_blocks must be at most 20,000; got 20001"),
        (lambda: waves.schedule(2, 2000), "n_sms must be at most 1,024"),
        (lambda: waves.schedule(2, 2, blocks_per_sm=True), "blocks_per_sm must be a positive int"),
        (lambda: waves.schedule(2, 2, work=0), "work must lie above 0 and not above 1,000,000"),
        (lambda: waves.schedule(2, 2, work=[1, np.nan]), "work must lie above 0 .*got nan"),
        (lambda: waves.schedule(2, 2, work=[1, np.inf]), "work must lie above 0 .*got inf"),
        (lambda: waves.schedule(2, 2, work=[1]), "work must be one number, or one for each of 2"),
        (lambda: waves.schedule(2, 2, work=[[1], [1, 2]]), "work must be one number, or one"),
        (lambda: waves.schedule(2, 2, work="12"), "work must be one number.*got '12'"),
        (lambda: waves.schedule(2, 2, work=True), "work must be one number.*got True"),
        (lambda: waves.sweep([], 5, tile=1, n_sms=1), "sizes must be a sequence with at least one"),
        (lambda: waves.sweep(5, 5, tile=1, n_sms=1), "sizes must be a sequence .*got 5"),
        (lambda: waves.sweep(np.array(5), 5, tile=1, n_sms=1), "sizes must be a sequence .*got 5"),
        (lambda: waves.sweep(b"5", 5, tile=1, n_sms=1), "sizes must be a sequence .*got b'5'"),
        (lambda: waves.sweep({5}, 5, tile=1, n_sms=1), r"sizes must be a sequence .*got \{5\}"),
        (lambda: waves.sweep("12", 5, tile=1, n_sms=1), "m must be a positive integer; got '1'"),
    ],
)
def test_bad_calls_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()

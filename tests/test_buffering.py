"""Buffering: totals by hand, a machine clocked tick by tick, longest paths, blocked products."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from primer import blocked_gemm, buffering, hardware
from primer.buffering import _take_turns

TICKS = st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=1, max_size=12)
TIMES = st.floats(0.01, 1e4)


# ---- by hand


def test_three_to_copy_and_five_to_work():
    # in turns 4 · 8; else 3, then 5 each: 3 + 4 · 5
    assert buffering.count(3, 5, n_tiles=4, n_buffers=1).total_cycles == 32
    assert buffering.count(3, 5, n_tiles=4).total_cycles == 23


def test_the_same_total_with_another_bottleneck():
    # 4 · 5 of copies, and the last work of 3
    found = buffering.count(5, 3, n_tiles=4)
    assert found.total_cycles == 23
    # 5 before the first work, and 2 more before each of the other three
    assert found.stall_cycles == 11
    assert found.copying_frac == pytest.approx(20 / 23)
    assert buffering.count(3, 5, n_tiles=4).stall_cycles == 3


def test_every_time_of_four_tiles_in_two_buffers():
    found = buffering.schedule([3] * 4, 5)
    # the third tile needs the first one's buffer, which is free when its work ends, at 8
    assert found.load_start_cycle.tolist() == [0, 3, 8, 13]
    assert found.load_end_cycle.tolist() == [3, 6, 11, 16]
    assert found.work_start_cycle.tolist() == [3, 8, 13, 18]
    assert found.work_end_cycle.tolist() == [8, 13, 18, 23]
    assert found.i_buffer.tolist() == [0, 1, 0, 1]
    assert found.fill_cycles == 3
    assert not found.work_end_cycle.flags.writeable


def test_three_buffers_only_copy_earlier():
    found = buffering.schedule([3] * 4, 5, n_buffers=3)
    assert found.load_start_cycle.tolist() == [0, 3, 6, 9]  # the fourth waits until 8, then for 9
    assert found.work_end_cycle.tolist() == [8, 13, 18, 23]


def test_a_third_buffer_evens_out():
    # copies of 1 and 3 in turn, work of 2. Two buffers: 1, then max(3, 2), max(1, 2), …, then 2.
    uneven = [1, 3] * 3
    assert buffering.schedule(uneven, 2).total_cycles == 1 + 3 * 3 + 2 * 2 + 2
    # three: memory never stops, 12 cycles of copies and the last work
    assert buffering.schedule(uneven, 2, n_buffers=3).total_cycles == 12 + 2


def test_the_one_matmul_of_one_row_on_a_v5e():
    # 4 arrays of 128 · 128 weights of 2 B at 819 GB/s and 1.5 GHz: 240.06 cycles a set; 36 sets
    load = 4 * 128 * 128 * 2 / 819e9 * 1.5e9
    assert load == pytest.approx(240.06, abs=5e-3)
    found = buffering.count(load, 1, n_tiles=36)
    assert found.total_cycles - 1 == pytest.approx(8642, abs=0.2)
    assert found.total_cycles / 1.5e9 == pytest.approx(5.76e-6, rel=1e-3)
    # the same without tiles: all bytes through the memory, and one row
    assert (found.total_cycles - 1) / 1.5e9 == pytest.approx(768 * 3072 * 2 / 819e9)


# ---- a second method: a machine that knows no formula


def clocked(tiles: list[tuple[int, int]], n_buffers: int) -> int:
    """Ticks until all is done: two units that look around at the start of each tick."""
    waiting, free, full, done = list(tiles), n_buffers, [], 0
    copying = working = None
    ticks = 0
    while done < len(tiles):
        if copying is None and waiting and free:
            copying, free = list(waiting.pop(0)), free - 1
        if working is None and full:
            working = full.pop(0)
        ticks += 1
        if copying is not None:
            copying[0] -= 1
            if not copying[0]:
                full.append(copying[1])
                copying = None
        if working is not None:
            working -= 1
            if not working:
                working, free, done = None, free + 1, done + 1
    return ticks


@given(tiles=TICKS, n_buffers=st.integers(1, 5))
def test_the_clocked_machine_takes_as_long(tiles, n_buffers):
    load, work = zip(*tiles, strict=True)
    found = buffering.schedule(load, work, n_buffers=n_buffers)
    assert found.total_cycles == clocked(tiles, n_buffers)


@given(load=TIMES, work=TIMES, n_tiles=st.integers(1, 60), n_buffers=st.integers(1, 6))
def test_the_closed_form_is_the_schedule(load, work, n_tiles, n_buffers):
    form = buffering.count(load, work, n_tiles=n_tiles, n_buffers=n_buffers)
    found = buffering.schedule([load] * n_tiles, work, n_buffers=n_buffers)
    for name in ("total_cycles", "copy_cycles", "work_cycles", "fill_cycles", "per_tile_cycles"):
        assert getattr(form, name) == pytest.approx(getattr(found, name), rel=1e-9)
    assert form.stall_frac == pytest.approx(found.stall_frac, rel=1e-9, abs=1e-9)


@given(tiles=TICKS)
def test_two_buffers_are_steps_and_endless_ones_a_longest_path(tiles):
    load, work = zip(*tiles, strict=True)
    steps = load[0] + sum(max(pair) for pair in zip(load[1:], work, strict=False)) + work[-1]
    assert buffering.schedule(load, work).total_cycles == steps
    # any tile may be the one from which on work never stops, and until which copies never do
    paths = (sum(load[: i + 1]) + sum(work[i:]) for i in range(len(tiles)))
    endless = buffering.schedule(load, work, n_buffers=len(tiles))
    assert endless.total_cycles == max(paths)


@pytest.mark.parametrize("m", [1, 128, 240, 395, 1024])
def test_a_blocked_product_with_its_rows_and_results(m):
    # the same steps, with copies of A and C beside the weights, as another model takes them
    machine = blocked_gemm.tpu(hardware.load("tpu_v5e"))
    done = blocked_gemm.steps(machine, m, 3072, 768)
    run = blocked_gemm.run(machine, m, 3072, 768)
    per_byte = machine.clock_hz / machine.hbm_bytes_per_s
    load, store = done.load_bytes * per_byte, done.store_bytes * per_byte
    copies = load + np.append(0.0, store[:-1])
    found = buffering.schedule(copies, done.compute_cycles)
    # the results of the wave before leave beside the last step, too, and those of the last behind
    excess = max(0.0, store[-1] - done.compute_cycles[-1])
    ends = machine.fill_cycles + machine.drain_cycles + done.last_bytes * per_byte
    whole = found.total_cycles + excess + ends
    assert whole / machine.clock_hz == pytest.approx(run.time_s, rel=1e-9)


# ---- properties


@given(tiles=st.lists(st.tuples(TIMES, TIMES), min_size=1, max_size=30), share=st.floats(0.1, 1))
def test_more_never_hurts(tiles, share):
    load, work = (np.array(times) for times in zip(*tiles, strict=True))
    totals = [buffering.schedule(load, work, n_buffers=b).total_cycles for b in range(1, 6)]
    for fewer, more in itertools.pairwise(totals):
        assert more <= fewer * (1 + 1e-12)
    for n_buffers, total in enumerate(totals, start=1):
        faster = buffering.schedule(share * load, work, n_buffers=n_buffers).total_cycles
        assert faster <= total * (1 + 1e-12)


@given(
    tiles=st.lists(st.tuples(TIMES, TIMES), min_size=1, max_size=30), n_buffers=st.integers(1, 4)
)
def test_a_schedule_keeps_its_rules(tiles, n_buffers):
    load, work = (np.array(times) for times in zip(*tiles, strict=True))
    found = buffering.schedule(load, work, n_buffers=n_buffers)
    assert (found.load_start_cycle[1:] >= found.load_end_cycle[:-1]).all()
    assert (found.work_start_cycle[1:] >= found.work_end_cycle[:-1]).all()
    assert (found.work_start_cycle >= found.load_end_cycle).all()
    if len(load) > n_buffers:
        assert (found.load_start_cycle[n_buffers:] >= found.work_end_cycle[:-n_buffers]).all()
    assert found.total_cycles >= max(load.sum() + work[-1], load[0] + work.sum()) * (1 - 1e-12)
    assert found.total_cycles <= (load.sum() + work.sum()) * (1 + 1e-12)
    assert 0 < found.stall_frac < 1
    assert found.stall_cycles >= found.fill_cycles * (1 - 1e-6) - 1e-6


@settings(max_examples=30)
@given(load=TIMES, work=TIMES, n_tiles=st.integers(1, 30))
def test_where_tiles_are_alike_three_are_two(load, work, n_tiles):
    two, three = (
        buffering.schedule([load] * n_tiles, work, n_buffers=b).total_cycles for b in (2, 3)
    )
    assert three == pytest.approx(two, rel=1e-12)


def test_without_the_compiler_the_same():
    load, work = np.linspace(1, 3, 40), np.linspace(4, 0.5, 40)
    found = buffering.schedule(load, work, n_buffers=3)
    load_start, work_start = np.zeros(40), np.zeros(40)
    _take_turns.py_func(load, work, 3, load_start, work_start)
    assert found.load_start_cycle.tolist() == load_start.tolist()
    assert found.work_start_cycle.tolist() == work_start.tolist()


def test_with_the_compiler_switched_off():
    code = "from primer import buffering; print(buffering.schedule([3] * 4, 5).total_cycles)"
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == "23.0"


def test_kinds_of_numbers_that_are_welcome():
    found = buffering.schedule(np.array([3, 3], dtype=np.int16), (5, 5), n_buffers=np.int64(2))
    assert found.total_cycles == 13
    assert buffering.schedule(3, [5, 5]).total_cycles == 13
    assert buffering.count(np.float32(3), 5, n_tiles=np.int8(2)).total_cycles == 13
    # tiles that are there already
    assert buffering.count(0, 5, n_tiles=2).stall_frac == 0
    assert buffering.schedule([0, 0], 5).total_cycles == 10


# ---- bad input


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"load_cycles": -1}, "load_cycles must be zero or positive; got -1"),
        ({"load_cycles": float("nan")}, "load_cycles must be zero or positive; got nan"),
        ({"load_cycles": "3"}, "load_cycles must be zero or positive; got '3'"),
        ({"load_cycles": 1e308}, "n_tiles must leave total_cycles finite; got 36"),
        ({"work_cycles": 0}, "work_cycles must be positive; got 0"),
        ({"work_cycles": True}, "work_cycles must be positive; got True"),
        ({"work_cycles": float("inf")}, "work_cycles must be finite; got inf"),
        ({"n_tiles": 0}, "n_tiles must be a positive integer; got 0"),
        ({"n_tiles": 2.0}, "n_tiles must be a positive integer; got 2.0"),
        ({"n_buffers": 0}, "n_buffers must be a positive integer; got 0"),
        ({"n_buffers": 10**20}, "n_buffers must be at most 1,000,000,000,000,000"),
    ],
)
def test_bad_numbers_are_named(change, message):
    good = {"load_cycles": 240, "work_cycles": 128, "n_tiles": 36, "n_buffers": 2}
    with pytest.raises(ValueError, match=message):
        buffering.count(**{**good, **change})


@pytest.mark.parametrize(
    ("load", "work", "message"),
    [
        ([], 5, r"load_cycles must be one number, or a sequence .* got \[\]"),
        ([[1, 2]], 5, "load_cycles must be one number, or a sequence of one for each tile"),
        ([1, [2]], 5, "load_cycles must be one number, or a sequence of one for each tile"),
        ("12", 5, "load_cycles must be one number.*got '12'"),
        (True, [5], "load_cycles must be one number.*got True"),
        ([10**30], 5, "load_cycles must be one number"),
        ([1, -2], 5, "load_cycles must be zero or positive; got -2.0"),
        ([1, np.nan], 5, "load_cycles must be zero or positive; got nan"),
        ([1, np.inf], 5, "load_cycles must be finite; got inf"),
        ([1e308, 1e308], 5, "load_cycles must leave total_cycles finite; got 1e\\+308"),
        (3, 5, "load_cycles must be a sequence, unless work_cycles is; got 3.0"),
        ([1, 2], [5], "work_cycles must have one number for each of 2 tiles; got 1"),
        ([1, 2], [5, 0], "work_cycles must be positive for every tile; got 0.0"),
        ([1, 2], None, "work_cycles must be one number.*got None"),
        (np.ones(1_000_001), 5, "load_cycles must have at most 1,000,000 tiles"),
    ],
)
def test_bad_tiles_are_named(load, work, message):
    with pytest.raises(ValueError, match=message):
        buffering.schedule(load, work)


def test_a_schedule_needs_a_buffer():
    with pytest.raises(ValueError, match="n_buffers must be a positive integer; got False"):
        buffering.schedule([1, 2], 3, n_buffers=False)

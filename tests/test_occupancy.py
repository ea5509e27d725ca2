"""Occupancy: values by hand, NVIDIA's table, a multiprocessor filled block by block, bad input."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from primer import capabilities
from primer.occupancy import NO_LIMIT, Limits, allowance, calculate
from tests.conftest import ROOT
from tests.reference_multiprocessor import filled

TABLE = json.loads((ROOT / "tests/data/occupancy.json").read_text("utf-8"))
NAMES = capabilities.names()
KIB = 1024
OLD = dataclasses.replace(
    capabilities.load("7.0"), id="old", max_threads_per_sm=1024, max_warps_per_sm=32,
    max_blocks_per_sm=8,
)  # fmt: skip


def launch(capability, threads, registers, shared=0, **options):
    return calculate(
        capability, threads_per_block=threads, registers_per_thread=registers,
        shared_bytes_per_block=shared, **options,
    )  # fmt: skip


# ---- values derived by hand


def test_registers_are_rounded_per_warp_and_split_over_four_files():
    # 92 · 32 = 2,944, rounded up to 3,072; 16,384 / 3,072 = 5.3: five warps in each file, 20 in
    # all; 20 / 7 = 2.9: two blocks, 14 of 64 warps.
    found = launch("8.0", 224, 92)
    assert (found.n_blocks, found.n_warps, found.occupancy_frac) == (2, 14, 0.21875)
    assert found.limiters == ("registers",)
    assert (found.limits.registers, found.limits.warps) == (2, 9)
    assert found.allocated_registers_per_block == 7 * 3072
    assert (found.warps_per_scheduler, found.lanes_frac) == (3.5, 448 / 2048)
    # 80 · 32 = 2,560: six in a file, 24 in all, three blocks
    fixed = launch("8.0", 224, 80)
    assert (fixed.n_blocks, fixed.occupancy_frac) == (3, 21 / 64)


def naive_blocks(gpu, threads, registers):
    """The textbook's: no rounding, one big register file."""
    return gpu.registers_per_sm // (registers * threads)


def test_the_textbook_formula_never_promises_too_little():
    gpu = capabilities.load("8.0")
    threads, registers = (axis.ravel() for axis in np.mgrid[32:1025:32, 1:256])
    found = launch("8.0", threads, registers)
    textbook = naive_blocks(gpu, threads, registers)
    assert (found.limits.registers <= textbook).all()
    # Powers of two are the cases in which it is right, and those that examples use.
    exact = np.isin(threads, (128, 256, 512)) & np.isin(registers, (16, 32, 64, 128))
    assert (found.limits.registers == textbook)[exact].all()
    # 224 threads at 92 registers are one of the others: it says 3, and 2 fit.
    is_this = (threads == 224) & (registers == 92)
    assert (textbook[is_this], found.n_blocks[is_this]) == (3, 2)


@pytest.mark.parametrize(
    ("name", "shared", "n_blocks", "frac", "naive"),
    [
        # ⌊164 / (32 + 1)⌋ and ⌊228 / 33⌋ blocks of four warps
        ("8.0", 32, 4, 0.25, 5), ("9.0", 32, 6, 0.375, 7), ("8.0", 163, 1, 4 / 64, 1),
    ],
)  # fmt: skip
def test_the_system_keeps_a_kibibyte_of_every_block(name, shared, n_blocks, frac, naive):
    found = launch(name, 128, 32, shared * KIB)
    assert (found.n_blocks, found.occupancy_frac) == (n_blocks, frac)
    assert found.limiters == ("shared_memory",)
    assert found.allocated_shared_bytes_per_block == (shared + 1) * KIB
    assert capabilities.load(name).shared_bytes_per_sm // (shared * KIB) == naive


@pytest.mark.parametrize("name", NAMES)
def test_three_limits_of_shared_memory_are_three(name):
    gpu = capabilities.load(name)
    most, default = gpu.max_shared_bytes_per_block, gpu.default_shared_bytes_per_block
    assert launch(name, 64, 32, most).n_blocks == 1
    assert launch(name, 64, 32, default, opt_in=False).n_blocks >= 1
    cases = ((most + 1, True, most), (default + 1, False, default), (10**12, True, most))
    for shared, opt_in, may in cases:
        found = launch(name, 64, 32, shared, opt_in=opt_in)
        assert (found.n_blocks, found.occupancy_frac) == (0, 0.0)
        assert found.limiters == ("shared_memory",)
        assert found.reason.startswith(
            f"cannot launch: a block asks for {shared:,} B of shared memory, and may have {may:,} B"
        )
        assert ("unless it opts in" in found.reason) == (not opt_in)
    # The whole of a multiprocessor is out of reach where the system keeps a part of it.
    whole = launch(name, 64, 32, gpu.shared_bytes_per_sm)
    assert (whole.n_blocks == 0) == (gpu.reserved_shared_bytes_per_block > 0)


@pytest.mark.parametrize(
    ("gpu", "threads", "n_blocks", "n_warps", "occupancy_frac", "lanes_frac"),
    [
        (OLD, 16, 8, 8, 0.25, 0.125),  # eight block slots, one warp each, half of it empty
        ("8.0", 16, 32, 32, 0.5, 0.25),
        ("8.0", 100, 16, 64, 1.0, 0.78125),  # 100 / 128
        ("8.0", 33, 32, 64, 1.0, 0.515625),  # 33 / 64
    ],
)
def test_a_partly_empty_warp_takes_a_slot(
    gpu, threads, n_blocks, n_warps, occupancy_frac, lanes_frac
):
    found = launch(gpu, threads, 16)
    assert (found.n_blocks, found.n_warps) == (n_blocks, n_warps)
    assert (found.occupancy_frac, found.lanes_frac) == (occupancy_frac, lanes_frac)


@pytest.mark.parametrize("gpu", [*NAMES, OLD], ids=str)
def test_lanes_are_threads_and_warps_are_slots(gpu):
    found = launch(gpu, range(1, 1025), 16)
    assert (found.lanes_frac <= found.occupancy_frac).all()
    is_whole = np.arange(1, 1025) % 32 == 0
    assert ((found.lanes_frac == found.occupancy_frac) == is_whole).all()
    assert (found.n_warps_per_block == -(-np.arange(1, 1025) // 32)).all()


@pytest.mark.parametrize(
    ("name", "n_blocks", "occupancy_frac"),
    [
        # 256 threads, 32 registers, 48 KiB: ⌊96/48⌋, ⌊64/48⌋, ⌊164/49⌋, ⌊100/49⌋, ⌊228/49⌋
        ("7.0", 2, 0.25), ("7.5", 1, 0.25), ("8.0", 3, 0.375), ("8.6", 2, 1 / 3), ("8.9", 2, 1 / 3),
        ("9.0", 4, 0.5), ("10.0", 4, 0.5), ("10.3", 4, 0.5), ("12.0", 2, 1 / 3),
    ],
)  # fmt: skip
def test_one_launch_on_every_capability(name, n_blocks, occupancy_frac):
    found = launch(name, 256, 32, 48 * KIB)
    assert (found.n_blocks, found.occupancy_frac) == (n_blocks, pytest.approx(occupancy_frac))
    assert found.limiters == ("shared_memory",)


def test_carveouts_are_rounded_up_to_sizes_that_exist():
    # A quarter of 164 KiB is 41, the next size 64; 17 KiB go into it three times.
    assert launch("8.0", 256, 32, 16 * KIB, carveout_percent=25).n_blocks == 3
    # No preference is the largest: 164 / 17 = 9, more than the 8 that warps allow.
    assert launch("8.0", 256, 32, 16 * KIB).n_blocks == 8
    # A size below one block gives way to the block: 17 KiB need 32.
    assert launch("8.0", 256, 32, 16 * KIB, carveout_percent=0).n_blocks == 1
    assert launch("7.0", 256, 32, carveout_percent=0).limits.shared_memory == NO_LIMIT


def test_barriers_bind_from_hopper_on():
    # 64 barriers at 16 each; before 9.0 they are not counted
    found = launch("9.0", 64, 32, barriers_per_block=16)
    assert (found.n_blocks, found.limiters) == (4, ("barriers",))
    assert launch("12.0", 64, 32, barriers_per_block=4).n_blocks == 24 // 4
    assert launch("8.0", 64, 32, barriers_per_block=16).n_blocks == 32
    assert launch("9.0", 64, 32, barriers_per_block=0).limits.barriers == NO_LIMIT


def test_bytes_in_flight():
    # 4 blocks of 256 threads, each with two loads of 16 bytes
    found = launch("9.0", 256, 32, 48 * KIB, loads_in_flight=2, load_bytes=16)
    assert found.in_flight_bytes == 4 * 256 * 2 * 16
    assert launch("9.0", 256, 32).in_flight_bytes == 2048 * 4


@pytest.mark.parametrize(
    ("threads", "registers", "counted", "need"),
    [(1024, 65, "32 warps", 32 * 2304), (416, 152, "13 warps, counted as 16,", 16 * 4864)],
)
def test_too_many_registers_are_refused(threads, registers, counted, need):
    # 65 · 32 = 2,080 → 2,304; 152 · 32 = 4,864: 13 warps have 63,232 and would fit, but the check
    # counts as if all four files held the same number of them.
    found = launch("9.0", threads, registers)
    assert (found.n_blocks, found.n_warps, found.limiters) == (0, 0, ("registers",))
    assert found.reason == str(found)
    assert found.reason == (
        f"cannot launch: a block's {counted} need {need:,} registers, and a block may have 65,536"
    )


def test_two_refusals_and_a_block_too_large_for_the_multiprocessor():
    found = launch("8.0", 1024, 65, 200 * KIB)
    assert found.limiters == ("registers", "shared_memory")
    assert "need 73,728 registers" in found.reason
    assert "204,800 B of shared memory" in found.reason
    small = dataclasses.replace(OLD, max_threads_per_sm=512, max_warps_per_sm=16)
    assert launch(small, 1024, 16).reason == (
        "cannot launch: a block has 32 warps, and a multiprocessor holds 16"
    )


# ---- NVIDIA's header, as a table (test_occupancy_header.py asks it again)

AT = {column: i for i, column in enumerate(TABLE["columns"])}


def test_all_rows_of_the_table():
    assert len(TABLE["rows"]) == 389
    for row in TABLE["rows"]:
        name, threads, registers, fixed, dynamic, opt_in, percent, barriers, limiters = row[:9]
        if threads > 1024 or registers > 255:
            # The header refuses these too, but for 256 registers, which no thread can have.
            assert row[AT["blocks"]] == 0 or registers == 256
            with pytest.raises(ValueError, match=r"must be at most (1,024|255)"):
                launch(name, threads, registers)
            continue
        found = launch(
            name, threads, registers, fixed + dynamic, opt_in=opt_in, barriers_per_block=barriers,
            carveout_percent=None if percent < 0 else percent,
        )  # fmt: skip
        assert found.n_blocks == row[AT["blocks"]], row
        expected = [row[AT[f"limit_{limit}"]] for limit in Limits._fields]
        assert list(found.limits) == [NO_LIMIT if x is None else x for x in expected]
        assert found.allocated_registers_per_block == row[AT["allocated_registers"]]
        assert found.allocated_shared_bytes_per_block == row[AT["allocated_shared_bytes"]]
        if found.limiters != ("barriers",):
            assert list(found.limiters) == limiters


# ---- a multiprocessor filled block by block

LAUNCHES = {
    "threads": st.integers(1, 1024),
    "registers": st.integers(0, 255),
    "shared": st.one_of(st.integers(0, 4096), st.integers(0, 240_000)),
    "percent": st.integers(0, 100),
    "barriers": st.integers(0, 16),
}


@given(name=st.sampled_from(NAMES), **LAUNCHES)
@settings(max_examples=400)
def test_as_many_as_move_in_one_by_one(name, threads, registers, shared, percent, barriers):
    gpu = capabilities.load(name)
    found = launch(
        gpu, threads, registers, shared, carveout_percent=percent, barriers_per_block=barriers
    )
    assert found.n_blocks == filled(gpu, threads, registers, shared, percent, barriers)


# ---- properties


@given(name=st.sampled_from(NAMES), **LAUNCHES)
@settings(max_examples=150)
def test_a_number_gives_what_an_array_gives(name, threads, registers, shared, percent, barriers):
    options = {"carveout_percent": percent}
    one = launch(name, threads, registers, shared, barriers_per_block=barriers, **options)
    many = launch(
        name, np.array([[threads], [1024]]), [registers, 255, 0], shared,
        barriers_per_block=np.array([barriers, barriers, 1], dtype=np.uint8), **options,
    )  # fmt: skip
    assert many.n_blocks.shape == (2, 3)
    for field in ("n_blocks", "n_warps", "occupancy_frac", "lanes_frac", "in_flight_bytes"):
        alone = getattr(one, field)
        assert type(alone) in (int, float)
        assert getattr(many, field)[0, 0] == alone
    names = [x for i, x in enumerate(Limits._fields) if many.limiters[0, 0] >> i & 1]
    assert tuple(names) == one.limiters
    assert many.reason[0, 0] == one.reason
    assert [allowed[0, 0] for allowed in many.limits] == list(one.limits)
    assert bool(one.reason) == (one.n_blocks == 0)


@pytest.mark.parametrize("name", NAMES)
def test_more_of_anything_never_fits_more_often(name):
    grid = np.ix_(np.arange(32, 1025, 32), np.arange(0, 256, 5), np.arange(0, 240_000, 4000))
    blocks = launch(name, *grid).n_blocks
    for axis in (1, 2):
        assert (np.diff(blocks, axis=axis) <= 0).all()
    # Larger blocks are fewer, as long as they launch at all.
    assert (np.diff(blocks, axis=0) <= 0).all()
    assert (launch(name, *grid).occupancy_frac <= 1).all()


@given(
    name=st.sampled_from(NAMES), threads=st.integers(1, 1024), n_blocks=st.integers(1, 32),
    opt_in=st.booleans(),
)  # fmt: skip
@settings(max_examples=300)
def test_an_allowance_is_the_last_that_fits(name, threads, n_blocks, opt_in):
    gpu = capabilities.load(name)
    most = min(gpu.max_warps_per_sm // -(-threads // 32), gpu.max_blocks_per_sm)
    if n_blocks > most:
        with pytest.raises(ValueError, match=f"n_blocks must be at most {most}: warp slots"):
            allowance(name, threads_per_block=threads, n_blocks=n_blocks)
        return
    may = allowance(name, threads_per_block=threads, n_blocks=n_blocks, opt_in=opt_in)
    registers, shared = may.registers_per_thread, may.shared_bytes_per_block
    assert launch(gpu, threads, registers, shared, opt_in=opt_in).n_blocks >= n_blocks
    assert launch(gpu, threads, 1, shared + 1, opt_in=opt_in).n_blocks < n_blocks
    if registers < 255:
        assert launch(gpu, threads, registers + 1).n_blocks < n_blocks


def test_arrays_cannot_be_changed_and_say_their_shape():
    found = launch("9.0", np.arange(1, 7).reshape(2, 3), 32)
    with pytest.raises(ValueError, match="read-only"):
        found.limits.warps[0, 0] = 1
    assert str(found) == "Occupancy of launches on 9.0, shape (2, 3)"
    assert str(launch("9.0", 1024, 64)) == (
        "1 block on 9.0, 32 of 64 warps: 50.0%, limited by registers"
    )
    assert launch("9.0", np.array(64), np.int8(32)) == launch("9.0", 64, 32)


# ---- bad input


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"capability": "sm_90"}, r"capability must be one of 7.0, .*got 'sm_90'"),
        ({"capability": 9.0}, r"capability must be one of 7.0, .*got 9.0"),
        ({"threads_per_block": 0}, "threads_per_block must be a positive integer; got 0"),
        ({"threads_per_block": 1025}, "threads_per_block must be at most 1,024; got 1025"),
        ({"threads_per_block": 64.0}, "threads_per_block must be a positive integer; got 64.0"),
        ({"threads_per_block": True}, "threads_per_block must be a positive integer; got True"),
        ({"threads_per_block": "64"}, "threads_per_block must be a positive integer; got '64'"),
        ({"threads_per_block": []}, r"threads_per_block must not be empty; got \[\]"),
        ({"threads_per_block": [[1], [2, 3]]}, "threads_per_block must be an integer or an array"),
        ({"threads_per_block": [64, 0]}, "threads_per_block must be a positive integer; got 0"),
        ({"threads_per_block": np.array([1.0])}, "threads_per_block must be .* an array of int"),
        ({"threads_per_block": np.array([True])}, "threads_per_block must be .* an array of int"),
        ({"threads_per_block": [10**30]}, "threads_per_block must be an integer or an array"),
        ({"threads_per_block": np.array([2**63], dtype=np.uint64)}, "be at most 1,024; got 92233"),
        ({"registers_per_thread": 256}, "registers_per_thread must be at most 255; got 256"),
        ({"registers_per_thread": -1}, "registers_per_thread must be an integer of at least 0"),
        ({"registers_per_thread": None}, "registers_per_thread must be .*; got None"),
        ({"shared_bytes_per_block": -1}, "shared_bytes_per_block must be an integer of at least 0"),
        ({"shared_bytes_per_block": [0, -8]}, "shared_bytes_per_block must be .*; got -8"),
        ({"shared_bytes_per_block": float("nan")}, "shared_bytes_per_block must be .*; got nan"),
        ({"shared_bytes_per_block": 10**300}, "shared_bytes_per_block must be at most"),
        ({"barriers_per_block": 17}, "barriers_per_block must be at most 16; got 17"),
        ({"loads_in_flight": 0}, "loads_in_flight must be a positive integer; got 0"),
        ({"load_bytes": 0}, "load_bytes must be a positive integer; got 0"),
        ({"opt_in": 1}, "opt_in must be True or False; got 1"),
        ({"carveout_percent": 101}, "carveout_percent must be at most 100; got 101"),
        ({"carveout_percent": -1}, "carveout_percent must be an integer of at least 0; got -1"),
        (
            {"threads_per_block": [1, 2], "registers_per_thread": [1, 2, 3]},
            r"arrays must broadcast to one shape; got threads \(2,\), registers \(3,\)",
        ),
    ],
)
def test_bad_input_is_named(change, message):
    good = {"capability": "9.0", "threads_per_block": 64, "registers_per_thread": 32}
    arguments = good | change
    with pytest.raises(ValueError, match=message):
        calculate(arguments.pop("capability"), **arguments)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"capability": "9"}, "capability must be one of"),
        ({"threads_per_block": 2048}, "threads_per_block must be at most 1,024; got 2048"),
        ({"n_blocks": 0}, "n_blocks must be a positive integer; got 0"),
        ({"n_blocks": 33}, "n_blocks must be at most 32: .* no more of 64 threads; got 33"),
        ({"opt_in": None}, "opt_in must be True or False; got None"),
    ],
)
def test_bad_allowances_are_named(change, message):
    arguments = {"capability": "9.0", "threads_per_block": 64, "n_blocks": 2} | change
    with pytest.raises(ValueError, match=message):
        allowance(arguments.pop("capability"), **arguments)

"""Threads: NVIDIA's own numbering, blocks by hand, and what any block obeys."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from primer import capabilities, threads

ORACLE = json.loads((Path(__file__).parent / "data/threads_cub.json").read_text(encoding="utf-8"))


# ---- an outside oracle


def test_nvidias_library_numbers_the_threads_the_same():
    assert len(ORACLE["rows"]) > 60
    for x, y, z, *thread, expected in ORACLE["rows"]:
        found = threads.place(x, y, z, thread=thread)
        assert found.i_thread == expected, (x, y, z, thread)
        assert (found.i_warp, found.i_lane) == divmod(expected, 32)


# ---- values derived by hand


def test_a_block_of_32_by_8():
    # 256 threads; a row has 32, so that row y is warp y and column x is lane x
    for x, y in ((0, 0), (31, 0), (0, 1), (17, 7)):
        found = threads.place(32, 8, thread=(x, y))
        assert (found.i_warp, found.i_lane) == (y, x)
    assert (found.n_threads, found.n_warps, found.n_idle_lanes) == (256, 8, 0)
    assert found.lanes_frac == 1


def test_warps_follow_the_numbers_and_not_the_rows():
    # 16 x 16: two rows to a warp. 64 x 4: two warps to a row.
    assert threads.place(16, 16, thread=(0, 1)).i_lane == 16
    assert threads.place(16, 16, thread=(0, 2)).i_warp == 1
    assert threads.place(64, 4, thread=(32, 0)).i_warp == 1
    # x and y changed over: (1, 0) is the next thread, (0, 1) is 8 away; in 3 x 4, 3 away
    assert threads.place(8, 4, thread=(1, 0)).i_thread == 1
    assert threads.place(8, 4, thread=(0, 1)).i_thread == 8
    assert threads.place(3, 4, thread=(0, 1)).i_thread == 3
    # z counts whole layers: 2 · (4 · 4) + 1 · 4 + 3
    assert threads.place(4, 4, 4, thread=(3, 1, 2)).i_thread == 39


@pytest.mark.parametrize(
    ("block", "n_warps", "idle", "percent"),
    [
        ((4, 4), 1, 16, 50.0),  # half a warp takes a whole one
        ((100,), 4, 28, 78.1),  # 100 / 128
        ((10, 10), 4, 28, 78.1),
        ((33,), 2, 31, 51.6),  # 33 / 64
        ((832,), 26, 0, 100.0),  # 832 / 32, not / 64
        ((32, 26), 26, 0, 100.0),
        ((1024,), 32, 0, 100.0),
        ((1,), 1, 31, 3.1),
        ((8, 8, 8), 16, 0, 100.0),
    ],
)
def test_warps_of_a_block(block, n_warps, idle, percent):
    found = threads.place(*block)
    assert (found.n_warps, found.n_idle_lanes) == (n_warps, idle)
    assert round(100 * found.lanes_frac, 1) == percent


def test_c4_small_blocks_fill_warps_but_not_lanes():
    # Eight blocks of 16 threads are eight warps, not four: each ends a warp of its own.
    small = threads.place(4, 4)
    assert 8 * small.n_warps == 8
    # An old multiprocessor of 32 warps: 25 % of the warps, 12.5 % of 1,024 lanes.
    assert (8 * small.n_warps / 32, 8 * small.n_threads / 1024) == (0.25, 0.125)
    # Capability 8.0 holds 32 blocks and 64 warps: half of the warps, a quarter of the lanes.
    limits = capabilities.load("8.0")
    n_warps = limits.max_blocks_per_sm * small.n_warps
    assert n_warps / limits.max_warps_per_sm == 0.5
    assert n_warps / limits.max_warps_per_sm * small.lanes_frac == 0.25


def test_grids_by_hand():
    found = threads.place(32, 8, thread=(31, 7), grid=(8, 8), block=(7, 7))
    assert found.n_blocks == 64
    assert found.i_block == 63
    assert found.i_global == (255, 63, 0)
    # blocks are numbered as threads are: x fastest
    assert threads.place(1, grid=(5, 3, 2), block=(1, 2, 1)).i_block == 1 + 2 * 5 + 15


def test_covers_by_hand():
    # 1,000 numbers in blocks of 256: 4 blocks, 24 threads too many
    found = threads.cover(1000, block=(256,))
    assert (found.grid_shape, found.n_outside) == ((4, 1, 1), 24)
    # 1920 x 1080 pixels in blocks of 32 x 8 fit; in 16 x 16 the last half row of blocks hangs over
    assert threads.cover(1920, 1080, block=(32, 8)).n_outside == 0
    over = threads.cover(1920, 1080, block=(16, 16))
    assert over.grid_shape == (120, 68, 1)
    assert over.n_outside == 1920 * 8
    assert over.outside_frac == pytest.approx(8 / 1088)


# ---- a second method, and properties


BLOCKS = st.tuples(st.integers(1, 64), st.integers(1, 32), st.integers(1, 16)).filter(
    lambda shape: np.prod(shape) <= 1024
)


@given(shape=BLOCKS, data=st.data())
def test_every_block_is_numbered_without_gaps(shape, data):
    numbers = threads.number(*shape)
    assert numbers.shape == shape[::-1]
    assert sorted(numbers.ravel().tolist()) == list(range(numbers.size))
    x, y, z = (data.draw(st.integers(0, size - 1)) for size in shape)
    found = threads.place(*shape, thread=(x, y, z))
    # numpy's own strides, against our formula
    assert numbers[z, y, x] == found.i_thread == np.ravel_multi_index((z, y, x), shape[::-1])
    assert found.i_warp * 32 + found.i_lane == found.i_thread
    assert found.n_warps == len(set((numbers // 32).ravel().tolist()))
    assert found.n_threads + found.n_idle_lanes == 32 * found.n_warps
    assert 0 <= found.n_idle_lanes < 32
    assert found == threads.place(*map(np.int64, shape), thread=np.array([x, y, z]))


@given(
    shape=BLOCKS, grid=st.tuples(*[st.integers(1, 5)] * 3), data=st.data()
)  # fmt: skip
def test_places_in_a_grid_are_all_different(shape, grid, data):
    def draw(sizes):
        return tuple(data.draw(st.integers(0, size - 1)) for size in sizes)

    thread, block = draw(shape), draw(grid)
    found = threads.place(*shape, thread=thread, grid=grid, block=block)
    back = [divmod(i, size) for i, size in zip(found.i_global, shape, strict=True)]
    assert tuple(b for b, _ in back) == block
    assert tuple(t for _, t in back) == thread
    assert 0 <= found.i_block < found.n_blocks


@given(sizes=st.tuples(*[st.integers(1, 300)] * 3), shape=BLOCKS)
def test_a_cover_is_large_enough_and_not_a_block_larger(sizes, shape):
    found = threads.cover(*sizes, block=shape)
    for blocks, size, step in zip(found.grid_shape, sizes, shape, strict=True):
        assert (blocks - 1) * step < size <= blocks * step
    assert found.n_threads - found.n_outside == np.prod(sizes)
    assert 0 <= found.outside_frac < 1


# ---- bad input


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: threads.place(0), "block_x must be a positive integer; got 0"),
        (lambda: threads.place(32, 8.0), "block_y must be a positive integer; got 8.0"),
        (lambda: threads.place(32, True), "block_y must be a positive integer; got True"),
        (lambda: threads.place("32"), "block_x must be a positive integer; got '32'"),
        (lambda: threads.place(1025), "block must have at most 1,024 threads; got '1025 × 1 × 1'"),
        (lambda: threads.place(33, 32), "block must have at most 1,024 threads; got '33 × 32 × 1'"),
        (lambda: threads.place(1, 1, 65), "block_z must be at most 64; got 65"),
        (
            lambda: threads.place(32, 8, thread=(32, 0)),
            "thread.x must be less than the 32 .*got 32",
        ),
        (lambda: threads.place(32, 8, thread=(0, 8)), "thread.y must be less than the 8 there are"),
        (lambda: threads.place(32, thread=(0, 0, 1)), "thread.z must be less than the 1 there are"),
        (lambda: threads.place(32, thread=(-1,)), "thread.x must be an integer of at least 0"),
        (lambda: threads.place(32, thread=5), "thread must be one to three whole numbers.*got 5"),
        (lambda: threads.place(32, thread="5"), "thread must be one to three whole numbers.*'5'"),
        (lambda: threads.place(32, thread=()), r"thread must be one to three .*got \(\)"),
        (lambda: threads.place(32, thread=(0, 0, 0, 0)), "thread must be one to three whole"),
        (lambda: threads.place(32, thread=(0, [1])), r"thread.y must be an integer .*got \[1\]"),
        (lambda: threads.place(32, thread=np.array(3)), "thread must be one to three whole"),
        (
            lambda: threads.place(32, thread=(float("nan"),)),
            "thread.x must be an integer .*got nan",
        ),
        (lambda: threads.place(32, grid=(0,)), "grid.x must be a positive integer; got 0"),
        (lambda: threads.place(32, grid=(2,), block=(2,)), "block.x must be less than the 2 there"),
        (lambda: threads.place(32, capability="9"), "capability must be one of .*mean '9.0'"),
        (lambda: threads.number(2000), "block must have at most 1,024 threads"),
        (lambda: threads.cover(0, block=(32,)), "size_x must be a positive integer; got 0"),
        (lambda: threads.cover(10, block=32), "block must be one to three whole numbers"),
        (lambda: threads.cover(10, block=(2048,)), "block must have at most 1,024 threads"),
    ],
)
def test_bad_calls_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()

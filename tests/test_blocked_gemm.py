"""Blocked products: anchors by hand, a pipeline that runs event by event, and laws of any shape."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from primer import blocked_gemm, hardware, roofline, systolic, waves
from primer.blocked_gemm import Machine
from primer.workloads import Matmul

H100, V5E = hardware.load("h100_sxm5_80gb"), hardware.load("tpu_v5e")
GPU, TPU = blocked_gemm.gpu(H100), blocked_gemm.tpu(V5E)
ONE = (1024, 3072, 768)
TINY = Machine(
    name="tiny", n_cores=1, macs_per_cycle=1, clock_hz=1, peak_flop_per_s=2, block_m=2, block_n=2,
    block_k=2, row_multiple=2, hbm_bytes_per_s=4, keep_bytes=0, room_bytes=100,
)  # fmt: skip


# ---- values derived by hand


def test_the_one_matmul_on_a_gpu():
    # 8 · 24 blocks of 128 x 128 on 132 multiprocessors: two waves. A step is 128 · 128 · 64
    # multiply-adds at 2,048 a cycle, 512 cycles; 12 of them a block. 2 · 12 · 512 at 1.83 GHz.
    found = blocked_gemm.run(GPU, *ONE)
    assert (found.n_blocks, found.n_waves, found.n_last_blocks, found.n_steps) == (192, 2, 60, 24)
    assert found.compute_time_s == pytest.approx(24 * 512 / GPU.clock_hz)
    assert GPU.clock_hz == pytest.approx(1.83e9, rel=1e-4)
    assert found.compute_time_s * 1e6 == pytest.approx(6.72, abs=0.01)
    # 4.832 GFLOP at 989.4 TFLOP/s; 72 of 264 places stay empty
    assert found.parts.useful * 1e6 == pytest.approx(4.884, abs=1e-3)
    assert found.parts.idle == pytest.approx(found.compute_time_s * 72 / 264)
    assert found.parts.padding == found.parts.weights == 0
    # A and B fit into the cache: all bytes once
    assert found.hbm_bytes == Matmul(*ONE).compulsory_bytes == 12_582_912
    # every block reads 128 rows and 128 columns of 768 numbers
    assert found.cache_bytes == 192 * 256 * 768 * 2


def test_copies_of_the_one_matmul_on_a_gpu():
    # The first wave is five rows of blocks and a half: 6 · 128 rows of A, all 3,072 columns of B,
    # 64 numbers deep; that is shorter than the 512 cycles of a step, so only the first one shows.
    found = blocked_gemm.run(GPU, *ONE)
    first = (6 * 128 + 3072) * 64 * 2 / 3.35e12
    assert first < 512 / GPU.clock_hz
    assert found.parts.fill == pytest.approx(first)
    assert found.parts.copy == 0
    # the 60 blocks of the last wave leave at the end
    assert found.parts.tail == pytest.approx(60 * 128 * 128 * 2 / 3.35e12)


def test_a_slow_cache_shows_in_full_waves_only():
    # 132 blocks read 256 stripes of 64 numbers, 4.33 MB a step at 9.7 TB/s: more than computing
    # takes. 60 blocks read less than half, but a twelfth of the first wave's results leaves beside.
    slow = blocked_gemm.gpu(H100, cache_bytes_per_s=9.7e12)
    found = blocked_gemm.run(slow, *ONE)
    full, rest = (blocks * 256 * 64 * 2 / 9.7e12 for blocks in (132, 60))
    step = 512 / slow.clock_hz
    leaves = 132 * 128 * 128 * 2 / 12 / 3.35e12
    assert rest < step < rest + leaves < full
    # beside the last step of either wave come the first operands of the next, or none
    assert found.parts.copy == pytest.approx(11 * (full - step) + 11 * (rest + leaves - step))
    assert found.parts.fill == pytest.approx(full)
    assert found.compute_time_s == pytest.approx(24 * step)


def test_the_one_matmul_on_a_tpu():
    # Four arrays take 512 columns of B at a time, 128 numbers deep: 6 · 6 steps of 1,024 rows.
    found = blocked_gemm.run(TPU, *ONE)
    assert (found.n_blocks, found.n_waves, found.n_steps) == (6, 6, 36)
    assert found.compute_time_s == pytest.approx(36 * 1024 / 1.5e9)
    assert found.compute_time_s * 1e6 == pytest.approx(24.6, abs=0.03)
    # fill: all of A's first 128 columns, and weights; then a row of the arrays each cycle
    first = (1024 + 512) * 128 * 2 / 819e9
    assert found.parts.fill == pytest.approx(first + 128 / 1.5e9)
    # tail: the last sum crosses 128 + 128 - 2 cells, and the last block of C leaves
    assert found.parts.tail == pytest.approx(254 / 1.5e9 + 1024 * 512 * 2 / 819e9)
    assert found.parts.copy == found.parts.padding == found.parts.idle == found.parts.weights == 0
    assert found.hbm_bytes == Matmul(*ONE).compulsory_bytes


def test_one_row_on_a_tpu_reads_the_weights():
    # 131,072 B of weights are 240.06 cycles of HBM; loading them takes 128, the row itself 8.
    found = blocked_gemm.run(TPU, 1, 3072, 768)
    weights = 131_072 / 819e9 * 1.5e9
    assert weights == pytest.approx(240.06, abs=0.01)
    assert found.copy_time_s * 1e6 == pytest.approx(5.76, abs=0.02)
    assert found.compute_time_s == pytest.approx(36 * 128 / 1.5e9)
    assert found.parts.useful + found.parts.padding == pytest.approx(36 * 8 / 1.5e9)
    assert found.parts.weights == pytest.approx(36 * 120 / 1.5e9)
    assert found.time_s == pytest.approx(5.77e-6, rel=0.07)


def test_the_stall_of_a_tpu_ends_at_its_ridge():
    # Weights of a step come in while the rows of the one before pass: 240.06 cycles against m.
    # A is kept; 64 blocks of 64 steps make what it costs once, and C, less than five percent.
    room = dataclasses.replace(TPU, keep_bytes=1e12)
    below, above = (blocked_gemm.run(room, m, 64 * 512, 64 * 128) for m in (160, 320))
    assert below.time_s == pytest.approx(64 * 64 * 240.06 / 1.5e9, rel=0.05)
    assert below.parts.copy / below.time_s == pytest.approx(80 / 240, abs=0.05)
    assert above.time_s == pytest.approx(64 * 64 * 320 / 1.5e9, rel=0.05)
    assert above.parts.copy / above.time_s < 0.03


def test_padding_by_hand():
    # 129 columns: two blocks of 128, and 127 of 256 are nobody's
    found = blocked_gemm.run(GPU, 128, 129, 64)
    assert found.n_blocks == 2
    busy = found.parts.useful + found.parts.padding
    assert found.parts.useful / busy == pytest.approx(129 / 256)
    # k = 65 takes two steps of 64
    deep = blocked_gemm.run(GPU, 128, 128, 65)
    assert deep.parts.useful / (deep.parts.useful + deep.parts.padding) == pytest.approx(65 / 128)
    # a TPU pads rows to 8, columns to 512: 12 of 16, 100 of 512
    small = blocked_gemm.run(TPU, 12, 100, 128)
    share = small.parts.useful / (small.parts.useful + small.parts.padding)
    assert share == pytest.approx(12 * 100 / (16 * 512))


def test_a_tiny_product_step_by_step():
    # 4 x 2 times 2 x 2: two blocks of 8 multiply-adds, 8 s each at 1 a second. Each fetches 2 rows
    # and 2 columns of 2 numbers, 16 B in 4 s; each leaves 8 B, 2 s: the first beside the second.
    found = blocked_gemm.run(TINY, 4, 2, 2)
    assert found.parts == (16.0, 0.0, 0.0, 0.0, 0.0, 4.0, 2.0)
    assert found.time_s == 22
    turns = blocked_gemm.run(TINY, 4, 2, 2, double_buffer=False)
    assert turns.time_s == 4 + 8 + 4 + 8 + 2 + 2
    # with room for 4 · 2 + 2 · 2 numbers B is fetched once, and the second copy halves
    kept = blocked_gemm.run(dataclasses.replace(TINY, keep_bytes=24), 4, 2, 2)
    assert kept.hbm_bytes == found.hbm_bytes - 8 == 2 * (4 * 2 + 2 * 2 + 4 * 2)


# ---- a second method: copies and cores, event by event


def stripes(machine, m, n, k):
    """Of each wave, block by block: stripes to fetch and from the cache, result bytes, cycles."""
    down, across = math.ceil(m / machine.block_m), math.ceil(n / machine.block_n)
    keeps, seen, found = 2 * k * (m + n) <= machine.keep_bytes, set(), []
    todo = [(i, j) for i in range(down) for j in range(across)]
    while todo:
        wave, todo = todo[: machine.n_cores], todo[machine.n_cores :]
        seen = seen if keeps else set()
        fetch = cache = results = cycles = 0
        for core, (i, j) in enumerate(wave):
            rows = min(machine.block_m, m - i * machine.block_m)
            columns = min(machine.block_n, n - j * machine.block_n)
            mine = "all" if machine.has_cache else core
            for name, width in ((("A", i, mine), rows), (("B", j, mine), columns)):
                fetch += 0 if name in seen else width
                seen.add(name)
            cache += rows + columns if machine.has_cache else 0
            results += 2 * rows * columns
            padded = math.ceil(rows / machine.row_multiple) * machine.row_multiple
            macs = padded * machine.block_n * machine.block_k
            cycles = max(
                cycles, machine.least_step_cycles, math.ceil(macs / machine.macs_per_cycle)
            )
        found.append((fetch, cache, results, cycles))
    return found


def pipeline_s(machine, m, n, k):
    """Two buffers, one copy engine that serves in order, cores that start when both are ready."""
    parts = math.ceil(k / machine.block_k)
    tasks = []
    leaving = 0.0
    for fetch, cache, results, cycles in stripes(machine, m, n, k):
        for part in range(parts):
            depth = 2 * min(machine.block_k, k - part * machine.block_k)
            load = max(
                fetch * depth / machine.hbm_bytes_per_s, cache * depth / machine.cache_bytes_per_s
            )
            store = leaving / parts / machine.hbm_bytes_per_s
            tasks.append((load, store, cycles / machine.clock_hz))
        leaving = results
    engine = tasks[0][0]
    ready, free, computed = [engine], [0.0, 0.0], machine.fill_cycles / machine.clock_hz
    for i, (_, store, compute) in enumerate(tasks):
        begun = max(computed, ready[i]) if i else ready[0] + computed
        computed = begun + compute
        free[i % 2] = computed
        engine = max(engine, begun) + store
        if i + 1 < len(tasks):
            engine = max(engine, free[(i + 1) % 2]) + tasks[i + 1][0]
            ready.append(engine)
    out = leaving / machine.hbm_bytes_per_s
    return max(engine, computed) + out + machine.drain_cycles / machine.clock_hz


MACHINES = st.builds(
    Machine, name=st.just("any"), n_cores=st.integers(1, 7), macs_per_cycle=st.sampled_from([1, 3]),
    clock_hz=st.just(1), peak_flop_per_s=st.just(1e3), row_multiple=st.sampled_from([1, 2]),
    block_m=st.sampled_from([2, 4, 8]), block_n=st.sampled_from([1, 3, 4]),
    block_k=st.sampled_from([1, 2, 5]), hbm_bytes_per_s=st.floats(0.5, 50),
    keep_bytes=st.sampled_from([0, 200, 10_000]), room_bytes=st.just(10_000),
    least_step_cycles=st.integers(0, 9), fill_cycles=st.integers(0, 9),
    drain_cycles=st.integers(0, 9), cache_bytes_per_s=st.sampled_from([2.0, 20.0, math.inf]),
    has_cache=st.booleans(),
)  # fmt: skip
SIZES = st.integers(1, 40)


@settings(max_examples=200)
@given(machine=MACHINES, m=SIZES, n=SIZES, k=SIZES)
def test_the_sum_takes_as_long_as_the_events(machine, m, n, k):
    found = blocked_gemm.run(machine, m, n, k)
    assert found.time_s == pytest.approx(pipeline_s(machine, m, n, k), rel=1e-9)


@pytest.mark.parametrize("m", [1, 64, 569, 1024, 4096])
@pytest.mark.parametrize(("n", "k"), [(3072, 768), (1000, 3072)])
def test_real_machines_take_as_long_as_the_events(m, n, k):
    slow = blocked_gemm.gpu(H100, block=(256, 128, 64), cache_bytes_per_s=9.7e12)
    for machine in (GPU, slow, TPU, blocked_gemm.tpu(hardware.load("tpu_v5p"))):
        found = blocked_gemm.run(machine, m, n, k)
        assert found.time_s == pytest.approx(pipeline_s(machine, m, n, k), rel=1e-9)


def test_without_copies_a_tpu_is_the_systolic_array():
    # 3,072 columns on four arrays are 768 for each
    fast = dataclasses.replace(TPU, hbm_bytes_per_s=1e30)
    for m in (1, 8, 128, 1024):
        array = systolic.count(
            -(-m // 8) * 8, 3072 // 4, 768, rows=128, cols=128, dataflow="ws", double_buffer=True
        )
        found = blocked_gemm.run(fast, m, 3072, 768)
        # of its last fold the array takes the rows only; here it is a step like all others
        lacks = max(0, 128 - -(-m // 8) * 8)
        assert found.time_s * 1.5e9 == pytest.approx(array.n_cycles + lacks)


def test_blocks_and_waves_are_those_of_the_waves():
    for m, n, tile in ((1024, 3072, (128, 128)), (1409, 1536, (64, 64)), (1, 3072, (256, 128))):
        found = blocked_gemm.run(blocked_gemm.gpu(H100, block=(*tile, 64)), m, n, 768)
        peer = waves.count(m, n, tile=tile, n_sms=132)
        assert (found.n_blocks, found.n_waves) == (peer.n_tiles, peer.n_waves)
        shares = [part / found.compute_time_s for part in found.parts[:3]]
        assert shares == pytest.approx([peer.utilization_frac, peer.edge_frac, peer.tail_frac])


# ---- properties


@settings(max_examples=150)
@given(machine=MACHINES, m=SIZES, n=SIZES, k=SIZES)
def test_laws_of_any_product(machine, m, n, k):
    found = blocked_gemm.run(machine, m, n, k)
    assert sum(found.shares) == pytest.approx(1)
    assert min(found.parts) >= 0
    assert found.hbm_bytes >= Matmul(m, n, k).compulsory_bytes
    assert found.time_s >= found.copy_time_s * (1 - 1e-12)
    assert found.time_s >= found.compute_time_s
    assert found.time_s >= found.work_flop / machine.flop_per_s
    turns = blocked_gemm.run(machine, m, n, k, double_buffer=False)
    assert turns.time_s >= found.time_s
    fill = (machine.fill_cycles + machine.drain_cycles) / machine.clock_hz
    assert turns.time_s == pytest.approx(found.copy_time_s + found.compute_time_s + fill)
    for name in ("hbm_bytes_per_s", "cache_bytes_per_s"):
        faster = dataclasses.replace(machine, **{name: 2 * getattr(machine, name)})
        assert blocked_gemm.run(faster, m, n, k).time_s <= found.time_s * (1 + 1e-12)
    kept = dataclasses.replace(machine, keep_bytes=1e9)
    assert blocked_gemm.run(kept, m, n, k).hbm_bytes <= found.hbm_bytes


@given(m=st.integers(1, 5000), n=st.integers(1, 5000), k=st.integers(1, 5000))
@settings(max_examples=60)
def test_no_product_beats_the_roofline(m, n, k):
    for chip, machine in ((H100, GPU), (V5E, TPU)):
        found = blocked_gemm.run(machine, m, n, k)
        point = roofline.place(chip, Matmul(m, n, k))
        assert found.time_s >= point.time_s * (1 - 1e-9)
        assert found.peak_frac <= point.peak_frac * (1 + 1e-9)


@pytest.mark.parametrize("chip", ["tpu_v2", "tpu_v3", "tpu_v4", "tpu_v5e", "tpu_v5p"])
def test_the_clock_of_a_tpu_gives_its_peak(chip):
    machine = blocked_gemm.tpu(hardware.load(chip))
    assert machine.flop_per_s == pytest.approx(machine.peak_flop_per_s, rel=0.003)


@pytest.mark.parametrize("chip", ["v100_sxm2_32gb", "a100_sxm4_80gb", "h200_sxm_141gb"])
def test_other_gpus(chip):
    machine = blocked_gemm.gpu(hardware.load(chip), block=(64, 64, 32)) if chip[0] != "v" else None
    if machine is None:  # no bf16
        with pytest.raises(ValueError, match="compute must have a dense peak"):
            blocked_gemm.gpu(hardware.load(chip))
    else:
        assert machine.flop_per_s == pytest.approx(machine.peak_flop_per_s)
        assert machine.cache_bytes_per_s < math.inf  # both have a number


def test_the_fastest_block_is_the_fastest():
    sizes = [blocked_gemm.gpu(H100, block=(s, s, 64), cache_bytes_per_s=9.7e12) for s in (64, 128)]
    for m in (1, 128, 1024, 4096):
        best = blocked_gemm.fastest(iter(sizes), m, 3072, 768)
        assert best.time_s == min(blocked_gemm.run(x, m, 3072, 768).time_s for x in sizes)
    assert blocked_gemm.fastest([GPU, GPU], *ONE).machine is GPU


def test_steps_are_frozen_and_add_up():
    done = blocked_gemm.steps(GPU, *ONE)
    assert len(done.load_bytes) == len(done.compute_cycles) == 24
    for array in (done.load_bytes, done.store_bytes, done.compute_cycles, done.busy_cycles):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    assert done.load_bytes.sum() == 2 * (1024 * 768 + 768 * 3072)
    assert done.store_bytes.sum() + done.last_bytes == 2 * 1024 * 3072


def test_numpy_sizes_give_plain_numbers():
    found = blocked_gemm.run(GPU, np.int64(1024), np.int32(3072), np.int16(768))
    assert found == blocked_gemm.run(GPU, *ONE)
    assert type(found.time_s) is float
    assert type(found.n_blocks) is int


def test_numpy_numbers_in_a_machine_do_not_overflow():
    sizes = {"block_m": 64, "block_n": 64, "block_k": 64, "n_cores": 3, "row_multiple": 8}
    given = {"room_bytes": 1e6, "macs_per_cycle": 100, "clock_hz": 7}
    plain = dataclasses.replace(TINY, **sizes, **given)
    short = {name: np.int8(size) for name, size in sizes.items()}
    rates = {"room_bytes": np.float64(1e6), "macs_per_cycle": np.int8(100), "clock_hz": np.int8(7)}
    found = dataclasses.replace(TINY, **short, **rates)
    assert found == plain
    assert type(found.block_m) is int
    assert blocked_gemm.run(found, 200, 200, 200) == blocked_gemm.run(plain, 200, 200, 200)


# ---- bad input


@pytest.mark.parametrize("bad", [0, -1, 2.0, True, "8", math.nan, None, 10**16])
@pytest.mark.parametrize("name", ["m", "n", "k"])
def test_bad_sizes_are_named(name, bad):
    sizes = {"m": 8, "n": 8, "k": 8, name: bad}
    with pytest.raises(ValueError, match=rf"^{name} must be "):
        blocked_gemm.steps(GPU, **sizes)
    with pytest.raises(ValueError, match=rf"^{name} must be "):
        blocked_gemm.run(GPU, *sizes.values())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_cores": 0}, "n_cores must be a positive integer; got 0"),
        ({"block_m": 3}, "block_m must be a multiple of 2; got 3"),
        ({"block_k": 2.0}, "block_k must be a positive integer; got 2.0"),
        ({"macs_per_cycle": 0}, "macs_per_cycle must be positive; got 0"),
        ({"clock_hz": math.inf}, "clock_hz must be finite; got inf"),
        ({"hbm_bytes_per_s": "4"}, "hbm_bytes_per_s must be positive; got '4'"),
        ({"cache_bytes_per_s": math.nan}, "cache_bytes_per_s must be positive; got nan"),
        ({"keep_bytes": -1}, "keep_bytes must be zero or positive; got -1"),
        ({"drain_cycles": -1}, "drain_cycles must be an integer of at least 0; got -1"),
        ({"has_cache": 1}, "has_cache must be True or False; got 1"),
        ({"room_bytes": 47}, "room_bytes must hold a block, 48 B; got 47"),
        ({"name": None}, "name must be a text; got None"),
        ({"cache_bytes_per_s": np.ones(2)}, "cache_bytes_per_s must be a number; got an array"),
        ({"macs_per_cycle": 1e-300}, "macs_per_cycle must leave a step at most .* got 1e-300"),
        (
            {"block_m": 10**9, "block_n": 10**9, "room_bytes": 1e300},
            r"block_m, block_n and block_k must make at most .* multiply-adds a step; got \d{19}",
        ),
    ],
)
def test_bad_machines_are_named(change, message):
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(TINY, **change)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: blocked_gemm.run(H100, *ONE), "machine must be a Machine, as gpu and tpu make"),
        (lambda: blocked_gemm.run(GPU, *ONE, double_buffer=2), "double_buffer must be True or"),
        (lambda: blocked_gemm.run(TINY, 10**7, 10, 2), "m, n, k must make at most 2,000,000 st"),
        (lambda: blocked_gemm.run(TINY, 2, 2, 10**7), "m, n, k must make at most 2,000,000 st"),
        (lambda: blocked_gemm.gpu(V5E), "chip must be a GPU; got <Chip tpu_v5e"),
        (lambda: blocked_gemm.tpu(H100), "chip must be a TPU; got <Chip h100"),
        (lambda: blocked_gemm.gpu("h100"), "chip must be a Chip"),
        (lambda: blocked_gemm.gpu(H100, block=(128, 128)), "block must be three sizes: block_m"),
        (lambda: blocked_gemm.gpu(H100, block=[8, 8, 8]), "block must be three sizes"),
        (lambda: blocked_gemm.gpu(H100, block=(8, 8, 0)), "block must be a positive integer"),
        (lambda: blocked_gemm.gpu(H100, block=(512, 512, 64)), "room_bytes must hold a block"),
        (lambda: blocked_gemm.gpu(H100, cache_bytes_per_s=0), "cache_bytes_per_s must be pos"),
        (lambda: blocked_gemm.tpu(V5E, block_m=12), "block_m must be a multiple of 8; got 12"),
        (lambda: blocked_gemm.tpu(hardware.load("tpu_v6e")), "clock.boost of .* must be known"),
        (lambda: blocked_gemm.tpu(hardware.load("tpu_v1")), "must"),
        (lambda: blocked_gemm.fastest([], *ONE), r"machines must hold at least one; got \(\)"),
        (lambda: blocked_gemm.fastest(GPU, *ONE), "machines must be Machines"),
        (lambda: blocked_gemm.fastest(["x"], *ONE), "machine must be a Machine"),
        (lambda: blocked_gemm.fastest(np.array(3), *ONE), "machines must be Machines"),
        (lambda: blocked_gemm.steps("x", *ONE), "machine must be a Machine"),
    ],
)
def test_bad_calls_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    ("name", "what"),
    [("clock_hz", "time_s"), ("hbm_bytes_per_s", "time_s"), ("peak_flop_per_s", "peak_frac")],
)
def test_times_stay_finite(name, what):
    slow = dataclasses.replace(TINY, **{name: 5e-324})
    with pytest.raises(ValueError, match=rf"machine must leave {what} finite; got Machine\("):
        blocked_gemm.run(slow, 8, 8, 8)


def test_a_block_that_fills_its_room_is_taken():
    assume_fits = dataclasses.replace(TINY, room_bytes=48)
    assert blocked_gemm.run(assume_fits, 2, 2, 2).n_blocks == 1

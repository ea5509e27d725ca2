"""Tensor Cores: rates from peaks, cycles of instructions, and products summed block by block."""

from __future__ import annotations

import copy
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from primer import _tables, _tensorcoretable, hardware, tensorcores
from primer.tensorcores import fma_per_cycle, fragment, instruction, issue, load, schedule

RAW = _tables.read(_tensorcoretable.FILE)


# ---- rates


@pytest.mark.parametrize(
    ("generation", "per_unit", "units_per_sm"),
    # printed by NVIDIA: 64 and 8 (Turing's and Ampere's white papers), 256 and 4, 512 per SM
    # (GA102), 2048 per SM (IEEE Micro 2023); 8.9 and 10.0 are quotients of peaks
    [
        ("7.0", 64, 8), ("7.5", 64, 8), ("8.0", 256, 4), ("8.6", 128, 4), ("8.9", 128, 4),
        ("9.0", 512, 4), ("10.0", 1024, 4),
    ],
)  # fmt: skip
def test_what_is_printed_and_what_a_peak_gives(generation, per_unit, units_per_sm):
    found = load(generation)
    assert (found.fma_per_unit, found.n_units_per_sm) == (per_unit, units_per_sm)
    assert found.fma_per_sm.value == per_unit * units_per_sm
    assert found.chip.count("fma_per_matrix_unit").value == per_unit
    assert fma_per_cycle(generation).fma_per_unit == pytest.approx(per_unit, rel=0.004)
    assert load(generation) is found


def test_quotients_by_hand():
    # 989.4e12 / (132 · 4 · 2 · 1.83e9) = 511.98; 312e12 / (108 · 4 · 2 · 1.41e9) = 256.11
    assert fma_per_cycle("h100_sxm5_80gb").fma_per_unit == pytest.approx(511.98, abs=0.01)
    assert fma_per_cycle("a100_sxm4_80gb").fma_per_unit == pytest.approx(256.11, abs=0.01)
    # 125e12 / (80 · 8 · 2 · 1.53e9) = 63.83; 65e12 / (40 · 8 · 2 · 1.59e9) = 63.88
    assert fma_per_cycle("v100_sxm2_32gb").fma_per_unit == pytest.approx(63.83, abs=0.01)
    assert fma_per_cycle("t4").fma_per_unit == pytest.approx(63.88, abs=0.01)
    # 2250e12 / (148 · 4 · 2 · 1.85e9) = 1027.2
    assert fma_per_cycle("b200_sxm").fma_per_unit == pytest.approx(1027.2, abs=0.1)


def test_the_clock_decides():
    # The clock of H100's vector units, and the highest that B200 reports, miss the power of two.
    assert fma_per_cycle("9.0").clock.value == 1.83e9
    assert fma_per_cycle("9.0", clock_hz=1.98e9).fma_per_unit == pytest.approx(473.2, abs=0.1)
    assert fma_per_cycle("10.0").clock.source.key == "flashattention_4"
    assert fma_per_cycle("10.0", clock_hz=1.965e9).fma_per_unit == pytest.approx(967.1, abs=0.1)


@pytest.mark.parametrize("generation", ["8.9", "9.0", "10.0"])
def test_fp8_doubles_the_rate(generation):
    half = fma_per_cycle(generation).fma_per_unit
    assert fma_per_cycle(generation, compute="fp8").fma_per_unit == pytest.approx(
        2 * half, rel=0.001
    )
    assert issue(generation, compute="fp8").fma_per_unit == 2 * issue(generation).fma_per_unit


COUNTED = [
    name
    for name in hardware.names()
    for chip in [hardware.load(name)]
    if {"count.matrix_units", "count.fma_per_matrix_unit"} <= {q.name for q in chip.counts}
    and any(q.is_published for q in chip.clocks)
]


@pytest.mark.parametrize("name", COUNTED)
def test_every_matrix_unit_of_the_tables(name):
    """GPUs, TPUs and others: the peak is units · rate · 2 · clock, to the digits printed."""
    chip = hardware.load(name)
    stated = chip.count("fma_per_matrix_unit")
    kinds = {"bf16": "bf16", "8 bits": "int8", "int8": "int8", "FP16": "fp16"}
    compute = next(kind for words, kind in kinds.items() if words in stated.convention)
    # trainium2: AWS prints 667 TFLOP/s, while its own numbers make 629
    allowed = 0.07 if name == "trainium2" else 0.03
    found = fma_per_cycle(chip, compute=compute)
    assert found.fma_per_unit == pytest.approx(stated.value, rel=allowed)


# ---- instructions and cycles


@pytest.mark.parametrize(
    ("generation", "sizes", "n_fma", "n_units", "cycles", "operand_bytes", "d_bytes"),
    [
        # four products of 8 · 8 · 4 on two units of 64: 1024 / 128; (32 + 32) · 4 · 2 B
        ("7.0", {}, 1024, 2, 8, 512, 1024),
        ("7.5", {}, 16 * 8 * 8, 2, 8, (128 + 64) * 2, 512),
        ("8.0", {}, 16 * 8 * 16, 1, 8, (256 + 128) * 2, 512),
        ("8.6", {}, 2048, 1, 16, 768, 512),
        ("9.0", {"n": 16}, 64 * 16 * 16, 4, 8, (1024 + 256) * 2, 4096),
        ("9.0", {}, 64 * 256 * 16, 4, 128, (1024 + 4096) * 2, 65_536),
        ("10.0", {"m": 128, "n": 16}, 128 * 16 * 16, 4, 8, (2048 + 256) * 2, 8192),
        ("10.0", {}, 128 * 256 * 16, 4, 128, (2048 + 4096) * 2, 131_072),
    ],
)
def test_work_and_cycles_by_hand(generation, sizes, n_fma, n_units, cycles, operand_bytes, d_bytes):
    found = issue(generation, **sizes)
    one = found.instruction
    assert (one.n_fma, one.work_flop, found.n_units) == (n_fma, 2 * n_fma, n_units)
    assert (found.least_cycles, one.operand_bytes, one.d_bytes) == (cycles, operand_bytes, d_bytes)
    assert one.intensity_flop_per_byte == pytest.approx(2 * n_fma / operand_bytes)
    assert re.fullmatch(r"(mma|wgmma|tcgen05)\.m\d+n\d+k\d+", one.name)


def test_what_a_paper_counts_for_two_products():
    # FlashAttention-4, table 1: a tile of 128 × 128 × 128 twice takes 1024 cycles of multiplying
    # and 768 of shared memory, as the second product has A in tensor memory.
    first = issue("10.0", m=128, n=128)
    second = issue("10.0", m=128, n=128, a_home="tensor memory")
    n_deep = 128 // 16
    assert n_deep * (first.least_cycles + second.least_cycles) == 1024
    assert n_deep * (first.shared_cycles + second.shared_cycles) == 768


def test_narrow_products_starve():
    # wgmma: 2048 + 32n bytes at 128 per cycle against n / 2 cycles, so n = 64 is just enough;
    # tcgen05 with 128 rows: 4096 + 32n against n / 2, so n = 128.
    for generation, enough in (("9.0", 64), ("10.0", 128)):
        for n in range(8, 257, 8):
            found = issue(generation, n=n)
            assert (found.shared_cycles <= found.least_cycles) == (n >= enough)
    assert issue("8.0").shared_cycles is None
    assert issue("9.0", n=64, a_home="registers").shared_cycles == 64 * 16 * 2 / 128


@given(m=st.sampled_from([64, 128]), n=st.integers(1, 32), compute=st.sampled_from(["fp16", "fp8"]))
def test_fp8_takes_the_same_cycles_and_bytes(m, n, compute):
    found = issue("10.0", compute=compute, m=m, n=8 * n)
    half = issue("10.0", m=m, n=8 * n)
    assert found.least_cycles == half.least_cycles == m * 8 * n * 16 / 4096
    assert found.instruction.operand_bytes == half.instruction.operand_bytes
    assert found.instruction.d_bytes == half.instruction.d_bytes


def test_where_operands_live():
    def homes(generation):
        one = issue(generation).instruction
        return one.n_threads, one.a_home, one.b_home, one.d_home

    assert homes("8.0") == homes("7.0") == (32, "registers", "registers", "registers")
    assert homes("9.0") == (128, "shared memory", "shared memory", "registers")
    assert homes("10.0") == (1, "shared memory", "shared memory", "tensor memory")


def test_older_instructions_run_on_newer_chips():
    # 2048 products on one unit of 512: a bound that mma.sync does not reach there
    assert issue("9.0", "mma.m16n8k16").least_cycles == 4
    # a product of 16 × 16 × 16 is two of them
    assert 16**3 // instruction("mma.m16n8k16").n_fma == 2


# ---- block by block

SMALL = [
    issue("7.0"), issue("7.5"), issue("8.0"), issue("8.6"), issue("8.9"), issue("9.0", n=16),
    issue("9.0", n=256), issue("10.0", m=64, n=24), issue("10.0", n=16),
    issue("8.9", compute="fp8"), issue("9.0", compute="fp8", n=8),
]  # fmt: skip


@pytest.mark.parametrize("work", SMALL, ids=lambda w: f"{w.generation.id} {w.instruction.name}")
def test_every_multiply_add_is_done_once(work):
    cut, one = schedule(work), work.instruction
    assert np.prod(cut.block) == work.fma_per_unit
    assert cut.start.shape == (work.least_cycles, work.n_units, 4)
    done = np.zeros((one.n_products, one.m, one.n, one.k), int)
    rows, columns, deep = cut.block
    for p, i, j, k in cut.start.reshape(-1, 4).tolist():
        done[p, i : i + rows, j : j + columns, k : k + deep] += 1
    assert (done == 1).all()
    assert (cut.depth(0) == 0).all()
    assert (cut.depth(cut.n_steps) == one.k).all()


@pytest.mark.parametrize("work", SMALL, ids=lambda w: f"{w.generation.id} {w.instruction.name}")
def test_summing_blocks_gives_the_product(work):
    one, cut = work.instruction, schedule(work)
    rng = np.random.default_rng(3)
    shapes = ((one.m, one.k), (one.k, one.n), (one.m, one.n))
    # whole numbers below 2**24: FP32 is exact in any order
    a, b, c = (rng.integers(-99, 100, (one.n_products, *shape)) for shape in shapes)
    assert np.array_equal(cut.multiply(a, b, c), a @ b + c)
    assert np.array_equal(cut.multiply(a, b, c, step=0), c)


def test_ampere_in_mid_course():
    # 8 × 4 × 8 in 16 × 8 × 16: two halves of k, in each two times two blocks
    cut = schedule(issue("8.0"))
    assert cut.start[:, 0, 1:].tolist() == [
        [0, 0, 0], [0, 4, 0], [8, 0, 0], [8, 4, 0], [0, 0, 8], [0, 4, 8], [8, 0, 8], [8, 4, 8],
    ]  # fmt: skip
    a, b, c = np.ones((16, 16)), np.ones((16, 8)), np.zeros((16, 8))
    sums = cut.multiply(a, b, c, step=5)[0]
    assert (sums[:8, :4] == 16).all()
    assert sums.sum() == 5 * 256


@pytest.mark.parametrize(
    ("generation", "block", "is_published"),
    [
        ("7.0", (4, 4, 4), True), ("7.5", (4, 4, 4), False), ("8.0", (8, 4, 8), True),
        ("9.0", (8, 4, 16), False), ("10.0", (8, 8, 16), False),
    ],
)  # fmt: skip
def test_only_two_blocks_are_published(generation, block, is_published):
    cut = schedule(issue(generation))
    assert (cut.block, cut.is_published) == (block, is_published)


# ---- bad input


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: load("9"), r"generation must be one of 7.0, .*mean '9.0'.*got '9'"),
        (lambda: load(9.0), r"generation must be one of 7.0, .*got 9.0"),
        (lambda: instruction("mma.m16n8k4"), r"instruction must be one of .*did you mean 'mma.m"),
        (lambda: instruction("mma.m16n8k16", m=8), "m must be 16 for mma.m16n8k16; got 8"),
        (lambda: instruction("mma.m16n8k16", n=16), "n must be 8 for mma.m16n8k16; got 16"),
        (lambda: instruction("wgmma.m64nNk16", n=12), "n must be a multiple of 8 from 8 to 256"),
        (lambda: instruction("wgmma.m64nNk16", n=264), "n must be a multiple of 8 from 8 to 256"),
        (lambda: instruction("wgmma.m64nNk16", n=True), "n must be a positive integer; got True"),
        (lambda: instruction("wgmma.m64nNk16", n=16.0), "n must be a positive integer; got 16.0"),
        (lambda: instruction("wgmma.m64nNk16", n=10**30), "n must be at most"),
        (lambda: instruction("tcgen05.mMnNk16", m=256), "m must be 64 or 128 for tcgen05"),
        (lambda: instruction("mma.m16n8k16", a_home="shared memory"), "a_home must be one of reg"),
        (lambda: issue("8.0", "wgmma.m64nNk16"), r"instruction must run on 9.0 .*others.*'8.0'"),
        (lambda: issue("9.0", "mma.m16n8k32"), r"run on 8.9 \(the compiler emulates it there\)"),
        (lambda: issue("8.0", compute="fp8"), "compute must be one that Ampere, data center"),
        (lambda: issue("8.0", compute="fp4"), "compute must be one of fp16, fp8 .*got 'fp4'"),
        (lambda: issue("8.9", "mma.m16n8k16", compute="fp8"), "compute must be fp16 for mma.m16"),
        (lambda: issue("8.0", 3), "instruction must be one of .*got 3"),
        (lambda: fragment("mma.m16n8k16", "c"), "operand must be one of a, b, d; got 'c'"),
        (lambda: fragment("wgmma.m64nNk16", "b"), r"operand must lie in registers .*in shared mem"),
        (lambda: fragment("tcgen05.mMnNk16", "d"), r"must lie in registers .*in tensor memory"),
        (lambda: fragment(None, "a"), "instruction must be one of .*got None"),
        (lambda: fragment("mma.m16n8k16", "a").held(32), "thread must be at most 31; got 32"),
        (lambda: fragment("mma.m16n8k16", "a").held(-1), "thread must be an integer of at least 0"),
        (lambda: fragment("mma.m16n8k16", "a").distribute(np.ones((8, 16))), "matrix must be an"),
        (lambda: fragment("mma.m16n8k16", "a").gather(np.ones(8)), r"shape \(32, 8\); got \(8,\)"),
        (lambda: fragment("mma.m16n8k16", "a").gather([[1], [2, 3]]), "values must be an array; g"),
        (lambda: fragment("mma.m16n8k16", "a").distribute([[1], []]), "matrix must be an array; g"),
        (lambda: issue("8.0", compute=np.ones(2)), "compute must be one of fp16, fp8; got an arr"),
        (lambda: issue("8.0", compute=""), "compute must be one of fp16, fp8; got ''"),
        (lambda: schedule("8.0"), r"work must be an Issue, such as issue\('8.0'\); got '8.0'"),
        (lambda: schedule(issue("9.0", "mma.m16n8k8")), "instruction must be cut evenly into bl"),
        (lambda: schedule(issue("8.0")).depth(9), "step must be at most 8; got 9"),
        (lambda: schedule(issue("8.0")).multiply(np.ones(3), 1, 1), r"a must be an array of shape"),
        (lambda: schedule(issue("8.0")).multiply([[1], []], 1, 1), "a must be an array; got"),
        (lambda: schedule(issue("8.0")).multiply({}, 1, 1), r"a must be an array of shape"),
        (
            lambda: schedule(issue("8.0")).multiply(np.full((16, 16), "1"), 1, 1),
            "a must be an array of real numbers; got dtype",
        ),
        (
            lambda: schedule(issue("8.0")).multiply(np.ones((16, 16)) * 1j, 1, 1),
            "a must be an array of real numbers; got dtype",
        ),
        (lambda: fma_per_cycle("h100"), r"chip must be one of .*got 'h100'"),
        (lambda: fma_per_cycle(8.0), r"chip must be one of .*got 8.0"),
        (lambda: fma_per_cycle("t4", compute="fp8"), "compute must have a dense peak on T4"),
        (lambda: fma_per_cycle("b300_sxm"), "chip must have a known number of matrix units; got"),
        (lambda: fma_per_cycle("tpu_v6e", compute="bf16"), "clock_hz must be given for"),
        (lambda: fma_per_cycle("t4", clock_hz=0), "clock_hz must be positive; got 0"),
        (lambda: fma_per_cycle("t4", clock_hz=float("nan")), "clock_hz must be positive; got nan"),
        (lambda: fma_per_cycle("t4", clock_hz=5e-324), "clock_hz must leave fma_per_unit finite"),
    ],
)  # fmt: skip
def test_bad_calls_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def _changed(table, name, **changes):
    row = copy.deepcopy(RAW[table][name])
    row.update(changes)
    build = getattr(_tensorcoretable, {"generation": "build_generation"}.get(table, "build_family"))
    return build(name, {k: v for k, v in row.items() if v is not None}, RAW["field"])


@pytest.mark.parametrize("factor", [1000, 1 / 1000])
@pytest.mark.parametrize("generation", tensorcores.names())
@pytest.mark.parametrize("key", ["fma_per_sm", "shared_bytes_per_cycle"])
def test_a_wrong_prefix_does_not_pass(generation, key, factor):
    if key in RAW["generation"][generation]:
        field = RAW["generation"][generation][key]
        with pytest.raises(ValueError, match=rf"{key}.value must lie between"):
            _changed("generation", generation, **{key: {**field, "value": field["value"] * factor}})


@pytest.mark.parametrize(
    ("table", "name", "changes", "message"),
    [
        ("generation", "8.0", {"block": [8, 4, 4]}, "block must make 256 products, as fma_per_sm"),
        ("generation", "8.0", {"block": [8, 4]}, r"block must be \[rows, columns, depth\]"),
        ("generation", "8.0", {"block": [8, 4, 8.0]}, "block must be a positive integer; got 8.0"),
        ("generation", "8.0", {"chip": "a100"}, "chip must be one of"),
        ("generation", "8.0", {"instructions": ["mma"]}, "instructions must be one of"),
        ("generation", "8.0", {"instructions": []}, "instructions must be a list of texts"),
        ("generation", "8.0", {"fma_per_sm": None}, "fma_per_sm must be a table; got None"),
        ("generation", "8.0", {"block_source": "me"}, "source must be a key of"),
        ("generation", "8.0", {"chips": 1}, "key must be one of .*mean 'chip'"),
        ("instruction", "mma.m16n8k16", {"k": 0}, "k must be an integer of at least 4; got 0"),
        ("instruction", "mma.m16n8k16", {"n_threads": 64.0}, "n_threads must be a positive int"),
        ("instruction", "mma.m16n8k16", {"sizes": [[16, 8]]}, r"sizes must be a list of \[m, le"),
        ("instruction", "mma.m16n8k16", {"sizes": []}, r"sizes must be a list of \[m, least n"),
        ("instruction", "mma.m16n8k16", {"sizes": [[16, 8, 20, 8]]}, "sizes must step evenly"),
        ("instruction", "mma.m16n8k16", {"b_home": "cache"}, "b_home must be one of registers"),
        ("instruction", "mma.m16n8k16", {"compute": "fp4"}, "compute must be one of fp16, fp8"),
        ("instruction", "mma.m16n8k16", {"runs_on": ["8"]}, "runs_on must be one of"),
        ("instruction", "mma.m16n8k16", {"ptx": None}, "ptx must be a text; got None"),
    ],
)  # fmt: skip
def test_slips_in_the_file_are_named(table, name, changes, message):
    with pytest.raises(ValueError, match=rf'^tensorcores.toml: {table}."{name}".*{message}'):
        _changed(table, name, **changes)

"""FLOP and bytes, against hand counts, nested loops and kerncraft."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from primer import workloads
from primer.workloads import Matmul, Stream, VectorAdd

KERNELS = json.loads(
    (Path(__file__).parent / "data" / "roofline_kernels.json").read_text(encoding="utf-8")
)["rows"]
SIZES = st.integers(1, 4096)
STORAGES = st.sampled_from(tuple(workloads.STORAGE_BYTES))


# ---- values derived by hand


def test_one_token_through_the_layer():
    # GPT-2's up-projection, [1 x 768] . [768 x 3072], two bytes per element.
    # FLOP  = 2 * 1 * 3072 * 768                     = 4,718,592
    # bytes = 2 * (768 + 768 * 3072 + 3072)          = 4,726,272
    work = Matmul(1, 3072, 768, storage="fp16")
    assert work.n_macs == 2_359_296
    assert work.flop == 4_718_592
    assert work.compulsory_bytes == 4_726_272
    assert work.intensity_flop_per_byte == pytest.approx(0.998375, rel=1e-5)


def test_a_thousand_tokens_through_the_layer():
    # FLOP  = 2 * 1024 * 3072 * 768                            = 4,831,838,208
    # bytes = 2 * (1024 * 768 + 768 * 3072 + 1024 * 3072)      = 12,582,912
    # At 2 bytes 1/I = 1/m + 1/n + 1/k = (3 + 1 + 4) / 3072, so I = 384 exactly.
    work = Matmul(1024, 3072, 768)
    assert (work.flop, work.compulsory_bytes) == (4_831_838_208, 12_582_912)
    assert work.intensity_flop_per_byte == 384.0


def test_macs_are_half_the_flop():
    # n = 1024: 1024^3 = 2^30 multiply-adds, 2^31 FLOP
    work = Matmul(1024, 1024, 1024)
    assert (work.n_macs, work.flop) == (1_073_741_824, 2_147_483_648)


def test_a_square_matmul_in_four_bytes_reaches_n_over_six():
    # 2 n^3 / (4 * 3 n^2) = n / 6
    assert Matmul(1024, 1024, 1024, storage="fp32").intensity_flop_per_byte == 1024 / 6


def test_vector_add_does_one_flop_for_twelve_bytes():
    # c = a + b in fp32: read 4 + 4, write 4; with write-allocate fetch c's line too: 16
    assert VectorAdd(10).flop == 10
    assert VectorAdd(10).compulsory_bytes == 120
    assert VectorAdd(10, write_allocate=True).compulsory_bytes == 160
    assert VectorAdd(10, "fp64").intensity_flop_per_byte == 1 / 24
    assert VectorAdd(10, "fp64", write_allocate=True).intensity_flop_per_byte == 1 / 32


def test_the_triad_that_took_twelve_milliseconds():
    # a = b + s*c, 1e7 doubles: 240 MB in 12 ms = 20 GB/s; with write-allocate 320 MB = 26.67 GB/s
    plain, real = Stream("triad", 10**7), Stream("triad", 10**7, write_allocate=True)
    assert plain.compulsory_bytes / 12e-3 == pytest.approx(20e9)
    assert real.compulsory_bytes / 12e-3 == pytest.approx(26.667e9, rel=1e-4)
    assert (plain.intensity_flop_per_byte, real.intensity_flop_per_byte) == (1 / 12, 1 / 16)


def test_write_allocate_costs_a_copy_half_as_much_again():
    ratio = Stream("copy", 5, write_allocate=True).compulsory_bytes
    assert ratio / Stream("copy", 5).compulsory_bytes == 1.5


def test_an_update_in_place_needs_no_fetch_for_its_store():
    # x[i] += y[i] in fp64 on the LBL roofline page: 0.0417 = 1/24, whatever the cache does
    for write_allocate in (False, True):
        work = Stream("accumulate", 3, write_allocate=write_allocate)
        assert work.intensity_flop_per_byte == 1 / 24


# ---- second method and outside oracle


@pytest.mark.parametrize("row", KERNELS, ids=lambda row: row["kernel"])
def test_streams_agree_with_kerncraft(row):
    work = Stream(row["kernel"], 1, "fp64", write_allocate=True)
    step = work.per_element
    counted = (step.n_loads, step.n_stores, step.n_flop)
    assert counted == (row["n_loads"], row["n_stores"], row["n_flop"])
    assert work.core_bytes == row["core_bytes"]
    assert work.compulsory_bytes == row["beyond_bytes"]
    # It prints iterations per byte with two digits.
    assert 1 / work.compulsory_bytes == pytest.approx(row["iterations_per_byte"], rel=0.02)


@pytest.mark.parametrize(
    "row", [r for r in KERNELS if "mflop_per_s" in r], ids=lambda r: r["kernel"]
)
def test_kerncrafts_roof_is_intensity_times_its_bandwidth(row):
    work = Stream(row["kernel"], 1, "fp64", write_allocate=True)
    roof = work.intensity_flop_per_byte * row["bandwidth_gb_per_s"] * 1e9
    assert roof == pytest.approx(row["mflop_per_s"] * 1e6, rel=2e-3)


@given(st.integers(1, 6), st.integers(1, 6), st.integers(1, 6))
def test_matmul_counts_what_three_loops_do(m, n, k):
    touched, macs = set(), 0
    for i in range(m):
        for j in range(n):
            touched.add(("c", i, j))
            for p in range(k):
                touched |= {("a", i, p), ("b", p, j)}
                macs += 1
    work = Matmul(m, n, k, "fp32")
    assert work.n_macs == macs
    assert work.compulsory_bytes == 4 * len(touched)


# ---- properties


@given(SIZES, SIZES, SIZES, STORAGES)
def test_matmul_properties(m, n, k, storage):
    work = Matmul(m, n, k, storage)
    e = workloads.STORAGE_BYTES[storage]
    assert work.flop == 2 * m * n * k
    # 1/I = (e/2) (1/m + 1/n + 1/k)
    assert 1 / work.intensity_flop_per_byte == pytest.approx(e / 2 * (1 / m + 1 / n + 1 / k))
    assert work.intensity_flop_per_byte < 2 * min(m, n, k) / e
    assert Matmul(n, m, k, storage).compulsory_bytes == work.compulsory_bytes
    assert type(work.flop) is type(work.compulsory_bytes) is float


@given(SIZES, SIZES, SIZES)
def test_output_storage_changes_only_the_output(m, n, k):
    wide = Matmul(m, n, k, "bf16", output_storage="fp32")
    assert wide.compulsory_bytes - Matmul(m, n, k, "bf16").compulsory_bytes == 2 * m * n
    assert Matmul(m, n, k, "bf16", output_storage="bf16").flop == wide.flop


@given(SIZES, STORAGES)
def test_vector_add_is_the_add_kernel(n, storage):
    for write_allocate in (False, True):
        add, stream = (
            VectorAdd(n, storage, write_allocate),
            Stream("add", n, storage, write_allocate),
        )
        assert (add.flop, add.compulsory_bytes) == (stream.flop, stream.compulsory_bytes)
        assert stream.compulsory_bytes >= stream.core_bytes


def test_storage_sizes_are_bits_over_eight():
    for name, size in workloads.STORAGE_BYTES.items():
        bits = 32 if name == "tf32" else int(name.lstrip("bfpint"))  # tf32 is stored in 32 bits
        assert size == bits / 8


def test_workloads_are_frozen_hashable_and_plain():
    assert len({Matmul(1, 2, 3), Matmul(1, 2, 3), Matmul(np.int64(1), 2, 3)}) == 1
    assert type(Matmul(np.int64(1), 2, 3).m) is int
    with pytest.raises(AttributeError):
        Matmul(1, 2, 3).m = 4
    assert VectorAdd(5, write_allocate=np.True_) == VectorAdd(5, write_allocate=True)


# ---- bad input


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Matmul(0, 1, 1), "m must be a positive integer; got 0"),
        (lambda: Matmul(1, -2, 1), "n must be a positive integer; got -2"),
        (lambda: Matmul(1, 1, 2.0), "k must be a positive integer; got 2.0"),
        (lambda: Matmul(True, 1, 1), "m must be a positive integer; got True"),
        (lambda: Matmul("8", 1, 1), "m must be a positive integer; got '8'"),
        (lambda: Matmul(1, 1, 1, "fp17"), r"storage must be one of .*did you mean 'fp16'.*'fp17'"),
        (lambda: Matmul(1, 1, 1, output_storage="x"), "output_storage must be one of .*got 'x'"),
        (lambda: VectorAdd(0), "n must be a positive integer; got 0"),
        (lambda: VectorAdd(1, write_allocate=1), "write_allocate must be True or False; got 1"),
        (lambda: Stream("triads", 1), "kernel must be one of .*did you mean 'triad'.*'triads'"),
        (lambda: Stream("copy", None), "n must be a positive integer; got None"),
    ],
)
def test_bad_input_is_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("flop", "traffic", "message"),
    [
        (-1, 5, "flop must be zero or positive; got -1"),
        (1, -5, "traffic_bytes must be zero or positive; got -5"),
        (None, 1, "flop must be zero or positive; got None"),
        (1, "x", "traffic_bytes must be zero or positive; got 'x'"),
        (np.ones(2), 1, "flop must be zero or positive; got an array"),
        (1, np.zeros(2), "traffic_bytes must be zero or positive; got an array"),
        (float("nan"), 1, "flop must be zero or positive; got nan"),
        (1, float("inf"), "traffic_bytes must be finite; got inf"),
        (1, 5e-324, "traffic_bytes must leave flop_per_byte finite; got 5e-324"),
    ],
)
def test_intensity_checks_its_arguments(flop, traffic, message):
    with pytest.raises(ValueError, match=message):
        workloads.intensity(flop, traffic)


@pytest.mark.parametrize(
    "make",
    [
        lambda n: Matmul(n, 2, 3),
        lambda n: Matmul(1, 2, n),
        lambda n: workloads.TiledMatmul(n, 1, 1, tile_m=1, tile_n=1),
        lambda n: workloads.Gemm(name="g", m=n, n=1, k=1),
        lambda n: Stream("triad", n),
        lambda n: VectorAdd(n),
    ],
)
def test_sizes_that_no_float_holds_are_refused(make):
    assert np.isfinite(make(10**15).flop)
    for n in (10**15 + 1, 10**400):
        with pytest.raises(ValueError, match="must be at most 1,000,000,000,000,000; got"):
            make(n)


def test_operations_of_streams_are_what_their_loops_do():
    for name, kernel in workloads.STREAM_KERNELS.items():
        adds = kernel.loop.count("+")
        multiplies = kernel.loop.count("*")
        assert adds + multiplies == kernel.n_flop, name
        wanted = {(1, 0): "add", (0, 1): "multiply"}.get((adds, multiplies), "multiply_add")
        assert Stream(name, 1).operation == wanted, name
    assert VectorAdd(1).operation == "add"


# ---- FLOP from counts of instructions (case B6)


def test_instructions_are_weighted_by_what_they_do():
    # 100 + 100 + 2·200 + 2·10 + 2·50 + 4·25
    mix = {"add": 100, "mul": 100, "fma": 200, "add2": 10, "mul2": 50, "fma2": 25}
    assert workloads.instruction_flop(mix) == 820
    # The same product as multiply-adds, as packed ones, and as a workload.
    n = 64
    assert workloads.instruction_flop({"fma": n**3}) == workloads.Matmul(n, n, n).flop
    assert workloads.instruction_flop({"fma2": n**3 // 2}) == workloads.Matmul(n, n, n).flop


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ({"fmadd": 1}, "instruction must be one of"),
        ({"fma": -1}, r"counts\['fma'\] must be"),
        ({"fma": 1.5}, r"counts\['fma'\] must be"),
        ([("fma", 1)], "counts must map"),
    ],
)
def test_bad_counts_are_refused(counts, message):
    with pytest.raises(ValueError, match=message):
        workloads.instruction_flop(counts)

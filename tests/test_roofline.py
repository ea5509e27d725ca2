"""The roofline against hand arithmetic, a simulated double buffer, and published machines."""

import dataclasses
import itertools
import json
import math
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from primer import hardware, roofline
from primer.hardware import Chip
from primer.workloads import Matmul, Stream, VectorAdd

H100 = hardware.load("h100_sxm5_80gb")
V5E = hardware.load("tpu_v5e")
TOY = hardware.example("toy")  # 100 FLOP/s, 10 B/s, ridge 10 FLOP/B
KERNELS = json.loads(
    (Path(__file__).parent / "data" / "roofline_kernels.json").read_text(encoding="utf-8")
)["rows"]
AMOUNTS = st.floats(1e-3, 1e18)
RATES = st.floats(1.0, 1e16)
SHARES = st.floats(0.01, 1.0)


def machine(peak, bandwidth, compute="bf16"):
    return Chip.custom("machine", peak_flop_per_s={compute: peak}, bandwidth_bytes_per_s=bandwidth)


def up_projection(n_tokens):
    """The one matmul of the book: GPT-2's up-projection in 16 bits."""
    return Matmul(n_tokens, 3072, 768, "fp16")


# ---- values derived by hand


@pytest.mark.parametrize(
    ("flop", "traffic", "time_s", "bound", "rate"),
    [
        (40, 20, 2.0, "memory", 20.0),  # 0.4 s against 2 s; 40 FLOP in 2 s
        (200, 20, 2.0, "compute", 100.0),  # 2 s against 2 s: exactly the ridge
        (1000, 20, 10.0, "compute", 100.0),  # 10 s against 2 s
        (0, 20, 2.0, "memory", 0.0),  # a copy
        (1000, 0, 10.0, "compute", 100.0),  # all operands at hand
    ],
)
def test_the_toy_chip(flop, traffic, time_s, bound, rate):
    point = roofline.place(TOY, work_flop=flop, traffic_bytes=traffic)
    assert (point.time_s, point.bound, point.attainable_flop_per_s) == (time_s, bound, rate)
    assert point.ridge_flop_per_byte == 10
    assert point.attainable_frac == 1.0
    assert point.peak_frac == rate / 100


def test_without_overlap_the_times_add():
    # 0.4 s + 2 s = 2.4 s; 40 FLOP / 2.4 s = 16.67 FLOP/s
    point = roofline.place(TOY, work_flop=40, traffic_bytes=20, overlap=False)
    assert point.time_s == pytest.approx(2.4)
    assert point.attainable_flop_per_s == pytest.approx(40 / 2.4)
    assert point.bound == "memory"
    copy = roofline.place(TOY, work_flop=0, traffic_bytes=20, overlap=False)
    assert (copy.time_s, copy.attainable_flop_per_s, copy.attainable_frac) == (2.0, 0.0, 1.0)


def test_h100_at_its_ridge():
    # 989.4e12 / 3.35e12 = 295.34 FLOP/B; without overlap both times are equal and add: half
    at = H100.ridge_flop_per_byte("bf16")
    assert at == pytest.approx(295.34, abs=0.005)
    both = roofline.place(H100, work_flop=at, traffic_bytes=1)
    alone = roofline.place(H100, work_flop=at, traffic_bytes=1, overlap=False)
    assert both.attainable_flop_per_s == 989.4e12
    assert alone.attainable_flop_per_s == pytest.approx(494.7e12)
    assert alone.peak_frac == alone.attainable_frac == 0.5


@pytest.mark.parametrize("factor", [0.25, 4.0])
def test_a_factor_of_four_from_the_ridge_overlap_is_worth_a_fifth(factor):
    # times 1 and 4 in some unit: 4 with overlap, 5 without, 4/5 = 80 %
    at = factor * H100.ridge_flop_per_byte("bf16")
    point = roofline.place(H100, work_flop=at, traffic_bytes=1, overlap=False)
    assert point.attainable_frac == pytest.approx(0.8)


def test_the_one_matmul():
    # T = 1: 4,726,272 B / 3.35e12 = 1.411 us. T = 1024: 4.832e9 / 989.4e12 = 4.884 us.
    one = roofline.place(H100, up_projection(1))
    assert (one.bound, round(one.time_s * 1e6, 2)) == ("memory", 1.41)
    assert round(one.intensity_flop_per_byte, 2) == 1.0
    many = roofline.place(H100, up_projection(1024))
    assert (many.bound, round(many.time_s * 1e6, 2)) == ("compute", 4.88)
    assert many.intensity_flop_per_byte == 384


@pytest.mark.parametrize(("chip", "crossing"), [(H100, 568.7), (V5E, 395.3)])
def test_where_the_one_matmul_crosses_the_ridge(chip, crossing):
    # 1/I = 1/T + 1/3072 + 1/768 = 1/T + 1/614.4, so T = 1 / (1/ridge - 1/614.4)
    exact = 1 / (1 / chip.ridge_flop_per_byte("bf16") - 1 / 614.4)
    assert exact == pytest.approx(crossing, abs=0.05)
    bounds = [roofline.place(chip, up_projection(n)).bound for n in range(1, 1025)]
    n_memory = bounds.count("memory")
    assert bounds == ["memory"] * n_memory + ["compute"] * (1024 - n_memory)
    assert n_memory + 1 == math.ceil(exact)


def test_the_one_matmul_has_a_limit():
    # T -> infinity: the two dimensions that stay give 1 / (1/3072 + 1/768) = 614.4
    assert up_projection(10**9).intensity_flop_per_byte == pytest.approx(614.4, rel=1e-5)


@pytest.mark.parametrize(("at", "gain"), [(1, 1.43), (250, 1.18), (400, 1.00)])
def test_from_h100_to_h200(at, gain):
    # Same peak, 3.35 -> 4.8 TB/s: 1.433 on the slope; at 250, 837.5 -> 989.4; on the roof nothing
    h200 = machine(989.4e12, 4.8e12)
    old = roofline.place(H100, work_flop=at, traffic_bytes=1)
    new = roofline.place(h200, work_flop=at, traffic_bytes=1)
    assert new.attainable_flop_per_s / old.attainable_flop_per_s == pytest.approx(gain, abs=0.005)
    if at == 250:
        assert old.attainable_flop_per_s == 837.5e12


def test_vector_add_on_the_round_chip():
    # 1/12 FLOP/B x 1 TB/s = 83.3 GFLOP/s: 0.083 % of 100 TFLOP/s, 0.0625 % with write-allocate
    chip = hardware.example("100t_1t")
    point = roofline.place(chip, VectorAdd(1000), compute="fp32")
    assert point.peak_frac == pytest.approx(1 / 1200)
    assert (point.bound, point.attainable_frac) == ("memory", 1.0)
    costly = roofline.place(chip, VectorAdd(1000), compute="fp32", write_allocate=True)
    assert costly.peak_frac == pytest.approx(1 / 1600)
    assert costly.traffic_bytes / point.traffic_bytes == pytest.approx(4 / 3)


def test_peak_and_bandwidth_are_in_the_same_units():
    # 312 TFLOP/s, 2039 GB/s, I = 10: 20.39 TFLOP/s, not 20,390 FLOP/s
    a100 = hardware.load("a100_sxm4_80gb")
    point = roofline.place(a100, work_flop=10, traffic_bytes=1)
    assert point.attainable_flop_per_s == pytest.approx(20.39e12)
    assert point.ridge_flop_per_byte == pytest.approx(153.02, abs=0.005)


def test_utilization_is_a_share_of_the_dense_peak():
    # 9600 tokens/s x 0.05 TFLOP = 480 TFLOP/s: 48.5 % of 989.4, not 24.3 % of 1978.9
    point = roofline.place(H100, work_flop=9600 * 0.05e12, traffic_bytes=1e9)
    seen = roofline.judge(point, measured_time_s=1.0)
    assert seen.peak_frac == pytest.approx(0.485, abs=5e-4)
    assert seen.measured_flop_per_s / H100.peak_sparse.bf16.value == pytest.approx(0.243, abs=5e-4)


def test_efficiencies_move_roof_slope_and_ridge():
    # 50 FLOP/s and 8 B/s: ridge 6.25; 40 FLOP on 20 B: 0.8 s against 2.5 s
    point = roofline.place(
        TOY, work_flop=40, traffic_bytes=20, compute_efficiency=0.5, memory_efficiency=0.8
    )
    assert (point.compute_time_s, point.memory_time_s, point.time_s) == (0.8, 2.5, 2.5)
    assert point.ridge_flop_per_byte == 6.25
    assert point.attainable_flop_per_s == 16.0
    assert point.attainable_frac == 0.8
    assert (point.peak_flop_per_s, point.bandwidth_bytes_per_s) == (100, 10)


def test_the_unit_selects_the_roof():
    vector = roofline.place(H100, work_flop=1e15, traffic_bytes=1, unit="vector")
    assert (vector.peak_flop_per_s, vector.unit) == (133.8e12, "vector")
    assert roofline.place(H100, work_flop=1, traffic_bytes=1).unit == "matrix"
    assert roofline.place(H100, work_flop=1, traffic_bytes=1, compute="fp32").unit == "vector"


def test_the_sentence_names_intensity_ceiling_and_roof():
    point = roofline.place(H100, Stream("add", 1000), compute="fp64")
    assert str(point) == (
        "0.041667 FLOP/B on H100 SXM5 80 GB (ridge 19.97 FLOP/B): memory-bound, at most "
        "139.6 GFLOP/s of 66.9 TFLOP/s (fp64, matrix units)"
    )


def test_kernels_in_sequence_add_their_times():
    # 10 s of moving, then 10 s of computing: 20 s. One kernel with both would take 10 s.
    moving = roofline.place(TOY, work_flop=0, traffic_bytes=100)
    computing = roofline.place(TOY, work_flop=1000, traffic_bytes=0)
    assert roofline.sequence_time_s([moving, computing]) == 20
    assert roofline.sequence_time_s([]) == 0


# ---- second methods and outside oracles


def double_buffered_s(flop, traffic, peak, bandwidth, n_chunks):
    """Load chunk i + 1 while computing chunk i, step by step."""
    loaded = done = 0.0
    for _ in range(n_chunks):
        loaded += traffic / n_chunks / bandwidth
        done = max(done, loaded) + flop / n_chunks / peak
    return done


@given(AMOUNTS, AMOUNTS, RATES, RATES)
def test_many_small_chunks_approach_perfect_overlap(flop, traffic, peak, bandwidth):
    chip = machine(peak, bandwidth)
    point = roofline.place(chip, work_flop=flop, traffic_bytes=traffic)
    one = double_buffered_s(flop, traffic, peak, bandwidth, 1)
    apart = roofline.place(chip, work_flop=flop, traffic_bytes=traffic, overlap=False)
    assert one == pytest.approx(apart.time_s)
    many = double_buffered_s(flop, traffic, peak, bandwidth, 500)
    assert point.time_s * (1 - 1e-9) <= many <= point.time_s * (1 + 1 / 500 + 1e-9)


@pytest.mark.parametrize(
    "row", [r for r in KERNELS if "mflop_per_s" in r], ids=lambda r: r["kernel"]
)
def test_rates_agree_with_kerncraft(row):
    chip = machine(21.6e9, row["bandwidth_gb_per_s"] * 1e9, "fp64")
    work = Stream(row["kernel"], 1000, "fp64", write_allocate=True)
    rate = roofline.place(chip, work, compute="fp64").attainable_flop_per_s
    assert rate == pytest.approx(row["mflop_per_s"] * 1e6, rel=2e-3)


def test_the_opteron_of_the_first_paper():
    # Williams et al. 2009, p. 69: dual Opteron X2, 17.6 GFLOP/s, 15 GB/s. SpMV at 0.25 FLOP/B.
    chip = machine(17.6e9, 15e9, "fp64")
    assert chip.ridge_flop_per_byte("fp64") == pytest.approx(1.1733, abs=5e-5)
    spmv = roofline.place(chip, work_flop=0.25, traffic_bytes=1, compute="fp64")
    assert spmv.attainable_flop_per_s == 3.75e9


# ---- properties


@given(AMOUNTS, AMOUNTS, RATES, RATES, SHARES, SHARES, st.booleans())
def test_no_point_is_above_a_roof(flop, traffic, peak, bandwidth, e_c, e_m, overlap):
    chip = machine(peak, bandwidth)
    point = roofline.place(
        chip, work_flop=flop, traffic_bytes=traffic, overlap=overlap,
        compute_efficiency=e_c, memory_efficiency=e_m,
    )  # fmt: skip
    assert point.attainable_flop_per_s <= peak
    assert point.attainable_flop_per_s <= flop / traffic * bandwidth * (1 + 1e-12)
    assert 0 <= point.peak_frac <= 1
    assert 0 < point.attainable_frac <= 1 + 1e-12
    assert point.attainable_flop_per_s == pytest.approx(flop / point.time_s)
    assert point.time_s >= max(point.compute_time_s, point.memory_time_s)
    left = point.intensity_flop_per_byte < point.ridge_flop_per_byte * (1 - 1e-12)
    right = point.intensity_flop_per_byte > point.ridge_flop_per_byte * (1 + 1e-12)
    assert not (left and point.bound == "compute")
    assert not (right and point.bound == "memory")


@given(AMOUNTS, AMOUNTS)
def test_overlap_at_most_halves_the_time(flop, traffic):
    with_it = roofline.place(TOY, work_flop=flop, traffic_bytes=traffic)
    without = roofline.place(TOY, work_flop=flop, traffic_bytes=traffic, overlap=False)
    assert with_it.time_s <= without.time_s <= 2 * with_it.time_s
    assert without.bound == with_it.bound


@given(AMOUNTS, AMOUNTS, st.floats(1, 1e6))
def test_the_rate_depends_on_the_ratio_only(flop, traffic, factor):
    small = roofline.place(TOY, work_flop=flop, traffic_bytes=traffic)
    large = roofline.place(TOY, work_flop=flop * factor, traffic_bytes=traffic * factor)
    assert large.attainable_flop_per_s == pytest.approx(small.attainable_flop_per_s)
    assert large.time_s == pytest.approx(small.time_s * factor)


@given(st.lists(st.floats(0, 1e6), min_size=2, max_size=20), st.booleans())
def test_the_roof_never_falls(intensities, overlap):
    rates = [
        roofline.attainable_flop_per_s(
            at, peak_flop_per_s=100, bandwidth_bytes_per_s=10, overlap=overlap
        )
        for at in sorted(intensities)
    ]
    assert all(a <= b * (1 + 1e-12) for a, b in itertools.pairwise(rates))


def test_the_curves_ends():
    roof = {"peak_flop_per_s": 100, "bandwidth_bytes_per_s": 10}
    for overlap in (True, False):
        assert roofline.attainable_flop_per_s(0, **roof, overlap=overlap) == 0
        assert roofline.attainable_flop_per_s(math.inf, **roof, overlap=overlap) == 100


def test_results_are_frozen_plain_floats():
    point = roofline.place(TOY, work_flop=np.float32(40), traffic_bytes=np.int64(20))
    for field in dataclasses.fields(point):
        value = getattr(point, field.name)
        assert type(value) in (float, str, bool), field.name
    with pytest.raises(AttributeError):
        point.time_s = 0.0
    workload = roofline.place(H100, up_projection(8))
    by_hand = roofline.place(
        H100, work_flop=up_projection(8).flop, traffic_bytes=up_projection(8).compulsory_bytes
    )
    assert workload == by_hand


# ---- measurements held against the roof


def test_a_measurement_above_the_roof_is_flagged():
    # 3.77 ms for 22.564 GB is 5.985 TB/s, 124.7 % of 4.8 TB/s; the 14.989 GB that were read: 82.8 %
    chip = machine(989.4e12, 4.8e12)
    claimed = roofline.place(chip, work_flop=0, traffic_bytes=22.564e9)
    seen = roofline.judge(claimed, measured_time_s=3.77e-3)
    assert not seen.is_possible
    assert seen.bandwidth_frac == pytest.approx(1.247, abs=5e-4)
    assert seen.measured_bytes_per_s == pytest.approx(5.985e12, rel=1e-4)
    assert any("never read" in cause for cause in seen.causes)
    assert "impossible" in str(seen)
    real = roofline.place(chip, work_flop=0, traffic_bytes=14.989e9)
    right = roofline.judge(real, measured_time_s=3.77e-3)
    assert (right.is_possible, right.causes) == (True, ())
    assert right.attainable_frac == pytest.approx(0.828, abs=5e-4)
    assert "82.8% of what the roof allows" in str(right)


def test_a_rate_above_the_peak_is_flagged_too():
    point = roofline.place(TOY, work_flop=1000, traffic_bytes=1)
    seen = roofline.judge(point, measured_flop_per_s=200)
    assert (seen.measured_time_s, seen.peak_frac, seen.is_possible) == (5.0, 2.0, False)
    assert any("factor of two" in cause for cause in seen.causes)
    assert not any("never read" in cause for cause in seen.causes)
    assert len(set(seen.causes)) == len(seen.causes)


def test_a_measured_rate_gives_the_bandwidth_behind_it():
    # a = b + c in fp64 at 2.02 GFLOP/s without write-allocate: 24 B per FLOP, 48.48 GB/s
    point = roofline.place(H100, Stream("add", 1000), compute="fp64")
    seen = roofline.judge(point, measured_flop_per_s=2.02e9)
    assert seen.measured_bytes_per_s == pytest.approx(48.48e9)


@given(AMOUNTS, AMOUNTS, st.floats(1e-3, 1e3))
def test_a_point_is_possible_exactly_at_or_below_its_roof(flop, traffic, slowness):
    point = roofline.place(TOY, work_flop=flop, traffic_bytes=traffic)
    seen = roofline.judge(point, measured_time_s=point.time_s * slowness)
    if not 1 - 1e-9 < slowness < 1 + 1e-9:
        assert seen.is_possible == (slowness > 1)
    assert seen.attainable_frac == pytest.approx(1 / slowness)


# ---- bad input


BAD = [
    (lambda: roofline.place("h100_sxm5_80gb", VectorAdd(1)), r"chip must be a Chip.*'h100_sxm5"),
    (lambda: place(), r"work_flop must be zero or positive; got None"),
    (lambda: place(work_flop=1), r"traffic_bytes must be zero or positive; got None"),
    (lambda: place(traffic_bytes=1), r"work_flop must be zero or positive; got None"),
    (lambda: place(work_flop=-1, traffic_bytes=1), r"work_flop must be zero or positive; got -1"),
    (lambda: place(work_flop=1, traffic_bytes=math.inf), r"traffic_bytes must be finite; got inf"),
    (lambda: place(work_flop=math.nan, traffic_bytes=1), r"work_flop must .*got nan"),
    (lambda: place(work_flop="1e9", traffic_bytes=1), r"work_flop must .*got '1e9'"),
    (lambda: place(work_flop=np.ones(3), traffic_bytes=1), r"got an array of shape \(3,\)"),
    (lambda: place(work_flop=0, traffic_bytes=0), r"work_flop must be positive where traffic"),
    (lambda: place(VectorAdd(1), work_flop=1), r"work must be left out where work_flop"),
    (lambda: place(5), r"work must have flop and compulsory_bytes.*got 5"),
    (lambda: place(Matmul(1, 1, 1), write_allocate=True), r"work must have the option write_all"),
    (lambda: place(work_flop=1, traffic_bytes=1, write_allocate=True), r"write_allocate must come"),
    (lambda: place(VectorAdd(1), compute="fp8"), r"compute must have a dense peak on 100 FLOP/s"),
    (lambda: place(VectorAdd(1), compute="float16"), r"compute must be one of .*got 'float16'"),
    (lambda: place(VectorAdd(1), unit="vector"), r"unit must be matrix for bf16"),
    (lambda: place(VectorAdd(1), overlap="yes"), r"overlap must be True or False; got 'yes'"),
    (lambda: place(VectorAdd(1), compute_efficiency=0), r"compute_efficiency must lie above 0"),
    (lambda: place(VectorAdd(1), memory_efficiency=1.1), r"memory_efficiency must lie above 0"),
    (lambda: judge(), r"measured_time_s must be given, or measured_flop_per_s"),
    (lambda: judge(measured_time_s=1, measured_flop_per_s=1), r"and not both; got 1"),
    (lambda: judge(measured_time_s=0), r"measured_time_s must be positive; got 0"),
    (lambda: judge(measured_flop_per_s=1), r"measured_flop_per_s must come with work that has"),
]


def place(*args, **options):
    return roofline.place(TOY, *args, **options)


def judge(**options):
    return roofline.judge(place(work_flop=0, traffic_bytes=1), **options)


@pytest.mark.parametrize(("call", "message"), BAD)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# ---- the import is light


def test_importing_the_models_loads_nothing_heavy():
    code = (
        "import sys; import primer; assert 'primer.units' not in sys.modules;"
        "from primer import roofline, workloads, hardware, _jit; hardware.load('tpu_v5e');"
        "heavy = {'numpy', 'numba', 'matplotlib', 'ipywidgets', 'torch', 'IPython'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# ---- a point on its own roof, and numbers that no float holds

_AMOUNTS = st.floats(1e-3, 1e18)
_EXTREME = st.floats(min_value=5e-324, max_value=1.7e308)


@given(st.sampled_from(hardware.names(rooflines=True)), _AMOUNTS, _AMOUNTS)
def test_a_point_on_its_own_roof_is_possible(name, flop, traffic):
    chip = hardware.load(name)
    p = roofline.place(chip, compute=chip.precisions()[0], work_flop=flop, traffic_bytes=traffic)
    for judged in (
        roofline.judge(p, measured_time_s=p.time_s),
        roofline.judge(p, measured_flop_per_s=p.attainable_flop_per_s),
    ):
        assert judged.is_possible
        assert judged.causes == ()
        assert judged.attainable_frac == pytest.approx(1, rel=1e-9)
    assert not roofline.judge(p, measured_time_s=p.time_s * (1 - 1e-6)).is_possible


def _finite_but(result, *names):
    values = {k: v for k, v in vars(result).items() if isinstance(v, float) and k not in names}
    assert all(math.isfinite(value) for value in values.values()), values


@given(_EXTREME, _EXTREME, _EXTREME, _EXTREME, st.booleans(), st.data())
def test_results_are_finite_or_refused(peak, bandwidth, flop, traffic, overlap, data):
    shares = st.floats(min_value=5e-324, max_value=1)
    chip = Chip.custom("c", peak_flop_per_s={"fp32": peak}, bandwidth_bytes_per_s=bandwidth)
    try:
        p = roofline.place(
            chip, compute="fp32", work_flop=flop, traffic_bytes=traffic, overlap=overlap,
            compute_efficiency=data.draw(shares), memory_efficiency=data.draw(shares),
        )  # fmt: skip
        _finite_but(p)
        _finite_but(roofline.judge(p, measured_time_s=data.draw(_EXTREME)))
        _finite_but(roofline.judge(p, measured_flop_per_s=data.draw(_EXTREME)))
    except ValueError as error:
        said = str(error)
        assert re.search(r"^\w+ must .+; got ", said)


POINT = roofline.place(TOY, compute="fp32", work_flop=40, traffic_bytes=20)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: roofline.place(
                TOY, compute="fp32", work_flop=1, traffic_bytes=1, memory_efficiency=5e-324
            ),
            "memory_efficiency must leave time_s finite; got 5e-324",
        ),
        (
            lambda: roofline.place(
                TOY, compute="fp32", work_flop=1e10, traffic_bytes=1, compute_efficiency=1e-308
            ),
            "compute_efficiency must leave time_s finite; got 1e-308",
        ),
        (
            lambda: roofline.judge(POINT, measured_time_s=5e-324),
            "measured_time_s must leave measured_flop_per_s finite; got 5e-324",
        ),
        (
            lambda: roofline.judge(POINT, measured_flop_per_s=5e-324),
            "measured_flop_per_s must leave measured_time_s finite; got 5e-324",
        ),
        (
            lambda: roofline.judge(None, measured_time_s=1),
            "point must be a RooflinePoint.*got None",
        ),
        (lambda: roofline.judge(np.ones(2), measured_time_s=1), "point must be a RooflinePoint"),
        (lambda: roofline.sequence_time_s(3), "points must be RooflinePoints.*got 3"),
        (lambda: roofline.sequence_time_s([POINT, 3]), "points must be RooflinePoints.*got 3"),
        (lambda: roofline.sequence_time_s("ab"), "points must be RooflinePoints.*got 'a'"),
        (
            lambda: roofline.place(TOY, VectorAdd(1), compute="fp32", unit=np.ones(2)),
            "unit must be one of",
        ),
        (lambda: roofline.place(TOY, VectorAdd(1), compute="fp32", unit=""), "unit must be one of"),
        (lambda: roofline.place(TOY, VectorAdd(1), compute=np.ones(2)), "compute must be one of"),
        (lambda: roofline.place(np.ones(2), VectorAdd(1)), "chip must be a Chip"),
        (
            lambda: roofline.attainable_flop_per_s(
                np.ones(2), peak_flop_per_s=1, bandwidth_bytes_per_s=1
            ),
            "intensity_flop_per_byte must be",
        ),
    ],
)
def test_what_cannot_be_placed_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_integer_roofs_count_operations():
    said = str(roofline.place(hardware.load("h100_sxm5_80gb"), VectorAdd(8), compute="int8"))
    assert "FLOP" not in said
    rates = r"at most [\d.]+ GOP/s of [\d.]+ POP/s"
    assert re.search(r"^[\d.]+ OP/B on .*ridge [\d.]+ OP/B.* " + rates, said)

"""The hardware tables: the right numbers, each with its source, and the door to them."""

import copy
import datetime
import pickle
import re

import pytest

from primer import hardware, units
from primer.hardware import Chip

IDS = ("a100_sxm4_80gb", "h100_sxm5_80gb", "mi300x", "tpu_v5e", "v100_sxm2_32gb")


CHIPS = [hardware.load(chip) for chip in IDS]


# ---- values, read by a person from the sources named in the files


@pytest.mark.parametrize(
    ("chip", "compute", "unit", "peak"),
    [
        ("v100_sxm2_32gb", "fp64", "vector", 7.8e12),
        ("v100_sxm2_32gb", "fp32", "vector", 15.7e12),
        ("v100_sxm2_32gb", "fp16", "matrix", 125e12),
        ("a100_sxm4_80gb", "fp64", "vector", 9.7e12),
        ("a100_sxm4_80gb", "fp64", "matrix", 19.5e12),
        ("a100_sxm4_80gb", "tf32", "matrix", 156e12),
        ("a100_sxm4_80gb", "bf16", "matrix", 312e12),
        ("a100_sxm4_80gb", "int8", "matrix", 624e12),
        ("h100_sxm5_80gb", "fp32", "vector", 66.9e12),
        ("h100_sxm5_80gb", "tf32", "matrix", 494.7e12),
        ("h100_sxm5_80gb", "bf16", "matrix", 989.4e12),
        ("h100_sxm5_80gb", "fp8", "matrix", 1978.9e12),
        ("mi300x", "fp64", "vector", 81.7e12),
        ("mi300x", "fp32", "matrix", 163.4e12),
        ("mi300x", "bf16", "matrix", 1307.4e12),
        ("tpu_v5e", "bf16", "matrix", 197e12),
        ("tpu_v5e", "int8", "matrix", 393e12),
    ],
)
def test_peaks(chip, compute, unit, peak):
    assert hardware.load(chip).peak_flop_per_s(compute, unit) == peak


@pytest.mark.parametrize(
    ("chip", "bandwidth", "capacity", "oneway"),
    [
        ("v100_sxm2_32gb", 0.9e12, 32e9, 150e9),
        ("a100_sxm4_80gb", 2.039e12, 80e9, 300e9),
        ("h100_sxm5_80gb", 3.35e12, 80e9, 450e9),
        ("mi300x", 5.3e12, 192e9, 448e9),
        ("tpu_v5e", 0.819e12, 16e9, 200e9),
    ],
)
def test_memory_and_links(chip, bandwidth, capacity, oneway):
    known = hardware.load(chip)
    assert known.bandwidth_bytes_per_s == bandwidth
    assert known.memory[-1].capacity.value == capacity
    assert known.links[0].oneway_bytes_per_s == oneway


@pytest.mark.parametrize(
    ("chip", "sizes", "watts", "parts"),
    [
        (
            "v100_sxm2_32gb",
            {"registers": "256 KiB", "shared": "96 KiB", "l1": "128 KiB", "l2": "6 MB"},
            "300 W",
            {"sms": 80, "matrix_units": 640, "fp32_lanes": 5120, "fma_per_matrix_unit": 64},
        ),
        (
            "a100_sxm4_80gb",
            {"registers": "256 KiB", "shared": "164 KiB", "l1": "192 KiB", "l2": "40 MB"},
            "400 W",
            {"sms": 108, "matrix_units": 432, "fma_per_matrix_unit": 256},
        ),
        (
            "h100_sxm5_80gb",
            {"registers": "256 KiB", "shared": "228 KiB", "l1": "256 KiB", "l2": "50 MB"},
            "700 W",
            {"gpcs": 8, "tpcs": 66, "sms": 132, "matrix_units": 528, "fp32_lanes": 16896},
        ),
        (
            "mi300x",
            {"lds": "64 KiB", "l2": "32 MiB", "infinity_cache": "256 MiB"},
            "750 W",
            {"compute_units": 304, "matrix_units": 1216, "fma_per_matrix_unit": 256},
        ),
        (
            "tpu_v5e",
            {"vmem": "128 MiB"},
            "not published",
            {"tensorcores": 1, "matrix_units": 4, "fma_per_matrix_unit": 128 * 128},
        ),
    ],
)
def test_sizes_power_and_parts(chip, sizes, watts, parts):
    known = hardware.load(chip)
    assert {name: str(known.level(name).capacity) for name in sizes} == sizes
    assert str(known.tdp) == watts
    assert {name: known.count(name).value for name in parts} == parts


@pytest.mark.parametrize(
    ("chip", "cycles"),
    [
        ("v100_sxm2_32gb", {"l1": (28, None), "l2": (212, None), "hbm": (425, 434)}),
        ("a100_sxm4_80gb", {"l1": (33, None), "l2": (205.5, None), "hbm": (514, 552)}),
        ("h100_sxm5_80gb", {"l1": (40, None), "l2": (291, None), "hbm": (700, None)}),
        ("mi300x", {"l1": (120, None), "l2": (214, None), "infinity_cache": (454, 528)}),
    ],
)
def test_latencies(chip, cycles):
    levels = {name: hardware.load(chip).level(name).latency for name in cycles}
    assert {name: (q.amount, q.upper) for name, q in levels.items()} == cycles
    assert {q.status for q in levels.values()} == {"measured"}


@pytest.mark.parametrize(
    ("chip", "ridge"),
    # peak / bandwidth at 16 bits: 125/0.9, 312/2.039, 989.4/3.35, 1307.4/5.3, 197/0.819
    list(zip(IDS, (153.02, 295.34, 246.68, 240.54, 138.89), strict=True)),
)
def test_ridges(chip, ridge):
    compute = "fp16" if chip.startswith("v100") else "bf16"
    assert hardware.load(chip).ridge_flop_per_byte(compute) == pytest.approx(ridge, abs=0.005)


# ---- second method: peaks from units x multiply-adds x 2 x clock


@pytest.mark.parametrize(
    ("chip", "compute", "clock", "tolerance"),
    [
        ("v100_sxm2_32gb", "fp16", "boost", 3e-3),  # 640 * 64 * 2 * 1.53e9 = 125.3e12
        ("a100_sxm4_80gb", "bf16", "boost", 5e-4),  # 432 * 256 * 2 * 1.41e9 = 311.9e12
        ("h100_sxm5_80gb", "bf16", "matrix_boost", 1e-4),  # 132 * 4 * 512 * 2 * 1.83e9 = 989.4e12
        ("mi300x", "bf16", "boost", 1e-4),  # 1216 * 256 * 2 * 2.1e9 = 1307.4e12
        ("tpu_v5e", "bf16", "boost", 3e-3),  # 4 * 128^2 * 2 * 1.5e9 = 196.6e12
    ],
)
def test_matrix_peaks_follow_from_units_and_clock(chip, compute, clock, tolerance):
    known = hardware.load(chip)
    per_cycle = known.count("matrix_units").value * known.count("fma_per_matrix_unit").value
    derived = per_cycle * 2 * known.clock(clock).value
    assert known.peak_flop_per_s(compute, "matrix") == pytest.approx(derived, rel=tolerance)


@pytest.mark.parametrize(
    ("chip", "clock"), [("v100_sxm2_32gb", "boost"), ("h100_sxm5_80gb", "vector_boost")]
)
def test_vector_peaks_follow_from_lanes_and_clock(chip, clock):
    known = hardware.load(chip)
    derived = known.count("fp32_lanes").value * 2 * known.clock(clock).value
    assert known.peak_flop_per_s("fp32", "vector") == pytest.approx(derived, rel=3e-3)


@pytest.mark.parametrize("chip", CHIPS, ids=IDS)
def test_derived_link_rates(chip):
    # PCIe: transfers per second x 16 lanes x 128/130 / 8 bits
    rate = {"3.0": 8e9, "4.0": 16e9, "5.0": 32e9}
    for link in chip.links:
        if link.kind == "host":
            lane = rate[link.title.split()[1]]
            assert link.oneway_bytes_per_s == pytest.approx(lane * 16 * 128 / 130 / 8, rel=2e-3)
        else:
            per_link = link.oneway_per_link.value * link.n_links.value
            assert link.oneway_bytes_per_s == per_link


def test_derived_cache_rates():
    # 128 B per cycle and SM for L1; 5120 and 2048 B per cycle for the L2 of A100 and V100
    a100, h100, v100 = (hardware.load(c) for c in (IDS[0], IDS[1], IDS[4]))
    assert a100.level("l1").bandwidth.value == pytest.approx(128 * 108 * 1.41e9, rel=3e-3)
    assert h100.level("l1").bandwidth.value == pytest.approx(128 * 132 * 1.83e9, rel=3e-3)
    assert a100.level("l2").bandwidth.value == pytest.approx(5120 * 1.41e9, rel=1e-4)
    assert v100.level("l2").bandwidth.value == pytest.approx(2048 * 1.53e9, rel=2e-4)


@pytest.mark.parametrize(
    ("chip", "compute", "other", "tolerance"),
    [
        ("h100_sxm5_80gb", "bf16", 1.979e15 / 2, 2e-4),  # NVIDIA's page, sparse, halved
        ("h100_sxm5_80gb", "int8", 3.958e15 / 2, 2e-4),
        ("h100_sxm5_80gb", "fp32", 67e12, 2e-3),
        ("a100_sxm4_80gb", "bf16", 312e12, 0),  # data sheet r4
        ("v100_sxm2_32gb", "fp16", 125e12, 0),  # data sheet r5
        ("mi300x", "bf16", 1300e12, 6e-3),  # a table that rounds
        ("tpu_v5e", "int8", 394e12, 3e-3),  # the same
    ],
)
def test_peaks_agree_with_a_second_source(chip, compute, other, tolerance):
    assert hardware.load(chip).peak_flop_per_s(compute) == pytest.approx(other, rel=tolerance)


# ---- properties of every field


def test_the_ids_are_the_vocabularys_and_nothing_is_there_twice():
    assert hardware.names() == IDS
    for attribute in ("name", "sku", "id"):
        assert len({getattr(chip, attribute) for chip in CHIPS}) == len(CHIPS)
    rates = {(c.peak.entries, c.bandwidth) for c in CHIPS}
    assert len(rates) == len(CHIPS)


@pytest.mark.parametrize("chip", CHIPS, ids=IDS)
def test_every_number_carries_its_source(chip):
    quantities = chip.quantities()
    assert len({q.name for q in quantities}) == len(quantities) > 10
    for q in quantities:
        assert q.source in hardware.sources()
        assert q.unit in units.base_units()
        assert q.sku == chip.sku
        assert q.is_published == (q.status != "not published")
        datetime.date.fromisoformat(q.read)
        assert q.published == "not stated" or re.fullmatch(r"\d{4}(-\d\d){0,2}", q.published)
        if q.source.kind == "derived":
            assert q.status == "derived"
        if q.status in ("derived", "not published"):
            assert q.note, f"{q.name} must say how or why"
        assert "one way" in q.convention or ".oneway" not in q.name


def test_sources_resolve_and_all_are_used():
    cited = {q.source.key for chip in CHIPS for q in (*chip.quantities(), chip.release)}
    assert cited == {source.key for source in hardware.sources()}
    for source in hardware.sources():
        assert re.fullmatch(r"https?://[\w.-]+\.\w+/\S*", source.address + "/")


@pytest.mark.parametrize("chip", CHIPS, ids=IDS)
def test_sparse_peaks_are_twice_the_dense_ones(chip):
    for compute in chip.peak_sparse:
        sparse, dense = chip.peak_sparse[compute], chip.peak[compute]
        assert sparse.value == pytest.approx(2 * dense.value, rel=1e-4)
        assert "sparse" in sparse.convention
        assert "dense" in dense.convention


@pytest.mark.parametrize("chip", CHIPS, ids=IDS)
def test_rates_fit_each_other(chip):
    for compute in chip.precisions():
        kinds = chip.units(compute)
        assert kinds[0] == ("matrix" if "matrix" in kinds else "vector")
        assert chip.peak[compute] == chip.peak.find(compute, kinds[0])
        assert getattr(chip.peak, compute).unit == ("OP/s" if compute == "int8" else "FLOP/s")
        assert chip.peak_flop_per_s(compute) == max(chip.peak_flop_per_s(compute, k) for k in kinds)
        assert 1 < chip.ridge_flop_per_byte(compute) < 2000
    # Narrower operands are never slower on the same kind of unit.
    order = [p for p in ("fp64", "fp32", "tf32", "bf16", "fp8") if "matrix" in chip.units(p)]
    matrix = [chip.peak_flop_per_s(p, "matrix") for p in order]
    assert matrix == sorted(matrix)
    # Levels further out are slower, and the chip cannot send faster than it can read.
    latencies = [level.latency.value for level in chip.memory if level.latency]
    assert latencies == sorted(latencies)
    caches = [level.bandwidth for level in chip.memory[:-1] if level.bandwidth]
    assert all(q.value > chip.bandwidth_bytes_per_s for q in caches if q.is_published)
    assert all(link.oneway_bytes_per_s < chip.bandwidth_bytes_per_s for link in chip.links)


def test_what_is_not_published_is_a_state_and_no_number():
    l2 = hardware.load("h100_sxm5_80gb").level("l2").bandwidth
    assert str(l2) == "not published"
    assert not l2.is_published
    with pytest.raises(ValueError, match=r"memory.l2.bandwidth of H100 .* must be known"):
        _ = l2.value


def test_conflicts_are_told():
    assert "989.5" in hardware.load("h100_sxm5_80gb").peak.bf16.note
    assert "45" in hardware.load("tpu_v5e").link("ici").oneway_per_link.note


def test_quantities_read_as_their_source_prints_them():
    chip = hardware.load("h100_sxm5_80gb")
    assert str(chip.peak.bf16) == "989.4 TFLOP/s"
    assert str(chip.peak.int8) == "1978.9 TOP/s"
    assert str(chip.level("shared").capacity) == "228 KiB"
    assert str(chip.count("fp32_lanes")) == "16,896"
    assert str(hardware.load("a100_sxm4_80gb").level("hbm").latency) == "514–552 cycles"
    assert chip.bandwidth.to("GB/s") == 3350.0
    assert str(chip.release) == "2022-03-22"


# ---- the door


def test_loading_twice_gives_the_same_object():
    chip = hardware.load("tpu_v5e")
    assert hardware.load("tpu_v5e") is chip
    assert pickle.loads(pickle.dumps(chip)) == chip
    assert hash(copy.deepcopy(chip)) == hash(chip)
    assert repr(chip) == "<Chip tpu_v5e: TPU v5e>"


@pytest.mark.parametrize(
    ("name", "peak", "bandwidth", "ridge"),
    [("100t_1t", 100e12, 1e12, 100), ("toy", 100, 10, 10)],
)
def test_examples_are_for_arithmetic_in_the_head(name, peak, bandwidth, ridge):
    chip = hardware.example(name)
    assert name not in hardware.names()
    assert chip.kind == "example"
    for compute in chip.precisions():
        assert chip.peak_flop_per_s(compute) == peak
        assert chip.ridge_flop_per_byte(compute) == ridge
    assert chip.bandwidth_bytes_per_s == bandwidth


def test_a_chip_of_ones_own():
    chip = Chip.custom(
        "server", peak_flop_per_s={"fp32": 2e12, "int8": 8e12}, bandwidth_bytes_per_s=1e11,
        unit="vector", capacity_bytes=64e9,
    )  # fmt: skip
    assert chip.precisions() == ("fp32", "int8")
    assert chip.units("fp32") == ("vector",)
    assert chip.peak.int8.unit == "OP/s"
    assert chip.peak.fp32.status == "assumed"
    assert chip.memory[-1].capacity.value == 64e9
    assert chip.name not in {hardware.load(i).name for i in IDS}


BAD_CALLS = [
    (lambda: hardware.load("h100"), r"chip must be one of .*did you mean 'h100_sxm5_80gb'.*'h100'"),
    (lambda: hardware.load(None), r"chip must be one of .*got None"),
    (lambda: hardware.load(["h100"]), r"chip must be one of .*got \['h100'\]"),
    (lambda: hardware.example("tou"), r"did you mean 'toy'"),
    (lambda: CHIPS[0].peak.fp8, r"compute must have a dense peak on A100 .*int8\); got 'fp8'"),
    (lambda: CHIPS[0].peak["bf61"], r"compute must be one of fp64.*did you mean 'bf16'"),
    (lambda: CHIPS[3].peak_sparse.bf16, r"must have a sparse peak on TPU v5e \(it has none\)"),
    (lambda: CHIPS[3].peak_flop_per_s("bf16", "vector"), r"unit must be matrix for bf16 on TPU"),
    (lambda: CHIPS[3].peak_flop_per_s("bf16", "vectr"), r"unit must be one of matrix, vector"),
    (lambda: CHIPS[3].level("l2"), r"level must be one of vmem, hbm"),
    (lambda: CHIPS[3].link("nvlink"), r"link must be one of ici"),
    (lambda: CHIPS[3].count("sms"), r"count must be one of tensorcores, matrix_units"),
    (lambda: CHIPS[1].clock("boost"), r"clock must be one of matrix_boost, vector_boost"),
    (lambda: CHIPS[3].tdp.value, r"tdp of Cloud TPU v5e must be known to compute with it"),
    (lambda: custom(name=""), r"name must be a non-empty string; got ''"),
    (lambda: custom(peak_flop_per_s={}), r"peak_flop_per_s must map at least one precision"),
    (lambda: custom(peak_flop_per_s={"int_8": 1}), r"must be one of .*mean 'int8'"),
    (lambda: custom(peak_flop_per_s={"fp32": 0}), r"peak_flop_per_s\['fp32'\] must be positive"),
    (lambda: custom(bandwidth_bytes_per_s="1 TB/s"), r"bandwidth_bytes_per_s must be positive"),
    (lambda: custom(unit="cuda"), r"unit must be one of matrix, vector"),
    (lambda: custom(status="published"), r"status must be one of assumed, measured"),
]


def custom(name="x", peak_flop_per_s=None, bandwidth_bytes_per_s=1.0, **options):
    peaks = {"fp32": 1.0} if peak_flop_per_s is None else peak_flop_per_s
    return Chip.custom(
        name, peak_flop_per_s=peaks, bandwidth_bytes_per_s=bandwidth_bytes_per_s, **options
    )


@pytest.mark.parametrize(("call", "message"), BAD_CALLS)
def test_bad_calls_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_hasattr_works_on_peaks():
    assert hasattr(CHIPS[1].peak, "fp8")
    assert not hasattr(CHIPS[0].peak, "fp8")
    assert list(CHIPS[3].peak) == ["bf16", "int8"]
    assert len(CHIPS[3].peak) == 2

"""Matrix units: names and numbers as their makers tell them, and the rates of every chip."""

from __future__ import annotations

import copy

import pytest

from primer import _tables, hardware, matrix_units
from primer.hardware import Chip

RAW = _tables.read(matrix_units.FILE)["unit"]
UNITS = [matrix_units.load(name) for name in matrix_units.names()]
CHIPS = [hardware.load(name) for name in hardware.names()]


def compared(chip):
    return matrix_units.compare(hardware.load(chip))


# ---- values, read by a person from the sources


@pytest.mark.parametrize(
    ("chip", "title"),
    [
        ("h100_sxm5_80gb", "Tensor Core"), ("v100_sxm2_32gb", "Tensor Core"),
        ("b200_sxm", "Tensor Core"), ("mi300x", "Matrix Core"), ("xeon_8480p", "AMX"),
        ("gaudi3", "MME"), ("tpu_v5e", "MXU"), ("trainium2", "Tensor Engine"),
    ],
)  # fmt: skip
def test_names(chip, title):
    assert matrix_units.of(hardware.load(chip)).title == title


@pytest.mark.parametrize("chip", ["epyc_9654", "grace", "graviton4", "m4_max_40", "wse3"])
def test_chips_without_a_known_matrix_unit(chip):
    assert matrix_units.of(hardware.load(chip)) is None


def test_amx_has_eight_tiles_of_one_kibibyte():
    # 8 · 16 rows · 64 bytes
    amx = matrix_units.load("amx")
    assert amx.number("n_tiles").value * amx.number("tile").value == 8 * 16 * 64
    assert amx.since == "Sapphire Rapids"


def test_rdna_3_multiplies_matrices_no_faster_than_vectors():
    # 16 · 16 · 16 multiply-adds in 32 cycles on each of the two SIMD units of a compute unit,
    # as AMD's calculator has it: 256 per cycle. Packed FP16, two at once: 512 FLOP, the same.
    unit = matrix_units.load("ai_accelerator")
    assert unit.number("matrix_fp16").value == 2 * 16**3 / 32
    assert unit.number("vector_fp16").value == 512 / 2
    assert "cannot run beside" in unit.note
    assert unit.chips == ()


@pytest.mark.parametrize(
    ("chip", "compute", "ratio"),
    [
        ("a100_sxm4_80gb", "tf32", 8.0),  # 156 / 19.5: the switch's "factor of eight"
        ("h100_sxm5_80gb", "tf32", 7.4),  # 494.7 / 66.9
        ("a100_sxm4_80gb", "bf16", 16.0),  # 312 / 19.5
        ("h100_sxm5_80gb", "bf16", 14.8),  # 989.4 / 66.9
        ("h100_sxm5_80gb", "fp8", 29.6),  # 1978.9 / 66.9
        ("v100_sxm2_32gb", "fp16", 8.0),  # 125 / 15.7
        ("mi300x", "bf16", 8.0),  # 1307.4 / 163.4
        ("mi250x", "fp32", 2.0),  # 95.7 / 47.9: AMD's matrix units do FP32, too
        ("mi300x", "fp32", 1.0),  # 163.4 on either
        ("xeon_8480p", "bf16", 16.0),  # 1,024 against 64 FLOP per cycle and core
        ("rtx_4090", "tf32", 1.0),  # 82.58 / 82.58
        ("epyc_9755", "fp32", 1.0),
    ],
)
def test_ratios_by_hand(chip, compute, ratio):
    assert round(compared(chip).rate(compute).ratio, 1) == ratio


@pytest.mark.parametrize(
    ("chip", "compute", "times"),
    [
        ("h100_sxm5_80gb", "bf16", 2.0), ("h100_sxm5_80gb", "fp8", 2.0), ("mi300x", "fp8", 2.0),
        ("b300_sxm", "fp4", 18_000 / 13_125), ("trainium2", "bf16", 2563 / 667),
    ],
)  # fmt: skip
def test_sparse_against_dense(chip, compute, times):
    rate = compared(chip).rate(compute)
    assert rate.sparse.value / rate.dense.value == pytest.approx(times, rel=1e-3)


def test_sparse_rates_are_held_against_the_same_dense_yardstick():
    # 1978.9 / 66.9
    assert round(compared("h100_sxm5_80gb").rate("bf16").sparse_ratio, 1) == 29.6
    assert compared("tpu_v5e").rate("bf16").sparse_ratio is None


def test_w51_the_4000_of_product_pages_is_the_sparse_rate():
    fp8, int8 = (compared("h100_sxm5_80gb").rate(name) for name in ("fp8", "int8"))
    assert round(fp8.dense.value / 1e12) == round(int8.dense.value / 1e12) == 1979
    assert round(fp8.sparse.value / 1e12) == 3958
    assert "2:4" in fp8.sparse.convention


# ---- properties of every chip


@pytest.mark.parametrize("chip", CHIPS, ids=repr)
def test_nothing_is_invented_and_nothing_lost(chip):
    found = matrix_units.compare(chip)
    assert tuple(rate.compute for rate in found.rates) == hardware.PRECISIONS
    told = [
        *(rate.matrix for rate in found.rates), *(rate.vector for rate in found.rates),
        *(rate.sparse for rate in found.rates),
    ]  # fmt: skip
    entries = [e.rate for e in (*chip.peak.entries, *chip.peak_sparse.entries)]
    assert {id(q) for q in told if q is not None} == {id(q) for q in entries}
    for rate in found.rates:
        if rate.compute in chip.precisions():
            assert rate.dense is chip.peak[rate.compute]
        if rate.ratio is not None:
            assert rate.ratio * found.fp32_vector == pytest.approx(rate.dense.value)
    assert found.has_sparse == bool(chip.peak_sparse.entries)


@pytest.mark.parametrize("chip", CHIPS, ids=repr)
def test_a_chip_with_matrix_rates_has_a_named_unit(chip):
    has_rates = any(e.unit == "matrix" for e in chip.peak.entries)
    assert (matrix_units.of(chip) is not None) == has_rates


def test_no_chip_has_two_units():
    listed = [chip for unit in UNITS for chip in unit.chips]
    assert len(listed) == len(set(listed))
    for unit in UNITS:
        for chip in unit.chips:
            assert hardware.load(chip).vendor == unit.vendor


def test_without_a_yardstick_there_is_no_ratio():
    tpu = compared("tpu_v5e")
    assert tpu.fp32_vector is None
    assert tpu.rate("bf16").ratio is None
    assert tpu.rate("bf16").dense.value == 197e12
    assert not tpu.has_sparse
    apple = compared("m4_max_40")
    assert not apple.rate("fp32").dense.is_published
    assert apple.rate("fp32").ratio is None
    assert apple.rate("int4").dense is None


def test_every_unit_knows_its_source():
    for unit in UNITS:
        assert unit.source.address.startswith("https://")
        assert unit.read >= "2026"
        assert matrix_units.load(unit.id) is unit
        for number in unit.numbers:
            assert number.source.address.startswith("https://")
    assert repr(matrix_units.load("mxu")) == "<MatrixUnit mxu: MXU of Google>"


def test_a_chip_of_ones_own():
    own = Chip.custom("x", peak_flop_per_s={"fp32": 2e12}, bandwidth_bytes_per_s=1e11)
    assert matrix_units.compare(own).fp32_vector is None  # its unit is "matrix"
    assert matrix_units.of(own) is None


# ---- bad input


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: matrix_units.load("tensor_cores"), "unit must be one of .*mean 'tensor_core'"),
        (lambda: matrix_units.load(1), "unit must be one of .*got 1"),
        (lambda: matrix_units.of("h100_sxm5_80gb"), "chip must be a Chip, .*got 'h100_sxm5_80gb'"),
        (lambda: matrix_units.compare(None), "chip must be a Chip.*got None"),
        (lambda: compared("t4").rate("fp12"), "compute must be one of .*got 'fp12'"),
        (lambda: matrix_units.load("amx").number("tiles"), "number must be one of n_tiles, tile"),
    ],
)
def test_bad_calls_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def _changed(name, **changes):
    row = copy.deepcopy(RAW[name])
    row.update(changes)
    return matrix_units.build(name, {k: v for k, v in row.items() if v is not None})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"title": None}, r"unit.amx.title must be a text"),
        ({"chips": None}, r"unit.amx.chips must be a list of chips; got None"),
        ({"chips": ["xeon_8480"]}, r"unit.amx.chips must be a key of .*'xeon_8480p'"),
        ({"source": "nobody"}, r"unit.amx.source must be a key of"),
        ({"read": "yesterday"}, r"unit.amx.read must be a date"),
        ({"maker": "Intel"}, r"unit.amx: key must be one of .*got 'maker'"),
        ({"number": {"lanes": {}}}, r"unit.amx.number: key must be one of .*got 'lanes'"),
    ],
)
def test_slips_in_the_file_are_named(changes, message):
    with pytest.raises(ValueError, match=rf"^matrix_units.toml: .*{message}"):
        _changed("amx", **changes)


NUMBERS = [(name, key) for name, row in RAW.items() for key in row.get("number", {})]


@pytest.mark.parametrize("factor", [1000, 1 / 1000])
@pytest.mark.parametrize(("name", "key"), NUMBERS)
def test_a_wrong_prefix_is_caught(name, key, factor):
    row = copy.deepcopy(RAW[name])
    row["number"][key]["value"] *= factor
    with pytest.raises(ValueError, match="must lie between"):
        matrix_units.build(name, row)

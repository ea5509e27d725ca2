"""Energy: the tables as printed, the ladder and the split against hand counts."""

import copy
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from primer import _energyfile, _tables, energy, workloads
from primer.workloads import Matmul, Stream, VectorAdd

RAW = _tables.read(_energyfile.FILE)
PJ = 1e-12


# ---- the tables, read by a person


@pytest.mark.parametrize(
    ("node", "name", "picojoule"),
    [
        ("45nm", "int8_add", 0.03), ("45nm", "int32_add", 0.1), ("45nm", "fp16_add", 0.4),
        ("45nm", "fp32_add", 0.9), ("45nm", "int8_multiply", 0.2), ("45nm", "int32_multiply", 3.1),
        ("45nm", "fp16_multiply", 1.1), ("45nm", "fp32_multiply", 3.7),
        ("7nm", "int8_add", 0.007), ("7nm", "int32_add", 0.03), ("7nm", "bf16_add", 0.11),
        ("7nm", "fp16_add", 0.16), ("7nm", "fp32_add", 0.38), ("7nm", "int8_multiply", 0.07),
        ("7nm", "int32_multiply", 1.48), ("7nm", "bf16_multiply", 0.21),
        ("7nm", "fp16_multiply", 0.34), ("7nm", "fp32_multiply", 1.31),
    ],
)  # fmt: skip
def test_operations(node, name, picojoule):
    found = energy.operation(name, node=node)
    assert found.value == pytest.approx(picojoule * PJ, rel=1e-12)
    assert str(found) == f"{picojoule:g} pJ"
    assert found.sku == node


@pytest.mark.parametrize(
    ("node", "name", "low", "high"),
    [
        ("45nm", "sram_8kb", 10, 10), ("45nm", "sram_32kb", 20, 20), ("45nm", "sram_1mb", 100, 100),
        ("45nm", "dram", 1300, 2600), ("7nm", "sram_8kb", 7.5, 7.5), ("7nm", "sram_32kb", 8.5, 8.5),
        ("7nm", "sram_1mb", 14, 14), ("7nm", "hbm2", 250, 450), ("7nm", "gddr6", 350, 480),
        ("7nm", "ddr4", 1300, 1300),
    ],
)  # fmt: skip
def test_accesses_are_of_64_bits(node, name, low, high):
    found = energy.access(name, node=node)
    assert found.bits == 64
    assert found.range_j(64) == pytest.approx((low * PJ, high * PJ))


def test_the_mean_gain_from_45_to_7_nm_is_what_the_paper_prints():
    # Jouppi et al.: 2.6 times, over the rows that both nodes have, DRAM (equal) among them.
    ratios = [1.0]
    for old in energy.operations("45nm"):
        ratios.append(old.value / energy.operation(old.name, node="7nm").value)
    for name in ("sram_8kb", "sram_32kb", "sram_1mb"):
        old, new = (energy.access(name, node=node).energy.value for node in ("45nm", "7nm"))
        ratios.append(old / new)
    product = 1.0
    for ratio in ratios:
        product *= ratio
    assert len(ratios) == 12
    assert product ** (1 / 12) == pytest.approx(2.6, abs=0.05)


def test_two_sources_agree_on_one_operation():
    # Dally's HFMA is Horowitz's half-precision add and multiply; his dot product is four of them.
    hfma, hdp4a, *_ = energy.instructions()
    assert hfma.energy.value == pytest.approx(energy.multiply_add_j("fp16", node="45nm"))
    assert hdp4a.energy.value == pytest.approx(4 * hfma.energy.value)


def test_three_sources_agree_on_main_memory():
    dally = {m.name: m for m in energy.movements()}["main_memory"].energy.value
    assert dally == energy.access("dram").energy.value
    assert dally == energy.access("ddr4", node="7nm").energy.value


def test_the_instruction_is_amortized():
    # 30 pJ around 1.5, 6, 110 and 160 pJ
    ratios = [i.overhead_ratio for i in energy.instructions()]
    assert ratios == pytest.approx([20, 5, 0.2727, 0.1875], rel=1e-3)
    assert energy.instructions()[2].overhead_frac == pytest.approx(30 / 140)
    assert energy.table("7nm").overheads == ()


@pytest.mark.parametrize(
    ("name", "per_bit"),
    [
        ("wire_1mm", 1.9 / 64), ("wire_40mm", 77 / 64), ("off_chip", 5.0), ("main_memory", 20.3),
        ("hbm2_device", 3.92), ("hbm_a100", 13.11), ("hbm_mi300a", 14.72), ("nvlink_c2c", 1.3),
        ("serdes_112g", 5.6), ("ucie", 0.29),
    ],
)  # fmt: skip
def test_movements_per_bit(name, per_bit):
    found = {m.name: m for m in energy.movements()}[name]
    assert found.per_bit_j == pytest.approx(per_bit * PJ, rel=2e-3)


def test_a_wire_costs_by_its_length():
    # 77 pJ over 40 mm are 1.925 pJ per mm: the 1.9 of the same source
    rows = {m.name: m for m in energy.movements()}
    long = rows["wire_40mm"]
    assert long.energy.value / long.distance_mm == pytest.approx(
        rows["wire_1mm"].energy.value, rel=0.02
    )


# ---- the ladder


@pytest.mark.parametrize(
    ("node", "operand", "rung", "low", "high"),
    [
        ("45nm", "fp32", "dram", 141, 283),  # 1300..2600 / 2 / 4.6
        ("45nm", "int8", "dram", 707, 1413),  # 1300..2600 / 8 / 0.23
        ("7nm", "fp32", "hbm2", 74, 133),  # 250..450 / 2 / 1.69
        ("7nm", "bf16", "hbm2", 195, 352),  # 250..450 / 4 / 0.32
        ("7nm", "fp32", "ddr4", 385, 385),  # 1300 / 2 / 1.69
        ("45nm", "fp32", "sram_1mb", 11, 11),  # 100 / 2 / 4.6 = 10.9
        ("45nm", "fp32", "sram_8kb", 1, 1),  # 10 / 2 / 4.6 = 1.09
    ],
)
def test_ratios(node, operand, rung, low, high):
    found = energy.ladder(node, operand).rung(rung).ratio_range
    assert (round(found[0]), round(found[1])) == (low, high)


def test_a_lone_operand_pays_the_whole_access():
    # The trap: 1300..2600 pJ are a 64-bit access, two fp32 words.
    low, high = (x / energy.multiply_add_j("fp32") for x in energy.access("dram").range_j(64))
    assert (round(low), round(high)) == (283, 565)


def test_the_instruction_stands_between_the_caches():
    names = [rung.name for rung in energy.ladder("45nm", "fp32").rungs]
    # 4.6, 5, 10, 30, 50, 70, 650 pJ
    assert names == [
        "multiply_add", "sram_8kb", "sram_32kb", "gpu_instruction", "sram_1mb", "cpu_instruction",
        "dram",
    ]  # fmt: skip
    assert energy.ladder("45nm", "int8").rung("gpu_instruction").ratio == pytest.approx(30 / 0.23)


ALL = [(node, operand) for node in energy.nodes() for operand in energy.operands(node)]


@pytest.mark.parametrize(("node", "operand"), ALL)
def test_ladders_rise_and_know_their_sources(node, operand):
    found = energy.ladder(node, operand)
    assert found.rung("multiply_add").ratio_range == (1, 1)
    assert list(found.rungs) == sorted(found.rungs, key=lambda r: r.energy_j)
    for rung in found.rungs:
        assert rung.energy_j <= rung.upper_j
        assert rung.ratio == pytest.approx(rung.energy_j / found.multiply_add_j)
        assert all(q.source.address.startswith("https://") for q in rung.quantities)


@given(st.sampled_from(ALL), st.floats(1e-2, 1e6))
def test_reuse_lowers_the_share_of_movement(case, reuse):
    found = energy.ladder(*case)
    for rung in found.rungs:
        low, high = found.movement_frac(rung.name, reuse=reuse)
        assert 0 < low <= high < 1
        assert found.movement_frac(rung.name, reuse=2 * reuse)[0] < low
        # Second method: energies instead of ratios.
        computed = reuse * found.multiply_add_j
        assert low == pytest.approx(rung.energy_j / (rung.energy_j + computed))


# ---- the split


def test_matmul_of_a_thousand():
    # 2^30 multiply-adds of 4.6 pJ = 4.939 mJ; 3 * 4 * 2^20 B of 162.5..325 pJ = 2.045..4.089 mJ
    found = energy.split(Matmul(1024, 1024, 1024, "fp32"))
    assert found.arithmetic_j == pytest.approx(4.94e-3, rel=1e-3)
    assert found.movement_j == pytest.approx(2.045e-3, rel=1e-3)
    assert found.movement_upper_j == pytest.approx(4.089e-3, rel=1e-3)
    assert found.movement_frac == pytest.approx(2.045 / 6.984, rel=1e-3)


def test_vector_add_of_the_same_bytes():
    # 2^20 adds of 0.9 pJ = 0.944 µJ, the same 12.6 MB
    found = energy.split(VectorAdd(2**20))
    assert found.operation == "add"
    assert found.arithmetic_j == pytest.approx(0.944e-6, rel=1e-3)
    assert found.movement_j == energy.split(Matmul(1024, 1024, 1024, "fp32")).movement_j
    assert found.movement_upper_frac > found.movement_frac > 0.999


def test_the_split_is_the_ladder_times_a_count():
    # One multiply-add per fp32 operand from HBM.
    found = energy.split(work_flop=2, traffic_bytes=4, node="7nm")
    low, high = energy.ladder("7nm", "fp32").movement_frac("hbm2")
    assert (found.movement_frac, found.movement_upper_frac) == pytest.approx((low, high))
    assert found.memory == "hbm2"


def test_operations_per_flop():
    # One FLOP: an add 0.9, a multiply 3.7, half a multiply-add 2.3 pJ.
    for kind, picojoule in (("add", 0.9), ("multiply", 3.7), ("multiply_add", 2.3)):
        found = energy.split(work_flop=1, traffic_bytes=0, operation=kind)
        assert found.arithmetic_j == pytest.approx(picojoule * PJ)
        assert found.movement_frac == 0
    assert energy.split(Stream("triad", 5, "fp32")).operation == "multiply_add"


def test_an_instruction_for_each_multiply_add():
    # Dally's point: 30 pJ around 1.5 pJ, unless an instruction does many.
    one = energy.split(work_flop=2, traffic_bytes=0, operand="fp16", flop_per_instruction=2)
    assert one.instruction_j / one.arithmetic_j == pytest.approx(20)
    many = energy.split(work_flop=2, traffic_bytes=0, operand="fp16", flop_per_instruction=2048)
    assert many.total_j == pytest.approx(1.5 * PJ + 30 * PJ / 1024)


@given(st.floats(1, 1e15), st.floats(1, 1e15), st.sampled_from(ALL))
def test_split_properties(flop, traffic, case):
    node, operand = case
    found = energy.split(work_flop=flop, traffic_bytes=traffic, node=node, operand=operand)
    assert 0 < found.movement_frac <= found.movement_upper_frac <= 1
    assert found.total_j <= found.total_upper_j
    double = energy.split(work_flop=2 * flop, traffic_bytes=2 * traffic, node=node, operand=operand)
    assert double.total_j == pytest.approx(2 * found.total_j)


# ---- bad input


MATMUL = Matmul(8, 8, 8)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: energy.ladder("45 nm"), "node must be one of 45nm, 7nm .*mean '45nm'.*'45 nm'"),
        (lambda: energy.ladder("5nm"), "node must be one of 45nm, 7nm.*got '5nm'"),
        (lambda: energy.ladder("45nm", "bf16"), "operand must be one of int8, fp16.*got 'bf16'"),
        (lambda: energy.ladder().rung("dramm"), "rung must be one of .*mean 'dram'"),
        (lambda: energy.ladder().movement_frac("dram", reuse=0), "reuse must be positive; got 0"),
        (lambda: energy.access("hbm2"), "memory must be one of sram_8kb.*got 'hbm2'"),
        (lambda: energy.operation("fp32_mul"), "operation must be one of .*mean 'fp32_multiply'"),
        (lambda: energy.split(), "work_flop must be zero or positive; got None"),
        (lambda: energy.split(MATMUL, work_flop=1), "work must be left out where work_flop"),
        (lambda: energy.split(work_flop=0, traffic_bytes=0), "work_flop must be positive where"),
        (lambda: energy.split(work_flop=-1, traffic_bytes=0), "work_flop must be zero or positive"),
        (lambda: energy.split(MATMUL, operation="fma"), "operation must be one of multiply_add"),
        (
            lambda: energy.split(MATMUL, node="7nm", flop_per_instruction=2),
            "flop_per_instruction must be left out on 7nm: no source; got 2",
        ),
        (
            lambda: energy.split(MATMUL, flop_per_instruction=0),
            "flop_per_instruction must be positive; got 0",
        ),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# ---- reading the file


def _fields():
    for node, table in RAW["node"].items():
        for group in ("operation", "access", "overhead"):
            yield from (("node", node, group, name) for name in table.get(group, {}))
    yield from (("instruction", "row", name) for name in RAW["instruction"]["row"])
    yield from (("movement", "row", name) for name in RAW["movement"]["row"])


def _build(path, change):
    raw = copy.deepcopy(RAW)
    field = raw
    for key in path:
        field = field[key]
    change(field)
    if path[0] == "node":
        return _energyfile.build_node(path[1], raw["node"][path[1]])
    if path[0] == "instruction":
        return _energyfile.build_instructions(raw["instruction"])
    return _energyfile.build_movements(raw["movement"])


@pytest.mark.parametrize("factor", [1000, 1 / 1000])
@pytest.mark.parametrize("path", list(_fields()), ids=".".join)
def test_a_wrong_prefix_does_not_pass(path, factor):
    where = rf"^energy.toml: {re.escape('.'.join(path))}\.value must lie between"
    with pytest.raises(ValueError, match=where):
        _build(path, lambda field: field.update(value=field["value"] * factor))


DRAM = ("node", "45nm", "access", "dram")
WIRE = ("movement", "row", "wire_1mm")


@pytest.mark.parametrize(
    ("path", "keys", "message"),
    [
        (DRAM, {"value": "1300"}, r"dram.value must be zero or positive; got '1300'"),
        (DRAM, {"upper": 1200}, r"dram.upper must lie above value \(1300\); got 1200"),
        (DRAM, {"upper": 2.6e6}, r"dram.upper must lie between 50 pJ and 20 nJ; got"),
        (DRAM, {"unit": "pW"}, r"dram.unit must (measure J|be a known unit)"),
        (DRAM, {"bits": 6.4}, r"dram.bits must be a positive integer; got 6.4"),
        (DRAM, {"width": 64}, r"dram: key must be one of .*got 'width'"),
        (DRAM, {"source": "horowitz"}, r"dram.source must be a key of .*mean 'horowitz_2014'"),
        (DRAM, {"published": "2030"}, r"dram.published must not be later than read"),
        (DRAM, {"read": "today"}, r"dram.read must be a date such as 2026-11-29; got 'today'"),
        (DRAM, {"status": "not published"}, r"dram.status must be one of published, derived"),
        (WIRE, {"kind": "optical"}, r"wire_1mm.kind must be one of wire, dram, link"),
        (WIRE, {"distance_mm": 0}, r"wire_1mm.distance_mm must be given for wires"),
        (("node", "7nm"), {"main": "dram"}, r"node.7nm.main must be one of sram_8kb.*got 'dram'"),
        (("instruction",), {"overhead": "x"}, r"instruction.overhead must be one of gpu_instr"),
    ],
)
def test_slips_in_the_file_are_named(path, keys, message):
    with pytest.raises(ValueError, match=rf"^energy.toml: .*{message}"):
        _build(path, lambda field: field.update(keys))


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"title": "t", "address": "ftp://x.org", "kind": "primary"}, "be an http"),
        ({"title": "", "address": "https://x.org", "kind": "primary"}, "title must be a text"),
        ({"title": "t", "address": "https://x.org", "kind": "rumor"}, "kind must be one of"),
        ({"title": "t", "url": "https://x.org", "kind": "primary"}, "key must be one of"),
    ],
)
def test_slips_in_the_sources(entry, message):
    with pytest.raises(ValueError, match=rf"^mine.*{message}"):
        _tables.build_source("mine", "mine", entry)


def test_every_source_of_the_small_tables_is_used():
    own = set(_tables.read("data/sources_tables.toml"))
    used = set()
    tables = "energy links capabilities language_models tensorcores matrix_units gpu_check bundles"
    for path in tables.split():
        text = repr(_tables.read(f"data/{path}.toml"))
        used |= {key for key in own if repr(key) in text}
    assert own == used


# ---- what a stream does, and what is refused


@pytest.mark.parametrize("kernel", workloads.STREAM_KERNELS)
def test_streams_are_charged_for_their_own_operations(kernel):
    work = workloads.Stream(kernel, 10, "fp32")
    found = energy.split(work)
    cost = {"+": "fp32_add", "*": "fp32_multiply"}
    loop = work.per_element.loop
    by_hand = sum(energy.operation(cost[sign]).value for sign in loop if sign in cost)
    assert found.arithmetic_j == pytest.approx(10 * by_hand)


def test_a_stream_of_adds_is_a_vector_add():
    assert energy.split(workloads.Stream("add", 10, "fp32")) == energy.split(VectorAdd(10))
    assert energy.split(VectorAdd(10), operation="multiply").operation == "multiply"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: energy.split(VectorAdd(1), memory=""), "memory must be one of .*got ''"),
        (lambda: energy.split(VectorAdd(1), operation=""), "operation must be one of .*got ''"),
        (lambda: energy.split(VectorAdd(1), memory=np.ones(2)), "memory must be one of .*an array"),
        (
            lambda: energy.split(VectorAdd(1), operation=np.ones(2)),
            "operation must be one of .*an array",
        ),
        (lambda: energy.split("x"), "work must have flop and compulsory_bytes.*got 'x'"),
        (
            lambda: energy.split(workloads.TiledMatmul(4, 4, 4, tile_m=2, tile_n=2)),
            "work must be given as work_flop=work.flop, traffic_bytes=work.traffic_bytes",
        ),
        (
            lambda: energy.split(work_flop=1, traffic_bytes=1e308),
            "traffic_bytes must leave movement_j finite; got 1e",
        ),
        (
            lambda: energy.split(
                node="7nm", work_flop=1e300, traffic_bytes=1, flop_per_instruction=5e-324
            ),
            "flop_per_instruction must (leave instruction_j finite|be left out)",
        ),
    ],
)
def test_what_split_cannot_charge_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()

"""Numbers in prose: what they print, what they refuse, and what a page then depends on."""

from __future__ import annotations

import pytest

from primer_book import numbers


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("h100_sxm5_80gb.peak.bf16", "989.4 TFLOP/s"),
        ("h100_sxm5_80gb.bandwidth", "3.35 TB/s"),
        ("h100_sxm5_80gb.bandwidth | GB/s", "3350 GB/s"),
        ("h100_sxm5_80gb.bandwidth | .1f TB/s", "3.4 TB/s"),  # 3.35 is a bit above 3.35 in binary
        # 989.4e12 FLOP/s over 3.35e12 B/s = 295.343…
        ('h100_sxm5_80gb.ridge_flop_per_byte("bf16") | .0f', "295"),
        ('h100_sxm5_80gb.ridge_flop_per_byte("bf16") | .1f FLOP/B', "295.3 FLOP/B"),
        ("h100_sxm5_80gb.peak.bf16 / h100_sxm5_80gb.bandwidth | FLOP/B", "295.3 FLOP/B"),
        # 2 · 1024 · 768 · 3072 = 4 831 838 208
        ("workloads.Matmul(1024, 3072, 768).flop", "4,831,838,208"),
        ("workloads.Matmul(1024, 3072, 768).flop | .2f GFLOP", "4.83 GFLOP"),
        ("workloads.VectorAdd(10).intensity_flop_per_byte | .3f", "0.083"),  # 1/12
        ('roofline.place(hardware.example("toy"), work_flop=5, traffic_bytes=1).bound', "memory"),
        # Half the ridge of 10 FLOP/B is half the peak.
        ('roofline.place(hardware.example("toy"), work_flop=5, traffic_bytes=1).peak_frac | .0%',
         "50%"),
        ('roofline.place(hardware.example("toy"), work_flop=5, traffic_bytes=1).peak_frac | .1f %',
         "50.0%"),
        ("0.00000141 | .2f µs", "1.41 µs"),
        ("2**10 - 24", "1000"),
        ("-(7 // 2) + 7 % 4 | d", "0"),
        ("hardware.PRECISIONS[0]", "fp64"),
        ("16896 | ,d", "16,896"),
    ],
)  # fmt: skip
def test_prints(text: str, printed: str) -> None:
    assert numbers.evaluate(text) == printed


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("h100.peak.bf16", "neither a chip nor a module of primer"),
        ("h100_sxm5_80gb.peak.bf17", "bf17"),
        ("h100_sxm5_80gb.__class__", "not allowed"),
        ("roofline._checks", "not allowed"),
        ("hardware.functools", "foreign module"),
        ("'{0.__class__}'.format(1)", "not allowed"),
        ("print(1)", "neither a chip nor a module"),
        ("[n for n in hardware.names()]", "ListComp is not allowed"),
        ("(lambda: 1)()", "Lambda is not allowed"),
        ("1 < 2", "Compare is not allowed"),
        ("1 << 2", "LShift is not allowed"),
        ("hardware.load(**{})", "not allowed"),
        ("hardware.load(*('h100_sxm5_80gb',))", "Starred is not allowed"),
        ("b'1'", "constant is not allowed"),
        ("1 +", "not an expression"),
        ("", "is empty"),
        ("1 |", "is empty"),
        ("1/0", "division by zero"),
        ("1e308 * 10", "not a finite number"),
        ("True", "is bool, not a number"),
        ("h100_sxm5_80gb", "Chip, not a number"),
        ("h100_sxm5_80gb.peak.bf16 | GB/s", "is in FLOP/s, which is not a GB/s"),
        ("h100_sxm5_80gb.peak.bf16 | TFLOPS", "TFLOPS"),
        ("workloads.Matmul(0, 1, 1).flop", "m"),
        ("workloads.Matmul(1).flop", "missing"),
        ("h100_sxm5_80gb.name | .1f", "not a number"),
    ],
)  # fmt: skip
def test_refuses_and_quotes_the_expression(text: str, complaint: str) -> None:
    with pytest.raises(ValueError) as caught:
        numbers.evaluate(text)
    assert complaint in str(caught.value)
    assert text.rpartition("|")[0].strip() in str(caught.value)


@pytest.mark.parametrize(
    ("text", "modules"),
    [
        ("h100_sxm5_80gb.peak.bf16", {"hardware"}),
        ("h100_sxm5_80gb.peak.bf16 | PFLOP/s", {"hardware", "units"}),
        ("roofline.place(tpu_v5e, workloads.Matmul(8, 8, 8)).peak_frac | .0%",
         {"hardware", "roofline", "workloads"}),
        ("1 + 1 | .1f", set()),
    ],
)  # fmt: skip
def test_modules_used(text: str, modules: set[str]) -> None:
    assert numbers.modules_used(text) == modules


def test_a_measure_is_exact_and_converts() -> None:
    found = numbers.measure("h100_sxm5_80gb.peak.bf16 | .0f", "TFLOP/s")
    assert (found.value, found.base_unit, found.unit_factor) == (989.4e12, "FLOP/s", 1e12)
    assert found.text == "989 TFLOP/s"


def test_a_measure_in_percent_and_in_things() -> None:
    share = numbers.measure("1 / 8 | .1f", "%")
    assert (share.value, share.unit_factor, share.text) == (0.125, 0.01, "12.5%")
    tiles = numbers.measure("192", "tiles")
    assert (tiles.value, tiles.base_unit, tiles.text) == (192.0, "1", "192 tiles")


def test_a_measure_has_one_unit() -> None:
    with pytest.raises(ValueError, match="another unit"):
        numbers.measure("h100_sxm5_80gb.bandwidth | GB/s", "TB/s")

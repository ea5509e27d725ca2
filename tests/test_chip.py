"""The numbers of the tables against each other: what follows from what, by a second method."""

import datetime

import numpy as np
import pytest

from primer import hardware
from primer.hardware import Fact

CHIPS = [hardware.load(chip) for chip in hardware.names()]
GPUS = [chip for chip in CHIPS if chip.kind == "gpu"]


# ---- peaks from units x multiply-adds x 2 x clock


@pytest.mark.parametrize(
    ("chip", "compute", "clock", "tolerance"),
    [
        ("v100_sxm2_32gb", "fp16", "boost", 3e-3),  # 640 * 64 * 2 * 1.53e9 = 125.3e12
        ("a100_sxm4_40gb", "bf16", "boost", 5e-4),  # 432 * 256 * 2 * 1.41e9 = 311.9e12
        ("a100_sxm4_80gb", "bf16", "boost", 5e-4),
        ("h100_sxm5_80gb", "bf16", "matrix_boost", 1e-4),  # 132 * 4 * 512 * 2 * 1.83e9 = 989.4e12
        ("h200_sxm_141gb", "bf16", "matrix_boost", 1e-4),
        ("t4", "fp16", "boost", 2e-3),  # 320 * 64 * 2 * 1.59e9 = 65.1e12
        ("l4", "bf16", "boost", 2e-3),  # 232 * 128 * 2 * 2.04e9 = 121.2e12
        ("a10", "bf16", "boost", 3e-4),  # 288 * 128 * 2 * 1.695e9 = 124.98e12
        ("rtx_4090", "bf16", "boost", 1e-4),  # 512 * 64 * 2 * 2.52e9 = 165.15e12
        ("mi250x", "bf16", "boost", 1e-3),  # 880 * 128 * 2 * 1.7e9 = 383.0e12
        ("mi300x", "bf16", "boost", 1e-4),  # 1216 * 256 * 2 * 2.1e9 = 1307.4e12
        ("mi325x", "bf16", "boost", 1e-4),
        ("mi355x", "bf16", "boost", 7e-3),  # 1024 * 512 * 2 * 2.4e9 = 2516.6e12, printed as 2.5e15
        ("tpu_v1", "int8", "boost", 3e-3),  # 65536 * 2 * 0.7e9 = 91.75e12
        ("tpu_v2", "bf16", "boost", 3e-3),  # 2 * 128^2 * 2 * 0.7e9 = 45.9e12
        ("tpu_v3", "bf16", "boost", 3e-3),  # 4 * 128^2 * 2 * 0.94e9 = 123.2e12
        ("tpu_v4", "bf16", "boost", 2e-3),  # 8 * 128^2 * 2 * 1.05e9 = 275.3e12
        ("tpu_v5e", "bf16", "boost", 3e-3),  # 4 * 128^2 * 2 * 1.5e9 = 196.6e12
        ("tpu_v5p", "bf16", "boost", 1e-3),  # 8 * 128^2 * 2 * 1.75e9 = 458.8e12
        ("gaudi3", "bf16", "matrix", 1e-3),  # 8 * 256^2 * 2 * 1.6e9 = 1677.7e12
        ("groq_lpu_v1", "int8", "boost", 0.02),  # 4 * 320^2 * 2 * 0.9e9 = 737e12, printed as 750e12
        ("trainium2", "bf16", "matrix", 0.061),  # 8 * 128^2 * 2 * 2.4e9 = 629e12, printed as 667e12
    ],
)
def test_matrix_peaks_follow_from_units_and_clock(chip, compute, clock, tolerance):
    known = hardware.load(chip)
    per_cycle = known.count("matrix_units").value * known.count("fma_per_matrix_unit").value
    derived = per_cycle * 2 * known.clock(clock).value
    assert known.peak_flop_per_s(compute, "matrix") == pytest.approx(derived, rel=tolerance)


@pytest.mark.parametrize(("chip", "clock_ghz"), [("tpu_v6e", 3.5), ("tpu_v7", 4.4)])
def test_newer_tpus_do_more_than_one_multiply_add_per_cell(chip, clock_ghz):
    known = hardware.load(chip)
    per_cycle = known.count("matrix_units").value * known.count("fma_per_matrix_unit").value
    assert known.peak_flop_per_s("bf16") / (per_cycle * 2) == pytest.approx(
        clock_ghz * 1e9, rel=5e-3
    )
    assert f"{clock_ghz} GHz, which is not physical" in known.count("fma_per_matrix_unit").note
    assert not [q for q in known.clocks if q.is_published]


@pytest.mark.parametrize(
    ("chip", "clock", "tolerance"),
    [
        ("v100_sxm2_32gb", "boost", 3e-3),  # 5120 * 2 * 1.53e9 = 15.67e12
        ("a100_sxm4_40gb", "boost", 1e-3),  # 6912 * 2 * 1.41e9 = 19.49e12
        ("h100_sxm5_80gb", "vector_boost", 3e-3),  # 16896 * 2 * 1.98e9 = 66.9e12
        ("h200_sxm_141gb", "vector_boost", 3e-3),
        ("t4", "boost", 6e-3),  # 2560 * 2 * 1.59e9 = 8.14e12
        ("l4", "boost", 1e-3),  # 7424 * 2 * 2.04e9 = 30.29e12
        ("a10", "boost", 2e-3),  # 9216 * 2 * 1.695e9 = 31.24e12
        ("rtx_4090", "boost", 1e-4),  # 16384 * 2 * 2.52e9 = 82.58e12
    ],
)
def test_vector_peaks_follow_from_lanes_and_clock(chip, clock, tolerance):
    known = hardware.load(chip)
    derived = known.count("fp32_lanes").value * 2 * known.clock(clock).value
    assert known.peak_flop_per_s("fp32", "vector") == pytest.approx(derived, rel=tolerance)


@pytest.mark.parametrize(
    ("chip", "compute", "unit", "fma", "clock"),
    [
        ("xeon_8480p", "fp32", "vector", "fp32_fma_per_core", "base"),  # 56 * 32 * 2 * 2.0e9
        ("xeon_8480p", "bf16", "matrix", "bf16_fma_per_core", "base"),  # 56 * 512 * 2 * 2.0e9
        ("xeon_8480p", "int8", "matrix", "int8_fma_per_core", "base"),  # 56 * 1024 * 2 * 2.0e9
        ("epyc_9654", "fp32", "vector", "fp32_fma_per_core", "base"),  # 96 * 16 * 2 * 2.4e9
        ("epyc_9755", "fp32", "vector", "fp32_fma_per_core", "base"),  # 128 * 32 * 2 * 2.7e9
        ("graviton3", "fp32", "vector", "fp32_fma_per_core", "base"),  # 64 * 16 * 2 * 2.6e9
        ("graviton4", "fp32", "vector", "fp32_fma_per_core", "base"),  # 96 * 16 * 2 * 2.8e9
        ("grace", "fp32", "vector", "fp32_fma_per_core", "base"),  # 72 * 16 * 2 * 3.1e9
    ],
)
def test_peaks_of_cpus_are_cores_times_rate_times_clock(chip, compute, unit, fma, clock):
    known = hardware.load(chip)
    peak = known.peak.find(compute, unit)
    per_cycle = known.count("cores").value * known.count(fma).value * 2
    assert peak.value == pytest.approx(per_cycle * known.clock(clock).value, rel=4e-4)
    assert peak.status == "derived"
    assert f"{known.clock(clock).to('GHz')} GHz" in peak.convention


@pytest.mark.parametrize(
    ("chip", "channels", "transfers"),
    [
        ("xeon_8480p", 8, 4800e6),
        ("xeon_6980p", 12, 8800e6),
        ("epyc_9654", 12, 4800e6),
        ("epyc_9755", 12, 6000e6),
        ("graviton3", 8, 4800e6),
        ("graviton4", 12, 5600e6),
    ],
)
def test_bandwidths_of_sockets_are_channels_times_eight_bytes(chip, channels, transfers):
    known = hardware.load(chip)
    assert known.bandwidth_bytes_per_s == pytest.approx(channels * transfers * 8)
    assert f"{channels} channels" in known.memory[-1].title
    assert str(int(transfers / 1e6)) in known.memory[-1].title


# ---- links and caches


@pytest.mark.parametrize("chip", CHIPS, ids=lambda chip: chip.id)
def test_derived_link_rates(chip):
    # PCIe: transfers per second x 16 lanes x 128/130 / 8 bits; from 6.0 on, FLIT framing
    rate = {"3.0": 8e9, "4.0": 16e9, "5.0": 32e9}
    for link in chip.links:
        if link.name == "pcie" and (lane := rate.get(link.title.split()[1])):
            assert link.oneway_bytes_per_s == pytest.approx(lane * 16 * 128 / 130 / 8, rel=2e-3)
        if link.oneway_per_link and link.n_links:
            per_link = link.oneway_per_link.value * link.n_links.value
            assert link.oneway_bytes_per_s == pytest.approx(per_link)


@pytest.mark.parametrize(
    ("chip", "all_reduce", "chips", "bisection", "cut"),
    # all-reduce and bisection of a pod, as Google's pages print them; links of a torus cut in two
    [
        ("tpu_v4", 1.1e15, 4096, 24e12, 2 * 16 * 16),
        ("tpu_v5e", 51.2e12, 256, 1.6e12, 2 * 16),
        ("tpu_v6e", 102.4e12, 256, 3.2e12, 2 * 16),
    ],
)
def test_links_of_tpus_follow_from_their_pods(chip, all_reduce, chips, bisection, cut):
    link = hardware.load(chip).link("ici")
    per_link = link.oneway_per_link.value
    assert all_reduce / chips / link.n_links.value == pytest.approx(per_link, rel=6e-3)
    assert bisection / cut == pytest.approx(per_link, rel=0.05)


def test_the_link_of_tpu_v3_is_where_its_page_contradicts_itself():
    per_link = hardware.load("tpu_v3").link("ici").oneway_per_link
    assert per_link.value == pytest.approx(340e12 / 1024 / 4, rel=1e-3)  # all-reduce of a pod
    assert 6.4e12 / (2 * 32) == 100e9  # its bisection
    assert "says 100" in per_link.note


def test_derived_cache_rates():
    # 128 B per cycle and SM for L1; 5120 and 2048 B per cycle for the L2 of A100 and V100
    for chip, n_sms, clock in [
        ("a100_sxm4_40gb", 108, 1.41e9), ("a100_sxm4_80gb", 108, 1.41e9),
        ("h100_sxm5_80gb", 132, 1.83e9), ("h200_sxm_141gb", 132, 1.83e9),
    ]:  # fmt: skip
        l1 = hardware.load(chip).level("l1").bandwidth
        assert l1.value == pytest.approx(128 * n_sms * clock, rel=3e-3)
    for chip, rate in [
        ("a100_sxm4_40gb", 5120 * 1.41e9), ("a100_sxm4_80gb", 5120 * 1.41e9),
        ("v100_sxm2_32gb", 2048 * 1.53e9),
    ]:  # fmt: skip
        assert hardware.load(chip).level("l2").bandwidth.value == pytest.approx(rate, rel=2e-4)


# ---- ridge and turnover, computed by hand from the vendors' figures


@pytest.mark.parametrize(
    ("chip", "ridge"),
    [
        ("v100_sxm2_32gb", 138.89), ("a100_sxm4_80gb", 153.02), ("h100_sxm5_80gb", 295.34),
        ("h200_sxm_141gb", 206.1), ("b200_sxm", 281.25), ("b300_sxm", 281.25),
        ("rubin_vr200", 181.8), ("mi300x", 246.68),
        ("tpu_v3", 136.7), ("tpu_v4", 229.2), ("tpu_v5e", 240.54), ("tpu_v5p", 166.0),
        ("tpu_v6e", 560.4), ("tpu_v7", 313.0),
    ],
)  # fmt: skip
def test_ridges_at_16_bits(chip, ridge):
    compute = "fp16" if chip.startswith("v100") else "bf16"
    assert hardware.load(chip).ridge_flop_per_byte(compute) == pytest.approx(ridge, abs=0.05)


def test_the_ridge_does_not_rise_with_the_years():
    history = ("h100_sxm5_80gb", "b200_sxm", "b300_sxm", "rubin_vr200")
    ridges = [hardware.load(c).ridge_flop_per_byte("bf16") for c in history]
    assert max(ridges) == ridges[0]


@pytest.mark.parametrize(
    ("chip", "ms"),
    [
        ("h100_sxm5_80gb", 23.9), ("h200_sxm_141gb", 29.4), ("b200_sxm", 22.5),
        ("tpu_v5e", 19.5), ("tpu_v6e", 19.5), ("tpu_v7", 26.1), ("rubin_vr200", 13.1),
        ("m4_max_40", 234.4), ("groq_lpu_v1", 0.0029), ("wse3", 0.0021),
    ],
)  # fmt: skip
def test_reading_the_whole_memory_once(chip, ms):
    main = hardware.load(chip).memory[-1]
    assert main.capacity.value / main.bandwidth.value * 1e3 == pytest.approx(ms, rel=0.02)


# ---- dates


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("2017", "2017-01-01", "2017-12-31"),
        ("2024-02", "2024-02-01", "2024-02-29"),
        ("2024-12", "2024-12-01", "2024-12-31"),
        ("2018-03-27", "2018-03-27", "2018-03-27"),
        ("2020/2021", "2020-01-01", "2021-12-31"),
        ("2023-01/2023-06", "2023-01-01", "2023-06-30"),
    ],
)
def test_dates_are_as_long_as_they_are_vague(text, first, last):
    fact = Fact(name="release", text=text)
    assert fact.interval == tuple(datetime.date.fromisoformat(d) for d in (first, last))
    begin, end = fact.years
    days = (fact.interval[1] - fact.interval[0]).days + 1
    assert (end - begin) * 365.25 == pytest.approx(days, abs=1)
    assert int(begin) == fact.interval[0].year


def test_releases_follow_each_other():
    order = ["v100_sxm2_32gb", "a100_sxm4_40gb", "a100_sxm4_80gb", "h100_sxm5_80gb", "b200_sxm"]
    dates = [hardware.load(chip).release.years[0] for chip in order]
    assert dates == sorted(dates)
    tpus = ["tpu_v1", "tpu_v2", "tpu_v3", "tpu_v4", "tpu_v5e", "tpu_v5p", "tpu_v6e", "tpu_v7"]
    dates = [hardware.load(chip).release.years[0] for chip in tpus]
    assert dates == sorted(dates)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": np.ones(2)}, "name must be a non-empty string; got an array"),
        ({"name": ""}, "name must be a non-empty string; got ''"),
        ({"peak_flop_per_s": np.ones(2)}, "peak_flop_per_s must map .*got an array"),
        ({"source": "me"}, "source must be a Source, or left out; got 'me'"),
        ({"source": 3}, "source must be a Source, or left out; got 3"),
        ({"unit": np.ones(2)}, "unit must be one of"),
    ],
)
def test_what_makes_no_chip_is_named(change, message):
    given = {"name": "c", "peak_flop_per_s": {"fp32": 1e12}, "bandwidth_bytes_per_s": 1e9}
    with pytest.raises(ValueError, match=message):
        hardware.Chip.custom(**(given | change))


def test_a_source_may_be_left_out():
    rates = {"peak_flop_per_s": {"fp32": 1e12}, "bandwidth_bytes_per_s": 1e9}
    own = hardware.Source(key="bench", title="my bench")
    assert hardware.Chip.custom("c", **rates, source=own).bandwidth.source is own
    assert hardware.Chip.custom("c", **rates, source=None) == hardware.Chip.custom("c", **rates)


def test_a_ridge_is_finite():
    odd = hardware.Chip.custom("c", peak_flop_per_s={"fp32": 1e300}, bandwidth_bytes_per_s=1e-300)
    with pytest.raises(ValueError, match="bandwidth_bytes_per_s must leave ridge_flop_per_byte"):
        odd.ridge_flop_per_byte("fp32")


@pytest.mark.parametrize("compute", [3, None, "fp17", np.ones(2)])
def test_only_precisions_have_a_rate(compute):
    with pytest.raises(ValueError, match="compute must be one of fp64"):
        hardware.rate_unit(compute)

"""Matrix products under a roof: hand counts, the limit, and what the page says about them."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import RendererAgg

from primer import hardware
from primer.figures import gemm_intensity, style
from primer.figures.gemm_intensity import EXPLORABLE, compute
from primer.workloads import STORAGE_BYTES, Matmul

H100 = "h100_sxm5_80gb"
SIZES = st.integers(1, 8192)
STORAGES = st.sampled_from(tuple(STORAGE_BYTES))


def some_states(n=150):
    return random.Random(4).sample([s for s in EXPLORABLE.states() if s], n)


# ---- values derived by hand


def test_sixteen_rows_of_the_one_matmul():
    # [16 x 768] . [768 x 3072], 2 bytes: A 16 * 768 * 2, B 768 * 3072 * 2, C 16 * 3072 * 2.
    # At two bytes 1/I = 1/16 + 1/3072 + 1/768 = (192 + 1 + 4) / 3072, so I = 3072 / 197.
    result = compute(H100, 16, 3072, 768, "bf16")
    work = result.work
    assert (work.a_bytes, work.b_bytes, work.c_bytes) == (24_576, 4_718_592, 98_304)
    assert work.compulsory_bytes == 4_841_472
    assert result.point.intensity_flop_per_byte == pytest.approx(3072 / 197, rel=1e-12)
    assert result.point.attainable_flop_per_s == pytest.approx(3072 / 197 * 3.35e12)
    assert (result.point.bound, result.short_sides) == ("memory", ("m",))


def test_the_limit_is_what_the_other_two_sides_allow():
    # m without end: 2 n k / (2 (n + k)) = 3072 * 768 / 3840 = 614.4
    assert compute(H100, 16, 3072, 768, "bf16").limit_flop_per_byte == pytest.approx(614.4)
    # One byte doubles it, four bytes halve it.
    assert compute(H100, 1, 3072, 768, "int8").limit_flop_per_byte == pytest.approx(1228.8)
    assert compute(H100, 1, 3072, 768, "tf32").limit_flop_per_byte == pytest.approx(307.2)
    # C in four bytes: 2 * 768 * 3072 / (2 * 768 + 4 * 3072) = 341.33
    mixed = Matmul(5, 3072, 768, storage="bf16", output_storage="fp32")
    assert mixed.intensity_limit_flop_per_byte == pytest.approx(1024 / 3)


def test_one_row_is_two_flop_for_each_weight():
    # B is almost all of the bytes, and each of its numbers is used once: 2 FLOP for e bytes.
    for storage, size in (("tf32", 4), ("bf16", 2), ("int8", 1)):
        at = compute(H100, 1, 8192, 8192, storage).point.intensity_flop_per_byte
        assert at == pytest.approx(2 / size, rel=1e-3)


def test_a_short_inner_side_makes_the_result_heavy():
    # 8192 x 128 x 8192 in bf16: A and B 2 MiB each, C 128 MiB; 1/I = 2/8192 + 1/128.
    result = compute("a100_sxm4_80gb", 8192, 8192, 128, "bf16")
    assert result.work.c_bytes == 128 * 2**20
    assert result.short_sides == ("k",)
    assert result.point.intensity_flop_per_byte == pytest.approx(8192 / 66)
    assert result.limit_flop_per_byte < result.point.ridge_flop_per_byte  # 126 < 153


@pytest.mark.parametrize(("chip", "first"), [(H100, 1024), ("tpu_v5e", 512)])
def test_where_the_one_matmul_leaves_the_slope(chip, first):
    # It crosses at 569 rows on H100 and at 395 on v5e: the next mark on the slider.
    crossed = [
        m
        for m in gemm_intensity.ROWS
        if compute(chip, m, 3072, 768, "bf16").point.bound == "compute"
    ]
    assert crossed[0] == first


def test_fewer_bytes_do_not_move_the_crossing():
    # On H100 the peak doubles whenever the bytes are halved: ridge and intensity move together.
    for m in gemm_intensity.ROWS:
        bounds = {compute(H100, m, 3072, 768, s).point.bound for s in gemm_intensity.STORAGES}
        assert len(bounds) == 1


# ---- properties


@given(SIZES, SIZES, SIZES, STORAGES)
def test_intensity_stays_below_its_limits(m, n, k, storage):
    work = Matmul(m, n, k, storage=storage)
    at, size = work.intensity_flop_per_byte, STORAGE_BYTES[storage]
    assert at < work.intensity_limit_flop_per_byte
    assert at <= 2 * min(m, n, k) / size
    # A second way: the sides add up like resistances in parallel, times 2 / bytes.
    assert at == pytest.approx(2 / size / (1 / m + 1 / n + 1 / k), rel=1e-12)
    assert work.intensity_limit_flop_per_byte == pytest.approx(
        2 / size / (1 / n + 1 / k), rel=1e-12
    )


@given(SIZES, SIZES, SIZES)
def test_the_heaviest_matrix_is_the_one_without_the_shortest_side(m, n, k):
    work = Matmul(m, n, k)
    shares = {"A": work.a_bytes, "B": work.b_bytes, "C": work.c_bytes}
    sides = {"m": m, "n": n, "k": k}
    heaviest = max(shares.values())
    for side, size in sides.items():
        is_shortest = size == min(sides.values())
        assert (shares[gemm_intensity.MISSING[side]] == heaviest) == is_shortest


def test_every_state_lies_under_its_roof():
    for state in some_states():
        result = compute(**state)
        point = result.point
        assert point.attainable_flop_per_s <= point.peak_flop_per_s
        slope = point.intensity_flop_per_byte * point.bandwidth_bytes_per_s
        assert point.attainable_flop_per_s <= slope * (1 + 1e-12)
        reach = result.reach_flop_per_byte
        assert all(a < b for a, b in itertools.pairwise(reach))
        assert reach[-1] < result.limit_flop_per_byte
        assert reach[gemm_intensity.ROWS.index(state["m"])] == point.intensity_flop_per_byte


# ---- what the page says


def test_the_sentence_names_the_short_side_and_its_matrix():
    spoken = EXPLORABLE.evaluate({}).spoken
    assert spoken.startswith("m is the short side, so B, the matrix without it")
    assert "only 16 multiply-adds" in spoken
    hopeless = EXPLORABLE.evaluate({"m": 8192, "n": 8192, "k": 128}).spoken
    assert "More rows cannot save this one" in hopeless
    assert "All three sides" in EXPLORABLE.evaluate({"m": 1024}).spoken


def test_every_sentence_fills_its_names():
    for state in some_states():
        outcome = EXPLORABLE.evaluate(state)
        assert "{" not in outcome.spoken
        words = outcome.sentence.lower()
        assert ("slope ends" in words or "more rows" in words) == (
            outcome.result.point.bound == "memory"
        )


def test_the_limit_is_written_inside_the_picture():
    kind = gemm_intensity.GemmIntensityFigure
    with style.context():
        figure = kind(style.axes(kind.size, box=kind.box))
    width, height = (72 * inch for inch in kind.size)
    ruler = RendererAgg(width, height, 72)
    for n, k in itertools.product(gemm_intensity.SIDES, repeat=2):
        for storage in gemm_intensity.STORAGES:
            figure.update(compute(H100, 8192, n, k, storage))
            for label in (figure.cliff_label, figure.wall_label, figure.roof.dot_label):
                box = label.get_window_extent(ruler)
                assert 0 <= box.x0 < box.x1 <= width, label.get_text()


def test_formats_are_offered_where_the_chip_computes_in_them():
    state = EXPLORABLE.default_state | {"chip": "tpu_v5e"}
    assert EXPLORABLE.choices(state, "storage") == ("bf16", "int8")
    for chip in gemm_intensity.CHIPS:
        assert "bf16" in hardware.load(chip).precisions()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: compute(H100, 0, 1, 1, "bf16"), "m must be a positive integer; got 0"),
        (lambda: compute(H100, 1, 1, 1, "bf17"), "storage must be one of .* got 'bf17'"),
        (lambda: compute("tpu_v5e", 1, 1, 1, "tf32"), "compute must have a dense peak on TPU v5e"),
        (lambda: EXPLORABLE.check({"m": 3}), "m must be one of"),
        (lambda: EXPLORABLE.check({"chip": "tpu_v5e", "storage": "tf32"}), "must be possible"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()

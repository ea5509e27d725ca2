"""One kernel at every level: tiles counted by hand and by loops, and the level that decides."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from primer import hardware, roofline
from primer.figures import memory_waterfall, style
from primer.figures._kernels import KERNELS, LEVELS, compute
from primer.figures.memory_waterfall import EXPLORABLE
from primer.workloads import Matmul, TiledMatmul

A100, H100, V100 = "a100_sxm4_80gb", "h100_sxm5_80gb", "v100_sxm2_32gb"
STATES = [s for s in EXPLORABLE.states() if s]
SMALL = st.integers(1, 12)


def square(tile, n=1024, storage="fp32"):
    return TiledMatmul(n, n, n, tile_m=tile, tile_n=tile, storage=storage)


# ---- tiles


@pytest.mark.parametrize(
    ("tile", "right"), [(8, 1.992), (16, 3.969), (32, 7.877), (64, 15.515), (128, 30.118)]
)
def test_square_tiles_of_four_byte_numbers(tile, right):
    # 2 N^3 / (4 (2 N^3 / T + N^2)) for N = 1024: A and B again for each tile, C written once.
    by_hand = 2 * 1024**3 / (4 * (2 * 1024**3 / tile + 1024**2))
    assert square(tile).intensity_flop_per_byte == pytest.approx(by_hand, rel=1e-12)
    assert square(tile).intensity_flop_per_byte == pytest.approx(right, abs=5e-4)


def test_a_tile_as_large_as_the_result_is_a_cache_without_end():
    assert square(1024).intensity_flop_per_byte == pytest.approx(1024 / 6)
    assert square(4096).traffic_bytes == square(1024).traffic_bytes
    assert square(1024).traffic_bytes == Matmul(1024, 1024, 1024, "fp32").compulsory_bytes


def test_a_tile_of_128_in_two_bytes_approaches_64():
    # Without C, which long dot products make small: 2 T^2 / (2 T * 2 bytes) = T / 2.
    work = TiledMatmul(128, 128, 10**8, tile_m=128, tile_n=128)
    assert work.intensity_flop_per_byte == pytest.approx(64, rel=1e-5)
    # The one matmul's K = 768 is short enough to see C: 1/I = 1/128 + 1/128 + 1/768 = 13/768.
    real = TiledMatmul(1024, 3072, 768, tile_m=128, tile_n=128)
    assert real.intensity_flop_per_byte == pytest.approx(768 / 13)


def test_nothing_kept_is_half_a_flop_per_byte():
    # Two operands of two bytes for each multiply-add, and C: 1/I = 1 + 1 + 1/768.
    work = TiledMatmul(1024, 3072, 768, tile_m=1, tile_n=1)
    assert work.intensity_flop_per_byte == pytest.approx(768 / 1537)


@given(SMALL, SMALL, SMALL, SMALL, SMALL)
def test_traffic_equals_what_loops_over_tiles_fetch(m, n, k, tile_m, tile_n):
    fetched = 0
    for top in range(0, m, tile_m):
        for left in range(0, n, tile_n):
            rows, columns = min(tile_m, m - top), min(tile_n, n - left)
            for _ in range(k):
                fetched += rows + columns
            fetched += rows * columns
    work = TiledMatmul(m, n, k, tile_m=tile_m, tile_n=tile_n)
    assert work.traffic_bytes == 2 * fetched


@given(SMALL, SMALL, SMALL, SMALL, SMALL)
def test_traffic_is_at_least_compulsory_and_falls_with_the_tile(m, n, k, tile_m, tile_n):
    work = TiledMatmul(m, n, k, tile_m=tile_m, tile_n=tile_n)
    wider = TiledMatmul(m, n, k, tile_m=tile_m, tile_n=2 * tile_n)
    assert work.traffic_bytes >= wider.traffic_bytes >= Matmul(m, n, k).compulsory_bytes
    assert work.flop == Matmul(m, n, k).flop


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"m": 0}, "m must be a positive integer; got 0"),
        ({"tile_m": 0}, "tile_m must be a positive integer; got 0"),
        ({"tile_n": 1.5}, "tile_n must be a positive integer; got 1.5"),
        ({"storage": "fp12"}, "storage must be one of .*got 'fp12'"),
    ],
)
def test_bad_tiles_are_named(arguments, message):
    right = {"m": 4, "n": 4, "k": 4, "tile_m": 2, "tile_n": 2}
    with pytest.raises(ValueError, match=message):
        TiledMatmul(**(right | arguments))


# ---- levels


def test_a_tile_in_l1_alone_moves_the_trouble_to_l1():
    # The one matmul, T = 1024, M N K = 2,415,919,104 multiply-adds, two bytes, on A100.
    # L1 : 2 (2 MNK + MN)                     = 9,669,967,872 B / 19.5  TB/s = 495.9 us
    # L2 : 2 (MK * 24 + KN * 8 + MN)          =    81,788,928 B / 7.219 TB/s =  11.33 us
    # HBM: 2 (MK + KN + MN)                   =    12,582,912 B / 2.039 TB/s =   6.17 us
    seen = compute(A100, "gemm_l1")
    assert [seen.level(name).traffic_bytes for name in ("l1", "l2", "hbm")] == [
        9_669_967_872,
        81_788_928,
        12_582_912,
    ]
    assert [seen.level(name).time_s for name in ("l1", "l2", "hbm")] == pytest.approx(
        [495.9e-6, 11.33e-6, 6.171e-6], rel=1e-3
    )
    assert seen.point.bound == "l1"
    assert seen.point.attainable_flop_per_s == pytest.approx(4_831_838_208 / 495.9e-6, rel=1e-3)


@pytest.mark.parametrize(
    ("chip", "kernel", "bound"),
    [
        (A100, "vector_add", "hbm"),
        (A100, "triad", "hbm"),
        (V100, "gemv", "hbm"),
        (A100, "gemm_naive", "hbm"),
        (A100, "gemm_32", "l2"),  # L2 768/49 * 7.219 = 113, L1 768/49 * 19.5 = 306 TFLOP/s
        (V100, "gemm_32", "l2"),
        (A100, "gemm_128", "compute"),  # L1 768/37 * 19.5 = 405, L2 768/13 * 7.219 = 426 > 312
        (V100, "gemm_128", "compute"),
        (H100, "gemm_128", "l1"),  # 768/37 * 30.9 = 641 < 989
    ],
)
def test_which_level_decides(chip, kernel, bound):
    assert compute(chip, kernel).point.bound == bound


def test_a_stream_has_the_same_bytes_at_every_level_and_three_heights():
    seen = compute(A100, "vector_add")
    levels = [seen.level(name) for name in LEVELS]
    assert [level.traffic_bytes for level in levels] == [1.2e9] * 3
    assert [level.attainable_flop_per_s * 12 for level in levels] == pytest.approx(
        [2.039e12, 7.219e12, 19.5e12]
    )


def test_a_level_without_a_published_rate_gets_no_time():
    # H100's L2: 81,788,928 B in the 232,783,872 B / 30.9 TB/s = 7.533 us of L1: 10.86 TB/s.
    seen = compute(H100, "gemm_128")
    assert [level.name for level in seen.point.unpublished] == ["l2"]
    assert seen.point.unpublished[0].needed_bytes_per_s == pytest.approx(10.857e12, rel=1e-3)
    rows = {row.name: row for row in memory_waterfall.readout(seen)}
    assert rows["l2_bytes"].value == 81_788_928
    assert rows["l2_time_s"].text == "not published"
    assert "not published" in EXPLORABLE.evaluate({"chip": H100, "kernel": "gemm_128"}).spoken


def test_a_measured_rate_is_not_called_a_roof():
    # H200's L2 was read at 9.7 TB/s: 768/13 * 9.7 = 573 TFLOP/s, below L1's 641.
    seen = compute("h200_sxm_141gb", "gemm_128")
    assert (seen.point.bound, seen.measured) == ("l2", ("l2",))
    assert seen.point.attainable_flop_per_s == pytest.approx(768 / 13 * 9.7e12)
    state = {"chip": "h200_sxm_141gb", "kernel": "gemm_128"}
    assert "is a measurement" in EXPLORABLE.evaluate(state).spoken
    assert "is a measurement" not in EXPLORABLE.evaluate({}).spoken


def test_what_an_unpublished_level_needs_is_where_it_would_decide():
    chip, kernel = hardware.load(H100), KERNELS["gemm_128"]
    needed = compute(H100, "gemm_128").point.unpublished[0].needed_bytes_per_s

    def bound(rate):
        return roofline.place_levels(
            chip,
            work_flop=kernel.work_flop,
            level_bytes=kernel.level_bytes,
            compute=kernel.compute,
            level_bandwidth={"l2": rate},
        ).bound

    assert (bound(needed * 0.99), bound(needed * 1.01)) == ("l2", "l1")


def test_skipping_needs_one_level_that_is_known():
    chip = hardware.load(H100)
    with pytest.raises(ValueError, match="level_bytes must hold a level with a bandwidth"):
        roofline.place_levels(chip, work_flop=1, level_bytes={"l2": 1}, skip_unpublished=True)
    with pytest.raises(ValueError, match="skip_unpublished must be True or False"):
        roofline.place_levels(chip, work_flop=1, level_bytes={"hbm": 1}, skip_unpublished="l2")


@pytest.mark.parametrize("state", STATES, ids=lambda s: "-".join(s.values()))
def test_no_level_is_outrun(state):
    seen = compute(**state)
    point = seen.point
    assert point.time_s == max(point.compute_time_s, *(level.time_s for level in point.levels))
    assert point.attainable_flop_per_s * point.time_s == pytest.approx(point.work_flop)
    assert point.attainable_flop_per_s <= point.peak_flop_per_s
    for level in point.levels:
        slope = level.intensity_flop_per_byte * level.bandwidth_bytes_per_s
        assert point.attainable_flop_per_s <= level.attainable_flop_per_s <= slope * (1 + 1e-12)
    far_to_near = [seen.level(name).traffic_bytes for name in LEVELS]
    assert all(a <= b for a, b in itertools.pairwise(far_to_near))
    assert "{" not in EXPLORABLE.evaluate(state).spoken


def test_dots_stand_at_their_own_intensities():
    figure = memory_waterfall.MemoryWaterfallFigure(_axes())
    for state in STATES:
        seen = compute(**state)
        figure.update(seen)
        for name in LEVELS:
            level, dot = seen.level(name), figure.dots[name]
            assert list(dot.get_xdata()) == [level.intensity_flop_per_byte]
            is_known = level in seen.point.levels
            assert figure.slopes[name].get_visible() == is_known
            assert (figure.bars[name].get_width() > 0) == is_known
        widths = {name: bar.get_width() for name, bar in figure.bars.items()}
        longest = max(widths.values())
        assert math.isclose(widths[seen.point.bound], longest, rel_tol=1e-12)


def _axes():
    kind = memory_waterfall.MemoryWaterfallFigure
    with style.context():
        return style.axes(kind.size, box=kind.box)


def test_an_unknown_kernel_is_named():
    with pytest.raises(ValueError, match=r"kernel must be one of .* got 'gemm'"):
        EXPLORABLE.check({"kernel": "gemm"})

"""Measured matrix products: what follows from the times, the kept form, and the figure."""

import json
import re

import pytest

from primer import explore, figures, matmul_speed
from primer.explore import payload
from primer.figures import matmul_speed as figure_of
from primer.matmul_speed import MatmulPoint, MatmulSpeed, from_json, snapshot, to_json


def point(kernel="ikj", n=100, time_s=1e-3, **values):
    """2·100³ FLOP in a millisecond: 2 GFLOP/s."""
    fields = {"fastest_s": time_s, "n_repeats": 3}
    return MatmulPoint(kernel=kernel, n=n, time_s=time_s, **(fields | values))


def made(*points, **values):
    fields = {
        "name": "Some processor", "blas": "OpenBLAS, Some", "date": "2026-11-29",
        "python": "3.11.7", "versions": (("numpy", "2.4.6"),), "compute": "fp32",
        "peak_flop_per_s": 1e11, "notes": ("one thread",),
    }  # fmt: skip
    return MatmulSpeed(points=points, **(fields | values))


ALL = (
    point("naive", time_s=1e-2),
    point("ikj"),
    point("tiled", tile=32, time_s=2e-3),
    point("tiled", tile=64, time_s=5e-4),
    point("register_blocked", time_s=1e-4),
    point("numpy", time_s=5e-5),
)


# ---- the model


def test_rates_are_work_over_time():
    assert point().work_flop == 2e6
    assert point().flop_per_s == pytest.approx(2e9)
    seen = made(*ALL).compare(100, 32)
    assert seen.rate("naive") == pytest.approx(2e8)
    assert seen.rate("tiled") == pytest.approx(1e9)
    assert seen.rate("torch") is None
    assert seen.work.n_macs == 10**6


def test_the_default_tile_is_the_fastest():
    assert made(*ALL).compare(100).tile == 64


def test_kernels_sizes_and_tiles_are_in_order():
    speed = made(point("torch", n=7), *ALL[::-1], point("tiled", n=50, tile=32))
    assert speed.kernels == ("naive", "ikj", "tiled", "register_blocked", "numpy", "torch")
    assert speed.sizes == (7, 50, 100)
    assert speed.tiles(100) == (32, 64)
    assert [p.kernel for p in speed.compare(100, 64).points] == list(speed.kernels[:5])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kernel": "blas"}, "kernel must be one of"),
        ({"n": 0}, "n must be a positive integer; got 0"),
        ({"time_s": 0.0, "fastest_s": 1.0}, "time_s must be positive"),
        ({"fastest_s": 2.0}, "fastest_s must be at most time_s"),
        ({"tile": 8}, "tile must be given for the tiled kernel and no other; got 8"),
        ({"kernel": "tiled"}, "tile must be given for the tiled kernel and no other; got None"),
        ({"kernel": "tiled", "tile": 101}, "tile must be at most n, 100; got 101"),
        ({"compute": "bf16"}, "compute must be one of fp32, fp64"),
        ({"n_repeats": 0}, "n_repeats must be a positive integer"),
    ],
)
def test_a_point_that_cannot_be_is_refused(change, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        point(**change)


@pytest.mark.parametrize(
    ("points", "values", "message"),
    [
        ((), {}, "points must be distinct and at least one"),
        ((point(), point()), {}, "points must be distinct"),
        ((point(compute="fp64"),), {}, "points.compute must be one of fp32"),
        (ALL, {"date": "today"}, "date must be a day"),
        (ALL, {"name": ""}, "name must be a non-empty string"),
        (ALL, {"peak_flop_per_s": 0}, "peak_flop_per_s must be positive"),
        (ALL, {"notes": ("",)}, "notes must be a non-empty string"),
    ],
)
def test_a_measurement_that_cannot_be_is_refused(points, values, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        made(*points, **values)


@pytest.mark.parametrize(
    ("n", "tile", "message"),
    [
        (99, None, "n must be one of (50, 100); got 99"),
        (100, 16, "tile must be one of (32, 64) at this size; got 16"),
        (50, None, "n must be a size at which the tiled kernel was measured; got 50"),
    ],
)
def test_only_what_was_measured_can_be_compared(n, tile, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        made(*ALL, point(n=50)).compare(n, tile)


# ---- the kept form


def test_text_and_back():
    for speed in (made(*ALL), made(point(), peak_flop_per_s=None, notes=()), snapshot()):
        text = to_json(speed)
        assert from_json(text) == speed
        assert to_json(from_json(text)) == text


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda d: d.pop("blas"), "blas must be there"),
        (lambda d: d.update(colour=1), "field of the measurement must be one of"),
        (lambda d: d.update(schema=True), "schema must be 1; got True"),
        (lambda d: d.update(points={}), "points must be a JSON list"),
        (lambda d: d.update(versions=[]), "versions must be a JSON object"),
        (lambda d: d["versions"].update(numpy=2), "versions.numpy must be a non-empty string"),
        (lambda d: d["points"].__setitem__(1, 3), "points[1] must be a JSON object"),
        (lambda d: d["points"][2].pop("n"), "points[2].n must be there"),
        (lambda d: d["points"][0].update(time_s=-1), "points[0].time_s must be positive"),
    ],
)
def test_text_that_was_spoiled_names_the_field(spoil, message):
    found = json.loads(to_json(made(*ALL)))
    spoil(found)
    with pytest.raises(ValueError, match=re.escape(message)):
        from_json(json.dumps(found))


@pytest.mark.parametrize("text", ["", "[1]", "nonsense", None])
def test_what_is_not_a_measurement_is_refused(text):
    with pytest.raises(ValueError, match="text must be"):
        from_json(text)


def test_the_kept_measurement_is_whole_and_sane():
    speed = snapshot()
    assert speed.kernels == matmul_speed.KERNELS
    assert {512, 1024} <= set(speed.sizes)
    for one in speed.points:
        assert 0 < one.flop_per_s < 1.1 * speed.peak_flop_per_s
        assert one.n_threads == 1


# ---- the figure

SHOWN = figures.load("matmul-speed")


def rows(outcome):
    return {row.name: row for row in outcome.rows}


def test_every_state_reads_out_its_own_measurements():
    speed = snapshot()
    for state in filter(None, SHOWN.states()):
        seen = rows(SHOWN.evaluate(state))
        here = [p for p in speed.points if p.n == state["n"] and p.tile in (None, state["tile"])]
        assert seen["flop"].value == 2 * state["n"] ** 3
        assert seen["matrix_bytes"].value == 4 * state["n"] ** 2
        for one in here:
            assert seen[f"{one.kernel}_flop_per_s"].value == one.flop_per_s
        missing = set(speed.kernels) - {p.kernel for p in here}
        assert all(seen[f"{k}_flop_per_s"].value == "not measured" for k in missing)


def test_the_question_counts_what_is_shown():
    assert SHOWN.question == "How fast are six ways to write one matmul?"
    assert figure_of.measured(made(*ALL)).question == "How fast are five ways to write one matmul?"
    with pytest.raises(ValueError, match="speed must have the tiled kernel"):
        figure_of.measured(made(point()))


def test_the_sentence_follows_the_state():
    shown = figure_of.measured(made(*ALL, point("tiled", tile=50, time_s=1.05e-3)))
    spoken = {t: shown.evaluate({"n": 100, "tile": t}).spoken for t in (32, 50, 64)}
    assert spoken[32].startswith("Tiles do not pay here: 0.50 × the rate of plain ikj.")
    assert spoken[50].startswith("Tiles change little here: 0.95 × the rate")
    assert spoken[64].startswith("Tiles pay here: 2.00 × the rate of plain ikj, which fetches")
    assert "a matrix of 40 kB" in spoken[64]
    assert spoken[64].endswith("Sums that stay in registers reach 0.50 × the rate of NumPy.")


def test_bars_curve_and_dot_stand_where_the_numbers_say():
    figure = figure_of.draw_matmul_speed(made(*ALL).compare(100, 32))
    widths = [bar.get_width() for bar in figure.bars]
    assert widths == pytest.approx([2e8, 2e9, 1e9, 2e10, 4e10])
    assert figure.words[0].get_text() == "200 MFLOP/s"
    assert list(figure.curve.get_xdata()) == [32, 64]
    assert figure.dot.get_xydata().tolist() == [[32, pytest.approx(1e9)]]
    assert list(figure.level.get_ydata()) == [pytest.approx(2e9)] * 2
    assert "naive, ijk 200 MFLOP/s, ikj 2 GFLOP/s" in figure._repr_html_()


def test_a_kernel_that_was_left_out_says_so():
    speed = made(*ALL, point("tiled", n=200, tile=64), peak_flop_per_s=None)
    figure = figure_of.draw_matmul_speed(speed.compare(200))
    assert [w.get_text() for w in figure.words].count("too slow") == 4
    assert len(figure.level.get_xdata()) == 0
    spoken = figure_of.measured(speed).evaluate({"n": 200, "tile": 64}).spoken
    assert spoken == "The tiled kernel at this size: 16 GFLOP/s with a tile of 64."


def test_a_readers_own_measurement_is_driven_live():
    live = explore.show(figure_of.measured(made(*ALL, name="Mine")))
    live.controls["tile"].value = 32
    assert re.search(r'data-name="tiling_ratio" data-value="0\.5"', live.view.value)
    assert live.errors == []


def test_it_is_light():
    assert len(payload.script(SHOWN)) < 150_000

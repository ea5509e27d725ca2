"""The array-utilization figure: what each state shows, by hand and against the model."""

from __future__ import annotations

import numpy as np
import pytest

from primer import systolic
from primer.figures import _utilizationruns as runs
from primer.figures import _utilizationsheet as sheet
from primer.figures.array_utilization import EXPLORABLE, draw_array_utilization

BASE = EXPLORABLE.default_state
STATES = list(EXPLORABLE.states())
EVERY_KIND = [(array, dataflow) for array in runs.ARRAYS for dataflow in systolic.DATAFLOWS]


def run(**state):
    return runs.compute(**(BASE | state))


def spoken(**state):
    return EXPLORABLE.evaluate(BASE | state).spoken


# ---- by hand


def test_it_opens_on_one_row():
    # 6 · 24 folds of weights. In turns each takes 128 to load and 1 + 254 to stream; overlapped,
    # 128 for the first, 128 from fold to fold, and 1 + 254 for the last.
    one = run()
    assert one.overlapped.n_folds == 6 * 24
    assert one.in_turns.n_cycles == 144 * (128 + 255) == 55_152
    assert one.overlapped.n_cycles == 128 + 143 * 128 + 255 == 18_687
    useful = 768 * 3072 / 128**2
    assert one.overlapped.utilization_frac == pytest.approx(useful / 18_687)
    assert round(one.in_turns.utilization_frac, 4) == 0.0026
    assert round(one.overlapped.utilization_frac, 4) == 0.0077
    # nothing is padded: all but the last way across is loading
    assert one.overlapped.shares.padding == 0
    assert one.overlapped.shares.weight_load == pytest.approx((128 + 143 * 127) / 18_687)


def test_as_many_rows_as_the_array_has_hide_the_loading():
    found = run(m=128).overlapped
    assert found.n_cycles == 128 + 143 * 128 + 128 + 254
    assert round(found.utilization_frac, 3) == 0.980


def test_output_stationary_one_row_is_padding():
    # 24 folds of 768 steps, and one way across; of 128 rows one is wanted
    found = run(dataflow="os").overlapped
    assert found.n_cycles == 24 * 768 + 254
    assert found.shares.weight_load == 0
    assert found.shares.padding == pytest.approx(127 / 128 * 24 * 768 / found.n_cycles)
    assert found.mapping_frac == 1 / 128


def test_one_row_too_many():
    # 129 of 256 places; the same on one fold of 256 columns
    for array in runs.ARRAYS:
        assert run(n=129, m=1024, array=array).overlapped.mapping_frac == 129 / 256
    before, after = run(m=128, dataflow="os"), run(m=129, dataflow="os")
    assert after.overlapped.n_folds == 2 * before.overlapped.n_folds
    assert after.overlapped.utilization_frac < 0.51 * before.overlapped.utilization_frac
    # the same row is one more cycle in each fold where m is time
    extra = run(m=129).overlapped.n_cycles - run(m=128).overlapped.n_cycles
    assert extra == 144
    assert run(n=800, m=1024, array=256).overlapped.mapping_frac == 800 / 1024
    assert run(n=800, m=1024).overlapped.mapping_frac == pytest.approx(800 / 896)


def test_a_larger_array_uses_less_of_a_single_row():
    # 256 cycles of loading for 256 · 256 weights that one step uses: about a 256th
    found = run(array=256).overlapped
    assert found.utilization_frac == pytest.approx(36 * 256**2 / (256**2 * (256 + 35 * 256 + 511)))
    assert found.utilization_frac == pytest.approx(1 / 256, rel=0.06)


# ---- curves


@pytest.mark.parametrize(("array", "dataflow"), EVERY_KIND)
def test_every_point_is_the_models_and_every_dot_on_its_curve(array, dataflow):
    shape = {"m": 64, "n": 129}
    for swept, other in (("m", "n"), ("n", "m")):
        for curve, overlaps in zip(
            runs.curves(swept, shape[other], array, dataflow), (True, False), strict=True
        ):
            points = dict(curve)
            assert list(points) == sorted(points)
            assert set(runs.VALUES[swept]) <= set(points)
            for size, height in list(points.items())[::5]:
                sides = {**shape, swept: int(size)}
                found = systolic.count(
                    sides["m"], sides["n"], 768, rows=array, cols=array, dataflow=dataflow,
                    double_buffer=overlaps,
                )  # fmt: skip
                assert height == found.utilization_frac


@pytest.mark.parametrize(("array", "dataflow"), EVERY_KIND)
def test_what_is_time_rises_and_what_is_padded_falls_behind_a_multiple(array, dataflow):
    time = {"os": "k", "ws": "m", "is": "n"}[dataflow]
    for swept in "mn":
        for curve in runs.curves(swept, 3072 if swept == "m" else 1024, array, dataflow):
            sizes, heights = np.transpose(curve)
            falls = sizes[1:][np.diff(heights) < 0]
            steps = range(array + 1, runs.LARGEST, array)
            assert falls.tolist() == ([] if swept == time else list(steps))


def test_a_figure_shows_the_curves_of_its_state():
    figure = draw_array_utilization(run(m=129, n=800, array=256, dataflow="is"))
    expected = {"m": runs.curves("m", 800, 256, "is"), "n": runs.curves("n", 129, 256, "is")}
    for swept, plot in figure.plots.items():
        for i, name in enumerate(("overlapped", "in_turns")):
            assert plot.lines[name].get_xydata().tolist() == [list(p) for p in expected[swept][i]]
    assert figure.plots["m"].dot.get_xdata() == [129]
    assert figure.plots["n"].edge.get_xdata() == (256, 256)


def test_titles_name_the_axes_by_their_role():
    titles = {}
    for dataflow in systolic.DATAFLOWS:
        plots = draw_array_utilization(run(dataflow=dataflow)).plots
        titles[dataflow] = [plots[swept].title.get_text() for swept in "mn"]
    rows, columns = "along the rows: padded to 128s", "along the columns: padded to 128s"
    time = "which is time: it streams"
    ends = {"os": (rows, columns), "ws": (time, columns), "is": (columns, time)}
    for dataflow, pair in ends.items():
        for title, end in zip(titles[dataflow], pair, strict=True):
            assert title.endswith(end)


# ---- bars, numbers and words


def widths(bar):
    """Widths of the parts as shares of the bar."""
    found = []
    for part in bar.parts.values():
        xs = part.get_path().vertices[:, 0]
        found.append((xs.max() - xs.min()) / (sheet.RIGHT - sheet.LEFT))
    return found


def test_bars_show_all_of_the_time():
    figure = draw_array_utilization(run())
    for state in STATES[::7]:
        found = runs.compute(**state)
        figure.update(found)
        for name in ("overlapped", "in_turns"):
            shares = getattr(found, name).shares
            assert shares.stall == 0
            drawn = widths(figure.bars.rows[name])
            assert sum(drawn) == pytest.approx(1, abs=0.004)
            parts = [getattr(shares, part) for part in figure.bars.rows[name].parts]
            assert drawn == pytest.approx(parts, abs=0.001)


def test_numbers_of_the_table():
    bars = draw_array_utilization(run()).bars
    texts = [text for _, _, text in bars.rows["overlapped"].numbers.words]
    assert texts == ["0.77 %", "0 %", "97.9 %", "1.36 %"]
    assert bars.rows["in_turns"].numbers.words[0][2] == "0.26 %"


def test_rows_and_alternative_text():
    rows = {row.name: row for row in EXPLORABLE.evaluate({}).rows}
    assert rows["utilization_frac"].text == "0.771 %"
    assert rows["n_cycles"].text == "18,687"
    parts = ("utilization_frac", "padding_frac", "weight_load_frac", "fill_drain_frac")
    assert sum(rows[name].value for name in parts) == pytest.approx(1)
    alt = draw_array_utilization(run()).alt
    assert alt.startswith("1 × 768 times 768 × 3,072 on 128 × 128 cells, weight stationary.")
    assert "0.8% of the cells’ time is useful, 0.0% padding, 97.9% loading" in alt


def test_sentences():
    assert spoken().startswith("m is time here, and is not padded. But a fold takes 128 cycles to")
    assert "then one step uses them" in spoken()
    padded = spoken(dataflow="os", m=129)
    assert padded.startswith(
        "m and n lie on the array, in pieces of 128. Filling m = 129 up to 256"
    )
    assert "m = 129 up to 256 and n = 129 up to 256" in spoken(dataflow="os", m=129, n=129)
    assert "numbers of A" in spoken(dataflow="is", n=1, m=4096)
    assert "510 cycles once for the only fold" in spoken(dataflow="os", m=256, n=256, array=256)
    assert "fill it to the last cell, and 1,024 steps of m pass" in spoken(m=1024)


def test_every_sentence_is_true():
    for state in STATES:
        outcome = EXPLORABLE.evaluate(state)
        check(outcome.result, outcome.spoken, state)


def check(found, text, state):
    """What the words of one state claim."""
    shares, side = found.overlapped.shares, found.side
    losses = (shares.padding, shares.weight_load, shares.fill_drain)
    on_array = [found.size(name) for name in (found.roles.rows, found.roles.columns)]
    assert "{" not in text
    if "to the last cell" in text:
        assert shares.useful >= 0.9
        assert not any(size % side for size in on_array)
        assert found.in_turns.utilization_frac <= found.overlapped.utilization_frac
    elif "Filling" in text:
        assert max(losses) == shares.padding > 0
        assert text.count(" up to ") == sum(size % side > 0 for size in on_array)
    elif "is time here" in text:
        assert max(losses) == shares.weight_load
        assert found.size(found.roles.steps) < side
    else:
        assert "way across" in text
        assert max(losses) == shares.fill_drain
        longer = runs.compute(**{**state, "m": 4096, "n": 3072})
        assert longer.overlapped.shares.fill_drain < shares.fill_drain

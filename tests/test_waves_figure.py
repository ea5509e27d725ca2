"""The waves figure: what each state shows, against the model and by hand."""

from __future__ import annotations

import re

import numpy as np
import pytest

from primer import hardware, waves
from primer.figures import _wavesruns as runs
from primer.figures import _wavessheet as sheet
from primer.figures.waves import EXPLORABLE, draw_waves

BASE = EXPLORABLE.default_state


def run(**state):
    return runs.compute(**(BASE | state))


def spoken(**state):
    return EXPLORABLE.evaluate(BASE | state).spoken


def test_it_opens_on_the_one_matmul():
    w = run().waves
    assert (w.m, w.n, runs.K) == (1024, 3072, 768)
    assert (w.n_tiles, w.n_waves, w.n_tail_blocks, run().n_idle_sms) == (192, 2, 60, 72)
    assert round(w.utilization_frac, 3) == 0.727
    rows = {row.name: row for row in EXPLORABLE.evaluate({}).rows}
    assert rows["utilization_frac"].text == "72.7 %"
    # 2 waves of 2 · 128 · 128 · 768 FLOP at a 132nd of the peak
    tile_s = 2 * 128 * 128 * 768 / (989.4e12 / 132)
    assert rows["time_s"].value == pytest.approx(2 * tile_s)


def test_a_reader_reaches_132_and_133_tiles():
    full, more = run(m=16_896, n=128), run(m=17_024, n=128)
    assert (full.waves.n_tiles, more.waves.n_tiles) == (132, 133)
    assert full.waves.utilization_frac == 1
    assert round(100 * more.waves.utilization_frac, 1) == 50.4
    assert more.time_s == pytest.approx(2 * full.time_s)
    one_row = run(m=1409, n=1536)
    assert one_row.time_s == pytest.approx(2 * run(m=1408, n=1536).time_s)


def test_bytes_for_a_busy_multiprocessor_by_hand():
    # four Tensor Cores of 512 multiply-adds are 4,096 FLOP per cycle; 64 FLOP/B make 64 bytes
    assert run().needed_bytes_per_cycle == 4096 / 64
    assert run(tile="64x64").needed_bytes_per_cycle == 4096 / 32
    assert run(tile="256x128").needed_bytes_per_cycle == pytest.approx(4096 * 384 * 2 / 65_536)


@pytest.mark.parametrize("n", runs.N_VALUES)
@pytest.mark.parametrize("tile", list(runs.TILES))
def test_every_point_of_the_curve_is_the_models(n, tile):
    points = dict(runs.curve(n, tile))
    assert list(points) == sorted(points)
    sms = runs.n_sms(hardware.load(runs.CHIP))
    for m, height in points.items():
        found = waves.count(int(m), n, tile=runs.TILES[tile], n_sms=sms)
        assert height == found.utilization_frac
    # between two points it is a straight line, on which the dot of every state lies
    xs, ys = zip(*runs.curve(n, tile), strict=True)
    for m in runs.M_VALUES:
        dot = runs.compute(m, n, tile).waves.utilization_frac
        assert np.interp(m, xs, ys) == pytest.approx(dot, rel=1e-9)


def test_the_picture_adds_up():
    for state in EXPLORABLE.states():
        w = runs.compute(**state).waves
        across, down = 10.0, 4.0
        area = sum(
            width * height
            for last in (False, True)
            for _, _, width, height in sheet.runs(w, across, down, last=last)
        )
        assert area == pytest.approx(w.n_tiles * across * down)
        dark = sheet.runs(w, across, down, last=True)
        assert sum(x[2] * x[3] for x in dark) == pytest.approx(w.n_tail_blocks * across * down)


def test_the_tail_of_the_one_matmul_is_dark():
    # 132 tiles are five rows of 24 and twelve tiles; the other sixty begin in the middle of row 6
    w = run().waves
    assert sheet.runs(w, 1, 1, last=False) == [(0, 0, 24, 5), (0, 5, 12, 1)]
    assert sheet.runs(w, 1, 1, last=True) == [(12, 5, 12, 1), (0, 6, 24, 2)]
    figure = draw_waves(run())
    assert [line.get_text() for line in figure.machine.words] == [
        "2 waves: 132, then 60",
        "72 wait in the last",
    ]
    assert "192 tiles of 128 × 128, on 132 multiprocessors: 2 waves" in figure.alt


def test_sentences():
    assert spoken().startswith("60 of 192 tiles are left over for the last wave.")
    assert "72 of 132 multiprocessors wait: 27.3 % of the machine" in spoken()
    assert spoken(m=17_024, n=128).startswith("One of 133 tiles is left over")
    assert spoken(m=1408, n=1536).startswith("132 tiles fill the only wave")
    assert spoken(tile="64x64").startswith("6 waves: the last one is not full, but")
    assert spoken(tile="64x64").endswith("need more bytes for the same work.")
    few = spoken(m=1)
    assert few.startswith("24 tiles are too few for 132 multiprocessors: 108 of them")
    assert "lies past the edge" in few
    one = spoken(m=1, n=128)
    assert one.startswith("1 tile is too few for 132 multiprocessors: 131 of them have nothing")
    assert "Most of what the one other computes lies past the edge." in one
    assert "lies past" not in spoken(m=256)
    assert spoken(tile="256x128").endswith("leave larger gaps.")


def test_every_sentence_is_true():
    for state in EXPLORABLE.states():
        outcome = EXPLORABLE.evaluate(state)
        w, text = outcome.result.waves, outcome.spoken
        assert "{" not in text
        if "fill the only wave" in text or "fill all" in text:
            assert w.n_tail_blocks == w.n_sms
            assert w.edge_frac <= 0.02
        if "too few" in text:
            assert w.n_tiles < w.n_sms
        if "works for nothing" in text:  # a share of all multiprocessors, waiting ones included
            assert w.edge_frac == pytest.approx(1 - w.utilization_frac - w.tail_frac)
        assert not re.search(r"\b1 (tiles|waves|of them have)", text)
        if "left over" in text:
            assert 1 < w.n_waves < 6
            assert w.tail_frac >= w.edge_frac or w.edge_frac <= 0.02
        if "only" in text and "waiting costs" in text:
            assert w.tail_frac < 1 / w.n_waves
            assert w.tail_frac < 0.17
        if "Most of the loss lies past" in text:
            assert w.edge_frac > w.tail_frac

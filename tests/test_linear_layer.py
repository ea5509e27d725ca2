"""The linear layer's figure: rectangles to scale, and numbers that a reader can check."""

from __future__ import annotations

import random

import pytest

from primer.figures._gemm import THIN, shape
from primer.figures.linear_layer import EXPLORABLE, NARROW, draw_linear_layer, rows_text
from primer.layers import Linear

STATES = random.Random(2).sample(list(EXPLORABLE.states()), 60)


@pytest.mark.parametrize("state", STATES[:25])
def test_rectangles_are_to_scale(state):
    layer = EXPLORABLE.compute(**state)
    figure = draw_linear_layer(layer)
    (gemm,) = layer.gemms()
    scale = figure.product.scale(gemm.m, gemm.n, gemm.k)
    sides = ((gemm.m, gemm.k), (gemm.k, gemm.n), (gemm.m, gemm.n))
    for box, (rows, columns) in zip(figure.product.boxes, sides, strict=True):
        assert box.get_height() == pytest.approx(max(rows * scale, THIN))
        assert box.get_width() == pytest.approx(max(columns * scale, THIN))
        assert box.get_height() <= figure.product.height + 1e-9
        assert box.get_width() <= figure.product.width + 1e-9


def test_one_border_between_neighboring_sequences_where_there_is_room():
    figure = draw_linear_layer(Linear(8, 128, 768, 3072))
    assert len(figure.borders.get_path().vertices) == 2 * 2 * 7
    # One row of 1 × 8192: a sliver cannot be divided
    figure = draw_linear_layer(Linear(32, 1, 8192, 8192))
    assert figure.product.boxes[0].get_height() / 32 < NARROW
    assert len(figure.borders.get_path().vertices) == 2


def test_readout_of_the_toy_layer():
    # 12 rows, 8 × 8 weights, fp32: 768 multiply-adds, 1,536 FLOP, 96 additions of the bias
    outcome = EXPLORABLE.evaluate(
        {"batch": 2, "seq_len": 6, "d_in": 8, "d_out": 8, "storage": "fp32"}
    )
    rows = {row.name: row.value for row in outcome.rows}
    assert (rows["n_macs"], rows["flop"], rows["other_flop"]) == (768, 1536, 96)
    assert rows["n_parameters"] == 72
    assert rows["compulsory_bytes"] == 4 * (96 + 72 + 96)
    assert outcome.texts["flop"] == "1,536 FLOP"


def test_spelling_in_three_frameworks():
    rows = {row.name: row.value for row in EXPLORABLE.evaluate({}).rows}
    assert rows["pytorch"] == "nn.Linear(768, 3072)"
    assert rows["keras"] == "layers.Dense(3072)"
    assert rows["flax"] == "nnx.Linear(768, 3072, rngs=rngs)"
    assert rows["intensity_flop_per_byte"] == pytest.approx(384, rel=1e-3)


def test_the_sentence_names_the_heavy_matrix():
    def spoken(**state):
        return EXPLORABLE.evaluate(state).spoken

    assert spoken(batch=1, seq_len=1).startswith("One row")
    assert spoken(batch=1, seq_len=6).startswith("The weights are 9")
    assert spoken(batch=32, seq_len=1024, d_in=8192, d_out=8).startswith("The input is most")
    assert spoken(batch=32, seq_len=1024, d_in=8).startswith("The output is most")
    assert spoken().startswith("No matrix outweighs")
    for state in STATES:
        assert "{" not in EXPLORABLE.evaluate(state).spoken


def test_words_for_the_picture():
    assert rows_text(Linear(1, 6, 8, 8)) == "1 sequence of 6 tokens = 6 rows"
    assert shape(12, 8) in draw_linear_layer(Linear(2, 6, 8, 8)).alt
    assert 'role="img"' in draw_linear_layer(Linear(2, 6, 8, 8))._repr_html_()

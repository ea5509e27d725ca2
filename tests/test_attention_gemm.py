"""The figure of attention: both products at one scale, and the crossing at six times the width."""

from __future__ import annotations

import random

import pytest

from primer.figures._gemm import THIN
from primer.figures.attention_gemm import (
    EXPLORABLE,
    HEADS,
    WIDTHS,
    X_LIMITS,
    Y_LIMITS,
    compute,
    draw_attention_gemm,
    ratio_text,
)

STATES = random.Random(7).sample(list(EXPLORABLE.states()), 50)


def test_gpt2_by_hand():
    # T = 1024, d = 768: attention 4 T² d, weights 24 T d²: T / 6 d = 1024 / 4608 = 2 / 9
    rows = {row.name: row.value for row in EXPLORABLE.evaluate({}).rows}
    assert rows["flop"] == 4 * 1024**2 * 768
    assert rows["weights_flop"] == 24 * 1024 * 768**2
    assert rows["attention_ratio"] == pytest.approx(2 / 9)
    assert rows["equal_at"] == 4608
    assert rows["score_bytes"] == 12 * 1024**2 * 2
    assert rows["unfused_bytes"] == 4 * 12 * 1024**2 * 2 + 4 * 1024 * 768 * 2


def test_all_heads_divide_all_widths():
    assert all(d % h == 0 for d in WIDTHS for h in HEADS)


@pytest.mark.parametrize("state", STATES[:20])
def test_both_products_have_one_scale(state):
    layer = compute(**state)
    figure = draw_attention_gemm(layer)
    t, d = layer.seq_len, layer.attention.d_head
    (q, k, s), (p, v, o) = (product.boxes for product in figure.products)
    scale = max(s.get_width(), q.get_width()) / max(t, d)
    for box, rows, columns in (
        (q, t, d), (k, d, t), (s, t, t), (p, t, t), (v, t, d), (o, t, d),
    ):  # fmt: skip
        assert box.get_width() == pytest.approx(max(columns * scale, THIN))
        assert box.get_height() == pytest.approx(max(rows * scale, THIN))
    assert (s.get_width(), s.get_height()) == (p.get_width(), p.get_height())


@pytest.mark.parametrize("state", STATES[:20])
def test_the_dot_lies_on_the_line_inside_the_plot(state):
    layer = compute(**state)
    figure = draw_attention_gemm(layer)
    x, y = figure.dot.get_xdata()[0], figure.dot.get_ydata()[0]
    assert y == pytest.approx(x / (6 * layer.d_model))
    assert X_LIMITS[0] < x < X_LIMITS[1]
    assert Y_LIMITS[0] < y < Y_LIMITS[1]
    xs, ys = figure.full.get_data()
    assert [b / a for a, b in zip(xs, ys, strict=True)] == pytest.approx([y / x] * 2)
    above = layer.seq_len > 6 * layer.d_model
    assert (y > 1) == above
    assert ("Longer than" in EXPLORABLE.evaluate(state).spoken) == above


def test_heads_change_bytes_and_no_work():
    rows = [
        {row.name: row.value for row in EXPLORABLE.evaluate({"n_heads": h}).rows} for h in HEADS
    ]
    assert len({row["flop"] for row in rows}) == 1
    assert len({row["compulsory_bytes"] for row in rows}) == 1
    for h, row in zip(HEADS, rows, strict=True):
        assert row["score_bytes"] == h * rows[0]["score_bytes"]
        assert row["other_flop"] == h * rows[0]["other_flop"]


def test_sentences():
    def spoken(**state):
        return EXPLORABLE.evaluate(state).spoken

    assert spoken() == (
        "Attention takes 22.2 % of the work of the weights. Stored, its scores make 107 MB of "
        "traffic; fused, the same work moves 6.291 MB."
    )
    assert spoken(seq_len=8192).startswith("Longer than 4,608 tokens: attention takes 1.78 ×")
    assert spoken(seq_len=128, n_heads=1).startswith("So few tokens")
    for state in STATES:
        assert "{" not in EXPLORABLE.evaluate(state).spoken
    assert ratio_text(1.0) == "1 ×"


def test_the_picture_has_words():
    figure = draw_attention_gemm(compute(1024, 12, 768))
    assert "1,024 × 1,024" in figure.alt
    assert 'role="img"' in figure._repr_html_()

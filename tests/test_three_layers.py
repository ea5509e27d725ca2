"""Three layers, one GEMM: a drawing at one scale, whose shapes come from the layers."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.patches import Rectangle

from primer import figures
from primer.figures import style
from primer.figures.three_layers import CELL, draw_three_layers, products


def test_shapes_are_those_of_the_layers():
    shapes = [(line.gemm.m, line.gemm.k, line.gemm.n) for line in products()]
    # 2 · 3 tokens of 4 into 6; 3 · 3 places of 9 pixels, 3 filters; 6 tokens, 4 numbers each
    assert shapes == [(6, 4, 6), (9, 9, 3), (6, 4, 6), (6, 6, 4)]


def test_every_matrix_has_one_cell_for_each_number():
    drawn = draw_three_layers()
    outlines = [
        (round(p.get_height() / CELL), round(p.get_width() / CELL))
        for p in drawn.ax.patches
        if isinstance(p, Rectangle) and p.get_linewidth() == 1.0
    ]
    expected = [
        side
        for line in products()
        for g in [line.gemm]
        for side in ((g.m, g.k), (g.k, g.n), (g.m, g.n))
    ]
    assert outlines == expected


def test_labels_stay_inside_and_apart():
    drawn = draw_three_layers()
    page = style.page(drawn.ax)
    width, height = (72 * inch for inch in page.get_size_inches())
    ruler = RendererAgg(width, height, 72)
    boxes = [text.get_window_extent(ruler) for text in drawn.ax.texts]
    for text, box in zip(drawn.ax.texts, boxes, strict=True):
        assert 0 <= box.x0 < box.x1 <= width, text.get_text()
        assert 0 <= box.y0 < box.y1 <= height, text.get_text()
    for i, one in enumerate(boxes):
        for other in boxes[:i]:
            assert not one.overlaps(other)


def test_words_and_picture():
    drawn = draw_three_layers()
    html = drawn._repr_html_()
    assert "9 × 9 times 9 × 3" in drawn.alt
    assert drawn.alt in html
    ET.fromstring(html)
    assert "three-layers" not in figures.ids()

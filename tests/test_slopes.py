"""The cover's figure: one ridge for each way into the chip."""

from __future__ import annotations

import re

import pytest

from primer.figures import slopes
from primer.figures.slopes import Slope, draw_slopes, h100_slopes

PEAK = 989.4e12


def test_ridges_by_hand():
    # 989.4 TFLOP/s over 30.9 TB/s, 3.35 TB/s, 450, 63 and 50 GB/s, one way
    by_hand = {"SMEM": 32.0, "HBM": 295.3, "NVLink": 2198.7, "PCIe": 15704.8, "NIC": 19788.0}
    ridges = {way.name: way.ridge_flop_per_byte(PEAK) for way in h100_slopes()}
    assert len(ridges) == 6
    for name, ridge in by_hand.items():
        assert ridges[name] == pytest.approx(ridge, abs=0.05), name


def test_the_unmeasured_cache_is_a_range():
    (cache,) = [way for way in h100_slopes() if way.upper_bytes_per_s is not None]
    assert cache.name == "L2"
    assert cache.bytes_per_s < cache.upper_bytes_per_s
    assert cache.ridge_flop_per_byte(PEAK) == pytest.approx(179.9, abs=0.05)


def test_slopes_are_ordered_and_parallel():
    ways = h100_slopes()
    rates = [way.bytes_per_s for way in ways]
    assert rates == sorted(rates, reverse=True)
    figure = draw_slopes()
    lines = [line for line in figure.ax.lines if len(line.get_xdata()) == 2][1:]
    for line in lines:
        (x0, x1), (y0, y1) = line.get_xdata(), line.get_ydata()
        assert y1 / y0 == pytest.approx(x1 / x0)
        assert y1 == PEAK


def test_the_picture_speaks():
    figure = draw_slopes()
    html = figure._repr_html_()
    assert 'role="img"' in html
    assert "NVLink 2,199" in figure.alt
    assert "known as a range only" in figure.alt
    words = re.findall(r"<text[^>]*>([^<]+)</text>", html)
    for way in h100_slopes():
        assert way.name in words


def test_own_slopes():
    figure = draw_slopes([Slope("memory", 10e9)], peak_flop_per_s=1e13, title="mine")
    assert "memory 1,000" in figure.alt
    with pytest.raises(ValueError, match="slopes must hold at least one"):
        draw_slopes([])


def test_labels_stay_inside():
    figure = draw_slopes()
    page = slopes.style.page(figure.ax)
    page.draw_without_rendering()
    width, height = 72 * page.get_size_inches()
    for text in figure.ax.texts:
        box = text.get_window_extent()
        assert 0 <= box.x0 <= box.x1 <= width + 1, text.get_text()
        assert 0 <= box.y0 <= box.y1 <= height + 1, text.get_text()

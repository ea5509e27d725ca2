"""The throughput figure: rates as sources print them, and sentences that hold in every state."""

from __future__ import annotations

import pytest

from primer import hardware
from primer.figures import _throughputsheet as sheet
from primer.figures.throughput import CHIPS, EXPLORABLE, compute, draw_throughput

STATES = list(EXPLORABLE.states())


def rows(**state):
    return {row.name: row for row in EXPLORABLE.evaluate(state).rows}


def spoken(**state):
    return EXPLORABLE.evaluate(state).spoken


def test_it_opens_on_h100_dense():
    found = rows()
    assert found["bf16_rate"].value == 989.4e12
    assert found["bf16_rate"].text == "989.4 TFLOP/s"
    assert (found["matrix_unit"].value, found["pattern"].value) == ("Tensor Core", "dense")
    # 989.4 / 66.9 and 494.7 / 66.9
    assert (found["half_ratio"].text, found["tf32_ratio"].text) == ("14.8×", "7.39×")


def test_sparse_rates_are_told_apart():
    found = rows(sparse=True)
    assert (found["fp8_rate"].value, found["pattern"].value) == (3957.8e12, "2:4 sparse")
    assert found["fp64_rate"].value == "–"
    # the ratios in the table stay those of dense products
    assert found["half_ratio"].value == rows()["half_ratio"].value


def test_every_maker_is_there():
    makers = {hardware.load(chip).vendor for chip in CHIPS}
    assert makers >= {"NVIDIA", "AMD", "Intel", "Google", "AWS", "Groq", "Cerebras", "Apple"}
    assert len(set(CHIPS)) == len(CHIPS)


def test_the_numbers_in_the_picture():
    figure = draw_throughput(compute("h100_sxm5_80gb", True))
    written = dict(
        zip(hardware.PRECISIONS, (t.get_text() for t in figure.chart.rates), strict=True)
    )
    assert written["bf16"] == "1978.9 TFLOP/s"
    assert written["fp4"] == "–"
    # two marks of one row are as far apart as their rates
    xs = {name: line.get_xdata() for name, line in figure.chart.marks.items()}
    row = list(hardware.PRECISIONS).index("bf16")
    at = {
        name: line.get_ydata().index(sheet.row_y(row)) for name, line in figure.chart.marks.items()
    }
    per_decade = (sheet.RIGHT - sheet.LEFT) / (sheet.DECADES[1] - sheet.DECADES[0])
    gap = xs["sparse"][at["sparse"]] - xs["matrix"][at["matrix"]]
    assert gap == pytest.approx(0.30103 * per_decade, rel=1e-3)  # twice is 0.30103 decades
    assert figure.chart.title.get_text() == "NVIDIA’s Tensor Core, since Volta"
    assert "bf16 1978.9 TFLOP/s" in figure.alt


def test_what_is_not_published_is_said():
    assert rows(chip="m4_max_40")["fp32_rate"].value == "not published"
    assert spoken(chip="m4_max_40").startswith("No source that was read gives a dense rate")
    assert rows(chip="tpu_v5e")["half_ratio"].value == "unknown"
    assert spoken(chip="tpu_v5e").startswith("No FP32 rate of the vector units is published")
    assert spoken(chip="wse3", sparse=True).startswith("The one rate that is printed counts zeros")
    assert spoken(chip="tpu_v5e", sparse=True).startswith("No sparse rate is printed")
    assert spoken(chip="m4_max_40", sparse=True).endswith("for this chip, and no dense one either.")


def test_sentences():
    assert spoken().startswith("In bf16, the peak for products of matrices is 14.8×")
    assert "at most 7.39×" in spoken()
    assert "at most 8×" in spoken(chip="a100_sxm4_80gb")
    assert spoken(chip="rtx_4090").endswith("TF32 gains nothing here.")
    assert "TF32" not in spoken(chip="v100_sxm2_32gb")
    assert spoken(chip="v100_sxm2_32gb").startswith("In fp16, the peak")
    assert spoken(chip="epyc_9755").startswith("The tables know no matrix unit of this chip")
    assert "two zeros in every four neighbors (2:4 sparse)" in spoken(sparse=True)
    assert "fixed pattern (4:1 sparse)" in spoken(chip="trainium2", sparse=True)


@pytest.mark.parametrize("state", STATES, ids=str)
def test_every_state_is_inside_the_axis_and_true(state):
    view, text = compute(**state), EXPLORABLE.evaluate(state).spoken
    found = view.comparison
    assert "{" not in text
    for rate in found.rates:
        for quantity in (rate.matrix, rate.vector, rate.sparse):
            if quantity is not None and quantity.is_published:
                assert sheet.LEFT <= sheet.at_rate(quantity.value) <= sheet.RIGHT
    if state["sparse"]:
        assert ("No sparse rate" in text) == (not found.has_sparse)
        assert ("2:4" in text) == any(
            r.sparse is not None and "2:4" in r.sparse.convention for r in found.rates
        )
    else:
        assert ("No source" in text) == (not found.chip.precisions())
        assert ("know no matrix unit" in text) == (
            found.unit is None and bool(found.chip.precisions())
        )
        if "allows TF32" in text:
            assert found.rate("tf32").ratio > 1.05

"""The TPU generations: numbers read from the sources by hand, laws of the drawing, true words."""

from __future__ import annotations

import re
from importlib import resources

import pytest

from primer import hardware
from primer.figures import _generationsruns as runs
from primer.figures import _generationssheet as sheet
from primer.figures import tpu_generations
from primer.figures.tpu_generations import EXPLORABLE, draw_tpu_generations

PAIRS = [(name, runs.compute(name)) for name in runs.GENERATIONS]


def texts(name):
    return dict(zip(runs.ROWS, (value.text for value in runs.compute(name).values), strict=True))


def test_every_tpu_of_the_tables_is_shown():
    known = {chip for chip in hardware.names() if hardware.load(chip).family == "Google TPU"}
    assert set(runs.GENERATIONS) == known


@pytest.mark.parametrize(
    ("name", "cores", "arrays", "side"),
    [
        ("tpu_v1", 1, 1, 256), ("tpu_v2", 2, 2, 128), ("tpu_v3", 2, 4, 128), ("tpu_v4", 2, 8, 128),
        ("tpu_v5e", 1, 4, 128), ("tpu_v5p", 2, 8, 128), ("tpu_v6e", 1, 2, 256),
        ("tpu_v7", 2, 4, 256), ("tpu_8i", 2, 4, 256),
    ],
)  # fmt: skip
def test_arrays(name, cores, arrays, side):
    assert runs.compute(name).arrays == runs.Arrays(cores, arrays, side)
    cells = {q.name: q for q in hardware.load(name).counts}.get("count.fma_per_matrix_unit")
    if cells is not None:
        assert cells.value == side**2


def test_a_chip_whose_arrays_nobody_told():
    assert runs.compute("tpu_8t").arrays is None
    assert sheet.array_words(None) == "arrays: not among what is known"


def test_numbers_by_hand():
    # peak 918, memory 1,638: 560.4; v5e 197 and 819: 240.5; two cores of 64 MiB
    assert texts("tpu_v6e")["ridge"] == "560 FLOP/B"
    assert runs.compute("tpu_v6e").ratio("ridge") == pytest.approx((918 / 1638) / (197 / 819))
    assert runs.compute("tpu_v6e").ratio("bf16 peak") == pytest.approx(918 / 197)
    assert texts("tpu_v5p")["on-chip memory"] == "128 MiB"
    # 2 · 16 of the cores and 128 that they share
    assert texts("tpu_v4")["on-chip memory"] == "160 MiB"
    assert texts("tpu_v1")["ridge"] == "2,706 OP/B"  # 92 / 0.034
    assert texts("tpu_v7")["8 bits or fewer"] == "4614 TFLOP/s fp8"


def test_what_is_unknown_is_said():
    assert texts("tpu_v2")["links, one way"] == "not published"
    assert texts("tpu_8t")["memory rate"] == "not published"
    assert texts("tpu_v1")["bf16 peak"] == texts("tpu_8t")["ridge"] == "–"
    rows = {row.name: row for row in EXPLORABLE.evaluate({"generation": "tpu_8t"}).rows}
    assert rows["bandwidth_bytes_per_s"].text == "not published"
    assert rows["bandwidth_bytes_per_s_ratio"].text == "no number"


def test_ratios_compare_like_with_like():
    assert runs.compute("tpu_v2").ratio("ridge") is None  # operations on integers before
    assert runs.compute("tpu_v7").ratio("8 bits or fewer") is None  # int8 before, fp8 now
    assert runs.compute("tpu_v1").before is None
    for name, found in PAIRS:
        for row in runs.ROWS:
            ratio = found.ratio(row)
            if ratio is not None:
                other = runs.compute(runs.FOLLOWS[name])
                i = list(runs.ROWS).index(row)
                assert ratio == found.values[i].amount / other.values[i].amount


def test_no_generation_follows_a_later_one():
    for found in (found for _, found in PAIRS if found.before):
        assert found.before.release.years[0] <= found.chip.release.years[0]


@pytest.mark.parametrize(("name", "found"), PAIRS)
def test_the_drawing_is_to_scale(name, found):
    if found.arrays:
        frames, squares = sheet.array_places(found.arrays)
        assert (len(frames), len(squares)) == (found.arrays.n_cores, found.arrays.n_arrays)
        area = sum(w * h for _, _, w, h in squares)
        assert area == pytest.approx(found.arrays.n_arrays * found.arrays.side**2 * sheet.CELL**2)
        for x, y, w, h in squares:
            inside = [f for f in frames if f[0] < x and x + w < f[0] + f[2]]
            assert len(inside) == 1
            assert y + h < inside[0][1] + inside[0][3] < sheet.HEAD_Y - 5
        assert max(f[0] + f[2] for f in frames) < sheet.STORE_X
    places = sheet.store_places(found.stores)
    total = sum(store.n_parts * store.part_bytes for store in found.stores)
    area = sum(w * h for _, _, w, h in places)
    assert area == pytest.approx(total / 2**20 * sheet.PER_ROOT**2)
    assert all(x + w <= sheet.RIGHT + 1 for x, _, w, _ in places)


def test_the_strips_end_at_the_smallest_and_the_largest():
    strips = draw_tpu_generations(runs.compute("tpu_v1")).strips
    for i, row in enumerate(runs.ROWS):
        known = [found.values[i].amount for _, found in PAIRS if found.values[i].amount]
        left, right = strips._x(i, min(known)), strips._x(i, max(known))
        assert left == pytest.approx(sheet.STRIP_LEFT + 6), row
        assert right == pytest.approx(sheet.STRIP_RIGHT - 6), row


def numbers(text):
    """Numbers of a text, without those of names such as v5e, int8 or INT8."""
    plain = re.sub(r"\b(?:[a-zA-Z]+\d+[a-z0-9]*)\b", "", text)
    return {x.replace(",", "") for x in re.findall(r"\d[\d,]*(?:\.\d+)?", plain)}


@pytest.mark.parametrize("name", runs.GENERATIONS)
def test_every_number_of_a_conflict_stands_in_the_chips_file(name):
    path = f"data/chips/{name}.toml"
    known = numbers(resources.files("primer").joinpath(path).read_text("utf-8"))
    said = numbers(tpu_generations.conflict(name))
    assert said <= known, said - known


def test_every_conflict_belongs_to_a_tpu():
    from primer import _tables

    assert set(_tables.read(tpu_generations.CONFLICTS)) == set(runs.GENERATIONS)
    assert set(tpu_generations.STORIES) == set(runs.GENERATIONS)


def test_stories_are_true():
    def at(name, row):
        return runs.compute(name).values[list(runs.ROWS).index(row)].amount

    spoken = {name: EXPLORABLE.evaluate({"generation": name}).spoken for name, _ in PAIRS}
    assert not any("{" in text or "no number" in text for text in spoken.values())
    arrays = {name: found.arrays for name, found in PAIRS}
    assert "kept busy only at 2,706 OP/B" in spoken["tpu_v1"]
    assert at("tpu_v2", "ridge") < at("tpu_v1", "ridge")
    assert arrays["tpu_v3"].n_arrays == 2 * arrays["tpu_v2"].n_arrays  # "twice the arrays"
    assert arrays["tpu_v4"].n_arrays == 2 * arrays["tpu_v3"].n_arrays
    assert hardware.load("tpu_v4").links[0].topology.startswith("3D")
    assert arrays["tpu_v5e"].n_arrays * 2 == arrays["tpu_v4"].n_arrays  # "half the arrays"
    clocks = {name: hardware.load(name).clock("boost").value for name in ("tpu_v2", "tpu_v3")}
    assert clocks["tpu_v3"] > clocks["tpu_v2"]
    for name in ("tpu_v5e", "tpu_v5p"):  # "a faster clock"
        v4 = hardware.load("tpu_v4").clock("boost").value
        assert hardware.load(name).clock("boost").value > v4
    assert arrays["tpu_v5p"] == arrays["tpu_v4"]
    assert at("tpu_v5p", "ridge") < at("tpu_v4", "ridge")
    assert at("tpu_v6e", "ridge") > at("tpu_v5e", "ridge")
    assert arrays["tpu_v6e"].side ** 2 == 4 * arrays["tpu_v5e"].side ** 2
    assert arrays["tpu_v6e"].n_arrays * 2 == arrays["tpu_v5e"].n_arrays
    v7 = hardware.load("tpu_v7").peak
    assert v7.fp8.value == 2 * v7.bf16.value
    assert "140" in spoken["tpu_v3"]
    assert "123" in spoken["tpu_v3"]


def test_it_says_what_it_is_compared_with():
    figure = draw_tpu_generations(runs.compute("tpu_v5p"))
    assert figure.strips.head.get_text() == "against v4"
    assert figure.floor.title.get_text() == "TPU v5p, 2023-12-06"
    assert "2 cores: 8 arrays of 128 × 128; 2 × 64 MiB on chip." in figure.alt
    announced = draw_tpu_generations(runs.compute("tpu_8i")).floor.title.get_text()
    assert announced.endswith("announced")
    with pytest.raises(ValueError, match="generation must be one of"):
        EXPLORABLE.evaluate({"generation": "tpu_v9"})

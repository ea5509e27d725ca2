"""The energy ladder's figure: rungs where the energies are, and what it says about them."""

from __future__ import annotations

import re

import pytest

from primer import energy
from primer.figures import energy_ladder
from primer.figures.energy_ladder import (
    EXPLORABLE,
    LIMITS,
    N_ROWS,
    PJ,
    draw_energy_ladder,
    in_order,
    times,
)

STATES = [s for s in EXPLORABLE.states() if s]


def test_ratios_by_hand():
    """45 nm: a multiply-add is 0.9 + 3.7 = 4.6 pJ, a 32-bit word half of 10 or of 1300–2600 pJ."""
    drawn = draw_energy_ladder(energy.ladder("45nm", "fp32"))
    shown = {n.get_text(): r.get_text() for n, r in zip(drawn.names, drawn.ratios, strict=True)}
    assert shown == {
        "fp32 multiply-add": "4.6 pJ",
        "a GPU's instruction": "6.5×",
        "a CPU's instruction": "15×",
        "8 KB SRAM": "1.1×",
        "32 KB SRAM": "2.2×",
        "1 MB SRAM": "11×",
        "DRAM": "141–283×",
    }


@pytest.mark.parametrize("state", STATES, ids=lambda s: "-".join(s.values()))
def test_every_bar_spans_its_energies_and_fits(state):
    ladder = energy.ladder(**state)
    drawn = draw_energy_ladder(ladder)
    rungs = in_order(ladder)
    assert len(rungs) == N_ROWS
    for i, rung in enumerate(rungs):
        bar, span = drawn.bars[i], drawn.spans[i]
        assert bar.get_x() + bar.get_width() == pytest.approx(rung.energy_j / PJ)
        assert span.get_x() + span.get_width() == pytest.approx(rung.upper_j / PJ)
        assert span.get_visible() == (rung.upper_j > rung.energy_j)
        assert LIMITS[0] < rung.energy_j / PJ <= rung.upper_j / PJ < LIMITS[1]
        if rung.kind != "compute":
            assert bar.get_x() == pytest.approx(ladder.multiply_add_j / PJ)
            assert bar.get_width() > 0, "no rung is cheaper than the multiply-add"


def test_the_band_is_ten_to_a_hundred_multiply_adds():
    ladder = energy.ladder("45nm", "int8")
    band = draw_energy_ladder(ladder).band
    assert band.get_x() == pytest.approx(2.3)
    assert band.get_x() + band.get_width() == pytest.approx(23.0)


def test_names_keep_their_rows_when_the_operand_changes():
    """`depends` says that names answer to the node alone, but for the multiply-add's."""
    for node in energy.nodes():
        rows = {
            tuple(r.title for r in in_order(energy.ladder(node, o)))[1:]
            for o in energy.operands(node)
        }
        assert len(rows) == 1


def test_impossible_operands_are_not_offered():
    base = {"node": "45nm", "operand": "fp32"}
    assert "bf16" not in EXPLORABLE.choices(base, "operand")
    moved = EXPLORABLE.snap({"node": "45nm", "operand": "bf16"}, "node")
    assert moved == {"node": "45nm", "operand": "fp16"}


def test_sentences_and_rows_say_what_the_model_says():
    fp32 = EXPLORABLE.evaluate({})
    assert "about as much as the multiply-add, main memory 141× to 283×" in fp32.spoken
    assert "instruction around it costs 6.5×" in fp32.spoken
    int8 = EXPLORABLE.evaluate({"operand": "int8"})
    assert "costs 5.4× the multiply-add, main memory 707× to 1,413×" in int8.spoken
    newer = EXPLORABLE.evaluate({"node": "7nm", "operand": "bf16"})
    assert "main memory 195× to 352×" in newer.spoken
    assert newer.texts["instruction_ratio"] == "no source"
    for state in STATES:
        assert not re.search(r"[{}]", EXPLORABLE.evaluate(state).spoken)


def test_the_readout_is_exact():
    ladder = energy.ladder("7nm", "fp16")
    rows = {r.name: r.value for r in EXPLORABLE.readout(ladder)}
    assert rows["multiply_add_j"] == ladder.multiply_add_j
    assert rows["main_ratio"] == ladder.rung("hbm2").ratio
    assert rows["main_upper_ratio"] == ladder.rung("hbm2").upper_ratio


def test_the_picture_has_words():
    drawn = draw_energy_ladder(energy.ladder("45nm", "fp32"))
    assert "DRAM 141–283×" in drawn.alt
    html = drawn._repr_html_()
    assert 'role="img"' in html
    assert "141–283×" in html


def test_times_writes_one_number_where_the_source_gives_one():
    ladder = energy.ladder("7nm", "int8")
    assert times(ladder.rung("ddr4")) == "2,110×"
    assert energy_ladder.main_memory(ladder).name == "hbm2"

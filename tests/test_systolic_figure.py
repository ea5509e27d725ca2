"""The systolic figure: what it shows is what the machine did, in every cycle of every product."""

from __future__ import annotations

import gzip
import itertools
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from primer import systolic
from primer.explore import payload
from primer.explore.frames import FrameRenderer
from primer.figures import _systolicsteps as steps
from primer.figures import _systolicwords as words
from primer.figures import style
from primer.figures._systolicbars import percents
from primer.figures._systolicplaces import runs
from primer.figures._systolicsteps import PRESETS, Setup, compute
from primer.figures._words import Words
from primer.figures.systolic import EXPLORABLE, draw_systolic

SETUPS = [
    Setup(preset, dataflow)
    for preset, dataflow in itertools.product(PRESETS, systolic.DATAFLOWS)
    if steps.is_possible(Setup(preset, dataflow))
]
SMALL = [setup for setup in SETUPS if not setup.is_large]


def at(preset, dataflow, cycle, view="values"):
    return compute(preset=preset, dataflow=dataflow, view=view, cycle=cycle)


# ---- the steps


def test_cycles_of_the_products_by_hand():
    found = {(s.preset, s.dataflow): int(steps.count(s).n_cycles) for s in SETUPS}
    assert found["square", "os"] == 4 + 4 + 4 - 2
    assert found["square", "ws"] == found["square", "is"] == 4 + 10
    assert found["long", "os"] == 22
    assert found["starved", "os"] == 128 // 4
    assert found["edges", "os"] == 4 * 9
    assert (found["folds", "ws"], found["folds_overlap", "ws"]) == (72, 42)
    assert (found["batch_1", "ws"], found["batch_1_overlap", "ws"]) == (44, 23)
    assert found["eight", "os"] == 8 + 8 + 8 - 2
    assert (found["large", "os"], found["large", "ws"]) == (128 + 254, 128 + 128 + 254)
    assert len(found) == 3 * len(PRESETS) - 2


@pytest.mark.parametrize("setup", SMALL, ids=lambda s: f"{s.preset}-{s.dataflow}")
def test_every_cycle_is_what_the_machine_did(setup):
    done = steps.run(setup)
    for t in range(done.n_cycles):
        states = steps.states(setup, t)
        np.testing.assert_array_equal(states == steps.USEFUL, done.busy[t])
        assert (states == steps.STALLED).all() == done.frozen[t]
    assert tuple(steps.history(setup).sum(axis=0)) == done.pe_cycles
    assert (steps.history(setup).sum(axis=1) == setup.product.side**2).all()
    assert at(*setup, done.n_cycles).n_done == done.n_macs
    assert at(*setup, 999).cycle == done.n_cycles


@pytest.mark.parametrize("dataflow", systolic.DATAFLOWS)
def test_the_large_array_is_the_simulated_one(dataflow):
    setup = Setup("large", dataflow)
    a, b = (np.ones((128, 128)) for _ in "ab")
    done = systolic.simulate(a, b, rows=128, cols=128, dataflow=dataflow, record=("busy",))
    assert steps.count(setup).n_cycles == done.n_cycles
    history = steps.history(setup)
    np.testing.assert_array_equal(history[:, steps.USEFUL], done.busy.sum(axis=(1, 2)))
    assert tuple(history.sum(axis=0)) == done.pe_cycles
    for cycle in steps.cycles(setup)[1::4]:
        step = at("large", dataflow, cycle)
        np.testing.assert_array_equal(step.states == steps.USEFUL, done.busy[cycle - 1])
        np.testing.assert_array_equal(step.worked, done.busy[:cycle].sum(axis=0))
        assert step.n_done == done.busy[:cycle].sum()


def test_a_cell_is_late_by_its_row_and_column():
    # the corner multiplies in cycles 1 to 4, the cell (1, 2) in cycles 4 to 7
    for cycle in range(11):
        states = at("square", "os", cycle).states
        assert (states[0, 0] == steps.USEFUL) == (1 <= cycle <= 4)
        assert (states[1, 2] == steps.USEFUL) == (4 <= cycle <= 7)
    assert at("square", "os", 4).n_busy == 1 + 2 + 3 + 4


# ---- the numbers


def places(found):
    """What is said where, by rows of the array."""
    return [said for *_, said in sorted(found, key=lambda word: (-word[1], word[0]))]


def test_numbers_in_the_cells_by_hand():
    a, b = steps.matrices(4, 4, 4)
    step = at("square", "os", 2)
    # in cycle 2 the corner meets the second pair, its neighbors to the right and below the first
    pairs = [f"{a[0, 1]}·{b[1, 0]}", f"{a[0, 0]}·{b[0, 1]}", f"{a[1, 0]}·{b[0, 0]}"]
    assert places(words.factors(step)) == pairs
    sums = [a[0, 0] * b[0, 0] + a[0, 1] * b[1, 0], a[0, 0] * b[0, 1], a[1, 0] * b[0, 0]]
    assert places(words.sums(step)) == [str(x) for x in sums]
    product = a @ b
    assert places(words.sums(at("square", "os", 10))) == [str(x) for x in product.ravel()]
    assert places(words.counts(at("square", "os", 2, "heat"))) == ["2", "1", "1"]


def test_what_waits_at_the_edges_by_hand():
    a, b = steps.matrices(4, 4, 4)
    left = sorted(words.from_the_left(at("square", "os", 0)), key=lambda word: (-word[1], -word[0]))
    skewed = [str(a[i, p]) for i in range(4) for p in range(4 - i)]
    assert [said for *_, said in left] == skewed  # row i is i places further back
    above = sorted(words.from_above(at("square", "os", 0)))
    assert [said for *_, said in above] == [str(b[p, j]) for j in range(4) for p in range(4 - j)]
    assert not list(words.from_above(at("square", "ws", 0)))
    # of the weights the lowest row is ahead; after four cycles the first column has all of its own
    first = [said for x, _, said in sorted(words.weights(at("square", "ws", 0)))[:4]]
    assert first == [str(x) for x in b[::-1, 0]]
    shadows = list(words.shadows(at("square", "ws", 4)))
    column = sorted((-y, said) for x, y, said in shadows if x == min(x for x, *_ in shadows))
    assert [said for _, said in column] == [str(x) for x in b[:, 0]]


def test_sums_leave_at_the_lower_edge():
    for preset in ("square", "edges", "folds_overlap"):
        setup = Setup(preset, "ws")
        done = steps.run(setup)
        seen = [said for t in range(done.n_cycles + 2) for *_, said in leaving(setup, t)]
        # all that cross the lower edge but those of the last cycle, which leave after the end
        bottom = done.partial_sum[:-1, -1]
        assert seen == [f"{x:.0f}" for x in bottom[~np.isnan(bottom)]]


def leaving(setup, cycle):
    found = words.leaving(steps.Step(setup, "values", cycle))
    return sorted(found) if cycle <= steps.run(setup).n_cycles else ()


def test_what_stays_is_named():
    for dataflow, held in (("ws", "B"), ("is", "A")):
        figure = draw_systolic(compute("square", dataflow, "values", 3))
        told = " ".join(line.get_text() for line in figure.surroundings.meaning).split()
        assert " ".join(told).endswith(f"colored: the next of {held}")


def test_the_life_of_a_cell():
    a, b = steps.matrices(4, 4, 4)
    told = words.life(Setup("square", "os"), 2, 1)
    assert told.startswith(f"cycle 4: {a[2, 0]}·{b[0, 1]} = {a[2, 0] * b[0, 1]}; 5: + ")
    assert told.endswith(f"= {(a @ b)[2, 1]}")
    assert words.life(Setup("edges", "ws"), 3, 3) == "no product: the matrices do not reach it"
    tells = list(words.tells(Setup("eight", "is")))
    assert len({tell.name for tell in tells}) == 64
    assert all(tell.text.count("=") == 8 for tell in tells)


# ---- the picture


def test_percentages_add_up_to_a_hundred():
    for setup in SETUPS:
        parts = [int(x) for x in steps.count(setup).pe_cycles]
        shown = percents(parts)
        assert sum(shown) == 100
        exact = [100 * part / sum(parts) for part in parts]
        assert max(abs(x - y) for x, y in zip(shown, exact, strict=True)) < 1
    assert percents([1, 2]) == [33, 67]


def test_the_bar_has_a_label_for_each_part():
    figure = draw_systolic(at("edges", "ws", 3))
    names = [text.get_text() for text in figure.bars.names.values() if text.get_text()]
    assert {name.rsplit(" ", 2)[0] for name in names} == {
        "useful", "padding", "loading", "fill, drain",
    }  # fmt: skip
    assert sum(int(name.split()[-2]) for name in names) == 100


def test_rows_of_marked_cells():
    assert list(runs(np.array([[1, 0, 1, 1], [0, 0, 0, 0]], dtype=bool))) == [(0, 0, 1), (0, 2, 2)]


def test_words_are_one_element_and_texts_elsewhere():
    with style.context():
        ax = style.axes((2, 2), box=(0, 0, 1, 1))
        made = Words(ax, "some", weight="bold")
        assert made.texts() == []
        made.show([(0.5, 0.5, "12"), (0.25, 0.75, "7")], 9.0)
        assert [text.get_text() for text in made.texts()] == ["12", "7"]
    assert made.get_visible()
    made.show((), 9.0)
    assert not made.get_visible()


def test_the_page_can_ask_every_cell():
    renderer = FrameRenderer(EXPLORABLE)
    root = ET.fromstring(renderer.svg(EXPLORABLE.default_state))
    told = [node for node in root.iter() if node.get("data-tell")]
    assert [node.get("data-tell") for node in told][:2] == ["row 0, column 0", "row 0, column 1"]
    assert len(told) == 16
    space = root.tag.split("}")[0] + "}"
    corner = told[0]
    assert corner.find(f"{space}title").text == words.life(Setup("square", "os"), 0, 0)
    box = corner.find(f"{space}rect")
    assert float(box.get("width")) == float(box.get("height")) == 54
    assert "data-tell" not in renderer.svg({"preset": "large", "cycle": 32})


def test_it_stays_small():
    script = payload.script(EXPLORABLE)
    assert len(gzip.compress(script.encode(), 6)) < 150_000
    picture = FrameRenderer(EXPLORABLE).svg(EXPLORABLE.default_state)
    assert len(gzip.compress(picture.encode(), 6)) < 8_000


# ---- the words


def spoken(**state):
    return EXPLORABLE.evaluate(state).spoken


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ({}, "10 of 16 multiply now"),
        ({"cycle": 0}, "that is the skew"),
        ({"cycle": 0, "dataflow": "is"}, "A is to stay in the cells"),
        ({"cycle": 3, "dataflow": "ws"}, "No cell multiplies yet"),
        ({"preset": "long", "cycle": 12}, "All cells multiply"),
        ({"preset": "folds", "dataflow": "ws", "cycle": 12}, "asked once for all of them"),
        ({"preset": "edges", "dataflow": "ws", "cycle": 9}, "The front moves on"),
        ({"cycle": 8}, "The corner has had its words"),
        ({"cycle": 10}, "Done: 64 products in 10 cycles, 40 % of what the cells could have done"),
        ({"preset": "starved", "cycle": 13}, "10 of 32 cycles go that way"),
        ({"preset": "starved", "cycle": 32}, "Memory, which brings only 4".lower()),
        ({"preset": "batch_1_overlap", "dataflow": "ws", "cycle": 11}, "already loads for the nex"),
        ({"preset": "batch_1_overlap", "dataflow": "ws", "cycle": 23}, "loading what is held"),
        ({"preset": "batch_1_overlap", "cycle": 22}, "cells that the matrices do not reach"),
        ({"preset": "large", "cycle": 382}, "Done: 2,097,152 products in 382 cycles, 33.5 %"),
    ],
)  # fmt: skip
def test_sentences(state, said):
    assert said in spoken(**state)


def test_sentences_are_true_in_every_state():
    for state in EXPLORABLE.states():
        if state is None or state["view"] == "heat":
            continue
        step, told = compute(**state), spoken(**state)
        last = step.cycle == step.count.n_cycles
        assert told.startswith("Done") == last
        if "All cells multiply." in told:
            assert step.n_busy == step.setup.product.side**2
        if "No cell multiplies" in told or "no product counts" in told:
            assert step.n_busy == 0
        if "multiply now" in told:
            assert 0 < step.n_busy < step.setup.product.side**2


def test_the_readout_is_the_count():
    for setup in SETUPS:
        outcome = EXPLORABLE.evaluate({"preset": setup.preset, "dataflow": setup.dataflow,
                                       "cycle": 0})  # fmt: skip
        rows = {row.name: row.value for row in outcome.rows}
        count = steps.count(setup)
        for name in ("n_cycles", "n_macs", "n_folds", "a_reads", "b_reads", "c_writes",
                     "stall_cycles", "utilization_frac"):  # fmt: skip
            assert rows[name] == getattr(count, name)
        lost = ("fill_drain_frac", "padding_frac", "load_frac", "stall_frac")
        assert rows["utilization_frac"] + sum(rows[name] for name in lost) == pytest.approx(1)


def test_bad_input_is_named():
    for change, message in (
        ({"preset": "squares"}, "preset must be one of square"),
        ({"dataflow": "rs"}, "dataflow must be one of os, ws, is"),
        ({"view": "hot"}, "view must be one of values, heat"),
        ({"cycle": -1}, "cycle must be an integer of at least 0"),
    ):
        with pytest.raises(ValueError, match=message):
            compute(**EXPLORABLE.default_state | change)
    with pytest.raises(ValueError, match="must be possible"):
        EXPLORABLE.evaluate({"preset": "starved", "dataflow": "ws"})
    assert EXPLORABLE.snap({**EXPLORABLE.default_state, "preset": "starved", "dataflow": "ws"},
                           "preset")["dataflow"] == "os"  # fmt: skip

"""The scheduler figure: its numbers, its sentences, and that the picture is what was simulated."""

from __future__ import annotations

import numpy as np
import pytest

from primer import hardware, warps
from primer.figures import _warpcurve as curve
from primer.figures import _warpgantt as gantt
from primer.figures import _warpturns as turns
from primer.figures.warp_scheduler import EXPLORABLE, draw_warp_scheduler

BASE = EXPLORABLE.default_state
STATES = [state for state in EXPLORABLE.states() if state]


def at(**state):
    return turns.compute(**BASE | state)


def rows(**state):
    return {row.name: row.value for row in EXPLORABLE.evaluate(state).rows}


def spoken(**state):
    return EXPLORABLE.evaluate(state).spoken


def test_the_numbers_of_the_chip():
    chip = hardware.load("h100_sxm5_80gb")
    assert turns.LATENCIES[-1] == chip.level("hbm").latency.value == 700
    assert turns.ROOM == 16
    # 3.35 TB/s among 132 · 4 schedulers at 1.98 GHz: 3.2 B per cycle each, 128 B in 39.9 cycles
    assert turns.INTERVALS["h100"] == round(128 * 528 * 1.98e9 / 3.35e12) == 40


def test_the_default_and_the_vanishing_bubbles():
    # 4 instructions in 23 cycles for each warp, as long as they do not meet
    shares = [rows(n_warps=n)["utilization_frac"] for n in (1, 2, 4, 5, 6, 16)]
    assert shares == pytest.approx([4 / 23, 8 / 23, 16 / 23, 20 / 23, 1, 1])
    default = rows()
    assert (default["bound"], default["n_warps_needed"]) == ("latency", 6)
    assert (default["cycles_per_load"], default["load_latency_cycles"]) == (23 / 4, 20)
    # a load per 4 cycles, 20 cycles: 5 loads of 128 B; four warps can have four
    assert (default["needed_bytes"], default["available_bytes"]) == (640, 512)
    assert default["in_flight_bytes"] == pytest.approx(4 * 128 * 20 / 23)


def test_what_a_scheduler_can_own_does_not_hide_four_hundred_cycles():
    state = {"latency_cycles": 400, "alu_per_load": 9, "n_warps": 16}
    assert rows(**state)["utilization_frac"] == 160 / 409
    assert rows(**state)["n_warps_needed"] == 41
    in_turn = rows(**state, policy="rr")
    assert (in_turn["utilization_frac"], in_turn["n_warps_needed"]) == (160 / 544, 400)
    assert in_turn["greedy_utilization_frac"] == 160 / 409
    eleven = state | {"n_warps": 11, "independent_loads": 4}
    assert rows(**eleven)["bound"] == "issue"
    assert rows(**eleven | {"n_warps": 10})["bound"] == "latency"


def test_bandwidth_is_not_hidden():
    state = {"latency_cycles": 700, "alu_per_load": 9, "bandwidth": "h100", "n_warps": 16}
    one = rows(**state)  # 16 · 10 slots in 709 cycles, a little less than 10 in 40
    assert (one["bound"], one["utilization_frac"]) == ("latency", 160 / 709)
    assert (one["needed_bytes"], one["available_bytes"]) == (700 / 40 * 128, 2048)
    four = rows(**state, independent_loads=4)
    assert (four["bound"], four["utilization_frac"]) == ("bandwidth", 0.25)
    # 64 loads are out, but for the 36 ALU cycles of their warps: 64 · 40 = 2560 cycles a pass
    assert four["load_latency_cycles"] > 2000
    # with a math instruction for every cycle that a load takes, the slots are full as well
    assert rows(**state | {"alu_per_load": 39, "independent_loads": 4})["bound"] == "issue"


@pytest.mark.parametrize("policy", ["gto", "rr"])
def test_the_closed_form_is_exact_in_all_states(policy):
    for state in STATES:
        if state["policy"] == policy:
            result = turns.compute(**state)
            assert result.bound.is_exact
            share = result.bound.utilization_frac
            assert result.run.utilization_frac == pytest.approx(share, rel=1e-12)
            assert result.run.bound == result.bound.bound


def drawn(result, n_cycles):
    """What the picture shows of each warp and of the slots, read off the pattern and offsets."""
    period = len(result.does)
    cycles = np.arange(n_cycles)
    shown = np.full((n_cycles, result.n_warps), turns.READY)
    for warp, offset in result.offsets:
        shown[:, warp] = result.does[(cycles - offset) % period]
    return shown, result.slots[cycles % period]


@pytest.mark.parametrize("state", STATES[::7])
def test_the_picture_is_what_was_simulated(state):
    result = turns.compute(**state)
    steady = result.run.steady
    n = 2 * steady.period_cycles
    record = warps.schedule(
        state["n_warps"], **result.program.options, record_cycles=steady.first_cycle + 2 * n
    ).record
    names = {turns.READY: "ready", turns.WAIT: "memory"}
    shown, slots = drawn(result, n)
    begins = [  # cycles in which the first warp begins its loop, hence the picture may
        cycle
        for cycle in range(steady.first_cycle, steady.first_cycle + steady.period_cycles)
        if record.kind[cycle, 0] == turns.LOAD and record.warp[cycle, 0] == result.offsets[0][0]
    ]
    begin = begins[0] if len(begins) == 1 else _first_of_loop(record, begins, steady)
    window = slice(begin, begin + n)
    assert np.array_equal(slots, record.kind[window, 0])
    for warp in range(result.n_warps):
        states = np.array(warps.WARP_STATES)[record.state[window, warp]]
        issues = record.warp[window, 0] == warp
        assert np.array_equal(shown[issues, warp], record.kind[window, 0][issues])
        for code, name in names.items():
            assert np.array_equal(shown[:, warp] == code, states == name)


def _first_of_loop(record, begins, steady):
    """Of several loads of a loop, the one before which there is no other for longest."""
    gaps = np.diff(begins, prepend=begins[-1] - steady.period_cycles)
    return begins[int(np.argmax(gaps))]


def on_page(stroke, row):
    """Where a stroke is visible in a row, as (begin, end) in points, from its lines and dashes."""
    vertices = stroke.get_path().vertices.reshape(-1, 2, 2)
    lines = [v for v in vertices if v[0, 1] == row]
    assert lines
    return [span for line in lines for span in _visible(line, stroke)]


def _visible(line, stroke):
    offset, dashes = stroke._dash_pattern
    x = line[0, 0] - offset
    found = []
    for i in range(10_000):
        length = dashes[i % len(dashes)]
        if i % 2 == 0 and x + length > gantt.LEFT + 1e-6:
            found.append((max(x, gantt.LEFT), min(x + length, gantt.RIGHT)))
        x += length
        if x >= gantt.RIGHT - 1e-6:
            return found
    raise AssertionError("the dashes do not reach the edge of the picture")


def test_the_strokes_of_the_default():
    figure = draw_warp_scheduler(at())
    scale = 4.8
    # the third warp: math at 5 to 8, then its load, and again 23 cycles later
    for name, spans in {
        "math": [(5, 8), (28, 31), (51, 54)],
        "load": [(8, 9), (31, 32), (54, 55)],
        "wait": [(0, 5), (9, 28), (32, 51), (55, 70)],
    }.items():
        shown = on_page(figure.gantt.rows[name], gantt.row_y(2))
        expected = [(gantt.LEFT + scale * a, gantt.LEFT + scale * b) for a, b in spans]
        assert np.allclose(shown, expected), name
    assert not figure.gantt.rows["ready"].get_visible()
    assert not figure.gantt.late.get_visible()


@pytest.mark.parametrize("state", STATES[3::19])
def test_strokes_cover_each_cycle_once(state):
    result = turns.compute(**state)
    figure = draw_warp_scheduler(result)
    scale, _ = gantt.SCALES[state["latency_cycles"]]
    n = round((gantt.RIGHT - gantt.LEFT) / scale)
    shown, slots = drawn(result, n)

    def covered(y, names):
        row = np.zeros(n, dtype=int)
        for name in names:
            stroke = figure.gantt.rows[name]
            for a, b in on_page(stroke, y) if stroke.get_visible() else ():
                first, last = (round((x - gantt.LEFT) / scale) for x in (a, b))
                row[first:last] += gantt.LOOKS[name][0]
        return row

    for warp, _ in result.offsets:
        assert np.array_equal(covered(gantt.row_y(warp), gantt.LOOKS), shown[:, warp])
    assert np.array_equal(covered(gantt.SLOTS_Y, ("load", "math")), slots)
    late = figure.gantt.late
    assert late.get_visible() == (result.n_without_turn > 0)
    if late.get_visible():  # all of the row, for those that come after the others
        rows = sorted(late.get_path().vertices[::2, 1], reverse=True)
        assert rows == [gantt.row_y(w) for w in range(len(result.offsets), state["n_warps"])]


def test_the_curve_shows_every_number_of_warps():
    result = at(latency_cycles=400, alu_per_load=9, n_warps=16)
    figure = draw_warp_scheduler(result)
    x, y = figure.curve.dots.get_data()
    shares = [(y_at - curve.LOW) / (curve.HIGH - curve.LOW) for y_at in y]
    assert shares == pytest.approx([10 * n / 409 for n in range(1, 17)])
    assert x[-1] == pytest.approx(curve.x_of(16))
    assert "39.1 % of the issue slots" in figure.alt
    capped = draw_warp_scheduler(at(bandwidth="toy"))
    assert capped.curve.ceiling.get_visible()
    assert not figure.curve.ceiling.get_visible()
    corners = np.array(capped.curve.line.get_data()).T
    # a load and its math are 4 slots of 8 cycles: reached with 23 / 8 warps
    assert np.allclose(corners[1], (curve.x_of(23 / 8), curve.y_of(0.5)))


def test_sentences():
    assert "6 warps would fill every slot" in spoken()
    assert spoken(n_warps=1).startswith("While this warp waits 20 cycles for its load, there is")
    full = spoken(n_warps=6)
    assert full.startswith("No slot is empty")
    assert "no turn" not in full
    assert "6 warps are enough; younger ones get no turn" in spoken(n_warps=8)
    assert "Greedy turns would fill 100 %" in spoken(n_warps=6, policy="rr")
    assert "whatever the policy" in spoken(n_warps=1, policy="rr")
    far = spoken(latency_cycles=400, alu_per_load=9, n_warps=16)
    assert "41 warps would fill every slot, but a scheduler has room for 16" in far
    assert "one load every 8 cycles" in spoken(bandwidth="toy", n_warps=8)
    assert "3 warps would keep the memory busy" in spoken(bandwidth="toy", n_warps=2)


def test_what_sentences_say_of_the_wait_is_true():
    """A memory with a limit makes the loads of a warp wait for each other."""
    for state in STATES:
        outcome = EXPLORABLE.evaluate(state)
        run, words = outcome.result.run, outcome.spoken
        queues = run.load_latency_cycles > state["latency_cycles"]
        if "as before" in words:
            assert not queues
        if "waiting for the memory included" in words or "on average" in words:
            assert queues
        if " for its load" in words:
            assert (queues, state["independent_loads"]) == (False, 1)
    four = {"bandwidth": "toy", "independent_loads": 4, "n_warps": 1}
    # 20 cycles, and 8 · j less j for the j-th of four loads: 20, 27, 34 and 41
    assert "waits for its 4 loads, each 30.5 cycles on average" in spoken(**four, alu_per_load=1)


def test_what_sentences_say_of_help_is_true():
    for state in STATES[::5]:
        outcome = EXPLORABLE.evaluate(state)
        result, words = outcome.result, outcome.spoken
        share, n = result.run.utilization_frac, state["n_warps"]
        program = result.program
        twice = warps.issue_bound(n, **program.options | {"independent_loads": 8})
        more_math = warps.issue_bound(n, **program.options | {"alu_per_load": 80})
        if result.run.bound == "bandwidth":
            assert program.bound(2 * n).utilization_frac == share
            assert twice.utilization_frac <= share
            assert more_math.utilization_frac > share
        if result.run.bound == "latency":
            assert program.bound(n + 1).utilization_frac > share
        if "More loads at a time help" in words:
            assert twice.utilization_frac > share
        if result.n_without_turn:
            assert "no turn" in words
        assert "{" not in words


def test_limits_go_with_their_latencies_and_with_greedy_turns():
    assert EXPLORABLE.snap(BASE | {"latency_cycles": 400, "bandwidth": "toy"}, "latency_cycles")[
        "bandwidth"
    ] in ("unlimited", "h100")
    moved = EXPLORABLE.snap(BASE | {"bandwidth": "toy", "policy": "rr"}, "policy")
    assert moved["bandwidth"] == "unlimited"
    with pytest.raises(ValueError, match="must be possible"):
        EXPLORABLE.evaluate({"bandwidth": "h100"})
    with pytest.raises(ValueError, match="bandwidth must be unlimited where the policy is 'rr'"):
        at(policy="rr", bandwidth="toy")
    with pytest.raises(ValueError, match="bandwidth must be one of unlimited, toy, h100"):
        at(bandwidth="some")
    with pytest.raises(ValueError, match="n_warps must be a positive integer; got 0"):
        at(n_warps=0)

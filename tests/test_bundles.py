"""Bundles: intervals by hand, bounds, and schedules that run on numbers and give the product."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from primer import _bundletable, bundles
from primer._bundleschedule import recurrence_bound
from primer.bundles import Need, Operation, Program

from .bundle_machine import Core

TILES = [(rows, new, buffers) for rows in (1, 2, 3, 4, 5, 8) for new in (False, True)
         for buffers in (1, 2, 3)]  # fmt: skip


def check(found):
    """No slot twice, and nothing sooner than what it needs."""
    taken = set()
    places = found.bundle
    for tile, i in itertools.product(range(found.n_tiles), range(len(found.start))):
        slot = found.program.operations[i].slot
        key = (places[tile, i], slot, found.unit[i])
        assert key not in taken
        assert found.unit[i] < dict(found.slots)[slot]
        taken.add(key)
    for need in found.program.needs:
        for tile in range(found.n_tiles - need.distance):
            later = places[tile + need.distance, need.target]
            assert later >= places[tile, need.source] + need.cycles
    assert found.start.min() == 0


# ---- values derived by hand


def test_one_tile_of_four_rows():
    # address 0, copy in 1, done and waited for 4, loads 5 to 8, pushes 6 to 9, pops 10 to 13, sums
    # 11 to 14, clips 12 to 15, stores 13 to 16, copy out 17: 18 bundles
    found = bundles.schedule(bundles.tile(), overlap=False)
    assert found.tile_cycles == found.critical_path_cycles == found.interval_cycles == 18
    start = {op.name: int(t) for op, t in zip(found.program.operations, found.start, strict=True)}
    assert [start[f"load x{i}"] for i in range(4)] == [5, 6, 7, 8]
    assert [start[f"pop y{i}"] for i in range(4)] == [10, 11, 12, 13]
    assert start["copy out"] == 17
    assert found.filled_frac == pytest.approx(30 / (9 * 18))


def test_counts_of_a_tile():
    # four rows, six operations each; address, branch, two copies and two waits
    assert len(bundles.tile().operations) == 4 * 6 + 6 == 30
    assert len(bundles.tile(new_weights=True).operations) == 30 + 4 * 2
    assert [bundles.tile().count(slot) for slot in bundles.SLOTS] == [4, 4, 4, 8, 4, 4, 2]


@pytest.mark.parametrize(
    ("new_weights", "n_buffers", "interval"),
    [
        # four loads, pushes, pops, stores, eight sums and clips on two units: four bundles
        (False, 2, 4),
        # the buffer is filled in 3, waited for in 1, read in 4: the next copy can start after 8
        (False, 1, 8),
        # eight loads and pushes
        (True, 2, 8),
        (True, 1, 12),
    ],
)
def test_intervals_of_the_figure(new_weights, n_buffers, interval):
    program = bundles.tile(new_weights=new_weights, n_buffers=n_buffers)
    found = bundles.schedule(program, n_tiles=5)
    assert found.interval_cycles == interval
    bounds = (found.resource_bound_cycles, found.recurrence_bound_cycles)
    assert interval == max(bounds)
    assert (bounds[0] == interval) == (n_buffers == 2)
    check(found)


def test_rates_of_the_figure():
    found = bundles.schedule(bundles.tile(), n_tiles=4)
    assert found.filled_frac == pytest.approx(30 / 36)
    assert found.n_bundles == found.tile_cycles + 3 * 4
    alone = bundles.schedule(bundles.tile(), n_tiles=4, overlap=False)
    assert alone.n_bundles == 4 * 18


@pytest.mark.parametrize(("n_rows", "new_weights", "n_buffers"), TILES)
def test_every_tile_keeps_its_laws(n_rows, new_weights, n_buffers):
    program = bundles.tile(n_rows=n_rows, new_weights=new_weights, n_buffers=n_buffers)
    rows = n_rows * (1 + new_weights)
    for overlap in (True, False):
        found = bundles.schedule(program, n_tiles=4, overlap=overlap)
        check(found)
        # the copy into a buffer, the wait, the loads, and then the next copy
        around = -(-(3 + 1 + rows) // n_buffers)
        assert found.recurrence_bound_cycles >= around
        assert found.resource_bound_cycles == max(rows, -(-4 // 2), 2)
        least = max(found.recurrence_bound_cycles, found.resource_bound_cycles)
        assert found.interval_cycles >= least
        assert found.tile_cycles >= found.critical_path_cycles == 14 + rows
        if n_buffers == 2 or n_rows > 2:
            assert not overlap or found.interval_cycles == least


# ---- a second method: the schedule runs


def product(n_rows, new_weights, n_tiles, seed=3):
    rng = np.random.default_rng(seed)
    tiles = rng.integers(-5, 6, (n_tiles, n_rows, n_rows)).astype(float)
    weights = rng.integers(-5, 6, (n_tiles if new_weights else 1, n_rows, n_rows)).astype(float)
    bias = rng.integers(-5, 6, n_rows).astype(float)
    right = np.maximum(tiles @ weights + bias, 0)
    return tiles, weights, bias, right


@pytest.mark.parametrize(("n_rows", "new_weights", "n_buffers"), TILES)
@pytest.mark.parametrize("overlap", [True, False])
def test_a_schedule_computes_the_product(n_rows, new_weights, n_buffers, overlap):
    program = bundles.tile(n_rows=n_rows, new_weights=new_weights, n_buffers=n_buffers)
    found = bundles.schedule(program, n_tiles=7, overlap=overlap)
    tiles, weights, bias, right = product(n_rows, new_weights, 7)
    assert np.array_equal(Core(tiles, weights, bias, n_buffers).run(found), right)


@pytest.mark.parametrize("new_weights", [True, False])
def test_the_machine_notices_a_buffer_that_is_not_there(new_weights):
    found = bundles.schedule(bundles.tile(new_weights=new_weights, n_buffers=2), n_tiles=7)
    tiles, weights, bias, right = product(4, new_weights, 7)
    try:
        computed = Core(tiles, weights, bias, 1).run(found)
    except (AssertionError, KeyError):
        return
    assert not np.array_equal(computed, right)


def test_the_machine_notices_everything_that_comes_a_bundle_too_early():
    found = bundles.schedule(bundles.tile(new_weights=True), n_tiles=7)
    tiles, weights, bias, right = product(4, True, 7)
    tight = {
        need.target
        for need in found.program.needs
        if need.distance == 0
        and found.start[need.target] == found.start[need.source] + need.cycles
        and found.program.operations[need.target].name not in ("branch", "copy in", "wait out")
    }
    assert len(tight) > 15
    for i in tight:
        early = found.start.copy()
        early[i] -= 1
        moved = dataclasses.replace(found, start=early)
        try:
            computed = Core(tiles, weights, bias, 2).run(moved)
        except (AssertionError, IndexError, KeyError):
            continue
        assert not np.array_equal(computed, right), found.program.operations[i].name


# ---- a third: all intervals of small programs, by trying everything


def can_start(program, slots, interval, most=8):
    """Whether any placement in `most` bundles starts a tile every `interval`."""

    def fits(start):
        rows = {}
        for operation, time in zip(program.operations, start, strict=True):
            key = (operation.slot, time % interval)
            rows[key] = rows.get(key, 0) + 1
            if rows[key] > slots[operation.slot]:
                return False
        return all(
            start[need.target] + interval * need.distance >= start[need.source] + need.cycles
            for need in program.needs
        )

    return any(map(fits, itertools.product(range(most), repeat=len(program.operations))))


SMALL = st.integers(1, 4).flatmap(
    lambda n: st.builds(
        lambda slots, needs: Program(
            tuple(Operation(str(i), slot) for i, slot in enumerate(slots)),
            tuple(
                Need(min(a, b), max(a, b), c) if d == 0 and a != b else Need(a, b, c, max(d, 1))
                for a, b, c, d in needs
            ),
        ),
        st.lists(st.sampled_from(["alu", "load"]), min_size=n, max_size=n),
        st.lists(
            st.tuples(
                st.integers(0, n - 1), st.integers(0, n - 1), st.integers(0, 2), st.integers(0, 2)
            ),
            max_size=5,
        ),
    )
)


@settings(max_examples=60)
@given(program=SMALL)
def test_no_smaller_interval_exists(program):
    slots = {**bundles.TOY, "alu": 1}
    found = bundles.schedule(program, slots=slots, n_tiles=4)
    check(found)
    assert not any(can_start(program, slots, x) for x in range(1, found.interval_cycles))


@settings(max_examples=60)
@given(program=SMALL)
def test_laws_of_any_program(program):
    pipelined = bundles.schedule(program, n_tiles=3)
    alone = bundles.schedule(program, n_tiles=3, overlap=False)
    for found in (pipelined, alone):
        check(found)
        assert found.tile_cycles >= found.critical_path_cycles
        assert 0 < found.filled_frac <= 1
        together = sum(len(found.at(bundle)) for bundle in range(found.n_bundles))
        assert together == 3 * len(program.operations)
    assert pipelined.interval_cycles <= max(alone.interval_cycles, 1)
    lower = max(pipelined.resource_bound_cycles, pipelined.recurrence_bound_cycles)
    assert pipelined.interval_cycles >= lower
    # more slots never slow the bound
    rich = bundles.schedule(program, slots=dict.fromkeys(bundles.SLOTS, 9))
    assert rich.resource_bound_cycles <= pipelined.resource_bound_cycles
    assert rich.recurrence_bound_cycles == pipelined.recurrence_bound_cycles


def test_recurrences_by_hand():
    # around 0 -> 1 -> 0: 5 cycles over 2 tiles
    ring = Program(
        (Operation("a", "alu"), Operation("b", "load")), (Need(0, 1, 3), Need(1, 0, 2, 2))
    )
    assert recurrence_bound(ring) == 3
    assert bundles.schedule(ring, n_tiles=3).interval_cycles == 3


def test_long_recurrences_are_found_at_once():
    # a thousand million bundles around, one tile: searched in halves, not one by one
    names = range(300)
    ring = Program(
        [Operation(str(i), "alu") for i in names],
        [Need(i, (i + 1) % 300, 10**6, i // 299) for i in names],
    )
    assert type(ring.operations) is type(ring.needs) is tuple  # a list stays the caller's
    assert recurrence_bound(ring) == 300 * 10**6
    assert bundles.schedule(ring).interval_cycles == 300 * 10**6


def test_numpy_numbers_in_needs_do_not_overflow():
    names = [Operation(name, "alu") for name in "abc"]
    chain = Program(names, [Need(np.int8(i), np.int8(i + 1), np.int8(100)) for i in range(2)])
    assert bundles.schedule(chain).critical_path_cycles == 201
    assert type(chain.needs[0].cycles) is int


def test_the_same_schedule_each_time_and_frozen():
    first, again = (bundles.schedule(bundles.tile(), n_tiles=4) for _ in range(2))
    assert first.start.tolist() == again.start.tolist()
    with pytest.raises(ValueError, match="read-only"):
        first.start[0] = 1


# ---- the table


def test_what_sources_say_of_bundles():
    v2, v4 = bundles.load("tpu_v2"), bundles.load("tpu_v4")
    # two scalar, two vector ALU, vector load and store, a push and a pop; and one more place
    assert dict(v2.slots) == {
        "scalar": 2, "load": 1, "store": 1, "alu": 2, "push": 1, "pop": 1, "misc": 1,
    }  # fmt: skip
    assert v2.n_slots - dict(v2.slots)["misc"] == 8
    assert v2.number("width").value == 322
    assert v4.n_slots == 12
    assert v4.number("push_to_pop").value == 83
    assert dict(v2.slots) == bundles.TOY


def test_slips_in_the_table():
    row = {"title": "t", "source": "jouppi_2020", "published": "2020", "read": "2026-11-29",
           "slots": dict(bundles.load("tpu_v2").slots)}  # fmt: skip
    assert _bundletable.build("mine", row).n_slots == 9
    bad = [
        ({"slots": {**row["slots"], "fma": 1}}, "key must be one of"),
        ({"slots": {**row["slots"], "alu": 0}}, r"slots.alu must be a positive integer; got 0"),
        ({"slots": {"alu": 1}}, r"slots.scalar must be a positive integer; got None"),
        ({"number": {"width": {"value": 322, "unit": "B"}}}, "unit must measure bit"),
        ({"source": "nobody"}, "must be a key of"),
        ({"extra": 1}, "key must be one of"),
    ]
    for change, message in bad:
        with pytest.raises(ValueError, match=rf"bundles.toml: bundle.mine.*{message}"):
            _bundletable.build("mine", {**row, **change})


# ---- bad input

CIRCLE = Program((Operation("a", "alu"), Operation("b", "alu")), (Need(0, 1, 1), Need(1, 0, 0)))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bundles.tile(n_rows=0), "n_rows must be a positive integer; got 0"),
        (lambda: bundles.tile(n_rows=33), "n_rows must be at most 32; got 33"),
        (lambda: bundles.tile(n_buffers=1.0), "n_buffers must be a positive integer; got 1.0"),
        (lambda: bundles.tile(new_weights=1), "new_weights must be True or False; got 1"),
        (lambda: bundles.schedule("x"), "program must be a Program, as tile makes it; got 'x'"),
        (lambda: bundles.schedule(CIRCLE), "needs must lead in no circle within a tile"),
        (lambda: bundles.schedule(bundles.tile(), n_tiles=True), "n_tiles must be a positive int"),
        (lambda: bundles.schedule(bundles.tile(), overlap=2), "overlap must be True or False"),
        (lambda: bundles.schedule(bundles.tile(), slots={"alu": 2}), "slots must give a number"),
        (lambda: bundles.schedule(bundles.tile(), slots=[2]), "slots must give a number for each"),
        (
            lambda: bundles.schedule(bundles.tile(), slots={**bundles.TOY, "alu": 0}),
            r"slots\['alu'\] must be a positive integer; got 0",
        ),
        (lambda: Program((), ()), r"operations must hold at least one; got \(\)"),
        (lambda: Program((Operation("a", "fma"),), ()), "slot must be one of scalar, load"),
        (lambda: Program(("a",), ()), "operations must be Operations; got 'a'"),
        (lambda: Program((Operation("a", "alu"),), (1,)), "needs must be Needs; got 1"),
        (
            lambda: Program((Operation("a", "alu"),), (Need(0, 1, 1),)),
            "target must be at most 0; got 1",
        ),
        (
            lambda: Program((Operation("a", "alu"),), (Need(0, 0, -1, 1),)),
            "cycles must be an integer of at least 0; got -1",
        ),
        (lambda: bundles.tile().index("load z"), "name must be one of"),
        (lambda: Program(5, ()), "operations must be a tuple; got 5"),
        (lambda: Operation(None, "alu"), "name must be a text; got None"),
        (lambda: Need(0, 1, math.nan), "cycles must be an integer of at least 0; got nan"),
        (lambda: Need(0, True, 1), "target must be an integer of at least 0; got True"),
        (lambda: Program((Operation("a", "alu"),), iter(())), "needs must be a tuple; got"),
        (lambda: Program([Operation("a", "alu")] * 501, ()), "operations must be at most 500"),
        (lambda: bundles.schedule(bundles.tile(), n_tiles=10**6), "n_tiles must be at most 100,0"),
        (lambda: bundles.load("tpu_v3"), "name must be one of tpu_v2, tpu_v4"),
        (lambda: bundles.load("tpu_v2").number("copy"), "number must be one of width"),
        (lambda: bundles.schedule(bundles.tile()).at(-1), "bundle must be an integer of at least"),
    ],
)
def test_bad_calls_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()

"""Warps taking turns: values by hand, laws, closed forms, and a second simulator."""

import itertools
import json
import os
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from primer import capabilities, warps
from primer.warps import INSTRUCTIONS, LOAD_BYTES, POLICIES, WARP_STATES, issue_bound, schedule
from tests import reference_warps


def share(n_warps, latency, alu, policy="gto", **options):
    run = schedule(n_warps, latency_cycles=latency, alu_per_load=alu, policy=policy, **options)
    assert run.steady.is_periodic
    return Fraction(run.steady.n_issued, run.steady.period_cycles)


# ---- by hand


@pytest.mark.parametrize(
    ("n_warps", "policy", "expected"),
    [
        # Greedy: alone a warp issues 4 instructions in 20 + 3 cycles; others fit in its wait.
        (1, "gto", Fraction(4, 23)), (2, "gto", Fraction(8, 23)), (4, "gto", Fraction(16, 23)),
        (5, "gto", Fraction(20, 23)), (6, "gto", 1), (20, "gto", 1),
        # Round robin: all load, all wait for the 20, and three rounds of W instructions follow.
        (1, "rr", Fraction(4, 23)), (2, "rr", Fraction(8, 26)), (4, "rr", Fraction(16, 32)),
        (5, "rr", Fraction(20, 35)), (6, "rr", Fraction(24, 38)), (19, "rr", Fraction(76, 77)),
        (20, "rr", 1), (30, "rr", 1),
    ],
)  # fmt: skip
def test_a_latency_of_twenty(n_warps, policy, expected):
    assert share(n_warps, 20, 3, policy) == expected


@pytest.mark.parametrize(
    ("n_warps", "round_robin", "greedy"),
    [  # 10·W / (400 + 9·W), and 10·W / 409
        (16, Fraction(160, 544), Fraction(160, 409)),
        (41, Fraction(410, 769), 1),
        (48, Fraction(480, 832), 1),
    ],
)
def test_a_latency_of_four_hundred_depends_on_the_policy(n_warps, round_robin, greedy):
    assert share(n_warps, 400, 9, "rr") == round_robin
    assert share(n_warps, 400, 9, "gto") == greedy
    # the oldest first is not greedy: when the slots are just full, it may lose a few
    assert greedy - Fraction(1, 100) < share(n_warps, 400, 9, "oldest") <= greedy


def test_round_robin_hides_a_latency_only_with_as_many_warps():
    assert share(399, 400, 9, "rr") == Fraction(3990, 3991)
    assert share(400, 400, 9, "rr") == 1


def test_independent_loads_stand_in_for_warps():
    # 4 loads and 36 ALU instructions: 11 · 40 slots in the 400 + 3 + 36 cycles of one pass
    assert share(11, 400, 9, independent_loads=4) == 1
    assert share(10, 400, 9, independent_loads=4) == Fraction(400, 439)
    assert (share(41, 400, 9), share(40, 400, 9)) == (1, Fraction(400, 409))


@pytest.mark.parametrize("policy", ["gto", "oldest"])
def test_latency_can_be_hidden_bandwidth_cannot(policy):
    # Every 35 cycles there is one load, for ten instructions; 11 warps do not reach that.
    assert share(11, 400, 9, policy, memory_interval_cycles=35) == Fraction(110, 409)
    for n_warps in (12, 16, 64):
        run = schedule(
            n_warps, latency_cycles=400, alu_per_load=9, policy=policy, memory_interval_cycles=35
        )
        assert run.utilization_frac == 10 / 35
        assert (run.bound, run.loads_per_cycle) == ("bandwidth", 1 / 35)
        assert run.load_latency_cycles > 400  # all that more warps do


def test_slow_arithmetic():
    # 44 · 10 slots in 400 + 9 · 4 cycles would be more than all; the dependent ALU leaves gaps
    assert round(float(share(44, 400, 9, alu_latency_cycles=4)), 3) == 0.963
    assert issue_bound(
        44, latency_cycles=400, alu_per_load=9, alu_latency_cycles=4
    ).utilization_frac == 1  # fmt: skip


def letters(run):
    """What each warp does: issues, is ready, waits for memory or arithmetic, is done."""
    return ["".join(np.array(list("irmad"))[row]) for row in run.record.state.T]


def test_a_record_by_hand():
    """Two warps, latency 5; after two passes each is done."""
    run = schedule(2, latency_cycles=5, alu_per_load=1, n_iterations=2, record_cycles=99)
    # At 6 the load of the second is back, but the first is still at it: the turn is its own.
    assert letters(run) == ["immmmiimmmmidd", "rimmmmriimmmmi"]
    assert run.record.warp[:, 0].tolist() == [0, 1, -1, -1, -1, 0, 0, 1, 1, -1, -1, 0, -1, 1]
    assert run.record.kind[:, 0].tolist() == [1, 1, 0, 0, 0, 2, 1, 2, 1, 0, 0, 2, 0, 2]
    assert run.record.n_in_flight.tolist() == [1, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 1, 1, 0]
    assert (run.n_cycles, run.n_issued, run.record.n_cycles) == (14, 8, 14)
    assert run.overall_utilization_frac == 8 / 14
    assert (run.utilization_frac, run.steady.period_cycles) == (4 / 6, 6)


def test_slow_arithmetic_by_hand():
    run = schedule(
        2, latency_cycles=5, alu_per_load=1, alu_latency_cycles=2, n_iterations=2, record_cycles=99
    )
    assert letters(run) == ["immmmiaimmmmia", "rimmmmiaimmmmi"]
    assert (run.utilization_frac, run.steady.period_cycles) == (4 / 7, 7)


def test_a_queue_by_hand():
    # Loads at 0 and 1; the memory takes the second at 4, so that it is back at 4 + 5.
    run = schedule(2, latency_cycles=5, alu_per_load=1, memory_interval_cycles=4, record_cycles=12)
    assert run.record.warp[:, 0].tolist() == [0, 1, -1, -1, -1, 0, 0, -1, -1, 1, 1, -1]
    assert run.record.n_in_flight.tolist() == [1, 2, 2, 2, 2, 1, 2, 2, 2, 1, 2, 2]


# ---- case C7


@pytest.mark.parametrize(
    ("n_warps", "n_cycles", "overall", "steady"),
    [(8, 188, 0.4255, 0.4), (20, 200, 1.0, 1.0), (40, 400, 1.0, 1.0)],
)
@pytest.mark.parametrize("policy", POLICIES)
def test_c7_dependent_instructions(n_warps, n_cycles, overall, steady, policy):
    """Ten each, every 20 cycles: with W < 20 the last one issues in round ten, at 9 · 20 + W."""
    loads = schedule(
        n_warps, latency_cycles=20, alu_per_load=0, policy=policy, n_iterations=10
    )  # fmt: skip
    alu = schedule(
        n_warps, latency_cycles=1, alu_per_load=10, independent_loads=0, alu_latency_cycles=20,
        policy=policy, n_iterations=1,
    )  # fmt: skip
    for run in (loads, alu):
        assert (run.n_cycles, run.n_issued) == (n_cycles, 10 * n_warps)
        assert round(run.overall_utilization_frac, 4) == overall
        assert run.utilization_frac == steady


@pytest.mark.parametrize(("n_warps", "ipc"), [(32, 4), (16, 4), (8, 2), (4, 1), (1, 0.25)])
def test_c7_four_schedulers_issue_four_at_most(n_warps, ipc):
    options = {"latency_cycles": 4, "n_schedulers": 4}
    run = schedule(
        n_warps, alu_per_load=10, independent_loads=0, alu_latency_cycles=4, **options
    )  # fmt: skip
    assert run.instructions_per_cycle == ipc
    # loads go through one port
    loads = schedule(n_warps, alu_per_load=0, **options)
    assert loads.instructions_per_cycle == min(ipc, 1)
    assert loads.bound == ("load port" if n_warps >= 4 else "latency")


@given(
    st.integers(1, 40), st.integers(1, 6), st.integers(1, 30), st.integers(0, 6),
    st.sampled_from(POLICIES),
)  # fmt: skip
@settings(max_examples=60)
def test_c7_no_machine_issues_more_than_it_has_schedulers(n_warps, n, latency, alu, policy):
    run = schedule(
        n_warps, latency_cycles=latency, alu_per_load=alu, policy=policy, n_schedulers=n
    )  # fmt: skip
    assert run.instructions_per_cycle <= min(n, n_warps)
    assert run.loads_per_cycle <= 1


def test_c7_eight_hundred_and_thirty_two_threads_are_26_warps():
    hopper = capabilities.load("9.0")
    n_warps = -(-832 // hopper.warp_size)
    assert n_warps == 26
    run = schedule(
        n_warps, latency_cycles=9, alu_per_load=5, n_schedulers=hopper.n_schedulers_per_sm,
        n_iterations=3, record_cycles=2000,
    )  # fmt: skip
    assert run.n_issued == 26 * 3 * 6
    owned = [set(run.record.warp[:, s].tolist()) - {-1} for s in range(4)]
    assert [len(of_one) for of_one in owned] == [7, 7, 6, 6]
    assert owned[1] == {1, 5, 9, 13, 17, 21, 25}


# ---- a second simulator


@st.composite
def machines(draw):
    n_loads = draw(st.integers(0, 4))
    return {
        "n_warps": draw(st.integers(1, 12)),
        "latency_cycles": draw(st.integers(1, 25)),
        "alu_per_load": draw(st.integers(0 if n_loads else 1, 4)),
        "independent_loads": n_loads,
        "policy": draw(st.sampled_from(POLICIES)),
        "memory_interval_cycles": draw(st.sampled_from([None, None, 1, 2, 3, 7])),
        "alu_latency_cycles": draw(st.sampled_from([1, 1, 2, 5])),
        "n_schedulers": draw(st.sampled_from([1, 1, 2, 3, 4])),
    }


def second(machine, n_cycles, n_passes):
    n_loads = machine["independent_loads"]
    return reference_warps.simulate(
        machine["n_warps"], n_cycles, n_loads=n_loads,
        n_alu=machine["alu_per_load"] * max(n_loads, 1), latency=machine["latency_cycles"],
        interval=machine["memory_interval_cycles"] or 0, policy=machine["policy"],
        alu_latency=machine["alu_latency_cycles"], n_schedulers=machine["n_schedulers"],
        n_passes=n_passes,
    )  # fmt: skip


def told(issues, n_cycles, n_warps, n_schedulers):
    """What a record should hold, from a list of instructions."""
    warp, kind = (np.full((n_cycles, n_schedulers), x) for x in (-1, 0))
    state = np.full((n_cycles, n_warps), WARP_STATES.index("ready"))
    in_flight = np.zeros(n_cycles, dtype=int)
    for issue in issues:
        warp[issue.cycle, issue.scheduler] = issue.warp
        kind[issue.cycle, issue.scheduler] = INSTRUCTIONS.index(issue.kind)
        for cycle in range(issue.cycle, n_cycles):
            is_back = cycle >= issue.back
            in_flight[cycle] += issue.kind == "load" and not is_back
            waits = "memory" if issue.kind == "load" else "alu"
            after = "done" if issue.is_last else "ready"
            name = "issuing" if cycle == issue.cycle else waits if cycle < issue.wake else after
            state[cycle, issue.warp] = WARP_STATES.index(name)
    return warp, kind, state, in_flight


@given(machines(), st.integers(1, 4))
@settings(max_examples=250)
def test_a_second_simulator_agrees_in_every_cycle(machine, n_passes):
    run = schedule(**machine, n_iterations=n_passes, record_cycles=150)
    issues = second(machine, 5000, n_passes)
    assert run.n_cycles == issues[-1].cycle + 1
    assert run.n_issued == len(issues)
    record = run.record
    assert record.n_cycles == min(150, run.n_cycles)
    shown = [issue for issue in issues if issue.cycle < record.n_cycles]
    expected = told(shown, record.n_cycles, machine["n_warps"], machine["n_schedulers"])
    found = (record.warp, record.kind, record.state, record.n_in_flight)
    for ours, theirs in zip(found, expected, strict=True):
        assert np.array_equal(ours, theirs)
        assert len(ours) == record.n_cycles
        assert not ours.flags.writeable


@given(machines())
@settings(max_examples=120)
def test_the_steady_state_repeats_for_ever(machine):
    steady = schedule(**machine).steady
    first, period = steady.first_cycle, steady.period_cycles
    assume(steady.is_periodic and first + 3 * period < 3000)
    issues = second(machine, first + 3 * period, 10**6)
    rounds = [
        [
            (i.cycle - begin, i.scheduler, i.warp, i.kind, i.back - begin)
            for i in issues
            if begin <= i.cycle < begin + period
        ]
        for begin in range(first, first + 3 * period, period)
    ]
    assert rounds[0] == rounds[1] == rounds[2]
    assert len(rounds[0]) == steady.n_issued
    loads = [issue for issue in rounds[0] if issue[3] == "load"]
    assert len(loads) == steady.n_loads
    assert sum(back - cycle for cycle, *_, back in loads) == steady.waited_cycles


# ---- laws


@given(machines())
@settings(max_examples=100)
def test_little(machine):
    """N = X·R, with N counted cycle by cycle, and R with its queue."""
    steady = schedule(**machine).steady
    end = steady.first_cycle + 2 * steady.period_cycles  # after one whole period, ends have begun
    assume(steady.is_periodic and end < 20_000)
    run = schedule(**machine, record_cycles=end)
    n = run.record.n_in_flight[-steady.period_cycles :].sum()
    assert n == steady.waited_cycles
    assert run.in_flight_bytes == pytest.approx(LOAD_BYTES * n / steady.period_cycles)
    assert run.in_flight_bytes <= run.available_bytes * (1 + 1e-12)
    if steady.n_loads:
        assert run.load_latency_cycles >= machine["latency_cycles"]


@given(machines())
@settings(max_examples=200)
def test_closed_forms(machine):
    machine.pop("n_schedulers")
    run, bound = schedule(**machine), issue_bound(**machine)
    if bound.is_exact:
        assert run.steady.is_periodic
        assert run.utilization_frac == pytest.approx(bound.utilization_frac, rel=1e-12)
        assert run.bound == bound.bound
    assert run.utilization_frac <= bound.utilization_frac * (1 + 1e-9)
    assert 0 < run.utilization_frac <= 1
    n = bound.n_warps_needed
    assert issue_bound(**machine | {"n_warps": n}).bound != "latency"
    if n > 1:
        assert issue_bound(**machine | {"n_warps": n - 1}).bound == "latency"


def test_where_the_closed_forms_are_exact():
    one = {"latency_cycles": 20, "alu_per_load": 3}
    assert issue_bound(4, **one).is_exact
    assert issue_bound(4, **one, memory_interval_cycles=8).is_exact
    assert issue_bound(4, **one, policy="rr", alu_latency_cycles=4).is_exact
    assert not issue_bound(4, **one, policy="rr", memory_interval_cycles=8).is_exact
    assert not issue_bound(4, **one, alu_latency_cycles=4).is_exact
    assert not issue_bound(4, **one, policy="oldest").is_exact


def test_what_the_bound_says():
    found = issue_bound(8, latency_cycles=400, alu_per_load=9, memory_interval_cycles=35)
    assert (found.latency_limit, found.bandwidth_limit) == (80 / 409, 10 / 35)
    assert (found.bound, found.n_warps_needed) == ("latency", 12)  # 409 / 35 = 11.7
    full = issue_bound(6, latency_cycles=20, alu_per_load=3)
    assert (full.bound, full.bandwidth_limit) == ("issue", float("inf"))


def test_bytes_in_flight():
    # 9 ALU instructions per load: at full rate a load every 10 cycles, 40 in 400 cycles
    run = schedule(16, latency_cycles=400, alu_per_load=9)
    assert (run.needed_bytes, run.available_bytes) == (40 * 128, 16 * 128)
    # each of the 16 loads takes 400 of 409 cycles
    assert run.in_flight_bytes == pytest.approx(16 * 128 * 400 / 409)
    capped = schedule(16, latency_cycles=400, alu_per_load=9, memory_interval_cycles=50)
    assert capped.needed_bytes == 8 * 128
    assert schedule(2, latency_cycles=9, alu_per_load=3, independent_loads=0).needed_bytes == 0


def test_young_warps_get_no_turn_while_older_ones_fill_all():
    run = schedule(9, latency_cycles=20, alu_per_load=3, record_cycles=500)
    late = run.record.warp[-run.steady.period_cycles :, 0]
    assert sorted(set(late.tolist())) == [0, 1, 2, 3, 4, 5]
    ends = schedule(9, latency_cycles=20, alu_per_load=3, n_iterations=50)
    assert ends.n_issued == 9 * 50 * 4  # but once the older are done, they go on


def test_a_run_that_never_repeats_itself_says_so():
    machine = {"latency_cycles": 38, "alu_per_load": 12, "alu_latency_cycles": 3}
    run = schedule(19, **machine)
    assert not run.steady.is_periodic
    options = {"independent_loads": 1, "memory_interval_cycles": None, "policy": "gto"}
    issues = second({"n_warps": 19, "n_schedulers": 1, **machine, **options}, 40_000, 10**6)
    n_late = sum(issue.cycle >= 20_000 for issue in issues)
    assert run.utilization_frac == pytest.approx(n_late / 20_000, rel=2e-3)
    assert run.bound == "issue"  # 19 · 13 slots in 38 + 36 cycles are more than all


def test_a_search_among_thousands_of_warps_ends_soon():
    """It took minutes: in most cycles, all 750 warps of a scheduler are passed over in vain."""
    machine = {"latency_cycles": 399, "alu_per_load": 254, "alu_latency_cycles": 9999}
    shared = {"memory_interval_cycles": 7, "policy": "oldest", "n_schedulers": 4}
    run = schedule(3000, **machine, **shared)
    assert not run.steady.is_periodic
    # 3,000 warps, each an instruction every 9,999 cycles or so, on four schedulers
    assert run.utilization_frac == pytest.approx(3000 / 9999 / 4, rel=0.02)
    assert run.bound == "latency"  # not "issue", however short the time was in which they looked


def test_an_endless_run_is_cut_after_its_first_period():
    run = schedule(4, latency_cycles=20, alu_per_load=3)
    assert run.n_cycles == run.steady.first_cycle + run.steady.period_cycles
    assert run.record is None
    assert schedule(4, latency_cycles=20, alu_per_load=3, record_cycles=7).record.n_cycles == 7


def test_the_interval_of_a_chip():
    # 3.35e12 / (132 · 1.755e9) = 14.46 B per cycle and SM, a load of 128 B every 8.85 cycles, and
    # for each of four schedulers every 35.4
    per_sm = warps.memory_interval(3.35e12, 1.755e9, n_schedulers=132)
    assert 128 / per_sm == pytest.approx(14.46, abs=0.005)
    assert warps.memory_interval(3.35e12, 1.755e9, n_schedulers=528) == pytest.approx(
        35.4, abs=0.01
    )
    # 600 cycles of that are 8.7 kB, 68 loads
    assert 600 * 128 / per_sm == pytest.approx(8_676, abs=3)
    assert np.ceil(600 / per_sm) == 68


# ---- without Numba


def test_without_numba_the_numbers_are_the_same():
    cases = list(itertools.product((1, 5, 16), POLICIES, (None, 7), (1, 3), (1, 3)))
    code = (
        "import json, sys\n"
        "from primer.warps import schedule\n"
        "for n, policy, interval, loads, schedulers in json.load(sys.stdin):\n"
        "    run = schedule(n, latency_cycles=30, alu_per_load=3, independent_loads=loads,\n"
        "                   policy=policy, memory_interval_cycles=interval,\n"
        "                   n_schedulers=schedulers, n_iterations=3, record_cycles=60)\n"
        "    print(run.steady, run.n_cycles, run.n_issued, run.record.state.sum(),\n"
        "          run.record.n_in_flight.sum())\n"
    )

    def lines(disable):
        environment = {**os.environ, "NUMBA_DISABLE_JIT": disable}
        done = subprocess.run(
            [sys.executable, "-c", code], input=json.dumps(cases), text=True, check=True,
            capture_output=True, env=environment,
        )  # fmt: skip
        return done.stdout.splitlines()

    plain = lines("1")
    assert plain == lines("0")
    assert len(plain) == len(cases)


# ---- bad input


def call(n_warps=4, **changes):
    return lambda: schedule(n_warps, **{"latency_cycles": 20, "alu_per_load": 3, **changes})


@pytest.mark.parametrize(
    ("do", "message"),
    [
        (call(0), "n_warps must be a positive integer; got 0"),
        (call(2.0), "n_warps must be a positive integer; got 2.0"),
        (call(True), "n_warps must be a positive integer; got True"),
        (call("4"), "n_warps must be a positive integer; got '4'"),
        (call(5000), "n_warps must be at most 4,096; got 5000"),
        (call(10**30), "n_warps must be at most 4,096"),
        (call(latency_cycles=-1), "latency_cycles must be a positive integer; got -1"),
        (call(latency_cycles=0), "latency_cycles must be a positive integer; got 0"),
        (call(latency_cycles=20.5), "latency_cycles must be a positive integer; got 20.5"),
        (call(latency_cycles=float("nan")), "latency_cycles must be a positive integer; got nan"),
        (call(latency_cycles=10**7), "latency_cycles must be at most 1,000,000"),
        (call(alu_per_load=-1), "alu_per_load must be an integer of at least 0; got -1"),
        (call(independent_loads=-1), "independent_loads must be an integer of at least 0"),
        (
            call(independent_loads=0, alu_per_load=0),
            "alu_per_load must be positive where there are no loads; got 0",
        ),
        (call(policy="lrr"), "policy must be one of gto, rr, oldest .*; got 'lrr'"),
        (call(policy=None), "policy must be one of gto, rr, oldest; got None"),
        (call(memory_interval_cycles=0), "memory_interval_cycles must be a positive integer"),
        (call(memory_interval_cycles=35.4), "memory_interval_cycles must be a positive integer"),
        (call(alu_latency_cycles=0), "alu_latency_cycles must be a positive integer; got 0"),
        (call(n_schedulers=0), "n_schedulers must be a positive integer; got 0"),
        (call(n_schedulers=65), "n_schedulers must be at most 64; got 65"),
        (call(n_iterations=0), "n_iterations must be a positive integer; got 0"),
        (call(n_iterations=10**9), "n_iterations must be at most 8,388,608"),
        (call(4096, alu_per_load=1, n_iterations=129), "n_iterations must be at most 128"),
        (
            call(4096, alu_per_load=1, n_iterations=8193, n_schedulers=64),
            "n_iterations must be at most 8,192",
        ),
        (call(record_cycles=-1), "record_cycles must be an integer of at least 0; got -1"),
        (call(record_cycles=10**6), "record_cycles must be at most 524,288; got 1000000"),
        (
            call(4096, alu_per_load=300),
            "n_warps times instructions per loop must be at most 1,048,576; got 1232896",
        ),
        (lambda: issue_bound(0, latency_cycles=1, alu_per_load=1), "n_warps must be a positive"),
        (
            lambda: warps.memory_interval(0, 1e9, n_schedulers=4),
            "bandwidth_bytes_per_s must be",
        ),
        (lambda: warps.memory_interval(1e12, -1, n_schedulers=4), "clock_hz must be positive"),
        (lambda: warps.memory_interval(1e12, 1e9, n_schedulers=0), "n_schedulers must be a posi"),
        (
            lambda: warps.memory_interval(5e-324, 1e9, n_schedulers=4),
            "bandwidth_bytes_per_s must leave interval finite",
        ),
    ],
)
def test_bad_input_is_named(do, message):
    with pytest.raises(ValueError, match=message):
        do()


def test_numpy_numbers_are_numbers():
    run = schedule(np.int32(4), latency_cycles=np.int64(20), alu_per_load=np.uint8(3))
    assert run.utilization_frac == 16 / 23
    assert type(run.on.n_warps) is int

"""Divergence: small programs by hand, every lane on its own, and post-dominators by paths."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from primer.warps import If, Instructions, Loop, Switch, diverge, immediate_post_dominators

LANE = np.arange(32)


def test_if_and_else_by_hand():
    program = [
        Instructions(2, "before"),
        If(LANE < 8, Instructions(6, "then"), Instructions(4, "else")),
        Instructions(1, "after"),
    ]
    run = diverge(program)
    # 2 for all, 6 for eight lanes, 4 for 24, 1 for all
    assert run.names == ("before",) * 2 + ("then",) * 6 + ("else",) * 4 + ("after",)
    assert run.active.sum(axis=1).tolist() == [32] * 2 + [8] * 6 + [24] * 4 + [32]
    assert (run.n_issued, run.n_needed) == (13, 9)
    assert run.n_lane_instructions == 3 * 32 + 6 * 8 + 4 * 24 == 240
    assert run.lanes_frac == 240 / (13 * 32)
    assert run.is_divergent


def test_how_many_lanes_go_astray_does_not_matter():
    def cost(condition):
        return diverge(If(condition, Instructions(6), Instructions(4))).n_issued

    assert cost(LANE == 0) == cost(LANE % 2 == 0) == cost(LANE < 31) == 10
    # whole warps may part for free: each issues one way only
    assert cost(np.ones(32, bool)) == 6
    assert cost(np.zeros(32, bool)) == 4


def test_a_switch_costs_the_arms_that_are_taken():
    arms = [Instructions(n) for n in (1, 2, 3, 4)]
    assert diverge(Switch(LANE % 4, arms)).n_issued == 10
    assert diverge(Switch(LANE % 2, arms)).n_issued == 3
    assert diverge(Switch(np.full(32, 3), arms)).n_issued == 4
    each = diverge(Switch(LANE, [Instructions(5)] * 32))
    assert (each.n_issued, each.n_needed, each.lanes_frac) == (160, 5, 1 / 32)


def test_a_loop_runs_as_long_as_its_longest_lane():
    run = diverge(Loop(LANE % 4, Instructions(3, "body")))
    # three trips: 24 lanes make a first one, 16 a second, 8 a third
    assert run.active.sum(axis=1).tolist() == [24] * 3 + [16] * 3 + [8] * 3
    assert run.n_issued == run.n_needed == 9
    # sorted over warps, the same lanes leave nobody idle
    even = diverge(Loop(np.full(32, 2), Instructions(3)))
    assert (even.n_issued, even.lanes_frac) == (6, 1.0)


def test_lanes_meet_at_the_inner_branch_before_the_outer():
    inner = [If(LANE % 2 == 0, Instructions(2, "b")), Instructions(1, "c")]
    run = diverge([If(LANE < 16, inner, Instructions(1, "d")), Instructions(1, "e")])
    assert run.names == ("b", "b", "c", "d", "e")
    assert run.active.sum(axis=1).tolist() == [8, 8, 16, 16, 32]


def test_lanes_that_never_start():
    run = diverge([Instructions(1), If(LANE < 8, Instructions(5), Instructions(7))], mask=LANE < 8)
    assert (run.n_issued, run.n_needed, run.is_divergent) == (6, 6, False)
    assert run.lanes_frac == 8 / 32
    assert not run.active[:, 8:].any()


def test_an_inner_loop_starts_anew_each_time():
    run = diverge(Loop([2] * 32, [Loop(LANE % 2 + 1, Instructions(1, "inner")), Instructions(1)]))
    assert run.names == ("inner", "inner", "") * 2
    assert run.active.sum(axis=1).tolist() == [32, 16, 32] * 2


# ---- every lane on its own


def way_of(program, lane):
    """The names that one lane runs through, by recursion."""
    for node in program:
        if isinstance(node, Instructions):
            yield from [node.name] * node.n_instructions
        elif isinstance(node, If):
            yield from way_of(node.then if node.condition[lane] else node.otherwise, lane)
        elif isinstance(node, Switch):
            yield from way_of(node.arms[node.choice[lane]], lane)
        else:
            for _ in range(node.n_trips[lane]):
                yield from way_of(node.body, lane)


def cost_of(program, lanes):
    """Issues for a set of lanes, by recursion: arms add up, loops last."""
    total = 0
    for node in program if lanes else ():
        if isinstance(node, Instructions):
            total += node.n_instructions
        elif isinstance(node, If):
            total += cost_of(node.then, {x for x in lanes if node.condition[x]})
            total += cost_of(node.otherwise, {x for x in lanes if not node.condition[x]})
        elif isinstance(node, Switch):
            for i, arm in enumerate(node.arms):
                total += cost_of(arm, {x for x in lanes if node.choice[x] == i})
        else:
            for trip in range(max(node.n_trips[x] for x in lanes)):
                total += cost_of(node.body, {x for x in lanes if node.n_trips[x] > trip})
    return total


NAMES = itertools.count()
LEAVES = st.integers(1, 3).map(lambda n: [Instructions(n, f"i{next(NAMES)}")])


def per_lane(values):
    """A value for each lane, from a few that repeat, so that lanes stay together often."""
    return st.lists(values, min_size=1, max_size=8).map(lambda v: (v * 32)[:32])


def grown(inner):
    """Sequences, branches and loops around smaller programs."""
    return st.one_of(
        st.tuples(inner, inner).map(lambda two: [*two[0], *two[1]]),
        st.builds(lambda c, a, b: [If(c, a, b)], per_lane(st.booleans()), inner, inner),
        st.builds(lambda c, a: [If(c, (), a)], per_lane(st.booleans()), inner),
        st.builds(
            lambda c, *arms: [Switch(c, arms)], per_lane(st.integers(0, 2)), inner, inner, inner
        ),
        st.builds(lambda n, body: [Loop(n, body)], per_lane(st.integers(0, 3)), inner),
    )


PROGRAMS = st.recursive(LEAVES, grown, max_leaves=8)


@settings(max_examples=150)
@given(PROGRAMS, per_lane(st.booleans()))
def test_any_program(program, mask):
    if not any(mask):
        mask[0] = True
    program = [Instructions(1, "start"), *program]
    run = diverge(program, mask=mask)
    ways = [list(way_of(program, lane)) if mask[lane] else [] for lane in range(32)]
    for lane in range(32):
        assert [n for n, on in zip(run.names, run.active[:, lane], strict=True) if on] == ways[lane]
    assert run.active.any(axis=1).all()
    assert run.n_issued == cost_of(program, {lane for lane in range(32) if mask[lane]})
    assert run.n_lane_instructions == sum(map(len, ways))
    assert run.n_needed == max(map(len, ways)) <= run.n_issued <= run.n_lane_instructions
    assert 1 / 32 <= run.lanes_frac <= 1
    assert run.is_divergent == (run.n_lane_instructions < run.n_issued * sum(mask))


# ---- post-dominators


def paths_to_an_end(graph, start):
    """All ways from a block to an end that pass no block twice."""
    found, open_paths = [], [[start]]
    while open_paths:
        path = open_paths.pop()
        if not graph[path[-1]]:
            found.append(path)
        open_paths += [[*path, after] for after in set(graph[path[-1]]) if after not in path]
    return found


def meeting_place(graph, start):
    """The first block behind `start` that lies on all its ways to an end."""
    paths = paths_to_an_end(graph, start)
    common = set(paths[0][1:]).intersection(*(path[1:] for path in paths))
    return next((block for block in paths[0][1:] if block in common), None)


@settings(max_examples=200)
@given(st.integers(1, 7).flatmap(
    lambda n: st.lists(st.lists(st.integers(0, n - 1), max_size=3), min_size=n, max_size=n)
))  # fmt: skip
def test_post_dominators_by_paths(edges):
    graph = dict(enumerate(edges))
    if not all(paths_to_an_end(graph, block) for block in graph):
        with pytest.raises(ValueError, match="lead from every block to an end"):
            immediate_post_dominators(graph)
        return
    expected = {block: meeting_place(graph, block) for block in graph}
    assert immediate_post_dominators(graph) == expected


def test_post_dominators_by_hand():
    # a loop with a way out in its middle, which returns: ways meet only after the end
    graph = {"top": ["body", "out"], "body": ["return", "top"], "out": [], "return": []}
    assert immediate_post_dominators(graph) == dict.fromkeys(graph)
    # if (a && b): both tests can fail to the same place
    short = {"a": ["b", "out"], "b": ["then", "out"], "then": ["out"], "out": []}
    assert immediate_post_dominators(short) == {"a": "out", "b": "out", "then": "out", "out": None}


def test_results_cannot_be_changed():
    run = diverge(Instructions(1))
    with pytest.raises(ValueError, match="read-only"):
        run.active[0, 0] = False
    assert Instructions(np.int64(2)) == Instructions(2)
    assert If(LANE < 3, Instructions(1)) == If(list(LANE < 3), [Instructions(1)], [])


LONG = Loop([100_000] * 32, Instructions(2))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: diverge([]), "program must issue at least one instruction"),
        (lambda: diverge(Loop([0] * 32, Instructions(1))), "program must issue at least one"),
        (lambda: diverge("if"), "program must be made of Instructions, If, Switch and Loop"),
        (lambda: diverge([Instructions(1), 3]), "program must be made of .*; got 3"),
        (lambda: diverge(7), "program must be made of .*; got 7"),
        (lambda: diverge(np.array(7)), "program must be made of .*; got 7"),
        (lambda: diverge(LONG), "program must issue at most 100,000 instructions"),
        (lambda: diverge([Instructions(1)] * 10_001), "program must have at most 10,000 nodes"),
        (
            lambda: diverge(Loop([100_000] * 32, Loop([100_000] * 32, ()))),
            "program must pass at most 300,000 nodes",
        ),
        (
            lambda: diverge(Instructions(1), mask=[False] * 32),
            "mask must leave at least one lane active",
        ),
        (lambda: diverge(Instructions(1), mask=[True] * 31), "mask must hold 32 values"),
        (lambda: Instructions(0), "n_instructions must be a positive integer; got 0"),
        (lambda: Instructions(1, 5), "name must be text; got 5"),
        (lambda: If(True, Instructions(1)), "condition must hold 32 values"),
        (lambda: If([1] * 32, Instructions(1)), r"condition\[0\] must be True or False; got 1"),
        (lambda: If(LANE < 3, "then"), "then must be made of"),
        (lambda: Switch([2] * 32, [(), ()]), r"choice\[0\] must be at most 1; got 2"),
        (lambda: Switch([0] * 32, []), "arms must be a sequence of at least one program"),
        (lambda: Switch([0] * 32, [(), 1]), r"arms\[1\] must be made of"),
        (lambda: Loop([-1] * 32, ()), r"n_trips\[0\] must be an integer of at least 0; got -1"),
        (lambda: Loop([1] * 33, ()), "n_trips must hold 32 values"),
        (
            lambda: immediate_post_dominators({"a": ["b"]}),
            "successors must name only blocks of the graph after 'a'; got 'b'",
        ),
        (lambda: immediate_post_dominators({"a": ["a"]}), "lead from every block to an end"),
        (lambda: immediate_post_dominators(["a"]), "successors must be a mapping from blocks"),
        (lambda: immediate_post_dominators(None), "successors must be a mapping .*; got None"),
        (lambda: immediate_post_dominators({"a": "a"}), "have a sequence of blocks after 'a'; got"),
        (lambda: immediate_post_dominators({"a": 3}), "have a sequence of blocks after 'a'; got 3"),
        (lambda: immediate_post_dominators({"a": [["a"]]}), "name only blocks of the graph after"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_long_program_takes_no_more_than_its_length():
    """Half a minute it took: the places where ways meet were found branch by branch."""
    n = 3000
    graph = {i: [i + 1, min(i + 2, n)] for i in range(n)} | {n: []}
    meets = immediate_post_dominators(graph)
    assert (meets[n], meets[n - 1], meets[0]) == (None, n, n)
    chain = immediate_post_dominators({i: [i + 1] for i in range(n)} | {n: []})
    assert all(chain[i] == i + 1 for i in range(n))
    long = [If(LANE < 16, Instructions(1), Instructions(1))] * n
    assert diverge(long).n_issued == 2 * n


def test_programs_nested_too_deep():
    program = Instructions(1)
    for _ in range(101):
        program = If([True] * 32, program)
    with pytest.raises(ValueError, match="program must be nested at most 100 deep"):
        diverge(program)

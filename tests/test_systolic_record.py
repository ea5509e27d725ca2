"""What stands in every PE in every cycle: by hand, by a second method, and by how it moves."""

from __future__ import annotations

import math
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from primer import systolic
from primer.systolic import count, simulate

NAN = math.nan
SIZE = st.integers(1, 7)


def same(found, expected):
    np.testing.assert_array_equal(found, np.array(expected, dtype=float))


# ---- two by two, written out


def test_outputs_stationary_by_hand():
    run = simulate([[1, 2], [3, 4]], [[5, 6], [7, 8]], rows=2, cols=2, dataflow="os")
    # row 1 of A and column 1 of B enter one cycle late
    same(run.a[:, 0], [[1, NAN], [2, 1], [NAN, 2], [NAN, NAN]])
    same(run.a[:, 1], [[NAN, NAN], [3, NAN], [4, 3], [NAN, 4]])
    same(run.b[:, :, 0], [[5, NAN], [7, 5], [NAN, 7], [NAN, NAN]])
    same(run.b[:, :, 1], [[NAN, NAN], [6, NAN], [8, 6], [NAN, 8]])
    same(run.partial_sum[:, 0, 0], [5, 19, 19, 19])
    same(run.partial_sum[:, 1, 1], [NAN, NAN, 18, 50])
    assert run.shadow is None


def test_weights_stationary_by_hand():
    run = simulate([[1, 2], [3, 4]], [[5, 6], [7, 8]], rows=2, cols=2, dataflow="ws")
    assert run.n_cycles == 2 + (2 + 2 + 2 - 2)
    # the lower weight goes first, and down; both columns follow each other by a cycle
    same(run.shadow[:, 0, 0], [7, 5, NAN, NAN, NAN, NAN])
    same(run.shadow[:, 1, 0], [NAN, 7, 7, NAN, NAN, NAN])
    same(run.shadow[:, 0, 1], [NAN, 8, 6, NAN, NAN, NAN])
    same(run.shadow[:, 1, 1], [NAN, NAN, 8, 8, NAN, NAN])
    # the first word of A swaps them in, as a wave
    same(run.b[:, 0, 0], [NAN, NAN, 5, 5, 5, 5])
    same(run.b[:, 1, 1], [NAN, NAN, NAN, NAN, 8, 8])
    same(run.a[:, 0, 0], [NAN, NAN, 1, 3, NAN, NAN])
    same(run.a[:, 1, 0], [NAN, NAN, NAN, 2, 4, NAN])
    # 1 · 5 goes down and becomes 5 + 2 · 7
    same(run.partial_sum[:, 0, 0], [NAN, NAN, 5, 15, NAN, NAN])
    same(run.partial_sum[:, 1, 0], [NAN, NAN, NAN, 19, 43, NAN])


def test_inputs_stationary_by_hand():
    run = simulate([[1, 2], [3, 4]], [[5, 6], [7, 8]], rows=2, cols=2, dataflow="is")
    same(run.a[-1], [[1, 3], [2, 4]])  # A is held, k along the rows
    same(run.b[:, 0, 0], [NAN, NAN, 5, 6, NAN, NAN])
    same(run.partial_sum[:, 1, 1], [NAN, NAN, NAN, NAN, 3 * 5 + 4 * 7, 50])


def test_drained_sums_go_down_one_row_a_cycle():
    run = simulate([[2], [3]], [[5]], rows=2, cols=1, dataflow="os", drain=True)
    assert run.n_cycles == 1 + 2 + 1 - 2 + 2
    same(run.shadow[:, 0, 0], [10, 10, NAN, NAN])  # waits for the one below
    same(run.shadow[:, 1, 0], [NAN, 15, 10, NAN])
    same(run.product, [[10], [15]])


def test_stalls_are_spread_and_keep_everything():
    # 8 words at one a cycle, 4 cycles of work: every second cycle stands still
    a, b = [[1, 2], [3, 4]], [[5, 6], [7, 8]]
    free = simulate(a, b, rows=2, cols=2, dataflow="os")
    slow = simulate(a, b, rows=2, cols=2, dataflow="os", bandwidth_words_per_cycle=1)
    assert slow.frozen.tolist() == [True, False] * 4
    for name in ("a", "b", "partial_sum"):
        np.testing.assert_array_equal(getattr(slow, name)[1::2], getattr(free, name))
    np.testing.assert_array_equal(slow.a[2::2], slow.a[1:-1:2])
    assert not slow.busy[slow.frozen].any()
    np.testing.assert_array_equal(slow.busy[1::2], free.busy)


# ---- a second method: where everything has to be, PE by PE and cycle by cycle


def expected(a, b, rows, cols, dataflow, starts):
    """Records of a, b, sums and busy flags, from when each fold starts, without any motion."""
    seen = {"os": (a, b, None), "ws": (a.T, None, b), "is": (b, None, a.T)}[dataflow]
    right, down, held = seen
    lies_along_columns = held if down is None else down
    n_rows, n_columns = len(right), lies_along_columns.shape[1]
    corners = [(r, c) for c in range(0, n_columns, cols) for r in range(0, n_rows, rows)]
    found = {}
    for (r, c), start in zip(corners, starts, strict=True):
        for i in range(min(rows, n_rows - r)):
            for j in range(min(cols, n_columns - c)):
                for s in range(right.shape[1]):
                    if held is None:
                        below = right[r + i, : s + 1] @ down[: s + 1, c + j]
                        words = right[r + i, s], down[s, c + j], below
                    else:
                        so_far = right[r : r + i + 1, s] @ held[r : r + i + 1, c + j]
                        words = right[r + i, s], so_far, held[r + i, c + j]
                    found[start + i + j + s, i, j] = words
    return found


def in_order(run, dataflow):
    """What moves right, what moves down, what is held."""
    return {
        "os": (run.a, run.b, run.partial_sum),
        "ws": (run.a, run.partial_sum, run.b),
        "is": (run.b, run.partial_sum, run.a),
    }[dataflow]


@settings(max_examples=150)
@given(SIZE, SIZE, SIZE, st.integers(1, 4), st.integers(1, 4), st.booleans())
def test_every_product_is_where_it_has_to_be(m, n, k, rows, cols, overlaps):
    rng = np.random.default_rng(m + 10 * n + 100 * k)
    a, b = rng.integers(1, 10, (m, k)).astype(float), rng.integers(1, 10, (k, n)).astype(float)
    for dataflow in systolic.DATAFLOWS:
        run = simulate(a, b, rows=rows, cols=cols, dataflow=dataflow, double_buffer=overlaps)
        steps = {"os": k, "ws": m, "is": n}[dataflow]
        load = 0 if dataflow == "os" else rows
        every = max(steps, load) if overlaps else load + steps + rows + cols - 2
        starts = [load + f * every for f in range(run.n_folds)]
        assert run.folds.start_cycle.tolist() == starts
        where = expected(a, b, rows, cols, dataflow, starts)
        assert set(map(tuple, np.argwhere(run.busy).tolist())) == set(where)
        records = in_order(run, dataflow)
        for place, words in where.items():
            assert tuple(record[place] for record in records) == words


# ---- motion: each word comes from a neighbor


@settings(max_examples=150)
@given(
    SIZE, SIZE, SIZE, st.integers(1, 4), st.integers(1, 4), st.sampled_from(systolic.DATAFLOWS),
    st.booleans(), st.sampled_from(systolic.EDGES), st.sampled_from([None, 1, 3]),
)  # fmt: skip
def test_words_only_ever_move_to_a_neighbor(
    m, n, k, rows, cols, dataflow, overlaps, edges, bandwidth
):
    rng = np.random.default_rng(m + 10 * n + 100 * k)
    run = simulate(
        rng.random((m, k)), rng.random((k, n)), rows=rows, cols=cols, dataflow=dataflow,
        double_buffer=overlaps, edges=edges, bandwidth_words_per_cycle=bandwidth,
    )  # fmt: skip
    right, down, held = in_order(run, dataflow)
    for t in range(1, run.n_cycles):
        if run.frozen[t]:
            for record in (right, down, held):
                np.testing.assert_array_equal(record[t], record[t - 1])
            continue
        np.testing.assert_array_equal(right[t, :, 1:], right[t - 1, :, :-1])
        product = right[t] * (down[t] if dataflow == "os" else held[t])
        if dataflow == "os":
            np.testing.assert_array_equal(down[t, 1:], down[t - 1, :-1])
            grown = held[t - 1] + product
            is_right = (held[t] == grown) | (held[t] == product) | np.isnan(product)
            assert is_right.all()
        else:
            np.testing.assert_array_equal(down[t, 1:], down[t - 1, :-1] + product[1:])
            kept = (held[t] == held[t - 1]) | (held[t] == run.shadow[t - 1])
            assert (kept | np.isnan(held[t])).all()


def test_a_large_array_and_negative_and_broken_numbers():
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(40, 70)), rng.normal(size=(70, 50))
    for dataflow in systolic.DATAFLOWS:
        run = simulate(a, b, rows=32, cols=48, dataflow=dataflow, record=("busy",))
        np.testing.assert_allclose(run.product, a @ b, rtol=1e-12, atol=1e-12)
        assert run.busy.sum() == 40 * 70 * 50
        assert run.a is run.b is run.partial_sum is run.shadow is None


def test_what_is_kept_is_an_option_and_read_only():
    a, b = np.ones((3, 4)), np.ones((4, 5))
    run = simulate(a, b, rows=2, cols=2, dataflow="ws", record=["partial_sum"])
    assert run.busy is None
    assert run.partial_sum.shape == (run.n_cycles, 2, 2)
    nothing = simulate(a, b, rows=2, cols=2, dataflow="ws", record=())
    assert (
        nothing.n_cycles == run.n_cycles == count(3, 5, 4, rows=2, cols=2, dataflow="ws").n_cycles
    )
    for kept in (run.partial_sum, run.product, run.frozen, run.folds.a_reads):
        with pytest.raises(ValueError, match="read-only"):
            kept[0] = 0
    assert a.flags.writeable


def test_the_smallest_array_and_the_smallest_product():
    for dataflow, n_cycles in (("os", 1), ("ws", 2), ("is", 2)):
        run = simulate([[3]], [[-4]], rows=1, cols=1, dataflow=dataflow)
        assert (run.n_cycles, run.product.tolist()) == (n_cycles, [[-12.0]])
        assert run.busy[-1].all()
    long = simulate(np.ones((3, 5)), np.ones((5, 2)), rows=1, cols=1, dataflow="os")
    assert long.n_cycles == 3 * 5 * 2 == long.busy.sum()


SCRIPT = """
import numpy as np
from primer import systolic
rng = np.random.default_rng(0)
for m, n, k in ((5, 7, 3), (1, 9, 8)):
    a, b = rng.normal(size=(m, k)), rng.normal(size=(k, n))
    for dataflow in systolic.DATAFLOWS:
        for overlaps in (False, True):
            run = systolic.simulate(
                a, b, rows=3, cols=4, dataflow=dataflow, double_buffer=overlaps, drain=True,
                bandwidth_words_per_cycle=3.0)
            print(run.n_cycles, run.pe_cycles, run.product.tobytes().hex())
            print(np.nansum(run.a), np.nansum(run.b), np.nansum(run.partial_sum))
"""


def test_without_the_compiler_the_numbers_are_the_same():
    said = []
    for disabled in ("0", "1"):
        run = subprocess.run(
            [sys.executable, "-W", "error", "-c", SCRIPT], capture_output=True, text=True,
            env={**os.environ, "NUMBA_DISABLE_JIT": disabled}, check=True,
        )  # fmt: skip
        said.append(run.stdout)
    assert said[0] == said[1]
    assert said[0].count("\n") == 2 * 2 * 3 * 2

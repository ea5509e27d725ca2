"""The systolic array: values derived by hand, an independent tool, and laws for any shape."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from primer import systolic
from primer.convolution import Conv2d
from primer.systolic import count, simulate

ROWS = json.loads((Path(__file__).parent / "data/scalesim.json").read_text("utf-8"))["rows"]


def array(side, dataflow, **options):
    rows, cols = side if isinstance(side, tuple) else (side, side)
    return {"rows": rows, "cols": cols, "dataflow": dataflow, **options}


def matrices(m, n, k, seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(-9, 10, (m, k)), rng.integers(-9, 10, (k, n))


def both(m, n, k, where):
    """Counted while words move, and in closed form; every number of the two is the same."""
    a, b = matrices(m, n, k)
    run, form = simulate(a, b, **where), count(m, n, k, **where)
    for name in vars(form):
        assert getattr(run, name) == getattr(form, name), name
    np.testing.assert_array_equal(run.product, a @ b)
    return run


# ---- values derived by hand


@pytest.mark.parametrize(
    ("shape", "where", "n_cycles", "percent"),
    [
        # the last operand enters in cycle 16 + 3, its product is 3 further; 256 / (16 · 22)
        ((4, 4, 16), array(4, "os"), 16 + 4 + 4 - 2, 72.7),
        # and four rows to move the sums out
        ((4, 4, 16), array(4, "os", drain=True), 26, 61.5),
        # four folds, each 4 to load and 8 + 4 + 4 - 2 to stream; 512 / (16 · 72)
        ((8, 8, 8), array(4, "ws"), 4 * (4 + 14), 44.4),
        # load, three times 8 rows of A, and the last fold: 4 + 3 · 8 + 14
        ((8, 8, 8), array(4, "ws", double_buffer=True), 42, 76.2),
        # one row of A: 4 · (4 + 7); with shadow weights 4 + 3 · max(1, 4) + 7
        ((1, 8, 8), array(4, "ws"), 44, 9.1),
        ((1, 8, 8), array(4, "ws", double_buffer=True), 23, 17.4),
        # inputs stationary is the same with m and n exchanged
        ((8, 1, 8), array(4, "is"), 44, 9.1),
        ((8, 1, 8), array(4, "is", double_buffer=True), 23, 17.4),
        # shadow sums: 3 · max(3, 4) cycles to the last of four folds, 3 + 4 + 4 - 2 + 4 for it
        ((8, 8, 3), array(4, "os", double_buffer=True, drain=True), 12 + 13, 48.0),
    ],
)
def test_anchors(shape, where, n_cycles, percent):
    run = both(*shape, where)
    assert run.n_cycles == n_cycles
    assert round(100 * run.utilization_frac, 1) == percent


@pytest.mark.parametrize(
    ("m", "options", "n_cycles", "percent"),
    [
        # 6 · 24 folds of 128 + 1024 + 254
        (1024, {}, 144 * 1406, 72.8),
        (1024, {"double_buffer": True}, 128 + 143 * 1024 + 1278, 99.7),
        (1, {}, 144 * 383, 0.26),
        (1, {"double_buffer": True}, 128 + 143 * 128 + 255, 0.77),
        (128, {"double_buffer": True}, 128 + 143 * 128 + 382, 98.0),
    ],
)
def test_the_one_matmul_on_a_tpu(m, options, n_cycles, percent):
    found = count(m, 3072, 768, **array(128, "ws", **options))
    assert (found.n_folds, found.n_cycles) == (144, n_cycles)
    assert round(100 * found.utilization_frac, 1 if percent > 1 else 2) == percent
    assert found.accumulator_words == m * 3072


# Users who count by hand get one more than a tool that prints the index of its last cycle.
@pytest.mark.parametrize(
    ("shape", "side", "n_cycles", "with_drain"),
    [((2, 2, 2), 2, 4, 6), ((4, 4, 4), 4, 10, 14), ((4, 4, 4), 2, 24, 32)],
)
def test_a1_cycles_are_counted_not_numbered(shape, side, n_cycles, with_drain):
    run = both(*shape, array(side, "os"))
    assert run.n_cycles == len(run.busy) == n_cycles
    assert run.busy[-1].any(), "the last cycle of the record still multiplies"
    assert run.n_macs == math.prod(shape)
    drained = both(*shape, array(side, "os", drain=True))
    assert drained.n_cycles == with_drain
    assert not drained.busy[-1].any()


# What does not fill the array: no product is lost or made twice, and nobody works on padding.
def test_a3_sizes_that_do_not_divide():
    clipped = both(5, 7, 3, array(4, "os", edges="clipped"))
    assert (clipped.n_folds, clipped.n_macs) == (4, 105)
    assert (clipped.folds.end_cycle - clipped.folds.start_cycle).tolist() == [9, 6, 8, 5]
    assert clipped.n_cycles == 28
    assert round(100 * clipped.utilization_frac, 2) == 23.44
    full = both(5, 7, 3, array(4, "os"))
    assert (full.n_cycles, round(100 * full.utilization_frac, 2)) == (4 * 9, 18.23)
    small = both(3, 4, 2, array(4, "os", edges="clipped"))
    assert (small.n_macs, small.n_cycles) == (24, 7)
    assert both(3, 4, 2, array(4, "os")).n_cycles == 8
    assert not small.busy[:, 3].any()


@pytest.mark.parametrize("shape", [(5, 7, 3), (3, 4, 2), (7, 8, 9), (1, 1, 1), (9, 1, 5)])
@pytest.mark.parametrize("dataflow", systolic.DATAFLOWS)
@pytest.mark.parametrize("edges", systolic.EDGES)
def test_a3_every_product_once_for_every_dataflow(shape, dataflow, edges):
    run = both(*shape, array(4, dataflow, edges=edges))
    assert run.busy.sum() == run.n_macs == math.prod(shape)


def test_a5_a_convolution_with_two_strides():
    # 28 x 28 x 3, 3 x 3 kernel, stride 2 down and 1 across: 13 x 26 places, 27 numbers each
    conv = Conv2d(28, 28, 3, 8, kernel=3, stride=(2, 1))
    (gemm,) = conv.gemms()
    assert (gemm.m, gemm.k, gemm.n) == (338, 27, 8)
    for dataflow in systolic.DATAFLOWS:
        run = both(gemm.m, gemm.n, gemm.k, array(8, dataflow))
        assert run.n_macs == 73_008
        assert 2 * run.n_macs == 146_016
    square = Conv2d(10, 10, 1, 1, kernel=3, padding=2, stride=2)
    assert square.output_shape[-1] == 6


# Stalls with enough bandwidth, or none with too little: 64 words of A and 64 of B, four of each
# a cycle at most.
@pytest.mark.parametrize(
    ("bandwidth", "n_cycles"),
    [(None, 22), (math.inf, 22), (1000, 22), (8, 22), (4, 128 // 4), (2, 128 // 2), (3, 43)],
)
def test_a6_bandwidth(bandwidth, n_cycles):
    run = both(4, 4, 16, array(4, "os", bandwidth_words_per_cycle=bandwidth))
    assert (run.a_reads, run.b_reads) == (64, 64)
    assert (run.n_cycles, run.stall_cycles) == (n_cycles, n_cycles - 22)
    assert run.frozen.sum() == run.stall_cycles
    assert run.n_macs == 256


# ---- an independent tool


@pytest.mark.parametrize("dataflow", systolic.DATAFLOWS)
def test_scalesim(dataflow):
    rows = [row for row in ROWS if row[5] == dataflow]
    assert len(rows) > 100
    m, n, k, rows_of, cols_of = np.array([row[:5] for row in rows]).T
    last, a_reads, b_reads, mapping = np.array([row[6] for row in rows]).T
    found = count(m, n, k, rows=rows_of, cols=cols_of, dataflow=dataflow)
    np.testing.assert_array_equal(found.n_cycles, last + 1)
    np.testing.assert_array_equal(found.a_reads, a_reads)
    np.testing.assert_array_equal(found.b_reads, b_reads)
    np.testing.assert_array_equal(np.round(100 * found.mapping_frac, 9), mapping)


# ---- laws

SIZE = st.integers(1, 12)
WHERE = st.fixed_dictionaries(
    {
        "rows": st.integers(1, 6),
        "cols": st.integers(1, 6),
        "dataflow": st.sampled_from(systolic.DATAFLOWS),
        "drain": st.booleans(),
        "edges": st.sampled_from(systolic.EDGES),
        "double_buffer": st.booleans(),
        "bandwidth_words_per_cycle": st.sampled_from([None, 0.7, 1, 2.5, 6, 20]),
    }
)


@settings(max_examples=300)
@given(SIZE, SIZE, SIZE, WHERE)
def test_the_run_and_the_closed_form_agree(m, n, k, where):
    run = both(m, n, k, where)
    n_pe_cycles = run.rows * run.cols * run.n_cycles
    assert run.n_macs == run.busy.sum() == m * n * k
    assert run.utilization_frac == run.n_macs / n_pe_cycles <= 1
    assert sum(run.pe_cycles) == n_pe_cycles
    assert min(run.pe_cycles) >= 0
    assert math.isclose(sum(run.shares), 1)
    assert run.shares.useful == run.utilization_frac
    folds = run.folds
    assert (folds.n_rows * folds.n_cols).sum() / (run.n_folds * run.rows * run.cols) == (
        run.mapping_frac
    )
    assert (folds.a_reads.sum(), folds.b_reads.sum()) == (run.a_reads, run.b_reads)
    assert folds.c_writes.sum() == run.c_writes == run.c_reads + m * n
    assert folds.end_cycle[-1] == run.n_cycles
    assert (np.diff(folds.end_cycle) >= 0).all()


@settings(max_examples=300)
@given(SIZE, SIZE, SIZE, WHERE, st.floats(0.5, 50), st.floats(1, 4))
def test_more_bandwidth_and_shadows_never_slow_down(m, n, k, where, bandwidth, factor):
    less, more = (
        count(m, n, k, **where | {"bandwidth_words_per_cycle": words})
        for words in (bandwidth, bandwidth * factor)
    )
    free = count(m, n, k, **where | {"bandwidth_words_per_cycle": None})
    assert less.n_cycles >= more.n_cycles >= free.n_cycles == less.compute_cycles
    assert less.n_cycles >= (less.a_reads + less.b_reads) / bandwidth - 1e-6
    assert free.stall_cycles == 0
    serial, overlapped = (
        count(m, n, k, **where | {"double_buffer": overlaps}) for overlaps in (False, True)
    )
    assert overlapped.n_cycles <= serial.n_cycles
    clipped, full = (
        count(m, n, k, **where | {"edges": edges, "double_buffer": False})
        for edges in ("clipped", "full")
    )
    assert clipped.n_cycles <= full.n_cycles


@settings(max_examples=100)
@given(SIZE, SIZE, SIZE, st.integers(1, 6), st.integers(1, 6), st.booleans())
def test_cycles_per_fold(m, n, k, rows, cols, is_clipped):
    for dataflow in systolic.DATAFLOWS:
        a, b = matrices(m, n, k)
        where = array((rows, cols), dataflow, edges="clipped" if is_clipped else "full")
        folds = simulate(a, b, **where, record=()).folds
        steps = {"os": k, "ws": m, "is": n}[dataflow]
        high, wide = (folds.n_rows, folds.n_cols) if is_clipped else (rows, cols)
        load = 0 if dataflow == "os" else high
        assert (folds.start_cycle - folds.load_cycle == load).all()
        assert (folds.end_cycle - folds.start_cycle == steps + high + wide - 2).all()


def test_clipped_folds_that_overlap_can_take_longer():
    # Folds of 3 rows and of 1 in turn, one step each. Full: one starts in every cycle, and the last
    # takes 3. Clipped: one of 3 takes 3 and one of 1 takes 1, and may not end first, so it starts 2
    # cycles behind; the next of 3 starts 1 behind that: starts 0, 2, 3, 5, 6, 8, and the end is 9.
    where = {"rows": 3, "cols": 1, "dataflow": "os", "double_buffer": True}
    assert count(4, 3, 1, **where).n_cycles == 5 + 3
    assert count(4, 3, 1, **where, edges="clipped").n_cycles == 9
    done = simulate(np.ones((4, 1)), np.ones((1, 3)), **where, edges="clipped")
    assert done.folds.start_cycle.tolist() == [0, 2, 3, 5, 6, 8]
    assert done.folds.end_cycle.tolist() == [3, 3, 6, 6, 9, 9]


def test_reads_of_one_fold_by_hand():
    # os: every row of A and every column of B passes once; ws: the weights once, A for each fold
    one = both(4, 4, 16, array(4, "os"))
    assert (one.a_reads, one.b_reads, one.c_writes, one.c_reads) == (64, 64, 16, 0)
    many = both(8, 8, 8, array(4, "ws"))
    assert (many.a_reads, many.b_reads) == (8 * 8 * 2, 64)
    # partial sums cross the lower edge for each of two folds along k, and half are added to
    assert (many.c_writes, many.c_reads, many.accumulator_words) == (128, 64, 64)
    assert many.folds.c_writes.tolist() == [8 * 4] * 4
    turned = both(8, 8, 8, array(4, "is"))
    assert (turned.a_reads, turned.b_reads) == (64, 128)


def test_inputs_stationary_is_weights_stationary_turned():
    for m, n, k in itertools.product((1, 5, 8), repeat=3):
        for options in ({}, {"double_buffer": True}, {"edges": "clipped"}):
            ws = count(m, n, k, **array((3, 4), "ws", **options))
            turned = count(n, m, k, **array((3, 4), "is", **options))
            assert (ws.n_cycles, ws.pe_cycles) == (turned.n_cycles, turned.pe_cycles)
            assert (ws.a_reads, ws.b_reads) == (turned.b_reads, turned.a_reads)


def test_where_the_cycles_of_one_fold_go():
    # 3 x 4 of 4 x 4 PEs, 8 steps: 16 · 4 of loading, 16 · 6 of waiting, 4 unused PEs for 8 steps
    run = both(8, 4, 3, array(4, "ws"))
    assert run.pe_cycles == (96, 96, 32, 64, 0)
    assert sum(run.pe_cycles) == 16 * (4 + 14)


def test_arrays_of_shapes():
    m = np.arange(1, 2001)
    found = count(m[:, None], [64, 129], 64, **array(128, "ws"))
    assert found.n_cycles.shape == found.pe_cycles.padding.shape == (2000, 2)
    for i, j in ((0, 0), (1999, 1), (127, 0)):
        one = count(int(m[i]), (64, 129)[j], 64, **array(128, "ws"))
        assert type(one.n_cycles) is int
        for name in ("n_cycles", "n_macs", "a_reads", "utilization_frac", "mapping_frac"):
            assert getattr(found, name)[i, j] == getattr(one, name)
    with pytest.raises(ValueError, match="read-only"):
        found.n_cycles[0] = 0
    by_array = count(5, 7, 3, rows=[4, 8], cols=4, dataflow="os", edges="clipped")
    assert by_array.n_cycles.tolist() == [28, (3 + 5 + 4 - 2) + (3 + 5 + 3 - 2)]
    limited = count(4, 4, 16, **array(4, "os", bandwidth_words_per_cycle=[8, 4, 2]))
    assert limited.stall_cycles.tolist() == [0, 10, 42]

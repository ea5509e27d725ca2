"""The 4 × 4 product by hand: every step against numpy and against the one before."""

from __future__ import annotations

import numpy as np
import pytest

from primer.figures.dot_product import (
    EXPLORABLE,
    A,
    B,
    N,
    compute,
    draw_dot_product,
    entry_text,
    record,
)

PRODUCT = np.array(A) @ np.array(B)


def test_the_first_entry_by_hand():
    # 3·2 + 1·5 + 2·3 + 4·1 = 6 + 5 + 6 + 4 = 21
    assert [compute(step).running_sum for step in range(5)] == [0, 6, 11, 17, 21]
    assert PRODUCT[0, 0] == 21


def test_all_entries_equal_numpy():
    run = compute(N**3).run
    assert np.array_equal(run.sum.reshape(N, N, N)[:, :, -1], PRODUCT)
    assert run.sum.dtype.kind == "i"
    steps = (run.row, run.column, run.inner, run.product, run.sum)
    assert {len(each) for each in steps} == {64}
    assert not any(each.flags.writeable for each in steps)


def test_a_known_example_of_others():
    # Row (10, 2, 7, 7) times column (4, 9, 1, 9): 40 + 18 + 7 + 63 = 128
    a, b = np.zeros((2, 4, 4), int)
    a[0], b[:, 0] = (10, 2, 7, 7), (4, 9, 1, 9)
    assert record(a, b).sum[:4].tolist() == [40, 58, 65, 128]


def test_every_number_is_fetched_n_times():
    result = compute(N**3)
    assert result.operand_reads == 2 * N**3 == 128
    assert result.n_distinct == 2 * N**2 == 32
    assert result.operand_reads / result.n_distinct == N
    for step in range(N**3 + 1):
        assert compute(step).n_distinct <= min(2 * step, 32)


@pytest.mark.parametrize("step", range(0, 65, 3))
def test_the_picture_shows_what_is_done(step):
    result = compute(step)
    figure = draw_dot_product(result)
    shown = [text.get_text() for text in figure.entries]
    assert sum(bool(text) for text in shown) == -(-step // N)
    for e in range(result.n_finished):
        assert shown[e] == str(PRODUCT.flat[e]) == entry_text(result, e)
    if step:
        last = (step - 1) // N
        assert shown[last] == str(result.running_sum)
        assert result.entry == divmod(last, N)
    done = figure.done.get_path().vertices
    assert len(done) == 5 * max(result.n_finished, 1)


def test_sentences():
    assert EXPLORABLE.evaluate({"step": 0}).spoken.startswith("Row 0 of A")
    assert EXPLORABLE.evaluate({"step": 3}).spoken == (
        "2 · 3 = 6 is added to C[0,0], which now holds 17."
    )
    assert EXPLORABLE.evaluate({"step": 4}).spoken == (
        "4 · 1 = 4 is the last product of C[0,0], which is 21. 1 of 16 entries are finished."
    )
    assert "fetched 128 numbers, but there are only 32" in EXPLORABLE.evaluate({"step": 64}).spoken
    rows = {row.name: row.value for row in EXPLORABLE.evaluate({"step": 64}).rows}
    assert (rows["n_macs"], rows["flop"]) == (64, 128)


def test_an_unknown_step_is_refused():
    with pytest.raises(ValueError, match="step must be one of"):
        EXPLORABLE.evaluate({"step": 65})

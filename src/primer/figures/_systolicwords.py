"""The numbers of the systolic figure: in its cells, before its edges, and what a cell lived."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from primer.figures._systolicplaces import ACROSS, ALONG, LEFT, N_WAITING, SIDE, TOP, cell, middle
from primer.figures._systolicsteps import PADDING, Setup, Step, matrices, run
from primer.figures._tells import Tell
from primer.figures._words import Word

Floats = NDArray[np.float64]
ROOMY = 40.0  # points along a cell's side from which on there is room for three numbers


def _now(step: Step, record: Floats | None) -> Floats:
    """A record in the cycle shown; nothing before the first."""
    assert record is not None
    return record[step.t] if step.cycle else np.full(record.shape[1:], np.nan)


def factors(step: Step) -> Iterator[Word]:
    """What meets in a cell; or what it holds, while nothing does."""
    done = run(step.setup)
    a, b = _now(step, done.a), _now(step, done.b)
    for i, j in np.argwhere(step.states != PADDING):
        there = [f"{x[i, j]:.0f}" for x in (a, b) if not np.isnan(x[i, j])]
        if there:
            yield *middle(step.setup, int(i), int(j), 0.57), "·".join(there)


def sums(step: Step) -> Iterator[Word]:
    """The sum so far: held, or on its way down."""
    found = _now(step, run(step.setup).partial_sum)
    for i, j in np.argwhere((step.states != PADDING) & ~np.isnan(found)):
        yield *middle(step.setup, int(i), int(j), 0.16), f"{found[i, j]:.0f}"


def shadows(step: Step) -> Iterator[Word]:
    """What waits behind: the next weight, in the corner of its cell."""
    record = run(step.setup).shadow
    if record is None:
        return
    found = _now(step, record)
    for i, j in np.argwhere(~np.isnan(found)):
        x, y, w, h = cell(step.setup, int(i), int(j))
        at = (x + 0.84 * w, y + 0.78 * h) if w > ROOMY else (x + w / 2, y + 0.36 * h)
        yield *at, f"{found[i, j]:.0f}"


def counts(step: Step) -> Iterator[Word]:
    """Products made so far."""
    for i, j in np.argwhere(step.worked > 0):
        yield *middle(step.setup, int(i), int(j), 0.37), str(step.worked[i, j])


def _coming(step: Step) -> list[int]:
    """The next cycles in which something moves."""
    moving = np.flatnonzero(~run(step.setup).frozen)
    return [int(t) for t in moving[moving > step.t][:N_WAITING]]


def from_the_left(step: Step) -> Iterator[Word]:
    """Words that enter at the left edge next, the first of them nearest."""
    done = run(step.setup)
    record = done.b if step.setup.dataflow == "is" else done.a
    assert record is not None
    for place, t in enumerate(_coming(step)):
        for i in np.flatnonzero(~np.isnan(record[t, :, 0])):
            _, y = middle(step.setup, int(i), 0, 0.37)
            yield LEFT - ACROSS * (place + 0.65), y, f"{record[t, i, 0]:.0f}"


def from_above(step: Step) -> Iterator[Word]:
    """Words that enter at the upper edge next: an operand that moves down."""
    if step.setup.dataflow != "os":
        return
    record = run(step.setup).b
    assert record is not None
    for place, t in enumerate(_coming(step)):
        for j in np.flatnonzero(~np.isnan(record[t, 0])):
            x, _ = middle(step.setup, 0, int(j), 0.0)
            yield x, TOP + ALONG * place + 6, f"{record[t, 0, j]:.0f}"


def weights(step: Step) -> Iterator[Word]:
    """Words that enter at the upper edge next to be held, those of the lowest row first."""
    setup = step.setup
    if setup.dataflow == "os":
        return
    a, b = matrices(*setup.product[:3])
    held, folds, n = b if setup.dataflow == "ws" else a.T, run(setup).folds, setup.product.side
    for load, row, column in zip(folds.load_cycle, folds.row, folds.column, strict=True):
        for j in range(n):
            for place in range(N_WAITING):
                i = n - 1 - (step.cycle + place - load - j)
                inside = row + i < held.shape[0] and column + j < held.shape[1]
                if 0 <= i < n:
                    x, _ = middle(setup, 0, j, 0.0)
                    word = str(held[row + i, column + j]) if inside else "0"
                    yield x, TOP + ALONG * place + 6, word


def leaving(step: Step) -> Iterator[Word]:
    """Sums that have just left at the lower edge."""
    if step.setup.dataflow == "os" or step.cycle < 2:
        return
    record = run(step.setup).partial_sum
    assert record is not None
    last = record[step.t - 1, -1]
    for j in np.flatnonzero(~np.isnan(last)):
        x, _ = middle(step.setup, 0, int(j), 0.0)
        yield x, TOP - SIDE - 15, f"{last[j]:.0f}"


def tells(setup: Setup) -> Iterator[Tell]:
    """What every cell lived."""
    side = setup.product.side
    for i in range(side):
        for j in range(side):
            yield Tell(cell(setup, i, j), f"row {i}, column {j}", life(setup, i, j))


def life(setup: Setup, i: int, j: int) -> str:
    """All products of a cell, each with its cycle.

    >>> life(Setup("square", "os"), 0, 1)
    'cycle 2: 1·5 = 5; 3: + 3·7 = 26; 4: + 5·2 = 36; 5: + 7·4 = 64'
    >>> life(Setup("square", "ws"), 1, 0)[:29]
    'cycle 6: 2 + 3·4 = 14; 7: 8 +'
    """
    done, told = run(setup), []
    assert done.a is not None
    assert done.b is not None
    assert done.partial_sum is not None
    assert done.busy is not None
    for t in np.flatnonzero(done.busy[:, i, j]):
        a, b, after = (x[t, i, j] for x in (done.a, done.b, done.partial_sum))
        before = after - a * b
        from_above = "" if setup.dataflow == "os" else f"{before:.0f} "
        told.append(f"{t + 1}: {f'{from_above}+ ' if before else ''}{a:.0f}·{b:.0f} = {after:.0f}")
    return f"cycle {'; '.join(told)}" if told else "no product: the matrices do not reach it"

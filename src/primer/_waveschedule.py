"""Blocks handed out to multiprocessors one after another: waves, event by event."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from primer import _checks
from primer._jit import njit

MOST_BLOCKS, MOST_SMS, MOST_TOGETHER, MOST_WORK = 20_000, 1024, 32, 1e6
_DONE = 1e-9  # of a block's work: what rounding may leave over


@dataclass(frozen=True, kw_only=True, eq=False)
class Schedule:
    """Which multiprocessor runs which block, and when.

    Parameters
    ----------
    i_sm : int array (n_blocks,)
        Where each block runs.
    start_tiles, end_tiles : float array (n_blocks,)
        When it begins and ends, in times of a block of work 1 alone on a multiprocessor.
    span_tiles : float
        When the last one ends.
    utilization_frac : float
        Work done, as a share of what all multiprocessors could have done until then.
    """

    i_sm: NDArray[np.int64]
    start_tiles: NDArray[np.float64]
    end_tiles: NDArray[np.float64]
    span_tiles: float
    utilization_frac: float


def schedule(
    n_blocks: int, n_sms: int, *, blocks_per_sm: int = 1, work: ArrayLike = 1.0
) -> Schedule:
    """Hand out blocks one after another, each to the multiprocessor with the most room.

    Blocks on one multiprocessor share it equally. When one ends, the next in line takes its place.
    Waves appear by themselves where all blocks are alike; where they are not, as in attention with
    a causal mask, the greedy order fills most of the gaps.

    Parameters
    ----------
    n_blocks, n_sms : int
        At most 20,000 blocks on 1,024 multiprocessors.
    blocks_per_sm : int
        How many may live on a multiprocessor at once; at most 32.
    work : float or float array (n_blocks,)
        Work of each block, 1 being a whole tile.

    Returns
    -------
    Schedule

    Raises
    ------
    ValueError
        If a count is not a positive integer or too large, or some work not above 0 and at most
        1,000,000.

    Examples
    --------
    >>> schedule(5, 2).span_tiles, schedule(4, 2).span_tiles
    (3.0, 2.0)
    >>> schedule(4, 2, work=[1, 2, 3, 1]).end_tiles.tolist()
    [1.0, 2.0, 4.0, 3.0]
    """
    blocks = _checks.whole("n_blocks", n_blocks, maximum=MOST_BLOCKS)
    sms = _checks.whole("n_sms", n_sms, maximum=MOST_SMS)
    together = _checks.whole("blocks_per_sm", blocks_per_sm, maximum=MOST_TOGETHER)
    amounts = _work(work, blocks)
    where = np.zeros(blocks, dtype=np.int64)
    start, end = np.zeros(blocks), np.zeros(blocks)
    _hand_out(amounts, sms, together, where, start, end)
    for steps in (where, start, end):
        steps.flags.writeable = False
    span = float(end.max())
    return Schedule(
        i_sm=where, start_tiles=start, end_tiles=end, span_tiles=span,
        utilization_frac=min(1.0, float(amounts.sum()) / (sms * span)),
    )  # fmt: skip


def _work(work: ArrayLike, n_blocks: int) -> NDArray[np.float64]:
    """The work of every block, checked."""
    rule = f"be one number, or one for each of {n_blocks} blocks"
    try:
        values = np.asarray(work)
    except ValueError:  # lists of unequal length
        _checks.fail("work", rule, work)
    if values.dtype.kind not in "iuf" or values.shape not in ((), (n_blocks,)):
        _checks.fail("work", rule, work)
    amounts = np.broadcast_to(values, n_blocks).astype(np.float64)
    wrong = ~((amounts > 0) & (amounts <= MOST_WORK))
    if wrong.any():
        _checks.fail("work", f"lie above 0 and not above {MOST_WORK:,.0f}", amounts[wrong][0])
    return amounts


@njit
def _hand_out(work: Any, n_sms: int, together: int, where: Any, start: Any, end: Any) -> None:
    """Fill the arrays, event by event; slots hold the work that is left of their block."""
    left = np.zeros((n_sms, together))
    held = np.full((n_sms, together), -1)
    n_held = np.zeros(n_sms, dtype=np.int64)
    now, following, n_running = 0.0, 0, 0
    while following < len(work) or n_running:
        while following < len(work) and n_running < n_sms * together:
            free = np.argmin(n_held)  # the first of those with the most room
            slot = 0
            while held[free, slot] >= 0:
                slot += 1
            held[free, slot], left[free, slot] = following, work[following]
            where[following], start[following] = free, now
            n_held[free] += 1
            n_running += 1
            following += 1
        wait = np.inf
        for sm in range(n_sms):
            for slot in range(together):
                if held[sm, slot] >= 0:
                    wait = min(wait, left[sm, slot] * n_held[sm])
        now += wait
        for sm in range(n_sms):
            share = wait / max(1, n_held[sm])
            for slot in range(together):
                block = held[sm, slot]
                if block >= 0:
                    left[sm, slot] -= share
                    if left[sm, slot] <= _DONE * work[block]:
                        end[block] = now
                        held[sm, slot] = -1
                        n_held[sm] -= 1
                        n_running -= 1

"""The engine of `primer.warps.schedule`: warps, schedulers and a memory, cycle by cycle.

All of a multiprocessor is one int64 array, for compiled code counts references to every array that
it passes on. It holds the numbers named below, then one TURN per scheduler (the warp that issued
last; for round robin, the warp that issues next), then three numbers per warp:

    READY   the cycle from which the warp's next instruction may issue; NEVER, if it has none
    AT      that instruction's place in the program, where loads come first
    LEFT    how many times the warp still has to go through the program, this time included

Warp w belongs to scheduler w mod N_SCHEDULERS. A cycle in which nothing can issue is stepped over.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from primer._jit import njit

GTO, ROUND_ROBIN, OLDEST = range(3)

# positions in the array: what does not change, clocks, counts
(
    N_WARPS, N_SCHEDULERS, POLICY, N_LOADS, LENGTH, LATENCY, INTERVAL, ALU_LATENCY,
    CLOCK, WAKE, FREE, PORT, N_ISSUED, N_ISSUED_LOADS, WAITED, N_DONE, N_CYCLES, N_PASSED_OVER,
    TURNS,
) = range(19)  # fmt: skip
READY, AT, LEFT, EACH = range(4)
# of a logged instruction: warp, place in the program, when the warp can go on, when its load is
# back, whether it was the warp's last
WARP, PLACE, NEXT, BACK, IS_LAST, LOGGED = range(6)
NEVER = 1 << 60
FOREVER = 1 << 40


def build(
    *, n_warps: int, n_schedulers: int, policy: int, n_loads: int, n_alu: int, latency: int,
    interval: int, alu_latency: int, n_iterations: int = FOREVER,
) -> NDArray[np.int64]:  # fmt: skip
    """A multiprocessor at cycle 0, where every warp stands before its first instruction."""
    n_rows = max(n_warps, n_schedulers)  # a scheduler without warps looks at one that is done
    state = np.zeros(TURNS + n_schedulers + EACH * n_rows, dtype=np.int64)
    state[:CLOCK] = (
        n_warps, n_schedulers, policy, n_loads, n_loads + n_alu, latency, interval, alu_latency,
    )  # fmt: skip
    state[PORT] = -1
    state[TURNS : TURNS + n_schedulers] = np.arange(n_schedulers)
    warps = state[TURNS + n_schedulers :].reshape(n_rows, EACH)
    warps[:n_warps, LEFT], warps[n_warps:, READY] = n_iterations, NEVER
    return state


@njit(inline=True)
def _place(state: Any, warp: Any) -> Any:
    """Where a warp's numbers begin."""
    return TURNS + state[N_SCHEDULERS] + EACH * warp


@njit(inline=True)
def _is_held(state: Any, at: Any) -> Any:
    """Whether a warp that is ready must wait all the same: its load finds the port taken."""
    return state[PORT] == state[CLOCK] and state[at + AT] < state[N_LOADS]


@njit(inline=True)
def _choose(state: Any, scheduler: Any) -> Any:
    """The warp that a scheduler issues from now, or -1; then WAKE says when to look again."""
    now, step, policy = state[CLOCK], state[N_SCHEDULERS], state[POLICY]
    first, last = scheduler, state[N_WARPS]
    if policy == ROUND_ROBIN:
        first = state[TURNS + scheduler]
        last = min(first + 1, last)
    elif policy == GTO:
        turn = state[TURNS + scheduler]
        at = _place(state, turn)
        if state[at + READY] <= now and not _is_held(state, at):
            return turn
    for warp in range(first, last, step):
        at = _place(state, warp)
        if state[at + READY] > now:
            state[WAKE] = min(state[WAKE], state[at + READY])
        elif _is_held(state, at):
            state[WAKE] = now + 1
        else:
            state[N_PASSED_OVER] += warp - first
            return warp
    state[N_PASSED_OVER] += last - first
    return -1


@njit(inline=True)
def _issue(state: Any, scheduler: Any, warp: Any) -> Any:
    """Issue a warp's next instruction; when its load comes back, 0 if it is none."""
    now, at, back = state[CLOCK], _place(state, warp), 0
    place = state[at + AT]
    if place < state[N_LOADS]:
        start = max(now, state[FREE])
        back = start + state[LATENCY]
        state[FREE] = start + state[INTERVAL]
        state[PORT] = now
        state[N_ISSUED_LOADS] += 1
        state[WAITED] += back - now
        state[at + READY] = back if place == state[N_LOADS] - 1 else now + 1
    else:
        state[at + READY] = now + state[ALU_LATENCY]
    state[at + AT] = place + 1
    if place + 1 == state[LENGTH]:
        state[at + AT] = 0
        state[at + LEFT] -= 1
    state[N_ISSUED] += 1
    state[N_CYCLES] = now + 1
    state[TURNS + scheduler] = warp
    return back


@njit(inline=True)
def _finish(state: Any, scheduler: Any, warp: Any) -> Any:
    """Retire a warp that has gone through its program for the last time; pass the turn on."""
    if state[_place(state, warp) + LEFT] == 0:
        state[_place(state, warp) + READY] = NEVER
        state[N_DONE] += 1
    if state[POLICY] == ROUND_ROBIN:
        n, step, turn = state[N_WARPS], state[N_SCHEDULERS], warp
        for _ in range(0, n, step):
            turn = turn + step if turn + step < n else scheduler
            if state[_place(state, turn) + LEFT] > 0:
                break
        state[TURNS + scheduler] = turn


@njit(inline=True)
def _cycle(state: Any, log: Any) -> Any:
    """Let every scheduler issue; move the clock to the next cycle in which one may."""
    now, n, n_before = state[CLOCK], state[N_SCHEDULERS], state[N_ISSUED]
    state[WAKE] = NEVER
    scheduler = now % n if n > 1 else 0
    for _ in range(n):
        warp = _choose(state, scheduler)
        if warp >= 0:
            place = state[_place(state, warp) + AT]
            back = _issue(state, scheduler, warp)
            if now < log.shape[0]:
                log[now, scheduler, WARP], log[now, scheduler, PLACE] = warp, place
                log[now, scheduler, NEXT] = state[_place(state, warp) + READY]
                log[now, scheduler, BACK] = back
                log[now, scheduler, IS_LAST] = state[_place(state, warp) + LEFT] == 0
            _finish(state, scheduler, warp)
        scheduler = scheduler + 1 if scheduler + 1 < n else 0
    state[CLOCK] = now + 1 if state[N_ISSUED] > n_before else state[WAKE]


@njit
def run(state: Any, log: Any, n_cycles: Any) -> Any:
    """Go on until all warps are done, but not to a cycle beyond `n_cycles`; log the first ones."""
    while state[N_DONE] < state[N_WARPS] and state[CLOCK] < n_cycles:
        _cycle(state, log)


@njit
def settle(state: Any, before: Any, log: Any, most: Any, most_passed_over: Any) -> Any:
    """Go on until the machine is where it was; whether that happened within `most` looks.

    Brent's search: `before` is a copy that is renewed after 0, 1, 3, 7 … looks. When the machine
    agrees with it, but for the time, what came in between will come again for ever. If it never
    does, half of the looks and more lie behind the last copy; or half of the numbers passed over
    on the way to a warp that is ready, which take the time where there are many warps.
    """
    renewal = 0
    for look in range(most):
        passed_over = state[N_PASSED_OVER]
        if passed_over > most_passed_over:
            return False
        if look == renewal and 2 * look < most and 2 * passed_over <= most_passed_over:
            before[:] = state
            renewal = 2 * renewal + 1
        elif _agree(state, before):
            return True
        _cycle(state, log)
    return False


@njit
def _agree(state: Any, before: Any) -> Any:
    """Whether two machines differ in nothing but the time."""
    now, then, n = state[CLOCK], before[CLOCK], state[N_SCHEDULERS]
    if (now - then) % n != 0 or max(state[FREE] - now, 0) != max(before[FREE] - then, 0):
        return False
    for i in range(TURNS, TURNS + n):
        if state[i] != before[i]:
            return False
    for warp in range(state[N_WARPS]):
        at = _place(state, warp)
        if state[at + AT] != before[at + AT]:
            return False
        if max(state[at + READY] - now, 0) != max(before[at + READY] - then, 0):
            return False
    return True


@njit
def spread(log: Any, n_loads: Any, states: Any, kinds: Any, in_flight: Any) -> Any:
    """Write a log as what each warp does in each cycle; `states` begins as all ready.

    The numbers stand for the words in `primer._warprun`: issuing 0, ready 1, memory 2, alu 3,
    done 4; no instruction 0, load 1, alu 2.
    """
    n_cycles = log.shape[0]
    for now in range(n_cycles):
        for scheduler in range(log.shape[1]):
            warp, is_load = log[now, scheduler, WARP], log[now, scheduler, PLACE] < n_loads
            if warp < 0:
                continue
            kinds[now, scheduler] = 1 if is_load else 2
            states[now, warp] = 0
            follows = min(log[now, scheduler, NEXT], n_cycles)
            states[now + 1 : follows, warp] = 2 if is_load else 3
            if log[now, scheduler, IS_LAST]:
                states[follows:, warp] = 4
            if is_load:
                in_flight[now : min(log[now, scheduler, BACK], n_cycles)] += 1

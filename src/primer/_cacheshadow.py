"""The shadow of a cache: whether a fully associative one of its size would have missed, too.

A miss is laid to capacity if a fully associative LRU cache of the same size, fed
with the same touches, misses too. That shadow holds the lines touched since the tick OLDEST. To
know which line it drops next, lines are logged, but only once per epoch: an epoch ends when EPOCH
lines were touched in it, and touches of a line that is in the open epoch already (tick at least
FRESH) cost nothing. The line to drop is in the oldest epoch, which is sorted by tick when its turn
comes. When the log is full, what still counts is written together at its beginning.
"""

from typing import Any

from primer._cachelayout import (
    BEGINNINGS,
    CAPACITY,
    CLOCK,
    CROWDED,
    DROPPED,
    EPOCH,
    FAR,
    FRESH,
    HEAD,
    LOG,
    MASK,
    N_NEAR,
    N_OPEN,
    OLD,
    OLD_AT,
    OLDEST,
    OPEN,
    OVERFULL,
)
from primer._jit import njit


@njit(inline=True)
def renew(state: Any, at: Any, line: Any) -> Any:
    """Give a line the next tick of a level; its tick before."""
    cell = at + HEAD + 2 * line
    tick, clock = state[cell], state[at + CLOCK]
    state[at + CLOCK] = clock + 1
    state[cell] = clock
    return tick


@njit(inline=True)
def note(state: Any, at: Any, line: Any, tick: Any) -> Any:
    """Log the first touch of a line in this epoch; FAR if the shadow did not hold it.

    OVERFULL asks for a line to be dropped from the shadow, CROWDED for room in the log.
    """
    found, n, mask = 0, state[at + N_OPEN], state[at + MASK]
    if n == state[at + EPOCH]:
        n = 0
        state[at + OPEN] += 1
        state[at + FRESH] = state[at + CLOCK] - 1
        state[state[at + BEGINNINGS] + (state[at + OPEN] & mask)] = state[at + FRESH]
        if state[at + OPEN] + 2 - state[at + OLD] > mask:
            found = CROWDED
    if tick < state[at + OLDEST]:
        found |= FAR
        if state[at + N_NEAR] < state[at + CAPACITY]:
            state[at + N_NEAR] += 1
        else:
            found |= OVERFULL
    state[at + N_OPEN] = n + 1
    state[state[at + LOG] + (state[at + OPEN] & mask) * state[at + EPOCH] + n] = line
    return found


@njit
def settle(state: Any, at: Any, found: Any) -> Any:
    """Do what `note` asked for."""
    if found & OVERFULL:
        while not _drop(state, at):
            _sort(state, at, state[at + OLD])
    if found & CROWDED:
        _compact(state, at)


@njit
def _drop(state: Any, at: Any) -> Any:
    """Drop the oldest line from the shadow; False if the next epoch has to be sorted first."""
    lines, size, mask = at + HEAD, state[at + EPOCH], state[at + MASK]
    epoch, i = state[at + OLD], state[at + OLD_AT]
    row = state[at + LOG] + (epoch & mask) * size
    end = state[state[at + BEGINNINGS] + ((epoch + 1) & mask)]
    line = -1
    while 0 <= i < size and line < 0:
        line = state[row + i]
        i = size if line < 0 else i + 1
        if line >= 0 and state[lines + 2 * line] >= end:  # touched again since
            line = -1
    if line >= 0:
        state[at + OLDEST] = (state[lines + 2 * line]) + 1
        state[at + DROPPED] = line
    elif i == size:
        epoch, i = epoch + 1, 0
    else:
        i = 0
    state[at + OLD], state[at + OLD_AT] = epoch, i
    return line >= 0


@njit
def _sort(state: Any, at: Any, epoch: Any) -> Any:
    """Bring the lines of an epoch that still count into the order of their ticks; how many."""
    mask, begin, lines = state[at + MASK], state[at + BEGINNINGS], at + HEAD
    is_open = epoch == state[at + OPEN]
    low = max(state[begin + (epoch & mask)], state[at + OLDEST])
    end = state[at + CLOCK] if is_open else state[begin + ((epoch + 1) & mask)]
    length = state[at + N_OPEN] if is_open else state[at + EPOCH]
    row = state[at + LOG] + (epoch & mask) * state[at + EPOCH]
    n = 0
    for i in range(length):
        line = state[row + i]
        state[row + i] = -1
        if line >= 0 and low <= state[lines + 2 * line] < end:
            state[row + n] = line
            n += 1
    gap = 57  # Shell's sort: 57, 10, 1
    while gap > 0:
        for i in range(gap, n):
            line, place = state[row + i], row + i
            tick = state[lines + 2 * line]
            while place >= row + gap and state[lines + 2 * state[place - gap]] > tick:
                state[place] = state[place - gap]
                place -= gap
            state[place] = line
        gap = 10 if gap == 57 else gap // 10
    return n


@njit
def _compact(state: Any, at: Any) -> Any:
    """Write the lines that still count together, from the oldest epoch on."""
    lines, size, mask = at + HEAD, state[at + EPOCH], state[at + MASK]
    log, begin = state[at + LOG], state[at + BEGINNINGS]
    to, n = state[at + OLD], 0
    for epoch in range(state[at + OLD], state[at + OPEN] + 1):
        for i in range(_sort(state, at, epoch)):
            line = state[log + (epoch & mask) * size + i]
            if n == size:
                to, n = to + 1, 0
            if n == 0:
                state[begin + (to & mask)] = state[lines + 2 * line]
            state[log + (to & mask) * size + n] = line
            n += 1
    state[at + OPEN], state[at + N_OPEN] = to, n
    state[at + FRESH] = state[begin + (to & mask)]
    state[at + OLD_AT] = 0 if to > state[at + OLD] else -1

"""The engine of `primer.cache`: loops over one array of integers, compiled where Numba is there.

**Sets.** The ways of a set are a ring. The hand points to the line that leaves next, and what comes
in takes its place, so that the hand moves on: first in, first out. Least recently used is the same
with a second look. Lines stand in the order of the ticks that they had when they were placed; one
that was touched since is moved on to where it belongs, when the hand meets it. So a hit need not
look for the line's place, and a miss seldom looks at more than one.

`primer._cachelayout` says what stands where in the array, `primer._cacheshadow` tells capacity from
conflict.
"""

from typing import Any

import numpy as np

from primer._cachelayout import (
    CLOCK,
    DIRTY,
    DROPPED,
    EXCLUSIVE,
    FAR,
    FLAGS,
    FRESH,
    HEAD,
    INCLUSION,
    INCLUSIVE,
    KIND,
    LOST,
    LRU,
    N_FAR,
    N_LEVELS,
    N_MISSES,
    N_RECEIVED,
    N_REMOVED,
    N_STORE_MISSES,
    N_WRITEBACKS,
    NEVER,
    NINE,
    OLDEST,
    PRESENT,
    SHADOWED,
    SHIFT,
    STARTS,
    VICTIM,
    WAYS,
)
from primer._cacheshadow import note, renew, settle
from primer._jit import njit


@njit(inline=True)
def _place(state: Any, at: Any, line: Any) -> Any:
    """Put a line where the hand of its set points to; the line that has to leave, or -1."""
    ways, lines = state[at + WAYS], at + HEAD
    victim = state[at + DROPPED]
    if state[at + KIND] != SHADOWED:
        start = state[lines + 2 * line + 1] >> SHIFT
        way = start + 1 + state[start]
        victim = state[way]
        state[way] = line
        state[way + ways] = state[lines + 2 * line]
        state[start] = 0 if way == start + ways else way - start
    state[lines + 2 * line + 1] |= PRESENT
    return victim


@njit(inline=True)
def _is_stale(state: Any, at: Any, line: Any) -> Any:
    """Whether the hand of a line's set points to a line that was touched since it was placed."""
    is_stale = False
    if state[at + KIND] == LRU:
        start = state[at + HEAD + 2 * line + 1] >> SHIFT
        way = start + 1 + state[start]
        victim = state[way]
        if victim >= 0:
            is_stale = state[at + HEAD + 2 * victim] != state[way + state[at + WAYS]]
    return is_stale


@njit
def _move_on(state: Any, at: Any, line: Any) -> Any:
    """Move the stale lines of a line's set on, until the hand points to the oldest."""
    lines, ways, start = at + HEAD, state[at + WAYS], state[at + HEAD + 2 * line + 1] >> SHIFT
    first, last = start + 1, start + ways
    way = first + state[start]
    tick = state[lines + 2 * state[way]]
    while tick != state[way + ways]:
        moved, place = state[way], way  # the hand leaves it behind, which makes it the newest
        way = first if way == last else way + 1
        before = last if place == first else place - 1
        while place != way and state[before + ways] > tick:
            state[place], state[place + ways] = state[before], state[before + ways]
            place = before
            before = last if place == first else place - 1
        state[place], state[place + ways] = moved, tick
        tick = state[lines + 2 * state[way]]
    state[start] = way - first


@njit(inline=True)
def _release(state: Any, at: Any, line: Any) -> Any:
    """Mark a line as gone from a level; its dirty bit."""
    cell = at + HEAD + 2 * line + 1
    home = state[cell]
    if state[at + VICTIM] < 0:
        state[at + VICTIM] = line
    state[cell] = home & ~FLAGS
    return home & DIRTY


@njit
def _remove(state: Any, at: Any, line: Any) -> Any:
    """Take a line out of its set where nothing takes its place; its dirty bit.

    Older lines close up, which leaves the gap where the next line goes.
    """
    cell = at + HEAD + 2 * line + 1
    is_dirty, start, ways = state[cell] & DIRTY, state[cell] >> SHIFT, state[at + WAYS]
    way = start + 1
    while state[way] != line:
        way += 1
    while way != start + 1 + state[start]:
        before = way - 1 if way > start + 1 else start + ways
        state[way], state[way + ways] = state[before], state[before + ways]
        way = before
    state[way] = -1
    state[at + N_REMOVED] += 1
    state[cell] &= ~FLAGS
    return is_dirty


@njit
def _pass_on(state: Any, level: Any, line: Any, is_dirty: Any) -> Any:
    """What a line that leaves a level brings about, above and below."""
    while line >= 0:
        if state[INCLUSION] == INCLUSIVE:
            for above in range(level):
                at = state[STARTS + above]
                if state[at + HEAD + 2 * line + 1] & PRESENT:
                    was_dirty = _remove(state, at, line)
                    state[at + N_WRITEBACKS] += was_dirty >> 1
                    is_dirty |= was_dirty
        state[state[STARTS + level] + N_WRITEBACKS] += is_dirty >> 1
        level += 1
        if level == state[N_LEVELS] or (is_dirty == 0 and state[INCLUSION] != EXCLUSIVE):
            return
        at = state[STARTS + level]
        line = _receive(state, at, line, is_dirty)
        if line >= 0:
            is_dirty = _release(state, at, line)


@njit
def _receive(state: Any, at: Any, line: Any, is_dirty: Any) -> Any:
    """Take in a line from the level above; the line that has to leave for it, or -1."""
    victim = -1
    if state[INCLUSION] != EXCLUSIVE:
        _touch(state, at, line)
    if state[at + HEAD + 2 * line + 1] & PRESENT == 0:
        if _is_stale(state, at, line):
            _move_on(state, at, line)
        victim = _place(state, at, line)
        state[at + N_RECEIVED] += 1
    state[at + HEAD + 2 * line + 1] |= is_dirty
    return victim


@njit
def _touch(state: Any, at: Any, line: Any) -> Any:
    """Make a line the newest of a level and of its shadow."""
    tick = renew(state, at, line)
    if tick < state[at + FRESH]:
        settle(state, at, note(state, at, line, tick))


@njit
def _swap(state: Any, level: Any, line: Any) -> Any:
    """Exclusive levels: a line moves up from where it was found, a victim moves down."""
    for below in range(level + 1, state[N_LEVELS]):
        _touch(state, state[STARTS + below], line)
    if level > 0:
        top, is_dirty = state[STARTS], 0
        if level < state[N_LEVELS]:
            is_dirty = _remove(state, state[STARTS + level], line)
        if _is_stale(state, top, line):
            _move_on(state, top, line)
        victim = _place(state, top, line)
        state[top + HEAD + 2 * line + 1] |= is_dirty
        if victim >= 0:
            _pass_on(state, 0, victim, _release(state, top, victim))


@njit
def replay(
    state: Any, addresses: Any, stores: Any, begin: Any, end: Any, shift: Any, base: Any
) -> Any:
    """Accesses begin to end, one after another; how many were more than a plain hit.

    The line is (address >> shift) - base; an empty `stores` means that all are loads. A plain hit
    tells the first level's shadow nothing new. One function, although a long one: a call that
    cannot be inlined costs as much as a hit, and this loop is where the time goes. For the same
    reason it keeps what the first level counts to itself until the end.
    """
    top, n_levels, inclusion = state[STARTS], state[N_LEVELS], state[INCLUSION]
    lines, has_stores, is_store, n_plain = top + HEAD, stores.shape[0] > 0, 0, 0
    clock, fresh, newest_lost = state[top + CLOCK], state[top + FRESH], 0
    n_misses = n_store_misses = n_far = 0
    hears_all = inclusion == EXCLUSIVE  # the levels below have to hear of every access
    plain = NEVER if hears_all else fresh
    for i in range(begin, end):
        line = (addresses[i] >> shift) - base
        tick, home = state[lines + 2 * line], state[lines + 2 * line + 1]
        state[lines + 2 * line] = clock
        clock += 1
        if has_stores:
            is_store = DIRTY if stores[i] else 0
            if is_store & ~home:
                home |= DIRTY
                state[lines + 2 * line + 1] = home
        if tick >= plain and home & PRESENT:
            n_plain += 1
            continue
        level, found = 0, 0
        if tick < fresh:
            state[top + CLOCK] = clock
            found = note(state, top, line, tick)
            if found > FAR:
                settle(state, top, found)
            fresh = state[top + FRESH]
            plain = NEVER if hears_all else fresh
        if home & PRESENT == 0:
            n_misses += 1
            n_store_misses += is_store >> 1
            n_far += (found & FAR) >> 2
            level = 1
            while level < n_levels:
                at = state[STARTS + level]
                tick = renew(state, at, line)
                found = 0
                if tick < state[at + FRESH]:
                    found = note(state, at, line, tick)
                    if found > FAR:
                        settle(state, at, found)
                if state[at + HEAD + 2 * line + 1] & PRESENT:
                    break
                state[at + N_MISSES] += 1
                state[at + N_STORE_MISSES] += is_store >> 1
                state[at + N_FAR] += (found & FAR) >> 2
                level += 1
        if hears_all:
            _swap(state, level, line)
            continue
        for upper in range(level - 1, -1, -1):  # fetched from below, level by level
            at = state[STARTS + upper]
            if _is_stale(state, at, line):
                _move_on(state, at, line)
            victim = _place(state, at, line)
            if victim >= 0:
                if upper == 0:
                    newest_lost = max(newest_lost, state[lines + 2 * victim])
                is_dirty = _release(state, at, victim)
                if is_dirty or inclusion == INCLUSIVE:
                    _pass_on(state, upper, victim, is_dirty)
    state[top + CLOCK] = clock
    state[top + LOST] = newest_lost
    state[top + N_MISSES] += n_misses
    state[top + N_STORE_MISSES] += n_store_misses
    state[top + N_FAR] += n_far
    return end - begin - n_plain


@njit
def replay_passes(
    state: Any, addresses: Any, stores: Any, passes: Any, shift: Any, base: Any, forgets: Any
) -> Any:
    """Passes of (length, repeats): that many accesses, on the same lines each time.

    Once all lines of a pass are in the first level and nothing is left to be made dirty, a repeat
    is all hits and changes nothing. That is so as soon as a pass pushes out no line of its own.
    And where all levels are LRU and not tied to each other (`forgets`), the order of lines after
    a pass is that of the pass: the first level counts the same from the second time on, the level
    below from the third. So most repeats are only counted.
    """
    n_levels, begin, top = state[N_LEVELS], 0, state[STARTS]
    saved = np.zeros((n_levels, HEAD - N_MISSES), np.int64)
    for i in range(passes.shape[0]):
        end = begin + passes[i, 0]
        n_left, n_done = passes[i, 1], 0
        while n_left > 0:
            is_alike = forgets and n_done == n_levels and n_left > 1
            if is_alike:
                _exchange_counts(state, saved, 0)
            start = state[top + CLOCK]
            n_other = replay(state, addresses, stores, begin, end, shift, base)
            if is_alike:
                _exchange_counts(state, saved, n_left)
                break
            n_done, n_left = n_done + 1, n_left - 1
            if n_other == 0 or n_left == 0:
                break
            if state[INCLUSION] == NINE and state[top + LOST] < start:
                break
            if state[INCLUSION] != NINE and _is_settled(
                state, addresses, stores, begin, end, shift, base
            ):
                break
        begin = end


@njit
def _exchange_counts(state: Any, saved: Any, times: Any) -> Any:
    """Save all counts and begin at zero; with `times`, take what was counted that many times."""
    for level in range(state[N_LEVELS]):
        first = state[STARTS + level] + N_MISSES
        for i in range(HEAD - N_MISSES):
            count = state[first + i]
            state[first + i] = saved[level, i] + times * count if times > 0 else 0
            saved[level, i] = count


@njit
def _is_settled(
    state: Any, addresses: Any, stores: Any, begin: Any, end: Any, shift: Any, base: Any
) -> Any:
    """Whether accesses begin to end would all hit now, and change nothing but their ticks."""
    lines, oldest = state[STARTS] + HEAD, state[state[STARTS] + OLDEST]
    is_settled, has_stores = True, stores.shape[0] > 0
    for i in range(begin, end):
        cell = lines + 2 * ((addresses[i] >> shift) - base)
        is_clean = has_stores and stores[i] and state[cell + 1] & DIRTY == 0
        if is_clean or state[cell] < oldest or state[cell + 1] & PRESENT == 0:
            is_settled = False
            break
    return is_settled

"""The engine of `primer.cache`: loops over one array of integers, compiled where Numba is there.

All caches of a machine live in one int64 array, `state`, because compiled code counts references
to every array that it passes on: with several arrays that costs more than a miss. It begins with
the number of levels, their kind of inclusion and where each level's block starts. A block is

    HEAD numbers     sizes, clocks and counts, at the positions named below
    2 per line       a word, 4 · tick + 2 · is dirty + is present; and where the line's set begins
    the sets         each a mark and its ways. LRU: how many ways are filled. FIFO: the next way
    the log          see below

**Time.** A level's clock ticks at every touch, and a line's word keeps the tick of its last touch.
The least recently used line of a set has the smallest word, and a hit is one load and one store.

**The shadow.** A miss is laid to capacity if a fully associative LRU cache of the same size, fed
with the same touches, misses too. That shadow holds the lines touched since the tick OLDEST. To
know which line it drops next, lines are logged, but only once per epoch: an epoch ends when EPOCH
lines were touched in it, and touches of a line that is in the open epoch already (tick at least
FRESH) cost nothing. The line to drop is in the oldest epoch, which is sorted by tick when its turn
comes. When the log is full, what still counts is written together at its beginning.
"""

from typing import Any

import numpy as np

from primer._jit import njit

# positions in the array; kinds of inclusion
N_LEVELS, INCLUSION, STARTS = 0, 1, 2
NINE, INCLUSIVE, EXCLUSIVE = 0, 1, 2

# positions in the head of a block, counts last; kinds of replacement
(
    WAYS, KIND, CAPACITY, CLOCK, OLDEST, N_NEAR, DROPPED, VICTIM,
    LOG, BEGINNINGS, EPOCH, MASK, OPEN, N_OPEN, FRESH, OLD, OLD_AT,
    N_MISSES, N_STORE_MISSES, N_FAR, N_RECEIVED, N_REMOVED, N_WRITEBACKS, HEAD,
) = range(24)  # fmt: skip
LRU, SHADOWED, FIFO = 0, 1, 2  # SHADOWED: fully associative LRU, which is what its shadow is

PRESENT, DIRTY, FLAGS, SHIFT = 1, 2, 3, 2
FAR, OVERFULL, CROWDED = 4, 8, 16
NEVER = 1 << 60


@njit
def _renew(state: Any, at: Any, line: Any) -> Any:
    """Give a line the next tick of a level; its word before."""
    cell = at + HEAD + 2 * line
    word, clock = state[cell], state[at + CLOCK]
    state[at + CLOCK] = clock + 1
    state[cell] = (clock << SHIFT) | (word & FLAGS)
    return word


@njit
def _note(state: Any, at: Any, line: Any, tick: Any) -> Any:
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
def _settle(state: Any, at: Any, found: Any) -> Any:
    """Do what `_note` asked for."""
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
        if line >= 0 and state[lines + 2 * line] >> SHIFT >= end:  # touched again since
            line = -1
    if line >= 0:
        state[at + OLDEST] = (state[lines + 2 * line] >> SHIFT) + 1
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
        if line >= 0 and low <= state[lines + 2 * line] >> SHIFT < end:
            state[row + n] = line
            n += 1
    gap = 57  # Shell's sort: 57, 10, 1
    while gap > 0:
        for i in range(gap, n):
            line, place = state[row + i], row + i
            word = state[lines + 2 * line]
            while place >= row + gap and state[lines + 2 * state[place - gap]] > word:
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
                state[begin + (to & mask)] = state[lines + 2 * line] >> SHIFT
            state[log + (to & mask) * size + n] = line
            n += 1
    state[at + OPEN], state[at + N_OPEN] = to, n
    state[at + FRESH] = state[begin + (to & mask)]
    state[at + OLD_AT] = 0 if to > state[at + OLD] else -1


@njit
def _place(state: Any, at: Any, line: Any) -> Any:
    """Put a line into its set; the line that has to leave, or -1."""
    kind, ways, lines = state[at + KIND], state[at + WAYS], at + HEAD
    victim = state[at + DROPPED]
    if kind != SHADOWED:
        start = state[lines + 2 * line + 1]
        mark = state[start]
        way = start + 1 + mark
        if kind == FIFO or mark < ways:
            state[start] = mark + 1 if mark + 1 < ways or kind == LRU else 0
        else:
            way = start + 1
            least = state[lines + 2 * state[way]]
            for other in range(start + 2, start + 1 + ways):
                word = state[lines + 2 * state[other]]
                way = other if word < least else way
                least = min(word, least)
        victim = state[way]
        state[way] = line
    state[lines + 2 * line] |= PRESENT
    return victim


@njit
def _release(state: Any, at: Any, line: Any) -> Any:
    """Mark a line as gone from a level; its dirty bit."""
    cell = at + HEAD + 2 * line
    word = state[cell]
    if state[at + VICTIM] < 0:
        state[at + VICTIM] = line
    state[cell] = word & ~FLAGS
    return word & DIRTY


@njit
def _remove(state: Any, at: Any, line: Any) -> Any:
    """Take a line out of its set where nothing takes its place; its dirty bit."""
    cell = at + HEAD + 2 * line
    is_dirty, start, ways = state[cell] & DIRTY, state[cell + 1], state[at + WAYS]
    way = start + 1
    while state[way] != line:
        way += 1
    if state[at + KIND] == LRU:  # the last filled way moves in
        state[way] = state[start + state[start]]
        way = start + state[start]
        state[start] -= 1
    else:  # older lines close up, which leaves the gap where the next line goes
        while way != start + 1 + state[start]:
            before = way - 1 if way > start + 1 else start + ways
            state[way] = state[before]
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
                if state[at + HEAD + 2 * line] & PRESENT:
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
    if state[at + HEAD + 2 * line] & PRESENT == 0:
        victim = _place(state, at, line)
        state[at + N_RECEIVED] += 1
    state[at + HEAD + 2 * line] |= is_dirty
    return victim


@njit
def _touch(state: Any, at: Any, line: Any) -> Any:
    """Make a line the newest of a level and of its shadow."""
    tick = _renew(state, at, line) >> SHIFT
    if tick < state[at + FRESH]:
        _settle(state, at, _note(state, at, line, tick))


@njit
def _swap(state: Any, level: Any, line: Any) -> Any:
    """Exclusive levels: a line moves up from where it was found, a victim moves down."""
    for below in range(level + 1, state[N_LEVELS]):
        _touch(state, state[STARTS + below], line)
    if level > 0:
        top, is_dirty = state[STARTS], 0
        if level < state[N_LEVELS]:
            is_dirty = _remove(state, state[STARTS + level], line)
        victim = _place(state, top, line)
        state[top + HEAD + 2 * line] |= is_dirty
        if victim >= 0:
            _pass_on(state, 0, victim, _release(state, top, victim))


@njit
def replay(
    state: Any, addresses: Any, stores: Any, begin: Any, end: Any, shift: Any, base: Any
) -> Any:
    """Accesses begin to end, one after another; how many were more than a plain hit.

    The line is (address >> shift) - base. A plain hit tells the first level's shadow nothing new.
    One function, although a long one: a call that cannot be inlined costs as much as a hit, and
    this loop is where the time goes.
    """
    top, n_levels, inclusion = state[STARTS], state[N_LEVELS], state[INCLUSION]
    lines, has_stores, is_store, n_plain = top + HEAD, stores.shape[0] > 0, 0, 0
    clock, fresh = state[top + CLOCK] << SHIFT, state[top + FRESH] << SHIFT
    if inclusion == EXCLUSIVE:  # the levels below have to hear of every access
        fresh = NEVER
    for i in range(begin, end):
        line = (addresses[i] >> shift) - base
        if has_stores:
            is_store = DIRTY if stores[i] else 0
        word = state[lines + 2 * line]
        if word >= fresh and word & PRESENT:
            n_plain += 1
            state[lines + 2 * line] = clock | (word & FLAGS) | is_store
            clock += 1 << SHIFT
            continue
        state[top + CLOCK] = clock >> SHIFT
        level = 0
        while level < n_levels:
            at = state[STARTS + level]
            word = _renew(state, at, line)
            found = 0
            if word >> SHIFT < state[at + FRESH]:
                found = _note(state, at, line, word >> SHIFT)
                if found > FAR:
                    _settle(state, at, found)
            if word & PRESENT:
                break
            state[at + N_MISSES] += 1
            state[at + N_STORE_MISSES] += is_store >> 1
            state[at + N_FAR] += (found & FAR) >> 2
            level += 1
        if inclusion == EXCLUSIVE:
            _swap(state, level, line)
        else:
            for upper in range(level - 1, -1, -1):  # fetched from below, level by level
                at = state[STARTS + upper]
                victim = _place(state, at, line)
                if victim >= 0:
                    is_dirty = _release(state, at, victim)
                    if is_dirty or inclusion == INCLUSIVE:
                        _pass_on(state, upper, victim, is_dirty)
            fresh = state[top + FRESH] << SHIFT
        state[lines + 2 * line] |= is_store
        clock = state[top + CLOCK] << SHIFT
    state[top + CLOCK] = clock >> SHIFT
    return end - begin - n_plain


@njit
def replay_passes(
    state: Any, addresses: Any, stores: Any, passes: Any, shift: Any, base: Any, forgets: Any
) -> Any:
    """Passes of (length, repeats): that many accesses, on the same lines each time.

    Once all lines of a pass are in the first level and nothing is left to be made dirty, a repeat
    is all hits and changes nothing. And where all levels are LRU and not tied to each other
    (`forgets`), the order of lines after a pass is that of the pass: the first level counts the
    same from the second time on, the level below from the third. So most repeats are only counted.
    """
    n_levels, begin = state[N_LEVELS], 0
    saved = np.zeros((n_levels, HEAD - N_MISSES), np.int64)
    for i in range(passes.shape[0]):
        end = begin + passes[i, 0]
        n_left, n_done = passes[i, 1], 0
        while n_left > 0:
            is_alike = forgets and n_done == n_levels and n_left > 1
            if is_alike:
                _exchange_counts(state, saved, 0)
            n_other = replay(state, addresses, stores, begin, end, shift, base)
            if is_alike:
                _exchange_counts(state, saved, n_left)
                break
            n_done, n_left = n_done + 1, n_left - 1
            if n_other == 0 or n_left == 0:
                break
            if _is_settled(state, addresses, stores, begin, end, shift, base):
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
    lines, oldest = state[STARTS] + HEAD, state[state[STARTS] + OLDEST] << SHIFT
    is_settled = True
    for i in range(begin, end):
        word = state[lines + 2 * ((addresses[i] >> shift) - base)]
        is_clean = stores[i] and word & DIRTY == 0
        if is_clean or word < oldest or word & PRESENT == 0:
            is_settled = False
            break
    return is_settled

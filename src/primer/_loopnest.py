"""The loop nest of a tiled matrix product, as passes of addresses; compiled where Numba is there.

A nest is one int64 array: sizes, order, tiles, and where A, B and C lie. Axes are i, j, k = 0, 1, 2
and operands A, B, C = 0, 1, 2. The three innermost loops run over one innermost tile; a *pass* is
one run of the innermost loop. Passes whose accesses lie on the same lines are handed out once,
with a number of repeats: for two columns j and j + 1 of the same lines, for instance. And within
a pass, JOINS allows to leave out accesses that hit and change nothing that matters.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from primer._jit import njit

A, B, C, NONE = 0, 1, 2, -1
I, J, K = 0, 1, 2  # noqa: E741

# positions in the array
(
    SIZES, ORDER, N_TILES, KEPT, ALWAYS_LOADS, LINE, ELEMENT, JOINS, BASES, STRIDES, TILES,
) = 0, 3, 6, 7, 8, 9, 10, 11, 12, 15, 24  # fmt: skip
# of a pass: accesses handed out, repeats, accesses meant, stores among those
LENGTH, REPEATS, N_MEANT, N_STORES = range(4)


@njit
def first_tile(nest: Any, bounds: Any) -> Any:
    """Set bounds[level, axis] = (begin, end): all of the matrix, then first tiles."""
    for axis in range(3):
        bounds[0, axis, 0], bounds[0, axis, 1] = 0, nest[SIZES + axis]
    for level in range(1, nest[N_TILES] + 1):
        for axis in range(3):
            bounds[level, axis, 0] = 0
            bounds[level, axis, 1] = nest[TILES + 3 * (level - 1) + axis]


@njit
def next_tile(nest: Any, bounds: Any) -> Any:
    """Move to the next innermost tile, clipped at the edge of what it lies in; False at the end."""
    for level in range(nest[N_TILES], 0, -1):
        for place in range(2, -1, -1):
            axis = nest[ORDER + place]
            begin = bounds[level, axis, 1]
            if begin < bounds[level - 1, axis, 1]:
                bounds[level, axis, 0] = begin
                for inner in range(place + 1, 3):
                    bounds[level, nest[ORDER + inner], 0] = bounds[
                        level - 1, nest[ORDER + inner], 0
                    ]
                _clip(nest, bounds, level)
                return True
    return False


@njit
def _clip(nest: Any, bounds: Any, changed: Any) -> Any:
    """Ends of a level whose beginnings changed; the levels inside begin anew."""
    for level in range(changed, nest[N_TILES] + 1):
        for axis in range(3):
            if level > changed:
                bounds[level, axis, 0] = bounds[level - 1, axis, 0]
            end = bounds[level, axis, 0] + nest[TILES + 3 * (level - 1) + axis]
            bounds[level, axis, 1] = min(end, bounds[level - 1, axis, 1])


@njit(inline=True)
def _n_repeats(nest: Any, start: Any, count: Any, most: Any, keeps_place: Any) -> Any:
    """For how many steps of the middle loop the pass stays on the same lines.

    `keeps_place` tells of each operand whether all its elements stand at one place of their lines.
    """
    middle, inner, line = nest[ORDER + 1], nest[ORDER + 2], nest[LINE]
    for operand in range(3):
        step, stride = nest[STRIDES + 3 * operand + middle], nest[STRIDES + 3 * operand + inner]
        if step == 0:
            continue
        if step != nest[ELEMENT]:
            return 1
        for x in range(1 if keeps_place[operand] else count):
            left = (line - (start[operand] + x * stride) % line) // step
            most = min(most, left)
            if most == 1:
                break
    return most


@njit(inline=True)
def _fill_sums(
    nest: Any, start: Any, count: Any, loads_c: Any, addresses: Any, stores: Any, n: Any
) -> Any:
    """Write a pass that adds up one element of C from position n on; the position behind it.

    A runs along its lines, and of the touches of one line those are left out that a cache cannot
    tell: fewer than JOINS lines of B come in between, and the last one stays where it is.
    """
    a, b, c, inner = start[A], start[B], start[C], nest[ORDER + 2]
    step_a, step_b = nest[STRIDES + inner], nest[STRIDES + 3 + inner]
    line, size, joins = nest[LINE], nest[ELEMENT], nest[JOINS]
    if loads_c:
        addresses[n], stores[n] = c, False
        n += 1
    next_a, next_line, per_line = 0, (line - a % line) // size, line // size
    for x in range(count):
        if x == next_a:
            addresses[n], stores[n] = a + x * step_a, False
            n += 1
            next_a += 1
            if joins > 1:
                if x >= next_line:
                    next_line += per_line
                next_a = max(next_a, min(x + joins, min(count, next_line) - 1))
        addresses[n], stores[n] = b + x * step_b, False
        n += 1
    addresses[n], stores[n] = c, True
    return n + 1


@njit(inline=True)
def _fill_updates(
    nest: Any, start: Any, count: Any, loads_c: Any, addresses: Any, stores: Any, n: Any
) -> Any:
    """Write a pass in which every step stores to C."""
    kept, inner, line, size = nest[KEPT], nest[ORDER + 2], nest[LINE], nest[ELEMENT]
    joins, a, b, c = nest[JOINS] > 1, start[A], start[B], start[C]
    x, step = 0, 1
    if kept != NONE:
        addresses[n], stores[n] = start[kept], False
        n += 1
    while x < count:
        if kept != A:
            addresses[n], stores[n] = a + x * nest[STRIDES + inner], False
            n += 1
        if kept != B:
            addresses[n], stores[n] = b + x * nest[STRIDES + 3 + inner], False
            n += 1
        at_c = c + x * nest[STRIDES + 6 + inner]
        if loads_c:
            addresses[n], stores[n] = at_c, False
            n += 1
        addresses[n], stores[n] = at_c, True
        n += 1
        if joins:  # B and C run along their lines, and A stays
            step = min(line - (b + x * size) % line, line - at_c % line) // size
        x += step
    return n


@njit
def produce(nest: Any, bounds: Any, cursor: Any, addresses: Any, stores: Any, passes: Any) -> Any:
    """Fill the buffers with passes, from where the last call ended; the number of passes.

    `cursor` holds the outer and the middle index, and at last whether all is done.
    """
    outer, middle, inner = nest[ORDER], nest[ORDER + 1], nest[ORDER + 2]
    kept, last = nest[KEPT], nest[N_TILES]
    start = np.zeros(3, np.int64)
    index = np.zeros(3, np.int64)
    keeps_place = np.zeros(3, np.bool_)
    for operand in range(3):
        keeps_place[operand] = nest[STRIDES + 3 * operand + inner] % nest[LINE] == 0
    n, n_passes = 0, 0
    longest = 4 * nest[SIZES + inner] + 2
    while cursor[2] == 0 and n_passes < passes.shape[0] and n + longest <= addresses.shape[0]:
        index[outer], index[middle], index[inner] = cursor[0], cursor[1], bounds[last, inner, 0]
        for operand in range(3):
            start[operand] = nest[BASES + operand]
            for axis in range(3):
                start[operand] += index[axis] * nest[STRIDES + 3 * operand + axis]
        count = bounds[last, inner, 1] - bounds[last, inner, 0]
        loads_c = nest[ALWAYS_LOADS] != 0 or index[K] > 0
        repeats = 1
        if loads_c or middle != K:
            repeats = _n_repeats(
                nest, start, count, bounds[last, middle, 1] - cursor[1], keeps_place
            )
        if kept == C:
            end = _fill_sums(nest, start, count, loads_c, addresses, stores, n)
        else:
            end = _fill_updates(nest, start, count, loads_c, addresses, stores, n)
        n_inputs = count + 1 if kept in (A, B) else 2 * count
        n_stores = 1 if kept == C else count
        passes[n_passes, LENGTH], passes[n_passes, REPEATS] = end - n, repeats
        passes[n_passes, N_MEANT] = n_inputs + n_stores + (n_stores if loads_c else 0)
        passes[n_passes, N_STORES] = n_stores
        n, n_passes = end, n_passes + 1
        cursor[1] += repeats
        if cursor[1] == bounds[last, middle, 1]:
            _advance(nest, bounds, cursor)
    return n_passes


@njit
def _advance(nest: Any, bounds: Any, cursor: Any) -> Any:
    """Behind the end of the middle loop: the next trip of the outer loop, or the next tile."""
    outer, middle, last = nest[ORDER], nest[ORDER + 1], nest[N_TILES]
    cursor[0] += 1
    if cursor[0] == bounds[last, outer, 1]:
        cursor[2] = 0 if next_tile(nest, bounds) else 1
        cursor[0] = bounds[last, outer, 0]
    cursor[1] = bounds[last, middle, 0]

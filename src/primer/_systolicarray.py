"""The machine of `primer.systolic`: values that move from PE to PE, cycle by cycle.

A PE multiplies two of its registers and adds the product to a third: to `held`, from `right` and
`down` (output stationary), or to `down`, from `right` and `held` (weight or input stationary).
Registers have one slot for each cycle that is recorded, so that the record is the very state from
which the next cycle is computed; with two slots nothing is kept. NaN is a register that holds
nothing, and moves like any other value.

A word that moves right carries a tag: which token it is, and what is to be done with it. So every
PE decides by what arrives, and the number of cycles is what comes out.

All compiled code stands in this file: a compiler's cache does not notice changes in another one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from primer._jit import njit

# Bits of a tag; above them stands the token: fold · steps + step.
PRESENT, REAL, FIRST, FINAL, SHIFT = 1, 2, 4, 8, 4
UNUSED, USED, PADDING = range(3)  # marks of a column
# Columns of `Program.folds`: where its corner is, how much of the matrix, how much of the array.
ROW, COLUMN, N_ROWS, N_COLS, ROWS, COLS = range(6)
# Columns of `Program.events`: cycles of the array, and words through its edges.
LOAD, START, END, RIGHT_READS, DOWN_READS, HELD_READS, SUMS = range(7)
# Of `Program.cursor`: folds to load, start and end next; products; when to look what can begin.
NEXT_LOAD, NEXT_START, NEXT_END, N_MACS, WAKE = range(5)
N_EVENTS, N_CURSORS = 7, 5
NEVER, FAR, NOTHING = -1, 2**60, float("nan")

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Shorts = NDArray[np.int32]


class Registers(NamedTuple):
    """State of all PEs: (slots, places), at least two slots, places row after row.

    There is one more row above the array and one more column to its left: what stands there enters
    next, so that every PE takes from a neighbor. `right` takes what the left neighbor had, `down`
    what the one above had, `held` stays, and `shadow` waits behind it. `busy` says that the product
    of this cycle counts. What follows has two slots: `tag` moves with `right`, `mark` with `down`.
    `turn` belongs to the shadow: the rows that a weight still has to go, or the cycles that a sum
    still has to wait; `NEVER` if there is neither. `ticket` is fold · places + place of that sum.
    """

    right: Floats
    down: Floats
    held: Floats
    shadow: Floats
    busy: NDArray[np.bool_]
    tag: Shorts
    mark: Shorts
    turn: Shorts
    ticket: Ints


class Program(NamedTuple):
    """What is to be done: `right` (rows, steps), `down` (steps, columns), `held` (rows, columns).

    Of these, the one that takes the sums is empty, and `product` has its shape. The last four say
    how far it is, and at which fold each row, column and weight port of the array is.
    """

    right: Floats
    down: Floats
    held: Floats
    product: Floats
    folds: Ints
    events: Ints
    n_rows: int
    n_cols: int
    n_steps: int
    holds_sums: bool
    is_buffered: bool
    has_drain: bool
    cursor: Ints
    row_fold: Ints
    column_fold: Ints
    load_fold: Ints


@njit
def run(array: Registers, program: Program, is_frozen: NDArray[np.bool_]) -> int:
    """Let the clock run until all folds are done, and give the number of cycles.

    In a frozen cycle nothing changes. `NEVER` if `is_frozen` ends before the last fold does.
    """
    cycle = 0  # of the array: frozen ones do not count
    for t in range(is_frozen.shape[0]):
        if is_frozen[t]:
            stand_still(array, t)
            continue
        if cycle >= program.cursor[WAKE]:
            schedule(program, cycle)
        past = 1 - cycle % 2
        feed_rows(program, slot(array.right, t - 1), array.tag[past], cycle)
        feed_columns(program, slot(array.down, t - 1), array.mark[past], cycle)
        if not program.holds_sums:
            feed_weights(program, slot(array.shadow, t - 1), array.turn[past], cycle)
        step(program, array, t, cycle)
        cycle += 1
        if program.cursor[NEXT_END] == program.folds.shape[0]:
            return t + 1
    return NEVER


@njit(inline=True)
def slot(register: Any, t: int) -> Any:
    """All places of a register in cycle t; in a record of two slots every second one."""
    return register[t & 1 if register.shape[0] == 2 else t]


@njit
def stand_still(array: Registers, t: int) -> None:
    """Keep every word where it is."""
    for register in (array.right, array.down, array.held, array.shadow):
        slot(register, t)[:] = slot(register, t - 1)
    slot(array.busy, t)[:] = False


# ---- the control: what begins when


@njit
def schedule(program: Program, cycle: int) -> None:
    """Start the next fold, and load the weights of the one after, as soon as there is room."""
    events, cursor, n_folds = program.events, program.cursor, program.folds.shape[0]
    f = cursor[NEXT_START]
    if f < n_folds and cycle >= earliest_start(program, f):
        events[f, START] = cycle
        cursor[NEXT_START] = f + 1
    f, waits_for = cursor[NEXT_LOAD], cursor[NEXT_START if program.is_buffered else NEXT_END]
    if f < n_folds and not program.holds_sums and waits_for == f:
        events[f, LOAD] = cycle
        cursor[NEXT_LOAD] = f + 1
    f = cursor[NEXT_START]
    cursor[WAKE] = earliest_start(program, f) if f < n_folds else FAR


@njit
def earliest_start(program: Program, f: int) -> Any:
    """The cycle in which a fold's first words may enter; `FAR` where that is not known yet."""
    events, folds, cursor = program.events, program.folds, program.cursor
    start = 0
    if not program.holds_sums:
        start = events[f, LOAD] + folds[f, ROWS] if cursor[NEXT_LOAD] > f else FAR
    if f == 0:
        return start
    if not program.is_buffered:
        return max(start, events[f - 1, END]) if cursor[NEXT_END] == f else FAR
    way, waits = (2, folds[f - 1, ROWS]) if program.has_drain else (1, 0)
    overtakes = way * (folds[f - 1, ROWS] - folds[f, ROWS]) + folds[f - 1, COLS] - folds[f, COLS]
    return max(start, events[f - 1, START] + max(program.n_steps, waits, overtakes))


# ---- the edges: what enters in this cycle


@njit(inline=True)
def feed_rows(program: Program, right: Any, tags: Any, cycle: int) -> None:
    """At the left edge: words of the operand that moves right; row i is i cycles behind row 0."""
    right[0], place = NOTHING, 0
    for i in range(program.n_rows):
        place += program.n_cols + 1
        right[place], tags[place] = NOTHING, 0
        f = program.row_fold[i]
        s = cycle - program.events[f, START] - i if f < program.cursor[NEXT_START] else NEVER
        if s == program.n_steps - 1:
            program.row_fold[i] += 1
        if s < 0 or i >= program.folds[f, ROWS]:
            continue
        tag = (f * program.n_steps + s) << SHIFT | PRESENT
        if s == 0:
            tag |= FIRST
        if (
            (s == program.n_steps - 1)
            if program.holds_sums
            else (i == program.folds[f, N_ROWS] - 1)
        ):
            tag |= FINAL
        right[place] = 0.0
        if i < program.folds[f, N_ROWS]:
            tag |= REAL
            right[place] = program.right[program.folds[f, ROW] + i, s]
            program.events[f, RIGHT_READS] += 1
        tags[place] = tag


@njit(inline=True)
def feed_columns(program: Program, down: Any, marks: Any, cycle: int) -> None:
    """At the upper edge: words of the operand that moves down, or sums that begin at zero."""
    down[0] = NOTHING
    for j in range(program.n_cols):
        down[j + 1], marks[j + 1] = NOTHING, UNUSED
        f = program.column_fold[j]
        s = cycle - program.events[f, START] - j if f < program.cursor[NEXT_START] else NEVER
        if s == program.n_steps - 1:
            program.column_fold[j] += 1
        if s < 0 or j >= program.folds[f, COLS]:
            continue
        is_used = j < program.folds[f, N_COLS]
        down[j + 1], marks[j + 1] = 0.0, USED if is_used else PADDING
        if program.holds_sums and is_used:
            down[j + 1] = program.down[s, program.folds[f, COLUMN] + j]
            program.events[f, DOWN_READS] += 1


@njit(inline=True)
def feed_weights(program: Program, shadow: Any, turns: Any, cycle: int) -> None:
    """At the upper edge: words to be held, those of the lowest row first; columns are skewed."""
    for j in range(program.n_cols):
        shadow[j + 1], turns[j + 1] = NOTHING, NEVER
        f = program.load_fold[j]
        if f == program.cursor[NEXT_LOAD]:
            continue
        row = program.folds[f, ROWS] - 1 - (cycle - program.events[f, LOAD] - j)
        if row == 0:
            program.load_fold[j] += 1
        if row >= program.folds[f, ROWS] or j >= program.folds[f, COLS]:
            continue
        shadow[j + 1], turns[j + 1] = 0.0, row + 1
        if row < program.folds[f, N_ROWS] and j < program.folds[f, N_COLS]:
            shadow[j + 1] = program.held[program.folds[f, ROW] + row, program.folds[f, COLUMN] + j]
            program.events[f, HELD_READS] += 1


# ---- the array: short loops over few registers become vector instructions


@njit(inline=True)
def step(program: Program, array: Registers, t: int, cycle: int) -> None:
    """One tick: every word moves on by one PE, and wherever two meet they are multiplied."""
    width, now, past = program.n_cols + 1, cycle % 2, 1 - cycle % 2
    move(slot(array.right, t), slot(array.right, t - 1), 1)
    move(slot(array.down, t), slot(array.down, t - 1), width)
    move(array.tag[now], array.tag[past], 1)
    move(array.mark[now], array.mark[past], width)
    right, down, tag = slot(array.right, t)[width:], slot(array.down, t)[width:], array.tag[now]
    held, old = slot(array.held, t)[width:], slot(array.held, t - 1)[width:]
    if program.holds_sums:
        add_to_held(held, old, right, down, tag[width:])
    else:
        above, above_turn = slot(array.shadow, t - 1), array.turn[past]
        own, own_turn = above[width:], above_turn[width:]
        add_to_moving(down, right, held, old, own, tag[width:])
        shadow, turn = slot(array.shadow, t)[width:], array.turn[now, width:]
        load(shadow, turn, above, above_turn, own, own_turn, tag[width:])
    busy = slot(array.busy, t)
    n_busy, some = watch(busy[width:], tag[width:], array.mark[now, width:])
    program.cursor[N_MACS] += n_busy
    if program.has_drain:
        drain(program, array, t, cycle)
        return
    if some & FINAL and program.holds_sums:
        collect_held(program, slot(array.held, t), busy, tag)
    elif some & FINAL:
        collect_moving(program, slot(array.down, t), busy, tag)
    look_for_end(program, tag, array.mark[now], cycle)


@njit(inline=True)
def move(new: Any, old: Any, by: Any) -> None:
    """Every word goes to the place `by` behind: the right neighbor, or the one below."""
    to = new[by:]
    for p in range(to.shape[0]):
        to[p] = old[p]


@njit(inline=True)
def add_to_held(held: Any, old: Any, right: Any, down: Any, tag: Any) -> None:
    """Output stationary: held += right · down, where both are; the first product replaces it."""
    for p in range(held.shape[0]):
        product = right[p] * down[p]
        total = product if tag[p] & FIRST else old[p] + product
        held[p] = total if product == product else old[p]


@njit(inline=True)
def add_to_moving(down: Any, right: Any, held: Any, old: Any, shadow: Any, tag: Any) -> None:
    """Weights or inputs stationary: down += right · held; the first word swaps the shadow in."""
    for p in range(held.shape[0]):
        held[p] = shadow[p] if tag[p] & FIRST else old[p]
    for p in range(down.shape[0]):
        down[p] += right[p] * held[p]


@njit(inline=True)
def load(
    shadow: Any, turn: Any, above: Any, above_turn: Any, own: Any, own_turn: Any, tag: Any
) -> None:
    """Weights go down from shadow to shadow until they are in their row, and wait for the swap."""
    for p in range(turn.shape[0]):
        rest = NEVER if tag[p] & FIRST or own_turn[p] != 0 else 0
        turn[p] = above_turn[p] - 1 if above_turn[p] > 0 else rest
    for p in range(shadow.shape[0]):
        resting = own[p] if turn[p] >= 0 else NOTHING
        shadow[p] = above[p] if above_turn[p] > 0 else resting


@njit(inline=True)
def watch(busy: Any, tag: Any, mark: Any) -> Any:
    """Note which PEs do work that counts; how many, and all bits of their tags."""
    n_busy = some = 0
    for p in range(busy.shape[0]):
        is_busy = tag[p] >> 1 & mark[p] & 1  # REAL is bit 1 of a tag, USED bit 0 of a mark
        busy[p] = is_busy
        n_busy += is_busy
        some |= tag[p]
    return n_busy, some


# ---- the sums: how they leave, and when a fold is done


@njit(inline=True)
def take(program: Program, f: int, row: int, column: int, value: float) -> None:
    """A sum has left: it is added to what an accumulator outside has."""
    program.product[row, column] += value
    program.events[f, SUMS] += 1


@njit
def collect_held(program: Program, held: Any, busy: Any, tag: Any) -> None:
    """Take the sums that stay in the array until they are complete."""
    width, folds = program.n_cols + 1, program.folds
    for p in range(width, busy.shape[0]):
        if tag[p] & FINAL and busy[p]:
            f = (tag[p] >> SHIFT) // program.n_steps
            row, column = folds[f, ROW] + p // width - 1, folds[f, COLUMN] + p % width - 1
            take(program, f, row, column, held[p])


@njit(inline=True)
def collect_moving(program: Program, down: Any, busy: Any, tag: Any) -> None:
    """Take the sums that had their last product, in the last row that their fold uses."""
    for f in range(program.cursor[NEXT_END], program.cursor[NEXT_START]):
        place = program.folds[f, N_ROWS] * (program.n_cols + 1) + 1
        for j in range(program.folds[f, N_COLS]):
            s = (tag[place + j] >> SHIFT) - f * program.n_steps
            if tag[place + j] & FINAL and busy[place + j] and 0 <= s < program.n_steps:
                take(program, f, s, program.folds[f, COLUMN] + j, down[place + j])


@njit
def end(program: Program, f: int, cycle: int) -> None:
    """A fold is done with this cycle; others may begin with the next."""
    program.events[f, END] = program.cursor[WAKE] = cycle + 1
    program.cursor[NEXT_END] += 1


@njit(inline=True)
def look_for_end(program: Program, tag: Any, mark: Any, cycle: int) -> None:
    """A fold ends when the last PE that it uses has had its last word."""
    for f in range(program.cursor[NEXT_END], program.cursor[NEXT_START]):
        place = program.folds[f, ROWS] * (program.n_cols + 1) + program.folds[f, COLS]
        is_last = tag[place] & PRESENT != 0 and tag[place] >> SHIFT == (f + 1) * program.n_steps - 1
        if is_last and mark[place] != UNUSED:
            end(program, f, cycle)


@njit
def drain(program: Program, array: Registers, t: int, cycle: int) -> None:
    """Finished sums wait in the shadow until those below have left, and then go down, too."""
    width, n_places, folds = program.n_cols + 1, array.shadow.shape[1], program.folds
    new, old, held = slot(array.shadow, t), slot(array.shadow, t - 1), slot(array.held, t)
    turn, turned = array.turn[cycle % 2], array.turn[1 - cycle % 2]
    ticket, ticketed = array.ticket[cycle % 2], array.ticket[1 - cycle % 2]
    tag, mark = array.tag[cycle % 2], array.mark[cycle % 2]
    for p in range(width, n_places):
        above, row = p - width, p // width - 1
        new[p], turn[p] = NOTHING, NEVER
        if turned[p] == 0:
            leave(program, ticketed[p], p, old[p], cycle)
        if turned[p] > 0:
            new[p], turn[p], ticket[p] = old[p], turned[p] - 1, ticketed[p]
        elif turned[above] == 0 and row < folds[ticketed[above] // n_places, ROWS]:
            new[p], turn[p], ticket[p] = old[above], 0, ticketed[above]
        if tag[p] & FINAL and mark[p] != UNUSED:
            f = (tag[p] >> SHIFT) // program.n_steps
            new[p], turn[p], ticket[p] = held[p], folds[f, ROWS] - 1 - row, f * n_places + p


@njit
def leave(program: Program, ticket: int, place: int, value: float, cycle: int) -> None:
    """A sum drops out of the lowest row that its fold uses; the last of a fold ends it."""
    width, folds = program.n_cols + 1, program.folds
    f, origin = divmod(ticket, (program.n_rows + 1) * width)
    if place // width < folds[f, ROWS]:
        return
    row, column = origin // width - 1, origin % width - 1
    if row < folds[f, N_ROWS] and column < folds[f, N_COLS]:
        take(program, f, folds[f, ROW] + row, folds[f, COLUMN] + column, value)
    if row == 0 and column == folds[f, COLS] - 1:
        end(program, f, cycle)

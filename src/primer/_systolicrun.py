"""From matrices to a run of `primer._systolicarray`, and from what it noted to a result."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from primer import _systolicarray as machine
from primer._systoliccount import arrival_cycles
from primer._systolicresult import Folds, Shares, SystolicRun
from primer._systolicroles import Roles

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
RECORDS = ("a", "b", "partial_sum", "shadow", "busy")


@dataclass(frozen=True)
class Task:
    """A product and the array that it is for; `bandwidth` is infinite where nobody limits it."""

    a: Floats
    b: Floats
    dataflow: str
    roles: Roles
    rows: int
    cols: int
    has_drain: bool
    is_clipped: bool
    is_buffered: bool
    bandwidth: float
    kept: Collection[str]

    @property
    def sizes(self) -> dict[str, int]:
        """m, n, k."""
        return {"m": self.a.shape[0], "n": self.b.shape[1], "k": self.a.shape[1]}

    @property
    def extents(self) -> tuple[int, int, int]:
        """What lies along the rows, along the columns, and in time."""
        roles, sizes = self.roles, self.sizes
        return sizes[roles.rows], sizes[roles.columns], sizes[roles.steps]

    @property
    def places(self) -> tuple[int, int]:
        """The array with the edges from which words enter."""
        return self.rows + 1, self.cols + 1

    def is_kept(self, name: str) -> bool:
        """Whether a record is wanted, and there is something to record."""
        has_shadow = self.has_drain or not self.roles.holds_sums
        return name in self.kept and (name != "shadow" or has_shadow)


def record_bytes(task: Task, n_cycles: int) -> int:
    """What the records take."""
    sizes = (1 if name == "busy" else 8 for name in RECORDS if task.is_kept(name))
    return n_cycles * math.prod(task.places) * sum(sizes)


def run(task: Task, n_cycles: int) -> SystolicRun:
    """Run a product; the clock is given `n_cycles` besides stalls."""
    frozen = np.zeros(n_cycles, dtype=np.bool_)
    if math.isfinite(task.bandwidth):  # once without stalls, to see what has to be in when
        trial = _program(task)
        machine.run(_registers(task, 2, ()), trial, frozen)
        frozen = _stalls(task, trial.events)
    program = _program(task)
    registers = _registers(task, len(frozen), task.kept)
    done = machine.run(registers, program, frozen)
    assert done == len(frozen), "the clock was stopped before the array was done"
    product = task.roles.turned("partial_sum", program.product)
    folds = _folds(task, program, frozen)
    return SystolicRun(
        **_counts(task, program, frozen), product=_locked(product), folds=folds,
        frozen=_locked(frozen), **_records(task, registers, done),
    )  # fmt: skip


# ---- before the run


def _program(task: Task) -> machine.Program:
    """What the array is to do, from the beginning."""
    roles, nothing = task.roles, np.zeros((0, 0))
    n_rows, n_columns, n_steps = task.extents
    product = np.zeros((task.sizes["m"], task.sizes["n"]))
    matrices = {"a": task.a, "b": task.b, "partial_sum": product}
    seen = {name: roles.turned(name, matrix) for name, matrix in matrices.items()}
    folds = np.array(list(_parts(task, n_rows, n_columns)), dtype=np.int64)
    events = np.zeros((len(folds), machine.N_EVENTS), dtype=np.int64)
    events[:, [machine.LOAD, machine.START, machine.END]] = machine.NEVER
    lengths = (machine.N_CURSORS, task.rows, task.cols, task.cols)
    cursors = (np.zeros(length, dtype=np.int64) for length in lengths)
    return machine.Program(
        seen[roles.right], seen[roles.down] if roles.holds_sums else nothing,
        nothing if roles.holds_sums else seen[roles.held], seen["partial_sum"],
        folds, events, task.rows, task.cols, n_steps,
        roles.holds_sums, task.is_buffered, task.has_drain, *cursors,
    )  # fmt: skip


def _parts(task: Task, n_rows: int, n_columns: int) -> Iterator[tuple[int, ...]]:
    """The folds, down the rows first: where, how much of the matrix, how much of the array."""
    corners = itertools.product(range(0, n_columns, task.cols), range(0, n_rows, task.rows))
    for column, row in corners:
        used = min(task.rows, n_rows - row), min(task.cols, n_columns - column)
        yield row, column, *used, *(used if task.is_clipped else (task.rows, task.cols))


def _registers(task: Task, n_slots: int, kept: Collection[str]) -> machine.Registers:
    """An empty array, with a slot for each cycle where it is recorded."""
    roles, n_places = task.roles, math.prod(task.places)
    names = (roles.right, roles.down, roles.held, "shadow", "busy")
    slots = [max(2, n_slots) if name in kept and task.is_kept(name) else 2 for name in names]
    ends = list(itertools.accumulate(n * n_places for n in slots[:-1]))
    # In one piece: systems hand out large pieces in large pages, which is several times faster.
    words = np.empty(ends[-1] + slots[-1] * n_places // 8 + 1)
    starts = [0, *ends]
    right, down, held, shadow = (
        words[start:end].reshape(-1, n_places) for start, end in zip(starts, ends, strict=False)
    )
    for register in (right, down, held, shadow):
        register[-1] = np.nan  # the slot before the first cycle
    busy = words[ends[-1] :].view(np.bool_)[: slots[-1] * n_places].reshape(-1, n_places)
    tag, mark, turn = (np.zeros((2, n_places), dtype=np.int32) for _ in range(3))
    turn[:] = machine.NEVER
    ticket = np.zeros((2, n_places), dtype=np.int64)
    return machine.Registers(right, down, held, shadow, busy, tag, mark, turn, ticket)


def _stalls(task: Task, events: Ints) -> Flags:
    """In which cycles the array stands still: phase by phase, as evenly as can be."""
    phases = _overlapped(events) if task.is_buffered else _one_by_one(events)
    still = []
    for n_cycles, words in phases:
        lasts = max(n_cycles, int(arrival_cycles(words, task.bandwidth)))
        still.append(np.diff(np.arange(lasts + 1) * n_cycles // lasts) == 0)
    return np.concatenate(still)


def _one_by_one(events: Ints) -> Iterator[tuple[int, int]]:
    """Cycles and words of each phase: a fold's weights, then what streams."""
    for fold in events:
        if fold[machine.LOAD] != machine.NEVER:
            yield int(fold[machine.START] - fold[machine.LOAD]), int(fold[machine.HELD_READS])
        yield int(fold[machine.END] - fold[machine.START]), _streamed(fold)


def _overlapped(events: Ints) -> Iterator[tuple[int, int]]:
    """The same where the next weights come in while a fold streams."""
    first, last = events[0], events[-1]
    if first[machine.LOAD] != machine.NEVER:
        yield int(first[machine.START] - first[machine.LOAD]), int(first[machine.HELD_READS])
    for fold, following in itertools.pairwise(events):
        words = _streamed(fold) + int(following[machine.HELD_READS])
        yield int(following[machine.START] - fold[machine.START]), words
    yield int(last[machine.END] - last[machine.START]), _streamed(last)


def _streamed(fold: Ints) -> int:
    return int(fold[machine.RIGHT_READS] + fold[machine.DOWN_READS])


# ---- after the run


def _counts(task: Task, program: machine.Program, frozen: Flags) -> dict[str, Any]:
    """What was counted on the way."""
    events, folds, roles, sizes = program.events, program.folds, task.roles, task.sizes
    n_pes, n_cycles, n_stalls = task.rows * task.cols, len(frozen), int(np.count_nonzero(frozen))
    used = int((folds[:, machine.N_ROWS] * folds[:, machine.N_COLS]).sum())
    useful, sums = int(program.cursor[machine.N_MACS]), int(events[:, machine.SUMS].sum())
    padding = (len(folds) * n_pes - used) * program.n_steps
    load = n_pes * _load_cycles(task, program)
    stall = n_pes * n_stalls
    waiting = n_pes * n_cycles - useful - padding - load - stall
    reads = {name: int(words.sum()) for name, words in _reads(roles, events).items()}
    return {
        **sizes, "dataflow": task.dataflow, "rows": task.rows, "cols": task.cols,
        "n_cycles": n_cycles, "stall_cycles": n_stalls, "n_macs": useful, "n_folds": len(folds),
        "a_reads": reads["a"], "b_reads": reads["b"], "c_writes": sums,
        "c_reads": sums - sizes["m"] * sizes["n"],
        "accumulator_words": 0 if roles.holds_sums else sizes["m"] * sizes["n"],
        "mapping_frac": used / (len(folds) * n_pes),
        "pe_cycles": Shares(useful, waiting, padding, load, stall),
    }  # fmt: skip


def _load_cycles(task: Task, program: machine.Program) -> int:
    """Cycles of the array in which weights are loaded and nothing streams."""
    events, n_steps = program.events, program.n_steps
    if task.roles.holds_sums:
        return 0
    begins, starts = events[:, machine.LOAD], events[:, machine.START]
    if not task.is_buffered:
        return int((starts - begins).sum())
    loaded = begins[1:] + program.folds[1:, machine.ROWS]
    late = np.maximum(loaded - starts[:-1] - n_steps, 0)
    return int(starts[0] - begins[0] + late.sum())


def _reads(roles: Roles, events: Ints) -> dict[str, Ints]:
    """Words of each operand that entered with each fold."""
    columns = {
        roles.right: machine.RIGHT_READS,
        roles.down: machine.DOWN_READS,
        roles.held: machine.HELD_READS,
    }
    return {name: events[:, columns[name]].copy() for name in ("a", "b")}


def _folds(task: Task, program: machine.Program, frozen: Flags) -> Folds:
    """The folds with the cycles of the clock; that of the array does not count frozen ones."""
    events, table, clock = program.events, program.folds, np.flatnonzero(~frozen)
    start = clock[events[:, machine.START]]
    load = start if task.roles.holds_sums else clock[events[:, machine.LOAD]]
    reads = _reads(task.roles, events)
    found = {
        "row": table[:, machine.ROW], "column": table[:, machine.COLUMN],
        "n_rows": table[:, machine.N_ROWS], "n_cols": table[:, machine.N_COLS],
        "load_cycle": load, "start_cycle": start,
        "end_cycle": clock[events[:, machine.END] - 1] + 1,
        "a_reads": reads["a"], "b_reads": reads["b"], "c_writes": events[:, machine.SUMS],
    }  # fmt: skip
    return Folds(**{name: _locked(column.copy()) for name, column in found.items()})


def _records(task: Task, registers: machine.Registers, n_cycles: int) -> dict[str, Any]:
    """What was kept, without the edges."""
    roles = task.roles
    named = {
        roles.right: registers.right, roles.down: registers.down, roles.held: registers.held,
        "shadow": registers.shadow, "busy": registers.busy,
    }  # fmt: skip

    def view(name: str) -> Any:
        grid = named[name].reshape(-1, *task.places)[:n_cycles, 1:, 1:]
        return _locked(grid) if task.is_kept(name) else None

    return {name: view(name) for name in RECORDS}


def _locked(array: Any) -> Any:
    array.flags.writeable = False
    return array

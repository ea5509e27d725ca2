"""Cycles and words of a systolic array in closed form, for single shapes and for arrays of them.

Along each axis of the array there are at most two kinds of folds: full ones, and one for what is
left. So all is a sum over four kinds of folds, or over the few kinds of neighbors in their order.
See `primer.systolic` for the rules.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from primer import _checks
from primer._systolicresult import Shares
from primer._systolicroles import Roles

LARGEST = 2**62  # what fits into 64 bits, with room for a sum
_ALMOST = 1 - 2**-40  # so that 0.3 words a cycle bring 3 words in 10 cycles, in spite of rounding


@dataclass(frozen=True)
class Machine:
    """An array and how it is run; numbers may be arrays.

    `bandwidth` is infinite where nobody limits it.
    """

    roles: Roles
    rows: Any
    cols: Any
    has_drain: bool
    is_clipped: bool
    is_buffered: bool
    bandwidth: Any

    @property
    def n_pes(self) -> Any:
        return self.rows * self.cols


@dataclass(frozen=True)
class Sizes:
    """A product as the array sees it: what lies along its rows, its columns, and in time."""

    rows: Any
    columns: Any
    steps: Any


@dataclass(frozen=True)
class Fold:
    """A part of the product that is on the array at one time."""

    machine: Machine
    n_rows: Any
    n_cols: Any
    steps: Any

    @property
    def load_cycles(self) -> Any:
        """Until the weights are in the array; none if it holds sums."""
        return 0 if self.machine.roles.holds_sums else self._used_rows

    @property
    def drain_cycles(self) -> Any:
        """Until sums that were held are out, if that is counted."""
        return self._used_rows if self.machine.has_drain else 0

    @property
    def tail_cycles(self) -> Any:
        """From the last word that enters PE (0, 0) to the end."""
        machine = self.machine
        used_cols = self.n_cols if machine.is_clipped else machine.cols
        return self._used_rows + used_cols - 2 + self.drain_cycles

    @property
    def held_words(self) -> Any:
        """Words that are loaded to be held."""
        return 0 if self.machine.roles.holds_sums else self.n_rows * self.n_cols

    @property
    def streamed_words(self) -> Any:
        """Operand words that enter and move through."""
        columns = self.n_cols if self.machine.roles.holds_sums else 0
        return (self.n_rows + columns) * self.steps

    @property
    def _used_rows(self) -> Any:
        return self.n_rows if self.machine.is_clipped else self.machine.rows


@dataclass(frozen=True)
class Axis:
    """How many folds lie along one axis of the array, and how large they are."""

    size: Any
    width: Any

    @property
    def n_full(self) -> Any:
        return self.size // self.width

    @property
    def rest(self) -> Any:
        return self.size % self.width

    @property
    def has_rest(self) -> Any:
        return (self.rest > 0) + 0

    @property
    def n_folds(self) -> Any:
        return self.n_full + self.has_rest

    @property
    def kinds(self) -> tuple[tuple[Any, Any], ...]:
        """How many folds of which size."""
        return (self.n_full, self.width), (self.has_rest, self.rest)

    @property
    def first(self) -> Any:
        """Size of the first fold."""
        return smaller(self.size, self.width)

    @property
    def last(self) -> Any:
        """Size of the last fold."""
        return self.rest + self.width * (self.rest == 0)

    @property
    def neighbors(self) -> tuple[tuple[Any, Any, Any], ...]:
        """How often a fold of one size is followed by one of another, along the axis."""
        return (
            ((self.n_full - 1) * (self.n_full > 1), self.width, self.width),
            ((self.n_full > 0) * self.has_rest, self.width, self.rest),
        )


def axes(machine: Machine, sizes: Sizes) -> tuple[Axis, Axis]:
    """Folds along the rows and along the columns."""
    return Axis(sizes.rows, machine.rows), Axis(sizes.columns, machine.cols)


def counts(machine: Machine, sizes: Sizes) -> dict[str, Any]:
    """All of `primer.systolic.SystolicCount` but what was given."""
    check(machine, sizes)
    roles, (down, across) = machine.roles, axes(machine, sizes)
    n_folds, n_macs = down.n_folds * across.n_folds, sizes.rows * sizes.columns * sizes.steps
    compute, total = compute_cycles(machine, sizes), n_cycles(machine, sizes)
    load, stall = machine.n_pes * load_cycles(machine, sizes), machine.n_pes * (total - compute)
    padding = n_folds * machine.n_pes * sizes.steps - n_macs
    waiting = machine.n_pes * total - n_macs - padding - load - stall
    words = {
        roles.right: sizes.rows * sizes.steps * across.n_folds,
        roles.down: sizes.steps * sizes.columns * down.n_folds,
        roles.held: sizes.rows * sizes.columns,
    }
    n_sums = sizes.rows * sizes.columns if roles.holds_sums else sizes.steps * sizes.columns
    return {
        "n_cycles": total, "stall_cycles": total - compute, "n_macs": n_macs, "n_folds": n_folds,
        "a_reads": words["a"], "b_reads": words["b"], "c_writes": words["partial_sum"],
        "c_reads": words["partial_sum"] - n_sums,
        "accumulator_words": 0 if roles.holds_sums else n_sums,
        "mapping_frac": sizes.rows * sizes.columns / (n_folds * machine.n_pes),
        "pe_cycles": Shares(n_macs, waiting, padding, load, stall),
    }  # fmt: skip


def check(machine: Machine, sizes: Sizes) -> None:
    """Refuse what would not fit into 64 bits: estimated in floating point, and generously."""
    rows, columns, steps, high, wide = (
        size * 1.0 for size in (sizes.rows, sizes.columns, sizes.steps, machine.rows, machine.cols)
    )
    n_folds = (rows / high + 1) * (columns / wide + 1)
    n_cycles = n_folds * (steps + 4 * high + wide)
    n_words = n_folds * (steps + high) * (high + wide)
    if np.max(high * wide * n_cycles) >= LARGEST:
        rule = f"leave less than {LARGEST:.2g} PE-cycles for this product"
        _checks.fail("rows and cols", rule, (int(np.max(high)), int(np.max(wide))))
    with np.errstate(over="ignore"):
        n_pe_cycles = np.max(high * wide * n_words / machine.bandwidth)
    if n_pe_cycles >= LARGEST:
        rule = f"leave less than {LARGEST:.2g} PE-cycles for this product"
        _checks.fail("bandwidth_words_per_cycle", rule, float(np.min(machine.bandwidth)))


def larger(one: Any, other: Any) -> Any:
    """The larger of two numbers, or of each pair in arrays."""
    return max(one, other) if type(one) is type(other) is int else np.maximum(one, other)


def smaller(one: Any, other: Any) -> Any:
    """The smaller of two numbers, or of each pair in arrays."""
    return min(one, other) if type(one) is type(other) is int else np.minimum(one, other)


def arrival_cycles(words: Any, bandwidth: Any) -> Any:
    """Cycles until so many words are in."""
    if type(bandwidth) is float and bandwidth == math.inf:
        return 0
    return np.ceil(words / np.asarray(bandwidth) * _ALMOST).astype(np.int64)


def phase(machine: Machine, cycles: Any, words: Any) -> Any:
    """A part of a run lasts until its cycles are over, and until its words are in."""
    return larger(cycles, arrival_cycles(words, machine.bandwidth))


def compute_cycles(machine: Machine, sizes: Sizes) -> Any:
    """Cycles of a whole product if all words are there in time."""
    return n_cycles(dataclasses.replace(machine, bandwidth=math.inf), sizes)


def n_cycles(machine: Machine, sizes: Sizes) -> Any:
    """Cycles of a whole product."""
    if machine.is_buffered:
        return _overlapped(machine, sizes)
    down, across = axes(machine, sizes)
    total = 0
    for n_down, n_rows in down.kinds:
        for n_across, n_cols in across.kinds:
            fold = Fold(machine, n_rows, n_cols, sizes.steps)
            load = phase(machine, fold.load_cycles, fold.held_words)
            stream = phase(machine, sizes.steps + fold.tail_cycles, fold.streamed_words)
            total = total + n_down * n_across * (load + stream)
    return total


def _overlapped(machine: Machine, sizes: Sizes) -> Any:
    """Each fold starts as soon as the one before leaves room."""
    down, across = axes(machine, sizes)
    first = Fold(machine, down.first, across.first, sizes.steps)
    last = Fold(machine, down.last, across.last, sizes.steps)
    total = phase(machine, first.load_cycles, first.held_words)
    for count, fold, following in neighbors(machine, sizes):
        words = fold.streamed_words + following.held_words
        total = total + count * phase(machine, interval(fold, following), words)
    return total + phase(machine, sizes.steps + last.tail_cycles, last.streamed_words)


def interval(fold: Fold, following: Fold) -> Any:
    """Cycles from the start of a fold to the start of the following one."""
    overtakes = fold.tail_cycles - following.tail_cycles  # by less it would end before the other
    waits = larger(following.load_cycles, fold.drain_cycles)
    return larger(larger(fold.steps, waits), overtakes)


def neighbors(machine: Machine, sizes: Sizes) -> Iterator[tuple[Any, Fold, Fold]]:
    """How often which fold is followed by which; folds run down the rows, then to the right."""
    down, across = axes(machine, sizes)

    def pair(count: Any, here: tuple[Any, Any], there: tuple[Any, Any]) -> tuple[Any, Fold, Fold]:
        return count, Fold(machine, *here, sizes.steps), Fold(machine, *there, sizes.steps)

    for n_across, n_cols in across.kinds:
        for count, above, below in down.neighbors:
            yield pair(n_across * count, (above, n_cols), (below, n_cols))
    for count, left, right in across.neighbors:
        yield pair(count, (down.last, left), (down.first, right))


def load_cycles(machine: Machine, sizes: Sizes) -> Any:
    """Cycles in which weights are loaded while nothing streams, at any bandwidth."""
    down, across = axes(machine, sizes)
    if not machine.is_buffered:
        kinds = [(n, Fold(machine, rows, 1, sizes.steps)) for n, rows in down.kinds]
        return across.n_folds * sum(n * fold.load_cycles for n, fold in kinds)
    total = Fold(machine, down.first, across.first, sizes.steps).load_cycles
    for count, fold, following in neighbors(machine, sizes):
        total = total + count * larger(following.load_cycles - fold.steps, 0)
    return total

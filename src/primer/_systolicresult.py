"""The results of `primer.systolic`: counts, and a run with all that moved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Shares(NamedTuple):
    """Parts of a whole: all PEs in all cycles.

    Parameters
    ----------
    useful : float or int
        Products that count: one for each multiply-add of the matrices.
    fill_drain : float or int
        Waiting for the first word, or for others to finish.
    padding : float or int
        Positions that the matrices do not reach, while others stream.
    weight_load : float or int
        Weights, or inputs, come in and nothing streams.
    stall : float or int
        The array stands still because words are missing.
    """

    useful: Any
    fill_drain: Any
    padding: Any
    weight_load: Any
    stall: Any


@dataclass(frozen=True, kw_only=True)
class SystolicCount:
    """What a product costs on an array.

    Numbers are int and float if all arguments were numbers, else read-only arrays of the common
    shape.

    Parameters
    ----------
    dataflow : str
    m, n, k, rows, cols : int or int array
        The product, and the array.
    n_cycles : int or int array [cycles]
        From the first to the last, both counted.
    stall_cycles : int or int array [cycles]
        Those of them in which the array stands still for want of words.
    n_macs, n_folds : int or int array
        Multiply-adds, m·n·k, and parts into which the product falls.
    a_reads, b_reads : int or int array [words]
        Words of A and B that enter the array.
    c_writes : int or int array [words]
        Sums that leave it, complete or not.
    c_reads : int or int array [words]
        Sums outside that are read to add to them.
    accumulator_words : int or int array [words]
        Sums that have to be kept outside meanwhile; 0 if they are held in the array.
    mapping_frac : float or float array
        Part of the PEs that a fold uses, on average.
    pe_cycles : Shares
        All PEs in all cycles, by what they did; the sum is rows · cols · n_cycles.
    """

    dataflow: str
    m: Any
    n: Any
    k: Any
    rows: Any
    cols: Any
    n_cycles: Any
    stall_cycles: Any
    n_macs: Any
    n_folds: Any
    a_reads: Any
    b_reads: Any
    c_writes: Any
    c_reads: Any
    accumulator_words: Any
    mapping_frac: Any
    pe_cycles: Shares

    @property
    def compute_cycles(self) -> Any:
        """Cycles without stalls, int or int array."""
        return self.n_cycles - self.stall_cycles

    @property
    def utilization_frac(self) -> Any:
        """Multiply-adds / (PEs · cycles), float or float array."""
        return self.n_macs / (self.rows * self.cols * self.n_cycles)

    @property
    def shares(self) -> Shares:
        """`pe_cycles` as fractions; they add up to 1."""
        whole = self.rows * self.cols * self.n_cycles
        return Shares(*(part / whole for part in self.pe_cycles))


@dataclass(frozen=True, kw_only=True, eq=False)
class Folds:
    """The parts of a product in their order; all arrays are (n_folds,) and read-only.

    Parameters
    ----------
    row, column : int array
        Where the part begins, in what lies along the rows and the columns of the array.
    n_rows, n_cols : int array
        How many rows and columns of the array it uses.
    load_cycle, start_cycle, end_cycle : int array [cycles]
        When its weights begin to enter (as `start_cycle` if there are none), when its first
        operands do, and the cycle behind its last.
    a_reads, b_reads, c_writes : int array [words]
        Words that enter and sums that leave.
    """

    row: Ints
    column: Ints
    n_rows: Ints
    n_cols: Ints
    load_cycle: Ints
    start_cycle: Ints
    end_cycle: Ints
    a_reads: Ints
    b_reads: Ints
    c_writes: Ints


@dataclass(frozen=True, kw_only=True, eq=False)
class SystolicRun(SystolicCount):
    """A product that ran, with what stood in every PE at the end of every cycle.

    All counts were counted while it ran. What was not recorded is None; arrays are read-only.

    Parameters
    ----------
    product : float array (m, n)
        A·B, as the array added it up.
    folds : Folds
    frozen : bool array (n_cycles,)
        Cycles in which the array stands still.
    a, b, partial_sum : float array (n_cycles, rows, cols)
        What a PE has of each matrix; NaN where it has none.
    shadow : float array (n_cycles, rows, cols)
        What waits beside it: the next weights, or, with `drain`, sums on their way out. None if
        there are no such registers.
    busy : bool array (n_cycles, rows, cols)
        Whether the PE did a product that counts.
    """

    product: Floats
    folds: Folds
    frozen: NDArray[np.bool_]
    a: Floats | None
    b: Floats | None
    partial_sum: Floats | None
    shadow: Floats | None
    busy: NDArray[np.bool_] | None

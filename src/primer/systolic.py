"""A systolic array that multiplies matrices: every value in every cell, cycle by cycle.

C[m, n] = A[m, k] · B[k, n] on rows × cols processing elements (PEs). A PE does one multiply-add in
a cycle and hands its words on, to the right and down. Only the edges are connected to memory. The
dataflow says which matrix stays in place:

    os  outputs   m along rows, n along columns, k in time;  A moves right, B down, sums are held
    ws  weights   k along rows, n along columns, m in time;  A moves right, sums down, B is held
    is  inputs    k along rows, m along columns, n in time;  B moves right, sums down, A is held

It is one machine, on which the three matrices change places. Words enter skewed, row i by i cycles
and column j by j, so that those meet which belong together. What does not fit is cut into *folds*,
each as many rows and columns as the array has, with all its steps in one go.

**The convention.** Cycles are counted, not numbered: from the first in which a fold's weights or
operands enter to the last in which it multiplies, both included. With r rows, c columns and s steps
in time a fold takes

    os  s + r + c − 2        ws, is  r + (s + r + c − 2), with r to load what is held

and folds follow each other without overlap. Four options change that:

- `drain`: held sums are moved down and out, which takes r more cycles per fold of os. In ws and is
  a sum leaves at the lower edge with its last product, and nothing is added.
- `edges`: with "full" a fold that does not fill the array takes as long as one that does; with
  "clipped" it takes as long as on an array of its own size.
- `double_buffer`: behind what it holds each PE has a second register. The next weights come in
  while a fold streams, one row in a cycle, and the fold's first word swaps them in. So a fold
  starts max(s, r) cycles after the one before, and only the first load and the last fold show
  in full. In os it is sums that leave that way. No fold ends before the one that it follows, so a
  small fold behind a large one may have to wait, and clipped edges can then take longer than full.
- `bandwidth_words_per_cycle`: operand words that memory brings in a cycle. A run is a row of
  phases: the load of a fold's weights, then the rest of the fold; with `double_buffer`, the time
  from one start to the next, in which a fold streams and the next weights come in. A phase lasts
  max(its cycles, its words / bandwidth), and in the cycles that this adds the array stands still,
  spread as evenly as can be. Within a phase buffers at the edges even out what is needed when.

Left out: the energy of moving words, buses and pipelining inside a PE, number formats (all is
fp64), the memory behind the edges, the accumulators outside the array that ws and is need (their
size is in the result), and what a real machine pads streams to.

Sources: Kung, "Why systolic architectures?", Computer 15(1), 1982; Samajdar et al., "SCALE-Sim:
systolic CNN accelerator simulator", arXiv:1811.02883, whose total is the index of the last cycle.

>>> count(4, 4, 16, rows=4, cols=4, dataflow="os").n_cycles  # 16 + 4 + 4 - 2
22
>>> folded = {"rows": 4, "cols": 4, "dataflow": "ws"}
>>> count(8, 8, 8, **folded).n_cycles, count(8, 8, 8, **folded, double_buffer=True).n_cycles
(72, 42)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from primer import _arrays, _checks, _systoliccount, _systolicrun
from primer._systoliccount import Machine, Sizes
from primer._systolicresult import Folds, Shares, SystolicCount, SystolicRun
from primer._systolicroles import DATAFLOWS, ROLES
from primer._systolicrun import RECORDS, Task

__all__ = [
    "DATAFLOWS", "EDGES", "RECORDS", "Folds", "Shares", "SystolicCount", "SystolicRun", "count",
    "simulate",
]  # fmt: skip

EDGES = ("full", "clipped")
MOST_RECORD_BYTES = 2**30
MOST_PE_CYCLES = 2**33  # of a run: half a minute
MOST_CYCLES = 2**27  # of a run: tags have 32 bits
MOST_FOLDS = 2**20  # of a run: each takes some microseconds, and 100 bytes


def count(
    m: Any,
    n: Any,
    k: Any,
    *,
    rows: Any,
    cols: Any,
    dataflow: str,
    drain: bool = False,
    edges: str = "full",
    double_buffer: bool = False,
    bandwidth_words_per_cycle: Any = None,
) -> SystolicCount:
    """What a product costs on an array, in closed form: nothing is simulated.

    Parameters
    ----------
    m, n, k : int or int array
        Rows of C, columns of C, and the length of every dot product.
    rows, cols : int or int array
        PEs of the array.
    dataflow : str
        "os", "ws" or "is": outputs, weights (B) or inputs (A) stay in place.
    drain : bool
        Also count how held sums leave.
    edges : str
        "full" or "clipped".
    double_buffer : bool
        Let folds overlap.
    bandwidth_words_per_cycle : float or float array, optional [words/cycle]
        Operand words from memory; unlimited by default.

    Returns
    -------
    SystolicCount
        Of numbers if all arguments were numbers, else of arrays of the common shape.

    Raises
    ------
    ValueError
        If a size is not a positive integer, an option is unknown, arrays do not broadcast, or the
        counts would not fit into 64 bits.

    Examples
    --------
    128 · 128 weights take 128 cycles to load, whether one row of A uses them or a thousand do.

    >>> mxu = {"rows": 128, "cols": 128, "dataflow": "ws", "double_buffer": True}
    >>> one, many = count(1, 3072, 768, **mxu), count(1024, 3072, 768, **mxu)
    >>> one.n_cycles, many.n_cycles, round(many.utilization_frac, 3)
    (18687, 147838, 0.997)
    >>> count([3, 4, 5], 4, 4, rows=4, cols=4, dataflow="os").utilization_frac.round(2).tolist()
    [0.3, 0.4, 0.25]
    """
    given = {"m": m, "n": n, "k": k, "rows": rows, "cols": cols}
    given = {name: _arrays.wholes(name, value) for name, value in given.items()}
    options = _options(dataflow, drain, edges, double_buffer)
    bandwidth = _bandwidth(bandwidth_words_per_cycle)
    shape = _arrays.common_shape({**given, "bandwidth_words_per_cycle": bandwidth})
    roles = options["roles"]
    sizes = Sizes(given[roles.rows], given[roles.columns], given[roles.steps])
    machine = Machine(rows=given["rows"], cols=given["cols"], bandwidth=bandwidth, **options)
    found = {**given, **_systoliccount.counts(machine, sizes)}
    parts = Shares(*(_arrays.shaped(part, shape) for part in found.pop("pe_cycles")))
    numbers = {name: _arrays.shaped(value, shape) for name, value in found.items()}
    return SystolicCount(dataflow=dataflow, pe_cycles=parts, **numbers)


def simulate(
    a: ArrayLike,
    b: ArrayLike,
    *,
    rows: int,
    cols: int,
    dataflow: str,
    drain: bool = False,
    edges: str = "full",
    double_buffer: bool = False,
    bandwidth_words_per_cycle: float | None = None,
    record: Sequence[str] = RECORDS,
) -> SystolicRun:
    """Multiply two matrices on an array: words move from PE to PE, and cycles are what comes out.

    Parameters
    ----------
    a : float array (m, k)
        Finite.
    b : float array (k, n)
        Finite.
    rows, cols, dataflow, drain, edges, double_buffer, bandwidth_words_per_cycle
        As in `count`, but numbers.
    record : sequence of str
        What to keep of every PE in every cycle, of "a", "b", "partial_sum", "shadow", "busy". All
        together take 33 bytes per PE and cycle, "busy" alone one.

    Returns
    -------
    SystolicRun

    Raises
    ------
    ValueError
        If the matrices are not finite, empty, or do not multiply, if an option is unknown, if the
        record would take more than `MOST_RECORD_BYTES`, or the run would take minutes.

    Examples
    --------
    Two rows of A meet two columns of B; the corner across waits for two cycles.

    >>> run = simulate([[1, 2], [3, 4]], [[5, 6], [7, 8]], rows=2, cols=2, dataflow="os")
    >>> run.product.tolist(), run.n_cycles
    ([[19.0, 22.0], [43.0, 50.0]], 4)
    >>> run.busy.astype(int).reshape(4, 4).tolist()  # one line for each cycle
    [[1, 0, 0, 0], [1, 1, 1, 0], [0, 1, 1, 1], [0, 0, 0, 1]]
    >>> run.partial_sum[:, 0, 1].tolist()  # of the upper right PE: 1 · 6, then + 2 · 8
    [nan, 6.0, 22.0, 22.0]
    """
    left, right = _matrix("a", a), _matrix("b", b)
    if left.shape[1] != right.shape[0]:
        _checks.fail("b", f"have as many rows as a has columns, {left.shape[1]}", right)
    _check_sums(left, right)
    task = Task(
        left, right, dataflow, rows=_checks.whole("rows", rows), cols=_checks.whole("cols", cols),
        kept=_record(record), bandwidth=_one_bandwidth(bandwidth_words_per_cycle),
        **_options(dataflow, drain, edges, double_buffer),
    )  # fmt: skip
    return _systolicrun.run(task, _checked_cycles(task))


def _options(dataflow: str, drain: bool, edges: str, double_buffer: bool) -> dict[str, Any]:
    """The choices, checked, as the machine takes them."""
    roles = ROLES[_checks.one_of("dataflow", dataflow, DATAFLOWS)]
    return {
        "roles": roles,
        "has_drain": _checks.flag("drain", drain) and roles.holds_sums,
        "is_clipped": _checks.one_of("edges", edges, EDGES) == "clipped",
        "is_buffered": _checks.flag("double_buffer", double_buffer),
    }


def _bandwidth(words_per_cycle: Any) -> Any:
    if words_per_cycle is None:
        return np.inf
    return _arrays.positives("bandwidth_words_per_cycle", words_per_cycle)


def _one_bandwidth(words_per_cycle: Any) -> float:
    found = _bandwidth(words_per_cycle)
    if not _checks.is_a(found, float):
        _checks.fail("bandwidth_words_per_cycle", "be one number for a run", words_per_cycle)
    return float(found)


def _record(record: Sequence[str]) -> tuple[str, ...]:
    """Names of what is to be kept."""
    if _checks.is_a(record, str) or not _checks.is_a(record, Sequence):
        _checks.fail("record", f"be a sequence of some of {', '.join(RECORDS)}", record)
    return tuple(_checks.one_of(f"record[{i}]", name, RECORDS) for i, name in enumerate(record))


def _matrix(name: str, given: ArrayLike) -> NDArray[np.float64]:
    """A matrix of finite numbers, in fp64."""
    rule = "be a matrix of real numbers"
    try:
        found = np.asarray(given)
    except Exception:  # of arrays from elsewhere: whatever their library raises
        _checks.fail(name, rule, given)
    if found.dtype.kind not in "iuf" or found.ndim != 2:
        _checks.fail(name, rule, given)
    if found.size == 0:
        _checks.fail(name, "not be empty", given)
    if np.ma.is_masked(given):
        _checks.fail(name, "have no masked element", given)
    with np.errstate(over="ignore"):
        matrix = found.astype(np.float64)
    if not np.isfinite(matrix).all():
        _checks.fail(name, "be finite in every element", matrix[~np.isfinite(matrix)][0])
    return matrix


def _check_sums(a: NDArray[np.float64], b: NDArray[np.float64]) -> None:
    """Refuse matrices so large that a sum could become infinite."""
    largest = float(np.abs(a).max()), float(np.abs(b).max())
    if not math.isfinite(largest[0] * largest[1] * a.shape[1]):
        _checks.fail("a and b", "be small enough for every sum to stay finite", largest)


def _checked_cycles(task: Task) -> int:
    """Cycles without stalls; refuses what would not fit into memory, or not end."""
    machine = Machine(
        task.roles, task.rows, task.cols, task.has_drain, task.is_clipped, task.is_buffered,
        task.bandwidth,
    )  # fmt: skip
    sizes = Sizes(*task.extents)
    _systoliccount.check(machine, sizes)
    n_cycles = int(_systoliccount.n_cycles(machine, sizes))
    instead = "`count` gives the numbers without a run"
    n_bytes = _systolicrun.record_bytes(task, n_cycles)
    if n_bytes > MOST_RECORD_BYTES:
        limit = f"MOST_RECORD_BYTES = {MOST_RECORD_BYTES:,}"
        _checks.fail("record", f"take at most {limit}; keep less of it, or {instead}", n_bytes)
    n_pe_cycles = machine.n_pes * n_cycles
    if n_pe_cycles > MOST_PE_CYCLES or n_cycles > MOST_CYCLES:
        limits = f"MOST_PE_CYCLES = {MOST_PE_CYCLES:,} and MOST_CYCLES = {MOST_CYCLES:,}"
        _checks.fail("a and b", f"take at most {limits} on this array; {instead}", n_pe_cycles)
    down, across = _systoliccount.axes(machine, sizes)
    n_folds = down.n_folds * across.n_folds
    if n_folds > MOST_FOLDS:
        limit = f"MOST_FOLDS = {MOST_FOLDS:,} folds"
        _checks.fail("a and b", f"fall into at most {limit} on this array; {instead}", n_folds)
    return int(_systoliccount.compute_cycles(machine, sizes))

"""A matrix product on a GPU and on a TPU, by the same rules, and where the time goes on either.

The result is cut into blocks. Each core takes a block, and a step of it multiplies block_m ×
block_k numbers of A with block_k × block_n numbers of B; ⌈k / block_k⌉ steps make a block. All
cores run in step, a wave of blocks at a time. While they compute, the operands of the next step are
copied into a second buffer, and a part of the results of the wave before is copied out, the same
part beside every step:

    T = fill + Σ max(copy, compute) + tail

A copy of Q bytes from main memory takes Q / bandwidth; where cores share a cache, one stripe of A
or B is fetched for all of them, and what they read from the cache takes its time as well, the
longer of the two counts. If A and B fit together into the room for operands, every number is
fetched once; if not, every wave fetches what it needs. Results are written once.

The whole time is told apart, and the parts add up to it:

- *useful*: the multiply-adds that were asked for, at the peak of all cores;
- *padding*: those of blocks that hang over the edge, or of steps that k does not fill;
- *idle*: cores without a block, in a last wave that is not full;
- *weights*: an array that waits for weights because too few rows pass them;
- *copy*: what copying takes longer than the computing beside it;
- *fill*, *tail*: before the first step and after the last.

For a GPU and a TPU the rules are the same and the numbers differ; see `gpu` and `tpu`.

Left out: latencies of memory, the time to start a kernel, cores that are not in step, blocks that
share their stripes without a cache, clocks below the boost, how much one core alone can read, which
matters where few of them have a block, and all that keeps real memory and caches below their
printed rates. Products are bf16, sums fp32.

Source: the rules are ours; double buffering as in `primer.roofline`, waves as in `primer.waves`.

>>> from primer import hardware
>>> h100, v5e = gpu(hardware.load("h100_sxm5_80gb")), tpu(hardware.load("tpu_v5e"))
>>> one = run(h100, 1024, 3072, 768)
>>> one.n_blocks, one.n_waves, round(one.compute_time_s * 1e6, 2)
(192, 2, 6.71)
>>> one = run(v5e, 1024, 3072, 768)
>>> one.n_blocks, one.n_steps, round(one.compute_time_s * 1e6, 1)
(6, 36, 24.6)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from primer import _checks
from primer._blockedmachine import Machine, gpu, tpu
from primer._blockedsteps import Floats, Steps, steps

__all__ = ["BlockedGemm", "Machine", "Parts", "Steps", "fastest", "gpu", "run", "steps", "tpu"]


class Parts(NamedTuple):
    """Where the time of a product went, each float [s]; the sum is all of it.

    Parameters
    ----------
    useful : float [s]
        Wanted multiply-adds at the peak of all cores.
    padding : float [s]
        Multiply-adds beyond the edges.
    idle : float [s]
        Cores without a block.
    weights : float [s]
        Arrays that wait for weights.
    copy : float [s]
        Copies that take longer than the computing beside them.
    fill, tail : float [s]
        Before the first step, and after the last.
    """

    useful: float
    padding: float
    idle: float
    weights: float
    copy: float
    fill: float
    tail: float


@dataclass(frozen=True, kw_only=True)
class BlockedGemm:
    """A product on a machine.

    Parameters
    ----------
    machine : Machine
    m, n, k : int
    n_blocks, n_waves, n_steps : int
        Blocks of the result, waves of them, and steps of all waves.
    n_last_blocks : int
        Blocks in the last wave.
    work_flop : float [FLOP]
        2·m·n·k.
    time_s : float [s]
        From the first byte of A and B to the last one of C.
    compute_time_s : float [s]
        Of all steps, if no copy ever delayed one.
    copy_time_s : float [s]
        Of all copies, if no computing ever delayed one.
    parts : Parts
    hbm_bytes : float [B]
        From and to main memory.
    cache_bytes : float [B]
        Read by the cores from the cache they share; 0 without one.
    """

    machine: Machine
    m: int
    n: int
    k: int
    n_blocks: int
    n_waves: int
    n_steps: int
    n_last_blocks: int
    work_flop: float
    time_s: float
    compute_time_s: float
    copy_time_s: float
    parts: Parts
    hbm_bytes: float
    cache_bytes: float

    @property
    def peak_frac(self) -> float:
        """Rate reached, as a share of the printed peak, float."""
        return self.work_flop / self.time_s / self.machine.peak_flop_per_s

    @property
    def shares(self) -> Parts:
        """The parts as fractions of the time; they add up to 1."""
        return Parts(*(part / self.time_s for part in self.parts))


def run(machine: Machine, m: int, n: int, k: int, *, double_buffer: bool = True) -> BlockedGemm:
    """Multiply m × k by k × n on a machine.

    Parameters
    ----------
    machine : Machine
        From `gpu`, `tpu`, or your own.
    m, n, k : int
        Rows of C, columns of C, and the length of every dot product.
    double_buffer : bool
        Whether a step's operands are copied while the step before computes. Without it copies and
        computing take turns.

    Returns
    -------
    BlockedGemm

    Raises
    ------
    ValueError
        If a size is not a positive integer, if they make more than 2,000,000 steps or blocks, or if
        the machine is so slow that a time is no longer finite.

    Examples
    --------
    A core of 1 multiply-add per second, 2 B/s of memory, blocks of 1: 1 s for the first two numbers
    (4 bytes take 2 s), then a step per second beside a copy of 2 s, and 1 s for the result.

    >>> slow = Machine(
    ...     name="slow", n_cores=1, macs_per_cycle=1, clock_hz=1, peak_flop_per_s=2, block_m=1,
    ...     block_n=1, block_k=1, row_multiple=1, hbm_bytes_per_s=2, keep_bytes=0, room_bytes=16,
    ... )
    >>> dot = run(slow, 1, 1, 3)
    >>> dot.time_s, dot.parts.fill, dot.parts.useful, dot.parts.copy, dot.parts.tail
    (8.0, 2.0, 3.0, 2.0, 1.0)
    """
    overlaps, done = _checks.flag("double_buffer", double_buffer), steps(machine, m, n, k)
    rows, columns, depth = int(m), int(n), int(k)
    macs = rows * columns * depth
    with np.errstate(over="ignore", invalid="ignore"):  # by rates near zero; refused below
        load, store, last = copy_times_s(machine, done)
        copy = np.append(load[1:], 0.0) + store
        compute = done.compute_cycles / machine.clock_hz
        parts = Parts(
            **_inside(machine, macs, done),
            copy=float((np.maximum(copy - compute, 0.0) if overlaps else copy).sum()),
            fill=float(load[0]) + machine.fill_cycles / machine.clock_hz,
            tail=last + machine.drain_cycles / machine.clock_hz,
        )
    peak_flop = machine.peak_flop_per_s * sum(parts)
    _checks.keeps_finite(
        "machine", machine, time_s=sum(parts), peak_frac=_checks.quotient(2.0 * macs, peak_flop)
    )
    return BlockedGemm(
        machine=machine, m=rows, n=columns, k=depth,
        n_blocks=done.n_blocks, n_waves=done.n_waves, n_steps=len(compute),
        n_last_blocks=done.n_blocks - (done.n_waves - 1) * machine.n_cores,
        work_flop=2.0 * macs, time_s=sum(parts), compute_time_s=float(compute.sum()),
        copy_time_s=float(load.sum() + store.sum()) + last, parts=parts,
        hbm_bytes=done.hbm_bytes, cache_bytes=float(done.cache_bytes.sum()),
    )  # fmt: skip


def copy_times_s(machine: Machine, done: Steps) -> tuple[Floats, Floats, float]:
    """Time of every step's operands on their way in, of results beside it, and of the last."""
    fetch = done.load_bytes / machine.hbm_bytes_per_s
    load = np.maximum(fetch, done.cache_bytes / machine.cache_bytes_per_s)
    rate = machine.hbm_bytes_per_s
    return load, done.store_bytes / rate, done.last_bytes / rate


def _inside(machine: Machine, macs: int, done: Steps) -> dict[str, float]:
    """What the computing was for."""
    useful = macs / (machine.n_cores * machine.macs_per_cycle)
    busy, stream = float(done.busy_cycles.sum()), int(done.stream_cycles.sum())
    cycles = {
        "useful": useful,
        "padding": max(busy - useful, 0.0),
        "idle": max(stream - busy, 0.0),
        "weights": int(done.compute_cycles.sum()) - stream,
    }
    return {name: number / machine.clock_hz for name, number in cycles.items()}


def fastest(machines: Iterable[Machine], m: int, n: int, k: int) -> BlockedGemm:
    """The product on that machine which is done first: how libraries choose a block.

    Parameters
    ----------
    machines : iterable of Machine
        Such as one GPU with blocks of several sizes; of equals the first one is taken.
    m, n, k : int

    Raises
    ------
    ValueError
        If there is no machine, or `run` refuses one.

    Examples
    --------
    >>> from primer import hardware
    >>> h100 = hardware.load("h100_sxm5_80gb")
    >>> sizes = [gpu(h100, block=size) for size in ((128, 128, 64), (64, 64, 64))]
    >>> fastest(sizes, 1, 3072, 768).machine.block_m
    64
    """
    if not _checks.is_a(machines, Iterable) or _checks.is_a(machines, np.ndarray):
        _checks.fail("machines", "be Machines, as gpu and tpu make them", machines)
    runs = [run(machine, m, n, k) for machine in machines]
    if not runs:
        _checks.fail("machines", "hold at least one", ())
    return min(runs, key=lambda found: found.time_s)

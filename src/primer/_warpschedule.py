"""Warps taking turns: `schedule`, which lets the engine run until it repeats itself."""

from __future__ import annotations

import numpy as np

from primer import _warpmachine, _warpsim
from primer._warpmachine import Multiprocessor
from primer._warprun import WARP_STATES, SteadyState, WarpRecord, WarpRun

_MOST_LOOKS = 2**20
_MOST_PASSED_OVER = 2**32


def schedule(
    n_warps: int,
    *,
    latency_cycles: int,
    alu_per_load: int,
    independent_loads: int = 1,
    policy: str = "gto",
    memory_interval_cycles: int | None = None,
    alu_latency_cycles: int = 1,
    n_schedulers: int = 1,
    n_iterations: int | None = None,
    record_cycles: int = 0,
) -> WarpRun:
    """Let warps take turns, cycle by cycle.

    Parameters
    ----------
    n_warps : int
        Of all schedulers together, at most 4,096. One scheduler owns at most 16 on real GPUs (12
        or 8 on some); the model takes more, so that one can see what they would do.
    latency_cycles : int [cycles]
        From the cycle in which the memory accepts a load to the first in which it can be used.
    alu_per_load : int
        ALU instructions for each load; without loads, those of one pass through the loop.
    independent_loads : int
        Loads that a warp issues before it waits for them; 0 for a loop without loads.
    policy : str
        "gto", "rr" or "oldest".
    memory_interval_cycles : int, optional [cycles]
        Between two loads that the memory accepts, from whichever warp. Without it, bandwidth has
        no end. See `memory_interval`.
    alu_latency_cycles : int [cycles]
        From one dependent ALU instruction to the next of the same warp.
    n_schedulers : int
    n_iterations : int, optional
        How often each warp goes through its loop. By default it has no end.
    record_cycles : int [cycles]
        How many cycles to record, from the first one on; a run that ends earlier is recorded
        whole. Cycles times warps may be 2,097,152.

    Returns
    -------
    WarpRun
        Its rates are those of the steady state, which is found exactly: the loop goes on until the
        whole machine (every warp's place and wait, the turn, the memory's queue) is as it was once
        before, and what lies between is counted. One scheduler soon repeats itself with "rr", and
        with "gto" if the ALU latency is one cycle. Otherwise the period may be too long to be
        found; see `SteadyState.is_periodic`.

    Raises
    ------
    ValueError
        If an argument is not an integer in its range, the policy unknown, the loop empty or too
        long (1,048,576 instructions of all warps), a run too long (134,217,728 instructions, or
        fewer with more than 32 warps to a scheduler), or a record too large.

    Notes
    -----
    A scheduler issues at most one instruction per cycle, from one of its warps. Every warp runs
    the same loop, in order:

        i loads that do not depend on each other, then c dependent arithmetic (ALU) instructions.

    The first ALU instruction waits for all i loads. Each further one, and the first load of the
    next pass, waits for the ALU instruction before it. c is `alu_per_load` · i, so that a loop
    with more independent loads is the same program, unrolled. A load can be used L cycles after
    the memory accepts it. The memory accepts one every τ cycles, in order of issue, and queues
    what comes too soon. All warps start at cycle 0. In each cycle a scheduler chooses, by policy,
    among its warps that are *ready*, waiting for nothing:

    - "gto", greedy then oldest: the warp that issued last; if it is not ready, the oldest that is.
      Warps were born in the order of their numbers, so the oldest is the lowest. If the oldest
      fill every slot, the youngest get no turn until an older one is done.
    - "oldest": the oldest that is ready, even if another one is at work.
    - "rr", strict round robin: after every instruction the turn goes to the next warp. If that one
      is not ready it is waited for, even if others could issue.

    Several schedulers share the memory, and one port that takes one load per cycle. Warp w belongs
    to scheduler w mod n. The scheduler that chooses first is another one in each cycle.

    Left out: a limit on the loads that a warp may have on their way (scoreboard entries),
    instruction fetch, conflicts of register banks, two instructions in one cycle, a latency that
    changes from load to load or with the traffic, stores, barriers, branches, and blocks that end
    and are replaced. Every load is coalesced: one request of 128 bytes.

    Sources: Volkov, "Understanding latency hiding on GPUs", UC Berkeley EECS-2016-143, 2016;
    Rogers, O'Connor, Aamodt, "Cache-conscious wavefront scheduling", MICRO 2012 (GTO); Narasiman
    and others, "Improving GPU performance via large warps and two-level warp scheduling", MICRO
    2011 (round robin brings all warps to their loads together); Little, "A proof for the queuing
    formula L = λW", Operations Research 9(3), 1961.

    Examples
    --------
    One load, back after 20 cycles, then three ALU instructions: alone, a warp uses 4 slots of 23.
    Six warps fill every slot; in strict round robin they do not, for all load at the same time.

    >>> [round(schedule(n, latency_cycles=20, alu_per_load=3).utilization_frac, 3)
    ...  for n in (1, 5, 6)]
    [0.174, 0.87, 1.0]
    >>> run = schedule(6, latency_cycles=20, alu_per_load=3, policy="rr", record_cycles=9)
    >>> run.utilization_frac == 24 / 38, run.record.warp[:, 0].tolist()
    (True, [0, 1, 2, 3, 4, 5, -1, -1, -1])
    """
    on = _warpmachine.check(
        n_warps, latency_cycles=latency_cycles, alu_per_load=alu_per_load,
        independent_loads=independent_loads, policy=policy, n_schedulers=n_schedulers,
        memory_interval_cycles=memory_interval_cycles, alu_latency_cycles=alu_latency_cycles,
    )  # fmt: skip
    n_passes, n_recorded = on.passes(n_iterations), on.recorded(record_cycles)
    steady, n_issued = _settle(on)
    n_cycles = steady.first_cycle + steady.period_cycles
    if n_passes:
        state = on.state(n_passes)
        _warpsim.run(state, _log(on, 0), _warpsim.NEVER)
        n_cycles, n_issued = int(state[_warpsim.N_CYCLES]), int(state[_warpsim.N_ISSUED])
        n_recorded = min(n_recorded, n_cycles)
    record = _record(on, n_passes, n_recorded) if n_recorded else None
    return WarpRun(on=on, n_cycles=n_cycles, n_issued=n_issued, steady=steady, record=record)


def _settle(on: Multiprocessor) -> tuple[SteadyState, int]:
    """The steady state, and instructions from the first cycle to the end of its period."""
    state = on.state()
    before = state.copy()
    looks = _MOST_LOOKS + 8 * on.n_warps * on.n_each
    is_periodic = bool(_warpsim.settle(state, before, _log(on, 0), looks, _MOST_PASSED_OVER))
    n_cycles, n_issued, n_loads, waited = (
        int(state[i] - before[i])
        for i in (_warpsim.CLOCK, _warpsim.N_ISSUED, _warpsim.N_ISSUED_LOADS, _warpsim.WAITED)
    )
    steady = SteadyState(
        first_cycle=int(before[_warpsim.CLOCK]), period_cycles=n_cycles, n_issued=n_issued,
        n_loads=n_loads, waited_cycles=waited, is_periodic=is_periodic,
    )  # fmt: skip
    return steady, int(state[_warpsim.N_ISSUED])


def _log(on: Multiprocessor, n_cycles: int) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """Room for what is issued in the first cycles."""
    return np.full((n_cycles, on.n_schedulers, _warpsim.LOGGED), -1, dtype=np.int64)


def _record(on: Multiprocessor, n_passes: int, n_cycles: int) -> WarpRecord:
    """Run again, and write down the first cycles."""
    log = _log(on, n_cycles)
    _warpsim.run(on.state(n_passes), log, n_cycles)
    states = np.full((n_cycles, on.n_warps), WARP_STATES.index("ready"), dtype=np.int8)
    kinds = np.zeros((n_cycles, on.n_schedulers), dtype=np.int8)
    in_flight = np.zeros(n_cycles, dtype=np.int64)
    _warpsim.spread(log, on.n_loads, states, kinds, in_flight)
    warps = log[:, :, _warpsim.WARP].copy()
    for array in (states, kinds, in_flight, warps):
        array.flags.writeable = False
    return WarpRecord(warp=warps, kind=kinds, state=states, n_in_flight=in_flight)

"""What a run of warps gives back: how it settles, counts, and a record for those who step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from primer._warpmachine import LOAD_BYTES, Multiprocessor

WARP_STATES = ("issuing", "ready", "memory", "alu", "done")
INSTRUCTIONS = ("none", "load", "alu")


@dataclass(frozen=True, kw_only=True, eq=False)
class WarpRecord:
    """What happened in each cycle from the first on; all arrays are read-only.

    Parameters
    ----------
    warp : int array (n_cycles, n_schedulers)
        The warp that each scheduler issued from, -1 for none.
    kind : int array (n_cycles, n_schedulers)
        What it issued, an index into `INSTRUCTIONS`.
    state : int array (n_cycles, n_warps)
        What each warp did, an index into `WARP_STATES`: it issued; it could have, but was not
        chosen; it waited for memory; it waited for its last arithmetic; it was done.
    n_in_flight : int array (n_cycles,)
        Loads on their way: issued in this cycle or before, back in a later one.
    """

    warp: NDArray[np.int64]
    kind: NDArray[np.int8]
    state: NDArray[np.int8]
    n_in_flight: NDArray[np.int64]

    @property
    def n_cycles(self) -> int:
        """Recorded cycles, int."""
        return len(self.warp)


@dataclass(frozen=True, kw_only=True)
class SteadyState:
    """What the warps come to if their loop never ends, counted over one period.

    Parameters
    ----------
    first_cycle : int
        A cycle from which on everything comes back after `period_cycles`, for ever.
    period_cycles : int [cycles]
    n_issued, n_loads : int
        Instructions, and the loads among them, of all warps in one period.
    waited_cycles : int [cycles]
        From issue to return, summed over those loads.
    is_periodic : bool
        Whether the machine was found in the same state twice, so that all this is exact. If not,
        nothing came back for as long as it was watched, and the later half stands for a period.
    """

    first_cycle: int
    period_cycles: int
    n_issued: int
    n_loads: int
    waited_cycles: int
    is_periodic: bool


@dataclass(frozen=True, kw_only=True, eq=False)
class WarpRun:
    """Warps that took turns on the schedulers of one multiprocessor.

    Rates are those of the steady state.

    Parameters
    ----------
    on : Multiprocessor
        What was asked for.
    n_cycles : int [cycles]
        How long the run took, from the first to the last instruction issued. Without
        `n_iterations` a run has no end; then it is cut where its first period is complete.
    n_issued : int
        Instructions in those cycles.
    steady : SteadyState
    record : WarpRecord, optional
        Where it was asked for.
    """

    on: Multiprocessor
    n_cycles: int
    n_issued: int
    steady: SteadyState
    record: WarpRecord | None = None

    @property
    def instructions_per_cycle(self) -> float:
        """Of all schedulers together, float; at most `n_schedulers`."""
        return self.steady.n_issued / self.steady.period_cycles

    @property
    def utilization_frac(self) -> float:
        """Share of the issue slots in use, float."""
        return self.steady.n_issued / (self.steady.period_cycles * self.on.n_schedulers)

    @property
    def overall_utilization_frac(self) -> float:
        """The same over `n_cycles`, start and end included, float."""
        return self.n_issued / (self.n_cycles * self.on.n_schedulers)

    @property
    def loop_cycles(self) -> float:
        """Until every warp has gone through its loop once more, on average, float [cycles]."""
        n_each = self.on.n_warps * self.on.n_each
        return self.steady.period_cycles * n_each / self.steady.n_issued

    @property
    def loads_per_cycle(self) -> float:
        """X in Little's law, float."""
        return self.steady.n_loads / self.steady.period_cycles

    @property
    def load_latency_cycles(self) -> float:
        """R, what a load takes with all its queueing, float [cycles]; 0 without loads."""
        return self.steady.waited_cycles / max(self.steady.n_loads, 1)

    @property
    def in_flight_bytes(self) -> float:
        """Bytes on their way at any time, on average: X·R times those of a load, float [B]."""
        return self.loads_per_cycle * self.load_latency_cycles * LOAD_BYTES

    @property
    def available_bytes(self) -> int:
        """The most that the warps can have on its way: each all of its loads, int [B]."""
        return self.on.n_warps * self.on.n_loads * LOAD_BYTES

    @property
    def needed_bytes(self) -> float:
        """What must be on its way, at the least, to fill the issue slots or the memory, float [B].

        The most loads per cycle that the two allow, times the latency of an idle memory.
        """
        per_slot = self.on.n_loads / self.on.n_each
        most = min(per_slot * self.on.n_schedulers, 1 / (self.on.memory_interval_cycles or 1))
        return most * self.on.latency_cycles * LOAD_BYTES

    @property
    def bound(self) -> str:
        """What holds the warps back.

        "issue", if no slot stays empty; else "bandwidth", if the memory never rests; else
        "load port", if a load is issued in every cycle; else "latency": nothing is full, and the
        warps wait for results. Where no period was found, what is full by 99 % counts as full.
        """
        steady, on = self.steady, self.on
        # Without a period, what is counted may begin and end in the middle of a loop.
        most_cut = 0 if steady.is_periodic else steady.period_cycles // 100
        n_cut = min(2 * on.n_warps * on.n_each, most_cut)
        if steady.n_issued + n_cut >= steady.period_cycles * on.n_schedulers:
            return "issue"
        interval = on.memory_interval_cycles or 1
        cut_cycles = min(2 * on.n_warps * on.n_loads * interval, most_cut)
        if steady.n_loads * interval + cut_cycles >= steady.period_cycles:
            return "bandwidth" if on.memory_interval_cycles else "load port"
        return "latency"

"""The arguments that warps, schedulers and their memory share, checked once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from primer import _checks, _warpsim

POLICIES = ("gto", "rr", "oldest")
LOAD_BYTES = 128  # of one warp's load: 32 lanes, four bytes each, side by side

MOST_WARPS = 4096
MOST_SCHEDULERS = 64
MOST_CYCLES = 1_000_000  # of a latency or an interval
MOST_PER_LOOP = 2**20  # instructions of all warps in one pass through their loops
MOST_INSTRUCTIONS = 2**27  # of a run
MOST_LOOKED_AT = 2**32  # instructions of a run times the warps of a scheduler
MOST_RECORDED = 2**21  # cycles times warps


@dataclass(frozen=True, kw_only=True)
class Multiprocessor:
    """Warps, their program, and what serves them.

    Parameters
    ----------
    n_warps, n_schedulers : int
        Of the whole multiprocessor.
    policy : str
    n_loads, n_alu : int
        Instructions of each kind in one pass through a warp's loop.
    latency_cycles, alu_latency_cycles : int [cycles]
    memory_interval_cycles : int or None [cycles]
    """

    n_warps: int
    n_schedulers: int
    policy: str
    n_loads: int
    n_alu: int
    latency_cycles: int
    alu_latency_cycles: int
    memory_interval_cycles: int | None

    @property
    def n_each(self) -> int:
        """Instructions of one pass through a warp's loop, int."""
        return self.n_loads + self.n_alu

    def passes(self, n_iterations: object) -> int:
        """How often each warp goes through its loop; 0 for a run without end."""
        if n_iterations is None:
            return 0
        per_scheduler = -(-self.n_warps // self.n_schedulers)
        most = min(MOST_INSTRUCTIONS, MOST_LOOKED_AT // per_scheduler)
        each = self.n_warps * self.n_each
        return _checks.whole("n_iterations", n_iterations, maximum=most // each)

    def recorded(self, record_cycles: object) -> int:
        """How many cycles to record."""
        most = MOST_RECORDED // max(self.n_warps, self.n_schedulers)
        return _checks.whole("record_cycles", record_cycles, minimum=0, maximum=most)

    def state(self, n_passes: int = 0) -> NDArray[np.int64]:
        """Everything as it stands at cycle 0, for `primer._warpsim`."""
        return _warpsim.build(
            n_warps=self.n_warps, n_schedulers=self.n_schedulers,
            policy=POLICIES.index(self.policy), n_loads=self.n_loads, n_alu=self.n_alu,
            latency=self.latency_cycles, interval=self.memory_interval_cycles or 0,
            alu_latency=self.alu_latency_cycles, n_iterations=n_passes or _warpsim.FOREVER,
        )  # fmt: skip


def check(
    n_warps: object,
    *,
    latency_cycles: object,
    alu_per_load: object,
    independent_loads: object,
    policy: object,
    memory_interval_cycles: object,
    alu_latency_cycles: object,
    n_schedulers: object = 1,
) -> Multiprocessor:
    """A multiprocessor whose arguments hold together."""
    n_loads = _checks.whole("independent_loads", independent_loads, minimum=0)
    n_alu = _checks.whole("alu_per_load", alu_per_load, minimum=0) * max(n_loads, 1)
    if n_loads + n_alu == 0:
        _checks.fail("alu_per_load", "be positive where there are no loads", alu_per_load)
    found = Multiprocessor(
        n_warps=_checks.whole("n_warps", n_warps, maximum=MOST_WARPS),
        n_schedulers=_checks.whole("n_schedulers", n_schedulers, maximum=MOST_SCHEDULERS),
        policy=_checks.one_of("policy", policy, POLICIES),
        n_loads=n_loads,
        n_alu=n_alu,
        latency_cycles=_cycles("latency_cycles", latency_cycles),
        alu_latency_cycles=_cycles("alu_latency_cycles", alu_latency_cycles),
        memory_interval_cycles=None
        if memory_interval_cycles is None
        else _cycles("memory_interval_cycles", memory_interval_cycles),
    )
    if found.n_warps * found.n_each > MOST_PER_LOOP:
        rule = f"be at most {MOST_PER_LOOP:,}"
        _checks.fail("n_warps times instructions per loop", rule, found.n_warps * found.n_each)
    return found


def _cycles(name: str, value: object) -> int:
    return _checks.whole(name, value, maximum=MOST_CYCLES)

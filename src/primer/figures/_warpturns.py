"""Warps taking turns, as the scheduler figure asks for them: a run, and the pattern it settles to.

Once settled, every warp that gets a turn at all does the same, some cycles later than the one
before. So a whole picture is one pattern and a few offsets, which is what keeps it small.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from primer import capabilities, hardware, warps
from primer._checks import fail, one_of
from primer.explore.explorable import State
from primer.warps import IssueBound, WarpRun

CHIP = hardware.load("h100_sxm5_80gb")
CLOCK_HZ = CHIP.clock("vector_boost").value
ROOM = capabilities.load("9.0").max_warps_per_scheduler  # warps on one scheduler of that chip

# what a warp, or the scheduler, does in a cycle
EMPTY, LOAD, MATH, WAIT, READY = range(5)
Cycles = NDArray[np.int8]


def _main_memory() -> int:
    """Cycles that a load from the chip's main memory takes."""
    latency = CHIP.memory[-1].latency
    if latency is None:
        fail(f"latency of {CHIP.name}", "be known", None)
    return int(latency.value)


def _share() -> int:
    """Cycles between two loads if each scheduler of the chip has its share of the bandwidth."""
    n = int(CHIP.count("sms").value) * capabilities.load("9.0").n_schedulers_per_sm
    return round(warps.memory_interval(CHIP.bandwidth_bytes_per_s, CLOCK_HZ, n_schedulers=n))


LATENCIES = (20, 100, 400, _main_memory())
TOYS = LATENCIES[:2]
INTERVALS: dict[str, int | None] = {"unlimited": None, "toy": 8, "h100": _share()}


@dataclass(frozen=True)
class Program:
    """What all warps run, and who serves them; the words and numbers of the controls."""

    latency_cycles: int
    alu_per_load: int
    independent_loads: int
    policy: str
    bandwidth: str

    @property
    def options(self) -> dict[str, Any]:
        """Of `warps.schedule` and `warps.issue_bound`."""
        return {
            "latency_cycles": self.latency_cycles, "alu_per_load": self.alu_per_load,
            "independent_loads": self.independent_loads, "policy": self.policy,
            "memory_interval_cycles": INTERVALS[self.bandwidth],
        }  # fmt: skip

    def run(self, n_warps: int) -> WarpRun:
        """So many warps, simulated."""
        return _run(self, n_warps)

    def bound(self, n_warps: int) -> IssueBound:
        """So many warps by the closed form, which is exact for all that the figure shows."""
        return _bound(self, n_warps)

    @property
    def greedy(self) -> Program:
        """The same, greedy then oldest."""
        return replace(self, policy="gto")


@cache
def _run(program: Program, n_warps: int) -> WarpRun:
    return warps.schedule(n_warps, **program.options)


@cache
def _bound(program: Program, n_warps: int) -> IssueBound:
    return warps.issue_bound(n_warps, **program.options)


@dataclass(frozen=True, eq=False)
class Turns:
    """Some warps of one scheduler.

    Parameters
    ----------
    program : Program
    n_warps : int
    offsets : tuple of (int, int)
        The warps that get a turn, and how many cycles after the first of them each begins its loop.
    does : int array (period,)
        What the first of them does in each cycle from there on; the others do the same.
    slots : int array (period,)
        What the scheduler issues in each cycle from there on.
    """

    program: Program
    n_warps: int
    offsets: tuple[tuple[int, int], ...]
    does: Cycles
    slots: Cycles

    @property
    def run(self) -> WarpRun:
        """The simulation."""
        return self.program.run(self.n_warps)

    @property
    def bound(self) -> IssueBound:
        """The closed form."""
        return self.program.bound(self.n_warps)

    @property
    def n_without_turn(self) -> int:
        """Warps that never get a turn while older ones go on, int."""
        return self.n_warps - len(self.offsets)


def is_valid(state: State) -> bool:
    """A memory's limit goes with latencies of its kind, and with greedy turns."""
    limit, latency = state["bandwidth"], state["latency_cycles"]
    if limit == "unlimited":
        return True
    return bool(state["policy"] == "gto" and (latency in TOYS) == (limit == "toy"))


@cache
def compute(
    latency_cycles: int, alu_per_load: int, independent_loads: int, policy: str, bandwidth: str,
    n_warps: int,
) -> Turns:  # fmt: skip
    """Let some warps take turns until they repeat themselves."""
    one_of("bandwidth", bandwidth, tuple(INTERVALS))
    if policy != "gto" and bandwidth != "unlimited":
        fail("bandwidth", f"be unlimited where the policy is {policy!r}", bandwidth)
    program = Program(latency_cycles, alu_per_load, independent_loads, policy, bandwidth)
    steady = program.run(n_warps).steady
    end = steady.first_cycle + steady.period_cycles
    run = warps.schedule(n_warps, **program.options, record_cycles=end)
    return Turns(program, n_warps, *_pattern(run))


def _pattern(run: WarpRun) -> tuple[tuple[tuple[int, int], ...], Cycles, Cycles]:
    """Offsets, and one period of what the first warp does and what the scheduler issues."""
    record, period = run.record, run.steady.period_cycles
    if record is None:
        fail("run", "have a record", None)
    issued, kind = record.warp[-period:, 0], record.kind[-period:, 0]
    turns = (int(w) for w in np.unique(issued) if w >= 0)
    begins = {w: _begin(np.flatnonzero(issued == w), kind) for w in turns}
    first = min(begins)
    origin = begins[first]
    offsets = tuple((w, (begin - origin) % period) for w, begin in begins.items())
    states = record.state[-period:, first]
    does = np.where(states == warps.WARP_STATES.index("ready"), READY, WAIT).astype(np.int8)
    own = issued == first
    does[own] = kind[own]
    return offsets, np.roll(does, -origin), np.roll(kind, -origin)


def _begin(cycles: NDArray[np.int64], kind: Cycles) -> int:
    """The cycle of a warp's first load after arithmetic; it goes through its loop once a period."""
    is_load = kind[cycles] == LOAD
    return int(cycles[is_load & ~np.roll(is_load, 1)][0])

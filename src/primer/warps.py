"""Warps: 32 lanes, one instruction at a time.

A warp issues an instruction for all of its lanes at once. Whether that is 32 times the work of one
lane or hardly more depends on what the lanes ask for:

- `coalesce`: of memory. It moves in sectors of 32 bytes; lanes that share sectors share the cost.
- `banks`: of shared memory. It has 32 banks; lanes that want different words of one bank wait.
- `diverge`: of the program. Lanes that want different instructions wait for each other.

These take one warp alone. A lane is a thread's place in its warp. And many warps share a scheduler:

- `schedule`: they take turns, so that some work while others wait for memory.

>>> coalesce(strided(8)).efficiency_frac  # every eighth float
0.125
>>> banks(tile_addresses(32)).n_wavefronts  # a column of float tile[32][32]
32
>>> schedule(6, latency_cycles=20, alu_per_load=3).utilization_frac  # no issue slot is empty
1.0
"""

from primer._banks import SharedRequest, bank_conflict_ways, banks, tile_addresses
from primer._coalescing import MemoryRequest, coalesce, strided
from primer._controlflow import If, Instructions, Loop, Switch, immediate_post_dominators
from primer._divergence import Divergence, diverge
from primer._warpbound import IssueBound, issue_bound, memory_interval
from primer._warpmachine import LOAD_BYTES, POLICIES, Multiprocessor
from primer._warprun import INSTRUCTIONS, WARP_STATES, SteadyState, WarpRecord, WarpRun
from primer._warpschedule import schedule

__all__ = [
    "INSTRUCTIONS", "LOAD_BYTES", "POLICIES", "WARP_STATES", "Divergence", "If", "Instructions",
    "IssueBound", "Loop", "MemoryRequest", "Multiprocessor", "SharedRequest", "SteadyState",
    "Switch", "WarpRecord", "WarpRun", "bank_conflict_ways", "banks", "coalesce", "diverge",
    "immediate_post_dominators", "issue_bound", "memory_interval", "schedule", "strided",
    "tile_addresses",
]  # fmt: skip

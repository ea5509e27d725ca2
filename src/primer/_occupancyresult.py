"""The result of `primer.occupancy.calculate`, and in plain words why a launch is refused."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from primer import _occupancyrules
from primer._occupancyrules import Limits
from primer.capabilities import Capability


@dataclass(frozen=True, kw_only=True)
class Occupancy:
    """Blocks on one multiprocessor, and what keeps the next one out.

    Every count is an int, and every share a float, if all arguments were numbers. Otherwise they
    are arrays of the common shape.

    Parameters
    ----------
    capability : Capability
        The limits of the multiprocessor.
    threads_per_block, registers_per_thread, shared_bytes_per_block : int or int array
        The launch.
    opt_in : bool
        Whether it may have more shared memory than the default.
    n_blocks, n_warps : int or int array
        Resident at once.
    n_warps_per_block : int or int array
        The last of them may be partly empty.
    limits : Limits
        Blocks that each resource alone allows.
    limiters : tuple of str, or uint8 array
        Names in `limits` of all that allow just `n_blocks`. In an array, bit i is the i-th name.
    occupancy_frac : float or float array
        Resident warps / warp slots.
    lanes_frac : float or float array
        Resident threads / what the slots could hold: less, if warps are partly empty.
    warps_per_scheduler : float or float array
        What a scheduler can choose from, on average.
    load_bytes_per_thread : int or int array [B]
        Of a thread's loads in flight.
    in_flight_bytes : int or int array [B]
        Of all resident threads.
    allocated_registers_per_block : int or int array
        With each warp's rounded up.
    allocated_shared_bytes_per_block : int or int array [B]
        With the system's share, rounded up.
    reason : str, or array of str
        Why it cannot launch; empty if it can.
    """

    capability: Capability
    threads_per_block: Any
    registers_per_thread: Any
    shared_bytes_per_block: Any
    opt_in: bool
    n_blocks: Any
    n_warps_per_block: Any
    limits: Limits
    load_bytes_per_thread: Any
    allocated_registers_per_block: Any
    allocated_shared_bytes_per_block: Any

    def __str__(self) -> str:
        if isinstance(self.n_blocks, np.ndarray):
            return f"Occupancy of launches on {self.capability.id}, shape {self.n_blocks.shape}"
        if self.reason:
            return str(self.reason)
        names = ", ".join(name.replace("_", " ") for name in self.limiters)
        many = "block" if self.n_blocks == 1 else "blocks"
        return (
            f"{self.n_blocks} {many} on {self.capability.id}, {self.n_warps} of "
            f"{self.capability.max_warps_per_sm} warps: {self.occupancy_frac:.1%}, "
            f"limited by {names}"
        )

    @property
    def n_warps(self) -> Any:
        return self.n_blocks * self.n_warps_per_block

    @property
    def occupancy_frac(self) -> Any:
        return self.n_warps / self.capability.max_warps_per_sm

    @property
    def lanes_frac(self) -> Any:
        return self.n_blocks * self.threads_per_block / self.capability.max_threads_per_sm

    @property
    def warps_per_scheduler(self) -> Any:
        return self.n_warps / self.capability.n_schedulers_per_sm

    @property
    def in_flight_bytes(self) -> Any:
        return self.n_blocks * self.threads_per_block * self.load_bytes_per_thread

    @property
    def limiters(self) -> Any:
        if not isinstance(self.n_blocks, np.ndarray):
            pairs = zip(Limits._fields, self.limits, strict=True)
            return tuple(name for name, allowed in pairs if allowed == self.n_blocks)
        bits = np.zeros(self.n_blocks.shape, dtype=np.uint8)
        for i, allowed in enumerate(self.limits):
            bits |= (allowed == self.n_blocks).astype(np.uint8) << i
        return bits

    @property
    def reason(self) -> Any:
        if not isinstance(self.n_blocks, np.ndarray):
            return refusal(self) if self.n_blocks == 0 else ""
        reasons = np.full(self.n_blocks.shape, "", dtype=object)
        for at in zip(*np.nonzero(self.n_blocks == 0), strict=True):
            reasons[at] = refusal(self._one(at))
        return reasons

    def _one(self, at: tuple[int, ...]) -> Occupancy:
        """One launch of many."""
        named = vars(self).items()
        numbers: dict[str, Any] = {
            name: int(x[at]) for name, x in named if isinstance(x, np.ndarray)
        }
        limits = Limits(*(int(allowed[at]) for allowed in self.limits))
        return replace(self, limits=limits, **numbers)


def refusal(launch: Occupancy) -> str:
    """What a block asks for that no block may have."""
    capability, n_warps = launch.capability, launch.n_warps_per_block
    why = []
    if launch.limits.warps == 0:
        most = capability.max_warps_per_sm
        why.append(f"a block has {n_warps} warps, and a multiprocessor holds {most}")
    if launch.limits.registers == 0:
        per_warp = launch.allocated_registers_per_block // n_warps
        charged = _occupancyrules.checked_registers(capability, n_warps, per_warp)
        as_if = charged // per_warp
        counted = f", counted as {as_if}," if as_if != n_warps else ""
        why.append(
            f"a block's {n_warps} warps{counted} need {charged:,} registers, and a block may have "
            f"{capability.max_registers_per_block:,}"
        )
    if launch.limits.shared_memory == 0:
        may = _occupancyrules.shared_limit_bytes(capability, launch.opt_in)
        asked = launch.shared_bytes_per_block
        helps = not launch.opt_in and asked <= capability.max_shared_bytes_per_block
        why.append(
            f"a block asks for {asked:,} B of shared memory, and may have {may:,} B"
            f"{' unless it opts in' if helps else ''}"
        )
    return f"cannot launch: {'; '.join(why)}"

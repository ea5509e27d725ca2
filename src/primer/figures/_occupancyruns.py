"""What the occupancy figure shows of a launch: who lives where, and what would let one more in."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from primer import capabilities, hardware, occupancy
from primer.occupancy import Allowance, Occupancy

KIB = 1024
# 10.3 has the limits of 10.0.
CAPABILITIES = tuple(name for name in capabilities.names() if name != "10.3")
THREADS = (32, 48, 64, 128, 192, 224, 256, 512, 768, 1024)
REGISTERS = (16, 32, 40, 64, 80, 92, 128, 168, 255)
SHARED = tuple(KIB * kib for kib in (0, 8, 16, 32, 48, 64, 96, 163, 227))
# Chips of which latency and clock are in the tables, and a short name.
CHIPS = {
    "7.0": ("v100_sxm2_32gb", "V100"),
    "8.0": ("a100_sxm4_80gb", "A100"),
    "8.9": ("rtx_4090", "RTX 4090"),
    "9.0": ("h100_sxm5_80gb", "H100"),
    "10.0": ("b200_sxm", "B200"),
}


@dataclass(frozen=True)
class Residents:
    """A launch on one multiprocessor.

    Parameters
    ----------
    launch : Occupancy
    """

    launch: Occupancy

    @property
    def n_slots_per_scheduler(self) -> int:
        """Warp slots of one scheduler, int."""
        return self.launch.capability.max_warps_per_scheduler

    @property
    def n_by_slots(self) -> int:
        """Blocks that warp slots and block slots allow, int."""
        return int(min(self.launch.limits.warps, self.launch.limits.blocks))

    @property
    def n_full_lanes(self) -> int:
        """Threads in the last warp of a block, int."""
        n_warps, lanes = self.launch.n_warps_per_block, self.launch.capability.warp_size
        return int(self.launch.threads_per_block - (n_warps - 1) * lanes)

    @property
    def best_size(self) -> tuple[int, int]:
        """Threads and warps of blocks that bring most warps; zeros if no others bring more.

        Of several such sizes the one most like the block's own.
        """
        launch, lanes = self.launch, self.launch.capability.warp_size
        sizes = range(lanes, launch.capability.max_threads_per_block + 1, lanes)
        found = occupancy.calculate(
            launch.capability, threads_per_block=sizes,
            registers_per_thread=launch.registers_per_thread,
            shared_bytes_per_block=launch.shared_bytes_per_block,
        ).n_warps.tolist()  # fmt: skip
        most = max(found)
        if most <= launch.n_warps:
            return 0, 0
        best = (size for size, n in zip(sizes, found, strict=True) if n == most)
        return min(best, key=lambda size: abs(size - launch.threads_per_block)), most

    @property
    def next_allowance(self) -> Allowance:
        """What a block may use if one more is to fit; slots must allow it."""
        return occupancy.allowance(
            self.launch.capability,
            threads_per_block=self.launch.threads_per_block,
            n_blocks=self.launch.n_blocks + 1,
        )

    def slots(self, block: int) -> list[tuple[int, int]]:
        """Scheduler and slot of each warp of a block: dealt out in turn.

        >>> compute("9.0", 96, 32, 0).slots(1)  # the first three went to schedulers 0, 1, 2
        [(3, 0), (0, 1), (1, 1)]
        """
        n, each = self.launch.capability.n_schedulers_per_sm, self.launch.n_warps_per_block
        return [(warp % n, warp // n) for warp in range(block * each, (block + 1) * each)]


def compute(
    capability: str,
    threads_per_block: int,
    registers_per_thread: int,
    shared_bytes_per_block: int,
) -> Residents:
    """One load of four bytes is in flight per thread."""
    return Residents(
        occupancy.calculate(
            capability,
            threads_per_block=threads_per_block,
            registers_per_thread=registers_per_thread,
            shared_bytes_per_block=shared_bytes_per_block,
        )
    )


@cache
def needed(capability: str) -> tuple[float, str] | None:
    """Bytes that must be under way per multiprocessor, at least, and the chip; None if unknown.

    Little's law: bandwidth times latency. The latency is the least that was measured, unloaded,
    and the clock is the highest, as the cycles were counted at no higher one.

    >>> bytes_, chip = needed("8.0")  # 2.039 TB/s / 108, for 514 cycles at 1.41 GHz
    >>> round(bytes_), chip, needed("7.5")
    (6882, 'A100', None)
    """
    if capability not in CHIPS:
        return None
    chip_id, short = CHIPS[capability]
    chip = hardware.load(chip_id)
    wait = next(q for q in chip.quantities() if q.name == f"memory.{chip.memory[-1].name}.latency")
    wait_s = wait.value / max(clock.value for clock in chip.clocks)
    return wait_s * chip.bandwidth_bytes_per_s / chip.count("sms").value, short

"""A multiprocessor that is filled block by block: what the formulas must agree with."""

from __future__ import annotations


class Multiprocessor:
    """Four schedulers with slots and a register file each, and what they share."""

    def __init__(self, gpu, shared_bytes):
        n = gpu.n_schedulers_per_sm
        self.registers = [gpu.registers_per_sm // n] * n
        self.slots = [gpu.max_warps_per_sm // n] * n
        self.shared_bytes = shared_bytes
        self.block_slots = gpu.max_blocks_per_sm
        self.barriers = gpu.max_barriers_per_sm or 10**9

    def takes(self, n_warps, registers, shared_bytes, barriers):
        """Whether one more block moves in; each warp goes where most room is."""
        self.block_slots -= 1
        self.shared_bytes -= shared_bytes
        self.barriers -= barriers
        if min(self.block_slots, self.shared_bytes, self.barriers) < 0:
            return False
        for _ in range(n_warps):
            at = max(range(4), key=lambda i: (min(self.slots[i], 1), self.registers[i]))
            self.slots[at] -= 1
            self.registers[at] -= registers
            if self.slots[at] < 0 or self.registers[at] < 0:
                return False
        return True


def steps_of(amount, step):
    """The next multiple, by counting."""
    total = 0
    while total < amount:
        total += step
    return total


def filled(gpu, threads, registers, shared, percent, barriers):
    """Blocks that move in until one does not."""
    n_warps = len(range(0, threads, 32))
    per_warp = steps_of(registers * 32, gpu.register_allocation)
    if per_warp * steps_of(n_warps, 4) > gpu.max_registers_per_block:
        return 0
    if shared > gpu.max_shared_bytes_per_block:
        return 0
    one = steps_of(shared + gpu.reserved_shared_bytes_per_block, gpu.shared_allocation_bytes)
    wanted = gpu.shared_bytes_per_sm * percent // 100
    size = next(s for s in gpu.carveouts_bytes if s >= wanted and s >= one)
    home, n_blocks = Multiprocessor(gpu, size), 0
    while home.takes(n_warps, per_warp, one, barriers):
        n_blocks += 1
    return n_blocks

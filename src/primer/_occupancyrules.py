"""What each resource of a multiprocessor allows, by the rules of NVIDIA's occupancy header.

Numbers and NumPy arrays pass through the same lines; the result is 0-d or a small array where the
arguments were, and broadcast only at the end. See `primer.occupancy`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from primer.capabilities import Capability

NO_LIMIT = 2**31 - 1


class Limits(NamedTuple):
    """Blocks that each resource alone allows on a multiprocessor; `NO_LIMIT` if it never binds.

    Parameters
    ----------
    warps : int or int array
        By warp slots.
    registers : int or int array
        By the register files; 0 if a block has more registers than one may have.
    shared_memory : int or int array
        By shared memory; 0 if a block asks for more than one may have.
    blocks : int or int array
        By block slots.
    barriers : int or int array
        By block barriers.
    """

    warps: Any
    registers: Any
    shared_memory: Any
    blocks: Any
    barriers: Any


def round_up(amount: Any, unit: int) -> Any:
    """The next multiple of `unit`, for numbers and arrays.

    >>> round_up(92 * 32, 256), round_up(512, 256)
    (3072, 512)
    """
    return (amount + (unit - 1)) // unit * unit


def warps(capability: Capability, threads: Any) -> Any:
    """Warps of a block; the last one may be partly empty, and takes a whole slot."""
    return round_up(threads, capability.warp_size) // capability.warp_size


def checked_registers(capability: Capability, n_warps: Any, per_warp: Any) -> Any:
    """Registers that the launch check charges a block with: as if its warps filled all files."""
    return per_warp * round_up(n_warps, capability.n_schedulers_per_sm)


def registers(capability: Capability, n_warps: Any, per_thread: Any) -> tuple[Any, Any]:
    """Registers taken by a block, and the blocks that the register files allow.

    A warp lives in one of the files, one per scheduler, and what is left of a file is lost:
    floor(file / warp) warps in each, and only then blocks.
    """
    n_files = capability.n_schedulers_per_sm
    per_warp = round_up(per_thread * capability.warp_size, capability.register_allocation)
    in_a_file = capability.registers_per_sm // n_files // np.maximum(per_warp, 1)
    allowed = np.where(per_warp > 0, in_a_file * n_files // n_warps, NO_LIMIT)
    charged = checked_registers(capability, n_warps, per_warp)
    is_refused = charged > capability.max_registers_per_block
    return per_warp * n_warps, np.where(is_refused, 0, allowed)


def shared_limit_bytes(capability: Capability, opt_in: bool) -> int:
    """What one block may ask for."""
    if opt_in:
        return capability.max_shared_bytes_per_block
    return capability.default_shared_bytes_per_block


def shared_memory(
    capability: Capability, asked_bytes: Any, *, opt_in: bool, carveout_percent: int | None
) -> tuple[Any, Any]:
    """Shared memory taken by a block, and the blocks that it allows.

    The multiprocessor is set to the smallest size that is at least as large as the preference,
    and as one block.
    """
    reserved = capability.reserved_shared_bytes_per_block
    allocated = round_up(asked_bytes + reserved, capability.shared_allocation_bytes)
    percent = 100 if carveout_percent is None else carveout_percent
    preferred = percent * capability.shared_bytes_per_sm // 100
    sizes = np.asarray(capability.carveouts_bytes)
    at = np.searchsorted(sizes, np.maximum(allocated, preferred))
    pool = sizes[np.minimum(at, len(sizes) - 1)]
    allowed = np.where(allocated > 0, pool // np.maximum(allocated, 1), NO_LIMIT)
    is_refused = allocated > shared_limit_bytes(capability, opt_in) + reserved
    return allocated, np.where(is_refused, 0, allowed)


def barriers(capability: Capability, per_block: Any) -> Any:
    """Blocks that the barriers allow."""
    if not capability.max_barriers_per_sm:
        return NO_LIMIT
    allowed = capability.max_barriers_per_sm // np.maximum(per_block, 1)
    return np.where(np.asarray(per_block) > 0, allowed, NO_LIMIT)


def most_registers(capability: Capability, n_warps: int, n_blocks: int) -> int:
    """Registers per thread with which so many blocks fit into the files."""
    n_files, unit = capability.n_schedulers_per_sm, capability.register_allocation
    in_a_file = -(-n_blocks * n_warps // n_files)
    per_warp = capability.registers_per_sm // n_files // in_a_file
    charged_warps = checked_registers(capability, n_warps, 1)
    per_warp = min(per_warp, capability.max_registers_per_block // charged_warps)
    per_thread = per_warp // unit * unit // capability.warp_size
    return int(min(per_thread, capability.max_registers_per_thread))


def most_shared_bytes(capability: Capability, n_blocks: int, *, opt_in: bool) -> int:
    """Shared memory of a block with which so many fit."""
    unit = capability.shared_allocation_bytes
    each = capability.shared_bytes_per_sm // n_blocks // unit * unit
    own = each - capability.reserved_shared_bytes_per_block
    return min(own, shared_limit_bytes(capability, opt_in))

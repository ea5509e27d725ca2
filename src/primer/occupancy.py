"""Occupancy: how many blocks, and so warps, a GPU's multiprocessor holds at once.

A kernel's blocks move in until one resource is used up. Each resource alone would allow

    warp slots      ⌊max warps / warps per block⌋, a partly empty warp counting whole;
    registers       ⌊4 · ⌊file / registers of a warp⌋ / warps per block⌋: each of the four
                    schedulers has a file, and a warp's registers, rounded up to 256, are in one;
    shared memory   ⌊size / (bytes of a block + what the system keeps)⌋, both rounded up together;
    block slots     a constant;
    barriers        ⌊barriers / barriers per block⌋, from capability 9.0 on;

and the smallest of these is what fits. *Occupancy* is resident warps / warp slots. It is not
utilization: it says how much there is to choose from while others wait, not how fast they run.

Left out: clusters, registers that a tool adds, what the driver takes for itself at run time, and
grids too small to fill the multiprocessors.

Source: NVIDIA, cuda_occupancy.h of CUDA 13.0, whose counts these are, one for one; it also lets a
thread have 256 registers, where the hardware's limit is 255.

>>> launch = calculate(
...     "8.0", threads_per_block=224, registers_per_thread=92, shared_bytes_per_block=0)
>>> print(launch)  # 92 · 32 → 3,072 registers a warp, 5 in each file, 20 in all: two blocks of 7
2 blocks on 8.0, 14 of 64 warps: 21.9%, limited by registers
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple, cast

import numpy as np

from primer import _arrays, _checks, capabilities
from primer import _occupancyrules as _rules
from primer._occupancyresult import Occupancy
from primer._occupancyrules import NO_LIMIT, Limits
from primer.capabilities import Capability

__all__ = ["NO_LIMIT", "Allowance", "Limits", "Occupancy", "allowance", "calculate"]

_MOST_BARRIERS = 16  # of a block: PTX numbers them 0 to 15
_MOST_LOADS = 10**6


def calculate(
    capability: str | Capability,
    *,
    threads_per_block: Any,
    registers_per_thread: Any,
    shared_bytes_per_block: Any = 0,
    opt_in: bool = True,
    carveout_percent: int | None = None,
    barriers_per_block: Any = 1,
    loads_in_flight: Any = 1,
    load_bytes: Any = 4,
) -> Occupancy:
    """How many blocks of a launch fit on one multiprocessor, and what limits them.

    Parameters
    ----------
    capability : str or Capability
        One of `capabilities.names`, or limits of your own.
    threads_per_block : int or int array
        From 1 to what a block may have.
    registers_per_thread : int or int array
        Up to 255, as the compiler reports.
    shared_bytes_per_block : int or int array [B]
        Static and dynamic shared memory together.
    opt_in : bool
        Whether the kernel asked for more than the default of 48 KiB per block
        (``cudaFuncSetAttribute`` with its largest dynamic size). Only dynamic shared memory can
        be more; what is declared with a fixed size stays within the default.
    carveout_percent : int, optional [%]
        Preferred share of the largest shared memory, 0 to 100; the rest is left to the L1 cache.
        By default the largest.
    barriers_per_block : int or int array
        0 to 16; most kernels use one, or none.
    loads_in_flight : int or int array
        Independent loads that each thread has under way.
    load_bytes : int or int array [B]
        Of each of them.

    Returns
    -------
    Occupancy
        With `n_blocks` 0 and a `reason` where the hardware refuses the launch: a block with more
        registers or more shared memory than one may have.

    Raises
    ------
    ValueError
        If the capability is unknown, if a number is not whole or out of its range, if an array is
        empty, or if arrays do not broadcast.

    Examples
    --------
    48 KiB and the 1 KiB that the system keeps: four times 49 is all that 228 has.

    >>> launch = calculate("9.0", threads_per_block=256, registers_per_thread=32,
    ...                    shared_bytes_per_block=48 * 1024)
    >>> launch.n_blocks, launch.n_warps, launch.occupancy_frac, launch.limiters
    (4, 32, 0.5, ('shared_memory',))
    >>> sizes = calculate("9.0", threads_per_block=[32, 48, 64], registers_per_thread=32)
    >>> sizes.n_blocks.tolist(), sizes.occupancy_frac.tolist(), sizes.lanes_frac.tolist()
    ([32, 32, 32], [0.5, 1.0, 1.0], [0.5, 0.75, 1.0])
    >>> calculate("7.5", threads_per_block=1024, registers_per_thread=65).reason
    "cannot launch: a block's 32 warps need 73,728 registers, and a block may have 65,536"
    """
    gpu = _capability(capability)
    launch = _Launch(
        threads=_arrays.wholes(
            "threads_per_block", threads_per_block, minimum=1, maximum=gpu.max_threads_per_block
        ),
        registers=_arrays.wholes(
            "registers_per_thread",
            registers_per_thread,
            minimum=0,
            maximum=gpu.max_registers_per_thread,
        ),
        shared_bytes=_arrays.wholes("shared_bytes_per_block", shared_bytes_per_block, minimum=0),
        barriers=_arrays.wholes(
            "barriers_per_block", barriers_per_block, minimum=0, maximum=_MOST_BARRIERS
        ),
        loads=_arrays.wholes("loads_in_flight", loads_in_flight, minimum=1, maximum=_MOST_LOADS),
        load_bytes=_arrays.wholes("load_bytes", load_bytes, minimum=1, maximum=_MOST_LOADS),
    )
    may_more, percent = _checks.flag("opt_in", opt_in), carveout_percent
    if percent is not None:
        percent = _checks.whole("carveout_percent", percent, minimum=0, maximum=100)
    return _place(gpu, launch, may_more, percent)


class _Launch(NamedTuple):
    """Checked arguments, each an int or an array."""

    threads: Any
    registers: Any
    shared_bytes: Any
    barriers: Any
    loads: Any
    load_bytes: Any


def _place(gpu: Capability, launch: _Launch, opt_in: bool, percent: int | None) -> Occupancy:
    """Apply all rules, and give every result the shape of all arguments together."""
    shape = _arrays.common_shape(launch._asdict())
    n_warps = _rules.warps(gpu, launch.threads)
    registers, by_registers = _rules.registers(gpu, n_warps, launch.registers)
    shared, by_shared = _rules.shared_memory(
        gpu, launch.shared_bytes, opt_in=opt_in, carveout_percent=percent
    )
    limits = Limits(
        warps=gpu.max_warps_per_sm // n_warps,
        registers=by_registers,
        shared_memory=by_shared,
        blocks=gpu.max_blocks_per_sm,
        barriers=_rules.barriers(gpu, launch.barriers),
    )
    # The largest array last: numbers and short axes are cheap to compare.
    n_blocks = reduce(np.minimum, sorted(limits, key=np.size))
    each = launch.loads * launch.load_bytes
    return Occupancy(
        capability=gpu,
        threads_per_block=_arrays.shaped(launch.threads, shape),
        registers_per_thread=_arrays.shaped(launch.registers, shape),
        shared_bytes_per_block=_arrays.shaped(launch.shared_bytes, shape),
        opt_in=opt_in,
        n_blocks=_arrays.shaped(n_blocks, shape),
        n_warps_per_block=_arrays.shaped(n_warps, shape),
        limits=Limits(*(_arrays.shaped(allowed, shape) for allowed in limits)),
        load_bytes_per_thread=_arrays.shaped(each, shape),
        allocated_registers_per_block=_arrays.shaped(registers, shape),
        allocated_shared_bytes_per_block=_arrays.shaped(shared, shape),
    )


def _capability(capability: str | Capability) -> Capability:
    if _checks.is_a(capability, Capability):
        return cast(Capability, capability)
    return capabilities.load(cast(str, capability))


@dataclass(frozen=True, kw_only=True)
class Allowance:
    """What a block may use, if a number of them is to fit.

    Parameters
    ----------
    registers_per_thread : int
        At most so many.
    shared_bytes_per_block : int [B]
        At most so many.
    """

    registers_per_thread: int
    shared_bytes_per_block: int


def allowance(
    capability: str | Capability, *, threads_per_block: int, n_blocks: int, opt_in: bool = True
) -> Allowance:
    """The most registers and shared memory with which so many blocks still fit.

    `calculate` read backwards: with no more than both, it gives at least `n_blocks`; with more of
    either, fewer.

    Parameters
    ----------
    capability : str or Capability
        One of `capabilities.names`, or limits of your own.
    threads_per_block : int
        From 1 to what a block may have.
    n_blocks : int
        That shall fit; warp slots and block slots must allow it.
    opt_in : bool
        As in `calculate`.

    Returns
    -------
    Allowance

    Raises
    ------
    ValueError
        If warp slots or block slots do not allow so many blocks, and as in `calculate`.

    Examples
    --------
    Three blocks of 7 warps: 6 in a file of 16,384 registers leave 2,560 for each, 80 per thread.
    A third of 164 KiB, in steps of 128 B, is 55,936 B; the system keeps 1,024.

    >>> allowance("8.0", threads_per_block=224, n_blocks=3)
    Allowance(registers_per_thread=80, shared_bytes_per_block=54912)
    """
    gpu = _capability(capability)
    threads = _checks.whole(
        "threads_per_block", threads_per_block, maximum=gpu.max_threads_per_block
    )
    wanted = _checks.whole("n_blocks", n_blocks)
    n_warps = _rules.warps(gpu, threads)
    most = min(gpu.max_warps_per_sm // n_warps, gpu.max_blocks_per_sm)
    if wanted > most:
        rule = f"be at most {most}: warp slots and block slots hold no more of {threads} threads"
        _checks.fail("n_blocks", rule, wanted)
    return Allowance(
        registers_per_thread=_rules.most_registers(gpu, n_warps, wanted),
        shared_bytes_per_block=_rules.most_shared_bytes(
            gpu, wanted, opt_in=_checks.flag("opt_in", opt_in)
        ),
    )

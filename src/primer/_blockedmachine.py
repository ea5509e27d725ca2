"""Machines that multiply matrices block by block: one description for a GPU and for a TPU.

See `primer.blocked_gemm` for the rules.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from primer import _checks
from primer._chip import require_chip
from primer.hardware import Chip

SUM_BYTES = 4  # sums are kept in fp32
OPERAND_BYTES = 2  # of bf16, the format whose rates the two constructors take
TPU_ROWS = 4096  # of a block: enough that loading weights no longer shows
SUBLANES = 8  # rows that a TPU's vector registers hold together


@dataclass(frozen=True, kw_only=True)
class Machine:
    """Cores that compute blocks, and the memories that feed them.

    Parameters
    ----------
    name : str
        For reading.
    n_cores : int
        Cores that each take a block of the result: multiprocessors, or TensorCores.
    macs_per_cycle : float [1/cycle]
        Multiply-adds of one core.
    clock_hz : float [Hz]
    peak_flop_per_s : float [FLOP/s]
        Of all cores, as it is printed.
    block_m, block_n, block_k : int
        A step multiplies block_m × block_k numbers of A with block_k × block_n numbers of B.
    row_multiple : int
        Rows of a block are padded to a multiple of this, and to no more.
    least_step_cycles : int [cycles]
        What a step takes if it has few rows: the time to load the weights of an array.
    fill_cycles, drain_cycles : int [cycles]
        Before the first step, and from its last row to the last sum.
    hbm_bytes_per_s : float [B/s]
        Of main memory.
    cache_bytes_per_s : float [B/s]
        Of a cache that all cores share, to all of them; infinite if it never limits.
    has_cache : bool
        Whether cores share what one of them has fetched. If not, each fetches its own.
    keep_bytes : float [B]
        Room for operands that stay for later blocks: of the shared cache, or of each core.
    room_bytes : float [B]
        Room of a core for the block it works on: two buffers for operands, and the sums.
    """

    name: str
    n_cores: int
    macs_per_cycle: float
    clock_hz: float
    peak_flop_per_s: float
    block_m: int
    block_n: int
    block_k: int
    row_multiple: int
    hbm_bytes_per_s: float
    keep_bytes: float
    room_bytes: float
    least_step_cycles: int = 0
    fill_cycles: int = 0
    drain_cycles: int = 0
    cache_bytes_per_s: float = math.inf
    has_cache: bool = False

    def __post_init__(self) -> None:
        if not _checks.is_a(self.name, str):
            _checks.fail("name", "be a text", self.name)
        for name in ("n_cores", "block_m", "block_n", "block_k", "row_multiple"):
            self._keep(name, _checks.whole(name, getattr(self, name)))
        for name in ("least_step_cycles", "fill_cycles", "drain_cycles"):
            self._keep(name, _checks.whole(name, getattr(self, name), minimum=0))
        for name in ("macs_per_cycle", "clock_hz", "peak_flop_per_s", "hbm_bytes_per_s"):
            self._keep(name, _checks.positive(name, getattr(self, name)))
        self._keep("keep_bytes", _checks.non_negative("keep_bytes", self.keep_bytes))
        self._keep("cache_bytes_per_s", _rate("cache_bytes_per_s", self.cache_bytes_per_s))
        self._keep("has_cache", _checks.flag("has_cache", self.has_cache))
        if self.block_m % self.row_multiple:
            _checks.fail("block_m", f"be a multiple of {self.row_multiple}", self.block_m)
        macs = self.block_m * self.block_n * self.block_k
        if macs > _checks.LARGEST_WHOLE:
            rule = f"make at most {_checks.LARGEST_WHOLE:,} multiply-adds a step"
            _checks.fail("block_m, block_n and block_k", rule, macs)
        if macs > self.macs_per_cycle * _checks.LARGEST_WHOLE:
            rule = f"leave a step at most {_checks.LARGEST_WHOLE:,} cycles"
            _checks.fail("macs_per_cycle", rule, self.macs_per_cycle)
        needed = block_bytes(self.block_m, self.block_n, self.block_k)
        if needed > _checks.positive("room_bytes", self.room_bytes):
            _checks.fail("room_bytes", f"hold a block, {needed:,} B", self.room_bytes)
        self._keep("room_bytes", float(self.room_bytes))

    def _keep(self, name: str, plain: float) -> None:
        """A field as a plain number: those of NumPy would overflow in products."""
        object.__setattr__(self, name, plain)

    @property
    def flop_per_s(self) -> float:
        """Rate of all cores at this clock, float [FLOP/s]."""
        return 2 * self.n_cores * self.macs_per_cycle * self.clock_hz


def gpu(
    chip: Chip,
    *,
    block: tuple[int, int, int] = (128, 128, 64),
    cache_bytes_per_s: float | None = None,
) -> Machine:
    """A GPU: many cores with small blocks, behind one cache.

    A multiprocessor computes a whole block however little of it is wanted. It has room for a block
    in its registers and shared memory; the L2 cache is shared, and keeps operands if A and B fit.

    Parameters
    ----------
    chip : Chip
        With a bf16 peak, counts of multiprocessors and matrix units, and the rate of one of them.
    block : (int, int, int)
        block_m, block_n and block_k.
    cache_bytes_per_s : float [B/s], optional
        Of the L2 cache. By default the chip's own; where none is published, it never limits.

    Raises
    ------
    ValueError
        If the chip is no GPU or lacks a number, or the block is not three sizes that fit.

    Examples
    --------
    >>> from primer import hardware
    >>> h100 = gpu(hardware.load("h100_sxm5_80gb"))
    >>> h100.n_cores, h100.macs_per_cycle, round(h100.clock_hz / 1e9, 2)
    (132, 2048.0, 1.83)
    """
    known = _of_kind(chip, "gpu")
    if not _checks.is_a(block, tuple) or len(block) != 3:
        _checks.fail("block", "be three sizes: block_m, block_n, block_k", block)
    rows, columns, depth = (_checks.whole("block", size) for size in block)
    cores = int(known.count("sms").value)
    macs = known.count("matrix_units").value * known.count("fma_per_matrix_unit").value / cores
    peak = known.peak_flop_per_s("bf16", "matrix")
    return Machine(
        name=known.name, n_cores=cores, macs_per_cycle=macs,
        clock_hz=peak / (2 * macs * cores), peak_flop_per_s=peak,
        block_m=rows, block_n=columns, block_k=depth, row_multiple=rows,
        hbm_bytes_per_s=known.bandwidth_bytes_per_s,
        cache_bytes_per_s=_cache_rate(known, cache_bytes_per_s), has_cache=True,
        keep_bytes=_size(known, "l2"),
        room_bytes=_size(known, "shared") + _size(known, "registers"),
    )  # fmt: skip


def tpu(chip: Chip, *, block_m: int = TPU_ROWS) -> Machine:
    """A TPU: one or two cores with large blocks, and no cache.

    The arrays of a core stand side by side: a step streams the rows of a block through them, one a
    cycle, past weights of one array's height. The next weights come in meanwhile, a row a cycle.
    Vector memory holds the block, and keeps operands if A and B fit into what is left.

    Parameters
    ----------
    chip : Chip
        A TPU with a bf16 peak and a clock at which its arrays reach it: up to v5p.
    block_m : int
        Most rows of a block.

    Raises
    ------
    ValueError
        If the chip is no TPU, lacks a number, such as a clock, or the block does not fit.

    Examples
    --------
    >>> from primer import hardware
    >>> v5e = tpu(hardware.load("tpu_v5e"))
    >>> v5e.n_cores, v5e.block_n, v5e.block_k, v5e.macs_per_cycle
    (1, 512, 128, 65536.0)
    """
    known = _of_kind(chip, "tpu")
    clock = known.clock("boost").value
    cores = int(known.count("tensorcores").value)
    cells = int(known.count("fma_per_matrix_unit").value)
    arrays = int(known.count("matrix_units").value) // cores
    side = math.isqrt(cells)
    rows, columns = _checks.whole("block_m", block_m), arrays * side
    room = _size(known, "vmem")
    return Machine(
        name=known.name, n_cores=cores, macs_per_cycle=float(arrays * cells),
        clock_hz=clock, peak_flop_per_s=known.peak_flop_per_s("bf16", "matrix"),
        block_m=rows, block_n=columns, block_k=side, row_multiple=SUBLANES,
        least_step_cycles=side, fill_cycles=side, drain_cycles=2 * side - 2,
        hbm_bytes_per_s=known.bandwidth_bytes_per_s,
        keep_bytes=max(0.0, room - block_bytes(rows, columns, side)), room_bytes=room,
    )  # fmt: skip


def block_bytes(block_m: int, block_n: int, block_k: int) -> int:
    """What a block takes of a core, int [B]: operands twice, and fp32 sums.

    >>> block_bytes(128, 128, 64) == 2 * (128 + 128) * 64 * 2 + 128 * 128 * 4
    True
    """
    return 2 * (block_m + block_n) * block_k * OPERAND_BYTES + block_m * block_n * SUM_BYTES


def _rate(name: str, given: float) -> float:
    """A positive rate, or one that never limits."""
    rate = _checks.real(name, given)
    return rate if rate == math.inf else _checks.positive(name, given)


def _of_kind(chip: Chip, kind: str) -> Chip:
    known = require_chip(chip)
    if known.kind != kind:
        _checks.fail("chip", f"be a {kind.upper()}", known)
    return known


def _size(chip: Chip, level: str) -> float:
    capacity = chip.level(level).capacity
    if capacity is None:
        _checks.fail(f"capacity of {level} of {chip.name}", "be known to compute with it", None)
    return capacity.value


def _cache_rate(chip: Chip, given: float | None) -> float:
    if given is not None:
        return _checks.positive("cache_bytes_per_s", given)
    own = chip.level("l2").bandwidth
    return math.inf if own is None or own.amount is None else own.amount

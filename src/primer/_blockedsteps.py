"""Steps of a blocked product, and what each of them copies: all blocks, all waves, in arrays.

See `primer.blocked_gemm` for the rules.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from primer import _checks
from primer._blockedmachine import OPERAND_BYTES, Machine

MOST_STEPS = 2_000_000
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Steps:
    """What happens step by step on all cores together; arrays are (n_steps,) and read-only.

    Parameters
    ----------
    n_blocks, n_waves : int
        Blocks of the result, and waves of them.
    busy_cycles : float array [cycles]
        In which a core computes for a block, on average over all cores.
    stream_cycles : int array [cycles]
        Of the block that takes longest.
    compute_cycles : int array [cycles]
        The same, and no less than loading weights takes.
    load_bytes : float array [B]
        Of A and B from main memory, before the step.
    cache_bytes : float array [B]
        What all cores read from the shared cache, before the step; 0 without one.
    store_bytes : float array [B]
        Of C to main memory, beside the step: an even part of what the wave before has computed.
    last_bytes : float [B]
        Of C after the last step.
    """

    n_blocks: int
    n_waves: int
    busy_cycles: Floats
    stream_cycles: Ints
    compute_cycles: Ints
    load_bytes: Floats
    cache_bytes: Floats
    store_bytes: Floats
    last_bytes: float

    @property
    def hbm_bytes(self) -> float:
        """From and to main memory, float [B]."""
        stores = self.store_bytes.sum() + self.last_bytes
        return float(self.load_bytes.sum() + round(stores))  # parts of a whole number


@dataclass(frozen=True)
class Blocks:
    """All blocks of the result in the order in which they are handed out, row by row.

    Parameters
    ----------
    wave, owner : int array (n_blocks,)
        When it is computed, and whose copies it can use: 0 where a cache is shared, else the core.
    row, column : int array (n_blocks,)
        Its place.
    n_rows, n_columns : int array (n_blocks,)
        What of it lies inside the result.
    """

    wave: Ints
    owner: Ints
    row: Ints
    column: Ints
    n_rows: Ints
    n_columns: Ints


def blocks(machine: Machine, m: int, n: int) -> Blocks:
    """Cut the result, and hand the blocks out."""
    down, across = -(-m // machine.block_m), -(-n // machine.block_n)
    index = np.arange(down * across)
    row, column = np.divmod(index, across)
    return Blocks(
        wave=index // machine.n_cores,
        owner=np.zeros_like(index) if machine.has_cache else index % machine.n_cores,
        row=row,
        column=column,
        n_rows=np.minimum(machine.block_m, m - row * machine.block_m),
        n_columns=np.minimum(machine.block_n, n - column * machine.block_n),
    )


def steps(machine: Machine, m: int, n: int, k: int) -> Steps:
    """All steps of a product: every wave takes ⌈k / block_k⌉ of them.

    Raises
    ------
    ValueError
        As `primer.blocked_gemm.run` does.
    """
    if not _checks.is_a(machine, Machine):
        _checks.fail("machine", "be a Machine, as gpu and tpu make it", machine)
    m, n, k = _checks.whole("m", m), _checks.whole("n", n), _checks.whole("k", k)
    n_parts = -(-k // machine.block_k)
    n_blocks = -(-m // machine.block_m) * -(-n // machine.block_n)
    n_waves = -(-n_blocks // machine.n_cores)
    if max(n_waves * n_parts, n_blocks) > MOST_STEPS:
        _checks.fail("m, n, k", f"make at most {MOST_STEPS:,} steps and blocks", (m, n, k))
    parts = blocks(machine, m, n)
    keeps = (m + n) * k * OPERAND_BYTES <= machine.keep_bytes
    a = fetched(parts, parts.row, parts.n_rows, keeps)
    b = fetched(parts, parts.column, parts.n_columns, keeps)
    shared = _per_wave(parts, parts.n_rows + parts.n_columns) * machine.has_cache
    depth = np.full(n_parts, machine.block_k)
    depth[-1] = k - (n_parts - 1) * machine.block_k
    results = _per_wave(parts, parts.n_rows * parts.n_columns) * OPERAND_BYTES
    before = np.append(0.0, results[:-1]) / n_parts
    busy, stream = _cycles(machine, parts)
    return Steps(
        n_blocks=n_blocks, n_waves=n_waves,
        busy_cycles=_frozen(np.repeat(busy, n_parts)),
        stream_cycles=_frozen(np.repeat(stream, n_parts)),
        compute_cycles=_frozen(np.repeat(np.maximum(stream, machine.least_step_cycles), n_parts)),
        load_bytes=_frozen(np.outer(a + b, depth * OPERAND_BYTES).ravel()),
        cache_bytes=_frozen(np.outer(shared, depth * OPERAND_BYTES).ravel()),
        store_bytes=_frozen(np.repeat(before, n_parts)),
        last_bytes=float(results[-1]),
    )  # fmt: skip


def fetched(parts: Blocks, stripe: Ints, width: Ints, keeps: bool) -> Floats:
    """Rows of A, or columns of B, that each wave has to fetch, float array (n_waves,).

    A stripe is fetched once for each owner, and, if nothing is kept, in every wave again.
    """
    n_waves = int(parts.wave[-1]) + 1
    time = np.zeros_like(parts.wave) if keeps else parts.wave
    shape = (n_waves, int(parts.owner.max()) + 1, int(stripe.max()) + 1)
    name = np.ravel_multi_index((time, parts.owner, stripe), shape)
    _, first = np.unique(name, return_index=True)
    found: Any = np.bincount(parts.wave[first], weights=width[first], minlength=n_waves)
    return np.asarray(found, dtype=np.float64)


def _cycles(machine: Machine, parts: Blocks) -> tuple[Floats, Ints]:
    """Cycles of a step in each wave: on average over the cores, and of the longest block."""
    rows = -(-parts.n_rows // machine.row_multiple) * machine.row_multiple
    macs = rows * machine.block_n * machine.block_k
    each = np.ceil(macs / machine.macs_per_cycle).astype(np.int64)
    longest = np.zeros(int(parts.wave[-1]) + 1, dtype=np.int64)
    np.maximum.at(longest, parts.wave, each)
    return _per_wave(parts, each) / machine.n_cores, longest


def _per_wave(parts: Blocks, weights: Ints) -> Floats:
    found: Any = np.bincount(parts.wave, weights=weights)
    return np.asarray(found, dtype=np.float64)


def _frozen(array: Any) -> Any:
    array.flags.writeable = False
    return array

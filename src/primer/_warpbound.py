"""What a warp scheduler can reach at the most, without running it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from primer import _checks, _warpmachine
from primer._warpmachine import LOAD_BYTES, Multiprocessor


@dataclass(frozen=True, kw_only=True)
class IssueBound:
    """The limits of one scheduler, in instructions per cycle.

    Parameters
    ----------
    latency_limit : float [1/cycle]
        What the warps could issue if they never had to queue for a slot or for the memory.
    bandwidth_limit : float [1/cycle]
        What the memory could feed; infinite without a limit or without loads.
    utilization_frac : float
        The least of the two and of 1, the scheduler's own limit: the share of issue slots in use.
    bound : str
        Which of them it is: "latency", "bandwidth" or "issue"; where they are equal, not latency.
    n_warps_needed : int
        The fewest warps for which it would not be "latency".
    is_exact : bool
        Whether `primer.warps.schedule` comes to exactly that. If not, it comes to less or as much.
    """

    latency_limit: float
    bandwidth_limit: float
    utilization_frac: float
    bound: str
    n_warps_needed: int
    is_exact: bool


def issue_bound(
    n_warps: int,
    *,
    latency_cycles: int,
    alu_per_load: int,
    independent_loads: int = 1,
    policy: str = "gto",
    memory_interval_cycles: int | None = None,
    alu_latency_cycles: int = 1,
) -> IssueBound:
    """The share of issue slots that warps can fill, by a closed form.

    With W warps on one scheduler, i loads and c ALU instructions in a loop, latency L, ALU latency
    a and memory interval τ,

        gto, oldest:  U ≤ min(1, W·(i + c) / (L + (i − 1)·max(1, τ) + c·a), (i + c) / (i·τ))
        rr:           U ≤ min(1, W·(i + c) / ((i − 1)·W + max(L, W) + c·max(W, a)), (i + c) / (i·τ))

    The denominator is the time of one pass: what a warp needs if it is alone, and, in round robin,
    what the others take while it waits for its turn. For "gto" this is exact if a = 1 (or without
    loads), for "rr" without a memory interval. One load, a = 1, L ≥ W: round robin comes to
    W·(c + 1) / (L + W·c), and so fills all slots only with W = L warps.

    Parameters
    ----------
    n_warps, latency_cycles, alu_per_load, independent_loads : int
        As in `schedule`, for one scheduler.
    policy : str
    memory_interval_cycles : int, optional [cycles]
    alu_latency_cycles : int [cycles]

    Returns
    -------
    IssueBound

    Raises
    ------
    ValueError
        As in `schedule`.

    Examples
    --------
    A latency of 400 cycles and nine ALU instructions per load: a scheduler has 16 warps at most.

    >>> found = issue_bound(16, latency_cycles=400, alu_per_load=9)
    >>> round(found.utilization_frac, 3), found.n_warps_needed
    (0.391, 41)
    >>> issue_bound(16, latency_cycles=400, alu_per_load=9, policy="rr").n_warps_needed
    400
    >>> issue_bound(16, latency_cycles=400, alu_per_load=9, independent_loads=4).n_warps_needed
    11
    """
    on = _warpmachine.check(
        n_warps, latency_cycles=latency_cycles, alu_per_load=alu_per_load,
        independent_loads=independent_loads, policy=policy,
        memory_interval_cycles=memory_interval_cycles, alu_latency_cycles=alu_latency_cycles,
    )  # fmt: skip
    taken = on.n_loads * (on.memory_interval_cycles or 0)  # of the memory's time, by one pass
    least = max(on.n_each, taken)
    latency_limit = on.n_warps * on.n_each / _pass_cycles(on, on.n_warps)
    bandwidth_limit = on.n_each / taken if taken else math.inf
    is_enough = on.n_warps * least >= _pass_cycles(on, on.n_warps)
    full = "bandwidth" if taken > on.n_each else "issue"
    return IssueBound(
        latency_limit=latency_limit,
        bandwidth_limit=bandwidth_limit,
        utilization_frac=min(1.0, latency_limit, bandwidth_limit),
        bound=full if is_enough else "latency",
        n_warps_needed=_needed(on, least),
        is_exact=_is_exact(on),
    )


def _pass_cycles(on: Multiprocessor, n_warps: int) -> int:
    """One pass through the loop, with the turns of so many warps but without any queue."""
    i, latency, alu = on.n_loads, on.latency_cycles, on.alu_latency_cycles
    if on.policy == "rr":
        waits = (i - 1) * n_warps + max(latency, n_warps) if i else 0
        return waits + on.n_alu * max(n_warps, alu)
    waits = latency + (i - 1) * max(1, on.memory_interval_cycles or 0) if i else 0
    return waits + on.n_alu * alu


def _needed(on: Multiprocessor, least: int) -> int:
    """The fewest warps whose passes, `least` cycles each, fill the time of one."""
    low, high = 1, _pass_cycles(on, 1) + on.latency_cycles
    while low < high:
        middle = (low + high) // 2
        if middle * least >= _pass_cycles(on, middle):
            high = middle
        else:
            low = middle + 1
    return low


def _is_exact(on: Multiprocessor) -> bool:
    if on.policy == "rr":
        return on.memory_interval_cycles is None or on.n_loads == 0
    return on.n_loads == 0 or (on.policy == "gto" and on.alu_latency_cycles == 1)


def memory_interval(
    bandwidth_bytes_per_s: float,
    clock_hz: float,
    *,
    n_schedulers: int,
    load_bytes: int = LOAD_BYTES,
) -> float:
    """Cycles between two loads that a memory of that bandwidth can take from one scheduler.

    Parameters
    ----------
    bandwidth_bytes_per_s : float [B/s]
        Of the whole chip.
    clock_hz : float [Hz]
    n_schedulers : int
        Of the whole chip, which share it equally.
    load_bytes : int [B]
        Of one warp's load.

    Returns
    -------
    float [cycles]
        load_bytes · n_schedulers · clock / bandwidth.

    Raises
    ------
    ValueError
        If a value is not positive, or the result not finite.

    Examples
    --------
    1,000 bytes per cycle for 100 schedulers are 10 for each.

    >>> memory_interval(1e12, 1e9, n_schedulers=100)
    12.8
    """
    rate = _checks.positive("bandwidth_bytes_per_s", bandwidth_bytes_per_s)
    clock = _checks.positive("clock_hz", clock_hz)
    n = _checks.whole("n_schedulers", n_schedulers)
    interval = _checks.quotient(_checks.whole("load_bytes", load_bytes) * n * clock, rate)
    _checks.keeps_finite("bandwidth_bytes_per_s", rate, interval=interval)
    return interval

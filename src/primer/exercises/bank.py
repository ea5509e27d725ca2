"""The exercises that can be checked, each with its answer as a computation."""

from __future__ import annotations

from functools import cache

from primer import _checks, hardware
from primer.exercises.grading import Number, Slip


@cache
def _first_compute_bound_tokens(peak_flop_per_s: float, element_bytes: float, flop: float) -> float:
    """Smallest T for which [T x 768]·[768 x 3072] reaches the ridge; infinite if none does."""
    ridge = peak_flop_per_s / hardware.load("h100_sxm5_80gb").bandwidth_bytes_per_s
    k, n = 768, 3072
    # flop·T·k·n >= ridge·e·(T·(k + n) + k·n), solved for T
    gain = flop * k * n - ridge * element_bytes * (k + n)
    if gain <= 0:
        return float("inf")
    return float(-(-ridge * element_bytes * k * n // gain))


def _peak() -> float:
    return hardware.load("h100_sxm5_80gb").peak_flop_per_s("bf16")


def _ridge() -> float:
    return hardware.load("h100_sxm5_80gb").ridge_flop_per_byte("bf16")


_ONE_MATMUL_TURNS = Number(
    answer=lambda: _first_compute_bound_tokens(_peak(), 2, 2),
    rel_tol=0.0,
    abs_tol=0.5,
    slips=(
        Slip(
            lambda: float(round(_ridge())),
            "That is the ridge itself. The intensity of this matmul stays below T, because the "
            "weights are read whatever T is.",
        ),
        Slip(
            lambda: _first_compute_bound_tokens(2 * _peak(), 2, 2),
            "Is that the sparse peak? The dense one is half of it.",
        ),
        Slip(
            lambda: _first_compute_bound_tokens(_peak(), 2, 1),
            "A multiply-add is 2 FLOP.",
        ),
        Slip(
            lambda: _first_compute_bound_tokens(_peak(), 1, 2),
            "An element in 16 bit takes 2 bytes.",
        ),
        Slip(
            lambda: _first_compute_bound_tokens(_peak(), 2, 2) - 1,
            "Very close. Which whole T is the first on the other side?",
        ),
    ),
    noun="tokens",
    otherwise="Write the intensity as a function of T, and set it equal to the ridge.",
)

_BANK = {"1.1": _ONE_MATMUL_TURNS}


def ids() -> tuple[str, ...]:
    """Exercises that have a check."""
    return tuple(_BANK)


def find(exercise_id: str) -> Number:
    """The exercise of that number; an unknown one names the nearest."""
    _checks.one_of("exercise", exercise_id, ids())
    return _BANK[exercise_id]

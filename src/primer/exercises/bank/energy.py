"""What an access costs in multiply-adds, and how long the bytes of a vector add take."""

from __future__ import annotations

from primer import energy, workloads
from primer.exercises import slips
from primer.exercises.number import Number
from primer.exercises.slips import Slip
from primer.exercises.verdict import Exercise

_OPERAND = "fp16"


def _multiply_adds_per_number() -> tuple[float, float]:
    return energy.ladder("45nm", _OPERAND).rung("dram").ratio_range


def _operations_per_number(operation: str) -> tuple[float, float]:
    rung = energy.ladder("45nm", _OPERAND).rung("dram")
    each = energy.operation(f"{_OPERAND}_{operation}", node="45nm").value
    return rung.energy_j / each, rung.upper_j / each


_NUMBER = Number(
    answer=_multiply_adds_per_number,
    rel_tol=0.02,
    what="multiply-adds per number (any value in the range)",
    slips=(
        slips.WIDE_ACCESS.times(4, 2),
        Slip("adds alone", "Those are adds. A multiply-add needs a multiply as well.").at(
            lambda: _operations_per_number("add")
        ),
        Slip("multiplies alone", "Those are multiplies. A multiply-add needs an add as well.").at(
            lambda: _operations_per_number("multiply")
        ),
        slips.UPSIDE_DOWN,
    ),
    otherwise="Divide the energy of the access, scaled to your operand, by that of one multiply "
    "and one add.",
)


def _add_s(*, write_allocate: bool = False, arrays_frac: float = 1.0) -> float:
    work = workloads.VectorAdd(10**8, "fp32", write_allocate)
    return arrays_frac * work.compulsory_bytes / 50e9


_VECTOR_ADD = Number(
    answer=_add_s,
    unit="ms",
    rel_tol=0.02,
    accepted=(
        Slip(
            "write-allocate",
            "You count the line that a store fetches before it fills it (write-allocate), as "
            "ordinary stores on CPUs do.",
        ).at(lambda: _add_s(write_allocate=True)),
    ),
    slips=(
        Slip(
            "the result’s bytes", "Which arrays cross the memory bus? The result is one of them."
        ).at(lambda: _add_s(arrays_frac=2 / 3)),
        Slip("one array", "Which arrays cross the memory bus? There is more than one.").at(
            lambda: _add_s(arrays_frac=1 / 3)
        ),
        Slip("elements for bytes", "You counted elements. How many bytes has each?").times(1 / 4),
        slips.BITS,
        slips.GIB,
        Slip("8-byte elements", "A number in fp32 takes four bytes, not eight.").times(2),
    ),
    otherwise="Count the bytes of all arrays that cross the bus, and divide by the bandwidth.",
)

EXERCISES: dict[str, Exercise] = {"0.1": _NUMBER, "0.3": _VECTOR_ADD}

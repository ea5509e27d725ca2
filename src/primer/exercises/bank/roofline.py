"""Ridges, slopes and what fusion saves."""

from __future__ import annotations

from bisect import bisect_left

from primer import hardware, roofline, workloads
from primer.exercises import draws, slips
from primer.exercises.function import Function
from primer.exercises.number import Number
from primer.exercises.slips import Slip
from primer.exercises.verdict import Exercise

_MOST_TOKENS = 2**20


def _ridge() -> float:
    return hardware.load("h100_sxm5_80gb").ridge_flop_per_byte("bf16")


def _first_tokens(demand_flop_per_byte: float) -> float:
    """The smallest T at which the one matmul has this intensity."""

    def reached(tokens: int) -> float:
        return workloads.Matmul(tokens, 3072, 768).intensity_flop_per_byte

    return 1.0 + bisect_left(range(1, _MOST_TOKENS), demand_flop_per_byte, key=reached)


_TURNING_POINT = Number(
    answer=lambda: _first_tokens(_ridge()),
    unit="tokens",
    is_whole=True,
    slips=(
        Slip(
            "the ridge itself",
            "That is the ridge itself. The intensity of this matmul stays below T, because the "
            "weights are read whatever T is.",
        ).at(_ridge),
        slips.SPARSE_PEAK.saying(
            "Your ridge is twice too high. Take the dense peak, and count a multiply-add as two "
            "operations."
        ).at(lambda: _first_tokens(2 * _ridge())),
        Slip("one byte per element", "Your ridge is too low by half. An element has two bytes.").at(
            lambda: _first_tokens(_ridge() / 2)
        ),
        slips.OFF_BY_ONE.saying(
            "Very close. Which whole T is the first one on the other side of the ridge?"
        ),
    ),
    otherwise="Write the intensity as a function of T, and set it equal to the ridge.",
)


def _second_over_first(*, peaks: bool = False) -> float:
    first, second = hardware.load("h100_sxm5_80gb"), hardware.load("mi300x")
    if peaks:
        return second.peak_flop_per_s("bf16") / first.peak_flop_per_s("bf16")
    work = workloads.VectorAdd(10**6)
    # Far below both ridges, so that the precision of the roof does not matter.
    before = roofline.place(first, work).attainable_flop_per_s
    return roofline.place(second, work).attainable_flop_per_s / before


_SLOPES = Number(
    answer=_second_over_first,
    rel_tol=0.02,
    what="the factor by which the speed in (b) changes",
    slips=(
        Slip(
            "ratio of the peaks",
            "That is the ratio of the peaks. On which side of both ridges is a vector add?",
        ).at(lambda: _second_over_first(peaks=True)),
        slips.UPSIDE_DOWN.saying("Upside down: which of the two chips is the faster one?"),
        Slip("no change", "The intensity stays. Does the speed?").at(lambda: 1.0),
    ),
    otherwise="Which number of a chip sets the speed of a memory-bound program?",
)


def _fusion(*, passes: int = 2) -> float:
    """How many times as long two passes take as one that does the work of both."""
    toy = hardware.example("toy")
    one = roofline.place(toy, workloads.Stream("scale", 1000, "fp32"))
    fused = roofline.place(toy, work_flop=2 * one.work_flop, traffic_bytes=one.traffic_bytes)
    return roofline.sequence_time_s([one] * passes) / fused.time_s


_FUSION = Number(
    answer=_fusion,
    rel_tol=0.01,
    what="how many times as fast one pass is",
    slips=(
        Slip("only the work", "The work stays the same. What happens to the bytes?").at(
            lambda: _fusion(passes=1)
        ),
        slips.UPSIDE_DOWN.saying("Upside down: which of the two is the faster one?"),
        Slip(
            "the intensity",
            "That is an intensity. Asked for is how the speeds compare.",
        ).at(lambda: 1 / 8, lambda: 1 / 4),
        Slip(
            "y read but not stored",
            "Count the passes over memory: y is stored by the first step and read by the second.",
        ).times(3 / 4),
        slips.MULTIPLY_ADD.saying(
            "There is a factor of two that counts twice. On the slope, speed follows intensity."
        ).times(2),
    ),
    otherwise="Count the numbers that cross the memory bus per element, before and after.",
)


def _attainable(peak: float, bandwidth: float, intensity: float, overlap: bool = True) -> float:
    return roofline.attainable_flop_per_s(
        intensity, peak_flop_per_s=peak, bandwidth_bytes_per_s=bandwidth, overlap=overlap
    )


_ATTAINABLE = Function(
    name="attainable",
    reference=_attainable,
    variables={
        "peak": draws.real(1e12, 1e16),
        "bandwidth": draws.real(1e10, 1e13),
        "intensity": draws.real(0.1, 1e5),
        "overlap": draws.among(True, False),
    },
    cases=(
        {"peak": 100.0, "bandwidth": 10.0, "intensity": 5.0},
        {"peak": 100.0, "bandwidth": 10.0, "intensity": 40.0},
        {"peak": 100.0, "bandwidth": 10.0, "intensity": 10.0, "overlap": False},
    ),
    slips=(
        Slip("always overlapped", "Your function does not look at overlap.").at(
            lambda overlap=True, **chip: _attainable(**chip)
        ),
        Slip("never overlapped", "Your function does not look at overlap.").at(
            lambda overlap=True, **chip: _attainable(**chip, overlap=False)
        ),
        Slip(
            "the higher limit", "With overlap the *lower* of the two limits holds, not the higher."
        ).at(
            lambda peak, bandwidth, intensity, overlap=True: (
                max(peak, intensity * bandwidth)
                if overlap
                else _attainable(peak, bandwidth, intensity, False)
            )
        ),
        Slip(
            "speeds added",
            "Speeds cannot be added or averaged. Times can: take one byte and its share of the "
            "work.",
        ).at(
            lambda peak, bandwidth, intensity, overlap=True: (
                _attainable(peak, bandwidth, intensity)
                if overlap
                else (peak + intensity * bandwidth) / 2
            ),
            lambda peak, bandwidth, intensity, overlap=True: (
                _attainable(peak, bandwidth, intensity) if overlap else peak + intensity * bandwidth
            ),
        ),
        Slip(
            "slope upside down",
            "FLOP per byte times bytes per second are FLOP per second: multiply, do not divide.",
        ).at(
            lambda peak, bandwidth, intensity, overlap=True: _attainable(
                peak, 1 / bandwidth, intensity, overlap
            ),
            lambda peak, bandwidth, intensity, overlap=True: _attainable(
                peak, bandwidth, 1 / intensity, overlap
            ),
        ),
    ),
    otherwise="Take one byte and its share of the work, and combine the two times.",
)

EXERCISES: dict[str, Exercise] = {
    "1.1": _TURNING_POINT,
    "1.2": _SLOPES,
    "1.3": _FUSION,
    "1.4": _ATTAINABLE,
}

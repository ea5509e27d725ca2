"""Loads in flight, sectors that move in part, and lanes that wait for one another."""

from __future__ import annotations

from itertools import count

from primer import warps
from primer.exercises import slips
from primer.exercises.number import Number
from primer.exercises.slips import Slip
from primer.exercises.verdict import Exercise

_N_WARPS, _LATENCY, _MATH = 16, 310, 4


def _used(n_loads: int) -> float:
    """Share of the issue slots that all warps use with so many loads at a time."""
    return warps.issue_bound(
        _N_WARPS, latency_cycles=_LATENCY, alu_per_load=_MATH, independent_loads=n_loads
    ).utilization_frac


def _loads_needed() -> float:
    return float(next(n for n in count(1) if _used(n) == 1))


def _own_round_forgotten() -> float:
    """The others fill the latency, as if a warp's own instructions took no time."""
    return float(-(-_LATENCY // (_N_WARPS * (_MATH + 1))))


def _warps_needed() -> float:
    bound = warps.issue_bound(1, latency_cycles=_LATENCY, alu_per_load=_MATH)
    return float(bound.n_warps_needed)


_LOADS = Number(
    answer=_loads_needed,
    is_whole=True,
    what="the fewest loads at a time",
    slips=(
        Slip(
            "own round forgotten",
            "Nearly. A warp’s round is longer than the latency: it also sends off its loads and "
            "does its own math. Are the slots of that round all filled?",
        ).at(_own_round_forgotten),
        Slip(
            "warps for loads",
            "That is how many warps it would take with one load each. There are sixteen; how many "
            "loads must each have?",
        ).at(_warps_needed),
        Slip("the math forgotten", "For each load a warp has math to do, too.").at(
            lambda: float(-(-_LATENCY // _N_WARPS))
        ),
        slips.OFF_BY_ONE,
    ),
    otherwise="Write the instructions of all sixteen warps, and the cycles that one of them needs "
    "for its round. Then compare the two.",
)


def _asked_for(element_bytes: int, *, stride: int = 1, offset_bytes: int = 0) -> float:
    """Share of the moved bytes that the lanes ask for."""
    addresses = warps.strided(stride, offset_bytes=offset_bytes, element_bytes=element_bytes)
    return warps.coalesce(addresses, element_bytes=element_bytes).efficiency_frac


_NARROW = Number(
    answer=lambda: _asked_for(2, offset_bytes=2),
    what="the share in (c)",
    slips=(
        Slip("the share in (b)", "That is (b). How many sectors do numbers of two bytes fill?").at(
            lambda: _asked_for(4, offset_bytes=4)
        ),
        Slip(
            "the share in (a)",
            "That is (a), or the share of a whole line. Memory moves in sectors of 32 bytes.",
        ).at(lambda: _asked_for(4, stride=2)),
        Slip(
            "no start", "That would be so from byte 0 on. In which sector does the last byte lie?"
        ).at(lambda: _asked_for(2)),
        slips.OTHER_PART.saying("That is the part that moves in vain."),
        slips.UPSIDE_DOWN.saying("Upside down: what was asked for, over what moves."),
        Slip(
            "sectors", "That is how many sectors move. Which share of their bytes was asked for?"
        ).at(lambda: 3.0),
    ),
    otherwise="Write down the first and the last byte that is asked for, and the sector of each.",
)

_TRIPS = range(1, 33)


def _trips_issued(n_trips: list[int]) -> int:
    return warps.diverge(warps.Loop(n_trips, warps.Instructions(1))).n_issued


def _sorting_gain() -> float:
    mixed = len(_TRIPS) * _trips_issued(list(_TRIPS))
    return mixed / sum(_trips_issued([n] * 32) for n in _TRIPS)


_SORTED = Number(
    answer=_sorting_gain,
    rel_tol=0.01,
    what="how many times as fast",
    slips=(
        Slip(
            "nearly two",
            "Close. The mean of the numbers from one to 32 is not sixteen.",
            rel_tol=0.002,
        ).at(lambda: 2.0),
        slips.UPSIDE_DOWN.saying("Upside down: sorted is the faster one."),
        Slip(
            "the longest alone",
            "That is the longest loop against the shortest. How long are all warps together?",
        ).at(lambda: float(max(_TRIPS)), lambda: max(_TRIPS) / min(_TRIPS)),
        Slip(
            "no change",
            "The work of the lanes stays the same. How often is each trip issued?",
        ).at(lambda: 1.0),
        Slip("the mean", "That is the mean number of trips. What do the unsorted warps make?").at(
            lambda: sum(_TRIPS) / len(_TRIPS)
        ),
    ),
    otherwise="How many trips does a warp make whose lanes have one to 32 of them?",
)

EXERCISES: dict[str, Exercise] = {"3.1": _LOADS, "3.2": _NARROW, "3.7": _SORTED}

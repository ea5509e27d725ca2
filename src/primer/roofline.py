"""The roofline model: a slope, a roof, and the ridge where they meet.

A chip computes at most `peak` FLOP/s and its memory delivers at most `bandwidth` B/s. Work of
F FLOP that moves Q bytes has the intensity I = F / Q, and takes

    t = max(F / peak, Q / bandwidth)      if computing and moving overlap perfectly,
    t = F / peak + Q / bandwidth          if they do not overlap at all.

Left out: latency, launch overhead, partial tiles, caches (unless `place_levels` gets the bytes
of each level), and everything else that keeps real code below its roof. A sequence of kernels takes
the sum of their maxima, never the maximum of their sums.

Source: Williams, Waterman, Patterson, "Roofline", CACM 52(4), 2009.

>>> from primer import hardware, workloads
>>> point = place(hardware.load("h100_sxm5_80gb"), workloads.Matmul(1, 3072, 768))
>>> point.bound, round(point.time_s * 1e6, 2)
('memory', 1.41)
"""

import dataclasses
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, cast

from primer import _checks, units
from primer._chip import rate_unit, require_chip
from primer._levels import HierarchyPoint, LevelPoint, UnpublishedLevel, place_levels
from primer._products import amounts
from primer.hardware import Chip
from primer.workloads import Workload, intensity

__all__ = [
    "HierarchyPoint", "Judgement", "LevelPoint", "RooflinePoint", "UnpublishedLevel",
    "attainable_flop_per_s", "judge", "place", "place_levels", "sequence_time_s",
]  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class RooflinePoint:
    """Work placed under the roof of a chip.

    Parameters
    ----------
    work_flop, traffic_bytes : float [FLOP], [B]
        What was placed.
    intensity_flop_per_byte : float [FLOP/B]
        Their ratio; infinite without bytes.
    ridge_flop_per_byte : float [FLOP/B]
        Where compute time equals memory time, efficiencies included.
    peak_flop_per_s, bandwidth_bytes_per_s : float [FLOP/s], [B/s]
        Of the chip, before efficiencies.
    attainable_flop_per_s : float [FLOP/s]
        The highest rate that the model allows this work.
    bound : str
        "memory" or "compute": which time is longer. At the ridge itself, "compute".
    time_s, compute_time_s, memory_time_s : float [s]
        Of the whole, and of its two parts.
    peak_frac : float
        Attainable rate as a share of the chip's peak.
    attainable_frac : float
        Attainable rate as a share of the ideal roof at this intensity, that of full overlap at
        full efficiency: 1 by default, 0.5 at the ridge without overlap.
    overlap : bool
        Whether computing and moving were taken to overlap.
    chip_name, compute, unit : str
        The roof that was used.
    """

    work_flop: float
    traffic_bytes: float
    intensity_flop_per_byte: float
    ridge_flop_per_byte: float
    peak_flop_per_s: float
    bandwidth_bytes_per_s: float
    attainable_flop_per_s: float
    bound: str
    time_s: float
    compute_time_s: float
    memory_time_s: float
    peak_frac: float
    attainable_frac: float
    overlap: bool = True
    chip_name: str = ""
    compute: str = ""
    unit: str = ""

    def __str__(self) -> str:
        per_s = rate_unit(self.compute) if self.compute else "FLOP/s"
        per_byte = per_s.replace("/s", "/B")
        at = units.text(self.intensity_flop_per_byte, per_byte, 5)
        ridge = units.text(self.ridge_flop_per_byte, per_byte)
        rate = units.text(self.attainable_flop_per_s, per_s)
        peak = units.text(self.peak_flop_per_s, per_s)
        return (
            f"{at} on {self.chip_name} (ridge {ridge}): {self.bound}-bound, at most {rate} "
            f"of {peak} ({self.compute}, {self.unit} units)"
        )


def attainable_flop_per_s(
    intensity_flop_per_byte: float,
    *,
    peak_flop_per_s: float,
    bandwidth_bytes_per_s: float,
    overlap: bool = True,
) -> float:
    """The height of the roof at one intensity: min(P, I·B), or their harmonic sum without overlap.

    Parameters
    ----------
    intensity_flop_per_byte : float [FLOP/B]
        Zero or more; may be infinite.
    peak_flop_per_s, bandwidth_bytes_per_s : float [FLOP/s], [B/s]
        The roof P and the slope B.
    overlap : bool
        Without it the rate is F / (F/P + Q/B) = 1 / (1/P + 1/(I·B)).

    Returns
    -------
    float [FLOP/s]

    Examples
    --------
    At the ridge of a chip with 100 FLOP/s and 10 B/s, no overlap halves the rate.

    >>> roof = dict(peak_flop_per_s=100, bandwidth_bytes_per_s=10)
    >>> attainable_flop_per_s(10, **roof), attainable_flop_per_s(10, **roof, overlap=False)
    (100.0, 50.0)
    """
    at = _checks.real("intensity_flop_per_byte", intensity_flop_per_byte)
    if at != math.inf:
        at = _checks.non_negative("intensity_flop_per_byte", intensity_flop_per_byte)
    peak = _checks.positive("peak_flop_per_s", peak_flop_per_s)
    slope = at * _checks.positive("bandwidth_bytes_per_s", bandwidth_bytes_per_s)
    if _checks.flag("overlap", overlap):
        return min(peak, slope)
    return peak / (1 + peak / slope) if slope > 0 else 0.0


def place(
    chip: Chip,
    work: Workload | None = None,
    *,
    compute: str = "bf16",
    work_flop: float | None = None,
    traffic_bytes: float | None = None,
    unit: str | None = None,
    overlap: bool = True,
    compute_efficiency: float = 1.0,
    memory_efficiency: float = 1.0,
    write_allocate: bool | None = None,
) -> RooflinePoint:
    """Place work under the roof of a chip.

    Parameters
    ----------
    chip : Chip
        From `hardware.load`, `hardware.example` or `Chip.custom`.
    work : Workload, optional
        Brings its FLOP and compulsory bytes. Give it, or the next two.
    compute : str
        The precision that is computed in; it selects the roof.
    work_flop, traffic_bytes : float [FLOP], [B], optional
        The work itself. One of them may be zero.
    unit : str, optional
        "matrix" or "vector"; by default the matrix units where the chip has them.
    overlap : bool
        Whether computing and moving happen at the same time.
    compute_efficiency, memory_efficiency : float
        Share of peak and bandwidth that code is expected to reach, in (0, 1].
    write_allocate : bool, optional
        Overrides the option of a `work` that has it.

    Returns
    -------
    RooflinePoint

    Raises
    ------
    ValueError
        If neither or both ways of giving the work are used, if both are zero, if a value is
        negative or not finite, if it is so extreme that a result would not be finite, or if the
        chip has no such roof.

    Examples
    --------
    On a chip with 100 FLOP/s and 10 B/s, 40 FLOP on 20 B need 2 s of memory and 0.4 s of compute.

    >>> from primer import hardware
    >>> point = place(hardware.example("toy"), work_flop=40, traffic_bytes=20)
    >>> point.time_s, point.bound, point.attainable_flop_per_s, point.peak_frac
    (2.0, 'memory', 20.0, 0.2)
    """
    require_chip(chip)
    flop, traffic = amounts(_with_write_allocate(work, write_allocate), work_flop, traffic_bytes)
    peak = chip.peak_flop_per_s(compute, unit)
    bandwidth = chip.bandwidth_bytes_per_s
    in_compute = _checks.fraction("compute_efficiency", compute_efficiency, zero=False)
    in_memory = _checks.fraction("memory_efficiency", memory_efficiency, zero=False)
    at = intensity(flop, traffic)
    compute_s = _part_s("work_flop", flop, peak, "compute_efficiency", in_compute)
    memory_s = _part_s("traffic_bytes", traffic, bandwidth, "memory_efficiency", in_memory)
    real_peak, real_bandwidth = peak * in_compute, bandwidth * in_memory
    _checks.keeps_finite("chip", chip, ridge_flop_per_byte=peak / bandwidth)
    ridge = real_peak / real_bandwidth
    _checks.keeps_finite("memory_efficiency", in_memory, ridge_flop_per_byte=ridge)
    rate = attainable_flop_per_s(
        at, peak_flop_per_s=real_peak, bandwidth_bytes_per_s=real_bandwidth, overlap=overlap
    )
    time_s = max(compute_s, memory_s) if overlap else compute_s + memory_s
    most = ("work_flop", flop) if flop > 0 else ("traffic_bytes", traffic)
    if time_s == 0:
        _checks.fail(most[0], "be large enough for a time above zero", most[1])
    _checks.keeps_finite(*most, time_s=time_s)
    ideal = min(peak, at * bandwidth)
    return RooflinePoint(
        work_flop=flop,
        traffic_bytes=traffic,
        intensity_flop_per_byte=at,
        ridge_flop_per_byte=ridge,
        peak_flop_per_s=peak,
        bandwidth_bytes_per_s=bandwidth,
        attainable_flop_per_s=rate,
        bound="compute" if compute_s >= memory_s else "memory",
        time_s=time_s,
        compute_time_s=compute_s,
        memory_time_s=memory_s,
        peak_frac=rate / peak,
        attainable_frac=rate / ideal if ideal > 0 else traffic / bandwidth / time_s,
        overlap=bool(overlap),
        chip_name=chip.name,
        compute=compute,
        unit=unit or chip.units(compute)[0],
    )


def _part_s(name: str, amount: float, rate: float, share_name: str, share: float) -> float:
    """Time of one part; where it is endless, the share of the rate or the amount is named."""
    real_rate = rate * share
    time_s = _checks.quotient(amount, real_rate)
    if real_rate == 0 or (math.isinf(time_s) and math.isfinite(_checks.quotient(amount, rate))):
        _checks.keeps_finite(share_name, share, time_s=math.inf)
    _checks.keeps_finite(name, amount, time_s=time_s)
    return time_s


def _with_write_allocate(work: Any, write_allocate: bool | None) -> Workload | None:
    """The same workload with its option changed, if that is asked for."""
    if write_allocate is None:
        return cast("Workload | None", work)
    if work is None:
        _checks.fail("write_allocate", "come with a work that has it", write_allocate)
    if not hasattr(work, "write_allocate"):
        _checks.fail("work", "have the option write_allocate to override it", work)
    return cast(Workload, dataclasses.replace(work, write_allocate=write_allocate))


def sequence_time_s(points: Iterable[RooflinePoint]) -> float:
    """Time of kernels that run one after another: the sum of their times, float [s].

    One kernel's spare bandwidth does not help another kernel that runs later. What is not a
    sequence of points is refused.

    >>> from primer import hardware
    >>> toy = hardware.example("toy")
    >>> moving = place(toy, work_flop=0, traffic_bytes=100)
    >>> computing = place(toy, work_flop=1000, traffic_bytes=0)
    >>> sequence_time_s([moving, computing]), place(toy, work_flop=1000, traffic_bytes=100).time_s
    (20.0, 10.0)
    """
    rule = "be RooflinePoints, as place makes them"
    if not _checks.is_a(points, Iterable):
        _checks.fail("points", rule, points)
    found = list(points)
    for point in found:
        if not _checks.is_a(point, RooflinePoint):
            _checks.fail("points", rule, point)
    time_s = float(sum(point.time_s for point in found))
    _checks.keeps_finite("points", found, time_s=time_s)
    return time_s


_FULL = 1 + 1e-9  # a point on its roof may come out above it by rounding

MEMORY_CAUSES = (
    "the byte count charges data that were never read, such as inactive experts",
    "a cache held part of the data from an earlier run",
    "the clock stopped before the work did: an asynchronous launch without a wait",
    "GB and GiB, or bits and bytes, were mixed up",
)
COMPUTE_CAUSES = (
    "the peak belongs to another precision or to the vector units",
    "the operation count has a factor of two too many (multiply-adds against FLOP)",
    "the operands are sparse, or the work was skipped as unused",
    "the clock stopped before the work did: an asynchronous launch without a wait",
    "the chip ran above the clock that the peak assumes",
)


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """A measurement held against the roof.

    Parameters
    ----------
    measured_time_s, measured_flop_per_s, measured_bytes_per_s : float [s], [FLOP/s], [B/s]
        The time, and the two rates that follow from the FLOP and bytes of the point.
    peak_frac, bandwidth_frac : float
        These rates as shares of the chip's peak and bandwidth; above 1 is impossible.
    attainable_frac : float
        Ideal time / measured time: how much of the roof at this intensity was reached.
    is_possible : bool
        False if the point lies above its roof.
    causes : tuple of str
        The usual reasons for an impossible point; empty if it is possible.
    """

    measured_time_s: float
    measured_flop_per_s: float
    measured_bytes_per_s: float
    peak_frac: float
    bandwidth_frac: float
    attainable_frac: float
    is_possible: bool
    causes: tuple[str, ...]

    def __str__(self) -> str:
        rates = f"{self.bandwidth_frac:.1%} of the bandwidth, {self.peak_frac:.1%} of the peak"
        if self.is_possible:
            return f"{rates}: {self.attainable_frac:.1%} of what the roof allows"
        return f"{rates}: impossible. Usual causes: {'; '.join(self.causes)}"


def judge(
    point: RooflinePoint,
    *,
    measured_time_s: float | None = None,
    measured_flop_per_s: float | None = None,
) -> Judgement:
    """Hold a measurement against the roof, and say so where it lies above.

    Parameters
    ----------
    point : RooflinePoint
        What was measured, placed with `place`.
    measured_time_s, measured_flop_per_s : float [s], [FLOP/s]
        Exactly one of the two; a rate needs a point with FLOP.

    Raises
    ------
    ValueError
        If none or both are given, if one is not positive, or so extreme that a rate would not be
        finite.

    Examples
    --------
    >>> from primer import hardware
    >>> moved = place(hardware.example("toy"), work_flop=0, traffic_bytes=100)
    >>> judge(moved, measured_time_s=20).bandwidth_frac
    0.5
    >>> judge(moved, measured_time_s=8).is_possible
    False
    """
    if not _checks.is_a(point, RooflinePoint):
        _checks.fail("point", "be a RooflinePoint, as place makes it", point)
    if (measured_time_s is None) == (measured_flop_per_s is None):
        rule = "be given, or measured_flop_per_s, and not both"
        _checks.fail("measured_time_s", rule, measured_time_s)
    if measured_time_s is not None:
        name, value = "measured_time_s", measured_time_s
        time_s = _checks.positive(name, value)
    else:
        name, value = "measured_flop_per_s", cast(float, measured_flop_per_s)
        rate = _checks.positive("measured_flop_per_s", measured_flop_per_s)
        if point.work_flop == 0:
            _checks.fail("measured_flop_per_s", "come with work that has FLOP", rate)
        time_s = point.work_flop / rate
    flop_rate = _checks.quotient(point.work_flop, time_s)
    byte_rate = _checks.quotient(point.traffic_bytes, time_s)
    peak_frac = flop_rate / point.peak_flop_per_s
    bandwidth_frac = byte_rate / point.bandwidth_bytes_per_s
    _checks.keeps_finite(
        name, value, measured_time_s=time_s, measured_flop_per_s=flop_rate,
        measured_bytes_per_s=byte_rate, peak_frac=peak_frac, bandwidth_frac=bandwidth_frac,
    )  # fmt: skip
    over_peak, over_bandwidth = peak_frac > _FULL, bandwidth_frac > _FULL
    causes = (*(MEMORY_CAUSES if over_bandwidth else ()), *(COMPUTE_CAUSES if over_peak else ()))
    return Judgement(
        measured_time_s=time_s,
        measured_flop_per_s=flop_rate,
        measured_bytes_per_s=byte_rate,
        peak_frac=peak_frac,
        bandwidth_frac=bandwidth_frac,
        attainable_frac=max(peak_frac, bandwidth_frac),
        is_possible=not causes,
        causes=tuple(dict.fromkeys(causes)),
    )

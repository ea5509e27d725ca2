"""The hierarchical roofline: one dot per memory level, with that level's own bytes."""

from collections.abc import Mapping
from dataclasses import dataclass

from primer import _checks
from primer._chip import require_chip
from primer.hardware import Chip
from primer.workloads import intensity


@dataclass(frozen=True, kw_only=True)
class LevelPoint:
    """The same work seen from one level of the memory.

    Parameters
    ----------
    name : str
        The level.
    traffic_bytes, bandwidth_bytes_per_s : float [B], [B/s]
        What crosses it, and how fast it delivers.
    intensity_flop_per_byte : float [FLOP/B]
        FLOP per byte at this level.
    time_s : float [s]
        Bytes / bandwidth.
    attainable_flop_per_s : float [FLOP/s]
        The rate if this level and the peak were the only limits.
    """

    name: str
    traffic_bytes: float
    bandwidth_bytes_per_s: float
    intensity_flop_per_byte: float
    time_s: float
    attainable_flop_per_s: float


@dataclass(frozen=True, kw_only=True)
class UnpublishedLevel:
    """A level whose bytes are known and whose bandwidth is not: an intensity without a slope.

    Parameters
    ----------
    name : str
        The level.
    traffic_bytes, intensity_flop_per_byte : float [B], [FLOP/B]
        As in `LevelPoint`.
    needed_bytes_per_s : float [B/s]
        The bandwidth below which this level, and not the bound named, would decide.
    """

    name: str
    traffic_bytes: float
    intensity_flop_per_byte: float
    needed_bytes_per_s: float


@dataclass(frozen=True, kw_only=True)
class HierarchyPoint:
    """Work under the roofs of several memory levels: one dot per level, the slowest decides.

    Parameters
    ----------
    work_flop, peak_flop_per_s, compute_time_s : float [FLOP], [FLOP/s], [s]
        As in `RooflinePoint`.
    levels : tuple of LevelPoint
        In the order given.
    bound : str
        "compute" or the name of the slowest level.
    time_s, attainable_flop_per_s : float [s], [FLOP/s]
        t = max(F / P, max over levels of Q_level / B_level), and F / t.
    unpublished : tuple of UnpublishedLevel
        Levels that were left out of `bound` and `time_s`, which are then the best case.
    """

    work_flop: float
    peak_flop_per_s: float
    compute_time_s: float
    levels: tuple[LevelPoint, ...]
    bound: str
    time_s: float
    attainable_flop_per_s: float
    unpublished: tuple[UnpublishedLevel, ...] = ()


def place_levels(
    chip: Chip,
    *,
    work_flop: float,
    level_bytes: Mapping[str, float],
    compute: str = "bf16",
    unit: str | None = None,
    level_bandwidth: Mapping[str, float] | None = None,
    skip_unpublished: bool = False,
) -> HierarchyPoint:
    """Place work under one roof per memory level, with each level's own bytes.

    One intensity under several slopes would be wrong: a cache that works lets fewer bytes through.

    Parameters
    ----------
    chip : Chip
        Its levels give the bandwidths.
    work_flop : float [FLOP]
        Zero or more.
    level_bytes : mapping of str to float [B]
        Level name -> bytes that cross it.
    compute, unit : str
        As in `place`.
    level_bandwidth : mapping of str to float [B/s], optional
        Bandwidths to use instead of the chip's, for example measured ones. Every name must be a
        level of the chip or of `level_bytes`.
    skip_unpublished : bool
        Whether a level without any bandwidth is reported apart instead of refused.

    Raises
    ------
    ValueError
        If a level is unknown, or its bandwidth is not published, not given and not skipped; if no
        level is left; if a result would not be finite.

    Examples
    --------
    >>> from primer import hardware
    >>> a100 = hardware.load("a100_sxm4_80gb")
    >>> seen = place_levels(a100, work_flop=1e12, level_bytes={"l2": 1e11, "hbm": 1e10})
    >>> seen.bound, [round(level.intensity_flop_per_byte) for level in seen.levels]
    ('l2', [10, 100])
    """
    require_chip(chip)
    if not _checks.is_a(level_bytes, Mapping) or not level_bytes:
        _checks.fail("level_bytes", "map at least one level to its bytes", level_bytes)
    given = _given_rates(chip, level_bytes, level_bandwidth)
    flop = _checks.non_negative("work_flop", work_flop)
    peak = chip.peak_flop_per_s(compute, unit)
    skip = _checks.flag("skip_unpublished", skip_unpublished)
    levels, skipped = [], []
    for name, amount in level_bytes.items():
        traffic = _checks.non_negative(f"level_bytes[{name!r}]", amount)
        rate = _level_rate(chip, name, given, skip)
        if rate is None:
            skipped.append((name, traffic))
        else:
            levels.append(_level_point(name, flop, traffic, peak, rate))
    if not levels:
        _checks.fail("level_bytes", "hold a level with a bandwidth", dict(level_bytes))
    slowest = max(levels, key=lambda level: level.time_s)
    time_s = max(flop / peak, slowest.time_s)
    _checks.keeps_finite("work_flop", work_flop, time_s=time_s)
    if time_s == 0:
        _checks.fail("work_flop", "be positive where all level_bytes are zero", work_flop)
    return HierarchyPoint(
        work_flop=flop,
        peak_flop_per_s=peak,
        compute_time_s=flop / peak,
        levels=tuple(levels),
        bound="compute" if flop / peak >= slowest.time_s else slowest.name,
        time_s=time_s,
        attainable_flop_per_s=min(level.attainable_flop_per_s for level in levels),
        unpublished=tuple(_unpublished(name, flop, q, time_s) for name, q in skipped),
    )


def _given_rates(
    chip: Chip, level_bytes: Mapping[str, float], rates: Mapping[str, float] | None
) -> Mapping[str, float]:
    """The bandwidths given; a misspelled level must not fall back to the chip's."""
    if rates is None:
        return {}
    if not _checks.is_a(rates, Mapping):
        _checks.fail("level_bandwidth", "map levels to bandwidths", rates)
    known = tuple(dict.fromkeys([*level_bytes, *(level.name for level in chip.memory)]))
    for name in rates:
        _checks.one_of("level_bandwidth", name, known)
    return rates


def _level_point(name: str, flop: float, traffic: float, peak: float, rate: float) -> LevelPoint:
    at, time_s = intensity(flop, traffic), traffic / rate
    _checks.keeps_finite(f"level_bytes[{name!r}]", traffic, time_s=time_s)
    return LevelPoint(
        name=name, traffic_bytes=traffic, bandwidth_bytes_per_s=rate,
        intensity_flop_per_byte=at, time_s=time_s,
        attainable_flop_per_s=min(peak, at * rate),
    )  # fmt: skip


def _unpublished(name: str, flop: float, traffic: float, time_s: float) -> UnpublishedLevel:
    needed = traffic / time_s
    _checks.keeps_finite(f"level_bytes[{name!r}]", traffic, needed_bytes_per_s=needed)
    return UnpublishedLevel(
        name=name, traffic_bytes=traffic,
        intensity_flop_per_byte=intensity(flop, traffic), needed_bytes_per_s=needed,
    )  # fmt: skip


def _level_rate(chip: Chip, name: str, given: Mapping[str, float], skip: bool) -> float | None:
    """Bandwidth of a level; None if there is none and that may be."""
    if name in given:
        return _checks.positive(f"level_bandwidth[{name!r}]", given[name])
    quantity = chip.level(name).bandwidth
    if skip and (quantity is None or not quantity.is_published):
        return None
    if quantity is None:
        rule = f"hold a rate for level {name!r}, for which {chip.name} has none"
        _checks.fail("level_bandwidth", rule, dict(given))
    return quantity.value

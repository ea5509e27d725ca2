"""The hierarchical roofline: one dot per memory level, with that level's own bytes."""

from collections.abc import Mapping
from dataclasses import dataclass

from primer import _checks
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
    """

    work_flop: float
    peak_flop_per_s: float
    compute_time_s: float
    levels: tuple[LevelPoint, ...]
    bound: str
    time_s: float
    attainable_flop_per_s: float


def place_levels(
    chip: Chip,
    *,
    work_flop: float,
    level_bytes: Mapping[str, float],
    compute: str = "bf16",
    unit: str | None = None,
    level_bandwidth: Mapping[str, float] | None = None,
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
        Bandwidths to use instead of the chip's, for example measured ones.

    Raises
    ------
    ValueError
        If a level is unknown or its bandwidth is not published and not given.

    Examples
    --------
    >>> from primer import hardware
    >>> a100 = hardware.load("a100_sxm4_80gb")
    >>> seen = place_levels(a100, work_flop=1e12, level_bytes={"l2": 1e11, "hbm": 1e10})
    >>> seen.bound, [round(level.intensity_flop_per_byte) for level in seen.levels]
    ('l2', [10, 100])
    """
    if not level_bytes or not _checks.is_a(level_bytes, Mapping):
        _checks.fail("level_bytes", "map at least one level to its bytes", level_bytes)
    flop = _checks.non_negative("work_flop", work_flop)
    peak = chip.peak_flop_per_s(compute, unit)
    levels = []
    for name, amount in level_bytes.items():
        rate = _level_rate(chip, name, level_bandwidth or {})
        traffic = _checks.non_negative(f"level_bytes[{name!r}]", amount)
        at = intensity(flop, traffic)
        levels.append(
            LevelPoint(
                name=name, traffic_bytes=traffic, bandwidth_bytes_per_s=rate,
                intensity_flop_per_byte=at, time_s=traffic / rate,
                attainable_flop_per_s=min(peak, at * rate),
            )
        )  # fmt: skip
    slowest = max(levels, key=lambda level: level.time_s)
    time_s = max(flop / peak, slowest.time_s)
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
    )


def _level_rate(chip: Chip, name: str, given: Mapping[str, float]) -> float:
    if name in given:
        return _checks.positive(f"level_bandwidth[{name!r}]", given[name])
    quantity = chip.level(name).bandwidth
    if quantity is None:
        rule = f"hold a rate for level {name!r}, for which {chip.name} has none"
        _checks.fail("level_bandwidth", rule, dict(given))
    return quantity.value

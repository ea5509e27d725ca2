"""The history of a family of chips at one fixed width, from the tables as they are now."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

from primer import _checks, hardware
from primer.hardware import Chip

FAMILIES = ("NVIDIA data-center GPU", "Google TPU", "AMD data-center GPU")
FORMATS = ("bf16", "fp16")  # of 16 bits, the preferred one first
NEARLY = 0.9  # share of the highest ridge from which a chip counts as about as high


@dataclass(frozen=True, kw_only=True)
class Milestone:
    """One chip in the history of its family.

    Parameters
    ----------
    label : str
        Short name, such as "H100".
    first_year, last_year : float [year]
        The interval in which it came out, as finely as it is known.
    announced : bool
        Whether nobody can have one yet.
    compute : str
        The 16-bit format of the peak.
    peak_flop_per_s, bandwidth_bytes_per_s, ridge_flop_per_byte : float
    """

    label: str
    first_year: float
    last_year: float
    announced: bool
    compute: str
    peak_flop_per_s: float
    bandwidth_bytes_per_s: float
    ridge_flop_per_byte: float

    @property
    def year(self) -> float:
        """Middle of the interval, float [year]."""
        return (self.first_year + self.last_year) / 2


@dataclass(frozen=True, kw_only=True)
class History:
    """The chips of a family in the order in which they came, and what became of its ridge."""

    family: str
    milestones: tuple[Milestone, ...]

    @cached_property
    def released(self) -> tuple[Milestone, ...]:
        """Those that exist."""
        return tuple(m for m in self.milestones if not m.announced)

    @property
    def first(self) -> Milestone:
        """What the growth is relative to."""
        return self.released[0]

    @property
    def newest(self) -> Milestone:
        """The last one that exists."""
        return self.released[-1]

    @property
    def peak_ratio(self) -> float:
        """Growth of the peak from the first chip to the newest."""
        return self.newest.peak_flop_per_s / self.first.peak_flop_per_s

    @property
    def bandwidth_ratio(self) -> float:
        """Growth of the bandwidth from the first chip to the newest."""
        return self.newest.bandwidth_bytes_per_s / self.first.bandwidth_bytes_per_s

    @property
    def highest(self) -> Milestone:
        """The chip that asks for the most reuse."""
        return max(self.released, key=lambda m: m.ridge_flop_per_byte)

    @property
    def plateau(self) -> Milestone:
        """The first chip whose ridge is within a tenth of the highest one."""
        enough = NEARLY * self.highest.ridge_flop_per_byte
        return next(m for m in self.released if m.ridge_flop_per_byte >= enough)


def history(family: str = FAMILIES[0]) -> History:
    """The 16-bit history of a family, from the tables as they are now.

    Chips without a 16-bit peak, a bandwidth or a date of release are left out.

    Examples
    --------
    >>> history().first.label, round(history().first.ridge_flop_per_byte)
    ('V100', 139)
    """
    _checks.one_of("family", family, FAMILIES)
    chips = [hardware.load(name) for name in hardware.names(rooflines=True)]
    chips = [c for c in chips if c.family == family and c.release and _format(c)]
    short = Counter(_name(c) for c in chips)
    found = [_milestone(c, f" {_size(c)}" if short[_name(c)] > 1 else "") for c in chips]
    return History(family=family, milestones=tuple(sorted(found, key=lambda m: (m.year, m.label))))


def _format(chip: Chip) -> str | None:
    """The format of the 16-bit roof."""
    return next((f for f in FORMATS if f in chip.precisions()), None)


def _name(chip: Chip) -> str:
    return chip.name.removeprefix("TPU").split()[0].rstrip(",")


def _size(chip: Chip) -> str:
    return " ".join(chip.name.split()[-2:])


def _milestone(chip: Chip, more: str) -> Milestone:
    compute = _format(chip)
    assert compute
    assert chip.release
    start, end = chip.release.years
    return Milestone(
        label=_name(chip) + more,
        first_year=start,
        last_year=end,
        announced=chip.announced,
        compute=compute,
        peak_flop_per_s=chip.peak_flop_per_s(compute),
        bandwidth_bytes_per_s=chip.bandwidth_bytes_per_s,
        ridge_flop_per_byte=chip.ridge_flop_per_byte(compute),
    )

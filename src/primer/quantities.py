"""What the hardware tables are made of: a number that knows where it comes from.

A number without unit, convention, source and date is an argument waiting to happen: the same
chip has 989 or 1,979 TFLOP/s, depending on whether half of the operands are zero.
"""

import calendar
import datetime
from dataclasses import dataclass, field

from primer import _checks, units

STATUSES = ("published", "derived", "measured", "assumed", "not published")


@dataclass(frozen=True, kw_only=True)
class Source:
    """Where a number was read.

    Parameters
    ----------
    key : str
        Its name in ``data/sources.toml``.
    title : str
        What it is, with its edition.
    address : str
        Where to find it, http(s); empty for what a reader entered.
    kind : str
        "primary" (the vendor, or whoever measured), "secondary" (quotes somebody else),
        "derived" (computed from other fields) or "own" (entered by a reader).
    """

    key: str
    title: str
    address: str = ""
    kind: str = "own"

    def __str__(self) -> str:
        return f"{self.title} ({self.kind})"


OWN = Source(key="own", title="entered by the reader")


@dataclass(frozen=True, kw_only=True)
class Quantity:
    """One number of a table, with everything that is needed to argue about it.

    Parameters
    ----------
    name : str
        Its place in the table, such as "peak.bf16.matrix".
    amount : float [unit] or None
        In base units; None if it is not published. Read it through `value`.
    unit : str
        The base unit.
    shown : str
        The unit that the source prints, used for display.
    upper : float [unit] or None
        The upper end where the source gives a range; `amount` is then its lower end.
    convention : str
        Such as "dense, matrix units" or "one way".
    sku : str
        The product that the number belongs to.
    source : Source
        Where it was read.
    published, read : str
        Dates; the first may be "not stated".
    status : str
        "published", "derived", "measured", "assumed" or "not published".
    note : str
        Conflicts between sources, and anything else that a reader must know.

    Examples
    --------
    >>> q = Quantity(name="bandwidth", amount=3.35e12, unit="B/s", shown="TB/s")
    >>> str(q), q.value
    ('3.35 TB/s', 3350000000000.0)
    """

    name: str
    amount: float | None
    unit: str
    shown: str = ""
    upper: float | None = None
    convention: str = ""
    sku: str = ""
    source: Source = field(default=OWN)
    published: str = "not stated"
    read: str = "not stated"
    status: str = "assumed"
    note: str = ""

    @property
    def is_published(self) -> bool:
        """Whether there is a number at all."""
        return self.amount is not None

    @property
    def value(self) -> float:
        """The number in base units; `ValueError` if it is not published."""
        if self.amount is None:
            owner = f" of {self.sku}" if self.sku else ""
            _checks.fail(f"{self.name}{owner}", "be known to compute with it", self.status)
        return self.amount

    def to(self, unit: str) -> float:
        """The number in another unit of the same base.

        >>> Quantity(name="size", amount=233472.0, unit="B").to("KiB")
        228.0
        """
        return units.in_unit(self.value, self.unit, unit)

    def __str__(self) -> str:
        if self.amount is None:
            return "not published"
        low = self._text(self.amount)
        if self.upper is None:
            return low
        return f"{low.split(' ')[0]}–{self._text(self.upper)}"

    def _text(self, amount: float) -> str:
        if not self.shown or self.shown == "1":
            return units.text(amount, self.unit)
        return f"{units.number(units.in_unit(amount, self.unit, self.shown), 7)} {self.shown}"


@dataclass(frozen=True, kw_only=True)
class Fact:
    """A sourced statement that is not a number, such as a date of release.

    Parameters
    ----------
    name, text : str
        Its place in the table, and what it says; empty text means "not published". A date is
        written as finely as it is known: day, month, year, or an interval such as "2020/2021".
    convention, source, published, read, status, note
        As in `Quantity`.

    Examples
    --------
    >>> Fact(name="release", text="2018-05").interval
    (datetime.date(2018, 5, 1), datetime.date(2018, 5, 31))
    """

    name: str
    text: str
    convention: str = ""
    sku: str = ""
    source: Source = field(default=OWN)
    published: str = "not stated"
    read: str = "not stated"
    status: str = "assumed"
    note: str = ""

    def __str__(self) -> str:
        return self.text or "not published"

    @property
    def interval(self) -> tuple[datetime.date, datetime.date]:
        """The first and the last day that the text allows; `ValueError` if it is no date."""
        first, _, last = self.text.partition("/")
        try:
            return _days(first)[0], _days(last or first)[1]
        except ValueError:
            _checks.fail(self.name, "be a date or an interval of dates", self.text)

    @property
    def years(self) -> tuple[float, float]:
        """The same for an axis of time: where the first day begins and the last one ends.

        >>> Fact(name="release", text="2020/2021").years
        (2020.0, 2022.0)
        """
        first, last = self.interval
        return _year(first), _year(last + datetime.timedelta(days=1))


def _days(text: str) -> tuple[datetime.date, datetime.date]:
    """First and last day of an ISO date, month or year."""
    first = datetime.date.fromisoformat((text + "-01-01")[:10] if len(text) in (4, 7) else text)
    if len(text) == 4:
        return first, first.replace(month=12, day=31)
    if len(text) == 7:
        return first, first.replace(day=calendar.monthrange(first.year, first.month)[1])
    return first, first


def _year(day: datetime.date) -> float:
    start = datetime.date(day.year, 1, 1)
    return day.year + (day - start).days / (365 + calendar.isleap(day.year))

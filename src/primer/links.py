"""Links between devices, generation by generation: NVLink, PCIe, CXL, ICI, fabrics and networks.

Rates are one way: what one device can send while it receives as much. Product pages like to print
the sum of both directions, which no transfer ever sees; `Interconnect.twoway_bytes_per_s` is that
sum, to recognize it. What a certain chip has stands in its own table (`primer.hardware`); here a
generation stands by itself. Left out: latency, switches, protocol beyond the encoding, contention.

>>> link = load("nvlink4")
>>> str(link.oneway), link.twoway_bytes_per_s / 1e9
('450 GB/s', 900.0)
>>> 1e9 / link.oneway_bytes_per_s * 1e3  # one gigabyte, in milliseconds # doctest: +ELLIPSIS
2.22...
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from primer import _checks, _tables
from primer._tables import Bounds
from primer.quantities import Quantity

FILE = "data/links.toml"

# Lowest and highest rate of one device's links, and of one link, in each family.
_RATES: dict[str, tuple[float, float]] = {
    "nvlink": (6e10, 5e12),
    "pcie": (1e10, 1e12),
    "cxl": (1e10, 1e12),
    "infinity_fabric": (2e10, 2e12),
    "ici": (6e10, 5e12),
    "infiniband": (5e9, 1e12),
    "ethernet": (5e9, 1e12),
}
_PER_LINK = Bounds("B/s", 1e10, 5e11)
FAMILIES = tuple(_RATES)
_TEXTS = ("title", "family", "devices", "topology")
_KEYS = (*_TEXTS, "n_links", "oneway", "oneway_per_link", "raw", "measured")


@dataclass(frozen=True, kw_only=True, repr=False)
class Interconnect:
    """One generation of a link.

    Parameters
    ----------
    id, title, family : str
        Such as "nvlink4", "NVLink 4", "nvlink".
    devices, topology : str
        Who has it, and how it is wired where that is fixed.
    n_links : int or None
        Links of this kind per device; None where a row is about a single one, or none is printed.
    oneway : Quantity [B/s]
        All of a device's links of this kind together, in one direction.
    oneway_per_link : Quantity [B/s] or None
        One of them.
    raw : Quantity [B/s] or None
        Before encoding, where sources print that as well.
    measured : Quantity [B/s] or None
        What a benchmark reached, one way.

    Examples
    --------
    >>> load("pcie5_x16").measured_frac  # doctest: +ELLIPSIS
    0.87...
    """

    id: str
    title: str
    family: str
    devices: str
    oneway: Quantity
    topology: str = ""
    n_links: int | None = None
    oneway_per_link: Quantity | None = None
    raw: Quantity | None = None
    measured: Quantity | None = None

    def __repr__(self) -> str:
        return f"<Interconnect {self.id}: {self.oneway} one way>"

    @property
    def oneway_bytes_per_s(self) -> float:
        """Rate in one direction, float [B/s]."""
        return self.oneway.value

    @property
    def twoway_bytes_per_s(self) -> float:
        """Both directions added up, as product pages print it, float [B/s]. Not for models."""
        return 2 * self.oneway.value

    @property
    def measured_frac(self) -> float | None:
        """Measured rate as a share of `oneway`; its lower end where it is a range."""
        return None if self.measured is None else self.measured.value / self.oneway.value


def names(family: str | None = None) -> tuple[str, ...]:
    """The identifiers in the table, all or of one family, oldest first.

    >>> names("ici")
    ('ici_v4', 'ici_v5e', 'ici_v5p', 'ici_v6e', 'ici_v7')
    """
    rows = _tables.read(FILE)["link"]
    if family is None:
        return tuple(rows)
    _checks.one_of("family", family, FAMILIES)
    return tuple(name for name, row in rows.items() if row["family"] == family)


def load(link: str) -> Interconnect:
    """One generation of a link.

    Parameters
    ----------
    link : str
        One of `names`.

    Returns
    -------
    Interconnect
        The same object on every call.

    Raises
    ------
    ValueError
        If it is not in the table; the message names the nearest. Also if its row breaks a rule.

    Examples
    --------
    >>> load("nvlink")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: link must be one of nvlink1, ... (did you mean 'nvlink6'?); got 'nvlink'
    """
    return _load(_checks.one_of("link", link, names()))


@functools.cache
def _load(link: str) -> Interconnect:
    raw = _tables.read(FILE)
    return build(link, raw["link"][link], raw["defaults"])


def build(link: str, row: Mapping[str, Any], shared: Mapping[str, Any]) -> Interconnect:
    """Check one row of the table and freeze it.

    Parameters
    ----------
    link : str
        Its identifier.
    row, shared : mapping
        The row, and what its numbers take over unless they say otherwise, as TOML reads them.
    """
    where = f"links.toml: link.{link}"
    _tables.keys(where, row, _KEYS)
    family = _checks.one_of(f"{where}.family", row.get("family"), FAMILIES)
    whole = Bounds("B/s", *_RATES[family])
    if "oneway" not in row:
        _checks.fail(f"{where}.oneway", "be there", None)
    numbers = {
        name: _rate(
            where, name, row[name], _PER_LINK if name == "oneway_per_link" else whole, shared
        )
        for name in ("oneway", "oneway_per_link", "raw", "measured")
        if name in row
    }
    found = Interconnect(
        id=link,
        title=_tables.text(where, row, "title"),
        family=family,
        devices=_tables.text(where, row, "devices"),
        topology=_tables.text(where, row, "topology", ""),
        n_links=_checks.whole(f"{where}.n_links", row["n_links"]) if "n_links" in row else None,
        **numbers,
    )
    _agree(where, found)
    return found


def _rate(
    where: str, name: str, table: object, bounds: Bounds, shared: Mapping[str, Any]
) -> Quantity:
    rate = _tables.quantity(f"{where}.{name}", name, table, bounds=bounds, shared=shared)
    if "one way" not in rate.convention:
        _checks.fail(f"{where}.{name}.convention", "say 'one way'", rate.convention)
    return rate


def _agree(where: str, found: Interconnect) -> None:
    """Rules that tie the numbers of a row to each other."""
    rate = found.oneway_bytes_per_s
    if (found.n_links is None) != (found.oneway_per_link is None):
        _checks.fail(f"{where}.n_links", "come together with oneway_per_link", found.n_links)
    if found.n_links is not None and found.oneway_per_link is not None:
        product = found.n_links * found.oneway_per_link.value
        if abs(product - rate) > 1e-9 * rate:
            _checks.fail(f"{where}.oneway", f"be n_links times oneway_per_link ({product:g})", rate)
    if found.raw is not None and found.raw.value < rate:
        _checks.fail(f"{where}.raw", f"be at least oneway ({rate:g})", found.raw.value)
    if found.measured is not None and found.measured.value > rate:
        _checks.fail(f"{where}.measured", f"not exceed oneway ({rate:g})", found.measured.value)

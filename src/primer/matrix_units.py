"""Matrix units side by side: their names, and what they add to the vector units of a chip.

A matrix unit multiplies small blocks of matrices in one instruction. Makers name it differently,
and print its rate in different ways: dense, or for operands half of whose numbers are zero in a
fixed pattern (2:4: of every four neighbors in one operand, two at least are zero). `compare` lays
the rates of one chip apart, and against one yardstick, the FP32 rate of its vector units:

    ratio = rate / FP32 vector rate

Everything comes from the chip's own table (`primer.hardware`); what no source prints is left out or
said to be not published. Left out: what code reaches of a peak, power, and clocks below the boost.

>>> h100 = compare(hardware.load("h100_sxm5_80gb"))
>>> h100.unit.title, round(h100.rate("tf32").ratio, 1), round(h100.rate("bf16").ratio, 1)
('Tensor Core', 7.4, 14.8)
>>> round(compare(hardware.load("a100_sxm4_80gb")).rate("tf32").ratio, 1)
8.0
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from primer import _checks, _tables, hardware
from primer._chip import require_chip
from primer._tables import Bounds
from primer.hardware import PRECISIONS, Chip, Peak
from primer.quantities import Quantity, Source

FILE = "data/matrix_units.toml"

_NUMBERS = {
    "matrix_fp16": Bounds("FMA/cycle", 16, 8192),
    "vector_fp16": Bounds("FMA/cycle", 16, 8192),
    "n_tiles": Bounds("1", 1, 64),
    "tile": Bounds("B", 64, 16_384),
}
_TEXTS = ("title", "vendor", "home", "since")
_KEYS = (*_TEXTS, "chips", "note", "source", "published", "read", "number")


@dataclass(frozen=True, kw_only=True, repr=False)
class MatrixUnit:
    """One maker's unit for products of matrices.

    Parameters
    ----------
    id, title, vendor : str
        Such as "tensor_core", "Tensor Core", "NVIDIA".
    home, since : str
        Where on a chip it sits, and the first architecture or product that has it.
    chips : tuple of str
        Those of `hardware.names` that have it.
    numbers : tuple of Quantity [1, B, FMA/cycle]
        What a source prints of the unit itself.
    source : Source
        Of its name and place.
    published, read : str
        Dates of that source; the first may be "not stated".
    note : str
    """

    id: str
    title: str
    vendor: str
    home: str
    since: str
    chips: tuple[str, ...]
    numbers: tuple[Quantity, ...]
    source: Source
    published: str
    read: str
    note: str = ""

    def __repr__(self) -> str:
        return f"<MatrixUnit {self.id}: {self.title} of {self.vendor}>"

    def number(self, name: str) -> Quantity:
        """One of its numbers.

        >>> str(load("amx").number("tile")), load("amx").number("n_tiles").value
        ('1 KiB', 8.0)
        """
        known = {q.name: q for q in self.numbers}
        return known[_checks.one_of("number", name, tuple(known))]


def names() -> tuple[str, ...]:
    """The identifiers in the table.

    >>> names()[:3]
    ('tensor_core', 'matrix_core', 'ai_accelerator')
    """
    return tuple(_tables.read(FILE)["unit"])


def load(unit: str) -> MatrixUnit:
    """One row of the table.

    Parameters
    ----------
    unit : str
        One of `names`.

    Returns
    -------
    MatrixUnit
        The same object on every call.

    Raises
    ------
    ValueError
        If there is no such unit, or its row breaks a rule.

    Examples
    --------
    >>> load("matrix_core").since
    'CDNA'
    """
    return _load(_checks.one_of("unit", unit, names()))


@functools.cache
def _load(unit: str) -> MatrixUnit:
    return build(unit, _tables.read(FILE)["unit"][unit])


def of(chip: Chip) -> MatrixUnit | None:
    """The matrix unit of a chip; None for one that has none, or is not in the tables.

    >>> of(hardware.load("mi300x")), of(hardware.load("epyc_9654"))
    (<MatrixUnit matrix_core: Matrix Core of AMD>, None)
    """
    wanted = require_chip(chip).id
    return next((unit for unit in map(load, names()) if wanted in unit.chips), None)


@dataclass(frozen=True, kw_only=True)
class Rate:
    """The rates of one precision on one chip.

    Parameters
    ----------
    compute : str
        The precision.
    matrix, vector : Quantity [FLOP/s, OP/s] or None
        Dense rates of the matrix and the vector units; None where the table has no row. A row
        may say "not published".
    sparse : Quantity [FLOP/s, OP/s] or None
        The rate for operands with zeros in a pattern; its `convention` says in which.
    fp32_vector : float [FLOP/s] or None
        The yardstick.
    """

    compute: str
    matrix: Quantity | None
    vector: Quantity | None
    sparse: Quantity | None
    fp32_vector: float | None

    @property
    def dense(self) -> Quantity | None:
        """The rate of the matrix units where there is one, else of the vector units."""
        rates = (self.matrix, self.vector)
        known = (q for q in rates if q is not None and q.is_published)
        return next(known, self.matrix or self.vector)

    @property
    def ratio(self) -> float | None:
        """Dense rate over the FP32 vector rate; None where one of them is unknown."""
        return self._over(self.dense)

    @property
    def sparse_ratio(self) -> float | None:
        """Sparse rate over the same, dense, yardstick."""
        return self._over(self.sparse)

    def _over(self, rate: Quantity | None) -> float | None:
        if rate is None or rate.amount is None or not self.fp32_vector:
            return None
        return rate.amount / self.fp32_vector


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """All rates of one chip.

    Parameters
    ----------
    chip : Chip
    unit : MatrixUnit or None
        Whose rates `matrix` are.
    fp32_vector : float [FLOP/s] or None
        The yardstick; None if no source prints it.
    rates : tuple of Rate
        One for each precision of `hardware.PRECISIONS`, in that order.
    """

    chip: Chip
    unit: MatrixUnit | None
    fp32_vector: float | None
    rates: tuple[Rate, ...]

    def rate(self, compute: str) -> Rate:
        """One precision."""
        known = {rate.compute: rate for rate in self.rates}
        return known[_checks.one_of("compute", compute, PRECISIONS)]

    @property
    def has_sparse(self) -> bool:
        """Whether a sparse rate is printed for any precision."""
        return any(rate.sparse is not None for rate in self.rates)


def compare(chip: Chip) -> Comparison:
    """Lay the rates of a chip side by side.

    Parameters
    ----------
    chip : Chip
        From `hardware.load`, or your own.

    Returns
    -------
    Comparison

    Raises
    ------
    ValueError
        If it is no chip.

    Examples
    --------
    A chip with 2 TFLOP/s on its vector units and nothing else: the ratio is one.

    >>> own = Chip.custom(
    ...     "mine", peak_flop_per_s={"fp32": 2e12}, bandwidth_bytes_per_s=1e11, unit="vector"
    ... )
    >>> compare(own).rate("fp32").ratio, compare(own).rate("bf16").ratio
    (1.0, None)
    """
    require_chip(chip)
    try:
        yardstick: float | None = chip.peak.find("fp32", "vector").value
    except ValueError:
        yardstick = None
    rates = tuple(
        Rate(
            compute=compute,
            matrix=_entry(chip.peak.entries, compute, "matrix"),
            vector=_entry(chip.peak.entries, compute, "vector"),
            sparse=_entry(chip.peak_sparse.entries, compute),
            fp32_vector=yardstick,
        )
        for compute in PRECISIONS
    )
    return Comparison(chip=chip, unit=of(chip), fp32_vector=yardstick, rates=rates)


def _entry(entries: tuple[Peak, ...], compute: str, unit: str = "") -> Quantity | None:
    """The row of one precision, whether it has a number or not."""
    found = (e.rate for e in entries if e.compute == compute and unit in ("", e.unit))
    return next(found, None)


def build(unit: str, row: Mapping[str, Any]) -> MatrixUnit:
    """Check one row of the table and freeze it.

    Parameters
    ----------
    unit : str
        Its key.
    row : mapping
        As TOML reads it.
    """
    where = f"matrix_units.toml: unit.{unit}"
    _tables.keys(where, row, _KEYS)
    chips = row.get("chips")
    if not isinstance(chips, list):
        _checks.fail(f"{where}.chips", "be a list of chips", chips)
    for chip in chips:
        _checks.key_of(f"{where}.chips", chip, hardware.names(), "the chips' files")
    texts = {key: _tables.text(where, row, key) for key in _TEXTS}
    origin = _tables.origin(where, {**row, "status": "published"})
    return MatrixUnit(
        id=unit,
        **texts,
        chips=tuple(chips),
        numbers=_numbers(where, row),
        source=origin["source"],
        published=origin["published"],
        read=origin["read"],
        note=_tables.text(where, row, "note", ""),
    )


def _numbers(where: str, row: Mapping[str, Any]) -> tuple[Quantity, ...]:
    table = row.get("number", {})
    _tables.keys(f"{where}.number", table, tuple(_NUMBERS))
    return tuple(
        _tables.quantity(f"{where}.number.{name}", name, entry, bounds=_NUMBERS[name])
        for name, entry in table.items()
    )

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

import functools

from primer import _checks, _chipfile
from primer._chip import (
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
    "PRECISIONS", "UNIT_KINDS", "Chip", "Fact", "Link", "MemoryLevel", "Peak", "Peaks",
    "Quantity", "Source", "UnknownPeakError", "example", "examples", "load", "names", "rate_unit",
    "sources",
]  # fmt: skip


def names() -> tuple[str, ...]:
    """The identifiers of all chips in the tables, in alphabetical order."""
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

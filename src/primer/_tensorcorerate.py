"""What one matrix unit does in a cycle, from a chip's own numbers."""

from __future__ import annotations

from dataclasses import dataclass

from primer import _checks, _tensorcoretable, hardware
from primer._tensorcoretable import load, names
from primer.hardware import Chip
from primer.quantities import Quantity

_CLOCKS = ("matrix_boost", "matrix", "boost")


@dataclass(frozen=True, kw_only=True)
class Rate:
    """How much one matrix unit does in a cycle, by a chip's own numbers.

    Parameters
    ----------
    chip : Chip
    compute : str
    peak : Quantity [FLOP/s, OP/s]
    clock : Quantity [Hz]
        The clock that the peak assumes.
    n_units : int
        Matrix units of the chip.
    fma_per_unit : float [FMA/cycle]
        peak / (n_units · 2 · clock).
    """

    chip: Chip
    compute: str
    peak: Quantity
    clock: Quantity
    n_units: int
    fma_per_unit: float


def fma_per_cycle(
    chip: str | Chip, *, compute: str = "fp16", clock_hz: float | None = None
) -> Rate:
    """What one matrix unit does in a cycle, derived from the chip's peak.

    The quotient is a check: a unit's rate is a power of two, and if the quotient is not, then the
    peak, the count and the clock do not belong together.

    Parameters
    ----------
    chip : str or Chip
        A chip, its identifier in `primer.hardware`, or a generation of `names`.
    compute : str
        Precision of the operands.
    clock_hz : float [Hz], optional
        The clock that the peak assumes; by default the one that the tables connect with it.

    Returns
    -------
    Rate

    Raises
    ------
    ValueError
        If the chip is unknown, has no such peak, or its matrix units or clock are not known.

    Examples
    --------
    The same peak with the wrong clocks: the base clock, and the boost clock of the vector units.

    >>> [round(fma_per_cycle("9.0", clock_hz=f).fma_per_unit) for f in (1.755e9, 1.83e9, 1.98e9)]
    [534, 512, 473]
    >>> round(fma_per_cycle("9.0", compute="fp8").fma_per_unit)
    1024
    """
    known = _chip(chip)
    peak = known.peak.find(compute, "matrix")
    n_units = _count(known)
    clock = _clock(known, clock_hz)
    quotient = peak.value / (n_units * 2 * clock.value)
    _checks.keeps_finite("clock_hz", clock_hz, fma_per_unit=quotient)
    return Rate(
        chip=known, compute=compute, peak=peak, clock=clock, n_units=n_units, fma_per_unit=quotient
    )


def _chip(chip: object) -> Chip:
    if isinstance(chip, Chip):
        return chip
    if isinstance(chip, str) and chip in names():
        return load(chip).chip
    return hardware.load(_checks.one_of("chip", chip, (*names(), *hardware.names())))


def _count(chip: Chip) -> int:
    found = [q for q in chip.counts if q.name == "count.matrix_units"]
    if not found:
        _checks.fail("chip", "have a known number of matrix units", chip.id or chip.name)
    return int(found[0].value)


def _clock(chip: Chip, clock_hz: float | None) -> Quantity:
    """The clock given, or that of the tables: an own entry first, then the matrix units'."""
    if clock_hz is not None:
        value = _checks.positive("clock_hz", clock_hz)
        return Quantity(name="clock", amount=value, unit="Hz", shown="GHz", sku=chip.name)
    own = _tensorcoretable.clock(chip.id)
    if own is not None:
        return own
    known = {q.name.removeprefix("clock."): q for q in chip.clocks if q.is_published}
    for name in _CLOCKS:
        if name in known:
            return known[name]
    _checks.fail("clock_hz", f"be given for {chip.name}, whose clock is not known", None)

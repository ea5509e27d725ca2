"""Base units, prefixes and display text: the only place where TB, GiB and TFLOP/s exist.

Models compute in base units (FLOP, FLOP/s, B, B/s, s, Hz, W, J); a quantity meets a prefix only
when a person writes or reads it. Decimal and binary prefixes are different (1 GB = 10⁹ B,
1 GiB = 2³⁰ B), and so are bits and bytes (``Gb/s`` is a rate in bit/s).

>>> parse("1.5 TB/s")
(1500000000000.0, 'B/s')
>>> text(989.4e12, "FLOP/s")
'989.4 TFLOP/s'
"""

import math
import re
from decimal import Decimal

from primer import _checks

KILO, MEGA, GIGA, TERA, PETA, EXA = 1e3, 1e6, 1e9, 1e12, 1e15, 1e18
KB, MB, GB, TB, PB = 1e3, 1e6, 1e9, 1e12, 1e15
KIB, MIB, GIB, TIB = 2.0**10, 2.0**20, 2.0**30, 2.0**40

_LARGE = {"k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_SMALL = {"p": -12, "n": -9, "µ": -6, "u": -6, "m": -3}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50}

# base unit -> the kinds of prefix that it takes
_BASE_UNITS: dict[str, str] = {
    "FLOP/s": "large", "OP/s": "large", "FLOP": "large", "OP": "large",
    "B/s": "large binary", "B": "large binary", "bit/s": "large binary", "bit": "large binary",
    "Hz": "large", "W": "large small", "s": "small", "J": "large small",
    "FLOP/B": "", "OP/B": "", "cycles": "", "FMA/cycle": "", "B/cycle": "", "1": "",
}  # fmt: skip
_ALIASES = {
    "b": "bit", "b/s": "bit/s", "cycle": "cycles", "MAC": "", "": "1",
}  # fmt: skip


def _scales() -> dict[str, tuple[Decimal, str]]:
    """Every unit that may be written -> (how many base units it is, the base unit)."""
    names = {base: base for base in _BASE_UNITS}
    names |= {alias: base for alias, base in _ALIASES.items() if base}
    scales: dict[str, tuple[Decimal, str]] = {}
    for name, base in names.items():
        kinds = _BASE_UNITS[base].split()
        scales[name] = (Decimal(1), base)
        powers: dict[str, Decimal] = {}
        if "large" in kinds:
            powers |= {prefix: Decimal(10) ** power for prefix, power in _LARGE.items()}
        if "small" in kinds:
            powers |= {prefix: Decimal(10) ** power for prefix, power in _SMALL.items()}
        if "binary" in kinds:
            powers |= {prefix: Decimal(2) ** power for prefix, power in _BINARY.items()}
        scales |= {prefix + name: (factor, base) for prefix, factor in powers.items()}
    return scales


_SCALES = _scales()
_NUMBER = re.compile(r"\s*([+-]?(?:\d[\d,_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(.*?)\s*")
_GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d*)?(?:[eE][+-]?\d+)?")
_MOST_DIGITS = 17  # what a float can hold


def base_units() -> tuple[str, ...]:
    """The base units; "1" is a plain count."""
    return tuple(_BASE_UNITS)


def _scale(unit: object, name: str = "unit") -> tuple[Decimal, str]:
    if isinstance(unit, str):
        unit = unit.replace("\u03bc", "\u00b5")  # a Greek mu looks like the micro sign
        if unit in _SCALES:
            return _SCALES[unit]
    guesses = " or ".join(repr(u) for u in _checks.nearest(unit, _SCALES, n=2))
    hint = f" (did you mean {guesses}?)" if guesses else ""
    _checks.fail(name, f"be a known unit{hint}", unit)


def to_base(value: float, unit: str) -> tuple[float, str]:
    """Convert a value in any known unit to its base unit, rounded once.

    Parameters
    ----------
    value : float [unit]
        A finite number.
    unit : str
        Such as "TFLOP/s", "GiB" or "ms".

    Returns
    -------
    tuple of float [base unit], str
        The value, and the base unit's name.

    Raises
    ------
    ValueError
        If the value is not finite, here or in base units, or the unit unknown; the message names
        the nearest unit.

    Examples
    --------
    >>> to_base(228, "KiB")
    (233472.0, 'B')
    """
    number = _checks.finite("value", value)
    factor, base = _scale(unit)
    amount = float(Decimal(repr(number)) * factor)
    _checks.keeps_finite("value", value, **{f"the amount in {base}": amount})
    return amount, base


def parse(written: str) -> tuple[float, str]:
    """Read a number with its unit.

    Parameters
    ----------
    written : str
        A number, then a unit; without one it is a plain count, unit "1". Commas group thousands.

    Returns
    -------
    tuple of float [base unit], str
        The value in base units and the base unit's name.

    Raises
    ------
    ValueError
        If there is no number at the start, if a comma does not group thousands, or if the unit is
        unknown.

    Examples
    --------
    >>> parse("80 GiB"), parse("40 TOP/s")
    ((85899345920.0, 'B'), (40000000000000.0, 'OP/s'))
    >>> parse("400 Gb/s"), parse("1.5e12")
    ((400000000000.0, 'bit/s'), (1500000000000.0, '1'))
    """
    found = _NUMBER.fullmatch(written) if _checks.is_a(written, str) else None
    if found is None:
        _checks.fail("text", "be a number and a unit, such as '1.5 TB/s'", written)
    digits, unit = found.groups()
    if "," in digits and not _GROUPED.fullmatch(digits):
        rule = "use commas for thousands only, as in 1,234.5 (write a decimal comma as a point)"
        _checks.fail("text", rule, written)
    factor, base = _scale(unit)
    try:
        value = float(Decimal(re.sub("[,_]", "", digits)) * factor)
    except (ArithmeticError, ValueError):
        value = math.inf
    if not math.isfinite(value):
        _checks.fail("text", "be a number that a float can hold", written)
    return value, base


def in_unit(value: float, base_unit: str, unit: str) -> float:
    """Express a value that is in base units in another unit of the same base.

    Examples
    --------
    >>> in_unit(3.35e12, "B/s", "GB/s")
    3350.0
    >>> in_unit(3.35e12, "B/s", "GFLOP/s")
    Traceback (most recent call last):
        ...
    ValueError: unit must measure B/s; got 'GFLOP/s'
    """
    number = _checks.finite("value", value)
    factor, base = _scale(unit)
    if base != _scale(base_unit, "base_unit")[1]:
        _checks.fail("unit", f"measure {base_unit}", unit)
    shown = number / float(factor) if factor >= 1 else number * float(1 / factor)
    _checks.keeps_finite("value", value, **{f"the amount in {unit}": shown})
    return shown


def number(value: float, digits: int = 4) -> str:
    """A number for reading: rounded to `digits` digits, but never before its unit position.

    Examples
    --------
    >>> number(295.3432), number(16896), number(0.083333), number(1e-7)
    ('295.3', '16,896', '0.08333', '1e-07')
    """
    value = _checks.real("value", value)
    digits = _checks.whole("digits", digits, maximum=_MOST_DIGITS)
    if not math.isfinite(value):
        return {math.inf: "∞", -math.inf: "-∞"}.get(value, "not a number")
    size = abs(value)
    if 0 < size < 1e-4 or size >= 1e15:
        return f"{value:.{digits}g}"
    whole_digits = len(str(int(size))) if size >= 1 else 1 + math.ceil(-math.log10(size or 1))
    places = max(0, digits - whole_digits) if size >= 1 else digits - 1 + whole_digits - 1
    rounded = f"{value:,.{places}f}" if size >= 10_000 else f"{value:.{places}f}"
    rounded = rounded.rstrip("0").rstrip(".") if "." in rounded else rounded
    return "0" if rounded in ("-0", "") else rounded


def _split(value: float, kinds: str, digits: int) -> tuple[float, str]:
    """The value divided by the prefix that leaves 1 to 999 in front of the point, and the prefix.

    >>> _split(999_960.0, "large", 4)
    (1.0, 'M')
    """
    size = abs(value)
    if size == 0 or not math.isfinite(size):
        return value, ""
    prefixes = {"": 0}
    if "large" in kinds:
        prefixes |= _LARGE
    if "small" in kinds:
        prefixes |= {p: e for p, e in _SMALL.items() if p != "u"}
    rounded = float(f"{size:.{max(digits, 3) - 1}e}")
    fitting = [(power, prefix) for prefix, power in prefixes.items() if rounded >= 10.0**power]
    power, prefix = max(fitting) if fitting else min((e, p) for p, e in prefixes.items())
    scaled = float(Decimal(repr(float(value))).scaleb(-power))
    return (math.copysign(float(f"{abs(scaled):.{digits - 1}e}"), scaled), prefix)


def text(value: float, unit: str, digits: int = 4, *, binary: bool = False) -> str:
    """A quantity for reading, with the prefix that fits.

    Parameters
    ----------
    value : float [unit]
        May be infinite.
    unit : str
        A base unit, such as "FLOP/s", "B", "s"; "1" for a count.
    digits : int
        Significant digits; trailing zeros are dropped.
    binary : bool
        KiB, MiB, GiB instead of kB, MB, GB.

    Returns
    -------
    str
        Number, space, unit.

    Raises
    ------
    ValueError
        If the value is no number, the unit no base unit, or `digits` not an integer from 1 to 17.

    Examples
    --------
    >>> text(4.832e9, "FLOP"), text(80e9, "B"), text(1.41e-6, "s")
    ('4.832 GFLOP', '80 GB', '1.41 µs')
    >>> text(2**30, "B", binary=True), text(295.34, "FLOP/B"), text(132, "1")
    ('1 GiB', '295.3 FLOP/B', '132')
    """
    value = _checks.real("value", value)
    digits = _checks.whole("digits", digits, maximum=_MOST_DIGITS)
    base = _checks.one_of("unit", unit, base_units())
    if binary and "binary" in _BASE_UNITS[base] and math.isfinite(value):
        steps = [(2.0**power, prefix) for prefix, power in _BINARY.items()]
        factor, prefix = max([(1.0, ""), *(s for s in steps if abs(value) >= s[0])])
        return f"{number(value / factor, digits)} {prefix}{base}"
    scaled, prefix = _split(value, _BASE_UNITS[base], digits)
    if base == "1":
        return number(value, digits)
    if not _BASE_UNITS[base]:
        return f"{number(value, digits)} {base}"
    return f"{number(scaled, digits)} {prefix}{base}"


def tick(value: float) -> str:
    """A short label for an axis: no unit, which stands in the axis's title.

    Examples
    --------
    >>> tick(10e12), tick(1000), tick(0.25), tick(1e-6)
    ('10 T', '1 k', '0.25', '1 µ')
    """
    value = _checks.finite("value", value)
    if value == 0 or 1e-3 <= abs(value) < 1e3:
        return number(value, 4)
    scaled, prefix = _split(value, "large small", 4)
    return f"{number(scaled, 4)} {prefix}".rstrip()

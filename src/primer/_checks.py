"""Checks of arguments, with one tone for every message: what must hold, and what was given.

Every check returns the value as a plain Python number or string, so that NumPy scalars never leak
into results, and every failure is a `ValueError` that reads ``NAME must RULE; got VALUE``.

>>> positive("bandwidth_bytes_per_s", -1)
Traceback (most recent call last):
    ...
ValueError: bandwidth_bytes_per_s must be positive; got -1
"""

import difflib
import math
from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import Any, NoReturn

# Above this no count makes sense, and a product of a few counts would not fit in a float.
LARGEST_WHOLE = 10**15
_SHOWN = 80
_SHOWN_BITS = 256


def fail(name: str, rule: str, value: Any) -> NoReturn:
    """Raise the `ValueError` that says which rule `name` breaks, and with which value."""
    shown = _shown(value)
    if len(shown) > _SHOWN:
        shown = shown[: _SHOWN - 1] + "…"
    raise ValueError(f"{name} must {rule}; got {shown}")


def _shown(value: Any) -> str:
    """A value for a message, whatever it is: endless numbers and texts are not written out."""
    if isinstance(value, int) and value.bit_length() > _SHOWN_BITS:
        return f"an integer of {value.bit_length()} bits"
    try:
        shape = getattr(value, "shape", None)
        if isinstance(shape, tuple) and shape:
            return f"an array of shape {shape}"
        if isinstance(value, (str, bytes)):
            value = value[:_SHOWN]
        return repr(value.item() if _is_numpy_scalar(value) else value)
    except Exception:
        return f"an object of {type(value)}"


def _is_numpy_scalar(value: object) -> bool:
    return type(value).__module__ == "numpy" and hasattr(value, "item")


def real(name: str, value: object) -> float:
    """Any real number; infinity and NaN are welcome, True and "1" are not."""
    if isinstance(value, float) and math.isnan(value):
        return math.nan
    return _real(name, value, "be a number")


def _real(name: str, value: object, rule: str) -> float:
    """The value as a float, if it is one real number (NumPy scalars are; bool and str are not)."""
    if isinstance(value, bool) or not isinstance(value, Real):
        fail(name, rule, value)
    try:
        number = float(value)
    except OverflowError:
        fail(name, rule + " and small enough for a float", value)
    if math.isnan(number):
        fail(name, rule, value)
    return number


def finite(name: str, value: object) -> float:
    """Any real number except infinity and NaN."""
    number = _real(name, value, "be a finite number")
    if math.isinf(number):
        fail(name, "be a finite number", value)
    return number


def positive(name: str, value: object) -> float:
    """A finite number above zero."""
    number = _real(name, value, "be positive")
    if number <= 0:
        fail(name, "be positive", value)
    if math.isinf(number):
        fail(name, "be finite", value)
    return number


def non_negative(name: str, value: object) -> float:
    """A finite number, zero or above."""
    number = _real(name, value, "be zero or positive")
    if number < 0:
        fail(name, "be zero or positive", value)
    if math.isinf(number):
        fail(name, "be finite", value)
    return number


def fraction(name: str, value: object, *, zero: bool = True) -> float:
    """A number in [0, 1], or in (0, 1] with ``zero=False``."""
    rule = "lie between 0 and 1" if zero else "lie above 0 and not above 1"
    number = _real(name, value, rule)
    if not 0 <= number <= 1 or (number == 0 and not zero):
        fail(name, rule, value)
    return number


def keeps_finite(name: str, value: object, **results: float) -> None:
    """Refuse a value that is fine by itself, but makes a result infinite or no number.

    >>> keeps_finite("memory_efficiency", 5e-324, time_s=math.inf)
    Traceback (most recent call last):
        ...
    ValueError: memory_efficiency must leave time_s finite; got 5e-324
    """
    for result, number in results.items():
        if not math.isfinite(number):
            fail(name, f"leave {result} finite", value)


def quotient(top: float, bottom: float) -> float:
    """A ratio of two numbers that are not negative, infinite where it is too large for a float.

    >>> quotient(1.0, 5e-324), quotient(1.0, 0.0), quotient(0.0, 0.0)
    (inf, inf, 0.0)
    """
    if bottom == 0:
        return math.inf if top > 0 else 0.0
    return top / bottom


def whole(name: str, value: object, *, minimum: int = 1, maximum: int = LARGEST_WHOLE) -> int:
    """An integer from `minimum` to `maximum`; 3.0 and True are refused: they hint at a mistake."""
    if minimum == 1:
        rule = "be a positive integer"
    else:
        rule = f"be an integer of at least {minimum}"
    # NumPy registers its spans of time as integers, too.
    is_other = isinstance(value, bool) or type(value).__name__ == "timedelta64"
    if is_other or not isinstance(value, Integral) or int(value) < minimum:
        fail(name, rule, value)
    if int(value) > maximum:
        fail(name, f"be at most {maximum:,}", value)
    return int(value)


def flag(name: str, value: object) -> bool:
    """True or False; 1, 0 and "yes" are refused."""
    if isinstance(value, bool) or (_is_numpy_scalar(value) and str(value) in ("True", "False")):
        return bool(value)
    fail(name, "be True or False", value)


def is_a(value: object, *kinds: type) -> bool:
    """`isinstance` for arguments whose annotation callers may ignore."""
    return isinstance(value, kinds)


def nearest(value: object, options: Iterable[str], *, n: int = 1) -> tuple[str, ...]:
    """Up to `n` of the options that look most like the value, best first.

    >>> nearest("KB", ["B", "kB", "KiB"])
    ('kB',)
    """
    if not isinstance(value, str) or not value:
        return ()
    ranked = sorted(((_likeness(value, option), option) for option in options), reverse=True)
    return tuple(option for likeness, option in ranked[:n] if likeness[0] >= 0.5)


def _likeness(value: str, option: str) -> tuple[float, float]:
    """How alike two names are: without regard to case, then with it; a common start counts."""
    lower, known = value.lower(), option.lower()
    loose = difflib.SequenceMatcher(None, lower, known).ratio()
    if option and len(value) > 1 and (known.startswith(lower) or lower.startswith(known)):
        loose = max(loose, 0.6)
    return loose, difflib.SequenceMatcher(None, value, option).ratio()


def one_of(name: str, value: object, options: Sequence[str]) -> str:
    """One of the options, spelled exactly; the message lists them and names the nearest."""
    if isinstance(value, str) and value in options:
        return str(value)
    guess = nearest(value, options)
    hint = f" (did you mean {guess[0]!r}?)" if guess else ""
    fail(name, f"be one of {', '.join(options)}{hint}", value)


def key_of(name: str, value: object, known: Iterable[str], table: str) -> str:
    """A key of a long table; the message names the keys most like it, not all of them."""
    options = tuple(known)
    if isinstance(value, str) and value in options:
        return str(value)
    near = " or ".join(repr(option) for option in nearest(value, options, n=3))
    fail(name, f"be a key of {table}{f' (did you mean {near}?)' if near else ''}", value)

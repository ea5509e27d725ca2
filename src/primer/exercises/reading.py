"""Reading a reader's number: text, Python and NumPy numbers, quantities, with or without a unit.

>>> unit = Unit("ms")
>>> [unit.read(answer)[0] for answer in (24, "24 ms", "0.024 s", "2.4e4 µs", "48/2 ms")]
[0.024, 0.024, 0.024, 0.024, 0.024]
>>> [unit.read(answer)[0] for answer in ("T = 24 ms", "24 milliseconds.", "24")]
[0.024, 0.024, 0.024]
>>> Unit("").read("21.9 %"), Unit("tokens").read("7·3 tokens")
((0.219, 0.219), (21.0, 21.0))
>>> Unit("").read("1/8 to 1/4", ranges=True)
(0.125, 0.25)
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from primer import units
from primer.exercises import arithmetic

Ends = tuple[float, float]

_TO = re.compile(r"\s*(?:–|—|(?<=[\d\s])-|\.\.+|…|\bto\b)\s*")
_SUFFIX = re.compile(r"(?<=[\d\s).])[A-Za-zµ%×]")
_NUMBER_FIRST = re.compile(r"[-+]?[\d.,]+(?:[eE][-+]?\d+)?\s*([A-Za-zµ][A-Za-zµ/ ]*)")
_PLAIN = {"%": 0.01, "percent": 0.01, "per cent": 0.01, "×": 1.0, "x": 1.0, "times": 1.0}
_NAME = re.compile(r"(?:[A-Za-z_][A-Za-z_0-9]*\s*)?[~≈=](?!=)\s*")
_TWO_SIGNS = re.compile(r"[-+−]\s*[-+−]")
_FULL_STOP = re.compile(r"(?<=[^\d\s])\s*\.$")
_PREFIX_WORDS = {
    "kilo": "k", "mega": "M", "giga": "G", "tera": "T", "peta": "P", "exa": "E",
    "milli": "m", "micro": "µ", "nano": "n", "pico": "p",
    "kibi": "Ki", "mebi": "Mi", "gibi": "Gi", "tebi": "Ti", "pebi": "Pi",
}  # fmt: skip
_UNIT_WORDS = {
    "second": "s", "sec": "s", "byte": "B", "bit": "bit", "flop": "FLOP", "op": "OP",
    "joule": "J", "watt": "W", "hertz": "Hz",
}  # fmt: skip
_WORD = re.compile(f"({'|'.join(_PREFIX_WORDS)})?({'|'.join(_UNIT_WORDS)})s?")
# The same amount under another name: how many base units one of them is.
_SAME = {
    ("bit", "B"): 0.125, ("bit/s", "B/s"): 0.125, ("B", "bit"): 8.0, ("B/s", "bit/s"): 8.0,
    ("OP", "FLOP"): 1.0, ("OP/s", "FLOP/s"): 1.0, ("OP/B", "FLOP/B"): 1.0,
    ("FLOP", "OP"): 1.0, ("FLOP/s", "OP/s"): 1.0, ("FLOP/B", "OP/B"): 1.0,
}  # fmt: skip


@dataclass(frozen=True)
class Unit:
    """What an exercise asks its number in.

    Parameters
    ----------
    written : str
        A unit of `primer.units` ("ms", "TB/s"), "%", what is counted ("tokens"), or nothing. A
        bare number counts in it.
    about : str
        Which number is meant, in words that may stand behind a plain number: "200 multiply-adds".
    """

    written: str = ""
    about: str = ""

    def __post_init__(self) -> None:
        _ = self._scale  # an unknown unit fails here and not before a reader

    @property
    def is_counted(self) -> bool:
        """Whether it is a noun, of three small letters or more."""
        return re.fullmatch(r"[a-z]{3,}(?: [a-z]+)*", self.written) is not None

    @cached_property
    def _scale(self) -> tuple[float, str]:
        if self.is_counted or self.written == "":
            return 1.0, "1"
        return (0.01, "1") if self.written == "%" else units.parse(f"1 {self.written}")

    @property
    def factor(self) -> float:
        """Base units in one of it, float."""
        return self._scale[0]

    @property
    def base(self) -> str:
        """Its base unit; "1" for a count and a fraction."""
        return self._scale[1]

    def read(self, answer: Any, *, ranges: bool = False) -> Ends:
        """Both ends of the answer in base units, equal for a single number.

        Parameters
        ----------
        answer : object
            Whatever a reader passes.
        ranges : bool
            Whether "3 to 4", "3-4" and (3, 4) are answers.

        Raises
        ------
        ValueError
            If it cannot be read, whatever the answer is or does; the message is for the reader.
        """
        try:
            if isinstance(answer, str):
                answer = _tidy(answer)
            ends = [self._one(part) for part in (_parts(answer) if ranges else [answer])]
            if not all(math.isfinite(end) for end in ends):
                raise OverflowError
        except OverflowError as error:
            raise ValueError("a finite number is asked for") from error
        except ValueError:
            raise
        except Exception as error:
            raise ValueError(f"{self._wanted()} is asked for, got {_kind(answer)}") from error
        return min(ends), max(ends)

    def _one(self, answer: Any) -> float:
        if isinstance(answer, str):
            return self._text(answer)
        if hasattr(answer, "value") and isinstance(getattr(answer, "unit", None), str):
            return self._in_base(float(answer.value), answer.unit)
        if (size := getattr(answer, "size", 1)) != 1 and isinstance(size, int):
            raise ValueError(f"one number is asked for, got {size}")
        number = answer.item() if hasattr(answer, "item") else answer
        if isinstance(number, (bool, complex)):
            raise ValueError(f"{self._wanted()} is asked for, got {_kind(number)}")
        return float(number) * self.factor

    def _text(self, text: str) -> float:
        """Cut the text where a unit can begin, and take the first cut that makes sense."""
        text = _tidy(text)
        if _TWO_SIGNS.match(text):
            raise ValueError(f"{text!r} begins with two signs")
        problems = []
        for start in [len(text), *(m.start() for m in _SUFFIX.finditer(text))]:
            scale = self._factor_of(text[start:])
            if scale is not None:
                try:
                    return arithmetic.evaluate(text[:start]).value * scale
                except ValueError as error:
                    problems.append(error)
        if found := _NUMBER_FIRST.fullmatch(text):
            if self.base != "1":
                units.parse(f"1 {found[1]}")  # an unknown unit: this names the nearest one
            raise ValueError(f"{self._wanted()} is asked for, got {text!r}")
        raise problems[-1]

    def _factor_of(self, suffix: str) -> float | None:
        """Base units in one of what stands behind the number; None if that is no fitting unit."""
        if suffix == "":
            return self.factor
        if self.is_counted and _singular(suffix) == _singular(self.written):
            return 1.0
        if self.base == "1":
            return 1.0 if self._is_about(suffix) else _PLAIN.get(suffix)
        try:
            return self._in_base(*units.parse(f"1 {_spelled(suffix)}"))
        except ValueError:
            return None

    def _is_about(self, suffix: str) -> bool:
        """Whether a plain number is followed by words of what it is about."""
        known = {_singular(word) for word in re.findall(r"[a-z][a-z-]*", self.about.lower())}
        words = suffix.lower().split()
        named = self.written != "%" and len(words[0]) >= 3 and suffix not in _PLAIN
        return named and all(_singular(word) in known for word in words)

    def _in_base(self, value: float, unit: str) -> float:
        if unit == self.base:
            return value
        if (unit, self.base) in _SAME:
            return value * _SAME[unit, self.base]
        raise ValueError(f"{self._wanted()} is asked for, got {unit}")

    def _wanted(self) -> str:
        if self.is_counted:
            return f"a number of {self.written}"
        return "a plain number" if self.base == "1" else f"a value in {self.written}"


def _tidy(text: str) -> str:
    """Without what people write around a number: "T = 24 ms." is "24 ms"."""
    text = text.replace("μ", "µ").strip()
    if name := _NAME.match(text):
        text = text[name.end() :]
    return _FULL_STOP.sub("", text)


def _singular(word: str) -> str:
    return word.rstrip("s")


def _spelled(suffix: str) -> str:
    """A unit as `primer.units` writes it: "gigabytes per second" is "GB/s"."""
    parts = re.split(r"/|\bper\b", suffix)
    return "/".join(_symbol(part.replace(" ", "")) for part in parts)


def _symbol(word: str) -> str:
    if found := _WORD.fullmatch(word.lower()):
        return _PREFIX_WORDS.get(found[1], "") + _UNIT_WORDS[found[2]]
    return word


def _kind(answer: object) -> str:
    """What the answer is; never its text, which can fail, or be endless."""
    return type(answer).__name__


def _parts(answer: Any) -> list[Any]:
    """The two ends of a range, or the one answer."""
    if isinstance(answer, (tuple, list)) and len(answer) == 2:
        return list(answer)
    if not isinstance(answer, str):
        return [answer]
    parts: list[Any] = _TO.split(answer.strip())
    if len(parts) != 2 or not all(parts):
        return [answer]
    # "3 to 4 ms" means ms for both.
    unit = re.search(r"(?<=[\d\s)])[A-Za-zµ%][^\d]*$", parts[1])
    if unit and re.fullmatch(r"[\d.,/ ]+", parts[0]):
        parts[0] += f" {unit[0]}"
    return parts

"""Paths of SVG in their shortest form: relative, to a tenth of a point.

Equal shapes then read equal wherever they stand, which is what a packer looks for.
"""

from __future__ import annotations

import re
from functools import lru_cache

# The commands that Matplotlib writes, each with its numbers.
_COMMAND = re.compile(r"([MLQCz])([^MLQCz]*)")
_OTHER = re.compile(r"[^MLQCz\d\s.eE+-]")


def relative(path: str) -> str:
    """A path of absolute commands, rounded and rewritten in relative ones.

    Each point is rounded where it stands, so that no rounding adds up.

    >>> relative("M 71 184.62 L 102 184.62 L 102 153.58 z M 75 183 L 75.5 182")
    'M71 184.6h31v-31zm4-1.6l.5-1'
    """
    if _OTHER.search(path):
        return path
    written = []
    x = y = 0
    start = (0, 0)
    for command, numbers in _COMMAND.findall(path):
        if command == "z":
            written.append("z")
            x, y = start
            continue
        points = [_tenths(number) for number in numbers.split()]
        written.append(_step(command, *[n - (y if i % 2 else x) for i, n in enumerate(points)]))
        x, y = points[-2:]
        if command == "M":
            start = (x, y)
    return "".join(written).replace("m", "M", 1)


@lru_cache(maxsize=1 << 16)
def _tenths(number: str) -> int:
    return round(10 * float(number))


@lru_cache(maxsize=1 << 16)
def _step(command: str, *offsets: int) -> str:
    """A command in its relative form; a line along an axis has one of its own."""
    if command == "L" and 0 in offsets:
        return "h" + _number(offsets[0]) if offsets[1] == 0 else "v" + _number(offsets[1])
    numbers = map(_number, offsets)
    # A sign parts two numbers as well as a blank does.
    return command.lower() + " ".join(numbers).replace(" -", "-")


def _number(tenths: int) -> str:
    """Tenths as text without what can be left out.

    >>> _number(-5), _number(30), _number(0)
    ('-.5', '3', '0')
    """
    sign, whole, rest = "-" * (tenths < 0), abs(tenths) // 10, abs(tenths) % 10
    if not rest:
        return f"{sign}{whole}" if whole else "0"
    return f"{sign}{whole or ''}.{rest}"

"""One level of a cache, and which levels can stand together."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from primer import _checks

INCLUSIONS = ("nine", "inclusive", "exclusive")
POLICIES = ("lru", "fifo")


@dataclass(frozen=True)
class CacheLevel:
    """A set-associative cache of size = sets · ways · line size.

    Parameters
    ----------
    size_bytes : int [B]
        What it holds, without tags.
    ways : int, optional
        Lines per set, any number; by default as many as there are lines: fully associative.
        One is direct-mapped.
    line_bytes : int [B]
        A power of two. The number of sets need not be one: sets are chosen by remainder.
    policy : str
        Which line of a full set has to leave: "lru", the least recently used, or "fifo", the one
        that came first.

    Raises
    ------
    ValueError
        If a size is not a positive integer, or they do not divide into whole sets.

    Examples
    --------
    >>> CacheLevel(49_152, 12, 64).n_sets, CacheLevel(1_441_792, 11, 64).n_sets
    (64, 2048)
    >>> CacheLevel(4096).n_sets, CacheLevel(4096).n_lines
    (1, 64)
    """

    size_bytes: int
    ways: int | None = None
    line_bytes: int = 64
    policy: str = "lru"

    def __post_init__(self) -> None:
        size = _checks.whole("size_bytes", self.size_bytes)
        line = _checks.whole("line_bytes", self.line_bytes)
        if line & (line - 1):
            _checks.fail("line_bytes", "be a power of two", line)
        if size % line:
            _checks.fail("size_bytes", f"be a whole number of lines of {line} B", size)
        ways = None if self.ways is None else _checks.whole("ways", self.ways)
        if ways is not None and size % (line * ways):
            rule = f"be sets x ways x line_bytes, so a multiple of {ways} x {line}"
            _checks.fail("size_bytes", rule, size)
        _checks.one_of("policy", self.policy, POLICIES)
        for name, value in {"size_bytes": size, "ways": ways, "line_bytes": line}.items():
            object.__setattr__(self, name, value)

    @property
    def n_lines(self) -> int:
        """Lines that it holds, int."""
        return self.size_bytes // self.line_bytes

    @property
    def n_ways(self) -> int:
        """Lines per set, int; all lines if it is fully associative."""
        return self.n_lines if self.ways is None else self.ways

    @property
    def n_sets(self) -> int:
        """Sets, int."""
        return self.n_lines // self.n_ways

    @property
    def geometry(self) -> tuple[int, int, bool]:
        """Sets, ways, and whether it replaces by LRU."""
        return self.n_sets, self.n_ways, self.policy == "lru"


def check_levels(
    levels: CacheLevel | Sequence[CacheLevel], inclusion: str
) -> tuple[CacheLevel, ...]:
    """The levels as a tuple, nearest to the core first, if they can stand together."""
    inclusion = _checks.one_of("inclusion", inclusion, INCLUSIONS)
    stack = (levels,) if isinstance(levels, CacheLevel) else levels
    is_stack = _checks.is_a(stack, Sequence) and all(_checks.is_a(x, CacheLevel) for x in stack)
    if not is_stack or len(stack) == 0:
        _checks.fail("levels", "be one CacheLevel or several, nearest to the core first", levels)
    for i, (above, below) in enumerate(itertools.pairwise(stack), start=1):
        if below.line_bytes != above.line_bytes:
            rule = f"share one line size, here {stack[0].line_bytes} B"
            _checks.fail(f"line_bytes of levels[{i}]", rule, below.line_bytes)
        if inclusion == "inclusive" and below.size_bytes < above.size_bytes:
            rule = f"be at least the {above.size_bytes} B of the level above that it includes"
            _checks.fail(f"size_bytes of levels[{i}]", rule, below.size_bytes)
    return tuple(stack)

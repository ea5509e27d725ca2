"""Closed forms for what a matrix product fetches into one fully associative LRU cache."""

from __future__ import annotations

import math
from dataclasses import dataclass

from primer import _checks
from primer._cachelevels import CacheLevel
from primer._tilednest import TiledNest

A, B, C = 0, 1, 2
NAMES = "ABC"
_AXES = ((0, 2), (2, 1), (0, 1))  # row and column axis of A, B, C among i, j, k


@dataclass(frozen=True, kw_only=True)
class Traffic:
    """Lines that a matrix product moves between a cache and what lies below.

    Parameters
    ----------
    a_fills, b_fills, c_fills, n_fills : int
        Lines fetched for each operand, and together.
    n_writebacks : int
        Dirty lines of C written back, those left at the end included.
    fetched_bytes, written_bytes, traffic_bytes : int [B]
        Lines times line size, and their sum.
    is_exact : bool
        Whether a replay, with ``flush=True``, counts the same.
    reason : str
        Why not, else empty.
    """

    a_fills: int
    b_fills: int
    c_fills: int
    n_writebacks: int
    line_bytes: int
    is_exact: bool
    reason: str

    @property
    def n_fills(self) -> int:
        return self.a_fills + self.b_fills + self.c_fills

    @property
    def fetched_bytes(self) -> int:
        return self.n_fills * self.line_bytes

    @property
    def written_bytes(self) -> int:
        return self.n_writebacks * self.line_bytes

    @property
    def traffic_bytes(self) -> int:
        return self.fetched_bytes + self.written_bytes


def floor_bytes(m: int, n: int, k: int, cache_bytes: float, *, element_bytes: int = 4) -> float:
    """Bytes that any order of the products must move through a store of that size, float [B].

    With room for S elements, at least 2·m·n·k / √S - 2·S elements cross, and never fewer than
    A, B and C once. Of large products the first term is left, the bound of Hong and Kung (1981).

    >>> floor_bytes(1024, 1024, 1024, 32 * 1024) / 1e6  # 2 · 1024³ / √8192 elements, less 16,384
    94.84...
    """
    sizes = [_checks.whole(name, x) for name, x in zip("mnk", (m, n, k), strict=True)]
    size = _checks.whole("element_bytes", element_bytes)
    room = _checks.positive("cache_bytes", cache_bytes) / size
    once = m * k + k * n + m * n
    return size * max(float(once), 2.0 * math.prod(sizes) / math.sqrt(room) - 2.0 * room)


@dataclass(frozen=True)
class _Loop:
    """A loop of the nest: its axis, its trips, and what lies inside one trip, per axis."""

    axis: int
    trips: int
    inside: tuple[int, int, int]


class _Form:
    """The loops of a nest, and how many lines come between two uses of one."""

    def __init__(self, product: TiledNest, level: CacheLevel) -> None:
        self.product = product
        self.line = level.line_bytes
        self.room = level.n_lines
        self.loops = _loops(product)
        self.doubts: list[str] = []

    def lines(self, operand: int, depth: int) -> int:
        """Lines of an operand inside one trip of a loop."""
        row, column = _AXES[operand]
        box = self.loops[depth].inside
        return box[row] * math.ceil(box[column] * self.product.element_bytes / self.line)

    def reuse(self, operand: int, depth: int) -> int:
        """How many trips of a loop touch the same lines of an operand."""
        loop = self.loops[depth]
        if loop.axis not in _AXES[operand]:
            return loop.trips
        if loop.axis == _AXES[operand][1]:
            width = loop.inside[loop.axis] * self.product.element_bytes
            return min(loop.trips, max(1, self.line // width))
        return 1

    def between(self, operand: int, depth: int) -> tuple[int, int]:
        """Other lines touched between uses of a line in two trips of a loop: least and most.

        They are touched in the rest of the one trip and the beginning of the other.
        """
        least = most = 0
        for other in (A, B, C):
            low, high = self._of_one(operand, other, depth)
            least, most = least + low, most + high
        return least, most

    def _of_one(self, operand: int, other: int, depth: int) -> tuple[int, int]:
        """The part of `between` that is lines of one operand.

        A loop further inside either runs on through trips that do not touch the line (`outside`),
        or touches it in all trips, so that nothing but its last and its first trip count.
        """
        low = high = 0
        steady = self.reuse(other, depth)
        surely_same = steady == self.loops[depth].trips
        for inner in range(depth + 1, len(self.loops)):
            trips, own = self.loops[inner].trips, self.reuse(operand, inner)
            is_pass = inner == len(self.loops) - 1
            outside = trips - own
            if is_pass and self._is_touched_once_a_pass(operand):
                outside = trips
            lines, steady = self.lines(other, inner), self.reuse(other, inner)
            if is_pass and other == self.product.kept:
                break
            if outside and steady == trips:  # all there is of it, in one trip or in both
                return low + lines, high + lines * (1 if surely_same else 2)
            if steady == 1:
                low, high = low + outside * lines, high + outside * lines
            elif outside:
                groups = math.ceil(outside / steady)
                low, high = low + (groups - 1) * lines, high + (groups + 1) * lines
            if own > 1 and steady < own:
                surely_same = False
        is_around = operand == C == self.product.kept  # first and last in its passes
        if other != operand and not is_around:
            high += 1 if surely_same else 2
        return low, high

    def _is_touched_once_a_pass(self, operand: int) -> bool:
        is_kept = operand == self.product.kept
        return is_kept and (operand != C or self.product.c_access == "assign")

    def is_free(self, operand: int, depth: int) -> bool:
        """Whether lines survive from one trip of a loop to the next."""
        least, most = self.between(operand, depth)
        if least < self.room <= most:
            axis = "ijk"[self.loops[depth].axis]
            self.doubts.append(
                f"lines of {NAMES[operand]} may or may not last over a loop in {axis}"
            )
        return (least + most) / 2 < self.room

    def fills(self, operand: int) -> int:
        """Lines fetched: trips of all loops, less those that find their lines still there."""
        count = 1
        for depth, loop in enumerate(self.loops):
            if depth == len(self.loops) - 1 and operand == self.product.kept:
                break
            reuse = self.reuse(operand, depth)
            is_free = reuse > 1 and self.is_free(operand, depth)
            count *= math.ceil(loop.trips / reuse) if is_free else loop.trips
        return count

    def stores_that_miss(self) -> int:
        """All, if C is loaded before a pass and does not last until it is stored; else none."""
        if self.product.kept != C or self.product.c_access == "assign":
            return 0
        box = list(self.loops[-1].inside)
        box[self.loops[-1].axis] = self.loops[-1].trips
        size = self.product.element_bytes
        others = sum(box[row] * math.ceil(box[col] * size / self.line) for row, col in _AXES[:C])
        return 0 if others < self.room else math.prod(loop.trips for loop in self.loops[:-1])


def _loops(product: TiledNest) -> list[_Loop]:
    """All loops from the outermost inwards; trips are rounded up where tiles do not divide."""
    axes = ["ijk".index(axis) for axis in product.order]
    sizes = (product.m, product.n, product.k)
    found, box = [], list(sizes)
    for tile in (*product.tiles, (1, 1, 1)):
        for axis in axes:
            trips = math.ceil(box[axis] / tile[axis])
            box[axis] = tile[axis]
            found.append(_Loop(axis, trips, (box[0], box[1], box[2])))
    return found


def _obstacle(product: TiledNest, level: CacheLevel) -> str:
    """What keeps the closed form from being exact, before any working set is looked at."""
    size, line = product.element_bytes, level.line_bytes
    if level.n_sets > 1 or level.policy != "lru":
        return "only a fully associative LRU cache has no sets that collide"
    if line % size or any(base % line for base in product.bases):
        return "a matrix does not begin on a line"
    if any(lead * size % line for lead in product.leads):
        return "rows do not begin on lines"
    if product.kept == 2 and product.c_access == "assign" and product.tiles:
        return "C is loaded at all visits but the first"
    outer = (product.m, product.n, product.k)
    for tile in product.tiles:
        if any(big % small for big, small in zip(outer, tile, strict=True)):
            return "a tile does not divide what it lies in"
        if any((tile[axis] * size) % line and line % (tile[axis] * size) for axis in (1, 2)):
            return "a row of a tile is no whole number or fraction of lines"
        outer = tile
    return ""


def estimate(product: TiledNest, level: CacheLevel) -> Traffic:
    """The closed form for a nest and a cache."""
    form = _Form(product, level)
    fills = [form.fills(operand) for operand in (A, B, C)]
    n_late = form.stores_that_miss()
    n_writebacks = n_late or fills[C]
    fills[C] += n_late
    reason = _obstacle(product, level) or "; ".join(dict.fromkeys(form.doubts))
    return Traffic(
        a_fills=fills[A], b_fills=fills[B], c_fills=fills[C], n_writebacks=n_writebacks,
        line_bytes=level.line_bytes, is_exact=not reason, reason=reason,
    )  # fmt: skip

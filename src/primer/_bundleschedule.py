"""Placing operations into bundles: lower bounds, and modulo scheduling with second thoughts.

A loop that starts a tile every `interval` bundles repeats itself, so what one tile does at bundle t
meets what other tiles do at t modulo `interval`. Rau, "Iterative modulo scheduling", 1994.
"""

from __future__ import annotations

from collections.abc import Mapping

from primer import _checks
from primer._bundleprogram import SLOTS, Program

MOST_TIME = 10**9
SECOND_THOUGHTS = 12  # placements per operation until an interval is given up


def resource_bound(program: Program, slots: Mapping[str, int]) -> int:
    """Bundles that the busiest kind of slot needs for one tile, int [cycles]."""
    return max(-(-program.count(slot) // slots[slot]) for slot in SLOTS)


def recurrence_bound(program: Program) -> int:
    """Bundles from tile to tile that needs around a circle allow, int [cycles].

    No circle takes longer than all needs together, and what one interval allows, a longer one does.
    """
    least, enough = 1, max(1, sum(need.cycles for need in program.needs))
    while least < enough:
        interval = (least + enough) // 2
        if longest(program, interval) is None:
            least = interval + 1
        else:
            enough = interval
    return least


def longest(program: Program, interval: int) -> list[int] | None:
    """Cycles from each operation to the end of its tile; None if needs run in circles too long.

    A need over a distance of d tiles is fulfilled in part by d · interval bundles that pass anyway.
    """
    heights = [0] * len(program.operations)
    for _ in range(len(heights) + 1):
        is_done = True
        for need in program.needs:
            height = heights[need.target] + need.cycles - interval * need.distance
            if height > heights[need.source]:
                heights[need.source], is_done = height, False
        if is_done:
            return heights
    return None


def critical_path(program: Program) -> int:
    """Bundles of one tile that is alone, if slots never lacked, int [cycles]."""
    far = 1 + sum(need.cycles for need in program.needs)
    heights = longest(program, far)
    if heights is None:
        _checks.fail("needs", "lead in no circle within a tile", program.needs)
    return 1 + max(heights)


def place(program: Program, slots: Mapping[str, int], interval: int) -> list[int] | None:
    """The bundle of every operation of a tile, if one is found for this interval."""
    heights = longest(program, interval)
    if heights is None:
        return None
    table = _Table(program, slots, interval, heights)
    for _ in range(SECOND_THOUGHTS * len(heights)):
        operation = table.next()
        if operation is None:
            first = min(table.start.values())
            return [table.start[i] - first for i in range(len(heights))]
        table.put(operation)
    return None


class _Table:
    """Operations that have a bundle so far."""

    def __init__(
        self, program: Program, slots: Mapping[str, int], interval: int, heights: list[int]
    ) -> None:
        self.program, self.slots, self.interval, self.heights = program, slots, interval, heights
        self.start: dict[int, int] = {}
        self.latest: dict[int, int] = {}

    def next(self) -> int | None:
        """The open operation with the longest way to go; of equals, the first one."""
        waiting = [i for i in range(len(self.heights)) if i not in self.start]
        return max(waiting, key=lambda i: (self.heights[i], -i), default=None)

    def put(self, operation: int) -> None:
        """Give it the first free bundle; if there is none, take one from others."""
        early, late = self._earliest(operation), self._latest(operation)
        times = range(early, min(early + self.interval, max(early, late) + 1))
        time = next((t for t in times if self._rivals(operation, t) is None), None)
        if time is None:
            time = max(early, self.latest.get(operation, early - 1) + 1)
            rivals = self._rivals(operation, time)
            if rivals is not None:
                del self.start[min(rivals, key=lambda i: (self.heights[i], -i))]
        self.start[operation] = self.latest[operation] = time
        self._drop_what_comes_too_early(operation)

    def _earliest(self, operation: int) -> int:
        times = (
            self.start[need.source] + need.cycles - self.interval * need.distance
            for need in self.program.needs
            if need.target == operation and need.source in self.start and need.source != operation
        )
        return max(times, default=0)

    def _latest(self, operation: int) -> int:
        """So that nobody has to move who needs this one."""
        times = (
            self.start[need.target] - need.cycles + self.interval * need.distance
            for need in self.program.needs
            if need.source == operation and need.target in self.start and need.target != operation
        )
        return min(times, default=MOST_TIME)

    def _rivals(self, operation: int, time: int) -> list[int] | None:
        """Who fills the slots at that time; None if one is free."""
        kind = self.program.operations[operation].slot
        there = [
            i
            for i, start in self.start.items()
            if self.program.operations[i].slot == kind and (start - time) % self.interval == 0
        ]
        return there if len(there) >= self.slots[kind] else None

    def _drop_what_comes_too_early(self, operation: int) -> None:
        for need in self.program.needs:
            if need.source != operation or need.target not in self.start:
                continue
            due = self.start[operation] + need.cycles - self.interval * need.distance
            if need.target != operation and self.start[need.target] < due:
                del self.start[need.target]


def follow(program: Program, starts: list[int]) -> int:
    """The least interval of tiles that do not overlap, int [cycles]."""
    interval = 1 + max(starts)
    for need in program.needs:
        if need.distance:
            apart = starts[need.source] + need.cycles - starts[need.target]
            interval = max(interval, -(-apart // need.distance))
    return interval

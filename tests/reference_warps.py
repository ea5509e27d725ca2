"""A second warp scheduler for the tests, made differently on purpose.

A program is a generator that knows what it waits for. A warp sleeps in a heap until its next
instruction may issue, and then stands in its scheduler's queue. Nothing is shared with `primer`.
"""

import bisect
import heapq
from dataclasses import dataclass


@dataclass
class Issue:
    """One instruction: when its result is there, when its warp can go on, if it does."""

    cycle: int
    scheduler: int
    warp: int
    kind: str
    back: int
    wake: int
    is_last: bool


def program(n_loads, n_alu, n_passes):
    """Gives a kind, is sent when the result is back, gives the cycle to go on (None: the next)."""
    for _ in range(n_passes):
        returns = []
        for i in range(n_loads):
            returns.append((yield "load"))
            yield max(returns) if i == n_loads - 1 else None
        for _ in range(n_alu):
            back = yield "alu"
            yield back


class Warp:
    def __init__(self, number, steps):
        self.number, self.steps = number, steps
        self.kind = next(steps)

    def issue(self, now, back):
        wake = self.steps.send(back)
        self.kind = next(self.steps, None)
        return now + 1 if wake is None else wake


class Scheduler:
    def __init__(self, policy, warps):
        self.policy, self.turns = policy, list(warps)
        self.queue, self.last = [], None

    def choose(self, may_load):
        able = [w for w in self.queue if may_load or w.kind != "load"]
        if self.policy == "rr":
            able = [w for w in able if w is self.turns[0]]
        if self.policy == "gto" and self.last in able:
            return self.last
        return able[0] if able else None

    def leave(self, warp):
        self.queue.remove(warp)
        self.turns.remove(warp)
        self.last = warp
        if warp.kind is not None:
            self.turns.append(warp)


def simulate(
    n_warps, n_cycles, *, n_loads, n_alu, latency, interval, alu_latency, policy, n_schedulers,
    n_passes,
):  # fmt: skip
    """All instructions of the first cycles, in order."""
    warps = [Warp(w, program(n_loads, n_alu, n_passes)) for w in range(n_warps)]
    schedulers = [Scheduler(policy, warps[s::n_schedulers]) for s in range(n_schedulers)]
    asleep, issues, accepts = [(0, warp.number) for warp in warps], [], 0
    for now in range(n_cycles):
        while asleep and asleep[0][0] <= now:
            number = heapq.heappop(asleep)[1]
            queue = schedulers[number % n_schedulers].queue
            bisect.insort(queue, warps[number], key=lambda w: w.number)
        may_load = True
        for k in range(n_schedulers):
            s = (now + k) % n_schedulers
            warp = schedulers[s].choose(may_load)
            if warp is None:
                continue
            kind, back = warp.kind, now + alu_latency
            if kind == "load":
                start = max(now, accepts)
                back, accepts, may_load = start + latency, start + interval, False
            wake = warp.issue(now, back)
            schedulers[s].leave(warp)
            issues.append(Issue(now, s, warp.number, kind, back, wake, warp.kind is None))
            if warp.kind is not None:
                heapq.heappush(asleep, (wake, warp.number))
    return issues

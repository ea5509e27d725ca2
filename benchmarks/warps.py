"""The warp scheduler beside plain Python of the same rules, with equal counts.

No other program runs these rules, so the peer is what one would write without a compiler: warps as
lists, and idle cycles stepped over as `warps.schedule` steps over them. It keeps no record, and it
serves one scheduler. A run with a record is shorter, as a record has room for two million cycles
times warps; its time includes one run without. All run on one thread; the best of some runs counts,
as what disturbs a run only slows it down.

    python benchmarks/warps.py
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from primer import warps
from primer._warpmachine import MOST_RECORDED
from primer.warps import WarpRun


@dataclass(frozen=True)
class Case:
    """Some warps, and how often each goes through its loop."""

    n_warps: int
    latency_cycles: int
    alu_per_load: int
    n_iterations: int
    policy: str = "gto"
    memory_interval_cycles: int | None = None

    def __str__(self) -> str:
        limit = self.memory_interval_cycles
        memory = f", a load every {limit} cycles" if limit else ""
        return (
            f"{self.n_warps} warps, latency {self.latency_cycles}, {self.alu_per_load} ALU, "
            f"{self.policy}{memory}"
        )

    def run(self, **options: int) -> WarpRun:
        """The model."""
        return warps.schedule(
            self.n_warps, latency_cycles=self.latency_cycles, alu_per_load=self.alu_per_load,
            policy=self.policy, memory_interval_cycles=self.memory_interval_cycles, **options,
        )  # fmt: skip


CASES = (
    Case(6, 20, 3, 20_000),
    Case(6, 20, 3, 20_000, "rr"),
    Case(16, 400, 9, 2_000),
    Case(16, 400, 9, 2_000, "rr"),
    Case(16, 400, 9, 2_000, "oldest"),
    Case(16, 400, 9, 2_000, "gto", 40),
    Case(64, 400, 9, 1_000),
)
SHORTER = 40  # times, for a run with a record


def best(do: Callable[[], Any], repeat: int = 5) -> tuple[float, Any]:
    """Least seconds of some calls, after one to warm up, and what the last one returned."""
    do()
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        found = do()
        times.append(time.perf_counter() - start)
    return min(times), found


def peer(case: Case) -> tuple[int, int]:
    """Cycles and instructions, by plain Python."""
    n, length, interval = case.n_warps, 1 + case.alu_per_load, case.memory_interval_cycles or 0
    ready, place, left = [0] * n, [0] * n, [case.n_iterations] * n
    now = free = turn = n_issued = last = 0
    alive = n
    while alive:
        warp = -1
        if case.policy != "oldest" and left[turn] and ready[turn] <= now:
            warp = turn
        elif case.policy != "rr":
            warp = next((w for w in range(n) if left[w] and ready[w] <= now), -1)
        if warp < 0:
            waiting = [turn] if case.policy == "rr" else range(n)
            now = min(ready[w] for w in waiting if left[w])
            continue
        if place[warp] == 0:
            start = max(now, free)
            free, ready[warp] = start + interval, start + case.latency_cycles
        else:
            ready[warp] = now + 1
        place[warp] = (place[warp] + 1) % length
        if place[warp] == 0:
            left[warp] -= 1
            alive -= left[warp] == 0
        n_issued, last, turn = n_issued + 1, now, warp
        if case.policy == "rr" and alive:
            turn = next(w % n for w in range(warp + 1, warp + n + 1) if left[w % n])
        now += 1
    return last + 1, n_issued


def line(case: Case) -> str:
    """One row of the table."""
    plain_s, run = best(lambda: case.run(n_iterations=case.n_iterations))
    settle_s, _ = best(case.run)
    n_short, most = case.n_iterations // SHORTER, MOST_RECORDED // case.n_warps
    record_s, kept = best(lambda: case.run(n_iterations=n_short, record_cycles=most))
    peer_s, counted = best(lambda: peer(case), repeat=2)
    if counted != (run.n_cycles, run.n_issued):
        sys.exit(f"{case}: the peer counts {counted}, primer {(run.n_cycles, run.n_issued)}")
    rate = run.n_cycles / plain_s / 1e6
    record_rate = kept.n_cycles / record_s / 1e6
    cells = [str(case), f"{run.n_cycles:,}", f"{run.n_issued:,}", f"{rate:.0f}"]
    cells += [f"{record_rate:.1f}", f"{1e6 * settle_s:.0f}", f"{run.n_cycles / peer_s / 1e6:.1f}"]
    return "| " + " | ".join([*cells, f"{peer_s / plain_s:.0f}"]) + " |"


def main() -> int:
    """Print one Markdown table; rates are in million simulated cycles per second."""
    print("| warps | cycles | instructions | run | with a record | steady state, µs", end="")
    print(" | plain Python | run, times |\n|---|--:|--:|--:|--:|--:|--:|--:|")
    for case in CASES:
        print(line(case), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

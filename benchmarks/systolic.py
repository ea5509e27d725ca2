"""The systolic array beside SCALE-Sim, on the same matrix products, with equal cycles.

SCALE-Sim (MIT) needs older libraries, so it lives in an environment of its own; name its Python:

    python -m venv peer && peer/bin/pip install scalesim==3.0.0 'numpy<2' 'pandas<2.3'
    python benchmarks/systolic.py peer/bin/python    # or PRIMER_SCALESIM_PYTHON=…

Without one its columns stay empty. It simulates reads and writes at the edges of the array, and
its clock runs without its start, configuration and trace files. `simulate` moves every value from
PE to PE; with the full record it also keeps all of them in every cycle, 33 bytes for each PE. All
run on one thread; the best of some runs counts, as what disturbs a run only slows it down.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from primer import systolic

PEER = Path(__file__).with_name("scalesim_peer.py")
N_SHAPES = 100_000


@dataclass(frozen=True)
class Case:
    """A product and an array."""

    m: int
    n: int
    k: int
    rows: int
    cols: int
    dataflow: str

    def __str__(self) -> str:
        product = f"{self.m} × {self.n} × {self.k}"
        return f"{product} on {self.rows} × {self.cols}, {self.dataflow}"


CASES = (
    Case(4, 4, 16, 4, 4, "os"),
    Case(64, 64, 64, 4, 4, "ws"),
    Case(64, 64, 64, 8, 8, "os"),
    Case(64, 64, 64, 8, 8, "ws"),
    Case(64, 64, 64, 8, 8, "is"),
    Case(128, 128, 128, 16, 16, "os"),
    Case(128, 128, 128, 32, 32, "ws"),
    Case(256, 128, 128, 128, 128, "ws"),
)


def best(do: Callable[[], Any], repeat: int = 7) -> tuple[float, Any]:
    """Least seconds of some calls, after one to warm up, and what the last one returned."""
    do()
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        found = do()
        times.append(time.perf_counter() - start)
    return min(times), found


def peer_seconds(python: str) -> list[tuple[float, int]]:
    """Best seconds and last cycle of every case, by SCALE-Sim."""
    repeat = 3
    lines = "".join(json.dumps(asdict(case)) + "\n" for case in CASES for _ in range(repeat))
    run = subprocess.run(
        [python, str(PEER)], input=lines, capture_output=True, text=True, check=False
    )
    if run.returncode:
        sys.exit(f"{python} cannot run SCALE-Sim:\n{run.stderr[-2000:]}")
    answers = [json.loads(line) for line in run.stdout.splitlines()]
    groups = [answers[i : i + repeat] for i in range(0, len(answers), repeat)]
    return [(min(seconds for seconds, _ in group), group[0][1]) for group in groups]


def line(case: Case, peer: tuple[float, int] | None) -> str:
    """One row of the table."""
    array = {"rows": case.rows, "cols": case.cols, "dataflow": case.dataflow}
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(case.m, case.k)), rng.normal(size=(case.k, case.n))
    full_s, run = best(lambda: systolic.simulate(a, b, **array))
    least_s, _ = best(lambda: systolic.simulate(a, b, **array, record=()))
    n_cycles = run.n_cycles
    cells = [str(case), f"{n_cycles:,}", f"{n_cycles / full_s:,.0f}", f"{n_cycles / least_s:,.0f}"]
    if peer is None:
        return "| " + " | ".join([*cells, "", ""]) + " |"
    seconds, last = peer
    if last + 1 != n_cycles:
        sys.exit(f"{case}: SCALE-Sim ends with cycle {last}, primer counts {n_cycles}")
    cells += [f"{n_cycles / seconds:,.0f}", f"{seconds / full_s:.0f}"]
    return "| " + " | ".join(cells) + " |"


def count_line(dataflow: str) -> str:
    """How long it takes to count many shapes at once."""
    m, n, k = np.random.default_rng(0).integers(1, 5000, (3, N_SHAPES))
    seconds, _ = best(lambda: systolic.count(m, n, k, rows=128, cols=128, dataflow=dataflow))
    return f"| {dataflow} | {seconds * 1e3:.1f} ms | {N_SHAPES / seconds / 1e6:.1f} |"


def main(argv: Sequence[str] | None = None) -> int:
    """Print two Markdown tables; rates are in cycles per second."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("python", nargs="?", default=os.environ.get("PRIMER_SCALESIM_PYTHON"))
    python = parser.parse_args(argv).python
    peers = peer_seconds(python) if python else [None] * len(CASES)
    print("| product | cycles | full record | no record | SCALE-Sim | full record, times |")
    print("|---|--:|--:|--:|--:|--:|")
    for case, peer in zip(CASES, peers, strict=True):
        print(line(case, peer), flush=True)
    print(f"\n| count, {N_SHAPES:,} shapes | time | million shapes / s |\n|---|--:|--:|")
    for dataflow in systolic.DATAFLOWS:
        print(count_line(dataflow))
    return 0


if __name__ == "__main__":
    sys.exit(main())

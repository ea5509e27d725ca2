"""Whole grids of launches beside NVIDIA's cuda_occupancy.h, with equal counts and limiters.

The header is compiled with ``g++ -O2`` and gets its launches as a list that is ready before its
clock starts. `occupancy.calculate` gets the same grid twice: as open axes that it broadcasts, and
as a list, one launch after another. Where g++ or the header is missing, its columns stay empty.
All run on one thread; the best of some runs counts, as what disturbs a run only slows it down.

    python benchmarks/occupancy.py
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from primer import capabilities, occupancy
from primer.occupancy import Occupancy

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests import occupancy_peer
from tests.occupancy_peer import ANSWER, DEVICE, Peer

THREADS = np.arange(32, 1025, 32)
REGISTERS = np.arange(16, 256, 4)
SHARED = np.arange(0, 96 * 1024, 1536)


def best(do: Callable[[], Any], repeat: int = 9) -> tuple[float, Any]:
    """Least seconds of some calls, after one to warm up, and what the last one returned."""
    do()
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        found = do()
        times.append(time.perf_counter() - start)
    return min(times), found


def ours(name: str, threads: Any, registers: Any, shared: Any) -> tuple[Occupancy, Any]:
    """Blocks and limiters."""
    found = occupancy.calculate(
        name, threads_per_block=threads, registers_per_thread=registers,
        shared_bytes_per_block=shared,
    )  # fmt: skip
    return found, found.limiters


def launches(name: str, columns: Any) -> NDArray[np.int32]:
    """The same grid for the header, with the limits of the device in every row."""
    gpu = capabilities.load(name)
    major, minor = map(int, name.split("."))
    device = [major, minor, *(getattr(gpu, field) for field in DEVICE[2:])]
    most = gpu.max_shared_bytes_per_block
    threads, registers, shared = columns
    kernel = [threads, registers, 0, shared, 1, most, -1, 1]
    rows = [np.broadcast_to(x, threads.shape) for x in (*device, *kernel)]
    return np.column_stack(rows).astype(np.int32)


def line(name: str, peer: Peer | None) -> str:
    """One row of the table."""
    axes = np.ix_(THREADS, REGISTERS, SHARED)
    flat = tuple(np.ascontiguousarray(x).ravel() for x in np.broadcast_arrays(*axes))
    grid_s, (grid, grid_limiters) = best(lambda: ours(name, *axes))
    list_s, (listed, limiters) = best(lambda: ours(name, *flat))
    n = flat[0].size
    if not np.array_equal(grid.n_blocks.ravel(), listed.n_blocks):
        sys.exit(f"{name}: grid and list of primer differ")
    if not np.array_equal(grid_limiters.ravel(), limiters):
        sys.exit(f"{name}: limiters of grid and list of primer differ")
    cells = [name, f"{n:,}", f"{grid_s / n * 1e9:.1f}", f"{list_s / n * 1e9:.1f}"]
    if peer is None:
        return "| " + " | ".join([*cells, "", "", ""]) + " |"
    answers, peer_s = peer.ask(launches(name, flat), repeat=9)
    theirs = dict(zip(ANSWER, answers.T, strict=True))
    if not np.array_equal(theirs["blocks"], listed.n_blocks):
        sys.exit(f"{name}: the header counts other blocks")
    if not np.array_equal(theirs["factors"], limiters):
        sys.exit(f"{name}: the header names other limiters")
    cells += [f"{peer_s / n * 1e9:.1f}", f"{grid_s / peer_s:.1f}", f"{list_s / peer_s:.1f}"]
    return "| " + " | ".join(cells) + " |"


def main() -> int:
    """Print one Markdown table, in nanoseconds per launch."""
    print("| capability | launches | grid, ns | list, ns | header, ns", end="")
    print(" | grid / header | list / header |\n|---|--:|--:|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        try:
            peer = occupancy_peer.build(Path(folder))
        except occupancy_peer.NotThereError as reason:
            print(f"without the header: {reason}", file=sys.stderr)
            peer = None
        for name in capabilities.names():
            print(line(name, peer), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The book's matrix products beside NumPy's library and beside the peak, all on one thread.

The peak is a loop of independent multiply-adds in registers, the fastest of its repeats; the rates
are medians, each from the best of several rounds. What NumPy calls is said, for it chooses its code
by processor: OPENBLAS_CORETYPE and OPENBLAS_L2_SIZE change that. Nothing here passes or fails.

    env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE python benchmarks/matmul.py
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from primer.matmul_speed import MatmulPoint, MatmulSpeed
from primer.workbench import matmul

SIZES = (512, 1024)
GIGA = 1e9


def rows(speed: MatmulSpeed, n: int) -> Iterator[str]:
    """One line for each kernel at a size; the tiled one with each tile."""
    points = [p for p in speed.points if p.n == n]
    library = next((p for p in points if p.kernel == "numpy"), None)
    for point in points:
        name = point.kernel if point.tile is None else f"{point.kernel}, {point.tile}"
        of_library = ratio(point, library and library.flop_per_s)
        of_peak = ratio(point, speed.peak_flop_per_s)
        rate = point.flop_per_s / GIGA
        yield f"| {name} | {n} | {rate:.2f} | {of_library} | {of_peak} | {point.n_repeats} |"


def ratio(point: MatmulPoint, other: float | None) -> str:
    """How many times another rate, as text."""
    return "" if other is None else f"{point.flop_per_s / other:.3f}"


def main() -> None:
    """Print one table for each precision."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, help="the best of so many counts")
    parser.add_argument("--seconds", type=float, default=20.0, help="for each precision")
    options = parser.parse_args()
    for compute in ("fp32", "fp64"):
        speed = matmul.measure(
            sizes=SIZES, compute=compute, seconds=options.seconds, n_rounds=options.rounds
        )
        peak = f"{(speed.peak_flop_per_s or 0) / GIGA:.1f} GFLOP/s"
        print(f"\n{speed.name}, one thread, {compute}; NumPy calls {speed.blas}; peak {peak}")
        print(f"({'; '.join(speed.notes)})\n")
        print("| kernel | N | GFLOP/s | × NumPy | × peak | repeats |\n|---|--:|--:|--:|--:|--:|")
        for n in SIZES:
            print("\n".join(rows(speed, n)))


if __name__ == "__main__":
    main()

"""One product on an array with and without overlap, and the shapes around it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from primer import systolic
from primer._systolicroles import ROLES, Roles
from primer.systolic import SystolicCount

K = 768
ARRAYS = (128, 256)
M_VALUES = (1, 8, 32, 64, 128, 129, 256, 257, 512, 1024, 4096)
N_VALUES = (1, 64, 128, 129, 256, 800, 3072)
LARGEST = 4096
VALUES = {"m": M_VALUES, "n": N_VALUES}
Curve = tuple[tuple[float, float], ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class ArrayRun:
    """A product of m × 768 with 768 × n.

    Parameters
    ----------
    overlapped, in_turns : SystolicCount
        With the next fold's weights coming in while one streams, and without.
    curves : dict of str to (Curve, Curve)
        For "m" and for "n": utilization against that side, overlapped and in turns, where the
        other sides stay as they are.
    """

    overlapped: SystolicCount
    in_turns: SystolicCount
    curves: dict[str, tuple[Curve, Curve]]

    @property
    def side(self) -> int:
        """Rows, and columns, of the array, int."""
        return int(self.overlapped.rows)

    @property
    def roles(self) -> Roles:
        """Which size lies along the rows, along the columns, and in time."""
        return ROLES[self.overlapped.dataflow]

    def size(self, name: str) -> int:
        """The side of that name, int."""
        return int(getattr(self.overlapped, name))

    def padded(self, name: str) -> int:
        """The same, rounded up if it lies on the array, int."""
        size = self.size(name)
        return size if name == self.roles.steps else -(-size // self.side) * self.side


def compute(m: int, n: int, array: int, dataflow: str) -> ArrayRun:
    """Multiply m × 768 by 768 × n on array × array cells."""
    return ArrayRun(
        overlapped=_count(m, n, array, dataflow, True),
        in_turns=_count(m, n, array, dataflow, False),
        curves={"m": curves("m", n, array, dataflow), "n": curves("n", m, array, dataflow)},
    )


def _count(m: Any, n: Any, array: int, dataflow: str, overlaps: bool) -> SystolicCount:
    return systolic.count(
        m, n, K, rows=array, cols=array, dataflow=dataflow, double_buffer=overlaps
    )  # fmt: skip


@cache
def curves(swept: str, other: int, array: int, dataflow: str) -> tuple[Curve, Curve]:
    """Utilization against "m", or against "n", where the other is given.

    >>> dict(curves("m", 128, 128, "os")[0])[129.0] < 0.51
    True
    """
    sizes = grid(swept, array, swept != ROLES[dataflow].steps)
    sides: tuple[Any, Any] = (sizes, other) if swept == "m" else (other, sizes)
    found = (_count(sides[0], sides[1], array, dataflow, overlaps) for overlaps in (True, False))
    overlapped, in_turns = (
        tuple(zip(sizes.astype(float).tolist(), count.utilization_frac.tolist(), strict=True))
        for count in found
    )
    return overlapped, in_turns


def grid(swept: str, array: int, is_padded: bool) -> Any:
    """Sizes from 1 on: every value of the control, and every step where there are steps."""
    smooth = np.geomspace(1, LARGEST, 30).round()
    steps = np.arange(array, LARGEST + 1, array)
    edges = [steps, steps[:-1] + 1] if is_padded else [[array]]
    # a logarithmic axis shows what is straight as bent
    bends = [steps[:3] + array // 2] if is_padded else []
    return np.unique(np.concatenate([smooth, *edges, *bends, VALUES[swept]])).astype(np.int64)

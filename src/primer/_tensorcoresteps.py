"""An instruction cut into what its Tensor Cores do in each cycle.

The size of a block is the generation's; the order of blocks is ours, as makers do not tell theirs:
each Tensor Core takes an equal share of the rows of D (or of the products), and goes through its
share with depth outermost, then rows, then columns.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from primer import _checks
from primer._tensorcorefragments import array

Ints = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Schedule:
    """Blocks of one instruction, cycle by cycle.

    Parameters
    ----------
    m, n, k, n_products : int
        Size of the instruction.
    block : tuple of int
        Rows, columns and depth of what one Tensor Core does in a cycle.
    is_published : bool
        Whether a source names this block; otherwise it is an arrangement that gives the count.
    start : int array (n_steps, n_units, 4)
        Product, row, column and depth at which the block of each unit begins. Read-only.
    """

    m: int
    n: int
    k: int
    n_products: int
    block: tuple[int, int, int]
    is_published: bool
    start: Ints

    @property
    def n_steps(self) -> int:
        """Cycles that the units are busy at their full rate, int."""
        return len(self.start)

    def depth(self, step: int) -> Ints:
        """Products summed in each element of D so far, int array (n_products, m, n).

        Parameters
        ----------
        step : int
            Cycles done, from 0 to `n_steps`.
        """
        rows, columns, deep = self.block
        done = np.zeros((self.n_products, self.m, self.n), dtype=np.int64)
        for product, i, j, _ in self._blocks(step):
            done[product, i : i + rows, j : j + columns] += deep
        return done

    def multiply(self, a: Any, b: Any, c: Any, *, step: int | None = None) -> NDArray[np.float32]:
        """D after some cycles, summed in FP32; by default all of D = A · B + C.

        Parameters
        ----------
        a, b, c : array (n_products, m, k), (n_products, k, n) and (n_products, m, n)
            Without the first axis where there is one product.
        step : int, optional
            Cycles done.

        Returns
        -------
        float32 array (n_products, m, n)
        """
        rows, columns, deep = self.block
        left = self._stack("a", a, self.m, self.k)
        right = self._stack("b", b, self.k, self.n)
        total = self._stack("c", c, self.m, self.n).copy()
        with np.errstate(over="ignore", invalid="ignore"):  # a sum may be infinite, or no number
            for product, i, j, k in self._blocks(self.n_steps if step is None else step):
                piece = left[product, i : i + rows, k : k + deep]
                piece = piece @ right[product, k : k + deep, j : j + columns]
                total[product, i : i + rows, j : j + columns] += piece
        return total

    def _blocks(self, step: int) -> list[list[int]]:
        """The blocks of the first cycles, in order."""
        n = _checks.whole("step", step, minimum=0, maximum=self.n_steps)
        blocks: list[list[int]] = self.start[:n].reshape(-1, 4).tolist()
        return blocks

    def _stack(self, name: str, given: Any, rows: int, columns: int) -> NDArray[np.float32]:
        found = array(name, given)
        shapes = [(self.n_products, rows, columns)] + [(rows, columns)] * (self.n_products == 1)
        if found.shape not in shapes:
            rule = f"be an array of shape {' or '.join(str(shape) for shape in shapes)}"
            _checks.fail(name, rule, found.shape)
        if found.dtype.kind not in "iuf":
            _checks.fail(name, "be an array of real numbers", found.dtype)
        with np.errstate(over="ignore"):
            return found.astype(np.float32).reshape(shapes[0])


def schedule(instruction: Any, generation: Any, n_units: int) -> Schedule:
    """See `primer.tensorcores.schedule`; here everything is checked but the block."""
    rows, columns, deep = generation.block
    block = (rows, columns, deep * 2 // instruction.element_bytes)  # FP8: twice the depth
    m, n, k, n_products = (
        instruction.m, instruction.n, instruction.k, instruction.n_products,
    )  # fmt: skip
    share = m if n_products > 1 else m // n_units
    for size, part in zip((share, n, k), block, strict=True):
        if size % part:
            sides = " × ".join(str(side) for side in block)
            rule = f"be cut evenly into blocks of {sides} by {n_units} Tensor Cores"
            _checks.fail("instruction", rule, instruction.name)
    steps = [range(0, size, part) for size, part in zip((share, n, k), block, strict=True)]
    order = [(i, j, d) for d, i, j in itertools.product(steps[2], steps[0], steps[1])]
    units = [_of_unit(unit, n_units, n_products, share, order) for unit in range(n_units)]
    start = np.array(units, dtype=np.int64).transpose(1, 0, 2)
    start.flags.writeable = False
    return Schedule(
        m=m, n=n, k=k, n_products=n_products, block=block, start=start,
        is_published=generation.block_source is not None and instruction.compute == "fp16",
    )  # fmt: skip


def _of_unit(
    unit: int, n_units: int, n_products: int, share: int, order: list[tuple[int, int, int]]
) -> list[tuple[int, int, int, int]]:
    """The blocks of one Tensor Core."""
    if n_products == 1:
        return [(0, unit * share + i, j, d) for i, j, d in order]
    own = range(unit * n_products // n_units, (unit + 1) * n_products // n_units)
    return [(product, i, j, d) for product in own for i, j, d in order]

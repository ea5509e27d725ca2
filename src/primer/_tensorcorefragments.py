"""Which numbers of a matrix each thread of an instruction holds, register by register.

The rules are those of the PTX ISA. Each returns rows and columns for all threads and elements at
once; an element's register follows from its size, as registers have four bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from primer import _checks

OPERANDS = ("a", "b", "d")
REGISTER_BYTES = 4
ACCUMULATOR_BYTES = 4
WARP = 32

Ints = NDArray[np.int64]
Place = tuple[Any, Any]


@dataclass(frozen=True, kw_only=True, eq=False)
class Fragment:
    """What each thread holds of one operand; all arrays are read-only.

    Parameters
    ----------
    operand : str
        "a", "b" or "d"; C lies as D does.
    shape : tuple of int
        Rows and columns of the operand.
    n_products : int
        Independent products of the instruction, each with operands of its own.
    element_bytes : int [B]
    product : int array (n_threads,)
        Which product a thread works on.
    row, column : int array (n_threads, n_elements)
        Place of each element, in the order of the instruction's operands: a0, a1, ...
    register : int array (n_elements,)
        The thread's register, counted from 0, in which each element lies.
    """

    operand: str
    shape: tuple[int, int]
    n_products: int
    element_bytes: int
    product: Ints
    row: Ints
    column: Ints
    register: Ints

    @property
    def n_threads(self) -> int:
        """Threads that hold a part, int."""
        return len(self.row)

    @property
    def n_registers(self) -> int:
        """Registers of a thread that hold its part, int."""
        return int(self.register[-1]) + 1

    def held(self, thread: int) -> tuple[tuple[int, int, int], ...]:
        """(register, row, column) of each element of one thread; thread 0 is lane 0 of warp 0."""
        which = _checks.whole("thread", thread, minimum=0, maximum=self.n_threads - 1)
        places = zip(self.register, self.row[which], self.column[which], strict=True)
        return tuple((int(r), int(i), int(j)) for r, i, j in places)

    def distribute(self, matrix: Any) -> NDArray[Any]:
        """The elements that each thread holds, array (n_threads, n_elements).

        Parameters
        ----------
        matrix : array (rows, columns) or (n_products, rows, columns)
        """
        given = array("matrix", matrix)
        shapes = [(self.n_products, *self.shape)] + [self.shape] * (self.n_products == 1)
        if given.shape not in shapes:
            rule = f"be an array of shape {' or '.join(str(shape) for shape in shapes)}"
            _checks.fail("matrix", rule, given.shape)
        whole = given.reshape(self.n_products, *self.shape)
        spread: NDArray[Any] = whole[self.product[:, None], self.row, self.column]
        return spread

    def gather(self, values: Any) -> NDArray[Any]:
        """The matrices that the threads hold together, array (n_products, rows, columns).

        Parameters
        ----------
        values : array (n_threads, n_elements)
        """
        given = array("values", values)
        if given.shape != self.row.shape:
            _checks.fail("values", f"be an array of shape {self.row.shape}", given.shape)
        whole = np.zeros((self.n_products, *self.shape), dtype=given.dtype)
        whole[self.product[:, None], self.row, self.column] = given
        return whole


def array(name: str, given: Any) -> NDArray[Any]:
    """What was given as an array, of whatever shape."""
    try:
        return np.asarray(given)
    except (ValueError, TypeError, OverflowError):  # such as lists of unequal length
        _checks.fail(name, "be an array", given)


def fragment(instruction: Any, operand: str) -> Fragment:
    """See `primer.tensorcores.fragment`; here the instruction is one already."""
    wanted = _checks.one_of("operand", operand, OPERANDS)
    home = {"a": instruction.a_home, "b": instruction.b_home, "d": instruction.d_home}[wanted]
    if home != "registers":
        rule = f"lie in registers for a fragment ({wanted} of {instruction.name} is in {home})"
        _checks.fail("operand", rule, operand)
    m, n, k = instruction.m, instruction.n, instruction.k
    shape = {"a": (m, k), "b": (k, n), "d": (m, n)}[wanted]
    size = ACCUMULATOR_BYTES if wanted == "d" else instruction.element_bytes
    rule_of = _VOLTA if instruction.n_products > 1 else _WARP
    threads = np.arange(instruction.n_threads)
    n_elements = shape[0] * shape[1] * instruction.n_products // len(threads)
    elements = np.arange(n_elements)
    row, column = rule_of[wanted](threads[:, None], elements[None, :], REGISTER_BYTES // size)
    arrays = np.broadcast_arrays(row, column)
    group = threads % WARP // 4 % 4 if instruction.n_products > 1 else np.zeros_like(threads)
    fixed = [*(np.array(a) for a in arrays), group, elements * size // REGISTER_BYTES]
    for array in fixed:
        array.flags.writeable = False
    return Fragment(
        operand=wanted, shape=shape, n_products=instruction.n_products, element_bytes=size,
        row=fixed[0], column=fixed[1], product=fixed[2], register=fixed[3],
    )  # fmt: skip


# ---- mma.m16n8k* and wgmma. A lane's group is lane // 4, its place in the group lane % 4; warp w
# of a warpgroup has rows 16w and following. `per` elements share a register.


def _warp_a(thread: Ints, i: Ints, per: int) -> Place:
    """Registers go down first, 8 rows apart, then along k."""
    register, inside = i // per, i % per
    row = thread // WARP * 16 + thread % WARP // 4 + register % 2 * 8
    return row, thread % 4 * per + inside + register // 2 * 4 * per


def _warp_b(thread: Ints, i: Ints, per: int) -> Place:
    """A register is a piece of a column; registers go along k."""
    row = thread % 4 * per + i % per + i // per * 4 * per
    return row, thread % WARP // 4


def _warp_d(thread: Ints, i: Ints, per: int) -> Place:
    """Two neighbors in a row, two below them, then the next eight columns."""
    row = thread // WARP * 16 + thread % WARP // 4 + i // 2 % 2 * 8
    return row, thread % 4 * 2 + i % 2 + i // 4 * 8


# ---- mma.m8n8k4. Lanes 0-3 and 16-19 make one product, 4-7 and 20-23 the next, and so on; the
# higher ones have the lower rows of A and the right columns of B. A is row-major, B column-major.


def _volta_a(lane: Ints, i: Ints, per: int) -> Place:
    return lane % 4 + lane // 16 * 4, i


def _volta_b(lane: Ints, i: Ints, per: int) -> Place:
    return i, lane % 4 + lane // 16 * 4


def _volta_d(lane: Ints, i: Ints, per: int) -> Place:
    """The bits of lane and element say it: bit 0 of the lane and bit 1 of i are the row's."""
    return (lane & 1) + (i & 2) + lane // 16 * 4, (i & 4) + (lane & 2) + (i & 1)


_Rules = dict[str, Callable[[Ints, Ints, int], Place]]
_WARP: _Rules = {"a": _warp_a, "b": _warp_b, "d": _warp_d}
_VOLTA: _Rules = {"a": _volta_a, "b": _volta_b, "d": _volta_d}

"""One matrix instruction of a certain size. `primer.tensorcores` is the door to it."""

from __future__ import annotations

from dataclasses import dataclass

from primer import _checks, _tensorcoretable
from primer._tensorcorefragments import ACCUMULATOR_BYTES
from primer._tensorcoretable import ELEMENT_BYTES, instructions
from primer.quantities import Source


@dataclass(frozen=True, kw_only=True)
class Instruction:
    """One matrix instruction of a certain size.

    Parameters
    ----------
    name, family : str
        Such as "wgmma.m64n128k16", and the name under which the table has it.
    ptx : str
        How a program writes it.
    compute : str
        "fp16" or "fp8": the operands. Sums are FP32.
    m, n, k : int
        Rows and columns of D, and the depth of each sum.
    n_products : int
        Independent products of that size in one instruction: 4 on Volta, else 1.
    n_threads : int
        Threads that issue it together and hold what lies in registers.
    n_partitions : int
        Quarters of the SM whose Tensor Cores take part.
    a_home, b_home, d_home : str
        "registers", "shared memory" or "tensor memory". C lies where D does.
    source : Source
    note : str
    """

    name: str
    family: str
    ptx: str
    compute: str
    m: int
    n: int
    k: int
    n_products: int
    n_threads: int
    n_partitions: int
    a_home: str
    b_home: str
    d_home: str
    source: Source
    note: str = ""

    @property
    def element_bytes(self) -> int:
        """Size of an element of A or B, int [B]."""
        return ELEMENT_BYTES[self.compute]

    @property
    def n_fma(self) -> int:
        """Multiply-adds, int."""
        return self.m * self.n * self.k * self.n_products

    @property
    def work_flop(self) -> int:
        """Two for each multiply-add, int [FLOP]."""
        return 2 * self.n_fma

    @property
    def a_bytes(self) -> int:
        """Size of A, int [B]."""
        return self.m * self.k * self.n_products * self.element_bytes

    @property
    def b_bytes(self) -> int:
        """Size of B, int [B]."""
        return self.k * self.n * self.n_products * self.element_bytes

    @property
    def operand_bytes(self) -> int:
        """A and B together, int [B]."""
        return self.a_bytes + self.b_bytes

    @property
    def d_bytes(self) -> int:
        """Size of D, and of C, int [B]."""
        return self.m * self.n * self.n_products * ACCUMULATOR_BYTES

    @property
    def shared_bytes(self) -> int:
        """Operands that come from shared memory, int [B]."""
        from_a = self.a_bytes if self.a_home == "shared memory" else 0
        return from_a + (self.b_bytes if self.b_home == "shared memory" else 0)

    @property
    def intensity_flop_per_byte(self) -> float:
        """Operations for each byte of A and B, float [FLOP/B]."""
        return self.work_flop / self.operand_bytes


def instruction(
    name: str, *, m: int | None = None, n: int | None = None, a_home: str | None = None
) -> Instruction:
    """An instruction, with its size.

    Parameters
    ----------
    name : str
        One of `instructions`.
    m, n : int, optional
        Rows and columns of D where there is a choice; by default the largest.
    a_home : str, optional
        Where A lies, if there is a choice; by default where kernels usually have it.

    Returns
    -------
    Instruction

    Raises
    ------
    ValueError
        If the name is unknown, or there is no such size or place.

    Examples
    --------
    The sides grow as bytes, the product as work:

    >>> small, large = (instruction("wgmma.m64nNk16", n=n) for n in (8, 256))
    >>> small.n_fma, small.operand_bytes, large.n_fma, large.operand_bytes
    (8192, 2304, 262144, 10240)
    >>> large.intensity_flop_per_byte
    51.2
    """
    family = _tensorcoretable.family(_checks.one_of("instruction", name, instructions()))
    rows = max(size[0] for size in family.sizes) if m is None else _checks.whole("m", m)
    known = {size[0]: size[1:] for size in family.sizes}
    if rows not in known:
        _checks.fail("m", f"be {' or '.join(map(str, known))} for {name}", m)
    low, high, step = known[rows]
    columns = high if n is None else _checks.whole("n", n)
    if not low <= columns <= high or columns % step:
        choice = f"{low}" if low == high else f"a multiple of {step} from {low} to {high}"
        _checks.fail("n", f"be {choice} for {name}", n)
    home = family.a_homes[0] if a_home is None else a_home
    sized = name.replace("mM", f"m{rows}").replace("nN", f"n{columns}")
    return Instruction(
        name=sized, family=name, ptx=family.ptx.format(n=columns), compute=family.compute,
        m=rows, n=columns, k=family.k, n_products=family.n_products, n_threads=family.n_threads,
        n_partitions=family.n_partitions, a_home=_checks.one_of("a_home", home, family.a_homes),
        b_home=family.b_home, d_home=family.d_home, source=family.source, note=family.note,
    )  # fmt: skip

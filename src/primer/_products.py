"""Matrix products, and layers that become them: the ground of `primer.workloads`.

Users write ``workloads.Matmul``; the modules of the layers start from here.

>>> Matmul(1024, 3072, 768).flop
4831838208.0
"""

from dataclasses import dataclass
from typing import Protocol

from primer import _checks

# Bytes that one element takes in memory. tf32 computes with 19 bits and is stored in 32.
STORAGE_BYTES = {
    "fp64": 8.0, "fp32": 4.0, "tf32": 4.0, "bf16": 2.0, "fp16": 2.0,
    "fp8": 1.0, "fp6": 0.75, "fp4": 0.5, "int8": 1.0, "int4": 0.5,
}  # fmt: skip


class Workload(Protocol):
    """What `primer.roofline.place` needs to know of any workload."""

    @property
    def flop(self) -> float:
        """Floating-point operations."""

    @property
    def compulsory_bytes(self) -> float:
        """Bytes that must cross the memory interface."""


def element_bytes(storage: str) -> float:
    """Bytes per element of a storage format, float [B].

    >>> element_bytes("tf32"), element_bytes("int4")
    (4.0, 0.5)
    """
    return STORAGE_BYTES[_checks.one_of("storage", storage, tuple(STORAGE_BYTES))]


def intensity(flop: float, traffic_bytes: float) -> float:
    """Arithmetic intensity, flop / bytes, float [FLOP/B]; infinite without any bytes.

    Raises ValueError if one is negative or not finite, or if bytes are so few that the ratio
    does not fit in a float.

    >>> intensity(2.0, 8.0), intensity(1.0, 0.0)
    (0.25, inf)
    """
    work = _checks.non_negative("flop", flop)
    traffic = _checks.non_negative("traffic_bytes", traffic_bytes)
    if traffic == 0:
        return float("inf") if work > 0 else 0.0
    _checks.keeps_finite("traffic_bytes", traffic_bytes, flop_per_byte=work / traffic)
    return work / traffic


def amounts(
    work: Workload | None, work_flop: float | None, traffic_bytes: float | None
) -> tuple[float, float]:
    """FLOP and bytes, from a workload or from two numbers, checked.

    >>> amounts(None, 3, 0), amounts(Matmul(1, 1, 1, "fp32"), None, None)
    ((3.0, 0.0), (2.0, 12.0))
    """
    if work is not None:
        if work_flop is not None or traffic_bytes is not None:
            _checks.fail("work", "be left out where work_flop or traffic_bytes is given", work)
        if hasattr(work, "flop") and hasattr(work, "traffic_bytes"):
            rule = "be given as work_flop=work.flop, traffic_bytes=work.traffic_bytes"
            _checks.fail("work", f"{rule}: its bytes belong to one level", work)
        if not hasattr(work, "flop") or not hasattr(work, "compulsory_bytes"):
            _checks.fail("work", "have flop and compulsory_bytes, as primer.workloads do", work)
        work_flop, traffic_bytes = work.flop, work.compulsory_bytes
    flop = _checks.non_negative("work_flop", work_flop)
    traffic = _checks.non_negative("traffic_bytes", traffic_bytes)
    if flop == 0 and traffic == 0:
        _checks.fail("work_flop", "be positive where traffic_bytes is zero", work_flop)
    return flop, traffic


@dataclass(frozen=True)
class Matmul:
    """A matrix product C[m, n] = A[m, k] · B[k, n].

    FLOP = 2·m·n·k; compulsory bytes = e·(m·k + k·n) + e_out·m·n, with e bytes per element.
    Left out: bias, activation, the re-reading of operands that no cache can hold.

    Parameters
    ----------
    m, n, k : int
        Rows of C, columns of C, and the length of every dot product.
    storage : str
        Format of A and B in memory, a key of `STORAGE_BYTES`.
    output_storage : str, optional
        Format of C, if it differs.

    Raises
    ------
    ValueError
        If a size is not a positive integer, or a format unknown.

    Examples
    --------
    One token through a layer of 768 × 3072: two FLOP per weight, two bytes per weight.

    >>> token = Matmul(1, 3072, 768)
    >>> token.n_macs, token.flop, round(token.intensity_flop_per_byte, 3)
    (2359296, 4718592.0, 0.998)
    """

    m: int
    n: int
    k: int
    storage: str = "bf16"
    output_storage: str | None = None

    def __post_init__(self) -> None:
        for name in ("m", "n", "k"):
            object.__setattr__(self, name, _checks.whole(name, getattr(self, name)))
        element_bytes(self.storage)
        if self.output_storage is not None:
            _checks.one_of("output_storage", self.output_storage, tuple(STORAGE_BYTES))

    @property
    def n_macs(self) -> int:
        """Multiply-adds, m·n·k, int."""
        return self.m * self.n * self.k

    @property
    def flop(self) -> float:
        """Two for every multiply-add, float [FLOP]."""
        return 2.0 * self.n_macs

    @property
    def a_bytes(self) -> float:
        """Size of A, m·k elements, float [B]."""
        return element_bytes(self.storage) * self.m * self.k

    @property
    def b_bytes(self) -> float:
        """Size of B, k·n elements, float [B]."""
        return element_bytes(self.storage) * self.k * self.n

    @property
    def c_bytes(self) -> float:
        """Size of C, m·n elements in its own format, float [B]."""
        return element_bytes(self.output_storage or self.storage) * self.m * self.n

    @property
    def compulsory_bytes(self) -> float:
        """A and B read once, C written once, float [B]."""
        return self.a_bytes + self.b_bytes + self.c_bytes

    @property
    def intensity_flop_per_byte(self) -> float:
        """Highest intensity that any implementation can reach, float [FLOP/B]."""
        return intensity(self.flop, self.compulsory_bytes)

    @property
    def intensity_limit_flop_per_byte(self) -> float:
        """What the intensity approaches as m grows without end, float [FLOP/B].

        B is then read for nothing, and what remains is each row's own traffic:
        2·n·k FLOP on e·k + e_out·n bytes.

        >>> Matmul(1, 3072, 768).intensity_limit_flop_per_byte
        614.4
        """
        return 2.0 * self.n * self.k / ((self.a_bytes + self.c_bytes) / self.m)


@dataclass(frozen=True, kw_only=True)
class Gemm:
    """Equal matrix products that a layer becomes: `count` times C[m, n] = A[m, k] · B[k, n].

    Parameters
    ----------
    name : str
        What the product computes.
    m, n, k : int
        As in `Matmul`.
    count : int
        How many products of this shape: one for each head, or for each group.

    Examples
    --------
    >>> scores = Gemm(name="scores", m=1024, n=1024, k=64, count=12)
    >>> scores.n_macs == 12 * scores.matmul().n_macs
    True
    """

    name: str
    m: int
    n: int
    k: int
    count: int = 1

    def __post_init__(self) -> None:
        for name in ("m", "n", "k", "count"):
            object.__setattr__(self, name, _checks.whole(name, getattr(self, name)))

    @property
    def n_macs(self) -> int:
        """Multiply-adds of all of them, count·m·n·k, int."""
        return self.count * self.m * self.n * self.k

    @property
    def flop(self) -> float:
        """Two for every multiply-add, float [FLOP]."""
        return 2.0 * self.n_macs

    def matmul(self, storage: str = "bf16") -> Matmul:
        """One of the products, as a workload of its own."""
        return Matmul(self.m, self.n, self.k, storage=storage)


class Layer:
    """What every layer has in common: the products it becomes, and what follows from them.

    `flop` counts multiply-adds alone, two each, as peaks of matrix units do; additions of a bias,
    exponentials and the like are in `other_flop`.
    """

    storage: str

    def gemms(self) -> tuple[Gemm, ...]:
        """The matrix products that the layer becomes, in the order in which they run."""
        raise NotImplementedError

    @property
    def n_macs(self) -> int:
        """Multiply-adds, int."""
        return sum(gemm.n_macs for gemm in self.gemms())

    @property
    def flop(self) -> float:
        """Two for every multiply-add, float [FLOP]."""
        return 2.0 * self.n_macs

    @property
    def other_flop(self) -> float:
        """Operations outside the products, by the rule of the layer, float [FLOP]."""
        raise NotImplementedError

    @property
    def n_parameters(self) -> int:
        """Learned numbers, int."""
        raise NotImplementedError

    @property
    def compulsory_bytes(self) -> float:
        """Inputs and parameters read once, outputs written once, float [B]."""
        raise NotImplementedError

    @property
    def intensity_flop_per_byte(self) -> float:
        """Highest intensity that any implementation can reach, float [FLOP/B]."""
        return intensity(self.flop, self.compulsory_bytes)

    def _bytes(self, *counts: int) -> float:
        """Bytes of so many elements in the layer's storage."""
        return element_bytes(self.storage) * sum(counts)

    def _require_whole(self, *names: str) -> None:
        """Check that these fields are positive integers, and keep them as plain ones."""
        for name in names:
            object.__setattr__(self, name, _checks.whole(name, getattr(self, name)))

    def _require_flag(self, *names: str) -> None:
        for name in names:
            object.__setattr__(self, name, _checks.flag(name, getattr(self, name)))

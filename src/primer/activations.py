"""Activation functions, and what applying one costs: passes over memory, not arithmetic.

>>> round(gelu(-1.0), 4), round(gelu_tanh(-1.0), 4), round(silu(-1.0), 4), relu(-1.0)
(-0.1587, -0.1588, -0.2689, 0.0)
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from primer import _checks
from primer._products import Matmul

FUSED = ("none", "bias", "all")


def relu(x: float) -> float:
    """max(0, x), float."""
    return max(0.0, x)


def gelu(x: float) -> float:
    """x·Φ(x), with the normal distribution Φ itself, float."""
    return x * 0.5 * (1.0 + math.erf(x / math.sqrt(2.0)))


def gelu_tanh(x: float) -> float:
    """GELU as GPT-2 computes it, with a hyperbolic tangent in place of Φ, float.

    It is never further from the exact one than this:

    >>> round(max(abs(gelu(i / 100) - gelu_tanh(i / 100)) for i in range(-500, 501)), 5)
    0.00047
    """
    inner = math.sqrt(2.0 / math.pi) * (x + 0.044715 * x**3)
    return x * 0.5 * (1.0 + math.tanh(inner))


def silu(x: float) -> float:
    """x·sigmoid(x), also called swish, float."""
    return x / (1.0 + math.exp(-x)) if x >= 0 else x * math.exp(x) / (1.0 + math.exp(x))


FUNCTIONS: dict[str, Callable[[float], float]] = {
    "relu": relu,
    "gelu": gelu,
    "gelu_tanh": gelu_tanh,
    "silu": silu,
}


@dataclass(frozen=True, kw_only=True)
class Kernel:
    """One pass over memory.

    Parameters
    ----------
    name : str
        "matmul", "bias" or "function", or what it fuses of them, joined by " + ".
    read_bytes, written_bytes : float [B]
    """

    name: str
    read_bytes: float
    written_bytes: float

    @property
    def traffic_bytes(self) -> float:
        """Both together, float [B]."""
        return self.read_bytes + self.written_bytes


@dataclass(frozen=True)
class Activation:
    """function(A · B + bias), in one, two or three kernels.

    A kernel of its own reads every number and writes it back. Fused into the product, the same
    work is done on numbers that are still in registers: no bytes. The function does not matter.

    Left out: the bias itself, which is one row; caches that keep the result between two kernels;
    launches.

    Parameters
    ----------
    work : Matmul
    fused : {"none", "bias", "all"}
        What the product's kernel does besides: nothing, as three separate calls; the bias, as
        `addmm` of PyTorch; all of it, as a compiler or a library's epilogue.

    Raises
    ------
    ValueError
        If `fused` is something else.

    Examples
    --------
    2 × 2 numbers in bf16, 8 bytes a matrix: the product moves three, each pass two.

    >>> [Activation(Matmul(2, 2, 2), fused).traffic_bytes for fused in FUSED]
    [56.0, 40.0, 24.0]
    """

    work: Matmul
    fused: str = "none"

    def __post_init__(self) -> None:
        _checks.one_of("fused", self.fused, FUSED)

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """The passes over memory, in their order."""
        work = self.work
        inward = work.a_bytes + work.b_bytes
        steps = ("matmul", "bias", "function")
        n_fused = 1 + FUSED.index(self.fused)
        first = Kernel(
            name=" + ".join(steps[:n_fused]), read_bytes=inward, written_bytes=work.c_bytes
        )
        alone = (
            Kernel(name=step, read_bytes=work.c_bytes, written_bytes=work.c_bytes)
            for step in steps[n_fused:]
        )
        return (first, *alone)

    @property
    def traffic_bytes(self) -> float:
        """Bytes of all kernels, float [B]."""
        return sum(kernel.traffic_bytes for kernel in self.kernels)

    @property
    def extra_bytes(self) -> float:
        """What is moved beyond the product alone, float [B]."""
        return self.traffic_bytes - self.work.compulsory_bytes

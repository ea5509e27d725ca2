"""Work without hardware: how many operations a computation needs, and how many bytes at least.

A workload is a frozen description of shapes and storage. It knows its FLOP (a multiply-add is two)
and its compulsory bytes: every operand read once, every result written once, as if a cache held
everything in between. Unless a cache still holds data from before, real traffic is never less.

Layers are found here, too: `Linear`, `MLP` and `TransformerLayer`, `Conv2d`, `Attention`. Each
names the matrix products that it becomes.

>>> work = Matmul(1024, 3072, 768)
>>> work.flop, work.compulsory_bytes, work.intensity_flop_per_byte
(4831838208.0, 12582912.0, 384.0)
"""

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass

from primer import _checks
from primer._products import STORAGE_BYTES, Gemm, Matmul, Workload, element_bytes, intensity
from primer.attention import Attention as Attention
from primer.convolution import Conv2d as Conv2d
from primer.layers import MLP as MLP
from primer.layers import Linear as Linear
from primer.layers import TransformerLayer as TransformerLayer

# What this page of the reference shows, in its order; the layers have pages of their own.
__all__ = [  # noqa: RUF022
    "Matmul", "TiledMatmul", "Gemm", "StreamKernel", "STREAM_KERNELS", "Stream", "VectorAdd",
    "Workload", "STORAGE_BYTES", "element_bytes", "intensity", "INSTRUCTION_FLOP",
    "instruction_flop",
]  # fmt: skip


@dataclass(frozen=True)
class TiledMatmul:
    """What a matrix product fetches into a store that keeps one tile of C at a time.

    The store holds the partial sums of tile_m × tile_n elements of C. For each tile it takes in
    tile_m rows of A and tile_n columns of B, whole, and sends the finished tile out once:

        Q = e·(m·k·⌈n / tile_n⌉ + k·n·⌈m / tile_m⌉ + m·n)

    A tile of 1 × 1 keeps nothing but a sum; a tile as large as C fetches compulsory bytes only.
    The same formula serves every level: a tile in registers counts what leaves L1, a tile in L1
    what leaves L2. Tiles at the edge are clipped, not padded. Left out: whatever else holds data
    between two tiles, partial cache lines, and storing C in pieces.

    Parameters
    ----------
    m, n, k : int
        As in `Matmul`.
    tile_m, tile_n : int
        Rows and columns of the tile; one that is larger than C is as good as C itself.
    storage : str
        Format of all three matrices in memory.

    Raises
    ------
    ValueError
        If a size is not a positive integer, or the format unknown.

    Examples
    --------
    4 × 4 matrices, two bytes, tiles of 2 × 2: A and B twice each, C once, 80 elements.

    >>> TiledMatmul(4, 4, 4, tile_m=2, tile_n=2).traffic_bytes
    160.0
    >>> tile = TiledMatmul(1024, 1024, 1024, tile_m=16, tile_n=16, storage="fp32")
    >>> round(tile.intensity_flop_per_byte, 3)
    3.969
    """

    m: int
    n: int
    k: int
    _: KW_ONLY
    tile_m: int
    tile_n: int
    storage: str = "bf16"

    def __post_init__(self) -> None:
        for name in ("m", "n", "k", "tile_m", "tile_n"):
            object.__setattr__(self, name, _checks.whole(name, getattr(self, name)))
        element_bytes(self.storage)

    @property
    def flop(self) -> float:
        """Two for every multiply-add, float [FLOP]; tiling changes nothing."""
        return 2.0 * self.m * self.n * self.k

    @property
    def traffic_bytes(self) -> float:
        """Bytes of A and B, fetched again for each tile, and of C, float [B]."""
        a_elements = self.m * self.k * math.ceil(self.n / self.tile_n)
        b_elements = self.k * self.n * math.ceil(self.m / self.tile_m)
        return element_bytes(self.storage) * (a_elements + b_elements + self.m * self.n)

    @property
    def intensity_flop_per_byte(self) -> float:
        """FLOP per byte into this store, float [FLOP/B]."""
        return intensity(self.flop, self.traffic_bytes)


@dataclass(frozen=True)
class StreamKernel:
    """What one iteration of a streaming loop does.

    Parameters
    ----------
    loop : str
        The loop's body.
    n_loads, n_stores, n_flop : int
        Array elements loaded and stored, and operations, per iteration.
    is_update : bool
        Whether the stored array is also loaded, so that no line is fetched only to be written.
    operation : str
        What its FLOP are: "add", "multiply", or "multiply_add", two FLOP each. A copy has none.
    """

    loop: str
    n_loads: int
    n_stores: int
    n_flop: int
    is_update: bool = False
    operation: str = "multiply_add"


STREAM_KERNELS = {
    "copy": StreamKernel("a[i] = b[i]", 1, 1, 0),
    "scale": StreamKernel("a[i] = s * b[i]", 1, 1, 1, operation="multiply"),
    "add": StreamKernel("a[i] = b[i] + c[i]", 2, 1, 1, operation="add"),
    "triad": StreamKernel("a[i] = b[i] + s * c[i]", 2, 1, 2),
    "schoenauer": StreamKernel("a[i] = b[i] + c[i] * d[i]", 3, 1, 2),
    "accumulate": StreamKernel("a[i] += b[i]", 2, 1, 1, is_update=True, operation="add"),
    "axpy": StreamKernel("a[i] += s * b[i]", 2, 1, 2, is_update=True),
    "dot": StreamKernel("s += a[i] * b[i]", 2, 0, 2),
    "sum": StreamKernel("s += a[i]", 1, 0, 1, operation="add"),
}


@dataclass(frozen=True)
class Stream:
    """A loop that touches every element once: no reuse, so bytes decide.

    Bytes per iteration at the core = e·(loads + stores). Beyond the first cache, a line that is
    stored without having been loaded costs twice with write-allocate: once fetched, once written
    back. Left out: scalars in registers, non-temporal stores that avoid the fetch, partial lines.

    Parameters
    ----------
    kernel : str
        A key of `STREAM_KERNELS`.
    n : int
        Iterations.
    storage : str
        Format of the arrays in memory.
    write_allocate : bool
        Whether a store miss first fetches the line, as ordinary stores do on CPUs.

    Examples
    --------
    >>> Stream("triad", 10_000_000).compulsory_bytes / 12e-3  # in 12 ms: 20 GB/s
    20000000000.0
    >>> Stream("triad", 1, write_allocate=True).compulsory_bytes
    32.0
    """

    kernel: str
    n: int
    storage: str = "fp64"
    write_allocate: bool = False

    def __post_init__(self) -> None:
        _checks.one_of("kernel", self.kernel, tuple(STREAM_KERNELS))
        object.__setattr__(self, "n", _checks.whole("n", self.n))
        element_bytes(self.storage)
        allocate = _checks.flag("write_allocate", self.write_allocate)
        object.__setattr__(self, "write_allocate", allocate)

    @property
    def per_element(self) -> StreamKernel:
        """Loads, stores and FLOP of one iteration."""
        return STREAM_KERNELS[self.kernel]

    @property
    def operation(self) -> str:
        """What the FLOP are, "add", "multiply" or "multiply_add": `primer.energy` charges it."""
        return self.per_element.operation

    @property
    def flop(self) -> float:
        """Operations of all iterations, float [FLOP]."""
        return float(self.per_element.n_flop * self.n)

    @property
    def core_bytes(self) -> float:
        """Bytes that loads and stores move between core and first cache, float [B]."""
        step = self.per_element
        return element_bytes(self.storage) * (step.n_loads + step.n_stores) * self.n

    @property
    def compulsory_bytes(self) -> float:
        """Bytes beyond the first cache, float [B]."""
        step = self.per_element
        extra = step.n_stores if self.write_allocate and not step.is_update else 0
        return self.core_bytes + element_bytes(self.storage) * extra * self.n

    @property
    def intensity_flop_per_byte(self) -> float:
        """FLOP per byte beyond the first cache, float [FLOP/B]."""
        return intensity(self.flop, self.compulsory_bytes)


@dataclass(frozen=True)
class VectorAdd:
    """c = a + b, the simplest kernel: one FLOP for two loads and one store.

    Parameters
    ----------
    n : int
        Elements.
    storage : str
        Format of the three vectors in memory.
    write_allocate : bool
        Whether storing c first fetches its lines: 4 elements of traffic instead of 3.

    Examples
    --------
    >>> 1 / VectorAdd(1000).intensity_flop_per_byte
    12.0
    >>> 1 / VectorAdd(1000, write_allocate=True).intensity_flop_per_byte
    16.0
    """

    n: int
    storage: str = "fp32"
    write_allocate: bool = False

    def __post_init__(self) -> None:
        checked = self._stream()
        object.__setattr__(self, "n", checked.n)
        object.__setattr__(self, "write_allocate", checked.write_allocate)

    def _stream(self) -> Stream:
        return Stream("add", self.n, self.storage, self.write_allocate)

    @property
    def operation(self) -> str:
        """What the FLOP are: "add"."""
        return self._stream().operation

    @property
    def flop(self) -> float:
        """One per element, float [FLOP]."""
        return self._stream().flop

    @property
    def compulsory_bytes(self) -> float:
        """Two vectors read, one written (and fetched, with write-allocate), float [B]."""
        return self._stream().compulsory_bytes

    @property
    def intensity_flop_per_byte(self) -> float:
        """1 / (3 e) or 1 / (4 e), float [FLOP/B]."""
        return self._stream().intensity_flop_per_byte


#: FLOP of one instruction on one lane; a packed one ("2") works on two numbers at once.
INSTRUCTION_FLOP = {"add": 1, "mul": 1, "fma": 2, "add2": 2, "mul2": 2, "fma2": 4}


def instruction_flop(counts: Mapping[str, int]) -> float:
    """Operations behind counts of instructions, as a profiler has them, float [FLOP].

    A fused multiply-add is two, and a packed instruction does its work twice. Profilers count
    instructions of a whole warp or vector by lane; counts that are not by lane come out too small.

    Parameters
    ----------
    counts : mapping of str to int
        Instruction, one of `INSTRUCTION_FLOP`, -> how many were executed.

    Raises
    ------
    ValueError
        If an instruction is unknown or a count is not a whole number.

    Examples
    --------
    >>> instruction_flop({"add": 100, "mul": 100, "fma": 200})
    600.0
    """
    if not isinstance(counts, Mapping):
        _checks.fail("counts", "map instructions to how many were executed", counts)
    total = 0
    for name, n in counts.items():
        _checks.one_of("instruction", name, tuple(INSTRUCTION_FLOP))
        total += INSTRUCTION_FLOP[name] * _checks.whole(f"counts[{name!r}]", n, minimum=0)
    return float(total)

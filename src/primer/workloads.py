"""Work without hardware: how many operations a computation needs, and how many bytes at least.

A workload is a frozen description of shapes and storage. It knows its FLOP (a multiply-add is two)
and its compulsory bytes: every operand read once, every result written once, as if a cache held
everything in between. Real traffic is never less.

>>> work = Matmul(1024, 3072, 768)
>>> work.flop, work.compulsory_bytes, work.intensity_flop_per_byte
(4831838208.0, 12582912.0, 384.0)
"""

import math
from dataclasses import KW_ONLY, dataclass
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

    >>> intensity(2.0, 8.0), intensity(1.0, 0.0)
    (0.25, inf)
    """
    if traffic_bytes == 0:
        return float("inf") if flop > 0 else 0.0
    return flop / traffic_bytes


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
    """

    loop: str
    n_loads: int
    n_stores: int
    n_flop: int
    is_update: bool = False


STREAM_KERNELS = {
    "copy": StreamKernel("a[i] = b[i]", 1, 1, 0),
    "scale": StreamKernel("a[i] = s * b[i]", 1, 1, 1),
    "add": StreamKernel("a[i] = b[i] + c[i]", 2, 1, 1),
    "triad": StreamKernel("a[i] = b[i] + s * c[i]", 2, 1, 2),
    "schoenauer": StreamKernel("a[i] = b[i] + c[i] * d[i]", 3, 1, 2),
    "accumulate": StreamKernel("a[i] += b[i]", 2, 1, 1, is_update=True),
    "axpy": StreamKernel("a[i] += s * b[i]", 2, 1, 2, is_update=True),
    "dot": StreamKernel("s += a[i] * b[i]", 2, 0, 2),
    "sum": StreamKernel("s += a[i]", 1, 0, 1),
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

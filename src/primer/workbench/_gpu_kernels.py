"""Kernels for a GPU, in Python for `numba.cuda`: what moves data, and little else.

All of them stride through their data by the number of threads in the grid, so that neighboring
threads touch neighboring numbers and any grid does all of the work. Indices of loads are unsigned
where it matters: for signed ones, Numba adds a test for negative ones.

With NUMBA_ENABLE_CUDASIM=1, set before Numba is imported, they run on the CPU, slowly: that is how
their results are tested. This module imports Numba, so whoever needs it imports it late.
"""

import functools
from typing import Any

import numba.cuda
from numba import float32, uint64

cuda: Any = numba.cuda

BANKS = 32
HALF = 32 * BANKS  # words: lanes with a stride of up to 33 stay within them
WORDS = 2 * HALF + BANKS


@functools.cache
def copy(floats_per_thread: int) -> Any:
    """b = a, with so many loads in flight per thread: all of them start before a store needs one.

    The number of elements must be a multiple of the grid's threads times the floats per thread.
    The count is part of the compiled kernel, which keeps what it holds in registers.
    """

    @cuda.jit  # type: ignore[untyped-decorator]
    def kernel(b: Any, a: Any) -> None:
        held = cuda.local.array(floats_per_thread, float32)
        n_threads = cuda.gridsize(1)
        for start in range(cuda.grid(1), a.size, floats_per_thread * n_threads):
            for i in range(floats_per_thread):
                held[i] = a[start + i * n_threads]
            for i in range(floats_per_thread):
                b[start + i * n_threads] = held[i]

    return kernel


@cuda.jit  # type: ignore[untyped-decorator]
def strided(sums: Any, a: Any, stride: int, offset: int) -> None:
    """Sums of a[stride·i + offset], one per thread; numbers in between are not read."""
    total = a[0] - a[0]
    for i in range(cuda.grid(1), (a.size - offset) // stride, cuda.gridsize(1)):
        total += a[uint64(stride * i + offset)]
    sums[cuda.grid(1)] = total


@cuda.jit  # type: ignore[untyped-decorator]
def reread(sums: Any, a: Any, n_rounds: int, shift: int) -> None:
    """Sums of all of a, read again and again, one per thread.

    A multiprocessor that met its own part in the next round would find it in its own cache, so
    every round begins `shift` numbers later, with the beginning behind the end.
    """
    total = a[0] - a[0]
    for i_round in range(n_rounds):
        begin = i_round * shift % a.size
        for i in range(cuda.grid(1) + begin, a.size, cuda.gridsize(1)):
            total += a[uint64(i)]
        for i in range(cuda.grid(1), begin, cuda.gridsize(1)):
            total += a[uint64(i)]
    sums[cuda.grid(1)] = total


@cuda.jit  # type: ignore[untyped-decorator]
def banks(sums: Any, stride: int, n_rounds: int) -> None:
    """Lane t of every warp reads words t·stride to t·stride + 31 of shared memory, one at a time.

    Which lanes meet in a bank is the same for all of these reads, and in the other half, where
    every second round reads. The stride is at most 33. Within a round, places are constants beside
    one address, so that the reads are nearly all there is to do.
    """
    words = cuda.shared.array(WORDS, float32)
    for i in range(cuda.threadIdx.x, WORDS, cuda.blockDim.x):
        words[i] = i
    cuda.syncthreads()
    total = words[0] - words[0]
    place = uint64(cuda.threadIdx.x % BANKS * stride)
    for _ in range(n_rounds):
        for i in range(BANKS):
            total += words[place + uint64(i)]
        place ^= uint64(HALF)
    sums[cuda.grid(1)] = total

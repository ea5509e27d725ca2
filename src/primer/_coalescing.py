"""Coalescing: which sectors of memory one load of a warp touches."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from primer import _checks, _lanes

SECTOR_BYTES = 32
LINE_BYTES = 128


@dataclass(frozen=True, kw_only=True)
class MemoryRequest:
    """What one load or store of a warp asks of memory, and what it moves.

    Parameters
    ----------
    n_lanes : int
        Active lanes.
    element_bytes : int [B]
    sectors, lines : tuple of int
        Numbers of the 32-byte sectors and 128-byte lines touched, ascending; sector s begins at
        address 32·s, line l at 128·l.
    n_sectors, n_lines : int
        How many those are.
    n_ideal_sectors : int
        Sectors that as many useful bytes would fill if they lay together on a boundary.
    requested_bytes : int [B]
        What the lanes receive: n_lanes·element_bytes.
    useful_bytes : int [B]
        Distinct bytes among those; less where lanes share elements.
    moved_bytes : int [B]
        32·n_sectors.
    efficiency_frac : float
        useful_bytes / moved_bytes.
    """

    n_lanes: int
    element_bytes: int
    sectors: tuple[int, ...]
    lines: tuple[int, ...]
    n_sectors: int
    n_lines: int
    n_ideal_sectors: int
    requested_bytes: int
    useful_bytes: int
    moved_bytes: int
    efficiency_frac: float


def coalesce(
    addresses: ArrayLike | Iterable[int],
    *,
    element_bytes: int = 4,
    mask: ArrayLike | Iterable[bool] | None = None,
) -> MemoryRequest:
    """The sectors that one load or store of a warp touches.

    Memory moves in sectors of 32 bytes, four to a line, whoever asks for how little of them:

        n_sectors = |{⌊(address + b) / 32⌋}|    over the bytes b of the elements of active lanes
        efficiency = useful bytes / (32 · n_sectors)

    Elements lie on multiples of their own size, so each lies in one sector.

    Left out: everything but this one instruction. What it fetches in vain may serve the next one,
    if it is still in L1, so that the waste is an upper bound. Beyond L1: on a miss, L2 may fetch
    more than a sector from memory. And time: how many lines L1 looks up in a cycle, and that loads
    of 8 and 16 bytes are split.

    Parameters
    ----------
    addresses : int array (n_lanes,) [B]
        Where the element of each lane begins, for up to 32 lanes.
    element_bytes : int [B]
        1, 2, 4, 8 or 16.
    mask : bool array (n_lanes,), optional
        Lanes that take part; without it all do. Addresses of the others are ignored.

    Returns
    -------
    MemoryRequest

    Raises
    ------
    ValueError
        If an active lane's address is negative, no integer, or no multiple of `element_bytes`, if
        there are more than 32 lanes, or none is active.

    Notes
    -----
    Source: NVIDIA, "CUDA C++ Best Practices Guide", coalesced access to global memory (sectors,
    from compute capability 6.0 on); "CUDA C++ Programming Guide", size and alignment requirement.

    Examples
    --------
    32 floats side by side fill four sectors. With every second one, they are spread over eight;
    shifted by one float, they reach into a fifth.

    >>> import numpy as np
    >>> lane = np.arange(32)
    >>> [coalesce(4 * a).n_sectors for a in (lane, 2 * lane, lane + 1)]
    [4, 8, 5]
    >>> coalesce(4 * (lane + 1)).efficiency_frac
    0.8
    """
    asked = _lanes.access(addresses, element_bytes, mask)
    size = asked.element_bytes
    sectors = sorted({address // SECTOR_BYTES for address in asked.addresses})
    lines = sorted({address // LINE_BYTES for address in asked.addresses})
    # Aligned elements of one size are the same or have no byte in common.
    useful = size * len(set(asked.addresses))
    moved = SECTOR_BYTES * len(sectors)
    return MemoryRequest(
        n_lanes=len(asked.lanes),
        element_bytes=size,
        sectors=tuple(sectors),
        lines=tuple(lines),
        n_sectors=len(sectors),
        n_lines=len(lines),
        n_ideal_sectors=-(-useful // SECTOR_BYTES),
        requested_bytes=size * len(asked.lanes),
        useful_bytes=useful,
        moved_bytes=moved,
        efficiency_frac=useful / moved,
    )


def strided(
    stride_elements: int, *, offset_bytes: int = 0, element_bytes: int = 4
) -> NDArray[np.int64]:
    """Addresses of 32 lanes that step through memory evenly.

    Lane i asks for the element at `offset_bytes` + i · `stride_elements` · `element_bytes`.

    Parameters
    ----------
    stride_elements : int
        From lane to lane; 0 if all ask for the same.
    offset_bytes : int [B]
        Where lane 0 begins; a multiple of `element_bytes` if the addresses are to be aligned.
    element_bytes : int [B]

    Returns
    -------
    int array (32,) [B]

    Raises
    ------
    ValueError
        If the stride or the offset is negative, or one of the three is no integer.

    Examples
    --------
    >>> strided(2, offset_bytes=64)[:4].tolist()
    [64, 72, 80, 88]
    """
    stride = _checks.whole("stride_elements", stride_elements, minimum=0, maximum=2**40)
    offset = _checks.whole("offset_bytes", offset_bytes, minimum=0)
    size = _checks.whole("element_bytes", element_bytes, maximum=2**10)
    return offset + stride * size * np.arange(_lanes.N_LANES, dtype=np.int64)

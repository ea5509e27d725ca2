"""Banks of shared memory: which lanes of a warp have to wait for which."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from primer import _checks, _lanes

N_BANKS = 32
WORD_BYTES = 4


@dataclass(frozen=True, kw_only=True)
class SharedRequest:
    """What one load or store of a warp asks of the banks.

    Parameters
    ----------
    n_lanes : int
        Active lanes.
    element_bytes : int [B]
    words : tuple (n_phases,) of tuple (32,) of tuple of int
        For each phase and bank the distinct words asked of it, first come, first served; word w
        begins at address 4·w. A phase has 32, 16 or 8 lanes.
    n_wavefronts : int
        Passes over the banks that the request takes.
    n_ideal_wavefronts : int
        Passes without any conflict: the phases that have an active lane.
    n_excess_wavefronts : int
        The difference: what conflicts cost.
    n_ways : int
        The most words that one bank is asked for in one phase; 1 means no conflict.
    is_broadcast : bool
        Whether some word serves several lanes of a phase at once, which costs nothing.
    """

    n_lanes: int
    element_bytes: int
    words: tuple[tuple[tuple[int, ...], ...], ...]
    n_wavefronts: int
    n_ideal_wavefronts: int
    n_excess_wavefronts: int
    n_ways: int
    is_broadcast: bool


def banks(
    addresses: ArrayLike | Iterable[int],
    *,
    element_bytes: int = 4,
    mask: ArrayLike | Iterable[bool] | None = None,
) -> SharedRequest:
    """How often one load or store of a warp has to pass over the banks of shared memory.

    Word w, of four bytes, lives in bank w mod 32. A bank serves one word per pass, to all lanes
    that want it; a pass is called a *wavefront*. Elements of 8 bytes are served in two phases of
    16 lanes, those of 16 bytes in four phases of 8, as a pass carries 32 words at most:

        wavefronts = Σ over phases of  max over banks of  distinct words asked of the bank

    So 16-byte elements side by side take four wavefronts and have no conflict: report wavefronts
    and their excess, not "ways" alone.

    Left out: that a GPU may serve two phases in one pass where neighboring lanes ask for the same
    wide element; that stores to the same word must choose a winner; atomics; and time.

    Parameters
    ----------
    addresses : int array (n_lanes,) [B]
        Where the element of each lane begins in shared memory, for up to 32 lanes. The lane is the
        position, and decides the phase.
    element_bytes : int [B]
        1, 2, 4, 8 or 16.
    mask : bool array (n_lanes,), optional
        Lanes that take part; without it all do. Addresses of the others are ignored.

    Returns
    -------
    SharedRequest

    Raises
    ------
    ValueError
        If an active lane's address is negative, no integer, or no multiple of `element_bytes`, if
        there are more than 32 lanes, or none is active.

    Notes
    -----
    Source: NVIDIA, "CUDA C++ Programming Guide", shared memory (32 banks, words of 32 bits,
    broadcast). Phases of wide elements, and the case left out: answer of an NVIDIA engineer,
    https://forums.developer.nvidia.com/t/unexpected-shared-memory-bank-conflict/77228.

    Examples
    --------
    A column of a tile of 32 × 32 floats lies in one bank; with 33 floats to a row, in all of them.

    >>> banks(tile_addresses(32)).n_wavefronts, banks(tile_addresses(32, padding_elements=1)).n_ways
    (32, 1)
    >>> import numpy as np
    >>> wide = banks(16 * np.arange(32), element_bytes=16)
    >>> wide.n_wavefronts, wide.n_ideal_wavefronts, wide.n_ways
    (4, 4, 1)
    """
    asked = _lanes.access(addresses, element_bytes, mask)
    words, is_broadcast = _words(asked)
    longest = [max(len(bank) for bank in phase) for phase in words]
    n_wavefronts, n_ideal = sum(longest), sum(n > 0 for n in longest)
    return SharedRequest(
        n_lanes=len(asked.lanes),
        element_bytes=asked.element_bytes,
        words=words,
        n_wavefronts=n_wavefronts,
        n_ideal_wavefronts=n_ideal,
        n_excess_wavefronts=n_wavefronts - n_ideal,
        n_ways=max(longest),
        is_broadcast=is_broadcast,
    )


def _words(asked: _lanes.Access) -> tuple[tuple[tuple[tuple[int, ...], ...], ...], bool]:
    """Distinct words for each phase and bank, and whether one of them serves several lanes."""
    size = asked.element_bytes
    n_phases, n_words = max(1, size // WORD_BYTES), -(-size // WORD_BYTES)
    found: list[list[list[int]]] = [[[] for _ in range(N_BANKS)] for _ in range(n_phases)]
    is_broadcast = False
    for lane, address in zip(asked.lanes, asked.addresses, strict=True):
        phase = found[lane * n_phases // _lanes.N_LANES]
        first = address // WORD_BYTES
        for word in range(first, first + n_words):
            bank = phase[word % N_BANKS]
            if word in bank:
                is_broadcast = True
            else:
                bank.append(word)
    return tuple(tuple(tuple(bank) for bank in phase) for phase in found), is_broadcast


def bank_conflict_ways(
    stride_words: int,
    *,
    padding_words: int = 0,
    element_bytes: int = 4,
    mask: ArrayLike | Iterable[bool] | None = None,
) -> int:
    """How many words the busiest bank is asked for, if lanes step through shared memory evenly.

    Lane i asks for the element at word i · (`stride_words` + `padding_words`). For elements of 4
    bytes, all lanes active and s = stride + padding, this is gcd(s, 32), except for s = 0: then
    all lanes ask for one word, which is broadcast, and there is no conflict.

    Parameters
    ----------
    stride_words : int [words of 4 B]
        From lane to lane, such as the row of a tile that is read by column.
    padding_words : int [words of 4 B]
        Unused words after each row.
    element_bytes : int [B]
        As in `banks`; stride and padding together must be a multiple of it.
    mask : bool array (32,), optional
        Lanes that take part.

    Returns
    -------
    int
        `n_ways` of the request; 1 means no conflict. For wide elements see `banks`.

    Raises
    ------
    ValueError
        If stride or padding is negative or no integer, or leaves elements unaligned.

    Examples
    --------
    >>> [bank_conflict_ways(s) for s in (0, 1, 2, 18, 20, 32, 33)]
    [1, 1, 2, 2, 4, 32, 1]
    >>> bank_conflict_ways(32, padding_words=1)
    1
    """
    stride = _checks.whole("stride_words", stride_words, minimum=0, maximum=2**40)
    padding = _checks.whole("padding_words", padding_words, minimum=0, maximum=2**40)
    step_bytes = WORD_BYTES * (stride + padding)
    size = _lanes.element_size(element_bytes)
    if step_bytes % size:
        rule = f"keep elements of {size} B aligned together with padding_words = {padding}"
        _checks.fail("stride_words", rule, stride_words)
    lanes = step_bytes * np.arange(_lanes.N_LANES)
    return banks(lanes, element_bytes=size, mask=mask).n_ways


def tile_addresses(
    width_elements: int,
    *,
    padding_elements: int = 0,
    walk: str = "column",
    index: int = 0,
    element_bytes: int = 4,
) -> NDArray[np.int64]:
    """Addresses of 32 lanes that read a column or a row of a tile with 32 rows.

    The tile is ``tile[32][width + padding]``, row after row from address 0. By column, lane i asks
    for ``tile[i][index]``; by row, for ``tile[index][i]``. A transpose needs both.

    Parameters
    ----------
    width_elements : int
        Elements of a row that are used.
    padding_elements : int
        Unused elements after each row.
    walk : str
        "column" or "row".
    index : int
        Which column or row.
    element_bytes : int [B]

    Returns
    -------
    int array (32,) [B]

    Raises
    ------
    ValueError
        If a number is no integer or out of range, or a row is shorter than the 32 lanes that
        read it.

    Examples
    --------
    >>> tile_addresses(32, padding_elements=1)[:3].tolist()
    [0, 132, 264]
    >>> tile_addresses(32, padding_elements=1, walk="row", index=1)[:3].tolist()
    [132, 136, 140]
    """
    width = _checks.whole("width_elements", width_elements, maximum=2**20)
    padding = _checks.whole("padding_elements", padding_elements, minimum=0, maximum=2**20)
    is_column = _checks.one_of("walk", walk, ("column", "row")) == "column"
    n_indices = width if is_column else _lanes.N_LANES
    at = _checks.whole("index", index, minimum=0, maximum=n_indices - 1)
    size = _checks.whole("element_bytes", element_bytes, maximum=2**10)
    if not is_column and width < _lanes.N_LANES:
        _checks.fail("width_elements", "be at least the 32 lanes that read a row", width_elements)
    lane, pitch = np.arange(_lanes.N_LANES, dtype=np.int64), width + padding
    return size * (lane * pitch + at if is_column else at * pitch + lane)

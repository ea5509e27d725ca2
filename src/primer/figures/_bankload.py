"""A load with an even stride from shared memory, wavefront by wavefront."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from primer import warps
from primer._banks import N_BANKS
from primer._banks import WORD_BYTES as WORD
from primer._lanes import N_LANES
from primer.warps import SharedRequest


@dataclass(frozen=True, kw_only=True)
class BankLoad:
    """A load with an even stride from shared memory.

    Parameters
    ----------
    stride_words, padding_words : int [words of 4 B]
    request : SharedRequest
    turn : tuple (32,) of int
        The wavefront that brings the last of each lane's words, counted from 0.
    """

    stride_words: int
    padding_words: int
    request: SharedRequest
    turn: tuple[int, ...]

    @property
    def step_words(self) -> int:
        """Words from lane to lane, int."""
        return self.stride_words + self.padding_words

    @property
    def n_banks_used(self) -> int:
        """Banks that are asked for a word, int."""
        return sum(any(bank) for bank in zip(*self.request.words, strict=True))


@cache
def compute(stride_words: int, padding_words: int, element_bytes: int) -> BankLoad:
    """One load of 32 lanes."""
    step = stride_words + padding_words
    addresses = [WORD * step * lane for lane in range(N_LANES)]
    request = warps.banks(addresses, element_bytes=element_bytes)
    return BankLoad(
        stride_words=stride_words, padding_words=padding_words, request=request,
        turn=tuple(turns(addresses, request)),
    )  # fmt: skip


def turns(addresses: Sequence[int], request: SharedRequest) -> Iterator[int]:
    """For each lane the wavefront that brings the last of its words, counted from 0."""
    before = 0
    per_phase = N_LANES // len(request.words)
    for i, phase in enumerate(request.words):
        for address in addresses[i * per_phase : (i + 1) * per_phase]:
            first = address // WORD
            words = range(first, first + request.element_bytes // WORD)
            yield before + max(phase[word % N_BANKS].index(word) for word in words)
        before += max(map(len, phase))


def wavefronts(request: SharedRequest) -> Iterator[list[int]]:
    """The banks that serve a word in each wavefront."""
    for phase in request.words:
        for i in range(max(map(len, phase))):
            yield [bank for bank, words in enumerate(phase) if len(words) > i]


def plain_ways(load: BankLoad) -> int:
    """Words asked of the busiest bank if there were no padding, int."""
    return warps.bank_conflict_ways(load.stride_words, element_bytes=load.request.element_bytes)

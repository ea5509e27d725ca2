"""The description of a tiled matrix product: checked arguments, and where its matrices lie."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from primer import _checks
from primer import _loopnest as nest

ORDERS = ("ijk", "ikj", "jik", "jki", "kij", "kji")
C_ACCESSES = ("auto", "assign", "update", "memory")
FIRST_ADDRESS = 2**20
MOST_LINES = 2**27
MOST_TILES = 3


@dataclass(frozen=True)
class TiledNest:
    """A loop nest C[m, n] += A[m, k] · B[k, n] whose arguments hold together.

    `tiles` are (m, n, k) sizes from the outermost level inwards, `leads` and `bases` belong to
    A, B and C.
    """

    m: int
    n: int
    k: int
    order: str
    tiles: tuple[tuple[int, int, int], ...]
    element_bytes: int
    leads: tuple[int, int, int]
    bases: tuple[int, int, int]
    c_access: str

    @property
    def shapes(self) -> tuple[tuple[int, int], ...]:
        """Rows and columns of A, B and C."""
        return (self.m, self.k), (self.k, self.n), (self.m, self.n)

    @property
    def ends(self) -> tuple[int, ...]:
        """Where A, B and C end: behind the last element that is touched."""
        return tuple(
            base + ((rows - 1) * lead + columns) * self.element_bytes
            for base, lead, (rows, columns) in zip(self.bases, self.leads, self.shapes, strict=True)
        )

    @property
    def n_macs(self) -> int:
        """Multiply-adds."""
        return self.m * self.n * self.k

    @property
    def kept(self) -> int:
        """The operand that stays in a register during the innermost loop."""
        if self.c_access == "memory":
            return nest.NONE
        return {"i": nest.B, "j": nest.A, "k": nest.C}[self.order[2]]

    def array(self, *, line_bytes: int, ways: int = 0) -> NDArray[np.int64]:
        """The description that `primer._loopnest` runs.

        With `ways` of an LRU cache that nothing else takes lines from, accesses may be joined: a
        line stays while fewer than `ways` others are touched.
        """
        table = np.zeros(nest.TILES + 3 * max(1, len(self.tiles)), dtype=np.int64)
        table[nest.SIZES : nest.SIZES + 3] = self.m, self.n, self.k
        table[nest.ORDER : nest.ORDER + 3] = ["ijk".index(axis) for axis in self.order]
        table[nest.N_TILES], table[nest.KEPT] = len(self.tiles), self.kept
        table[nest.ALWAYS_LOADS] = self.c_access != "assign"
        table[nest.LINE], table[nest.ELEMENT] = line_bytes, self.element_bytes
        if self.kept == nest.C:
            table[nest.JOINS] = max(1, ways - 1)
        elif self.order[2] == "j":  # B and C, and A too without registers
            table[nest.JOINS] = 2 if ways >= (3 if self.kept == nest.NONE else 2) else 1
        table[nest.BASES : nest.BASES + 3] = self.bases
        row_axis, column_axis = (nest.I, nest.K, nest.I), (nest.K, nest.J, nest.J)
        for operand in range(3):
            strides = table[nest.STRIDES + 3 * operand : nest.STRIDES + 3 * operand + 3]
            strides[row_axis[operand]] = self.leads[operand] * self.element_bytes
            strides[column_axis[operand]] = self.element_bytes
        if self.tiles:
            table[nest.TILES :] = np.ravel(self.tiles)
        return table


def check(
    m: int,
    n: int,
    k: int,
    *,
    order: str,
    tiles: Any,
    element_bytes: int,
    ld_a: int | None,
    ld_b: int | None,
    ld_c: int | None,
    bases: Sequence[int] | None,
    align_bytes: int,
    c_access: str,
) -> TiledNest:
    """Check everything, and fill in what was left to us."""
    sizes = {name: _checks.whole(name, value) for name, value in zip("mnk", (m, n, k), strict=True)}
    _checks.one_of("order", order, ORDERS)
    levels = check_tiles(tiles, (sizes["m"], sizes["n"], sizes["k"]))
    size = _checks.whole("element_bytes", element_bytes)
    columns = {"ld_a": sizes["k"], "ld_b": sizes["n"], "ld_c": sizes["n"]}
    given = {"ld_a": ld_a, "ld_b": ld_b, "ld_c": ld_c}
    leads = [_lead(name, given[name], columns[name]) for name in columns]
    access = _checks.one_of("c_access", c_access, C_ACCESSES)
    if access == "auto":
        access = "assign" if not levels and order[2] == "k" else "update"
    rows = (sizes["m"], sizes["k"], sizes["m"])
    spans = [rows[i] * leads[i] * size for i in range(3)]
    align = _checks.whole("align_bytes", align_bytes)
    places = _placed(spans, align, size) if bases is None else _given(bases, spans, size)
    return TiledNest(
        sizes["m"],
        sizes["n"],
        sizes["k"],
        order=order,
        tiles=levels,
        element_bytes=size,
        leads=(leads[0], leads[1], leads[2]),
        bases=places,
        c_access=access,
    )


def _lead(name: str, value: int | None, columns: int) -> int:
    if value is None:
        return columns
    lead = _checks.whole(name, value)
    if lead < columns:
        _checks.fail(name, f"be at least the row length {columns}", lead)
    return lead


def check_tiles(tiles: Any, sizes: tuple[int, int, int]) -> tuple[tuple[int, int, int], ...]:
    """Up to three nested tiles (tm, tn, tk), the outermost first; one tile or one size will do."""
    if isinstance(tiles, int) and not isinstance(tiles, bool):
        tiles = (tiles, tiles, tiles)
    rule = "be () or up to three tiles (tm, tn, tk) of positive integers, the outermost first"
    if not _checks.is_a(tiles, Sequence) or _checks.is_a(tiles, str):
        _checks.fail("tiles", rule, tiles)
    nested = [tiles] if len(tiles) == 3 and not any(_is_tile(t) for t in tiles) else list(tiles)
    if len(nested) > MOST_TILES or not all(_is_tile(tile) for tile in nested):
        _checks.fail("tiles", rule, tiles)
    checked = [
        tuple(_checks.whole(f"tiles[{level}][{axis}]", size) for axis, size in enumerate(tile))
        for level, tile in enumerate(nested)
    ]
    outsides = ["the matrix", *(f"tiles[{level}]" for level in range(len(checked)))]
    for level, (outer, inner) in enumerate(itertools.pairwise([sizes, *checked])):
        for axis in range(3):
            if inner[axis] > outer[axis]:
                limit = f"not exceed {outsides[level]}, there {outer[axis]}"
                _checks.fail(f"tiles[{level}][{axis}]", limit, inner[axis])
    return tuple((tm, tn, tk) for tm, tn, tk in checked)


def _is_tile(value: Any) -> bool:
    return _checks.is_a(value, Sequence) and len(value) == 3


def _placed(spans: Sequence[int], align: int, size: int) -> tuple[int, int, int]:
    """A, B and C one after another from `FIRST_ADDRESS` on, each aligned."""
    if align % size and size % align:
        _checks.fail("align_bytes", f"be a multiple or a divisor of element_bytes {size}", align)
    step = max(align, size)
    places, at = [], FIRST_ADDRESS
    for span in spans:
        at = -(-at // step) * step
        places.append(at)
        at += span
    return places[0], places[1], places[2]


def _given(bases: Any, spans: Sequence[int], size: int) -> tuple[int, int, int]:
    """The addresses that were asked for, if the matrices do not overlap."""
    if not _checks.is_a(bases, Sequence) or len(bases) != 3:
        _checks.fail("bases", "be three addresses, of A, B and C", bases)
    names = [f"bases[{i}]" for i in range(3)]
    places = [_checks.whole(names[i], base, minimum=0) for i, base in enumerate(bases)]
    for name, place in zip(names, places, strict=True):
        if place % size:
            _checks.fail(name, f"be a multiple of element_bytes {size}", place)
    order = sorted(range(3), key=places.__getitem__)
    for first, second in itertools.pairwise(order):
        if places[first] + spans[first] > places[second]:
            rule = f"not begin before the end of the matrix at {places[first]}"
            _checks.fail(names[second], rule, places[second])
    return places[0], places[1], places[2]

"""Bundles: long instructions that start many operations at once, filled by a compiler in advance.

A core without any hardware that looks ahead starts one bundle a cycle. A bundle has slots, each for
one kind of operation, and an empty slot is lost. The compiler knows how many cycles every operation
takes, so it can place all of them before the program runs: an operation starts no sooner than what
it needs allows, and no slot is used twice.

One tile alone leaves most slots empty, because each of its operations waits for the one before.
*Software pipelining* starts the next tile before this one is done, every `interval` bundles. No
schedule can start tiles faster than two bounds allow:

    resources     max over kinds of slots of ⌈operations of a tile / slots⌉
    recurrences   max over circles of needs of ⌈cycles around it / tiles around it⌉

The second one is where buffers show: a copy into the only buffer has to wait until the tile before
has been loaded out of it.

The toy core here has the nine slots of a TPU v2's or v3's bundle, `load("tpu_v2")`. Its times are
ours and short: 3 cycles for a copy, 4 from a push into the array to its pop, 1 for all else. Real
ones are longer, see `load("tpu_v4")`, so that more tiles or larger ones have to be under way.

Left out: registers (there are as many as needed), moving immediates, predicates, what starts and
ends the loop, and copies whose time nobody knows in advance; in real programs the wait for a copy
is the one place where a core may stand still.

Sources: Jouppi et al., CACM 63(7), 2020, for the slots; Rau, "Iterative modulo scheduling",
MICRO 27, 1994, for the bounds and the method.

>>> alone, looped = (schedule(tile(), overlap=overlap) for overlap in (False, True))
>>> alone.interval_cycles, looped.interval_cycles, looped.resource_bound_cycles
(18, 4, 4)
>>> schedule(tile(n_buffers=1)).interval_cycles  # the only buffer is taken for 8 bundles
8
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from primer import _checks
from primer._bundleprogram import SLOTS, Need, Operation, Program, tile
from primer._bundleschedule import critical_path, follow, place, recurrence_bound, resource_bound
from primer._bundletable import Format, load, names

__all__ = [
    "SLOTS", "TOY", "Format", "Need", "Operation", "Program", "Schedule", "load", "names",
    "schedule", "tile",
]  # fmt: skip

MOST_TILES = 100_000
TOY: Mapping[str, int] = dict(load("tpu_v2").slots)
Ints = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Schedule:
    """A loop over tiles, with a place for every operation; arrays are read-only.

    Parameters
    ----------
    program : Program
    slots : tuple of (str, int)
        Of a bundle.
    n_tiles : int
    start : int array (n_operations,) [cycles]
        The bundle of each operation of the first tile.
    unit : int array (n_operations,)
        Which of the slots of its kind it takes.
    interval_cycles : int [cycles]
        Bundles from the start of a tile to that of the next.
    resource_bound_cycles, recurrence_bound_cycles : int [cycles]
        What slots, and circles of needs, allow at best.
    critical_path_cycles : int [cycles]
        Bundles of one tile if slots never lacked.
    """

    program: Program
    slots: tuple[tuple[str, int], ...]
    n_tiles: int
    start: Ints
    unit: Ints
    interval_cycles: int
    resource_bound_cycles: int
    recurrence_bound_cycles: int
    critical_path_cycles: int

    @property
    def tile_cycles(self) -> int:
        """Bundles from the first operation of a tile to its last, int [cycles]."""
        return int(self.start.max()) + 1

    @property
    def n_bundles(self) -> int:
        """Bundles of all tiles, int."""
        return self.tile_cycles + (self.n_tiles - 1) * self.interval_cycles

    @property
    def n_slots(self) -> int:
        """Slots of a bundle, int."""
        return sum(number for _, number in self.slots)

    @property
    def filled_frac(self) -> float:
        """Filled slots, of all slots from a tile's start to the next one's, float."""
        return len(self.start) / (self.n_slots * self.interval_cycles)

    @property
    def bundle(self) -> Ints:
        """The bundle of each operation of each tile, int array (n_tiles, n_operations)."""
        return self.start + self.interval_cycles * np.arange(self.n_tiles)[:, None]

    def at(self, bundle: int) -> tuple[tuple[int, int], ...]:
        """Tile and operation of all that one bundle starts, in the order of the operations.

        >>> looped = schedule(tile(), n_tiles=4)
        >>> [(tile, looped.program.operations[i].name) for tile, i in looped.at(6)]
        [(0, 'load x0'), (1, 'copy in')]
        """
        where = np.argwhere(self.bundle == _checks.whole("bundle", bundle, minimum=0))
        return tuple((int(i), int(j)) for i, j in where)


def schedule(
    program: Program,
    *,
    slots: Mapping[str, int] | None = None,
    n_tiles: int = 1,
    overlap: bool = True,
) -> Schedule:
    """Place a loop's operations.

    Parameters
    ----------
    program : Program
        From `tile`, or your own.
    slots : mapping of str to int, optional
        How many of each kind a bundle has; by default the toy's.
    n_tiles : int
        How often the loop runs, at most `MOST_TILES` times.
    overlap : bool
        Whether a tile may start before the one before is done. The least interval that works is
        taken, from the larger bound on.

    Returns
    -------
    Schedule

    Raises
    ------
    ValueError
        If the program is none, needs within a tile lead in a circle, a kind of slot is missing, or
        a number is not a positive integer.

    Examples
    --------
    Two sums and one adder: two bundles, and no schedule needs fewer.

    >>> sums = Program((Operation("a", "alu"), Operation("b", "alu")), (Need(0, 1, 1),))
    >>> one = schedule(sums, slots={**TOY, "alu": 1}, n_tiles=3)
    >>> one.start.tolist(), one.interval_cycles, one.n_bundles
    ([0, 1], 2, 6)
    >>> schedule(sums, n_tiles=3).n_bundles  # with two adders, the next tile starts beside
    4
    """
    if not _checks.is_a(program, Program):
        _checks.fail("program", "be a Program, as tile makes it", program)
    places = _slots(TOY if slots is None else slots)
    tiles = _checks.whole("n_tiles", n_tiles, maximum=MOST_TILES)
    path = critical_path(program)
    bounds = resource_bound(program, places), recurrence_bound(program)
    interval, starts = (
        _pipelined(program, places, max(bounds))
        if _checks.flag("overlap", overlap)
        else _one_by_one(program, places)
    )
    return Schedule(
        program=program, slots=tuple(places.items()), n_tiles=tiles,
        start=_frozen(starts), unit=_frozen(units(program, starts, interval)),
        interval_cycles=interval, resource_bound_cycles=bounds[0],
        recurrence_bound_cycles=bounds[1], critical_path_cycles=path,
    )  # fmt: skip


def _slots(slots: Mapping[str, int]) -> dict[str, int]:
    if not _checks.is_a(slots, Mapping) or set(slots) != set(SLOTS):
        _checks.fail("slots", f"give a number for each of {', '.join(SLOTS)}", slots)
    return {slot: _checks.whole(f"slots[{slot!r}]", slots[slot]) for slot in SLOTS}


def _pipelined(program: Program, slots: Mapping[str, int], interval: int) -> tuple[int, list[int]]:
    """The least interval for which a place is found for everything."""
    while (starts := place(program, slots, interval)) is None:
        interval += 1
    return interval, starts


def _one_by_one(program: Program, slots: Mapping[str, int]) -> tuple[int, list[int]]:
    """Each tile as short as can be, and the next one after it."""
    far = sum(need.cycles for need in program.needs) + len(program.operations)
    _, starts = _pipelined(program, slots, far)
    return follow(program, starts), starts


def units(program: Program, starts: list[int], interval: int) -> list[int]:
    """Which slot of its kind each operation takes, so that none is taken twice, list of int."""
    taken: dict[tuple[str, int], int] = {}
    found: list[int] = []
    for operation, start in zip(program.operations, starts, strict=True):
        place_in_loop = (operation.slot, start % interval)
        found.append(taken.get(place_in_loop, 0))
        taken[place_in_loop] = found[-1] + 1
    return found


def _frozen(numbers: list[int]) -> Ints:
    array = np.array(numbers, dtype=np.int64)
    array.flags.writeable = False
    return array

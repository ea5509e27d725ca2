"""Tiles that are copied into a few buffers while others are worked on: what waits, and for whom.

One unit copies tiles, one works on them, both one at a time and in order. A tile needs a buffer
from the start of its copy to the end of the work on it. So a copy starts when the copy before is
done and a buffer is free; work starts when the work before is done and its tile is there. For n
tiles that all take load to copy and work to use:

    one buffer          n · (load + work)                          they take turns
    two and more        load + (n − 1) · max(load, work) + work    the longer one counts

A third buffer changes nothing there. It does where tiles differ: it lets copies run ahead while
they are short, and live on the lead while they are long. With two buffers a step takes the longer
of a tile's work and the next tile's copy, so a long copy costs its whole excess, every time.

No number of buffers helps beyond max(Σ load, Σ work). Waiting can be hidden, the longer of the two
streams cannot.

Left out: the time from asking for a copy to its first byte, copies that share the memory with
others, work that begins on half a tile, and results on their way back.

Source: the rules are ours. With two buffers they are the steps of `primer.blocked_gemm`.

>>> [count(3, 5, n_tiles=4, n_buffers=b).total_cycles for b in (1, 2, 3)]  # 4 · 8; 3 + 3 · 5 + 5
[32.0, 23.0, 23.0]
>>> count(5, 3, n_tiles=4).total_cycles, count(5, 3, n_tiles=4).stall_cycles  # now work waits
(23.0, 11.0)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from primer import _checks
from primer._jit import njit

__all__ = ["Buffered", "Schedule", "count", "schedule"]

MOST_TILES = 1_000_000  # of a schedule
Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Buffered:
    """What all tiles took together.

    Parameters
    ----------
    n_tiles, n_buffers : int
    total_cycles : float [cycles]
        From the start of the first copy to the end of the last work.
    copy_cycles, work_cycles : float [cycles]
        In which something was copied, and in which something was worked on.
    fill_cycles : float [cycles]
        Before the first work: the first copy, which nothing hides.
    """

    n_tiles: int
    n_buffers: int
    total_cycles: float
    copy_cycles: float
    work_cycles: float
    fill_cycles: float

    @property
    def stall_cycles(self) -> float:
        """In which nothing is worked on, the first copy included, float [cycles]."""
        return max(0.0, self.total_cycles - self.work_cycles)

    @property
    def stall_frac(self) -> float:
        """The same as a share of the whole time, float."""
        return self.stall_cycles / self.total_cycles

    @property
    def copying_frac(self) -> float:
        """Share of the time in which something is copied, float."""
        return self.copy_cycles / self.total_cycles

    @property
    def per_tile_cycles(self) -> float:
        """All of it over the number of tiles, float [cycles]."""
        return self.total_cycles / self.n_tiles


@dataclass(frozen=True, kw_only=True, eq=False)
class Schedule(Buffered):
    """When every tile was copied and worked on; arrays are (n_tiles,) and read-only.

    Parameters
    ----------
    i_buffer : int array
        Where the tile was; they take turns.
    load_start_cycle, load_end_cycle : float array [cycles]
        Its copy.
    work_start_cycle, work_end_cycle : float array [cycles]
        The work on it; the buffer is free at its end.
    """

    i_buffer: NDArray[np.int64]
    load_start_cycle: Floats
    load_end_cycle: Floats
    work_start_cycle: Floats
    work_end_cycle: Floats


def count(load_cycles: float, work_cycles: float, *, n_tiles: int, n_buffers: int = 2) -> Buffered:
    """Tiles that are all alike, in closed form.

    Parameters
    ----------
    load_cycles, work_cycles : float [cycles]
        To copy one, and to work on it. They need not be whole.
    n_tiles, n_buffers : int

    Returns
    -------
    Buffered

    Raises
    ------
    ValueError
        If a number is not positive (copies may take no time), or the total not finite.

    Examples
    --------
    Work of 240 cycles hides copies of 240. Less work hides less of them.

    >>> [round(count(240, m, n_tiles=36).stall_frac, 2) for m in (24, 120, 240, 480)]
    [0.9, 0.51, 0.03, 0.01]
    """
    load = _checks.non_negative("load_cycles", load_cycles)
    work = _checks.positive("work_cycles", work_cycles)
    n = _checks.whole("n_tiles", n_tiles)
    buffers = _checks.whole("n_buffers", n_buffers)
    total = n * (load + work) if buffers == 1 else load + (n - 1) * max(load, work) + work
    _checks.keeps_finite("n_tiles", n_tiles, total_cycles=total)
    return Buffered(
        n_tiles=n, n_buffers=buffers, total_cycles=total, copy_cycles=n * load,
        work_cycles=n * work, fill_cycles=load,
    )  # fmt: skip


def schedule(load_cycles: ArrayLike, work_cycles: ArrayLike, *, n_buffers: int = 2) -> Schedule:
    """Any tiles, copy by copy.

    Parameters
    ----------
    load_cycles, work_cycles : float array (n_tiles,) [cycles]
        To copy each tile, and to work on it; one of the two may be one number for all.
    n_buffers : int

    Returns
    -------
    Schedule

    Raises
    ------
    ValueError
        If there is no tile or more than 1,000,000, a copy takes less than no time, some work none,
        the two do not belong to the same tiles, or the total is not finite.

    Examples
    --------
    Copies of 1 and 3 in turn, work of 2. A lead of one tile is too little to even them out.

    >>> uneven = [1, 3, 1, 3, 1, 3]
    >>> [schedule(uneven, 2, n_buffers=b).total_cycles for b in (1, 2, 3)]
    [24.0, 16.0, 14.0]
    >>> schedule(uneven, 2).work_start_cycle.tolist()
    [1.0, 4.0, 6.0, 9.0, 11.0, 14.0]
    """
    loads, works = _amounts("load_cycles", load_cycles), _amounts("work_cycles", work_cycles)
    if not (works > 0).all():
        _checks.fail("work_cycles", "be positive for every tile", float(works[works <= 0][0]))
    load, work = _together(loads, works)
    buffers = _checks.whole("n_buffers", n_buffers)
    load_start, work_start = np.zeros(len(load)), np.zeros(len(load))
    _take_turns(load, work, buffers, load_start, work_start)
    found: dict[str, Any] = {
        "i_buffer": np.arange(len(load)) % buffers,
        "load_start_cycle": load_start, "load_end_cycle": load_start + load,
        "work_start_cycle": work_start, "work_end_cycle": work_start + work,
    }  # fmt: skip
    for times in found.values():
        times.flags.writeable = False
    return Schedule(
        n_tiles=len(load), n_buffers=buffers, total_cycles=float(found["work_end_cycle"][-1]),
        copy_cycles=float(load.sum()), work_cycles=float(work.sum()), fill_cycles=float(load[0]),
        **found,
    )  # fmt: skip


@njit
def _take_turns(load: Any, work: Any, n_buffers: int, load_start: Any, work_start: Any) -> None:
    """Fill the two arrays, tile by tile."""
    copied = worked = 0.0  # when the last copy, and the last work, is done
    for i in range(len(load)):
        before = i - n_buffers  # the tile that was in this buffer
        is_free = work_start[before] + work[before] if before >= 0 else 0.0
        load_start[i] = max(copied, is_free)
        copied = load_start[i] + load[i]
        work_start[i] = max(worked, copied)
        worked = work_start[i] + work[i]


def _amounts(name: str, given: ArrayLike) -> Floats:
    """One number, or one for every tile: finite, and not below zero."""
    rule = "be one number, or a sequence of one for each tile"
    try:
        found = np.asarray(given)
    except Exception:  # of arrays from elsewhere: whatever their library raises
        _checks.fail(name, rule, given)
    if np.ma.is_masked(given):
        _checks.fail(name, "have no masked element", given)
    if found.dtype.kind not in "iuf" or found.ndim > 1 or found.size == 0:
        _checks.fail(name, rule, given)
    if found.size > MOST_TILES:
        _checks.fail(name, f"have at most {MOST_TILES:,} tiles", given)
    amounts = found.astype(np.float64)
    wrong = amounts[~((amounts >= 0) & np.isfinite(amounts))]
    if wrong.size:
        _checks.non_negative(name, float(wrong.flat[0]))
    return amounts


def _together(load: Floats, work: Floats) -> tuple[Floats, Floats]:
    """Both as arrays of the same tiles, whose times can be added up."""
    if load.ndim == work.ndim == 0:
        _checks.fail("load_cycles", "be a sequence, unless work_cycles is", float(load))
    if load.ndim == work.ndim and len(load) != len(work):
        _checks.fail("work_cycles", f"have one number for each of {len(load)} tiles", len(work))
    both = np.broadcast_arrays(load, work)
    with np.errstate(over="ignore"):
        total = float(both[0].sum() + both[1].sum())
    _checks.keeps_finite("load_cycles", float(load.max()), total_cycles=total)
    return np.ascontiguousarray(both[0]), np.ascontiguousarray(both[1])

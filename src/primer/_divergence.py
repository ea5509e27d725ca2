"""Divergence: what a warp issues when its lanes want different things."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from primer import _checks, _controlflow, _lanes
from primer._controlflow import MOST_ISSUES, Block

MOST_VISITS = 300_000  # of nodes, so that loops around nothing end


@dataclass(frozen=True, kw_only=True, eq=False)
class Divergence:
    """What a warp issued, instruction by instruction; arrays are read-only.

    Parameters
    ----------
    names : tuple (n_issued,) of str
        The name of the instructions that each issue belongs to.
    active : bool array (n_issued, 32)
        The mask of each issue: lanes that take part.
    n_issued : int
        Instructions that the warp issued.
    n_needed : int
        Instructions on the longest way of a single lane: no schedule issues fewer.
    n_lane_instructions : int
        Instructions of all lanes added up.
    lanes_frac : float
        n_lane_instructions / (32·n_issued): the share of lanes at work, averaged over issues.
    is_divergent : bool
        Whether some issue left out a lane that had started.
    """

    names: tuple[str, ...]
    active: NDArray[np.bool_]
    n_issued: int
    n_needed: int
    n_lane_instructions: int
    lanes_frac: float
    is_divergent: bool


def diverge(program: Any, *, mask: ArrayLike | Iterable[bool] | None = None) -> Divergence:
    """Run one warp through a program with branches.

    A warp issues one instruction at a time, to all lanes that want it. If lanes part at a branch,
    one way is issued first, with the others' lanes switched off, then the next. They go on
    together at the branch's immediate post-dominator, the first place that all of them reach (see
    `immediate_post_dominators`), which for a program of these nodes is what comes after the node.

    So a branch costs the sum of the ways that at least one lane takes, and a loop as many trips as
    its longest lane makes.

    This is the best case that a compiler aims at. Since Volta each lane has a program counter of
    its own, and the hardware does not guarantee that lanes meet again. Left out: time, predication
    (short branches are issued to all lanes, and some discard the result), and the instructions
    that branching itself takes.

    Parameters
    ----------
    program : Instructions, If, Switch, Loop, or a sequence of them
    mask : bool array (32,), optional
        Lanes that start; without it all do.

    Returns
    -------
    Divergence

    Raises
    ------
    ValueError
        If the program holds anything else, if no lane starts, if nothing is issued, or more than
        100,000 instructions.

    Notes
    -----
    Source: Fung, Sham, Yuan, Aamodt, "Dynamic warp formation and scheduling for efficient GPU
    control flow", MICRO 2007 (a stack of masks, reconvergence at the immediate post-dominator);
    NVIDIA, "CUDA C++ Programming Guide", SIMT architecture.

    Examples
    --------
    Half of the lanes go each way. Of 2 + 6 + 4 issues, the last ten have 16 lanes.

    >>> import numpy as np
    >>> from primer.warps import If, Instructions
    >>> lane = np.arange(32)
    >>> half = diverge([Instructions(2), If(lane < 16, Instructions(6), Instructions(4))])
    >>> half.n_issued, half.n_needed, half.n_lane_instructions
    (12, 8, 224)
    >>> round(half.lanes_frac, 3)  # 224 of 12 · 32
    0.583
    """
    listed = _controlflow.nodes("program", program)
    started = _lanes.flags("mask", [True] * _lanes.N_LANES if mask is None else mask)
    if not any(started):
        _checks.fail("mask", "leave at least one lane active", mask)
    warp = _Warp(*_controlflow.lower(listed), started)
    warp.run()
    if not warp.names:
        _checks.fail("program", "issue at least one instruction", program)
    active = np.array(warp.masks, dtype=np.bool_)
    active.flags.writeable = False
    n_lane_instructions = int(np.count_nonzero(active))
    return Divergence(
        names=tuple(warp.names),
        active=active,
        n_issued=len(active),
        n_needed=int(active.sum(axis=0).max()),
        n_lane_instructions=n_lane_instructions,
        lanes_frac=n_lane_instructions / active.size,
        is_divergent=bool((active != np.array(started)).any()),
    )


@dataclass
class _Entry:
    """Lanes that are together: where they are, and where they wait for others."""

    here: int
    until: int
    lanes: tuple[int, ...]


class _Warp:
    """A warp on its way: a stack of masks, the lanes that go on now on top."""

    def __init__(self, blocks: list[Block], entry: int, started: tuple[bool, ...]) -> None:
        graph = {i: tuple(block.successors) for i, block in enumerate(blocks)}
        self.meets = _controlflow.immediate_post_dominators(graph)
        self.blocks = blocks
        self.trips = [[0] * _lanes.N_LANES for _ in blocks]
        self.names: list[str] = []
        self.masks: list[list[bool]] = []
        lanes = tuple(lane for lane, is_on in enumerate(started) if is_on)
        self.stack = [_Entry(entry, 0, lanes)]

    def run(self) -> None:
        """Issue everything."""
        n_visits = 0
        while self.stack:
            top = self.stack[-1]
            if top.here == top.until:
                self.stack.pop()
                continue
            n_visits += 1
            if n_visits > MOST_VISITS:
                _checks.fail("program", f"pass at most {MOST_VISITS:,} nodes", n_visits)
            self._issue(self.blocks[top.here], top.lanes)
            self._go_on(top)

    def _issue(self, block: Block, lanes: tuple[int, ...]) -> None:
        if not block.n_instructions:
            return
        n_issued = len(self.names) + block.n_instructions
        if n_issued > MOST_ISSUES:
            _checks.fail("program", f"issue at most {MOST_ISSUES:,} instructions", n_issued)
        mask = [lane in lanes for lane in range(_lanes.N_LANES)]
        self.names += [block.name] * block.n_instructions
        self.masks += [mask] * block.n_instructions

    def _go_on(self, top: _Entry) -> None:
        """Move lanes to what follows; those that part get entries of their own."""
        parts = self._parts(top)
        if len(parts) == 1:
            (top.here,) = parts
            return
        meet = self.meets[top.here]
        assert meet is not None
        top.here = meet
        for successor, lanes in reversed(parts.items()):
            if successor != meet:
                self.stack.append(_Entry(successor, meet, lanes))

    def _parts(self, top: _Entry) -> dict[int, tuple[int, ...]]:
        """Which lanes go to which block, in the order of the program."""
        block, trips = self.blocks[top.here], self.trips[top.here]
        ways: dict[int, list[int]] = {successor: [] for successor in block.successors}
        for lane in top.lanes:
            way = block.choice[lane] if block.choice else 0
            if block.n_trips:
                way = int(trips[lane] == block.n_trips[lane])
                trips[lane] = 0 if way else trips[lane] + 1
            ways[block.successors[way]].append(lane)
        return {successor: tuple(lanes) for successor, lanes in ways.items() if lanes}

"""One warp in a program with a branch: lanes from left to right, time downward.

Each row is one instruction that the warp issues, to the lanes that are filled.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from matplotlib.axes import Axes

from primer._lanes import N_LANES
from primer.explore.explorable import Control, Explorable, Row
from primer.figures import _boxes, _lanestrip, style
from primer.figures._boxes import Box
from primer.figures._branches import PATTERNS, BranchRun, compute
from primer.figures._gemm import canvas
from primer.figures._lanestrip import FONT, IDLES, LEFT, PITCH, LaneStrip
from primer.figures._picture import Picture, draw

SIZE = (_lanestrip.WIDTH, 4.3)
CODE_Y, LANES_TOP = 294.0, 270.0
TIME_TOP, ROW, CELL = 253.0, 7.0, 6.2
MOST_BLOCKS = 10

WORKS: dict[str, Any] = {"fc": style.COMPUTE, "ec": "none", "lw": 0}
JOINS: dict[str, Any] = {"fc": "none", "ec": style.CHANGED, "lw": 2.0}


class DivergenceFigure(Picture):
    """The lanes, and the mask of every issue below them.

    Parameters
    ----------
    ax : Axes
        Becomes a sheet measured in points.
    """

    size: ClassVar[tuple[float, float]] = SIZE
    box: ClassVar[tuple[float, float, float, float]] = (0.0, 0.0, 1.0, 1.0)
    depends: ClassVar[dict[str, tuple[str, ...]]] = {}

    def __init__(self, ax: Axes) -> None:
        self.ax = ax
        self.alt = "A warp in a program."
        canvas(ax, SIZE)
        self.lanes = LaneStrip(ax, LANES_TOP)
        self.code = ax.text(LEFT, CODE_Y, "", fontsize=FONT, fontweight="bold", gid="code")
        self.works = _boxes.patch(ax, "works", zorder=2, **WORKS)
        self.idles = _boxes.patch(ax, "idles", zorder=2, **IDLES)
        between = [LEFT + PITCH * lane for lane in range(1, N_LANES)]
        columns = _boxes.lines((x, LANES_TOP, x, TIME_TOP - 30 * ROW) for x in between)
        _boxes.patch(ax, "", columns, fc="none", ec=style.SURFACE, lw=1.6, zorder=3)
        self.joins = _boxes.patch(ax, "joins", zorder=4, **JOINS)
        self.starts = _boxes.patch(ax, "starts", fc="none", ec=style.MUTED, lw=0.8)
        look: dict[str, Any] = {"ha": "right", "va": "center", "fontsize": FONT}
        self.names = [
            ax.text(LEFT - 9, 0, "", gid=f"block-{i}", **look) for i in range(MOST_BLOCKS)
        ]
        self.verdict = ax.text(LEFT, 0, "", va="top", fontsize=FONT, gid="verdict")
        entries = ((14, "lane at work", WORKS), (130, "lane is idle", IDLES))
        _lanestrip.legend(ax, "divergence", 12, entries)
        _boxes.patch(ax, "divergence-key-join", _boxes.lines([(240, 12, 256, 12)]), **JOINS)
        ax.text(261, 12, "lanes meet again", va="center", fontsize=FONT)

    @property
    def moving(self) -> tuple[Any, ...]:
        """The artists that a state changes."""
        return (
            *self.lanes.moving, self.code, self.works, self.idles, self.joins, self.starts,
            *self.names, self.verdict,
        )  # fmt: skip

    def update(self, result: BranchRun) -> None:
        """Show one run."""
        run = result.run
        self.lanes.update(range(N_LANES))
        self.code.set_text(result.pattern.code)
        self.works.set_path(_boxes.boxes(cells(run.active.tolist(), True)))
        self.idles.set_path(_boxes.boxes(cells(run.active.tolist(), False)))
        self.joins.set_path(
            _boxes.lines(
                (LEFT + PITCH * first, row_top(i), LEFT + PITCH * (last + 1), row_top(i))
                for i, first, last in result.joins()
            )
        )
        blocks = list(result.blocks())
        self.starts.set_path(
            _boxes.lines(
                (LEFT - 5, row_top(first) - 1, LEFT - 5, row_top(first + n) + 1)
                for _, first, n in blocks
            )
        )
        for i, label in enumerate(self.names):
            name, first, n = blocks[i] if i < len(blocks) else ("", 0, 1)
            label.set_text(name)
            label.set_y(row_top(first + n / 2))
        self.verdict.set_y(row_top(run.n_issued) - 4)
        self.verdict.set_text(f"{run.n_issued} issued; the longest lane needs {run.n_needed}")
        self.alt = describe(result)


def row_top(i: float) -> float:
    """Where an issue begins."""
    return TIME_TOP - ROW * i


def cells(active: Sequence[Sequence[bool]], wanted: bool) -> Iterator[Box]:
    """Runs of neighboring lanes that are at work, or not, in each issue."""
    for i, row in enumerate(active):
        start = 0
        for lane in range(1, N_LANES + 1):
            if lane == N_LANES or row[lane] != row[start]:
                if row[start] == wanted:
                    x, width = LEFT + PITCH * start, PITCH * (lane - start)
                    yield (x, row_top(i) - (ROW + CELL) / 2, width, CELL)
                start = lane


def describe(result: BranchRun) -> str:
    """What the picture shows, in words."""
    run = result.run
    return (
        f"A warp runs {result.pattern.code}: {run.n_issued} instructions issued, "
        f"{run.n_needed} on the longest way of a lane, {run.lanes_frac:.0%} of the lanes at work."
    )


def draw_divergence(result: BranchRun, *, ax: Axes | None = None) -> DivergenceFigure:
    """Draw one run.

    Parameters
    ----------
    result : BranchRun
        From `compute`.
    ax : Axes, optional
        Where to draw; by default on a figure of its own.
    """
    return draw(DivergenceFigure, result, ax)


def readout(result: BranchRun) -> tuple[Row, ...]:
    """The rows under the figure."""
    run = result.run
    return (
        Row("n_issued", run.n_issued, "1", "Instructions issued", f"{run.n_issued}"),
        Row("n_needed", run.n_needed, "1", "On the longest way of a lane", f"{run.n_needed}"),
        Row("n_lane_instructions", run.n_lane_instructions, "1", "All lanes added up",
            f"{run.n_lane_instructions}"),
        Row("lanes_frac", run.lanes_frac, "1", "Lanes at work, on average"),
    )  # fmt: skip


SENTENCES = {
    "uniform": (
        "The condition is the same in the whole warp, so only one way is issued, and every lane "
        "takes it. Warps that decide differently do not wait for each other."
    ),
    "half": (
        "Both ways are issued, one after the other, and each half sleeps through the way of the "
        "other: {n_issued} instructions, though no lane needs more than {n_needed}."
    ),
    "alternating": (
        "As many instructions as with half and half: {n_issued}. Which lanes go which way makes no "
        "difference, only that both ways are taken."
    ),
    "one": (
        "One lane that goes its own way is enough: 31 wait for it, then it waits for them. "
        "{n_issued} instructions are issued, where {n_needed} would do for any single lane."
    ),
    "tail": (
        "Without an else only one way has instructions: {n_issued} are issued, as many as the "
        "longest lane needs. Lanes that skip them wait all the same; {lanes_frac} are at work on "
        "average."
    ),
    "nested": (
        "Each branch adds up its ways: three of them, and {n_issued} instructions, though no lane "
        "needs more than {n_needed}. The inner branch ends first, so the first half is together "
        "again before the second one starts."
    ),
    "switch": (
        "All four cases are taken, so all four are issued, one after another, with eight lanes "
        "each. On average {lanes_frac} of the lanes are at work."
    ),
    "loop_even": (
        "All lanes make four trips: nobody waits. {n_issued} instructions do all the work."
    ),
    "loop_uneven": (
        "Four trips on average, as in the even loop, but the loop lasts as long as its longest "
        "lane: {n_issued} instructions, and only {lanes_frac} of the lanes are at work."
    ),
    "loop_one": (
        "One lane makes eight trips, and 31 wait for it: {lanes_frac} of the lanes are at work on "
        "average. The warp issues no more than that lane needs, and still most of it is idle."
    ),
}


def sentence(result: BranchRun) -> str:
    """What the reader sees in this state."""
    return SENTENCES[result.mask]


EXPLORABLE = Explorable(
    id="divergence",
    question="What does a branch cost a warp?",
    level="hardware",
    controls=(
        Control(
            "mask", "Who goes which way", tuple(PATTERNS), "half", kind="select",
            display=lambda mask: PATTERNS[mask].name,
        ),
    ),
    compute=compute,
    figure=DivergenceFigure,
    readout=readout,
    sentence=sentence,
    assumes=(
        "lanes meet again at the first place that all of them reach, as compilers aim for; since "
        "Volta the hardware does not guarantee it. One issue for each instruction; tests and jumps "
        "are free, and no branch is so short that all lanes run it and some discard the result."
    ),
)  # fmt: skip

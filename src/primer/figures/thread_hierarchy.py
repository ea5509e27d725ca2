"""A grid, a block, its warps, one thread: where the dimensions of a block end and lanes begin."""

from __future__ import annotations

from typing import Any, ClassVar

from matplotlib.axes import Axes

from primer import threads
from primer.explore.explorable import Control, Explorable, Row, State
from primer.figures._gemm import canvas
from primer.figures._picture import Picture, draw
from primer.figures._threadsheet import LANES, SIZE, Block, Warps
from primer.threads import Place

WIDTHS = (4, 8, 10, 16, 32, 33, 64)
HEIGHTS = (1, 2, 4, 8, 10, 16, 26, 32)
THREADS = (0, 1, 15, 16, 31, 32, 33, 50, 99, 128, 255, 831, 1023)
MOST = 1024


class ThreadHierarchyFigure(Picture):
    """A block of a grid, and its warps.

    Parameters
    ----------
    ax : Axes
        Becomes a sheet measured in points.
    """

    size: ClassVar[tuple[float, float]] = SIZE
    box: ClassVar[tuple[float, float, float, float]] = (0.0, 0.0, 1.0, 1.0)
    _SHAPE = ("block_x", "block_y")
    depends: ClassVar[dict[str, tuple[str, ...]]] = {
        **dict.fromkeys(("block-tint-0", "block-tint-1", "threads", "zoom"), _SHAPE),
        "block-frame": _SHAPE,
        **dict.fromkeys(("lanes-tint-0", "lanes-tint-1", "empty-lanes", "lane-borders"), _SHAPE),
        **dict.fromkeys(("block-title", "warps-title", "first-warp", "last-warp"), _SHAPE),
        "thread-words-0": ("block_x", "thread"),
        "thread-words-1": ("thread",),
    }

    def __init__(self, ax: Axes) -> None:
        self.ax = ax
        self.alt = "A block without threads."
        canvas(ax, SIZE)
        self.block, self.warps = Block(ax), Warps(ax)

    @property
    def moving(self) -> tuple[Any, ...]:
        """The artists that a state changes."""
        return (*self.block.moving, *self.warps.moving)

    def update(self, place: Place) -> None:
        """Show one thread in its block."""
        self.block.update(place)
        self.warps.update(place)
        self.alt = describe(place)


def describe(place: Place) -> str:
    """What the picture shows, in words."""
    columns, rows, _ = place.block_shape
    x, y, _ = place.thread
    return (
        f"A block of {columns} × {rows} threads: {place.n_warps} warps of 32 lanes, "
        f"{place.n_idle_lanes} lanes empty. Thread ({x}, {y}) has number {place.i_thread}, which "
        f"is lane {place.i_lane} of warp {place.i_warp}."
    )


def draw_thread_hierarchy(result: Place, *, ax: Axes | None = None) -> ThreadHierarchyFigure:
    """Draw one thread in its block.

    Parameters
    ----------
    result : Place
        From `threads.place`, with blocks in two dimensions.
    ax : Axes, optional
        Where to draw; by default on a figure of its own.
    """
    return draw(ThreadHierarchyFigure, result, ax)


def compute(block_x: int, block_y: int, thread: int) -> Place:
    """Place the thread with this number."""
    y, x = divmod(thread, block_x)
    return threads.place(block_x, block_y, thread=(x, y))


def is_valid(state: State) -> bool:
    """The block is small enough, and has such a thread."""
    n_threads = state["block_x"] * state["block_y"]
    return bool(state["thread"] < n_threads <= MOST)


def readout(place: Place) -> tuple[Row, ...]:
    """The rows under the figure."""
    return (
        _count("n_threads", place.n_threads, "Threads of the block"),
        _count("n_warps", place.n_warps, "Warps"),
        _count("n_idle_lanes", place.n_idle_lanes, "Empty lanes of the last warp"),
        Row("lanes_frac", place.lanes_frac, "1", "Lanes that hold a thread"),
        Row("thread_xy", f"({place.thread[0]}, {place.thread[1]})", "", "threadIdx.x and .y"),
        _count("i_thread", place.i_thread, "Number in the block"),
        _count("i_warp", place.i_warp, "Its warp"),
        _count("i_lane", place.i_lane, "Its lane"),
    )


def _count(name: str, value: int, label: str) -> Row:
    return Row(name, value, "1", label, f"{value:,}")


def sentence(place: Place) -> str:
    """What the reader sees in this state."""
    return f"{_rows(place)} {_lanes(place)}"


def _rows(place: Place) -> str:
    """How warps lie in the rows."""
    columns, rows, _ = place.block_shape
    if place.n_warps == 1:
        return "The whole block is one warp."
    if columns == LANES:
        return (
            "Every row is a warp, but only because a row has 32 threads: y is the warp, x the lane."
        )
    if columns % LANES == 0:
        return f"Every row is cut into {columns // LANES} warps."
    if LANES % columns == 0:
        return f"{LANES // columns} rows make a warp: the hardware counts threads, not rows."
    if rows == 1:
        return "The row is cut after every 32 threads."
    return (
        "Warps do not follow the rows: the threads stand in line, x first, and after every 32 of "
        "them a new warp begins, in the middle of a row."
    )


def _lanes(place: Place) -> str:
    """Who is missing in the last warp."""
    if not place.n_idle_lanes:
        return "All lanes hold a thread."
    last = "It" if place.n_warps == 1 else "The last warp"
    return (
        f"{last} has {{n_idle_lanes}} empty lanes, which take their place all the same: "
        "{lanes_frac} of the lanes hold a thread."
    )


EXPLORABLE = Explorable(
    id="thread-hierarchy",
    question="Which warp and which lane is this thread?",
    level="runtime",
    controls=(
        Control("block_x", "block_x: threads along x", WIDTHS, 10),
        Control("block_y", "block_y: along y", HEIGHTS, 10),
        Control("thread", "Thread, by its number", THREADS, 32, display=lambda n: f"{n:,}"),
    ),
    compute=compute,
    figure=ThreadHierarchyFigure,
    readout=readout,
    sentence=sentence,
    assumes=(
        "blocks of one or two dimensions; a third would come last. A block has at most 1,024 "
        "threads. Blocks run in any order, and since Volta nothing promises that the threads of a "
        "warp stay in step."
    ),
    is_valid=is_valid,
)  # fmt: skip

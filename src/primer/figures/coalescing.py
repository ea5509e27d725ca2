"""One load of a warp: the elements its lanes ask for, and the sectors that memory moves.

The lanes stand above memory, which is drawn from the first line that is touched to the last one;
below, the bytes asked for and the bytes moved, always on one scale.
"""

from __future__ import annotations

from typing import Any, ClassVar

from matplotlib.axes import Axes

from primer._coalescing import LINE_BYTES as LINE
from primer._coalescing import SECTOR_BYTES as SECTOR
from primer.explore.explorable import Control, Explorable, Row, State
from primer.figures import _boxes, _lanestrip, style
from primer.figures._gemm import canvas
from primer.figures._lanestrip import FONT, LEFT, RIGHT, LaneStrip
from primer.figures._picture import Picture, draw
from primer.figures._stridedload import (
    MEMORY_H,
    MEMORY_TOP,
    TOOTH,
    StridedLoad,
    compute,
    edges,
    element_box,
    gaps,
    middle,
    sectors_box,
)
from primer.warps import MemoryRequest

STRIDES = (0, 1, 2, 3, 4, 8, 9, 16, 32)
OFFSETS = (0, 4, 8, 16, 32, 64)
SIZES = (1, 2, 4, 8, 16)
MOST_BYTES = 32 * SECTOR  # that one load of aligned elements can move
WIDEST = 64  # lines, from the first to the last, that the picture has room for

SIZE = (_lanestrip.WIDTH, 3.55)
LANES_TOP = 236.0
BAR_H, BAR_END = 13.0, RIGHT - 62.0
ASKED_Y, MOVED_Y = 74.0, 49.0

ASKED: dict[str, Any] = {"fc": style.MEMORY, "ec": "none", "lw": 0}
MOVED: dict[str, Any] = {"fc": "none", "ec": style.MEMORY, "lw": 0.7, "hatch": "/////"}
LEFT_OUT: dict[str, Any] = {"fc": "none", "ec": style.IDLE, "lw": 0.7}


class CoalescingFigure(Picture):
    """Lanes, memory in sectors and lines, and two bars.

    Parameters
    ----------
    ax : Axes
        Becomes a sheet measured in points.
    """

    size: ClassVar[tuple[float, float]] = SIZE
    box: ClassVar[tuple[float, float, float, float]] = (0.0, 0.0, 1.0, 1.0)
    depends: ClassVar[dict[str, tuple[str, ...]]] = {
        "lanes-at-work": (),
        "lanes-that-wait": (),
        "asked-bar": ("stride_elements", "element_bytes"),
        "asked-text": ("stride_elements", "element_bytes"),
    }

    def __init__(self, ax: Axes) -> None:
        self.ax = ax
        self.alt = "A warp above memory."
        canvas(ax, SIZE)
        self.lanes = LaneStrip(ax, LANES_TOP)
        self.threads = _boxes.patch(ax, "threads", fc="none", ec=style.COMPUTE, lw=0.9, zorder=2)
        self.left_out = _boxes.patch(ax, "left-out", zorder=2, **LEFT_OUT)
        self.moved = _boxes.patch(ax, "moved", zorder=3, **MOVED)
        self.asked = _boxes.patch(ax, "asked", zorder=4, **ASKED)
        self.edges = _boxes.patch(ax, "edges", fc="none", ec=style.INK, lw=0.9, zorder=5)
        middle = MEMORY_TOP - MEMORY_H / 2
        for dy, text in ((8, "memory in"), (-6, "sectors")):
            _lanestrip.words(ax, middle + dy, text)
        self.addresses = [
            ax.text(0, MEMORY_TOP - MEMORY_H - 21, "", fontsize=FONT, gid=f"address-{i}")
            for i in range(6)
        ]
        self._bars(ax)
        entries = (
            (LEFT - 62, "asked for", ASKED), (LEFT + 38, "moved in vain", MOVED),
            (LEFT + 162, "not moved", LEFT_OUT),
        )  # fmt: skip
        _lanestrip.legend(ax, "coalescing", 14, entries)

    def _bars(self, ax: Axes) -> None:
        """What was asked for, and below, what moves: the same and the rest."""
        _lanestrip.words(ax, ASKED_Y, "asked for")
        _lanestrip.words(ax, MOVED_Y, "moved")
        self.bars = [
            _boxes.patch(ax, "asked-bar", zorder=3, **ASKED),
            _boxes.patch(ax, "moved-bar", zorder=2, **MOVED),
        ]
        look: dict[str, Any] = {"va": "center", "fontsize": FONT}
        self.amounts = [
            ax.text(0, ASKED_Y, "", gid="asked-text", **look),
            ax.text(0, MOVED_Y, "", gid="moved-text", **look),
        ]

    @property
    def moving(self) -> tuple[Any, ...]:
        """The artists that a state changes."""
        memory = (self.threads, self.left_out, self.moved, self.asked, self.edges)
        return (*self.lanes.moving, *memory, *self.addresses, *self.bars, *self.amounts)

    def update(self, result: StridedLoad) -> None:
        """Show one load."""
        self.lanes.update(range(32))
        self._update_memory(result)
        self._update_addresses(result)
        self._update_bars(result.request)
        self.alt = describe(result)

    def _update_bars(self, request: MemoryRequest) -> None:
        amounts = (request.useful_bytes, request.moved_bytes)
        asked, moved = ((BAR_END - LEFT) * amount / MOST_BYTES for amount in amounts)
        low = MOVED_Y - BAR_H / 2
        self.bars[0].set_path(
            _boxes.boxes([(LEFT, ASKED_Y - BAR_H / 2, asked, BAR_H), (LEFT, low, asked, BAR_H)])
        )
        rest = [(LEFT + asked, low, moved - asked, BAR_H)] if moved > asked else []
        self.bars[1].set_path(_boxes.boxes(rest))
        for label, amount, end in zip(self.amounts, amounts, (asked, moved), strict=True):
            label.set_x(LEFT + end + 7)
            label.set_text(in_bytes(amount))

    def _update_memory(self, load: StridedLoad) -> None:
        request = load.request
        self.moved.set_path(_boxes.boxes(sectors_box(load, s, 1) for s in request.sectors))
        self.left_out.set_path(_boxes.boxes(gaps(load)))
        asked = {address: element_box(load, address) for address in load.addresses}
        self.asked.set_path(_boxes.boxes(asked.values()))
        top = MEMORY_TOP + TOOTH
        self.threads.set_path(
            _boxes.lines(
                (_lanestrip.center(lane), self.lanes.bottom - 1, middle(asked[address]), top)
                for lane, address in enumerate(load.addresses)
            )
        )
        self.edges.set_path(_boxes.lines(edges(load)))

    def _update_addresses(self, load: StridedLoad) -> None:
        """Byte addresses below the first edge of lines, as many as there is room for."""
        every = -(-load.n_lines_shown // 4)
        shown = range(0, load.n_lines_shown + 1, every)
        for i, label in enumerate(self.addresses):
            text = ""
            if i < len(shown):
                address = load.first_byte + LINE * shown[i]
                text = f"byte {address}" if i == 0 else f"{address:,}"
                x = load.x(address)
                label.set_x(min(x, RIGHT))
                label.set_horizontalalignment(
                    "right" if x > RIGHT - 20 else "left" if i == 0 else "center"
                )
            label.set_text(text)


def in_bytes(amount: int) -> str:
    """An amount for reading, without a prefix, as all are small.

    >>> in_bytes(1024)
    '1,024 B'
    """
    return f"{amount:,} B"


def describe(load: StridedLoad) -> str:
    """What the picture shows, in words."""
    request = load.request
    return (
        f"32 lanes load elements of {load.size} B, {load.stride_elements} elements apart, from "
        f"byte {load.offset_bytes} on: {request.n_sectors} sectors in {request.n_lines} lines, "
        f"{request.useful_bytes} of {request.moved_bytes} bytes asked for."
    )


def draw_coalescing(result: StridedLoad, *, ax: Axes | None = None) -> CoalescingFigure:
    """Draw one load.

    Parameters
    ----------
    result : StridedLoad
        From `compute`.
    ax : Axes, optional
        Where to draw; by default on a figure of its own.
    """
    return draw(CoalescingFigure, result, ax)


def is_valid(state: State) -> bool:
    """Elements must be aligned, and what they span has to fit into the picture."""
    stride, offset, size = (
        state[name] for name in ("stride_elements", "offset_bytes", "element_bytes")
    )
    last = offset + 31 * stride * size
    return bool(offset % size == 0 and last // LINE < WIDEST)


def readout(load: StridedLoad) -> tuple[Row, ...]:
    """The rows under the figure."""
    request = load.request
    return (
        Row("n_sectors", request.n_sectors, "1", "Sectors of 32 B", f"{request.n_sectors}"),
        Row("n_ideal_sectors", request.n_ideal_sectors, "1", "Sectors, if packed",
            f"{request.n_ideal_sectors}"),
        Row("n_lines", request.n_lines, "1", "Lines of 128 B", f"{request.n_lines}"),
        Row("requested_bytes", request.requested_bytes, "B", "What the lanes receive",
            in_bytes(request.requested_bytes)),
        Row("useful_bytes", request.useful_bytes, "B", "Distinct bytes among these",
            in_bytes(request.useful_bytes)),
        Row("moved_bytes", request.moved_bytes, "B", "What memory moves",
            in_bytes(request.moved_bytes)),
        Row("efficiency_frac", request.efficiency_frac, "1", "Asked for, of what moves"),
    )  # fmt: skip


def sentence(load: StridedLoad) -> str:
    """What the reader sees in this state."""
    request = load.request
    if load.stride_elements == 0:
        return (
            "All lanes ask for the same element. One sector serves all 32, so this is cheap, "
            "though only {useful_bytes} of its {moved_bytes} are looked at."
        )
    if request.efficiency_frac == 1:
        return (
            "Side by side, and from the edge of a sector: the lanes ask for {useful_bytes}, and "
            "{moved_bytes} move. Not one byte moves in vain."
        )
    if load.stride_elements == 1:
        return (
            "Side by side, but not from the edge of a sector: the first and the last one are used "
            "in part, so {n_sectors} sectors move where {n_ideal_sectors} would do."
        )
    if request.n_sectors == 32:
        return (
            "Every lane touches a sector of its own, the worst there is: {moved_bytes} move for "
            "{useful_bytes}. A larger stride moves no more."
        )
    return (
        "A sector moves whole, even if a lane asks for {element_bytes} of its 32 bytes. Here "
        "{n_sectors} sectors move, {moved_bytes}, and {efficiency_frac} of that was asked for."
    )


EXPLORABLE = Explorable(
    id="coalescing",
    question="How many bytes does one load of a warp really move?",
    level="hardware",
    controls=(
        Control("stride_elements", "Stride: elements from lane to lane", STRIDES, 4),
        Control("offset_bytes", "Start of lane 0", OFFSETS, 0, display=lambda n: f"byte {n}"),
        Control("element_bytes", "Bytes of an element", SIZES, 4, display=lambda n: f"{n} B"),
    ),
    compute=compute,
    figure=CoalescingFigure,
    readout=readout,
    sentence=sentence,
    assumes=(
        "one load alone, all 32 lanes active. What moves in vain here may serve the next load, if "
        "it is still in L1: the waste is an upper bound. Elements lie on multiples of their size, "
        "as the GPU demands, so some starts and sizes exclude each other."
    ),
    is_valid=is_valid,
)  # fmt: skip

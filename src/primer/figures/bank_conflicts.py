"""One load of a warp from shared memory: 32 banks, and the wavefronts that it takes.

Above, the lanes and the banks that they turn to; below, time: each row is one pass over all banks,
and shows which of them serve a word.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from matplotlib.axes import Axes

from primer._banks import N_BANKS
from primer._banks import WORD_BYTES as WORD
from primer._lanes import N_LANES
from primer.explore.explorable import Control, Explorable, Row, State
from primer.figures import _boxes, _lanestrip, style
from primer.figures._bankload import BankLoad, compute, plain_ways, wavefronts
from primer.figures._boxes import Box
from primer.figures._gemm import canvas
from primer.figures._lanestrip import FONT, IDLES, LEFT, PITCH, RIGHT, LaneStrip, center
from primer.figures._picture import Picture, draw
from primer.warps import SharedRequest

STRIDES = (0, 1, 2, 3, 4, 8, 16, 18, 20, 31, 32, 33)
PADDINGS = (0, 1, 2, 4)
SIZES = (4, 8, 16)

SIZE = (_lanestrip.WIDTH, 4.6)
LANES_TOP = 311.0
BANKS_TOP, BANK_H = 240.0, 9.0
TIME_TOP, ROW, CELL = 217.0, 5.0, 4.2
NUMBERED = (1, 8, 16, 24, 32)

ASKS: dict[str, Any] = {"fc": "none", "ec": style.COMPUTE, "lw": 1.1}
WAITS: dict[str, Any] = {"fc": "none", "ec": style.IDLE, "lw": 0.6}
SERVES: dict[str, Any] = {"fc": style.MEMORY, "ec": "none", "lw": 0}


class BankConflictsFigure(Picture):
    """Lanes, banks, and rows of wavefronts.

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
        self.alt = "A warp above the banks of shared memory."
        canvas(ax, SIZE)
        self.lanes = LaneStrip(ax, LANES_TOP)
        self.waits = _boxes.patch(ax, "waits", zorder=1, **WAITS)
        self.asks = _boxes.patch(ax, "asks", zorder=2, **ASKS)
        banks = [(center(i) - PITCH / 2, BANKS_TOP - BANK_H, PITCH, BANK_H) for i in range(N_BANKS)]
        _boxes.patch(ax, "", _boxes.boxes(banks), fc="none", ec=style.MEMORY, lw=0.8, zorder=3)
        _lanestrip.words(ax, BANKS_TOP - BANK_H / 2, "banks")
        self.idles = _boxes.patch(ax, "idles", zorder=2, **IDLES)
        self.serves = _boxes.patch(ax, "serves", zorder=3, **SERVES)
        self._time(ax)
        self.verdict = ax.text(LEFT, 0, "", va="top", fontsize=FONT, gid="verdict")
        entries = (
            (8, "served first", _lanestrip.AT_WORK), (104, "waits", _lanestrip.WAITS),
            (165, "bank serves a word", SERVES), (306, "bank is idle", IDLES),
        )  # fmt: skip
        _lanestrip.legend(ax, "bank-conflicts", 12, entries)

    def _time(self, ax: Axes) -> None:
        """An axis downward, of 32 wavefronts, the most there can be."""
        x = LEFT - 4
        places = [row_y(n - 1) for n in NUMBERED]
        ticks = [(x - 3, y, x, y) for y in places]
        axis = _boxes.lines([(x, TIME_TOP, x, TIME_TOP - 32 * ROW), *ticks])
        _boxes.patch(ax, "", axis, fc="none", ec=style.MUTED, lw=0.8)
        for n, y in zip(NUMBERED, places, strict=True):
            _lanestrip.words(ax, y, f"wavefront {n}" if n == 1 else str(n))

    @property
    def moving(self) -> tuple[Any, ...]:
        """The artists that a state changes."""
        return (
            *self.lanes.moving, self.waits, self.asks, self.idles, self.serves, self.verdict,
        )  # fmt: skip

    def update(self, result: BankLoad) -> None:
        """Show one load."""
        first = [lane for lane in range(N_LANES) if result.turn[lane] == 0]
        self.lanes.update(first)
        self.asks.set_path(_boxes.lines(threads(result, True)))
        self.waits.set_path(_boxes.lines(threads(result, False)))
        rows = list(wavefronts(result.request))
        self.idles.set_path(
            _boxes.boxes((LEFT, row_y(i) - CELL / 2, RIGHT - LEFT, CELL) for i in range(len(rows)))
        )
        self.serves.set_path(
            _boxes.boxes(bank_cell(i, bank) for i, banks in enumerate(rows) for bank in banks)
        )
        self.verdict.set_y(row_y(len(rows) - 0.5) - 5)
        self.verdict.set_text(verdict(result.request))
        self.alt = describe(result)


def row_y(i: float) -> float:
    """The middle of a wavefront's row."""
    return TIME_TOP - ROW * (i + 0.5)


def bank_cell(i: int, bank: int) -> Box:
    """Where a bank stands in a wavefront's row."""
    return (center(bank) - PITCH / 2 + 0.6, row_y(i) - CELL / 2, PITCH - 1.2, CELL)


def threads(load: BankLoad, is_first: bool) -> Iterator[tuple[float, float, float, float]]:
    """Lines from lanes to the middle of the banks that they ask, for those served first or not."""
    n_words = load.request.element_bytes // WORD
    for lane, turn in enumerate(load.turn):
        if (turn == 0) == is_first:
            bank = lane * load.step_words % N_BANKS + (n_words - 1) / 2
            yield (center(lane), LANES_TOP - _lanestrip.HEIGHT - 1, center(bank), BANKS_TOP + 1)


def verdict(request: SharedRequest) -> str:
    """The outcome, below the last row.

    >>> from primer import warps
    >>> verdict(warps.banks([0, 128]))
    'done after 2 wavefronts; without conflicts 1'
    """
    n, ideal = request.n_wavefronts, request.n_ideal_wavefronts
    done = f"done after {n} wavefront{'s' if n > 1 else ''}"
    return f"{done}; without conflicts {ideal}" if n > ideal else f"{done}, no conflict"


def describe(load: BankLoad) -> str:
    """What the picture shows, in words."""
    request = load.request
    return (
        f"32 lanes load elements of {request.element_bytes} B, {load.step_words} words apart: "
        f"{request.n_wavefronts} wavefronts, {request.n_ideal_wavefronts} without conflicts."
    )


def draw_bank_conflicts(result: BankLoad, *, ax: Axes | None = None) -> BankConflictsFigure:
    """Draw one load.

    Parameters
    ----------
    result : BankLoad
        From `compute`.
    ax : Axes, optional
        Where to draw; by default on a figure of its own.
    """
    return draw(BankConflictsFigure, result, ax)


def is_valid(state: State) -> bool:
    """Wide elements only where the rows and what is added keep them aligned."""
    words = state["element_bytes"] // WORD
    return bool(state["stride_words"] % words == 0 and state["padding_words"] % words == 0)


def readout(load: BankLoad) -> tuple[Row, ...]:
    """The rows under the figure."""
    request = load.request
    counts = (
        ("n_wavefronts", request.n_wavefronts, "Wavefronts"),
        ("n_ideal_wavefronts", request.n_ideal_wavefronts, "without conflicts"),
        ("n_excess_wavefronts", request.n_excess_wavefronts, "in excess"),
        ("n_banks_used", load.n_banks_used, "Banks that are asked"),
        ("n_ways", request.n_ways, "Words asked of the busiest one"),
    )
    return (
        *(Row(name, value, "1", label, f"{value}") for name, value, label in counts),
        Row("n_phase_lanes", N_LANES // len(request.words), "1", "Lanes served together, at most",
            f"{N_LANES // len(request.words)}"),
        Row("is_broadcast", request.is_broadcast, "", "A word serves several lanes",
            "yes" if request.is_broadcast else "no"),
    )  # fmt: skip


def sentence(load: BankLoad) -> str:
    """What the reader sees in this state."""
    request = load.request
    if load.step_words == 0:
        if request.n_wavefronts == 1:
            return (
                "All lanes ask for the same word, and its bank serves it once, to all of them: a "
                "broadcast is no conflict."
            )
        return (
            "All lanes ask for the same element. Its banks serve it once for every "
            "{n_phase_lanes} lanes, to all who want it: a broadcast is no conflict."
        )
    if request.n_excess_wavefronts:
        return _conflict(load)
    if request.n_wavefronts > 1:
        return (
            "Each wavefront carries 32 words, all that the banks can give, and serves "
            "{n_phase_lanes} lanes. Wide elements take more wavefronts; that is no conflict."
        )
    if load.padding_words and plain_ways(load) > 1:
        return (
            f"{plain_ways(load)} wavefronts without the padding, one with it: every lane turns to "
            "a bank of its own."
        )
    return "32 lanes, 32 banks, one word from each: nobody waits."


def _conflict(load: BankLoad) -> str:
    """Lanes that meet in a bank."""
    if load.request.n_ways == 32:
        return (
            "All 32 lanes want different words of the same bank, and it gives one at a time. They "
            "wait in line for {n_wavefronts} wavefronts, while 31 banks have nothing to do."
        )
    return (
        "The lanes turn to only {n_banks_used} of 32 banks, and the busiest is asked for {n_ways} "
        "words at a time: {n_wavefronts} wavefronts, where {n_ideal_wavefronts} would do."
    )


EXPLORABLE = Explorable(
    id="bank-conflicts",
    question="When do 32 lanes wait for one another?",
    level="hardware",
    controls=(
        Control("stride_words", "Stride: words from lane to lane", STRIDES, 32),
        Control("padding_words", "Padding: words added to the stride", PADDINGS, 0),
        Control(
            "element_bytes", "Bytes of an element", SIZES, 4, kind="select",
            display=lambda n: f"{n} B",
        ),
    ),
    compute=compute,
    figure=BankConflictsFigure,
    readout=readout,
    sentence=sentence,
    assumes=(
        "all 32 lanes active; 32 banks of four bytes; elements of 8 B are served 16 lanes at a "
        "time, those of 16 B 8 lanes. Where neighbors ask for the same wide element, a GPU can be "
        "faster. Stride and padding must keep elements aligned, so some values exclude each other."
    ),
    is_valid=is_valid,
)  # fmt: skip

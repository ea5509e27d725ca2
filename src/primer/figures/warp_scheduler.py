"""Warps taking turns on one scheduler, and how many of them it takes to hide the wait for memory.

Above, what each warp does in each cycle, and the issue slots that all of them fill together. Below,
the share of slots in use for any number of warps.
"""

from __future__ import annotations

from typing import Any, ClassVar

from matplotlib.axes import Axes

from primer.explore.explorable import Control, Explorable, Row
from primer.figures._gemm import canvas
from primer.figures._picture import Picture, draw
from primer.figures._warpcurve import Curve
from primer.figures._warpgantt import Gantt
from primer.figures._warpturns import (
    CHIP,
    CLOCK_HZ,
    INTERVALS,
    LATENCIES,
    ROOM,
    Turns,
    compute,
    is_valid,
)

COUNTS = (1, 2, 3, 4, 5, 6, 8, 10, 11, 12, 14, ROOM)
POLICY_NAMES = {"gto": "greedy, then oldest", "rr": "round robin"}
BOUND_NAMES = {
    "latency": "latency: all wait",
    "bandwidth": "bandwidth: memory is full",
    "issue": "nothing: slots are full",
}


class WarpSchedulerFigure(Picture):
    """Warps over time, the slots they fill, and the curve on which they stand.

    Parameters
    ----------
    ax : Axes
        Becomes a sheet measured in points.
    """

    size: ClassVar[tuple[float, float]] = (5.5, 6.0)
    box: ClassVar[tuple[float, float, float, float]] = (0.0, 0.0, 1.0, 1.0)
    _PROGRAM = ("latency_cycles", "alu_per_load", "independent_loads", "bandwidth", "policy")
    depends: ClassVar[dict[str, tuple[str, ...]]] = {
        **dict.fromkeys(("ticks", *(f"cycle-{i}" for i in range(5))), ("latency_cycles",)),
        "room": ("n_warps",),
        "cuts": ("latency_cycles", "n_warps"),
        **dict.fromkeys(("ceiling", "ceiling-name"), ("alu_per_load", "bandwidth")),
        **dict.fromkeys(("line", "dots", "beyond-name"), _PROGRAM),
    }

    def __init__(self, ax: Axes) -> None:
        self.ax = ax
        self.alt = "Warps taking turns on a scheduler."
        canvas(ax, self.size)
        self.gantt = Gantt(ax)
        self.curve = Curve(ax)

    @property
    def moving(self) -> tuple[Any, ...]:
        """The artists that a state changes."""
        return (*self.gantt.moving, *self.curve.moving)

    def update(self, result: Turns) -> None:
        """Show some warps."""
        self.gantt.update(result)
        self.curve.update(result)
        self.alt = describe(result)


def describe(result: Turns) -> str:
    """What the picture shows, in words."""
    program, run = result.program, result.run
    return (
        f"{result.n_warps} warps on one scheduler, {POLICY_NAMES[program.policy]}: each repeats "
        f"{run.on.n_loads} loads of {program.latency_cycles} cycles and {run.on.n_alu} arithmetic "
        f"instructions. They use {100 * run.utilization_frac:.3g} % of the issue slots."
    )


def draw_warp_scheduler(result: Turns, *, ax: Axes | None = None) -> WarpSchedulerFigure:
    """Draw some warps.

    Parameters
    ----------
    result : Turns
        From `compute`.
    ax : Axes, optional
        Where to draw; by default on a figure of its own.
    """
    return draw(WarpSchedulerFigure, result, ax)


def readout(result: Turns) -> tuple[Row, ...]:
    """The rows under the figure."""
    run, needed = result.run, result.bound.n_warps_needed
    greedy = result.program.greedy.run(result.n_warps).utilization_frac
    per_load = 1 / run.loads_per_cycle
    return (
        Row("utilization_frac", run.utilization_frac, "1", "Issue slots in use"),
        Row("bound", run.bound, "", "Held back by", BOUND_NAMES[run.bound]),
        Row("n_warps_needed", needed, "1", "Warps that would fill slots or memory", f"{needed}"),
        Row("greedy_utilization_frac", greedy, "1", "Slots in use, greedy then oldest"),
        Row("cycles_per_load", per_load, "cycles", "One load and its math, every"),
        Row("load_latency_cycles", run.load_latency_cycles, "cycles", "Latency, queue included"),
        Row("needed_bytes", run.needed_bytes, "B", "Bytes in flight needed, at least"),
        Row("available_bytes", run.available_bytes, "B", "The most these warps allow"),
        Row("in_flight_bytes", run.in_flight_bytes, "B", "In flight, on average"),
    )


def sentence(result: Turns) -> str:
    """What holds these warps back, and what would help."""
    if result.program.policy == "rr":
        return _round_robin(result)
    if result.run.bound == "issue":
        return _full(result)
    if result.run.bound == "bandwidth":
        return (
            "The memory never rests: it takes one load every {cycles_per_load}, and no more are to "
            "be had. More warps or more loads at a time only make its queue longer. More math per "
            "load would use more slots. Latency can be hidden, bandwidth cannot."
        )
    return _waiting(result)


def _full(result: Turns) -> str:
    """No slot is empty."""
    with_queue = ", waiting for the memory included" if _queues(result) else " as before"
    text = (
        "No slot is empty: whenever one warp has to wait, another is ready. A load takes "
        f"{{load_latency_cycles}}{with_queue}, but the scheduler does not notice."
    )
    if result.n_without_turn:
        text += (
            " {n_warps_needed} warps are enough; younger ones get no turn until an older one is "
            "done."
        )
    return text


def _waiting(result: Turns) -> str:
    """Greedy turns, and neither slots nor memory are full."""
    needed = result.bound.n_warps_needed
    if result.n_warps == 1:
        start = (
            f"While this warp waits {_wait(result)}, there is nobody else to issue: "
            "{utilization_frac} of the slots are in use. "
        )
    else:
        start = (
            f"While a warp waits {_wait(result)}, others issue. But soon all of them "
            "wait, and slots stay empty: {utilization_frac} are in use. "
        )
    is_full = result.program.bound(needed).bound == "issue"
    aim = "fill every slot" if is_full else "keep the memory busy, and with it more slots"
    if needed <= ROOM:
        return f"{start}{{n_warps_needed}} warps would {aim}."
    return (
        f"{start}{{n_warps_needed}} warps would {aim}, but a scheduler has room for {ROOM}. More "
        "loads at a time help, as more warps would."
    )


def _queues(result: Turns) -> bool:
    """Whether loads wait for one another before the memory takes them."""
    return result.run.load_latency_cycles > result.program.latency_cycles


def _wait(result: Turns) -> str:
    """What a warp waits for, and how long."""
    each = "{load_latency_cycles}" if _queues(result) else "{latency_cycles}"
    if result.program.independent_loads == 1:
        return f"{each} for its load"
    mean = " on average" if _queues(result) else ""
    return f"for its {result.program.independent_loads} loads, each {each}{mean}"


def _round_robin(result: Turns) -> str:
    """Strict turns, with memory without limit."""
    if result.n_warps == 1:
        return (
            "One warp alone has every turn, whatever the policy: it uses {utilization_frac} of the "
            "slots. Give it company."
        )
    return (
        "Round robin moves on after every instruction, so all warps come to their loads together, "
        "and then wait together: {utilization_frac} of the slots are in use. Greedy turns would "
        "fill {greedy_utilization_frac}. Here it would take {n_warps_needed} warps to fill all."
    )


def interval_name(bandwidth: str) -> str:
    """A limit for reading.

    >>> interval_name("toy")
    'a load every 8 cycles'
    """
    if bandwidth == "unlimited":
        return "no limit"
    every = f"a load every {INTERVALS[bandwidth]} cycles"
    return f"{every} (H100)" if bandwidth == "h100" else every


def latency_name(latency_cycles: int) -> str:
    """A latency for reading."""
    return f"{latency_cycles} cycles{' (H100)' if latency_cycles == LATENCIES[-1] else ''}"


EXPLORABLE = Explorable(
    id="warp-scheduler",
    question="How many warps does it take to hide the wait?",
    level="hardware",
    controls=(
        Control("latency_cycles", "Latency of a load", LATENCIES, 20, display=latency_name),
        Control("alu_per_load", "Math instructions per load", (1, 3, 9, 39), 3),
        Control("independent_loads", "Loads at a time, per warp", (1, 4), 1),
        Control(
            "policy", "Whose turn", tuple(POLICY_NAMES), "gto", kind="select",
            display=lambda policy: POLICY_NAMES[policy],
        ),
        Control(
            "bandwidth", "Memory", tuple(INTERVALS), "unlimited", kind="select",
            display=interval_name,
        ),
        Control("n_warps", "Warps", COUNTS, 4, kind="step"),
    ),
    compute=compute,
    figure=WarpSchedulerFigure,
    readout=readout,
    sentence=sentence,
    assumes=(
        "one scheduler, one instruction per cycle; every warp repeats its loads and then the math "
        "on them, one after the other; a math instruction takes one cycle, though on a GPU the "
        "next one waits several for its result; every load takes the same time once the memory "
        "accepts it, and is one request of 128 bytes. The H100’s limit is an equal share of "
        f"{CHIP.name}’s printed bandwidth, at {CLOCK_HZ / 1e9:g} GHz. The picture begins when the "
        "warps have settled, not when they start."
    ),
    is_valid=is_valid,
)  # fmt: skip

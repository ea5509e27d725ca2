"""Occupancy: a launch moves into a multiprocessor until one of its resources is used up.

Above, the warp slots of four schedulers and the blocks in them. Below, how many blocks each
resource alone would allow; the fewest is what fits.
"""

from __future__ import annotations

from typing import Any, ClassVar

from matplotlib.axes import Axes

from primer import capabilities, units
from primer.explore.explorable import Control, Explorable, Row
from primer.figures._gemm import canvas
from primer.figures._occupancyruns import (
    CAPABILITIES,
    KIB,
    REGISTERS,
    SHARED,
    THREADS,
    Residents,
    compute,
    needed,
)
from primer.figures._occupancysheet import LIMIT_NAMES, QUARTERS, SIZE, Home, LimitBars
from primer.figures._picture import Picture, draw
from primer.occupancy import NO_LIMIT, Occupancy


def _of(
    limit: str, *, words: tuple[str, ...], rest: tuple[str, ...], beyond: tuple[str, ...]
) -> dict[str, tuple[str, ...]]:
    """Which controls the artists of a limit answer to."""
    return {
        f"words-{limit}": words,
        f"bar-{limit}": rest,
        f"count-{limit}": rest,
        f"beyond-{limit}": beyond,
    }


class OccupancyFigure(Picture):
    """A multiprocessor with its residents, and its limits as bars.

    Parameters
    ----------
    ax : Axes
        Becomes a sheet measured in points.
    """

    size: ClassVar[tuple[float, float]] = SIZE
    box: ClassVar[tuple[float, float, float, float]] = (0.0, 0.0, 1.0, 1.0)
    _BLOCK = ("capability", "threads_per_block")
    _FILES = (*_BLOCK, "registers_per_thread")
    _SHARED = ("capability", "shared_bytes_per_block")
    depends: ClassVar[dict[str, tuple[str, ...]]] = {
        **dict.fromkeys(("slots", *(f"tick-{share}" for share in QUARTERS)), ("capability",)),
        **dict.fromkeys(("even-blocks", "odd-blocks", "empty-lanes", "block-numbers"), _BLOCK),
        **_of("warps", words=_BLOCK, rest=_BLOCK, beyond=_BLOCK),
        **_of("registers", words=("registers_per_thread",), rest=_FILES, beyond=_FILES),
        **_of("shared_memory", words=_SHARED, rest=_SHARED, beyond=(*_BLOCK, _SHARED[1])),
        **_of("blocks", words=("capability",), rest=("capability",), beyond=("capability",)),
    }

    def __init__(self, ax: Axes) -> None:
        self.ax = ax
        self.alt = "A multiprocessor."
        canvas(ax, SIZE)
        self.home = Home(ax)
        self.limits = LimitBars(ax)

    @property
    def moving(self) -> tuple[Any, ...]:
        """The artists that a state changes."""
        return (*self.home.moving, *self.limits.moving)

    def update(self, result: Residents) -> None:
        """Show one launch."""
        self.home.update(result)
        self.limits.update(result)
        self.alt = describe(result.launch)


def describe(launch: Occupancy) -> str:
    """What the picture shows, in words."""
    return f"One multiprocessor of capability {launch.capability.id}: {launch}."


def draw_occupancy(result: Residents, *, ax: Axes | None = None) -> OccupancyFigure:
    """Draw one launch.

    Parameters
    ----------
    result : Residents
        From `compute`.
    ax : Axes, optional
        Where to draw; by default on a figure of its own.
    """
    return draw(OccupancyFigure, result, ax)


def readout(result: Residents) -> tuple[Row, ...]:
    """The rows under the figure."""
    launch = result.launch
    need = needed(launch.capability.id)
    binding = names(launch)
    return (
        Row("occupancy_frac", launch.occupancy_frac, "1", "Occupancy"),
        Row("lanes_frac", launch.lanes_frac, "1", "Lanes with a thread"),
        _count("n_blocks", launch.n_blocks, "Blocks on the multiprocessor"),
        _count("n_warps", launch.n_warps, "Warps on it"),
        Row("limiters", " ".join(launch.limiters), "", "Limited by", binding),
        Row("warps_per_scheduler", launch.warps_per_scheduler, "1", "Warps per scheduler",
            units.number(launch.warps_per_scheduler, 4)),
        _count("blocks_by_warps", launch.limits.warps, "Blocks by warp slots"),
        _count("blocks_by_registers", launch.limits.registers, "Blocks by registers"),
        _count("blocks_by_shared_memory", launch.limits.shared_memory, "Blocks by shared memory"),
        _count("blocks_by_slots", launch.limits.blocks, "Blocks by block slots"),
        _count("allocated_registers_per_block", launch.allocated_registers_per_block,
               "Registers of a block"),
        Row("allocated_shared_bytes_per_block", launch.allocated_shared_bytes_per_block, "B",
            "Shared memory of a block",
            units.text(launch.allocated_shared_bytes_per_block, "B", binary=True)),
        Row("in_flight_bytes", launch.in_flight_bytes, "B", "In flight, 4 B per thread",
            f"{launch.in_flight_bytes:,} B"),
        Row("needed_in_flight_bytes", need[0] if need else "unknown", "B" if need else "",
            "Full bandwidth takes, at least",
            f"{units.text(need[0], 'B', 3)} ({need[1]})" if need else "unknown"),
    )  # fmt: skip


def _count(name: str, value: int, label: str) -> Row:
    return Row(name, value, "1", label, "any number" if value == NO_LIMIT else f"{value:,}")


def names(launch: Occupancy) -> str:
    """What binds, for reading; barriers are as many as block slots here, and never bind alone."""
    found = [LIMIT_NAMES[name] for name in launch.limiters if name in LIMIT_NAMES]
    return " and ".join([", ".join(found[:-1]), found[-1]] if len(found) > 1 else found)


def sentence(result: Residents) -> str:
    """What binds, and what would let one more block in."""
    launch = result.launch
    if not launch.n_blocks:
        return f"C{launch.reason[1:]}. The launch would fail with an error."
    if launch.occupancy_frac == 1:
        return _full(launch)
    return f"{_binding(launch)} {_one_more(result)}"


def _full(launch: Occupancy) -> str:
    """All slots taken: what that does not say."""
    take = "1 block takes" if launch.n_blocks == 1 else "{n_blocks} blocks take"
    need = needed(launch.capability.id)
    if launch.lanes_frac < 1:
        then = (
            "But only {lanes_frac} of the lanes have a thread: blocks of whole warps would fill "
            "the rest."
        )
    elif need and launch.in_flight_bytes < need[0]:
        then = (
            "Still, with one load of 4 bytes per thread {in_flight_bytes} are under way, and full "
            "bandwidth takes at least {needed_in_flight_bytes} per multiprocessor: more or larger "
            "loads are what is left."
        )
    else:
        then = "Whether the kernel runs faster for it is another question."
    return (
        f"Full: {take} every warp slot, and each scheduler has {{warps_per_scheduler}} warps to "
        f"choose from. {then}"
    )


def _binding(launch: Occupancy) -> str:
    """Which limits allow just what fits."""
    said = names(launch)
    verb = "allow" if " and " in said or said.endswith("s") else "allows"
    many = "1 block" if launch.n_blocks == 1 else "{n_blocks} blocks"
    warps = f"{{n_warps}} of {launch.capability.max_warps_per_sm} warps"
    return f"{said[0].upper()}{said[1:]} {verb} {many}, {warps}."


def _one_more(result: Residents) -> str:
    """What to change for another block, or for more warps."""
    launch = result.launch
    threads, n_warps = result.best_size
    if "blocks" in launch.limiters:
        if threads:
            return f"Larger blocks would bring more: {threads} threads each make {n_warps} warps."
        return "No larger block would bring more warps."
    if "warps" in launch.limiters:
        left = launch.capability.max_warps_per_sm - launch.n_warps
        are = "1 slot is" if left == 1 else f"{left} slots are"
        other = f"blocks of {threads} threads would make {n_warps} warps"
        return (
            f"{are} left, too few for another {launch.n_warps_per_block} warps; "
            f"{other if threads else 'no other size of a block would bring more'}."
        )
    may = result.next_allowance
    needs = []
    if "registers" in launch.limiters:
        needs.append(f"{may.registers_per_thread} registers per thread")
    if "shared_memory" in launch.limiters:  # in steps of 128 B or more, so three digits are exact
        needs.append(f"{may.shared_bytes_per_block / KIB:.7g} KiB of shared memory")
    return f"For one more block, at most {' and '.join(needs)}."


def capability_name(name: str) -> str:
    """A capability with its architecture and a product.

    >>> capability_name("9.0")
    '9.0, Hopper (H100)'
    """
    gpu = capabilities.load(name)
    return f"{name}, {gpu.architecture.split(',')[0]} ({gpu.products[0]})"


EXPLORABLE = Explorable(
    id="occupancy",
    question="How many warps of this kernel fit on one multiprocessor?",
    level="hardware",
    controls=(
        Control(
            "capability", "Capability", CAPABILITIES, "9.0", kind="select",
            display=capability_name,
        ),
        Control("threads_per_block", "Threads per block", THREADS, 256),
        Control("registers_per_thread", "Registers per thread", REGISTERS, 32),
        Control(
            "shared_bytes_per_block", "Shared memory per block", SHARED, 48 * KIB,
            display=lambda size: f"{size // KIB} KiB",
        ),
    ),
    compute=compute,
    figure=OccupancyFigure,
    readout=readout,
    sentence=sentence,
    assumes=(
        "a grid with blocks enough, the largest carve-out of shared memory, a kernel that opted in "
        "to it, one barrier per block, no clusters. Warps are dealt to the schedulers in turn. "
        "Bytes needed are the chip’s bandwidth times its unloaded latency, per multiprocessor."
    ),
)  # fmt: skip

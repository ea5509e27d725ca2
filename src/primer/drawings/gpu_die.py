"""The die of an H100, from the whole chip down to one SM: panel "the GPU die" as a drawing.

A schematic. What stands beside what follows NVIDIA's block diagram; sizes do not.
"""

from __future__ import annotations

from collections.abc import Iterator

from primer import hardware
from primer.drawings._sheet import Sheet, build
from primer.explore.drawing import Drawing, Part
from primer.figures import style
from primer.figures._boxes import Box

ID = "gpu-die"
SIZE = (6.0, 4.85)
CHIP = hardware.load("h100_sxm5_80gb")
FIELD = {q.name: q for q in CHIP.quantities()}
COUNT = {q.name.removeprefix("count."): int(q.value) for q in CHIP.counts}
N_LINKS = int(FIELD["link.nvlink.n_links"].value)
N_OFF = COUNT["die_sms"] - COUNT["sms"]

DIE: Box = (66, 46, 300, 298)
LEFT, WIDTH = 82.0, 268.0  # of what stands on the die, between the memory controllers
GPC_WIDTH, GPC_HEIGHT, GPC_GAP = 64.0, 66.0, 4.0
GPC_ROWS = (216.0, 92.0)
CELL, SM_WIDTH, SM_HEIGHT = 6.2, 4.9, 17.0
STACKS: tuple[Box, ...] = tuple(
    (x, y, 54, 76) for x, ys in ((5, (58, 150, 242)), (373, (104, 196))) for y in ys
)


def gpcs() -> Iterator[tuple[Box, int]]:
    """Place of each GPC, and how many TPCs are drawn in use in it: as even as they go.

    >>> [n for _, n in gpcs()]
    [9, 9, 8, 8, 8, 8, 8, 8]
    """
    fewest, rest = divmod(COUNT["tpcs"], COUNT["gpcs"])
    for i in range(COUNT["gpcs"]):
        row, column = divmod(i, COUNT["gpcs"] // 2)
        x = LEFT + column * (GPC_WIDTH + GPC_GAP)
        yield (x, GPC_ROWS[row], GPC_WIDTH, GPC_HEIGHT), fewest + (i < rest)


def sms(place: Box, start: int, stop: int) -> list[Box]:
    """The SMs of TPCs `start` to `stop` of a GPC, one above the other."""
    x, y = place[0] + 4.4, place[1] + 6.0
    return [
        (x + i * CELL, y + j * (SM_HEIGHT + 2.4), SM_WIDTH, SM_HEIGHT)
        for i in range(start, stop)
        for j in range(2)
    ]


def around(cells: list[Box]) -> Box:
    """The area that holds these cells."""
    left, low = min(c[0] for c in cells), min(c[1] for c in cells)
    right, high = max(c[0] + c[2] for c in cells), max(c[1] + c[3] for c in cells)
    return left - 1, low - 1.5, right - left + 2, high - low + 3


def sheet() -> Sheet:
    """The drawing, part by part."""
    return build(ID, SIZE, (_top, _clusters, _memory, _bottom))


def _top(made: Sheet) -> None:
    made.group("", DIE).cells([DIE], face=style.MUTED, tint=0.05, lw=1.2)
    _band(made, "host", 316, "PCIe 5.0 ×16, to the host", style.NETWORK)
    _band(made, "scheduler", 288, "Thread block scheduler", style.IDLE)


def _band(made: Sheet, part: str, y: float, words: str, face: str) -> None:
    group = made.group(part, (LEFT, y, WIDTH, 22))
    group.box(face=face)
    group.label(words)


def _clusters(made: Sheet) -> None:
    """Eight GPCs first, then their SMs above them."""
    places = list(gpcs())
    for place, _ in places:
        group = made.group("gpc", place)
        group.box(face=style.COMPUTE, tint=0.1)
        group.text(place[0] + GPC_WIDTH / 2, place[1] + GPC_HEIGHT - 10, "GPC")
    full = COUNT["die_tpcs"] // COUNT["gpcs"]
    for place, n_used in places:
        used = sms(place, 0, n_used)
        made.group("sm", around(used)).cells(used, face=style.COMPUTE, tint=0.75, lw=0)
    for place, n_used in places:
        if n_used < full:
            off = sms(place, n_used, full)
            made.group("off", around(off)).cells(off, face=style.IDLE, tint=0, lw=0.9)


def _memory(made: Sheet) -> None:
    y, half = 164.0, WIDTH / 2 - 2
    group = made.group("l2", (LEFT, y, WIDTH, 46))
    group.cells([(LEFT, y, half, 46), (LEFT + half + 4, y, half, 46)], face=style.MEMORY, tint=0.2)
    for x, words in (
        (LEFT + half / 2, "L2 cache"),
        (LEFT + 1.5 * half + 4, f"{FIELD['memory.l2.capacity']} in all"),
    ):
        group.text(x, y + 23, words)
    for x in (DIE[0] + 1, DIE[0] + DIE[2] - 14):
        strip = made.group("controllers", (x, 58, 13, 260))
        strip.box(face=style.MEMORY, tint=0.3)
        strip.label("memory controllers", rotation=90, fontsize=9.0)
    for place in STACKS:
        stack = made.group("hbm", place)
        stack.box(face=style.MEMORY, tint=0.2)
        stack.label("HBM3\nstack")


def _bottom(made: Sheet) -> None:
    """NVLink, then the two kinds of cells with their names, large enough for a finger."""
    _band(made, "nvlink", 58, f"NVLink, {N_LINKS} links to other GPUs", style.NETWORK)
    used = made.group("sm", (82, 6, 112, 26))
    used.cells([(89, 10.5, SM_WIDTH, SM_HEIGHT)], face=style.COMPUTE, tint=0.75, lw=0)
    used.text(100, 19, f"{COUNT['sms']} SMs in use", ha="left")
    off = made.group("off", (226, 6, 124, 26))
    off.cells([(233, 10.5, SM_WIDTH, SM_HEIGHT)], face=style.IDLE, tint=0)
    off.text(244, 19, f"{N_OFF} switched off", ha="left")


VALUES = {
    "pcie": FIELD["link.pcie.oneway"],
    "slower": f"{CHIP.bandwidth_bytes_per_s / FIELD['link.pcie.oneway'].value:.0f}",
    "n_gpcs": COUNT["gpcs"],
    "n_sms": COUNT["sms"],
    "n_lanes": f"{COUNT['fp32_lanes']:,}",
    "n_tensor_cores": COUNT["matrix_units"],
    "n_die_sms": COUNT["die_sms"],
    "n_off": N_OFF,
    "l2": FIELD["memory.l2.capacity"],
    "l2_latency": FIELD["memory.l2.latency"],
    "n_controllers": COUNT["memory_controllers"],
    "n_per_stack": COUNT["memory_controllers"] // COUNT["memory_stacks"],
    "n_stacks": COUNT["memory_stacks"],
    "hbm": FIELD["memory.hbm.capacity"],
    "hbm_rate": FIELD["memory.hbm.bandwidth"],
    "hbm_latency": FIELD["memory.hbm.latency"],
    "n_links": N_LINKS,
    "nvlink": FIELD["link.nvlink.oneway"],
}

WORDS = (
    (
        "host",
        "PCIe, the link to the host",
        "Commands and data of the CPU come in here, at {pcie} in each direction. The GPU's own "
        "memory delivers {slower} times as much, so what is needed again stays there.",
    ),
    (
        "scheduler",
        "Thread block scheduler",
        "NVIDIA calls it the GigaThread Engine. It hands the blocks of a kernel to SMs that have "
        "room, and the next block when one has finished. A block stays on its SM.",
    ),
    (
        "gpc",
        "GPC, graphics processing cluster",
        "{n_gpcs} groups of SMs that lie close together. Blocks that are launched as a cluster "
        "run inside one GPC, and reach each other’s shared memory directly.",
    ),
    (
        "sm",
        "SM, streaming multiprocessor",
        "{n_sms} are in use, each with its own schedulers, registers and L1 cache. Two of them "
        "form a TPC. Together they have {n_lanes} FP32 lanes and {n_tensor_cores} Tensor Cores.",
    ),
    (
        "off",
        "SMs that are switched off",
        "The die has {n_die_sms} SMs, and {n_off} of them are off, so a die with a few faults can "
        "still be used. Which ones is not published; their places here are made up.",
    ),
    (
        "l2",
        "L2 cache",
        "{l2}, in two parts, for all SMs. What an SM does not find in its own L1 it asks for "
        "here. A load that hits was measured at {l2_latency}.",
    ),
    (
        "controllers",
        "Memory controllers",
        "{n_controllers} of them stand between L2 and memory, {n_per_stack} for each stack. Each "
        "is 512 bits wide.",
    ),
    (
        "hbm",
        "HBM3, the main memory",
        "{n_stacks} stacks of memory chips, beside the die in the same package: {hbm} that "
        "deliver {hbm_rate} together. A load from there was measured at {hbm_latency}.",
    ),
    (
        "nvlink",
        "NVLink, the way to other GPUs",
        "{n_links} links, together {nvlink} in each direction. Product pages add both directions "
        "and print twice that.",
    ),
)

DRAWING = Drawing(
    id=ID,
    question="What is on the die of an H100?",
    level="hardware",
    alt=(
        f"Schematic of an H100: {COUNT['gpcs']} GPCs in two rows with {COUNT['sms']} SMs in all, "
        f"the L2 cache between the rows, {COUNT['memory_stacks']} HBM3 stacks on both sides, "
        "PCIe and the thread block scheduler above, NVLink below."
    ),
    parts=tuple(Part(id=i, label=label, text=text.format(**VALUES)) for i, label, text in WORDS),
    picture=lambda: sheet().svg(),
    note=(
        "A schematic of the H100 SXM5, not a floor plan: sizes and places are not to scale. "
        "Which SMs are off, and so how many each GPC has, is not published. "
        "Decoders for video and images are left out."
    ),
    sources=tuple(
        FIELD[name].source for name in ("count.die_sms", "link.nvlink.oneway", "memory.l2.latency")
    ),
)

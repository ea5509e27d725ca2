"""The inside of one SM of an H100: four sub-partitions and what they share.

The SM of the drawing "gpu-die", magnified. Units are counted, their sizes mean nothing.
"""

from __future__ import annotations

from primer import capabilities, hardware, units
from primer.drawings._sheet import Group, Sheet, build
from primer.explore.drawing import Drawing, Part
from primer.figures import style
from primer.figures._boxes import Box

ID = "sm-inside"
SIZE = (6.0, 6.75)
CHIP = hardware.load("h100_sxm5_80gb")
FIELD = {q.name: q for q in CHIP.quantities()}
LIMITS = capabilities.load("9.0")
N_SMS = int(CHIP.count("sms").value)
N_QUARTERS = LIMITS.n_schedulers_per_sm
REGISTER_BYTES = 4 * LIMITS.registers_per_sm  # registers of 32 bits
L1_BYTES = FIELD["memory.l1.capacity"].value

WIDTH, HEIGHT = 206.0, 162.0  # of a sub-partition
CORNERS = tuple((x, y) for y in (282.0, 112.0) for x in (6.0, 220.0))
CELL, GAP = 6.6, 1.6


def per_quarter(count: str) -> int:
    """How many of the chip's units of this kind each sub-partition has.

    >>> per_quarter("fp32_lanes"), per_quarter("matrix_units")
    (32, 1)
    """
    n, rest = divmod(int(CHIP.count(count).value), N_SMS * N_QUARTERS)
    if rest:
        raise ValueError(f"count.{count} must be a multiple of {N_SMS * N_QUARTERS}; got {rest}")
    return n


def grid(x: float, y: float, n: int, columns: int) -> list[Box]:
    """Square cells in rows, the lower left one at x, y."""
    step = CELL + GAP
    return [(x + i % columns * step, y + i // columns * step, CELL, CELL) for i in range(n)]


def sheet() -> Sheet:
    """The drawing, part by part."""
    return build(ID, SIZE, (_top, _quarters, _bottom))


def _top(made: Sheet) -> None:
    _wide(made, "instructions", 454, 24, "L1 instruction cache", style.IDLE)


def _quarters(made: Sheet) -> None:
    """Every part of all four in turn: those of one kind are one part."""
    for i, (x, y) in enumerate(CORNERS, 1):
        group = made.group("quarter", (x, y, WIDTH, HEIGHT))
        group.box(face=style.MUTED, tint=0.05)
        group.text(x + WIDTH / 2, y + HEIGHT - 11, f"sub-partition {i}")
    for x, y in CORNERS:
        _named(made, "scheduler", (x + 6, y + 118, 194, 22), "warp scheduler", style.IDLE)
    for x, y in CORNERS:
        words = f"registers, {_size(REGISTER_BYTES // N_QUARTERS)}"
        _named(made, "registers", (x + 6, y + 92, 194, 22), words, style.MEMORY)
    for part, count, dx, columns, title in (
        ("fp32", "fp32_lanes", 6, 8, "FP32"),
        ("int32", "int32_lanes", 78, 4, "INT32"),
        ("fp64", "fp64_lanes", 117, 4, "FP64"),
    ):
        for x, y in CORNERS:
            _lanes(made, part, (x + dx, y + 34), per_quarter(count), columns, title)
    for x, y in CORNERS:
        _named(made, "tensor", (x + 156, y + 34, 44, 54), "Tensor\nCore", style.COMPUTE, 0.35)
    for x, y in CORNERS:
        _named(made, "load", (x + 6, y + 6, 112, 22), "load / store", style.MEMORY)
    for x, y in CORNERS:
        words = f"{per_quarter('special_units')} SFU"
        _named(made, "special", (x + 122, y + 6, 78, 22), words, style.COMPUTE)


def _bottom(made: Sheet) -> None:
    _wide(made, "tma", 80, 24, "Tensor Memory Accelerator", style.MEMORY)
    x, y, width, height = 6.0, 8.0, 420.0, 66.0
    group = made.group("l1", (x, y, width, height))
    shared = width * LIMITS.shared_bytes_per_sm / L1_BYTES
    group.box(face=style.MEMORY, tint=0.12)
    group.cells([(x, y, shared, height)], face=style.MEMORY, tint=0.2)
    middle = x + shared / 2
    group.text(middle, 50, f"L1 cache and shared memory, {_size(L1_BYTES)}")
    group.text(middle, 32, f"up to {_size(LIMITS.shared_bytes_per_sm)} of it shared")


def _wide(made: Sheet, part: str, y: float, height: float, words: str, face: str) -> None:
    _named(made, part, (6, y, 420, height), words, face)


def _named(made: Sheet, part: str, area: Box, words: str, face: str, tint: float = 0.18) -> Group:
    group = made.group(part, area)
    group.box(face=face, tint=tint)
    group.label(words)
    return group


def _lanes(
    made: Sheet, part: str, corner: tuple[float, float], n: int, columns: int, title: str
) -> None:
    """One cell for each lane, under the name of its kind."""
    x, y = corner
    width = columns * (CELL + GAP) - GAP + 4
    group = made.group(part, (x, y, width, 54))
    group.cells(grid(x + 2, y + 3, n, columns), face=style.COMPUTE, tint=0.55, lw=0)
    group.text(x + width / 2, y + 45, title, fontsize=9.5)


def _size(n_bytes: float) -> str:
    return units.text(n_bytes, "B", binary=True)


def _cycles(count: str) -> str:
    """How long an instruction of a warp occupies all units of a kind, in words."""
    n = LIMITS.warp_size // per_quarter(count)
    return f"{n} cycle" if n == 1 else f"{n} cycles"


VALUES = {
    "n_quarters": N_QUARTERS,
    "n_warps": LIMITS.max_warps_per_scheduler,
    "n_sm_warps": LIMITS.max_warps_per_sm,
    "n_threads": LIMITS.warp_size,
    "n_registers": f"{LIMITS.registers_per_sm // N_QUARTERS:,}",
    "n_each": LIMITS.registers_per_sm // LIMITS.max_threads_per_sm,
    "n_fp32": per_quarter("fp32_lanes"),
    "n_sm_fp32": per_quarter("fp32_lanes") * N_QUARTERS,
    "fp32_cycles": _cycles("fp32_lanes"),
    "n_int32": per_quarter("int32_lanes"),
    "int32_cycles": _cycles("int32_lanes"),
    "n_fp64": per_quarter("fp64_lanes"),
    "fp64_cycles": _cycles("fp64_lanes"),
    "n_fma": int(CHIP.count("fma_per_matrix_unit").value),
    "n_special": per_quarter("special_units"),
    "special_cycles": _cycles("special_units"),
    "l1": _size(L1_BYTES),
    "shared": _size(LIMITS.shared_bytes_per_sm),
    "l1_latency": FIELD["memory.l1.latency"],
}

WORDS = (
    (
        "instructions",
        "L1 instruction cache",
        "Keeps instructions for all {n_quarters} sub-partitions. Each of these has a smaller "
        "cache of its own, L0, before its scheduler. Their sizes are not published.",
    ),
    (
        "quarter",
        "Sub-partition",
        "There are {n_quarters}. A warp is a group of {n_threads} threads; it is given to one "
        "sub-partition, and stays there until it ends. Each holds up to {n_warps} warps.",
    ),
    (
        "scheduler",
        "Warp scheduler",
        "In every cycle it looks for a warp that is ready, among up to {n_warps}, and issues one "
        "instruction for its {n_threads} threads. If none is ready, the cycle is lost.",
    ),
    (
        "registers",
        "Register file",
        "{n_registers} registers of 32 bits. All warps keep theirs here at once, so the scheduler "
        "can change from one to another without saving anything. With {n_sm_warps} warps on the "
        "SM, a thread has at most {n_each} registers.",
    ),
    (
        "fp32",
        "FP32 lanes",
        "{n_fp32} here, {n_sm_fp32} on the SM, which NVIDIA calls CUDA cores. Each starts "
        "one multiply-add per cycle, so an instruction of a warp occupies them for {fp32_cycles}. "
        "Its result is there a few cycles later.",
    ),
    (
        "int32",
        "INT32 lanes",
        "{n_int32} for whole numbers and addresses. An instruction of a warp occupies them for "
        "{int32_cycles}.",
    ),
    (
        "fp64",
        "FP64 lanes",
        "{n_fp64} for double precision. An instruction of a warp occupies them for {fp64_cycles}. "
        "Chips made for games or inference have almost none.",
    ),
    (
        "tensor",
        "Tensor Core",
        "Multiplies small matrices: {n_fma} multiply-adds per cycle in FP16, where the FP32 lanes "
        "beside it do {n_fp32}. One instruction gives it work for several cycles.",
    ),
    (
        "load",
        "Load and store units",
        "They send the {n_threads} addresses of a warp’s instruction to shared memory, to L1 and "
        "beyond. How well these addresses lie together decides how many requests it takes.",
    ),
    (
        "special",
        "SFU, special function units",
        "{n_special} for functions such as sine, square root and powers of two. An instruction "
        "of a warp occupies them for {special_cycles}.",
    ),
    (
        "tma",
        "Tensor Memory Accelerator",
        "Copies whole tiles between main memory and shared memory. One thread starts the copy, "
        "and the warps go on computing while it runs.",
    ),
    (
        "l1",
        "L1 cache and shared memory",
        "One memory of {l1} for all {n_quarters}. A kernel sets aside a part, at most {shared}, "
        "as shared memory, and decides what lies there; the rest is a cache. A load that hits in "
        "it was measured at {l1_latency}.",
    ),
)

DRAWING = Drawing(
    id=ID,
    question="What is inside one SM?",
    level="hardware",
    alt=(
        f"Schematic of one SM of an H100: {N_QUARTERS} equal sub-partitions, each with a warp "
        "scheduler, registers, lanes for FP32, INT32 and FP64, a Tensor Core, load and store "
        "units and special function units; above them an instruction cache, below them the "
        "Tensor Memory Accelerator and the memory that is L1 cache and shared memory."
    ),
    parts=tuple(Part(id=i, label=label, text=text.format(**VALUES)) for i, label, text in WORDS),
    picture=lambda: sheet().svg(),
    note=(
        "An SM of an H100 SXM5. Lanes are drawn one by one, and the shared part of L1 to scale; "
        "other sizes mean nothing. Left out: texture units, the constant cache, and all wires."
    ),
    sources=tuple(
        q.source
        for q in (
            CHIP.count("int32_lanes"),
            CHIP.count("special_units"),
            LIMITS.limit("shared_bytes_per_sm"),
            LIMITS.limit("n_schedulers_per_sm"),
            CHIP.count("fma_per_matrix_unit"),
            FIELD["memory.l1.latency"],
        )
    ),
)

"""From CUDA C++ to SASS: one small matrix product in three languages, line beside line.

Which instruction of the machine comes from which line is what the compiler notes with `-lineinfo`.
"""

from __future__ import annotations

from dataclasses import dataclass

from primer.drawings import _listing
from primer.drawings._listing import Line, Listing
from primer.explore.drawing import Drawing, Part

ID = "ptx-sass"
ARCH, OLDER = "sm_90", "sm_75"
SIDE, WARP = 16, 32
ZERO = "RZ"


@dataclass(frozen=True)
class Step:
    """One step of the program: how its lines start, and the addresses of its instructions."""

    id: str
    label: str
    text: str
    cuda: tuple[str, ...]
    ptx: tuple[str, ...] = ()
    sass: str = ""

    @property
    def addresses(self) -> frozenset[int]:
        """Where the instructions of the machine stand."""
        return frozenset(int(word, 16) for word in self.sass.split())


def _steps() -> tuple[Step, ...]:
    return (*_before(), *_loads(), *_after())


def _before() -> tuple[Step, ...]:
    each = SIDE * SIDE // WARP
    return (
        Step(
            "header",
            "The header and its namespace",
            "mma.h declares all that follows in the namespace nvcuda::wmma. The line using "
            "namespace nvcuda lets one write wmma::… for it; using nvcuda::wmma would not "
            "compile, for wmma is a namespace itself.",
            ("#include", "using"),
        ),
        Step(
            "kernel",
            "The kernel and its three addresses",
            "All threads of a warp run this function. PTX reads the addresses of A, B and C from "
            "parameters. SASS finds them as constants where it needs them, such as A in "
            "c[0x0][0x210]; its first instruction sets up a stack that nobody uses.",
            ('extern "C" __global__',),
            (".visible", ".param", ")", "ld.param", "cvta"),
            "0",
        ),
        Step(
            "fragments",
            "Fragments",
            f"A fragment is a tile spread over the registers of a warp: {SIDE * SIDE} numbers for "
            f"{WARP} threads, {each} for each. PTX has as many registers as it likes. In SASS they "
            f"are R4 to R7 for A, two numbers in each, R16 to R19 for B, and {each} registers for "
            "C. To declare them costs no instruction.",
            ("wmma::fragment",),
            (".reg",),
        ),
        Step(
            "fill",
            "The sum starts at zero",
            f"PTX puts a zero into a register. SASS needs none: {ZERO} is a register that always "
            "reads as zero, and stands in the product as its third operand.",
            ("wmma::fill_fragment",),
            ("mov.f32",),
        ),
    )


def _loads() -> tuple[Step, ...]:
    return (
        Step(
            "load-a",
            "Load A",
            "One instruction of PTX, for the whole warp: it leaves open which thread gets which "
            "numbers. SASS has decided: each thread computes an address from its place in the "
            "warp, SR_LANEID, and four loads, LDG, bring it eight numbers of A.",
            ("wmma::load_matrix_sync(a_frag",),
            ("mov.u32", "wmma.load.a"),
            "10 20 40 50 60 70 f0 100 120 130 140 150",
        ),
        Step(
            "load-b",
            "Load B, and turn it",
            "B lies in memory row by row, but the Tensor Core takes it by columns. So four loads "
            "are followed by four MOVM, each of which transposes a block of 8 × 8 numbers between "
            "the threads. Stored and declared as col_major, B would need none of them.",
            ("wmma::load_matrix_sync(b_frag",),
            ("wmma.load.b",),
            "30 80 90 a0 b0 c0 d0 e0 160 170 180 190",
        ),
    )


def _after() -> tuple[Step, ...]:
    (name, n), (older, n_older) = (_matrix_instruction(arch) for arch in (ARCH, OLDER))
    return (
        Step(
            "mma",
            "The product",
            f"{SIDE} × {SIDE} × {SIDE} = {SIDE**3:,} multiply-adds, and one instruction of PTX. "
            "A Tensor Core of an H100 takes 16 × 8 × 16 at a time for one warp, so SASS has "
            f"{n} {name}, one for each half of the columns. For a Turing GPU the same line "
            f"becomes {n_older} {older}.",
            ("wmma::mma_sync",),
            ("wmma.mma",),
            "1a0 1b0",
        ),
        Step(
            "store",
            "Store C",
            "One instruction of PTX again. In SASS each thread writes its eight sums with four "
            "stores, STG.E.64, of two numbers each.",
            ("wmma::store_matrix_sync",),
            ("wmma.store.d",),
            "110 1c0 1d0 1e0 1f0 200 210",
        ),
        Step("end", "The end", "The thread is done.", ("}",), ("ret",), "220"),
    )


def _matrix_instruction(arch: str) -> tuple[str, int]:
    """The instruction that multiplies, and how often it stands in the kernel."""
    ((name, n),) = _listing.count(arch, "HMMA").items()
    return name, n


STEPS = _steps()


def step_of(line: Line) -> str:
    """The step to which a line belongs, whatever its language; empty if to none.

    >>> step_of(Line("    wmma.mma.sync.aligned {%f2}")), step_of(Line("EXIT ;", 0x220))
    ('mma', 'end')
    """
    for step in STEPS:
        if line.address is None:
            if line.text.lstrip().startswith((*step.cuda, *step.ptx)):
                return step.id
        elif line.address in step.addresses:
            return step.id
    return ""


def inside(line: Line) -> tuple[str, str] | None:
    """A word within a line that belongs to another step: the zero that a product adds to."""
    return (ZERO, "fill") if line.text.startswith("HMMA") else None


def listings() -> tuple[Listing, ...]:
    """The program in its three languages."""
    return (
        Listing("CUDA C++", "what a programmer writes", _listing.cuda(), step_of),
        Listing("PTX", "for no GPU in particular", _listing.ptx(ARCH), step_of),
        Listing("SASS", "what an H100 runs", _listing.sass(ARCH), step_of, inside),
    )


DRAWING = Drawing(
    id=ID,
    question="What becomes of a matrix product in CUDA C++?",
    level="isa",
    alt=(
        "A kernel that multiplies two tiles on a Tensor Core, three times: its lines in CUDA C++, "
        "in PTX and in SASS. Lines that belong together are marked together."
    ),
    parts=tuple(Part(id=step.id, label=step.label, text=step.text) for step in STEPS),
    picture=lambda: f'<div class="listings">{"".join(each.html() for each in listings())}</div>',
    note=(
        f"As {_listing.tools(ARCH)} wrote it for {ARCH}; another compiler may choose other "
        "registers and another order. Fastest on Hopper is not this instruction but wgmma, for "
        "which four warps work together."
    ),
    is_text=True,
)

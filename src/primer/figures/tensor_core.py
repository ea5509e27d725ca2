"""One matrix instruction, cycle by cycle: who holds the operands, and what the units have done."""

from __future__ import annotations

from typing import Any, ClassVar

from matplotlib.axes import Axes

from primer.explore.explorable import Control, Explorable, Row
from primer.figures._gemm import canvas
from primer.figures._picture import Picture, draw
from primer.figures._tensorcoreruns import N_LANES, N_STEPS, SIZES, TensorCoreStep, compute
from primer.figures._tensorcoresheet import SIZE, Matrices
from primer.figures._tensorcorewords import Words

NAMES = {
    "7.0": "7.0, Volta",
    "7.5": "7.5, Turing",
    "8.0": "8.0, Ampere",
    "9.0": "9.0, Hopper",
    "10.0": "10.0, Blackwell",
}


_SAID = {2: "two", 4: "four"}


class TensorCoreFigure(Picture):
    """A, B and D with what is done; beside them, what one lane holds.

    Parameters
    ----------
    ax : Axes
        Becomes a sheet measured in points.
    """

    size: ClassVar[tuple[float, float]] = SIZE
    box: ClassVar[tuple[float, float, float, float]] = (0.0, 0.0, 1.0, 1.0)
    depends: ClassVar[dict[str, tuple[str, ...]]] = {
        **dict.fromkeys(("used", "part", "done", "now", "cycle-0"), ("generation", "step")),
        **dict.fromkeys(("held", "lane"), ("generation", "lane")),
        **dict.fromkeys((f"registers-{i}" for i in range(5)), ("generation", "lane")),
        **dict.fromkeys(("frames", "letter-A", "letter-B", "letter-D"), ("generation",)),
        **dict.fromkeys((f"band-{i}" for i in range(4)), ("generation",)),
        **dict.fromkeys(("title", "cycle-1", "mine", "size"), ("generation",)),
    }

    def __init__(self, ax: Axes) -> None:
        self.ax = ax
        self.alt = "A matrix instruction."
        canvas(ax, SIZE)
        self.matrices = Matrices(ax)
        self.words = Words(ax)

    @property
    def moving(self) -> tuple[Any, ...]:
        """The artists that a state changes."""
        return (*self.matrices.moving, *self.words.moving)

    def update(self, result: TensorCoreStep) -> None:
        """Show an instruction after some cycles."""
        self.matrices.update(result)
        self.words.update(result)
        self.alt = describe(result)


def describe(result: TensorCoreStep) -> str:
    """What the picture shows, in words."""
    one = result.run.instruction
    n_elements = one.m * one.n * one.n_products
    return (
        f"The instruction {one.name} after {result.step} of {result.run.schedule.n_steps} cycles: "
        f"{result.n_fma_done:,} of {one.n_fma:,} multiply-adds, {result.n_complete:,} of "
        f"{n_elements:,} elements of D complete. Lane {result.lane} holds {result.n_held} numbers."
    )


def draw_tensor_core(result: TensorCoreStep, *, ax: Axes | None = None) -> TensorCoreFigure:
    """Draw one cycle of an instruction.

    Parameters
    ----------
    result : TensorCoreStep
        From `compute`.
    ax : Axes, optional
        Where to draw; by default on a figure of its own.
    """
    return draw(TensorCoreFigure, result, ax)


def readout(result: TensorCoreStep) -> tuple[Row, ...]:
    """The rows under the figure."""
    found, one, issue = result.run, result.run.instruction, result.run.issue
    rate, largest = found.rate, found.largest
    basis = f"{rate.peak}, {rate.n_units} units, {rate.clock.value / 1e9:g} GHz"
    said = "published" if found.schedule.is_published else "ours; the count is right"
    block = " × ".join(str(side) for side in found.schedule.block)
    fed = issue.shared_cycles
    return (
        _word("shape", f"{one.m} × {one.n} × {one.k}", "m × n × k"),
        _count("n_products", one.n_products, "Products of that size"),
        _count("n_threads", one.n_threads, "Threads that issue it"),
        _word("a_home", one.a_home, "A lies in"),
        _word("b_home", one.b_home, "B lies in"),
        _word("d_home", one.d_home, "D lies in"),
        _count("n_held", result.n_held, "Numbers that the lane holds"),
        _count("n_fma", one.n_fma, "Multiply-adds"),
        _count("n_fma_done", result.n_fma_done, "done so far"),
        _count("n_units", issue.n_units, "Tensor Cores at work"),
        _count("fma_per_unit", issue.fma_per_unit, "Multiply-adds of each, per cycle"),
        Row("fma_per_unit_derived", rate.fma_per_unit, "FMA/cycle", "Peak / (units · 2 · clock)",
            f"{rate.fma_per_unit:.1f}"),
        _word("basis", basis, "of"),
        _word("block", f"{block} ({said})", "Block of one cycle"),
        Row("least_cycles", issue.least_cycles, "cycles", "Cycles, at least",
            f"{issue.least_cycles:g}"),
        Row("shared_cycles", "" if fed is None else fed, "", "Shared memory needs",
            "no cycles: not used" if fed is None else f"{fed:g} cycles"),
        Row("operand_bytes", one.operand_bytes, "B", "Bytes of A and B",
            f"{one.operand_bytes:,} B"),
        Row("intensity_flop_per_byte", one.intensity_flop_per_byte, "FLOP/B", "FLOP per byte",
            f"{one.intensity_flop_per_byte:.3g}"),
        Row("largest_intensity", largest.intensity_flop_per_byte, "FLOP/B",
            "FLOP per byte, largest size", f"{largest.intensity_flop_per_byte:.3g}"),
    )  # fmt: skip


def _count(name: str, value: int, label: str) -> Row:
    return Row(name, value, "1", label, f"{value:,}")


def _word(name: str, value: str, label: str) -> Row:
    return Row(name, value, "", label, value)


def sentence(result: TensorCoreStep) -> str:
    """What the reader sees in this state."""
    one = result.run.instruction
    if not result.step:
        return f"Nothing is multiplied yet. {_holders(result)}"
    if result.step < result.run.schedule.n_steps:
        return f"{{n_fma_done}} of {{n_fma}} multiply-adds are done. {_holders(result)}"
    end = (
        "All {n_fma} multiply-adds are done, with {operand_bytes} of A and B: "
        "{intensity_flop_per_byte} FLOP for each byte. "
    )
    if one.n_threads == 32:
        return end + (
            "Eight cycles are what the rate allows; until D can be used, more pass. Larger "
            "products reuse operands more, as the later generations show."
        )
    return end + (
        "Shared memory cannot deliver them in eight cycles: it needs {shared_cycles}. The largest "
        "size makes {largest_intensity} FLOP of each byte, and is fed in time."
    )


def _holders(result: TensorCoreStep) -> str:
    """Who holds the operands."""
    one = result.run.instruction
    if one.d_home != "registers":
        return (
            "One thread started the instruction. Operands come from shared memory, and sums stay "
            "in tensor memory: registers are not touched."
        )
    held = result.held("d")
    rows, columns = ({place[axis] for place in held} for axis in (0, 1))
    needs = f"{_SAID[len(rows)]} whole rows of A and {_SAID[len(columns)]} whole columns of B"
    if one.n_threads > 32:
        return (
            "128 threads issued it together. A and B come from shared memory; only sums lie in "
            f"registers. Those of lane {{lane}} take {needs}."
        )
    group = "the eight lanes of its group" if one.n_products > 1 else "the 32 lanes together"
    return (
        f"Lane {{lane}} holds {{n_held}} numbers, and its sums in D take {needs}: no lane could "
        f"do it alone, {group} can."
    )


EXPLORABLE = Explorable(
    id="tensor-core",
    question="What does one Tensor Core instruction do?",
    level="hardware",
    controls=(
        Control(
            "generation", "Compute capability", tuple(SIZES), "8.0", kind="select",
            display=lambda generation: NAMES[generation],
        ),
        Control("lane", "Lane", tuple(range(N_LANES)), 5),
        Control("step", "Cycles done", tuple(range(N_STEPS + 1)), 5, kind="step"),
    ),
    compute=compute,
    figure=TensorCoreFigure,
    readout=readout,
    sentence=sentence,
    assumes=(
        "FP16 operands, FP32 sums, dense; the full rate from the first cycle on, operands in "
        "place, no latency. wgmma and tcgen05 are drawn with 16 columns of up to 256. How large "
        "a block is, NVIDIA says for Volta and Ampere; for the others only its number of "
        "products. Which unit takes which block, and when, is ours for all."
    ),
)  # fmt: skip

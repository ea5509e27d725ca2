"""One matrix instruction in mid-course: what its units have done, and what one lane holds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from primer import tensorcores
from primer._checks import one_of, whole
from primer.tensorcores import Fragment, Instruction, Issue, Rate, Schedule

# The smallest size with eight cycles at the full rate; what is None has no choice.
SIZES: dict[str, tuple[int | None, int | None]] = {
    "7.0": (None, None),
    "7.5": (None, None),
    "8.0": (None, None),
    "9.0": (64, 16),
    "10.0": (128, 16),
}
N_STEPS, N_LANES = 8, 32
Held = tuple[tuple[int, int], ...]


@dataclass(frozen=True, eq=False)
class Run:
    """One generation's instruction.

    Parameters
    ----------
    issue : Issue
        In the size that is drawn.
    largest : Instruction
        In the largest size there is.
    schedule : Schedule
    rate : Rate
        What the chip's peak says of a unit.
    fragments : tuple of Fragment
        Of the operands that lie in registers.
    """

    issue: Issue
    largest: Instruction
    schedule: Schedule
    rate: Rate
    fragments: tuple[Fragment, ...]

    @property
    def instruction(self) -> Instruction:
        """The instruction as drawn."""
        return self.issue.instruction

    @property
    def name(self) -> str:
        """The generation."""
        return self.issue.generation.id

    @property
    def n_bands(self) -> int:
        """Equal shares of the rows of D, one for each warp or quarter of tensor memory, int."""
        return self.instruction.n_partitions


@cache
def run(generation: str) -> Run:
    """The instruction of one generation."""
    m, n = SIZES[one_of("generation", generation, tuple(SIZES))]
    issue = tensorcores.issue(generation, m=m, n=n)
    one = issue.instruction
    homes = zip("abd", (one.a_home, one.b_home, one.d_home), strict=True)
    held = [operand for operand, home in homes if home == "registers"]
    return Run(
        issue=issue,
        largest=tensorcores.instruction(one.family),
        schedule=tensorcores.schedule(issue),
        rate=tensorcores.fma_per_cycle(generation),
        fragments=tuple(tensorcores.fragment(one, operand) for operand in held),
    )


@dataclass(frozen=True, eq=False)
class TensorCoreStep:
    """An instruction after some cycles.

    Parameters
    ----------
    run : Run
    lane : int
        Of the (first) warp.
    step : int
        Cycles done.
    """

    run: Run
    lane: int
    step: int

    @property
    def n_fma_done(self) -> int:
        """Multiply-adds so far, int."""
        return self.run.instruction.n_fma * self.step // self.run.schedule.n_steps

    @property
    def n_complete(self) -> int:
        """Elements of D with all their products, int."""
        return int(np.count_nonzero(self.depth == self.run.instruction.k))

    @property
    def depth(self) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
        """Products summed in each element of D, int array (n_products, m, n)."""
        return self.run.schedule.depth(self.step)

    @property
    def product(self) -> int:
        """The product that the lane works on, int."""
        return int(self.run.fragments[0].product[self.lane]) if self.run.fragments else 0

    def held(self, operand: str) -> Held:
        """(row, column) of what the lane holds of "a", "b" or "d", in order."""
        for fragment in self.run.fragments:
            if fragment.operand == operand:
                return tuple((i, j) for _, i, j in fragment.held(self.lane))
        return ()

    @property
    def n_held(self) -> int:
        """Numbers of A, B and D that the lane holds, int."""
        return sum(fragment.row.shape[1] for fragment in self.run.fragments)


def compute(generation: str, lane: int, step: int) -> TensorCoreStep:
    """An instruction after so many cycles; behind the last one it stays complete."""
    found = run(generation)
    which = whole("lane", lane, minimum=0, maximum=N_LANES - 1)
    done = min(whole("step", step, minimum=0), found.schedule.n_steps)
    return TensorCoreStep(found, which, done)

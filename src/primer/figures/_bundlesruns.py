"""The loop of the bundles figure: four tiles, one after another or in each other's gaps."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from primer import bundles
from primer.bundles import Schedule

N_TILES = 4
WEIGHTS = ("kept", "new")
OVERLAPS = {"none": (2, False), "one_buffer": (1, True), "two_buffers": (2, True)}


@dataclass(frozen=True, kw_only=True)
class BundleStep:
    """One schedule, and the bundle that is looked at.

    Parameters
    ----------
    schedule : Schedule
    overlap, weights : str
    bundle : int
        The last one where the step lies behind it.
    """

    schedule: Schedule
    overlap: str
    weights: str
    bundle: int

    @property
    def started(self) -> tuple[tuple[int, int], ...]:
        """Tile and operation of all that this bundle starts."""
        return self.schedule.at(self.bundle)

    @property
    def n_tiles_at(self) -> int:
        """Tiles that this bundle works for, int."""
        return len({tile for tile, _ in self.started})

    @property
    def busiest(self) -> tuple[str, ...]:
        """The kinds of slots that set the bound."""
        program, bound = self.schedule.program, self.schedule.resource_bound_cycles
        return tuple(
            slot
            for slot, number in self.schedule.slots
            if -(-program.count(slot) // number) == bound
        )


@cache
def plan(weights: str, overlap: str) -> Schedule:
    """Schedule the loop."""
    n_buffers, overlaps = OVERLAPS[overlap]
    program = bundles.tile(new_weights=weights == "new", n_buffers=n_buffers)
    return bundles.schedule(program, n_tiles=N_TILES, overlap=overlaps)


LONGEST = max(plan(weights, overlap).n_bundles for weights in WEIGHTS for overlap in OVERLAPS)


def compute(weights: str, overlap: str, step: int) -> BundleStep:
    """Look at one bundle of a schedule."""
    found = plan(weights, overlap)
    return BundleStep(
        schedule=found, overlap=overlap, weights=weights, bundle=min(step, found.n_bundles - 1)
    )

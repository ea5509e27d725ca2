"""What the tables say of each TPU, and what of it changed since the one it follows."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from primer import hardware, units
from primer.hardware import Chip
from primer.quantities import Quantity

# In the order of their appearance, each with the one that it follows: v5e, v6e and 8i are the
# smaller chips of their time.
FOLLOWS = {
    "tpu_v1": "", "tpu_v2": "tpu_v1", "tpu_v3": "tpu_v2", "tpu_v4": "tpu_v3", "tpu_v5e": "tpu_v4",
    "tpu_v5p": "tpu_v4", "tpu_v6e": "tpu_v5e", "tpu_v7": "tpu_v5p", "tpu_8t": "tpu_v7",
    "tpu_8i": "tpu_v7",
}  # fmt: skip
GENERATIONS = tuple(FOLLOWS)
_LOW_BITS = ("fp4", "fp8", "int8")
_SIDES = re.compile(r"(\d+) × (\d+)")
_ON_CHIP = ("unified_buffer", "vmem", "cmem")


@dataclass(frozen=True)
class Value:
    """One number of a generation, in base units, and how it is written; or words without one."""

    amount: float | None
    unit: str
    text: str


NOTHING = Value(None, "", "–")  # the tables have no such field


@dataclass(frozen=True)
class Arrays:
    """The matrix units of a chip.

    Parameters
    ----------
    n_cores, n_arrays : int
        TensorCores, and arrays of all of them.
    side : int
        Cells along one side of an array.
    """

    n_cores: int
    n_arrays: int
    side: int


@dataclass(frozen=True)
class Store:
    """A memory on the chip.

    Parameters
    ----------
    name : str
    n_parts : int
        One for each core, or one.
    part_bytes : float [B]
    """

    name: str
    n_parts: int
    part_bytes: float


@dataclass(frozen=True)
class Generation:
    """One TPU.

    Parameters
    ----------
    chip : Chip
    before : Chip or None
        The one it follows.
    arrays : Arrays or None
        None if no source says.
    stores : tuple of Store
        Memories on the chip that data are computed from.
    values, values_before : tuple of Value
        In the order of `ROWS`.
    """

    chip: Chip
    before: Chip | None
    arrays: Arrays | None
    stores: tuple[Store, ...]
    values: tuple[Value, ...]
    values_before: tuple[Value, ...]

    def ratio(self, row: str) -> float | None:
        """Times the number of the one before; None where one of them is not known."""
        i = list(ROWS).index(row)
        now, then = self.values[i], self.values_before[i]
        if now.amount is None or then.amount is None or now.unit != then.unit:
            return None
        return now.amount / then.amount


def _written(quantity: Quantity | None, suffix: str = "") -> Value:
    if quantity is None:
        return NOTHING
    return Value(quantity.amount, quantity.unit, f"{quantity}{suffix}")


def _peak(chip: Chip, *precisions: str) -> Value:
    """The highest peak of some precisions; named where there is a choice."""
    known = [p for p in precisions if p in chip.precisions()]
    if not known:
        return NOTHING
    best = max(known, key=lambda p: chip.peak.find(p).value)
    return _written(chip.peak.find(best), f" {best}" if len(precisions) > 1 else "")


def _bandwidth(chip: Chip) -> Value:
    return _written(chip.memory[-1].bandwidth)


def _capacity(chip: Chip) -> Value:
    return _written(chip.memory[-1].capacity)


def _ici(chip: Chip) -> Value:
    return _written(chip.links[0].oneway if chip.links else None)


def _on_chip(chip: Chip) -> Value:
    total = sum(store.n_parts * store.part_bytes for store in stores(chip))
    return Value(total, "B", f"{units.number(total / units.MIB)} MiB") if total else NOTHING


def _ridge(chip: Chip) -> Value:
    """Peak over bandwidth, in bf16, or in int8 where there is nothing else."""
    computes = [p for p in ("bf16", "int8") if p in chip.precisions()]
    if not computes or not chip.has_roofline:
        return NOTHING
    amount = chip.ridge_flop_per_byte(computes[0])
    unit = hardware.rate_unit(computes[0]).replace("/s", "/B")
    return Value(amount, unit, f"{amount:,.0f} {unit}")


ROWS: dict[str, Callable[[Chip], Value]] = {
    "bf16 peak": lambda chip: _peak(chip, "bf16"),
    "8 bits or fewer": lambda chip: _peak(chip, *_LOW_BITS),
    "memory rate": _bandwidth,
    "memory size": _capacity,
    "on-chip memory": _on_chip,
    "links, one way": _ici,
    "ridge": _ridge,
}


def arrays(chip: Chip) -> Arrays | None:
    """The matrix units, whose size stands in the words beside their number."""
    known = {q.name.removeprefix("count."): q for q in chip.counts}
    count = known.get("matrix_units")
    if count is None or (sides := _SIDES.search(count.convention)) is None:
        return None
    cores = int(known["tensorcores"].value) if "tensorcores" in known else 1
    return Arrays(n_cores=cores, n_arrays=int(count.value), side=int(sides[1]))


def stores(chip: Chip) -> tuple[Store, ...]:
    """Memories on the chip that data are computed from, of all cores."""
    found = arrays(chip)
    n_cores = found.n_cores if found else 1
    return tuple(
        Store(
            name=level.name,
            n_parts=n_cores if level.scope == "core" else 1,
            part_bytes=level.capacity.value,
        )
        for level in chip.memory
        if level.name in _ON_CHIP and level.capacity is not None
    )


@cache
def values(chip: str) -> tuple[Value, ...]:
    """All numbers of one generation."""
    return tuple(read(hardware.load(chip)) for read in ROWS.values())


@cache
def compute(generation: str) -> Generation:
    """Read one TPU from the tables."""
    chip, before = hardware.load(generation), FOLLOWS[generation]
    return Generation(
        chip=chip,
        before=hardware.load(before) if before else None,
        arrays=arrays(chip),
        stores=stores(chip),
        values=values(generation),
        values_before=values(before) if before else (NOTHING,) * len(ROWS),
    )


def short(chip: Chip) -> str:
    """A chip's name without what all of them share.

    >>> short(hardware.load("tpu_v5e")), short(hardware.load("tpu_8i"))
    ('TPU v5e', 'TPU 8i')
    """
    return chip.name.removesuffix(" (announced)")

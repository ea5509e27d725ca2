"""Reading and checking the table of energies; `primer.energy` is the door to it."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from primer import _checks, _tables
from primer._tables import Bounds
from primer.quantities import Quantity

FILE = "data/energy.toml"
KINDS = ("wire", "dram", "link")

_SHARED = ("unit", "convention", *_tables.ORIGIN_KEYS)
_OPERATION = Bounds("J", 4e-15, 6e-12)
_OVERHEAD = Bounds("J", 2e-12, 1e-9)
_INSTRUCTION = Bounds("J", 5e-13, 1e-9)
_SRAM = Bounds("J", 2e-12, 5e-10)
_MAIN = Bounds("J", 5e-11, 2e-8)
# Per bit; a wire's also per millimeter.
_MOVEMENT = {
    "wire": Bounds("J", 2e-15, 4e-13),
    "dram": Bounds("J", 1e-13, 1e-10),
    "link": Bounds("J", 5e-14, 5e-11),
}


@dataclass(frozen=True, kw_only=True)
class Access:
    """A read or write of a memory.

    Parameters
    ----------
    name, title : str
        Such as "sram_8kb" and "8 KB SRAM".
    bits : int
        Width of the access that `energy` belongs to.
    energy : Quantity [J]
        Of one access; where the source gives a range, `upper` is its upper end.
    """

    name: str
    title: str
    bits: int
    energy: Quantity

    def range_j(self, bits: float) -> tuple[float, float]:
        """Energy of `bits` bits as a share of a whole access: low and high end, float [J].

        Assumes that neighbors share the access. A lone operand pays for all of it.
        """
        share = bits / self.bits
        high = self.energy.value if self.energy.upper is None else self.energy.upper
        return self.energy.value * share, high * share


@dataclass(frozen=True, kw_only=True)
class Overhead:
    """What one instruction costs around its operation; `energy` : Quantity [J]."""

    name: str
    title: str
    energy: Quantity


@dataclass(frozen=True, kw_only=True)
class Node:
    """The energies of one process node.

    Parameters
    ----------
    name, title : str
        Such as "45nm" and "45 nm, 0.9 V".
    operations : tuple of Quantity [J]
        Named "fp32_add", "fp32_multiply" and so on.
    accesses : tuple of Access
        On chip first.
    overheads : tuple of Overhead
        Empty where no source was found.
    main : str
        The access that stands for main memory unless another is named.
    """

    name: str
    title: str
    operations: tuple[Quantity, ...]
    accesses: tuple[Access, ...]
    overheads: tuple[Overhead, ...]
    main: str


@dataclass(frozen=True, kw_only=True)
class Instruction:
    """An instruction whose overhead is shared by all operations that it does.

    Parameters
    ----------
    name, title, node : str
    energy : Quantity [J]
        Of its arithmetic.
    overhead : Quantity [J]
        Of the instruction around it.
    """

    name: str
    title: str
    node: str
    energy: Quantity
    overhead: Quantity

    @property
    def overhead_ratio(self) -> float:
        """Overhead / arithmetic: how many times over the useful work is paid again."""
        return self.overhead.value / self.energy.value

    @property
    def overhead_frac(self) -> float:
        """Overhead as a share of all that the instruction costs."""
        return self.overhead.value / (self.overhead.value + self.energy.value)


@dataclass(frozen=True, kw_only=True)
class Movement:
    """Moving bits over a wire, out of a memory or over a link.

    Parameters
    ----------
    name, title : str
    kind : str
        "wire", "dram" or "link".
    bits : int
        How many bits `energy` moves.
    distance_mm : float [mm]
        How far, for a wire; else 0.
    energy : Quantity [J]
    """

    name: str
    title: str
    kind: str
    bits: int
    distance_mm: float
    energy: Quantity

    @property
    def per_bit_j(self) -> float:
        """Energy per bit, over the whole distance, float [J]."""
        return self.energy.value / self.bits


@functools.cache
def nodes() -> dict[str, Node]:
    """Name -> node, oldest first."""
    return {name: build_node(name, raw) for name, raw in _tables.read(FILE)["node"].items()}


def build_node(name: str, raw: Mapping[str, Any]) -> Node:
    """Check one node's section and freeze it."""
    where = f"energy.toml: node.{name}"
    _tables.keys(where, raw, ("title", "main", "operation", "access", "overhead", *_SHARED))
    shared = {key: raw[key] for key in _SHARED if key in raw}
    operations = tuple(
        _tables.quantity(
            f"{where}.operation.{key}", key, table, bounds=_OPERATION, shared=shared, sku=name
        )
        for key, table in raw["operation"].items()
    )
    accesses = tuple(_access(where, name, key, t, shared) for key, t in raw["access"].items())
    main = _checks.one_of(f"{where}.main", raw.get("main"), tuple(a.name for a in accesses))
    return Node(
        name=name,
        title=_tables.text(where, raw, "title"),
        operations=operations,
        accesses=accesses,
        overheads=tuple(
            _overhead(where, name, key, t, shared) for key, t in raw.get("overhead", {}).items()
        ),
        main=main,
    )


def _access(where: str, node: str, name: str, table: Any, shared: Mapping[str, Any]) -> Access:
    place = f"{where}.access.{name}"
    bounds = _SRAM if name.startswith("sram") else _MAIN
    energy = _tables.quantity(
        place, name, table, bounds=bounds, shared=shared, also=("title", "bits"), sku=node
    )
    bits = _checks.whole(f"{place}.bits", table.get("bits"))
    return Access(name=name, title=_tables.text(place, table, "title"), bits=bits, energy=energy)


def _overhead(where: str, node: str, name: str, table: Any, shared: Mapping[str, Any]) -> Overhead:
    place = f"{where}.overhead.{name}"
    energy = _tables.quantity(
        place, name, table, bounds=_OVERHEAD, shared=shared, also=("title",), sku=node
    )
    return Overhead(name=name, title=_tables.text(place, table, "title"), energy=energy)


@functools.cache
def instructions() -> dict[str, Instruction]:
    """Name -> instruction, from one operation to many."""
    return build_instructions(_tables.read(FILE)["instruction"])


def build_instructions(raw: Mapping[str, Any]) -> dict[str, Instruction]:
    """Check the section of instructions and freeze it."""
    where = "energy.toml: instruction"
    _tables.keys(where, raw, ("node", "overhead", "row", *_SHARED))
    shared = {key: raw[key] for key in _SHARED if key in raw}
    node = nodes()[_checks.one_of(f"{where}.node", raw.get("node"), tuple(nodes()))]
    known = {o.name: o.energy for o in node.overheads}
    overhead = known[_checks.one_of(f"{where}.overhead", raw.get("overhead"), tuple(known))]
    found = {}
    for name, table in raw["row"].items():
        place = f"{where}.row.{name}"
        energy = _tables.quantity(
            place, name, table, bounds=_INSTRUCTION, shared=shared, also=("title",), sku=node.name
        )
        title = _tables.text(place, table, "title")
        found[name] = Instruction(
            name=name, title=title, node=node.name, energy=energy, overhead=overhead
        )
    return found


@functools.cache
def movements() -> dict[str, Movement]:
    """Name -> movement."""
    return build_movements(_tables.read(FILE)["movement"])


def build_movements(raw: Mapping[str, Any]) -> dict[str, Movement]:
    """Check the section of movements and freeze it."""
    _tables.keys("energy.toml: movement", raw, ("row", *_SHARED))
    shared = {key: raw[key] for key in _SHARED if key in raw}
    return {name: _movement(name, table, shared) for name, table in raw["row"].items()}


def _movement(name: str, table: Mapping[str, Any], shared: Mapping[str, Any]) -> Movement:
    place = f"energy.toml: movement.row.{name}"
    kind = _checks.one_of(f"{place}.kind", table.get("kind"), KINDS)
    bits = _checks.whole(f"{place}.bits", table.get("bits"))
    distance = _checks.non_negative(f"{place}.distance_mm", table.get("distance_mm", 0))
    if (kind == "wire") != (distance > 0):
        _checks.fail(f"{place}.distance_mm", "be given for wires, and only for them", distance)
    rule, scale = _MOVEMENT[kind], bits * (distance or 1)
    bounds = Bounds(rule.unit, rule.low * scale, rule.high * scale)
    also = ("title", "kind", "bits", "distance_mm")
    energy = _tables.quantity(place, name, table, bounds=bounds, shared=shared, also=also)
    title = _tables.text(place, table, "title")
    return Movement(
        name=name, title=title, kind=kind, bits=bits, distance_mm=distance, energy=energy
    )

"""Looking up energies, and the ladder of one node; `primer.energy` is the door to both."""

from dataclasses import dataclass

from primer import _checks, _energyfile
from primer._energyfile import Access, Node
from primer.quantities import Quantity

OPERAND_BITS = {"int8": 8.0, "bf16": 16.0, "fp16": 16.0, "int32": 32.0, "fp32": 32.0}


def nodes() -> tuple[str, ...]:
    """The process nodes, oldest first.

    >>> nodes()
    ('45nm', '7nm')
    """
    return tuple(_energyfile.nodes())


def table(node: str) -> Node:
    """All energies of one process node; the same object on every call."""
    return _energyfile.nodes()[_checks.one_of("node", node, nodes())]


def operations(node: str) -> tuple[Quantity, ...]:
    """The operations of a node, each a `Quantity` [J].

    >>> [str(q) for q in operations("7nm") if q.name.startswith("bf16")]
    ['0.11 pJ', '0.21 pJ']
    """
    return table(node).operations


def operation(name: str, *, node: str = "45nm") -> Quantity:
    """One operation, such as "fp32_add" or "int8_multiply", `Quantity` [J]."""
    known = {q.name: q for q in operations(node)}
    return known[_checks.one_of("operation", name, tuple(known))]


def operands(node: str) -> tuple[str, ...]:
    """The precisions of a node that have both an add and a multiply, narrowest first.

    >>> operands("7nm")
    ('int8', 'bf16', 'fp16', 'int32', 'fp32')
    """
    found = {q.name for q in operations(node)}
    return tuple(o for o in OPERAND_BITS if {f"{o}_add", f"{o}_multiply"} <= found)


def access(name: str, *, node: str = "45nm") -> Access:
    """One memory of a node, such as "sram_8kb" or "dram"."""
    known = {a.name: a for a in table(node).accesses}
    return known[_checks.one_of("memory", name, tuple(known))]


def multiply_add_j(operand: str = "fp32", *, node: str = "45nm") -> float:
    """A multiply and an add of one precision, float [J].

    >>> round(multiply_add_j("fp32") * 1e12, 6), round(multiply_add_j("int8") * 1e12, 6)
    (4.6, 0.23)
    """
    return sum(q.value for q in parts_of("multiply_add", operand, node))


def parts_of(kind: str, operand: str, node: str) -> tuple[Quantity, ...]:
    """The operations that make up one add, one multiply, or one multiply-add."""
    _checks.one_of("operand", operand, operands(node))
    parts = ("add", "multiply") if kind == "multiply_add" else (kind,)
    return tuple(operation(f"{operand}_{part}", node=node) for part in parts)


@dataclass(frozen=True, kw_only=True)
class Rung:
    """One step of the ladder: what it costs, in joules and in multiply-adds.

    Parameters
    ----------
    name, title : str
    kind : str
        "compute", "instruction", "sram" or "main".
    energy_j, upper_j : float [J]
        Low and high end; equal where the source gives one value.
    ratio, upper_ratio : float
        The same, divided by the ladder's multiply-add.
    quantities : tuple of Quantity
        What the source prints, before it is scaled to the operand.
    """

    name: str
    title: str
    kind: str
    energy_j: float
    upper_j: float
    ratio: float
    upper_ratio: float
    quantities: tuple[Quantity, ...]

    @property
    def ratio_range(self) -> tuple[float, float]:
        """Both ends of the ratio."""
        return self.ratio, self.upper_ratio


@dataclass(frozen=True, kw_only=True)
class EnergyLadder:
    """The energies of one node for one operand, cheapest first.

    Parameters
    ----------
    node, title, operand : str
        "45nm", "45 nm, 0.9 V", "fp32".
    operand_bits : float
        Width of the operand, which memories are scaled to.
    multiply_add_j : float [J]
        What every ratio is measured in.
    rungs : tuple of Rung
        The multiply-add, the instruction around it where a source was found, and the memories.
    """

    node: str
    title: str
    operand: str
    operand_bits: float
    multiply_add_j: float
    rungs: tuple[Rung, ...]

    def rung(self, name: str) -> Rung:
        """One step by its name."""
        known = {r.name: r for r in self.rungs}
        return known[_checks.one_of("rung", name, tuple(known))]

    def movement_frac(self, name: str, *, reuse: float = 1.0) -> tuple[float, float]:
        """Share of energy that goes into fetching, where each operand serves `reuse` multiply-adds.

        With the ratio R of the rung: R / (R + reuse). Low and high end, float in [0, 1].

        Examples
        --------
        A DRAM word must serve 141 multiply-adds or more before half of the energy computes.

        >>> low, high = ladder("45nm", "fp32").movement_frac("dram", reuse=1300 / 2 / 4.6)
        >>> round(low, 3), round(high, 3)
        (0.5, 0.667)
        """
        uses = _checks.positive("reuse", reuse)
        low, high = self.rung(name).ratio_range
        return low / (low + uses), high / (high + uses)


def ladder(node: str = "45nm", operand: str = "fp32") -> EnergyLadder:
    """The energy ladder of a node, per operand of the chosen width.

    Parameters
    ----------
    node : str
        One of `nodes`.
    operand : str
        One of `operands` of that node. It sets both the multiply-add and the width.

    Returns
    -------
    EnergyLadder

    Raises
    ------
    ValueError
        If the node, or the operand on it, is not in the table.

    Examples
    --------
    >>> steps = ladder("7nm", "bf16")
    >>> [round(x) for x in steps.rung("hbm2").ratio_range]
    [195, 352]
    >>> ladder("45nm").rungs[1].name  # even the nearest memory costs more than the multiply-add
    'sram_8kb'
    """
    chosen = table(node)
    parts = parts_of("multiply_add", operand, node)
    unit_j = sum(q.value for q in parts)
    bits = OPERAND_BITS[operand]
    title = f"{operand} multiply-add"
    rungs = [_rung("multiply_add", title, "compute", (unit_j, unit_j), unit_j, parts)]
    for around in chosen.overheads:
        span = (around.energy.value, around.energy.value)
        rungs.append(
            _rung(around.name, around.title, "instruction", span, unit_j, (around.energy,))
        )
    for memory in chosen.accesses:
        kind = "sram" if memory.name.startswith("sram") else "main"
        span = memory.range_j(bits)
        rungs.append(_rung(memory.name, memory.title, kind, span, unit_j, (memory.energy,)))
    return EnergyLadder(
        node=chosen.name,
        title=chosen.title,
        operand=operand,
        operand_bits=bits,
        multiply_add_j=unit_j,
        rungs=tuple(sorted(rungs, key=lambda rung: (rung.energy_j, rung.upper_j))),
    )


def _rung(
    name: str,
    title: str,
    kind: str,
    span_j: tuple[float, float],
    unit_j: float,
    quantities: tuple[Quantity, ...],
) -> Rung:
    low, high = span_j
    return Rung(
        name=name, title=title, kind=kind, energy_j=low, upper_j=high,
        ratio=low / unit_j, upper_ratio=high / unit_j, quantities=quantities,
    )  # fmt: skip

"""Energy of computing and of moving: why data are expensive, at which level, and at which width.

Three sums, all from tables that name their sources:

    multiply-add      e_fma = e_add + e_multiply of one precision,
    operand           e_operand = e_access · operand bits / access bits,
    work              E = F · e_flop + Q · e_byte (+ instructions · e_overhead).

The tables give memories per 64-bit access. An operand of 32 bits pays half of one, which assumes
that its neighbor is used too; a lone operand pays all of it, and doubles its ratio. Left out:
clock, leakage, the wires between the parts, everything that idles, and the extra width of an
accumulator (an int8 multiply-add here adds in 8 bits). The nodes are 45 nm and 7 nm, not a chip
that one can buy.

Sources: Horowitz, ISSCC 2014 (45 nm); Jouppi et al., ISCA 2021 (7 nm); Dally, Hot Chips 2023 (the
instruction); see ``data/energy.toml``.

>>> low, high = ladder("45nm", "fp32").rung("dram").ratio_range
>>> round(low), round(high)  # one 32-bit word from DRAM, in multiply-adds
(141, 283)
"""

from dataclasses import dataclass

from primer import _checks, _energyfile
from primer._energyfile import Access, Instruction, Movement, Node, Overhead
from primer._energyladder import (
    EnergyLadder,
    Rung,
    access,
    ladder,
    multiply_add_j,
    nodes,
    operands,
    operation,
    operations,
    parts_of,
    table,
)
from primer._products import amounts
from primer.workloads import Workload

__all__ = [
    "OPERATIONS", "Access", "EnergyLadder", "EnergySplit", "Instruction", "Movement", "Node",
    "Overhead", "Rung", "access", "instructions", "ladder", "movements", "multiply_add_j", "nodes",
    "operands", "operation", "operations", "split", "table",
]  # fmt: skip

OPERATIONS = ("multiply_add", "add", "multiply")


def instructions() -> tuple[Instruction, ...]:
    """Instructions that share one overhead among more and more operations.

    >>> [(i.name, round(i.overhead_ratio, 2)) for i in instructions()]
    [('hfma', 20.0), ('hdp4a', 5.0), ('hmma', 0.27), ('imma', 0.19)]
    """
    return tuple(_energyfile.instructions().values())


def movements() -> tuple[Movement, ...]:
    """Wires, memories and links, each with its own boundary and source.

    >>> {m.name: round(m.per_bit_j * 1e12, 2) for m in movements()}["off_chip"]
    5.0
    """
    return tuple(_energyfile.movements().values())


@dataclass(frozen=True, kw_only=True)
class EnergySplit:
    """Where the energy of a piece of work goes.

    Parameters
    ----------
    node, operand, operation, memory : str
        What was computed, where it came from.
    work_flop, traffic_bytes : float [FLOP], [B]
    arithmetic_j : float [J]
        Adds and multiplies.
    movement_j, movement_upper_j : float [J]
        Low and high end of moving the bytes.
    instruction_j : float [J]
        Around the operations; 0 unless `flop_per_instruction` was given.
    """

    node: str
    operand: str
    operation: str
    memory: str
    work_flop: float
    traffic_bytes: float
    arithmetic_j: float
    movement_j: float
    movement_upper_j: float
    instruction_j: float

    @property
    def total_j(self) -> float:
        """Arithmetic, instructions and the low end of movement, float [J]."""
        return self.arithmetic_j + self.instruction_j + self.movement_j

    @property
    def total_upper_j(self) -> float:
        """The same with the high end of movement, float [J]."""
        return self.arithmetic_j + self.instruction_j + self.movement_upper_j

    @property
    def movement_frac(self) -> float:
        """Low end of movement as a share of `total_j`."""
        return self.movement_j / self.total_j

    @property
    def movement_upper_frac(self) -> float:
        """High end of movement as a share of `total_upper_j`."""
        return self.movement_upper_j / self.total_upper_j


def split(
    work: Workload | None = None,
    *,
    node: str = "45nm",
    operand: str = "fp32",
    work_flop: float | None = None,
    traffic_bytes: float | None = None,
    operation: str | None = None,
    memory: str | None = None,
    flop_per_instruction: float | None = None,
) -> EnergySplit:
    """Energy of arithmetic against energy of movement.

    Parameters
    ----------
    work : Workload, optional
        Brings FLOP and compulsory bytes: every operand crosses the memory interface once, as if a
        cache held all that is used again, and for free. Give it, or the next two.
    work_flop, traffic_bytes : float [FLOP], [B], optional
        The work itself; one of them may be zero.
    node, operand : str
        As in `ladder`. The operand sets the arithmetic; the bytes are taken as they are.
    operation : str, optional
        "multiply_add" (two FLOP), "add" or "multiply" (one FLOP each); by default what the work
        says of itself in its attribute `operation`, as streams do, or else "multiply_add".
    memory : str, optional
        An access of the node; by default its main memory.
    flop_per_instruction : float [FLOP], optional
        Adds the overhead of a GPU's instruction for every so many FLOP. Only on nodes where a
        source gives it.

    Returns
    -------
    EnergySplit

    Raises
    ------
    ValueError
        If the work is given twice or not at all, if it is empty, if a name is unknown, or if an
        energy would not be finite.

    Examples
    --------
    The same 12.6 MB, once reused a thousand times and once not at all.

    >>> from primer.workloads import Matmul
    >>> matmul = split(Matmul(1024, 1024, 1024, "fp32"))
    >>> round(matmul.arithmetic_j * 1e3, 2), round(matmul.movement_j * 1e3, 2)
    (4.94, 2.04)
    >>> from primer.workloads import VectorAdd
    >>> round(split(VectorAdd(2**20)).movement_frac, 4)
    0.9995
    """
    flop, traffic = amounts(work, work_flop, traffic_bytes)
    kind = getattr(work, "operation", "multiply_add") if operation is None else operation
    kind = _checks.one_of("operation", kind, OPERATIONS)
    parts = parts_of(kind, operand, node)
    source = access(table(node).main if memory is None else memory, node=node)
    low, high = source.range_j(8 * traffic)
    _checks.keeps_finite("traffic_bytes", traffic, movement_j=high)
    return EnergySplit(
        node=node,
        operand=operand,
        operation=kind,
        memory=source.name,
        work_flop=flop,
        traffic_bytes=traffic,
        arithmetic_j=flop * sum(q.value for q in parts) / len(parts),
        movement_j=low,
        movement_upper_j=high,
        instruction_j=_instruction_j(flop, flop_per_instruction, node),
    )


def _instruction_j(flop: float, flop_per_instruction: float | None, node: str) -> float:
    if flop_per_instruction is None:
        return 0.0
    each = _checks.positive("flop_per_instruction", flop_per_instruction)
    known = {o.name: o.energy for o in table(node).overheads}
    if "gpu_instruction" not in known:
        _checks.fail("flop_per_instruction", f"be left out on {node}: no source", each)
    energy_j = _checks.quotient(flop, each) * known["gpu_instruction"].value
    _checks.keeps_finite("flop_per_instruction", flop_per_instruction, instruction_j=energy_j)
    return energy_j

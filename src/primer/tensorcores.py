"""Tensor Cores: what one matrix instruction does, where its operands lie, and how fast it can be.

A Tensor Core multiplies small matrices, D = A · B + C, with FP16 (or FP8) operands and sums in
FP32. How many products it makes in a cycle follows from what a maker prints:

    FMA per cycle and unit = peak / (units · 2 · clock)

with the clock that the peak assumes, which need not be the highest one. An instruction of
m × n × k makes m·n·k multiply-adds, so that

    least_cycles = m·n·k / (FMA per cycle and unit · units that take part).

That is throughput: for so long the units are busy. When the result can be used is another matter,
and takes tens of cycles. The operands have (m + n)·k elements, the multiply-adds are m·n·k: the
larger an instruction, the fewer bytes for each. And instructions grew, from one warp that holds
everything in registers (Volta to Ada), to 128 threads with operands in shared memory (Hopper), to
one thread that starts a product of which no thread holds a part (Blackwell). Of the units, all
those of the quarters of the SM that take part are counted (two in a quarter on Volta and Turing,
else one), so that the bound holds however an instruction is spread over them.

Left out: how exactly sums are rounded (units align and cut off bits), sparsity, BF16 (as FP16,
from capability 8.0 on), INT8, scaled formats, pairs of blocks, the instructions that bring
operands, and that GeForce cards of 8.6 and 8.9 have half of the rate where sums are in FP32
(`fma_per_cycle` tells). Capability 12.0 runs `mma.m16n8k16`, and neither `wgmma` nor `tcgen05`; the
tables have no chip of it.

Sources: NVIDIA's PTX ISA for shapes and fragments, its white papers for rates; see the table.

>>> rate = fma_per_cycle("h100_sxm5_80gb")  # 989.4 TFLOP/s / (528 · 2 · 1.83 GHz)
>>> round(rate.fma_per_unit, 1), rate.clock.value / 1e9
(512.0, 1.83)
>>> one = issue("8.0")
>>> one.instruction.name, one.instruction.n_fma, one.least_cycles
('mma.m16n8k16', 2048, 8.0)
>>> fragment("mma.m16n8k16", "d").held(5)  # register, row, column
((0, 1, 2), (1, 1, 3), (2, 9, 2), (3, 9, 3))
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from primer import _checks, _tensorcorefragments, _tensorcoresteps, _tensorcoretable
from primer._tensorcorefragments import OPERANDS, Fragment
from primer._tensorcoreinstruction import Instruction, instruction
from primer._tensorcorerate import Rate, fma_per_cycle
from primer._tensorcoresteps import Schedule
from primer._tensorcoretable import (
    ELEMENT_BYTES,
    HOMES,
    N_PARTITIONS,
    Generation,
    instructions,
    load,
    names,
)

__all__ = [
    "HOMES", "OPERANDS", "Fragment", "Generation", "Instruction", "Issue", "Rate", "Schedule",
    "fma_per_cycle", "fragment", "instruction", "instructions", "issue", "load", "names",
    "schedule",
]  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Issue:
    """One instruction on the Tensor Cores of one SM.

    Parameters
    ----------
    generation : Generation
    instruction : Instruction
    n_units : int
        Tensor Cores that take part.
    fma_per_unit : int [FMA/cycle]
        Of each, for operands of this kind.
    least_cycles : float [cycles]
        n_fma / (n_units · fma_per_unit): how long they are busy at least. Not a latency.
    shared_cycles : float [cycles] or None
        How long shared memory needs to deliver its operands, each read once; None where none
        comes from there. Above `least_cycles`, it decides.
    """

    generation: Generation
    instruction: Instruction
    n_units: int
    fma_per_unit: int
    least_cycles: float
    shared_cycles: float | None


def issue(
    generation: str,
    name: str | None = None,
    *,
    compute: str | None = None,
    m: int | None = None,
    n: int | None = None,
    a_home: str | None = None,
) -> Issue:
    """One instruction on the Tensor Cores of one SM.

    Parameters
    ----------
    generation : str
        One of `names`.
    name : str, optional
        One of `instructions`; by default the generation's native one for `compute`.
    compute : str, optional
        "fp16" or "fp8": the operands. By default those of the instruction, or FP16.
    m, n, a_home
        As in `instruction`.

    Returns
    -------
    Issue

    Raises
    ------
    ValueError
        If the generation has no such instruction, or only emulates it; if `name` and `compute`
        do not fit together.

    Examples
    --------
    FP8 halves the bytes of an element and doubles the rate: the same cycles, twice the depth.

    >>> half, byte = issue("9.0", n=128), issue("9.0", compute="fp8", n=128)
    >>> half.least_cycles, byte.least_cycles, half.instruction.k, byte.instruction.k
    (64.0, 64.0, 16, 32)
    >>> half.shared_cycles, issue("9.0", n=16).least_cycles, issue("9.0", n=16).shared_cycles
    (48.0, 8.0, 20.0)
    """
    known = load(generation)
    if compute is not None:
        _checks.one_of("compute", compute, tuple(ELEMENT_BYTES))
    wanted = _native(known, compute or "fp16") if name is None else name
    chosen = instruction(wanted, m=m, n=n, a_home=a_home)
    if compute is not None and compute != chosen.compute:
        _checks.fail("compute", f"be {chosen.compute} for {wanted}, or left out", compute)
    family = _tensorcoretable.family(wanted)
    if generation not in family.runs_on:
        has = "emulates it there" if generation in family.emulated_on else "has others there"
        rule = f"run on {', '.join(family.runs_on)} (the compiler {has})"
        _checks.fail("instruction", rule, generation)
    n_units = chosen.n_partitions * known.n_units_per_sm // N_PARTITIONS
    rate = known.fma_per_unit * ELEMENT_BYTES["fp16"] // chosen.element_bytes
    shared = known.shared_bytes_per_cycle
    fed = None if shared is None or not chosen.shared_bytes else chosen.shared_bytes / shared.value
    return Issue(
        generation=known,
        instruction=chosen,
        n_units=n_units,
        fma_per_unit=rate,
        least_cycles=chosen.n_fma / (n_units * rate),
        shared_cycles=fed,
    )


def _native(generation: Generation, compute: str) -> str:
    """The generation's own instruction for a precision."""
    for name in generation.instructions:
        if _tensorcoretable.family(name).compute == compute:
            return name
    rule = f"be one that {generation.architecture} multiplies by itself"
    _checks.fail("compute", rule, compute)


def fragment(name: str | Instruction, operand: str) -> Fragment:
    """Which elements of an operand each thread holds, register by register.

    Parameters
    ----------
    name : str or Instruction
        One of `instructions`, then of its largest size, or an instruction.
    operand : str
        "a", "b", or "d" (C lies as D does, as FP32).

    Returns
    -------
    Fragment

    Raises
    ------
    ValueError
        If the operand does not lie in registers.

    Examples
    --------
    Lane 5 is lane 1 of group 1: rows 1 and 9, and columns 2, 3, 10 and 11 of A.

    >>> [place[1:] for place in fragment("mma.m16n8k16", "a").held(5)][:4]
    [(1, 2), (1, 3), (9, 2), (9, 3)]
    >>> fragment("wgmma.m64nNk16", "d").n_registers  # of 128 threads; D is 64 × 256
    128
    """
    return _tensorcorefragments.fragment(_instruction(name), operand)


def _instruction(name: object) -> Instruction:
    if isinstance(name, Instruction):
        return name
    return instruction(_checks.one_of("instruction", name, instructions()))


def schedule(work: Issue) -> Schedule:
    """What the Tensor Cores do in each cycle, at their full rate.

    Parameters
    ----------
    work : Issue
        From `issue`.

    Returns
    -------
    Schedule

    Raises
    ------
    ValueError
        If the instruction cannot be cut evenly into the blocks of its generation.

    Examples
    --------
    >>> ampere = schedule(issue("8.0"))
    >>> ampere.n_steps, ampere.block, ampere.is_published
    (8, (8, 4, 8), True)
    >>> ampere.depth(5)[0, ::8, ::4].tolist()  # one block of D is complete, three have half a sum
    [[16, 8], [8, 8]]
    """
    if not _checks.is_a(work, Issue):
        _checks.fail("work", "be an Issue, such as issue('8.0')", work)
    cut = _tensorcoresteps.schedule(work.instruction, work.generation, work.n_units)
    assert math.isclose(cut.n_steps, work.least_cycles)
    return cut

"""Reading the table of Tensor Cores: generations, and the instructions that drive them."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from primer import _checks, _tables, capabilities, hardware
from primer._tables import Bounds
from primer.hardware import Chip
from primer.quantities import Quantity, Source

FILE = "data/tensorcores.toml"
HOMES = ("registers", "shared memory", "tensor memory")
ELEMENT_BYTES = {"fp16": 2, "fp8": 1}
N_PARTITIONS = 4  # of an SM; each has its own scheduler, registers and Tensor Cores

_FMA = Bounds("FMA/cycle", 128, 16_384)
_SHARED = Bounds("B/cycle", 32, 1024)
_CLOCK = Bounds("Hz", 5e8, 4e9)
_GENERATION = (
    "chip", "instructions", "fma_per_sm", "shared_bytes_per_cycle", "block", "block_source",
)  # fmt: skip
_COUNTS = {"k": (4, 64), "n_products": (1, 4), "n_threads": (1, 128), "n_partitions": (1, 4)}
_TEXTS = ("ptx", "compute", "b_home", "d_home", "note")
_LISTS = ("sizes", "a_homes", "runs_on", "emulated_on")


@dataclass(frozen=True, kw_only=True, repr=False)
class Generation:
    """The Tensor Cores of one compute capability.

    Parameters
    ----------
    id, architecture : str
        Such as "9.0" and "Hopper".
    chip : Chip
        Stands for the generation where a rate is derived.
    instructions : tuple of str
        The native ones, FP16 first.
    fma_per_sm : Quantity [FMA/cycle]
        What one SM multiplies and adds in a cycle, as printed.
    n_units_per_sm : int
        Tensor Cores of an SM.
    block : tuple of int
        Rows, columns and depth of what one Tensor Core does in a cycle, with FP16 operands.
    block_source : Source or None
        Who says so; None where only the number of products is known, and the block is a drawing.
    shared_bytes_per_cycle : Quantity [B/cycle] or None
        What an SM's shared memory delivers; None where the operands come from registers.
    """

    id: str
    architecture: str
    chip: Chip
    instructions: tuple[str, ...]
    fma_per_sm: Quantity
    n_units_per_sm: int
    block: tuple[int, int, int]
    block_source: Source | None = None
    shared_bytes_per_cycle: Quantity | None = None

    def __repr__(self) -> str:
        return f"<Generation {self.id}: {self.architecture}>"

    @property
    def fma_per_unit(self) -> int:
        """What one Tensor Core multiplies and adds in a cycle, with FP16 operands, int."""
        return int(self.fma_per_sm.value) // self.n_units_per_sm


@dataclass(frozen=True, kw_only=True)
class Family:
    """An instruction whose size is still open.

    Parameters
    ----------
    sizes : tuple of (m, least n, largest n, step of n)
    a_homes : tuple of str
        Where A may lie.
    runs_on, emulated_on : tuple of str
        Generations that have it, and those whose compiler writes others instead.

    The rest as in `primer.tensorcores.Instruction`.
    """

    id: str
    ptx: str
    compute: str
    k: int
    sizes: tuple[tuple[int, int, int, int], ...]
    n_products: int
    n_threads: int
    n_partitions: int
    a_homes: tuple[str, ...]
    b_home: str
    d_home: str
    runs_on: tuple[str, ...]
    emulated_on: tuple[str, ...]
    source: Source
    note: str


def names() -> tuple[str, ...]:
    """The generations in the table, by compute capability.

    >>> names()
    ('7.0', '7.5', '8.0', '8.6', '8.9', '9.0', '10.0')
    """
    return tuple(_tables.read(FILE)["generation"])


def instructions() -> tuple[str, ...]:
    """The instructions in the table.

    >>> instructions()[:3]
    ('mma.m8n8k4', 'mma.m16n8k8', 'mma.m16n8k16')
    """
    return tuple(_tables.read(FILE)["instruction"])


def load(generation: str) -> Generation:
    """The Tensor Cores of one generation.

    Parameters
    ----------
    generation : str
        One of `names`.

    Returns
    -------
    Generation
        The same object on every call.

    Raises
    ------
    ValueError
        If it is not in the table; the message names the nearest.

    Examples
    --------
    >>> volta, hopper = load("7.0"), load("9.0")
    >>> volta.n_units_per_sm, volta.fma_per_unit, hopper.n_units_per_sm, hopper.fma_per_unit
    (8, 64, 4, 512)
    """
    return _load(_checks.one_of("generation", generation, names()))


@functools.cache
def _load(name: str) -> Generation:
    raw = _tables.read(FILE)
    return build_generation(name, raw["generation"][name], raw["field"])


@functools.cache
def family(name: str) -> Family:
    """One instruction of the table."""
    raw = _tables.read(FILE)
    return build_family(name, raw["instruction"][name], raw["field"])


@functools.cache
def clock(chip: str) -> Quantity | None:
    """The clock behind a chip's matrix peaks, where its own table does not say."""
    raw = _tables.read(FILE)
    if chip not in raw["clock"]:
        return None
    where, shared = f"tensorcores.toml: clock.{chip}", raw["field"]["clock"]
    row = raw["clock"][chip]
    return _tables.quantity(where, "clock", row, bounds=_CLOCK, shared=shared, sku=chip)


def build_generation(name: str, row: Mapping[str, Any], fields: Mapping[str, Any]) -> Generation:
    """Check one generation and freeze it."""
    where = f'tensorcores.toml: generation."{name}"'
    _tables.keys(where, row, _GENERATION)
    chip = hardware.load(_checks.one_of(f"{where}.chip", row.get("chip"), hardware.names()))
    rate = _tables.quantity(
        f"{where}.fma_per_sm", "fma_per_sm", row.get("fma_per_sm"),
        bounds=_FMA, shared=fields["fma_per_sm"], sku=chip.name,
    )  # fmt: skip
    n_units = int(chip.count("matrix_units").value // chip.count("sms").value)
    found = Generation(
        id=name,
        architecture=capabilities.load(name).architecture,
        chip=chip,
        instructions=_known(where, row, "instructions", instructions()),
        fma_per_sm=rate,
        n_units_per_sm=n_units,
        block=_block(where, row),
        block_source=_tables.source(where, row["block_source"]) if "block_source" in row else None,
        shared_bytes_per_cycle=_shared(where, row, fields),
    )
    rows, columns, depth = found.block
    if rows * columns * depth * n_units != rate.value:
        rule = f"make {rate.value / n_units:g} products, as fma_per_sm does"
        _checks.fail(f"{where}.block", rule, row["block"])
    return found


def _shared(where: str, row: Mapping[str, Any], fields: Mapping[str, Any]) -> Quantity | None:
    key = "shared_bytes_per_cycle"
    if key not in row:
        return None
    place, shared = f"{where}.{key}", fields[key]
    return _tables.quantity(place, key, row[key], bounds=_SHARED, shared=shared)


def _block(where: str, row: Mapping[str, Any]) -> tuple[int, int, int]:
    value = row.get("block")
    if not isinstance(value, list) or len(value) != 3:
        _checks.fail(f"{where}.block", "be [rows, columns, depth]", value)
    rows, columns, depth = (_checks.whole(f"{where}.block", v, maximum=64) for v in value)
    return rows, columns, depth


def _known(
    where: str, row: Mapping[str, Any], key: str, options: tuple[str, ...]
) -> tuple[str, ...]:
    """A list of keys that exist elsewhere."""
    found = _tables.texts(where, row, key)
    return tuple(_checks.one_of(f"{where}.{key}", value, options) for value in found)


def build_family(name: str, row: Mapping[str, Any], fields: Mapping[str, Any]) -> Family:
    """Check one instruction and freeze it."""
    where = f'tensorcores.toml: instruction."{name}"'
    _tables.keys(where, row, (*_TEXTS, *_LISTS, *_COUNTS))
    known = names()
    counts: dict[str, Any] = {
        key: _checks.whole(f"{where}.{key}", row.get(key), minimum=low, maximum=high)
        for key, (low, high) in _COUNTS.items()
    }
    return Family(
        id=name,
        ptx=_tables.text(where, row, "ptx"),
        compute=_checks.one_of(f"{where}.compute", row.get("compute"), tuple(ELEMENT_BYTES)),
        sizes=_sizes(where, row),
        a_homes=_known(where, row, "a_homes", HOMES),
        b_home=_checks.one_of(f"{where}.b_home", row.get("b_home"), HOMES),
        d_home=_checks.one_of(f"{where}.d_home", row.get("d_home"), HOMES),
        runs_on=_known(where, row, "runs_on", known),
        emulated_on=_known(where, row, "emulated_on", known) if "emulated_on" in row else (),
        source=_tables.origin(f"{where}.source", fields["instruction"])["source"],
        note=_tables.text(where, row, "note", ""),
        **counts,
    )


def _sizes(where: str, row: Mapping[str, Any]) -> tuple[tuple[int, int, int, int], ...]:
    place, value = f"{where}.sizes", row.get("sizes")
    if not isinstance(value, list) or not value:
        _checks.fail(place, "be a list of [m, least n, largest n, step of n]", value)
    found = []
    for entry in value:
        if not isinstance(entry, list) or len(entry) != 4:
            _checks.fail(place, "be a list of [m, least n, largest n, step of n]", entry)
        m, low, high, step = (_checks.whole(place, v, maximum=256) for v in entry)
        if low > high or low % step or high % step:
            _checks.fail(place, "step evenly from the least n to the largest", entry)
        found.append((m, low, high, step))
    return tuple(found)

"""CUDA compute capabilities: how many threads, registers and bytes one multiprocessor holds.

A capability is a version of the programming model's limits. How many blocks fit on a multiprocessor
follows from them alone, whatever the chip's name. Left out: everything that is a rate (clocks,
lanes, tensor cores: see `primer.hardware`), limits of grids, and clusters.

Source: NVIDIA's headers, which implement the table of the CUDA programming guide.

>>> hopper = load("9.0")
>>> hopper.max_warps_per_sm, hopper.shared_bytes_per_sm, hopper.max_shared_bytes_per_block
(64, 233472, 232448)
>>> str(hopper.limit("shared_bytes_per_sm"))
'228 KiB'
"""

import dataclasses
import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from primer import _checks, _tables
from primer._tables import Bounds
from primer.quantities import Quantity

FILE = "data/capabilities.toml"

_COUNT = {
    "warp_size": (16, 128),
    "max_threads_per_block": (512, 4096),
    "max_threads_per_sm": (512, 8192),
    "max_warps_per_sm": (16, 256),
    "max_blocks_per_sm": (8, 128),
    "max_barriers_per_sm": (0, 256),
    "n_schedulers_per_sm": (1, 16),
    "registers_per_sm": (16_384, 524_288),
    "max_registers_per_block": (16_384, 524_288),
    "max_registers_per_thread": (63, 1023),
    "register_allocation": (64, 1024),
}
_BYTES = {
    "shared_bytes_per_sm": (32_768, 1_048_576),
    "default_shared_bytes_per_block": (16_384, 262_144),
    "max_shared_bytes_per_block": (32_768, 1_048_576),
    "reserved_shared_bytes_per_block": (0, 65_536),
    "shared_allocation_bytes": (64, 1024),
}
_CARVEOUT = Bounds("B", 0, 1_048_576)
LIMITS = (*_COUNT, *_BYTES)
_ROW = ("architecture", "products", "same_as", "note", "carveouts_bytes", *LIMITS)


@dataclass(frozen=True, kw_only=True, repr=False)
class Capability:
    """The limits of one compute capability.

    Parameters
    ----------
    id, architecture : str
        Such as "9.0" and "Hopper".
    products : tuple of str
        Some that have it.
    warp_size : int [threads]
    max_threads_per_block, max_threads_per_sm, max_warps_per_sm, max_blocks_per_sm : int
        What one block, or one multiprocessor, may hold at once.
    max_barriers_per_sm : int
        Barriers that all resident blocks share; 0 where they limit nothing.
    n_schedulers_per_sm : int
        Each owns an equal share of the warps and issues at most one instruction per cycle.
    registers_per_sm, max_registers_per_block, max_registers_per_thread : int
        32-bit registers.
    register_allocation : int
        Registers of a warp are rounded up to a multiple of this.
    shared_bytes_per_sm : int [B]
        Shared memory of a multiprocessor at its largest.
    default_shared_bytes_per_block, max_shared_bytes_per_block : int [B]
        What one block may use without and after opting in.
    reserved_shared_bytes_per_block : int [B]
        What the system takes for itself from every block's share.
    shared_allocation_bytes : int [B]
        A block's shared memory is rounded up to a multiple of this.
    carveouts_bytes : tuple of int [B]
        What a kernel may choose as the shared part of L1.
    limits : tuple of Quantity [1, B]
        The same numbers, each with its unit, source and dates.
    note : str
    """

    id: str
    architecture: str
    products: tuple[str, ...]
    warp_size: int
    max_threads_per_block: int
    max_threads_per_sm: int
    max_warps_per_sm: int
    max_blocks_per_sm: int
    max_barriers_per_sm: int
    n_schedulers_per_sm: int
    registers_per_sm: int
    max_registers_per_block: int
    max_registers_per_thread: int
    register_allocation: int
    shared_bytes_per_sm: int
    default_shared_bytes_per_block: int
    max_shared_bytes_per_block: int
    reserved_shared_bytes_per_block: int
    shared_allocation_bytes: int
    carveouts_bytes: tuple[int, ...]
    limits: tuple[Quantity, ...]
    note: str = ""

    def __repr__(self) -> str:
        return f"<Capability {self.id}: {self.architecture}>"

    @property
    def max_warps_per_scheduler(self) -> int:
        """Warps that one scheduler can choose from: 16 on Hopper, 12 on Ada, 8 on Turing."""
        return self.max_warps_per_sm // self.n_schedulers_per_sm

    def limit(self, name: str) -> Quantity:
        """One limit with its unit, source and dates.

        >>> load("7.5").limit("max_warps_per_sm").source.key
        'cccl'
        """
        return {q.name: q for q in self.limits}[_checks.one_of("limit", name, LIMITS)]


def names() -> tuple[str, ...]:
    """The capabilities in the table, oldest first.

    >>> names()
    ('7.0', '7.5', '8.0', '8.6', '8.9', '9.0', '10.0', '10.3', '12.0')
    """
    return tuple(_tables.read(FILE)["row"])


def load(capability: str) -> Capability:
    """The limits of one compute capability.

    Parameters
    ----------
    capability : str
        One of `names`, such as "9.0".

    Returns
    -------
    Capability
        The same object on every call.

    Raises
    ------
    ValueError
        If it is not in the table; the message names the nearest. Also if its row breaks a rule.

    Examples
    --------
    >>> load("8.6").max_warps_per_scheduler
    12
    >>> load("sm_90")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: capability must be one of 7.0, ...; got 'sm_90'
    """
    return _load(_checks.one_of("capability", capability, names()))


@functools.cache
def _load(capability: str) -> Capability:
    raw = _tables.read(FILE)
    return build(capability, raw["row"], raw["field"])


def build(capability: str, rows: Mapping[str, Any], fields: Mapping[str, Any]) -> Capability:
    """Check one row of the table and freeze it.

    Parameters
    ----------
    capability : str
        Its key in `rows`.
    rows, fields : mapping
        The table, and the unit and source of each of its columns, as TOML reads them.
    """
    where = f'capabilities.toml: row."{capability}"'
    row = rows[capability]
    _tables.keys(where, row, _ROW)
    if "same_as" in row:
        other = build(_checks.one_of(f"{where}.same_as", row["same_as"], tuple(rows)), rows, fields)
        return dataclasses.replace(other, **_names(capability, where, row))
    limits = tuple(_limit(where, row, fields, name) for name in LIMITS)
    numbers: dict[str, Any] = {q.name: int(q.value) for q in limits}
    found = Capability(
        **_names(capability, where, row),
        **numbers,
        carveouts_bytes=_carveouts(where, row, fields),
        limits=limits,
    )
    _agree(where, found)
    return found


def _names(capability: str, where: str, row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": capability,
        "architecture": _tables.text(where, row, "architecture"),
        "products": _tables.texts(where, row, "products"),
        "note": _tables.text(where, row, "note", ""),
    }


def _limit(where: str, row: Mapping[str, Any], fields: Mapping[str, Any], name: str) -> Quantity:
    if name not in row:
        _checks.fail(f"{where}.{name}", "be there", None)
    if name in _COUNT:
        bounds = Bounds("1", *_COUNT[name])
    else:
        bounds = Bounds("B", *_BYTES[name])
    value = {"value": row[name]}
    place = f"{where}.{name}"
    found = _tables.quantity(place, name, value, bounds=bounds, shared=fields[name])
    if found.value != int(found.value):
        _checks.fail(place, "be a whole number of bytes", found.value)
    return found


def _carveouts(where: str, row: Mapping[str, Any], fields: Mapping[str, Any]) -> tuple[int, ...]:
    place, values = f"{where}.carveouts_bytes", row.get("carveouts_bytes")
    if not isinstance(values, list) or values != sorted(set(values)):
        _checks.fail(place, "be a list of ascending sizes", values)
    shown = fields["carveouts_bytes"]["unit"]
    return tuple(int(_tables.amount(place, v, shown, _CARVEOUT) or 0) for v in values)


def _agree(where: str, found: Capability) -> None:
    """Rules that tie the limits to each other: a slip in one of them rarely obeys all."""
    rules = (
        ("max_threads_per_sm", found.max_warps_per_sm * found.warp_size),
        ("shared_bytes_per_sm", found.carveouts_bytes[-1]),
        (
            "max_shared_bytes_per_block",
            found.shared_bytes_per_sm - found.reserved_shared_bytes_per_block,
        ),
    )
    for name, right in rules:
        if getattr(found, name) != right:
            _checks.fail(
                f"{where}.{name}", f"equal {right} by the other limits", getattr(found, name)
            )

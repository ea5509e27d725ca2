"""Operations of one tile, what they need of each other, and the loop over tiles that they make.

See `primer.bundles` for the machine.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from primer import _checks

SLOTS = ("scalar", "load", "store", "alu", "push", "pop", "misc")
COPY_CYCLES = 3  # of the toy: from the start of a copy to the bundle that finds it done
ARRAY_CYCLES = 4  # of the toy: from a push to its pop
MOST_ROWS = 32
MOST_OPERATIONS, MOST_NEEDS = 500, 5000  # of a program: placing them takes seconds


@dataclass(frozen=True)
class Operation:
    """One operation of a tile.

    Parameters
    ----------
    name : str
        Such as "load x0".
    slot : str
        Its place in a bundle, one of `SLOTS`.
    """

    name: str
    slot: str

    def __post_init__(self) -> None:
        if not _checks.is_a(self.name, str):
            _checks.fail("name", "be a text", self.name)
        _checks.one_of("slot", self.slot, SLOTS)


@dataclass(frozen=True)
class Need:
    """One operation that has to start some bundles after another.

    Parameters
    ----------
    source, target : int
        The earlier one and the later one, as indices of operations.
    cycles : int [cycles]
        From the start of one to the start of the other, at least.
    distance : int
        Tiles between them: 0 within a tile, 1 from a tile to the next.
    """

    source: int
    target: int
    cycles: int
    distance: int = 0

    def __post_init__(self) -> None:
        for name in ("source", "target", "cycles", "distance"):
            plain = _checks.whole(name, getattr(self, name), minimum=0, maximum=10**6)
            object.__setattr__(self, name, plain)


@dataclass(frozen=True)
class Program:
    """A loop over tiles.

    Parameters
    ----------
    operations : tuple of Operation
        Of one tile.
    needs : tuple of Need
    """

    operations: tuple[Operation, ...]
    needs: tuple[Need, ...]

    def __post_init__(self) -> None:
        most = {"operations": MOST_OPERATIONS, "needs": MOST_NEEDS}
        for name, limit in most.items():
            given = getattr(self, name)
            if not _checks.is_a(given, Sequence) or _checks.is_a(given, str, bytes):
                _checks.fail(name, "be a tuple", given)
            if len(given) > limit:
                _checks.fail(name, f"be at most {limit:,}", len(given))
            object.__setattr__(self, name, tuple(given))
        if not self.operations:
            _checks.fail("operations", "hold at least one", self.operations)
        for operation in self.operations:
            if not _checks.is_a(operation, Operation):
                _checks.fail("operations", "be Operations", operation)
        for need in self.needs:
            if not _checks.is_a(need, Need):
                _checks.fail("needs", "be Needs", need)
            last = len(self.operations) - 1
            _checks.whole("source", need.source, minimum=0, maximum=last)
            _checks.whole("target", need.target, minimum=0, maximum=last)

    def index(self, name: str) -> int:
        """Place of an operation by its name, int."""
        known = [operation.name for operation in self.operations]
        return known.index(_checks.one_of("name", name, known))

    def count(self, slot: str) -> int:
        """Operations of one kind, int."""
        return sum(operation.slot == slot for operation in self.operations)


class _Writer:
    """Collects operations by name, and what they need."""

    def __init__(self) -> None:
        self.operations: list[Operation] = []
        self.needs: list[Need] = []
        self.places: dict[str, int] = {}

    def add(self, name: str, slot: str, *needs: tuple[str, int]) -> str:
        """An operation that starts so many cycles after others of its tile."""
        self.places[name] = len(self.operations)
        self.operations.append(Operation(name, slot))
        for source, cycles in needs:
            self.need(source, name, cycles)
        return name

    def need(self, source: str, target: str, cycles: int, distance: int = 0) -> None:
        """One need, within a tile or from tile to tile."""
        self.needs.append(Need(self.places[source], self.places[target], cycles, distance))

    def chain(self, names: list[str], slot: str) -> None:
        """What one unit takes in this order, in the tile and from the tile to the next."""
        for first, second in itertools.pairwise(names):
            self.need(first, second, 1)
        self.need(names[-1], names[0], 1, 1)


def tile(*, n_rows: int = 4, new_weights: bool = False, n_buffers: int = 2) -> Program:
    """The work on one tile: copy in, multiply by the weights, add, clip, copy out.

    A row here is what one vector register holds. Every row is loaded, pushed into the array, popped
    as a result, added to a bias, clipped at zero, and stored.

    Parameters
    ----------
    n_rows : int
        Rows of a tile, and of the weights.
    new_weights : bool
        Whether each tile brings weights of its own, which are loaded and pushed before its rows.
    n_buffers : int
        Tiles of room in vector memory, for what comes in and for what goes out.

    Returns
    -------
    Program

    Raises
    ------
    ValueError
        If a number is not a positive integer, or there are more than 32 rows.

    Examples
    --------
    Five operations steer; each row takes six.

    >>> program = tile(n_rows=4)
    >>> len(program.operations), program.count("alu")
    (30, 8)
    """
    rows = range(_checks.whole("n_rows", n_rows, maximum=MOST_ROWS))
    buffers = _checks.whole("n_buffers", n_buffers)
    has_weights = _checks.flag("new_weights", new_weights)
    out = _Writer()
    out.add("address", "scalar")
    out.add("copy in", "scalar", ("address", 1))
    out.add("wait in", "misc", ("copy in", COPY_CYCLES))
    operands = [f"w{i}" for i in rows] * has_weights + [f"x{i}" for i in rows]
    for name in operands:
        out.add(f"load {name}", "load", ("wait in", 1))
        out.add(f"push {name}", "push", (f"load {name}", 1))
    out.add("wait out", "misc")
    for i in rows:
        out.add(f"pop y{i}", "pop", (f"push x{i}", ARRAY_CYCLES))
        out.add(f"add y{i}", "alu", (f"pop y{i}", 1))
        out.add(f"clip y{i}", "alu", (f"add y{i}", 1))
        out.add(f"store y{i}", "store", (f"clip y{i}", 1), ("wait out", 1))
    out.add("copy out", "scalar", (f"store y{rows[-1]}", 1))
    out.add("branch", "scalar", ("address", 1))
    for verb, things in (("load", operands), ("push", operands)):
        out.chain([f"{verb} {thing}" for thing in things], verb)
    for verb in ("pop", "store"):
        out.chain([f"{verb} y{i}" for i in rows], verb)
    out.need("address", "address", 1, 1)
    out.need(f"load {operands[-1]}", "copy in", 1, buffers)  # room for the next one
    out.need("copy out", "wait out", COPY_CYCLES, buffers)
    return Program(tuple(out.operations), tuple(out.needs))

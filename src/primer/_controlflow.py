"""Programs as blocks with branches, and the places where their ways meet again."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from primer import _checks, _lanes

MOST_ISSUES = 100_000
MOST_DEPTH = 100
MOST_BLOCKS = 10_000
_Name = TypeVar("_Name", bound=Hashable)


@dataclass(frozen=True)
class Instructions:
    """A run of instructions without a branch.

    Parameters
    ----------
    n_instructions : int
    name : str
        Stands beside every instruction in the result.
    """

    n_instructions: int
    name: str = ""

    def __post_init__(self) -> None:
        n = _checks.whole("n_instructions", self.n_instructions, maximum=MOST_ISSUES)
        object.__setattr__(self, "n_instructions", n)
        if not _checks.is_a(self.name, str):
            _checks.fail("name", "be text", self.name)


@dataclass(frozen=True)
class If:
    """Lanes go one of two ways. The test is free: count it with the instructions before.

    Parameters
    ----------
    condition : bool array (32,)
        Of each lane; lanes that do not get here have one too.
    then, otherwise : program
        A node, or a sequence of nodes; `otherwise` may be empty.
    """

    condition: Any
    then: Any
    otherwise: Any = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "condition", _lanes.flags("condition", self.condition))
        object.__setattr__(self, "then", nodes("then", self.then))
        object.__setattr__(self, "otherwise", nodes("otherwise", self.otherwise))


@dataclass(frozen=True)
class Switch:
    """Lanes go one of several ways. The test is free: count it with the instructions before.

    Parameters
    ----------
    choice : int array (32,)
        Of each lane: the index of its arm.
    arms : sequence of programs
        They run in this order.
    """

    choice: Any
    arms: Any

    def __post_init__(self) -> None:
        if not _checks.is_a(self.arms, Sequence) or not self.arms:
            _checks.fail("arms", "be a sequence of at least one program", self.arms)
        arms = tuple(nodes(f"arms[{i}]", arm) for i, arm in enumerate(self.arms))
        choice = _lanes.counts("choice", self.choice, len(arms) - 1)
        object.__setattr__(self, "arms", arms)
        object.__setattr__(self, "choice", choice)


@dataclass(frozen=True)
class Loop:
    """Lanes repeat a body, each as often as it needs. The test is free: count it with the body.

    Parameters
    ----------
    n_trips : int array (32,)
        Of each lane, every time that it enters the loop; 0 to 100,000.
    body : program
        A node, or a sequence of nodes.
    """

    n_trips: Any
    body: Any

    def __post_init__(self) -> None:
        trips = _lanes.counts("n_trips", self.n_trips, MOST_ISSUES)
        object.__setattr__(self, "n_trips", trips)
        object.__setattr__(self, "body", nodes("body", self.body))


Node: TypeAlias = Instructions | If | Switch | Loop
_NODES = (Instructions, If, Switch, Loop)


def nodes(name: str, program: Any) -> tuple[Node, ...]:
    """A program as a tuple of nodes; a single node may stand alone."""
    listed = (program,) if _checks.is_a(program, *_NODES) else program
    rule = "be made of Instructions, If, Switch and Loop"
    if not _checks.is_a(listed, Iterable) or _checks.is_a(listed, str, Mapping):
        _checks.fail(name, rule, program)
    try:
        whole = tuple(listed)
    except TypeError:  # an array without dimensions calls itself iterable
        _checks.fail(name, rule, program)
    for node in whole:
        if not _checks.is_a(node, *_NODES):
            _checks.fail(name, rule, node)
    return whole


@dataclass
class Block:
    """Instructions that run one after another, and what may follow.

    A block with `choice` sends each lane to the successor of that index. One with `n_trips` sends
    a lane to successor 0 that often, then to successor 1.
    """

    name: str = ""
    n_instructions: int = 0
    successors: list[int] = field(default_factory=list)
    choice: tuple[int, ...] = ()
    n_trips: tuple[int, ...] = ()


def lower(program: Sequence[Node]) -> tuple[list[Block], int]:
    """The blocks of a program, of which block 0 is the end, and where it begins."""
    blocks = [Block("end")]
    return blocks, _lower(program, blocks, 0, 0)


def _lower(program: Sequence[Node], blocks: list[Block], after: int, depth: int) -> int:
    """Add blocks for a program that goes on at block `after`; give its entry."""
    if depth > MOST_DEPTH:
        _checks.fail("program", f"be nested at most {MOST_DEPTH} deep", depth)
    for node in reversed(program):
        block = Block()
        blocks.append(block)
        here = len(blocks) - 1
        if here > MOST_BLOCKS:
            _checks.fail("program", f"have at most {MOST_BLOCKS:,} nodes", here)
        if isinstance(node, Instructions):
            block.name, block.n_instructions, block.successors = (
                node.name, node.n_instructions, [after],
            )  # fmt: skip
        elif isinstance(node, Loop):
            block.n_trips = node.n_trips
            block.successors = [_lower(node.body, blocks, here, depth + 1), after]
        else:
            arms, block.choice = _ways(node)
            block.successors = [_lower(arm, blocks, after, depth + 1) for arm in arms]
        after = here
    return after


def _ways(node: If | Switch) -> tuple[tuple[tuple[Node, ...], ...], tuple[int, ...]]:
    """The arms of a branch, and which of them each lane takes."""
    if isinstance(node, If):
        return (node.then, node.otherwise), tuple(0 if true else 1 for true in node.condition)
    return node.arms, node.choice


def immediate_post_dominators(
    successors: Mapping[_Name, Sequence[_Name]],
) -> dict[_Name, _Name | None]:
    """Where the ways out of each block meet again, on any graph of blocks.

    A block d post-dominates b if every way from b to an end passes d. All post-dominators of b lie
    on each of these ways, in the same order; the first one behind b itself is the immediate one.
    It is the earliest place where lanes that part at b are sure to be together again.

    Parameters
    ----------
    successors : mapping from block to sequence of blocks
        Blocks that may follow each; none after an end.

    Returns
    -------
    dict from block to block or None
        None where ways meet only after the end, and for ends themselves.

    Raises
    ------
    ValueError
        If it is no mapping to sequences, a successor is not a block of the graph, or some block
        reaches no end.

    Notes
    -----
    Solves post(b) = {b} ∪ ⋂ post(s) over the successors s, from full sets down until nothing
    changes. Source: Muchnick, "Advanced compiler design and implementation" (1997), 7.3.

    Examples
    --------
    >>> immediate_post_dominators({"if": ["a", "b"], "a": ["out"], "b": ["out"], "out": []})
    {'if': 'out', 'a': 'out', 'b': 'out', 'out': None}
    """
    if not _checks.is_a(successors, Mapping):
        _checks.fail("successors", "be a mapping from blocks to those that follow", successors)
    names = list(successors)
    place = {name: i for i, name in enumerate(names)}
    following = [_places(name, successors[name], place) for name in names]
    order = _from_the_ends(following)
    for i, name in enumerate(names):
        if i not in order:
            _checks.fail("successors", "lead from every block to an end", name)
    behind = _post_dominators(following, order)
    # What lies behind b is what its immediate post-dominator has, that block itself included.
    owner: dict[int, _Name] = {behind[i]: name for name, i in place.items()}
    return {name: owner.get(behind[i] & ~(1 << i)) for name, i in place.items()}


def _places(name: Any, after: Any, place: Mapping[Any, int]) -> list[int]:
    """The numbers of the blocks that follow one."""
    if not _checks.is_a(after, Sequence) or _checks.is_a(after, str, bytes):
        _checks.fail("successors", f"have a sequence of blocks after {name!r}", after)
    found = []
    for other in after:
        try:
            found.append(place[other])
        except (KeyError, TypeError):  # TypeError: a list or so, which names nothing
            rule = f"name only blocks of the graph after {name!r}"
            _checks.fail("successors", rule, other)
    return found


def _from_the_ends(following: Sequence[Sequence[int]]) -> dict[int, None]:
    """Blocks that reach an end, each behind all that follow it, but for the ways of loops."""
    before: list[list[int]] = [[] for _ in following]
    for i, after in enumerate(following):
        for other in after:
            before[other].append(i)
    done: dict[int, None] = {}
    seen: set[int] = set()
    for end in (i for i, after in enumerate(following) if not after):
        seen.add(end)
        stack = [(end, iter(before[end]))]
        while stack:
            at, rest = stack[-1]
            new = next((i for i in rest if i not in seen), None)
            if new is None:
                done[at] = None
                stack.pop()
            else:
                seen.add(new)
                stack.append((new, iter(before[new])))
    return dict.fromkeys(reversed(done))


def _post_dominators(following: Sequence[Sequence[int]], order: Iterable[int]) -> list[int]:
    """The post-dominators of each block, itself included, as the bits of an integer.

    Any order finds them, and one in which what follows a block comes first finds them soon.
    """
    everything = (1 << len(following)) - 1
    behind = [everything if after else 1 << i for i, after in enumerate(following)]
    changes = True
    while changes:
        changes = False
        for i in order:
            common = everything if following[i] else 0
            for other in following[i]:
                common &= behind[other]
            common |= 1 << i
            changes |= common != behind[i]
            behind[i] = common
    return behind

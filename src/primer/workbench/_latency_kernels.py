"""Loops over a buffer in random order that differ only in how many accesses are in flight.

The buffer is a ring: each line of the cache holds the place of the next line, in an order that no
prefetcher can guess. A place is an index into the buffer, always the first number of a line. The
second number of every line is zero, which the compiler does not know.

- `walk` follows some chains at once. Within a chain an access begins when the last one has ended.
- `gather` knows all places beforehand, and loads each line early, some accesses before its turn.
  The accesses themselves form one chain: each adds what the last one read, a zero, to its index.
- `plain` knows all places as well and adds up what it reads: the core itself may look ahead.

An early load is a prefetch that cannot be refused. Processors have an instruction for it too, but
that is a hint: on the processor of the book's measurement, hints for the first cache were slower by
a factor of three beyond twenty in flight, and hints for the second cache did little one access
ahead.

All indices are unsigned: for signed ones, the compiler would add a test for negative ones.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from primer._jit import njit
from primer.workbench._matmul_times import LINE_BYTES, aligned

Places = NDArray[np.uint64]

WORDS = LINE_BYTES // 8  # numbers in a line


def ring(n_lines: int, *, seed: int = 1) -> tuple[Places, Places]:
    """A buffer, and the places of its lines in the order of the ring.

    Parameters
    ----------
    n_lines : int
    seed : int
        Of the order.

    Returns
    -------
    links : uint64 array (n_lines * WORDS,)
    order : uint64 array (n_lines,)

    Examples
    --------
    From any line, four steps through a ring of four lines lead back.

    >>> links, order = ring(4)
    >>> at = order[:1].copy()
    >>> walk(links, at, 4)
    >>> bool(at[0] == order[0]), sorted(order.tolist())
    (True, [0, 8, 16, 24])
    """
    order = np.random.default_rng(seed).permutation(n_lines).astype(np.uint64) * np.uint64(WORDS)
    links = aligned((n_lines, WORDS), np.uint64).reshape(-1)
    links[:] = 0
    links[order] = np.roll(order, -1)
    return links, order


def walk(links: Places, at: Places, n_steps: int) -> None:
    """Take steps in every chain by turns; `at` holds where each stands, and is moved on."""
    walker(at.size)(links, at, n_steps)


@functools.cache
def walker(n_chains: int) -> Callable[[Places, Places, int], None]:
    """`walk` for a number of chains, compiled if it can be.

    The step of every chain is written out. In a loop over the chains, their places would pass
    through memory, which adds half of the second cache's latency to each step.
    """
    chains = range(n_chains)
    lines = [
        "def walk(links, at, n_steps):",
        *(f"    place{c} = at[{c}]" for c in chains),
        "    for _ in range(n_steps):",
        *(f"        place{c} = links[place{c}]" for c in chains),
        *(f"    at[{c}] = place{c}" for c in chains),
    ]
    made: dict[str, Callable[[Places, Places, int], None]] = {}
    exec("\n".join(lines), made)
    return njit(made["walk"])


@njit
def gather(links: Places, places: Places, distance: int, n_rounds: int) -> Any:
    """Visit places one after another, with an early load of the place `distance` further on.

    The last `distance` places are only loaded early. Returns the sum of all that was read.
    """
    shift, early, ahead = np.uint64(0), np.uint64(0), np.uint64(distance)
    for _ in range(n_rounds):
        for step in range(places.size - distance):
            here = np.uint64(step) + shift
            early += links[places[here + ahead] + np.uint64(1)]
            shift = links[places[here] + np.uint64(1)]
    return early + shift


@njit
def plain(links: Places, places: Places, n_rounds: int) -> Any:
    """Independent accesses, added up."""
    total = np.uint64(0)
    for _ in range(n_rounds):
        for step in range(places.size):
            total += links[places[np.uint64(step)]]
    return total

"""A factory starved by its belt: the picture behind every memory-bound machine.

Identical machines work on parts that one belt brings in. A machine may use a part several times
before it needs the next one; that number is the reuse. With M machines that do r operations per
second each, a belt of b parts per second and reuse k, the shop asks for M·r operations per second
and the belt feeds b·k, so

    rate = min(M·r, b·k)        busy share = rate / (M·r) = min(1, b·k / (M·r)).

It is the roofline in overalls: M·r is the roof, b the slope, k the intensity, and M·r / b the reuse
at which the shop is just full. Left out: parts that wait in a pile, machines that differ, a belt
that jerks, and the time until the first part arrives.

>>> shop = starve(8, 2.0, reuse=1)
>>> shop.busy_frac, shop.idle_frac, shop.full_reuse, shop.bound
(0.25, 0.75, 4.0, 'belt')
"""

from dataclasses import dataclass

from primer import _checks


@dataclass(frozen=True, kw_only=True)
class Shop:
    """How a factory runs on one belt.

    Parameters
    ----------
    n_machines : int
    machine_operations_per_s : float [operations/s]
        Of one machine.
    belt_parts_per_s : float [parts/s]
    reuse : float [operations/part]
        Operations done on every part that arrives.
    operations_per_s : float [operations/s]
        What the shop gets done: the smaller of what machines can do and what the belt feeds.
    busy_frac, idle_frac : float
        Share of the machines' time; they add up to one.
    n_busy_machines : float
        Machines kept busy, on average.
    belt_frac : float
        Share of the belt's capacity in use.
    full_reuse : float [operations/part]
        The reuse at which the machines are just busy and the belt just full.
    bound : str
        "belt" if the machines wait, "machines" if they do not (at `full_reuse` too).
    """

    n_machines: int
    machine_operations_per_s: float
    belt_parts_per_s: float
    reuse: float
    operations_per_s: float
    busy_frac: float
    idle_frac: float
    n_busy_machines: float
    belt_frac: float
    full_reuse: float
    bound: str


def starve(
    n_machines: int,
    belt_parts_per_s: float,
    *,
    reuse: float = 1.0,
    machine_operations_per_s: float = 1.0,
) -> Shop:
    """How busy machines are on a belt.

    Parameters
    ----------
    n_machines : int
        Machines that share the belt.
    belt_parts_per_s : float [parts/s]
        What the belt can bring.
    reuse : float [operations/part]
        Operations on each part before the next one is needed.
    machine_operations_per_s : float [operations/s]
        What one machine can do.

    Returns
    -------
    Shop

    Raises
    ------
    ValueError
        If `n_machines` is not a positive integer, if another value is not positive, or if they are
        so extreme that a result would be zero or not finite.

    Examples
    --------
    More machines on the same belt do not make more: they wait longer.

    >>> starve(8, 2.0, reuse=2).operations_per_s, starve(16, 2.0, reuse=2).operations_per_s
    (4.0, 4.0)
    >>> starve(8, 2.0, reuse=4).busy_frac
    1.0
    """
    count = _checks.whole("n_machines", n_machines)
    belt = _checks.positive("belt_parts_per_s", belt_parts_per_s)
    uses = _checks.positive("reuse", reuse)
    each = _checks.positive("machine_operations_per_s", machine_operations_per_s)
    wanted, fed = count * each, belt * uses
    if fed == 0:
        _checks.fail("reuse", "be large enough for a belt that feeds something", reuse)
    _checks.keeps_finite("machine_operations_per_s", each, **{"what the machines can do": wanted})
    _checks.keeps_finite("reuse", reuse, **{"what the belt feeds": fed})
    full_reuse = wanted / belt
    _checks.keeps_finite("belt_parts_per_s", belt, full_reuse=full_reuse)
    rate = min(wanted, fed)
    busy = rate / wanted
    return Shop(
        n_machines=count,
        machine_operations_per_s=each,
        belt_parts_per_s=belt,
        reuse=uses,
        operations_per_s=rate,
        busy_frac=busy,
        idle_frac=1 - busy,
        n_busy_machines=busy * count,
        belt_frac=rate / fed,
        full_reuse=full_reuse,
        bound="belt" if fed < wanted else "machines",
    )

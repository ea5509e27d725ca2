"""How well one core hides the latency of its memory: accesses in flight, counted and timed.

Two ways to keep N accesses in flight through a buffer in random order, one access per line:

- chains: N linked lists are followed by turns; a step of a chain waits for the one before it;
- prefetch: the order is known, each access waits for the one before it, and the line of the access
  N - 1 places ahead is loaded early, by a load that nobody waits for.

One buffer fits in the second cache, where there is nothing to prefetch, the other lies far beyond
the last one.

Beside them stand two loops without help: independent loads in the same random order, which the
core may overlap by itself, and a stream from one end to the other.

A time is the median of its repeats, and of two rounds the better one counts, for a disturbance
only ever slows. In memory, no repeat meets a line that a recent one has fetched. Nothing is
pinned. Latency includes what the translation of addresses costs; the notes tell how much of the
memory lay in huge pages, where the system says so.

    python -m primer.workbench.latency --snapshot latency.json
"""

import argparse
import datetime
import importlib.metadata
import platform
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from primer import __version__, _checks, units
from primer.latency_hiding import LatencyBuffer, LatencyHiding, LatencyPoint, to_json
from primer.workbench import _files, _jobs, _latency_kernels, _system, kernels
from primer.workbench._matmul_times import LINE_BYTES
from primer.workbench.measure import check_path

COUNTS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
CACHE_BYTES = 2**18  # beyond a first cache, within any second one
CACHES = 8  # the memory's buffer: so many times the last cache
SMALLEST, LARGEST = 2**26, 2**29
N_ACCESSES = {"cache": 2**20, "memory": 2**17}  # of one repeat: a few milliseconds
WAYS = {"cache": ("chains",), "memory": ("chains", "prefetch")}
SECONDS, N_ROUNDS = 10.0, 2
SMAPS = Path("/proc/self/smaps_rollup")


class Course:
    """One buffer, and the runs through it.

    Parameters
    ----------
    name : str
        Of `BUFFERS`.
    size_bytes : int [B]
        Rounded down to whole lines.
    n_accesses : int
        Of one run.
    """

    def __init__(self, name: str, size_bytes: int, n_accesses: int) -> None:
        self.name, self.n_lines = name, size_bytes // LINE_BYTES
        self.links, self.order = _latency_kernels.ring(self.n_lines)
        self.n_places = min(n_accesses, self.n_lines // 2)
        self.n_rounds = n_accesses // self.n_places
        self.position = 0

    def run(self, method: str, n_in_flight: int) -> int:
        """One run that starts where the last one ended; how many accesses it was."""
        n_steps = self.n_rounds * self.n_places
        if method == "prefetch":
            places = self._places(n_in_flight - 1)
            _latency_kernels.gather(self.links, places, n_in_flight - 1, self.n_rounds)
        elif method == "plain":
            _latency_kernels.plain(self.links, self._places(0), self.n_rounds)
        else:
            n_steps = n_steps // n_in_flight * n_in_flight
            starts = self.position + np.arange(n_in_flight) * self.n_lines // n_in_flight
            at = self.order[starts % self.n_lines]
            _latency_kernels.walk(self.links, at, n_steps // n_in_flight)
            self.position += n_steps // n_in_flight
        return n_steps

    def _places(self, distance: int) -> _latency_kernels.Places:
        """The next places of the ring, and those that will be asked for beyond them."""
        wanted = self.n_places + distance
        if self.position + wanted > self.n_lines:
            self.position = 0
        start = self.position
        self.position += self.n_places
        return self.order[start : start + wanted]

    def sample(self, method: str, n_in_flight: int, seconds: float) -> list[float]:
        """Times per access, list of float [s], of runs for about that long."""
        n_steps = self.run(method, n_in_flight)
        times = _jobs.repeat(lambda: self.run(method, n_in_flight), seconds)
        return [time / n_steps for time in times]

    def stream_bytes_per_s(self, seconds: float) -> float:
        """Of reading the buffer from one end to the other, float [B/s]."""
        read = kernels.code("total")
        return self.links.nbytes / statistics.median(
            _jobs.repeat(lambda: read(self.links), seconds)
        )


def measure(
    *,
    seconds: float = SECONDS,
    memory_bytes: int | None = None,
    counts: Sequence[int] = COUNTS,
    n_rounds: int = N_ROUNDS,
) -> LatencyHiding:
    """Measure one core of this machine.

    Parameters
    ----------
    seconds : float [s]
        Time for all repeats together; making the buffers and compiling come on top.
    memory_bytes : int [B], optional
        Size of the larger buffer; by default eight times the last cache, within reason.
    counts : sequence of int
        Accesses in flight. One alone is always measured.
    n_rounds : int
        How often everything is measured; the better round counts.

    Returns
    -------
    LatencyHiding
        For `primer.figures.latency_hiding.measured`.

    Raises
    ------
    ValueError
        If a number is not positive, the buffer does not fit, or Numba is not there or off.
    """
    seconds = _checks.positive("seconds", seconds)
    _checks.whole("n_rounds", n_rounds)
    counts = sorted({1, *(_checks.whole("counts", n, maximum=1024) for n in counts)})
    sizes = {"cache": CACHE_BYTES, "memory": _memory_bytes(memory_bytes)}
    if not kernels.is_compiled():
        raise ValueError(
            "latency must be measured in compiled code: install Numba, and unset NUMBA_DISABLE_JIT"
        )
    share = seconds / (n_rounds * (len(counts) * sum(map(len, WAYS.values())) + 2 * len(WAYS)))
    buffers: list[LatencyBuffer] = []
    points: list[LatencyPoint] = []
    for name in WAYS:
        course = Course(name, sizes[name], N_ACCESSES[name])
        points += _points(course, counts, share, n_rounds)
        buffers.append(_buffer(course, share, n_rounds))
    return LatencyHiding(
        name=_system.cpu_name(),
        date=datetime.date.today().isoformat(),
        python=platform.python_version(),
        versions=_versions(),
        line_bytes=LINE_BYTES,
        cache_bytes=_system.last_cache_bytes(),
        buffers=tuple(buffers),
        points=tuple(points),
        notes=(*_notes(), *_huge_pages()),
    )


def _memory_bytes(given: int | None) -> int:
    """Size of the buffer in memory, if that much can be had."""
    free = _system.available_bytes()
    if given is None:
        wanted = CACHES * (_system.last_cache_bytes() or 2**25)
        within = min(max(wanted, SMALLEST), LARGEST)
        return min(within, free // 4) if free else within
    if _checks.whole("memory_bytes", given) < 2 * CACHE_BYTES:
        _checks.fail("memory_bytes", f"be at least {2 * CACHE_BYTES}", given)
    if free and given > free // 2:
        _checks.fail("memory_bytes", f"be at most half of the free memory, {free // 2} B", given)
    return int(given)


def _points(
    course: Course, counts: Sequence[int], share: float, n_rounds: int
) -> Iterator[LatencyPoint]:
    ways = [(method, n) for method in WAYS[course.name] for n in counts]
    best: dict[tuple[str, int], list[float]] = {}
    for _ in range(n_rounds):
        for way in ways:
            times = course.sample(*way, share)
            if way not in best or statistics.median(times) < statistics.median(best[way]):
                best[way] = times
    for (method, n), times in best.items():
        yield LatencyPoint(
            buffer=course.name,
            method=method,
            n_in_flight=n,
            time_s=statistics.median(times),
            fastest_s=min(times),
            slowest_s=max(times),
            n_repeats=len(times),
        )


def _buffer(course: Course, share: float, n_rounds: int) -> LatencyBuffer:
    def plain() -> float:
        return statistics.median(course.sample("plain", 1, share))

    def stream() -> float:
        return course.stream_bytes_per_s(share)

    return LatencyBuffer(
        name=course.name,
        size_bytes=course.links.nbytes,
        plain_s=min(_each(plain, n_rounds)),
        stream_bytes_per_s=max(_each(stream, n_rounds)),
    )


def _each(measure_once: Callable[[], float], n_rounds: int) -> list[float]:
    return [measure_once() for _ in range(n_rounds)]


def _huge_pages() -> list[str]:
    """A note of how much of this program's memory lies in huge pages, if the system tells."""
    try:
        lines = [line.split() for line in SMAPS.read_text("utf-8").splitlines()]
    except OSError:
        return ["size of pages unknown"]
    size = {line[0].rstrip(":"): int(line[1]) for line in lines if line[-1] == "kB"}
    return [f"{size['AnonHugePages'] / max(size['Anonymous'], 1):.0%} of memory in huge pages"]


def _versions() -> tuple[tuple[str, str], ...]:
    found = [(name, importlib.metadata.version(name)) for name in ("numpy", "numba")]
    return (("primer", __version__), *found)


def _notes() -> Iterator[str]:
    yield "one thread, neither clock nor thread pinned"
    yield "one access per 64 bytes, in random order"
    if _system.last_cache_bytes() is None:
        yield "the size of the last cache is unknown: the larger buffer may fit in it"


def table(measured: LatencyHiding) -> str:
    """Times per access as text: a line per number in flight, a column per way."""
    ways = dict.fromkeys((p.buffer, p.method) for p in measured.points)
    lines = [f"{measured.name}, time per access [ns], {measured.date}"]
    lines.append("in flight" + "".join(f"{b + ', ' + m:>18s}" for b, m in ways))
    times = {(p.buffer, p.method, p.n_in_flight): p.time_s for p in measured.points}
    for n in sorted({p.n_in_flight for p in measured.points}):
        cells = [times.get((*way, n)) for way in ways]
        shown = ["" if time is None else f"{time * 1e9:.2f}" for time in cells]
        lines.append(f"{n:9d}" + "".join(f"{cell:>18s}" for cell in shown))
    for buffer in measured.buffers:
        stream = units.text(buffer.stream_bytes_per_s, "B/s", 3)
        size = units.text(buffer.size_bytes, "B", 3)
        plain = units.text(buffer.plain_s, "s", 3)
        lines.append(f"{buffer.name} ({size}): plain loop {plain} per access, stream {stream}")
    return "\n".join([*lines, *(f"note: {note}" for note in measured.notes)])


def main(arguments: Sequence[str] | None = None) -> int:
    """The command: measure, print, and keep it where a path is given."""
    parser = argparse.ArgumentParser(prog="python -m primer.workbench.latency", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--snapshot", metavar="PATH", help="write the result there as JSON")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for all repeats together")
    parser.add_argument("--rounds", type=int, default=N_ROUNDS, metavar="N")
    options = parser.parse_args(arguments)
    try:
        if options.snapshot:
            check_path(options.snapshot)
        found = measure(seconds=options.seconds, n_rounds=options.rounds)
        print(table(found))
        if options.snapshot:
            _files.write(to_json(found), options.snapshot)
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())

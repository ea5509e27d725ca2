"""Hiding latency: Little's law with a ceiling, and a machine on which it was measured.

One access to memory takes a while, its latency R. With N of them in flight at all times, one ends
every R / N: this is Little's law, N = X·R, for the rate X. The hardware in between takes at most
one access per interval τ, so that

    time per access = max(R / N, τ),        N needed to hide all of R = R / τ.

Warps of a GPU and accesses of a CPU core obey the same two lines. Here they are held against
`primer.workbench.latency`, which counts what one core really does.

Left out: the corner between the two lines is rounded in reality, latency grows with load before
the ceiling is reached, and a miss in the TLB (the cache of addresses) is a part of R.

Source: Little, "A Proof for the Queuing Formula L = λW", Operations Research 9(3), 1961.

>>> seen = snapshot().hide("memory", "chains", 4)
>>> seen.time_s < seen.latency_s / 2
True
"""

import functools
from dataclasses import dataclass
from importlib.resources import files

from primer import _checks, _snapshot

SCHEMA = 1
BUFFERS = ("cache", "memory")
METHODS = ("chains", "prefetch")


@dataclass(frozen=True, kw_only=True)
class Overlap:
    """N accesses in flight, as Little's law and a ceiling have it.

    Parameters
    ----------
    n_in_flight : int
    latency_s, interval_s : float [s]
        R of one access alone, and τ, the least time between two.
    """

    n_in_flight: int
    latency_s: float
    interval_s: float

    @property
    def time_s(self) -> float:
        """Time per access, max(R / N, τ), float [s]."""
        return max(self.latency_s / self.n_in_flight, self.interval_s)

    @property
    def n_needed(self) -> float:
        """Accesses in flight from which the ceiling is reached, R / τ, float."""
        return self.latency_s / self.interval_s

    @property
    def bound(self) -> str:
        """ "latency" below the ceiling, "rate" at it."""
        return "latency" if self.n_in_flight < self.n_needed else "rate"


def predict(n_in_flight: int, *, latency_s: float, interval_s: float) -> Overlap:
    """What Little's law allows a number of accesses in flight.

    Parameters
    ----------
    n_in_flight : int
        N, kept up at all times.
    latency_s : float [s]
        R, with nothing else in flight.
    interval_s : float [s]
        τ, not longer than R.

    Returns
    -------
    Overlap

    Raises
    ------
    ValueError
        If a number is not positive, or the interval longer than the latency.

    Examples
    --------
    160 ns of latency, at most one access every 8 ns: four in flight end 40 ns apart, and 20 hide
    all of the latency.

    >>> [round(predict(n, latency_s=160e-9, interval_s=8e-9).time_s * 1e9) for n in (1, 4, 32)]
    [160, 40, 8]
    >>> predict(4, latency_s=160e-9, interval_s=8e-9).n_needed
    20.0
    """
    n = _checks.whole("n_in_flight", n_in_flight)
    latency = _checks.positive("latency_s", latency_s)
    if _checks.positive("interval_s", interval_s) > latency:
        _checks.fail("interval_s", f"be at most latency_s, {latency}", interval_s)
    return Overlap(n_in_flight=n, latency_s=latency, interval_s=float(interval_s))


@dataclass(frozen=True, kw_only=True)
class LatencyBuffer:
    """What is walked through, and two loops to compare with.

    Parameters
    ----------
    name : {"cache", "memory"}
        Where it lies: within the second cache, or far beyond the last one.
    size_bytes : int [B]
    plain_s : float [s]
        Per access of independent loads in the same random order, without any help.
    stream_bytes_per_s : float [B/s]
        Of reading it from one end to the other.
    """

    name: str
    size_bytes: int
    plain_s: float
    stream_bytes_per_s: float

    def __post_init__(self) -> None:
        _checks.one_of("name", self.name, BUFFERS)
        _checks.whole("size_bytes", self.size_bytes)
        _checks.positive("plain_s", self.plain_s)
        _checks.positive("stream_bytes_per_s", self.stream_bytes_per_s)


@dataclass(frozen=True, kw_only=True)
class LatencyPoint:
    """One way of keeping a number of accesses in flight, timed.

    Parameters
    ----------
    buffer, method : str
        Of `BUFFERS` and `METHODS`.
    n_in_flight : int
        Chains, or the distance of the prefetch and one: the access that is waited for.
    time_s, fastest_s, slowest_s : float [s]
        Per access: median and range of the repeats.
    n_repeats : int
    """

    buffer: str
    method: str
    n_in_flight: int
    time_s: float
    fastest_s: float
    slowest_s: float
    n_repeats: int

    def __post_init__(self) -> None:
        _checks.one_of("buffer", self.buffer, BUFFERS)
        _checks.one_of("method", self.method, METHODS)
        _checks.whole("n_in_flight", self.n_in_flight)
        for name in ("time_s", "fastest_s", "slowest_s"):
            _checks.positive(name, getattr(self, name))
        if not self.fastest_s <= self.time_s <= self.slowest_s:
            _checks.fail("time_s", "lie between fastest_s and slowest_s", self.time_s)
        _checks.whole("n_repeats", self.n_repeats)


@dataclass(frozen=True, kw_only=True)
class HiddenLatency:
    """One measured point beside the model.

    Parameters
    ----------
    measurement : LatencyHiding
        Where the numbers come from.
    buffer : LatencyBuffer
    point : LatencyPoint
    curve : tuple of LatencyPoint
        The same way with other numbers in flight, growing.
    model : Overlap
        Its latency is the first point of the curve, its interval the fastest: two numbers are
        taken from the measurement, and the shape between them is tested.
    """

    measurement: "LatencyHiding"
    buffer: LatencyBuffer
    point: LatencyPoint
    curve: tuple[LatencyPoint, ...]
    model: Overlap

    @property
    def time_s(self) -> float:
        """Measured time per access, float [s]."""
        return self.point.time_s

    @property
    def latency_s(self) -> float:
        """Measured time of one access with nothing else in flight, float [s]."""
        return self.model.latency_s

    @property
    def speedup(self) -> float:
        """Against one access at a time, float."""
        return self.latency_s / self.time_s

    @property
    def bytes_in_flight(self) -> int:
        """Lines that are under way, int [B]."""
        return self.point.n_in_flight * self.measurement.line_bytes

    @property
    def bytes_per_s(self) -> float:
        """Lines that arrive, float [B/s]."""
        return self.measurement.line_bytes / self.time_s

    @property
    def residence_s(self) -> float:
        """How long an access is under way, N·(time per access), queueing included, float [s]."""
        return self.point.n_in_flight * self.time_s

    @property
    def n_plain(self) -> float:
        """Accesses that the core keeps in flight by itself in a plain loop, float."""
        return self.latency_s / self.buffer.plain_s


@dataclass(frozen=True, kw_only=True)
class LatencyHiding:
    """One core of a machine, measured.

    Parameters
    ----------
    name, date, python : str
        Model of the processor, day (YYYY-MM-DD), version of the interpreter.
    versions : tuple of (str, str)
        Of the packages that did the work.
    line_bytes : int [B]
        Distance of two places in the buffer.
    cache_bytes : int [B] or None
        The last cache, where the system tells.
    buffers : tuple of LatencyBuffer
    points : tuple of LatencyPoint
    notes : tuple of str
        What a reader must know to trust the numbers.
    """

    name: str
    date: str
    python: str
    versions: tuple[tuple[str, str], ...]
    line_bytes: int
    cache_bytes: int | None
    buffers: tuple[LatencyBuffer, ...]
    points: tuple[LatencyPoint, ...]
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("name", "python"):
            _snapshot.text(name, getattr(self, name))
        for note in self.notes:
            _snapshot.text("notes", note)
        _snapshot.day("date", self.date)
        _checks.whole("line_bytes", self.line_bytes)
        if self.cache_bytes is not None:
            _checks.whole("cache_bytes", self.cache_bytes)
        if not self.buffers or len({b.name for b in self.buffers}) != len(self.buffers):
            _checks.fail("buffers", "be distinct and at least one", self.buffers)
        keys = [(p.buffer, p.method, p.n_in_flight) for p in self.points]
        if not keys or len(set(keys)) != len(keys):
            _checks.fail("points", "be distinct and at least one", keys)
        for buffer, method, _ in keys:
            _checks.one_of("points.buffer", buffer, [b.name for b in self.buffers])
            if (buffer, method, 1) not in keys:
                _checks.fail("points", "have one access in flight for each way", (buffer, method))

    def methods(self, buffer: str) -> tuple[str, ...]:
        """The ways that were measured in one buffer."""
        found = {p.method for p in self.points if p.buffer == buffer}
        return tuple(method for method in METHODS if method in found)

    def curve(self, buffer: str, method: str) -> tuple[LatencyPoint, ...]:
        """All points of one way, by growing number in flight."""
        found = [p for p in self.points if (p.buffer, p.method) == (buffer, method)]
        return tuple(sorted(found, key=lambda p: p.n_in_flight))

    def hide(self, buffer: str, method: str, n_in_flight: int) -> HiddenLatency:
        """One measured point beside the model.

        Parameters
        ----------
        buffer, method : str
            Of `BUFFERS` and `METHODS`.
        n_in_flight : int
            One that was measured.

        Raises
        ------
        ValueError
            If nothing was measured there.
        """
        _checks.one_of("buffer", buffer, [b.name for b in self.buffers])
        _checks.one_of("method", method, self.methods(buffer))
        wanted = _checks.whole("n_in_flight", n_in_flight)
        curve = self.curve(buffer, method)
        point = next((p for p in curve if p.n_in_flight == wanted), None)
        if point is None:
            known = tuple(p.n_in_flight for p in curve)
            _checks.fail("n_in_flight", f"be one of {known}", n_in_flight)
        model = predict(
            point.n_in_flight,
            latency_s=curve[0].time_s,
            interval_s=min(p.time_s for p in curve),
        )
        about = next(b for b in self.buffers if b.name == buffer)
        return HiddenLatency(measurement=self, buffer=about, point=point, curve=curve, model=model)


def to_json(measured: LatencyHiding) -> str:
    """A measurement as text, the same for equal measurements.

    >>> from_json(to_json(snapshot())) == snapshot()
    True
    """
    if not _checks.is_a(measured, LatencyHiding):
        _checks.fail("measured", "be a LatencyHiding", measured)
    return _snapshot.write(measured, schema=SCHEMA)


def from_json(text: str) -> LatencyHiding:
    """The measurement that `to_json` wrote.

    Raises
    ------
    ValueError
        If the text is not JSON, has another schema, or a field is missing, unknown or wrong; the
        message names the field, such as ``points[2].time_s``.

    Examples
    --------
    >>> from_json('{"schema": 7}')
    Traceback (most recent call last):
        ...
    ValueError: schema must be 1; got 7
    """
    values = _snapshot.read(text, LatencyHiding, schema=SCHEMA, called="the measurement")
    values["buffers"] = _snapshot.rows(LatencyBuffer, "buffers", values["buffers"])
    values["points"] = _snapshot.rows(LatencyPoint, "points", values["points"])
    values["notes"] = tuple(_snapshot.sequence("notes", values["notes"]))
    return LatencyHiding(**values)


@functools.cache
def snapshot() -> LatencyHiding:
    """The measurement that the book shows, from ``data/latency.json``."""
    return from_json((files("primer") / "data/latency.json").read_text("utf-8"))

"""A machine that was measured: its roof, and real kernels placed under it.

`primer.workbench.measure` fills a `Machine` by running code. Here stands what follows from the
times, without running anything: rates, the chip that the rates describe, each kernel's place under
its roof, and the text form in which a measurement is kept.

Rates are amounts divided by the median time. The roof is measured as well: its slope is the best
stream, its peak the best arithmetic loop. A point above it is therefore possible by noise, and
`roofline.judge` names it.

Left out: caches (every byte is charged to the main memory, once), clocks (nobody pinned them).

>>> machine = snapshot()
>>> machine.chip.bandwidth.status
'measured'
>>> machine.place("triad").model.bound
'memory'
"""

import functools
from dataclasses import dataclass, fields
from importlib.resources import files
from typing import Any

from primer import _checks, _snapshot, roofline, units
from primer.hardware import PRECISIONS, Chip, Peaks, Source
from primer.roofline import Judgement, RooflinePoint

SCHEMA = 1
MATRIX_PRECISIONS = ("tf32", "bf16", "fp16")  # measured with matrix products, never with a loop


@dataclass(frozen=True, kw_only=True)
class MachinePoint:
    """One piece of code, timed.

    Parameters
    ----------
    kernel : str
        Such as "triad".
    compute : str
        The precision that it computes in.
    code : str
        Who compiled it: "numba", "numpy", "BLAS" or "torch".
    work_flop, traffic_bytes : float [FLOP], [B]
        What one run computes, and moves at least. One of them may be zero.
    time_s : float [s]
        Median of all repeats, after a warm-up.
    fastest_s, slowest_s : float [s]
        The range of the repeats.
    n_repeats, n_threads : int

    Examples
    --------
    >>> point = MachinePoint(
    ...     kernel="add", compute="fp32", code="numba", work_flop=1e6, traffic_bytes=16e6,
    ...     time_s=1e-3, fastest_s=9e-4, slowest_s=2e-3, n_repeats=5, n_threads=1,
    ... )
    >>> point.flop_per_s, point.bytes_per_s
    (1000000000.0, 16000000000.0)
    """

    kernel: str
    compute: str
    code: str
    work_flop: float
    traffic_bytes: float
    time_s: float
    fastest_s: float
    slowest_s: float
    n_repeats: int
    n_threads: int

    def __post_init__(self) -> None:
        _snapshot.text("kernel", self.kernel)
        _checks.one_of("compute", self.compute, PRECISIONS)
        _snapshot.text("code", self.code)
        _checks.non_negative("work_flop", self.work_flop)
        _checks.non_negative("traffic_bytes", self.traffic_bytes)
        if self.work_flop == 0 and self.traffic_bytes == 0:
            _checks.fail("work_flop", "be positive where traffic_bytes is zero", self.work_flop)
        for name in ("time_s", "fastest_s", "slowest_s"):
            _checks.positive(name, getattr(self, name))
        if not self.fastest_s <= self.time_s <= self.slowest_s:
            _checks.fail("time_s", "lie between fastest_s and slowest_s", self.time_s)
        _checks.whole("n_repeats", self.n_repeats)
        _checks.whole("n_threads", self.n_threads)

    @property
    def flop_per_s(self) -> float:
        """Operations per second at the median time, float [FLOP/s]."""
        return self.work_flop / self.time_s

    @property
    def bytes_per_s(self) -> float:
        """Bytes per second at the median time, float [B/s]."""
        return self.traffic_bytes / self.time_s


@dataclass(frozen=True, kw_only=True)
class PlacedKernel:
    """A measured kernel beside what the roofline allows it.

    Parameters
    ----------
    machine : Machine
    measured : MachinePoint
    model : RooflinePoint
        The same work under the machine's roof.
    judgement : Judgement
        The measurement held against that roof; not possible if it lies above.
    """

    machine: "Machine"
    measured: MachinePoint
    model: RooflinePoint
    judgement: Judgement


@dataclass(frozen=True, kw_only=True)
class Machine:
    """A measured roof and the kernels under it.

    Parameters
    ----------
    name, device : str
        Model of the processor; "cpu" or "cuda".
    date : str
        Day of the measurement, YYYY-MM-DD.
    python : str
        Version of the interpreter.
    versions : tuple of (str, str)
        Of the packages that did the work.
    n_cpus, n_threads : int
        Processors that the program could use, and threads that it used at most.
    write_allocate : bool
        Whether a stored line was charged twice, once for fetching it.
    array_bytes : int [B]
        Size of each streamed array.
    cache_bytes : int [B] or None
        The last cache, where the system tells.
    bandwidth : MachinePoint
        The stream that sets the slope.
    peaks : tuple of MachinePoint
        The arithmetic that sets each roof, one for each precision.
    points : tuple of MachinePoint
        The kernels.
    notes : tuple of str
        What a reader must know to trust the numbers.
    """

    name: str
    device: str
    date: str
    python: str
    versions: tuple[tuple[str, str], ...]
    n_cpus: int
    n_threads: int
    write_allocate: bool
    array_bytes: int
    cache_bytes: int | None
    bandwidth: MachinePoint
    peaks: tuple[MachinePoint, ...]
    points: tuple[MachinePoint, ...]
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("name", "python"):
            _snapshot.text(name, getattr(self, name))
        for note in self.notes:
            _snapshot.text("notes", note)
        _checks.one_of("device", self.device, ("cpu", "cuda"))
        _snapshot.day("date", self.date)
        for name in ("n_cpus", "n_threads", "array_bytes"):
            _checks.whole(name, getattr(self, name))
        if self.cache_bytes is not None:
            _checks.whole("cache_bytes", self.cache_bytes)
        _checks.flag("write_allocate", self.write_allocate)
        if self.bandwidth.traffic_bytes == 0:
            _checks.fail("bandwidth.traffic_bytes", "be positive", 0)
        _distinct("peaks", [p.compute for p in self.peaks])
        _distinct("points", [p.kernel for p in self.points])
        for point in self.points:
            _checks.one_of("points.compute", point.compute, [p.compute for p in self.peaks])

    @functools.cached_property
    def chip(self) -> Chip:
        """This machine as a chip, with the measured slope and peaks."""
        source = Source(key="measured", title=f"measured on {self.date}", kind="primary")
        made = [
            Chip.custom(
                self.name, peak_flop_per_s=rates, unit=unit, status="measured", source=source,
                bandwidth_bytes_per_s=self.bandwidth.bytes_per_s,
            )
            for unit, rates in self._rates().items() if rates
        ]  # fmt: skip
        entries = tuple(entry for chip in made for entry in chip.peak.entries)
        return _with_peaks(made[0], entries)

    def _rates(self) -> dict[str, dict[str, float]]:
        """Measured peaks by kind of unit."""
        rates: dict[str, dict[str, float]] = {"vector": {}, "matrix": {}}
        for peak in self.peaks:
            unit = "matrix" if peak.compute in MATRIX_PRECISIONS else "vector"
            rates[unit][peak.compute] = peak.flop_per_s
        return rates

    @property
    def kernels(self) -> tuple[str, ...]:
        """Names of the kernels, in the order in which they were measured."""
        return tuple(point.kernel for point in self.points)

    def place(self, kernel: str) -> PlacedKernel:
        """One kernel beside its model.

        Parameters
        ----------
        kernel : str
            One of `kernels`.

        Raises
        ------
        ValueError
            If the machine has no such kernel; the message names the nearest.
        """
        _checks.one_of("kernel", kernel, self.kernels)
        measured = self.points[self.kernels.index(kernel)]
        model = roofline.place(
            self.chip,
            compute=measured.compute,
            work_flop=measured.work_flop,
            traffic_bytes=measured.traffic_bytes,
        )
        judgement = roofline.judge(model, measured_time_s=measured.time_s)
        return PlacedKernel(machine=self, measured=measured, model=model, judgement=judgement)

    def __str__(self) -> str:
        slope = units.text(self.chip.bandwidth_bytes_per_s, "B/s", 3)
        lines = [f"{self.name} ({self.device}, {_threads(self.n_threads)}, {self.date})"]
        lines += [f"  slope  {slope} ({self.bandwidth.kernel}, {self.bandwidth.code})"]
        for peak in self.peaks:
            rate = units.text(peak.flop_per_s, "FLOP/s", 3)
            lines += [f"  roof   {rate} {peak.compute} ({peak.kernel}, {peak.code})"]
        for kernel in self.kernels:
            placed = self.place(kernel)
            rate = units.text(placed.measured.flop_per_s, "FLOP/s", 3)
            flag = "" if placed.judgement.is_possible else "  ABOVE ITS ROOF"
            share = f"{placed.judgement.attainable_frac:6.1%} of its roof"
            lines += [f"  {kernel:12s}{rate:>15s}  {share}, {placed.model.bound}-bound{flag}"]
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])


def _with_peaks(chip: Chip, entries: tuple[Any, ...]) -> Chip:
    values = {field.name: getattr(chip, field.name) for field in fields(chip)}
    return Chip(**(values | {"peak": Peaks(chip.name, "dense", entries)}))


def _threads(n: int) -> str:
    return f"{n} thread" if n == 1 else f"{n} threads"


def _distinct(name: str, found: list[str]) -> None:
    if not found or len(set(found)) != len(found):
        _checks.fail(name, "be distinct and at least one", found)


def to_json(machine: Machine) -> str:
    """A machine as text, the same for equal machines.

    >>> from_json(to_json(snapshot())) == snapshot()
    True
    """
    if not _checks.is_a(machine, Machine):
        _checks.fail("machine", "be a Machine", machine)
    return _snapshot.write(machine, schema=SCHEMA)


def from_json(text: str) -> Machine:
    """The machine that `to_json` wrote.

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
    values = _snapshot.read(text, Machine, schema=SCHEMA, called="the machine")
    values["bandwidth"] = _snapshot.row(MachinePoint, "bandwidth", values["bandwidth"])
    for name in ("peaks", "points"):
        values[name] = _snapshot.rows(MachinePoint, name, values[name])
    values["notes"] = tuple(_snapshot.sequence("notes", values["notes"]))
    return Machine(**values)


@functools.cache
def snapshot() -> Machine:
    """The machine on which the book was measured, from ``data/machine.json``."""
    return from_json((files("primer") / "data/machine.json").read_text("utf-8"))

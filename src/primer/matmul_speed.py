"""How fast one matrix product was in each of several kernels, on a machine that was measured.

`primer.workbench.matmul` runs the kernels and fills a `MatmulSpeed`. Here stands what follows from
the times without running anything: rates, the kernels side by side for one size, and the text form
in which a measurement is kept. Everything is square, on one thread, and 2·n³ FLOP.

>>> speed = snapshot()
>>> speed.compare(512).rate("naive") < speed.compare(512).rate("register_blocked")
True
"""

import functools
import json
from dataclasses import asdict, dataclass
from importlib.resources import files

from primer import _checks, _snapshot
from primer.workloads import Matmul

SCHEMA = 1
KERNELS = ("naive", "ikj", "tiled", "register_blocked", "numpy", "torch")
LIBRARIES = ("numpy", "torch")
PRECISIONS = ("fp32", "fp64")


@dataclass(frozen=True, kw_only=True)
class MatmulPoint:
    """One kernel at one size, timed.

    Parameters
    ----------
    kernel : str
        One of `KERNELS`.
    compute : {"fp32", "fp64"}
    n : int
        Rows and columns of all three matrices.
    tile : int or None
        Edge of a tile; only the tiled kernel has one.
    time_s, fastest_s : float [s]
        Median and least of the repeats.
    n_repeats, n_threads : int

    Examples
    --------
    >>> MatmulPoint(kernel="ikj", n=100, time_s=1e-3, fastest_s=9e-4, n_repeats=5).flop_per_s
    2000000000.0
    """

    kernel: str
    compute: str = "fp32"
    n: int
    tile: int | None = None
    time_s: float
    fastest_s: float
    n_repeats: int
    n_threads: int = 1

    def __post_init__(self) -> None:
        _checks.one_of("kernel", self.kernel, KERNELS)
        _checks.one_of("compute", self.compute, PRECISIONS)
        for name in ("n", "n_repeats", "n_threads"):
            _checks.whole(name, getattr(self, name))
        if (self.kernel == "tiled") != (self.tile is not None):
            _checks.fail("tile", "be given for the tiled kernel and no other", self.tile)
        if self.tile is not None and _checks.whole("tile", self.tile) > self.n:
            _checks.fail("tile", f"be at most n, {self.n}", self.tile)
        for name in ("time_s", "fastest_s"):
            _checks.positive(name, getattr(self, name))
        if self.fastest_s > self.time_s:
            _checks.fail("fastest_s", f"be at most time_s, {self.time_s}", self.fastest_s)

    @property
    def work_flop(self) -> float:
        """2·n³, float [FLOP]."""
        return Matmul(self.n, self.n, self.n, self.compute).flop

    @property
    def flop_per_s(self) -> float:
        """Operations per second at the median time, float [FLOP/s]."""
        return self.work_flop / self.time_s


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """All kernels at one size.

    Parameters
    ----------
    speed : MatmulSpeed
        Where the numbers come from.
    n, tile : int
        The size, and the tile with which the tiled kernel takes part.
    points : tuple of MatmulPoint
        One for each kernel that was measured at this size.
    tiled : tuple of MatmulPoint
        The tiled kernel at this size, by growing tile.
    """

    speed: "MatmulSpeed"
    n: int
    tile: int
    points: tuple[MatmulPoint, ...]
    tiled: tuple[MatmulPoint, ...]

    @property
    def work(self) -> Matmul:
        """The product that all kernels compute."""
        return Matmul(self.n, self.n, self.n, self.speed.compute)

    def rate(self, kernel: str) -> float | None:
        """Rate of a kernel, float [FLOP/s]; None where it was not measured at this size."""
        _checks.one_of("kernel", kernel, KERNELS)
        return next((p.flop_per_s for p in self.points if p.kernel == kernel), None)


@dataclass(frozen=True, kw_only=True)
class MatmulSpeed:
    """Kernels measured over sizes and tiles on one machine, on one thread.

    Parameters
    ----------
    name, blas : str
        Model of the processor; NumPy's library and the code path that it chose.
    date : str
        Day of the measurement, YYYY-MM-DD.
    python : str
        Version of the interpreter.
    versions : tuple of (str, str)
        Of the packages that did the work.
    compute : {"fp32", "fp64"}
    peak_flop_per_s : float [FLOP/s] or None
        Independent multiply-adds in registers on one thread, the fastest of many repeats.
    points : tuple of MatmulPoint
    notes : tuple of str
        What a reader must know to trust the numbers.
    """

    name: str
    blas: str
    date: str
    python: str
    versions: tuple[tuple[str, str], ...]
    compute: str
    peak_flop_per_s: float | None
    points: tuple[MatmulPoint, ...]
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("name", "blas", "python"):
            _snapshot.text(name, getattr(self, name))
        for note in self.notes:
            _snapshot.text("notes", note)
        _snapshot.day("date", self.date)
        _checks.one_of("compute", self.compute, PRECISIONS)
        if self.peak_flop_per_s is not None:
            _checks.positive("peak_flop_per_s", self.peak_flop_per_s)
        keys = [(p.kernel, p.n, p.tile) for p in self.points]
        if not keys or len(set(keys)) != len(keys):
            _checks.fail("points", "be distinct and at least one", keys)
        for point in self.points:
            _checks.one_of("points.compute", point.compute, (self.compute,))

    @property
    def kernels(self) -> tuple[str, ...]:
        """The kernels that were measured at any size, simplest first."""
        found = {p.kernel for p in self.points}
        return tuple(kernel for kernel in KERNELS if kernel in found)

    @property
    def sizes(self) -> tuple[int, ...]:
        """All sizes, growing."""
        return tuple(sorted({p.n for p in self.points}))

    def tiles(self, n: int) -> tuple[int, ...]:
        """Tiles with which the tiled kernel was measured at a size, growing."""
        return tuple(sorted(p.tile for p in self.points if p.n == n and p.tile is not None))

    def compare(self, n: int, tile: int | None = None) -> Comparison:
        """All kernels at one size.

        Parameters
        ----------
        n : int
            One of `sizes`.
        tile : int, optional
            One of `tiles(n)`; by default the fastest.

        Raises
        ------
        ValueError
            If nothing was measured at that size or with that tile.
        """
        here = [p for p in self.points if p.n == n]
        if not here:
            _checks.fail("n", f"be one of {self.sizes}", n)
        tiled = tuple(sorted((p for p in here if p.tile), key=lambda p: p.tile or 0))
        if not tiled:
            _checks.fail("n", "be a size at which the tiled kernel was measured", n)
        chosen = max(tiled, key=lambda p: p.flop_per_s).tile if tile is None else tile
        if chosen is None or chosen not in self.tiles(n):
            _checks.fail("tile", f"be one of {self.tiles(n)} at this size", tile)
        shown = [p for p in here if p.tile in (None, chosen)]
        points = tuple(sorted(shown, key=lambda p: KERNELS.index(p.kernel)))
        return Comparison(speed=self, n=n, tile=chosen, points=points, tiled=tiled)


def to_json(speed: MatmulSpeed) -> str:
    """A measurement as text, the same for equal measurements.

    >>> from_json(to_json(snapshot())) == snapshot()
    True
    """
    values = asdict(speed) | {"versions": dict(speed.versions)}
    head = json.dumps({"schema": SCHEMA} | values | {"points": []}, indent=1, ensure_ascii=False)
    rows = ",\n  ".join(json.dumps(row) for row in values["points"])
    return head.replace('"points": []', f'"points": [\n  {rows}\n ]') + "\n"


def from_json(text: str) -> MatmulSpeed:
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
    values = _snapshot.read(text, MatmulSpeed, schema=SCHEMA, called="the measurement")
    values["points"] = _snapshot.rows(MatmulPoint, "points", values["points"])
    values["notes"] = tuple(_snapshot.sequence("notes", values["notes"]))
    return MatmulSpeed(**values)


@functools.cache
def snapshot() -> MatmulSpeed:
    """The measurement that the book shows, from ``data/matmul.json``."""
    return from_json((files("primer") / "data/matmul.json").read_text("utf-8"))

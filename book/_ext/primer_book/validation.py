"""How the simulators compare with independent tools and second methods, run at each build.

A subject recomputes every case of a committed table (`tests/data`) or of a second method, and the
page shows the worst deviation that was found. A subject that deviates more than it allows fails the
build: a page that says "agrees" was made by a comparison that did. The tests run the same subjects.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from primer_book import depends, fingerprint

ROOT = Path(__file__).resolve().parents[3]
DATA = "tests/data"


@dataclass(frozen=True)
class Case:
    """One number computed twice."""

    name: str
    ours: float
    theirs: float

    @property
    def deviation(self) -> float:
        """Relative; the absolute difference where the other value is zero."""
        difference = abs(self.ours - self.theirs)
        return difference / abs(self.theirs) if self.theirs else difference


@dataclass(frozen=True)
class Subject:
    """One comparison of one simulator.

    Parameters
    ----------
    module : str
        The module of `primer` that is compared.
    quantity : str
        What is compared, in words.
    against : str
        The tool with its version, or the second method.
    allowed_frac : float
        The largest deviation that counts as agreement.
    why : str
        Why it is not zero; empty where it is.
    cases : callable
        Gives all cases; gets the table's rows where there is a table.
    table : str
        File below `tests/data`; empty for a second method.
    """

    module: str
    quantity: str
    against: str
    allowed_frac: float
    why: str
    cases: Callable[[list[Any]], Iterable[Case]]
    table: str = ""

    @property
    def key(self) -> str:
        return f"{self.module}: {self.quantity}"


@dataclass(frozen=True)
class Agreement:
    """What a comparison found."""

    subject: Subject
    n_cases: int
    worst: Case

    def __post_init__(self) -> None:
        found, allowed = self.worst.deviation, self.subject.allowed_frac
        if not found <= allowed:
            raise ValueError(
                f"{self.subject.key} must agree with {self.subject.against} within {allowed:g}; "
                f"got {found:g} for {self.worst.name}"
            )


def run(subject: Subject, root: Path = ROOT) -> Agreement:
    """Recompute every case of a subject; `ValueError` where one deviates too far."""
    cases = list(subject.cases(_rows(subject, root)))
    if not cases:
        raise ValueError(f"{subject.key} must have at least one case; got none")
    return Agreement(subject, len(cases), max(cases, key=lambda case: case.deviation))


def _rows(subject: Subject, root: Path) -> list[Any]:
    if not subject.table:
        return []
    rows: list[Any] = json.loads((root / DATA / subject.table).read_text("utf-8"))["rows"]
    return rows


# ---- the subjects


def _stream_bytes(rows: list[Any]) -> Iterator[Case]:
    """Bytes per iteration, at the core and beyond the first cache."""
    from primer.workloads import Stream

    for row in rows:
        loop = Stream(row["kernel"], 1, "fp64", write_allocate=True)
        yield Case(f"{row['kernel']}, at the core", loop.core_bytes, row["core_bytes"])
        yield Case(f"{row['kernel']}, beyond", loop.compulsory_bytes, row["beyond_bytes"])


def _stream_rates(rows: list[Any]) -> Iterator[Case]:
    """Attainable rates of loops that do arithmetic."""
    from primer import roofline
    from primer.hardware import Chip
    from primer.workloads import Stream

    for row in rows:
        if "mflop_per_s" not in row:
            continue
        chip = Chip.custom(
            "Sandy Bridge core",
            peak_flop_per_s={"fp64": 21.6e9},
            bandwidth_bytes_per_s=row["bandwidth_gb_per_s"] * 1e9,
        )
        loop = Stream(row["kernel"], 1000, "fp64", write_allocate=True)
        point = roofline.place(chip, loop, compute="fp64")
        yield Case(row["kernel"], point.attainable_flop_per_s, row["mflop_per_s"] * 1e6)


def _double_buffer(rows: list[Any]) -> Iterator[Case]:
    """The longer of two times, against a machine that copies chunk by chunk."""
    from primer import hardware, roofline

    chip, n_chunks = hardware.example("toy"), 1000
    for intensity in (0.1, 1, 5, 9, 10, 11, 20, 100, 1000):
        point = roofline.place(chip, work_flop=1000 * intensity, traffic_bytes=1000)
        loaded = done = 0.0
        for _ in range(n_chunks):
            loaded += point.memory_time_s / n_chunks
            done = max(done, loaded) + point.compute_time_s / n_chunks
        yield Case(f"{intensity:g} FLOP/B", point.time_s, done)


CACHE_TABLE = "cache_pycachesim.json"


def _cache_levels() -> dict[str, Any]:
    """The caches of the tables, by the names that their rows use."""
    from primer.cache import CacheLevel

    named = json.loads((ROOT / DATA / CACHE_TABLE).read_text("utf-8"))["levels"]
    return {name: [CacheLevel(*level) for level in stack] for name, stack in named.items()}


def _simulated_misses(rows: list[Any]) -> Iterator[Case]:
    """Misses of every level for matrix products in several orders, tiles and caches."""
    from primer import tiling

    levels = _cache_levels()
    for kernel, n, size, tile, name, _, theirs in rows:
        order = "ikj" if kernel == "ikj" else "ijk"
        ours = tiling.replay(
            n, n, n, levels[name], order=order, tiles=tile or (), element_bytes=size, stores=False
        )
        for level, counted, expected in zip(name.split("+"), ours.levels, theirs, strict=True):
            yield Case(f"{kernel}, N = {n}, {level}", counted.n_misses, expected)


def _real_misses(rows: list[Any]) -> Iterator[Case]:
    """Misses of a real program's loops, whose stack the tool sees too."""
    from primer import tiling

    levels = _cache_levels()
    for kernel, n, size, name, *theirs in rows:
        ours = tiling.replay(n, n, n, levels[name], order=kernel, element_bytes=size, stores=False)
        pairs = zip(ours.levels, theirs[::2], theirs[1::2], strict=True)
        for i, (level, reads, writes) in enumerate(pairs, start=1):
            yield Case(f"{kernel}, N = {n}, level {i}", level.n_misses, reads + writes)


KERNCRAFT = "kerncraft 0.8.18, layer conditions"
SUBJECTS = (
    Subject(
        module="workloads",
        quantity="bytes per iteration of seven loops",
        against=KERNCRAFT,
        allowed_frac=0.0,
        why="",
        cases=_stream_bytes,
        table="roofline_kernels.json",
    ),
    Subject(
        module="roofline",
        quantity="attainable rates of six loops",
        against=KERNCRAFT,
        allowed_frac=0.002,
        why="the tool prints few digits",
        cases=_stream_rates,
        table="roofline_kernels.json",
    ),
    Subject(
        module="roofline",
        quantity="time with full overlap",
        against="a double buffer of 1,000 chunks, step by step",
        allowed_frac=0.0011,
        why="the first chunk of a real pipeline overlaps with nothing",
        cases=_double_buffer,
    ),
    Subject(
        module="tiling",
        quantity="misses of matrix products, level by level",
        against="pycachesim 0.3.1, every access a load",
        allowed_frac=0.0,
        why="",
        cases=_simulated_misses,
        table=CACHE_TABLE,
    ),
    Subject(
        module="tiling",
        quantity="misses of two compiled loop nests",
        against="cachegrind of valgrind 3.19.0",
        allowed_frac=0.02,
        why="the tool also counts a few accesses to the stack; eight lines at most",
        cases=_real_misses,
        table="cache_cachegrind.json",
    ),
)


# ---- the page


class Validation(SphinxDirective):
    """``{validation}``: one row for each subject, from a comparison that runs now."""

    def run(self) -> list[nodes.Node]:
        depends.note(self.env, "validation")
        heads = ("Simulator", "Compared", "With", "Cases", "Worst deviation", "Allowed")
        group = nodes.tgroup(cols=len(heads))
        group += [nodes.colspec(colwidth=width) for width in (10, 25, 25, 8, 16, 16)]
        group += nodes.thead("", _row([nodes.Text(head)] for head in heads))
        found = [run(subject, Path(self.env.srcdir)) for subject in SUBJECTS]
        group += nodes.tbody("", *(_row(cells(agreement)) for agreement in found))
        return [nodes.table("", group, classes=["validation"])]


def cells(agreement: Agreement) -> list[list[nodes.Node]]:
    """What the page says of one comparison."""
    subject, worst = agreement.subject, agreement.worst
    module = nodes.literal("", subject.module)
    exact = "none" if worst.deviation == 0 else f"{worst.deviation:.2%}, {worst.name}"
    allowed = f"{subject.allowed_frac:.2%}: {subject.why}" if subject.allowed_frac else "none"
    texts = (subject.quantity, subject.against, str(agreement.n_cases), exact, allowed)
    return [[module], *([nodes.Text(text)] for text in texts)]


def _row(filled: Iterable[list[nodes.Node]]) -> nodes.row:
    return nodes.row("", *(nodes.entry("", nodes.paragraph("", "", *cell)) for cell in filled))


class Assumptions(SphinxDirective):
    """``{assumes}``: what every figure that a chapter shows assumes, in the order of the book."""

    def run(self) -> list[nodes.Node]:
        from primer import figures

        depends.note(self.env, "assumes")
        found = nodes.bullet_list(bullet="-", classes=["assumes"])
        for page, name in shown(Path(self.env.srcdir)):
            figure = figures.load(name)
            address = self.env.app.builder.get_relative_uri(self.env.docname, page)
            link = nodes.reference("", figure.question, refuri=f"{address}#{name}", internal=True)
            said = nodes.paragraph("", "", link, nodes.Text(f" Assumes {figure.assumes}"))
            found += nodes.list_item("", said)
        return [found]


def shown(root: Path) -> list[tuple[str, str]]:
    """Page and id of every explorable that a chapter shows, each where it stands first."""
    first: dict[str, str] = {}
    for path in sorted((root / "chapters").glob("*.md")):
        for name in fingerprint.explorables(path.read_text("utf-8")):
            first.setdefault(name, f"chapters/{path.stem}")
    return [(page, name) for name, page in first.items()]


def _tracer(root: Path) -> fingerprint.Tracer:
    import primer

    return fingerprint.Tracer(Path(primer.__file__).parent, root / "requirements.txt")


def _validation_digest(root: Path) -> str:
    """The subjects' code is part of the extension, whose digest reads every page anew."""
    modules = {f"primer.{subject.module}" for subject in SUBJECTS}
    tables = {root / DATA / subject.table for subject in SUBJECTS if subject.table}
    return fingerprint.digest([], _tracer(root).closure(modules) | tables)


def _assumes_digest(root: Path) -> str:
    figures = shown(root)
    modules = {f"primer.figures.{name.replace('-', '_')}" for _, name in figures}
    return fingerprint.digest([repr(figures)], _tracer(root).closure(modules))


depends.register("validation", _validation_digest)
depends.register("assumes", _assumes_digest)


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("validation", Validation, override=True)
    app.add_directive("assumes", Assumptions, override=True)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

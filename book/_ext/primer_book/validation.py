"""The page that shows how the simulators compare, from comparisons that run at each build.

The tests run the same subjects. A subject that deviates more than it allows fails the build.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from primer_book import depends, fingerprint
from primer_book.agreement import DATA, Agreement, run
from primer_book.subjects import SUBJECTS


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

"""The hardware tables of the book: a directive for each, made of what `primer.hardware` holds.

A page with such a table is read again when the chips or their sources change. The same fields are
written into the site as a file of comma-separated values.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.domains.std import StandardDomain
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective

import primer
from primer import hardware
from primer_book import chiphtml, chiptable, depends, fingerprint

CSV_FILE = "_static/hardware.csv"
DATA = "hardware"


def digest(root: Path) -> str:
    """What the tables are made of: the module that reads the chips, and all that it reads."""
    tracer = fingerprint.Tracer(Path(primer.__file__).parent, root / "requirements.txt")
    return fingerprint.digest([], tracer.closure({"primer.hardware"}))


def all_chips() -> list[hardware.Chip]:
    return [hardware.load(name) for name in hardware.names()]


class Tables(SphinxDirective):
    """What the directives have in common: which chips, and one tone for mistakes."""

    option_spec: ClassVar[dict[str, Callable[[str], Any]]] = {
        "kind": directives.unchanged,
        "family": directives.unchanged,
    }

    def chips(self) -> list[hardware.Chip]:
        depends.note(self.env, DATA)
        option = self.options.get
        try:
            return chiptable.select(
                all_chips(), kind=option("kind", ""), family=option("family", "")
            )
        except ValueError as error:
            raise self.error(f"{self.name}: {error}") from error

    def raw(self, html: str) -> list[nodes.Node]:
        return [nodes.raw("", html, format="html")]


class HardwareTable(Tables):
    """``{hardware-table} Caption``: chips against columns."""

    required_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar[dict[str, Callable[[str], Any]]] = {
        **Tables.option_spec,
        "columns": directives.unchanged,
    }

    def run(self) -> list[nodes.Node]:
        chips = self.chips()
        try:
            columns = chiptable.columns(chips, self.options.get("columns", ""))
        except ValueError as error:
            raise self.error(f"{self.name}: {error}") from error
        name = f"chips-{self.env.new_serialno('hardware-table') + 1}"
        return self.raw(chiphtml.table(chips, columns, self.arguments[0], name))


class HardwareFields(Tables):
    """``{hardware-fields}``: the list of every chip; ``{ref}`chip-ID` `` leads to one."""

    def run(self) -> list[nodes.Node]:
        chips = self.chips()
        domain = self.env.get_domain("std")
        assert isinstance(domain, StandardDomain)
        for chip in chips:
            label = f"chip-{chip.id}"
            domain.note_hyperlink_target(label, self.env.docname, chip.id, chip.name)
        return self.raw("\n".join(map(chiphtml.field_list, chips)))


class HardwareSources(Tables):
    """``{hardware-sources}``: every source that the tables cite."""

    def run(self) -> list[nodes.Node]:
        return self.raw(chiphtml.source_list(self.chips()))


class HardwareFile(Tables):
    """``{hardware-file}``: a link to all fields as comma-separated values."""

    def run(self) -> list[nodes.Node]:
        up = "../" * self.env.docname.count("/")
        return self.raw(f'<p><a href="{up}{CSV_FILE}" download>hardware.csv</a></p>')


DIRECTIVES: dict[str, type[Tables]] = {
    "hardware-table": HardwareTable,
    "hardware-fields": HardwareFields,
    "hardware-sources": HardwareSources,
    "hardware-file": HardwareFile,
}


def write_file(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Write the fields as a file, where its text differs."""
    if app.builder.format == "html":
        write_if_changed(Path(app.outdir) / CSV_FILE, chiptable.as_csv(all_chips()))
    return []


def write_if_changed(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text("utf-8") != text:
        path.write_text(text, "utf-8")


def load_files(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    """Only pages with such tables load their script and style."""
    body = context.get("body", "")
    if any(f'<div class="{name}"' in body for name in ("chips", "sources")):
        app.add_js_file("tables.js", loading_method="defer")
        app.add_css_file("tables.css")


def setup(app: Sphinx) -> dict[str, Any]:
    depends.register(DATA, digest)
    for name, directive in DIRECTIVES.items():
        app.add_directive(name, directive, override=True)
    app.connect("env-updated", write_file)
    app.connect("html-page-context", load_files)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

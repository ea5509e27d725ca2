"""The blocks of a chapter: promise, predict, takeaway, exercise, solution, lies, deeper.

Each directive parses its Markdown and builds a small tree of the nodes in `tags`, which the
HTML writer turns into the elements of the page contract. A mistake in a source is an error at
its line, in the words of the directive.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.domains.std import StandardDomain
from sphinx.util.docutils import SphinxDirective

from primer_book import checks, depends, numbers, references
from primer_book.tags import Box, Heading, Phrase, make, register_nodes

Options = dict[str, Callable[[str], Any]]
KINDS = ("predict", "calculate", "code", "break-it", "open")


def title(text: str) -> nodes.Node:
    return make(Box, "p", nodes.Text(text), classes=["block-title"])


class Block(SphinxDirective):
    """What the directives have in common: nested Markdown, and one tone for mistakes."""

    has_content = True

    def body(self) -> list[nodes.Node]:
        self.assert_has_content()
        holder = nodes.container()
        self.state.nested_parse(self.content, self.content_offset, holder)
        return list(holder.children)

    def inline(self, text: str) -> list[nodes.Node]:
        return list(self.state.inline_text(text, self.lineno)[0])

    def option(self, name: str) -> str:
        value = str(self.options.get(name) or "").strip()
        if not value:
            raise self.error(f"{self.name}: the option :{name}: is missing")
        return value


class Note(Block):
    """A titled Box: the promise, or where the model lies."""

    heading_text = ""
    anchor = ""

    def run(self) -> list[nodes.Node]:
        content = [title(self.heading_text), *self.body()]
        named = {"classes": ["primer-block", self.name]}
        if self.anchor:
            named["ids"] = [self.anchor]
        return [make(Box, "div", *content, **named)]


class Promise(Note):
    heading_text = "What you will be able to predict"


class Lies(Note):
    heading_text = "Where this model lies"
    anchor = "where-this-model-lies"


class Deeper(Block):
    """``{deeper} 1``: what the list of further reading has for chapter 1; or a body of its own."""

    optional_arguments = 1
    heading_text = "For readers who want to go deeper"

    def run(self) -> list[nodes.Node]:
        summary = make(Box, "summary", nodes.Text(self.heading_text))
        inside = self.from_data(self.arguments[0]) if self.arguments else self.body()
        return [make(Box, "details", summary, *inside, classes=["primer-block", "deeper"])]

    def from_data(self, chapter: str) -> list[nodes.Node]:
        if any(line.strip() for line in self.content):
            raise self.error("deeper: it takes a chapter or a body, not both")
        depends.note(self.env, "references")
        try:
            found = references.load(Path(self.env.srcdir)).of_chapter(int(chapter))
        except ValueError as error:
            raise self.error(f"deeper: {error}") from error
        return [references.listed(found)]


class Takeaway(Block):
    """The figure to keep, the mental model and the sentence, always in this form and order."""

    option_spec: ClassVar[Options] = {"killer": directives.unchanged, "model": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        rows = [
            ("The figure", [nodes.paragraph("", "", self.killer())]),
            ("Mental model", [nodes.paragraph("", "", *self.inline(self.option("model")))]),
            ("Takeaway", self.body()),
        ]
        listed = make(Box, "dl")
        for term, content in rows:
            listed += make(Box, "dt", nodes.Text(term))
            listed += make(Box, "dd", *content)
        classes = ["primer-block", "takeaway"]
        return [make(Box, "div", title("What to keep"), listed, classes=classes)]

    def killer(self) -> nodes.Node:
        label, _, text = self.option("killer").partition(" ")
        if not text:
            raise self.error(f"takeaway: :killer: must be 'LABEL Title', got {label!r}")
        link = addnodes.pending_xref(
            "", refdomain="std", reftype="ref", reftarget=label.lower(), refexplicit=True,
            refwarn=True, refdoc=self.env.docname,
        )  # fmt: skip
        self.set_source_info(link)
        link += nodes.inline("", text.strip(), classes=["std", "std-ref"])
        return link


class Exercise(Block):
    """``{exercise} 1.1 Optional title`` with its solution inside.

    With ``:check:`` a form under it checks a number: the one that `primer.exercises` asks for under
    this number, or, with an expression, that one in ``:unit:`` and within ``:tolerance:``.
    """

    required_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar[Options] = {
        "kind": lambda text: directives.choice(text, KINDS),
        "check": directives.unchanged,
        "unit": directives.unchanged,
        "tolerance": directives.unchanged,
    }

    def run(self) -> list[nodes.Node]:
        number, _, name = self.arguments[0].partition(" ")
        if not re.fullmatch(r"\d+\.\d+", number):
            raise self.error(f"exercise: the number must look like 1.1, got {number!r}")
        kind = self.option("kind")
        anchor = "ex-" + number.replace(".", "-")
        label = f"Exercise {number}"
        self.env.temp_data["primer_exercise"] = number
        content = self.body()
        del self.env.temp_data["primer_exercise"]
        section = make(Box, "section", classes=["exercise"], ids=[anchor])
        section["html"] = {"data-kind": kind}
        head = Heading(
            "", "", nodes.Text(f"{label} — {name} " if name else f"{label} "), anchor=anchor
        )
        head += make(Phrase, "span", nodes.Text(kind.replace("-", " ")), classes=["kind"])
        section += [head, *content]
        solution = next((b for b in section.findall(Box) if "solution" in b["classes"]), None)
        if solution is None:
            raise self.error(f"{label} has no {{solution}} inside")
        if form := self.check(number):
            solution.parent.insert(solution.parent.index(solution), form)
        self.announce(anchor, label)
        return [section]

    def check(self, number: str) -> nodes.Node | None:
        names = [name for name in ("check", "unit", "tolerance") if name in self.options]
        if not names:
            return None
        if "check" not in names:
            raise self.error(f"exercise: :{names[0]}: needs an expression in :check:")
        try:
            exercise = checks.find(number, self.options)
            if not self.options["check"]:
                depends.note(self.env, checks.depends_on(number))
            return checks.form(number, exercise)
        except ValueError as error:
            raise self.error(f"exercise: {error}") from error

    def announce(self, anchor: str, label: str) -> None:
        """Make the exercise a target, once in the whole book."""
        domain = self.env.get_domain("std")
        assert isinstance(domain, StandardDomain)
        known = domain.labels.get(anchor)
        if known or anchor in domain.anonlabels:
            raise self.error(f"{label} exists already, in {domain.anonlabels[anchor][0]}")
        domain.note_hyperlink_target(anchor, self.env.docname, anchor, label)


class Solution(Block):
    def run(self) -> list[nodes.Node]:
        number = self.env.temp_data.get("primer_exercise")
        if number is None:
            raise self.error("solution: it must stand inside an exercise")
        summary = make(Box, "summary", nodes.Text(f"Solution of {number}"))
        return [make(Box, "details", summary, *self.body(), classes=["solution"])]


class Predict(Block):
    """A question; the reader commits to a number, then the model's number is shown."""

    required_arguments = 1
    option_spec: ClassVar[Options] = {
        "answer": directives.unchanged,
        "unit": directives.unchanged,
        "tolerance": directives.unchanged,
        "reveal": directives.unchanged,
    }

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        if not re.fullmatch(r"[a-z][a-z0-9-]*", name):
            raise self.error(f"predict: the name must be lower case with hyphens, got {name!r}")
        try:
            tolerance = checks.tolerance(self.options.get("tolerance", "0.1"))
            answer = numbers.measure(self.option("answer"), self.option("unit"))
        except ValueError as error:
            raise self.error(f"predict: {error}") from error
        if answer.value <= 0:
            raise self.error(f"predict: :answer: must be above zero, got {answer.text}")
        anchor = f"predict-{name}"
        form = make(Box, "form", classes=["predict"], ids=[anchor])
        form["html"] = {
            "autocomplete": "off",
            "data-value": repr(answer.value),
            "data-unit": "" if answer.base_unit == "1" else answer.base_unit,
            "data-written": answer.unit,
            "data-factor": repr(answer.unit_factor),
            "data-tolerance": repr(tolerance),
        }
        question = make(Box, "div", *self.body(), classes=["question"], ids=[f"{anchor}-question"])
        form += [title("Predict, then see"), question]
        form += checks.entry(
            anchor, label="Your prediction", button="Commit", unit=answer.unit,
            about=f"{anchor}-question", hidden="hidden",
        )  # fmt: skip
        form += checks.result(anchor)
        form += self.revealed(answer.text)
        return [form]

    def revealed(self, text: str) -> nodes.Node:
        summary = make(Box, "summary", nodes.Text("The model’s answer"))
        value = make(Phrase, "strong", nodes.Text(text), classes=["num"])
        value["html"] = {"title": self.options["answer"]}
        said = nodes.paragraph("", "", nodes.Text("The model says "), value, nodes.Text("."))
        if remark := self.options.get("reveal"):
            said += [nodes.Text(" "), *self.inline(remark)]
        return make(Box, "details", summary, said, classes=["answer"])


DIRECTIVES: dict[str, type[Block]] = {
    "promise": Promise,
    "predict": Predict,
    "takeaway": Takeaway,
    "exercise": Exercise,
    "solution": Solution,
    "lies": Lies,
    "deeper": Deeper,
}


def load_scripts(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    """Only pages with a form load its script, after the one that reads numbers."""
    classes = {name for box in doctree.findall(Box) for name in box["classes"]} if doctree else ()
    found = [name for name in ("predict", "check") if name in classes]
    for name in ["reading", *found] if found else []:
        app.add_js_file(f"{name}.js", loading_method="defer")


def setup(app: Sphinx) -> dict[str, Any]:
    register_nodes(app)
    for name, directive in DIRECTIVES.items():
        app.add_directive(name, directive, override=True)
    app.add_css_file("blocks.css")
    app.connect("html-page-context", load_scripts)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

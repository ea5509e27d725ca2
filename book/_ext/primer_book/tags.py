"""Docutils nodes that become the tags of the page contract.

They derive from docutils' container, inline and rubric, so that every writer but HTML prints
their contents; `control`, which only makes sense in a browser, is skipped there.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

INLINE_TAGS = ("p", "dt", "summary", "span", "strong", "label", "button")
OTHER_WRITERS = ("latex", "text", "man", "texinfo")


class Box(nodes.container):
    """A block-level HTML element: node["tag"], and node["html"] for its attributes."""


class Phrase(nodes.inline):
    """An inline HTML element, described like a box."""


class Heading(nodes.rubric):
    """A heading one level below the section that holds it; node["anchor"] links to itself."""


class Control(nodes.inline):
    """Part of a form: a label, an input, a button. It has no meaning outside a browser."""


def visit_tagged(self: Any, node: nodes.Element) -> None:
    suffix = "" if node["tag"] in INLINE_TAGS else "\n"
    if node["tag"] == "input":
        self.body.append(self.emptytag(node, "input", "\n", **node.get("html", {})))
    else:
        self.body.append(self.starttag(node, node["tag"], suffix, **node.get("html", {})))


def depart_tagged(self: Any, node: nodes.Element) -> None:
    if node["tag"] != "input":
        self.body.append(f"</{node['tag']}>" + ("" if isinstance(node, Phrase) else "\n"))


def visit_heading(self: Any, node: Heading) -> None:
    node["tag"] = f"h{min(6, self.section_level + 1)}"
    self.body.append(self.starttag(node, node["tag"], ""))


def depart_heading(self: Any, node: Heading) -> None:
    if anchor := node.get("anchor"):
        link = f'<a class="headerlink" href="#{anchor}" title="Link to this exercise">#</a>'
        self.body.append(link)
    self.body.append(f"</{node['tag']}>\n")


def skip(self: Any, node: nodes.Node) -> None:
    raise nodes.SkipNode


def make(kind: type[nodes.Element], tag: str, *children: nodes.Node, **options: Any) -> Any:
    """Build a node; `classes` and `ids` are docutils attributes, the others HTML's."""
    own = {name: options.pop(name) for name in ("classes", "ids") if name in options}
    node = kind("", tag=tag, html=options, **own)
    node.extend(children)
    return node


def register_nodes(app: Sphinx) -> None:
    """Tell the writers about our nodes; whoever needs them first does it."""
    if getattr(app, "_primer_nodes", False):
        return
    app._primer_nodes = True  # type: ignore[attr-defined]
    for kind in (Box, Phrase):
        app.add_node(kind, html=(visit_tagged, depart_tagged))
    app.add_node(Heading, html=(visit_heading, depart_heading))
    skipped: dict[str, Any] = dict.fromkeys(OTHER_WRITERS, (skip, None))
    app.add_node(Control, html=(visit_tagged, depart_tagged), **skipped)

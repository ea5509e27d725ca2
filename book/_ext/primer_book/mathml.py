"""The mathematics of the book: MathML in the page, no script.

Formulas are converted while a page is read, so that a mistake is reported with its
file and line and the letters in use are known before the math font is cut.
"""

from __future__ import annotations

import html
import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.locale import _
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

from primer_book.katex import to_mathml
from primer_book.letters import styled

log = logging.getLogger(__name__)

_STARRED = re.compile(r"\\(begin|end)\{(equation|align|alignat|gather|multline|flalign)\}")
_INNER = re.compile(r"\\begin\{([a-z*]+)\}(?:(?!\\begin\{).)*?\\end\{\1\}|\{[^{}]*\}", re.S)
_MARKS = re.compile("[.,;:!?)\\]”’%]+")
_MATH = re.compile(r"<(/?)(m[a-z]+)\b([^>]*)>([^<]*)")


def display_parts(tex: str) -> list[str]:
    r"""Split a displayed formula at blank lines, and wrap what has rows of its own.

    Sphinx lets an author write ``a &= b \\ &= c`` without an environment, and numbers
    equations itself, so that LaTeX's own numbering is switched off.
    """
    return [_wrapped(part.strip()) for part in re.split(r"\n\s*\n", tex) if part.strip()]


def _wrapped(tex: str) -> str:
    tex = _STARRED.sub(r"\\\1{\2*}", tex)
    bare, changed = tex.replace(r"\{", "").replace(r"\}", ""), 1
    while changed:
        bare, changed = _INNER.subn("", bare)
    if "&" in bare.replace(r"\&", ""):
        return r"\begin{aligned}" + tex + r"\end{aligned}"
    if r"\\" in bare:
        return r"\begin{gathered}" + tex + r"\end{gathered}"
    return tex


def letters(mathml: str) -> set[str]:
    """Characters that a font must have to show some MathML.

    A lone letter in ``<mi>`` is shown slanted, which is another character.
    """
    needed: set[str] = set()
    for _closing, tag, attributes, text in _MATH.findall(mathml):
        text = html.unescape(text).strip()
        needed |= set(text)
        if tag == "mi" and len(text) == 1 and "normal" not in attributes:
            needed.add(styled(text, "italic"))
    return needed


def convert(app: Sphinx, node: nodes.Node) -> str:
    """Return the MathML of a ``math`` or ``math_block`` node; warn of what is wrong."""
    tex, display = node.astext(), isinstance(node, nodes.math_block)
    try:
        parts = display_parts(tex) if display else [tex]
        macros = app.config.primer_math_macros
        if not parts:
            raise ValueError("a formula must not be empty")
        lines = [to_mathml(part, display=display, macros=macros) for part in parts]
        return lines[0] if len(lines) == 1 else f"<div>{''.join(lines)}</div>"
    except ValueError as error:
        message = "math: %s in %r"
        log.warning(message, error, tex, location=_place(node), type="primer", subtype="math")
        return f'<code class="math-error">{html.escape(tex)}</code>'


def _place(node: nodes.Node) -> str:
    """Return file and line; a role knows no line of its own, or one from before its paragraph."""
    source = node.document["source"] if node.document else ""
    return f"{source}:{max(each.line or 0 for each in (node, node.parent))}"


def read(app: Sphinx, doctree: nodes.document) -> None:
    """Convert the formulas of a page that was just read."""
    found: set[str] = set()
    for node in [*doctree.findall(nodes.math), *doctree.findall(nodes.math_block)]:
        node["mathml"] = convert(app, node)
        found |= letters(node["mathml"])
        if "math-error" in node["mathml"]:
            # Sphinx would be silent about it in the next build, which reads changed pages only.
            app.env.note_reread()
    by_page(app.env)[app.env.docname] = found


def by_page(env: BuildEnvironment) -> dict[str, set[str]]:
    """Letters of mathematics on each page; kept in the environment between builds."""
    if not hasattr(env, "primer_math"):
        env.primer_math = {}  # type: ignore[attr-defined]
    pages: dict[str, set[str]] = env.primer_math  # type: ignore[attr-defined]
    return pages


def forget(app: Sphinx, env: BuildEnvironment, docname: str) -> None:
    """Drop the letters of a page that changed or is gone."""
    by_page(env).pop(docname, None)


def merge(app: Sphinx, env: BuildEnvironment, docnames: list[str], other: BuildEnvironment) -> None:
    """Take over what a reading process of a parallel build found."""
    pages = by_page(other)
    by_page(env).update({name: pages[name] for name in docnames if name in pages})


class KeepPunctuation(SphinxPostTransform):
    """Keep a comma on the line of the formula before it; browsers may break there."""

    default_priority = 900
    formats = ("html",)

    def run(self, **_kwargs: Any) -> None:
        """Move marks that follow a formula into its node."""
        for node in self.document.findall(nodes.math):
            index = node.parent.index(node) + 1
            following = node.parent[index] if index < len(node.parent) else None
            if isinstance(following, nodes.Text) and (marks := _MARKS.match(following)):
                node["marks"] = marks[0]
                node.parent[index] = nodes.Text(following[marks.end() :])


def visit_math(self: Any, node: nodes.math) -> None:
    """Write a formula within a line."""
    mathml = node.get("mathml") or convert(self.builder.app, node)
    opening = self.starttag(node, "span", "", CLASS="math notranslate nohighlight")
    self.body.append(f"{opening}{mathml}{html.escape(node.get('marks', ''))}</span>")
    raise nodes.SkipNode


def visit_block(self: Any, node: nodes.math_block) -> None:
    """Write a displayed formula, with its number if it has one."""
    self.body.append(self.starttag(node, "div", CLASS="math notranslate nohighlight"))
    if node["number"]:
        self.body.append(f'<span class="eqno">({get_node_equation_number(self, node)})')
        self.add_permalink_ref(node, _("Link to this equation"))
        self.body.append("</span>")
    self.body.append(node.get("mathml") or convert(self.builder.app, node))
    self.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer ``mathml`` and make it the book's."""
    app.add_config_value("primer_math_macros", {}, "env")
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_block, None))
    app.add_post_transform(KeepPunctuation)
    app.connect("doctree-read", read, priority=100)
    app.connect("env-purge-doc", forget)
    app.connect("env-merge-info", merge)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

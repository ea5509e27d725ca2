"""Definitions at hand: what a link to the glossary shows on hover and on focus.

One small file holds all definitions as text; a script loads it on pages that link to the glossary.
So a better definition is on all pages at once, and no page is written again for it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from primer_book.tables import write_if_changed

FILE = "_static/terms-data.js"


def definitions(env: BuildEnvironment) -> dict[str, str]:
    """Anchor of each term -> its definition, from the pages that define terms."""
    terms = env.domaindata["std"]["terms"].values()
    found: dict[str, str] = {}
    for page in sorted({docname for docname, _ in terms}):
        for glossary in env.get_doctree(page).findall(addnodes.glossary):
            for item in glossary.findall(nodes.definition_list_item):
                text = " ".join(item[-1].astext().split())
                found |= {
                    anchor: text for term in item.findall(nodes.term) for anchor in term["ids"]
                }
    return found


def write_file(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Write the definitions where they differ."""
    if app.builder.format == "html":
        text = json.dumps(definitions(env), ensure_ascii=False, indent=0, sort_keys=True)
        write_if_changed(Path(app.outdir) / FILE, f"window.primerTerms = {text};\n")
    return []


def load_files(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    """Only pages with terms load the script and the style."""
    body = context.get("body", "")
    if "std-term" in body:
        app.add_js_file("terms.js", loading_method="defer")
    if "std-term" in body or 'class="glossary"' in body:
        app.add_css_file("terms.css")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("env-updated", write_file)
    app.connect("html-page-context", load_files)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

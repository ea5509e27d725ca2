"""The address of the whole site leads to the cover.

Sphinx's table of contents has its root in a folder, and the redirect that is
written for it has neither a title nor a language.
"""

from __future__ import annotations

from html import escape
from pathlib import Path

from sphinx.application import Sphinx

_PAGE = """<!doctype html>
<html lang="{lang}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="icon" href="data:,">
<meta http-equiv="refresh" content="0; url={target}">
</head>
<body><h1><a href="{target}">{title}</a></h1></body>
</html>
"""


def write(app: Sphinx, error: Exception | None) -> None:
    """Put a whole redirect where the root document is not at the root."""
    if error or app.builder.format != "html" or app.config.root_doc == "index":
        return
    text = _PAGE.format(
        lang=app.config.language,
        title=escape(app.config.project),
        target=app.builder.get_target_uri(app.config.root_doc),
    )
    path = Path(app.outdir) / "index.html"
    if not path.exists() or path.read_text("utf-8") != text:
        path.write_text(text, "utf-8")


def setup(app: Sphinx) -> None:
    """After the table of contents has written its own."""
    app.connect("build-finished", write, priority=900)

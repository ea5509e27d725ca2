"""A page that is no longer in the book is no longer in the site.

Sphinx writes pages and never removes one, so the page of a removed chapter would stay where readers
and search engines find it.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from sphinx.application import Sphinx

FOLDERS = ("chapters", "book")


def stale(site: Path, documents: Iterable[str]) -> list[Path]:
    """Files made from documents that are gone: pages, their sources, their notebooks."""
    known = set(documents)
    found = []
    for folder in FOLDERS:
        for top, ending in ((site, "*.html"), (site / "_sources", "*.*")):
            for path in sorted((top / folder).rglob(ending)):
                if path.relative_to(top).as_posix().split(".")[0] not in known:
                    found.append(path)
    chapters = {name.rpartition("/")[2] for name in known if name.startswith("chapters/")}
    notebooks = (site / "_sources/notebooks").glob("*.ipynb")
    return found + [path for path in sorted(notebooks) if path.stem not in chapters]


def remove(app: Sphinx, error: Exception | None) -> None:
    """After a build that succeeded; search and index are no documents, and lie elsewhere."""
    if error or app.builder.format != "html":
        return
    for path in stale(Path(app.outdir), app.env.found_docs):
        path.unlink()


def setup(app: Sphinx) -> None:
    """Connect to the build."""
    app.connect("build-finished", remove)

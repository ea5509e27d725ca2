"""Pages that never lie: fresh outputs, drawn figures, one frame script for each.

Each chapter gets its fingerprint as a last, empty cell, so that jupyter-cache
runs it again when anything behind it changes; Sphinx is told which pages are
outdated by the same digest. Figures on a page are then bound to their scripts.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from myst_nb.core.execute.base import ExecutionResult
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

from primer_book import fingerprint
from primer_book.fingerprint import Tracer
from primer_book.frames import FrameStore, prune
from primer_book.ledger import Ledger

log = logging.getLogger(__name__)
_FIGURE = re.compile(r'<figure class="explorable" id="([\w-]+)" data-explorable="([\w-]+)"')
_DRAWING = re.compile(r'<figure class="drawing" id="([\w-]+)"')
_CELL = "\n\n```{{code-cell}} ipython3\n:tags: [remove-cell]\n\n# made from {digest}\n```\n"


class Book:
    """What one build knows of its pages; lives on the application."""

    def __init__(self, app: Sphinx) -> None:
        import primer

        root = Path(app.srcdir)
        self.started = time.time()
        self.tracer = Tracer(Path(primer.__file__).parent, root / "requirements.txt")
        self.store = FrameStore(Path(app.outdir).parent / ".frames", self.tracer)
        self.static = Path(app.outdir) / "_static"

    def digests(self, text: str) -> tuple[str, tuple[tuple[str, str], ...]]:
        """Fingerprint of a page, and the key of each figure that it shows."""
        shown = sorted(set(fingerprint.explorables(text)))
        return self.tracer.page(text), tuple((name, self.store.key(name)) for name in shown)


def _known(env: BuildEnvironment) -> dict[str, Any]:
    """Digests of all pages read so far; pickled with the environment."""
    if not hasattr(env, "primer_pages"):
        env.primer_pages = {}  # type: ignore[attr-defined]
    known: dict[str, Any] = env.primer_pages  # type: ignore[attr-defined]
    return known


def _book(app: Sphinx) -> Book:
    book: Book = app.primer_book  # type: ignore[attr-defined]
    return book


def begin(app: Sphinx) -> None:
    """Ready the store; from here on `explore.show` leaves a placeholder in cells."""
    os.environ["PRIMER_BOOK"] = "1"
    app.primer_book = Book(app)  # type: ignore[attr-defined]


def outdated(
    app: Sphinx, env: BuildEnvironment, added: set[str], changed: set[str], removed: set[str]
) -> Iterable[str]:
    """Pages whose fingerprint or figures are no longer those of their last build."""
    known = _known(env)
    stale = []
    for name in sorted(env.found_docs - added - changed):
        if name in known and known[name] != _current(app, env, name):
            stale.append(name)
    return stale


def _current(app: Sphinx, env: BuildEnvironment, docname: str) -> Any:
    text = Path(env.doc2path(docname)).read_text("utf-8")
    return _book(app).digests(text)


def read(app: Sphinx, docname: str, source: list[str]) -> None:
    """Note a page's digests, and put its fingerprint where jupyter-cache looks."""
    if "{code-cell}" not in source[0] and "{num}" not in source[0]:
        return
    digests = _book(app).digests(source[0])
    _known(app.env)[docname] = digests
    if "{code-cell}" in source[0]:
        source[0] += _CELL.format(digest=digests[0])


def forget(app: Sphinx, env: BuildEnvironment, docname: str) -> None:
    """A page that is read again or removed starts anew."""
    _known(env).pop(docname, None)


def merge(app: Sphinx, env: BuildEnvironment, docnames: set[str], other: Any) -> None:
    """Take over what a parallel reader learned."""
    _known(env).update({d: v for d, v in _known(other).items() if d in docnames})


def draw(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Draw the figures that changed, before any page is written."""
    book = _book(app)
    for name in sorted({name for _, shown in _known(env).values() for name, _ in shown}):
        try:
            book.store.script(name)
        except Exception as error:
            raise RuntimeError(f"the frames of explorable {name!r} failed: {error}") from error
    return []


def write(app: Sphinx, pagename: str, templatename: str, context: Any, doctree: Any) -> None:
    """Give a page the scripts and styles of its figures, and each figure its frames."""
    body = context.get("body", "")
    shown = [match[2] for match in _FIGURE.finditer(body)]
    drawn = _DRAWING.findall(body)
    once = [*shown, *drawn]
    for twice in sorted({name for name in once if once.count(name) > 1}):
        log.warning("figure %r is shown twice on one page", twice, location=pagename)
    if drawn:
        app.add_js_file("drawing.js", loading_method="defer")
        app.add_css_file("explore.css")
        app.add_css_file("drawing.css")
    if not shown:
        return
    app.add_js_file("explore.js", loading_method="defer")
    app.add_css_file("explore.css")
    book, pathto = _book(app), context["pathto"]

    def bind(match: re.Match[str]) -> str:
        name = book.store.publish(match[2], book.static)
        return f'{match[0]} data-frames="{pathto(f"_static/frames/{name}", 1)}"'

    context["body"] = _FIGURE.sub(bind, body)


def finish(app: Sphinx, error: Exception | None) -> None:
    """Drop frame scripts that no page loads, and tell the ledger."""
    if error or app.builder.format != "html":
        return
    book, env = _book(app), app.env
    shown = {name for _, figures in _known(env).values() for name, _ in figures}
    prune(book.static, {book.store.publish(name, book.static) for name in shown})
    executed = _executed(env, book.started)
    ledger = Ledger(Path(app.outdir).parent / "ledger.json")
    ledger.add("execution", sum(executed.values()), pages=len(executed))
    ledger.add("frames", book.store.seconds, frames=sum(book.store.drawn.values()))
    for what, names in (("executed", executed), ("drawn", book.store.drawn)):
        log.info("%s: %s", what, ", ".join(sorted(names)) or "nothing")


def _executed(env: BuildEnvironment, since: float) -> dict[str, float]:
    """Pages whose cells ran in this build, with their seconds."""
    ran = {}
    for docname, metadata in getattr(env, "nb_metadata", {}).items():
        data: ExecutionResult | None = metadata.get("exec_data")
        if data and data["mtime"] >= since:
            ran[docname] = float(data["runtime"] or 0.0)
    return ran


def use_package_files(app: Sphinx, config: Any) -> None:
    """Serve the page script and style from the package, where live figures have them too."""
    import primer

    config.html_static_path.append(str(Path(primer.__file__).parent / "explore" / "static"))


def setup(app: Sphinx) -> None:
    """Connect to the build."""
    app.connect("config-inited", use_package_files)
    app.connect("builder-inited", begin)
    app.connect("env-get-outdated", outdated)
    app.connect("source-read", read)
    app.connect("env-purge-doc", forget)
    app.connect("env-merge-info", merge)
    app.connect("env-updated", draw)
    app.connect("html-page-context", write)
    app.connect("build-finished", finish)

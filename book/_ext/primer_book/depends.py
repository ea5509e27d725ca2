"""What a page takes from elsewhere in the book, so that it is read again when that changes.

Sphinx knows the text of a page. A directive that fills itself from data notes a key here, such
as "references"; the key's digest is kept with the page, and before each build every page whose
digests differ is outdated. Files count by their content, so a copied tree is not a changed one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

Digest = Callable[[Path], str]
_DIGESTS: dict[str, Digest] = {}


def register(key: str, digest: Digest) -> None:
    """Name something that pages may take: `digest` gets the book's root and says what it is now."""
    _DIGESTS[key] = digest


def note(env: BuildEnvironment, key: str) -> None:
    """The page that is being read depends on this."""
    _known(env).setdefault(env.docname, {})[key] = _DIGESTS[key](Path(env.srcdir))


def _known(env: BuildEnvironment) -> dict[str, dict[str, str]]:
    if not hasattr(env, "primer_depends"):
        env.primer_depends = {}  # type: ignore[attr-defined]
    known: dict[str, dict[str, str]] = env.primer_depends  # type: ignore[attr-defined]
    return known


def outdated(
    app: Sphinx, env: BuildEnvironment, added: set[str], changed: set[str], removed: set[str]
) -> Iterable[str]:
    """Pages that were filled from something that is another now."""
    root = Path(env.srcdir)
    taken = {key for keys in _known(env).values() for key in keys}
    now = {key: _DIGESTS[key](root) if key in _DIGESTS else "" for key in sorted(taken)}
    return [
        page
        for page, keys in sorted(_known(env).items())
        if page not in removed and any(now[key] != digest for key, digest in keys.items())
    ]


def forget(app: Sphinx, env: BuildEnvironment, docname: str) -> None:
    _known(env).pop(docname, None)


def merge(app: Sphinx, env: BuildEnvironment, docnames: set[str], other: Any) -> None:
    _known(env).update({page: keys for page, keys in _known(other).items() if page in docnames})


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("env-get-outdated", outdated)
    app.connect("env-purge-doc", forget)
    app.connect("env-merge-info", merge)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

"""The Sphinx side of the book: mathematics, pages, blocks, numbers, buttons."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, Any]:
    """Register every part with Sphinx."""
    # Imported here: the notebook generator uses this package without Sphinx.
    from primer_book import (
        api,
        blocks,
        claims,
        depends,
        front,
        launch,
        leftovers,
        mathml,
        numbers,
        pages,
        references,
        slim,
        tables,
        terms,
        validation,
    )

    parts = (mathml, slim, launch, numbers, blocks, pages, front, leftovers)
    for part in (*parts, depends, tables, terms, api, references, claims, validation):
        part.setup(app)
    return {
        "version": "1",
        "env_version": _own_digest(),
        "parallel_read_safe": True,
        "parallel_write_safe": True,
    }


def _own_digest() -> int:
    """Change with every file of the extension, so that Sphinx then reads all pages anew."""
    digest = hashlib.sha256()
    root = Path(__file__).parent.parent
    for file in sorted([*root.rglob("*.py"), *(root / "templates").rglob("*.html")]):
        digest.update(file.read_bytes())
    return int.from_bytes(digest.digest()[:6])

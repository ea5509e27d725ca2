"""The built pages, in the order of the book."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]


def names() -> list[str]:
    """Document names ("chapters/01_roofline") of all pages in `_toc.yml`; none without it."""
    path = ROOT / "_toc.yml"
    if not path.exists():
        return []
    return list(dict.fromkeys(_walk(yaml.safe_load(path.read_text("utf-8")))))


def chapters() -> list[str]:
    """The names of the chapters alone."""
    return [name for name in names() if name.startswith("chapters/")]


def _walk(node: Any) -> Iterator[str]:
    if isinstance(node, list):
        for item in node:
            yield from _walk(item)
    elif isinstance(node, dict):
        for key, value in node.items():
            if key in ("root", "file"):
                yield str(value).removesuffix(".md").removesuffix(".ipynb")
            else:
                yield from _walk(value)

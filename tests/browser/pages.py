"""The built pages, in the order of the book, and the explorables that they show."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from primer_book import fingerprint

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


def explorables() -> list[tuple[str, str]]:
    """Page and id of every explorable that a page's source shows."""
    return [
        (name, shown)
        for name in names()
        for shown in fingerprint.explorables((ROOT / f"{name}.md").read_text("utf-8"))
    ]


def every(argument: str, names: list[str]) -> pytest.MarkDecorator:
    """A test for each page; all tests of a module that share a page run one after the other."""
    return pytest.mark.parametrize(argument, names, scope="module")


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

"""What pages show of each other, in one digest.

Sphinx writes a page again when its own source changes. The menu, the titles behind
links, the numbers of equations and the addresses of styles come from elsewhere.
"""

from __future__ import annotations

import hashlib
import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from primer_book import launch

_PACKAGES = (
    "docutils",
    "Jinja2",
    "myst-nb",
    "myst-parser",
    "pydata-sphinx-theme",
    "Pygments",
    "Sphinx",
    "sphinx-book-theme",
    "sphinx-copybutton",
    "sphinx-design",
    "sphinx-togglebutton",
)


def saved(app: Sphinx) -> str:
    """Return the digest that all pages were last written with, or ""."""
    path = _path(app)
    return path.read_text(encoding="utf-8") if path.exists() else ""


def save(app: Sphinx, state: str) -> None:
    """Note a digest once all pages are written."""
    _path(app).write_text(state, encoding="utf-8")


def _path(app: Sphinx) -> Path:
    return Path(app.doctreedir) / "primer-shared"


def digest(app: Sphinx, env: BuildEnvironment, assets: list[str]) -> str:
    """Digest everything that pages show or load beyond their own source.

    `assets` are the names of the generated files, which change with their contents.
    """
    domains = env.domaindata
    state = [
        assets,
        [(name, version(name)) for name in _PACKAGES],
        _static_files(app),
        launch.state(app),
        {name: title.astext() for name, title in env.titles.items()},
        env.toctree_includes,
        env.toc_secnumbers,
        env.toc_fignumbers,
        *(
            _plain(domains["std"].get(key, {}))
            for key in ("labels", "anonlabels", "objects", "terms")
        ),
        domains.get("math", {}).get("objects"),
    ]
    text = json.dumps(state, default=_plain, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(value: Any) -> Any:
    if isinstance(value, nodes.Node):
        return value.astext()
    if isinstance(value, dict):
        return {str(key): item for key, item in value.items()}
    return sorted(map(str, value)) if isinstance(value, set | frozenset) else str(value)


def _static_files(app: Sphinx) -> list[tuple[str, str]]:
    found = []
    for entry in app.config.html_static_path:
        folder = Path(app.confdir) / entry
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                data = hashlib.sha256(file.read_bytes()).hexdigest()
                found.append((file.relative_to(folder).as_posix(), data))
    return found

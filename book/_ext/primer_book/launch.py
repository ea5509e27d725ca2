"""Buttons that open a chapter in Colab or Binder, if the repository is public.

Chapters are text; what runs elsewhere is the notebook made from them. Without a
public address there is no button at all: a dead one would be worse than none.
"""

from __future__ import annotations

import ipaddress
import re
import subprocess
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote, urlsplit

from sphinx.application import Sphinx

_SCP = re.compile(r"^(?:[\w.-]+@)?(?P<host>[\w.-]+):(?!//)(?P<path>[^\\]+)$")
_PRIVATE_ENDINGS = (".local", ".localhost", ".internal", ".lan", ".home", ".corp", ".test")
_BINDER = {"github.com": "gh", "gitlab.com": "gl"}


def public_address(remote: str) -> str:
    """Return the https address of a Git remote, or "" if others cannot open it.

    >>> public_address("git@github.com:someone/primer.git")
    'https://github.com/someone/primer'
    >>> public_address("/srv/git/primer.git")
    ''
    """
    remote = remote.strip()
    if match := _SCP.match(remote):
        remote = f"ssh://{match['host']}/{match['path']}"
    parts = urlsplit(remote)
    host, path = (parts.hostname or "").lower(), parts.path.strip("/").removesuffix(".git")
    if parts.scheme not in {"https", "ssh", "git"} or not _is_public(host):
        return ""
    if path.count("/") < 1:
        return ""
    port = f":{parts.port}" if parts.scheme == "https" and parts.port else ""
    return f"https://{host}{port}/{path}"


def _is_public(host: str) -> bool:
    if "." not in host or host.endswith(_PRIVATE_ENDINGS):
        return False
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return True
    return False


@lru_cache
def git_remote(folder: Path) -> str:
    """Return the address of the remote ``origin`` of a working tree, or ""."""
    command = ["git", "-C", str(folder), "remote", "get-url", "origin"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def notebook_path(docname: str) -> str:
    """Return where the notebook of a chapter lies in the repository, or "".

    >>> notebook_path("chapters/01_roofline")
    'notebooks/01_roofline.ipynb'
    """
    page = PurePosixPath(docname)
    return f"notebooks/{page.name}.ipynb" if page.parts[0] == "chapters" else ""


def launch_links(repository: str, branch: str, docname: str) -> dict[str, str]:
    """Return the places that can run a page, by name.

    Parameters
    ----------
    repository : str
        Address of the repository, in any form that Git knows; "" if there is none.
    branch : str
        Branch that holds the notebooks.
    docname : str
        Page of the book, such as ``chapters/01_roofline``.

    Raises
    ------
    ValueError
        If `branch` is empty although there is a repository.
    """
    address, notebook = public_address(repository), notebook_path(docname)
    if not address or not notebook:
        return {}
    if not branch:
        raise ValueError(f"branch: must be named when there is a repository, got {branch!r}")
    parts = urlsplit(address)
    name = parts.path.strip("/")
    links = {}
    if parts.netloc == "github.com":
        where = f"{name}/blob/{quote(branch)}/{quote(notebook)}"
        links["Colab"] = f"https://colab.research.google.com/github/{where}"
    if parts.netloc in _BINDER:
        provider = _BINDER[parts.netloc]
        whole = name if provider == "gh" else quote(name, safe="")
        where = f"{provider}/{whole}/{quote(branch, safe='')}"
        target = quote(f"lab/tree/{notebook}", safe="")
        links["Binder"] = f"https://mybinder.org/v2/{where}?urlpath={target}"
    return links


def repository(app: Sphinx) -> str:
    """Return the address that the setting or else the Git remote gives, or ""."""
    return public_address(app.config.primer_repository or git_remote(Path(app.srcdir)))


def state(app: Sphinx) -> list[str]:
    """What the buttons on all pages depend on."""
    notebooks = sorted(path.name for path in (Path(app.srcdir) / "notebooks").glob("*.ipynb"))
    return [repository(app), app.config.primer_branch, *notebooks]


def add_buttons(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    """Put a menu with the links first among the buttons of a page."""
    links = launch_links(repository(app), app.config.primer_branch, pagename)
    buttons = [
        {"type": "link", "text": name, "tooltip": f"Run in {name}", "icon": "fas fa-play"}
        | {"url": url}
        for name, url in links.items()
    ]
    if buttons:
        menu = {"tooltip": "Run this chapter", "icon": "fas fa-rocket", "label": "launch-buttons"}
        context["header_buttons"].insert(0, {"type": "group", "buttons": buttons} | menu)


def offer_notebook(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    """Let the download menu offer the generated notebook beside the page's text."""
    notebook = notebook_path(pagename)
    source = Path(app.srcdir) / notebook
    if notebook and source.is_file():
        context["ipynb_source"] = notebook
        target = Path(app.outdir) / "_sources" / notebook
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(source.read_bytes())


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the settings and the buttons."""
    app.add_config_value("primer_repository", "", "html", str)
    app.add_config_value("primer_branch", "main", "html", str)
    # The theme prepares its list of buttons at 500 and fills it at 501.
    app.connect("html-page-context", offer_notebook, priority=490)
    app.connect("html-page-context", add_buttons, priority=510)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

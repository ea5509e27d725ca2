"""The API reference: autodoc reads the docstrings, numpydoc lays them out.

Units and shapes stand in the docstrings' types, so signatures show names and defaults alone, and
what a call returns. autodoc notes the files that it read: a changed docstring makes its page stale.
"""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

from sphinx.application import Sphinx
from sphinx.util.typing import stringify_annotation

MOST_FIELDS = 6
SETTINGS: dict[str, Any] = {
    "add_module_names": False,
    "autodoc_default_options": {"members": True, "member-order": "bysource"},
    "autodoc_preserve_defaults": True,
    "autodoc_typehints": "none",
    "autosummary_generate": False,
    "default_role": "code",
    "html_domain_indices": False,
    "html_use_index": False,
    "numpydoc_show_class_members": False,
}
# Annotations name types that no page documents; a reference written in prose still has to exist.
UNDOCUMENTED = ("py:(class|obj)", r".*")


def shorten(
    app: Sphinx, what: str, name: str, thing: Any, options: Any, arguments: str, returned: str
) -> tuple[str, str] | None:
    """Shorten long defaults, and say what a function returns."""
    if what == "class" and dataclasses.is_dataclass(thing):
        return _fields(thing), ""
    if what not in ("function", "method"):
        return None
    hint = _returned(thing)
    return (arguments or "").split(" ->")[0], hint or returned


def _returned(function: Any) -> str:
    hint = inspect.unwrap(function).__annotations__.get("return", "")
    if hint in (None, "None", ""):
        return ""
    return hint if isinstance(hint, str) else stringify_annotation(hint, "smart")


def _fields(thing: Any) -> str:
    """The arguments of a data class, unless they are so many that its table says it better."""
    known = inspect.signature(thing).parameters.values()
    if len(known) > MOST_FIELDS:
        return "(...)"
    return str(
        inspect.Signature([p.replace(annotation=p.empty, default=_plain(p.default)) for p in known])
    )


class _Ellipsis:
    def __repr__(self) -> str:
        return "..."


def _plain(default: Any) -> Any:
    if default is inspect.Parameter.empty or default is None:
        return default
    return default if isinstance(default, bool | int | float | str | tuple) else _Ellipsis()


def keep_lines(
    app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]
) -> None:
    """Indented lines among a docstring's first paragraphs are formulas: they keep their form."""
    ends = (i for i, line in enumerate(lines) if i and set(line) == {"-"})
    prose = next(ends, len(lines) + 1) - 1
    starts = [
        i
        for i in range(1, prose)
        if lines[i].startswith("    ") and not lines[i - 1].strip() and not _is_inside(lines, i)
    ]
    for start in reversed(starts):
        lines[start:start] = ["::", ""]


def _is_inside(lines: list[str], start: int) -> bool:
    """Whether the text before these lines is indented too, or announces a block."""
    before = next((line for line in reversed(lines[:start]) if line.strip()), "")
    return before.startswith("    ") or before.rstrip().endswith("::")


def apply_settings(app: Sphinx, config: Any) -> None:
    """Settings that belong to this part of the book."""
    for name, value in SETTINGS.items():
        setattr(config, name, value)
    config.nitpick_ignore_regex = [*config.nitpick_ignore_regex, UNDOCUMENTED]


def load_style(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    if '<dl class="py ' in context.get("body", ""):
        app.add_css_file("api.css")


def setup(app: Sphinx) -> dict[str, Any]:
    for extension in ("sphinx.ext.autodoc", "numpydoc"):
        app.setup_extension(extension)
    app.connect("config-inited", apply_settings, priority=100)
    app.connect("autodoc-process-signature", shorten)
    app.connect("html-page-context", load_style)
    # Before numpydoc, which turns sections into other markup.
    app.connect("autodoc-process-docstring", keep_lines, priority=100)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

"""Light pages that stay right from one build to the next.

The theme's own static files are not copied: pages load the slimmed ones of
:mod:`primer_book.assets`, whose names change with their content. Whatever a page
shows of other pages (menu, numbers, titles of links) or loads from ``_static`` goes
into one digest; when it changes, every page is written again, so that a second
build ends with the same site as a first one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from os import path
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder
from sphinx.environment import BuildEnvironment
from sphinx.jinja2glue import BuiltinTemplateLoader
from sphinx.util import logging
from sphinx.util.fileutil import copy_asset

from primer_book import mathml, shared
from primer_book.assets import FOLDER, Assets

log = logging.getLogger(__name__)

_UNUSED = re.compile(
    r"\.map$|\.LICENSE\.txt$|webpack-macros\.html$|\.gitignore$"
    r"|^(\./)?(vendor|locales|scripts|images|styles)(/|$)"
    r"|^(\./)?((file|plus|minus)\.png|basic\.css.*)$"
)
NEVER = r"(?!)"
# What a page must contain for an extension's file or inline script to be loaded.
_NEEDS = (
    (r"thebe|THEBE", NEVER),
    (r"styles/(theme|pydata-sphinx-theme|sphinx-book-theme)\.css", NEVER),
    (r"scripts/(bootstrap|pydata-sphinx-theme|sphinx-book-theme)\.js", NEVER),
    (r"clipboard|copybutton", r'class="highlight'),
    (r"toggle(button|Hint|OpenOnPrint)", r'class="[^"]*\b(toggle|dropdown|tag_hide)'),
    (r"sphinx-design", r'class="[^"]*\bsd-'),
    (r"design-tabs", r"sd-tab-set"),
    (r"mystnb\.", NEVER),
)
_CLASS = re.compile(r'\bclass="([^"]*)"')
_VIEWPORT = re.compile(r'[ \t]*<meta name="viewport"[^>]*>\n?')
_CHARSET = re.compile(r'<meta charset="utf-8" ?/>')
_SEARCH_BUTTON = re.compile(r'(<button class="btn search-button-field[^>]*?) aria-label="[^"]*"')
_SIDEBAR = re.compile(r'(<div id="pst-primary-sidebar") (class=)')
_FIRST_MODE = re.compile(r'(dataset\.mode = localStorage\.getItem\("mode"\) \|\| )"";')
_FIRST_THEME = re.compile(r'(dataset\.theme = localStorage\.getItem\("theme"\) \|\| )"\w*";')
_UNFOLD = '<summary><span class="toctree-toggle"'
# Without a nav of the theme's own name, every link of the page would be taken for a selector.
_SPY = 'data-bs-target=".bd-toc-nav"'
_NO_THEME = re.compile(r"(<html (?:(?!data-theme)[^>])*?) ?>")
_SYSTEM_THEME = r'\1(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");'
_SEARCH_FROM_FILE = (
    'if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;'
)


def tidy(page: str) -> str:
    """Repair what the theme writes into every page.

    One viewport; a search button whose name is the text on it; the sidebar as a
    landmark, whose folded parts have a name; the reader's light or dark before the
    first paint, not after it.
    """
    if _CHARSET.search(page):
        page = _VIEWPORT.sub("", page)
        viewport = '<meta name="viewport" content="width=device-width, initial-scale=1" />'
        page = _CHARSET.sub(lambda m: f"{m[0]}\n    {viewport}", page, count=1)
    page = _SEARCH_BUTTON.sub(r"\1", page)
    page = _SIDEBAR.sub(r'\1 role="complementary" aria-label="Book" \2', page)
    page = page.replace(_UNFOLD, _UNFOLD.replace("<summary", '<summary aria-label="Pages below"'))
    page = page.replace(_SPY, 'data-bs-target=".page-toc"')
    page = _NO_THEME.sub(r'\1 data-theme="light">', page, count=1)
    page = _FIRST_MODE.sub(r'\1"auto";', page)
    return _FIRST_THEME.sub(_SYSTEM_THEME, page)


def is_needed(asset: str, body: str) -> bool:
    """Whether a page with this body uses a style sheet or script (name or inline text)."""
    return all(re.search(need, body) for name, need in _NEEDS if re.search(name, asset))


class TidyTemplates(BuiltinTemplateLoader):
    """The theme's templates, with :func:`tidy` over what they render."""

    def render(self, template: str, context: dict[str, Any]) -> str:  # type: ignore[override]
        """Render a template of the theme."""
        return tidy(super().render(template, context))


class SlimBuilder(StandaloneHTMLBuilder):
    """Sphinx's HTML builder with the book's own set of static files."""

    assets: Assets | None = None
    shared: str = ""

    def create_template_bridge(self) -> None:
        """Use the tidying templates."""
        self.templates = TidyTemplates()

    def copy_theme_static_files(self, context: dict[str, Any]) -> None:
        """Copy what is neither replaced nor unused."""
        for folder in reversed(self.theme.get_theme_dirs()):
            copy_asset(
                path.join(folder, "static"),
                path.join(self.outdir, "_static"),
                excluded=lambda name: bool(_UNUSED.search(name)),
                context=context,
                renderer=self.templates,
            )

    def copy_static_files(self) -> None:
        """Copy Sphinx's static files, then write those of the book."""
        super().copy_static_files()
        if self.assets is not None:
            write_files(Path(self.outdir) / "_static" / FOLDER, self.assets.files)

    def dump_search_index(self) -> None:
        """Write the index without the words that no page has any more."""
        for words in ("_mapping", "_title_mapping"):
            mapping: dict[str, set[str]] = getattr(self.indexer, words, {})
            for word in [word for word, pages in mapping.items() if not pages]:
                del mapping[word]
        super().dump_search_index()


def write_files(folder: Path, files: dict[str, bytes]) -> None:
    """Make a folder hold exactly these files, touching only what differs."""
    folder.mkdir(parents=True, exist_ok=True)
    for found in folder.iterdir():
        if found.name not in files:
            found.unlink()
    for name, data in files.items():
        target = folder / name
        if not target.exists() or target.read_bytes() != data:
            target.write_bytes(data)


def drop_unused_folders(app: Sphinx) -> None:
    """Keep the files of sphinx-thebe, which Jupyter Book always loads, out of the site."""
    static = app.config.html_static_path
    static[:] = [folder for folder in static if "sphinx_thebe" not in Path(folder).parts]


def prepare(app: Sphinx, env: BuildEnvironment) -> Iterable[str]:
    """Make the assets for the pages as read; return the pages to write again."""
    builder = app.builder
    if not isinstance(builder, SlimBuilder):
        return []
    letters = set().union(*mathml.by_page(env).values())
    assets = Assets(letters, app.config.primer_icons, Path(app.doctreedir) / "primer-fonts")
    builder.assets = assets
    app.add_css_file(assets.theme_css, priority=110)
    app.add_css_file(assets.book_css, priority=210)
    app.add_js_file(assets.book_script, priority=500)
    for script in ("menu.js", assets.theme_script):
        app.add_js_file(script, priority=990, defer="defer")
    builder.shared = shared.digest(app, env, sorted(assets.files))
    return [] if shared.saved(app) == builder.shared else sorted(env.all_docs)


def choose(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    """Leave out the styles and scripts that a page has no use for."""
    body = context.get("body", "")
    if pagename == "search":
        app.add_js_file(None, body=_SEARCH_FROM_FILE, priority=600)
    for kind in ("css_files", "script_files"):
        chosen: dict[tuple[str, str], Any] = {}
        for asset in context.get(kind, []):
            inline = str(asset.attributes.get("body", ""))
            name = str(asset.filename or "")
            if is_needed(name or inline, body):
                chosen.setdefault((name, inline), asset)
        context[kind] = list(chosen.values())
    _report_missing(app, pagename, body)


def _report_missing(app: Sphinx, pagename: str, body: str) -> None:
    """Warn of classes in a page's text that the cut style sheets and fonts leave bare."""
    assets = getattr(app.builder, "assets", None)
    if assets is None:
        return
    shown = {name for value in _CLASS.findall(body) for name in value.split()}
    for icon in sorted(shown & assets.dropped_icons):
        message = "icon %s is not shipped: add it to primer_icons in _config.yml"
        log.warning(message, icon, location=pagename, type="primer", subtype="icon")
    for name in sorted(shown & assets.dropped_names):
        message = "class %s has no style: add it to KEPT in book/_ext/primer_book/purge.py"
        log.warning(message, name, location=pagename, type="primer", subtype="style")


def remember(app: Sphinx, exception: Exception | None) -> None:
    """Note what the pages were written with, once all of them are."""
    state = getattr(app.builder, "shared", "")
    if exception is None and state:
        shared.save(app, state)


def use_templates(app: Sphinx, config: Any) -> None:
    """Put the book's templates before those of the theme."""
    config.templates_path.insert(0, str(Path(__file__).parent.parent / "templates"))


def setup(app: Sphinx) -> dict[str, Any]:
    """Replace the HTML builder and connect to the build."""
    app.add_builder(SlimBuilder, override=True)
    app.add_config_value("primer_icons", [], "html")
    app.connect("config-inited", use_templates)
    app.connect("builder-inited", drop_unused_folders, priority=900)
    app.connect("env-get-updated", prepare, priority=900)
    app.connect("html-page-context", choose, priority=960)
    app.connect("build-finished", remember)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

"""The themes' files as the book ships them: smaller, and named after their content.

Pure functions of installed packages and of the letters in use: no Sphinx here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

import myst_nb
import pydata_sphinx_theme
import sphinx
import sphinx_book_theme

from primer_book import fonts, purge
from primer_book.fonts import Font
from primer_book.letters import styled

FOLDER = "primer"
_PYDATA = Path(pydata_sphinx_theme.__file__).parent / "theme/pydata_sphinx_theme"
_BOOK = Path(sphinx_book_theme.__file__).parent
_BOOK_STATIC = _BOOK / "theme/sphinx_book_theme/static"
_THEME_CSS = _PYDATA / "static/styles/pydata-sphinx-theme.css"
_BOOK_CSS = _BOOK_STATIC / "styles/sphinx-book-theme.css"
_BASIC_CSS = Path(sphinx.__file__).parent / "themes/basic/static/basic.css.jinja"
_CELLS_CSS = Path(myst_nb.__file__).parent / "static/mystnb.css"

_WEBFONTS = "static/vendor/fontawesome/webfonts/"
ICONS = {
    "solid": Font("pydata-sphinx-theme", _WEBFONTS + "fa-solid-900.woff2", "Primer Icons"),
    "regular": Font("pydata-sphinx-theme", _WEBFONTS + "fa-regular-400.woff2", "Primer Icons"),
    "brands": Font("pydata-sphinx-theme", _WEBFONTS + "fa-brands-400.woff2", "Primer Brands"),
}
_ICON = re.compile(r"\bfa-[a-z0-9-]+")
_ICON_RULE = re.compile(r'((?:\.fa-[a-z0-9-]+:{1,2}before,?)+)\{content:"\\([0-9a-f]+)"\}')
_PRIVATE = re.compile("[\ue000-\uf8ff]")
_UTF8 = '@charset "UTF-8";'
_SOURCE_MAP = re.compile(r"/\*# sourceMappingURL=.*?\*/|//# sourceMappingURL=\S+")
_FACE = re.compile(r"@font-face\{[^}]*?webfonts/fa-(solid|regular|brands)-[^}]*\}")
# Of Sphinx's own page frame, which the theme does not use: measures, and pictures not shipped.
_FRAME = re.compile(r"[\w-]+:\s*(\{\{[^}]*\}\}|url\(\w+\.png\)[^;]*);")

MATH_RULES = """
math{font-family:"Primer Math","STIX Two Math","Cambria Math",math;font-size:1.08em}
span.math{white-space:nowrap}
div.math{display:flex;flex-direction:row;gap:0;align-items:center;margin:1.15em 0}
div.math{overflow-x:auto;overflow-y:hidden}
div.math>:not(.eqno){flex:none;margin:0 auto;padding:.45em .1em}
div.math>div>math{margin:.6em 0}
div.math>.eqno{order:2;padding-left:1em;white-space:nowrap}
mtd{vertical-align:baseline}
.pr-box{border:1px solid;padding:.25em .4em}
mtext.pr-monospace{font-family:var(--pst-font-family-monospace,monospace);font-size:.9em}
mtext.pr-bold{font-weight:700}
mtext.pr-italic{font-style:italic}
mtext.pr-sans-serif{font-family:var(--pst-font-family-base,sans-serif)}
.math-error{color:var(--pst-color-danger)}
"""


@lru_cache(maxsize=1)
def theme_icons() -> frozenset[str]:
    """Names of the icons that the themes themselves may show on a page."""
    sources = [
        *_PYDATA.rglob("*.html"),
        _PYDATA / "static/scripts/pydata-sphinx-theme.js",
        *(_BOOK / "theme").rglob("*.html"),
        *(_BOOK / "header_buttons").glob("*.py"),
    ]
    return frozenset(
        name for path in sources for name in _ICON.findall(path.read_text(encoding="utf-8"))
    )


def slim_css(css: str, icons: Iterable[str]) -> tuple[str, set[str], set[str]]:
    """Drop the rules of unused icons, the remarks and the links to source maps.

    Returns
    -------
    css : str
    signs : set of str
        Characters that the icon fonts still need.
    dropped : set of str
        Icons that the book's pages can no longer show.
    """
    used, dropped = set(icons), set()
    signs = set(_PRIVATE.findall(css))

    def keep(rule: re.Match[str]) -> str:
        names = set(_ICON.findall(rule[1]))
        if names & used:
            signs.add(chr(int(rule[2], 16)))
            return rule[0]
        dropped.update(names)
        return ""

    css = _ICON_RULE.sub(keep, css)
    css = _SOURCE_MAP.sub("", css)
    return re.sub(r"/\*(?!!).*?\*/", "", css, flags=re.S), signs, dropped


def theme_css() -> str:
    """The theme's whole style sheet."""
    return _read(_THEME_CSS)


def cut_sheets(theme: str, icons: Iterable[str]) -> tuple[purge.Purge, purge.Purge]:
    """Sphinx's basic style sheet with the theme's; the book theme's with that of cells."""
    basic = _FRAME.sub("", _read(_BASIC_CSS))
    used = purge.words().union(icons)
    first = purge.Purge(basic + theme, used, purge.variables())
    return first, purge.Purge(_read(_BOOK_CSS) + _read(_CELLS_CSS), used, purge.variables())


def named(stem: str, suffix: str, data: bytes) -> str:
    """Return a file name that changes with the content, so that no cache goes stale."""
    return f"{stem}.{fonts.digest(data)}{suffix}"


class Assets:
    """All generated files of ``_static/primer``, in memory.

    Parameters
    ----------
    letters : iterable of str
        Characters of the mathematics on all pages.
    icons : iterable of str
        Icons that pages use beyond those of the themes.
    store : Path
        Folder of fonts that were cut before.
    """

    def __init__(self, letters: Iterable[str], icons: Iterable[str], store: Path) -> None:
        self.files: dict[str, bytes] = {}
        self._store = store
        used = theme_icons() | set(icons)
        css, self._signs, self.dropped_icons = slim_css(theme_css(), used)
        theme, book = cut_sheets(css, used)
        #: Classes and ids whose rules the pages do not have.
        self.dropped_names = theme.dropped | book.dropped
        faces = self._text_fonts() + self._math(letters)
        self.theme_css = self._add("theme", ".css", self._own_icon_fonts(_UTF8 + theme.css))
        self.book_css = self._add("book-theme", ".css", _UTF8 + book.css + faces)
        script = _read(_PYDATA / "static/scripts/pydata-sphinx-theme.js")
        self.theme_script = self._add("pydata-sphinx-theme", ".js", _script(script))
        script = _read(_BOOK_STATIC / "scripts/sphinx-book-theme.js")
        self.book_script = self._add("book-theme", ".js", _SOURCE_MAP.sub("", script))
        self.files["LICENSES.txt"] = fonts.licenses().encode()

    def _add(self, stem: str, suffix: str, content: str | bytes) -> str:
        data = content.encode() if isinstance(content, str) else content
        name = named(stem, suffix, data)
        self.files[name] = data
        return f"{FOLDER}/{name}"

    def _face(self, stem: str, font: Font, letters: Iterable[str], weight: int, wait: str) -> str:
        name = self._add(stem, ".woff2", fonts.cut(font, letters, store=self._store))
        return (
            f'@font-face{{font-family:"{font.family}";font-style:normal;font-weight:{weight};'
            f'font-display:{wait};src:url({Path(name).name}) format("woff2")}}'
        )

    def _own_icon_fonts(self, css: str) -> str:
        weights = {"solid": 900, "regular": 400, "brands": 400}
        own = {
            kind: self._face(f"icons-{kind}", font, self._signs, weights[kind], "block")
            for kind, font in ICONS.items()
        }
        css = _FACE.sub(lambda face: own[face[1]], css)
        css = re.sub(r'"Font Awesome 6 Brands"|Font Awesome\\ 6 Brands', '"Primer Brands"', css)
        return re.sub(r'"Font Awesome 6 Free"|Font Awesome\\ 6 Free', '"Primer Icons"', css)

    def _text_fonts(self) -> str:
        letters = fonts.LATIN + fonts.GREEK + fonts.FIGURE_SIGNS
        return self._face("sans", fonts.SANS, letters, 400, "block") + self._face(
            "sans-bold", fonts.SANS_BOLD, fonts.BOLD_SIGNS, 700, "block"
        )

    def _math(self, letters: Iterable[str]) -> str:
        floor = fonts.MATH_FLOOR
        needed = set(floor) | {styled(letter, "italic") for letter in floor} | set(letters)
        face = self._face("math", fonts.MATH, needed, 400, "swap")
        return face + MATH_RULES.replace("\n", "")


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _script(text: str) -> str:
    """Let the theme's keyboard stops for wide blocks reach wide formulas too."""
    return _SOURCE_MAP.sub("", text).replace('["pre",', '["pre","div.math",')

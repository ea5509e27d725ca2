"""Style sheets without the rules that no page of the book can use.

A rule stays where each class and id that it asks for is a word of a file that writes
pages or changes them: a template, a writer, a script, the book's own code. That is
generous (a variable may be called `card`), needs no built page, and so changes only
with those files. What an author adds beyond them is reported while a page is written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

import tinycss2

#: Package -> patterns of its files that write pages, or run on them.
WRITERS = {
    "pydata_sphinx_theme": ("theme/**/*.html", "theme/**/scripts/pydata-*.js", "*.py"),
    "sphinx_book_theme": (
        "theme/**/*.html",
        "theme/**/scripts/*.js",
        "*.py",
        "header_buttons/*.py",
    ),
    "sphinx": (
        "themes/basic/**/*.html",
        "themes/basic/static/*.js",
        "writers/html*.py",
        "builders/html/*.py",
        "environment/adapters/*.py",
        "directives/*.py",
        "domains/**/*.py",
        "addnodes.py",
    ),
    "docutils": ("writers/*html*.py", "writers/*html*/*.py", "parsers/rst/directives/*.py"),
    "myst_nb": ("**/*.py",),
    "myst_parser": ("mdit_to_docutils/*.py",),
    "pygments": ("token.py",),
    "sphinx_togglebutton": ("*.py", "_static/*.js"),
    "sphinx_copybutton": ("_static/*.js*",),
    "primer": ("explore/*.py", "explore/static/*.js", "exercises/*.py"),
}
#: Packages whose style sheets lean on the variables of the theme's.
STYLED = (
    "sphinx_book_theme",
    "myst_nb",
    "sphinx_togglebutton",
    "sphinx_copybutton",
    "sphinx_design",
)
_BOOK = Path(__file__).resolve().parents[2]

#: Classes that only authors write, beyond those of the packages.
KEPT: frozenset[str] = frozenset()
#: Classes that are put together from parts, so that no file has them as a word.
COMPOSED = re.compile(r"(text|align)-(left|center|right)|toctree-l\d")

_WORD = re.compile(r"[A-Za-z_][\w-]*")
_VARIABLE = re.compile(r"--[\w-]+")


@lru_cache(maxsize=1)
def words() -> frozenset[str]:
    """Every word of the files that write pages or run on them, and what authors need kept."""
    return KEPT.union(word for text in _written() for word in _WORD.findall(text))


@lru_cache(maxsize=1)
def variables() -> frozenset[str]:
    """Custom properties that others than the theme's own style sheet name."""
    sheets = (text for name in STYLED for text in _texts(_folder(name), ("**/*.css",)))
    own = _texts(_BOOK / "_static", ("*.css",))
    texts = (text for group in (_written(), sheets, own) for text in group)
    return frozenset(name for text in texts for name in _VARIABLE.findall(text))


def _written() -> Iterator[str]:
    for package, patterns in WRITERS.items():
        yield from _texts(_folder(package), patterns)
    yield from _texts(_BOOK, ("_ext/**/*.py", "_ext/**/*.html", "_static/*.js"))


def _folder(package: str) -> Path:
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise RuntimeError(f"package {package} is missing; install requirements.txt")
    return Path(spec.origin).parent


def _texts(folder: Path, patterns: Iterable[str]) -> Iterator[str]:
    for pattern in patterns:
        for path in sorted(folder.glob(pattern)):
            yield path.read_text(encoding="utf-8")


@dataclass
class _Rule:
    """A rule: its head, and declarations (name and text) or rules within."""

    head: str
    declarations: list[tuple[str, str]] = field(default_factory=list)
    rules: list[_Rule] | None = None

    def text(self, needed: set[str]) -> str:
        """The rule without the variables that nobody needs; nothing where it is empty."""
        if self.rules is not None:
            inside = "".join(rule.text(needed) for rule in self.rules)
        else:
            inside = ";".join(
                text for name, text in self.declarations if not _is_variable(name) or name in needed
            )
        return f"{self.head}{{{inside}}}" if inside else ""

    def everything(self) -> Iterator[tuple[str, str]]:
        """All declarations, also those of rules within."""
        yield from self.declarations
        for rule in self.rules or ():
            yield from rule.everything()


class Purge:
    """A style sheet, cut to what pages can use.

    Parameters
    ----------
    css : str
        The whole style sheet.
    used : set of str
        Classes and ids that pages may have.
    asked : set of str
        Custom properties that other style sheets and scripts name.
    """

    def __init__(self, css: str, used: Iterable[str], asked: Iterable[str] = ()) -> None:
        self._used = frozenset(used)
        #: Classes and ids whose rules are gone.
        self.dropped: set[str] = set()
        rules = list(self._kept(_parsed(css)))
        needed = _needed(rules, set(asked))
        self.css = "".join(rule.text(needed) for rule in rules)

    def _kept(self, nodes: Iterable[Any]) -> Iterator[_Rule]:
        for node in nodes:
            if node.type == "at-rule":
                yield from self._at_rule(node)
            elif node.type == "qualified-rule" and (head := self._head(node.prelude)):
                yield _Rule(head, list(_declarations(node.content)))

    def _at_rule(self, node: Any) -> Iterator[_Rule]:
        head = f"@{node.at_keyword}{_short(node.prelude)}"
        match node.lower_at_keyword:
            case "charset":
                return  # it holds at the start of a file, where the rules may no longer be
            case "media" | "supports":
                yield _Rule(head, rules=list(self._kept(_parsed(node.content))))
            case "keyframes" | "-webkit-keyframes":
                yield _Rule(head, rules=[_whole(step) for step in _parsed(node.content)])
            case "font-face":
                yield _whole(node)
            case _:
                raise ValueError(f"style sheet: it must not hold {head}, which is not handled here")

    def _head(self, prelude: list[Any]) -> str:
        """The selectors that something may match."""
        kept = []
        for selector in _split(prelude):
            missing = {
                name
                for name in _names(selector)
                if name not in self._used and not COMPOSED.fullmatch(name)
            }
            self.dropped |= missing
            if not missing:
                kept.append(_short(selector).strip())
        return ",".join(kept)


def _parsed(css: str | list[Any]) -> list[Any]:
    parse = tinycss2.parse_stylesheet if isinstance(css, str) else tinycss2.parse_rule_list
    found: list[Any] = parse(css, skip_comments=True, skip_whitespace=True)
    for node in found:
        if node.type == "error":
            raise ValueError(f"style sheet: {node.message}")
    return found


def _whole(node: Any) -> _Rule:
    at = f"@{node.at_keyword}" if node.type == "at-rule" else ""
    return _Rule(at + _short(node.prelude), list(_declarations(node.content)))


def _declarations(content: list[Any]) -> Iterator[tuple[str, str]]:
    """Name and text of each; hacks for old browsers are none, and browsers skip them too."""
    for node in tinycss2.parse_blocks_contents(content, skip_comments=True, skip_whitespace=True):
        if node.type.endswith("rule"):
            raise ValueError("style sheet: it must not hold rules within rules")
        if node.type == "declaration":
            important = "!important" if node.important else ""
            yield node.name, f"{node.name}:{_short(node.value).strip()}{important}"


def _split(prelude: list[Any]) -> Iterator[list[Any]]:
    """The selectors of a list; commas within brackets are no ends."""
    selector: list[Any] = []
    for token in prelude:
        if token == ",":
            yield selector
            selector = []
        else:
            selector.append(token)
    yield selector


def _names(selector: list[Any]) -> set[str]:
    """Classes and ids that an element must have; what stands in brackets may be a choice."""
    found = {token.value for token in selector if token.type == "hash"}
    for before, token in pairwise(selector):
        if before == "." and token.type == "ident":
            found.add(token.value)
    return found


def _short(tokens: list[Any]) -> str:
    """The text of some tokens, without remarks, and with blanks of one character."""
    kept = [token for token in tokens if token.type != "comment"]
    for token in kept:
        if token.type == "whitespace":
            token.value = " "
    text: str = tinycss2.serialize(kept)
    return text


def _is_variable(name: str) -> bool:
    return name.startswith("--")


def _needed(rules: Iterable[_Rule], asked: set[str]) -> set[str]:
    """Custom properties that something shows, by way of others too."""
    everything = [pair for rule in rules for pair in rule.everything()]
    needed = set(asked)
    for name, text in everything:
        if not _is_variable(name):
            needed.update(_VARIABLE.findall(text))
    grown = True
    while grown:
        more = {
            other
            for name, text in everything
            if name in needed
            for other in _VARIABLE.findall(text)
        }
        grown = not more <= needed
        needed |= more
    return needed

"""What a page or a figure depends on, as a digest of files.

jupyter-cache knows the text of cells alone, and Sphinx the text of pages. A
page of this book also depends on the modules of `primer` that it names, on
what those import, on the data they read, and on the pinned packages. Imports
are read from the syntax tree, so nothing is run to find out.
"""

from __future__ import annotations

import ast
import hashlib
import re
import sys
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

from primer_book import numbers

PACKAGE = "primer"
# A kernel's widgets: no page is made with them, so no page depends on them.
LIVE_ONLY = frozenset({"primer.explore.live"})

# A registry imports all of its parts, but a page depends on those alone that it asks for by id.
BANK = "primer.exercises.bank"

_CELL = re.compile(r"^(`{3,})\{code-cell\}[^\n]*\n(.*?)^\1\s*$", re.M | re.S)
_OPTIONS = re.compile(r"\A(?:---\n.*?^---\n|(?::[\w-]+:[^\n]*\n)+)", re.M | re.S)
_NUM_ROLE = re.compile(r"\{num\}`([^`]+)`")
_RELATIVE_PATH = re.compile(r"\w[\w.-]*(?:/\w[\w.-]*)+")
_COMPUTED_OPTION = re.compile(r"^:(?:answer|check):[ \t]*(\S.*)$", re.M)
_EXERCISE = re.compile(r"^:{3,}\{exercise\} *(\d+\.\d+)", re.M)


class Tracer:
    """Finds the files behind pages and figures.

    Parameters
    ----------
    package : Path
        Folder of the package `primer`.
    pins : Path
        The file of pinned requirements.
    """

    def __init__(self, package: Path, pins: Path) -> None:
        self.package = package
        self._pins = pins
        self._files: dict[str, frozenset[Path]] = {}
        self._direct: dict[str, frozenset[str]] = {}

    @cached_property
    def pins(self) -> str:
        """The pinned packages and the Python that runs them."""
        lines = (line.split("#")[0].strip() for line in self._pins.read_text("utf-8").splitlines())
        return "\n".join([f"python {sys.version_info[0]}.{sys.version_info[1]}", *lines])

    def page(self, text: str) -> str:
        """Digest of a chapter: its cells and number roles, and all that they reach."""
        return digest([_executed(text), self.pins], self.closure(self.modules_of_page(text)))

    def figure(self, explorable_id: str) -> str:
        """Digest of the frames of one explorable."""
        modules = {_figure_module(explorable_id), f"{PACKAGE}.explore.payload"}
        return digest([explorable_id, self.pins], self.closure(modules))

    def modules_of_page(self, text: str) -> set[str]:
        """Modules of the package that cells import, show or evaluate in prose."""
        code = "\n".join(cells(text))
        modules = set(self._imports(ast.parse(code)))
        modules |= {self._shown_module(name) for name in shown(text)}
        modules |= self._topics({*_EXERCISE.findall(text), *_first_arguments(text, "check")})
        for expression in _expressions(text):
            modules |= {f"{PACKAGE}.{m}" for m in numbers.modules_used(expression)}
        return modules

    def _shown_module(self, name: str) -> str:
        """The module of a figure or drawing, by its id."""
        drawing = f"{PACKAGE}.drawings.{name.replace('-', '_')}"
        return drawing if self._path(drawing) else _figure_module(name)

    def closure(self, modules: Iterable[str]) -> set[Path]:
        """Files of the modules and of everything of the package that they import or read."""
        seen: set[str] = set()
        todo = [m for m in modules if m not in LIVE_ONLY]
        while todo:
            module = todo.pop()
            if module in seen:
                continue
            seen.add(module)
            self._scan(module)
            inner = f"{BANK}." if module == BANK else "\0"
            todo += [
                m for m in self._direct[module] if m not in LIVE_ONLY and not m.startswith(inner)
            ]
        return {path for module in seen for path in self._files[module]}

    def _scan(self, module: str) -> None:
        if module in self._files:
            return
        path = self._path(module)
        if path is None:
            raise ValueError(f"module must be part of {PACKAGE}; got {module!r}")
        tree = ast.parse(path.read_text("utf-8"))
        self._direct[module] = frozenset(self._imports(tree))
        self._files[module] = frozenset({path, *self._data(tree)})

    def _path(self, module: str) -> Path | None:
        parts = module.split(".")[1:]
        base = self.package.joinpath(*parts)
        options = (base.with_suffix(".py") if parts else base / "__init__.py", base / "__init__.py")
        return next((p for p in options if p.is_file()), None)

    def _imports(self, tree: ast.AST) -> set[str]:
        found: set[str] = set()
        for node in _walk(tree):
            if isinstance(node, ast.Import):
                found |= {a.name for a in node.names if a.name.split(".")[0] == PACKAGE}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                module = node.module or ""
                if module.split(".")[0] == PACKAGE:
                    found |= {self._target(module, a.name) for a in node.names}
        return found

    def _target(self, module: str, name: str) -> str:
        """`from primer import roofline` means the module, `from primer.units import GB` units."""
        inner = f"{module}.{name}"
        return inner if self._path(inner) else module

    def _topics(self, exercise_ids: set[str]) -> set[str]:
        """Modules of the bank that declare these exercises, by the keys of their `EXERCISES`."""
        found = set()
        for path in sorted((self.package / "exercises" / "bank").glob("*.py")):
            names = {
                node.value
                for node in ast.walk(ast.parse(path.read_text("utf-8")))
                if isinstance(node, ast.Constant) and node.value in exercise_ids
            }
            if names and path.stem != "__init__":
                found.add(f"{BANK}.{path.stem}")
        return found

    def _data(self, tree: ast.AST) -> set[Path]:
        """Files of the package that a module names by a relative path."""
        found: set[Path] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found |= self._named(node.value)
        return found

    def _named(self, text: str) -> set[Path]:
        """The file of the package, or the files of the folder, whose relative path this is."""
        if not _RELATIVE_PATH.fullmatch(text):
            return set()
        path = self.package / text
        if path.is_file():
            return {path}
        return {p for p in path.rglob("*") if p.is_file() and p.suffix != ".pyc"}


def cells(text: str) -> list[str]:
    """Source of the code cells that a build executes, without their options."""
    found = []
    for match in _CELL.finditer(text):
        options = _OPTIONS.match(match[2])
        if not (options and "skip-execution" in options[0]):
            found.append(_OPTIONS.sub("", match[2]))
    return found


def shown(text: str) -> list[str]:
    """Ids that the cells of a page pass to `show`, in order: explorables and drawings."""
    return _first_arguments(text, "show")


def explorables(text: str) -> list[str]:
    """The explorables among them."""
    from primer import drawings

    return [name for name in shown(text) if name not in drawings.ids()]


def _first_arguments(text: str, function: str) -> list[str]:
    """Strings that the cells of a page pass first to a function of that name, in order."""
    passed = []
    for node in ast.walk(ast.parse("\n".join(cells(text)))):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        first = node.args[0]
        if name == function and isinstance(first, ast.Constant) and isinstance(first.value, str):
            passed.append((node.lineno, first.value))
    return [value for _, value in sorted(passed)]


def digest(texts: Iterable[str], paths: Iterable[Path]) -> str:
    """Short digest of texts and of the content of files."""
    total = hashlib.sha256()
    for text in texts:
        total.update(text.encode() + b"\0")
    for path in sorted(paths):
        total.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return total.hexdigest()[:16]


def _executed(text: str) -> str:
    return "\0".join([*cells(text), *_expressions(text)])


def _expressions(text: str) -> list[str]:
    return _NUM_ROLE.findall(text) + _COMPUTED_OPTION.findall(text)


def _figure_module(explorable_id: str) -> str:
    return f"{PACKAGE}.figures.{explorable_id.replace('-', '_')}"


def _walk(tree: ast.AST) -> Iterable[ast.AST]:
    """All nodes but those that only a type checker sees."""
    todo = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
            continue
        yield node
        todo += ast.iter_child_nodes(node)

"""The Python in the worked solutions runs, after the cells of its chapter that it builds on."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.book.source import Part, parse, walk
from tests.conftest import ROOT

CHAPTERS = sorted((ROOT / "chapters").glob("*.md"))


def solutions(path: Path) -> Iterator[tuple[str, str]]:
    """Number of the exercise and code, for each piece of Python in a solution."""
    for exercise in (p for p in walk(parse(path.read_text("utf-8"))) if p.name == "exercise"):
        for solution in (p for p in exercise.walk() if p.name == "solution"):
            for part in solution.walk():
                if part.kind == "code" and part.argument == "python":
                    yield exercise.argument.partition(" ")[0], part.text


def cells(path: Path) -> list[Part]:
    found = [p for p in walk(parse(path.read_text("utf-8"))) if p.kind == "cell"]
    return [p for p in found if "skip-execution" not in p.options.get("tags", "")]


def names(code: str) -> tuple[set[str], set[str]]:
    """Names that code reads, and names that it gives a value."""
    read, given = set(), set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Name):
            (read if isinstance(node.ctx, ast.Load) else given).add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            given.add(node.name)
        elif isinstance(node, ast.alias):
            given.add((node.asname or node.name).partition(".")[0])
    return read, given


def needed(code: str, before: list[str]) -> list[str]:
    """The cells that the code builds on, in their order."""
    read, given = names(code)
    wanted, chosen = read - given, []
    for cell in reversed(before):
        reads, gives = names(cell)
        if gives & wanted:
            chosen.append(cell)
            wanted |= reads
    return chosen[::-1]


FOUND = [(path, number, code) for path in CHAPTERS for number, code in solutions(path)]


@pytest.mark.parametrize(
    ("path", "number", "code"), FOUND, ids=[f"{path.stem[:2]}: {n}" for path, n, _ in FOUND]
)
def test_the_python_of_a_solution_runs(path: Path, number: str, code: str) -> None:
    scope: dict[str, Any] = {"__name__": "__main__"}
    for cell in needed(code, [cell.text for cell in cells(path)]):
        exec(compile(cell, path.name, "exec"), scope)
    exec(compile(code, f"{path.name}: {number}", "exec"), scope)


def test_what_a_solution_builds_on() -> None:
    before = ["import math", "side = 2", "other = 1", "area = side**2"]
    assert needed("print(math.sqrt(area))", before) == ["import math", "side = 2", "area = side**2"]
    assert needed("area = 4\nprint(area)", before) == []

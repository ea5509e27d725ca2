"""A chapter's source in parts: headings, prose, cells and blocks, each with its line."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_FENCE = re.compile(r"^(`{3,}|:{3,})(?:\{([\w-]+)\}[ \t]*(.*?)|([\w-]*))[ \t]*$")
_HEADING = re.compile(r"^(#{1,6}) (.+)$")
_LABEL = re.compile(r"^\(([\w-]+)\)=\s*$")
_OPTION = re.compile(r"^:([\w-]+):[ \t]*(.*)$")


@dataclass
class Part:
    """One part of a page.

    `kind` is "heading", "label", "prose", "cell" (runs), "code" (does not) or "block".
    """

    kind: str
    line: int
    text: str
    name: str = ""
    argument: str = ""
    options: dict[str, str] = field(default_factory=dict)
    level: int = 0
    parts: list[Part] = field(default_factory=list)

    def walk(self) -> Iterator[Part]:
        """This part and all inside of it, in the order of the source."""
        yield self
        for part in self.parts:
            yield from part.walk()


def parse(text: str) -> list[Part]:
    """The parts of a page, without its front matter."""
    head = re.match(r"\A---\n.*?^---\n", text, re.S | re.M)
    start = head.end() if head else 0
    return list(_parse(text[start:].split("\n"), text.count("\n", 0, start) + 1))


def walk(parts: list[Part]) -> Iterator[Part]:
    """All parts, those inside of blocks too."""
    for part in parts:
        yield from part.walk()


def _parse(lines: list[str], first: int) -> Iterator[Part]:
    prose: list[str] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        mark, heading, label = _FENCE.match(line), _HEADING.match(line), _LABEL.match(line)
        if not (mark or heading or label):
            prose.append(line)
            at += 1
            continue
        yield from _flush(prose, first + at)
        if mark:
            end = _end(lines, at, mark[1])
            yield _fenced(mark, lines[at + 1 : end], first + at)
            at = end + 1
            continue
        if heading:
            yield Part("heading", first + at, heading[2].strip(), level=len(heading[1]))
        elif label:
            yield Part("label", first + at, label[1])
        at += 1
    yield from _flush(prose, first + at)


def _flush(prose: list[str], line: int) -> Iterator[Part]:
    text = "\n".join(prose)
    if text.strip():
        yield Part("prose", line - len(prose), text)
    prose.clear()


def _end(lines: list[str], at: int, mark: str) -> int:
    """Where a fence ends: the first line that is this mark or a longer one alone."""
    closing = re.compile(re.escape(mark[0]) + "{" + str(len(mark)) + r",}\s*$")
    depth = 0
    for i in range(at + 1, len(lines)):
        opened = _FENCE.match(lines[i])
        if mark[0] == ":" and opened and opened[2] and len(opened[1]) == len(mark):
            depth += 1
        elif closing.match(lines[i]):
            if not depth:
                return i
            depth -= 1
    raise ValueError(f"the fence {lines[at]!r} is never closed")


def _fenced(mark: re.Match[str], body: list[str], line: int) -> Part:
    name, text = mark[2] or "", "\n".join(body)
    if not name:
        return Part("code", line, text, argument=mark[4] or "")
    options: dict[str, str] = {}
    rest = list(body)
    while rest and (option := _OPTION.match(rest[0])):
        options[option[1]] = option[2].strip()
        rest.pop(0)
    start = line + 1 + len(body) - len(rest)
    if name == "code-cell":
        while rest and not rest[0].strip():
            rest.pop(0)
        return Part("cell", line, "\n".join(rest), name, mark[3], options)
    inside = [] if name == "math" else list(_parse(rest, start))
    kind = "code" if name == "math" else "block"
    return Part(kind, line, "\n".join(rest), name, mark[3], options, parts=inside)


_NUM = re.compile(r"\{num\}`[^`]*`")
_ROLE = re.compile(r"\{[\w:-]+\}`([^`<]*?)\s*(?:<[^`]*>)?`")
_MATH = re.compile(r"\$\$.*?\$\$(?:\s*\([\w-]+\))?|(?<!\\)\$[^$\n]+(?:\n[^$\n]+)*?\$", re.S)
_CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.S)
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_HTML = re.compile(r"<!--.*?-->|<https?:[^>]+>", re.S)


def bare(text: str) -> str:
    """Prose as it is read: numbers of the role as one mark, without formulas, code and addresses.

    Line breaks stay where they were, so that lines can be counted.
    """

    def blank(mark: str) -> object:
        return lambda match: mark + "\n" * match[0].count("\n")

    text = _NUM.sub(blank("◊"), text)  # type: ignore[call-overload]
    text = _ROLE.sub(lambda match: match[1], text)
    text = _MATH.sub(blank("◇"), text)  # type: ignore[call-overload]
    text = _CODE.sub(blank("◈"), text)  # type: ignore[call-overload]
    text = _HTML.sub(blank(""), text)  # type: ignore[call-overload]
    return _LINK.sub(lambda match: match[1], text)


def n_words(text: str) -> int:
    """Words of prose; a number, a formula or a piece of code within a line counts as one."""
    return len(re.findall(r"[◊◇◈]|[^\W_][\w’'.,/-]*", bare(text)))


def calls(code: str, name: str) -> list[str]:
    """First arguments, where they are texts, of the calls of a function within a cell."""
    found = []
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Call) and node.args:
            called = getattr(node.func, "attr", getattr(node.func, "id", ""))
            first = node.args[0]
            if called == name and isinstance(first, ast.Constant) and isinstance(first.value, str):
                found.append((node.lineno, node.col_offset, first.value))
    return [value for _, _, value in sorted(found)]

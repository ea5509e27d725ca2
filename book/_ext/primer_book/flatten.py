"""MyST Markdown to plain Markdown, for notebooks that know neither roles nor directives.

The text is parsed by MyST's own parser, and only the places that plain Markdown cannot say are
replaced in the source, so that everything else stays as its author wrote it. A construct
without a rule is an error: a notebook never shows raw markup.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from docutils.parsers.rst import Directive
from docutils.parsers.rst.states import MarkupError
from markdown_it import MarkdownIt
from markdown_it.token import Token
from myst_parser.parsers.directives import DirectiveParsingResult, parse_directive_text

from primer_book import numbers
from primer_book.spans import Span, locate, make_parser, outermost

FENCE = re.compile(r"\{([\w:+-]+)\}\s*(.*)")
EXPLICIT = re.compile(r"(.*\S)\s*<([^<>]+)>", re.DOTALL)
CODE_ROLES = ("func", "class", "mod", "meth", "attr", "obj", "data", "code", "file")


@dataclass(frozen=True)
class Target:
    """What a label stands for: the text of a reference to it, and its address on the site."""

    text: str
    address: str


@dataclass(frozen=True)
class Rule:
    """How a directive is read (by which class's arguments and options) and rendered."""

    parser: type[Directive]
    render: Callable[[Flattener, str, DirectiveParsingResult, int], str]


@dataclass
class Flattener:
    """Flatten one chapter, cell by cell; it remembers the last heading's level.

    `path` is the source's path from the root; `targets` maps labels, and names of pages, to
    what they stand for; `site` is the published book's address with a slash at its end, or empty.
    """

    path: str
    rules: Mapping[str, Rule]
    targets: Mapping[str, Target] = field(default_factory=dict)
    site: str = ""
    level: int = 1
    parser: MarkdownIt = field(default_factory=make_parser)

    def flatten(self, text: str, line: int = 1) -> str:
        """Flatten a Markdown text that starts at this line of the source."""
        lines = text.split("\n")
        starts = _starts(lines)
        edits: list[tuple[int, int, str]] = []
        cursors: dict[int, int] = {}
        env: dict[str, Any] = {}
        for token in self.parser.parse(text, env):
            if token.map is None:
                continue
            at = line + token.map[0]
            if token.type == "heading_open":
                self.level = int(token.tag[1:])
            elif token.type == "inline":
                if outermost(self.parser, token.content, env):
                    edits += self._inline_edits(token, lines, cursors, env, at)
            elif (new := self._block(token, at)) is not None:
                edits.append(_block_edit(token, lines, starts, new))
        for start, end, new in sorted(edits, reverse=True):
            text = text[:start] + new + text[end:]
        return text.strip("\n")

    def inline(self, text: str, env: dict[str, Any] | None = None, line: int = 0) -> str:
        """Flatten a text that has only inline constructs."""
        for span in reversed(outermost(self.parser, text, env or {})):
            text = text[: span.start] + self._span(span, text, line) + text[span.end :]
        return text

    def fail(self, line: int, problem: str) -> ValueError:
        return ValueError(f"{self.path}:{line}: {problem}")

    # Blocks ---------------------------------------------------------------------------------

    def _block(self, token: Token, line: int) -> str | None:
        """The plain text of a block, or None where it is plain already."""
        if token.type in ("myst_target", "myst_line_comment", "myst_block_break"):
            return ""
        if token.type == "math_block_label":
            return self.formula(token.content, token.info, line)
        if token.type == "math_block":
            return self.formula(token.content, "", line)
        if token.type in ("fence", "colon_fence"):
            matched = FENCE.fullmatch(token.info.strip())
            if matched:
                return self._directive(matched[1], matched[2], token.content, line)
            if token.type == "colon_fence":
                raise self.fail(line, f"a colon fence without a directive: {token.info!r}")
        if token.type in ("substitution_block", "footnote_reference_open"):
            raise self.fail(line, f"{token.type.split('_')[0]}s have no form in a notebook")
        return None

    def formula(self, content: str, label: str, line: int) -> str:
        """Display math; a labelled formula carries the number that references print."""
        tex = content.strip()
        if re.search(r"\n\s*\n", tex):
            raise self.fail(line, "a formula with a blank line")
        if r"\\" in tex and r"\begin" not in tex:
            tex = f"\\begin{{split}}\n{tex}\n\\end{{split}}"
        if label:
            number = self._target(label, line).text.strip("()")
            tex += f"\n\\tag{{{number}}}"
        return f"$$\n{tex}\n$$"

    def _directive(self, name: str, first_line: str, content: str, line: int) -> str:
        rule = self.rules.get(name)
        if rule is None:
            raise self.fail(line, f"unknown directive {name!r}")
        try:
            parsed = parse_directive_text(rule.parser, first_line, content)
        except MarkupError as error:
            raise self.fail(line, f"{name}: {error}") from error
        for warning in parsed.warnings:
            raise self.fail(line, f"{name}: {warning.msg}")
        return rule.render(self, name, parsed, line)

    def body(self, parsed: DirectiveParsingResult, line: int) -> str:
        return self.flatten("\n".join(parsed.body), line + 1 + parsed.body_offset)

    # Inline ---------------------------------------------------------------------------------

    def _inline_edits(
        self,
        token: Token,
        lines: list[str],
        cursors: dict[int, int],
        env: dict[str, Any],
        line: int,
    ) -> Iterator[tuple[int, int, str]]:
        """Edits of the source for one paragraph, heading or table cell."""
        content = token.content
        try:
            position = locate(token, lines, cursors)
        except ValueError as error:
            raise self.fail(line, str(error)) from error
        for span in outermost(self.parser, content, env):
            new = self._span(span, content, line + content[: span.start].count("\n"))
            if new != content[span.start : span.end]:
                yield position(span.start), position(span.end), new

    def _span(self, span: Span, text: str, line: int) -> str:
        raw = text[span.start : span.end]
        if span.kind == "myst_role":
            return self._role(span.token.meta["name"], span.token.content, line)
        if span.kind == "image":
            path = str(span.token.attrs["src"])
            return raw.replace(f"]({path}", f"]({from_notebooks(path, self.path)}")
        if span.kind == "link":
            if re.match(r"[a-z][a-z0-9+.-]*:", str(span.token.attrs["href"])):
                return raw
            inner = self.inline(text[span.start + 1 : span.label_end], None, line)
            return self.link(str(span.token.attrs["href"]), inner, line)
        if span.kind == "autolink" and re.match(r"<(https?|mailto):|<[^:>]+@", raw):
            return raw
        raise self.fail(line, f"no form in a notebook: {raw!r}")

    def _role(self, name: str, content: str, line: int) -> str:
        name = name.split(":")[-1]
        explicit = EXPLICIT.fullmatch(content)
        text, label = (explicit[1], explicit[2]) if explicit else ("", content)
        if name == "num":
            try:
                return numbers.evaluate(content)
            except ValueError as error:
                raise self.fail(line, f"num: {error}") from error
        if name in ("ref", "numref", "doc", "eq"):
            return self._to_page(text, self._target(label, line, text))
        if name in ("term", "abbr", "download", "dfn"):
            return text or content
        if name in ("sub", "sup", "kbd"):
            return f"<{name}>{content}</{name}>"
        if name == "math":
            return f"${content}$"
        if name in CODE_ROLES:
            return f"`{text or content.lstrip('~')}`"
        raise self.fail(line, f"unknown role {name!r}")

    def link(self, href: str, text: str, line: int) -> str:
        """A reference inside the book: its text, linked where the site's address is known."""
        page, _, label = href.partition("#")
        if text and self._find(label or page) is None:
            return text
        return self._to_page(text, self._target(label or page, line, text))

    def _find(self, label: str) -> Target | None:
        last = label.split("/")[-1]
        names = (label, last, last.removesuffix(".md"))
        return next((self.targets[name] for name in names if name in self.targets), None)

    def _target(self, label: str, line: int, text: str = "") -> Target:
        found = self._find(label)
        if found is None or not (text or found.text):
            raise self.fail(line, f"a reference to {label!r} needs a text here")
        return found

    def _to_page(self, text: str, target: Target) -> str:
        shown = text or target.text
        return f"[{shown}]({self.site}{target.address})" if self.site else shown


def from_notebooks(path: str, source: str) -> str:
    """The path of a file, seen from the notebooks' folder, which lies beside the source's."""
    if re.match(r"[a-z]+:", path) or path.startswith("../"):
        return path
    return f"..{path}" if path.startswith("/") else f"../{source.rpartition('/')[0]}/{path}"


def _starts(lines: list[str]) -> list[int]:
    """Offset of each line, and of the end plus one."""
    starts = [0]
    for row in lines:
        starts.append(starts[-1] + len(row) + 1)
    return starts


def _block_edit(
    token: Token, lines: list[str], starts: list[int], new: str
) -> tuple[int, int, str]:
    """Replace whole lines, repeating the quote marks or indentation in front of them."""
    assert token.map is not None
    first, last = token.map
    mark = {"myst_target": "(", "math_block_label": "$$", "math_block": "$$"}
    column = max(0, lines[first].find(mark.get(token.type, token.markup)))
    prefix = lines[first][:column]
    if new:
        following = re.sub(r"[^>\s]", " ", prefix)
        return starts[first], starts[last] - 1, prefix + new.replace("\n", "\n" + following)
    # Without its line a target must not join the paragraphs around it.
    is_open = first == 0 or not lines[first - 1].strip()
    end = starts[last] if is_open and last < len(lines) and not prefix else starts[last] - 1
    return starts[first], end, prefix.rstrip()

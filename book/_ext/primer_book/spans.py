"""Positions of inline constructs in MyST Markdown: MyST's own parser, made to note them.

Tokens of markdown-it know the lines of a block but not the columns of what is inside; with
both, a construct can be replaced in the source and all the rest left as it was written.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.mdit import create_md_parser

CONFIG = MdParserConfig(enable_extensions={"colon_fence", "dollarmath", "substitution"})
NOTED = ("myst_role", "link", "image", "footnote_ref", "substitution_inline", "autolink")


@dataclass
class Span:
    """Where an inline construct lies in its paragraph's text."""

    kind: str
    start: int
    end: int
    token: Token
    label_end: int


def make_parser() -> MarkdownIt:
    """MyST's parser, with the paragraphs' insides parsed later, when positions are noted."""
    parser = create_md_parser(CONFIG, RendererHTML)
    parser.disable("inline")
    rules = {rule.name: rule.fn for rule in parser.inline.ruler.__rules__}
    for name in NOTED:
        if name in rules:
            parser.inline.ruler.at(name, _noting(name, rules[name]))
    return parser


def _noting(
    kind: str, rule: Callable[[StateInline, bool], bool]
) -> Callable[[StateInline, bool], bool]:
    """Wrap a rule of the parser: note where in the text its construct lies."""

    def noting(state: StateInline, silent: bool) -> bool:
        start, count = state.pos, len(state.tokens)
        opening = start + (2 if kind == "image" else 1)
        if not rule(state, silent):
            return False
        if not silent and "spans" in state.env:
            # Text that waited is pushed as a token of its own in front of the construct's.
            token = next(t for t in state.tokens[count:] if t.type != "text")
            end = state.md.helpers.parseLinkLabel(state, start) if kind == "link" else opening
            state.env["spans"].append(Span(kind, start, state.pos, token, end))
        return True

    return noting


def locate(token: Token, lines: list[str], cursors: dict[int, int]) -> Callable[[int], int]:
    """Find an inline token in the source: a function from its positions to the source's.

    `cursors` remembers how far each line is used up, for the cells of a table.
    """
    assert token.map is not None
    rows = token.content.split("\n")
    origin = [sum(len(line) + 1 for line in lines[: token.map[0] + i]) for i in range(len(rows))]
    written = list(rows)
    for index, row in enumerate(rows):
        number = token.map[0] + index
        column = lines[number].find(row, cursors.get(number, 0))
        if column < 0:  # only a table's cell is not written as it is read
            written[index] = row.replace("|", r"\|")
            column = lines[number].find(written[index], cursors.get(number, 0))
        if column < 0:
            raise ValueError(f"cannot find {row!r} in its own line {lines[number]!r}")
        cursors[number] = column + len(written[index])
        origin[index] += column

    def position(place: int) -> int:
        index = token.content.count("\n", 0, place)
        inside = place - (token.content.rfind("\n", 0, place) + 1)
        pipes = rows[index].count("|", 0, inside) if written[index] != rows[index] else 0
        return origin[index] + inside + pipes

    return position


def outermost(parser: MarkdownIt, text: str, env: dict[str, Any]) -> list[Span]:
    """The inline constructs of a text that are not inside another one, in order."""
    known = {**env, "spans": []}
    parser.inline.parse(text, parser, known, [])
    outer: list[Span] = []
    for span in sorted(known["spans"], key=lambda span: (span.start, -span.end)):
        if not outer or span.start >= outer[-1].end:
            outer.append(span)
    return outer

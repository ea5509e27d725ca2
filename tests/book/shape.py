"""What every chapter must have, as a function that lists what a source lacks.

The order of the rules is that of a chapter. Each complaint says what to do, and starts with the
line of what is wrong; what is missing has no line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from tests.book.source import Part, calls, n_words, parse, walk

KINDS = ("predict", "calculate", "code", "break-it", "open")
WORDS = (2500, 4500)
CELL_LINES, CELL_COLUMNS = 15, 75
MAX_PATH, MIN_EXERCISES, MIN_PREDICTIONS = 6, 5, 2
MODEL_WORDS = 15
BLOCKS = ("promise", "takeaway", "lies", "deeper")


@dataclass(frozen=True)
class Figure:
    """What the shape asks of an explorable; a drawing has no controls and assumes nothing."""

    question: str
    assumes: str
    is_drawing: bool = False


Lookup = Callable[[str], Figure | None]


@dataclass(frozen=True)
class Chapter:
    """A chapter's source, its number, and how to look up an explorable by id."""

    number: int
    parts: list[Part]
    figure: Lookup

    def blocks(self, name: str) -> list[Part]:
        return [p for p in walk(self.parts) if p.kind == "block" and p.name == name]

    def headings(self, level: int | None = None) -> list[Part]:
        found = [p for p in walk(self.parts) if p.kind == "heading"]
        return [p for p in found if level in (None, p.level)]

    def cells(self) -> list[Part]:
        return [p for p in walk(self.parts) if p.kind == "cell"]

    def shown(self) -> list[tuple[int, str]]:
        """Line and id of each explorable and drawing, in order."""
        return [(cell.line, name) for cell in self.cells() for name in calls(cell.text, "show")]

    def explorables(self) -> list[tuple[int, str]]:
        """The explorables alone, and what is unknown."""
        found = ((line, name, self.figure(name)) for line, name in self.shown())
        return [(line, name) for line, name, figure in found if not figure or not figure.is_drawing]


def complaints(name: str, text: str, figure: Lookup) -> list[str]:
    """What the source of a chapter (`01_roofline`) lacks; empty where its shape is whole."""
    number = re.match(r"(\d\d)_[a-z0-9_]+$", name)
    if not number:
        return [f"the file must be named like 01_roofline.md; got {name}.md"]
    try:
        chapter = Chapter(int(number[1]), parse(text), figure)
    except ValueError as error:
        return [str(error)]
    return [found for rule in RULES for found in rule(chapter)]


def _at(found: list[Part]) -> str:
    """Where the last of these stands, as the start of a complaint."""
    return f"{found[-1].line}: " if found else ""


def _title(chapter: Chapter) -> Iterator[str]:
    titles = chapter.headings(1)
    if len(titles) != 1 or not titles[0].text.startswith(f"{chapter.number} — "):
        yield f"{_at(titles)}it must have one title, '# {chapter.number} — …'"
    if f"chapter-{chapter.number}" not in {p.text for p in chapter.parts if p.kind == "label"}:
        yield f"{_at(titles[:1])}the title must have the label (chapter-{chapter.number})="


def _sections(chapter: Chapter) -> Iterator[str]:
    wanted = 1
    for heading in chapter.headings(2):
        numbered = re.match(r"(\d+)\.(\d+) \S", heading.text)
        if not numbered:
            continue
        expected = f"{chapter.number}.{wanted}"
        if f"{numbered[1]}.{numbered[2]}" != expected:
            yield f"{heading.line}: the section must be {expected}; got {heading.text!r}"
        wanted += 1
    if wanted < 4:
        yield f"it must have numbered sections ## {chapter.number}.1 …, at least three"


def _blocks(chapter: Chapter) -> Iterator[str]:
    for name in BLOCKS:
        found = chapter.blocks(name)
        if len(found) != 1:
            yield f"{_at(found)}it must have one {{{name}}} block; got {len(found)}"
    promise, numbered = chapter.blocks("promise"), chapter.headings(2)
    if promise and numbered and promise[0].line > numbered[0].line:
        yield f"{promise[0].line}: the promise must stand before the first section"


def _takeaway(chapter: Chapter) -> Iterator[str]:
    labels = {p.text for p in walk(chapter.parts) if p.kind == "label"}
    for block in chapter.blocks("takeaway"):
        label = block.options.get("killer", "").partition(" ")[0]
        if label not in labels:
            yield f"{block.line}: :killer: must name a label of this chapter; got {label!r}"
        model = block.options.get("model", "")
        if not 2 <= n_words(model) <= MODEL_WORDS:
            yield f"{block.line}: :model: must be a phrase of 2 to {MODEL_WORDS} words"
        said = block.text.strip()
        if len(re.findall(r"[.!?](?:\s|$)", said)) != 1:
            yield f"{block.line}: the takeaway must be one sentence; got {said!r}"


def _predictions(chapter: Chapter) -> Iterator[str]:
    asked = chapter.blocks("predict")
    last = max((line for line, _ in chapter.explorables()), default=0)
    if len(asked) < MIN_PREDICTIONS:
        yield f"it must have {MIN_PREDICTIONS} {{predict}} blocks or more; got {len(asked)}"
    for block in asked:
        if block.line > last:
            yield f"{block.line}: a prediction must stand before an explorable"


def _matmul(chapter: Chapter) -> Iterator[str]:
    found = [p for p in chapter.headings() if p.text.lower().endswith("the one matmul, here")]
    if len(found) != 1:
        yield f"{_at(found)}it must have one heading 'The one matmul, here'; got {len(found)}"


def _measured(chapter: Chapter) -> Iterator[str]:
    found = [p for p in chapter.headings(2) if re.search(r"Measured beside model", p.text)]
    if len(found) != 1:
        yield f"{_at(found)}it must have one section 'Measured beside modeled'; got {len(found)}"
    elif not any(cell.line > found[0].line for cell in chapter.cells()):
        yield f"{found[0].line}: the measured section must have a cell"


def _exercises(chapter: Chapter) -> Iterator[str]:
    found = chapter.blocks("exercise")
    if len(found) < MIN_EXERCISES:
        yield f"it must have {MIN_EXERCISES} exercises or more; got {len(found)}"
    for kind in KINDS:
        if kind not in {p.options.get("kind") for p in found}:
            yield f"it must have an exercise of the kind {kind}"
    for index, block in enumerate(found, 1):
        if block.argument.partition(" ")[0] != f"{chapter.number}.{index}":
            yield f"{block.line}: the exercise must be {chapter.number}.{index}"
        if sum(p.name == "solution" for p in block.walk()) != 1:
            yield f"{block.line}: the exercise must have one solution inside"
    numbers = {p.argument.partition(" ")[0] for p in found}
    cells = chapter.cells()
    checked = [(cell.line, name) for cell in cells for name in calls(cell.text, "check")]
    if not checked and not any("check" in p.options for p in found):
        yield "it must have an automatic check, exercises.check or :check:"
    for line, name in checked:
        if name not in numbers:
            yield f"{line}: exercises.check({name!r}) names no exercise of this chapter"


def _deeper(chapter: Chapter) -> Iterator[str]:
    for block in chapter.blocks("deeper"):
        if block.argument != str(chapter.number) or block.text.strip():
            yield f"{block.line}: write :::{{deeper}} {chapter.number}, filled from references.toml"
        if chapter.parts[-1] is not block:
            yield f"{block.line}: the list of further reading must end the chapter"


def _length(chapter: Chapter) -> Iterator[str]:
    words = sum(n_words(part.text) for part in _told(chapter.parts))
    if not WORDS[0] <= words <= WORDS[1]:
        yield f"it must have {WORDS[0]:,} to {WORDS[1]:,} words of prose; got {words:,}"


def _told(parts: Iterable[Part]) -> Iterator[Part]:
    """Prose and headings that a reader reads through: no code, no exercises."""
    for part in parts:
        if part.kind in ("prose", "heading"):
            yield part
        elif part.kind == "block" and part.name != "exercise":
            yield from _told(part.parts)


def _cells(chapter: Chapter) -> Iterator[str]:
    for cell in chapter.cells():
        lines = cell.text.rstrip("\n").split("\n")
        if len(lines) > CELL_LINES:
            yield f"{cell.line}: a cell must have {CELL_LINES} lines or fewer; got {len(lines)}"
        for line in lines:
            if len(line) > CELL_COLUMNS:
                yield f"{cell.line}: code must have {CELL_COLUMNS} letters a line or fewer: {line}"


def _figures(chapter: Chapter) -> Iterator[str]:
    gallery = next((p.line for p in chapter.headings() if p.text.endswith("Gallery")), 10**9)
    lines: dict[str, list[int]] = {}
    for line, name in chapter.shown():
        lines.setdefault(name, []).append(line)
    path = [line for line, _ in chapter.explorables() if line < gallery]
    if not path:
        yield "it must show an explorable"
    if len(path) > MAX_PATH:
        rule = f"it must have {MAX_PATH} explorables or fewer before the gallery"
        yield f"{path[MAX_PATH]}: {rule}; got {len(path)}"
    for name, at in lines.items():
        found = chapter.figure(name)
        if len(at) > 1:
            yield f"{at[1]}: the figure {name!r} must be shown once; got {len(at)}"
        if found is None:
            yield f"{at[0]}: the figure {name!r} must exist"
            continue
        if not found.question.endswith("?"):
            yield f"{at[0]}: the title of {name!r} must be a question; got {found.question!r}"
        if not found.is_drawing and (not found.assumes.strip() or "\n" in found.assumes):
            yield f"{at[0]}: {name!r} must say in one line what it assumes; got {found.assumes!r}"


RULES: tuple[Callable[[Chapter], Iterator[str]], ...] = (
    _title, _sections, _blocks, _takeaway, _predictions, _matmul, _measured, _exercises, _deeper,
    _length, _cells, _figures,
)  # fmt: skip

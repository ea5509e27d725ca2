"""How each directive of a chapter looks in a notebook: a rule per directive."""

from __future__ import annotations

from docutils.parsers.rst.directives import admonitions, images
from myst_parser.parsers.directives import DirectiveParsingResult
from sphinx.directives.code import CodeBlock
from sphinx.directives.patches import MathDirective

from primer_book import blocks, numbers, references
from primer_book.flatten import Flattener, Rule, from_notebooks

ADMONITIONS = ("note", "tip", "hint", "important", "warning", "caution", "seealso")


def option(flat: Flattener, parsed: DirectiveParsingResult, name: str, line: int) -> str:
    if not parsed.options.get(name):
        raise flat.fail(line, f"the option :{name}: is missing")
    return str(parsed.options[name])


def quote(text: str) -> str:
    return "\n".join(f"> {row}".rstrip() for row in text.split("\n"))


def fold(summary: str, text: str) -> str:
    return f"<details>\n<summary>{summary}</summary>\n\n{text}\n\n</details>"


def _admonition(flat: Flattener, name: str, parsed: DirectiveParsingResult, line: int) -> str:
    title = flat.inline(parsed.arguments[0], None, line) if parsed.arguments else ""
    known = {"seealso": "See also", "promise": blocks.Promise.heading_text}
    known["lies"] = blocks.Lies.heading_text
    title = title or known.get(name, name.capitalize())
    return quote(f"**{title}**\n\n{flat.body(parsed, line)}")


def _takeaway(flat: Flattener, name: str, parsed: DirectiveParsingResult, line: int) -> str:
    label, _, title = option(flat, parsed, "killer", line).partition(" ")
    model = option(flat, parsed, "model", line)
    rows = [
        f"**The figure.** {flat.link('#' + label, title.strip(), line)}",
        f"**Mental model.** {flat.inline(model, None, line)}",
        f"**Takeaway.** {flat.body(parsed, line)}",
    ]
    return quote("\n\n".join(rows))


def _predict(flat: Flattener, name: str, parsed: DirectiveParsingResult, line: int) -> str:
    unit = option(flat, parsed, "unit", line)
    try:
        answer = numbers.measure(option(flat, parsed, "answer", line), unit)
    except ValueError as error:
        raise flat.fail(line, f"predict: {error}") from error
    remark = flat.inline(parsed.options.get("reveal", ""), None, line)
    shown = fold("The model’s answer", f"The model says **{answer.text}**. {remark}".rstrip())
    asked = f"*Write down your number ({unit}) before you unfold the answer.*"
    return f"**Predict, then see**\n\n{flat.body(parsed, line)}\n\n{asked}\n\n{shown}"


def _exercise(flat: Flattener, name: str, parsed: DirectiveParsingResult, line: int) -> str:
    number, _, title = parsed.arguments[0].partition(" ")
    kind = option(flat, parsed, "kind", line).replace("-", " ")
    head = f"Exercise {number}" + (f" — {title}" if title else "") + f" ({kind})"
    return f"{'#' * min(6, flat.level + 1)} {head}\n\n{flat.body(parsed, line)}"


def _solution(flat: Flattener, name: str, parsed: DirectiveParsingResult, line: int) -> str:
    return fold("Solution", flat.body(parsed, line))


def _deeper(flat: Flattener, name: str, parsed: DirectiveParsingResult, line: int) -> str:
    text = flat.body(parsed, line)
    if parsed.arguments:
        if text:
            raise flat.fail(line, "deeper: it takes a chapter or a body, not both")
        try:
            text = references.markdown(int(parsed.arguments[0]))
        except ValueError as error:
            raise flat.fail(line, f"deeper: {error}") from error
    return fold(blocks.Deeper.heading_text, text)


def _image(flat: Flattener, name: str, parsed: DirectiveParsingResult, line: int) -> str:
    alt, path = parsed.options.get("alt", ""), from_notebooks(parsed.arguments[0], flat.path)
    shown = f"![{alt}]({path})"
    caption = flat.body(parsed, line)
    return f"{shown}\n\n*{caption}*" if caption else shown


def _code(flat: Flattener, name: str, parsed: DirectiveParsingResult, line: int) -> str:
    language = parsed.arguments[0] if parsed.arguments else ""
    return "\n".join([f"```{language}", *parsed.body, "```"])


def _formula(flat: Flattener, name: str, parsed: DirectiveParsingResult, line: int) -> str:
    return flat.formula("\n".join(parsed.body), parsed.options.get("label", ""), line)


DIRECTIVES: dict[str, Rule] = {
    **{name: Rule(admonitions.Note, _admonition) for name in ADMONITIONS},
    "admonition": Rule(admonitions.Admonition, _admonition),
    "promise": Rule(blocks.Promise, _admonition),
    "lies": Rule(blocks.Lies, _admonition),
    "takeaway": Rule(blocks.Takeaway, _takeaway),
    "predict": Rule(blocks.Predict, _predict),
    "exercise": Rule(blocks.Exercise, _exercise),
    "solution": Rule(blocks.Solution, _solution),
    "deeper": Rule(blocks.Deeper, _deeper),
    "figure": Rule(images.Figure, _image),
    "image": Rule(images.Image, _image),
    "code-block": Rule(CodeBlock, _code),
    "math": Rule(MathDirective, _formula),
}

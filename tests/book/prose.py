"""What prose must not hold, as a function that lists what a source has.

Formulas, code and the role {num} are exempt everywhere: a formula is a definition, and the role is
computed. A number with a unit that is typed by hand all the same needs an entry in
`prose_allowed.toml`, with the reason.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.book.source import Part, bare, parse, walk

ALLOWED = Path(__file__).parent / "prose_allowed.toml"

_UNITS = (
    r"(?:[kMGTPE]|[KMGT]i)?(?:FLOPs?|OPS?|FLOPS)(?:/(?:s|B|byte|cycle))?|[kMGTPE]?FLOP/s"
    r"|(?:[kMGTP]|[KMGT]i)?B(?:/s|/FLOP|/cycle)?|[kMGT]?bit/s|[kMGT]?b/s|[GT]bps"
    r"|[mµunp]?s|[kMGT]?Hz|[mkMG]?W|[mµnpf]?J(?:/bit|/B|/FLOP)?|mm²|°C|%|percent"
    r"|bytes?|cycles?|seconds?|milliseconds?|microseconds?|nanoseconds?|watts?|joules?|hertz"
)
_TYPED = re.compile(rf"(?<![\w.,/])\d[\d.,]*(?:[ \u00a0\u202f-]?)(?:{_UNITS})(?![\w/])")

_BRITISH = re.compile(
    r"\b(?:"
    r"(?:behavi|col|fav|flav|harb|hon|hum|lab|neighb|rum|vap|vig|endeav|arm)ours?\w*"
    r"|(?:cent|fib|lit|theat|meag|spect|calib)res?"
    r"|(?:kilo|milli|centi|nano|micro)?metres?"
    r"|\w{3,}is(?:e|es|ed|ing|ation|ations)"
    r"|(?:anal|catal|paral|hydrol)ys(?:e|es|ed|ing)|analysers?"
    r"|(?:cancel|fuel|label|level|model|parallel|quarrel|signal|total|travel|tunnel|channel|equal|"
    r"marshal|pencil|rival|unravel|duel|dial)l(?:ed|ing|er|ers)"
    r"|defences?|offences?|licences?|practis(?:e|es|ed|ing)|pretences?"
    r"|catalogues?|artefacts?|grey\w*|programmes?|judgements?|acknowledgements?|ageing|tyres?"
    r"|whilst|amongst|learnt|spelt|burnt|dreamt|leapt|sceptic\w*|cheques?|storeys?|moulds?"
    r"|aluminium|maths|per cent|fulfil|enrol|skilful|instal|manoeuvr\w*|plough\w*|draught\w*"
    r")\b",
    re.I,
)
# Words that end like British verbs and are right on both sides.
_WORDS = """
advertise advertised advertising advise advised advises advising appraise appraised arise arises
arising bitwise blockwise bruise clockwise columnwise comprise comprised comprises compromise
compromised compromises concise cruise demise despise devise devised devises devising disguise
disguised elementwise enterprise excise exercise exercised exercises exercising expertise franchise
imprecise improvisation improvise improvised incise likewise merchandise otherwise pairwise paradise
pointwise praise praised praising precise premise premises promise promised promises promising
revise revised revises revising rowwise stepwise supervise supervised surprise surprised surprises
surprising televise treatise turquoise unsupervised
"""
_BOTH = {*_WORDS.split(), "depthwise"}

_FILLER = re.compile(
    r"\b(?:in this (?:section|chapter),? we (?:will|shall)|simply|just|obviously|of course"
    r"|leverag(?:e|es|ed|ing)|delv(?:e|es|ed|ing)|needless to say"
    r"|it is (?:important|worth noting|interesting) to"
    r"|as we all know|trivially|seamless(?:ly)?|cutting[- ]edge|state[- ]of[- ]the[- ]art"
    r"|game[- ]chang\w+|unleash\w*|revolutioni[sz]\w+|powerful|blazing(?:ly)?|harness(?:es|ed|ing)?"
    r"|let'?s dive|dive into|in conclusion)\b",
    re.I,
)
_CITATION = re.compile(
    r"\[\d+(?:[,–-]\s*\d+)*\]|\[@|\[\^\w+\]|\bet al\b"
    r"|\([A-Z][\w’'-]+(?: (?:and|&) [A-Z][\w’'-]+)?,? (?:19|20)\d\d[a-z]?\)"
)
_PAGE_LINK = re.compile(
    r"\]\(([^)\s]+\.(?:md|ipynb|html))(?:#[^)]*)?\)|\{doc\}`(?:[^`<]*<)?([^`>]+)>?`"
)


def complaints(path: Path, root: Path, allowed: Mapping[str, str] | None = None) -> list[str]:
    """What the prose of a page holds that it must not: one line each, with its place."""
    name = path.relative_to(root).as_posix()
    text = path.read_text("utf-8")
    if allowed is None:
        allowed = load_allowed().get(name, {})
    found = []
    for part in walk(parse(text)):
        told = _told(part)
        for line, problem in in_text(told, allowed):
            found.append(f"{name}:{part.line + line}: {problem}")
        if part.kind == "prose":
            for line, problem in _links(part.text, path):
                found.append(f"{name}:{part.line + line}: {problem}")
    return found


def load_allowed() -> dict[str, dict[str, str]]:
    """Page -> phrase -> reason."""
    return tomllib.loads(ALLOWED.read_text("utf-8"))


def _told(part: Part) -> str:
    """What a reader reads of a part; the parts inside of a block come by themselves."""
    if part.kind in ("prose", "heading"):
        return part.text
    if part.kind == "block":
        return part.options.get("model", "") + " " + part.options.get("reveal", "")
    return ""


def in_text(text: str, allowed: Mapping[str, str]) -> Iterator[tuple[int, str]]:
    """Line, counted from zero, and complaint for each finding in a text."""
    read = bare(text)
    for phrase in allowed:
        read = read.replace(phrase, "◆")
    rules = (
        (_TYPED, "typed by hand, use {num}, a formula or an entry in prose_allowed.toml"),
        (_BRITISH, "spell it the American way"),
        (_FILLER, "leave it out, or say what you mean"),
        (_CITATION, "no citations in running text; further reading has them"),
    )
    for pattern, advice in rules:
        for match in pattern.finditer(read):
            if pattern is _BRITISH and match[0].lower() in _BOTH:
                continue
            yield read.count("\n", 0, match.start()), f"{match[0]!r}: {advice}"


def _links(text: str, path: Path) -> Iterator[tuple[int, str]]:
    for match in re.finditer(r"\{cite[\w:]*\}`[^`]*`", text):
        yield text.count("\n", 0, match.start()), f"{match[0]!r}: no citations in running text"
    for match in _PAGE_LINK.finditer(text):
        target = match[1] or f"{match[2].strip()}.md"
        if re.match(r"[a-z]+:", target):
            continue
        if not (path.parent / target).resolve().exists():
            yield (
                text.count("\n", 0, match.start()),
                f"{target!r}: links to a page that is not there",
            )

"""What a drawing is: a picture without controls whose parts explain themselves, as pure data.

A `Drawing` names its parts and says what each is. On the page a script shows the explanation of
the part that is pointed at, or reached with Tab; without a script, in print and in a kernel the
explanations are a list under the picture. Both come from the same object.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import get_args

from primer import _checks
from primer.explore import markup
from primer.explore.explorable import Level
from primer.quantities import Source

HINT = (
    "Point at a part, or reach it with the Tab key, and its explanation stands here. "
    "A click keeps it; Escape lets it go."
)
_ID = re.compile(r"[a-z][a-z0-9-]*")
_OWNED = re.compile(r'data-part="([^"]*)"')


@dataclass(frozen=True, kw_only=True)
class Part:
    """One part of a drawing.

    Parameters
    ----------
    id : str
        Its name in the picture, unique there.
    label : str
        What a reader calls it.
    text : str
        What it is and does, in one to three sentences.
    """

    id: str
    label: str
    text: str

    def __post_init__(self) -> None:
        if not _ID.fullmatch(self.id):
            _checks.fail("id of a part", "be lower case with hyphens", self.id)
        for name in ("label", "text"):
            if not getattr(self, name).strip():
                _checks.fail(f"{name} of part {self.id!r}", "not be empty", getattr(self, name))


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """A picture whose parts explain themselves.

    Parameters
    ----------
    id : str
        Its name in `explore.show` and in links.
    question : str
        Its title: the question that it answers.
    level : {"framework", "runtime", "isa", "driver", "hardware"}
        The level of the stack on which it lives.
    alt : str
        What the picture shows, in words.
    parts : tuple of Part
        In the order in which a reader meets them with the Tab key.
    picture : callable
        Returns the HTML of the picture. Everything that belongs to a part carries its id as
        `data-part`; a part may have several places.
    note : str
        What the drawing leaves out.
    sources : tuple of Source
        Where its numbers come from.
    is_text : bool
        Whether the picture is text that can be read by itself, such as code.

    Examples
    --------
    >>> one = Part(id="one", label="One", text="The only one.")
    >>> tiny = Drawing(
    ...     id="tiny", question="What is it?", level="hardware", alt="A dot.", parts=(one,),
    ...     picture=lambda: '<svg><g data-part="one"/></svg>', note="Everything is left out.",
    ... )
    >>> '<dt>One</dt><dd>The only one.</dd>' in tiny.html()
    True
    """

    id: str
    question: str
    level: Level
    alt: str
    parts: tuple[Part, ...]
    picture: Callable[[], str]
    note: str
    sources: tuple[Source, ...] = ()
    is_text: bool = False

    def __post_init__(self) -> None:
        _checks.one_of("level", self.level, get_args(Level))
        names = [part.id for part in self.parts]
        if not names or len(set(names)) != len(names):
            _checks.fail(f"parts of drawing {self.id!r}", "be distinct and not empty", names)

    def part(self, part_id: str) -> Part:
        """The part of that id; an unknown id names the nearest."""
        known = {part.id: part for part in self.parts}
        return known[_checks.one_of("part", part_id, tuple(known))]

    def html(self) -> str:
        """The element of the page contract, as it is without a script.

        Raises
        ------
        ValueError
            If the picture and `parts` do not name the same parts.
        """
        picture = self.picture()
        drawn, named = set(_OWNED.findall(picture)), {part.id for part in self.parts}
        if drawn != named:
            _checks.fail(f"parts of drawing {self.id!r}", "be those drawn", sorted(drawn ^ named))
        role = "group" if self.is_text else "img"
        return (
            f'<figure class="drawing" id="{self.id}" data-drawing="{self.id}" '
            f'data-level="{self.level}"><figcaption>{escape(self.question)}</figcaption>'
            f'<div class="frame" role="{role}" aria-label="{escape(self.alt)}">{picture}</div>'
            f'<p class="says" aria-live="polite" hidden>{escape(HINT)}</p>'
            f'{self._explanations()}<p class="note">{escape(self.note)}</p></figure>'
        )

    def _explanations(self) -> str:
        """All parts as a list; open, so that nobody needs a script to read it."""
        rows = "".join(
            f'<div data-for="{part.id}"><dt>{escape(part.label)}</dt>'
            f"<dd>{escape(part.text)}</dd></div>"
            for part in self.parts
        )
        return (
            '<details class="parts" open><summary>All parts in words</summary>'
            f"<dl>{rows}</dl>{self._origin()}</details>"
        )

    def _origin(self) -> str:
        """Where the numbers come from, each source once."""
        links = "; ".join(
            f'<a href="{escape(source.address)}">{escape(source.title)}</a>'
            for source in dict.fromkeys(self.sources)
        )
        return f'<p class="origin">Numbers from {links}.</p>' if links else ""

    def _repr_html_(self) -> str:
        """On the page the styles come with the page, in a kernel with the drawing."""
        if os.environ.get("PRIMER_BOOK"):
            return self.html()
        return f"<style>{markup.stylesheet('explore', 'drawing')}</style>{self.html()}"

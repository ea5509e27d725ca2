"""Every state of an explorable as SVG: drawn once, kept once, switched by a script.

A figure names its moving artists. The rest, the *skeleton*, is drawn one time
and holds an empty slot for each of them; a state then costs only its moving
artists, and equal drawings are stored once. `FrameRenderer` serves both lives:
a live figure asks it for one state, the published page for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import matplotlib as mpl
from matplotlib.artist import Artist
from matplotlib.backends.backend_svg import RendererSVG

from primer.explore.explorable import Explorable, Outcome, State
from primer.figures import style
from primer.figures._svg import Pen

_OF_THE_CLASS = ("size", "box", "depends", "update")


class FrameRenderer:
    """Draws the states of one explorable.

    Parameters
    ----------
    explorable : Explorable
        Its figure class has `size` and `box` (see `style.axes`), `moving` (artists,
        each with a gid), `depends` (gid -> names of the controls it answers to;
        an artist left out answers to all) and `update(result)`.

    Raises
    ------
    ValueError
        Naming what the figure class lacks.
    """

    def __init__(self, explorable: Explorable) -> None:
        self.explorable = explorable
        self._salt = f"primer-{explorable.id}"
        kind = explorable.figure
        _require(explorable, [name for name in _OF_THE_CLASS if not hasattr(kind, name)])
        with style.context(self._salt):
            ax = style.axes(kind.size, box=kind.box)
            self.figure = kind(ax)
        _require(explorable, [] if hasattr(self.figure, "moving") else ["moving"])
        _require(explorable, ["a gid on " + str(a) for a in self.figure.moving if not a.get_gid()])
        self._page = style.page(ax)
        self._pen = Pen(self._page)
        self._artists: dict[str, Artist] = {str(a.get_gid()): a for a in self.figure.moving}
        everything = tuple(c.name for c in explorable.controls)
        self._depends = {gid: kind.depends.get(gid, everything) for gid in self._artists}
        self._seen: dict[tuple[str, tuple[Any, ...]], str] = {}

    @property
    def slots(self) -> tuple[str, ...]:
        """Names of the moving artists, in the order of every frame."""
        return tuple(self._artists)

    def settings(self) -> AbstractContextManager[None]:
        """The settings to draw under; entered once around many frames they cost nothing more."""
        if mpl.rcParams["svg.hashsalt"] == self._salt:
            return nullcontext()
        return style.context(self._salt)

    def fragments(self, outcome: Outcome) -> tuple[str, ...]:
        """The moving artists of one state as SVG, one piece for each slot."""
        keys = [(g, tuple(outcome.state[c] for c in self._depends[g])) for g in self._artists]
        if any(k not in self._seen for k in keys):
            with self.settings():
                self.figure.update(outcome.result)
                for k in keys:
                    if k not in self._seen:
                        self._seen[k] = self._draw(self._artists[k[0]])
        return tuple(self._seen[k] for k in keys)

    def _draw(self, artist: Artist) -> str:
        return self._pen.write(artist.draw) if artist.get_visible() else ""

    def skeleton(self) -> str:
        """The still part, an `<svg>` with a `<g data-slot>` for each moving artist.

        It holds the definitions (markers, clips) of the fragments drawn so far, so
        draw a state first.
        """
        for i, artist in enumerate(self._artists.values()):
            artist.draw = _slot_writer(i)  # type: ignore[method-assign, assignment]
        try:
            with self.settings():
                body = self._pen.write(self._page.draw)
        finally:
            for artist in self._artists.values():
                del artist.draw
        return self._pen.document(body)

    def svg(self, state: State) -> str:
        """One whole picture, as a live figure shows it."""
        pieces = self.fragments(self.explorable.evaluate(state))
        return fill(self.skeleton(), pieces)


def _require(explorable: Explorable, missing: Sequence[str]) -> None:
    """Raise for what a figure class lacks."""
    if missing:
        kind = getattr(explorable.figure, "__name__", repr(explorable.figure))
        raise ValueError(
            f"figure of explorable {explorable.id!r} must have size, box, depends, update(result) "
            f"and moving, artists each with a gid; got {kind} without {', '.join(missing)}"
        )


def _slot_writer(i: int) -> Callable[[RendererSVG], None]:
    def write(renderer: RendererSVG) -> None:
        renderer.writer.element("g", attrib={"data-slot": str(i)})

    return write


def fill(skeleton: str, pieces: Sequence[str]) -> str:
    """Put the pieces of one state into the slots of a skeleton."""
    for i, piece in enumerate(pieces):
        skeleton = skeleton.replace(f'<g data-slot="{i}"/>', f'<g data-slot="{i}">{piece}</g>', 1)
    return skeleton

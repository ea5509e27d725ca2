"""Places of a picture that tell more when a reader points at them.

In the page they are rectangles with a name (`data-tell`) and a title. A browser shows the title by
itself; the page script lists the names, for the keyboard, and keeps what was chosen.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import RendererSVG

from primer.figures._boxes import Box


class Tell(NamedTuple):
    """One place: where it is, what it is called, and what there is to know."""

    box: Box
    name: str
    text: str


class Tells(Artist):
    """All places of a picture; nothing is drawn, they only answer.

    Parameters
    ----------
    ax : Axes
    gid : str
    """

    def __init__(self, ax: Axes, gid: str) -> None:
        super().__init__()
        self.tells: tuple[Tell, ...] = ()
        self.sheet = ax
        self.set(gid=gid, zorder=20)  # above all that could catch the pointer
        ax.add_artist(self)

    def show(self, tells: Iterable[Tell]) -> None:
        """Know something else."""
        self.tells = tuple(tells)

    def draw(self, renderer: Any) -> None:
        """Into a page's picture; elsewhere there is nobody to point."""
        if not self.tells or not isinstance(renderer, RendererSVG):
            return
        renderer.open_group("tells", gid=self.get_gid())
        renderer.writer.start("g", attrib={"fill": "transparent"})
        for tell in self.tells:
            x, y, w, h = tell.box
            (left, top), (right, low) = self.sheet.transData.transform([(x, y + h), (x + w, y)])
            renderer.writer.start("g", attrib={"data-tell": tell.name})
            renderer.writer.element("title", tell.text)
            place = (left, renderer.height - top, right - left, top - low)
            names = ("x", "y", "width", "height")
            sizes = {name: f"{value:.0f}" for name, value in zip(names, place, strict=True)}
            renderer.writer.element("rect", attrib=sizes)
            renderer.writer.end("g")
        renderer.writer.end("g")
        renderer.close_group("tells")

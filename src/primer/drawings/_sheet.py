"""A page measured in points, whose artists belong to the parts of a drawing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from matplotlib.artist import Artist
from matplotlib.colors import to_rgba
from matplotlib.text import Text

from primer.figures import _boxes, style
from primer.figures._boxes import Box
from primer.figures._gemm import canvas
from primer.figures._svg import Pen


@dataclass
class Group:
    """Artists of one part, and the area in which a pointer means that part.

    Parameters
    ----------
    sheet : Sheet
    part : str
        Its id; empty for what belongs to none.
    area : tuple of float [points]
        Left, bottom, width, height.
    """

    sheet: Sheet
    part: str
    area: Box
    artists: list[Artist] = field(default_factory=list)

    def box(self, place: Box | None = None, *, face: str = style.IDLE, tint: float = 0.16) -> None:
        """A filled rectangle with an edge of its color; by default the whole area."""
        self.cells([place or self.area], face=face, tint=tint)

    def cells(self, places: Iterable[Box], *, face: str, tint: float = 0.16, **look: Any) -> None:
        """Many rectangles of one look."""
        plain = {"fc": to_rgba(face, tint), "ec": face, "lw": 0.9}
        self._keep(_boxes.patch(self.sheet.ax, "", _boxes.boxes(places), **{**plain, **look}))

    def text(self, x: float, y: float, words: str, **look: Any) -> None:
        """Words around a place."""
        centered = {"ha": "center", "va": "center", "fontsize": 10.0, "linespacing": 1.2}
        self._keep(self.sheet.ax.text(x, y, words, **{**centered, **look}))

    def label(self, words: str, **look: Any) -> None:
        """Words in the middle of the area."""
        x, y, width, height = self.area
        self.text(x + width / 2, y + height / 2, words, **look)

    def _keep(self, artist: Artist) -> None:
        artist.set_clip_on(False)  # nothing leaves the page, and each clip is one more id on it
        self.artists.append(artist)


class Sheet:
    """An empty page for a drawing.

    Parameters
    ----------
    drawing_id : str
        Keeps the ids in its picture apart from those of other drawings.
    size : (float, float) [inch]
    """

    def __init__(self, drawing_id: str, size: tuple[float, float]) -> None:
        self.id = drawing_id
        self.groups: list[Group] = []
        self.ax = style.axes(size, box=(0, 0, 1, 1))
        canvas(self.ax, size)
        self.height = 72 * size[1]

    def group(self, part: str, area: Box) -> Group:
        """A place of a part, above all that was drawn before."""
        made = Group(self, part, area)
        self.groups.append(made)
        return made

    @property
    def texts(self) -> list[Text]:
        """All words on the page."""
        return [a for group in self.groups for a in group.artists if isinstance(a, Text)]

    def svg(self) -> str:
        """The picture; each place of a part is a group with a frame that a script can light."""
        page = style.page(self.ax)
        with style.context(f"primer-{self.id}"):
            pen = Pen(page)
            body = "".join(self._written(pen, group) for group in self.groups)
        return pen.document(body, is_hidden=False)

    def _written(self, pen: Pen, group: Group) -> str:
        drawn = "".join(pen.write(artist.draw) for artist in group.artists)
        if not group.part:
            return drawn
        x, y, width, height = group.area
        ring = (
            f'<rect class="ring" x="{x:g}" y="{self.height - y - height:g}" '
            f'width="{width:g}" height="{height:g}" rx="3"/>'
        )
        return f'<g data-part="{group.part}">{drawn}{ring}</g>'


def build(
    drawing_id: str, size: tuple[float, float], painters: Sequence[Callable[[Sheet], None]]
) -> Sheet:
    """A page on which each of the painters has drawn, in the book's style."""
    with style.context():
        made = Sheet(drawing_id, size)
        for paint in painters:
            paint(made)
    return made

"""Many short texts as one artist: what a grid of numbers costs on a page."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import RendererSVG
from matplotlib.text import Text

from primer.figures import style

Word = tuple[float, float, str]  # middle of its foot, in data units, and what it says


class Words(Artist):
    """Texts of one look, each centered at its place.

    Parameters
    ----------
    ax : Axes
    gid : str
    color : str
        One of the palette in `style`.
    weight : str
        "normal" or "bold".
    """

    def __init__(
        self, ax: Axes, gid: str, *, color: str = style.INK, weight: str = "normal"
    ) -> None:
        super().__init__()
        self.color, self.weight, self.size = color, weight, 10.0
        self.words: tuple[Word, ...] = ()
        self.sheet = ax
        self.set(gid=gid, zorder=4)
        ax.add_artist(self)
        self.set_clip_on(False)

    def show(self, words: Iterable[Word], size: float) -> None:
        """Say something else, in letters of `size` points."""
        self.words, self.size = tuple(words), size
        self.set_visible(bool(self.words))

    def draw(self, renderer: Any) -> None:
        """Into a page's picture as one element; elsewhere text by text."""
        if not self.get_visible() or not self.words:
            return
        if isinstance(renderer, RendererSVG):
            self._write(renderer)
            return
        for text in self.texts():
            text.draw(renderer)

    def texts(self) -> list[Text]:
        """The same as artists of their own."""
        found = []
        for x, y, said in self.words:
            text = Text(
                x, y, said, ha="center", va="baseline", fontsize=self.size, color=self.color,
                fontweight=self.weight, transform=self.sheet.transData,
            )  # fmt: skip
            text.set_figure(self.figure)
            found.append(text)
        return found

    def _write(self, renderer: RendererSVG) -> None:
        """One `text` that holds them all; a page counts from above."""
        places = self.sheet.transData.transform([(x, y) for x, y, _ in self.words])
        look = f"font: {self.weight} {self.size:g}px '{style.FONT}'; text-anchor: middle"
        renderer.open_group("words", gid=self.get_gid())
        renderer.writer.start("text", attrib={"style": f"{look}; fill: {self.color}"})
        for (x, y), (*_, said) in zip(places, self.words, strict=True):
            at = {"x": f"{x:.0f}", "y": f"{renderer.height - y:.0f}"}
            renderer.writer.element("tspan", said, attrib=at)
        renderer.writer.end("text")
        renderer.close_group("words")

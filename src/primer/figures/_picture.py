"""What all figures of the book share: axes to stand on, words for them, a face in a notebook."""

from __future__ import annotations

from typing import Any, ClassVar, TypeVar

from matplotlib.axes import Axes

from primer.figures import _svg, style


class Picture:
    """A figure: `__init__` builds its artists, `update` moves them.

    Parameters
    ----------
    ax : Axes
        Where it is drawn.
    """

    size: ClassVar[tuple[float, float]]
    box: ClassVar[tuple[float, float, float, float]]
    alt: str

    def __init__(self, ax: Axes) -> None:
        self.ax = ax

    def update(self, result: Any) -> None:
        """Show a result."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        return _svg.picture(style.page(self.ax), self.alt)


AnyPicture = TypeVar("AnyPicture", bound=Picture)


def draw(kind: type[AnyPicture], result: Any, ax: Axes | None) -> AnyPicture:
    """A figure of one result, on `ax` or on a page of its own."""
    with style.context():
        figure = kind(style.axes(kind.size, box=kind.box) if ax is None else ax)
        figure.update(result)
    return figure

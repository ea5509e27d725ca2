"""What a cell of the book leaves in the page: the picture in its opening state."""

from __future__ import annotations

from dataclasses import dataclass

from primer.explore import markup
from primer.explore.explorable import Explorable, State
from primer.explore.frames import FrameRenderer, fill


@dataclass(frozen=True)
class Placeholder:
    """An explorable at rest. The page script moves it, a reader without scripts reads it."""

    explorable: Explorable
    state: State

    def _repr_html_(self) -> str:
        outcome = self.explorable.evaluate(self.state)
        renderer = FrameRenderer(self.explorable)
        pieces = renderer.fragments(outcome)
        svg = fill(renderer.skeleton(), pieces)
        return markup.page_figure(self.explorable, outcome, svg)

"""Explorables: one object, driven by ipywidgets in a kernel and by a script on the page."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from primer import _checks

if TYPE_CHECKING:
    from primer.explore.drawing import Drawing
    from primer.explore.explorable import Explorable
    from primer.explore.live import Live
    from primer.explore.placeholder import Placeholder


def show(id_or_explorable: str | Explorable, **state: Any) -> Live | Placeholder | Drawing:
    """The figure of that id, alive.

    Parameters
    ----------
    id_or_explorable : str or Explorable
        For example "roofline"; an unknown id names the nearest.
    **state
        Values of controls in which it opens, where not the default. A drawing has none.

    Returns
    -------
    Live, Placeholder or Drawing
        With a kernel, ipywidgets that drive `primer`. While the book is built
        (environment variable PRIMER_BOOK), the picture that its page script moves.
        A drawing, such as "gpu-die", is the same in both.
    """
    from primer import drawings, figures
    from primer.explore.explorable import Explorable

    found = id_or_explorable
    if not isinstance(found, Explorable):
        found = _checks.one_of("figure", found, (*figures.ids(), *drawings.ids()))
        if found in drawings.ids():
            if state:
                _checks.fail("state", f"be left out, for drawing {found!r} has no controls", state)
            return drawings.load(found)
    explorable = found if isinstance(found, Explorable) else figures.load(found)
    opening = explorable.check(state)
    if os.environ.get("PRIMER_BOOK"):
        from primer.explore.placeholder import Placeholder

        return Placeholder(explorable, opening)
    from primer.explore.live import Live

    return Live(explorable, opening)

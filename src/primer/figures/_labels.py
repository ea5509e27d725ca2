"""Labels that keep their distance on paper, whatever the axes show."""

from __future__ import annotations

import math
from typing import Any

from matplotlib.axes import Axes
from matplotlib.text import Text
from matplotlib.transforms import offset_copy

from primer.figures import style


def beside(ax: Axes, gid: str, dx: float, dy: float, **keywords: Any) -> Text:
    """A label that stands `dx, dy` points away from its place in data units.

    It is empty, and stands in the lower left corner, until it is moved.
    """
    shifted = offset_copy(ax.transData, style.page(ax), dx, dy, units="points")
    corner = ax.get_xlim()[0], ax.get_ylim()[0]
    return ax.text(*corner, "", transform=shifted, gid=gid, **keywords)


def on_ground(label: Text, owner: str) -> None:
    """Give a label a ground of its own, so that lines pass behind it.

    `owner` keeps the id of that ground apart from those of other pictures on a page.
    """
    label.set_bbox({"facecolor": style.SURFACE, "edgecolor": "none", "pad": 1})
    ground = label.get_bbox_patch()
    if ground is not None:
        ground.set_gid(f"{owner}-{label.get_gid()}-ground")


def slope_angle(ax: Axes) -> float:
    """Angle on the paper, in degrees, of a line that rises one decade for one decade."""
    box = ax.get_window_extent()
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    across = box.width / math.log10(right / left)
    return math.degrees(math.atan2(box.height / math.log10(high / low), across))

"""The drawings of the book, one module each, found by id.

A drawing has no controls: it is a still picture whose parts explain themselves. The drawing
`gpu-die` is the `DRAWING` of module `gpu_die`; as with figures there is no list to keep.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from primer import _checks

if TYPE_CHECKING:
    from primer.explore.drawing import Drawing


def ids() -> tuple[str, ...]:
    """Ids of all drawings, in alphabetical order.

    >>> "gpu-die" in ids()
    True
    """
    names = (m.name for m in iter_modules(__path__) if not m.name.startswith("_"))
    return tuple(sorted(name.replace("_", "-") for name in names))


def load(drawing_id: str) -> Drawing:
    """The drawing of that id; an unknown id names the nearest.

    >>> load("gpu-die").part("l2").label
    'L2 cache'
    """
    _checks.one_of("drawing", drawing_id, ids())
    module = f"{__name__}.{drawing_id.replace('-', '_')}"
    found: Drawing = import_module(module).DRAWING
    return found

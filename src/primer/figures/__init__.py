"""The figures of the book, one module per concept, found by id.

An explorable `gemm-intensity` is the `EXPLORABLE` of module `gemm_intensity`.
There is no list to keep: looking up one figure imports that one, and a new
figure leaves every other page of the book as it is.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from primer import _checks

if TYPE_CHECKING:
    from primer.explore.explorable import Explorable

_SHARED = ("slopes", "style", "three_layers")


def ids() -> tuple[str, ...]:
    """Ids of all explorables, in alphabetical order.

    >>> "roofline" in ids()
    True
    """
    names = (m.name for m in iter_modules(__path__) if not m.name.startswith("_"))
    return tuple(sorted(name.replace("_", "-") for name in names if name not in _SHARED))


def module_of(explorable_id: str) -> str:
    """Full name of the module that holds an explorable.

    >>> module_of("roofline")
    'primer.figures.roofline'
    """
    _checks.one_of("explorable", explorable_id, ids())
    return f"{__name__}.{explorable_id.replace('-', '_')}"


def load(explorable_id: str) -> Explorable:
    """The explorable of that id; an unknown id names the nearest."""
    found: Explorable = import_module(module_of(explorable_id)).EXPLORABLE
    return found

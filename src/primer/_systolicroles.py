"""Dataflows as roles: one machine, on which the three matrices of a product change places.

>>> ROLES["ws"].right, ROLES["ws"].down, ROLES["ws"].held
('a', 'partial_sum', 'b')
>>> ROLES["is"].rows, ROLES["is"].columns, ROLES["is"].steps
('k', 'm', 'n')
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
DATAFLOWS = ("os", "ws", "is")
AXES = {"a": ("m", "k"), "b": ("k", "n"), "partial_sum": ("m", "n")}


class Roles(NamedTuple):
    """What moves right, what moves down, what is held; and which sizes lie along what.

    Parameters
    ----------
    rows, columns, steps : str
        Of m, n and k, the one along the rows of the array, along its columns, and in time.
    right, down, held : str
        Of "a", "b" and "partial_sum", the one that moves to the right, down, and not at all.
    """

    rows: str
    columns: str
    steps: str
    right: str
    down: str
    held: str

    @property
    def holds_sums(self) -> bool:
        """Whether the sums stay in the array until they are complete."""
        return self.held == "partial_sum"

    def turned(self, name: str, matrix: Floats) -> Floats:
        """A matrix as the array sees it, or back: (rows, steps), (steps, columns), (rows, columns).

        >>> ROLES["is"].turned("a", np.zeros((2, 3))).shape  # A is held, k along the rows
        (3, 2)
        """
        seen = {
            self.right: (self.rows, self.steps),
            self.down: (self.steps, self.columns),
            self.held: (self.rows, self.columns),
        }
        turned = matrix if seen[name] == AXES[name] else matrix.T
        return np.ascontiguousarray(turned)


ROLES = {
    "os": Roles("m", "n", "k", right="a", down="b", held="partial_sum"),
    "ws": Roles("k", "n", "m", right="a", down="partial_sum", held="b"),
    "is": Roles("k", "m", "n", right="b", down="partial_sum", held="a"),
}

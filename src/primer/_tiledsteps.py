"""Which element each access of a matrix product touches, for those who step through it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from primer._tilednest import TiledNest


@dataclass(frozen=True, kw_only=True)
class Steps:
    """Accesses one by one; all arrays are read-only and (n_accesses,).

    Parameters
    ----------
    addresses : int array [B]
    is_store : bool array
    operand : int array
        0, 1, 2 for A, B, C.
    row, column : int array
        Of the element in its matrix.
    """

    addresses: NDArray[np.int64]
    is_store: NDArray[np.bool_]
    operand: NDArray[np.int64]
    row: NDArray[np.int64]
    column: NDArray[np.int64]


def describe(
    product: TiledNest, addresses: NDArray[np.int64], is_store: NDArray[np.bool_]
) -> Steps:
    """Read the elements off the addresses."""
    bases, ends, leads = (np.array(x) for x in (product.bases, product.ends, product.leads))
    places = addresses[:, None]
    operand = np.argmax((bases <= places) & (places < ends), axis=1)
    element = (addresses - bases[operand]) // product.element_bytes
    row, column = np.divmod(element, leads[operand])
    for array in (operand, row, column):
        array.flags.writeable = False
    return Steps(addresses=addresses, is_store=is_store, operand=operand, row=row, column=column)

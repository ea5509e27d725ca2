"""What a window writes on its way over a small image, row by row."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from primer.convolution import Conv2d, im2col

SIDE = 6  # of the image
FILTERS = 8
Ints = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True, eq=False)
class Patches:
    """All rows of a patch matrix.

    Parameters
    ----------
    conv : Conv2d
        On one image, the same along both axes.
    kernel, stride, padding : int
        Its options.
    numbers : int array (places, c_in·kh·kw)
        Pixel at each place of the matrix, counted from 1 through all channels; 0 for padding.
    is_again : bool array (places, c_in·kh·kw)
        Whether an earlier row, or an earlier place of this one, holds the same pixel.
    """

    conv: Conv2d
    kernel: int
    stride: int
    padding: int
    numbers: Ints
    is_again: np.ndarray[Any, np.dtype[np.bool_]]


@cache
def _patches(kernel: int, stride: int, padding: int, channels: int) -> Patches:
    conv = Conv2d(
        SIDE, SIDE, channels, FILTERS, kernel=kernel, stride=stride, padding=padding
    )  # fmt: skip
    pixels = 1 + np.arange(channels * SIDE * SIDE).reshape(channels, SIDE, SIDE)
    numbers: Ints = im2col(pixels, kernel, stride=stride, padding=padding)
    _, first = np.unique(numbers, return_index=True)
    is_again = np.ones(numbers.size, dtype=bool)
    is_again[first] = False
    again = is_again.reshape(numbers.shape) & (numbers > 0)
    for steps in (numbers, again):
        steps.flags.writeable = False
    return Patches(
        conv=conv, kernel=kernel, stride=stride, padding=padding, numbers=numbers, is_again=again
    )


@dataclass(frozen=True)
class Im2colStep:
    """How far the window has come.

    Parameters
    ----------
    patches : Patches
    step : int
        Windows passed; behind the last place the window stays there.
    """

    patches: Patches
    step: int

    @property
    def conv(self) -> Conv2d:
        """The convolution."""
        return self.patches.conv

    @property
    def i_place(self) -> int:
        """Where the window is, int."""
        return min(self.step, self.conv.n_places - 1)

    @property
    def is_done(self) -> bool:
        """Whether the last row is written."""
        return self.i_place == self.conv.n_places - 1

    @property
    def corner(self) -> tuple[int, int]:
        """Image row and column of the window's first element; negative over the padding.

        >>> compute(3, 1, 1, 1, 0).corner, compute(3, 2, 0, 1, 3).corner
        ((-1, -1), (2, 2))
        """
        patches = self.patches
        i, j = divmod(self.i_place, self.conv.out_width)
        return i * patches.stride - patches.padding, j * patches.stride - patches.padding

    @property
    def row(self) -> Ints:
        """Pixels of the window, 0 where it is over padding, int array (c_in·kh·kw,)."""
        row: Ints = self.patches.numbers[self.i_place]
        return row

    @property
    def n_again(self) -> int:
        """How many numbers of this row stand in the matrix already, int."""
        return int(self.patches.is_again[self.i_place].sum())

    @property
    def n_copies(self) -> int:
        """How many numbers of the rows so far are repeated ones, int."""
        return int(self.patches.is_again[: self.i_place + 1].sum())


def compute(kernel: int, stride: int, padding: int, channels: int, step: int) -> Im2colStep:
    """The window after so many steps over an image of 6 × 6."""
    return Im2colStep(_patches(kernel, stride, padding, channels), step)

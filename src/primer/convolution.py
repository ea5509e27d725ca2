"""Convolution as a matrix product: each patch of the image becomes a row.

`im2col` writes the rows down, for looking and for testing. Libraries gather them on the fly and
never store them (implicit GEMM): the product is the same, and the copies stay on the chip.

>>> Conv2d(28, 28, 3, 8, kernel=3, stride=(2, 1)).gemms()
(Gemm(name='patches · filters', m=338, n=8, k=27, count=1),)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

from primer import _checks
from primer._products import Gemm, Layer, element_bytes

if TYPE_CHECKING:
    import numpy as np

PerAxis = int | tuple[int, int]


def _pair(name: str, value: object, minimum: int) -> tuple[int, int]:
    """One number for both axes, or rows and columns apart."""
    both: Sequence[Any] = value if isinstance(value, tuple | list) else (value, value)
    if len(both) != 2:
        _checks.fail(name, "be one integer or a pair (rows, columns)", value)
    down, across = (_checks.whole(name, each, minimum=minimum) for each in both)
    return down, across


@dataclass(frozen=True)
class _Axis:
    """A window on its way along one axis of the image."""

    size: int
    kernel: int
    stride: int
    padding: int
    dilation: int

    @property
    def span(self) -> int:
        """Distance from the window's first element to behind its last, int."""
        return self.dilation * (self.kernel - 1) + 1

    @property
    def n_places(self) -> int:
        """Places where the window fits, int."""
        return (self.size + 2 * self.padding - self.span) // self.stride + 1

    def positions(self) -> list[list[int]]:
        """Indices in the padded image that each place of the window holds."""
        steps = range(0, self.span, self.dilation)
        return [[i * self.stride + step for step in steps] for i in range(self.n_places)]

    @property
    def n_touched(self) -> int:
        """Image elements that some window holds, padding left out, int."""
        inside = range(self.padding, self.padding + self.size)
        return len({at for place in self.positions() for at in place if at in inside})


def _axes(
    size: tuple[int, int], kernel: object, stride: object, padding: object, dilation: object
) -> tuple[_Axis, _Axis]:
    """Both axes, checked: every window must fit into the padded image."""
    window = _pair("kernel", kernel, 1)
    steps = _pair("stride", stride, 1)
    ring = _pair("padding", padding, 0)
    spread = _pair("dilation", dilation, 1)
    down, across = (_Axis(*each) for each in zip(size, window, steps, ring, spread, strict=True))
    for axis in (down, across):
        room = axis.size + 2 * axis.padding
        if axis.span > room:
            rule = f"span at most the padded image, {room} here; it spans {axis.span}"
            _checks.fail("kernel", rule, kernel)
    return down, across


@dataclass(frozen=True)
class Conv2d(Layer):
    """Filters of c_in·kh·kw weights, slid over an image.

    Per axis, floor((size + 2·padding − dilation·(kernel − 1) − 1) / stride) + 1 places. As a
    product: m = places of all images, k = c_in / groups · kh · kw, n = c_out / groups, once for
    each group.

    Parameters
    ----------
    height, width, c_in, c_out : int
        Image, its channels, and the number of filters.
    kernel : int or (int, int)
        Rows and columns of a filter.
    stride, padding, dilation : int or (int, int)
        Step of the window, ring of zeros, distance between elements; per axis if a pair.
    groups : int
        Channels fall into so many groups that do not mix; must divide c_in and c_out.
    bias : bool
        Whether each filter adds a number of its own.
    batch : int
        Images.
    storage : str
        Format in memory.

    Raises
    ------
    ValueError
        If a size or stride is below 1, the kernel does not fit into the padded image, or the
        groups do not divide the channels.

    Examples
    --------
    3 × 3 over 8 × 8, with a ring of zeros: as many places as pixels, nine numbers each.

    >>> conv = Conv2d(8, 8, 16, 32, kernel=3, padding=1)
    >>> conv.output_shape, conv.patch_matrix_shape, conv.blow_up
    ((1, 32, 8, 8), (64, 144), 9.0)
    >>> Conv2d(8, 8, 16, 32, kernel=3, padding=1, stride=2).blow_up
    2.25
    """

    height: int
    width: int
    c_in: int
    c_out: int
    _: KW_ONLY
    kernel: PerAxis
    stride: PerAxis = 1
    padding: PerAxis = 0
    dilation: PerAxis = 1
    groups: int = 1
    bias: bool = False
    batch: int = 1
    storage: str = "bf16"

    def __post_init__(self) -> None:
        self._require_whole("height", "width", "c_in", "c_out", "groups", "batch")
        self._require_flag("bias")
        element_bytes(self.storage)
        for name in ("c_in", "c_out"):
            if getattr(self, name) % self.groups:
                _checks.fail("groups", f"divide {name} = {getattr(self, name)}", self.groups)
        for name, minimum in (("kernel", 1), ("stride", 1), ("padding", 0), ("dilation", 1)):
            object.__setattr__(self, name, _pair(name, getattr(self, name), minimum))
        self._axes()

    def _axes(self) -> tuple[_Axis, _Axis]:
        size = (self.height, self.width)
        return _axes(size, self.kernel, self.stride, self.padding, self.dilation)

    @property
    def out_height(self) -> int:
        """Places down the image, int."""
        return self._axes()[0].n_places

    @property
    def out_width(self) -> int:
        """Places across the image, int."""
        return self._axes()[1].n_places

    @property
    def n_places(self) -> int:
        """Places of all images: rows of the product, int."""
        return self.batch * self.out_height * self.out_width

    @property
    def window(self) -> int:
        """Elements of the kernel in one channel, kh·kw, int."""
        down, across = self._axes()
        return down.kernel * across.kernel

    @property
    def output_shape(self) -> tuple[int, int, int, int]:
        """Batch, filters, rows, columns."""
        return (self.batch, self.c_out, self.out_height, self.out_width)

    @property
    def weight_shape(self) -> tuple[int, int, int, int]:
        """Filters, channels that each sees, rows, columns."""
        down, across = self._axes()
        return (self.c_out, self.c_in // self.groups, down.kernel, across.kernel)

    @property
    def patch_matrix_shape(self) -> tuple[int, int]:
        """Rows and columns of what `im2col` writes; each group multiplies a share of columns."""
        return (self.n_places, self.c_in * self.window)

    @property
    def blow_up(self) -> float:
        """Numbers in the patch matrix for each number of the image, out·kh·kw / (h·w), float."""
        return self.out_height * self.out_width * self.window / (self.height * self.width)

    @property
    def n_parameters(self) -> int:
        """Weights, and biases, int."""
        filters = self.c_out * self.c_in // self.groups * self.window
        return filters + (self.c_out if self.bias else 0)

    @property
    def other_flop(self) -> float:
        """One addition for each output, if there is a bias, float [FLOP]."""
        return float(self.n_places * self.c_out) if self.bias else 0.0

    @property
    def patch_bytes(self) -> float:
        """Size of the patch matrix, zeros of the padding included, float [B]."""
        rows, columns = self.patch_matrix_shape
        return self._bytes(rows * columns)

    @property
    def compulsory_bytes(self) -> float:
        """Implicit GEMM at its best: pixels that are used, filters, result, float [B]."""
        down, across = self._axes()
        pixels = self.batch * self.c_in * down.n_touched * across.n_touched
        return self._bytes(pixels, self.n_parameters, self.n_places * self.c_out)

    @property
    def materialized_bytes(self) -> float:
        """With the patch matrix in memory: it is written and read besides, float [B]."""
        return self.compulsory_bytes + 2 * self.patch_bytes

    def gemms(self) -> tuple[Gemm, ...]:
        """Patches times filters, for each group."""
        return (
            Gemm(
                name="patches · filters",
                m=self.n_places,
                n=self.c_out // self.groups,
                k=self.c_in // self.groups * self.window,
                count=self.groups,
            ),
        )


def im2col(
    image: Any,
    kernel: PerAxis,
    *,
    stride: PerAxis = 1,
    padding: PerAxis = 0,
    dilation: PerAxis = 1,
) -> np.ndarray[Any, np.dtype[Any]]:
    """Write every patch of an image as one row.

    Parameters
    ----------
    image : array (c_in, height, width) or (batch, c_in, height, width)
    kernel, stride, padding, dilation : int or (int, int)
        As in `Conv2d`.

    Returns
    -------
    array (places, c_in·kh·kw)
        Rows in reading order of the places, image after image; columns by channel, then kernel
        row, then kernel column. Multiplied by ``filters.reshape(c_out, -1).T`` it is the
        convolution (which, as everywhere in deep learning, does not flip the filters).

    Raises
    ------
    ValueError
        If the image has another number of axes, or the kernel does not fit.

    Examples
    --------
    >>> import numpy as np
    >>> im2col(np.arange(9).reshape(1, 3, 3), 2)
    array([[0, 1, 3, 4],
           [1, 2, 4, 5],
           [3, 4, 6, 7],
           [4, 5, 7, 8]])
    """
    import numpy as np  # only where there are arrays: shapes alone need none

    pixels = np.asarray(image)
    if pixels.ndim not in (3, 4) or not pixels.size:
        rule = "have the axes (c_in, height, width), or batch before them, and not be empty"
        _checks.fail("image", rule, pixels)
    batch = pixels.reshape(-1, *pixels.shape[-3:])
    down, across = _axes(batch.shape[-2:], kernel, stride, padding, dilation)
    ring = ((0, 0), (0, 0), (down.padding,) * 2, (across.padding,) * 2)
    rows, columns = np.array(down.positions()), np.array(across.positions())
    # (batch, channel, out_row, kernel_row, out_column, kernel_column)
    windows = np.pad(batch, ring)[:, :, rows[:, :, None, None], columns[None, None]]
    n_columns = batch.shape[1] * down.kernel * across.kernel
    return windows.transpose(0, 2, 4, 1, 3, 5).reshape(-1, n_columns)

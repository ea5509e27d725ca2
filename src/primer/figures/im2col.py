"""From an image to a matrix of patches: each place of the window becomes one row.

What a row repeats of earlier rows is hatched, in the image and in the matrix: neighboring windows
overlap, and every overlap is a copy.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import groupby
from typing import Any, ClassVar

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.patches import Rectangle
from matplotlib.path import Path

from primer import units
from primer.explore.explorable import Control, Explorable, Row, State
from primer.figures import _boxes, style
from primer.figures._boxes import Box
from primer.figures._gemm import canvas, column, shape, write
from primer.figures._patches import FILTERS, SIDE, Im2colStep, Patches, compute
from primer.figures._picture import Picture, draw

KERNELS = (1, 2, 3)
STRIDES = (1, 2, 3)
PADDINGS = (0, 1)
CHANNELS = (1, 2, 3)
MOST_PLACES = SIDE * SIDE

SIZE = (5.8, 4.15)
PIXEL, SHIFT = 18.5, 5.0
IMAGE_X, IMAGE_TOP = 25.0, 240.0  # upper left corner of the first channel, without padding
MATRIX_X, MATRIX_TOP = 196.0, 258.0
ROOM = (212.0, 234.0)  # for the matrix
MOST_CELL = 15.0
TITLE_Y = 285.0


class Im2colFigure(Picture):
    """The image with its window, and the matrix that is being written.

    Parameters
    ----------
    ax : Axes
        Becomes a sheet measured in points.
    """

    size: ClassVar[tuple[float, float]] = SIZE
    box: ClassVar[tuple[float, float, float, float]] = (0.0, 0.0, 1.0, 1.0)
    _FIXED = ("kernel", "stride", "padding", "channels")
    depends: ClassVar[dict[str, tuple[str, ...]]] = {
        "image-title": ("channels",),
        "behind": ("channels",),
        "ring": ("padding",),
        **dict.fromkeys(("new", "again", "zero", "grid", "matrix-title"), _FIXED),
        **dict.fromkeys(("row-0", "row-1", "window"), ("kernel", "stride", "padding", "step")),
        "row-2": ("kernel", "channels"),
    }

    def __init__(self, ax: Axes) -> None:
        self.ax = ax
        self.alt = "An image of six by six pixels."
        canvas(ax, SIZE)
        self._image(ax)
        self._matrix(ax)
        self._legend(ax)

    def _image(self, ax: Axes) -> None:
        """Pixels of the first channel with their numbers, and what moves over them."""
        self.behind = _boxes.patch(ax, "behind", fc=style.SURFACE, ec=style.MUTED, lw=0.9, zorder=1)
        front = pixel(0, 0)[0], pixel(SIDE - 1, 0)[1], SIDE * PIXEL, SIDE * PIXEL
        ax.add_patch(Rectangle(front[:2], *front[2:], fc=style.SURFACE, ec="none", zorder=1.5))
        every = [pixel(i, j) for i in range(SIDE) for j in range(SIDE)]
        grid = _boxes.boxes(every)
        _boxes.patch(ax, "pixels", grid, fc="none", ec=style.GRID, lw=0.9, zorder=2)
        self.ring = _boxes.patch(
            ax, "ring", fc="none", ec=style.IDLE, lw=1.0, ls=(0, (2.5, 2)), zorder=2
        )
        self.window_new = _boxes.patch(
            ax, "window-new", fc=to_rgba(style.MEMORY, 0.4), ec="none", lw=0, zorder=2.5
        )
        self.window_again = _boxes.patch(
            ax, "window-again", fc="none", ec=style.MEMORY, lw=0.6, hatch="////", alpha=0.55,
            zorder=2.5,
        )  # fmt: skip
        self.window = _boxes.patch(ax, "window", fc="none", ec=style.CHANGED, lw=2.4, zorder=4)
        for number, (x, y, w, h) in enumerate(every, 1):
            ax.text(
                x + w / 2, y + h / 2, str(number), ha="center", va="center", fontsize=9.5, zorder=5
            )
        self.image_title = ax.text(IMAGE_X, TITLE_Y, "", va="center", gid="image-title")
        self.row_lines = column(ax, "row", IMAGE_X - PIXEL, 66, 3, ha="left")

    def _matrix(self, ax: Axes) -> None:
        looks: dict[str, dict[str, Any]] = {
            "new": {"fc": style.MEMORY, "ec": "none", "lw": 0},
            "again": {"fc": "none", "ec": style.MEMORY, "lw": 0.5, "hatch": "//////"},
            "zero": {"fc": "none", "ec": style.IDLE, "lw": 0.6},
        }  # fmt: skip
        self.kinds = {
            name: _boxes.patch(ax, name, zorder=2, **look) for name, look in looks.items()
        }
        self.grid = _boxes.patch(ax, "grid", fc="none", ec=style.SURFACE, lw=0.8, zorder=3)
        self.cover = _boxes.patch(
            ax, "cover", fc=to_rgba(style.SURFACE, 0.8), ec="none", lw=0, zorder=4
        )
        self.here = _boxes.patch(ax, "here", fc="none", ec=style.CHANGED, lw=2.0, zorder=5)
        self.matrix_title = ax.text(MATRIX_X, TITLE_Y, "", va="center", gid="matrix-title")

    def _legend(self, ax: Axes) -> None:
        """What the fillings mean, below the image."""
        looks: tuple[tuple[str, dict[str, Any]], ...] = (
            ("new", {"fc": style.MEMORY, "ec": style.MEMORY}),
            ("copied again", {"fc": "none", "ec": style.MEMORY, "hatch": "//////"}),
            ("zero", {"fc": "none", "ec": style.IDLE}),
        )
        for x, (word, look) in zip((7.0, 50.0, 140.0), looks, strict=True):
            ax.add_patch(Rectangle((x, 10), 10, 10, lw=0.8, **look))
            ax.text(x + 14, 15, word, va="center", fontsize=10)

    @property
    def moving(self) -> tuple[Any, ...]:
        """The artists that a state changes."""
        image = (self.behind, self.ring, self.window_new, self.window_again, self.window)
        texts = (self.image_title, *self.row_lines, self.matrix_title)
        return (*image, *texts, *self.kinds.values(), self.grid, self.cover, self.here)

    def update(self, result: Im2colStep) -> None:
        """Show one place of the window."""
        self._update_image(result)
        self._update_matrix(result)
        self.alt = describe(result)

    def _update_image(self, result: Im2colStep) -> None:
        conv = result.conv
        hidden = [layer(c) for c in range(conv.c_in - 1, 0, -1)]
        self.behind.set_path(_boxes.boxes(hidden))
        self.ring.set_path(_boxes.boxes(ring(result.patches.padding)))
        window = result.patches.kernel
        (top, left), n = result.corner, window * window
        again = result.patches.is_again[result.i_place, :n]
        inside = result.row[:n] > 0
        cells = [pixel(top + i, left + j) for i in range(window) for j in range(window)]
        chosen = list(zip(cells, again, inside, strict=True))
        self.window_new.set_path(_boxes.boxes(c for c, a, ok in chosen if ok and not a))
        self.window_again.set_path(_boxes.boxes(c for c, a, _ in chosen if a))
        x, y, *_ = pixel(top + window - 1, left)
        self.window.set_path(_boxes.boxes([(x, y, window * PIXEL, window * PIXEL)]))
        self.image_title.set_text(f"image: {SIDE} × {SIDE} × {conv.c_in}")
        write(self.row_lines, row_text(result))

    def _update_matrix(self, result: Im2colStep) -> None:
        n_rows, n_columns = result.conv.patch_matrix_shape
        cell_w, cell_h = cell_size(n_rows, n_columns)
        width, height, top = n_columns * cell_w, n_rows * cell_h, MATRIX_TOP
        paths = matrix_paths(result.patches)
        for name, artist in (self.kinds | {"grid": self.grid}).items():
            artist.set_path(paths[name])
        low = top - (result.i_place + 1) * cell_h
        self.cover.set_path(_boxes.boxes([(MATRIX_X, top - height, width, low - top + height)]))
        self.here.set_path(_boxes.boxes([(MATRIX_X, low, width, cell_h)]))
        self.matrix_title.set_text(f"patch matrix: {shape(n_rows, n_columns)}")


def pixel(i: int, j: int) -> Box:
    """Where a pixel of the first channel stands; also outside the image, for padding."""
    return (IMAGE_X + j * PIXEL, IMAGE_TOP - (i + 1) * PIXEL, PIXEL, PIXEL)


def layer(c: int) -> Box:
    """The outline of a channel behind the first."""
    x, y, *_ = pixel(SIDE - 1, 0)
    return (x + c * SHIFT, y + c * SHIFT, SIDE * PIXEL, SIDE * PIXEL)


def ring(padding: int) -> list[Box]:
    """The outline of the padded image, if there is any padding."""
    if not padding:
        return []
    x, y, *_ = pixel(SIDE - 1 + padding, -padding)
    return [(x, y, (SIDE + 2 * padding) * PIXEL, (SIDE + 2 * padding) * PIXEL)]


def cell_size(n_rows: int, n_columns: int) -> tuple[float, float]:
    """Width and height of one number of the matrix, in points."""
    height = min(ROOM[1] / n_rows, MOST_CELL)
    return min(ROOM[0] / n_columns, MOST_CELL, 2 * height), height


def runs(mask: np.ndarray[Any, Any], cell_w: float, cell_h: float) -> Iterator[Box]:
    """Neighbors in a row that are alike, as one rectangle each."""
    for i, line in enumerate(mask):
        j, y = 0, MATRIX_TOP - (i + 1) * cell_h
        for chosen, group in groupby(line.tolist()):
            length = len(list(group))
            if chosen:
                yield (MATRIX_X + j * cell_w, y, length * cell_w, cell_h)
            j += length


@cache
def matrix_paths(patches: Patches) -> dict[str, Path]:
    """The matrix as it is when all rows are written: its cells by kind, and the grid."""
    n_rows, n_columns = patches.conv.patch_matrix_shape
    cell_w, cell_h = cell_size(n_rows, n_columns)
    right, low = MATRIX_X + n_columns * cell_w, MATRIX_TOP - n_rows * cell_h
    ys = [MATRIX_TOP - i * cell_h for i in range(1, n_rows)]
    xs = [MATRIX_X + j * cell_w for j in range(1, n_columns)]
    ends = [*((MATRIX_X, y, right, y) for y in ys), *((x, MATRIX_TOP, x, low) for x in xs)]
    kinds = np.where(patches.numbers == 0, "zero", np.where(patches.is_again, "again", "new"))
    cells = {
        name: _boxes.boxes(runs(kinds == name, cell_w, cell_h)) for name in ("new", "again", "zero")
    }
    return cells | {"grid": _boxes.lines(ends)}


def row_text(result: Im2colStep) -> str:
    """The current row's numbers in the first channel, in writing.

    >>> print(row_text(compute(2, 2, 0, 1, 1)))
    row 2 of 9:
    3 4 9 10
    """
    conv = result.conv
    n = result.patches.kernel**2
    numbers = " ".join(str(number) for number in result.row[:n])
    more = "" if conv.c_in == 1 else f"\nand {(conv.c_in - 1) * n} from those behind"
    return f"row {result.i_place + 1} of {conv.n_places}:\n{numbers}{more}"


def describe(result: Im2colStep) -> str:
    """What the picture shows, in words."""
    rows, columns = result.conv.patch_matrix_shape
    return (
        f"A window on an image of six by six pixels, and the patch matrix, {shape(rows, columns)}, "
        f"of which {result.i_place + 1} rows are written."
    )


def draw_im2col(result: Im2colStep, *, ax: Axes | None = None) -> Im2colFigure:
    """Draw one place of the window.

    Parameters
    ----------
    result : Im2colStep
        From `compute`.
    ax : Axes, optional
        Where to draw; by default on a figure of its own.
    """
    return draw(Im2colFigure, result, ax)


def is_valid(state: State) -> bool:
    """A ring of zeros belongs to the 3 × 3 window, which needs it to keep the image's size."""
    return not state["padding"] or state["kernel"] == 3


def readout(result: Im2colStep) -> tuple[Row, ...]:
    """The rows under the figure."""
    conv = result.conv
    rows, columns = conv.patch_matrix_shape
    n_again, n_copies = result.n_again, result.n_copies
    return (
        Row("n_again", n_again, "1", "Of this row, there already", f"{n_again} of {columns}"),
        Row("n_copies", n_copies, "1", "Numbers copied again so far", f"{n_copies:,}"),
        Row("patch_matrix", shape(rows, columns), "", "Patch matrix, whole"),
        Row("blow_up", conv.blow_up, "1", "Numbers, against the image",
            f"{units.number(conv.blow_up)} ×"),
        Row("gemm", f"{shape(rows, columns)} · {shape(columns, FILTERS)}", "",
            f"Product, {FILTERS} filters"),
        Row("flop", conv.flop, "FLOP", "Work"),
        Row("compulsory_bytes", conv.compulsory_bytes, "B", "Bytes, patches on the fly"),
        Row("materialized_bytes", conv.materialized_bytes, "B", "Bytes, patches stored"),
    )  # fmt: skip


def sentence(result: Im2colStep) -> str:
    """What the reader sees in this state."""
    patches = result.patches
    if patches.kernel == patches.stride == 1:
        return (
            "A 1 × 1 window takes one pixel of every channel: the image is its own patch matrix, "
            "and this convolution is a linear layer for each pixel."
        )
    if patches.stride >= patches.kernel and not result.is_done:
        return (
            "The stride is as long as the window, or longer: no two windows overlap, and no "
            "number is copied again."
        )
    if result.is_done:
        return (
            "The matrix is whole, with {blow_up} as many numbers as the image. Stored, it costs "
            "{materialized_bytes} of traffic; libraries gather it on the fly, for "
            "{compulsory_bytes} at best."
        )
    if result.i_place == 0:
        return "The first place of the window becomes the first row. All of its pixels are new."
    return (
        "{n_again} numbers of this row stand in the matrix already, because the window overlaps "
        "with earlier ones. Each is written once more."
    )


EXPLORABLE = Explorable(
    id="im2col",
    question="How does a convolution become a matrix product?",
    level="framework",
    controls=(
        Control("kernel", "Window", KERNELS, 3, display=lambda k: f"{k} × {k}"),
        Control("stride", "Stride", STRIDES, 1),
        Control("padding", "Padding", PADDINGS, 1),
        Control("channels", "Channels", CHANNELS, 1),
        Control(
            "step", "Step", tuple(range(MOST_PLACES)), 8, kind="step",
            display=lambda step: str(step + 1),
        ),
    ),
    compute=compute,
    figure=Im2colFigure,
    readout=readout,
    sentence=sentence,
    assumes=(
        "one image, bf16, 8 filters, no bias; the matrix once written and once read if it is "
        "stored; on the fly, each pixel once from memory and every copy served on the chip."
    ),
    is_valid=is_valid,
)  # fmt: skip

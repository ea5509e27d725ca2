"""A linear layer as three rectangles to scale: their areas are bytes, their product is the work."""

from __future__ import annotations

from typing import Any, ClassVar

from matplotlib.axes import Axes

from primer import units
from primer.explore.explorable import Control, Explorable, Row
from primer.figures import _boxes, style
from primer.figures._gemm import Product, canvas, shape
from primer.figures._picture import Picture, draw
from primer.layers import Linear

BATCHES = (1, 2, 8, 32)
LENGTHS = (1, 6, 128, 1024)
WIDTHS = (8, 16, 768, 3072, 8192)
STORAGES = ("fp32", "bf16", "int8")
SHARE = 0.5  # what counts as most of the bytes
NARROW = 2.5  # points; closer lines between sequences would fill the rectangle


class LinearLayerFigure(Picture):
    """Input, weights, output, with the borders between sequences.

    Parameters
    ----------
    ax : Axes
        Becomes a sheet measured in points.
    """

    size: ClassVar[tuple[float, float]] = (5.6, 2.75)
    box: ClassVar[tuple[float, float, float, float]] = (0.0, 0.0, 1.0, 1.0)
    depends: ClassVar[dict[str, tuple[str, ...]]] = {
        "rows": ("batch", "seq_len"),
        **dict.fromkeys(("xw-a", "xw-b", "xw-c", "borders"), ("batch", "seq_len", "d_in", "d_out")),
        "xw-a-0": ("batch", "seq_len", "d_in"),
        "xw-b-0": ("d_in", "d_out"),
        "xw-c-0": ("batch", "seq_len", "d_out"),
        "xw-a-1": ("batch", "seq_len", "d_in", "storage"),
        "xw-b-1": ("d_in", "d_out", "storage"),
        "xw-c-1": ("batch", "seq_len", "d_out", "storage"),
        "xw-a-2": ("d_out",),
        "xw-b-2": ("batch", "seq_len"),
        "xw-c-2": ("d_in",),
    }

    def __init__(self, ax: Axes) -> None:
        self.ax = ax
        self.alt = "A linear layer without tokens."
        canvas(ax, self.size)
        self.rows = ax.text(
            201.6, 188, "", ha="center", va="center", color=style.MUTED, gid="rows"
        )  # fmt: skip
        self.product = Product(
            ax, "xw", centers=(68, 201.6, 335.2), top=175, height=110, width=112, n_lines=3
        )  # fmt: skip
        self.borders = _boxes.patch(ax, "borders", fc="none", ec=style.SURFACE, lw=0.9, zorder=3)

    @property
    def moving(self) -> tuple[Any, ...]:
        """The artists that a state changes."""
        return (self.rows, *self.product.moving, self.borders)

    def update(self, layer: Linear) -> None:
        """Draw one layer."""
        self.rows.set_text(rows_text(layer))
        self.product.update(layer.n_rows, layer.d_out, layer.d_in, captions(layer))
        self._update_borders(layer.batch)
        self.alt = describe(layer)

    def _update_borders(self, batch: int) -> None:
        """Lines between the sequences, across the input and the output."""
        ends: list[_boxes.Box] = []
        for box in (self.product.boxes[0], self.product.boxes[2]):
            x, y, step = box.get_x(), box.get_y(), box.get_height() / batch
            if step >= NARROW:
                right = x + box.get_width()
                ends += [(x, y + i * step, right, y + i * step) for i in range(1, batch)]
        self.borders.set_path(_boxes.lines(ends))


def rows_text(layer: Linear) -> str:
    """How batch and sequence make rows.

    >>> rows_text(Linear(8, 128, 768, 3072)), rows_text(Linear(1, 1, 8, 8))
    ('8 sequences of 128 tokens = 1,024 rows', '1 sequence of 1 token = 1 row')
    """
    words = ((layer.batch, "sequence"), (layer.seq_len, "token"), (layer.n_rows, "row"))
    sequences, tokens, rows = (f"{n:,} {word}{'s' if n > 1 else ''}" for n, word in words)
    return f"{sequences} of {tokens} = {rows}"


def captions(layer: Linear) -> tuple[str, str, str]:
    """Name and shape, size, and use of each matrix."""
    rows, d_in, d_out = layer.n_rows, layer.d_in, layer.d_out
    sizes = (layer.input_bytes, layer.parameter_bytes, layer.output_bytes)
    x, w, y = (units.text(size, "B") for size in sizes)
    served = "serves 1 row" if rows == 1 else f"serves {rows:,} rows"
    return (
        f"x: {shape(rows, d_in)}\n{x}\nserves {d_out:,} columns",
        f"W: {shape(d_in, d_out)}\n{w} with b\n{served}",
        f"y: {shape(rows, d_out)}\n{y}\nsums {d_in:,} products",
    )


def describe(layer: Linear) -> str:
    """What the picture shows, in words."""
    return (
        f"Three rectangles to scale: the input, {shape(layer.n_rows, layer.d_in)}, times the "
        f"weights, {shape(layer.d_in, layer.d_out)}, gives the output, "
        f"{shape(layer.n_rows, layer.d_out)}."
    )


def draw_linear_layer(result: Linear, *, ax: Axes | None = None) -> LinearLayerFigure:
    """Draw one layer.

    Parameters
    ----------
    result : Linear
        From `workloads`.
    ax : Axes, optional
        Where to draw; by default on a figure of its own.
    """
    return draw(LinearLayerFigure, result, ax)


def compute(batch: int, seq_len: int, d_in: int, d_out: int, storage: str) -> Linear:
    """One layer with a bias."""
    return Linear(batch, seq_len, d_in, d_out, storage=storage)


def readout(layer: Linear) -> tuple[Row, ...]:
    """The rows under the figure."""
    d_in, d_out = layer.d_in, layer.d_out
    return (
        Row("n_macs", layer.n_macs, "1", "Multiply-adds", f"{layer.n_macs:,}"),
        Row("flop", layer.flop, "FLOP", "Work, two for each", f"{layer.flop:,.0f} FLOP"),
        Row("other_flop", layer.other_flop, "FLOP", "Additions of the bias",
            f"{layer.other_flop:,.0f} FLOP"),
        Row("n_parameters", layer.n_parameters, "1", "Parameters: weights and bias",
            f"{layer.n_parameters:,}"),
        Row("compulsory_bytes", layer.compulsory_bytes, "B", "Bytes, each matrix once"),
        Row("parameter_frac", layer.parameter_bytes / layer.compulsory_bytes, "1",
            "Share of the parameters"),
        Row("intensity_flop_per_byte", layer.intensity_flop_per_byte, "FLOP/B", "Intensity"),
        Row("pytorch", f"nn.Linear({d_in}, {d_out})", "", "PyTorch"),
        Row("keras", f"layers.Dense({d_out})", "", "Keras"),
        Row("flax", f"nnx.Linear({d_in}, {d_out}, rngs=rngs)", "", "Flax",
            f"nnx.Linear({d_in}, {d_out}, …)"),
    )  # fmt: skip


def sentence(layer: Linear) -> str:
    """What the reader sees in this state: which rectangle is heavy, and what that means."""
    if layer.n_rows == 1:
        return (
            "One row: every weight is fetched for a single multiply-add. "
            "{parameter_frac} of the bytes are parameters, and they are all gone after one use."
        )
    if layer.parameter_bytes > SHARE * layer.compulsory_bytes:
        return (
            "The weights are {parameter_frac} of the bytes. More rows, from either slider, would "
            "use each of them more often: batch and sequence length only make rows."
        )
    if layer.input_bytes > SHARE * layer.compulsory_bytes:
        return (
            "The input is most of the bytes: each of its numbers meets only {d_out} columns. "
            "It holds activations, not parameters; there are {n_parameters} of those."
        )
    if layer.output_bytes > SHARE * layer.compulsory_bytes:
        return (
            "The output is most of the bytes: only {d_in} products go into each of its sums. "
            "More rows bring more output and cannot change that."
        )
    return (
        "No matrix outweighs the other two together. All three sides count for the intensity, "
        "{intensity_flop_per_byte}; the shortest counts most."
    )


EXPLORABLE = Explorable(
    id="linear-layer",
    question="What does one linear layer compute, and what must it move?",
    level="framework",
    controls=(
        Control("batch", "Batch: sequences", BATCHES, 8),
        Control("seq_len", "Tokens in each", LENGTHS, 128, display=lambda n: f"{n:,}"),
        Control("d_in", "Numbers per token, in", WIDTHS, 768, display=lambda d: f"{d:,}"),
        Control("d_out", "Numbers per token, out", WIDTHS, 3072, display=lambda d: f"{d:,}"),
        Control("storage", "Stored in", STORAGES, "bf16", kind="select"),
    ),
    compute=compute,
    figure=LinearLayerFigure,
    readout=readout,
    sentence=sentence,
    assumes=(
        "one pass forward, a bias, all matrices in one format, each through the memory once. "
        "PyTorch keeps W as d_out × d_in, Keras and Flax as d_in × d_out."
    ),
)

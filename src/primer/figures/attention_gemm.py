"""Attention as two products, to scale, and the length at which it outgrows the weights.

Above, one head: queries times keys gives the scores, and the scores times values the result. Below,
the work of attention against that of the layer's weights.
"""

from __future__ import annotations

from typing import Any, ClassVar

from matplotlib.axes import Axes

from primer import units
from primer.explore.explorable import Control, Explorable, Row
from primer.figures import _labels, style
from primer.figures._gemm import Product, canvas, shape
from primer.figures._picture import Picture, draw
from primer.layers import TransformerLayer

LENGTHS = tuple(2**e for e in range(7, 16))
HEADS = (1, 4, 12, 24, 48, 96)
WIDTHS = (768, 1536, 3072, 12288)

SIZE = (5.6, 6.3)
CENTERS = (68.0, 198.0, 328.0)
WIDTH, HEIGHT = 108.0, 84.0
TOPS = (426.0, 297.0)
PLOT = (0.125, 0.083, 0.845, 0.25)  # of the page
X_LIMITS, Y_LIMITS = (45.0, 50_000.0), (1e-3, 30.0)


class AttentionGemmFigure(Picture):
    """Two products to scale, and a dot on a line that crosses one.

    Parameters
    ----------
    ax : Axes
        Becomes a sheet measured in points.
    """

    size: ClassVar[tuple[float, float]] = SIZE
    box: ClassVar[tuple[float, float, float, float]] = (0.0, 0.0, 1.0, 1.0)
    depends: ClassVar[dict[str, tuple[str, ...]]] = {
        "title": ("n_heads", "d_model"),
        **dict.fromkeys(("full", "causal", "crossing", "crossing-label"), ("d_model",)),
        **dict.fromkeys(("dot", "dot-label"), ("seq_len", "d_model")),
        **dict.fromkeys(("qk-c-0", "pv-a-0"), ("seq_len",)),
        **dict.fromkeys(("qk-c-1", "pv-a-1"), ("seq_len", "n_heads")),
        **dict.fromkeys(("qk-a-1", "qk-b-1", "pv-b-1", "pv-c-1"), ("seq_len", "d_model")),
    }

    def __init__(self, ax: Axes) -> None:
        self.ax = ax
        self.alt = "Attention without tokens."
        canvas(ax, SIZE)
        self.title = ax.text(14, 443, "", va="center", color=style.MUTED, gid="title")
        self.products = [
            Product(ax, name, centers=CENTERS, top=top, height=HEIGHT, width=WIDTH, n_lines=2)
            for name, top in zip(("qk", "pv"), TOPS, strict=True)
        ]
        self._plot(ax.inset_axes(PLOT))

    def _plot(self, plot: Axes) -> None:
        """Work of attention over work of the weights, against the length."""
        style.log_axis(plot, "x", X_LIMITS)
        style.log_axis(plot, "y", Y_LIMITS)
        plot.set_xlabel("tokens", labelpad=1)
        plot.set_title("work of attention / work of the weights", fontsize=11, color=style.INK)
        plot.axhline(1, color=style.IDLE, lw=1.6)
        plot.text(
            50, 1.25, "the layer’s weights", ha="left", va="bottom", color=style.MUTED
        )  # fmt: skip
        (self.full,) = plot.plot([], [], color=style.COMPUTE, lw=2.2, gid="full")
        (self.causal,) = plot.plot([], [], color=style.COMPUTE, lw=1.4, ls="--", gid="causal")
        (self.crossing,) = plot.plot([], [], color=style.MUTED, lw=1.2, ls=":", gid="crossing")
        self.crossing_label = _labels.beside(
            plot, "crossing-label", -5, 3, ha="right", va="bottom", color=style.INK
        )
        (self.dot,) = plot.plot(
            [], [], "o", ms=9, color=style.CHANGED, mec=style.SURFACE, gid="dot", zorder=5
        )
        self.dot_label = _labels.beside(
            plot, "dot-label", 0, 8, ha="right", va="bottom", color=style.CHANGED, fontweight="bold"
        )
        _labels.on_ground(self.dot_label, "attention-gemm")  # the line of the weights may cross it

    @property
    def moving(self) -> tuple[Any, ...]:
        """The artists that a state changes."""
        curves = (self.full, self.causal, self.crossing, self.crossing_label)
        products = (artist for product in self.products for artist in product.moving)
        return (self.title, *products, *curves, self.dot, self.dot_label)

    def update(self, layer: TransformerLayer) -> None:
        """Draw the attention of one layer."""
        self.title.set_text(title_text(layer))
        scale = min(product.scale(g.m, g.n, g.k) for product, g in self._pairs(layer))
        for (product, gemm), texts in zip(self._pairs(layer), captions(layer), strict=True):
            product.update(gemm.m, gemm.n, gemm.k, texts, scale)
        self._update_plot(layer)
        self.alt = describe(layer)

    def _pairs(self, layer: TransformerLayer) -> list[tuple[Product, Any]]:
        return list(zip(self.products, layer.attention.gemms(), strict=True))

    def _update_plot(self, layer: TransformerLayer) -> None:
        equal, ratio = 6 * layer.d_model, layer.attention.flop / layer.weights_flop
        low = max(X_LIMITS[0], Y_LIMITS[0] * equal)
        high = min(X_LIMITS[1], Y_LIMITS[1] * equal)
        self.full.set_data([low, high], [low / equal, high / equal])
        low = max(X_LIMITS[0], 2 * Y_LIMITS[0] * equal)
        self.causal.set_data([low, high], [low / equal / 2, high / equal / 2])
        self.crossing.set_data([equal, equal], [Y_LIMITS[0], 1])
        self.crossing_label.set_text(f"6d = {equal:,}")
        self.crossing_label.set_position((equal, Y_LIMITS[0]))
        for artist in (self.crossing, self.crossing_label):
            artist.set_visible(equal <= X_LIMITS[1])
        self.dot.set_data([layer.seq_len], [ratio])
        self.dot_label.set_position((layer.seq_len, ratio))
        self.dot_label.set_text(ratio_text(ratio))


def title_text(layer: TransformerLayer) -> str:
    """Which head is drawn, and whose bytes are given."""
    d_head = layer.attention.d_head
    if layer.n_heads == 1:
        return f"one head of {d_head:,} numbers per token"
    return f"each of {layer.n_heads} heads: {d_head:,} numbers per token; bytes are those of all"


def ratio_text(ratio: float) -> str:
    """Attention's work against the weights', for reading.

    >>> ratio_text(0.2222), ratio_text(7.11)
    ('22.2 %', '7.11 ×')
    """
    return f"{units.number(ratio, 3)} ×" if ratio >= 1 else f"{ratio * 100:.3g} %"


def captions(layer: TransformerLayer) -> tuple[tuple[str, str, str], tuple[str, str, str]]:
    """Name, shape and size of the matrices of both products."""
    work = layer.attention
    t, d = layer.seq_len, work.d_head
    token_bytes = work.compulsory_bytes / 4  # Q, K, V and the result are equally large
    small, scores = units.text(token_bytes, "B"), units.text(work.score_bytes, "B")
    return (
        (f"Q: {shape(t, d)}\n{small}", f"Kᵀ: {shape(d, t)}\n{small}",
         f"scores: {shape(t, t)}\n{scores}"),
        (f"P: {shape(t, t)}\n{scores}", f"V: {shape(t, d)}\n{small}",
         f"O: {shape(t, d)}\n{small}"),
    )  # fmt: skip


def describe(layer: TransformerLayer) -> str:
    """What the picture shows, in words."""
    t, d = layer.seq_len, layer.attention.d_head
    return (
        f"Two products to scale, for each of {layer.n_heads} heads: queries, {shape(t, d)}, times "
        f"keys, {shape(d, t)}, gives scores, {shape(t, t)}; these times values, {shape(t, d)}, "
        f"gives {shape(t, d)}. Attention takes "
        f"{ratio_text(layer.attention.flop / layer.weights_flop)} of the weights' work."
    )


def draw_attention_gemm(result: TransformerLayer, *, ax: Axes | None = None) -> AttentionGemmFigure:
    """Draw the attention of one layer.

    Parameters
    ----------
    result : TransformerLayer
        From `workloads`, with as many key heads as heads, one sequence, all pairs counted.
    ax : Axes, optional
        Where to draw; by default on a figure of its own.
    """
    return draw(AttentionGemmFigure, result, ax)


def compute(seq_len: int, n_heads: int, d_model: int) -> TransformerLayer:
    """One layer with d_ff = 4·d_model, one sequence, all pairs of tokens counted."""
    return TransformerLayer(seq_len, d_model, n_heads=n_heads)


def readout(layer: TransformerLayer) -> tuple[Row, ...]:
    """The rows under the figure."""
    work = layer.attention
    ratio = work.flop / layer.weights_flop
    equal = 6 * layer.d_model
    return (
        Row("flop", work.flop, "FLOP", "Both products, all heads"),
        Row("weights_flop", layer.weights_flop, "FLOP", "Multiplying by the weights"),
        Row("attention_ratio", ratio, "1", "Attention against weights", ratio_text(ratio)),
        Row("equal_at", equal, "1", "Equal at 6d tokens", f"{equal:,}"),
        Row("other_flop", work.other_flop, "FLOP", "Scale and softmax"),
        Row("score_bytes", work.score_bytes, "B", "Scores of all heads, once"),
        Row("unfused_bytes", work.unfused_bytes, "B", "Bytes, scores stored"),
        Row("compulsory_bytes", work.compulsory_bytes, "B", "Bytes, fused"),
    )


def sentence(layer: TransformerLayer) -> str:
    """What the reader sees in this state."""
    work = layer.attention
    if work.score_bytes < work.compulsory_bytes / 4:
        return (
            "So few tokens, or so long heads, that the scores are the smallest matrix. "
            "Attention adds {attention_ratio} to the work of the weights."
        )
    if work.flop < layer.weights_flop:
        return (
            "Attention takes {attention_ratio} of the work of the weights. Stored, its scores "
            "make {unfused_bytes} of traffic; fused, the same work moves {compulsory_bytes}."
        )
    return (
        "Longer than {equal_at} tokens: attention takes {attention_ratio} the work of all weights. "
        "Twice the tokens, four times the scores; more heads multiply scores, not work."
    )


EXPLORABLE = Explorable(
    id="attention-gemm",
    question="When does attention outgrow the rest of its layer?",
    level="framework",
    controls=(
        Control("seq_len", "Tokens", LENGTHS, 1024, display=lambda n: f"{n:,}"),
        Control("n_heads", "Heads", HEADS, 12),
        Control("d_model", "d: numbers per token", WIDTHS, 768, display=lambda d: f"{d:,}"),
    ),
    compute=compute,
    figure=AttentionGemmFigure,
    readout=readout,
    sentence=sentence,
    assumes=(
        "one sequence, bf16, all pairs counted (solid line; a causal mask needs half, dashed), "
        "12d² weights in the layer. P is the softmax of the scores. Stored scores are written "
        "twice and read twice; scale and mask come along for free."
    ),
)

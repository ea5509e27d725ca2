"""Layers that multiply by weights, and the matrix products that they become.

Everything is counted for one forward pass. `flop` holds the multiply-adds, two each; `other_flop`
the rest by a stated rule, which a matrix unit does not do.

>>> layer = Linear(1, 1024, 768, 3072)
>>> layer.flop, layer.n_parameters
(4831838208.0, 2362368)
"""

from dataclasses import KW_ONLY, dataclass

from primer._products import Gemm, Layer, element_bytes
from primer.attention import Attention


@dataclass(frozen=True)
class Linear(Layer):
    """y = x · W + b for every token: one product with batch·seq_len rows.

    FLOP = 2·batch·seq_len·d_in·d_out, half as many multiply-adds. Batch and sequence make rows and
    nothing else: each weight is used once for every row.

    Parameters
    ----------
    batch, seq_len : int
        Sequences, and tokens in each.
    d_in, d_out : int
        Numbers per token before and after.
    bias : bool
        Whether b is added: d_out parameters, one FLOP for each output.
    storage : str
        Format in memory of inputs, weights and outputs.

    Raises
    ------
    ValueError
        If a size is not a positive integer, or the format unknown.

    Examples
    --------
    Two sequences of six tokens, 8 numbers each: 12 rows.

    >>> toy = Linear(2, 6, 8, 8, storage="fp32")
    >>> toy.n_macs, toy.flop, toy.other_flop  # 12 · 8 · 8; the bias adds 12 · 8
    (768, 1536.0, 96.0)
    >>> toy.n_parameters, toy.output_shape
    (72, (2, 6, 8))
    """

    batch: int
    seq_len: int
    d_in: int
    d_out: int
    _: KW_ONLY
    bias: bool = True
    storage: str = "bf16"

    def __post_init__(self) -> None:
        self._require_whole("batch", "seq_len", "d_in", "d_out")
        self._require_flag("bias")
        element_bytes(self.storage)

    @property
    def n_rows(self) -> int:
        """Rows of the product: tokens of all sequences, int."""
        return self.batch * self.seq_len

    @property
    def input_shape(self) -> tuple[int, int, int]:
        """Batch, sequence, d_in."""
        return (self.batch, self.seq_len, self.d_in)

    @property
    def output_shape(self) -> tuple[int, int, int]:
        """Batch, sequence, d_out."""
        return (self.batch, self.seq_len, self.d_out)

    @property
    def n_parameters(self) -> int:
        """Weights, and the bias; what the input holds are activations, int."""
        return self.d_in * self.d_out + (self.d_out if self.bias else 0)

    @property
    def other_flop(self) -> float:
        """One addition for each output, if there is a bias, float [FLOP]."""
        return float(self.n_rows * self.d_out) if self.bias else 0.0

    @property
    def input_bytes(self) -> float:
        """Size of x, float [B]."""
        return self._bytes(self.n_rows * self.d_in)

    @property
    def parameter_bytes(self) -> float:
        """Size of W and b, float [B]."""
        return self._bytes(self.n_parameters)

    @property
    def output_bytes(self) -> float:
        """Size of y, float [B]."""
        return self._bytes(self.n_rows * self.d_out)

    @property
    def compulsory_bytes(self) -> float:
        """x, W and b read once, y written once, float [B]."""
        return self.input_bytes + self.parameter_bytes + self.output_bytes

    def gemms(self) -> tuple[Gemm, ...]:
        """One product: tokens of all sequences, times the weights."""
        return (Gemm(name="x · W", m=self.n_rows, n=self.d_out, k=self.d_in),)


@dataclass(frozen=True)
class MLP(Layer):
    """The feed-forward part of a transformer layer: up, a function of each number, down.

    With d_ff = 4·d_model and without a gate it holds 8·d_model² of the layer's 12·d_model² weights.

    Parameters
    ----------
    batch, seq_len, d_model : int
        As in `Linear`.
    d_ff : int, optional
        Numbers per token in the middle; 4·d_model if not given.
    gated : bool
        A third matrix, whose result multiplies the function's (SwiGLU).
    bias : bool
        Whether each matrix has one.
    storage : str
        Format in memory.

    Examples
    --------
    >>> mlp = MLP(1, 1024, 768)
    >>> [(gemm.m, gemm.n, gemm.k) for gemm in mlp.gemms()]
    [(1024, 3072, 768), (1024, 768, 3072)]
    >>> MLP(1, 1, 4096, d_ff=14336, gated=True, bias=False).n_parameters == 3 * 4096 * 14336
    True
    """

    batch: int
    seq_len: int
    d_model: int
    _: KW_ONLY
    d_ff: int | None = None
    gated: bool = False
    bias: bool = True
    storage: str = "bf16"

    def __post_init__(self) -> None:
        self._require_whole("batch", "seq_len", "d_model")
        if self.d_ff is not None:
            self._require_whole("d_ff")
        self._require_flag("gated", "bias")
        element_bytes(self.storage)

    @property
    def d_hidden(self) -> int:
        """Numbers per token in the middle, int."""
        return 4 * self.d_model if self.d_ff is None else self.d_ff

    @property
    def parts(self) -> tuple[Linear, ...]:
        """The matrices: up, gate if there is one, down."""
        wide = self._linear(self.d_model, self.d_hidden)
        return (*[wide] * (2 if self.gated else 1), self._linear(self.d_hidden, self.d_model))

    def _linear(self, d_in: int, d_out: int) -> Linear:
        return Linear(
            self.batch, self.seq_len, d_in, d_out, bias=self.bias, storage=self.storage
        )  # fmt: skip

    @property
    def n_parameters(self) -> int:
        """Weights and biases, int."""
        return sum(part.n_parameters for part in self.parts)

    @property
    def other_flop(self) -> float:
        """Biases; one for the function and one for the gate of each hidden number, float [FLOP]."""
        hidden = self.batch * self.seq_len * self.d_hidden
        return sum(part.other_flop for part in self.parts) + hidden * (2.0 if self.gated else 1.0)

    @property
    def compulsory_bytes(self) -> float:
        """Input, parameters, output; what is in the middle never leaves the chip, float [B]."""
        tokens = self.batch * self.seq_len * self.d_model
        return self._bytes(tokens, self.n_parameters, tokens)

    def gemms(self) -> tuple[Gemm, ...]:
        """Up, gate if there is one, down."""
        names = ("up", "gate", "down") if self.gated else ("up", "down")
        return _named(names, self.parts)


@dataclass(frozen=True)
class TransformerLayer(Layer):
    """One layer of a transformer: attention between four projections, and an MLP.

    With d_ff = 4·d_model and as many key heads as heads, the weights are 12·d_model², so that
    they take 24·batch·seq_len·d_model² FLOP. Attention, quadratic in seq_len, takes as many at
    seq_len = 6·d_model (counted in full) or 12·d_model − 1 (causal).

    Parameters
    ----------
    seq_len, d_model : int
        Tokens of a sequence, and numbers per token.
    n_heads : int
        Heads of attention; must divide d_model.
    n_kv_heads : int, optional
        Heads of keys and values, each serving several heads; n_heads if not given.
    d_ff, gated, bias : optional
        As in `MLP`; `bias` also holds for the projections and the two normalizations.
    causal : bool
        As in `Attention`.
    batch : int
        Sequences.
    storage : str
        Format in memory.

    Examples
    --------
    >>> gpt2 = TransformerLayer(1024, 768, n_heads=12)
    >>> gpt2.n_parameters  # 12 · 768² weights, 13 · 768 in biases and normalizations
    7087872
    >>> gpt2.attention.flop / gpt2.weights_flop == 1024 / (6 * 768)
    True
    """

    seq_len: int
    d_model: int
    _: KW_ONLY
    n_heads: int = 1
    n_kv_heads: int | None = None
    d_ff: int | None = None
    gated: bool = False
    bias: bool = True
    causal: bool = False
    batch: int = 1
    storage: str = "bf16"

    def __post_init__(self) -> None:
        self._require_flag("bias")
        # The parts check what they are given.
        for name in ("seq_len", "d_model", "n_heads", "n_kv_heads", "causal", "batch"):
            object.__setattr__(self, name, getattr(self.attention, name))
        for name in ("d_ff", "gated"):
            object.__setattr__(self, name, getattr(self.mlp, name))

    @property
    def attention(self) -> Attention:
        """Scores, softmax and weighted sum, without the projections."""
        return Attention(
            self.seq_len, self.d_model, n_heads=self.n_heads, n_kv_heads=self.n_kv_heads,
            causal=self.causal, batch=self.batch, storage=self.storage,
        )  # fmt: skip

    @property
    def projections(self) -> tuple[Linear, ...]:
        """To queries, keys and values, and back from the heads."""
        kv = self.attention.n_key_heads * self.attention.d_head
        widths = (self.d_model, kv, kv, self.d_model)
        return tuple(
            Linear(self.batch, self.seq_len, self.d_model, width, bias=self.bias,
                   storage=self.storage)
            for width in widths
        )  # fmt: skip

    @property
    def mlp(self) -> MLP:
        """The feed-forward part."""
        return MLP(
            self.batch, self.seq_len, self.d_model, d_ff=self.d_ff, gated=self.gated,
            bias=self.bias, storage=self.storage,
        )  # fmt: skip

    @property
    def n_parameters(self) -> int:
        """Projections, MLP, and gains (and shifts, with bias) of two normalizations, int."""
        norms = 2 * self.d_model * (2 if self.bias else 1)
        return sum(part.n_parameters for part in (*self.projections, self.mlp)) + norms

    @property
    def weights_flop(self) -> float:
        """What multiplying by weights takes: projections and MLP, float [FLOP]."""
        return sum(part.flop for part in self.projections) + self.mlp.flop

    @property
    def n_macs(self) -> int:
        """Multiply-adds that count, int; with a causal mask fewer than `gemms` compute."""
        parts = (*self.projections, self.attention, self.mlp)
        return sum(part.n_macs for part in parts)

    @property
    def other_flop(self) -> float:
        """What the parts have, 7 per number and normalization, 1 per residual, float [FLOP]."""
        parts = (*self.projections, self.attention, self.mlp)
        tokens = self.batch * self.seq_len * self.d_model
        return sum(part.other_flop for part in parts) + tokens * (2 * 7 + 2)

    @property
    def compulsory_bytes(self) -> float:
        """Input, parameters, output; all between them never leaves the chip, float [B]."""
        tokens = self.batch * self.seq_len * self.d_model
        return self._bytes(tokens, self.n_parameters, tokens)

    def gemms(self) -> tuple[Gemm, ...]:
        """Projections, attention of every head, projection back, MLP."""
        *inward, outward = _named(("q", "k", "v", "out"), self.projections)
        return (*inward, *self.attention.gemms(), outward, *self.mlp.gemms())


def _named(names: tuple[str, ...], parts: tuple[Linear, ...]) -> tuple[Gemm, ...]:
    return tuple(
        Gemm(name=name, m=part.n_rows, n=part.d_out, k=part.d_in)
        for name, part in zip(names, parts, strict=True)
    )

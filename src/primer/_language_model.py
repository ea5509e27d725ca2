"""The shape of a language model and its counts; `primer.language_models` is the door to it."""

from dataclasses import dataclass

from primer.quantities import Source
from primer.workloads import element_bytes

KINDS = ("decoder", "encoder")
MLPS = ("gelu", "swiglu")
POSITIONS = ("learned", "rotary")


@dataclass(frozen=True, kw_only=True)
class Experts:
    """Several MLPs in a layer, of which each token uses a few.

    Parameters
    ----------
    n_experts, n_active : int
        Routed experts of a layer, and how many of them one token uses.
    d_ff : int
        Hidden width of one expert.
    n_shared : int
        Experts that every token uses besides.
    n_dense_layers : int
        First layers, which have one ordinary MLP instead.
    has_bias : bool
        Whether the router adds a number per expert.
    """

    n_experts: int
    n_active: int
    d_ff: int
    n_shared: int = 0
    n_dense_layers: int = 0
    has_bias: bool = False


@dataclass(frozen=True, kw_only=True)
class LatentAttention:
    """Attention that caches one short vector per token and layer instead of keys and values.

    Parameters
    ----------
    d_kv, d_query : int
        Widths that keys with values, and queries, are squeezed to.
    d_rotary, d_plain : int
        Parts of a head's key with and without positions; the first is cached beside the latent.
    d_value : int
        Width of a head's value.
    """

    d_kv: int
    d_query: int
    d_rotary: int
    d_plain: int
    d_value: int


@dataclass(frozen=True, kw_only=True)
class ParameterCount:
    """Where the parameters are; all int.

    Parameters
    ----------
    embedding, positions, head : int
        Tokens in, positions (and segments), tokens out; the head is 0 where it is tied.
    attention, mlp, router, norms : int
        Of all layers, biases included. `mlp` holds all experts, or those that one token uses.
    pooler : int
        What an encoder adds at its end.
    """

    embedding: int
    positions: int
    attention: int
    mlp: int
    router: int
    norms: int
    head: int
    pooler: int

    @property
    def total(self) -> int:
        """All of them."""
        return self.layers + self.embedding + self.positions + self.head

    @property
    def layers(self) -> int:
        """All but embeddings, positions and head."""
        return self.attention + self.mlp + self.router + self.norms + self.pooler


@dataclass(frozen=True, kw_only=True, repr=False)
class LanguageModel:
    """One model.

    Parameters
    ----------
    id, name : str
    kind : str
        "decoder" or "encoder".
    n_layers, d_model, n_heads, n_kv_heads, d_head, d_ff, vocab : int
        Its shape. `n_kv_heads` counts heads for keys and values, not query heads per group.
    mlp : str
        "gelu" (two matrices) or "swiglu" (three).
    positions : str
        "learned" (a table) or "rotary" (no parameters).
    context : int or None [tokens]
        Longest context; None where no source was read.
    sliding_window : int or None [tokens]
        How far back a token looks, if not to the start. The cache of older tokens may be dropped.
    has_bias, has_tied_embeddings, has_qk_norm : bool
        Biases in matrices and norms; the head is the embedding; norms on queries and keys.
    n_segments : int
        Rows of an encoder's table of segments.
    experts : Experts or None
    latent : LatentAttention or None
    sources : tuple of Source
    confidence : str
        "high", or "medium" where a default of a library or a copy was read.
    read, note : str
    """

    id: str
    name: str
    kind: str
    n_layers: int
    d_model: int
    n_heads: int
    n_kv_heads: int
    d_head: int
    d_ff: int
    vocab: int
    mlp: str
    positions: str
    sources: tuple[Source, ...]
    confidence: str
    read: str
    context: int | None = None
    sliding_window: int | None = None
    has_bias: bool = False
    has_tied_embeddings: bool = False
    has_qk_norm: bool = False
    n_segments: int = 0
    experts: Experts | None = None
    latent: LatentAttention | None = None
    note: str = ""

    def __repr__(self) -> str:
        return f"<LanguageModel {self.id}: {self.n_parameters:,} parameters>"

    @property
    def n_parameters(self) -> int:
        """Every parameter once; all of them have to be stored."""
        return self.count().total

    @property
    def n_active_parameters(self) -> int:
        """Those that one token uses: all but the experts it is not routed to."""
        return self.count(active=True).total

    def weight_bytes(self, storage: str = "bf16") -> float:
        """Size of all parameters in one storage format, float [B]."""
        return self.n_parameters * element_bytes(storage)

    def kv_bytes_per_token(self, storage: str = "bf16") -> float:
        """What one token leaves in the cache of keys and values, float [B].

        2 · n_layers · n_kv_heads · d_head elements; with latent attention n_layers · (d_kv +
        d_rotary); an encoder caches nothing. Left out: padding of pages, and the scales of
        quantized caches.
        """
        if self.kind == "encoder":
            per_layer = 0
        elif self.latent is not None:
            per_layer = self.latent.d_kv + self.latent.d_rotary
        else:
            per_layer = 2 * self.n_kv_heads * self.d_head
        return self.n_layers * per_layer * element_bytes(storage)

    def count(self, *, active: bool = False) -> ParameterCount:
        """Parameters by their place.

        Parameters
        ----------
        active : bool
            Count only the experts that one token uses.

        Returns
        -------
        ParameterCount
        """
        d, table = self.d_model, self.vocab * self.d_model
        positions = (self.context or 0) if self.positions == "learned" else 0
        return ParameterCount(
            embedding=table,
            positions=(positions + self.n_segments) * d,
            attention=self.n_layers * self._attention(),
            mlp=self._mlps(active),
            router=self._routers(),
            norms=self._norms(),
            head=0 if self.has_tied_embeddings else table,
            pooler=d * d + d if self.kind == "encoder" else 0,
        )

    def _attention(self) -> int:
        """Of one layer."""
        d, wide, narrow = self.d_model, self.n_heads * self.d_head, self.n_kv_heads * self.d_head
        if self.latent is None:
            bias = wide + 2 * narrow + d if self.has_bias else 0
            return d * wide + 2 * d * narrow + wide * d + bias
        part, heads = self.latent, self.n_heads
        queries = d * part.d_query + part.d_query * heads * (part.d_plain + part.d_rotary)
        keys = d * (part.d_kv + part.d_rotary) + part.d_kv * heads * (part.d_plain + part.d_value)
        return queries + keys + heads * part.d_value * d

    def _mlp(self, d_ff: int) -> int:
        """One MLP."""
        bias = d_ff + self.d_model if self.has_bias else 0
        return {"gelu": 2, "swiglu": 3}[self.mlp] * self.d_model * d_ff + bias

    def _mlps(self, active: bool) -> int:
        if self.experts is None:
            return self.n_layers * self._mlp(self.d_ff)
        part = self.experts
        each = part.n_shared + (part.n_active if active else part.n_experts)
        mixed = (self.n_layers - part.n_dense_layers) * each * self._mlp(part.d_ff)
        return part.n_dense_layers * self._mlp(self.d_ff) + mixed

    def _routers(self) -> int:
        if self.experts is None:
            return 0
        per_expert = self.d_model + (1 if self.experts.has_bias else 0)
        return (self.n_layers - self.experts.n_dense_layers) * self.experts.n_experts * per_expert

    def _norms(self) -> int:
        """Two per layer, one more: after a decoder's last layer, or on an encoder's embeddings."""
        width = 2 if self.has_bias else 1
        extra = 2 * self.d_head if self.has_qk_norm else 0
        if self.latent is not None:
            extra += self.latent.d_query + self.latent.d_kv
        return (2 * self.n_layers + 1) * width * self.d_model + self.n_layers * extra

"""Attention: two matrix products with a softmax between them, for every head.

The products are the same whether the scores are stored or not; the bytes are not.

>>> gpt2 = Attention(1024, 768, n_heads=12)
>>> gpt2.flop, gpt2.unfused_bytes / gpt2.compulsory_bytes
(3221225472.0, 17.0)
"""

from dataclasses import KW_ONLY, dataclass

from primer import _checks
from primer._products import Gemm, Layer, element_bytes

SCALE_FLOP = 1  # per score
SOFTMAX_FLOP = 5  # per score: maximum, difference, exponential, sum, quotient
SCORE_PASSES = 4  # written, read by the softmax, written again, read by the second product


@dataclass(frozen=True)
class Attention(Layer):
    """softmax(Q · Kᵀ / √d_head) · V for every head; the projections around it are `Linear`.

    FLOP = 4·d_model per pair of query and key, whatever the number of heads: with fewer numbers
    per head there are more heads. Pairs: seq_len·context, or with `causal` those whose key is not
    later than the query, seq_len·(seq_len + 1) / 2 without earlier context.

    Left out: dropout, a separate pass for scale or mask, copies of shared keys and values.

    Parameters
    ----------
    seq_len, d_model : int
        Queries of one sequence, and numbers per token over all heads.
    n_heads : int
        Must divide d_model.
    n_kv_heads : int, optional
        Heads of keys and values; must divide n_heads, which share them. n_heads if not given.
    context : int, optional
        Keys of one sequence, the queries' own included; seq_len if not given.
    causal : bool
        Whether to count only the pairs that a causal mask keeps. By default all are counted, as
        profilers do, and as a kernel works that computes all and masks some.
    batch : int
        Sequences.
    storage : str
        Format in memory, scores included.

    Raises
    ------
    ValueError
        If a size is not a positive integer, the heads do not divide, or the format is unknown.

    Examples
    --------
    >>> two_heads = Attention(3, 4, n_heads=2)
    >>> [(g.name, g.count, g.m, g.n, g.k) for g in two_heads.gemms()]
    [('Q · Kᵀ', 2, 3, 3, 2), ('P · V', 2, 3, 2, 3)]
    >>> two_heads.flop, Attention(3, 4, n_heads=2, causal=True).flop  # 9 pairs, 6 pairs
    (144.0, 96.0)
    """

    seq_len: int
    d_model: int
    _: KW_ONLY
    n_heads: int = 1
    n_kv_heads: int | None = None
    context: int | None = None
    causal: bool = False
    batch: int = 1
    storage: str = "bf16"

    def __post_init__(self) -> None:
        self._require_whole("seq_len", "d_model", "n_heads", "batch")
        for name in ("n_kv_heads", "context"):
            if getattr(self, name) is not None:
                self._require_whole(name)
        self._require_flag("causal")
        element_bytes(self.storage)
        if self.d_model % self.n_heads:
            _checks.fail("n_heads", f"divide d_model = {self.d_model}", self.n_heads)
        if self.n_heads % self.n_key_heads:
            _checks.fail("n_kv_heads", f"divide n_heads = {self.n_heads}", self.n_kv_heads)
        if self.n_keys < self.seq_len:
            _checks.fail("context", f"be at least seq_len = {self.seq_len}", self.context)

    @property
    def d_head(self) -> int:
        """Numbers per token and head, int."""
        return self.d_model // self.n_heads

    @property
    def n_key_heads(self) -> int:
        """Heads of keys and values, int."""
        return self.n_heads if self.n_kv_heads is None else self.n_kv_heads

    @property
    def n_keys(self) -> int:
        """Keys of one sequence, int."""
        return self.seq_len if self.context is None else self.context

    @property
    def n_pairs(self) -> int:
        """Pairs of query and key that count, of one sequence and head, int."""
        every = self.seq_len * self.n_keys
        return every - self.seq_len * (self.seq_len - 1) // 2 if self.causal else every

    @property
    def n_macs(self) -> int:
        """2·d_model for every pair that counts, int."""
        return 2 * self.batch * self.d_model * self.n_pairs

    @property
    def n_parameters(self) -> int:
        """None: all weights are in the projections, int."""
        return 0

    @property
    def other_flop(self) -> float:
        """Scale and softmax, six for every score that counts, float [FLOP]."""
        return float((SCALE_FLOP + SOFTMAX_FLOP) * self.batch * self.n_heads * self.n_pairs)

    @property
    def score_bytes(self) -> float:
        """Size of the scores of all heads, masked ones included, float [B]."""
        return self._bytes(self.batch * self.n_heads * self.seq_len * self.n_keys)

    @property
    def kv_bytes(self) -> float:
        """Size of keys and values, float [B]."""
        return self._bytes(2 * self.batch * self.n_keys * self.n_key_heads * self.d_head)

    @property
    def compulsory_bytes(self) -> float:
        """Q, K, V read once, the result written once: a fused kernel at its best, float [B]."""
        queries = self.batch * self.seq_len * self.d_model
        return self._bytes(queries, queries) + self.kv_bytes

    @property
    def unfused_bytes(self) -> float:
        """With the scores in memory: they are written and read twice besides, float [B]."""
        return self.compulsory_bytes + SCORE_PASSES * self.score_bytes

    def gemms(self) -> tuple[Gemm, ...]:
        """Scores and weighted sum, in full: a product computes whole rectangles."""
        count, d_head = self.batch * self.n_heads, self.d_head
        return (
            Gemm(name="Q · Kᵀ", m=self.seq_len, n=self.n_keys, k=d_head, count=count),
            Gemm(name="P · V", m=self.seq_len, n=d_head, k=self.n_keys, count=count),
        )

"""Language models as shapes: how many parameters they have, read per token, and cache per token.

A model is its table row: layers, widths, heads. Everything else is arithmetic. With d = d_model,
H heads of width h, G of them for keys and values, and f = d_ff, one layer of a decoder has

    attention    d·H·h (queries) + 2·d·G·h (keys, values) + H·h·d (output)
    MLP          2·d·f with GELU, 3·d·f with SwiGLU; times the number of experts, and d·E to route
    norms        2·d, or 4·d where they have a bias

and around the layers stand embeddings (vocab·d, twice unless tied), learned positions, one last
norm. Every token leaves 2·n_layers·G·h elements in the cache. Left out: optimizer states, anything
that a checkpoint stores beside parameters, and modules for predicting several tokens.

>>> gpt2, llama = load("gpt2"), load("llama3_8b")
>>> gpt2.n_parameters, llama.n_parameters
(124439808, 8030261248)
>>> gpt2.kv_bytes_per_token("fp16"), llama.kv_bytes_per_token("bf16")
(36864.0, 131072.0)
"""

import functools
from collections.abc import Mapping
from typing import Any

from primer import _checks, _tables
from primer._language_model import (
    KINDS,
    MLPS,
    POSITIONS,
    Experts,
    LanguageModel,
    LatentAttention,
    ParameterCount,
)
from primer.workloads import element_bytes

__all__ = [
    "Experts", "LanguageModel", "LatentAttention", "ParameterCount", "build", "element_bytes",
    "load", "names",
]  # fmt: skip

FILE = "data/language_models.toml"

# Each range is narrower than a factor of 1000 around the values in it, as in the other tables;
# whole numbers below 1000 cannot be divided by 1000 at all.
_SIZES = {
    "n_layers": (1, 1000),
    "d_model": (256, 65_536),
    "n_heads": (1, 1000),
    "n_kv_heads": (1, 1000),
    "d_head": (16, 1024),
    "d_ff": (256, 262_144),
    "vocab": (5_000, 1_000_000),
}
_OPTIONAL_SIZES = {
    "context": (128, 400_000),
    "sliding_window": (128, 400_000),
    "n_segments": (1, 16),
}
_EXPERT_SIZES = {"n_experts": (2, 4096), "n_active": (1, 256), "d_ff": (256, 262_144)}
_EXPERT_OPTIONS = {"n_shared": (0, 16), "n_dense_layers": (0, 100)}
_LATENT_SIZES = {
    "d_kv": (64, 8192),
    "d_query": (64, 16_384),
    "d_rotary": (8, 1024),
    "d_plain": (8, 1024),
    "d_value": (8, 1024),
}
_FLAGS = ("has_bias", "has_tied_embeddings", "has_qk_norm")
_CHOICES = {"kind": KINDS, "mlp": MLPS, "positions": POSITIONS, "confidence": ("high", "medium")}
_KEYS = (
    "name", *_CHOICES, *_SIZES, *_OPTIONAL_SIZES, *_FLAGS, "experts", "latent", "sources", "read",
    "note",
)  # fmt: skip


def names() -> tuple[str, ...]:
    """The identifiers of all models in the table.

    >>> len(names()), names()[0]
    (19, 'gpt2')
    """
    return tuple(_tables.read(FILE))


def load(model: str) -> LanguageModel:
    """A language model from the table.

    Parameters
    ----------
    model : str
        One of `names`.

    Returns
    -------
    LanguageModel
        The same object on every call.

    Raises
    ------
    ValueError
        If there is no such model; the message names the nearest. Also if its row breaks a rule.

    Examples
    --------
    >>> mixtral = load("mixtral_8x7b")
    >>> mixtral.n_parameters, mixtral.n_active_parameters
    (46702792704, 12879925248)
    """
    return _load(_checks.one_of("model", model, names()))


@functools.cache
def _load(model: str) -> LanguageModel:
    return build(model, _tables.read(FILE)[model])


def build(model: str, row: Mapping[str, Any]) -> LanguageModel:
    """Check one row of the table, or of your own, and freeze it.

    Parameters
    ----------
    model : str
        Its identifier.
    row : mapping
        Its keys, as in ``data/language_models.toml``.

    Raises
    ------
    ValueError
        Naming the row, the key, the rule and the value.
    """
    where = f"language_models.toml: {model}"
    _tables.keys(where, row, _KEYS)
    fields: dict[str, Any] = {
        **{k: _checks.one_of(f"{where}.{k}", row.get(k), v) for k, v in _CHOICES.items()},
        **_sizes(where, row, _SIZES),
        **_sizes(where, row, _OPTIONAL_SIZES, required=False),
        **{k: _checks.flag(f"{where}.{k}", row.get(k, False)) for k in _FLAGS},
    }
    found = LanguageModel(
        id=model,
        name=_tables.text(where, row, "name"),
        **fields,
        experts=_experts(f"{where}.experts", row.get("experts")),
        latent=_latent(f"{where}.latent", row.get("latent")),
        sources=tuple(_tables.source(where, s) for s in _tables.texts(where, row, "sources")),
        read=_tables.date(f"{where}.read", _tables.text(where, row, "read"), vague=False),
        note=_tables.text(where, row, "note", ""),
    )
    _agree(where, found)
    return found


def _sizes(
    where: str,
    row: Mapping[str, Any],
    rules: Mapping[str, tuple[int, int]],
    *,
    required: bool = True,
) -> dict[str, int]:
    """Whole numbers of a row, each inside its range."""
    found = {}
    for key, (low, high) in rules.items():
        if key not in row and not required:
            continue
        found[key] = _checks.whole(f"{where}.{key}", row.get(key), minimum=0)
        if not low <= found[key] <= high:
            _checks.fail(f"{where}.{key}", f"lie between {low:,} and {high:,}", found[key])
    return found


def _experts(where: str, table: Mapping[str, Any] | None) -> Experts | None:
    if table is None:
        return None
    _tables.keys(where, table, (*_EXPERT_SIZES, *_EXPERT_OPTIONS, "has_bias"))
    sizes = _sizes(where, table, _EXPERT_SIZES)
    sizes |= _sizes(where, table, _EXPERT_OPTIONS, required=False)
    if sizes["n_active"] > sizes["n_experts"]:
        rule = f"not exceed n_experts ({sizes['n_experts']})"
        _checks.fail(f"{where}.n_active", rule, sizes["n_active"])
    has_bias = _checks.flag(f"{where}.has_bias", table.get("has_bias", False))
    return Experts(has_bias=has_bias, **sizes)


def _latent(where: str, table: Mapping[str, Any] | None) -> LatentAttention | None:
    if table is None:
        return None
    _tables.keys(where, table, tuple(_LATENT_SIZES))
    return LatentAttention(**_sizes(where, table, _LATENT_SIZES))


def _agree(where: str, model: LanguageModel) -> None:
    """Rules that tie the numbers of a row to each other."""
    if model.n_heads % model.n_kv_heads:
        rule = f"be a divisor of n_heads ({model.n_heads})"
        _checks.fail(f"{where}.n_kv_heads", rule, model.n_kv_heads)
    if model.latent is None and model.n_heads * model.d_head != model.d_model:
        rule = f"be d_model / n_heads ({model.d_model / model.n_heads:g})"
        _checks.fail(f"{where}.d_head", rule, model.d_head)
    if model.positions == "learned" and model.context is None:
        _checks.fail(f"{where}.context", "be there where positions are learned", None)
    if model.experts is not None and model.experts.n_dense_layers > model.n_layers:
        rule = f"not exceed n_layers ({model.n_layers})"
        _checks.fail(f"{where}.experts.n_dense_layers", rule, model.experts.n_dense_layers)

"""Language models: counts against published totals, tensor by tensor, and against identities."""

import copy
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from primer import _tables, language_models

RAW = _tables.read(language_models.FILE)
ALL = [language_models.load(name) for name in language_models.names()]


# ---- values derived by hand


def test_gpt2_by_hand():
    # One layer, d = 768: 12 d² of matrices, 13 d of biases and norms
    #   (attention 4 d² + 4 d, MLP 8 d² + 5 d, two norms 4 d) = 7,077,888 + 9,984
    # 12 layers + last norm 2 d = 85,056,000
    # tokens 50,257 d = 38,597,376; positions 1024 d = 786,432
    count = language_models.load("gpt2").count()
    assert count.layers == 12 * (7_077_888 + 9_984) + 2 * 768 == 85_056_000
    assert (count.embedding, count.positions, count.head) == (38_597_376, 786_432, 0)
    assert count.total == 124_439_808


def test_llama_3_8b_by_hand():
    # attention 2 · 4096² + 2 · 4096 · 1024 = 41,943,040; MLP 3 · 4096 · 14336 = 176,160,768
    # two norms 8192; 32 layers; last norm 4096; tokens in and out 2 · 128,256 · 4096
    count = language_models.load("llama3_8b").count()
    assert count.attention == 32 * 41_943_040
    assert count.mlp == 32 * 176_160_768
    assert count.norms == 32 * 8192 + 4096
    assert count.embedding == count.head == 525_336_576
    assert count.total == 8_030_261_248


def test_an_untied_gpt2_would_have_163_million():
    row = {**RAW["gpt2"], "has_tied_embeddings": False}
    assert language_models.build("gpt2", row).n_parameters == 163_037_184


@pytest.mark.parametrize(
    ("name", "storage", "n_bytes"),
    [
        ("gpt2", "fp16", 36_864),  # 2 · 12 · 12 · 64 · 2
        ("llama3_8b", "bf16", 131_072),  # 2 · 32 · 8 · 128 · 2
        ("llama3_8b", "fp8", 65_536),
        ("llama2_7b", "bf16", 524_288),  # no grouped queries: four times llama3_8b
        ("llama3_1_70b", "bf16", 327_680),  # 2 · 80 · 8 · 128 · 2
        ("deepseek_v3", "bf16", 70_272),  # 61 · (512 + 64) · 2
        ("bert_base", "bf16", 0),
    ],
)
def test_cache_per_token(name, storage, n_bytes):
    assert language_models.load(name).kv_bytes_per_token(storage) == n_bytes


def test_a_long_context_of_a_large_model():
    # 32,768 tokens of 80 layers with 8 KV heads: 10 GiB; with 64 heads it would be 80
    assert 32_768 * language_models.load("llama3_1_70b").kv_bytes_per_token() == 10 * 2**30


def test_experts_take_memory_all_and_time_few():
    mixtral = language_models.load("mixtral_8x7b")
    assert mixtral.weight_bytes("bf16") == pytest.approx(93.4e9, rel=1e-3)
    # All eight against two of them: 3 · 4096 · 14336 each, 32 layers
    expert = 32 * 3 * 4096 * 14_336
    assert mixtral.n_parameters - mixtral.n_active_parameters == 6 * expert


# ---- second methods: an independent count, and one tensor after another


@pytest.mark.parametrize(
    ("name", "n_parameters"),
    [
        ("gpt2", 124_439_808), ("gpt2_medium", 354_823_168), ("gpt2_large", 774_030_080),
        ("gpt2_xl", 1_557_611_200), ("llama2_7b", 6_738_415_616), ("llama2_13b", 13_015_864_320),
        ("llama2_70b", 68_976_648_192), ("llama3_8b", 8_030_261_248),
        ("llama3_1_8b", 8_030_261_248), ("llama3_1_70b", 70_553_706_496),
        ("llama3_1_405b", 405_853_388_800), ("llama3_2_1b", 1_235_814_400),
        ("llama3_2_3b", 3_212_749_824), ("mistral_7b", 7_241_732_096),
        ("mixtral_8x7b", 46_702_792_704), ("mixtral_8x22b", 140_630_071_296),
        ("qwen3_8b", 8_190_735_360), ("deepseek_v3", 671_026_419_200), ("bert_base", 109_482_240),
    ],
)  # fmt: skip
def test_totals(name, n_parameters):
    assert language_models.load(name).n_parameters == n_parameters


@pytest.mark.parametrize(
    ("name", "n_active"),
    [
        ("mixtral_8x7b", 12_879_925_248), ("mixtral_8x22b", 39_161_468_928),
        ("deepseek_v3", 37_552_297_472),
    ],
)  # fmt: skip
def test_active_totals(name, n_active):
    assert language_models.load(name).n_active_parameters == n_active


@pytest.mark.parametrize(
    ("name", "billions"),
    [
        ("llama2_7b", 6.7), ("llama2_13b", 13.0), ("llama2_70b", 69.0), ("llama3_1_405b", 405.9),
        ("llama3_2_1b", 1.24), ("llama3_2_3b", 3.21), ("mistral_7b", 7.24), ("qwen3_8b", 8.19),
        ("deepseek_v3", 671),
    ],
)  # fmt: skip
def test_names_say_about_the_same(name, billions):
    assert language_models.load(name).n_parameters / 1e9 == pytest.approx(billions, rel=0.01)


def _tensors(model):
    """Shapes of every tensor in a checkpoint of the GPT-2, BERT, Llama and Qwen kinds."""
    d, f = model.d_model, model.d_ff
    wide, narrow = model.n_heads * model.d_head, model.n_kv_heads * model.d_head
    yield model.vocab, d
    if model.positions == "learned":
        yield model.context, d
    if model.kind == "encoder":
        yield from ((2, d), (d,), (d,), (d, d), (d,))
    else:
        yield from [(d,)] * (2 if model.has_bias else 1)
    for _ in range(model.n_layers):
        if model.has_bias:
            yield from ((d, wide), (wide,), (d, narrow), (narrow,), (d, narrow), (narrow,))
            yield from ((wide, d), (d,), (d, f), (f,), (f, d), (d,), (d,), (d,), (d,), (d,))
        else:
            yield from ((wide, d), (narrow, d), (narrow, d), (d, wide), (d,), (d,))
            yield from ((f, d), (f, d), (d, f))
        if model.has_qk_norm:
            yield from ((model.d_head,), (model.d_head,))
    if not model.has_tied_embeddings:
        yield model.vocab, d


@pytest.mark.parametrize(
    "model", [m for m in ALL if m.experts is None and m.latent is None], ids=lambda m: m.id
)
def test_tensor_by_tensor(model):
    assert model.n_parameters == sum(math.prod(shape) for shape in _tensors(model))


# ---- properties


@pytest.mark.parametrize("model", ALL, ids=lambda m: m.id)
def test_rows_are_complete(model):
    assert model.sources
    assert all(source.address.startswith("https://") for source in model.sources)
    assert model.n_active_parameters <= model.n_parameters
    assert (model.n_active_parameters < model.n_parameters) == (model.experts is not None)
    assert model.weight_bytes("fp32") == 2 * model.weight_bytes("bf16") == 4 * model.n_parameters
    assert language_models.load(model.id) is model
    assert f"{model.n_parameters:,}" in repr(model)


@pytest.mark.parametrize("model", ALL, ids=lambda m: m.id)
def test_parts_add_up(model):
    count = model.count()
    parts = (
        count.embedding, count.positions, count.attention, count.mlp, count.router, count.norms,
        count.head, count.pooler,
    )  # fmt: skip
    assert sum(parts) == count.total == model.n_parameters
    assert all(type(part) is int for part in parts)


@given(st.sampled_from([1, 2, 4, 8, 16, 32]), st.integers(1, 200))
def test_the_cache_grows_with_kv_heads_and_layers(n_kv_heads, n_layers):
    row = {**RAW["llama3_8b"], "n_kv_heads": n_kv_heads, "n_layers": n_layers}
    model = language_models.build("mine", row)
    assert model.kv_bytes_per_token("int8") == 2 * n_layers * n_kv_heads * 128
    assert model.count().head == 525_336_576
    # What grouped queries save: two matrices d x (H - G) h per layer
    whole = language_models.build("mine", {**row, "n_kv_heads": 32})
    saved = whole.n_parameters - model.n_parameters
    assert saved == n_layers * 2 * 4096 * (32 - n_kv_heads) * 128


@given(st.integers(1, 100), st.integers(4, 256), st.integers(1, 64))
def test_a_decoder_has_about_twelve_d_squared_per_layer(n_layers, n_heads, d_head_steps):
    d_head = min(16 * d_head_steps, 65_536 // n_heads)
    d = n_heads * d_head
    if not 256 <= d <= 65_536 or 4 * d > 262_144 or d_head < 16:
        return
    row = {
        **RAW["gpt2"], "n_layers": n_layers, "n_heads": n_heads, "n_kv_heads": n_heads,
        "d_head": d_head, "d_model": d, "d_ff": 4 * d,
    }  # fmt: skip
    count = language_models.build("mine", row).count()
    assert count.attention + count.mlp == n_layers * (12 * d * d + 9 * d)


# ---- bad input


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: language_models.load("llama3-8b"), "model must be one of .*mean 'llama3_8b'"),
        (lambda: language_models.load("GPT2"), "model must be one of .*mean 'gpt2'.*got 'GPT2'"),
        (lambda: language_models.load(None), "model must be one of .*got None"),
        (lambda: ALL[0].kv_bytes_per_token("fp17"), "storage must be one of .*mean 'fp16'"),
        (lambda: ALL[0].weight_bytes("half"), "storage must be one of .*got 'half'"),
    ],
)
def test_bad_calls_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


SIZES = [
    (name, key)
    for name, row in RAW.items()
    for key, value in row.items()
    if type(value) is int and key != "n_segments"
]


def _scaled(value, factor):
    scaled = value * factor
    return int(scaled) if scaled == int(scaled) else scaled


@pytest.mark.parametrize("factor", [1000, 1 / 1000])
@pytest.mark.parametrize(("name", "key"), SIZES)
def test_a_wrong_prefix_does_not_pass(name, key, factor):
    row = {**RAW[name], key: _scaled(RAW[name][key], factor)}
    with pytest.raises(ValueError, match=rf"^language_models.toml: {name}\.{key} must "):
        language_models.build(name, row)


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("llama3_8b", {"n_kv_heads": 5}, r"n_kv_heads must be a divisor of n_heads \(32\); got 5"),
        ("llama3_8b", {"d_head": 64}, r"d_head must be d_model / n_heads \(128\); got 64"),
        ("llama3_8b", {"d_ff": 14336.0}, "d_ff must be .*integer.*got 14336.0"),
        ("llama3_8b", {"mlp": "relu"}, "mlp must be one of gelu, swiglu.*got 'relu'"),
        ("llama3_8b", {"sources": ["meta"]}, "source must be a key of .*got 'meta'"),
        ("llama3_8b", {"sources": []}, "sources must be a list of texts"),
        ("llama3_8b", {"has_bias": 1}, "has_bias must be True or False; got 1"),
        ("llama3_8b", {"n_layer": 32}, "key must be one of .*mean 'n_layers'"),
        ("llama3_8b", {"read": "yesterday"}, "read must be a date such as"),
        ("gpt2", {"context": None}, "context must be there where positions are learned"),
        ("mixtral_8x7b", {"experts": {"n_experts": 8, "n_active": 9, "d_ff": 14336}},
         r"experts.n_active must not exceed n_experts \(8\); got 9"),
        ("deepseek_v3", {"latent": {"d_kv": 512}}, "latent.d_query must be"),
        ("deepseek_v3",
         {"experts": {"n_experts": 8, "n_active": 2, "d_ff": 2048, "n_dense_layers": 62}},
         r"experts.n_dense_layers must not exceed n_layers \(61\)"),
    ],
)  # fmt: skip
def test_slips_in_the_file_are_named(name, changes, message):
    row = copy.deepcopy(RAW[name])
    row.update(changes)
    for key in [k for k, v in changes.items() if v is None]:
        del row[key]
    with pytest.raises(ValueError, match=rf"^language_models.toml: {name}.*{message}"):
        language_models.build(name, row)

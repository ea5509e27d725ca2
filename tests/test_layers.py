"""Layers as matrix products, against hand counts, torch's counter and each other."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional
from torch.utils.flop_counter import FlopCounterMode

from primer import workloads
from primer.layers import MLP, Linear, TransformerLayer
from primer.workloads import Matmul

SIZES = st.integers(1, 40)


def counted(call) -> int:
    """FLOP that torch's counter finds; it knows products alone."""
    with FlopCounterMode(display=False) as counter:
        call()
    return counter.get_total_flops()


# ---- values derived by hand


def test_a_tensor_of_activations_holds_no_parameters():
    # [2, 6, 16] in fp32: 192 numbers, 768 bytes. Into 8 numbers: 16 · 8 weights and 8 biases.
    layer = Linear(2, 6, 16, 8, storage="fp32")
    assert layer.input_shape == (2, 6, 16)
    assert layer.input_bytes == 192 * 4 == 768
    assert layer.n_parameters == 136
    assert Linear(1, 600, 16, 8).n_parameters == 136


def test_multiply_adds_are_half_the_flop():
    # 2 · 2 · 6 · 8 · 8 = 1,536 FLOP are 768 multiply-adds; 12 rows of 8 sums get a bias.
    layer = Linear(2, 6, 8, 8)
    assert (layer.flop, layer.n_macs, layer.other_flop) == (1536, 768, 96)
    assert Linear(2, 6, 8, 8, bias=False).other_flop == 0


def test_the_one_matmul_is_a_linear_layer():
    layer, product = Linear(1, 1024, 768, 3072, bias=False), Matmul(1024, 3072, 768)
    assert layer.flop == product.flop
    assert layer.compulsory_bytes == product.compulsory_bytes
    assert layer.intensity_flop_per_byte == 384
    (gemm,) = layer.gemms()
    assert gemm.matmul() == product


def test_a_layer_of_gpt2():
    # Weights: q, k, v, out d² each, up and down 4 d² each: 12 · 768² = 7,077,888.
    # Biases: 4 d of the projections, 4 d + d of the MLP; two normalizations of 2 d: 13 · 768.
    layer = TransformerLayer(1024, 768, n_heads=12)
    assert layer.n_parameters == 12 * 768**2 + 13 * 768 == 7_087_872
    # 12 layers, tables of 50,257 tokens and 1,024 positions, a last normalization
    assert 12 * 7_087_872 + (50_257 + 1_024 + 2) * 768 == 124_439_808
    assert layer.weights_flop == 24 * 1024 * 768**2


def test_the_mlp_is_two_thirds_of_the_weights():
    layer = TransformerLayer(128, 768, n_heads=12, bias=False)
    assert layer.mlp.flop / layer.weights_flop == pytest.approx(2 / 3)
    # and no longer two thirds of the work once attention counts: 16 of 24 + 4 T / d
    long = TransformerLayer(6 * 768, 768, n_heads=12)
    assert long.mlp.flop / long.flop == pytest.approx(1 / 3)


@pytest.mark.parametrize(("d_model", "n_heads"), [(768, 12), (4096, 32)])
def test_where_attention_takes_as_much_as_the_weights(d_model, n_heads):
    # 24 T d² = 4 T² d at T = 6 d: 4,608 tokens for GPT-2.
    full = TransformerLayer(6 * d_model, d_model, n_heads=n_heads)
    assert full.attention.flop == full.weights_flop
    # Causal: 4 d · T (T + 1) / 2 = 24 T d² at T + 1 = 12 d, so 12 d = 9,216 is one too many.
    causal = TransformerLayer(12 * d_model - 1, d_model, n_heads=n_heads, causal=True)
    assert causal.attention.flop == causal.weights_flop
    at = TransformerLayer(12 * d_model, d_model, n_heads=n_heads, causal=True)
    assert at.attention.flop / at.weights_flop == pytest.approx(1, rel=2e-4)


def test_a_gated_layer_of_llama():
    # Llama 3 8B: d 4096, 32 heads, 8 of them with keys, gate, up and down of 14,336, no biases.
    layer = TransformerLayer(
        1, 4096, n_heads=32, n_kv_heads=8, d_ff=14336, gated=True, bias=False
    )  # fmt: skip
    attention = 2 * 4096 * 4096 + 2 * 4096 * 1024
    assert layer.n_parameters == attention + 3 * 4096 * 14336 + 2 * 4096


# ---- second method and outside oracle


@given(SIZES, SIZES, SIZES, SIZES)
def test_a_linear_layer_counts_what_three_loops_do(batch, seq_len, d_in, d_out):
    layer = Linear(batch, seq_len, d_in, d_out, storage="fp32")
    rows = batch * seq_len
    assert layer.n_macs == sum(d_in for _ in range(rows) for _ in range(d_out))
    numbers = rows * d_in + d_in * d_out + d_out + rows * d_out
    assert layer.compulsory_bytes == 4 * numbers


@pytest.mark.parametrize("shape", [(2, 6, 8, 8), (1, 1, 768, 3072), (3, 5, 7, 11)])
@pytest.mark.parametrize("bias", [True, False])
def test_linear_agrees_with_torch(shape, bias):
    batch, seq_len, d_in, d_out = shape
    theirs = torch.nn.Linear(d_in, d_out, bias=bias)
    x = torch.ones(batch, seq_len, d_in)
    ours = Linear(*shape, bias=bias)
    assert counted(lambda: theirs(x)) == ours.flop
    assert sum(p.numel() for p in theirs.parameters()) == ours.n_parameters
    assert tuple(theirs(x).shape) == ours.output_shape


@pytest.mark.parametrize("gated", [True, False])
def test_mlp_agrees_with_torch(gated):
    up, gate, down = (torch.nn.Linear(*s) for s in ((16, 24), (16, 24), (24, 16)))
    x = torch.ones(2, 5, 16)

    def run():
        hidden = functional.silu(gate(x)) * up(x) if gated else functional.gelu(up(x))
        return down(hidden)

    ours = MLP(2, 5, 16, d_ff=24, gated=gated)
    assert counted(run) == ours.flop
    parts = (up, gate, down) if gated else (up, down)
    assert ours.n_parameters == sum(p.numel() for part in parts for p in part.parameters())
    # 10 rows: biases of 24 (twice, if gated) and 16; the function, and the gate's product
    assert ours.other_flop == (10 * (24 * 2 + 16) + 480 if gated else 10 * (24 + 16) + 240)


def test_a_whole_layer_agrees_with_torch():
    theirs = torch.nn.TransformerEncoderLayer(32, 4, 128, activation="gelu", batch_first=True)
    theirs.train()  # the fast path of inference hides its products from the counter
    ours = TransformerLayer(10, 32, n_heads=4, batch=3)
    x = torch.ones(3, 10, 32)
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        assert counted(lambda: theirs(x)) == ours.flop
    assert sum(p.numel() for p in theirs.parameters()) == ours.n_parameters


# ---- properties


@given(SIZES, SIZES, st.sampled_from((1, 2, 4)), st.booleans(), st.booleans())
def test_a_layer_is_the_sum_of_its_products(seq_len, width, n_heads, gated, bias):
    layer = TransformerLayer(
        seq_len, 4 * width, n_heads=n_heads, gated=gated, bias=bias, n_kv_heads=1
    )
    assert layer.flop == sum(gemm.flop for gemm in layer.gemms())
    assert layer.n_macs * 2 == layer.flop
    assert len(layer.gemms()) == 6 + 2 + gated
    assert layer.compulsory_bytes > 2 * layer.n_parameters
    causal = TransformerLayer(seq_len, 4 * width, n_heads=n_heads, causal=True)
    assert causal.weights_flop <= causal.flop <= sum(gemm.flop for gemm in causal.gemms())


@given(SIZES, SIZES, SIZES)
def test_batch_and_sequence_only_make_rows(rows, d_in, d_out):
    one, other = Linear(rows, 1, d_in, d_out), Linear(1, rows, d_in, d_out)
    assert one.gemms() == other.gemms()
    assert one.compulsory_bytes == other.compulsory_bytes


def test_layers_are_found_in_workloads():
    assert workloads.Linear is Linear
    for name in (*workloads.__all__, "Attention", "Conv2d", "MLP", "TransformerLayer"):
        assert hasattr(workloads, name)
    assert len({Linear(1, 1, 2, 3), Linear(1, 1, 2, 3)}) == 1
    with pytest.raises(AttributeError):
        Linear(1, 1, 2, 3).batch = 4


# ---- bad input


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Linear(0, 1, 1, 1), "batch must be a positive integer; got 0"),
        (lambda: Linear(1, 1.5, 1, 1), "seq_len must be a positive integer; got 1.5"),
        (lambda: Linear(1, 1, -1, 1), "d_in must be a positive integer; got -1"),
        (lambda: Linear(1, 1, 1, True), "d_out must be a positive integer; got True"),
        (lambda: Linear(1, 1, 1, 1, bias=1), "bias must be True or False; got 1"),
        (lambda: Linear(1, 1, 1, 1, storage="fp17"), "storage must be one of .* got 'fp17'"),
        (lambda: MLP(1, 1, 8, d_ff=0), "d_ff must be a positive integer; got 0"),
        (lambda: MLP(1, 1, 8, gated="yes"), "gated must be True or False; got 'yes'"),
        (lambda: TransformerLayer(1, 768, n_heads=7), "n_heads must divide d_model = 768; got 7"),
        (lambda: TransformerLayer(1, 8, gated=None), "gated must be True or False; got None"),
        (lambda: TransformerLayer(0, 8), "seq_len must be a positive integer; got 0"),
        (
            lambda: workloads.Gemm(name="x", m=1, n=1, k=1, count=0),
            "count must be a positive integer; got 0",
        ),
    ],
)
def test_bad_input_is_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()

"""Attention: two products for each head; what is stored between them costs bytes, not FLOP."""

from __future__ import annotations

import itertools

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from primer.attention import Attention

SIZES = st.integers(1, 24)


# ---- values derived by hand


def test_gpt2_at_its_full_context():
    # 12 heads of 64: Q · Kᵀ 2 · 1024² · 64, P · V the same, 12 times: 4 · 1024² · 768
    work = Attention(1024, 768, n_heads=12)
    assert work.flop == 4 * 1024**2 * 768
    # Scores 12 · 1024² · 2 B = 25.2 MB, four passes 100.7 MB; Q, K, V and O 1.57 MB each
    assert work.score_bytes == pytest.approx(25.2e6, rel=2e-3)
    assert work.unfused_bytes - work.compulsory_bytes == pytest.approx(100.7e6, rel=1e-3)
    assert work.compulsory_bytes == 4 * 1024 * 768 * 2
    # scale, maximum, difference, exponential, sum, quotient of every score
    assert work.other_flop == 6 * 12 * 1024**2


def test_heads_change_the_bytes_of_scores_and_no_flop():
    one, many = Attention(512, 1024), Attention(512, 1024, n_heads=16)
    assert one.flop == many.flop
    assert many.score_bytes == 16 * one.score_bytes
    assert many.compulsory_bytes == one.compulsory_bytes


def test_shared_keys_change_bytes_and_no_flop():
    own, shared = (Attention(1, 4096, n_heads=32, n_kv_heads=n, context=8192) for n in (None, 8))
    assert own.flop == shared.flop == 4 * 8192 * 4096
    assert shared.kv_bytes * 4 == own.kv_bytes
    # One new token: 4 S d FLOP on 2 · 2 S d · (8 / 32) bytes of keys and values = H / H_kv
    assert shared.intensity_flop_per_byte == pytest.approx(4, rel=1e-3)


def test_a_causal_mask_keeps_the_diagonal_and_below():
    assert Attention(4, 8, causal=True).n_pairs == 4 + 3 + 2 + 1
    assert Attention(2, 8, context=5, causal=True).n_pairs == 4 + 5
    assert Attention(1, 8, context=5, causal=True).n_pairs == 5
    # The products are whole rectangles all the same, and so are stored scores.
    full, causal = Attention(64, 8), Attention(64, 8, causal=True)
    assert full.gemms() == causal.gemms()
    assert full.unfused_bytes == causal.unfused_bytes


# ---- second method and outside oracle


@given(SIZES, st.integers(0, 9), st.sampled_from((1, 2, 4)), st.booleans())
def test_pairs_by_counting(seq_len, earlier, n_heads, causal):
    work = Attention(seq_len, 8, n_heads=n_heads, context=seq_len + earlier, causal=causal)
    keys = range(seq_len + earlier)
    kept = sum(
        not causal or j <= i + earlier for i, j in itertools.product(range(seq_len), keys)
    )  # fmt: skip
    assert work.n_pairs == kept
    per_head = [g.n_macs for g in work.gemms()]
    if not causal:
        assert sum(per_head) == work.n_macs
    assert work.n_macs == 2 * n_heads * kept * work.d_head


@settings(max_examples=25)
@given(SIZES, SIZES, st.sampled_from((1, 2, 4)), st.integers(1, 2), st.booleans())
def test_flop_equal_those_of_torch(seq_len, earlier, n_heads, batch, causal):
    context = seq_len if causal else seq_len + earlier
    work = Attention(seq_len, 16, n_heads=n_heads, context=context, batch=batch)
    q, k = (torch.ones(batch, n_heads, t, work.d_head) for t in (seq_len, context))
    with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH):
        result = functional.scaled_dot_product_attention(q, k, k, is_causal=causal)
    # Its counter takes a causal product in full, and so does `flop` unless it is told.
    assert counter.get_total_flops() == work.flop
    assert tuple(result.shape) == (batch, n_heads, work.gemms()[1].m, work.gemms()[1].n)


def test_the_counter_takes_the_fused_operator_for_the_same():
    work = Attention(32, 64, n_heads=4)
    q = torch.ones(1, 4, 32, 16, device="meta")
    flash = torch.ops.aten._scaled_dot_product_flash_attention
    with FlopCounterMode(display=False) as counter:
        flash(q, q, q)
    assert counter.get_total_flops() == work.flop


# ---- properties


@given(SIZES, SIZES, st.sampled_from((1, 2, 4)), st.sampled_from(("fp32", "bf16", "fp8")))
def test_properties(seq_len, width, n_heads, storage):
    work = Attention(seq_len, 4 * width, n_heads=n_heads, storage=storage)
    causal = Attention(seq_len, 4 * width, n_heads=n_heads, storage=storage, causal=True)
    assert work.flop / 2 < causal.flop <= work.flop
    assert work.compulsory_bytes < work.unfused_bytes
    assert work.n_parameters == 0
    double = Attention(2 * seq_len, 4 * width, n_heads=n_heads, storage=storage)
    assert double.flop == 4 * work.flop
    assert double.score_bytes == 4 * work.score_bytes
    assert double.compulsory_bytes == 2 * work.compulsory_bytes


# ---- bad input


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Attention(0, 8), "seq_len must be a positive integer; got 0"),
        (lambda: Attention(1, 768, n_heads=10), "n_heads must divide d_model = 768; got 10"),
        (
            lambda: Attention(1, 768, n_heads=12, n_kv_heads=5),
            "n_kv_heads must divide n_heads = 12; got 5",
        ),
        (lambda: Attention(1, 8, n_kv_heads=0), "n_kv_heads must be a positive integer; got 0"),
        (lambda: Attention(9, 8, context=8), "context must be at least seq_len = 9; got 8"),
        (lambda: Attention(1, 8, causal="no"), "causal must be True or False; got 'no'"),
        (lambda: Attention(1, 8, storage="fp17"), "storage must be one of"),
    ],
)
def test_bad_input_is_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()

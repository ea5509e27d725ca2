"""Activation functions against torch, and the bytes of applying them against a count of passes."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional

from primer import activations
from primer.activations import FUNCTIONS, FUSED, Activation
from primer.figures.activations import EXPLORABLE, ONE_MATMUL, STEPS, TITLES, draw_activations
from primer.workloads import Matmul

THEIRS = {
    "relu": functional.relu,
    "gelu": functional.gelu,
    "gelu_tanh": lambda x: functional.gelu(x, approximate="tanh"),
    "silu": functional.silu,
}
SIZES = st.integers(1, 64)


# ---- functions


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_equal_those_of_torch(name):
    xs = torch.linspace(-40, 40, 801, dtype=torch.float64)
    ours = torch.tensor([FUNCTIONS[name](float(x)) for x in xs], dtype=torch.float64)
    assert torch.allclose(ours, THEIRS[name](xs), rtol=1e-12, atol=1e-12)


def test_values_by_hand():
    # Φ(−1) = 0.158655; 1 / (1 + e) = 0.268941
    assert activations.gelu(-1) == pytest.approx(-0.158655, abs=1e-6)
    assert activations.silu(-1) == pytest.approx(-1 / (1 + math.e))
    for function in FUNCTIONS.values():
        assert function(0.0) == 0
        assert function(50.0) == pytest.approx(50)
        assert function(-800.0) == pytest.approx(0)


# ---- bytes


def test_the_one_matmul_with_bias_and_function():
    # Inputs 1.573 + 4.719 MB, result 6.291 MB: 12.58 alone; each further pass 2 · 6.291 = 12.58.
    result = 1024 * 3072 * 2
    alone = (1024 * 768 + 768 * 3072) * 2 + result
    totals = [Activation(ONE_MATMUL, fused).traffic_bytes for fused in FUSED]
    assert totals == [alone + 4 * result, alone + 2 * result, alone]
    assert [round(total / 1e6, 2) for total in totals] == [37.75, 25.17, 12.58]


@given(SIZES, SIZES, SIZES)
def test_passes_add_up(m, n, k):
    work = Matmul(m, n, k, "bf16", output_storage="fp32")
    for n_fused, fused in enumerate(FUSED):
        chain = Activation(work, fused)
        assert len(chain.kernels) == 3 - n_fused
        assert chain.extra_bytes == (2 - n_fused) * 2 * work.c_bytes
        assert sum(k.traffic_bytes for k in chain.kernels) == chain.traffic_bytes
        assert sum(len(kernel.name.split(" + ")) for kernel in chain.kernels) == 3


def test_bad_input_is_named():
    with pytest.raises(ValueError, match=r"fused must be one of none, bias, all.*; got 'both'"):
        Activation(ONE_MATMUL, "both")


# ---- figure


def test_times_on_an_h100():
    # 37.75, 25.17 and 12.58 MB at 3.35 TB/s
    times = [EXPLORABLE.evaluate({"fused": fused}).result.memory_time_s for fused in FUSED]
    assert [round(t * 1e6, 2) for t in times] == [11.27, 7.51, 3.76]


@pytest.mark.parametrize("state", list(EXPLORABLE.states()), ids=lambda s: "-".join(s.values()))
def test_bars_are_the_kernels(state):
    outcome = EXPLORABLE.evaluate(state)
    figure = draw_activations(outcome.result)
    kernels = outcome.result.chain.kernels
    full = figure.reads[0].get_width() / kernels[0].read_bytes
    shown = [i for i, bar in enumerate(figure.reads) if bar.get_visible()]
    assert len(shown) == len(kernels)
    for i, kernel in zip(shown, kernels, strict=True):
        assert kernel.name.startswith(STEPS[i])
        assert figure.reads[i].get_width() == pytest.approx(full * kernel.read_bytes)
        assert figure.writes[i].get_width() == pytest.approx(full * kernel.written_bytes)
    assert [not bar.get_visible() for bar in figure.gone] == [
        bar.get_visible() for bar in figure.reads
    ]
    assert "{" not in outcome.spoken
    assert TITLES[state["function"]].split(",")[0] in outcome.spoken
    y = figure.probe.get_ydata()[0]
    assert y == FUNCTIONS[state["function"]](-1.0)
    assert "MB" in figure.alt


def test_the_function_changes_no_byte():
    for fused in FUSED:
        bytes_of = {
            EXPLORABLE.evaluate({"function": f, "fused": fused}).result.chain.traffic_bytes
            for f in FUNCTIONS
        }
        assert len(bytes_of) == 1

"""Convolution as a product of patches: hand counts, and torch for shapes, values and FLOP."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from torch.nn import functional
from torch.utils.flop_counter import FlopCounterMode

from primer.convolution import Conv2d, im2col

# ---- values derived by hand


def test_strides_may_differ_and_places_are_whole():
    # Rows: floor((28 - 3) / 2) + 1 = 13, not 13.5; columns: 25 + 1 = 26.
    conv = Conv2d(28, 28, 3, 8, kernel=3, stride=(2, 1))
    assert conv.output_shape == (1, 8, 13, 26)
    (gemm,) = conv.gemms()
    assert (gemm.m, gemm.k, gemm.n, gemm.count) == (338, 27, 8, 1)
    assert (conv.n_macs, conv.flop) == (73_008, 146_016)
    assert Conv2d(10, 10, 1, 1, kernel=3, padding=2, stride=2).out_height == 6


def test_the_blow_up_is_nine_only_at_stride_one():
    same = {"kernel": 3, "padding": 1}
    assert Conv2d(8, 8, 4, 4, **same).blow_up == 9
    assert Conv2d(8, 8, 4, 4, **same, stride=2).blow_up == 2.25
    assert Conv2d(8, 8, 4, 4, **same, stride=3).blow_up == 9 * 9 / 64
    assert Conv2d(8, 8, 4, 4, kernel=3).blow_up == 36 * 9 / 64  # without padding
    assert Conv2d(8, 8, 4, 4, kernel=1).blow_up == 1


def test_bytes_of_both_ways():
    # 8 · 8 · 16 pixels, 64 · 144 in the patch matrix, 32 · 144 weights, 64 · 32 results, 2 bytes
    conv = Conv2d(8, 8, 16, 32, kernel=3, padding=1)
    assert conv.patch_bytes == 2 * 64 * 144 == 9 * 2 * 8 * 8 * 16
    assert conv.compulsory_bytes == 2 * (1024 + 4608 + 2048)
    assert conv.materialized_bytes == 2 * (1024 + 4608 + 2048) + 2 * conv.patch_bytes


def test_pixels_that_no_patch_holds_are_not_read():
    # 1 × 1 at stride 2 reads every other row and column; a filter as large as the image, all.
    assert Conv2d(6, 6, 1, 1, kernel=1, stride=2).compulsory_bytes == 2 * (9 + 1 + 9)
    assert Conv2d(6, 6, 1, 1, kernel=6).compulsory_bytes == 2 * (36 + 36 + 1)
    assert Conv2d(5, 5, 1, 1, kernel=2, stride=3).compulsory_bytes == 2 * (16 + 4 + 4)


def test_depthwise_convolution_is_many_thin_products():
    conv = Conv2d(8, 8, 32, 32, kernel=3, padding=1, groups=32)
    (gemm,) = conv.gemms()
    assert (gemm.m, gemm.n, gemm.k, gemm.count) == (64, 1, 9, 32)
    assert conv.n_parameters == 32 * 9
    assert conv.flop == Conv2d(8, 8, 32, 32, kernel=3, padding=1).flop / 32


def test_a_filter_as_large_as_the_image_is_a_linear_layer():
    conv = Conv2d(7, 7, 64, 10, kernel=7, batch=5)
    assert conv.gemms()[0].m == 5
    assert conv.gemms()[0].k == 7 * 7 * 64


def test_rows_of_the_patch_matrix_by_hand():
    # 0 1 2 / 3 4 5 / 6 7 8 with a ring of zeros, window 2, stride 2: corners of the image.
    image = np.arange(9).reshape(1, 3, 3)
    assert im2col(image, 2, padding=1, stride=2).tolist() == [
        [0, 0, 0, 0], [0, 0, 1, 2], [0, 3, 0, 6], [4, 5, 7, 8],
    ]  # fmt: skip
    # every other row and column, then two channels side by side
    assert im2col(image, 2, dilation=2).tolist() == [[0, 2, 6, 8]]
    both = np.stack([image[0], image[0] + 10])
    assert im2col(both, 3)[0].tolist() == [*range(9), *range(10, 19)]


# ---- outside oracle: torch, over strides, padding, dilation per axis, groups


@st.composite
def convolutions(draw):
    groups = draw(st.integers(1, 3))
    pair = st.tuples
    conv = {
        "kernel": draw(pair(st.integers(1, 4), st.integers(1, 4))),
        "stride": draw(pair(st.integers(1, 3), st.integers(1, 3))),
        "padding": draw(pair(st.integers(0, 2), st.integers(0, 2))),
        "dilation": draw(pair(st.integers(1, 2), st.integers(1, 2))),
        "groups": groups,
        "batch": draw(st.integers(1, 2)),
        "bias": draw(st.booleans()),
    }
    shape = (
        draw(st.integers(1, 9)), draw(st.integers(1, 9)),
        groups * draw(st.integers(1, 3)), groups * draw(st.integers(1, 3)),
    )  # fmt: skip
    for axis in (0, 1):
        span = conv["dilation"][axis] * (conv["kernel"][axis] - 1) + 1
        assume(span <= shape[axis] + 2 * conv["padding"][axis])
    return Conv2d(*shape, **conv)


def _torch_options(conv):
    names = ("stride", "padding", "dilation", "groups")
    return {name: getattr(conv, name) for name in names}


@settings(max_examples=60)
@given(convolutions(), st.integers(0, 2**31))
def test_product_of_patches_equals_torch(conv, seed):
    rng = np.random.default_rng(seed)
    image = rng.integers(-8, 9, (conv.batch, conv.c_in, conv.height, conv.width))
    filters = rng.integers(-8, 9, conv.weight_shape)
    with FlopCounterMode(display=False) as counter:
        theirs = functional.conv2d(
            torch.tensor(image, dtype=torch.float64),
            torch.tensor(filters, dtype=torch.float64),
            **_torch_options(conv),
        ).numpy()
    assert theirs.shape == conv.output_shape
    assert counter.get_total_flops() == conv.flop
    share = conv.c_in // conv.groups
    results = []
    for g in range(conv.groups):
        patches = im2col(
            image[:, g * share : (g + 1) * share], conv.kernel,
            stride=conv.stride, padding=conv.padding, dilation=conv.dilation,
        )  # fmt: skip
        own = np.split(filters, conv.groups)[g].reshape(conv.c_out // conv.groups, -1)
        assert patches.shape == (conv.gemms()[0].m, conv.gemms()[0].k)
        results.append(patches @ own.T)
    product = np.concatenate(results, axis=1)
    ours = product.reshape(conv.batch, conv.out_height, conv.out_width, conv.c_out)
    assert np.array_equal(ours.transpose(0, 3, 1, 2), theirs)  # small integers: exact


@settings(max_examples=60)
@given(convolutions())
def test_counts_agree_with_the_patches_themselves(conv):
    rows, columns = conv.patch_matrix_shape
    pixels = 1 + np.arange(conv.batch * conv.c_in * conv.height * conv.width)
    image = pixels.reshape(conv.batch, conv.c_in, conv.height, conv.width)
    patches = im2col(
        image, conv.kernel, stride=conv.stride, padding=conv.padding, dilation=conv.dilation
    )
    assert patches.shape == (rows, columns)
    assert conv.blow_up == pytest.approx(patches.size / pixels.size)
    used = len(np.unique(patches[patches > 0]))
    others = conv.n_parameters + rows * conv.c_out
    assert conv.compulsory_bytes == 2 * (used + others)
    assert conv.materialized_bytes - conv.compulsory_bytes == 2 * 2 * patches.size


def test_unfold_of_torch_has_the_same_rows():
    image = torch.arange(2 * 3 * 5 * 6, dtype=torch.float64).reshape(2, 3, 5, 6)
    theirs = functional.unfold(image, (2, 3), stride=(1, 2), padding=1)
    ours = im2col(image.numpy(), (2, 3), stride=(1, 2), padding=1)
    assert np.array_equal(ours, theirs.transpose(1, 2).reshape(-1, 18).numpy())


# ---- bad input


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"stride": 0}, "stride must be a positive integer; got 0"),
        ({"stride": (1, -1)}, "stride must be a positive integer; got -1"),
        ({"stride": (1, 1, 1)}, r"stride must be one integer or a pair .*; got \(1, 1, 1\)"),
        ({"stride": 1.5}, "stride must be a positive integer; got 1.5"),
        ({"padding": -1}, "padding must be an integer of at least 0; got -1"),
        ({"dilation": 0}, "dilation must be a positive integer; got 0"),
        ({"kernel": 9}, "kernel must span at most the padded image, 8 here; it spans 9; got"),
        ({"dilation": 4}, "kernel must span at most the padded image, 8 here; it spans 9; got"),
        ({"kernel": (3, 0)}, "kernel must be a positive integer; got 0"),
        ({"groups": 3}, "groups must divide c_in = 4; got 3"),
        ({"groups": 4}, "groups must divide c_out = 6; got 4"),
        ({"batch": 0}, "batch must be a positive integer; got 0"),
        ({"storage": "x"}, "storage must be one of"),
    ],
)
def test_bad_input_is_named(options, message):
    with pytest.raises(ValueError, match=message):
        Conv2d(8, 8, 4, 6, **{"kernel": 3} | options)


@pytest.mark.parametrize(
    ("image", "options", "message"),
    [
        (np.ones((8, 8)), {"kernel": 3}, r"image must have the axes .*; got an array of shape"),
        (np.ones((1, 0, 8)), {"kernel": 3}, "image must have the axes"),
        (np.ones((1, 2, 8)), {"kernel": 3}, "kernel must span at most the padded image, 2 here"),
        (np.ones((1, 8, 8)), {"kernel": 3, "stride": 0}, "stride must be a positive integer"),
    ],
)
def test_bad_images_are_named(image, options, message):
    with pytest.raises(ValueError, match=message):
        im2col(image, **options)

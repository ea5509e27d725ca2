"""Layers as products, and what tiles, sets and everything but matmul cost."""

from __future__ import annotations

from primer import tiling, workloads
from primer.cache import CacheLevel
from primer.exercises import draws, slips
from primer.exercises.function import Function
from primer.exercises.number import Number
from primer.exercises.slips import Slip
from primer.exercises.verdict import Exercise

_CACHE = CacheLevel(32 * 1024, ways=8)
_SMALL_CACHE = CacheLevel(4 * 1024, ways=4)
_SIDES = (2, 4, 8, 16, 32)


def _misses(n: int, lead: int) -> int:
    """Of the plain loops in fp32, with rows that lie `lead` numbers apart."""
    run = tiling.replay(n, n, n, _CACHE, ld_a=lead, ld_b=lead, ld_c=lead)
    return run.levels[0].n_misses


_PADDING = Number(
    answer=lambda: _misses(128, 144),
    rel_tol=0.03,
    what="the misses that are left",
    slips=(
        Slip(
            "as before",
            "That is the count without the padding, where hardly a line lives to be used again.",
        ).at(lambda: _misses(128, 128), lambda: 128.0**3),
        Slip("the smaller product", "That is the count for the smaller matrices.").at(
            lambda: _misses(96, 96)
        ),
        Slip(
            "all of B stays",
            "That is each matrix once. Does all of B fit, to be there for the next row of A?",
        ).at(lambda: 3 * 128 * 128 / 16),
        Slip(
            "the old line count",
            "Every row of A fetches B once, by lines. How many numbers does a line hold?",
        ).at(lambda: 128**3 / 8, lambda: 128**3 / 64),
        Slip(
            "what has gone",
            "Those are the misses that are gone. How many are left?",
        ).at(lambda: _misses(128, 128) - _misses(128, 144)),
        Slip("a factor", "That is the factor by which they fall. How many are left?").at(
            lambda: _misses(128, 128) / _misses(128, 144)
        ),
    ),
    otherwise="How many lines has B, and how often does each of them have to come?",
)


def _tile_misses(side: int, level: CacheLevel) -> int:
    run = tiling.replay(64, 64, 64, level, tiles=side, element_bytes=8)
    return run.levels[0].n_misses


def _best_side(level: CacheLevel = _SMALL_CACHE) -> float:
    return float(min(_SIDES, key=lambda side: _tile_misses(side, level)))


def _largest_that_fits() -> float:
    """By its bytes alone, three of them in the cache."""
    return float(max(side for side in _SIDES if 3 * side**2 * 8 <= _SMALL_CACHE.size_bytes))


_BEST_TILE = Number(
    answer=_best_side,
    is_whole=True,
    what="the side of the tile that misses least",
    slips=(
        Slip(
            "largest that fits by bytes",
            "Three tiles of that side fit by their bytes. In how many sets do the rows of one tile "
            "lie, and how many places are there?",
        ).at(_largest_that_fits),
        Slip(
            "fully associative",
            "That would be best if any line could lie anywhere. This cache has sets.",
        ).at(lambda: _best_side(CacheLevel(4 * 1024))),
        Slip(
            "smallest",
            "So small a tile stays in the cache, but it has little volume for its surface.",
        ).at(lambda: float(min(_SIDES))),
        Slip("largest", "One such tile alone is larger than the cache.").at(
            lambda: float(max(_SIDES))
        ),
    ),
    otherwise="Choose one of the sides that the exercise names.",
)

_WIDTH, _HIDDEN, _HEADS, _KEY_HEADS = 4096, 14336, 32, 8


def _equal_tokens(
    *, hidden: int = _HIDDEN, gated: bool = True, key_heads: int = _KEY_HEADS, passes: float = 1.0
) -> float:
    """Tokens at which attention, all pairs counted, does the work of a layer's weights."""
    layer = workloads.TransformerLayer(
        1, _WIDTH, n_heads=_HEADS, n_kv_heads=key_heads, d_ff=hidden, gated=gated
    )
    # Weights work in proportion to the tokens, attention to their square.
    return passes * layer.weights_flop / layer.attention.flop


_OUTGROWN = Number(
    answer=_equal_tokens,
    unit="tokens",
    rel_tol=0.02,
    accepted=(
        Slip("causal", "You count only the pairs that a mask keeps. With all pairs it is half.").at(
            lambda: 2 * _equal_tokens()
        ),
    ),
    slips=(
        Slip(
            "the older layer",
            "That holds where the MLP has two tables, four times as wide, and every head its own "
            "keys. Count the weights of this layer.",
        ).at(
            lambda: _equal_tokens(hidden=4 * _WIDTH, gated=False, key_heads=_HEADS),
            lambda: 2 * _equal_tokens(hidden=4 * _WIDTH, gated=False, key_heads=_HEADS),
        ),
        Slip("without the gate", "The MLP has three tables here. Did you count the gate?").at(
            lambda: _equal_tokens(gated=False)
        ),
        Slip("own keys", "The tables for keys and values are narrower here.").at(
            lambda: _equal_tokens(key_heads=_HEADS)
        ),
        Slip(
            "the MLP alone",
            "Those are the weights of the MLP. The four tables of attention are weights, too.",
        ).at(lambda: 3 * _HIDDEN / 2),
        slips.MULTIPLY_ADD.saying(
            "Look for a factor of two: attention has two products, and both sides must count a "
            "multiply-add alike."
        ).times(0.5),
    ),
    otherwise="Count the weights in units of d², and set twice that times T equal to 4·T²·d.",
)


def _conv_gemm(
    size: int, c_in: int, c_out: int, kernel: int, stride: int, padding: int
) -> tuple[int, int, int]:
    work = workloads.Conv2d(
        size, size, c_in, c_out, kernel=kernel, stride=stride, padding=padding
    )  # fmt: skip
    gemm = work.gemms()[0]
    return gemm.m, gemm.n, gemm.k


def _wrong_places(places: str, **shape: int) -> tuple[float, float, float]:
    """The sides of the product with a typical mistake in the count of places."""
    size, kernel, stride, padding = (
        shape[name] for name in ("size", "kernel", "stride", "padding")
    )  # fmt: skip
    found = {
        "no padding": (size - kernel) // stride + 1,
        "padded once": (size + padding - kernel) // stride + 1,
        "no last": (size + 2 * padding - kernel) // stride,
        "rounded up": -(-(size + 2 * padding - kernel) // stride) + 1,
        "same": size,
    }[places]
    return float(found**2), float(shape["c_out"]), float(shape["c_in"] * kernel**2)


_CONV_GEMM = Function(
    name="conv_gemm",
    reference=_conv_gemm,
    variables={
        "size": draws.whole(8, 64),
        "c_in": draws.whole(1, 16),
        "c_out": draws.whole(1, 32),
        "kernel": draws.among(1, 2, 3, 5, 7),
        "stride": draws.whole(1, 4),
        "padding": draws.whole(0, 3),
    },
    cases=(
        {"size": 6, "c_in": 1, "c_out": 8, "kernel": 3, "stride": 1, "padding": 1},
        {"size": 6, "c_in": 2, "c_out": 8, "kernel": 3, "stride": 2, "padding": 0},
        {"size": 6, "c_in": 3, "c_out": 4, "kernel": 2, "stride": 3, "padding": 0},
    ),
    slips=(
        Slip("no padding", "Your function does not look at padding.").at(
            lambda **shape: _wrong_places("no padding", **shape)
        ),
        Slip("padded once", "The ring of zeros lies on both sides of the image.").at(
            lambda **shape: _wrong_places("padded once", **shape)
        ),
        Slip("steps for places", "There is one place more than there are steps between them.").at(
            lambda **shape: _wrong_places("no last", **shape)
        ),
        Slip("rounded up", "A window that hangs over the edge is no place. Round down.").at(
            lambda **shape: _wrong_places("rounded up", **shape)
        ),
        Slip(
            "every pixel", "Only with a ring to match, and steps of one, is each pixel a place."
        ).at(lambda **shape: _wrong_places("same", **shape)),
        Slip("one axis", "The window moves down and across: rows of places times columns.").at(
            lambda **shape: (float(_conv_gemm(**shape)[0] ** 0.5), *_conv_gemm(**shape)[1:])
        ),
        Slip("one channel", "A window holds its pixels of every channel of the image.").at(
            lambda **shape: (*_conv_gemm(**shape)[:2], shape["kernel"] ** 2)
        ),
        Slip("m, k, n", "In which order are the three sides asked for?").at(
            lambda **shape: tuple(_conv_gemm(**shape)[i] for i in (0, 2, 1))
        ),
    ),
    otherwise="Count the places of the window along one axis of the padded image first.",
)

_MATMUL_FRAC, _FASTER = 0.9, 10.0


def _rest_frac(faster: float = _FASTER) -> float:
    rest = 1 - _MATMUL_FRAC
    return rest / (rest + _MATMUL_FRAC / faster)


_REST = Number(
    answer=_rest_frac,
    rel_tol=0.02,
    what="the share of the new time that is not matmul",
    slips=(
        slips.OTHER_PART.saying("That is the share of matmul. Asked for is the rest."),
        slips.RATIO_FOR_SHARE,
        Slip("the old share", "That is the share before. The whole has become smaller.").at(
            lambda: _rest_frac(1.0)
        ),
        Slip("matmul’s old share", "That was matmul’s share before.").at(lambda: _MATMUL_FRAC),
        Slip("the speed-up", "That is how many times as fast the program is.").at(
            lambda: 1 / (1 - _MATMUL_FRAC + _MATMUL_FRAC / _FASTER)
        ),
        Slip(
            "share of the old time",
            "That is the new time in units of the old. Which part of it is not matmul?",
        ).at(lambda: 1 - _MATMUL_FRAC + _MATMUL_FRAC / _FASTER),
    ),
    otherwise="Give the old time ten units, and work out what becomes of each part.",
)

EXERCISES: dict[str, Exercise] = {
    "2.1": _PADDING,
    "2.2": _BEST_TILE,
    "2.3": _OUTGROWN,
    "2.5": _CONV_GEMM,
    "2.6": _REST,
}

"""Matrix products through caches: independent tools, closed forms, and the loops written out."""

import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from primer import cache, tiling
from primer.cache import CacheLevel

DATA = Path(__file__).parent / "data"
PYCACHESIM = json.loads((DATA / "cache_pycachesim.json").read_text(encoding="utf-8"))
CACHEGRIND = json.loads((DATA / "cache_cachegrind.json").read_text(encoding="utf-8"))
LEVELS = {
    name: [CacheLevel(*level) for level in stack] for name, stack in PYCACHESIM["levels"].items()
}
KIB_4 = CacheLevel(4096)  # fully associative


def nest_of(kernel, tile):
    return {"order": "ikj" if kernel == "ikj" else "ijk", "tiles": tile or ()}


def misses(result):
    return [level.n_misses for level in result.levels]


# ---- independent tools


@pytest.mark.parametrize("name", list(LEVELS))
def test_pycachesim_counts_the_same(name):
    rows = [row for row in PYCACHESIM["rows"] if row[4] == name]
    assert len(rows) > 30
    for kernel, n, size, tile, _, n_accesses, expected in rows:
        options = {**nest_of(kernel, tile), "element_bytes": size}
        result = tiling.replay(n, n, n, LEVELS[name], stores=False, **options)
        assert (misses(result), result.n_accesses) == (expected, n_accesses), (kernel, n, tile)
        if n_accesses < 300_000:
            addresses = tiling.stream(n, n, n, **options).addresses
            assert cache.replay(addresses, LEVELS[name], element_bytes=size) == result


def test_cachegrind_counts_within_eight_lines():
    # its counts contain a few accesses to the stack; it models no write-backs
    assert len(CACHEGRIND["rows"]) == 33
    for kernel, n, size, name, *counted in CACHEGRIND["rows"]:
        options = {"order": kernel, "element_bytes": size}
        run = tiling.replay(n, n, n, LEVELS[name], stores=False, **options)
        for level, reads, writes in zip(run.levels, counted[::2], counted[1::2], strict=True):
            assert abs(level.n_misses - reads - writes) <= 8
        first = tiling.replay(n, n, n, LEVELS[name][:1], **options).levels[0]
        assert abs(first.n_store_misses - counted[1]) <= 8


# ---- values derived by hand


@pytest.mark.parametrize(
    ("n", "size", "order", "tile", "level", "expected"),
    [
        # B by lines once per row of A, A and C once: 96³/16 + 2 · 96²/16
        (96, 4, "ijk", None, CacheLevel(32 * 1024, 8), 96**3 // 16 + 2 * 96**2 // 16),
        # rows of 512 B: a column of B meets in 8 of 64 sets and never stays
        (128, 4, "ijk", None, CacheLevel(32 * 1024, 8), 2_130_960),
        (64, 8, "ijk", 4, CacheLevel(4096, 4), 28_768),
        (64, 8, "ijk", 8, CacheLevel(4096, 4), 185_728),
        (64, 8, "ijk", 16, CacheLevel(4096, 4), 286_720),
        (64, 8, "ijk", None, CacheLevel(4096, 4), 271_232),
        # one line of B per eight products; A and C by lines once: 64³/8 + 2 · 64²/8
        (64, 8, "ikj", None, CacheLevel(4096, 4), 64**3 // 8 + 2 * 64**2 // 8),
        (64, 8, "ijk", 4, KIB_4, 25_088),
        (64, 8, "ijk", 8, KIB_4, 8_704),
        (64, 8, "ijk", 16, KIB_4, 6_144),
        # 6³ tiles, 16 lines of A and of B each; C by lines 6² times 16
        (96, 4, "ijk", 16, KIB_4, 2 * 6**3 * 16 + 6**2 * 16),
        # 12³ tiles of 8 half lines; those of A are shared by the next tile in k
        (96, 4, "ijk", 8, KIB_4, 12**3 * 8 // 2 + 12**3 * 8 + 96**2 // 16),
        # each product its own line of B, A by lines for each column, C at every store
        (96, 4, "ijk", None, KIB_4, 96**3 + 96**3 // 16 + 96**2),
    ],
)
def test_anchors(n, size, order, tile, level, expected):
    options = {"order": order, "tiles": tile or (), "element_bytes": size}
    run = tiling.replay(n, n, n, level, **options)
    assert run.levels[0].n_misses == expected
    form = tiling.traffic(n, n, n, level, **options)
    assert form.is_exact == (level.n_sets == 1)
    assert not form.is_exact or form.n_fills == expected


def test_the_disaster_of_128_is_one_of_sets():
    # 2.37 times the work of 96, 37.8 times the misses; in one set of the same size there is none
    level, padded = CacheLevel(32 * 1024, 8), {"ld_a": 144, "ld_b": 144, "ld_c": 144}
    clean, bad = (tiling.replay(n, n, n, level).levels[0] for n in (96, 128))
    assert round(bad.n_misses / clean.n_misses, 1) == 37.8
    assert bad.n_conflict > 0.9 * bad.n_misses
    assert tiling.replay(128, 128, 128, level, **padded).levels[0].n_misses < bad.n_misses / 10


@pytest.mark.parametrize(
    ("tile", "intensity"), [(8, 1.992), (16, 3.969), (32, 7.877), (64, 15.515), (128, 30.118)]
)
def test_b10_a_cache_that_holds_one_tile_of_c(tile, intensity):
    # T columns of A and T rows of B per tile of C, C once: 2N³ / (e · (2N³/T + N²)). Lines of one
    # element show what a line hides; a little room beside the T² elements is for A and B.
    level = CacheLevel(4 * (tile * tile + 4 * tile), None, 4)
    for n in (1024, 128):
        options = {"order": "kij", "tiles": (tile, tile, n)}
        form = tiling.traffic(n, n, n, level, **options)
        assert form.is_exact
        assert form.fetched_bytes == 4 * (2 * n**3 // tile + n * n)
        if n == 1024:
            assert round(2 * n**3 / form.fetched_bytes, 3) == intensity
        elif tile < n:
            assert form.n_fills == tiling.replay(n, n, n, level, **options).levels[0].n_fills


def test_b10_a_cache_that_holds_everything():
    n = 1024  # N/6 FLOP/B: each matrix once
    form = tiling.traffic(n, n, n, CacheLevel(16 * 2**20, None, 4), order="kij", tiles=n)
    assert form.is_exact
    assert round(2 * n**3 / form.fetched_bytes, 2) == 170.67
    assert form.written_bytes == 4 * n * n


@pytest.mark.parametrize(("size", "tile", "n_tiles"), [(30_000, 32, 938), (34, 16, 3), (10, 4, 3)])
def test_d7_no_tile_is_left_out(size, tile, n_tiles):
    found = tiling.blocks(size, tile, tile, tiles=tile)
    assert len(found) == n_tiles
    assert found[-1, 0, 1] == size


def test_d7_operands_of_clipped_tiles():
    # 3 x 3 x 3 tiles of 10 x 10 matrices: 3 · 100 elements of A, and of B; padded 27 · 2 · 16
    found = tiling.blocks(10, 10, 10, tiles=4)
    i, j, k = (found[:, axis, 1] - found[:, axis, 0] for axis in range(3))
    assert (i * k + k * j).sum() == 600
    assert len(found) * 2 * 4 * 4 == 864


# ---- the loops written out


def written_out(sizes, order, tiles, c_access):
    """(operand, row, column, is a store), by recursion over tiles."""
    found = []
    kept = {"i": "B", "j": "A", "k": "C"}[order[2]] if c_access != "memory" else ""

    def touch(operand, at, is_store=False):
        if operand == "C" and not is_store and c_access == "assign" and at["k"] == 0:
            return
        row, column = {"A": "ik", "B": "kj", "C": "ij"}[operand]
        found.append((operand, at[row], at[column], is_store))

    def one_pass(steps):
        if kept:
            touch(kept, steps[0])
        for at in steps:
            for operand in "ABC":
                if operand != kept:
                    touch(operand, at)
            if kept != "C":
                touch("C", at, is_store=True)
        if kept == "C":
            touch("C", steps[0], is_store=True)

    def descend(ranges, inside):
        if not inside:
            for x, y in itertools.product(ranges[0], ranges[1]):
                one_pass([dict(zip(order, (x, y, z), strict=True)) for z in ranges[2]])
            return
        step = dict(zip("ijk", inside[0], strict=True))
        parts = [
            [axis[at : at + step[name]] for at in range(0, len(axis), step[name])]
            for name, axis in zip(order, ranges, strict=True)
        ]
        for part in itertools.product(*parts):
            descend(part, inside[1:])

    whole = dict(zip("ijk", sizes, strict=True))
    descend([range(whole[name]) for name in order], tiles)
    return found


@st.composite
def nests(draw):
    """Small products in any order, up to three tiles inside each other, any padding."""
    sizes = tuple(draw(st.integers(1, 7)) for _ in range(3))
    tiles, outer = [], sizes
    for _ in range(draw(st.integers(0, 3))):
        outer = tuple(draw(st.integers(1, size)) for size in outer)
        tiles.append(outer)
    _, n, k = sizes
    pads = [draw(st.integers(0, 5)) for _ in range(3)]
    options = {
        "order": draw(st.sampled_from(tiling.ORDERS)),
        "tiles": tuple(tiles),
        "element_bytes": draw(st.sampled_from([1, 4, 8, 16])),
        "ld_a": k + pads[0], "ld_b": n + pads[1], "ld_c": n + pads[2],
        "align_bytes": draw(st.sampled_from([1, 64])),
        "c_access": draw(st.sampled_from(tiling.C_ACCESSES[1:])),
    }  # fmt: skip
    return sizes, options


@settings(max_examples=200)
@given(nests())
def test_the_stream_is_what_the_loops_say(nest):
    sizes, options = nest
    expected = written_out(sizes, options["order"], options["tiles"], options["c_access"])
    steps = tiling.steps(*sizes, **options)
    columns = (steps.operand, steps.row, steps.column, steps.is_store)
    found = [("ABC"[o], r, c, s) for o, r, c, s in zip(*(x.tolist() for x in columns), strict=True)]
    assert found == expected
    stream = tiling.stream(*sizes, **options)
    assert (stream.addresses == steps.addresses).all()
    assert not stream.addresses.flags.writeable


@settings(max_examples=300)
@given(
    nests(),
    st.lists(
        st.tuples(st.integers(1, 4), st.integers(1, 5), st.sampled_from(cache.POLICIES)),
        min_size=1, max_size=3,
    ),
    st.sampled_from(cache.INCLUSIONS),
    st.booleans(),
)  # fmt: skip
def test_generated_and_listed_count_the_same(nest, shapes, inclusion, has_stores):
    sizes, options = nest
    shapes.sort(key=lambda shape: shape[0] * shape[1])
    levels = [CacheLevel(64 * s * w, w, 64, policy) for s, w, policy in shapes]
    addresses, is_store = tiling.stream(*sizes, **options)
    listed = cache.replay(
        addresses, levels, is_store=is_store if has_stores else None, inclusion=inclusion,
        flush=True, element_bytes=options["element_bytes"],
    )  # fmt: skip
    generated = tiling.replay(
        *sizes, levels, inclusion=inclusion, flush=True, stores=has_stores, **options
    )
    assert generated == listed


@pytest.mark.parametrize("order", tiling.ORDERS)
@pytest.mark.parametrize("inclusion", cache.INCLUSIONS)
@pytest.mark.parametrize("policy", cache.POLICIES)
def test_generated_and_listed_count_the_same_when_large(order, inclusion, policy):
    levels = [CacheLevel(1024, 2, 64, policy), CacheLevel(4096, 4, 64), CacheLevel(16384, 4, 64)]
    options = {"order": order, "tiles": (24, 16, 12), "element_bytes": 4, "ld_b": 51}
    addresses, is_store = tiling.stream(40, 50, 36, **options)
    listed = cache.replay(addresses, levels, is_store=is_store, inclusion=inclusion)
    assert tiling.replay(40, 50, 36, levels, inclusion=inclusion, **options) == listed


@settings(max_examples=60)
@given(nests())
def test_the_product_is_right(nest):
    (m, n, k), options = nest
    rng = np.random.default_rng(m * 100 + n * 10 + k)
    a, b = rng.integers(-9, 9, (m, k)), rng.integers(-9, 9, (k, n))
    chosen = {name: options[name] for name in ("order", "tiles")}
    assert (tiling.multiply(a, b, **chosen) == a @ b).all()
    # and so is the one that the accesses spell out: A, B, C and store, product by product
    steps = tiling.steps(m, n, k, c_access="memory", **chosen)
    c = np.zeros((m, n), dtype=int)
    places = np.stack([steps.row, steps.column], axis=1).reshape(-1, 4, 2)
    for (i, x), (y, j), target, _ in places.tolist():
        assert x == y
        c[tuple(target)] += a[i, x] * b[y, j]
    assert (c == a @ b).all()


# ---- closed forms


@st.composite
def aligned(draw):
    """Products whose rows are whole lines, with tiles that divide."""
    size = draw(st.sampled_from([4, 8, 16, 64]))
    per_line = 64 // size
    m = draw(st.sampled_from([1, 2, 3, 4, 6, 8, 12, 16, 24]))
    n, k = (per_line * draw(st.sampled_from([1, 2, 3, 4, 6])) for _ in range(2))
    tiles, outer = [], (m, n, k)
    for _ in range(draw(st.integers(0, 2))):
        outer = tuple(
            draw(st.sampled_from([d for d in range(1, x + 1) if x % d == 0])) for x in outer
        )
        tiles.append(outer)
    options = {
        "order": draw(st.sampled_from(tiling.ORDERS)), "tiles": tuple(tiles),
        "element_bytes": size, "c_access": draw(st.sampled_from(tiling.C_ACCESSES)),
        "ld_a": k + draw(st.sampled_from([0, per_line])),
    }  # fmt: skip
    return (m, n, k), options


@settings(max_examples=300)
@given(aligned(), st.sampled_from([1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 4096]))
def test_closed_forms_are_exact_where_they_say_so(nest, n_lines):
    sizes, options = nest
    assume(sizes[0] * sizes[1] * sizes[2] < 40_000)
    level = CacheLevel(64 * n_lines)
    form = tiling.traffic(*sizes, level, **options)
    run = tiling.replay(*sizes, level, flush=True, **options).levels[0]
    if form.is_exact:
        assert (form.n_fills, form.n_writebacks) == (run.n_fills, run.n_writebacks)
    else:
        assert form.reason
    if n_lines == 4096:
        assert form.is_exact or "C is loaded" in form.reason or "row of a tile" in form.reason
    once = tiling.floor_bytes(*sizes, 10**9, element_bytes=options["element_bytes"])
    assert 64 * run.n_misses >= once
    assert 64 * (run.n_misses + run.n_writebacks) >= tiling.floor_bytes(
        *sizes, level.size_bytes, element_bytes=options["element_bytes"]
    )


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"tiles": 20}, "a tile does not divide what it lies in"),
        ({"ld_b": 97}, "rows do not begin on lines"),
        ({"bases": (4, 2**20, 2**21)}, "a matrix does not begin on a line"),
        ({"tiles": (16, 24, 24)}, "a row of a tile is no whole number or fraction of lines"),
    ],
)
def test_closed_forms_say_why_they_are_not_exact(options, reason):
    form = tiling.traffic(96, 96, 96, KIB_4, **options)
    assert (form.is_exact, form.reason) == (False, reason)


# ---- without Numba


def test_without_numba_the_numbers_are_the_same():
    rows = [row for row in PYCACHESIM["rows"] if row[5] < 20_000][::9]
    code = (
        "import json, sys\n"
        "from primer import tiling\n"
        "from primer.cache import CacheLevel\n"
        "rows, levels = json.load(sys.stdin)\n"
        "for kernel, n, size, tile, name, _, _ in rows:\n"
        "    stack = [CacheLevel(*level) for level in levels[name]]\n"
        "    order = 'ikj' if kernel == 'ikj' else 'ijk'\n"
        "    run = tiling.replay(n, n, n, stack, order=order, tiles=tile or (),\n"
        "                        element_bytes=size, stores=False)\n"
        "    print(*[level.n_misses for level in run.levels])\n"
        "assert 'numba' not in sys.modules\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input=json.dumps([rows, PYCACHESIM["levels"]]), text=True,
        capture_output=True, check=True, env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
    )  # fmt: skip
    assert len(rows) >= 5
    found = [[int(x) for x in line.split()] for line in done.stdout.splitlines()]
    assert found == [row[6] for row in rows]


# ---- bad input


def call(**changes):
    arguments = {"m": 8, "n": 8, "k": 8, "levels": KIB_4, **changes}
    sizes = [arguments.pop(name) for name in "mnk"]
    return lambda: tiling.replay(*sizes, arguments.pop("levels"), **arguments)


@pytest.mark.parametrize(
    ("do", "message"),
    [
        (call(m=0), "m must be a positive integer; got 0"),
        (call(k=2.5), "k must be a positive integer; got 2.5"),
        (call(order="ij"), "order must be one of ijk, ikj"),
        (call(tiles=9), r"tiles\[0\]\[0\] must not exceed the matrix, there 8; got 9"),
        (
            call(tiles=((4, 4, 4), (4, 8, 4))),
            r"tiles\[1\]\[1\] must not exceed tiles\[0\], there 4",
        ),
        (call(tiles=((4, 4, 4),) * 4), r"tiles must be \(\) or up to three tiles"),
        (call(tiles=(4, 4)), r"tiles must be \(\) or up to three tiles"),
        (call(tiles=(4, 4, 0)), r"tiles\[0\]\[2\] must be a positive integer; got 0"),
        (call(tiles=0), r"tiles\[0\]\[0\] must be a positive integer; got 0"),
        (call(tiles="4"), r"tiles must be \(\) or up to three tiles"),
        (call(tiles=True), r"tiles must be \(\) or up to three tiles"),
        (call(ld_a=7), "ld_a must be at least the row length 8; got 7"),
        (call(ld_c=-1), "ld_c must be a positive integer; got -1"),
        (call(element_bytes=0), "element_bytes must be a positive integer; got 0"),
        (call(element_bytes=12), "element_bytes must divide the line size 64"),
        (call(align_bytes=6), "align_bytes must be a multiple or a divisor of element_bytes 4"),
        (call(bases=(0, 1)), "bases must be three addresses"),
        (call(bases=(0, 2, 4096)), r"bases\[1\] must be a multiple of element_bytes 4; got 2"),
        (
            call(bases=(0, 128, 4096)),
            r"bases\[1\] must not begin before the end of the matrix at 0",
        ),
        (call(bases=(0, 2**40, 2**41)), "bases must span at most 134,217,728 lines"),
        (call(c_access="twice"), "c_access must be one of auto, assign, update, memory"),
        (call(levels=()), "levels must be one CacheLevel or several"),
        (call(inclusion="both"), "inclusion must be one of nine, inclusive, exclusive"),
        (call(flush="yes"), "flush must be True or False"),
        (lambda: tiling.stream(2**10, 2**10, 2**10), "m . n . k must be at most 134,217,728"),
        (lambda: tiling.steps(100, 100, 100), "m . n . k must be at most 500,000 where all"),
        (lambda: tiling.multiply(np.ones((2, 3)), np.ones((2, 3))), "a and b must be matrices"),
        (lambda: tiling.traffic(8, 8, 8, 4096), "levels must be one CacheLevel or several"),
        (lambda: tiling.floor_bytes(8, 8, 8, 0), "cache_bytes must be positive; got 0"),
    ],
)
def test_bad_input_is_named(do, message):
    with pytest.raises(ValueError, match=message):
        do()

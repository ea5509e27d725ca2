"""The cache simulator against hand counts, a plain second simulator, and case by case."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from primer import cache
from primer.cache import INCLUSIONS, CacheLevel, replay
from tests.reference_caches import Machine

COUNTS = (
    "n_accesses", "n_hits", "n_misses", "n_compulsory", "n_capacity", "n_conflict",
    "n_store_misses", "n_fills", "n_evictions", "n_removals", "n_writebacks",
)  # fmt: skip


def full(n_lines, policy="lru"):
    return CacheLevel(64 * n_lines, None, 64, policy)


def letters(text):
    """A line per letter."""
    return [64 * (ord(letter) - ord("a")) for letter in text.replace(" ", "")]


def column_walk(n, lead, size):
    """An n x n matrix, column by column."""
    column, row = np.divmod(np.arange(n * n), n)
    return (row * lead + column) * size


def counted(result):
    return [{name: getattr(level, name) for name in COUNTS} for level in result.levels]


# ---- values derived by hand


@pytest.mark.parametrize(
    ("text", "sizes", "inclusion", "from_memory", "from_second"),
    [
        # Two lines each. Side by side or included, three lines in turn always miss; exclusively
        # the two levels hold three lines together, and each line waits in the second.
        ("abc abc abc", (2, 2), "nine", 9, 0),
        ("abc abc abc", (2, 2), "inclusive", 9, 0),
        ("abc abc abc", (2, 2), "exclusive", 3, 6),
        # a stays in the first level by its hits. The second, of three lines, does not see them:
        # d pushes a out there, which takes it away above as well if a is included.
        ("abacadaeaa", (2, 3), "nine", 5, 0),
        ("abacadaeaa", (2, 3), "exclusive", 5, 0),
        ("abacadaeaa", (2, 3), "inclusive", 6, 0),
    ],
)
def test_inclusion_by_hand(text, sizes, inclusion, from_memory, from_second):
    result = replay(letters(text), [full(n) for n in sizes], inclusion=inclusion)
    second = result.levels[1]
    assert (second.n_misses, second.n_hits) == (from_memory, from_second)
    assert result.memory_read_bytes == 64 * from_memory


def test_fifo_forgets_what_it_used():
    # two lines, a b a c a: LRU keeps a at c; FIFO drops it, as it came first
    assert replay(letters("abaca"), full(2)).levels[0].n_misses == 3
    fifo = replay(letters("abaca"), full(2, "fifo")).levels[0]
    assert (fifo.n_misses, fifo.n_compulsory, fifo.n_conflict) == (4, 3, 1)


def test_causes_by_hand():
    # two sets of one way: a and c share a set. a c a: the last misses, and two lines fit: conflict
    two_sets = CacheLevel(128, 1, 64)
    level = replay(letters("aca"), two_sets).levels[0]
    assert (level.n_compulsory, level.n_capacity, level.n_conflict) == (2, 0, 1)
    # a b c a: a was the third last line, and two fit: capacity
    level = replay(letters("abca"), two_sets).levels[0]
    assert (level.n_compulsory, level.n_capacity, level.n_conflict) == (3, 1, 0)


def test_a_dirty_victim_goes_one_level_down():
    # First level one line, second two. Store a, load b and c, load a. At b the dirty a moves down,
    # a use of a there, after the fetch of b. So c pushes b out of the second level, not a.
    run = replay(letters("abca"), [full(1), full(2)], is_store=[True, False, False, False])
    assert [level.n_writebacks for level in run.levels] == [1, 0]
    assert (run.levels[1].n_misses, run.levels[1].n_hits) == (3, 1)
    assert (run.levels[1].n_dirty, run.memory_write_bytes) == (1, 0)


def test_a_dirty_victim_is_allocated_without_a_fetch():
    # First level two lines, second one. Store a, load b, which pushes a out of the second only.
    # At c the dirty a leaves the first, is placed in the second, and c leaves it: four fills
    # there, three of them fetched.
    run = replay(letters("abc"), [full(2), full(1)], is_store=[True, False, False])
    assert (run.levels[1].n_misses, run.levels[1].n_fills, run.levels[1].n_evictions) == (3, 4, 3)
    assert (run.memory_read_bytes, run.memory_write_bytes) == (3 * 64, 0)
    assert run.levels[1].n_dirty == 1


# ---- the cases


def test_d1_a_store_that_misses_is_not_a_load():
    # write-allocate: one line fetched, no load of the program; 8 doubles per line
    one = replay([0], CacheLevel(1024, 2), is_store=[True])
    assert (one.n_loads, one.n_stores, one.levels[0].n_store_misses) == (0, 1, 1)
    assert (one.levels[0].n_fills, one.levels[0].n_dirty, one.memory_write_bytes) == (1, 1, 0)
    for inclusion in INCLUSIONS:
        for levels in ([CacheLevel(1024, 2)], [full(4), full(16)], [full(4), full(8), full(64)]):
            run = replay(
                np.arange(0, 4096, 8), levels, is_store=np.ones(512, bool), flush=True,
                inclusion=inclusion, element_bytes=8,
            )  # fmt: skip
            first = run.levels[0]
            assert (run.n_loads, run.n_stores) == (0, 512)
            assert (first.n_misses, first.n_hits, first.n_fills) == (64, 448, 64)
            assert run.levels[-1].n_writebacks == 64
            assert (run.memory_read_bytes, run.memory_write_bytes) == (4096, 4096)
            assert all(level.n_dirty == 0 for level in run.levels)


@pytest.mark.parametrize(
    ("n", "size", "level", "leads"),
    [
        # ld 64: 512 B apart, so 64 lines meet in 2 of 16 sets; ld 72: 9 lines apart, all sets
        (64, 8, CacheLevel(4096, 4, 64), {64: 4096, 65: 1987, 72: 512}),
        (512, 4, CacheLevel(32768, 8, 64), {512: 262144, 513: 129543, 528: 16384}),
    ],
)
def test_d2_padding(n, size, level, leads):
    for lead, misses in leads.items():
        result = replay(column_walk(n, lead, size), level, element_bytes=size)
        assert result.levels[0].n_misses == misses
    assert min(leads.values()) == n * n * size / 64  # the best padding reads every line once


def test_d3_the_least_recently_used_line_leaves():
    run = replay(letters("abacdeab"), CacheLevel(256, 4, 64), events=True)
    assert run.events.hit_level.tolist() == [1, 1, 0, 1, 1, 1, 0, 1]
    evicted = run.events.evicted_line[:, 0].tolist()
    assert evicted == [-1, -1, -1, -1, -1, 1, -1, 2]  # e pushes out b, b pushes out c
    assert run.events.contents[0].tolist() == [[1, 0, 4, 3]]


@pytest.mark.parametrize(
    ("size", "ways", "n_sets"),
    [(48 * 1024, 12, 64), (48 * 1024, 3, 256), (1_441_792, 11, 2048), (25 * 2**20, 20, 20480)],
)
def test_d6_real_caches_are_not_powers_of_two(size, ways, n_sets):
    level = CacheLevel(size, ways, 64)
    assert level.n_sets == n_sets
    # as many lines of one set as there are ways stay; one more does not
    same_set = np.arange(ways) * n_sets * 64
    assert replay(np.tile(same_set, 2), level).levels[0].n_misses == ways
    too_many = np.arange(ways + 1) * n_sets * 64
    assert replay(np.tile(too_many, 2), level).levels[0].n_conflict == ways + 1


def test_d6_the_set_is_a_remainder():
    # three sets: lines 0 and 3 share one
    assert replay([0, 192, 64, 0], CacheLevel(192, 1, 64)).levels[0].n_misses == 4
    assert replay([0, 256, 64, 0], CacheLevel(192, 1, 64)).levels[0].n_misses == 3


# ---- a second method


@st.composite
def machines(draw):
    """One to three small levels that may stand in any relation."""
    shapes = st.tuples(st.integers(1, 5), st.integers(1, 6), st.sampled_from(cache.POLICIES))
    stack = draw(st.lists(shapes, min_size=1, max_size=3))
    stack.sort(key=lambda shape: shape[0] * shape[1])
    return [CacheLevel(n_sets * ways * 64, ways, 64, policy) for n_sets, ways, policy in stack]


STREAMS = st.lists(st.tuples(st.integers(0, 40), st.booleans()), max_size=150)


@settings(max_examples=300)
@given(machines(), STREAMS, st.sampled_from(INCLUSIONS), st.integers(1, 2**33))
def test_the_plain_simulator_counts_the_same(levels, stream, inclusion, scale):
    lines = [line * scale for line, _ in stream]
    stores = [is_store for _, is_store in stream]
    expected = Machine(levels, inclusion).run(lines, stores)
    result = replay(
        np.array(lines, dtype=np.int64) * 64, levels, inclusion=inclusion,
        is_store=np.array(stores, dtype=bool),
    )  # fmt: skip
    for level, counts in zip(counted(result), expected, strict=True):
        assert level == {name: counts[name] for name in COUNTS}


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1), st.sampled_from(INCLUSIONS), st.sampled_from(cache.POLICIES))
def test_long_streams_too(seed, inclusion, policy):
    """Long enough for the log of the shadow to be sorted and compacted many times."""
    rng = np.random.default_rng(seed)
    runs = rng.integers(0, 120, 60)
    lines = np.concatenate([np.arange(start, start + rng.integers(1, 60)) for start in runs])
    stores = rng.random(len(lines)) < 0.3
    levels = [CacheLevel(24 * 64, 3, 64, policy), full(40, policy), CacheLevel(64 * 64, 8, 64)]
    expected = Machine(levels, inclusion).run(lines.tolist(), stores.tolist())
    result = replay(lines * 64, levels, inclusion=inclusion, is_store=stores)
    for level, counts in zip(counted(result), expected, strict=True):
        assert level == {name: counts[name] for name in COUNTS}


@settings(max_examples=60)
@given(machines(), STREAMS, st.sampled_from(INCLUSIONS))
def test_events_add_up_to_the_counts(levels, stream, inclusion):
    addresses = np.array([64 * line for line, _ in stream], dtype=np.int64)
    stores = np.array([is_store for _, is_store in stream], dtype=bool)
    options = {"is_store": stores, "inclusion": inclusion}
    plain = replay(addresses, levels, **options)
    stepped = replay(addresses, levels, events=True, **options)
    assert stepped.levels == plain.levels
    events = stepped.events
    for i, level in enumerate(stepped.levels):
        assert np.count_nonzero(events.hit_level > i) == level.n_misses
        causes = np.bincount(events.cause[:, i], minlength=4)[1:]
        assert causes.tolist() == [level.n_compulsory, level.n_capacity, level.n_conflict]
        assert events.n_writebacks[:, i].sum() == level.n_writebacks
        held = events.contents[i]
        n_held = level.n_fills - level.n_evictions - level.n_removals
        assert np.count_nonzero(held >= 0) == n_held
        for row, lines in enumerate(held):
            assert all(line % len(held) == row for line in lines if line >= 0)
    assert not any(a.flags.writeable for a in vars(events).values() if isinstance(a, np.ndarray))


# ---- properties


@given(machines(), STREAMS, st.sampled_from(INCLUSIONS))
def test_counts_hold_together(levels, stream, inclusion):
    addresses = np.array([64 * line for line, _ in stream], dtype=np.int64)
    stores = np.array([is_store for _, is_store in stream], dtype=bool)
    run = replay(addresses, levels, is_store=stores, inclusion=inclusion, flush=True)
    n_asked, n_distinct = len(stream), len(np.unique(addresses))
    for level in run.levels:
        assert level.n_accesses == n_asked
        assert level.n_hits + level.n_misses == level.n_accesses
        assert level.n_compulsory + level.n_capacity + level.n_conflict == level.n_misses
        assert level.n_compulsory == n_distinct
        assert min(vars(level).values()) >= 0
        n_asked = level.n_misses
    assert run.memory_read_bytes >= 64 * n_distinct
    assert run.memory_write_bytes >= 64 * len(np.unique(addresses[stores]))
    assert run.n_loads + run.n_stores == len(stream)


@given(STREAMS)
def test_more_room_never_hurts_lru(stream):
    addresses = [64 * line for line, _ in stream]
    misses = [replay(addresses, full(n)).levels[0].n_misses for n in range(1, 45)]
    assert misses == sorted(misses, reverse=True)
    assert misses[-1] == len(set(addresses))


def test_more_room_may_hurt_fifo():
    # Belady's anomaly, the classic sequence
    walk = letters("abcd abe abcde")
    assert [replay(walk, full(n, "fifo")).levels[0].n_misses for n in (3, 4)] == [9, 10]


def test_a_full_lru_has_no_conflicts():
    rng = np.random.default_rng(3)
    level = replay(rng.integers(0, 9000, 20_000), full(64)).levels[0]
    assert level.n_conflict == 0
    assert level.n_capacity > 0


def test_far_apart_addresses_are_renumbered():
    near = replay(letters("abcabca"), CacheLevel(128, 1)).levels
    far = replay(np.array(letters("abcabca")) * (2**40 + 1), CacheLevel(128, 1)).levels
    assert near == far
    # case of tools that cut addresses: 2**32 apart is another line
    assert replay([0, 2**32], full(4)).levels[0].n_misses == 2


def test_nothing_at_all():
    run = replay([], [full(2), full(4)], is_store=[], events=True)
    assert (run.n_accesses, run.traffic_bytes, run.levels[1].hit_frac) == (0, 0, 0.0)
    assert run.events.cause.shape == (0, 2)


# ---- without Numba


def test_without_numba_the_numbers_are_the_same():
    code = (
        "import numpy as np\n"
        "from primer.cache import CacheLevel, replay, INCLUSIONS\n"
        "rng = np.random.default_rng(1)\n"
        "a = rng.integers(0, 6000, 3000); s = rng.random(3000) < 0.3\n"
        "for inclusion in INCLUSIONS:\n"
        "    print(replay(a, [CacheLevel(1024, 2), CacheLevel(4096)], is_store=s,\n"
        "                 inclusion=inclusion, flush=True))\n"
    )
    found = []
    for switch in ("0", "1"):
        environment = {**os.environ, "NUMBA_DISABLE_JIT": switch}
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True,
            env=environment,
        )  # fmt: skip
        found.append(done.stdout)
    assert found[0] == found[1]
    assert found[0].count("CacheResult") == 3


# ---- bad input


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: CacheLevel(0), "size_bytes must be a positive integer; got 0"),
        (lambda: CacheLevel(4096.0), "size_bytes must be a positive integer; got 4096.0"),
        (lambda: CacheLevel(4096, 0), "ways must be a positive integer; got 0"),
        (lambda: CacheLevel(4096, 4, 48), "line_bytes must be a power of two; got 48"),
        (lambda: CacheLevel(100, 1), "size_bytes must be a whole number of lines of 64 B; got 100"),
        (
            lambda: CacheLevel(4096, 3),
            "size_bytes must be sets x ways x line_bytes, so a multiple of 3 x 64; got 4096",
        ),
        (lambda: CacheLevel(4096, 4, 64, "LRU"), r"policy must be one of .*did you mean 'lru'"),
        (lambda: replay([0], []), "levels must be one CacheLevel or several"),
        (lambda: replay([0], [4096]), "levels must be one CacheLevel or several"),
        (
            lambda: replay([0], [full(4), CacheLevel(4096, 4, 128)]),
            r"line_bytes of levels\[1\] must share one line size, here 64 B; got 128",
        ),
        (
            lambda: replay([0], [full(8), full(4)], inclusion="inclusive"),
            r"size_bytes of levels\[1\] must be at least the 512 B of the level above",
        ),
        (lambda: replay([0], full(4), inclusion="victim"), "inclusion must be one of nine"),
        (lambda: replay([-1], full(4)), "addresses must be .* zero or above .*; got -1"),
        (lambda: replay([0.5], full(4)), "addresses must be a one-dimensional array of integers"),
        (lambda: replay([[0]], full(4)), "addresses must be a one-dimensional array of integers"),
        (lambda: replay([True], full(4)), "addresses must be a one-dimensional array of integers"),
        (lambda: replay([2**63], full(4)), "addresses must be .* below 2..62; got 9223372036"),
        (lambda: replay(["a"], full(4)), "addresses must be a one-dimensional array of integers"),
        (lambda: replay([0, 1], full(4), is_store=[True]), "is_store must be 2 booleans"),
        (lambda: replay([0], full(4), is_store=[1]), "is_store must be 1 booleans"),
        (
            lambda: replay([0, 60], full(4), element_bytes=8),
            "addresses must be of elements of 8 B that do not cross a line of 64 B; got 60",
        ),
        (lambda: replay([0], full(4), element_bytes=65), "element_bytes must fit into a line"),
        (lambda: replay([0], full(4), events=1), "events must be True or False; got 1"),
        (
            lambda: replay(np.zeros(100_001, int), full(4), events=True),
            "addresses must be at most 100,000 where events=True; got 100001",
        ),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()

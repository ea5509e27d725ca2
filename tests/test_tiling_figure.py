"""The tiling figure: anchors, floors, and every step of the small product against a replay."""

from __future__ import annotations

import math

import numpy as np
import pytest

from primer import cache
from primer.figures import _tilingruns as runs
from primer.figures.tiling import EXPLORABLE, draw_tiling, verdict

BASE = EXPLORABLE.default_state


def product(**state):
    whole = BASE | state
    return runs.compute(**whole).product


def first(**state):
    return product(**state).run.levels[0]


def test_the_clean_default_and_the_disaster():
    # 96: one miss per line of A (576), of B for each row of A (96 · 576), of C (576).
    assert first().n_misses == 576 + 96 * 576 + 576 == 56_448
    # 128: 64 places for the 128 lines of a column of B. Every load of B misses (128³); A and C
    # cost more than their lines too, as B sweeps their sets (counted by others: models of 1.9).
    assert first(n=128).n_misses == 2_130_960 >= 128**3
    assert first(n=128).n_conflict > 0.9 * 2_130_960
    assert (product().column_room, product(n=128).column_room) == (256, 64)


def test_power_of_two_tiles_can_be_worse_than_none():
    at = {"n": 64, "storage": "fp64", "cache": "4k_4way"}
    counts = [first(**at, tile=tile).n_misses for tile in ("4", "8", "16", "none")]
    assert counts == [28_768, 185_728, 286_720, 271_232]
    assert first(**at, order="ikj").n_misses == 33_792
    full = [first(**at | {"cache": "4k_full"}, tile=tile).n_misses for tile in ("4", "8", "16")]
    assert full == [25_088, 8_704, 6_144]


def test_floors_by_hand():
    default = product()
    assert default.compulsory_bytes == 3 * 96**2 * 4 == 110_592
    assert default.floor_bytes == 110_592  # the cache is too large for the other bound
    small = product(cache="4k_full", tile="16")
    # S = 1024 numbers: 2 · 96³ / 32 - 2 · 1024 numbers of four bytes
    assert small.floor_bytes == 4 * (2 * 96**3 / math.sqrt(1024) - 2048) == 212_992
    # 2 · 6³ · 16 lines of A and B, 6² · 16 of C; C is written back once
    assert small.run.traffic_bytes == 64 * (2 * 216 * 16 + 2 * 36 * 16)
    assert small.floor_ratio == pytest.approx(516_096 / 212_992)


STATES = [s for s in EXPLORABLE.states() if s and s["step"] == 0]


def test_every_product_keeps_the_laws():
    for state in STATES:
        one = runs.compute(**state).product
        assert one.run.traffic_bytes >= one.floor_bytes >= one.compulsory_bytes
        requests = one.run.n_accesses
        for level, counts in zip(one.levels, one.run.levels, strict=True):
            assert counts.n_accesses == requests == counts.n_hits + counts.n_misses
            causes = counts.n_compulsory + counts.n_capacity + counts.n_conflict
            assert causes == counts.n_misses
            # rows are whole lines, so the matrices are compulsory_bytes / 64 lines
            assert counts.n_compulsory == one.compulsory_bytes // 64
            if level.n_sets == 1:
                assert counts.n_conflict == 0
            requests = counts.n_misses
        assert "{n_misses}" in verdict(one)


def test_the_small_product_by_hand():
    small = runs.small_run("ijk", "none")
    # load C; then A and B for eight k; store C
    assert small.ends.tolist() == [18 * s - s for s in range(33)]
    assert small.trace.count(10**6, "compulsory") == 8 + 16 + 8
    # Tiles of 4: in each of four, four lines each of A, B; C stays for both tiles of k
    assert runs.small_run("ijk", "16").trace.n_misses(10**6) == 4 * 8 + 2 * 2 * 4 == 48


@pytest.mark.parametrize("order", runs.ORDERS)
@pytest.mark.parametrize("tile", runs.TILES)
def test_every_step_of_the_small_product(order, tile):
    small = runs.small_run(order, tile)
    steps, trace = small.steps, small.trace
    assert small.ends[-1] == len(steps.addresses)
    for step in range(runs.N_STEPS + 1):
        n = int(small.ends[step])
        assert np.count_nonzero(steps.operand[:n] == 1) == 8 * step
        held = trace.held(n)
        assert len(held) <= runs.ROOM
        assert trace.count(n, "hit") + trace.n_misses(n) == n
        if n:
            assert steps.is_store[n - 1]
            replayed = cache.replay(
                steps.addresses[:n], trace.level, is_store=steps.is_store[:n], events=True
            )
            lines = replayed.events.contents[0]
            assert held == tuple(sorted(lines[lines >= 0].tolist()))
            assert replayed.levels[0].n_misses == trace.n_misses(n)


def test_a_step_past_the_end_stays_there():
    assert runs.compute(**BASE | {"step": 99}).step == runs.N_STEPS


def test_the_picture_counts_what_it_marks():
    result = runs.compute(**BASE | {"step": 4})
    figure = draw_tiling(result)
    held = figure.small.held.get_path().vertices
    assert len(held) == 5 * len(result.small.trace.held(result.n_done)) == 5 * 8
    assert len(figure.small.missed.get_path().vertices) == 4 * 9  # a column of B, and C
    assert "56,448 misses" in figure.alt
    assert draw_tiling(runs.compute(**BASE | {"cache": "4k_32k"})).real.titles[1].get_text()


def test_sentences():
    def spoken(**state):
        return EXPLORABLE.evaluate(state).spoken

    assert "B does not last until the next row of A" in spoken()
    assert spoken(n=128).startswith("Sets collide")
    assert spoken(n=64).startswith("Most of the 768 misses are compulsory")
    assert spoken(cache="4k_full").startswith("A column of B has 96 lines")
    assert spoken(cache="4k_full", tile="16").startswith("The tiles fit")
    assert spoken(cache="4k_full", tile="32").startswith("Three such tiles")
    enough = spoken(cache="4k_full", tile="16", n=64, storage="fp64")
    assert "One, with a row of each of the others, does" in enough
    assert spoken(cache="4k_4way", tile="16", n=128).startswith("Sets collide: the rows of a tile")
    assert "4,608 go on to memory" in spoken(cache="4k_32k", tile="16")


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="tile must be one of"):
        runs.compute(**BASE | {"tile": "5"})
    with pytest.raises(ValueError, match="n must be one of 64, 96, 128; got 97"):
        runs.compute(**BASE | {"n": 97})
    assert EXPLORABLE.snap(BASE | {"storage": "fp64"}, "storage")["n"] == 64
    with pytest.raises(ValueError, match="must be possible"):
        EXPLORABLE.evaluate({"storage": "fp64"})
    with pytest.raises(ValueError, match="step must be an integer of at least 0"):
        runs.compute(**BASE | {"step": -1})

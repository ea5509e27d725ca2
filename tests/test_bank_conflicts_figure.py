"""The bank figure: rows are wavefronts, cells are words, and sentences hold in every state."""

from __future__ import annotations

import pytest

from primer.figures import bank_conflicts as fig
from primer.figures.bank_conflicts import EXPLORABLE, compute, draw_bank_conflicts
from primer.warps import bank_conflict_ways

STATES = [state for state in EXPLORABLE.states() if state]


def test_the_default_is_the_disaster_and_padding_cures_it():
    rows = {row.name: row.value for row in EXPLORABLE.evaluate({}).rows}
    assert (rows["n_wavefronts"], rows["n_ideal_wavefronts"], rows["n_ways"]) == (32, 1, 32)
    assert (rows["n_excess_wavefronts"], rows["n_banks_used"]) == (31, 1)
    cured = {row.name: row.value for row in EXPLORABLE.evaluate({"padding_words": 1}).rows}
    assert (cured["n_wavefronts"], cured["n_excess_wavefronts"], cured["n_banks_used"]) == (
        1, 0, 32,
    )  # fmt: skip


def test_every_state_draws_what_it_counts():
    figure = draw_bank_conflicts(compute(1, 0, 4))
    for state in STATES:
        load = compute(**state)
        figure.update(load)
        rows = list(fig.wavefronts(load.request))
        assert len(rows) == load.request.n_wavefronts <= 32
        # every word is served once: 32 lanes ask for distinct ones, or all for the same
        n_words = state["element_bytes"] // 4
        n_askers = 32 if load.step_words else max(1, n_words)
        assert sum(map(len, rows)) == n_askers * n_words
        assert len(figure.idles.get_path().vertices) == 5 * len(rows)
        assert len(figure.serves.get_path().vertices) == 5 * sum(map(len, rows))
        assert all(figure.verdict.get_text().count(str(n)) for n in {len(rows)})


def test_turns_are_wavefronts():
    for state in STATES:
        load = compute(**state)
        assert sorted(set(load.turn)) == list(range(load.request.n_wavefronts))
        first = list(fig.threads(load, True))
        assert len(first) == load.turn.count(0)
        assert len(first) + len(list(fig.threads(load, False))) == 32
    # lanes 0 to 7 have banks of their own in turn 0; 20 · 8 words later all banks repeat
    assert compute(20, 0, 4).turn == tuple(lane // 8 for lane in range(32))
    assert compute(4, 0, 16).turn == tuple(lane // 8 for lane in range(32))


def test_wide_elements_need_rows_that_keep_them_aligned():
    def sizes(**state):
        return EXPLORABLE.choices(EXPLORABLE.default_state | state, "element_bytes")

    assert sizes() == (4, 8, 16)
    assert sizes(padding_words=1) == (4,)
    assert sizes(padding_words=2) == (4, 8)
    wide = EXPLORABLE.default_state | {"element_bytes": 16}
    assert EXPLORABLE.snap(wide | {"padding_words": 1}, "padding_words")["element_bytes"] == 4
    with pytest.raises(ValueError, match="must be possible"):
        EXPLORABLE.evaluate({"stride_words": 33, "element_bytes": 8})


def test_sentences():
    def spoken(stride, padding=0, size=4):
        state = {"stride_words": stride, "padding_words": padding, "element_bytes": size}
        return EXPLORABLE.evaluate(state).spoken

    assert spoken(32).startswith("All 32 lanes want different words of the same bank")
    assert spoken(32, 1).startswith("32 wavefronts without the padding, one with it")
    assert spoken(1) == "32 lanes, 32 banks, one word from each: nobody waits."
    assert spoken(0).endswith("to all of them: a broadcast is no conflict.")
    assert "once for every 8 lanes" in spoken(0, 0, 16)
    assert "carries 32 words, all that the banks can give, and serves 8 lanes" in spoken(4, 0, 16)
    assert "only 8 of 32 banks, and the busiest is asked for 4 words" in spoken(20)
    assert spoken(32, 0, 16).endswith("32 wavefronts, where 4 would do.")


def test_sentences_are_true():
    for state in STATES:
        request, spoken = compute(**state).request, EXPLORABLE.evaluate(state).spoken
        assert "{" not in spoken
        assert ("would do" in spoken or "wait in line" in spoken) == (request.n_ways > 1)
        assert ("broadcast" in spoken) == request.is_broadcast
        if "all that the banks can give" in spoken:
            assert all(len(banks) == 32 for banks in fig.wavefronts(request))
        if "without the padding" in spoken:
            plain = bank_conflict_ways(state["stride_words"])
            assert spoken.startswith(f"{plain} wavefronts")
            assert plain > 1 == request.n_wavefronts


def test_the_verdict():
    assert draw_bank_conflicts(compute(32, 1, 4)).verdict.get_text() == (
        "done after 1 wavefront, no conflict"
    )
    figure = draw_bank_conflicts(compute(2, 0, 4))
    assert figure.verdict.get_text() == "done after 2 wavefronts; without conflicts 1"
    assert figure.alt.endswith("2 words apart: 2 wavefronts, 1 without conflicts.")


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="multiple of element_bytes"):
        compute(1, 0, 8)
    with pytest.raises(ValueError, match="element_bytes must be one of 4, 8, 16"):
        EXPLORABLE.evaluate({"element_bytes": 2})

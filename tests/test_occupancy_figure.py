"""The occupancy figure: the covers leave what fits, and the advice under it is good advice."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb

from primer.figures import _occupancyruns as runs
from primer.figures import _occupancysheet as sheet
from primer.figures import style
from primer.figures.occupancy import EXPLORABLE, draw_occupancy, names

KIB = 1024
STATES = [state for state in EXPLORABLE.states() if state]
SOME = np.random.default_rng(5).permutation(len(STATES))[:150]


def state(**changes):
    return EXPLORABLE.default_state | changes


def row(outcome, name):
    return next(r for r in outcome.rows if r.name == name)


def some():
    return [STATES[i] for i in SOME]


@pytest.fixture(scope="module")
def canvas():
    """Draws states, and gives the color of a point of the sheet, in points from below left."""
    figure = draw_occupancy(runs.compute(**EXPLORABLE.default_state))
    page = style.page(figure.ax)
    page.set_facecolor("white")
    drawn = FigureCanvasAgg(page)

    def draw(result):
        with style.context():
            figure.update(result)
            drawn.draw()
        pixels = np.asarray(drawn.buffer_rgba())[::-1, :, :3] / 255

        def color(x, y):
            return pixels[int(y), int(x)]

        return color

    return draw


def is_white(color):
    return bool((color > 0.97).all())


def test_as_many_slots_are_filled_as_warps_live_here(canvas):
    """The least of four covers is what is seen: counted on the drawn picture."""
    for chosen in some()[:15]:
        result = runs.compute(**chosen)
        color = canvas(result)
        filled = 0
        for i in range(sheet.N_ROWS):
            for j in range(result.n_slots_per_scheduler):
                x, y, w, _ = sheet.slot_place(i, j)
                # low in a slot, where a partly empty warp has its threads, beside the number
                filled += not is_white(color(x + w - 2.5, y + 2.5))
        assert filled == result.launch.n_warps, chosen


def test_bars_are_filled_as_far_as_all_allow(canvas):
    for chosen in some()[15:30]:
        result = runs.compute(**chosen)
        color, n = canvas(result), result.launch.n_blocks
        for i, name in enumerate(sheet.LIMIT_NAMES):
            _, y, _, h = sheet.bar_place(i)
            end = sheet.at_blocks(n)
            if n:
                inside = color(end - 4, y + h / 2)
                assert np.allclose(inside, to_rgb(style.COMPUTE), atol=0.02), (chosen, name)
            if getattr(result.launch.limits, name) > n:
                assert is_white(color(end + 4, y + h / 2)), (chosen, name)


def test_blocks_are_dealt_out_without_a_gap():
    for chosen in some():
        result = runs.compute(**chosen)
        places = [at for b in range(result.launch.n_blocks) for at in result.slots(b)]
        assert len(set(places)) == result.launch.n_warps
        assert all(0 <= i < 4 and j < result.n_slots_per_scheduler for i, j in places)
        counts = np.bincount([i for i, _ in places], minlength=4)
        assert counts.max() - counts.min() <= 1


def test_the_opening_state_by_hand():
    # 228 / (48 + 1) = 4.65; for a fifth block 228 · 1,024 / 5 = 46,694, down to 46,592, less 1,024
    outcome = EXPLORABLE.evaluate(state())
    assert outcome.spoken == (
        "Shared memory allows 4 blocks, 32 of 64 warps. For one more block, at most 44.5 KiB of "
        "shared memory."
    )
    assert row(outcome, "occupancy_frac").value == row(outcome, "lanes_frac").value == 0.5
    assert row(outcome, "limiters").text == "shared memory"
    assert row(outcome, "in_flight_bytes").text == "4,096 B"
    # 3.35 TB/s / 132, for 700 cycles at 1.98 GHz
    need = row(outcome, "needed_in_flight_bytes")
    assert need.value == pytest.approx(3.35e12 / 132 * 700 / 1.98e9)
    assert need.text == "8.97 kB (H100)"


def test_what_the_sentence_says():
    def spoken(**changes):
        return EXPLORABLE.evaluate(state(**changes)).spoken

    none = {"shared_bytes_per_block": 0}
    assert spoken(capability="8.0", threads_per_block=224, registers_per_thread=92, **none) == (
        "Registers allow 2 blocks, 14 of 64 warps. For one more block, at most 80 registers per "
        "thread."
    )
    assert spoken(threads_per_block=32, **none) == (
        "Block slots allow 32 blocks, 32 of 64 warps. Larger blocks would bring more: 64 threads "
        "each make 64 warps."
    )
    assert spoken(threads_per_block=32, registers_per_thread=64, **none) == (
        "Registers and block slots allow 32 blocks, 32 of 64 warps. No larger block would bring "
        "more warps."
    )
    assert spoken(capability="8.6", threads_per_block=1024, registers_per_thread=16, **none) == (
        "Warp slots allow 1 block, 32 of 48 warps. 16 slots are left, too few for another 32 "
        "warps; blocks of 768 threads would make 48 warps."
    )
    # six warps each: 192 threads ten times; four or eight warps each fill all slots
    assert spoken(capability="7.0", threads_per_block=192, registers_per_thread=16, **none) == (
        "Warp slots allow 10 blocks, 60 of 64 warps. 4 slots are left, too few for another 6 "
        "warps; blocks of 128 threads would make 64 warps."
    )
    assert "1 slot is left, too few for another 7 warps; blocks of 256 threads" in spoken(
        threads_per_block=224, registers_per_thread=16, **none
    )
    assert spoken(threads_per_block=768, registers_per_thread=16).endswith(
        "48 of 64 warps. 16 slots are left, too few for another 24 warps; blocks of 512 threads "
        "would make 64 warps."
    )
    # 164 KiB / 10 = 16.4, down to 16.375, less 1: two decimals would round it up
    assert spoken(
        capability="8.0", threads_per_block=32, registers_per_thread=16,
        shared_bytes_per_block=16 * KIB,
    ).endswith("For one more block, at most 15.375 KiB of shared memory.")  # fmt: skip
    assert "8,192 B are under way, and full bandwidth takes at least 8.97 kB" in spoken(**none)
    assert "another question" in spoken(capability="8.0", **none)
    assert "But only 75 % of the lanes" in spoken(
        threads_per_block=48, **none | {"registers_per_thread": 16}
    )
    assert spoken(capability="7.5", threads_per_block=1024, **none).startswith(
        "Full: 1 block takes"
    )
    assert spoken(threads_per_block=1024, registers_per_thread=80) == (
        "Cannot launch: a block's 32 warps need 81,920 registers, and a block may have 65,536. "
        "The launch would fail with an error."
    )


def test_the_advice_works():
    """One more block, or more warps, when the sentence's number is taken; and not without."""
    seen = set()
    for chosen in STATES[::7]:
        result = runs.compute(**chosen)
        launch, n = result.launch, result.launch.n_blocks
        if not n or launch.occupancy_frac == 1:
            continue
        if "blocks" in launch.limiters:
            assert result.best_size[0] == 0 or result.best_size[0] > launch.threads_per_block
        if "blocks" in launch.limiters or "warps" in launch.limiters:
            threads, n_warps = result.best_size
            others = [
                runs.compute(**chosen | {"threads_per_block": size}).launch.n_warps
                for size in range(32, 1025, 32)
            ]
            assert max(others) == (n_warps or max(others)) >= launch.n_warps
            assert bool(threads) == (max(others) > launch.n_warps)
            assert not threads or others[threads // 32 - 1] == n_warps
            assert f"{threads} threads" in EXPLORABLE.evaluate(chosen).spoken or not threads
            seen.add("blocks" if "blocks" in launch.limiters else "warps")
        else:
            may = result.next_allowance
            limits = {}
            if "registers" in launch.limiters:
                limits["registers_per_thread"] = may.registers_per_thread
            if "shared_memory" in launch.limiters:
                limits["shared_bytes_per_block"] = may.shared_bytes_per_block
            assert runs.compute(**chosen | limits).launch.n_blocks >= n + 1, chosen
            for name, most in limits.items():
                more = limits | {name: most + 1}
                assert runs.compute(**chosen | more).launch.n_blocks <= n, chosen
            seen |= set(limits)
    assert seen == {"blocks", "warps", "registers_per_thread", "shared_bytes_per_block"}


def test_names_of_what_binds():
    def named(**changes):
        return names(runs.compute(**state(**changes)).launch)

    assert named() == "shared memory"
    assert named(capability="7.0", registers_per_thread=255, shared_bytes_per_block=64 * KIB) == (
        "registers and shared memory"
    )
    three = named(
        capability="7.5", threads_per_block=768, registers_per_thread=64,
        shared_bytes_per_block=48 * KIB,
    )  # fmt: skip
    assert three == "warp slots, registers and shared memory"
    # as many barriers as block slots on 12.0: only the slots are named
    slots = runs.compute("12.0", 32, 32, 0).launch
    assert (slots.limiters, names(slots)) == (("blocks", "barriers"), "block slots")


def test_bytes_needed_are_known_where_latency_and_clock_are():
    known = {name for name in runs.CAPABILITIES if runs.needed(name)}
    assert known == {"7.0", "8.0", "8.9", "9.0", "10.0"}
    # 0.9 TB/s / 80 for 425 cycles at 1.53 GHz; 1,008 GB/s / 128 for 636 at 2.52
    assert runs.needed("7.0") == (pytest.approx(0.9e12 / 80 * 425 / 1.53e9), "V100")
    assert runs.needed("8.9") == (pytest.approx(1.008e12 / 128 * 636 / 2.52e9), "RTX 4090")
    outcome = EXPLORABLE.evaluate(state(capability="7.5"))
    assert row(outcome, "needed_in_flight_bytes").value == "unknown"


def test_the_picture_is_described():
    figure = draw_occupancy(runs.compute("9.0", 256, 32, 48 * KIB))
    assert figure.alt == (
        "One multiprocessor of capability 9.0: 4 blocks on 9.0, 32 of 64 warps: 50.0%, limited by "
        "shared memory."
    )
    assert "aria-label" in figure._repr_html_()

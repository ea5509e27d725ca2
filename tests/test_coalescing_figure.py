"""The coalescing figure: what it draws is what the model counts, in every state."""

from __future__ import annotations

import pytest

from primer.figures import _stridedload as load_of
from primer.figures import coalescing as fig
from primer.figures.coalescing import EXPLORABLE, compute, draw_coalescing

STATES = [state for state in EXPLORABLE.states() if state]


def n_boxes(patch):
    """Rectangles in a path, five corners each; an empty one holds a point outside."""
    vertices = patch.get_path().vertices
    return 0 if vertices[0, 0] < 0 else len(vertices) // 5


def test_the_default_wastes_three_quarters():
    rows = {row.name: row.value for row in EXPLORABLE.evaluate({}).rows}
    # every fourth float: two of the eight floats in each of 16 sectors
    assert (rows["n_sectors"], rows["n_lines"], rows["efficiency_frac"]) == (16, 4, 0.25)
    assert (rows["useful_bytes"], rows["moved_bytes"], rows["n_ideal_sectors"]) == (128, 512, 4)


def test_every_state_draws_what_it_counts():
    figure = draw_coalescing(compute(1, 0, 4))
    for state in STATES:
        load = compute(**state)
        figure.update(load)
        n_elements = 1 if state["stride_elements"] == 0 else 32
        assert n_boxes(figure.asked) == n_elements
        assert n_boxes(figure.moved) == load.request.n_sectors
        # what is not hatched is left out: together they tile the lines
        width = sum(box[2] for box in load_of.gaps(load))
        total = fig.RIGHT - fig.LEFT
        sectors = 4 * load.n_lines_shown
        assert width == pytest.approx(total * (1 - load.request.n_sectors / sectors))
        assert load.n_lines_shown <= fig.WIDEST
        assert figure.threads.get_path().vertices.shape == (64, 2)


def test_elements_stand_in_sectors_that_move():
    for state in STATES:
        load = compute(**state)
        moved = [load_of.sectors_box(load, sector, 1) for sector in load.request.sectors]
        for address in load.addresses:
            x = load_of.middle(load_of.element_box(load, address))
            assert any(left <= x <= left + width for left, _, width, _ in moved)


def test_bars_are_on_one_scale():
    figure = draw_coalescing(compute(8, 0, 4))
    asked, moved = (bar.get_path().vertices for bar in figure.bars)
    full = fig.BAR_END - fig.LEFT
    # 128 of 1,024 B: an eighth of the room, and the rest of it
    assert asked[:, 0].max() - fig.LEFT == pytest.approx(full / 8)
    assert moved[:, 0].max() == pytest.approx(fig.BAR_END)
    assert moved[:, 0].min() == pytest.approx(fig.LEFT + full / 8)
    assert [label.get_text() for label in figure.amounts] == ["128 B", "1,024 B"]
    assert "32 sectors in 8 lines" in figure.alt


def test_starts_and_sizes_that_exclude_each_other():
    def sizes(**state):
        return EXPLORABLE.choices(EXPLORABLE.default_state | state, "element_bytes")

    assert sizes() == fig.SIZES
    assert sizes(offset_bytes=4) == (1, 2, 4)
    assert sizes(stride_elements=32) == (1, 2, 4, 8)  # 32 · 16 B apart: too wide for the picture
    wide = EXPLORABLE.default_state | {"element_bytes": 16}
    assert EXPLORABLE.snap(wide | {"offset_bytes": 8}, "offset_bytes")["element_bytes"] == 8
    with pytest.raises(ValueError, match="must be possible"):
        EXPLORABLE.evaluate({"offset_bytes": 4, "element_bytes": 16})


def test_sentences():
    def spoken(stride, offset=0, size=4):
        state = {"stride_elements": stride, "offset_bytes": offset, "element_bytes": size}
        return EXPLORABLE.evaluate(state).spoken

    assert spoken(0).endswith("though only 4 B of its 32 B are looked at.")
    assert spoken(1) == spoken(1, 32)
    assert "Not one byte moves in vain" in spoken(1)
    assert spoken(1, 4).endswith("so 5 sectors move where 4 would do.")
    assert spoken(8).startswith("Every lane touches a sector of its own")
    # in bytes: stride 32 touches 32 lines, and stride 8 only 8, which L1 looks up one by one
    assert "1,024 B move for 128 B. A larger stride moves no more." in spoken(8) == spoken(32)
    assert spoken(2).startswith("A sector moves whole, even if a lane asks for 4 B of its 32")
    assert spoken(2).endswith("Here 8 sectors move, 256 B, and 50 % of that was asked for.")
    for state in STATES:
        assert "{" not in EXPLORABLE.evaluate(state).spoken


def test_sentences_are_true():
    for state in STATES:
        request, spoken = compute(**state).request, EXPLORABLE.evaluate(state).spoken
        assert ("in vain" in spoken) == (request.efficiency_frac == 1)
        if "the worst there is" in spoken:
            assert request.n_sectors == request.n_lanes == 32
        if "would do" in spoken:
            assert request.n_sectors == request.n_ideal_sectors + 1


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="multiple of element_bytes"):
        compute(1, 4, 8)
    with pytest.raises(ValueError, match="stride_elements must be one of"):
        EXPLORABLE.evaluate({"stride_elements": 5})

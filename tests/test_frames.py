"""Frames: skeleton and slots, what is shared, and that sharing changes nothing."""

from __future__ import annotations

import dataclasses
import random
import re
import xml.etree.ElementTree as ET
from typing import ClassVar

import matplotlib.pyplot as plt
import pytest
from matplotlib.backends.backend_agg import RendererAgg

from primer import figures
from primer.explore import payload
from primer.explore.frames import FrameRenderer, fill
from primer.figures._svg import compact

IDS = figures.ids()


def _some_states(explorable, n=12, seed=1):
    states = [s for s in explorable.states() if s]
    return random.Random(seed).sample(states, min(n, len(states)))


@pytest.mark.parametrize("name", IDS)
def test_every_frame_is_well_formed_and_fills_every_slot(name):
    explorable = figures.load(name)
    renderer = FrameRenderer(explorable)
    skeleton = renderer.skeleton()
    for state in _some_states(explorable):
        svg = renderer.svg(state)
        root = ET.fromstring(svg)
        assert not re.search(r'<g data-slot="\d+"/>', svg)
        assert skeleton.count("data-slot") == len(renderer.slots)
        ids = [e.get("id") for e in root.iter() if e.get("id")]
        assert len(ids) == len(set(ids)), "an id stands twice in one picture"
        used = set(re.findall(r"url\(#([^)]+)\)|xlink:href=\"#([^\"]+)\"", svg))
        for pair in used:
            assert (pair[0] or pair[1]) in ids


@pytest.mark.parametrize("name", IDS)
def test_a_frame_does_not_depend_on_the_frames_before_it(name):
    """What a figure declares in `depends` is true: a fresh renderer draws the same."""
    explorable = figures.load(name)
    worn = FrameRenderer(explorable)
    for state in _some_states(explorable, 30):
        worn.fragments(explorable.evaluate(state))
    for state in _some_states(explorable, 10):
        outcome = explorable.evaluate(state)
        fresh = FrameRenderer(explorable).fragments(outcome)
        pairs = zip(worn.slots, worn.fragments(outcome), fresh, strict=True)
        late = [gid for gid, old, new in pairs if old != new]
        assert not late, f"`depends` must name all controls that move {late}, or leave them out"


@pytest.mark.parametrize("name", IDS)
def test_every_state_differs_from_its_neighbor(name):
    """Each control is seen: moving it changes the picture or the numbers somewhere."""
    explorable = figures.load(name)
    renderer = FrameRenderer(explorable)
    base = explorable.default_state
    for control in explorable.controls:
        seen = set()
        for value in explorable.choices(base, control.name):
            state = explorable.snap({**base, control.name: value}, control.name)
            outcome = explorable.evaluate(state)
            seen.add((renderer.fragments(outcome), outcome.rows))
        assert len(seen) > 1, f"{control.name} changes nothing"


class Ruler(RendererAgg):
    """A renderer that remembers which texts were really drawn."""

    def __init__(self, page):
        self.size = tuple(72 * inch for inch in page.get_size_inches())
        super().__init__(*self.size, 72)
        self.texts = []
        page.draw(self)

    def draw_text(self, gc, x, y, s, prop, angle, ismath=False, mtext=None):
        self.texts.append(mtext)


@pytest.mark.parametrize("name", IDS)
def test_labels_stay_inside_the_picture(name):
    """No text of any state leaves the canvas: clipped labels are a defect."""
    explorable = figures.load(name)
    renderer = FrameRenderer(explorable)
    page = renderer.figure.moving[0].get_figure(root=True)
    for state in _some_states(explorable, 40):
        with renderer.settings():
            renderer.figure.update(explorable.evaluate(state).result)
            ruler = Ruler(page)
        width, height = ruler.size
        for text in ruler.texts:
            box = text.get_window_extent(ruler)
            inside = box.x0 >= -1 and box.y0 >= -1 and box.x1 <= width + 1 and box.y1 <= height + 1
            assert inside, f"{text.get_text()!r} is clipped in {state}"


@pytest.mark.parametrize("name", IDS)
def test_drawing_leaves_no_figure_open(name):
    explorable = figures.load(name)
    renderer = FrameRenderer(explorable)
    for state in _some_states(explorable, 25):
        renderer.svg(state)
    assert plt.get_fignums() == []


def _decode(data, explorable, state):
    position = 0
    for control in explorable.controls:
        position = position * len(control.values) + control.index(state[control.name])
    n = data["at"][position]
    pieces = tuple(data["fragments"][column[n]] for column in data["frame"])
    cells = tuple(data["cells"][column[n]] for column in data["rows"])
    return pieces, cells, data["sentences"][data["sentence"][n]]


@pytest.mark.parametrize("name", IDS)
def test_payload_decodes_to_what_the_model_says(name):
    explorable = figures.load(name)
    data = payload.build(explorable)
    renderer = FrameRenderer(explorable)
    for state in _some_states(explorable, 40):
        outcome = explorable.evaluate(state)
        pieces, cells, sentence = _decode(data, explorable, state)
        assert pieces == renderer.fragments(outcome)
        assert cells == tuple((r.value, r.unit, r.text) for r in outcome.rows)
        assert sentence == outcome.sentence
    impossible = sum(s is None for s in explorable.states())
    assert data["at"].count(-1) == impossible
    assert sorted(p for p in data["at"] if p >= 0) == list(range(explorable.n_states - impossible))


def test_one_process_and_several_give_the_same_script():
    explorable = figures.load("roofline")
    assert payload.script(explorable, workers=1) == payload.script(explorable, workers=2)


def test_compact_shortens_attributes_and_leaves_text_alone():
    text = (
        '<g>\n <!-- note -->\n <text style="fill: #0b6e99" x="1.2345">3.35 TB/s  at 0.01</text>\n'
        ' <path d="M 1.005 2.0001\nL -0.049 7"/></g>'
    )
    assert compact(text) == (
        '<g><text style="fill: var(--pr-compute,#0b6e99)" x="1.2">3.35 TB/s  at 0.01</text>'
        '<path d="M1 2l-1 5"/></g>'
    )
    assert compact('<a fill="#123456"/>') == '<a fill="#123456"/>'


@pytest.mark.parametrize("name", IDS)
def test_every_label_of_the_figure_stands_in_the_picture_as_written(name):
    explorable = figures.load(name)
    renderer = FrameRenderer(explorable)
    page = renderer.figure.moving[0].get_figure(root=True)
    for state in _some_states(explorable, 10):
        shown = "".join(ET.fromstring(renderer.svg(state)).itertext())
        with renderer.settings():
            renderer.figure.update(explorable.evaluate(state).result)
            drawn = [text.get_text() for text in Ruler(page).texts]
        assert drawn
        for text in drawn:
            for line in text.splitlines():
                assert line in shown


class WholeFigure:
    """The least that a figure is."""

    size, box = (6.0, 4.0), (0.1, 0.1, 0.8, 0.8)
    depends: ClassVar = {}

    def __init__(self, ax):
        (line,) = ax.plot([0, 1], [0, 1], gid="line")
        self.moving = (line,)

    def update(self, result):
        """Nothing moves."""


@pytest.mark.parametrize("name", ["size", "box", "depends", "update"])
def test_a_figure_that_lacks_a_part_is_told_which(name):
    parts = {key: value for key, value in vars(WholeFigure).items() if key != name}
    whole = dataclasses.replace(figures.load("factory"), figure=WholeFigure)
    assert FrameRenderer(whole).slots == ("line",)
    broken = dataclasses.replace(whole, figure=type("Broken", (), parts))
    with pytest.raises(ValueError, match=rf"^figure of explorable 'factory' .* without {name}$"):
        FrameRenderer(broken)


@pytest.mark.parametrize(("gid", "lack"), [("", "a gid on Line2D"), (None, "moving")])
def test_a_figure_whose_moving_artists_are_unknown_is_refused(gid, lack):
    class Broken(WholeFigure):
        def __init__(self, ax):
            super().__init__(ax)
            self.moving[0].set_gid(gid)
            if gid is None:
                del self.moving

    with pytest.raises(ValueError, match=rf"got Broken without {lack}"):
        FrameRenderer(dataclasses.replace(figures.load("factory"), figure=Broken))


def test_fill_puts_each_piece_into_its_own_slot():
    skeleton = '<svg><g data-slot="0"/><g data-slot="1"/></svg>'
    assert fill(skeleton, ("A", "")) == ('<svg><g data-slot="0">A</g><g data-slot="1"></g></svg>')

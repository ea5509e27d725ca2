"""The font that the pages ship has every sign that a figure writes."""

from __future__ import annotations

import random
import xml.etree.ElementTree as ET

import pytest

from primer import figures
from primer.explore.frames import FrameRenderer
from primer_book import fonts

SHIPPED = set(fonts.LATIN + fonts.GREEK + fonts.FIGURE_SIGNS)


@pytest.mark.parametrize("name", figures.ids())
def test_every_sign_is_shipped(name):
    explorable = figures.load(name)
    renderer = FrameRenderer(explorable)
    states = [s for s in explorable.states() if s]
    for state in random.Random(2).sample(states, min(20, len(states))):
        written = set("".join(ET.fromstring(renderer.svg(state)).itertext()))
        assert written <= SHIPPED, written - SHIPPED

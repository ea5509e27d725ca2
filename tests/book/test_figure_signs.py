"""The fonts that the pages ship have every sign that a figure writes."""

from __future__ import annotations

import random
import re
import xml.etree.ElementTree as ET

import pytest

from primer import figures
from primer.explore.frames import FrameRenderer
from primer_book import fonts

SHIPPED = set(fonts.LATIN + fonts.GREEK + fonts.FIGURE_SIGNS)
TEXT = "{http://www.w3.org/2000/svg}text"
_IS_BOLD = re.compile(r"font(-weight)?: (bold|[6-9]00)")
BOLD = set(fonts.BOLD_SIGNS)


@pytest.mark.parametrize("name", figures.ids())
def test_every_sign_is_shipped(name):
    explorable = figures.load(name)
    renderer = FrameRenderer(explorable)
    states = [s for s in explorable.states() if s]
    for state in random.Random(2).sample(states, min(20, len(states))):
        texts = list(ET.fromstring(renderer.svg(state)).iter(TEXT))
        assert texts
        for text in texts:
            has = BOLD if _IS_BOLD.search(text.get("style", "")) else SHIPPED
            written = set("".join(text.itertext()))
            assert written <= has, f"add to primer_book/fonts.py: {written - has}"

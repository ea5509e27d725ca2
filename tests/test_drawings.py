"""Drawings: every part is drawn and explained, and every number is one that a source prints."""

from __future__ import annotations

import gzip
import re
from html.parser import HTMLParser

import pytest
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.patches import PathPatch

from primer import drawings, explore, figures, hardware
from primer.drawings import gpu_die, sm_inside
from primer.drawings._sheet import Sheet
from primer.explore.drawing import HINT, Drawing, Part
from primer.figures import style

IDS = drawings.ids()
SHEETS = {"gpu-die": gpu_die.sheet, "sm-inside": sm_inside.sheet}
FINGER, PHONE = 24.0, 350.0  # CSS pixels: a target's smallest side, a picture's width
WORDS = 60
ONE = Part(id="one", label="One", text="The only one.")


class Page(HTMLParser):
    """Elements of a drawing in their order, and the text of each."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None], list[str]]] = []
        self._open: list[int] = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs), []))
        if tag != "wbr":
            self._open.append(len(self.elements) - 1)

    def handle_endtag(self, tag):
        assert self.elements[self._open.pop()][0] == tag

    def handle_data(self, data):
        for i in self._open:
            self.elements[i][2].append(data)

    def all(self, name, value=None):
        return [e for e in self.elements if name in e[1] and value in (None, e[1][name])]


def tiny(**changes) -> Drawing:
    given = {
        "id": "tiny", "question": "What is it?", "level": "hardware", "alt": "A dot.",
        "parts": (ONE,), "picture": lambda: '<svg><g data-part="one"/></svg>', "note": "A dot.",
    }  # fmt: skip
    return Drawing(**(given | changes))


@pytest.fixture(params=sorted(SHEETS))
def sheet(request) -> Sheet:
    return SHEETS[request.param]()


# ---- every drawing


@pytest.mark.parametrize("name", IDS)
def test_tab_meets_the_parts_in_the_order_of_their_list(name):
    drawing = drawings.load(name)
    page = Page(drawing.html())
    drawn = [attributes["data-part"] for _, attributes, _ in page.all("data-part")]
    assert list(dict.fromkeys(drawn)) == [part.id for part in drawing.parts]
    listed = [attributes["data-for"] for _, attributes, _ in page.all("data-for")]
    assert listed == [part.id for part in drawing.parts]


@pytest.mark.parametrize("name", IDS)
def test_the_page_contract(name):
    drawing = drawings.load(name)
    page = Page(drawing.html())
    tag, figure, _ = page.elements[0]
    assert (tag, figure["class"], figure["id"], figure["data-drawing"]) == (
        "figure", "drawing", name, name,
    )  # fmt: skip
    assert figure["data-level"] == drawing.level
    ((_, frame, _),) = page.all("class", "frame")
    assert frame["aria-label"] == drawing.alt
    assert frame["role"] == ("group" if drawing.is_text else "img")
    ((_, says, words),) = page.all("class", "says")
    assert says["aria-live"] == "polite"
    assert "hidden" in says
    assert "".join(words) == HINT
    assert [e for e in page.elements if e[0] == "details" and "open" in e[1]]
    ids = [attributes["id"] for _, attributes, _ in page.all("id")]
    assert len(ids) == len(set(ids))
    # A page's own ids must not meet those of another drawing.
    assert all(i == name or i.startswith(f"{name}-") for i in ids)


@pytest.mark.parametrize("name", IDS)
def test_words(name):
    drawing = drawings.load(name)
    assert drawing.question.endswith("?")
    assert drawing.alt.endswith(".")
    assert drawing.note.endswith(".")
    labels = [part.label for part in drawing.parts]
    assert len(set(labels)) == len(labels)
    for part in drawing.parts:
        assert part.text.endswith("."), part.id
        assert len(part.text.split()) <= WORDS, part.id
        assert not re.search(r"None|[{}]", part.text), part.id


@pytest.mark.parametrize("name", IDS)
def test_a_kernel_gets_styles_and_all_words_and_the_page_gets_the_bare_element(name, monkeypatch):
    shown = explore.show(name)
    assert shown is drawings.load(name)
    live = shown._repr_html_()
    assert live.startswith("<style>")
    assert "figure.drawing .ring" in live
    assert "<script" not in live
    for part in shown.parts:
        assert part.text in "".join(Page(shown.html()).elements[0][2])
    monkeypatch.setenv("PRIMER_BOOK", "1")
    assert shown._repr_html_() == shown.html()


def test_a_drawing_is_no_explorable():
    assert not set(IDS) & set(figures.ids())
    assert {"gpu-die", "sm-inside", "ptx-sass"} <= set(IDS)


# ---- pictures


def test_labels_stay_inside_and_apart(sheet):
    width, height = (72 * inch for inch in style.page(sheet.ax).get_size_inches())
    ruler = RendererAgg(width, height, 72)
    boxes = [text.get_window_extent(ruler) for text in sheet.texts]
    for text, box in zip(sheet.texts, boxes, strict=True):
        assert 0 <= box.x0 < box.x1 <= width, text.get_text()
        assert 0 <= box.y0 < box.y1 <= height, text.get_text()
        assert text.get_fontsize() >= 9
    for i, one in enumerate(boxes):
        for other in boxes[:i]:
            assert not one.overlaps(other)


def test_words_stay_in_the_area_of_their_part(sheet):
    width, height = (72 * inch for inch in style.page(sheet.ax).get_size_inches())
    ruler = RendererAgg(width, height, 72)
    for group in sheet.groups:
        x, y, across, up = group.area
        assert 0 <= x < x + across <= width, group.part
        assert 0 <= y < y + up <= height, group.part
        for artist in group.artists:
            box = artist.get_window_extent(ruler)
            assert x - 1 <= box.x0 < box.x1 <= x + across + 1, group.part
            assert y - 1 <= box.y0 < box.y1 <= y + up + 1, group.part


def test_a_finger_can_meet_every_part(sheet):
    """On a phone some place of each part is as wide as a finger, or slim and twice as long."""
    scale = PHONE / (72 * style.page(sheet.ax).get_size_inches()[0])
    large = set()
    for group in sheet.groups:
        short, long = sorted(scale * side for side in group.area[2:])
        if short >= FINGER or (short >= 10 and long >= 2 * FINGER):
            large.add(group.part)
    assert large >= {group.part for group in sheet.groups}


def test_light_on_the_page(sheet):
    svg = sheet.svg()
    assert len(gzip.compress(svg.encode())) <= 8_000
    assert not re.search("aria-hidden|clip-path", svg)
    fixed = re.sub(r"var\(--pr-[a-z]+,#[0-9a-f]{6}\)", "", svg)
    assert not re.findall(r"#[0-9a-f]{6}", fixed), "every color is a variable of the page"


def _cells(sheet: Sheet, part: str) -> int:
    """Rectangles in all places of a part: each closes once."""
    patches = [a for g in sheet.groups if g.part == part for a in g.artists]
    return sum(list(a.get_path().codes).count(79) for a in patches if isinstance(a, PathPatch))


# ---- the numbers, as the sources print them


def test_the_die_has_as_many_of_each_as_nvidia_prints():
    """Hopper In-Depth: GH100 8 GPCs, 72 TPCs, 144 SMs; H100 SXM5 66 TPCs, 132 SMs, 5 stacks."""
    drawn = gpu_die.sheet()
    assert _cells(drawn, "sm") == 132 + 1  # and one in the key
    assert _cells(drawn, "off") == 144 - 132 + 1
    assert _cells(drawn, "gpc") == 8
    assert _cells(drawn, "hbm") == 5
    assert _cells(drawn, "l2") == 2
    # 66 = 8 · 8 + 2, so two GPCs are drawn with 9 TPCs and six with 8
    assert [n for _, n in gpu_die.gpcs()] == [9, 9, 8, 8, 8, 8, 8, 8]
    said = {part.id: part.text for part in gpu_die.DRAWING.parts}
    for part, words in {
        "host": "63 GB/s in each direction",
        "gpc": "8 groups",
        "sm": "16,896 FP32 lanes and 528 Tensor Cores",
        "off": "has 144 SMs, and 12 of them are off",
        "l2": "50 MB",
        "controllers": "10 of them stand between L2 and memory, 2 for each stack",
        "hbm": "5 stacks",
        "nvlink": "18 links, together 450 GB/s in each direction",
    }.items():
        assert words in said[part]
    assert "80 GB that deliver 3.35 TB/s" in said["hbm"]
    assert "delivers 53 times as much" in said["host"]  # 3350 / 63 = 53.2


def test_an_sm_has_as_many_of_each_as_nvidia_prints():
    """CUDA C++ Programming Guide, 9.0: 128 FP32, 64 INT32, 64 FP64, 16 SFU, 4 Tensor Cores."""
    drawn = sm_inside.sheet()
    assert [_cells(drawn, part) for part in ("fp32", "int32", "fp64")] == [128, 64, 64]
    assert [_cells(drawn, part) for part in ("quarter", "scheduler", "tensor")] == [4, 4, 4]
    assert sm_inside.per_quarter("special_units") * 4 == 16
    labels = [text.get_text() for text in drawn.texts]
    assert labels.count("registers, 64 KiB") == 4  # 65,536 registers · 4 B / 4
    assert "L1 cache and shared memory, 256 KiB" in labels
    assert "up to 228 KiB of it shared" in labels
    said = {part.id: part.text for part in sm_inside.DRAWING.parts}
    for part, words in {
        "quarter": "up to 16 warps",  # 64 / 4
        "registers": "16,384 registers of 32 bits",  # 65,536 / 4
        "fp32": "32 here, 128 on the SM",
        "int32": "occupies them for 2 cycles",  # 32 threads on 16 lanes
        "special": "occupies them for 8 cycles",  # 32 threads on 4 units
        "tensor": "512 multiply-adds per cycle",
    }.items():
        assert words in said[part]
    assert "at most 32 registers" in said["registers"]  # 65,536 / (64 · 32)


def test_the_shared_part_of_l1_is_drawn_to_scale():
    group = next(g for g in sm_inside.sheet().groups if g.part == "l1")
    whole, shared = (a.get_path().get_extents().width for a in group.artists[:2])
    assert shared / whole == pytest.approx(228 / 256)


def test_counts_in_the_table_agree_with_each_other():
    counts = hardware.load("h100_sxm5_80gb").counts
    count = {q.name.removeprefix("count."): q.value for q in counts}
    assert count["sms"] == 2 * count["tpcs"]
    assert count["die_sms"] == 2 * count["die_tpcs"]
    assert count["die_tpcs"] == 9 * count["gpcs"]
    for lanes, per_sm in {"fp32_lanes": 128, "int32_lanes": 64, "fp64_lanes": 64}.items():
        assert count[lanes] == per_sm * count["sms"]
    assert count["special_units"] == 16 * count["sms"]
    assert count["memory_controllers"] == 2 * count["memory_stacks"]


# ---- bad input


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Part(id="L2", label="L2", text="It."), "id of a part must be lower case"),
        (lambda: Part(id="l2", label=" ", text="It."), "label of part 'l2' must not be empty"),
        (lambda: Part(id="l2", label="L2", text=""), "text of part 'l2' must not be empty"),
        (lambda: tiny(parts=()), "parts of drawing 'tiny' must be distinct and not empty"),
        (lambda: tiny(parts=(ONE, ONE)), "must be distinct and not empty; got .'one', 'one'"),
        (lambda: tiny(level="metal"), "level must be one of framework, runtime, isa"),
        (lambda: tiny(picture=lambda: "<svg/>").html(), "must be those drawn; got .'one'"),
        (lambda: tiny().part("on"), r"part must be one of one \(did you mean 'one'\?\)"),
        (lambda: drawings.load("gpu-dye"), "drawing must be one of .*did you mean 'gpu-die'"),
        (lambda: explore.show("gpu-dye"), "figure must be one of .*did you mean 'gpu-die'"),
        (lambda: explore.show("roofine"), "figure must be one of .*did you mean 'roofline'"),
        (lambda: explore.show("gpu-die", chip="x"), "'gpu-die' has no controls; got .'chip'"),
    ],
)
def test_bad_input_is_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_words_are_escaped():
    part = Part(id="one", label="<b>", text='a < b & "c".')
    html = tiny(parts=(part,), alt='say "it"', note="1 < 2.").html()
    assert "<dt>&lt;b&gt;</dt>" in html
    assert "a &lt; b &amp;" in html
    assert 'aria-label="say &quot;it&quot;"' in html

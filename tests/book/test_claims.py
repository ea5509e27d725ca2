"""The ledger holds each of the 87 claims, and each link in it leads somewhere."""

from __future__ import annotations

import re

import pytest
from bs4 import BeautifulSoup

from primer_book import claims, numbers
from tests.conftest import ROOT

LEDGER = claims.load()
_WRONG = (
    "W4 W7 W14 W20 W22 W31 W37 W39 W41 W42 W43 W44 W46 W47 W51 W57 W60 W64 W69 W74 W75 W79 W81 W95 "
    "P2 P6 P8 P21 P26 P27 P28"
)
_IMPRECISE = (
    "W3 W5 W9 W11 W12 W16 W18 W21 W23 W24 W27 W29 W32 W33 W34 W45 W48 W49 W50 W52 W53 W55 W56 W58 "
    "W61 W62 W63 W65 W66 W67 W71 W78 W82 W83 W87 W88 W89 W93 W97 W98 "
    "P4 P5 P9 P10 P11 P12 P14 P15 P16 P18 P19 P20 P23 P24 P29 P30"
)
WRONG, IMPRECISE = _WRONG.split(), _IMPRECISE.split()
PLACED = [claim for claim in LEDGER if claim.page]


def test_each_of_the_87_is_there_with_its_verdict():
    assert (len(WRONG), len(IMPRECISE)) == (31, 56)
    verdicts = {claim.id: claim.verdict for claim in LEDGER}
    assert verdicts == dict.fromkeys(WRONG, "wrong") | dict.fromkeys(IMPRECISE, "imprecise")


@pytest.mark.parametrize("claim", PLACED, ids=lambda claim: claim.id)
def test_a_place_is_in_the_sources(claim):
    assert (ROOT / f"{claim.page}.md").exists(), f"{claim.id}: no page {claim.page}"
    known = claims.anchors(claim.page)
    assert claim.anchor in known, (
        f"{claim.id}: {claim.page} has no {claim.anchor!r}; {sorted(known)}"
    )


# Claims that wait for a part of a chapter which exists already, each with what it waits for.
WAITING: dict[str, str] = {}


def test_the_claims_of_a_written_chapter_are_placed():
    written = {int(path.stem[:2]) for path in (ROOT / "chapters").glob("*.md")}
    waiting = {claim.id for claim in LEDGER if claim.chapter in written}
    assert waiting == WAITING.keys(), f"place these, or say why not: {waiting ^ WAITING.keys()}"


@pytest.mark.parametrize("claim", LEDGER, ids=lambda claim: claim.id)
def test_numbers_are_computed(claim):
    for expression in re.findall(r"\{num\}`([^`]+)`", claim.right):
        assert numbers.evaluate(expression)
    assert "{num}" not in claim.claim, "their number is theirs"


@pytest.mark.parametrize(
    ("table", "complaint"),
    [
        ('verdict = "false"\nclaim = "a"\nright = "b"\nchapter = 1', "verdict must be one of"),
        ('verdict = "wrong"\nclaim = " "\nright = "b"\nchapter = 1', "claim must not be empty"),
        ('verdict = "wrong"\nclaim = "a"\nright = "b"', "exactly one of page, chapter"),
        ('verdict = "wrong"\nclaim = "a"\nright = "b"\nchapter = 1\nout_of_scope = "c"', "exactly"),
        ('verdict = "wrong"\nclaim = "a"\nright = "b"\npage = "c"', "page and anchor together"),
        ('verdict = "wrong"\nclaim = "a"\nright = "b"\nchapter = 11', "between 0 and 10"),
        ('verdict = "wrong"\nclaim = "a"\nright = "b"\nchapter = 1\nnote = "c"', "unknown field"),
    ],
)
def test_mistakes_are_named(table, complaint):
    with pytest.raises(ValueError, match=f"W1.*{complaint}"):
        claims.read(f"[claims.W1]\n{table}\n")


def test_anchors_of_a_page(tmp_path):
    (tmp_path / "chapters").mkdir()
    (tmp_path / "chapters/01_a.md").write_text(
        "(my-label)=\n# 1 — A title\n\n## 1.2 Two words: here\n\n```python\n# no heading\n```\n\n"
        "::::{exercise} 1.3\n::::\n\n:::{lies}\n:::\n\n:::{predict} the-ridge\n:::\n\n"
        "```{code-cell} ipython3\nexplore.show('roofline')\n```\n"
    )
    assert claims.anchors("chapters/01_a", tmp_path) == {
        "my-label", "a-title", "two-words-here", "ex-1-3", "where-this-model-lies",
        "predict-the-ridge", "roofline",
    }  # fmt: skip


@pytest.mark.parametrize("claim", PLACED, ids=lambda claim: claim.id)
def test_a_place_is_on_the_built_page(site, claim):
    page = BeautifulSoup((site / f"{claim.page}.html").read_text("utf-8"), "html.parser")
    assert page.find(id=claim.anchor) is not None, f"{claim.page}.html has no #{claim.anchor}"


def test_the_built_ledger(site):
    page = BeautifulSoup((site / "book/claims.html").read_text("utf-8"), "html.parser")
    rows = {row["id"]: row for row in page.select("table.claims tbody tr")}
    assert set(rows) == {claim.id.lower() for claim in LEDGER}
    for claim in LEDGER:
        link = rows[claim.id.lower()].select_one("td:last-child a")
        assert bool(link) == bool(claim.page), claim.id
        if link:
            file, _, anchor = link["href"].partition("#")
            assert ((site / "book" / file).resolve(), anchor) == (
                (site / f"{claim.page}.html").resolve(), claim.anchor,
            )  # fmt: skip

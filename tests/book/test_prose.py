"""No number is typed by hand, no British spelling, no filler, no citation, no dead link."""

from __future__ import annotations

from pathlib import Path

import pytest

from primer_book import claims, references
from tests.book import prose
from tests.book.source import bare
from tests.conftest import ROOT

PAGES = [*sorted((ROOT / "chapters").glob("*.md")), *sorted((ROOT / "book").glob("*.md"))]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_prose(path: Path) -> None:
    found = prose.complaints(path, ROOT)
    assert not found, "\n".join(found)


SAID = {f"references.toml: {item.key}": item.gives for item in references.load().references}
SAID |= {f"claims.toml: {claim.id}": f"{claim.claim} {claim.right}" for claim in claims.load()}


@pytest.mark.parametrize("place", SAID)
def test_prose_in_data(place: str) -> None:
    """The rules of style hold there, too; the numbers of a wrong claim are typed by hand."""
    found = [words for _, words in prose.in_text(SAID[place], {}) if "typed by hand" not in words]
    assert not found, f"{place}: {found}"


def test_each_exception_has_a_reason_and_is_needed() -> None:
    for page, phrases in prose.load_allowed().items():
        text = bare((ROOT / page).read_text("utf-8"))
        for phrase, reason in phrases.items():
            assert phrase in text, f"prose_allowed.toml: {page} no longer says {phrase!r}"
            assert len(reason.split()) >= 3, f"prose_allowed.toml: say why for {phrase!r}"


def check(tmp_path: Path, text: str, allowed: dict[str, str] | None = None) -> list[str]:
    (tmp_path / "chapters").mkdir(exist_ok=True)
    (tmp_path / "chapters/01_there.md").write_text("# There\n", "utf-8")
    path = tmp_path / "chapters/02_page.md"
    path.write_text(f"# Title\n\n{text}\n", "utf-8")
    return prose.complaints(path, tmp_path, allowed or {})


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It moves 3.35 TB/s.", "'3.35 TB/s': typed by hand"),
        ("It does 989.4 TFLOP/s.", "'989.4 TFLOP/s': typed"),
        ("a ridge of 295 FLOP/B", "'295 FLOP/B'"),
        ("1,024 bytes", "'1,024 bytes'"),
        ("a 400-cycle wait", "'400-cycle'"),
        ("43% of it", "'43%'"),
        ("90 percent", "'90 percent'"),
        ("a 5 µs launch", "'5 µs'"),
        ("50 MB of cache", "'50 MB'"),
        ("64 KiB", "'64 KiB'"),
        ("3.9 pJ/bit", "'3.9 pJ/bit'"),
        ("**1.5 GHz**", "'1.5 GHz'"),
        ("| a | 12 W |", "'12 W'"),
        (":::{lies}\n- about 12 ms\n:::", "'12 ms'"),
        (":::{takeaway}\n:model: 12 ms of it\n\nA.\n:::", "'12 ms'"),
        ("The colour of memory", "'colour': spell"),
        ("we optimise and analyse", "'optimise'"),
        ("vectorisation", "'vectorisation'"),
        ("modelled", "'modelled'"),
        ("the centre", "'centre'"),
        ("its behaviour", "'behaviour'"),
        ("In this section we will see", "'In this section we will': leave"),
        ("It is simply fast", "'simply'"),
        ("just do it", "'just'"),
        ("Obviously not", "'Obviously'"),
        ("to leverage caches", "'leverage'"),
        ("delve into it", "'delve'"),
        ("as shown [3]", "'[3]': no citations"),
        ("Williams et al. say", "'et al': no citations"),
        ("as known (Williams, 2009)", "'(Williams, 2009)'"),
        ("{cite}`roofline`", "no citations"),
        ("see [the next](03_gone.md)", "'03_gone.md': links to a page"),
        ("see {doc}`the next <03_gone>`", "'03_gone.md': links to a page"),
    ],
)
def test_what_is_noticed(tmp_path: Path, text: str, found: str) -> None:
    complaints = check(tmp_path, text)
    assert any(found in line for line in complaints), complaints
    assert complaints[0].startswith("chapters/02_page.md:")


@pytest.mark.parametrize(
    "text",
    [
        "It moves {num}`h100_sxm5_80gb.bandwidth`.",
        "The toy does $100\\ \\text{FLOP/s}$ and `sleep 5 s`.",
        "$$\nt = 20\\ \\text{s}\n$$",
        "```python\nx = 5  # 5 s, colour\n```",
        "```{code-cell} ipython3\nx = 5  # 5 s\n```",
        "16 bits, a 16-bit number, 4,096 tokens, three bytes, 1.43 times, chapter 5.",
        "GPT-2 has 124 million. In 2009 so it was.",
        "A wise rise, a precise exercise, otherwise a compromise. Four pairwise surprises.",
        "adjust the justice; an unjust and powerfully built thing",
        "see [there](01_there.md#a) and [a site](https://a.org/x.html)",
        ":::{deeper} 2\n:::",
    ],
)
def test_what_is_right(tmp_path: Path, text: str) -> None:
    assert check(tmp_path, text) == []


def test_an_exception_holds_for_its_phrase_only(tmp_path: Path) -> None:
    text = "A file of 3 MB, and one of 4 MB."
    assert check(tmp_path, text, {"3 MB": "an example, nothing to compute"}) == [
        "chapters/02_page.md:3: '4 MB': typed by hand, use {num}, a formula or an entry in "
        "prose_allowed.toml"
    ]


def test_the_line_is_right(tmp_path: Path) -> None:
    (line,) = check(tmp_path, "One.\n\n$$\nx\n$$\n\n:::{lies}\n- a\n- 5 ms\n:::")
    assert line.startswith("chapters/02_page.md:11: '5 ms'")

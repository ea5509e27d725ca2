"""Mathematics: what browsers need, what is refused, which letters the font gets."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from primer_book import katex
from primer_book.katex import to_mathml
from primer_book.letters import styled
from primer_book.mathml import display_parts, letters

FORMULAS = [
    r"P = \min(\pi, \beta I)",
    r"\begin{cases} \beta I & I < \pi/\beta \\ \pi & \text{otherwise} \end{cases}",
    r"\begin{aligned} T &= W/\pi \\ &\ge Q/\beta \end{aligned}",
    r"\left\lceil \frac{m}{t_m} \right\rceil",
    r"\begin{pmatrix} a & b \\ c & d \end{pmatrix}",
    r"\operatorname*{arg\,max}_{i \in \{1,\dots,n\}} x_i",
    r"\texttt{ld\_a} + \boldsymbol{x} \in \mathbb{R}^n",
    r"\sum_{\substack{i<j\\ j<k}} \sqrt[3]{x_{ij}}",
    r"10\,\mathrm{GB/s}",
    r"\underbrace{a+b}_{n} \xrightarrow{f} \overline{cd}",
]
# Attributes of MathML 3 that no browser lays out any more.
GONE = {"columnalign", "columnspacing", "rowspacing", "columnlines", "rowlines", "notation"}


def tree(tex: str, *, display: bool = True) -> ET.Element:
    return ET.fromstring(to_mathml(tex, display=display))


@pytest.mark.parametrize("tex", FORMULAS)
@pytest.mark.parametrize("display", [True, False])
def test_only_what_browsers_lay_out_is_left(tex: str, display: bool) -> None:
    math = tree(tex, display=display)
    assert math.tag == "math"
    assert math.get("display") == ("block" if display else None)
    for node in math.iter():
        assert node.tag not in {"semantics", "annotation", "menclose", "mpadded"}
        assert not GONE & set(node.attrib)
        assert node.get("mathvariant") in {None, "normal"}
        if node.tag in {"mi", "mn", "mo", "mtext"}:
            assert len(node) == 0, "a token with elements inside is not shown"


@pytest.mark.parametrize(
    ("tex", "said"),
    [
        ("", "must not be empty"),
        ("  ", "must not be empty"),
        ("{}", "must show something"),
        (r"\foo{x}", r"Undefined control sequence: \foo"),
        (r"\frac{a}{b", "expected '}'"),
        (r"a & b", "got '&'"),
        (r"\left( x", r"\right"),
        (r"\begin{cases} x", "Expected"),
        (r"x_1_2", "Double subscript"),
        (r"\tag{3} x", r"\tag"),
        (r"\cancel{x}", r"\cancel"),
        (r"\href{https://example.org}{x}", r"\href"),
        ("x – y", "Unrecognized Unicode character"),
    ],
)
def test_wrong_formula_is_refused_with_its_reason(tex: str, said: str) -> None:
    with pytest.raises(ValueError) as caught:
        to_mathml(tex)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_macros_are_known_only_where_given() -> None:
    macros = {r"\E": r"\mathbb{E}"}
    assert "𝔼" in to_mathml(r"\E[X]", macros=macros)
    with pytest.raises(ValueError, match="Undefined"):
        to_mathml(r"\E[X]")


def test_table_cells_carry_alignment_and_lines() -> None:
    math = tree(r"\begin{array}{l|r} a & b \\ \hline c & d \end{array}")
    styles = [cell.get("style", "") for cell in math.iter("mtd")]
    assert ["text-align:left" in style for style in styles] == [True, False, True, False]
    assert ["border-right" in style for style in styles] == [True, False, True, False]
    assert ["border-bottom" in style for style in styles] == [True, True, False, False]


def test_function_names_have_their_spaces() -> None:
    def spaces(tex: str) -> int:
        return len([node for node in tree(tex).iter("mspace") if node.get("width") == "0.1667em"])

    assert spaces(r"n \log n") == 2
    assert spaces(r"\log(n)") == 0
    assert spaces(r"\lim_{n \to \infty} x") == 1
    assert spaces(r"a = \max(b, c)") == 0


def test_unit_is_one_word() -> None:
    words = [node.text for node in tree(r"10\,\mathrm{GB/s}").iter("mi")]
    assert words == ["GB/s"]


def test_styled_letters_exist_and_differ() -> None:
    plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    for variant in ("bold", "italic", "script", "fraktur", "double-struck", "monospace"):
        changed = styled(plain, variant)
        assert len(set(changed)) == len(plain)
        assert all(letter.isalpha() and not letter.isascii() for letter in changed)
    assert styled("αΩ∂", "bold") == "𝛂𝛀𝛛"
    assert styled("=+", "bold") == "=+"


def test_font_gets_slanted_letters_and_signs() -> None:
    needed = letters(to_mathml(r"x + \mathrm{d} < \sin \beta"))
    assert {"x", "𝑥", "+", "d", "<", "s", "β", "𝛽"} <= needed
    assert "𝑑" not in needed


@pytest.mark.parametrize(
    ("tex", "parts"),
    [
        ("a = b", ["a = b"]),
        ("a = b\n\nc = d", ["a = b", "c = d"]),
        (r"a &= b \\ &= c", [r"\begin{aligned}a &= b \\ &= c\end{aligned}"]),
        (r"a \\ b", [r"\begin{gathered}a \\ b\end{gathered}"]),
        (r"\begin{align} a \end{align}", [r"\begin{align*} a \end{align*}"]),
        (r"x = \begin{cases} a & b \\ c \end{cases}", None),
        (r"\sum_{\substack{i \\ j}} \{x\}", None),
        ("\n", []),
    ],
)
def test_displayed_rows_are_wrapped(tex: str, parts: list[str] | None) -> None:
    assert display_parts(tex) == ([tex] if parts is None else parts)


def test_missing_engine_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(_source: str) -> katex.Render:
        raise ImportError("not here")

    monkeypatch.setattr(katex, "ENGINES", (absent, absent))
    katex.engine.cache_clear()
    try:
        with pytest.raises(RuntimeError, match=r"quickjs.*mini-racer"):
            to_mathml("x")
    finally:
        katex.engine.cache_clear()

"""Light pages: what is cut, what is kept, and that a second build finds it unchanged."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from fontTools.ttLib import TTFont

from primer_book import fonts
from primer_book.assets import Assets, named, slim_css, theme_icons
from primer_book.slim import is_needed, tidy, write_files

PAGE = """<!DOCTYPE html>
<html lang="en" data-content_root="../" >
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1.0" /><meta name="viewport" \
content="width=device-width, initial-scale=1" />
  <script data-cfasync="false">
    document.documentElement.dataset.mode = localStorage.getItem("mode") || "";
    document.documentElement.dataset.theme = localStorage.getItem("theme") || "";
  </script>
  <meta name="viewport" content="width=device-width, initial-scale=1"/>
  </head>
<button class="btn search-button-field search-button__button pst-js-only" title="Search" \
aria-label="Search" data-bs-toggle="tooltip">Search Ctrl+K</button>
<div id="pst-primary-sidebar" class="bd-sidebar-primary bd-sidebar"></div>
</html>
"""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fonts")


@pytest.fixture(scope="module")
def assets(store: Path) -> Assets:
    return Assets("ℵ", ["fa-anchor"], store)


def test_tidy_repairs_what_the_theme_writes() -> None:
    page = tidy(PAGE)
    assert page.count('name="viewport"') == 1
    assert 'aria-label="Search"' not in page
    assert 'id="pst-primary-sidebar" role="complementary" aria-label="Book"' in page
    assert 'data-content_root="../" data-theme="light">' in page
    assert "prefers-color-scheme: dark" in page
    assert 'getItem("mode") || "auto"' in page


def test_tidy_is_stable_and_leaves_other_text_alone() -> None:
    assert tidy(tidy(PAGE)) == tidy(PAGE)
    assert tidy("<pre>x</pre>\n") == "<pre>x</pre>\n"


@pytest.mark.parametrize(
    ("asset", "body", "wanted"),
    [
        ("sphinx-thebe.js", '<div class="cell">', False),
        ('const THEBE_JS_URL = "https://example.org"', "", False),
        ("_static/styles/sphinx-book-theme.css", "", False),
        ("_static/copybutton.js", "<p>", False),
        ("_static/copybutton.js", '<div class="highlight-python">', True),
        ("_static/togglebutton.js", '<div class="admonition dropdown">', True),
        ("_static/togglebutton.js", "toggle me", False),
        ("_static/sphinx-design.min.css", '<div class="sd-card">', True),
        ("_static/sphinx-design.min.css", "<p>", False),
        ("_static/mystnb.123.css", '<div class="cell docutils">', False),
        ("_static/book.css", "", True),
        ("_static/doctools.js", "", True),
        ("_static/explore.js", "", True),
    ],
)
def test_page_loads_what_it_uses(asset: str, body: str, wanted: bool) -> None:
    assert is_needed(asset, body) is wanted


def test_slim_css_keeps_used_icons_and_the_signs_of_variables() -> None:
    css = (
        '.fa-anchor:before{content:"\\f13d"}.fa-home:before,.fa-house:before{content:"\\f015"}'
        ':root{--pst-icon-bell:"\uf0f3"}/* remark *//*# sourceMappingURL=x.css.map*/'
    )
    slim, signs, dropped = slim_css(css, ["fa-home"])
    assert slim == (
        '.fa-home:before,.fa-house:before{content:"\\f015"}:root{--pst-icon-bell:"\uf0f3"}'
    )
    assert signs == {"\uf015", "\uf0f3"}
    assert dropped == {"fa-anchor"}


def test_theme_icons_are_found() -> None:
    assert {"fa-magnifying-glass", "fa-bars", "fa-download", "fa-list"} <= theme_icons()


def test_names_follow_contents(assets: Assets) -> None:
    for name, data in assets.files.items():
        if name != "LICENSES.txt":
            stem, _, suffix = name.split(".")
            assert named(stem, f".{suffix}", data) == name


def test_styles_refer_only_to_files_beside_them(assets: Assets) -> None:
    for name, data in assets.files.items():
        if name.endswith(".css"):
            links = re.findall(r"url\((?![\"']?data:)([^)]+)\)", data.decode())
            assert set(links) <= set(assets.files), name
        assert b"sourceMappingURL" not in data


def test_second_run_gives_the_same_files_without_cutting_again(
    assets: Assets, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> bytes:
        raise AssertionError("cut a font that the store has")

    monkeypatch.setattr(fonts, "_cut", refuse)
    assert Assets("ℵ", ["fa-anchor"], store).files == assets.files
    with pytest.raises(AssertionError):
        Assets("ℵ⨂", ["fa-anchor"], store)


def test_shipped_fonts_have_their_letters_and_own_names(assets: Assets) -> None:
    expected = {
        "math": ("Primer Math", set("x𝑥∑ℵ⌈√")),
        "sans": ("Primer Sans", set("AzµΣ⌈≤₀⁹→×·−")),
        "sans-bold": ("Primer Sans", set("Azµ²≤→×·−")),
        "icons-solid": ("Primer Icons", {"\uf13d", "\uf002"}),
    }
    for stem, (family, letters) in expected.items():
        data = next(d for n, d in assets.files.items() if n.startswith(f"{stem}."))
        font = TTFont(io.BytesIO(data))
        names = {record.nameID: str(record) for record in font["name"].names}
        assert names[1] == names[4] == family
        assert {ord(letter) for letter in letters} <= set(font.getBestCmap())


def test_weight_of_what_every_page_loads(assets: Assets) -> None:
    def weight(stem: str) -> int:
        return sum(len(d) for n, d in assets.files.items() if n.startswith(stem))

    assert weight("math.") < 20_000
    assert weight("sans.") + weight("sans-bold.") < 22_000
    assert weight("icons-") < 8_000


def test_cut_needs_characters(store: Path) -> None:
    with pytest.raises(ValueError, match="characters: at least one"):
        fonts.cut(fonts.SANS, "", store=store)


def test_write_files_touches_only_what_differs(tmp_path: Path) -> None:
    folder = tmp_path / "primer"
    write_files(folder, {"a.css": b"a", "b.css": b"b"})
    before = (folder / "a.css").stat().st_mtime_ns
    write_files(folder, {"a.css": b"a", "c.css": b"c"})
    assert sorted(path.name for path in folder.iterdir()) == ["a.css", "c.css"]
    assert (folder / "a.css").stat().st_mtime_ns == before

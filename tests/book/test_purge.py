"""Style sheets without unused rules: what is cut, what stays, and that no built page misses it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from primer_book import purge
from primer_book.assets import cut_sheets, theme_css
from primer_book.purge import Purge
from tests.book import weight


def cut(css: str, *used: str, asked: tuple[str, ...] = ()) -> str:
    return Purge(css, used, asked).css


@pytest.mark.parametrize(
    ("css", "left"),
    [
        (".a{color:red}.b{color:red}", ".a{color:red}"),
        (".a,.b,#c{color:red}", ".a,#c{color:red}"),
        (".a .b{color:red}.a.d{color:red}.a>p{color:red}", ".a>p{color:red}"),
        ("p > code{color:red}*{margin:0}", "p > code{color:red}*{margin:0}"),
        ('.b[class^="a"]{color:red}[data-b]{color:red}', "[data-b]{color:red}"),
        (".a:not(.b),.b:hover{color:red}", ".a:not(.b){color:red}"),
        (":is(.a,.b) p{color:red}", ":is(.a,.b) p{color:red}"),
        (r".a\:b{color:red}.a__b{color:red}", ""),
        ("@media print{.b{color:red}.a{color:red}}", "@media print{.a{color:red}}"),
        ("@media (width>9px){.b{color:red}}", ""),
        ("@supports (top:1px){@media print{.a{color:red}}}",) * 2,
        ("@keyframes b{from{top:0}to{top:1px}}",) * 2,
        ("@font-face{font-family:b;src:url(b.woff2)}",) * 2,
        ('@charset "UTF-8";.a{color:red}', ".a{color:red}"),
        ("/* a */.a{/* b */color:red/* c */;}", ".a{color:red}"),
        (".a{\n top: 0;\n color: red !important;\n *zoom: 1;\n}", ".a{top:0;color:red!important}"),
        ('.a{content:"}.b{"}', '.a{content:"}.b{"}'),
        (".a{background:url(data:image/svg+xml;base64,AA==)}",) * 2,
    ],
)
def test_a_rule_stays_where_a_page_can_have_all_that_it_asks_for(css: str, left: str) -> None:
    found = cut(css, "a", "c")
    assert re.sub(r"url\(\"?([^\")]*)\"?\)", r"url(\1)", found) == left


def test_a_variable_stays_where_something_shows_it() -> None:
    css = ".a{--x:var(--y);--y:1px;--z:2px;--w:3px;--v:var(--v2);top:var(--x)}"
    assert cut(css, "a") == ".a{--x:var(--y);--y:1px;top:var(--x)}"
    assert cut(css, "a", asked=("--w",)) == ".a{--x:var(--y);--y:1px;--w:3px;top:var(--x)}"
    assert cut(":root{--x:1px}.b{top:var(--x)}", "a") == ""


def test_what_is_cut_is_told() -> None:
    assert Purge(".a.b{top:0}#c .a{top:0}.d:not(.e){top:0}", ["a"]).dropped == {"b", "c", "d"}


def test_letters_of_levels_and_sides_need_no_word() -> None:
    css = ".toctree-l3{top:0}.text-right{top:0}.align-center{top:0}"
    assert cut(css) == css


@pytest.mark.parametrize(
    ("css", "why"),
    [
        (".a{.b{top:0}}", "rules within rules"),
        ("@layer x{.a{top:0}}", "@layer x"),
        ('@import "other.css";', "@import"),
    ],
)
def test_what_is_not_understood_is_refused(css: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        cut(css, "a")


@pytest.mark.parametrize("package", purge.WRITERS)
def test_every_pattern_of_files_that_write_pages_finds_some(package: str) -> None:
    folder = purge._folder(package)
    for pattern in purge.WRITERS[package]:
        assert list(folder.glob(pattern)), pattern


def test_words_of_all_who_write_pages_are_known() -> None:
    theme = {"bd-sidebar-primary", "prev-next-area", "search-button-field", "navbar-brand"}
    writers = {"admonition-title", "footnote", "headerlink", "sig-name", "cell_output", "arabic"}
    scripts = {"highlighted", "copybtn", "scrolled", "tooltip-inner", "toggle-hidden", "failed"}
    assert theme | writers | scripts <= purge.words()
    assert "carousel-item" not in purge.words()


# --- on the built pages ------------------------------------------------------------

_NAMED = re.compile(r'\b(?:class|id)="([^"]*)"')


@pytest.fixture(scope="module")
def dropped() -> set[str]:
    first, second = cut_sheets(theme_css(), ())
    return first.dropped | second.dropped


def test_much_of_the_theme_is_cut(dropped: set[str]) -> None:
    whole = theme_css()
    assert len(cut_sheets(whole, ())[0].css) < 0.4 * len(whole)
    assert {"carousel", "modal", "offcanvas", "fa-spin"} <= dropped


@pytest.mark.built
def test_no_page_has_a_name_whose_rules_were_cut(dropped: set[str], site: Path) -> None:
    for page in weight.written(site):
        text = page.read_text("utf-8")
        names = {name for value in _NAMED.findall(text) for name in value.split()}
        assert not names & dropped, f"{page.relative_to(site)}: add to KEPT in primer_book/purge.py"


@pytest.mark.built
def test_no_shipped_script_names_what_was_cut(dropped: set[str], site: Path) -> None:
    unused = {"design-tabs.js"}  # of cards and tabs, on pages that have some
    for script in sorted({*site.glob("_static/*.js"), *site.glob("_static/primer/*.js")}):
        if script.name in unused:
            continue
        added = re.findall(r"""classList\.\w+\(["']([\w -]+)""", script.read_text("utf-8"))
        names = {name for value in added for name in value.split()}
        assert not names & dropped, script.name

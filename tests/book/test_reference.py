"""The package reference is complete, and reference pages are made anew exactly when needed."""

from __future__ import annotations

import importlib
import pkgutil
import re

import pytest

import primer
from tests.book.test_freshness import SmallBook
from tests.conftest import ROOT

PAGES = {path.stem: path.read_text("utf-8") for path in (ROOT / "book/api").glob("*.md")}
SHOWN = {
    name for text in PAGES.values() for name in re.findall(r"automodule:: primer\.([\w.]+)", text)
}
ELSEWHERE = {"quantities": "its classes are part of primer.hardware"}

TABLE = "# Chips\n\n```{hardware-table} Chips\n:family: NVIDIA data-center GPU\n```\n"
DOCS = "# Docs\n\n```{eval-rst}\n.. automodule:: primer.factory\n```\n"
TERMS = "# Terms\n\n```{glossary}\nroof\n  What cannot be passed.\n```\n"
USER = "# User\n\nIt hits the {term}`roof`.\n"
CHAPTERS = {"chips": TABLE, "docs": DOCS, "terms": TERMS, "user": USER}
DATA = "src/primer/data/chips/h100_sxm5_80gb.toml"


def test_every_public_module_has_a_page():
    public = {m.name for m in pkgutil.iter_modules(primer.__path__) if not m.name.startswith("_")}
    missing = {
        name
        for name in public - set(ELSEWHERE)
        if not any(shown.split(".")[0] == name for shown in SHOWN)
    }
    assert not missing, f"write book/api/NAME.md like its neighbors for: {sorted(missing)}"


def test_every_page_is_named_in_the_overview():
    overview = (ROOT / "book/api.md").read_text("utf-8")
    linked = set(re.findall(r"\(api/([\w]+)\.md\)", overview))
    assert linked == set(PAGES)


@pytest.mark.parametrize("name", sorted(SHOWN))
def test_what_a_page_shows_exists_and_explains_itself(name):
    assert importlib.import_module(f"primer.{name}").__doc__


@pytest.fixture(scope="module")
def book(tmp_path_factory) -> SmallBook:
    made = SmallBook(tmp_path_factory.mktemp("reference"))
    for path in (made.root / "chapters").glob("*.md"):
        path.unlink()
    for name, text in CHAPTERS.items():
        (made.root / f"chapters/{name}.md").write_text(text)
    listed = "".join(f"- file: chapters/{name}\n" for name in CHAPTERS)
    toc = f"format: jb-book\nroot: book/index\nchapters:\n{listed}"
    (made.root / "_toc.yml").write_text(toc)
    first = made.build()
    assert first.status == 0, first.output[-3000:]
    assert first.written == set(CHAPTERS)
    return made


@pytest.mark.built
def test_nothing_changed_writes_nothing(book):
    assert book.build().written == set()


@pytest.mark.built
def test_changed_data_reach_the_tables_and_the_file(book):
    book.change(DATA, "3.35", "3.45")
    after = book.build()
    assert (after.status, after.written) == (0, {"chips"}), after.output[-3000:]
    assert 'data-value="3450000000000.0"' in book.html("chips")
    file = (book.root / "_build/html/_static/hardware.csv").read_text("utf-8")
    assert "3450000000000.0,,B/s,3.45 TB/s" in file


@pytest.mark.built
def test_a_changed_docstring_reaches_its_page_only(book):
    book.change("src/primer/factory.py", "A factory starved", "A workshop starved")
    after = book.build()
    assert (after.status, after.written) == (0, {"docs"}), after.output[-3000:]
    assert "A workshop starved" in book.html("docs")


@pytest.mark.built
def test_a_better_definition_is_on_all_pages_at_once(book):
    book.change("chapters/terms.md", "What cannot be passed.", "The highest rate.")
    after = book.build()
    assert (after.status, after.written) == (0, {"terms"}), after.output[-3000:]
    data = (book.root / "_build/html/_static/terms-data.js").read_text("utf-8")
    assert '"term-roof": "The highest rate."' in data


@pytest.mark.built
@pytest.mark.parametrize(
    ("page", "old", "new", "message"),
    [
        ("chips", ":family: NVIDIA data-center GPU", ":columns: price", "columns must be of"),
        ("chips", ":family: NVIDIA data-center GPU", ":kind: toaster", "kind must be of"),
        ("user", "{term}`roof`", "{term}`rof`", "term not in glossary: 'rof'"),
    ],
)
def test_a_mistake_fails_the_build_and_names_the_page(book, page, old, new, message):
    path = book.root / f"chapters/{page}.md"
    path.write_text(path.read_text().replace(old, new))
    failed = book.build()
    path.write_text(CHAPTERS[page])
    assert failed.status != 0
    assert message in failed.output
    assert f"chapters/{page}.md" in failed.output

"""A build does again exactly what a change reaches, and nothing without one.

The book's own configuration and extension build a small copy of it: one page
with a figure, one with a number, one with neither.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.built

HEAD = (
    "---\nkernelspec: {display_name: Python 3, language: python, name: python3}\n"
    "jupytext:\n  text_representation: {extension: .md, format_name: myst}\n---\n"
)
SHOWN = HEAD + (
    "# Shown\n\n```{code-cell} ipython3\nfrom primer import explore, roofline\n\n"
    'explore.show("roofline")\n```\n'
)
SAID = "# Said\n\nIt moves {num}`h100_sxm5_80gb.bandwidth`.\n"
PLAIN = HEAD + "# Plain\n\n```{code-cell} ipython3\nprint(6 * 7)\n```\n"
TOC = "format: jb-book\nroot: book/index\nchapters:\n" + "".join(
    f"- file: chapters/{name}\n" for name in ("shown", "said", "plain")
)


@dataclass
class Outcome:
    """What one build did."""

    status: int
    output: str
    executed: int
    frames: int
    written: set[str]


class SmallBook:
    """A copy of the book with three small pages."""

    def __init__(self, folder: Path) -> None:
        self.root = folder
        for name in ("_config.yml", "requirements.txt", "pyproject.toml"):
            shutil.copy(ROOT / name, folder)
        ignore = shutil.ignore_patterns("__pycache__", "*.egg-info", "*.pyc")
        for name in ("src", "book/_ext", "book/_static", "book/build.py"):
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, folder / name, ignore=ignore)
            else:
                shutil.copy(source, folder / name)
        (folder / "_toc.yml").write_text(TOC)
        (folder / "book/index.md").write_text("# Small\n")
        (folder / "chapters").mkdir()
        for name, text in (("shown", SHOWN), ("said", SAID), ("plain", PLAIN)):
            (folder / f"chapters/{name}.md").write_text(text)

    def build(self) -> Outcome:
        pages = self.pages()
        environment = os.environ | {"PYTHONPATH": str(self.root / "src")}
        environment.pop("PRIMER_BOOK", None)
        done = subprocess.run(
            [sys.executable, "book/build.py"],
            cwd=self.root,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        said = re.search(r"book: (\d+) pages executed, (\d+) frames rendered", done.stdout)
        counts = (int(said[1]), int(said[2])) if said else (-1, -1)
        now = self.pages()
        written = {name for name, when in now.items() if pages.get(name) != when}
        return Outcome(done.returncode, done.stdout, *counts, written)

    def pages(self) -> dict[str, int]:
        site = self.root / "_build/html/chapters"
        return {p.stem: p.stat().st_mtime_ns for p in site.glob("*.html")}

    def html(self, name: str) -> str:
        return (self.root / f"_build/html/chapters/{name}.html").read_text()

    def change(self, name: str, old: str = "", new: str = "# changed\n") -> None:
        path = self.root / name
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new, 1) if old else text + new)


@pytest.fixture(scope="module")
def book(tmp_path_factory) -> SmallBook:
    made = SmallBook(tmp_path_factory.mktemp("book"))
    first = made.build()
    assert first.status == 0, first.output[-3000:]
    assert first.executed == 2
    assert first.frames > 1000
    assert first.written == {"shown", "said", "plain"}
    return made


def test_nothing_changed_does_nothing(book):
    again = book.build()
    assert (again.status, again.executed, again.frames, again.written) == (0, 0, 0, set())


def test_a_changed_model_redoes_its_page_and_frames_only(book):
    book.change("src/primer/roofline.py")
    after = book.build()
    assert (after.executed, after.written) == (1, {"shown"})
    assert after.frames > 1000
    assert book.build().written == set()


def test_changed_data_reach_prose_figure_and_frames(book):
    old = re.search(r"data-frames=\"([^\"]+)\"", book.html("shown"))[1]
    assert "3.35 TB/s" in book.html("said")
    path = "src/primer/data/chips/h100_sxm5_80gb.toml"
    text = (book.root / path).read_text()
    assert text.count("3.35") >= 1
    (book.root / path).write_text(text.replace("3.35", "3.45"))
    after = book.build()
    assert after.status == 0, after.output[-3000:]
    assert (after.executed, after.written) == (1, {"shown", "said"})
    assert "3.45 TB/s" in book.html("said")
    assert "3.45 TB/s" in book.html("shown")
    new = re.search(r"data-frames=\"([^\"]+)\"", book.html("shown"))[1]
    assert new != old
    kept = [p.name for p in (book.root / "_build/html/_static/frames").iterdir()]
    assert kept == [Path(new).name], "the old frames are gone, the new ones are there"


def test_what_only_a_kernel_uses_redoes_nothing(book):
    book.change("src/primer/explore/live.py")
    after = book.build()
    assert (after.executed, after.frames, after.written) == (0, 0, set())


def test_prose_alone_executes_nothing(book):
    book.change("chapters/shown.md", "# Shown\n", "# Shown\n\nA sentence.\n")
    after = book.build()
    assert (after.executed, after.frames, after.written) == (0, 0, {"shown"})
    assert "A sentence." in book.html("shown")


def test_a_changed_cell_executes_its_page_only(book):
    book.change("chapters/plain.md", "6 * 7", "6 * 8")
    after = book.build()
    assert (after.executed, after.frames, after.written) == (1, 0, {"plain"})
    assert "48" in book.html("plain")


def test_a_removed_page_leaves_the_site(book):
    """And comes back with all that it had, so that later tests find the book whole."""
    site = book.root / "_build/html"
    kept = {name: (site / name).exists() for name in ("index.html", "search.html", "book")}
    (book.root / "notebooks").mkdir(exist_ok=True)
    for folder in ("notebooks", "_build/html/_sources/notebooks"):
        (book.root / folder).mkdir(exist_ok=True)
        (book.root / f"{folder}/said.ipynb").write_text("{}")
    text = (book.root / "chapters/said.md").read_text()
    toc = (book.root / "_toc.yml").read_text()
    assert list(site.rglob("said*"))
    (book.root / "chapters/said.md").unlink()
    book.change("_toc.yml", "- file: chapters/said\n", "")
    removed = book.build()
    assert removed.status == 0, removed.output[-3000:]
    assert not list(site.rglob("said*"))
    assert set(book.pages()) == {"shown", "plain"}
    assert {name: (site / name).exists() for name in kept} == kept
    assert all(kept.values())
    assert "chapters/said" not in (site / "searchindex.js").read_text()
    (book.root / "notebooks/said.ipynb").unlink()
    (book.root / "chapters/said.md").write_text(text)
    (book.root / "_toc.yml").write_text(toc)
    assert "said" in book.build().written


def test_a_failing_cell_fails_the_build_and_names_the_page(book):
    book.change("chapters/plain.md", "6 * 8", "6 / 0")
    failed = book.build()
    assert failed.status != 0
    assert "chapters/plain.md" in failed.output
    assert "plain.md: a cell raised ZeroDivisionError" in failed.output.splitlines()[-2]
    assert (book.root / "_build/html/.unfinished").exists()
    book.change("chapters/plain.md", "6 / 0", "6 * 9")
    mended = book.build()
    assert mended.status == 0
    assert mended.executed == 1
    assert not (book.root / "_build/html/.unfinished").exists()


def test_a_wrong_number_in_prose_fails_the_build_and_names_the_page(book):
    book.change("chapters/said.md", "bandwidth`", "bandwith`")
    failed = book.build()
    assert failed.status != 0
    assert "chapters/said.md" in failed.output
    assert "bandwith" in failed.output

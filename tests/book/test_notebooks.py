"""Notebooks made from chapters: plain Markdown, code without outputs, the same bytes each time."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest

from primer_book import notebooks
from primer_book.flatten import Flattener, Target
from primer_book.plain import DIRECTIVES

ROOT = Path(__file__).resolve().parents[2]
HEADER = """\
---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
kernelspec:
  display_name: Python 3
  name: python3
---

"""
CHAPTER = (
    HEADER
    + """\
(ch-one)=
# 1 — One

:::{promise}
You will predict {num}`h100_sxm5_80gb.peak.bf16`.
:::

(sec-two)=
## 1.1 Two {num}`1 + 1`

See {ref}`sec-two`, {eq}`eq-roof`, [](#sec-two) and [the page](02_next.md).

$$
P = 1
$$ (eq-roof)

```{code-cell} ipython3
:tags: [remove-input]

print(1)
```

+++

```{code-cell} ipython3
print(1)
```
"""
)


def flatten(text: str, **options: Any) -> str:
    targets = {
        "sec": Target("1.1 A section", "chapters/01.html#sec"),
        "01_one": Target("1 — One", "chapters/01.html"),
        "eq": Target("(3)", "chapters/01.html#equation-eq"),
        "cell": Target("", "chapters/01.html#cell"),
    }
    return Flattener("chapters/01_one.md", DIRECTIVES, targets, **options).flatten(text)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with one chapter and its notebook."""
    (tmp_path / "chapters").mkdir()
    (tmp_path / "chapters" / "01_one.md").write_text(CHAPTER, "utf-8")
    (tmp_path / "chapters" / "02_next.md").write_text(HEADER + "# 2 — Next\n", "utf-8")
    notebooks.generate(tmp_path)
    return tmp_path


def read(root: Path) -> nbformat.NotebookNode:
    return nbformat.read(root / "notebooks" / "01_one.ipynb", as_version=4)


@pytest.mark.parametrize(
    ("text", "flat"),
    [
        ("It does {num}`2 * 3`.", "It does 6."),
        ("a {num}`1` b {num}`2`\nc {num}`3`", "a 1 b 2\nc 3"),
        ("one {num}`1 +\n1` two", "one 2 two"),
        ("Code `{num}` stays, ``{num}`1` `` too.", "Code `{num}` stays, ``{num}`1` `` too."),
        ("\\{num}`1` is escaped", "\\{num}`1` is escaped"),
        ("**bold {num}`1`** [link {num}`2`](#sec)", "**bold 1** link 2"),
        ("- item {num}`1`\n\n  more {num}`2`", "- item 1\n\n  more 2"),
        ("> quoted {num}`1`\n> and {num}`2`", "> quoted 1\n> and 2"),
        ("| a | b |\n|---|---|\n| {num}`1` | {num}`1 / 4 \\| .2f` |",
         "| a | b |\n|---|---|\n| 1 | 0.25 |"),
        ("{ref}`sec`, {ref}`this <sec>`, {ref}`it <cell>`", "1.1 A section, this, it"),
        ("{eq}`eq` {doc}`01_one` {numref}`sec`", "(3) 1 — One 1.1 A section"),
        ("{term}`word` {term}`words <word>`", "word words"),
        ("{math}`x^2` H{sub}`2`O {py:func}`~primer.a`", "$x^2$ H<sub>2</sub>O `primer.a`"),
        ("[](#sec) [b](01_one.md) [c](#nowhere)", "1.1 A section b c"),
        ("[x](https://a.org/{num}) <https://a.org>", "[x](https://a.org/{num}) <https://a.org>"),
        ("![alt](a.svg) ![b](../book/b.svg)", "![alt](../chapters/a.svg) ![b](../book/b.svg)"),
        ("(label)=\n## Title", "## Title"),
        ("text\n(label)=\nmore", "text\n\nmore"),
        ("% a comment\n\ntext", "text"),
        ("$$\nx\n$$", "$$\nx\n$$"),
        ("$$ x = 1 $$ (eq)", "$$\nx = 1\n\\tag{3}\n$$"),
        ("$$\na \\\\ b\n$$", "$$\n\\begin{split}\na \\\\ b\n\\end{split}\n$$"),
        ("$a_1 * b$ and $c * d$", "$a_1 * b$ and $c * d$"),
        ("```{math}\n:label: eq\nx\n```", "$$\nx\n\\tag{3}\n$$"),
        (":::{note}\nText {num}`1`\n\n- a\n:::", "> **Note**\n>\n> Text 1\n>\n> - a"),
        (":::{admonition} Why {num}`1`?\nText\n:::", "> **Why 1?**\n>\n> Text"),
        (":::{figure} a.svg\n:alt: Alt\nCaption {num}`1`\n:::",
         "![Alt](../chapters/a.svg)\n\n*Caption 1*"),
        ("```python\n{num}`1`\n(label)=\n```", "```python\n{num}`1`\n(label)=\n```"),
        ("```{code-block} python\nx = 1\n```", "```python\nx = 1\n```"),
        ("1. a\n\n   :::{tip}\n   T\n\n   U\n   :::\n2. b",
         "1. a\n\n   > **Tip**\n   >\n   > T\n   >\n   > U\n2. b"),
        ("<b>html</b> {num}`1`", "<b>html</b> 1"),
        ("  spaces\tkept  \nhere \\* &amp; *x*", "  spaces\tkept  \nhere \\* &amp; *x*"),
    ],
)  # fmt: skip
def test_flatten(text: str, flat: str) -> None:
    assert flatten(text) == flat


def test_links_lead_to_the_site_where_it_is_known() -> None:
    text = "{ref}`sec` and [that](#sec) and {ref}`it <cell>`"
    assert flatten(text, site="https://book.org/") == (
        "[1.1 A section](https://book.org/chapters/01.html#sec) and "
        "[that](https://book.org/chapters/01.html#sec) and "
        "[it](https://book.org/chapters/01.html#cell)"
    )


def test_our_blocks() -> None:
    flat = flatten(
        "## 1.9 Exercises\n\n"
        "::::{exercise} 1.2 A title\n:kind: break-it\n\nBreak $x$.\n\n"
        ":::{solution}\nIt is {num}`4`.\n:::\n::::\n\n"
        ":::{predict} peak\n:answer: h100_sxm5_80gb.peak.bf16\n:unit: TFLOP/s\n"
        ":reveal: Not {num}`2`.\n\nHow much?\n:::\n\n"
        ":::{takeaway}\n:killer: sec The roofline\n:model: a *slope*\n\nMove {num}`1`.\n:::\n\n"
        ":::{lies}\n- a\n:::\n\n:::{deeper}\n- b\n:::"
    )
    assert "\n### Exercise 1.2 — A title (break it)\n\nBreak $x$.\n" in flat
    assert "<summary>Solution</summary>\n\nIt is 4.\n\n</details>" in flat
    assert "How much?\n\n*Write down your number (TFLOP/s)" in flat
    assert "\n\nThe model says **989.4 TFLOP/s**. Not 2.\n\n</details>" in flat
    assert "> **The figure.** The roofline\n>\n> **Mental model.** a *slope*\n" in flat
    assert "> **Takeaway.** Move 1.\n" in flat
    assert "> **Where this model lies**\n>\n> - a\n" in flat
    assert "<summary>For readers who want to go deeper</summary>\n\n- b\n\n</details>" in flat
    assert ":::" not in flat
    assert "{" not in flat


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("a\n\n:::{riddle}\nx\n:::", "01_one.md:3: unknown directive 'riddle'"),
        (":::{note}\nx\n\n:::{riddle}\n:::\n:::", "01_one.md:4: unknown directive 'riddle'"),
        (":::{admonition} A\n:class: tip\n\n{riddle}`x`\n:::", "01_one.md:4: unknown role"),
        ("a\nb {riddle}`x`", "01_one.md:2: unknown role 'riddle'"),
        ("a\n\nb {num}`1 +`", "01_one.md:3: num: '1 +' is not an expression"),
        ("{ref}`nowhere`", "01_one.md:1: a reference to 'nowhere' needs a text"),
        ("[](#cell)", "01_one.md:1: a reference to 'cell' needs a text"),
        (":::\nx\n:::", "01_one.md:1: a colon fence without a directive"),
        ("a [^1]\n\n[^1]: b", "01_one.md:1: no form in a notebook"),
        ("a {{ b }}", "01_one.md:1: no form in a notebook"),
        ("```{note}\n:riddle: 1\nx\n```", "01_one.md:1: note: Unknown option keys: ['riddle']"),
        (":::{admonition}\nx\n:::", "01_one.md:1: admonition: 1 argument(s) required"),
        (":::{predict} a\n:answer: 1\n\nx\n:::", "01_one.md:1: the option :unit: is missing"),
        (":::{exercise} 1.1\nx\n:::", "01_one.md:1: the option :kind: is missing"),
        ("$$\na\n\nb\n$$", "01_one.md:1: a formula with a blank line"),
    ],
)
def test_what_has_no_form_is_an_error_at_its_line(text: str, complaint: str) -> None:
    with pytest.raises(ValueError) as caught:
        flatten(text)
    assert complaint in str(caught.value)


def test_a_notebook(root: Path) -> None:
    notebook = read(root)
    nbformat.validate(notebook)
    install, text, first, second = notebook.cells
    assert "pip install ." in install.source
    assert text.source == (
        "# 1 — One\n\n"
        "> **What you will be able to predict**\n>\n> You will predict 989.4 TFLOP/s.\n\n"
        "## 1.1 Two 2\n\n"
        "See 1.1 Two 2, (1), 1.1 Two 2 and the page.\n\n"
        "$$\nP = 1\n\\tag{1}\n$$"
    )
    assert (first.source, first.metadata, first.outputs) == (
        "print(1)", {"tags": ["remove-input"]}, [],
    )  # fmt: skip
    assert second.metadata == {}
    assert first.execution_count is None
    assert len({cell.id for cell in notebook.cells}) == 4
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    assert notebook.metadata.kernelspec.name == "python3"


def test_same_bytes_each_time_and_one_change_changes_one_id(root: Path) -> None:
    path = root / "notebooks" / "01_one.ipynb"
    before, ids = path.read_bytes(), [cell.id for cell in read(root).cells]
    assert before.endswith(b"}\n")
    assert json.dumps(json.loads(before), sort_keys=True) == json.dumps(json.loads(before))
    path.unlink()
    notebooks.generate(root)
    assert path.read_bytes() == before
    chapter = root / "chapters" / "01_one.md"
    chapter.write_text(CHAPTER.replace("You will", "You can"), "utf-8")
    notebooks.generate(root)
    changed = [a != b.id for a, b in zip(ids, read(root).cells, strict=True)]
    assert changed == [False, True, False, False]


def test_install_cell_takes_the_address_from_the_project(root: Path) -> None:
    (root / "pyproject.toml").write_text(
        '[project]\nname = "compute-primer"\n'
        '[project.urls]\nRepository = "https://host.org/a/b"\nDocumentation = "https://b.org/x/"\n'
    )
    notebooks.generate(root)
    install, text, *_ = read(root).cells
    assert '    %pip install -q "compute-primer @ git+https://host.org/a/b"' in install.source
    assert "[the page](https://b.org/x/chapters/02_next.html)" in text.source


def test_check_names_what_is_out_of_step(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(root)
    assert notebooks.main(["--check"]) == 0
    made = root / "notebooks" / "01_one.ipynb"
    made.write_text(made.read_text("utf-8").replace("print(1)", "print(2)"), "utf-8")
    (root / "notebooks" / "00_gone.ipynb").write_text("{}")
    edited = made.read_bytes()
    assert notebooks.main(["--check"]) == 1
    printed = capsys.readouterr().out
    assert "notebooks/01_one.ipynb: out of step" in printed
    assert "notebooks/00_gone.ipynb: out of step" in printed
    assert made.read_bytes() == edited
    assert notebooks.main([]) == 0
    assert notebooks.main(["--check"]) == 0
    assert not (root / "notebooks" / "00_gone.ipynb").exists()


def test_an_error_names_file_and_line(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(root)
    (root / "chapters" / "01_one.md").write_text(
        CHAPTER.replace("$$ (eq-roof)", "$$ (eq-roof)\n\n{riddle}`x`")
    )
    assert notebooks.main(["--check"]) == 1
    line = CHAPTER.split("\n").index("$$ (eq-roof)") + 3
    assert f"chapters/01_one.md:{line}: unknown role 'riddle'" in capsys.readouterr().err


def test_a_chapter_is_a_text_notebook(root: Path) -> None:
    (root / "chapters" / "03_bare.md").write_text("# Bare\n")
    with pytest.raises(ValueError, match=r"chapters/03_bare.md: is no MyST text notebook"):
        notebooks.generate(root)


def test_notebooks_are_in_step_with_their_chapters() -> None:
    assert notebooks.generate(ROOT, check=True) == [], "run: make notebooks"


@pytest.mark.parametrize("path", sorted((ROOT / "chapters").glob("*.md")), ids=lambda p: p.stem)
def test_no_markup_of_the_page_is_left(path: Path) -> None:
    name, targets = path.relative_to(ROOT).as_posix(), notebooks.collect_targets(ROOT)
    made = notebooks.convert(path.read_text("utf-8"), name, targets, notebooks.Addresses())
    for cell in nbformat.reads(made, as_version=4).cells:
        if cell.cell_type == "markdown":
            assert not re.search(r"^\s*:::|\{[\w:-]+\}`|^\([\w-]+\)=$", cell.source, re.MULTILINE)

"""Every chapter has its whole shape, and the check of the shape notices what is missing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from primer import drawings, figures
from tests.book import shape
from tests.book.source import bare, n_words, parse
from tests.conftest import ROOT

CHAPTERS = sorted((ROOT / "chapters").glob("*.md"))
NAME = "03_small"
SHOW = 'explore.show("roofline")'
FILLER = " ".join(["word"] * 900)
EXERCISES = "\n".join(
    f"::::{{exercise}} 3.{n}\n:kind: {kind}\n\nAsk.\n\n:::{{solution}}\nSay.\n:::\n::::\n"
    for n, kind in enumerate(shape.KINDS, 1)
)
TEXT = f"""\
---
kernelspec: {{name: python3}}
---

(chapter-3)=
# 3 — A small whole

:::{{promise}}
You will predict it.
:::

## 3.1 A story

{FILLER}

:::{{predict}} first
:answer: 1
:unit: s

How long?
:::

:::{{predict}} second
:answer: 2
:unit: s

And now?
:::

(the-figure)=
### The figure

```{{code-cell}} ipython3
{SHOW}
```

## 3.2 A figure

### The one matmul, here

{FILLER}

:::{{takeaway}}
:killer: the-figure The figure
:model: A slope and a roof.

One sentence with {{num}}`1.5` in it.
:::

## 3.3 Measured beside modeled

{FILLER}

```{{code-cell}} ipython3
print(1)
```

:::{{lies}}
- Much is left out.
:::

## Exercises

{EXERCISES}
```{{code-cell}} ipython3
exercises.check("3.2", None)
```

:::{{deeper}} 3
:::
"""


def look_up(name: str) -> shape.Figure | None:
    if name in drawings.ids():
        return shape.Figure(drawings.load(name).question, "", is_drawing=True)
    if name not in figures.ids():
        return None
    figure = figures.load(name)
    return shape.Figure(figure.question, figure.assumes)


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_a_chapter_has_its_whole_shape(path: Path) -> None:
    found = shape.complaints(path.stem, path.read_text("utf-8"), look_up)
    placed = (f":{line}" if line[0].isdigit() else f": {line}" for line in found)
    assert not found, "\n".join(f"chapters/{path.name}{line}" for line in placed)


def test_a_small_whole_chapter_is_whole() -> None:
    assert shape.complaints(NAME, TEXT, look_up) == []


def cut(pattern: str, new: str = "", count: int = 1) -> str:
    """The small chapter with what the pattern matches replaced; the pattern must match."""
    text, n = re.subn(pattern, new, TEXT, count=count, flags=re.M | re.S)
    assert n, pattern
    return text


WORDY = "\n\n" + "word " * 4600 + "\n\n"
LONG_CELL = "```{code-cell} ipython3\n" + "x = 1\n" * 16 + "```\n"
WIDE_CELL = "```{code-cell} ipython3\nx = '" + "x" * 75 + "'\n```\n"
MUTATIONS = [
    (lambda: cut(r"^# 3 — ", "# 2 — "), "one title, '# 3 — …'"),
    (lambda: cut(r"^\(chapter-3\)=\n"), "label (chapter-3)="),
    (lambda: cut(r"^## 3\.2 ", "## 3.4 "), "the section must be 3.2"),
    (lambda: cut(r"^## 3\.2 ", "## "), "at least three"),
    (lambda: cut(r"^:::\{promise\}.*?^:::\n"), "one {promise} block; got 0"),
    (
        lambda: cut(r"^:::\{promise\}(.*?)^:::\n(.*?)\nword", r"\2\n:::{promise}\1:::\n"),
        "before the",
    ),
    (lambda: cut(r"^:::\{lies\}.*?^:::\n"), "one {lies} block; got 0"),
    (lambda: cut(r"^:::\{takeaway\}.*?^:::\n"), "one {takeaway} block; got 0"),
    (lambda: cut(r"^(:::\{takeaway\}.*?^:::\n)", r"\1\n\1"), "one {takeaway} block; got 2"),
    (lambda: cut(r":killer: the-figure", ":killer: other-figure"), "'other-figure'"),
    (lambda: cut(r"^:model: [^\n]*", ":model: " + "long " * 16), "a phrase of 2 to 15 words"),
    (lambda: cut(r"in it\.\n", "in it. Twice.\n"), "one sentence"),
    (lambda: cut(r"^:::\{predict\}.*?^:::\n"), "2 {predict} blocks or more; got 1"),
    (lambda: cut(r"^## 3\.2", ":::{predict} late\nWhat?\n:::\n\n## 3.2"), "before an explorable"),
    (lambda: cut(r"^### The one matmul, here$", "### The matmul"), "'The one matmul, here'; got 0"),
    (lambda: cut(r"Measured beside modeled$", "Measured"), "'Measured beside modeled'; got 0"),
    (lambda: cut(r"^:kind: break-it$", ":kind: open"), "an exercise of the kind break-it"),
    (lambda: cut(r"^::::\{exercise\} 3\.2", "::::{exercise} 3.9"), "the exercise must be 3.2"),
    (lambda: cut(r"^:::\{solution\}$", ":::{note}"), "one solution inside"),
    (lambda: cut(r"^::::\{exercise\} 3\.5.*?^::::\n"), "5 exercises or more; got 4"),
    (lambda: cut(r"^exercises\.check[^\n]*", "1"), "an automatic check"),
    (lambda: cut(r'check\("3\.2"', 'check("9.1"'), "names no exercise of this chapter"),
    (lambda: cut(r"^:::\{deeper\} 3$", ":::{deeper}\n- A book."), "write :::{deeper} 3"),
    (lambda: TEXT + "\nAn afterthought.\n", "must end the chapter"),
    (lambda: cut(r"word( word)+"), "to 4,500 words of prose"),
    (lambda: cut(r"^## 3\.2", WORDY + "## 3.2"), "to 4,500 words of prose"),
    (lambda: cut(r"^## 3\.2", LONG_CELL + "## 3.2"), "15 lines or fewer; got 16"),
    (lambda: cut(r"^## 3\.2", WIDE_CELL + "## 3.2"), "75 letters a line"),
    (lambda: TEXT.replace(SHOW, "1"), "must show an explorable"),
    (lambda: TEXT.replace(SHOW, f"{SHOW}\n{SHOW}"), "must be shown once; got 2"),
    (lambda: TEXT.replace(SHOW, 'explore.show("flatline")'), "'flatline' must exist"),
    (lambda: cut(r"^:::\{promise\}", "::::{promise}"), "is never closed"),
]


@pytest.mark.parametrize(("mutate", "complaint"), MUTATIONS, ids=[words for _, words in MUTATIONS])
def test_a_mutated_chapter_is_noticed(mutate, complaint: str) -> None:
    found = shape.complaints(NAME, mutate(), look_up)
    assert any(complaint in line for line in found), found


def test_a_check_beside_the_exercise_counts() -> None:
    unchecked = re.sub(r"^exercises\.check[^\n]*", "1", TEXT, flags=re.M)
    checked = unchecked.replace(":kind: calculate\n", ":kind: calculate\n:check:\n")
    assert any("automatic" in line for line in shape.complaints(NAME, unchecked, look_up))
    assert shape.complaints(NAME, checked, look_up) == []


def test_what_stands_somewhere_is_found_by_its_line() -> None:
    twice = TEXT.replace(SHOW, f"{SHOW}\n{SHOW}")
    at = twice[: twice.index(SHOW)].count("\n")
    (found,) = shape.complaints(NAME, twice, look_up)
    assert found.startswith(f"{at}: the figure 'roofline'")
    (found,) = shape.complaints(NAME, cut(r"^# 3 — ", "# 2 — "), look_up)
    assert found.startswith("6: it must have one title")
    (found,) = shape.complaints(NAME, cut(r'check\("3\.2"', 'check("9.1"'), look_up)
    assert found.split(":")[0].isdigit()


def test_the_name_of_the_file() -> None:
    assert "must be named like" in shape.complaints("small", TEXT, look_up)[0]


def test_a_figure_without_question_or_assumption() -> None:
    found = shape.complaints(NAME, TEXT, lambda name: shape.Figure("The roofline", ""))
    assert any("must be a question" in line for line in found)
    assert any("what it assumes" in line for line in found)


def test_a_path_of_seven_is_too_long() -> None:
    seven = "\n".join(f'explore.show("{name}")' for name in "abcdefg")
    found = shape.complaints(NAME, TEXT.replace(SHOW, seven), lambda name: shape.Figure("?", "x"))
    assert any("6 explorables or fewer before the gallery" in line for line in found)
    gallery = TEXT.replace(
        "## Exercises", f"## Gallery\n\n```{{code-cell}}\n{seven}\n```\n\n## Exercises"
    )
    found = shape.complaints(NAME, gallery, lambda name: shape.Figure("?", "x"))
    assert not any("gallery" in line for line in found)


def test_a_drawing_is_no_explorable_of_the_path() -> None:
    many = "\n".join(f'explore.show("{name}")' for name in ("roofline", *drawings.ids()))
    assert shape.complaints(NAME, TEXT.replace(SHOW, many), look_up) == []
    alone = TEXT.replace(SHOW, f'explore.show("{drawings.ids()[0]}")')
    found = shape.complaints(NAME, alone, look_up)
    assert any("must show an explorable" in line for line in found)
    assert any("before an explorable" in line for line in found)
    twice = f'{many}\nexplore.show("{drawings.ids()[0]}")'
    (found_twice,) = shape.complaints(NAME, TEXT.replace(SHOW, twice), look_up)
    assert "must be shown once; got 2" in found_twice


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Two words.", 2),
        ("A number {num}`roofline.place(a, b) | .1f` and $a + b$ and `code here`.", 7),
        ("[a link](https://a.org/long/path) and {ref}`a text <label>`", 5),
        ("$$\nx = 1\n$$", 1),
        ("well-known 3.35 don’t", 3),
    ],
)
def test_words(text: str, words: int) -> None:
    assert n_words(text) == words


def test_parts() -> None:
    text = (
        "---\na: b\n---\n\n(here)=\n# T\n\nProse\nmore.\n\n"
        "::::{exercise} 1.1\n:kind: open\n\nAsk.\n\n"
        ":::{solution}\n```python\n# no heading\n```\n:::\n::::\n\n```{code-cell} ipython3\n"
        ":tags: [x]\n\nf()\n```\n"
    )
    parts = parse(text)
    assert [(p.kind, p.line) for p in parts] == [
        ("label", 5), ("heading", 6), ("prose", 7), ("block", 11), ("cell", 23),
    ]  # fmt: skip
    assert parts[3].options == {"kind": "open"}
    assert [p.name or p.kind for p in parts[3].walk()] == ["exercise", "prose", "solution", "code"]
    assert parts[4].text.strip() == "f()"
    assert bare("a\n$$\nb\n$$\nc").count("\n") == 4

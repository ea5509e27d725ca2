"""What a page depends on: exactly what it imports, shows, evaluates and reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from primer_book import fingerprint
from primer_book.fingerprint import Tracer

MODULES = {
    "__init__.py": "",
    "units.py": "GB = 1e9\n",
    "hardware.py": "from primer import units\nFOLDER = 'data/chips'\nPROC = '/proc/cpuinfo'\n",
    "roofline.py": "from primer.units import GB\n",
    "energy.py": "import primer.units\n",
    "explore/__init__.py": (
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from primer import energy\n"
        "def show(name):\n    from primer.explore import live, placeholder\n"
    ),
    "explore/live.py": "",
    "explore/placeholder.py": "from primer.explore import frames\n",
    "explore/frames.py": "",
    "explore/payload.py": "from primer.explore import frames\n",
    "figures/__init__.py": "",
    "figures/style.py": "",
    "figures/roofline.py": (
        "from primer import hardware, roofline\nfrom primer.figures import style\n"
    ),
    "figures/energy_ladder.py": "from primer import energy\n",
    "drawings/__init__.py": "",
    "drawings/gpu_die.py": "from primer import hardware\nfrom primer.figures import style\n",
    "data/chips/a.toml": "x = 1\n",
    "exercises/__init__.py": "def check(i, a):\n    from primer.exercises import bank\n",
    "exercises/bank/__init__.py": "from primer.exercises.bank import slopes, ladder\n",
    "exercises/bank/slopes.py": "from primer import roofline\nEXERCISES = {'1.1': 1}\n",
    "exercises/bank/ladder.py": "from primer import energy\nEXERCISES = {'0.1': 1}\n",
}
PAGE = """
# A page

It says {num}`chip.peak | .0f`.

```{code-cell} ipython3
:tags: [hide-input]

from primer import explore
explore.show("roofline")
```
"""


@pytest.fixture
def package(tmp_path) -> Path:
    root = tmp_path / "primer"
    for name, text in MODULES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    (tmp_path / "requirements.txt").write_text("numpy==2.4.6  # arrays\n")
    return root


@pytest.fixture(autouse=True)
def no_chips(monkeypatch):
    monkeypatch.setattr(fingerprint.numbers, "modules_used", lambda text: {"hardware"})


def _tracer(package: Path) -> Tracer:
    return Tracer(package, package.parent / "requirements.txt")


def _names(package: Path, paths: set[Path]) -> set[str]:
    return {str(p.relative_to(package)) for p in paths}


def test_closure_follows_imports_and_data_and_stops_there(package):
    tracer = _tracer(package)
    found = _names(package, tracer.closure(tracer.modules_of_page(PAGE)))
    assert found == {
        "explore/__init__.py",
        "explore/placeholder.py",
        "explore/frames.py",
        "figures/roofline.py",
        "figures/style.py",
        "hardware.py",
        "roofline.py",
        "units.py",
        "data/chips/a.toml",
    }


@pytest.mark.parametrize(
    ("name", "page", "figure"),
    [
        ("roofline.py", True, True),
        ("units.py", True, True),
        ("data/chips/a.toml", True, True),
        ("figures/style.py", True, True),
        ("explore/frames.py", True, True),
        ("explore/placeholder.py", True, False),
        ("explore/payload.py", False, True),
        ("explore/live.py", False, False),
        ("energy.py", False, False),
        ("figures/energy_ladder.py", False, False),
    ],
)
def test_a_change_reaches_exactly_what_depends_on_it(package, name, page, figure):
    before = _tracer(package).page(PAGE), _tracer(package).figure("roofline")
    (package / name).write_text((package / name).read_text() + "# changed\n")
    after = _tracer(package).page(PAGE), _tracer(package).figure("roofline")
    assert [a != b for a, b in zip(before, after, strict=True)] == [page, figure]


ASKING = """
# A page

::::{exercise} 0.1
:check:
::::

```{code-cell} ipython3
from primer import exercises
exercises.check("1.1", None)
```
"""


def test_a_page_depends_on_the_exercises_it_asks_and_no_others(package):
    tracer = _tracer(package)
    found = _names(package, tracer.closure(tracer.modules_of_page(ASKING)))
    assert {"exercises/bank/slopes.py", "roofline.py", "exercises/bank/ladder.py"} <= found
    alone = tracer.modules_of_page(ASKING.replace("{exercise} 0.1", "{note}"))
    found = _names(package, tracer.closure(alone))
    assert "exercises/bank/slopes.py" in found
    assert not {"exercises/bank/ladder.py", "energy.py"} & found


def test_a_new_data_file_and_a_new_pin_count_but_a_comment_on_a_pin_does_not(package):
    first = _tracer(package).page(PAGE)
    (package / "data/chips/b.toml").write_text("x = 2\n")
    second = _tracer(package).page(PAGE)
    (package.parent / "requirements.txt").write_text("numpy==2.4.6  # still arrays\n")
    third = _tracer(package).page(PAGE)
    (package.parent / "requirements.txt").write_text("numpy==2.4.7\n")
    fourth = _tracer(package).page(PAGE)
    assert first != second == third != fourth


def test_prose_is_no_reason_to_execute_but_a_cell_and_a_number_are(package):
    tracer = _tracer(package)
    base = tracer.page(PAGE)
    assert tracer.page(PAGE.replace("It says", "It still says")) == base
    assert tracer.page(PAGE.replace(".0f", ".1f")) != base
    assert tracer.page(PAGE.replace('show("roofline")', 'show("energy-ladder")')) != base


def test_cells_lose_their_options_and_explorables_keep_their_order():
    assert fingerprint.cells(PAGE) == ['\nfrom primer import explore\nexplore.show("roofline")\n']
    text = '```{code-cell}\nshow("b")\nexplore.show("a")\nshow(a)\n```\n'
    assert fingerprint.explorables(text) == ["b", "a"]


def test_a_drawing_is_shown_and_traced_but_has_no_frames(package):
    page = PAGE.replace('show("roofline")', 'show("gpu-die")')
    assert fingerprint.shown(page) == ["gpu-die"]
    assert fingerprint.explorables(page) == []
    tracer = _tracer(package)
    found = _names(package, tracer.closure(tracer.modules_of_page(page)))
    assert {"drawings/gpu_die.py", "figures/style.py", "data/chips/a.toml"} <= found
    assert not {"figures/roofline.py", "explore/payload.py"} & found


def test_a_cell_that_only_a_kernel_runs_counts_for_nothing(package):
    live = "\n```{code-cell}\n:tags: [skip-execution]\n\nfrom primer import energy\n```\n"
    assert _tracer(package).page(PAGE + live) == _tracer(package).page(PAGE)


def test_an_unknown_module_is_named(package):
    with pytest.raises(ValueError, match=r"primer\.nothing"):
        _tracer(package).closure({"primer.nothing"})

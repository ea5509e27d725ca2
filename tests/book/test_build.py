"""A failed build says what to mend, and leaves nothing that looks like a book."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

CELL_FAILED = f"""\
reading sources... [ 50%] chapters/01_roofline
{ROOT}/chapters/01_roofline.md: WARNING: Executing notebook failed: CellExecutionError
myst_nb.core.execute.base.ExecutionError: {ROOT}/chapters/01_roofline.md
nbclient.exceptions.CellExecutionError: An error occurred while executing the following cell:
------------------
1/0
------------------
ZeroDivisionError                         Traceback (most recent call last)
ZeroDivisionError: division by zero
RuntimeError: There was an error in building your book. Look above for the cause.
"""
WARNED = f"""\
{ROOT}/chapters/01_roofline.md:9: WARNING: 'myst' cross-reference target not found: 'nope'
{ROOT}/chapters/01_roofline.md:9: WARNING: 'myst' cross-reference target not found: 'nope'
[IPKernelApp] WARNING | Kernel is running over TCP without encryption
build finished with problems, 1 warning.
"""

JUPYTER_BOOK = """
The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "main.py", line 528, in builder_specific_actions
    raise RuntimeError(_message_box(msg, color="red", doprint=False)) from result
RuntimeError:
===============
There was an error in building your book. Look above for the cause.
"""
HANDLER = "Handler <function write_file at 0x7fc4> for event 'env-updated' threw an exception"
BAD_CHIP = "t4.toml: tdp.value must lie between 5 W and 30 kW; got '70 kW'"
HANDLER_FAILED = f"""\
Extension error (primer_book.tables):
{HANDLER} (exception: {BAD_CHIP})
Traceback (most recent call last):
    raise ValueError(f"{{name}} must {{rule}}; got {{shown}}")
ValueError: {BAD_CHIP}

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
    raise ExtensionError(
sphinx.errors.ExtensionError: {HANDLER} (exception: {BAD_CHIP})
{JUPYTER_BOOK}"""
FRAMES_FAILED = f"""\
ValueError: figure must have size
RuntimeError: the frames of explorable 'waves' failed: figure must have size
sphinx.errors.ExtensionError: {HANDLER} (exception: the frames of …)
{JUPYTER_BOOK}"""
IMPORT_FAILED = f"""\
Traceback (most recent call last):
  File "book/_ext/primer_book/terms.py", line 8, in <module>
    import nope
ModuleNotFoundError: No module named 'nope'
{JUPYTER_BOOK}"""
NO_TRACEBACK = "Extension error:\nCould not import extension a.b (exception: No module named 'a')\n"


@pytest.fixture
def build(tmp_path, monkeypatch):
    spec = importlib.util.spec_from_file_location("build", ROOT / "book" / "build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "SITE", tmp_path / "html")
    monkeypatch.setattr(module, "MARK", tmp_path / "html" / ".unfinished")
    monkeypatch.setattr(module, "LEDGER", tmp_path / "ledger.json")
    return module


def _sphinx(build, monkeypatch, *, status: int, text: str = "") -> list[bool]:
    """Put a build of one page with that outcome in place of Sphinx; how it was asked to build."""
    asked = []

    def run_sphinx(*, everything):
        asked.append(everything)
        (build.SITE / "index.html").write_text("a page")
        build.Ledger(build.LEDGER).add("execution", 0.0, pages=2)
        return status, text.splitlines()

    monkeypatch.setattr(build, "run_sphinx", run_sphinx)
    return asked


def test_a_failed_cell_is_named_with_its_page_and_error(build):
    assert build.failed_page(CELL_FAILED.splitlines()) == (
        "chapters/01_roofline.md: a cell raised ZeroDivisionError: division by zero"
    )


def test_warnings_are_named_once_from_the_root(build):
    assert build.failed_page(WARNED.splitlines()) is None
    assert build.complaints(WARNED.splitlines()) == [
        "chapters/01_roofline.md:9: WARNING: 'myst' cross-reference target not found: 'nope'"
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (HANDLER_FAILED, f"ValueError: {BAD_CHIP}"),
        (FRAMES_FAILED, "RuntimeError: the frames of explorable 'waves' failed: figure must have"),
        (IMPORT_FAILED, "ModuleNotFoundError: No module named 'nope'"),
        (NO_TRACEBACK, "No module named 'a'"),
        (WARNED, "chapters/01_roofline.md:9: WARNING: 'myst' cross-reference"),
        (WARNED + JUPYTER_BOOK, "chapters/01_roofline.md:9: WARNING: 'myst' cross-reference"),
        (CELL_FAILED, "chapters/01_roofline.md: a cell raised ZeroDivisionError"),
    ],
    ids=["handler", "frames", "import", "no traceback", "warning", "warning in full", "cell"],
)
def test_the_summary_names_the_cause(build, capsys, text, words):
    build.report_failure(text.splitlines(), 2)
    _, first, named, last = capsys.readouterr().err.splitlines()
    assert first == "book: FAILED (exit status 2)"
    assert named.startswith(f"  {words}")
    assert last == "  _build/html is incomplete and marked so."


def test_a_good_build_counts_and_leaves_no_mark(build, monkeypatch, capsys):
    _sphinx(build, monkeypatch, status=0)
    assert build.build() == 0
    assert not build.MARK.exists()
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("book: 2 pages executed, 0 frames rendered, 1 pages written, ")


def test_a_failed_build_is_marked_and_the_next_one_reads_every_page(build, monkeypatch, capsys):
    _sphinx(build, monkeypatch, status=1, text=CELL_FAILED)
    assert build.build() == 1
    assert build.MARK.exists()
    assert not (build.SITE / "index.html").exists()
    assert "chapters/01_roofline.md: a cell raised ZeroDivisionError" in capsys.readouterr().err

    asked = _sphinx(build, monkeypatch, status=0)
    assert build.build() == 0
    assert build.build() == 0
    assert asked == [True, False]
    assert (build.SITE / "index.html").exists()

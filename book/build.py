"""Build the book into `_build/html`, or say which page failed and why.

Run by `make book` in the repository's own environment. Sphinx writes in place, so
a mark lies in the site from the first moment until the build has succeeded: tests
and `make serve` refuse a marked site, and the build after a failed one reads every
page again (an unchanged page would keep its warning to itself). Executed cells and
drawn frames are kept in any case.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "book" / "_ext"))

from primer_book.ledger import Ledger  # noqa: E402

SITE = ROOT / "_build" / "html"
MARK = SITE / ".unfinished"
LEDGER = ROOT / "_build" / "ledger.json"
STAGES = ("execution", "frames", "pages")

_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_PAGE = re.compile(r"ExecutionError: (\S+\.(?:md|ipynb))$")
_WARNING = re.compile(r"(?:^|: )(?:WARNING|ERROR|CRITICAL|SEVERE): ")
_THROWN = re.compile(r"\(exception: (.+)\)$")
_RAISED = re.compile(r"^([A-Za-z_.]*(?:Error|Exception|Interrupt|Warning|Exit|Iteration)): ?(.*)$")


def environment() -> dict[str, str]:
    """What the build's processes see: this environment, no browser, no colors."""
    path = os.pathsep.join(filter(None, [str(ROOT / "book/_ext"), os.environ.get("PYTHONPATH")]))
    return os.environ | {
        "PYTHONPATH": path,
        "PRIMER_BOOK": "1",
        "PYTHONUNBUFFERED": "1",
        "NO_COLOR": "1",
        # The kernel is this environment's, whatever else the user has registered.
        "JUPYTER_PREFER_ENV_PATH": "1",
        "JUPYTER_PLATFORM_DIRS": "1",
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    }


def run_sphinx(*, everything: bool) -> tuple[int, list[str]]:
    """Run Jupyter Book, pass its lines on as they come, and return them."""
    program = "from jupyter_book.cli.main import main; main()"
    command = [sys.executable, "-c", program, "build", ".", "-W", "-n", "--keep-going"]
    if everything:
        command.append("--all")
    lines: list[str] = []
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(_ANSI.sub("", line).rstrip())
            print(lines[-1], flush=True)
    return process.returncode, lines


def failed_page(lines: Sequence[str]) -> str | None:
    """The page whose cell failed, with the cell's error, from Sphinx's output."""
    pages = [m[1] for line in lines if (m := _PAGE.search(line))]
    if not pages:
        return None
    page = os.path.relpath(pages[-1], ROOT)
    cell = next((i for i, line in enumerate(lines) if "CellExecutionError: An error" in line), 0)
    raised = next((m for line in lines[cell + 1 :] if (m := _RAISED.match(line))), None)
    return f"{page}: a cell raised {raised[1]}: {raised[2]}" if raised else f"{page}: a cell failed"


def cause(lines: Sequence[str]) -> str | None:
    """The exception that ended a build where no cell did: the innermost one that has words.

    Sphinx wraps what a handler raises into a sentence about the handler, and Jupyter Book that
    into one about itself.
    """
    raised = [m for line in lines if (m := _RAISED.match(line)) and m[2]]
    inner = [m for m in raised if not m[2].startswith(("Handler <", "There was an error in"))]
    if inner:
        return f"{inner[-1][1]}: {inner[-1][2]}"
    return next((m[1] for line in reversed(lines) if (m := _THROWN.search(line))), None)


def complaints(lines: Iterable[str]) -> list[str]:
    """What Sphinx warned of, each once, with paths from the repository's root."""
    found = (line.replace(f"{ROOT}{os.sep}", "") for line in lines if _WARNING.search(line))
    return list(dict.fromkeys(found))


def report_failure(lines: Sequence[str], status: int) -> None:
    """Say last, where it is read, what has to be mended."""
    print(f"\nbook: FAILED (exit status {status})", file=sys.stderr)
    failed = failed_page(lines) or cause(lines)
    warnings = complaints(lines)
    for line in [failed] if failed else warnings[:20]:
        print(f"  {line}", file=sys.stderr)
    if not failed and len(warnings) > 20:
        print(f"  … and {len(warnings) - 20} more, above", file=sys.stderr)
    print("  _build/html is incomplete and marked so.", file=sys.stderr)


def build(*, everything: bool = False) -> int:
    """Build; 0 where the site is complete."""
    everything = everything or MARK.exists()
    SITE.mkdir(parents=True, exist_ok=True)
    MARK.write_text("This site is incomplete: its build runs, or has failed.\n", "utf-8")
    ledger = Ledger(LEDGER)
    ledger.forget(*STAGES)
    began, start = time.time(), time.monotonic()
    status, lines = run_sphinx(everything=everything)
    seconds = time.monotonic() - start
    entries = ledger.entries()
    inside = sum(entries[s].seconds for s in STAGES if s in entries)
    written = sum(page.stat().st_mtime >= began for page in SITE.rglob("*.html"))
    ledger.add("pages", max(0.0, seconds - inside), pages=written)
    if status:
        # A site without its front page is not taken for a good one.
        (SITE / "index.html").unlink(missing_ok=True)
        report_failure(lines, status)
        return status
    MARK.unlink()
    print(summary(ledger, written, seconds))
    return 0


def summary(ledger: Ledger, written: int, seconds: float) -> str:
    """The closing line."""
    entries = ledger.entries()
    executed = entries["execution"].counts.get("pages", 0) if "execution" in entries else 0
    rendered = entries["frames"].counts.get("frames", 0) if "frames" in entries else 0
    return (
        f"book: {executed} pages executed, {rendered} frames rendered, "
        f"{written} pages written, {seconds:.1f} s"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Build the book into _build/html.")
    parser.add_argument("--all", action="store_true", help="read and write every page again")
    sys.exit(build(everything=parser.parse_args().all))

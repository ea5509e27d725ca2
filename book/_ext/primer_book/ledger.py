"""How long each stage of a build or a test run took, in one small file.

Several processes write to it (the build, Sphinx, pytest), so every change is made
under a lock. A stage that is added twice adds up; `forget` starts it anew.

    python -m primer_book.ledger time lint -- ruff check .
    python -m primer_book.ledger report
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

try:
    import fcntl
except ImportError:  # no such thing on Windows; there the stages run one by one anyway
    fcntl = None  # type: ignore[assignment]

DEFAULT_PATH = Path("_build/ledger.json")

#: Stage -> the most seconds it may take, on two cores.
CAPS: Mapping[str, float] = {"frames": 300.0, "execution": 720.0, "browser": 480.0}


@dataclass
class Entry:
    """One stage: its seconds, and what was made in them."""

    seconds: float = 0.0
    counts: dict[str, int] = field(default_factory=dict)

    def add(self, seconds: float, counts: Mapping[str, int]) -> None:
        """Add another piece of the same stage."""
        self.seconds += seconds
        for name, n in counts.items():
            self.counts[name] = self.counts.get(name, 0) + n


class Ledger:
    """Stages in the order in which they were first added, kept in a file."""

    def __init__(self, path: str | Path = DEFAULT_PATH) -> None:
        self.path = Path(path)

    def add(self, stage: str, seconds: float, **counts: int) -> None:
        """Add seconds, and counts of what was made (`pages=3`), to a stage."""
        if not seconds >= 0:
            raise ValueError(f"seconds of stage {stage!r} must be >= 0; got {seconds!r}")
        with self._changing() as entries:
            entries.setdefault(stage, Entry()).add(seconds, counts)

    def forget(self, *stages: str) -> None:
        """Drop these stages, so that the next `add` starts them at zero."""
        with self._changing() as entries:
            for stage in stages:
                entries.pop(stage, None)

    def entries(self) -> dict[str, Entry]:
        """All stages; none where there is no file yet."""
        try:
            return _decode(self.path.read_text("utf-8"))
        except FileNotFoundError:
            return {}

    def check(self, caps: Mapping[str, float] = CAPS) -> list[str]:
        """One sentence for each stage over its cap."""
        return [
            f"stage {stage!r} took {entry.seconds:.1f} s; it may take {caps[stage]:.0f} s"
            for stage, entry in self.entries().items()
            if stage in caps and entry.seconds > caps[stage]
        ]

    def table(self, caps: Mapping[str, float] = CAPS) -> str:
        """All stages as aligned text, with caps and a total."""
        entries = self.entries()
        rows = [
            (stage, f"{e.seconds:.1f}", f"{caps[stage]:.0f}" if stage in caps else "", _said(e))
            for stage, e in entries.items()
        ]
        total = sum(e.seconds for e in entries.values())
        rows = [("stage", "seconds", "cap", ""), *rows, ("total", f"{total:.1f}", "", "")]
        widths = [max(len(row[i]) for row in rows) for i in range(3)]
        return "\n".join(
            f"{a:<{widths[0]}}  {b:>{widths[1]}}  {c:>{widths[2]}}  {d}".rstrip()
            for a, b, c, d in rows
        )

    @contextmanager
    def _changing(self) -> Iterator[dict[str, Entry]]:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a+", encoding="utf-8") as file, _locked(file):
            file.seek(0)
            entries = _decode(file.read())
            yield entries
            file.seek(0)
            file.truncate()
            json.dump({stage: vars(e) for stage, e in entries.items()}, file, indent=1)


def _decode(text: str) -> dict[str, Entry]:
    """What a ledger's text says; a file cut short by a killed process says nothing."""
    try:
        return {stage: Entry(**entry) for stage, entry in json.loads(text).items()}
    except (ValueError, TypeError, AttributeError):
        return {}


@contextmanager
def _locked(file: IO[str]) -> Iterator[None]:
    if fcntl is None:
        yield
        return
    fcntl.flock(file, fcntl.LOCK_EX)
    try:
        yield
        file.flush()
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)


def _said(entry: Entry) -> str:
    return ", ".join(f"{n} {name}" for name, n in entry.counts.items())


def _time(ledger: Ledger, args: argparse.Namespace) -> int:
    """Run a command as a stage; its exit status is ours."""
    command: list[str] = args.command[1:] if args.command[:1] == ["--"] else args.command
    ledger.forget(args.stage)
    start = time.monotonic()
    try:
        return subprocess.run(command, check=False).returncode
    finally:
        ledger.add(args.stage, time.monotonic() - start)


def _add(ledger: Ledger, args: argparse.Namespace) -> int:
    ledger.forget(args.stage)
    ledger.add(args.stage, args.seconds)
    return 0


def _report(ledger: Ledger, args: argparse.Namespace) -> int:
    print(ledger.table())
    over = ledger.check()
    for complaint in over:
        print(f"over its cap: {complaint}", file=sys.stderr)
    return 1 if over else 0


def main(argv: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="primer_book.ledger", description=__doc__)
    parser.add_argument("--path", type=Path, default=DEFAULT_PATH)
    does: Callable[[Ledger, argparse.Namespace], int]
    commands = parser.add_subparsers(required=True)
    for name, does in (("time", _time), ("add", _add), ("report", _report)):
        command = commands.add_parser(name)
        command.set_defaults(does=does)
        if name != "report":
            command.add_argument("stage")
        if name == "add":
            command.add_argument("seconds", type=float)
        if name == "time":
            command.add_argument("command", nargs=argparse.REMAINDER)
    args = parser.parse_args(argv)
    return int(args.does(Ledger(args.path), args))


if __name__ == "__main__":
    sys.exit(main())

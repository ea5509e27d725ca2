"""The store of drawn figures, and the files that pages load from it.

A drawn explorable is kept under the digest of all that made it, outside of the
site, so that a rebuild draws only what changed.
"""

from __future__ import annotations

import hashlib
import os
import time
from dataclasses import dataclass, field
from pathlib import Path

from primer_book.fingerprint import Tracer


@dataclass
class FrameStore:
    """Frame scripts by explorable and digest.

    Parameters
    ----------
    folder : Path
        Where drawn explorables are kept between builds.
    tracer : Tracer
        Knows what each figure depends on.
    """

    folder: Path
    tracer: Tracer
    #: what this build drew, and how long that took
    seconds: float = 0.0
    drawn: dict[str, int] = field(default_factory=dict)

    def key(self, explorable_id: str) -> str:
        """Digest of everything that makes the frames of this explorable."""
        return self.tracer.figure(explorable_id)

    def script(self, explorable_id: str) -> Path:
        """The frame script of an explorable, drawn now if it is not there."""
        path = self.folder / f"{explorable_id}.{self.key(explorable_id)}.js"
        if not path.is_file():
            start = time.perf_counter()
            self.drawn[explorable_id] = self._draw(explorable_id, path)
            self.seconds += time.perf_counter() - start
        return path

    def _draw(self, explorable_id: str, path: Path) -> int:
        """Draw and keep all states; returns how many there are."""
        from primer import figures
        from primer.explore import payload

        explorable = figures.load(explorable_id)
        text = payload.script(explorable)
        self.folder.mkdir(parents=True, exist_ok=True)
        for old in self.folder.glob(f"{explorable_id}.*.js"):
            old.unlink()
        write_whole(path, text)
        return sum(state is not None for state in explorable.states())

    def publish(self, explorable_id: str, static: Path) -> str:
        """Copy a frame script into the site, named by its content; returns that name."""
        source = self.script(explorable_id)
        content = source.read_bytes()
        name = f"{explorable_id}.{hashlib.sha256(content).hexdigest()[:12]}.js"
        target = static / "frames" / name
        if not target.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            write_whole(target, content.decode())
        return name


def write_whole(path: Path, text: str) -> None:
    """Write a file so that nobody ever sees half of it."""
    partial = path.with_suffix(f".{os.getpid()}.tmp")
    partial.write_text(text, "utf-8")
    partial.replace(path)


def prune(static: Path, wanted: set[str]) -> None:
    """Remove frame scripts that no page loads any more."""
    for path in (static / "frames").glob("*.js"):
        if path.name not in wanted:
            path.unlink()

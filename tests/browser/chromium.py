"""Find a Chromium for the browser tests, or install one.

    python -m tests.browser.chromium     prints its path, after installing it if need be

No step may hang: each command that installs has a time limit, and none waits for input.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--disable-dev-shm-usage",
    "--disable-features=Translate,MediaRouter,OptimizationHints",
)
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FIXED = ("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",)
#: The browser, and letters for it: it comes without a font.
PACKAGES = ("chromium", "fonts-dejavu-core", "fonts-liberation")
ADVICE = (
    "No Chromium was found, and none could be installed here. Install Chromium or Google Chrome "
    "(Debian: apt install chromium; elsewhere: python -m playwright install --with-deps chromium), "
    "or name one: PRIMER_CHROMIUM=/path/to/chrome"
)

_MANAGED = """
from playwright.sync_api import sync_playwright
with sync_playwright() as playwright:
    print(playwright.chromium.executable_path)
"""


def attempt(
    command: Sequence[str], seconds: float, *, env: Mapping[str, str] | None = None
) -> str | None:
    """Output of a command; None if it is missing, fails or takes too long."""
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, **(env or {})},
            start_new_session=True,
        )
    except OSError:
        return None
    with process:
        try:
            out, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            # Installers have children of their own, which would hold the pipe open.
            os.killpg(process.pid, signal.SIGKILL)
            return None
    return out if process.returncode == 0 else None


def works(path: str | Path) -> bool:
    """Whether it starts: a package's stub and missing libraries show here."""
    return bool(attempt([str(path), "--version"], 30))


def candidates() -> Iterator[str]:
    """Where a browser may be, best first."""
    for name in NAMES:
        if path := shutil.which(name):
            yield path
    yield from (path for path in FIXED if Path(path).exists())
    if managed := attempt([sys.executable, "-c", _MANAGED], 60):
        yield managed.strip()


@cache
def find() -> Path | None:
    """A Chromium that starts; None if there is none.

    `PRIMER_CHROMIUM` names it alone: a wrong value is an error, not a hint.
    """
    if named := os.environ.get("PRIMER_CHROMIUM"):
        if not works(named):
            raise ValueError(f"PRIMER_CHROMIUM must name a browser that starts; got {named!r}")
        return Path(named)
    return next((Path(path) for path in candidates() if works(path)), None)


def as_root(command: Sequence[str]) -> list[str] | None:
    """The command with the rights to install; None where we have none."""
    if os.name != "posix":
        return None
    if os.geteuid() == 0:
        return list(command)
    return ["sudo", "-n", *command] if attempt(["sudo", "-n", "true"], 10) is not None else None


def install() -> Path | None:
    """Try Playwright's own browser, then the libraries it lacks, then Debian's package."""
    playwright = [sys.executable, "-m", "playwright"]
    quiet = {"DEBIAN_FRONTEND": "noninteractive"}
    apt = ["apt-get", "-o", "DPkg::Lock::Timeout=60"]
    steps: list[tuple[list[str] | None, float]] = [
        ([*playwright, "install", "chromium"], 240),
        (as_root([*playwright, "install-deps", "chromium"]), 300),
        (as_root([*apt, "update"]), 180),
        (as_root([*apt, "install", "-y", "--no-install-recommends", *PACKAGES]), 420),
    ]
    downloaded = False
    for i, (command, seconds) in enumerate(steps):
        if command is None or (i == 1 and not downloaded):
            continue
        print("trying:", " ".join(command), file=sys.stderr, flush=True)
        done = attempt(command, seconds, env=quiet) is not None
        downloaded = downloaded or (i == 0 and done)
        find.cache_clear()
        if done and (found := find()):
            return found
    return None


def main() -> int:
    """Print the path of a browser; 1 with advice where there is none."""
    try:
        found = find() or install()
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    print(found or ADVICE, file=sys.stdout if found else sys.stderr)
    return 0 if found else 1


if __name__ == "__main__":
    sys.exit(main())

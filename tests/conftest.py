"""Fixtures and bookkeeping for all tests."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import settings

from primer_book.ledger import Ledger

ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / "_build" / "html"
# What a test may take is the business of whole stages; one slow example is a busy machine.
settings.register_profile("primer", deadline=None)
settings.load_profile("primer")
STAGES = (("tests/browser/", "browser"), ("tests/book/", "book tests"), ("", "unit tests"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--ledger", metavar="FILE", help="add the seconds of each kind of test here")


def pytest_configure(config: pytest.Config) -> None:
    path = config.getoption("--ledger")
    if path and not hasattr(config, "workerinput"):
        n_processes = getattr(config.option, "numprocesses", None) or 1
        config.pluginmanager.register(Stopwatch(Ledger(path), n_processes))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "site" in getattr(item, "fixturenames", ()):
            item.add_marker("built")


class Stopwatch:
    """Adds up how long tests took, by their folder, for the time ledger."""

    def __init__(self, ledger: Ledger, n_processes: int) -> None:
        self.ledger = ledger
        self.n_processes = n_processes
        self.seconds: dict[str, float] = defaultdict(float)
        self.tests: dict[str, int] = defaultdict(int)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        stage = next(name for prefix, name in STAGES if report.nodeid.startswith(prefix))
        self.seconds[stage] += report.duration / self.n_processes
        self.tests[stage] += report.when == "call"

    def pytest_sessionfinish(self) -> None:
        self.ledger.forget(*self.seconds)
        for stage, seconds in self.seconds.items():
            self.ledger.add(stage, seconds, tests=self.tests[stage])


@pytest.fixture(scope="session")
def site() -> Path:
    """Folder of the built book; tests read it and never build it."""
    if (SITE / ".unfinished").exists():
        pytest.fail("the last build of the book failed or still runs: make book", pytrace=False)
    if not (SITE / "index.html").exists():
        pytest.fail("there is no built book in _build/html: make book", pytrace=False)
    return SITE

"""One headless Chromium, and pages that may neither complain nor call home."""

from __future__ import annotations

import functools
import http.server
import threading
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any, Protocol

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.browser import chromium
from tests.browser.visits import VIEWPORT_HEIGHT, Scheme, Visits, Watch, open_context

HERE = Path(__file__).parent
HAS_FAILED = pytest.StashKey[bool]()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker("browser")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    """Let fixtures know that their test has failed."""
    report = yield
    if report.failed:
        item.stash[HAS_FAILED] = True
    return report


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Measured numbers that tests recorded under a name starting with "measured"."""
    lines = [
        f"{name.removeprefix('measured ')}: {value}"
        for report in terminalreporter.getreports("passed")
        for name, value in report.user_properties
        if name.startswith("measured ")
    ]
    if lines:
        terminalreporter.section("measured, not judged")
        terminalreporter.write("\n".join([*lines, ""]))


class PageOf(Protocol):
    """Opens a built page by its document name, anew."""

    def __call__(
        self,
        name: str,
        *,
        scheme: Scheme = "light",
        width: int = 1280,
        via: str = "file",
        fragment: str = "",
        javascript: bool = True,
    ) -> Page: ...


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One headless Chromium for the session."""
    path = chromium.find()
    if path is None:
        pytest.fail(f"{chromium.ADVICE}\nor let us try: python -m tests.browser.chromium", False)
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=list(chromium.FLAGS))
        yield opened
        opened.close()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture(scope="session")
def static_server(site: Path) -> Iterator[str]:
    """Address of the built book, served on this machine alone."""
    handler = functools.partial(_Quiet, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


@pytest.fixture
def watched(browser: Browser) -> Iterator[Callable[..., tuple[BrowserContext, Watch]]]:
    """Makes contexts that reach nothing but this machine; at the end all must have been quiet."""
    made: list[tuple[BrowserContext, Watch]] = []

    def make(**options: Any) -> tuple[BrowserContext, Watch]:
        made.append(open_context(browser, **options))
        return made[-1]

    yield make
    for context, _ in made:
        context.close()
    for _, watch in made:
        watch.assert_quiet()


@pytest.fixture
def page_of(
    site: Path,
    watched: Callable[..., tuple[BrowserContext, Watch]],
    request: pytest.FixtureRequest,
) -> PageOf:
    """Opens built pages, over `file` with the network cut, or over `http`."""

    def open_page(
        name: str,
        *,
        scheme: Scheme = "light",
        width: int = 1280,
        via: str = "file",
        fragment: str = "",
        javascript: bool = True,
    ) -> Page:
        context, _ = watched(
            color_scheme=scheme,
            viewport={"width": width, "height": VIEWPORT_HEIGHT},
            java_script_enabled=javascript,
        )
        base = site.as_uri() if via == "file" else request.getfixturevalue("static_server")
        context.set_offline(via == "file")
        page = context.new_page()
        page.goto(f"{base}/{name}.html{fragment}", wait_until="load")
        return page

    return open_page


@pytest.fixture(scope="session")
def visits(site: Path, browser: Browser) -> Iterator[Visits]:
    """The page that is open, for all tests."""
    made = Visits(site, browser)
    yield made
    made.close()


@pytest.fixture
def visit(visits: Visits, request: pytest.FixtureRequest) -> Iterator[Visits]:
    """Shows built pages, shared with other tests; at the end the page must have been quiet."""
    yield visits
    watch = visits.watch
    if watch.errors or watch.foreign or request.node.stash.get(HAS_FAILED, False):
        visits.close()  # the next test finds a page that is as it should be
    watch.assert_quiet()

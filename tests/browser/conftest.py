"""One headless Chromium, and pages that may neither complain nor call home."""

from __future__ import annotations

import functools
import http.server
import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, sync_playwright

from tests.browser import chromium

HERE = Path(__file__).parent
FOREIGN = re.compile(r"^(?!(?:file|data|blob|about|chrome-error):|(?:http|ws)://127\.0\.0\.1[:/])")
VIEWPORT_HEIGHT = 900
Scheme = str


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker("browser")


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


@dataclass
class Watch:
    """What a page should never do, as it did it."""

    errors: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)

    def follow(self, page: Page) -> None:
        """Note the page's errors and foreign requests from now on."""
        page.on("console", lambda m: self.errors.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", lambda request: self.note(request.url))
        page.on("websocket", lambda socket: self.note(socket.url))

    def note(self, url: str) -> None:
        if FOREIGN.match(url):
            self.foreign.append(url)

    def assert_quiet(self) -> None:
        """Fail with all that was noted."""
        assert not self.errors, f"errors on the page: {self.errors}"
        assert not self.foreign, f"requests to other origins: {self.foreign}"


class PageOf(Protocol):
    """Opens a built page by its document name."""

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


def _cut(route: Route) -> None:
    route.abort("internetdisconnected")


@pytest.fixture
def watched(browser: Browser) -> Iterator[Callable[..., tuple[BrowserContext, Watch]]]:
    """Makes contexts that reach nothing but this machine; at the end all must have been quiet."""
    made: list[tuple[BrowserContext, Watch]] = []

    def make(**options: Any) -> tuple[BrowserContext, Watch]:
        context = browser.new_context(**options)
        context.route(FOREIGN, _cut)
        watch = Watch()
        context.on("page", watch.follow)
        made.append((context, watch))
        return context, watch

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

"""Pages that may neither complain nor call home, and one that many tests look at."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page, Route

FOREIGN = re.compile(r"^(?!(?:file|data|blob|about|chrome-error):|(?:http|ws)://127\.0\.0\.1[:/])")
VIEWPORT_HEIGHT = 900
Scheme = str

# The theme follows the system a moment later, and some colors fade.
_TURN = """async scheme => {
  scrollTo({top: 0, behavior: 'instant'});
  document.activeElement.blur();
  const root = document.documentElement;
  while (root.dataset.theme !== scheme) await new Promise(done => setTimeout(done));
  for (const change of document.getAnimations()) change.finish();
}"""


@dataclass
class Watch:
    """What a page should never do, as it did it."""

    errors: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    @property
    def foreign(self) -> list[str]:
        """What was asked of other origins."""
        return [url for url in self.asked if FOREIGN.match(url)]

    def follow(self, page: Page) -> None:
        """Note the page's errors and foreign requests from now on."""
        page.on("console", lambda m: self.errors.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("websocket", lambda socket: self.asked.append(socket.url))

    def assert_quiet(self) -> None:
        """Fail with all that was noted."""
        assert not self.errors, f"errors on the page: {self.errors}"
        assert not self.foreign, f"requests to other origins: {self.foreign}"


def _cut(route: Route) -> None:
    route.abort("internetdisconnected")


def open_context(browser: Browser, **options: Any) -> tuple[BrowserContext, Watch]:
    """A context that reaches nothing but this machine, and what its pages do."""
    context = browser.new_context(**options)
    context.route(FOREIGN, _cut)
    watch = Watch()
    context.on("page", watch.follow)
    return context, watch


class Visits:
    """One page at a time, from a file with the network cut, open until another one is asked for.

    Opening a page takes longer than most of what is looked at on it, so tests that leave it as
    they found it share it: with `pages.every` they run page by page.
    """

    def __init__(self, site: Path, browser: Browser) -> None:
        self._site = site
        self._browser = browser
        self._kind: tuple[str, bool] | None = None
        self._context: BrowserContext | None = None
        #: What the open page has done.
        self.watch = Watch()

    def __call__(
        self, name: str, *, scheme: Scheme = "light", width: int = 1280, javascript: bool = True
    ) -> Page:
        """The page, in that scheme and width."""
        if (name, javascript) != self._kind or self._context is None:
            self._open(name, javascript)
        assert self._context is not None
        page = self._context.pages[0]
        page.emulate_media(color_scheme=scheme, media="screen")
        page.set_viewport_size({"width": width, "height": VIEWPORT_HEIGHT})
        if javascript:
            page.evaluate(_TURN, scheme)
        return page

    def _open(self, name: str, javascript: bool) -> None:
        self.watch.assert_quiet()
        self.close()
        self._context, self.watch = open_context(self._browser, java_script_enabled=javascript)
        self._context.set_offline(True)
        self._kind = (name, javascript)
        self._context.new_page().goto((self._site / f"{name}.html").as_uri(), wait_until="load")

    def close(self) -> None:
        """Close what is open."""
        if self._context is not None:
            self._context.close()
            self._context = None
        self.watch = Watch()

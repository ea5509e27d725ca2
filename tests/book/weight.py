"""What a built page loads at once, before anything is touched, in bytes as sent."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

ROOT = Path(__file__).resolve().parents[2]
#: Formats that are sent gzipped; fonts and photos are packed already.
TEXT = {".html", ".css", ".js", ".svg", ".json", ".txt"}
_IN_STYLE = re.compile(r"url\(\s*[\"']?(?!data:)([^\"')]+)")
# A script that loads another one names it.
_IN_SCRIPT = re.compile(r"[\"']([\w-]+\.js)[\"']")


class _Links(HTMLParser):
    """Addresses that a browser asks for while it shows a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        of = dict(attrs)
        wanted = tag != "link" or (of.get("rel") or "") in ("stylesheet", "icon", "preload")
        address = of.get("href" if tag == "link" else "src")
        if wanted and address and not address.startswith("data:"):
            self.found.append(address)


def packed(path: Path) -> int:
    """Bytes on the wire."""
    data = path.read_bytes()
    return len(gzip.compress(data, 6)) if path.suffix in TEXT else len(data)


def written(site: Path) -> list[Path]:
    """The pages of the book, its front and its search; no page left from an earlier build."""
    sources = (path for folder in ("chapters", "book") for path in (ROOT / folder).rglob("*.md"))
    names = (path.relative_to(ROOT).with_suffix(".html") for path in sources)
    return [site / "index.html", site / "search.html", *(site / name for name in sorted(names))]


def files(urls: Iterable[str]) -> list[Path]:
    """Files behind `file:` addresses, each once."""
    paths = (Path(url2pathname(urlsplit(url).path)) for url in urls if url.startswith("file:"))
    return [path for path in dict.fromkeys(paths) if path.is_file()]


def first_load(page: Path) -> list[Path]:
    """The page and all that it may load at once; fonts also where it has no use for them."""
    reader = _Links()
    reader.feed(page.read_text("utf-8"))
    found = {page: None}
    waiting = [_beside(page, address) for address in reader.found]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found[path] = None
            waiting += _named_in(path)
    return list(found)


def _beside(path: Path, address: str) -> Path:
    return (path.parent / unquote(urlsplit(address).path)).resolve()


def _named_in(path: Path) -> Iterator[Path]:
    """What a style sheet or a script loads in its turn."""
    if path.suffix == ".css":
        yield from (_beside(path, link) for link in _IN_STYLE.findall(path.read_text("utf-8")))
    elif path.suffix == ".js":
        others = (path.with_name(name) for name in _IN_SCRIPT.findall(path.read_text("utf-8")))
        yield from (other for other in others if other.exists())

"""No page weighs much before its first slider is touched."""

from __future__ import annotations

from pathlib import Path

from tests.book import weight

LIMIT_BYTES = 250_000


def test_a_page_is_weighed_with_all_that_it_names(tmp_path: Path) -> None:
    files = {
        "p/a.html": '<link rel="stylesheet" href="../s/a.css?v=1"><link rel="next" href="b.html">'
        '<script src="../s/a.js"></script><img src="a.png"><img src="data:image/png;base64,A">'
        '<figure data-frames="../s/frames.js"></figure><a href="b.html">b</a>',
        "s/a.css": "@font-face{src:url(a.woff2)}p{background:url('b.svg')}i{b:url(data:x)}",
        "s/a.js": 'load("later.js"); load("missing.js"); load("a.js");',
        "s/later.js": "1",
        "s/a.woff2": "font",
        "s/b.svg": "<svg/>",
        "s/frames.js": "2",
        "p/b.html": "",
        "p/a.png": "",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    found = weight.first_load(tmp_path.resolve() / "p/a.html")
    names = {path.relative_to(tmp_path.resolve()).as_posix() for path in found}
    assert names == files.keys() - {"s/frames.js", "p/b.html"}
    assert weight.packed(tmp_path / "s/a.woff2") == len("font")
    assert weight.packed(tmp_path / "s/a.js") > len(files["s/a.js"]) / 2


def test_first_load_of_every_page(site: Path) -> None:
    pages = weight.written(site.resolve())
    weights = {page: sum(map(weight.packed, weight.first_load(page))) for page in pages}
    heavy = [f"{page.stem}: {n / 1e3:.0f} kB" for page, n in weights.items() if n > LIMIT_BYTES]
    assert not heavy, f"over {LIMIT_BYTES / 1e3:.0f} kB before anything is touched: {heavy}"

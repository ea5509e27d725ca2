"""What the book costs, each time beside a plain alternative measured in the same run.

Seconds depend on the machine; ratios hardly do. Nothing here passes or fails.

    make bench
"""

from __future__ import annotations

import argparse
import io
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from primer import figures
from primer.explore.explorable import Explorable, State
from primer.explore.frames import FrameRenderer

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
SITE = ROOT / "_build" / "html"


@dataclass(frozen=True)
class Line:
    """One line of the table: a measured value, beside what, and how many times that."""

    what: str
    value: str
    beside: str = ""
    ratio: float | None = None

    def __str__(self) -> str:
        ratio = "" if self.ratio is None else f"{self.ratio:.2f}"
        return f"| {self.what} | {self.value} | {self.beside} | {ratio} |"


def seconds(do: Callable[[], object], *, repeat: int = 5) -> float:
    """Median seconds of a call, after one call to warm up."""
    do()
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        do()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def ms(value_s: float) -> str:
    """Seconds as text in milliseconds."""
    return f"{value_s * 1e3:.1f} ms"


def sample(explorable: Explorable, n: int) -> list[State]:
    """`n` possible states, spread over all of them."""
    stride = max(1, explorable.n_states // n)
    spread = islice(explorable.states(), 0, None, stride)
    return [state for state in spread if state is not None][:n]


def bare_axes(size: tuple[float, float]) -> None:
    """The cheapest honest picture: new axes, plain-text ticks, one line, saved as SVG."""
    figure = Figure(figsize=size, dpi=72)
    FigureCanvasSVG(figure)
    ax = figure.add_axes((0.12, 0.14, 0.85, 0.8))
    ax.set_xticks([0, 1, 2], ["1", "10", "100"])
    ax.set_yticks([0, 1, 2], ["1 k", "10 k", "100 k"])
    ax.plot([0, 1, 2], [0, 1, 1])
    figure.savefig(io.BytesIO(), format="svg")


def frame_lines() -> Iterator[Line]:
    """A frame of each explorable beside bare axes."""
    for explorable_id in figures.ids():
        explorable = figures.load(explorable_id)
        states = sample(explorable, 40)
        renderer = FrameRenderer(explorable)
        plain = seconds(lambda e=explorable: bare_axes(e.figure.size))
        first = seconds(lambda e=explorable, s=states: FrameRenderer(e).svg(s[0]))
        start = time.perf_counter()
        for state in states:
            renderer.fragments(explorable.evaluate(state))
        each = (time.perf_counter() - start) / len(states)
        beside = f"bare axes, {ms(plain)}"
        yield Line(f"{explorable_id}: first frame", ms(first), beside, first / plain)
        yield Line(f"{explorable_id}: each further frame", ms(each), beside, each / plain)


def live_lines() -> Iterator[Line]:
    """A change of a live control: from the new value to the new picture in the widget."""
    from primer.explore.live import Live

    for explorable_id in figures.ids():
        explorable = figures.load(explorable_id)
        live = Live(explorable, explorable.default_state)
        control = max(explorable.controls, key=lambda c: len(c.values))
        times = []
        for value in control.values:
            start = time.perf_counter()
            live.controls[control.name].value = value
            times.append(time.perf_counter() - start)
        plain = seconds(lambda e=explorable: bare_axes(e.figure.size))
        slow = p95(times)
        what = f"{explorable_id}: live change of {control.name}, 95 % within"
        yield Line(what, ms(slow), f"bare axes, {ms(plain)}", slow / plain)


def p95(values: Sequence[float]) -> float:
    """The value that 95 % do not exceed."""
    from tests.browser.explorables import percentile

    return percentile(list(values), 95)


def import_lines() -> Iterator[Line]:
    """`import primer` beside `import numpy`, each in a fresh interpreter."""

    def fresh(statement: str) -> float:
        command = [sys.executable, "-c", statement]
        return seconds(lambda: subprocess.run(command, check=True), repeat=7)

    start, numpy, primer = fresh("pass"), fresh("import numpy"), fresh("import primer")
    what = "import primer (without the interpreter's start)"
    ratio = max(0.0, primer - start) / max(1e-4, numpy - start)
    yield Line(what, ms(primer - start), f"import numpy, {ms(numpy - start)}", ratio)


def page_lines() -> Iterator[Line]:
    """Weight of each page's first load, and what a move of each slider costs on it."""
    if not (SITE / "index.html").exists() or (SITE / ".unfinished").exists():
        print("no complete book in _build/html: the lines about pages are left out\n")
        return
    from playwright.sync_api import sync_playwright

    from tests.browser import chromium, pages

    with sync_playwright() as playwright:
        path = chromium.find()
        browser = playwright.chromium.launch(executable_path=path, args=list(chromium.FLAGS))
        for name in pages.names():
            yield from _page(browser, name)
        browser.close()


def _page(browser: Any, name: str) -> Iterator[Line]:
    from tests.book import weight
    from tests.browser import explorables

    page = browser.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((SITE / f"{name}.html").as_uri(), wait_until="load")
    plain = weight.packed(SITE / f"{name}.html")
    whole = sum(weight.packed(path) for path in weight.files(asked))
    beside = f"its HTML alone, {plain / 1e3:.0f} kB"
    yield Line(f"{name}: first load, packed", f"{whole / 1e3:.0f} kB", beside, whole / plain)
    for figure in page.query_selector_all("figure.explorable[data-explorable]"):
        for control in explorables.controls(figure):
            if control.kind != "range":
                continue
            times = explorables.latency(page, figure, control.name, 120)
            script, painted = (p95(times[kind]) for kind in ("script", "frame"))
            what = f"{name}: move of {control.name}, painted, 95 % within"
            beside = f"its script, {script:.1f} ms"
            yield Line(what, f"{painted:.1f} ms", beside, painted / max(script, 0.1))
    page.close()


PARTS: dict[str, Callable[[], Iterator[Line]]] = {
    "frames": frame_lines,
    "live": live_lines,
    "import": import_lines,
    "pages": page_lines,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Print one Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}")
    chosen = parser.parse_args(argv).parts or list(PARTS)
    if unknown := set(chosen) - PARTS.keys():
        parser.error(f"PART must be one of {', '.join(PARTS)}; got {sorted(unknown)[0]!r}")
    lines = [line for part in chosen for line in PARTS[part]()]
    print("| what | here | beside | ratio |\n|---|--:|---|--:|")
    print("\n".join(map(str, lines)))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""LaTeX formulas to MathML that browsers can lay out.

KaTeX (shipped inside the ``sphinxcontrib-katex`` wheel) parses the formula and
refuses what it does not understand. Its MathML is written for MathML 3; browsers
implement MathML Core, which dropped table alignment, letter variants, padding and
negative space. :mod:`primer_book.mathcore` rewrites those parts into what Core has.
"""

from __future__ import annotations

import atexit
import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib.metadata import distribution
from typing import Protocol

from primer_book.mathcore import ERROR_COLOR, rewrite

_DRIVER = """
function primerRender(tex, display, macros) {
  try {
    return JSON.stringify({ok: katex.renderToString(tex, {
      displayMode: display, output: "mathml", throwOnError: true, strict: "error",
      trust: false, errorColor: "ERROR_COLOR", macros: JSON.parse(macros)})});
  } catch (e) { return JSON.stringify({error: String(e.message || e)}); }
}
"""


class Render(Protocol):
    """The JavaScript function of the driver, callable from Python."""

    def __call__(self, tex: str, display: bool, macros: str, /) -> str: ...


def script() -> str:
    """Return the text of KaTeX, read from the installed package."""
    files = distribution("sphinxcontrib-katex").files or []
    for file in files:
        if file.name == "katex.min.js":
            return file.read_text(encoding="utf-8")
    raise RuntimeError("katex.min.js is missing from sphinxcontrib-katex; reinstall that package")


def _quickjs_engine(source: str) -> Render:
    import quickjs

    context = quickjs.Context()
    context.eval(source)
    render: Render = context.get("primerRender")
    return render


def _mini_racer_engine(source: str) -> Render:
    from py_mini_racer import MiniRacer

    racer = MiniRacer()
    # Without an explicit close the interpreter hangs at exit.
    atexit.register(racer.close)
    racer.eval(source)
    return lambda tex, display, macros: str(racer.call("primerRender", tex, display, macros))


ENGINES: tuple[Callable[[str], Render], ...] = (_quickjs_engine, _mini_racer_engine)


@lru_cache(maxsize=1)
def engine() -> Render:
    """Start the first JavaScript engine that is installed."""
    source = script() + _DRIVER.replace("ERROR_COLOR", ERROR_COLOR)
    for start in ENGINES:
        try:
            return start(source)
        except ImportError:
            continue
    raise RuntimeError(
        "no JavaScript engine to typeset mathematics with: install `quickjs` "
        "(Python 3.11, 3.12) or `mini-racer` (Python 3.13 and later)"
    )


def to_mathml(tex: str, *, display: bool = False, macros: Mapping[str, str] | None = None) -> str:
    """Convert one LaTeX formula to a ``<math>`` element.

    Parameters
    ----------
    tex : str
        The formula, without dollar signs.
    display : bool
        Whether it stands on a line of its own.
    macros : mapping of str to str, optional
        Own commands, for example ``{r"\\E": r"\\mathbb{E}"}``.

    Raises
    ------
    ValueError
        If the formula is empty, is not LaTeX that KaTeX knows, or needs something
        that browsers cannot show.
    """
    if not tex.strip():
        raise ValueError("a formula must not be empty")
    answer = json.loads(engine()(tex, display, json.dumps(dict(macros or {}))))
    if "error" in answer:
        raise ValueError(_plain(answer["error"]))
    root = ET.fromstring(answer["ok"].replace(' xmlns="http://www.w3.org/1998/Math/MathML"', ""))
    body = root.find(".//semantics")
    if body is None:
        raise ValueError("KaTeX returned no formula")
    math = ET.Element("math", {"display": "block"} if display else {})
    math.append(body[0])
    rewrite(math)
    if not "".join(math.itertext()).strip():
        raise ValueError("a formula must show something")
    return ET.tostring(math, encoding="unicode")


def _plain(message: str) -> str:
    """Return KaTeX's message on one line, without its combining underlines."""
    message = re.sub("[\u0332\u2026]", "", message).removeprefix("KaTeX parse error: ")
    message = message.removeprefix("LaTeX-incompatible input and strict mode is set to 'error': ")
    return " ".join(message.split())

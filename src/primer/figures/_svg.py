"""From artists to compact, themed SVG: what the page, a kernel and a drawing share.

Matplotlib writes complete documents. Here one artist, or a whole figure, is
written alone: without header and definitions, to a tenth of a point, and with
the palette as CSS variables, so that it fits light and dark.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from html import escape

from matplotlib.backends.backend_svg import FigureCanvasSVG, RendererSVG
from matplotlib.figure import Figure

from primer.figures import _paths, style

_METADATA = {"Date": None, "Creator": None, "Format": None, "Type": None}
_DEFS = re.compile(r"<defs>(.*?)</defs>", re.S)
_DEF = re.compile(
    r'<(?:(?:clipPath|pattern)\b[^>]*\bid="([^"]+)".*?</(?:clipPath|pattern)>'
    r'|path\b[^>]*\bid="([^"]+)"[^>]*/>)',
    re.S,
)
_NUMBER = re.compile(r"-?\d+\.\d{2,}")
_TAG = re.compile(r"<[^>]+>")
_PATH = re.compile(r' d="([^"]*)"')
_UNTURNED = re.compile(r' transform="rotate\(-?0 [^"]*\)"')
_COLOR = re.compile(r"#[0-9a-f]{6}\b")


class _Renderer(RendererSVG):
    """Matplotlib's without its groups, which do nothing but give names to parts."""

    def __init__(self, width: float, height: float, out: io.StringIO) -> None:
        RendererSVG.__init__(self, width, height, out, image_dpi=72, metadata=_METADATA)

    def open_group(self, s: str, gid: str | None = None) -> None:
        """Begin nothing."""

    def close_group(self, s: str) -> None:
        """End nothing."""


class Pen:
    """Writes artists of one figure, and gathers the definitions that they share.

    Parameters
    ----------
    page : Figure
        Its size is the size of the picture.
    """

    def __init__(self, page: Figure) -> None:
        FigureCanvasSVG(page)
        self._page = page
        self._defs: dict[str, str] = {}

    def write(self, draw: Callable[[RendererSVG], None]) -> str:
        """What `draw` puts on the page, as an SVG fragment."""
        width, height = (72 * inch for inch in self._page.get_size_inches())
        out = io.StringIO()
        renderer: RendererSVG = _Renderer(width, height, out)
        start = out.tell()
        draw(renderer)
        renderer.finalize()
        text = out.getvalue()[start:].removesuffix("\n").removesuffix("</svg>")
        for block in _DEFS.findall(text):
            for match in _DEF.finditer(block):
                self._defs[match[1] or match[2]] = compact(match[0])
        return compact(_DEFS.sub("", text))

    def document(self, body: str, *, is_hidden: bool = True) -> str:
        """The whole `<svg>`, with the definitions of everything written so far.

        Hidden, it leaves a screen reader the words around it; not so if its parts can be focused.
        """
        width, height = (round(72 * inch) for inch in self._page.get_size_inches())
        defs = "".join(self._defs[name] for name in sorted(self._defs))
        hidden = ' aria-hidden="true" focusable="false"' if is_hidden else ""
        return (
            f'<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg" '
            f'xmlns:xlink="http://www.w3.org/1999/xlink"{hidden}>'
            f"<defs>{defs}</defs>{body}</svg>"
        )


def compact(text: str) -> str:
    """SVG without comments and indentation, with one decimal, short paths and themed colors.

    >>> compact('<path d="M 1.23456 2 \\nL 3 4" style="fill: #0b6e99"/>')
    '<path d="M1.2 2l1.8 2" style="fill: var(--pr-compute,#0b6e99)"/>'
    """
    text = re.sub(r"<!--.*?-->", "", text, flags=re.S)
    text = re.sub(r">\s+<", "><", text).strip()
    return _TAG.sub(_compact_tag, text)


def _compact_tag(match: re.Match[str]) -> str:
    """A tag with its attributes; text between tags, which people read, is left alone."""
    tag = _PATH.sub(lambda m: f' d="{_paths.relative(m[1])}"', match[0])
    tag = _UNTURNED.sub("", re.sub(r"\s+", " ", tag))
    tag = _NUMBER.sub(lambda m: f"{float(m[0]):.1f}".removesuffix(".0"), tag)
    tag = tag.replace(f"'{style.FONT}'", "Primer Sans,DejaVu Sans,Verdana,sans-serif")
    return _COLOR.sub(_themed, tag)


def _themed(match: re.Match[str]) -> str:
    name = style.CSS_NAMES.get(match[0])
    return f"var(--pr-{name},{match[0]})" if name else match[0]


def picture(page: Figure, alt: str) -> str:
    """A whole figure as HTML, with the sentence that says what it shows."""
    with style.context(f"primer-{alt}"):
        pen = Pen(page)
        svg = pen.document(pen.write(page.draw))
    return (
        f'<figure class="drawn"><div class="frame" role="img" aria-label="{escape(alt)}">'
        f"{svg}</div></figure>"
    )

"""Fonts cut down to the characters that the book uses.

Nothing is committed: the sources lie in installed packages (STIX Two Math in
``ziamath``, DejaVu Sans in ``matplotlib``, the icons in ``pydata-sphinx-theme``).
Each licence allows a changed font under another name, so every cut font gets one;
the copyright and licence records stay inside the file.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import distribution, version
from pathlib import Path

_KEPT_NAMES = [0, 1, 2, 3, 4, 5, 6, 13, 14]
_MADE_BY = "primer fonts 2"

# What figures write. Each sign costs every reader bytes, so a sign is added when a figure needs it.
LATIN = "".join(map(chr, range(0x20, 0x7F))) + "\u00a0°±²³µ·¹×÷½"
GREEK = "αβγδλμπστφωΔΣΩ"
FIGURE_SIGNS = "–—‘’“”•…′→←↑↓↔−√∞∝≈≠≤≥≪≫∑∆⌈⌉⌊⌋⁰¹⁴⁵⁶⁷⁸⁹⁺⁻ⁿ₀₁₂₃₄₅₆₇₈₉ᵀ■□▲△▼●○◆✓✗\u2009\u202f"
BOLD_SIGNS = LATIN + "–—’…→−≈≤≥"
# Present in every math font of the book, so that a new formula seldom changes it. Without braces,
# whose many sizes weigh as much as the digits and the signs together.
MATH_FLOOR = (
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
    "()[]|⌈⌉⌊⌋+−-=<>≤≥≈≠≪≫±×⋅·/,.:;!%′→…∑√∞\u00a0"
)


@dataclass(frozen=True)
class Font:
    """A font in an installed package, and the name under which it is shipped."""

    package: str
    file: str
    family: str
    features: tuple[str, ...] = ()

    @property
    def path(self) -> Path:
        """Where the package has it."""
        for entry in distribution(self.package).files or []:
            if entry.as_posix().endswith(self.file):
                return Path(str(entry.locate()))
        raise RuntimeError(f"{self.file} is missing from {self.package}; reinstall that package")


# Without the drawings for small sizes ("ssty"): they are half of the font, and scaled letters do.
MATH = Font("ziamath", "fonts/STIXTwoMath-Regular.ttf", "Primer Math", ("flac", "dtls"))
SANS = Font("matplotlib", "fonts/ttf/DejaVuSans.ttf", "Primer Sans", ("kern", "liga"))
SANS_BOLD = Font("matplotlib", "fonts/ttf/DejaVuSans-Bold.ttf", "Primer Sans", ("kern", "liga"))


def digest(data: bytes) -> str:
    """Return the part of a file's name that tells one content from another."""
    return hashlib.sha256(data).hexdigest()[:10]


def cut(font: Font, characters: Iterable[str], *, store: Path) -> bytes:
    """Return a woff2 file with just these characters, from the store if it is there.

    Parameters
    ----------
    font : Font
        What to cut.
    characters : iterable of str
        Characters to keep; those that the font lacks are left to the next font.
    store : Path
        Folder of fonts cut before, named after everything that decides the result.
    """
    source, kept = font.path.read_bytes(), "".join(sorted(set(characters)))
    if not kept:
        raise ValueError(f"characters: at least one must be kept of {font.family}, got none")
    makers = (_MADE_BY, version("fonttools"), version("brotli"))
    recipe = json.dumps([font.family, font.features, kept, makers])
    known = store / f"{digest(source + recipe.encode())}.woff2"
    if not known.exists():
        store.mkdir(parents=True, exist_ok=True)
        unfinished = known.with_suffix(".part")
        unfinished.write_bytes(_cut(source, font, kept))
        unfinished.replace(known)
    return known.read_bytes()


def _cut(source: bytes, font: Font, characters: str) -> bytes:
    from fontTools import subset
    from fontTools.ttLib import TTFont

    options = subset.Options(
        flavor="woff2",
        hinting=False,
        layout_features=list(font.features),
        name_IDs=_KEPT_NAMES,
        drop_tables=[*subset.Options().drop_tables, "FFTM", "DSIG"],
        recalc_timestamp=False,
    )
    whole = TTFont(io.BytesIO(source), recalcTimestamp=False)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=[ord(character) for character in characters])
    subsetter.subset(whole)
    _rename(whole, font.family)
    out = io.BytesIO()
    whole.flavor = "woff2"
    whole.save(out)
    return out.getvalue()


def _rename(whole: object, family: str) -> None:
    """Put the book's name over the original one, as the licences ask."""
    names = whole["name"]  # type: ignore[index]
    compact = family.replace(" ", "")
    new = {1: family, 3: compact, 4: family, 6: compact}
    for record in names.names:
        if record.nameID in new:
            record.string = new[record.nameID]


def licenses() -> str:
    """Return the notice that is shipped beside the fonts."""
    dejavu = Font("matplotlib", "fonts/ttf/LICENSE_DEJAVU", "").path.read_text(encoding="utf-8")
    return f"""Fonts of this book. Each is a part of another font, under another name.

primer-math: from STIX Two Math, Copyright 2001-2020 The STIX Fonts Project Authors,
SIL Open Font License 1.1, https://scripts.sil.org/OFL

primer-icons: from Font Awesome Free, Copyright Fonticons, Inc.,
SIL Open Font License 1.1, https://scripts.sil.org/OFL

primer-sans: from DejaVu Sans.

{dejavu.strip()}
"""

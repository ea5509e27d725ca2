"""One program in several languages, line by line: which line belongs to which part.

The listings are committed as the compiler wrote them (`data/wmma`). What is shown of them is their
lines without directives and comments.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from html import escape
from importlib.resources import files

FOLDER = "data/wmma"
_KERNEL = re.compile(r'^#include <mma\.h>\n.*?^extern "C".*?^}\n', re.M | re.S)
_LONG = re.compile(r"\S{28,}")
_INSTRUCTION = re.compile(r"^\s*/\*([0-9a-f]{4,})\*/\s*(.*?)\s*;$")


@dataclass(frozen=True)
class Line:
    """A line of a listing.

    Parameters
    ----------
    text : str
    address : int or None [B]
        Where it stands in the machine's memory, if it is an instruction of the machine.
    """

    text: str
    address: int | None = None


@dataclass(frozen=True)
class Listing:
    """Lines in one language.

    Parameters
    ----------
    title, remark : str
        The language, and what it is.
    lines : tuple of Line
    part_of : callable
        The part of a line; empty for none.
    inside : callable
        A word within a line, and the other part to which that belongs.
    """

    title: str
    remark: str
    lines: tuple[Line, ...]
    part_of: Callable[[Line], str]
    inside: Callable[[Line], tuple[str, str] | None] = lambda line: None

    def html(self) -> str:
        """The listing; a line that belongs to a part carries its id."""
        body = "".join(self._line(line) for line in self.lines)
        return (
            f'<div class="code"><p class="language"><strong>{escape(self.title)}</strong> '
            f"{escape(self.remark)}</p><pre><code>{body}</code></pre></div>"
        )

    def _line(self, line: Line) -> str:
        part, word = self.part_of(line), self.inside(line)
        owner = f' data-part="{part}"' if part else ""
        if not line.text:
            return '<span class="line blank"> </span>'
        # A long name may be broken after each of its dots, on a phone.
        shown = _LONG.sub(lambda name: name[0].replace(".", ".<wbr>"), escape(line.text))
        if word:
            shown = shown.replace(word[0], f'<span data-part="{word[1]}">{word[0]}</span>')
        return f'<span class="line"{owner}>{shown}</span>'


def text(name: str) -> str:
    """A file of the example as it is committed."""
    return files("primer").joinpath(f"{FOLDER}/{name}").read_text("utf-8")


def cuda() -> tuple[Line, ...]:
    """The part of the program that runs on the GPU, with what it needs.

    >>> cuda()[0].text
    '#include <mma.h>'
    """
    found = _KERNEL.search(text("wmma.cu"))
    if found is None:
        raise ValueError("wmma.cu must hold a kernel after #include <mma.h>; got none")
    return tuple(Line(line) for line in found[0].rstrip("\n").split("\n"))


def ptx(arch: str) -> tuple[Line, ...]:
    """The virtual instructions, without comments and empty lines.

    >>> ptx("sm_90")[0].text
    '.version 9.0'
    """
    written = text(f"wmma.{arch}.ptx").expandtabs(4).split("\n")
    lines = (re.sub(r"(\S)\s+", r"\1 ", line) for line in written)
    return tuple(Line(line) for line in lines if not re.match(r"\s*(//|$)", line))


def sass(arch: str) -> tuple[Line, ...]:
    """The instructions of the machine, down to the one that ends the kernel.

    >>> sass("sm_90")[-1]
    Line(text='EXIT ;', address=544)
    """
    return tuple(_until_exit(text(f"wmma.{arch}.sass")))


def _until_exit(written: str) -> Iterator[Line]:
    for line in written.split("\n"):
        if found := _INSTRUCTION.match(line):
            yield Line(f"{found[2]} ;", int(found[1], 16))
            if found[2] == "EXIT":
                return


def tools(arch: str) -> str:
    """The compiler and the disassembler that made a listing, as it says itself.

    >>> tools("sm_90")
    'nvcc V13.0.88, nvdisasm V13.2.51'
    """
    return text(f"wmma.{arch}.sass").split("\n")[1].removeprefix("// ")


def count(arch: str, prefix: str) -> Mapping[str, int]:
    """How many instructions of the machine start so, by their full names.

    >>> count("sm_75", "HMMA"), count("sm_90", "HMMA")
    ({'HMMA.1688.F32': 4}, {'HMMA.16816.F32': 2})
    """
    found: dict[str, int] = {}
    for line in sass(arch):
        name = line.text.split()[0]
        if name.startswith(prefix):
            found[name] = found.get(name, 0) + 1
    return found

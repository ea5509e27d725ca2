"""The notebooks in `notebooks/`, made from the text in `chapters/`.

    python -m primer_book.notebooks [--check]

A notebook holds what the chapter holds, as plain Markdown and code without outputs, after one
cell that installs the package where it is missing. The same sources give the same bytes.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import nbformat
from docutils.nodes import make_id
from myst_nb.core.read import is_myst_markdown_notebook, read_myst_markdown_notebook

from primer_book.flatten import FENCE, Flattener, Target
from primer_book.plain import DIRECTIVES
from primer_book.spans import CONFIG, make_parser

PAGE_FOLDERS = ("chapters", "book")
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
INSTALL = """\
# Needs the package `primer`; where it is missing, as in Colab, this installs it.
try:
    import primer
except ImportError:
    %pip install -q "{name} @ git+{repository}\""""
INSTALL_BY_HAND = """\
# Needs the package `primer`: in a copy of this book's repository, run
#     pip install ."""


@dataclass(frozen=True)
class Addresses:
    """What pyproject.toml says about where the package and the published book are."""

    name: str = "compute-primer"
    repository: str = ""
    site: str = ""

    @classmethod
    def read(cls, root: Path) -> Addresses:
        path = root / "pyproject.toml"
        if not path.exists():
            return cls()
        project = tomllib.loads(path.read_text("utf-8")).get("project", {})
        urls = project.get("urls", {})
        site = urls.get("Documentation", "").rstrip("/")
        return cls(project["name"], urls.get("Repository", ""), site and f"{site}/")


def collect_targets(root: Path) -> dict[str, Target]:
    """Every label and page of the book: the text of a reference to it, and its address."""
    targets: dict[str, Target] = {}
    for folder in PAGE_FOLDERS:
        for path in sorted((root / folder).glob("*.md")):
            name = path.relative_to(root).as_posix()
            for label, target in _targets_of(path.read_text("utf-8"), name, targets):
                targets.setdefault(label, target)
    return targets


def _targets_of(text: str, path: str, known: Mapping[str, Target]) -> Iterator[tuple[str, Target]]:
    page = f"{path.removesuffix('.md')}.html"
    flattener = Flattener(path, DIRECTIVES, known)
    waiting: list[str] = []
    is_titled, n_equations = False, 0
    tokens = make_parser().parse(text)
    for token, following in zip(tokens, [*tokens[1:], None], strict=True):
        label = _equation_label(token.type, token.info, token.content)
        if token.type == "myst_target":
            waiting.append(token.content)
        elif label:
            n_equations += 1
            yield label, Target(f"({n_equations})", f"{page}#equation-{make_id(label)}")
        elif token.type == "heading_open" and following is not None:
            line = (token.map or [0])[0] + 1
            title = flattener.inline(following.content, None, line)
            if not is_titled:
                yield Path(path).stem, Target(title, page)
            is_titled = True
            yield from ((name, Target(title, f"{page}#{make_id(name)}")) for name in waiting)
            waiting = []
        elif token.type in ("fence", "colon_fence"):
            yield from ((name, Target("", f"{page}#{make_id(name)}")) for name in waiting)
            waiting = []
            if found := re.fullmatch(r"\{exercise\}\s*(\d+)\.(\d+).*", token.info.strip()):
                anchor = f"ex-{found[1]}-{found[2]}"
                yield anchor, Target(f"Exercise {found[1]}.{found[2]}", f"{page}#{anchor}")


def _equation_label(kind: str, info: str, content: str) -> str:
    """The label of a formula, of either spelling; else nothing."""
    if kind == "math_block_label":
        return info
    matched = FENCE.fullmatch(info.strip()) if kind in ("fence", "colon_fence") else None
    if matched and matched[1] == "math":
        found = re.search(r"^:label:\s*(\S+)", content, re.MULTILINE)
        return found[1] if found else ""
    return ""


def convert(text: str, path: str, targets: Mapping[str, Target], addresses: Addresses) -> str:
    """Make a notebook, as JSON text, from a chapter's text; `path` is for messages."""
    if not is_myst_markdown_notebook(text):
        raise ValueError(f"{path}: is no MyST text notebook: the jupytext header is missing")
    source = read_myst_markdown_notebook(text, CONFIG, add_source_map=True, path=path)
    flattener = Flattener(path, DIRECTIVES, targets, addresses.site)
    notebook = nbformat.v4.new_notebook(metadata=METADATA)
    notebook.cells.append(nbformat.v4.new_code_cell(install_code(addresses)))
    lines = text.split("\n")
    for cell, start in zip(source.cells, source.metadata["source_map"], strict=True):
        cell.metadata.pop("mystnb", None)
        if cell.cell_type == "markdown":
            while not lines[start]:
                start += 1
            cell.source = flattener.flatten(cell.source, start + 1)
        if cell.source:
            notebook.cells.append(cell)
    _name_cells(notebook, path)
    nbformat.validate(notebook)
    return str(nbformat.writes(notebook, version=4)) + "\n"


def install_code(addresses: Addresses) -> str:
    if not addresses.repository:
        return INSTALL_BY_HAND
    return INSTALL.format(name=addresses.name, repository=addresses.repository)


def _name_cells(notebook: nbformat.NotebookNode, path: str) -> None:
    """Ids from what a cell says, so that an edit changes the ids of no other cell."""
    seen: dict[str, int] = {}
    for cell in notebook.cells:
        text = f"{path}\n{cell.cell_type}\n{cell.source}"
        seen[text] = seen.get(text, 0) + 1
        cell.id = hashlib.sha256(f"{seen[text]}\n{text}".encode()).hexdigest()[:12]


def generate(root: Path, *, check: bool = False) -> list[str]:
    """Write the notebooks that are not as they should be, or only name them; name each once."""
    addresses, targets = Addresses.read(root), collect_targets(root)
    wanted = {
        root / "notebooks" / f"{source.stem}.ipynb": convert(
            source.read_text("utf-8"), source.relative_to(root).as_posix(), targets, addresses
        )
        for source in sorted((root / "chapters").glob("*.md"))
    }
    present = set((root / "notebooks").glob("*.ipynb"))
    stale = [p for p, text in wanted.items() if p not in present or p.read_text("utf-8") != text]
    orphans = sorted(present - set(wanted))
    if not check:
        (root / "notebooks").mkdir(exist_ok=True)
        for path in stale:
            path.write_text(wanted[path], "utf-8", newline="\n")
        for path in orphans:
            path.unlink()
    return [path.relative_to(root).as_posix() for path in [*stale, *orphans]]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Make notebooks/ from chapters/.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if any differs")
    check = parser.parse_args(arguments).check
    try:
        changed = generate(Path.cwd(), check=check)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    for path in changed:
        print(f"{path}: {'out of step with its chapter' if check else 'made anew'}")
    if check and changed:
        print("run: make notebooks", file=sys.stderr)
    return int(check and bool(changed))


if __name__ == "__main__":
    raise SystemExit(main())

"""The listings of `wmma.cu`: compile it, disassemble it, and write the files anew.

    python -m tests.wmma_listings     with nvcc and nvdisasm, of the CUDA toolkit, on the path

Tests and this command share the functions, so that what is committed is what the tests compare.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "src/primer/data/wmma"
SOURCE = FOLDER / "wmma.cu"
#: Architectures whose PTX, and whose SASS, is kept: Turing, Ampere, Hopper, Blackwell.
PTX = ("sm_80", "sm_90")
SASS = ("sm_75", "sm_80", "sm_90", "sm_120")


@cache
def tool(name: str) -> str | None:
    """Path of a program of the CUDA toolkit; `nvdisasm` may also come from its wheel."""
    if found := shutil.which(name):
        return found
    try:
        files = distribution(f"nvidia-cuda-{name}").files or []
    except PackageNotFoundError:
        return None
    paths = (Path(str(entry.locate())) for entry in files if entry.name == name)
    return next((str(path) for path in paths if path.exists()), None)


@cache
def version(name: str) -> str:
    """Release of a tool, such as V13.0.88."""
    out = subprocess.run([str(tool(name)), "--version"], capture_output=True, text=True, check=True)
    return re.findall(r"V\d[\d.]+", out.stdout)[-1]


def compiled(
    folder: Path, what: str, arch: str, *, source: str | None = None, options: Sequence[str] = ()
) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """Compile the program, or another text in its place, to "ptx" or "cubin"."""
    shutil.copy(SOURCE, folder)
    path = folder / SOURCE.name
    if source is not None:
        path.write_text(source, "utf-8")
    target = folder / f"wmma.{what}"
    target.unlink(missing_ok=True)
    command = [str(tool("nvcc")), f"-arch={arch}", f"-{what}", *options, "-o", target.name]
    done = subprocess.run([*command, path.name], cwd=folder, capture_output=True, text=True)
    return target, done


def ptx(folder: Path, arch: str) -> str:
    """PTX as nvcc writes it."""
    target, done = compiled(folder, "ptx", arch)
    assert done.returncode == 0, done.stderr
    return target.read_text("utf-8")


def sass(folder: Path, arch: str, *, with_lines: bool = False) -> str:
    """SASS as nvdisasm prints it; with the source lines that the compiler noted, if asked."""
    options = ("-lineinfo",) if with_lines else ()
    target, done = compiled(folder, "cubin", arch, options=options)
    assert done.returncode == 0, done.stderr
    command = [str(tool("nvdisasm")), "-c", *(["-gi"] if with_lines else []), target.name]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout


def headers(name: str, arch: str) -> str:
    """The first lines of a committed listing: how to make it again, and with what."""
    nvcc = f"// nvcc {version('nvcc')}"
    if name == "ptx":
        return f"// nvcc -arch={arch} -ptx -o wmma.ptx wmma.cu\n{nvcc}\n"
    command = f"nvcc -arch={arch} -cubin -o wmma.cubin wmma.cu && nvdisasm -c wmma.cubin"
    return f"// {command}\n{nvcc}, nvdisasm {version('nvdisasm')}\n"


def listings(folder: Path) -> Mapping[str, str]:
    """All files as they should be, by name."""
    made = {f"wmma.{arch}.ptx": headers("ptx", arch) + ptx(folder, arch) for arch in PTX}
    made |= {f"wmma.{arch}.sass": headers("sass", arch) + sass(folder, arch) for arch in SASS}
    return {name: _without_trailing_spaces(text) for name, text in made.items()}


def _without_trailing_spaces(text: str) -> str:
    return re.sub(r"[ \t]+$", "", text, flags=re.M).rstrip("\n") + "\n"


def main() -> int:
    missing = [name for name in ("nvcc", "nvdisasm") if tool(name) is None]
    if missing:
        print(f"not found: {', '.join(missing)}; they are parts of the CUDA toolkit")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        for name, text in listings(Path(folder)).items():
            (FOLDER / name).write_text(text, "utf-8")
            print(f"{name}: {len(text.splitlines())} lines")
    return 0


if __name__ == "__main__":
    sys.exit(main())

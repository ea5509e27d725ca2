"""NVIDIA's occupancy header, compiled as it stands where it is installed: who else counts blocks.

The header comes with the wheel `nvidia-cuda-runtime`, or with a CUDA toolkit; it is looked for, and
never copied. It is host code, so that no GPU is needed.
"""

from __future__ import annotations

import importlib.metadata
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

NAME = "cuda_occupancy.h"
WHEEL = "nvidia-cuda-runtime"
SOURCE = Path(__file__).with_suffix(".cpp")
OLDEST = 12  # the first major capability that an older header would not know

DEVICE = (
    "major", "minor", "max_threads_per_sm", "shared_bytes_per_sm",
    "default_shared_bytes_per_block", "max_shared_bytes_per_block",
    "reserved_shared_bytes_per_block",
)  # fmt: skip
LAUNCH = (
    "threads", "registers", "static_shared_bytes", "dynamic_shared_bytes", "opt_in",
    "most_dynamic_bytes", "carveout_percent", "barriers",
)  # fmt: skip
ANSWER = (
    "error", "blocks", "factors", "warps", "registers", "shared_memory", "slots", "barriers",
    "allocated_registers", "allocated_shared_bytes",
)  # fmt: skip


class NotThereError(Exception):
    """No compiler, or no header that knows all capabilities; the message says which."""


@dataclass(frozen=True)
class Peer:
    """The compiled header.

    Parameters
    ----------
    program : Path
    header : Path
        Which one it was.
    """

    program: Path
    header: Path

    def ask(
        self, launches: NDArray[np.int32], *, repeat: int = 1
    ) -> tuple[NDArray[np.int32], float]:
        """Answers, one row per launch, and the least seconds of all of them together.

        A launch has the columns `DEVICE`, then `LAUNCH`; an answer has `ANSWER`.
        """
        rows = np.ascontiguousarray(launches, dtype=np.int32)
        assert rows.shape[1] == len(DEVICE) + len(LAUNCH)
        command = [str(self.program), str(repeat)]
        run = subprocess.run(command, input=rows.tobytes(), capture_output=True, check=True)
        answers = np.frombuffer(run.stdout, dtype=np.int32).reshape(len(rows), len(ANSWER))
        return answers, int(run.stderr) / 1e9


def build(folder: Path) -> Peer:
    """Compile the header into a program in `folder`."""
    header, compiler = find(), shutil.which("g++")
    if compiler is None:
        raise NotThereError("g++ is not installed")
    program = folder / "occupancy_peer"
    include = ["-isystem", str(header.parent)]
    command = [compiler, "-std=c++17", "-O2", *include, str(SOURCE), "-o", str(program)]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    return Peer(program, header)


def find() -> Path:
    """The header, if one is installed that knows all capabilities of the book."""
    found = [path for path in _places() if path.is_file()]
    for path in found:
        major = re.search(r"define\s+__CUDA_OCC_MAJOR__\s+(\d+)", path.read_text("utf-8"))
        if major and int(major[1]) >= OLDEST:
            return path
    older = f"; too old: {', '.join(map(str, found))}" if found else ""
    raise NotThereError(f"no {NAME} is installed (it is in the wheel {WHEEL}){older}")


def _places() -> list[Path]:
    """Where it may be: the wheel, then toolkits."""
    try:
        files = importlib.metadata.files(WHEEL) or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    wheels = [Path(str(file.locate())) for file in files if file.name == NAME]
    named = [os.environ[name] for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name)]
    toolkits = [Path(home) for home in named]
    toolkits += sorted(Path("/usr/local").glob("cuda*"), reverse=True)
    return [*wheels, *(home / "include" / NAME for home in toolkits)]

"""NumPy's library of linear algebra: its name, its code path, and other processes for it.

Such a library reads its number of threads when it starts. To hold it to one thread, it is run in
a process of its own.
"""

import ctypes
import json
import os
import subprocess
import sys
from typing import Any

import numpy as np

from primer.workbench._jobs import BLAS_VARIABLES

CORE_NAMES = tuple(
    f"{prefix}openblas_get_corename{suffix}"
    for prefix in ("scipy_", "")
    for suffix in ("64_", "", "_64")
)


def name() -> str:
    """Such as "scipy-openblas 0.3.31, SkylakeX": library, version, and code path where it tells."""
    config: Any = np.show_config("dicts")
    found = config["Build Dependencies"]["blas"]
    library = " ".join(str(found.get(key, "")) for key in ("name", "version")).strip()
    return ", ".join(part for part in (library or "BLAS unknown", core()) if part)


def core() -> str:
    """The processor family for which OpenBLAS chose its code; empty for other libraries."""
    try:
        # A symbol is also looked up in the libraries that NumPy's own was linked with.
        library = ctypes.CDLL(sys.modules["numpy._core._multiarray_umath"].__file__ or "")
    except (KeyError, OSError):
        return ""
    for symbol in CORE_NAMES:
        if hasattr(library, symbol):
            function = getattr(library, symbol)
            function.restype = ctypes.c_char_p
            return bytes(function() or b"").decode("ascii", "replace")
    return ""


def on_one_thread(function: str, *arguments: Any, timeout_s: float) -> Any:
    """Result of a function, named as "package.module:name", in a process with one BLAS thread.

    Arguments and result travel as JSON.
    """
    module, _, called = function.partition(":")
    program = (
        "import json, sys, importlib; "
        f"f = getattr(importlib.import_module({module!r}), {called!r}); "
        "print(json.dumps(f(*json.loads(sys.argv[1]))))"
    )
    threads = dict.fromkeys(BLAS_VARIABLES, "1")
    env = os.environ | threads | {"PYTHONPATH": os.pathsep.join(p or "." for p in sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", program, json.dumps(arguments)],
        capture_output=True, text=True, env=env, check=True, timeout=timeout_s,
    )  # fmt: skip
    return json.loads(done.stdout)

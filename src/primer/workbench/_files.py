"""Text that is kept in a file: the whole of it appears there, or nothing."""

import os
import tempfile
from pathlib import Path

from primer.workbench.measure import check_path


def write(text: str, path: str | Path) -> None:
    """Replace a file in one step.

    Raises
    ------
    ValueError
        If the path cannot be a new file in a folder that can be written to.
    """
    target = check_path(path)
    handle, made = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(made).chmod(0o644)
        Path(made).replace(target)
    except BaseException:
        Path(made).unlink(missing_ok=True)
        raise

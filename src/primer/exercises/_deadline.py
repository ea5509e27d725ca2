"""Running a reader's code for a limited time, in any thread and on any system."""

from __future__ import annotations

import contextlib
import ctypes
import io
import threading
from collections.abc import Callable


class _OutOfTime(BaseException):
    """Not an Exception, so that a reader's own handlers let it pass."""


def run(work: Callable[[], object], limit_s: float) -> bool:
    """Run it without its prints, and say whether it ended in time; what it raises is dropped.

    A loop in Python is stopped. What waits inside compiled code cannot be: it is left behind in
    its thread.
    """
    ended = threading.Event()

    def guarded() -> None:
        with contextlib.suppress(BaseException):
            work()
            ended.set()

    thread = threading.Thread(target=guarded, daemon=True)
    with contextlib.redirect_stdout(io.StringIO()):
        thread.start()
        try:
            thread.join(limit_s)
        finally:  # also when the reader interrupts
            _stop(thread)
    return ended.is_set()


def _stop(thread: threading.Thread) -> None:
    for _ in range(5):
        if not thread.is_alive() or thread.ident is None:
            return
        ident = ctypes.c_ulong(thread.ident)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ident, ctypes.py_object(_OutOfTime))
        thread.join(0.1)

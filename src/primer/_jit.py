"""`njit`: Numba's compiler where it is installed and wanted, plain Python otherwise.

The models must give the same numbers either way, so a jitted function uses only what both speak.
Numba takes about a second to import; it is therefore imported by the first call of a jitted
function, not by the import of the module that holds it.
"""

import functools
import importlib.util
import os
import types
from collections.abc import Callable
from typing import Any, TypeVar, cast, overload

_F = TypeVar("_F", bound=Callable[..., Any])


def is_enabled() -> bool:
    """Whether a jitted function will be compiled: Numba is there and nobody switched it off."""
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        return False
    return importlib.util.find_spec("numba") is not None


@overload
def njit(function: _F) -> _F: ...
@overload
def njit(*, fastmath: frozenset[str] = ..., inline: bool = ...) -> Callable[[_F], _F]: ...
def njit(
    function: Any = None, *, fastmath: frozenset[str] = frozenset(), inline: bool = False
) -> Any:
    """Compile a function on its first call; the plain function stays reachable as ``.py_func``.

    Parameters
    ----------
    function : callable
        Loops over scalars and NumPy arrays. A jitted function that calls another jitted one must
        reach it as a global of its module.
    fastmath : frozenset of str
        Freedoms that LLVM may take, such as "contract". They change the last digits, so they are
        for code that is timed, not for models.
    inline : bool
        Copy the function into its compiled callers. A call counts references to the arrays that it
        passes on, which costs more than a short function does.

    Returns
    -------
    callable
        The same function, with the same results.

    Examples
    --------
    >>> @njit
    ... def twice(x):
    ...     return 2 * x
    >>> twice(21), twice.py_func(21)
    (42, 42)
    """
    if function is None:
        return functools.partial(_lazy, fastmath=fastmath, inline=inline)
    return _lazy(function, fastmath=fastmath, inline=inline)


def _lazy(function: _F, *, fastmath: frozenset[str], inline: bool) -> _F:
    compiled: list[Callable[..., Any]] = []

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if not compiled:
            compiled.append(_compile(function, fastmath, inline))
        return compiled[0](*args, **kwargs)

    wrapper.py_func = function  # type: ignore[attr-defined]
    wrapper.options = fastmath, inline  # type: ignore[attr-defined]
    return cast(_F, wrapper)


@functools.cache
def _compile(
    function: Callable[..., Any], fastmath: frozenset[str], inline: bool
) -> Callable[..., Any]:
    """Numba's version of a plain function, or the function itself where Numba is not used."""
    if not is_enabled():
        return function
    import numba

    target = _with_compiled_globals(function)
    options: dict[str, Any] = {"fastmath": set(fastmath)}
    if inline:
        options["inline"] = "always"
    try:
        return cast(Callable[..., Any], numba.njit(target, cache=True, **options))
    except RuntimeError:  # a function typed into a notebook has no file to cache beside
        return cast(Callable[..., Any], numba.njit(target, **options))


def _with_compiled_globals(function: Callable[..., Any]) -> Callable[..., Any]:
    """A copy that sees compiled versions of the jitted functions it calls.

    Compiled code can call other compiled code but not our wrappers; copying leaves the module's
    own names alone, so that tests may still replace them.
    """
    inner = {}
    for name in function.__code__.co_names:
        called = function.__globals__.get(name)
        plain = getattr(called, "py_func", function)
        if plain is not function:
            inner[name] = _compile(plain, *getattr(called, "options", (frozenset(), False)))
    if not inner:
        return function
    copy = types.FunctionType(
        function.__code__,
        {**function.__globals__, **inner},
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    return functools.update_wrapper(copy, function)

"""With and without Numba: the same numbers."""

import os
import subprocess
import sys

import numpy as np
import pytest

from primer import _jit

SCALE = 3


@_jit.njit
def double(x):
    return 2 * x


@_jit.njit
def harmonic(n):
    total = 0.0
    for i in range(1, n + 1):
        total += 1.0 / i
    return total


@_jit.njit
def fill(values):
    for i in range(values.shape[0]):
        values[i] = SCALE * double(i)
    return values.sum()


def test_the_compiled_and_the_plain_function_agree():
    assert harmonic(1000) == harmonic.py_func(1000)
    assert harmonic(1) == 1.0


def test_jitted_functions_call_each_other():
    # 3 * 2 * (0 + 1 + 2 + 3) = 36
    assert fill(np.zeros(4)) == 36.0
    assert fill.py_func(np.zeros(4)) == 36.0
    assert double(np.float64(2.0)) == 4.0


def test_names_and_documentation_stay():
    assert harmonic.__name__ == "harmonic"
    assert harmonic.py_func.__module__ == __name__


@pytest.mark.parametrize("value", ["1", "0"])
def test_the_switch_changes_no_number(value):
    code = (
        "import sys; from primer import _jit\n"
        "@_jit.njit\n"
        "def f(n):\n"
        "    s = 0.0\n"
        "    for i in range(1, n): s += 1 / i\n"
        "    return s\n"
        "assert 'numba' not in sys.modules\n"
        "print(repr(float(f(1000))), _jit.is_enabled(), 'numba' in sys.modules)"
    )
    environment = {**os.environ, "NUMBA_DISABLE_JIT": value}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    number, enabled, imported = done.stdout.split()
    assert number == repr(sum(1 / i for i in range(1, 1000)))
    assert (enabled == "False") or value == "0"
    assert imported == enabled


FUSED = frozenset({"contract"})


@_jit.njit(fastmath=FUSED)
def fused(x, y, z):
    return x * y + z


@_jit.njit
def calls_fused(x):
    return fused(x, x, x)


def test_freedoms_are_given_to_the_function_that_asks_and_to_no_other():
    assert fused(2.0, 3.0, 4.0) == fused.py_func(2.0, 3.0, 4.0) == 10.0
    assert calls_fused(2.0) == 6.0
    assert (fused.options, calls_fused.options) == ((FUSED, False), (frozenset(), False))
    if _jit.is_enabled():
        caller = _jit._compile(calls_fused.py_func, frozenset(), False)
        callee = caller.py_func.__globals__["fused"]
        assert callee.targetoptions["fastmath"] == set(FUSED)
        assert not caller.targetoptions["fastmath"]

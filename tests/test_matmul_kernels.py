"""The kernels of a matrix product: right within the bound, and timed in form."""

import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest

from primer import _jit, matmul_speed
from primer.workbench import _blas, _files, _matmul_times, _system, matmul, matmul_kernels

LOOPS = ("naive", "ikj", "tiled", "register_blocked")
EDGES = (1, 2, 3, 15, 16, 17, 63, 64, 97)
SHAPES = ((1, 1, 97), (1, 64, 3), (5, 1, 7), (3, 100, 2), (17, 15, 33), (64, 97, 63), (2, 3, 1100))
UNIT = {np.float32: 2.0**-24, np.float64: 2.0**-53}
compiled = pytest.mark.skipif(not _jit.is_enabled(), reason="needs Numba")


def operands(m, n, k, kind, seed=1):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((m, k)).astype(kind), rng.standard_normal((k, n)).astype(kind)


def assert_within_bound(c, a, b):
    """|error| ≤ γ_k·(|A|·|B|), against the product in a type with many more digits."""
    kind, k = a.dtype.type, a.shape[1]
    finer = np.float64 if kind is np.float32 else np.longdouble
    x, y = a.astype(finer), b.astype(finer)
    gamma = k * UNIT[kind] / (1 - k * UNIT[kind])
    assert c.dtype == a.dtype
    assert (np.abs(c - x @ y) <= gamma * (np.abs(x) @ np.abs(y))).all()


# ---- what they compute


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", LOOPS)
@pytest.mark.parametrize("n", EDGES)
def test_square_products_are_within_the_bound(kernel, n, kind):
    a, b = operands(n, n, n, kind)
    assert_within_bound(matmul.multiply(a, b, kernel=kernel), a, b)


@pytest.mark.parametrize("kernel", LOOPS)
@pytest.mark.parametrize(("m", "n", "k"), SHAPES)
def test_rectangles_are_within_the_bound(kernel, m, n, k):
    a, b = operands(m, n, k, np.float32)
    assert_within_bound(matmul.multiply(a, b, kernel=kernel), a, b)


@pytest.mark.parametrize("tile", [1, 2, 7, 16, 31, 40, 50])
def test_any_tile_that_fits_is_right(tile):
    a, b = operands(40, 31, 50, np.float32)
    assert_within_bound(matmul.multiply(a, b, kernel="tiled", tile=tile), a, b)


@compiled
def test_blocks_beyond_one_of_each_kind_are_added_up():
    """More rows, columns and depth than one packed block holds, none a multiple of it."""
    depth = matmul_kernels.DEPTH_BYTES // 8
    a, b = operands(9, 2 * matmul_kernels.WIDTH + 1, 2 * depth + 1, np.float64)
    assert_within_bound(matmul.multiply(a, b), a, b)


@pytest.mark.parametrize("kernel", LOOPS)
def test_whole_numbers_are_exact_and_operands_stay(kernel):
    """Every sum below 2^24 is exact in any order, with one rounding or two."""
    a = np.arange(12, dtype=np.float32).reshape(3, 4)
    b = np.arange(8, dtype=np.float32).reshape(4, 2)
    kept = a.copy(), b.copy()
    # Row 0 is 0 1 2 3, column 0 is 0 2 4 6: 0 + 2 + 8 + 18 = 28, and so on.
    assert matmul.multiply(a, b, kernel=kernel).tolist() == [[28, 34], [76, 98], [124, 162]]
    assert (a == kept[0]).all()
    assert (b == kept[1]).all()


@pytest.mark.parametrize("kernel", LOOPS)
def test_padding_never_leaks(kernel):
    """What is not a number stays in the row and column where it belongs."""
    a, b = operands(5, 7, 3, np.float64)
    a[4, 0], b[0, 6] = np.nan, np.inf
    c = matmul.multiply(a, b, kernel=kernel)
    assert np.isnan(c[4]).all()
    assert np.isfinite(c[:4, :6]).all()
    assert np.isinf(c[:4, 6]).all()


@pytest.mark.parametrize("kernel", ["numpy", "torch"])
def test_libraries_stand_behind_the_same_call(kernel):
    if kernel not in matmul.available():
        pytest.skip("not installed")
    a, b = operands(17, 5, 9, np.float32)
    assert_within_bound(matmul.multiply(a, b, kernel=kernel), a, b)


PLAIN = """
import numpy as np
from primer.workbench import matmul, matmul_kernels
for m, n, k in ((1, 1, 1), (2, 2, 2), (3, 3, 3), (17, 17, 17), (5, 7, 9)):
    a = np.arange(m * k, dtype=np.float32).reshape(m, k) % 7
    b = np.arange(k * n, dtype=np.float32).reshape(k, n) % 5
    for kernel in ("naive", "ikj", "tiled", "register_blocked"):
        assert (matmul.multiply(a, b, kernel=kernel) == a @ b).all(), (kernel, m, n, k)
point, = matmul.sweep([4], ["ikj"], seconds=0.01, n_rounds=1)
print(point.kernel, "numba" in __import__("sys").modules)
"""


def test_without_the_compiler_the_same_numbers():
    env = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", PLAIN], env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["ikj", "False"]


# ---- what is refused

SQUARE = np.ones((4, 4), np.float32)


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ([[1.0]], SQUARE, "a must be a two-dimensional array with at least one element"),
        (SQUARE[0], SQUARE, "a must be a two-dimensional array"),
        (SQUARE, np.ones((4, 0), np.float32), "b must be a two-dimensional array"),
        (SQUARE, np.ones((3, 4), np.float32), "b must have as many rows as a has columns, 4"),
        (SQUARE, SQUARE.astype(np.float64), "b must be of the type of a, float32; got 'float64'"),
        (SQUARE.astype(np.int64), SQUARE, "a must be in 32 or 64 bit floating point; got 'int64'"),
        (SQUARE.astype(np.float16), SQUARE, "a must be in 32 or 64 bit floating point"),
        (SQUARE.astype(">f4"), SQUARE, "a must be in 32 or 64 bit floating point"),
        (SQUARE.astype(complex), SQUARE, "a must be in 32 or 64 bit floating point"),
        (SQUARE, np.ones((8, 8), np.float32)[:4, :4], "b must have contiguous rows"),
        (np.ones((4, 5), np.float32).T[:4], SQUARE, "a must have contiguous rows"),
    ],
)
def test_operands_that_do_not_fit_are_refused(a, b, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        matmul.multiply(a, b)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernel": "tilde"}, "kernel must be one of"),
        ({"kernel": "tiled", "tile": 5}, "tile must not be larger than the largest edge, 4; got 5"),
        ({"kernel": "tiled", "tile": 0}, "tile must be a positive integer; got 0"),
        ({"kernel": "tiled", "tile": 2.0}, "tile must be a positive integer; got 2.0"),
        ({"kernel": "ikj", "tile": 2}, "tile must not be given for the kernel ikj; got 2"),
    ],
)
def test_kernels_and_tiles_that_do_not_exist_are_refused(options, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        matmul.multiply(SQUARE, SQUARE, **options)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"sizes": []}, "sizes must have at least one number"),
        ({"sizes": [0]}, "sizes must be a positive integer; got 0"),
        ({"kernels": []}, "kernels must have at least one name"),
        ({"kernels": ["blas"]}, "kernels must be one of"),
        ({"tiles": [2.5]}, "tiles must be a positive integer; got 2.5"),
        ({"kernels": ["tiled"], "tiles": [64]}, "tiles must have one that is not larger than 8"),
        ({"compute": "bf16"}, "compute must be one of fp32, fp64"),
        ({"seconds": 0}, "seconds must be positive; got 0"),
        ({"n_rounds": 0}, "n_rounds must be a positive integer; got 0"),
    ],
)
def test_a_sweep_refuses_before_it_measures(arguments, message, monkeypatch):
    monkeypatch.setattr(matmul, "rounds", lambda *_: pytest.fail("measured"))
    with pytest.raises(ValueError, match=re.escape(message)):
        matmul.sweep(**({"sizes": [8]} | arguments))


# ---- how they are compiled


@compiled
@pytest.mark.skipif("fma" not in _system.cpu_flags(), reason="needs x86 with FMA")
@pytest.mark.parametrize(("kind", "suffix"), [(np.float32, "ps"), (np.float64, "pd")])
def test_the_micro_kernel_stays_in_registers(kind, suffix):
    """Its loop is 12 multiply-adds on whole vectors, 7 loads, and nothing on the stack."""
    import numba

    plain = matmul_kernels._micro_kernel.py_func
    fresh = numba.njit(fastmath=set(matmul_kernels.REORDERED))(plain)
    fresh(np.ones((4, 12), kind), np.ones((4, 64), kind), np.ones((3, 64), kind), 64, 0)
    (text,) = fresh.inspect_asm().values()
    vector_fma = re.compile(rf"vfmadd\d+{suffix}\s.*%[yz]mm")
    blocks = re.split(r"^\.L\w+:", text, flags=re.M)
    (loop,) = (b for b in blocks if len(vector_fma.findall(b)) >= 12)
    loop = loop[: re.search(r"^\s+j(ne|b|a)\b.*$", loop, flags=re.M).end()]
    n_sums = matmul_kernels.ROWS * matmul_kernels.COLUMNS
    assert len(vector_fma.findall(loop)) == n_sums == 12
    assert "(%rsp" not in loop
    assert len(re.findall(r"\(%r", loop)) == matmul_kernels.ROWS + matmul_kernels.COLUMNS


def test_the_shape_satisfies_what_it_claims():
    """Latency 4 × 2 units ≤ sums; sums + one operand of each column + 1 ≤ 16; loads ≤ FMA."""
    rows, columns = matmul_kernels.ROWS, matmul_kernels.COLUMNS
    assert rows * columns >= 8
    assert rows * columns + columns + 1 <= 16
    assert rows + columns <= rows * columns
    assert matmul_kernels.WIDTH % columns == 0


# ---- how they are timed


def test_a_sweep_has_one_point_for_each_case():
    points = matmul.sweep([16, 4], ["tiled", "naive"], tiles=[8, 4, 99], seconds=0.05)
    assert [(p.kernel, p.n, p.tile) for p in points] == [
        ("naive", 4, None), ("tiled", 4, 4),
        ("naive", 16, None), ("tiled", 16, 4), ("tiled", 16, 8),
    ]  # fmt: skip
    for point in points:
        assert point.work_flop == 2 * point.n**3
        assert 0 < point.fastest_s <= point.time_s
        assert point.n_repeats >= _matmul_times.MIN_REPEATS
        assert point.n_threads == 1


@compiled
def test_registers_beat_the_naive_loops():
    """By a factor of twenty or more here; any machine with vectors shows some of it."""
    naive, blocked = matmul.sweep([256], ["naive", "register_blocked"], seconds=0.3)
    assert naive.flop_per_s < blocked.flop_per_s


def test_a_library_runs_in_a_process_with_one_thread(monkeypatch):
    (point,) = matmul.sweep([32], ["numpy"], seconds=0.02, n_rounds=1)
    assert point.kernel == "numpy"
    assert _blas.on_one_thread("os:getenv", "OPENBLAS_NUM_THREADS", timeout_s=60) == "1"


def test_a_library_that_cannot_be_started_is_left_out(monkeypatch):
    def refuse(*_, **__):
        raise OSError("no more processes")

    monkeypatch.setattr(_blas.subprocess, "run", refuse)
    points = matmul.sweep([4], ["ikj", "numpy"], seconds=0.02)
    assert [p.kernel for p in points] == ["ikj"]


def test_the_library_names_itself():
    assert _blas.name()
    assert _blas.core() == "" or _blas.name().endswith(_blas.core())


def test_what_would_take_too_long_is_left_out(monkeypatch):
    """Eight times the work of a second is eight seconds: more than 2.5."""
    monkeypatch.setattr(_matmul_times, "_repeat", lambda case, *_: [case.n**3 / 100**3])
    points = matmul.sweep([100, 200, 130], ["ikj", "naive"])
    assert sorted((p.n, p.kernel) for p in points) == [
        (100, "ikj"), (100, "naive"), (130, "ikj"), (130, "naive"),
    ]  # fmt: skip


def test_the_best_of_the_rounds_counts(monkeypatch):
    rounds = iter([[3.0, 1.0, 9.0], [2.5, 2.0, 2.1], [5.0, 5.0, 5.0]])
    monkeypatch.setattr(_matmul_times, "_repeat", lambda *_: next(rounds))
    (point,) = matmul.sweep([8], ["ikj"], n_rounds=3)
    assert (point.time_s, point.fastest_s, point.n_repeats) == (2.1, 2.0, 3)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_timed_arrays_start_at_a_line(kind):
    for shape in ((1, 1), (3, 5), (17, 33)):
        matrix = _matmul_times.aligned(shape, kind)
        assert matrix.shape == shape
        assert matrix.dtype == kind
        assert matrix.flags.c_contiguous
        assert matrix.ctypes.data % 64 == 0


# ---- the command


def test_the_command_keeps_what_it_measured(tmp_path, capsys):
    path = tmp_path / "matmul.json"
    path.write_text("old")
    assert matmul.main(["--snapshot", str(path), "--sizes", "32", "--seconds", "0.1"]) == 0
    kept = matmul_speed.from_json(path.read_text("utf-8"))
    assert kept.sizes == (32,)
    assert set(LOOPS) <= set(kept.kernels)
    assert (kept.peak_flop_per_s is not None) == _jit.is_enabled()
    assert matmul_speed.from_json(matmul_speed.to_json(kept)) == kept
    assert kept.name in capsys.readouterr().out
    assert [p.name for p in tmp_path.iterdir()] == ["matmul.json"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--snapshot", "no/such/folder/x.json"], "snapshot must lie in a folder"),
        (["--sizes", "0"], "sizes must be a positive integer"),
        (["--seconds", "-1"], "seconds must be positive"),
        (["--compute", "int8"], "compute must be one of"),
        (["--rounds", "0"], "n_rounds must be a positive integer"),
    ],
)
def test_the_command_refuses_in_one_sentence(arguments, message, capsys):
    assert matmul.main(arguments) == 2
    assert capsys.readouterr().err.startswith(f"error: {message}")


def test_a_write_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "kept.json"
    path.write_text("old")
    monkeypatch.setattr(
        _files.os, "fdopen", lambda *_, **__: (_ for _ in ()).throw(OSError("full"))
    )
    with pytest.raises(OSError, match="full"):
        _files.write(json.dumps({}), path)
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["kept.json"]

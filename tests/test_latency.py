"""Accesses in flight, for real: what the loops read, and the form of the times."""

import importlib.util
import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest

from primer import _jit, latency_hiding
from primer.workbench import _latency_kernels, latency
from primer.workbench._latency_kernels import WORDS, gather, plain, ring, walk

compiled = pytest.mark.skipif(not _jit.is_enabled(), reason="needs Numba")
SMALL = {"seconds": 0.05, "memory_bytes": 2 * latency.CACHE_BYTES, "counts": (1, 4), "n_rounds": 1}


# ---- what the loops read


@pytest.mark.parametrize("n_lines", [1, 2, 3, 64, 1000])
def test_a_ring_meets_every_line_once(n_lines):
    links, order = ring(n_lines)
    assert links.size == n_lines * WORDS
    assert links.ctypes.data % latency.LINE_BYTES == 0
    place, seen = int(order[0]), []
    for _ in range(n_lines):
        seen.append(place)
        place = int(links[place])
    assert place == order[0]
    assert seen == order.tolist()
    assert sorted(seen) == [WORDS * line for line in range(n_lines)]
    assert not links.reshape(-1, WORDS)[:, 1:].any()


@pytest.mark.parametrize("n_chains", [1, 2, 3, 7, 16, 64])
@pytest.mark.parametrize("n_steps", [0, 1, 5])
def test_chains_advance_side_by_side(n_chains, n_steps):
    links, order = ring(97)
    start = np.arange(n_chains) * 97 // n_chains
    at = order[start]
    walk(links, at, n_steps)
    assert at.tolist() == order[(start + n_steps) % 97].tolist()


@pytest.mark.parametrize("distance", [0, 1, 5, 63])
def test_a_gather_reads_every_place_once_and_early_ones_besides(distance):
    """A buffer whose second words differ: what is read beyond the zeros is the early loads."""
    links, order = ring(200)
    assert gather(links, order, distance, 2) == 0
    touched = links.copy()
    # An early load of step s is of place s + distance; a place that is only loaded early may hold
    # anything. The last `distance` places are such.
    touched[order[200 - distance :] + np.uint64(1)] = 7
    assert gather(touched, order, distance, 2) == 2 * 7 * distance


@pytest.mark.parametrize("n_rounds", [1, 3])
def test_a_plain_loop_adds_up_all_links(n_rounds):
    links, order = ring(50)
    assert plain(links, order, n_rounds) == n_rounds * order.sum()


PLAIN = """
from primer.workbench import _latency_kernels as k
links, order = k.ring(40)
at = order[[0, 20]]
k.walk(links, at, 3)
print(at.tolist() == order[[3, 23]].tolist(), k.gather(links, order, 2, 1) == 0,
      k.plain(links, order, 1) == order.sum())
"""


def test_plain_python_reads_the_same():
    env = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", PLAIN], capture_output=True, text=True, env=env, check=True
    )
    assert done.stdout.split() == ["True"] * 3


@compiled
def test_a_walker_is_compiled_once():
    assert _latency_kernels.walker(3) is _latency_kernels.walker(3)
    assert _latency_kernels.walker(3) is not _latency_kernels.walker(4)


# ---- the runs


@pytest.mark.parametrize("name", latency_hiding.BUFFERS)
def test_runs_never_leave_the_ring(name):
    """Every run counts its accesses, and places stay within the order wherever it begins."""
    course = latency.Course(name, 2**16, 3000)
    assert course.n_lines == 1024
    for position in (0, 500, 1020, 1023, 5000):
        for method in ("chains", "prefetch", "plain"):
            for n in (1, 3, 64):
                course.position = position
                n_accesses = course.run(method, n)
                assert 3000 - 512 - 64 < n_accesses <= 3000


def test_a_run_starts_where_the_last_one_ended():
    course = latency.Course("memory", 2**18, 1000)
    assert course.n_rounds == 1
    first, second = course._places(5), course._places(5)
    assert first.tolist() == course.order[:1005].tolist()
    assert second.tolist() == course.order[1000:2005].tolist()


# ---- the measurement itself: form and sanity, never a rate


@pytest.fixture(scope="module")
def here():
    if not _jit.is_enabled():
        pytest.skip("needs Numba")
    return latency.measure(**SMALL)


def test_this_machine(here):
    assert [b.name for b in here.buffers] == ["cache", "memory"]
    assert [b.size_bytes for b in here.buffers] == [2**18, 2**19]
    assert {(p.buffer, p.method, p.n_in_flight) for p in here.points} == {
        (buffer, method, n)
        for buffer, method in (("cache", "chains"), ("memory", "chains"), ("memory", "prefetch"))
        for n in (1, 4)
    }
    for p in here.points:
        assert 0 < p.fastest_s <= p.time_s <= p.slowest_s < 1e-3
        assert p.n_repeats >= 5
    assert latency_hiding.from_json(latency_hiding.to_json(here)) == here
    assert any("huge pages" in note or "pages unknown" in note for note in here.notes)


def test_the_table_has_a_line_for_each_number_in_flight(here):
    lines = latency.table(here).splitlines()
    assert re.fullmatch(r"in flight +cache, chains +memory, chains +memory, prefetch", lines[1])
    assert [line.split()[0] for line in lines[2:4]] == ["1", "4"]
    assert all(len(line.split()) == 4 for line in lines[2:4])
    assert lines[4].startswith("cache (262 kB): plain loop")


@compiled
def test_four_in_flight_beat_one_beyond_the_caches():
    """On any machine with a cache: dependent accesses to 64 MiB, one or four at a time."""
    course = latency.Course("memory", 2**26, 2**15)
    one, four = (min(course.sample("chains", n, 0.1)) for n in (1, 4))
    assert four < one


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seconds": 0}, "seconds must be positive; got 0"),
        ({"n_rounds": 0}, "n_rounds must be a positive integer; got 0"),
        ({"counts": (0,)}, "counts must be a positive integer; got 0"),
        ({"counts": (5000,)}, "counts must be at most 1,024; got 5000"),
        ({"memory_bytes": 64}, "memory_bytes must be at least 524288; got 64"),
        ({"memory_bytes": 2**45}, "memory_bytes must be at most half of the free memory"),
        ({"memory_bytes": 2.0**27}, "memory_bytes must be a positive integer"),
    ],
)
def test_bad_input_is_named(change, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        latency.measure(**(SMALL | change))


def test_without_numba_there_is_nothing_to_time(monkeypatch):
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    with pytest.raises(ValueError, match="latency must be measured in compiled code"):
        latency.measure(**SMALL)


def test_the_larger_buffer_is_far_beyond_the_last_cache(monkeypatch):
    monkeypatch.setattr(latency._system, "last_cache_bytes", lambda: 2**25)
    monkeypatch.setattr(latency._system, "available_bytes", lambda: 2**34)
    assert latency._memory_bytes(None) == 2**28
    monkeypatch.setattr(latency._system, "available_bytes", lambda: 2**28)
    assert latency._memory_bytes(None) == 2**26
    monkeypatch.setattr(latency._system, "last_cache_bytes", lambda: None)
    assert any("unknown" in note for note in latency._notes())


# ---- the command


@compiled
def test_the_command_measures_and_keeps(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(latency, "LARGEST", 2**20)
    monkeypatch.setattr(latency, "SMALLEST", 2**20)
    path = tmp_path / "latency.json"
    assert latency.main(["--seconds", "0.05", "--rounds", "1", "--snapshot", str(path)]) == 0
    assert "time per access" in capsys.readouterr().out
    assert latency_hiding.from_json(path.read_text("utf-8")).points
    assert json.loads(path.read_text("utf-8"))["schema"] == 1
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--seconds", "-1"], "error: seconds must be positive"),
        (["--snapshot", "/nowhere/at/all.json"], "error: snapshot must lie in a folder"),
    ],
)
def test_the_command_refuses_with_a_message(arguments, message, capsys):
    assert latency.main(arguments) == 2
    assert message in capsys.readouterr().err


def test_importing_it_does_not_import_numba():
    if importlib.util.find_spec("numba") is None:
        pytest.skip("not installed")
    program = "import sys, primer.workbench.latency; print('numba' in sys.modules)"
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=env, check=True
    )
    assert done.stdout.strip() == "False"

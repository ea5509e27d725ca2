"""Little's law with a ceiling, what follows from a measurement, its kept form, and the figure."""

import gzip
import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from primer import explore, figures, latency_hiding
from primer.explore import payload
from primer.figures import latency_hiding as figure_of
from primer.latency_hiding import (
    LatencyBuffer,
    LatencyHiding,
    LatencyPoint,
    from_json,
    predict,
    snapshot,
    to_json,
)

# ---- the model


@pytest.mark.parametrize(
    ("n", "time_ns", "bound"),
    [
        # R = 160 ns and one access per 8 ns: 160/N until N = 160/8 = 20, then 8.
        (1, 160, "latency"),
        (4, 40, "latency"),
        (19, 160 / 19, "latency"),
        (20, 8, "rate"),
        (64, 8, "rate"),
    ],
)
def test_by_hand(n, time_ns, bound):
    found = predict(n, latency_s=160e-9, interval_s=8e-9)
    assert found.time_s == pytest.approx(time_ns * 1e-9)
    assert found.n_needed == pytest.approx(20)
    assert found.bound == bound


def queue(n, latency, interval, n_accesses=4000):
    """Time per access by playing it: n chains, each asks again when its answer comes, and the
    hardware begins one access per interval at the earliest."""
    ready, free = [0.0] * n, 0.0
    for i in range(n_accesses):
        begin = max(ready[i % n], free)
        free = begin + interval
        ready[i % n] = begin + latency
    return max(ready) / n_accesses


@given(n=st.integers(1, 70), latency=st.integers(1, 300), interval=st.integers(1, 300))
def test_it_is_the_steady_state_of_a_queue(n, latency, interval):
    if interval > latency:
        return
    found = predict(n, latency_s=latency, interval_s=interval)
    assert found.time_s == pytest.approx(queue(n, latency, interval), rel=0.1)
    assert found.time_s >= interval
    assert found.time_s * n >= latency * (1 - 1e-12)


def test_warps_obey_the_same_law():
    """A scheduler with one load in flight per warp, 400 cycles, one request per 35: 0.2857 of the
    issue slots at 10 per load, which is one load per 35 cycles, from 400 / 35 = 11.4 warps on."""
    found = predict(12, latency_s=400, interval_s=35)
    assert 10 / found.time_s == pytest.approx(0.2857, abs=5e-5)
    assert 11 < found.n_needed < 12


def test_numpy_numbers_are_welcome():
    found = predict(np.int64(4), latency_s=np.float32(160), interval_s=np.float64(8))
    assert type(found.n_in_flight) is int
    assert found.time_s == 40


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_in_flight": 0}, "n_in_flight must be a positive integer; got 0"),
        ({"n_in_flight": True}, "n_in_flight must be a positive integer; got True"),
        ({"n_in_flight": 2.0}, "n_in_flight must be a positive integer; got 2.0"),
        ({"latency_s": -1}, "latency_s must be positive; got -1"),
        ({"latency_s": float("nan")}, "latency_s must be positive; got nan"),
        ({"interval_s": float("inf")}, "interval_s must be finite; got inf"),
        ({"interval_s": "8"}, "interval_s must be positive; got '8'"),
        ({"interval_s": 161}, "interval_s must be at most latency_s, 160.0; got 161"),
    ],
)
def test_bad_input_is_named(change, message):
    given_values = {"n_in_flight": 4, "latency_s": 160, "interval_s": 8} | change
    n = given_values.pop("n_in_flight")
    with pytest.raises(ValueError, match=re.escape(message)):
        predict(n, **given_values)


# ---- a measurement


def point(n=1, time_s=160e-9, **values):
    fields = {
        "buffer": "memory", "method": "chains", "fastest_s": time_s * 0.9,
        "slowest_s": time_s * 1.1, "n_repeats": 9,
    }  # fmt: skip
    return LatencyPoint(n_in_flight=n, time_s=time_s, **(fields | values))


MEMORY = LatencyBuffer(name="memory", size_bytes=2**28, plain_s=10e-9, stream_bytes_per_s=32e9)
ALL = (point(1), point(4, 41e-9), point(8, 32e-9), point(64, 8e-9))


def made(*points, **values):
    fields = {
        "name": "Some processor", "date": "2026-11-29", "python": "3.11.7",
        "versions": (("numba", "0.68.1"),), "line_bytes": 64, "cache_bytes": 2**25,
        "buffers": (MEMORY,), "notes": ("one thread",),
    }  # fmt: skip
    return LatencyHiding(points=points, **(fields | values))


def test_a_point_beside_the_model():
    """The first point and the fastest make the line: 160/8 = 20 are needed, 64 wait in line."""
    seen = made(*ALL).hide("memory", "chains", 64)
    assert seen.latency_s == 160e-9
    assert seen.model.interval_s == 8e-9
    assert seen.model.n_needed == pytest.approx(20)
    assert seen.speedup == pytest.approx(20)
    assert seen.residence_s == pytest.approx(512e-9)
    assert seen.bytes_in_flight == 4096
    assert seen.bytes_per_s == pytest.approx(8e9)
    assert seen.n_plain == pytest.approx(16)
    assert [p.n_in_flight for p in seen.curve] == [1, 4, 8, 64]


def test_points_are_sorted_and_methods_listed():
    other = point(1, method="prefetch")
    found = made(other, *ALL[::-1])
    assert found.methods("memory") == ("chains", "prefetch")
    assert [p.n_in_flight for p in found.curve("memory", "chains")] == [1, 4, 8, 64]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"buffer": "disk"}, "buffer must be one of cache, memory"),
        ({"method": "hope"}, "method must be one of chains, prefetch"),
        ({"n": 0}, "n_in_flight must be a positive integer"),
        ({"time_s": 0.0, "fastest_s": 1.0}, "time_s must be positive"),
        ({"fastest_s": 1.0}, "time_s must lie between fastest_s and slowest_s"),
        ({"n_repeats": 0}, "n_repeats must be a positive integer"),
    ],
)
def test_a_point_that_cannot_be_is_refused(change, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        point(**change)


@pytest.mark.parametrize(
    ("points", "values", "message"),
    [
        ((), {}, "points must be distinct and at least one"),
        ((point(), point()), {}, "points must be distinct"),
        ((point(4),), {}, "points must have one access in flight for each way"),
        ((point(buffer="cache"),), {}, "points.buffer must be one of memory"),
        (ALL, {"buffers": ()}, "buffers must be distinct and at least one"),
        (ALL, {"date": "today"}, "date must be a day"),
        (ALL, {"name": ""}, "name must be a non-empty string"),
        (ALL, {"line_bytes": 0}, "line_bytes must be a positive integer"),
        (ALL, {"cache_bytes": -1}, "cache_bytes must be a positive integer"),
        (ALL, {"notes": ("",)}, "notes must be a non-empty string"),
    ],
)
def test_a_measurement_that_cannot_be_is_refused(points, values, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        made(*points, **values)


@pytest.mark.parametrize(
    ("state", "message"),
    [
        (("cache", "chains", 1), "buffer must be one of memory"),
        (("memory", "prefetch", 1), "method must be one of chains"),
        (("memory", "chains", 2), "n_in_flight must be one of (1, 4, 8, 64); got 2"),
        (("memory", "chains", True), "n_in_flight must be a positive integer; got True"),
        (("memory", "chains", 4.0), "n_in_flight must be a positive integer; got 4.0"),
        (("memory", "chains", np.ones(2)), "n_in_flight must be a positive integer; got an array"),
    ],
)
def test_only_what_was_measured_can_be_shown(state, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        made(*ALL).hide(*state)


# ---- the kept form


def test_text_and_back():
    for found in (made(*ALL), made(point(), cache_bytes=None, notes=()), snapshot()):
        text = to_json(found)
        assert from_json(text) == found
        assert to_json(from_json(text)) == text


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda d: d.pop("line_bytes"), "line_bytes must be there"),
        (lambda d: d.update(colour=1), "field of the measurement must be one of"),
        (lambda d: d.update(schema=True), "schema must be 1; got True"),
        (lambda d: d.update(points={}), "points must be a JSON list"),
        (lambda d: d["points"][2].pop("buffer"), "points[2].buffer must be there"),
        (lambda d: d["points"][0].update(time_s=-1), "points[0].time_s must be positive"),
        (lambda d: d["buffers"][0].update(plain_s="1"), "buffers[0].plain_s must be positive"),
    ],
)
def test_text_that_was_spoiled_names_the_field(spoil, message):
    found = json.loads(to_json(made(*ALL)))
    spoil(found)
    with pytest.raises(ValueError, match=re.escape(message)):
        from_json(json.dumps(found))


def test_what_is_no_measurement_is_refused():
    with pytest.raises(ValueError, match="text must be JSON"):
        from_json("nonsense")
    with pytest.raises(ValueError, match="measured must be a LatencyHiding"):
        to_json({"points": []})


def test_the_kept_measurement_is_whole_and_sane():
    """Form, and what any machine shows: four in flight are faster than one, memory is slower."""
    found = snapshot()
    assert [b.name for b in found.buffers] == list(latency_hiding.BUFFERS)
    assert found.methods("memory") == latency_hiding.METHODS
    for buffer in found.buffers:
        for method in found.methods(buffer.name):
            curve = found.curve(buffer.name, method)
            times = {p.n_in_flight: p.time_s for p in curve}
            assert times[4] < times[2] < times[1]
            assert all(p.n_repeats >= 5 for p in curve)
            assert buffer.plain_s < times[1]
            reached = found.line_bytes / min(times.values())
            assert reached < 3 * buffer.stream_bytes_per_s
    one = [found.curve(b.name, "chains")[0].time_s for b in found.buffers]
    assert 5 * one[0] < one[1]


# ---- the figure

SHOWN = figures.load("latency-hiding")


def rows(outcome):
    return {row.name: row for row in outcome.rows}


def test_it_opens_in_memory_with_some_chains():
    assert [c.name for c in SHOWN.controls] == ["buffer", "method", "n_in_flight"]
    assert SHOWN.default_state == {"buffer": "memory", "method": "chains", "n_in_flight": 8}
    assert snapshot().date in SHOWN.assumes


def test_every_state_reads_out_its_own_measurement():
    states = [state for state in SHOWN.states() if state]
    assert len(states) == len(snapshot().points)
    for state in states:
        seen, found = rows(SHOWN.evaluate(state)), snapshot().hide(*state.values())
        assert seen["time_s"].value == found.point.time_s
        assert seen["bytes_in_flight"].value == 64 * state["n_in_flight"]
        assert seen["residence_s"].value == state["n_in_flight"] * found.point.time_s
        assert seen["speedup"].value * found.point.time_s == pytest.approx(found.curve[0].time_s)
        assert seen["model_time_s"].value <= seen["latency_s"].value


def test_the_sentence_follows_the_state():
    shown = figure_of.measured(made(*ALL))
    spoken = {
        n: shown.evaluate({"buffer": "memory", "method": "chains", "n_in_flight": n}).spoken
        for n in (1, 4, 8, 64)
    }
    assert spoken[1].startswith("One access at a time: each step waits its whole 160 ns")
    assert "overlaps 16.0 by itself" in spoken[1]
    assert spoken[4].startswith("4 accesses share one wait. One ends every 41 ns instead of every")
    assert spoken[8].startswith("8 in flight should end 20 ns apart, and do so every 32 ns.")
    assert spoken[64].startswith("The ceiling: about 20.0 in flight hide all of the latency here.")
    assert "under way for 512 ns instead of 160 ns" in spoken[64]


def covered(path):
    """Total area of the boxes of a path."""
    corners = path.vertices.reshape(-1, 5, 2)
    sides = corners[:, 2] - corners[:, 0]
    return float((sides[:, 0] * sides[:, 1]).sum())


def test_curve_ring_and_bars_stand_where_the_numbers_say():
    figure = figure_of.draw_latency_hiding(made(*ALL).hide("memory", "chains", 64))
    assert list(figure.dots.get_xdata()) == [1, 4, 8, 64]
    assert list(figure.dots.get_ydata()) == pytest.approx([1, 160 / 41, 5, 20])
    assert figure.ring.get_xydata().tolist() == [[64, pytest.approx(20)]]
    assert list(figure.model.get_ydata())[1:] == pytest.approx([20, 20])
    assert list(figure.plain.get_ydata()) == pytest.approx([16, 16])
    # 512 of which 160 are latency: 352/512 of all lanes' time is waiting, gaps aside.
    window = covered(figure.waiting.get_path()), covered(figure.latency.get_path())
    assert window[0] / figure_of.WINDOW == pytest.approx(352 / 512, abs=0.02)
    assert window[1] / figure_of.WINDOW == pytest.approx(160 / 512, abs=0.02)
    assert "64 accesses in flight, each for 512 ns" in figure._repr_html_()


def test_without_a_queue_nothing_waits():
    figure = figure_of.draw_latency_hiding(made(*ALL).hide("memory", "chains", 1))
    assert covered(figure.waiting.get_path()) == 0
    assert covered(figure.latency.get_path()) == pytest.approx(0.8 * 2, abs=0.05)
    assert "1 access in flight, for " in figure._repr_html_()


def test_a_readers_own_measurement_is_driven_live():
    live = explore.show(figure_of.measured(made(*ALL, name="A very long name of a processor " * 2)))
    live.controls["n_in_flight"].value = 4
    assert re.search(r'data-name="bytes_in_flight" data-value="256"', live.view.value)
    assert live.errors == []


def test_it_is_light():
    assert len(gzip.compress(payload.script(SHOWN).encode())) < 60_000

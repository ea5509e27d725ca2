"""A measured machine: what follows from its times, and its text form."""

import dataclasses
import json
import math

import pytest

from primer.machine import Machine, MachinePoint, from_json, snapshot, to_json


def point(kernel="triad", **changes):
    """A triad of 10⁹ B/s and 10⁸ FLOP/s."""
    given = {
        "kernel": kernel, "compute": "fp32", "code": "numba", "work_flop": 1e8,
        "traffic_bytes": 1e9, "time_s": 1.0, "fastest_s": 0.5, "slowest_s": 2.0,
        "n_repeats": 5, "n_threads": 1,
    }  # fmt: skip
    return MachinePoint(**(given | changes))


def made(*points, **changes):
    """A machine of 1 GB/s and 1 GFLOP/s."""
    given = {
        "name": "made", "device": "cpu", "date": "2026-11-29", "python": "3.11.0",
        "versions": (("numpy", "2.0"),), "n_cpus": 1, "n_threads": 1, "write_allocate": True,
        "array_bytes": 2**20, "cache_bytes": None, "bandwidth": point(),
        "peaks": (point("fma", work_flop=1e9, traffic_bytes=0),), "points": points or (point(),),
    }  # fmt: skip
    return Machine(**(given | changes))


def test_a_machine_by_hand():
    """1 GB/s and 1 GFLOP/s: ridge 1 FLOP/B. 0.1 FLOP/B may reach 0.1 GFLOP/s, in 1 s."""
    placed = made().place("triad")
    assert made().chip.ridge_flop_per_byte("fp32") == 1.0
    assert (placed.model.time_s, placed.model.attainable_flop_per_s) == (1.0, 1e8)
    assert placed.judgement.attainable_frac == 1.0
    assert placed.judgement.is_possible


def test_a_point_above_the_roof_is_flagged():
    """Half the time means twice the bandwidth: 200 % of a measured roof."""
    found = made(point("dot", time_s=0.5))
    judged = found.place("dot").judgement
    assert not judged.is_possible
    assert judged.bandwidth_frac == 2.0
    assert any("cache" in cause for cause in judged.causes)
    assert "ABOVE ITS ROOF" in str(found)


def test_unknown_kernels_are_named():
    with pytest.raises(ValueError, match="did you mean 'triad'"):
        snapshot().place("traid")


def test_the_snapshot_is_sane():
    found = snapshot()
    assert all(p.fastest_s <= p.time_s <= p.slowest_s for p in found.points)
    assert {p.n_threads for p in found.points} == {found.n_threads}
    assert len(found.points) >= 6
    assert found.array_bytes >= 4 * found.cache_bytes
    for name in found.kernels:
        assert 0 < found.place(name).judgement.attainable_frac <= 1.1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(schema=2), "schema must be 1; got 2"),
        (lambda d: d.update(schema=True), "schema must be 1; got True"),
        (lambda d: d.pop("date"), "date must be there"),
        (lambda d: d.update(date="yesterday"), "date must be a day"),
        (lambda d: d.update(extra=1), "field of the machine must be one of"),
        (lambda d: d.update(versions=[]), "versions must be a JSON object"),
        (lambda d: d["versions"].update(numpy=2), "versions.numpy must be a non-empty string"),
        (lambda d: d.update(points={}), "points must be a JSON list"),
        (lambda d: d.update(points=[]), "points must be distinct and at least one"),
        (lambda d: d["points"].append(d["points"][0]), "points must be distinct"),
        (lambda d: d["points"][2].update(time_s=-1), r"points\[2\].time_s must be positive; got"),
        (lambda d: d["points"][1].pop("code"), r"points\[1\].code must be there"),
        (lambda d: d["points"][0].update(time_s=99), r"points\[0\].time_s must lie between"),
        (lambda d: d["points"][0].update(compute="fp65"), r"points\[0\].compute must be one of"),
        (lambda d: d["points"][0].update(compute="bf16"), "points.compute must be one of"),
        (lambda d: d["peaks"][0].update(n_threads=0), r"peaks\[0\].n_threads must be a positive"),
        (lambda d: d["bandwidth"].update(traffic_bytes=0), "bandwidth.traffic_bytes must be"),
        (lambda d: d["bandwidth"].update(time_s=math.nan), "bandwidth.time_s must be positive"),
        (lambda d: d.update(notes=[1]), "notes must be a non-empty string"),
        (lambda d: d.update(device="tpu"), "device must be one of cpu, cuda"),
    ],
)
def test_a_bad_file_is_refused_with_its_field(change, message):
    values = json.loads(to_json(snapshot()))
    change(values)
    with pytest.raises(ValueError, match=message):
        from_json(json.dumps(values))


@pytest.mark.parametrize("text", ["", "{", "[]", "3", None])
def test_what_is_not_a_machine_is_refused(text):
    with pytest.raises(ValueError, match=r"^text must be"):
        from_json(text)


def test_results_are_frozen_and_equal_by_value():
    assert made() == made()
    with pytest.raises(dataclasses.FrozenInstanceError):
        made().name = "other"
    assert to_json(made()) == to_json(made())

"""Launches by the ten thousand, against NVIDIA's own header, compiled here.

Skipped where g++ or the header is not installed; `tests/data/occupancy.json` has what it said.
"""

from __future__ import annotations

import json

import numpy as np
import pytest

from primer import capabilities, occupancy
from primer.occupancy import Limits
from tests import occupancy_peer
from tests.conftest import ROOT
from tests.occupancy_peer import ANSWER, DEVICE, LAUNCH, NotThereError

TABLE = json.loads((ROOT / "tests/data/occupancy.json").read_text("utf-8"))
NAMES = capabilities.names()
PREFERENCES = (None, 0, 1, 13, 25, 50, 77, 100)


@pytest.fixture(scope="module")
def peer(tmp_path_factory):
    try:
        return occupancy_peer.build(tmp_path_factory.mktemp("header"))
    except NotThereError as reason:
        pytest.skip(str(reason))


def device(name):
    """What the header is told of a device: from the table, not from `capabilities`."""
    major, minor = map(int, name.split("."))
    known = TABLE["devices"]["10.0" if name == "10.3" else name]
    return [major, minor, *(known[key] for key in DEVICE[2:])]


def most_dynamic(name, opt_in, fixed):
    """The limit that a kernel sets for itself to get all it may have."""
    largest = device(name)[DEVICE.index("max_shared_bytes_per_block")]
    return np.maximum(largest - fixed, 0) if opt_in else np.zeros_like(fixed)


def answers(peer, name, threads, registers, fixed, dynamic, *, opt_in=True, percent=None, barriers):
    """The header's, as a dictionary of columns."""
    n = len(threads)
    launch = {
        "threads": threads, "registers": registers, "static_shared_bytes": fixed,
        "dynamic_shared_bytes": dynamic, "opt_in": np.full(n, opt_in),
        "most_dynamic_bytes": most_dynamic(name, opt_in, fixed),
        "carveout_percent": np.full(n, -1 if percent is None else percent), "barriers": barriers,
    }  # fmt: skip
    told = np.tile(np.array(device(name), dtype=np.int32), (n, 1))
    asked = np.column_stack([launch[key] for key in LAUNCH]).astype(np.int32)
    found, _ = peer.ask(np.hstack([told, asked]))
    return dict(zip(ANSWER, found.T, strict=True))


def compare(peer, name, threads, registers, fixed, dynamic, **options):
    """All columns of all launches; returns how many launches a barrier limits."""
    theirs = answers(peer, name, threads, registers, fixed, dynamic, **options)
    ours = occupancy.calculate(
        name, threads_per_block=threads, registers_per_thread=registers,
        shared_bytes_per_block=fixed + dynamic, opt_in=options.get("opt_in", True),
        carveout_percent=options.get("percent"), barriers_per_block=options["barriers"],
    )  # fmt: skip
    assert not theirs["error"].any()
    same = np.testing.assert_array_equal
    same(ours.n_blocks, theirs["blocks"])
    columns = ("warps", "registers", "shared_memory", "slots", "barriers")
    for allowed, column in zip(ours.limits, columns, strict=True):
        same(allowed, theirs[column], err_msg=column)
    same(ours.allocated_registers_per_block, theirs["allocated_registers"])
    same(ours.allocated_shared_bytes_per_block, theirs["allocated_shared_bytes"])
    # It marks what binds before it looks at barriers, and does not take the marks back.
    is_stale = theirs["barriers"] < np.min([theirs[key] for key in columns[:4]], axis=0)
    same(ours.limiters[~is_stale], theirs["factors"][~is_stale])
    assert (ours.limiters[is_stale] == 1 << Limits._fields.index("barriers")).all()
    return int(is_stale.sum())


@pytest.mark.parametrize("name", NAMES)
def test_random_launches(peer, name):
    random = np.random.default_rng(NAMES.index(name))
    n_stale = n_refused = n_launches = 0
    for opt_in in (True, False):
        for percent in PREFERENCES:
            n = 400
            threads, registers = random.integers(1, 1025, n), random.integers(0, 256, n)
            # often near what a block may have, and often small
            most = random.choice([64, 4096, 49_400, 102_500, 168_000, 234_000], n)
            shared = random.integers(0, most)
            fixed = np.minimum(random.integers(0, 49_153, n), shared)
            n_stale += compare(
                peer, name, threads, registers, fixed, shared - fixed, opt_in=opt_in,
                percent=percent, barriers=random.integers(0, 17, n),
            )  # fmt: skip
            found = occupancy.calculate(
                name, threads_per_block=threads, registers_per_thread=registers,
                shared_bytes_per_block=shared, opt_in=opt_in,
            )  # fmt: skip
            n_refused += int((found.n_blocks == 0).sum())
            n_launches += n
    # The draw reaches both ends: launches that are refused and launches that are not; and
    # barriers that bind, where they count.
    assert 0.1 < n_refused / n_launches < 0.9
    assert (n_stale > 0) == (float(name) >= 9)


@pytest.mark.parametrize("name", NAMES)
def test_every_number_of_warps_and_registers(peer, name):
    threads, registers = (axis.ravel() for axis in np.mgrid[32:1025:32, 0:256])
    none, one = np.zeros_like(threads), np.ones_like(threads)
    compare(peer, name, threads, registers, none, none, barriers=one)


@pytest.mark.parametrize("name", NAMES)
def test_every_step_of_shared_memory(peer, name):
    most = capabilities.load(name).max_shared_bytes_per_block
    edges = np.arange(0, most + 512, 128)
    dynamic = np.unique(np.clip([edges - 1, edges, edges + 1], 0, None))
    threads, registers = np.full_like(dynamic, 96), np.full_like(dynamic, 24)
    none, one = np.zeros_like(dynamic), np.ones_like(dynamic)
    compare(peer, name, threads, registers, none, dynamic, barriers=one)


def test_the_table_is_what_the_header_says(peer):
    at = {column: i for i, column in enumerate(TABLE["columns"])}
    for row in TABLE["rows"]:
        numbers = ("threads", "registers", "static_shared_bytes", "dynamic_shared_bytes")
        launch = [np.array([row[at[key]]]) for key in numbers]
        percent, barriers = row[at["carveout_percent"]], np.array([row[at["barriers"]]])
        found = answers(
            peer, row[0], *launch, opt_in=row[at["opt_in"]], barriers=barriers,
            percent=None if percent < 0 else percent,
        )  # fmt: skip
        for column in ("blocks", "allocated_registers", "allocated_shared_bytes"):
            assert found[column][0] == row[at[column]], row


def test_a_header_that_is_not_there_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(occupancy_peer, "_places", lambda: [])
    with pytest.raises(NotThereError, match=r"no cuda_occupancy.h is installed .*wheel"):
        occupancy_peer.find()
    old = tmp_path / "cuda_occupancy.h"
    old.write_text("#define __CUDA_OCC_MAJOR__ 9\n")
    monkeypatch.setattr(occupancy_peer, "_places", lambda: [old])
    with pytest.raises(NotThereError, match="too old: "):
        occupancy_peer.find()

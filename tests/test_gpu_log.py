"""Logs of predictions and measurements: what seals them, and what is written where."""

import dataclasses
import json
import re
from pathlib import Path

import pytest

from primer.workbench import _gpu_log, gpu_check
from primer.workbench._gpu_log import from_json, sealed, to_json
from tests.test_gpu_check import H200, Played


@pytest.fixture(scope="module")
def prediction():
    return gpu_check.predict(H200)


def test_text_and_back(prediction):
    measured = gpu_check.measure(prediction, Played(prediction))
    for log in (prediction, measured):
        assert from_json(to_json(log)) == log
        assert to_json(from_json(to_json(log))) == to_json(log)
        assert re.fullmatch("[0-9a-f]{64}", log.seal)
    assert prediction.seal != measured.seal


@pytest.mark.parametrize(
    "spoil",
    [
        lambda d: d["rows"][0].update(predicted=1e12),
        lambda d: d["rows"][0]["parameters"].update(floats_per_thread=2),
        lambda d: d["rows"].pop(),
        lambda d: d.update(time="2020-01-01T00:00:00+00:00"),
        lambda d: d["about"].update(name="H100"),
        lambda d: d.update(notes=["fine"]),
        lambda d: d.update(seal="0" * 64),
    ],
)
def test_a_change_after_the_seal_is_noticed(prediction, spoil):
    values = json.loads(to_json(prediction))
    spoil(values)
    with pytest.raises(ValueError, match="seal must fit the rest of the log"):
        from_json(json.dumps(values))


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda d: d.pop("chip"), "chip must be there"),
        (lambda d: d.update(schema=2), "schema must be 1"),
        (lambda d: d.update(kind="guess"), "kind must be one of prediction, measurement"),
        (lambda d: d.update(rows=[]), "rows must be at least one"),
        (lambda d: d["rows"][3].update(predicted=0), "rows[3].predicted must be positive"),
        (lambda d: d["rows"][3].update(quantity="speed"), "rows[3].quantity must be one of"),
        (lambda d: d["rows"][3].update(measured="1"), "rows[3].measured must be positive"),
    ],
)
def test_a_log_that_was_spoiled_names_the_field(prediction, spoil, message):
    values = json.loads(to_json(prediction))
    spoil(values)
    with pytest.raises(ValueError, match=re.escape(message)):
        from_json(json.dumps(values))


def test_a_log_appears_whole_and_is_never_replaced(prediction, tmp_path, monkeypatch):
    path = tmp_path / "one.json"
    _gpu_log.keep(prediction, path)
    kept = path.read_text("utf-8")
    other = sealed(dataclasses.replace(prediction, notes=("another",)))
    with pytest.raises(ValueError, match="log must be a new file; logs are never overwritten"):
        _gpu_log.keep(other, path)
    # The same if the file appears after the path was looked at.
    monkeypatch.setattr(_gpu_log, "check_new", Path)
    with pytest.raises(ValueError, match="log must be a new file"):
        _gpu_log.keep(other, path)
    assert path.read_text("utf-8") == kept
    assert list(tmp_path.iterdir()) == [path]


def test_a_write_that_breaks_off_leaves_nothing(prediction, tmp_path, monkeypatch):
    def fail(log):
        raise RuntimeError("power cut")

    monkeypatch.setattr(_gpu_log, "to_json", fail)
    with pytest.raises(RuntimeError, match="power cut"):
        _gpu_log.keep(prediction, tmp_path / "one.json")
    assert list(tmp_path.iterdir()) == []


def test_the_folder_must_be_there():
    log = gpu_check.predict(H200)
    with pytest.raises(ValueError, match="snapshot must lie in a folder"):
        _gpu_log.keep(log, Path("/nowhere/at/all.json"))

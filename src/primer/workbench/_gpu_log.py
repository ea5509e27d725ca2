"""Logs of predictions and of what was measured after them: JSON, sealed, never overwritten.

A seal is the SHA-256 of everything else in the log. It shows that nobody improved a prediction
afterwards, as long as the seal itself was published before: print it, commit it, send it.
"""

import dataclasses
import hashlib
import json
import os
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from primer import _checks, _snapshot
from primer.workbench._gpu_predictions import Parameters
from primer.workbench.measure import check_path

SCHEMA = 1
KINDS = ("prediction", "measurement")
UNITS = {"bytes_per_s": "B/s", "time_s": "s"}


@dataclass(frozen=True, kw_only=True)
class LogRow:
    """One predicted number, and what became of it.

    Parameters
    ----------
    experiment, quantity : str
    parameters : dict
    predicted : float
        In the quantity's base unit.
    measured, lowest, highest : float or None
        Median and range of the repeats; None before, or where it could not be measured.
    n_repeats : int
        Zero before.
    """

    experiment: str
    quantity: str
    parameters: Parameters
    predicted: float
    measured: float | None = None
    lowest: float | None = None
    highest: float | None = None
    n_repeats: int = 0

    def __post_init__(self) -> None:
        _snapshot.text("experiment", self.experiment)
        _checks.one_of("quantity", self.quantity, tuple(UNITS))
        _snapshot.mapping("parameters", self.parameters)
        _checks.positive("predicted", self.predicted)
        _checks.whole("n_repeats", self.n_repeats, minimum=0)
        for name in ("measured", "lowest", "highest"):
            if (value := getattr(self, name)) is not None:
                _checks.positive(name, value)

    @property
    def error_frac(self) -> float | None:
        """(predicted - measured) / measured, float; None if it was not measured."""
        return None if self.measured is None else self.predicted / self.measured - 1


@dataclass(frozen=True, kw_only=True)
class Log:
    """Predictions for one chip, or the same rows after a measurement.

    Parameters
    ----------
    kind : {"prediction", "measurement"}
    chip : str
        As in `hardware.load`.
    time : str
        ISO 8601, in UTC.
    versions : tuple of (str, str)
    about : dict
        What is known of the chip, or what the device said of itself.
    notes : tuple of str
    rows : tuple of LogRow
    prediction_seal : str
        Of the log that came first; empty in that log itself.
    seal : str
        Of this one; `sealed` fills it in.
    """

    kind: str
    chip: str
    time: str
    versions: tuple[tuple[str, str], ...]
    about: dict[str, Any]
    notes: tuple[str, ...]
    rows: tuple[LogRow, ...]
    prediction_seal: str = ""
    seal: str = ""

    def __post_init__(self) -> None:
        _checks.one_of("kind", self.kind, KINDS)
        for name in ("chip", "time"):
            _snapshot.text(name, getattr(self, name))
        if not self.rows:
            _checks.fail("rows", "be at least one", self.rows)


def sealed(log: Log) -> Log:
    """The same log with its seal."""
    return dataclasses.replace(log, seal=_seal(log))


def _seal(log: Log) -> str:
    values = _values(log)
    del values["seal"]
    canonical = json.dumps(values, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def _values(log: Log) -> dict[str, Any]:
    return {"schema": SCHEMA} | asdict(log) | {"versions": dict(log.versions)}


def to_json(log: Log) -> str:
    """A log as text: one line for each row."""
    values = _values(log)
    head = json.dumps(values | {"rows": []}, indent=1, ensure_ascii=False)
    rows = ",\n  ".join(json.dumps(row, ensure_ascii=False) for row in values["rows"])
    return head.replace('"rows": []', f'"rows": [\n  {rows}\n ]') + "\n"


def from_json(text: str) -> Log:
    """The log that `to_json` wrote.

    Raises
    ------
    ValueError
        If a field is missing, unknown or wrong, or if the log was changed after it was sealed.
    """
    values = _snapshot.read(text, Log, schema=SCHEMA, called="the log")
    values["rows"] = _snapshot.rows(LogRow, "rows", values["rows"])
    values["notes"] = tuple(_snapshot.sequence("notes", values["notes"]))
    values["about"] = _snapshot.mapping("about", values["about"])
    log = Log(**values)
    if log.seal != _seal(log):
        _checks.fail("seal", "fit the rest of the log, which was changed afterwards", log.seal)
    return log


def read(path: str | Path, kind: str) -> Log:
    """A log of one kind from its file.

    Raises
    ------
    ValueError
        If there is no such file, or it holds no log of that kind.
    """
    try:
        text = Path(path).read_text("utf-8")
    except OSError as error:
        raise ValueError(
            f"log must be a file with a {kind}; got {str(path)!r} ({error.strerror})"
        ) from None
    log = from_json(text)
    if log.kind != kind:
        _checks.fail("log", f"be a {kind}", log.kind)
    return log


def check_new(path: str | Path) -> Path:
    """The path, if a new file can be written there.

    Raises
    ------
    ValueError
        If it is taken, or not in a folder that can be written to.
    """
    target = check_path(path)
    if target.exists():
        _checks.fail("log", "be a new file; logs are never overwritten", str(target))
    return target


def keep(log: Log, path: str | Path) -> None:
    """Write a log to a new file: the whole of it appears there, or nothing.

    Raises
    ------
    ValueError
        As in `check_new`; also if another program takes the path meanwhile.
    """
    target = check_new(path)
    handle, made = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(to_json(log))
        Path(made).chmod(0o644)
        os.link(made, target)  # unlike a renamed file, a link replaces nothing
    except FileExistsError:
        _checks.fail("log", "be a new file; logs are never overwritten", str(target))
    finally:
        Path(made).unlink(missing_ok=True)

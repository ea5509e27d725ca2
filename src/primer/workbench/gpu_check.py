"""Predict what a GPU will do, seal the prediction, then measure, and publish the error.

    python -m primer.workbench.gpu_check predict h200_sxm_141gb --out h200.prediction.json
    python -m primer.workbench.gpu_check measure h200.prediction.json --out h200.measurement.json
    python -m primer.workbench.gpu_check report h200.measurement.json

Five experiments: the rate of a copy over its loads in flight, the one matmul over T, a staircase of
tiles over the multiprocessors, the rate of reading the second-level cache, and 120 small kernels
launched singly or as a graph. The predictions are those of this book's models, with their faults:
what is published is how far off they were, median and worst.

The first command runs anywhere and takes a second; commit its file, or publish the seal that it
prints. The second needs the GPU, torch, and for two of the experiments Numba with CUDA; it takes a
few minutes. It refuses to run without a prediction for this very chip. No command overwrites a
file.
"""

import argparse
import dataclasses
import datetime
import importlib.metadata
import platform
import re
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from primer import __version__, _checks, hardware, units
from primer.hardware import Chip
from primer.workbench import _gpu_log, _gpu_predictions
from primer.workbench._gpu_device import Device, Gpu, UnavailableError, require
from primer.workbench._gpu_log import UNITS, Log, LogRow

CAPACITY_TOLERANCE = 0.15  # GB against GiB, and what the driver keeps


@dataclass(frozen=True, kw_only=True)
class Errors:
    """How far one experiment's predictions were off.

    Parameters
    ----------
    experiment : str
    n_rows : int
        Measured ones.
    median_frac, worst_frac : float
        Of the absolute errors, as shares of the measured values.
    """

    experiment: str
    n_rows: int
    median_frac: float
    worst_frac: float


def predict(chip: str) -> Log:
    """What the models say about a GPU, sealed.

    Parameters
    ----------
    chip : str
        Of `hardware.names()`, an NVIDIA GPU.

    Returns
    -------
    Log

    Raises
    ------
    ValueError
        If there is no such chip, or it is no NVIDIA GPU.

    Examples
    --------
    >>> log = predict("h200_sxm_141gb")
    >>> log.kind, len(log.rows), log.rows[0].measured
    ('prediction', 47, None)
    """
    found = hardware.load(chip)
    if found.kind != "gpu" or found.vendor != "NVIDIA":
        _checks.fail("chip", "be a GPU of NVIDIA", chip)
    rows, notes = _gpu_predictions.predict(found)
    return _gpu_log.sealed(
        Log(
            kind="prediction",
            chip=found.id,
            time=_now(),
            versions=_versions(),
            about={"name": found.name} | {f"{q.name}_hz": q.amount for q in found.clocks},
            notes=notes,
            rows=tuple(LogRow(**vars(row)) for row in rows),
        )
    )


def measure(prediction: Log, device: Device | None = None) -> Log:
    """Measure every row of a prediction.

    Parameters
    ----------
    prediction : Log
        From `predict`, or read from its file.
    device : Device, optional
        By default the first GPU of this machine.

    Returns
    -------
    Log
        The same rows with medians, ranges and repeats; what could not be measured stays empty,
        and a note says why.

    Raises
    ------
    ValueError
        If that is no prediction, there is no GPU, or it is another chip.
    """
    if not _checks.is_a(prediction, Log) or prediction.kind != "prediction":
        _checks.fail("prediction", "be a log of predictions", prediction)
    if device is None:
        require()
        device = Gpu()
    about = device.about()
    _check_chip(hardware.load(prediction.chip), about)
    about["before"] = device.now()
    rows, notes = [], list(prediction.notes)
    for row in prediction.rows:
        measured, note = _measure(row, device)
        rows.append(measured)
        notes += [note] if note and note not in notes else []
    about["after"] = device.now()
    return _gpu_log.sealed(
        Log(
            kind="measurement",
            chip=prediction.chip,
            time=_now(),
            versions=_versions(),
            about={"predicted": prediction.time} | about,
            notes=tuple(notes),
            rows=tuple(rows),
            prediction_seal=prediction.seal,
        )
    )


def _measure(row: LogRow, device: Device) -> tuple[LogRow, str]:
    """The row with its measurement, or as it was with the reason."""
    try:
        values = device.run(row.experiment, **row.parameters)
    except UnavailableError as reason:
        return row, f"{row.experiment}: not measured, {reason}"
    except Exception as error:  # one experiment that fails must not cost all others
        return row, f"{row.experiment}: failed, {type(error).__name__}: {str(error)[:200]}"
    measured = dataclasses.replace(
        row,
        measured=statistics.median(values),
        lowest=min(values),
        highest=max(values),
        n_repeats=len(values),
    )
    return measured, ""


def _check_chip(chip: Chip, about: dict[str, Any]) -> None:
    """Refuse a device that is not the chip of the prediction."""
    name = str(about["device"])
    product = next(word for word in _words(chip.name) if re.search(r"\d", word))
    is_same = product in _words(name)
    sms = next((q.amount for q in chip.counts if q.name.endswith(".sms")), None)
    if sms is not None:
        is_same &= about["n_sms"] == sms
    capacity, here = chip.memory[-1].capacity, about.get("memory_bytes")
    if capacity is not None and capacity.amount and here:
        is_same &= abs(here / capacity.amount - 1) <= CAPACITY_TOLERANCE
    if not is_same:
        _checks.fail("device", f"be the predicted chip, {chip.name}", name)


def _words(name: str) -> list[str]:
    return [word for word in re.split(r"[^0-9a-z]+", name.lower()) if word]


def errors(log: Log) -> tuple[Errors, ...]:
    """Median and worst error of each experiment that was measured, and of all rows together."""
    _require(log)
    found: dict[str, list[float]] = {}
    for row in log.rows:
        if row.error_frac is not None:
            for name in (row.experiment, "all"):
                found.setdefault(name, []).append(abs(row.error_frac))
    return tuple(
        Errors(
            experiment=name,
            n_rows=len(fracs),
            median_frac=statistics.median(fracs),
            worst_frac=max(fracs),
        )
        for name, fracs in sorted(found.items(), key=lambda pair: pair[0] == "all")
    )


def _require(log: object) -> None:
    if not _checks.is_a(log, Log):
        _checks.fail("log", "be a Log of predictions or measurements", log)


def report(log: Log) -> str:
    """A log as Markdown: circumstances, a row for each number, and the errors.

    An error is (predicted - measured) / measured.
    """
    _require(log)
    lines = [f"# {hardware.load(log.chip).name}: {log.kind}", "", f"- time: {log.time}"]
    lines += [f"- {key}: {_shown(value)}" for key, value in log.about.items()]
    lines += [f"- {name}: {version}" for name, version in log.versions]
    lines += [f"- seal of the prediction: {log.prediction_seal or log.seal}"]
    lines += [f"- note: {note}" for note in log.notes]
    lines += ["", "| experiment | | predicted | measured | range | error |"]
    lines += ["|:--|:--|--:|--:|--:|--:|", *(_line(row) for row in log.rows)]
    if found := errors(log):
        lines += ["", "| experiment | rows | median error | worst error |", "|:--|--:|--:|--:|"]
        lines += [
            f"| {e.experiment} | {e.n_rows} | {e.median_frac:.1%} | {e.worst_frac:.1%} |"
            for e in found
        ]
    return "\n".join(lines)


def _line(row: LogRow) -> str:
    parameters = ", ".join(f"{key} {value}" for key, value in row.parameters.items())
    numbers = (row.predicted, row.measured, row.lowest, row.highest)
    shown = ["-" if n is None else units.text(n, UNITS[row.quantity], 3) for n in numbers]
    error = "-" if row.error_frac is None else f"{row.error_frac:+.1%}"
    spread = "-" if row.lowest is None else f"{shown[2]} to {shown[3]}"
    return f"| {row.experiment} | {parameters} | {shown[0]} | {shown[1]} | {spread} | {error} |"


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {text}" for key, text in value.items()) or "unknown"
    return str(value)


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def _versions() -> tuple[tuple[str, str], ...]:
    found = [("primer", __version__), ("python", platform.python_version())]
    for name in ("numpy", "torch", "numba", "numba-cuda"):
        try:
            found.append((name, importlib.metadata.version(name)))
        except importlib.metadata.PackageNotFoundError:
            continue
    return tuple(found)


def main(arguments: Sequence[str] | None = None, device: Device | None = None) -> int:
    """The command; `device` stands in for the GPU."""
    parser = argparse.ArgumentParser(
        prog="python -m primer.workbench.gpu_check", description=__doc__
    )
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    commands = parser.add_subparsers(dest="command", required=True)
    for name, what in (("predict", "chip"), ("measure", "prediction"), ("report", "measurement")):
        command = commands.add_parser(name)
        command.add_argument("what", metavar=what.upper())
        if name != "report":
            command.add_argument("--out", type=Path, help="a new file")
    options = parser.parse_args(arguments)
    try:
        print(_command(options, device))
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def _command(options: argparse.Namespace, device: Device | None) -> str:
    """Run a command; what it has to say."""
    if options.command == "report":
        return report(_gpu_log.read(options.what, "measurement"))
    stamp = _now().replace(":", "").replace("+0000", "Z")
    if options.command == "predict":
        log = predict(options.what)
        out = options.out or Path(f"gpu-check-{log.chip}-{stamp}.prediction.json")
    else:
        prediction = _gpu_log.read(options.what, "prediction")
        out = options.out or Path(f"gpu-check-{prediction.chip}-{stamp}.measurement.json")
        _gpu_log.check_new(out)
        log = measure(prediction, device)
    _gpu_log.keep(log, out)
    return f"{report(log)}\n\n{out}, sealed {log.seal}"


if __name__ == "__main__":
    sys.exit(main())

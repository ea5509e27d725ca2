"""Sweeps over what a GPU's memory minds: loads in flight, occupancy, strides, banks, tiles.

    python -m primer.workbench.gpu_sweeps
    python -m primer.workbench.gpu_sweeps banks strided

- `in_flight`: a copy with 1, 2, 4 and 8 numbers on their way per thread;
- `occupancy`: a copy with one number per thread, by ever more warps per multiprocessor;
- `strided`: every s-th number is read; the rate counts the wanted ones only;
- `shifted`: all numbers are read, from an address that is or is not a multiple of 32 bytes;
- `banks`: a warp reads shared memory with a stride; time against that of stride 1;
- `staircase`: a matrix product that grows by 128 rows, across a full wave of tiles.

It needs a GPU, torch, and Numba with CUDA, and says so where one is missing. The kernels are
those of `primer.workbench._gpu_kernels`; `primer.warps` and `primer.waves` model the same things.
"""

import argparse
import statistics
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from primer import _checks, units
from primer.workbench._gpu_device import Device, Gpu, UnavailableError, require

Parameters = dict[str, int | str]


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """What is run, and what its values are.

    Parameters
    ----------
    experiment : str
        As the device knows it.
    unit : str
        Base unit of the values.
    points : tuple of dict
        Keywords of each run.
    """

    experiment: str
    unit: str
    points: tuple[Parameters, ...]


@dataclass(frozen=True, kw_only=True)
class SweepPoint:
    """One measured point of a sweep.

    Parameters
    ----------
    sweep : str
    parameters : dict
    value, lowest, highest : float
        Median and range of the repeats, in the sweep's unit.
    n_repeats : int
    """

    sweep: str
    parameters: Parameters
    value: float
    lowest: float
    highest: float
    n_repeats: int


def _each(name: str, values: Iterable[int], **others: int | str) -> tuple[Parameters, ...]:
    return tuple({name: value, **others} for value in values)


SWEEPS: dict[str, Sweep] = {
    "in_flight": Sweep(
        experiment="copy",
        unit="B/s",
        points=_each("floats_per_thread", (1, 2, 4, 8), n_warps_per_sm=8),
    ),
    "occupancy": Sweep(
        experiment="copy",
        unit="B/s",
        points=_each("n_warps_per_sm", (8, 16, 24, 32, 48, 64), floats_per_thread=1),
    ),
    "strided": Sweep(
        experiment="strided",
        unit="B/s",
        points=_each("stride_elements", (1, 2, 4, 8, 16, 32), offset_elements=0),
    ),
    "shifted": Sweep(
        experiment="strided",
        unit="B/s",
        points=_each("offset_elements", (0, 1, 4, 8), stride_elements=1),
    ),
    "banks": Sweep(
        experiment="banks",
        unit="s",
        points=_each("stride_words", (0, 1, 2, 3, 4, 8, 16, 32, 33)),
    ),
    "staircase": Sweep(
        experiment="staircase",
        unit="s",
        points=_each("m", range(1152, 1793, 128), n=1536, k=4096, storage="fp16"),
    ),
}


def run(names: Iterable[str] | None = None, *, device: Device | None = None) -> list[SweepPoint]:
    """Measure some sweeps.

    Parameters
    ----------
    names : iterable of str, optional
        Of `SWEEPS`; by default all of them.
    device : Device, optional
        By default the first GPU of this machine.

    Returns
    -------
    list of SweepPoint

    Raises
    ------
    ValueError
        If there is no such sweep, no GPU, or Numba cannot use it.

    Examples
    --------
    >>> run(["banks"])[1].parameters  # doctest: +SKIP
    {'stride_words': 1}
    """
    chosen = _chosen(names)
    if device is None:
        require()
        device = Gpu()
    try:
        return [
            _point(name, parameters, device)
            for name in chosen
            for parameters in SWEEPS[name].points
        ]
    except UnavailableError as reason:
        raise ValueError(f"device must run own kernels; {reason}") from None


def _chosen(names: Iterable[str] | None) -> tuple[str, ...]:
    """Known sweeps; all of them if none is named."""
    if names is None:
        return tuple(SWEEPS)
    return tuple(_checks.one_of("names", name, tuple(SWEEPS)) for name in names)


def _point(name: str, parameters: Parameters, device: Device) -> SweepPoint:
    values = device.run(SWEEPS[name].experiment, **parameters)
    return SweepPoint(
        sweep=name,
        parameters=parameters,
        value=statistics.median(values),
        lowest=min(values),
        highest=max(values),
        n_repeats=len(values),
    )


def table(points: Sequence[SweepPoint], about: dict[str, Any]) -> str:
    """Points as text, a block for each sweep; the last column is relative to its best point."""
    lines = [", ".join(f"{key} {value}" for key, value in about.items())]
    for name in dict.fromkeys(point.sweep for point in points):
        unit = SWEEPS[name].unit
        mine = [point for point in points if point.sweep == name]
        best = (min if unit == "s" else max)(point.value for point in mine)
        lines += ["", name]
        for point in mine:
            what = ", ".join(f"{key} {value}" for key, value in point.parameters.items())
            ratio = f"{point.value / best:.2f}"
            lines.append(f"  {what:44s}{units.text(point.value, unit, 3):>12s}{ratio:>8s}")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None, device: Device | None = None) -> int:
    """The command; `device` stands in for the GPU."""
    parser = argparse.ArgumentParser(
        prog="python -m primer.workbench.gpu_sweeps", description=__doc__
    )
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("names", nargs="*", help=f"of {', '.join(SWEEPS)}; default: all")
    options = parser.parse_args(arguments)
    try:
        names = _chosen(options.names or None)
        if device is None:
            require()
            device = Gpu()
        print(table(run(names, device=device), device.about() | device.now()))
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""What the models of this book say that a GPU will do: five experiments, a number for each row.

1. copy: rate of a copy over loads in flight. Little's law (`primer.latency_hiding`) with the
   latency of the memory, and a ceiling at the share of the bandwidth that streams reach. Only the
   reading half of a copy waits for the memory.
2. matmul: the one matmul, [T × 768]·[768 × 3072], over T. The longer of the memory's time
   (`primer.roofline`) and the arithmetic's, which waves of tiles stretch (`primer.waves`).
3. staircase: [M × 4096]·[4096 × 1536] in steps of 128 rows, of twelve tiles each.
4. l2_read: rate of reading a buffer that stays in the second-level cache.
5. small_kernels: 120 small kernels, launched one by one or as one graph. A queue: the host's work
   and the gap between kernels overlap, the longer one counts.

Left out: clocks that fall under load, and that a library may choose other tiles than 128 × 128.
What a chip's file does not tell is not predicted; a note says so.
"""

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from primer import _tables, hardware, latency_hiding, roofline, waves
from primer._tables import Bounds
from primer.hardware import Chip
from primer.quantities import Quantity
from primer.workloads import Matmul

FILE = "data/gpu_check.toml"
LINE_BYTES = 128  # of one load by a whole warp, four bytes each
TILE, SMALLEST_TILE = 128, 16
N_KERNELS = 120
FLOATS, WARPS = (1, 2, 4, 8), (8, 32)
TOKENS = tuple(2**e for e in range(12))
ROWS = tuple(TILE * i for i in range(1, 25))
STAIR_N, STAIR_K = 1536, 4096
L2_SHARE = 0.5  # of its capacity: all of it, if the rest holds other things
SAME_DIE = {"h200_sxm_141gb": "h100_sxm5_80gb"}  # whose latency is taken
REFERENCE = "a100_sxm4_80gb"  # on which the share of the bandwidth was measured
_BOUNDS = {
    "stream_gap": Bounds("s", 2e-7, 2e-5),
    "graph_gap": Bounds("s", 1e-7, 2e-5),
    "host_operator": Bounds("s", 1e-6, 5e-5),
    "stream_rate": Bounds("B/s", 5e11, 2e13),
}

Parameters = dict[str, int | str]


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """One number, before it is measured.

    Parameters
    ----------
    experiment : str
        Such as "copy".
    parameters : dict
        Keywords of the measurement.
    quantity : str
        "bytes_per_s" or "time_s".
    predicted : float
        In base units.
    """

    experiment: str
    parameters: Parameters
    quantity: str
    predicted: float


@functools.cache
def number(name: str) -> Quantity:
    """One of the numbers that others measured, with its source."""
    table = _tables.read(FILE)["number"]
    return _tables.quantity(f"{FILE}: {name}", name, table[name], bounds=_BOUNDS[name])


def predict(chip: Chip) -> tuple[tuple[Prediction, ...], tuple[str, ...]]:
    """All rows for one chip, and notes on what could not be predicted.

    Parameters
    ----------
    chip : Chip
        A GPU from `hardware.load`.

    Returns
    -------
    rows : tuple of Prediction
    notes : tuple of str
    """
    rows: list[Prediction] = []
    notes: list[str] = []
    for experiment, make in EXPERIMENTS.items():
        try:
            rows += list(make(chip))
        except _MissingError as missing:
            notes.append(f"{experiment}: not predicted, {chip.name} has no {missing}")
    return tuple(rows), tuple(notes)


def memory_bytes_per_s(chip: Chip) -> float:
    """What streams reach of a chip's bandwidth, float [B/s]."""
    reference = hardware.load(REFERENCE).bandwidth_bytes_per_s
    return chip.bandwidth_bytes_per_s * number("stream_rate").value / reference


def precision(chip: Chip) -> str:
    """The 16-bit format of its matrix products: bf16 where it has a peak for it."""
    for compute in ("bf16", "fp16"):
        if compute in chip.precisions():
            return compute
    raise _MissingError("16-bit peak")


class _MissingError(Exception):
    """Something that a chip's file does not tell."""


def _known(quantity: Quantity | None, what: str) -> float:
    """The value of a field that the chip's file tells."""
    if quantity is None or quantity.amount is None:
        raise _MissingError(what)
    return quantity.amount


def n_sms(chip: Chip) -> int:
    """Multiprocessors of a chip."""
    found = next((q for q in chip.counts if q.name.endswith(".sms")), None)
    return int(_known(found, "number of multiprocessors"))


def latency_s(chip: Chip) -> float:
    """Of its main memory, at the highest clock, float [s]."""
    told = hardware.load(SAME_DIE[chip.id]) if chip.id in SAME_DIE else chip
    cycles = _known(told.memory[-1].latency, "latency of its memory")
    clocks = [clock.amount for clock in told.clocks if clock.amount is not None]
    if not clocks:
        raise _MissingError("clock")
    return cycles / max(clocks)


def _copy(chip: Chip) -> Iterator[Prediction]:
    """Loads in flight per multiprocessor, each of a line that is also written."""
    moved, latency, n = 2 * LINE_BYTES, latency_s(chip), n_sms(chip)
    interval = moved * n / memory_bytes_per_s(chip)
    for n_warps in WARPS:
        for floats in FLOATS:
            model = latency_hiding.predict(floats * n_warps, latency_s=latency, interval_s=interval)
            yield Prediction(
                experiment="copy",
                parameters={"floats_per_thread": floats, "n_warps_per_sm": n_warps},
                quantity="bytes_per_s",
                predicted=moved * n / model.time_s,
            )


def _matmul(chip: Chip) -> Iterator[Prediction]:
    for t in TOKENS:
        yield _product("matmul", chip, Matmul(t, 3072, 768, precision(chip)))


def _staircase(chip: Chip) -> Iterator[Prediction]:
    for m in ROWS:
        yield _product("staircase", chip, Matmul(m, STAIR_N, STAIR_K, precision(chip)))


def _product(experiment: str, chip: Chip, work: Matmul) -> Prediction:
    """A product in a graph of its like; with few rows, tiles have fewer as well."""
    share = memory_bytes_per_s(chip) / chip.bandwidth_bytes_per_s
    placed = roofline.place(chip, work, compute=precision(chip), memory_efficiency=share)
    tile = (min(TILE, max(SMALLEST_TILE, work.m)), TILE)
    tiles = waves.count(work.m, work.n, tile=tile, n_sms=n_sms(chip), storage=work.storage)
    arithmetic = placed.compute_time_s / tiles.utilization_frac
    return Prediction(
        experiment=experiment,
        parameters={"m": work.m, "n": work.n, "k": work.k, "storage": work.storage},
        quantity="time_s",
        predicted=number("graph_gap").value + max(placed.memory_time_s, arithmetic),
    )


def _l2_read(chip: Chip) -> Iterator[Prediction]:
    level = next((level for level in chip.memory if level.name == "l2"), None)
    if level is None:
        raise _MissingError("second-level cache")
    size = _known(level.capacity, "size of its second-level cache")
    yield Prediction(
        experiment="l2_read",
        parameters={"size_bytes": int(L2_SHARE * size)},
        quantity="bytes_per_s",
        predicted=_known(level.bandwidth, "bandwidth of its second-level cache"),
    )


def _small_kernels(chip: Chip) -> Iterator[Prediction]:
    host, n = number("host_operator").value, N_KERNELS
    stream, graph = number("stream_gap").value, number("graph_gap").value
    times = {"eager": host + stream + (n - 1) * max(host, stream), "graph": host + n * graph}
    for mode, time in times.items():
        yield Prediction(
            experiment="small_kernels",
            parameters={"n_kernels": n, "mode": mode},
            quantity="time_s",
            predicted=time,
        )


EXPERIMENTS: dict[str, Callable[[Chip], Iterator[Prediction]]] = {
    "copy": _copy,
    "matmul": _matmul,
    "staircase": _staircase,
    "l2_read": _l2_read,
    "small_kernels": _small_kernels,
}

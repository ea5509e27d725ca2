"""Cycles of a systolic array, what its padding costs, and the rows that hide its memory."""

from __future__ import annotations

from typing import Any

from primer import hardware, systolic, workloads
from primer.exercises import draws, slips
from primer.exercises.function import Function
from primer.exercises.number import Number
from primer.exercises.slips import Slip
from primer.exercises.verdict import Exercise

_SIZE, _SIDE = 8, 4
_N_FOLDS = (_SIZE // _SIDE) ** 2
_FRONT = _SIZE + 2 * _SIDE - 2  # from the first row of a fold to its last product


def _held(m: Any, n: Any, k: Any, side: int, **options: Any) -> systolic.SystolicCount:
    """A product on a square array that holds weights."""
    return systolic.count(m, n, k, rows=side, cols=side, dataflow="ws", **options)


_OVERLAPPED = Number(
    answer=lambda: float(_held(_SIZE, _SIZE, _SIZE, _SIDE, double_buffer=True).n_cycles),
    unit="cycles",
    is_whole=True,
    what="the cycles with shadow weights",
    slips=(
        Slip("without overlap", "That is without shadow weights: each fold waits.").at(
            lambda: float(_held(_SIZE, _SIZE, _SIZE, _SIDE).n_cycles)
        ),
        Slip(
            "every front in full",
            "You pay the way across for each fold. The next one starts while the one before is "
            "still on its way.",
        ).at(lambda: _SIDE + _N_FOLDS * _FRONT, lambda: _N_FOLDS * _FRONT),
        Slip("first load", "Nothing can hide the first load of weights.").at(
            lambda: (_N_FOLDS - 1) * _SIZE + _FRONT
        ),
        Slip("last front", "The last fold still has to get across the array.").at(
            lambda: _SIDE + _N_FOLDS * _SIZE
        ),
        Slip(
            "the shorter of the two",
            "The next weights are there after four cycles. When are the rows of the fold through?",
        ).at(lambda: _SIDE + (_N_FOLDS - 1) * _SIDE + _FRONT),
        Slip("drain", "With held weights a sum leaves with its last product. Nothing is added.").at(
            lambda: _held(_SIZE, _SIZE, _SIZE, _SIDE, double_buffer=True).n_cycles + _SIDE
        ),
        Slip("all cells at work", "That would be every cell at work in every cycle.").at(
            lambda: _SIZE**3 / _SIDE**2
        ),
        slips.OFF_BY_ONE.saying("Very close. Do you count cycles, or number them from zero?"),
    ),
    otherwise="The first load, the starts of all folds but the first, and the last front.",
)

_OUTPUTS, _COLUMNS = 800, 256


def _columns_frac(n: int, side: int) -> float:
    """Share of the columns that hold weights, over all folds."""
    return float(_held(side, n, side, side).mapping_frac)


_COARSE = Number(
    answer=lambda: _columns_frac(_OUTPUTS, _COLUMNS),
    rel_tol=0.005,
    what="the share for n = 800 on 256 columns",
    slips=(
        Slip("the finer array", "That is on 128 columns.").at(lambda: _columns_frac(_OUTPUTS, 128)),
        Slip("the other layer", "That is for 129 outputs.").at(
            lambda: _columns_frac(129, _COLUMNS)
        ),
        Slip(
            "both sides",
            "That is the share of all cells if k had the same size. Asked for are the columns.",
        ).at(lambda: _columns_frac(_OUTPUTS, _COLUMNS) ** 2),
        slips.OTHER_PART.saying("That is the empty part."),
        slips.UPSIDE_DOWN.saying("Upside down: the outputs, over the room for them."),
        Slip("last fold", "That is the last fold alone. The ones before it are full.").at(
            lambda: _OUTPUTS % _COLUMNS / _COLUMNS
        ),
    ),
    otherwise="How many folds does it take, and how many columns do they have together?",
)

_CHIP = "tpu_v6e"


def _rows(weight_bytes: float, compute: str = "bf16", chip: str = _CHIP) -> float:
    """Rows whose products take as long as fetching the weights that they pass."""
    found = hardware.load(chip)
    return weight_bytes / 2 * found.peak_flop_per_s(compute) / found.bandwidth_bytes_per_s


_STALL_POINT = Number(
    answer=lambda: _rows(1),
    unit="rows",
    what="the number of rows in (b)",
    slips=(
        Slip(
            "two bytes, or the faster peak",
            "That is the answer to (a), and to (c). In (b) a weight takes one byte on its way, and "
            "the arithmetic is as slow as before.",
        ).at(lambda: _rows(2), lambda: _rows(1, "int8")),
        Slip(
            "only the arithmetic",
            "You took the peak for integers with weights of two bytes. It is the other way round.",
        ).at(lambda: _rows(2, "int8")),
        Slip("another chip", "Those are the numbers of the v5e.").at(
            lambda: _rows(1, chip="tpu_v5e"), lambda: _rows(2, chip="tpu_v5e")
        ),
        slips.MULTIPLY_ADD.times(0.5),
    ),
    otherwise="Write the time for M rows at the peak, and the time to fetch the weights.",
)


def _ws_cycles(m: int, n: int, k: int, side: int, double_buffer: bool) -> int:
    return int(_held(m, n, k, side, double_buffer=double_buffer).n_cycles)


def _wrong_cycles(mistake: str, m: int, n: int, k: int, side: int, double_buffer: bool) -> float:
    """Cycles with a typical mistake."""
    down, across, front = -(-k // side), -(-n // side), m + 2 * side - 2
    if mistake == "rounded down":
        down, across = k // side, n // side
    folds = {"rows of folds": down, "columns of folds": across}.get(mistake, down * across)
    if mistake == "padded rows":
        m = -(-m // side) * side
        front = m + 2 * side - 2
    if mistake == "one way across":
        front = m + side - 1
    interval = {"rows only": m, "every front": front}.get(mistake, max(m, side))
    if mistake == "no overlap" or (not double_buffer and mistake != "always overlap"):
        return float(folds * (side + front))
    return float(side + (folds - 1) * interval + front)


def _mistake(name: str, hint: str) -> Slip:
    return Slip(name, hint, rel_tol=1e-9).at(lambda **point: _wrong_cycles(name, **point))


_WS_CYCLES = Function(
    name="ws_cycles",
    reference=_ws_cycles,
    variables={
        "m": draws.whole(1, 40),
        "n": draws.whole(1, 40),
        "k": draws.whole(1, 40),
        "side": draws.whole(2, 12),
        "double_buffer": draws.among(False, True),
    },
    cases=(
        {"m": 8, "n": 8, "k": 8, "side": 4, "double_buffer": False},
        {"m": 8, "n": 8, "k": 8, "side": 4, "double_buffer": True},
        {"m": 1, "n": 9, "k": 12, "side": 4, "double_buffer": True},
        {"m": 5, "n": 7, "k": 3, "side": 4, "double_buffer": False},
        {"m": 3, "n": 2, "k": 2, "side": 4, "double_buffer": True},
    ),
    slips=(
        _mistake("no overlap", "Your function does not look at double_buffer."),
        _mistake("always overlap", "Without shadow weights each fold waits for the one before."),
        _mistake("rounded down", "A fold that is not full is a fold. Round up."),
        _mistake("rows of folds", "The columns of B fall into folds, too."),
        _mistake("columns of folds", "The rows of B fall into folds, too."),
        _mistake("padded rows", "The rows of A are time. They need not fill anything."),
        _mistake("one way across", "The last cell is far away in both directions."),
        _mistake("rows only", "A fold cannot start before its weights are in."),
        _mistake("every front", "Folds overlap: only the last front is seen in full."),
        Slip("numbered", "Do you count cycles, or number them from zero?", rel_tol=1e-9).at(
            lambda **point: _ws_cycles(**point) - 1.0
        ),
        Slip(
            "drain",
            "With held weights a sum leaves with its last product. Nothing is added for it.",
            rel_tol=1e-9,
        ).at(lambda **point: float(_ws_cycles(**point) + point["side"])),
    ),
    otherwise="First the folds, then the cycles of one fold, then what of them overlaps.",
)


def _image(dataflow: str = "ws", *, channels: int = 3) -> systolic.SystolicCount:
    """The filters on an image, as a product on an array."""
    work = workloads.Conv2d(28, 28, channels, 8, kernel=3, stride=(2, 1))
    (gemm,) = work.gemms()
    return systolic.count(gemm.m, gemm.n, gemm.k, rows=128, cols=128, dataflow=dataflow)


_FILTERS = Number(
    answer=lambda: float(_image().mapping_frac),
    what="the share of the cells that holds a weight",
    slips=(
        Slip("one channel", "A window has its pixels in each of the three channels.").at(
            lambda: float(_image(channels=1).mapping_frac)
        ),
        Slip("the other dataflows", "That is for another dataflow. Asked for are weights.").at(
            lambda: float(_image("os").mapping_frac), lambda: float(_image("is").mapping_frac)
        ),
        Slip(
            "work for weights",
            "That is a share of time. Asked for is how many of the cells hold a weight.",
        ).at(lambda: float(_image().utilization_frac)),
        Slip("rows alone", "That is the share of the rows. How many columns are used?").at(
            lambda: 27 / 128
        ),
        Slip("columns alone", "That is the share of the columns. How many rows are used?").at(
            lambda: 8 / 128
        ),
        slips.OTHER_PART.saying("That is the empty part."),
    ),
    otherwise="The window is a row of k numbers, and each filter a column. How many cells is that?",
)

EXERCISES: dict[str, Exercise] = {
    "4.1": _OVERLAPPED,
    "4.2": _COARSE,
    "4.3": _STALL_POINT,
    "4.4": _WS_CYCLES,
    "4.5": _FILTERS,
}

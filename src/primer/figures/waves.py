"""Tiles of a product on a GPU's multiprocessors: full waves, and the tail that costs as much.

Above, the result in tiles and the machine over time; the tiles of the last wave are dark in both.
Below, where the machine's time went, and how well other sizes would fill it.
"""

from __future__ import annotations

from typing import Any, ClassVar

from matplotlib.axes import Axes

from primer.explore.explorable import Control, Explorable, Row
from primer.figures._gemm import canvas
from primer.figures._picture import Picture, draw
from primer.figures._wavesruns import M_VALUES, N_VALUES, TILES, WaveRun, compute
from primer.figures._wavessheet import SIZE, Machine, Plot, Result, Shares

LONG = 6  # waves from which on the tail is a small part


class WavesFigure(Picture):
    """The result, the machine, the shares and the curve.

    Parameters
    ----------
    ax : Axes
        Becomes a sheet measured in points.
    """

    size: ClassVar[tuple[float, float]] = SIZE
    box: ClassVar[tuple[float, float, float, float]] = (0.0, 0.0, 1.0, 1.0)
    depends: ClassVar[dict[str, tuple[str, ...]]] = {
        "shape": ("m", "n"),
        "curve": ("n", "tile"),
    }

    def __init__(self, ax: Axes) -> None:
        self.ax = ax
        self.alt = "A product without tiles."
        canvas(ax, SIZE)
        self.result, self.machine = Result(ax), Machine(ax)
        self.shares, self.plot = Shares(ax), Plot(ax)

    @property
    def moving(self) -> tuple[Any, ...]:
        """The artists that a state changes."""
        upper = (*self.result.moving, *self.machine.moving)
        return (*upper, *self.shares.moving, *self.plot.moving)

    def update(self, run: WaveRun) -> None:
        """Show one product."""
        self.result.update(run.waves)
        self.machine.update(run)
        self.shares.update(run.waves)
        self.plot.update(run)
        self.alt = describe(run)


def describe(run: WaveRun) -> str:
    """What the picture shows, in words."""
    w = run.waves
    return (
        f"A result of {w.m:,} × {w.n:,} in {w.n_tiles:,} tiles of {w.tile_m} × {w.tile_n}, on "
        f"{w.n_sms} multiprocessors: {w.n_waves} wave{'' if w.n_waves == 1 else 's'}, "
        f"{w.n_tail_blocks} tiles in the last. {w.utilization_frac:.1%} of the room is used, "
        f"{w.edge_frac:.1%} lies past the edge, {w.tail_frac:.1%} is spent waiting."
    )


def draw_waves(result: WaveRun, *, ax: Axes | None = None) -> WavesFigure:
    """Draw one product.

    Parameters
    ----------
    result : WaveRun
        From `compute`.
    ax : Axes, optional
        Where to draw; by default on a figure of its own.
    """
    return draw(WavesFigure, result, ax)


def readout(run: WaveRun) -> tuple[Row, ...]:
    """The rows under the figure."""
    w = run.waves
    return (
        _count("n_tiles", w.n_tiles, "Tiles"),
        _count("n_waves", w.n_waves, "Waves"),
        _count("n_tail_blocks", w.n_tail_blocks, "Tiles in the last wave"),
        _count("n_idle_sms", run.n_idle_sms, "Multiprocessors that wait in it"),
        _share("utilization_frac", w.utilization_frac, "Wanted, of all that could be done"),
        _share("edge_frac", w.edge_frac, "Past the edge"),
        _share("tail_frac", w.tail_frac, "Waiting"),
        Row("time_s", run.time_s, "s", "Time at peak, k = 768"),
        Row("intensity_flop_per_byte", w.intensity_flop_per_byte, "FLOP/B",
            "FLOP per byte that a tile loads"),
        Row("needed_bytes_per_cycle", run.needed_bytes_per_cycle, "B/cycle",
            "Loads that keep one multiprocessor busy"),
    )  # fmt: skip


def _count(name: str, value: int, label: str) -> Row:
    return Row(name, value, "1", label, f"{value:,}")


def _share(name: str, value: float, label: str) -> Row:
    return Row(name, value, "1", label, f"{100 * value:.3g} %")


def sentence(run: WaveRun) -> str:
    """What the reader sees in this state."""
    return f"{_fill(run)} {_reuse(run)}"


def _fill(run: WaveRun) -> str:
    """Where the time goes."""
    w = run.waves
    if w.edge_frac > max(w.tail_frac, 0.02):
        return (
            "Most of the loss lies past the edge: tiles that hold few wanted rows or columns take "
            "as long as full ones, so {edge_frac} of the machine works for nothing."
        )
    if not run.n_idle_sms:
        every = "the only wave" if w.n_waves == 1 else f"all {w.n_waves} waves"
        return (
            f"{{n_tiles}} tiles fill {every} to the last multiprocessor. One more tile would need "
            "one more wave, which takes as long as a full one."
        )
    if w.n_waves == 1:
        many = "1 tile is" if w.n_tiles == 1 else "{n_tiles} tiles are"
        others = "the one other computes" if w.n_tiles == 1 else "the others compute"
        thin = f" Most of what {others} lies past the edge."
        return (
            f"{many} too few for 132 multiprocessors: {{n_idle_sms}} of them have "
            "nothing to do. One wave is the least time there is, however little is in it."
            f"{thin if w.edge_frac > w.utilization_frac else ''}"
        )
    if w.n_waves >= LONG:
        return (
            "{n_waves} waves: the last one is not full, but it is one of many, and waiting costs "
            "only {tail_frac}."
        )
    left = "One" if w.n_tail_blocks == 1 else "{n_tail_blocks}"
    verb = "is" if w.n_tail_blocks == 1 else "are"
    return (
        f"{left} of {{n_tiles}} tiles {verb} left over for the last wave. It takes as long as a "
        "full one, while {n_idle_sms} of 132 multiprocessors wait: {tail_frac} of the machine."
    )


def _reuse(run: WaveRun) -> str:
    """What the size of the tile costs."""
    w = run.waves
    lead = "A tile of {tile} does {intensity_flop_per_byte} for what it loads"
    if w.tile_m * w.tile_n < 128 * 128:
        return f"{lead}: smaller tiles fill better, and need more bytes for the same work."
    if w.tile_m * w.tile_n > 128 * 128:
        return f"{lead}: larger tiles reuse more, and leave larger gaps."
    return f"{lead}."


EXPLORABLE = Explorable(
    id="waves",
    question="Why does one more tile cost a whole wave?",
    level="hardware",
    controls=(
        Control("m", "m: rows of the result", M_VALUES, 1024, display=lambda m: f"{m:,}"),
        Control("n", "n: columns", N_VALUES, 3072, display=lambda n: f"{n:,}"),
        Control(
            "tile", "Tile of one block", tuple(TILES), "128x128", kind="select",
            display=lambda tile: tile.replace("x", " × "),
        ),
    ),
    compute=compute,
    figure=WavesFigure,
    readout=readout,
    sentence=sentence,
    assumes=(
        "an H100 with 132 multiprocessors and one block on each at a time; every tile takes "
        "equally long, also one that hangs over the edge; blocks start in no time, and data "
        "arrive in time. Libraries choose among several tiles, split k, or let blocks stay and "
        "fetch the next piece."
    ),
)  # fmt: skip

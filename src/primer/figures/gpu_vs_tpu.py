"""The same product on a GPU and on a TPU, by the same rules: where does the time go on either?

Two bars, each all of one machine's time, and a table of their parts. The thin bar below each says
for how much of the time data are on their way.
"""

from __future__ import annotations

from typing import Any, ClassVar

from matplotlib.axes import Axes

from primer import units
from primer.blocked_gemm import BlockedGemm
from primer.explore.explorable import Control, Explorable, Row
from primer.figures._blockedruns import (
    BLOCKS,
    FASTEST,
    K_VALUES,
    M_VALUES,
    N_VALUES,
    Pair,
    compute,
)
from primer.figures._blockedsheet import GPU_Y, LOOKS, SIZE, TPU_Y, Bar, Table, percent
from primer.figures._gemm import canvas
from primer.figures._picture import Picture, draw

ALWAYS_COPIES, LITTLE_WORK = 0.9, 0.5  # of the time: then memory decides, whatever computes beside
SMALL_LOSS, LEAST_SHOWN = 0.05, 0.0005
OF_THE_TPU = (
    *(f"tpu-{name}" for name in ("title", "words", "copying", *LOOKS)),
    *(f"cell-{row}-{column}" for row in range(len(LOOKS) + 1) for column in (2, 3)),
)
# A GPU's cores load no weights ahead, and a TPU with one core always has a block for it.
NEVER = ("gpu-weights", "tpu-idle", "cell-3-0", "cell-3-1", "cell-2-2", "cell-2-3")


class GpuVsTpuFigure(Picture):
    """Two bars and a table.

    Parameters
    ----------
    ax : Axes
        Becomes a sheet measured in points.
    """

    size: ClassVar[tuple[float, float]] = SIZE
    box: ClassVar[tuple[float, float, float, float]] = (0.0, 0.0, 1.0, 1.0)
    depends: ClassVar[dict[str, tuple[str, ...]]] = {
        **dict.fromkeys(OF_THE_TPU, ("m", "n", "k")),
        **dict.fromkeys(NEVER, ()),
    }

    def __init__(self, ax: Axes) -> None:
        self.ax = ax
        self.alt = "Two machines without work."
        canvas(ax, SIZE)
        self.gpu, self.tpu = Bar(ax, "gpu", GPU_Y), Bar(ax, "tpu", TPU_Y)
        self.table = Table(ax)

    @property
    def moving(self) -> tuple[Any, ...]:
        """The artists that a state changes."""
        return (*self.gpu.moving, *self.tpu.moving, *self.table.moving)

    def update(self, pair: Pair) -> None:
        """Show one product."""
        self.gpu.update(pair.gpu, title(pair.gpu), waves_words(pair.gpu))
        self.tpu.update(pair.tpu, title(pair.tpu), steps_words(pair.tpu))
        self.table.update(pair)
        self.alt = describe(pair)


def title(found: BlockedGemm) -> str:
    """Machine, time, and share of its peak."""
    name = found.machine.name.removesuffix(" SXM5 80 GB")
    reached = percent(found.peak_frac) if found.peak_frac >= LEAST_SHOWN else "< 0.1 %"
    return f"{name}: {units.text(found.time_s, 's', 3)}, {reached} of its peak"


def waves_words(found: BlockedGemm) -> str:
    """What the GPU's cores got to do."""
    machine, last = found.machine, found.n_last_blocks
    idle = f"{machine.n_cores - last} idle"
    end = idle if found.n_waves == 1 else f"{last} in the last"
    return (
        f"{counted(found.n_blocks, 'block')} of {machine.block_m} × {machine.block_n}, "
        f"{machine.n_cores} cores: {counted(found.n_waves, 'wave')}, {end}"
    )


def steps_words(found: BlockedGemm) -> str:
    """What passed through the TPU's arrays."""
    machine = found.machine
    return (
        f"{counted(found.n_steps, 'step')}: {counted(min(found.m, machine.block_m), 'row')} past "
        f"{machine.block_k} × {machine.block_n} weights"
    )


def counted(number: int, noun: str) -> str:
    """A number of things.

    >>> counted(1, "wave"), counted(1024, "row")
    ('1 wave', '1,024 rows')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def describe(pair: Pair) -> str:
    """What the picture shows, in words."""
    parts = []
    for name, found in (("GPU", pair.gpu), ("TPU", pair.tpu)):
        shares = ", ".join(
            f"{part} {share:.1%}" for part, share in found.shares._asdict().items() if share
        )
        parts.append(f"{name} {units.text(found.time_s, 's', 3)}: {shares}")
    size = f"{pair.gpu.m:,} × {pair.gpu.k:,} times {pair.gpu.k:,} × {pair.gpu.n:,}"
    return f"{size}. {'; '.join(parts)}."


def draw_gpu_vs_tpu(result: Pair, *, ax: Axes | None = None) -> GpuVsTpuFigure:
    """Draw one product.

    Parameters
    ----------
    result : Pair
        From `compute`.
    ax : Axes, optional
        Where to draw; by default on a figure of its own.
    """
    return draw(GpuVsTpuFigure, result, ax)


def readout(pair: Pair) -> tuple[Row, ...]:
    """The rows under the figure."""
    rows: list[Row] = []
    for key, name, found in (("gpu", "GPU", pair.gpu), ("tpu", "TPU", pair.tpu)):
        shares = found.shares
        rows += [
            Row(f"{key}_time_s", found.time_s, "s", f"{name}: time"),
            _share(f"{key}_peak_frac", found.peak_frac, f"{name}: of its peak"),
            _share(f"{key}_useful_frac", shares.useful, f"{name}: useful"),
            _share(f"{key}_padding_frac", shares.padding, f"{name}: padding"),
            _share(f"{key}_idle_frac", shares.idle, f"{name}: cores without a block"),
            _share(f"{key}_weights_frac", shares.weights, f"{name}: waiting for weights"),
            _share(f"{key}_copy_frac", shares.copy, f"{name}: copies not hidden"),
            _share(f"{key}_ends_frac", shares.fill + shares.tail, f"{name}: fill and tail"),
            _share(
                f"{key}_copying_frac", found.copy_time_s / found.time_s, f"{name}: copying at all"
            ),
        ]
    ratio = pair.peak_ratio
    rows.append(Row("peak_ratio", ratio, "1", "Peak, GPU over TPU", f"{ratio:.1f}"))
    return tuple(rows)


def _share(name: str, value: float, label: str) -> Row:
    return Row(name, value, "1", label, f"{100 * value:.3g} %")


def sentence(pair: Pair) -> str:
    """What the reader sees in this state."""
    gpu, tpu = story("gpu", "GPU", pair.gpu), story("tpu", "TPU", pair.tpu)
    return f"{gpu} {tpu} The GPU’s peak is {{peak_ratio}} times the TPU’s: compare shares."


def story(key: str, name: str, found: BlockedGemm) -> str:
    """Where one machine's time goes, the largest causes by name."""
    shares = found.shares
    copying = found.copy_time_s / found.time_s
    if copying >= ALWAYS_COPIES and shares.useful < LITTLE_WORK:
        where = "its L2 cache" if cache_decides(found) else "main memory"
        return (
            f"The {name} waits for {where}: copies run for {{{key}_copying_frac}} of its time, and "
            f"{{{key}_useful_frac}} is wanted work."
        )
    losses = {
        "padding": shares.padding, "idle": shares.idle, "weights": shares.weights,
        "copy": shares.copy, "ends": shares.fill + shares.tail,
    }  # fmt: skip
    worst = sorted(losses, key=lambda cause: losses[cause], reverse=True)[:2]
    named = [f"{_LOSSES[cause]} ({{{key}_{cause}_frac}})" for cause in worst]
    then = f", then {named[1]}" if losses[worst[1]] > SMALL_LOSS else ""
    return (
        f"Of the {name}’s time, {{{key}_useful_frac}} is wanted work; "
        f"the largest loss is {named[0]}{then}."
    )


def cache_decides(found: BlockedGemm) -> bool:
    """Whether the shared cache takes longer than main memory."""
    machine = found.machine
    memory_s = found.hbm_bytes / machine.hbm_bytes_per_s
    return found.cache_bytes / machine.cache_bytes_per_s > memory_s


_LOSSES = {
    "padding": "padding past the edges",
    "idle": "cores without a block",
    "weights": "waiting for weights",
    "copy": "copies that computing does not hide",
    "ends": "fill and tail",
}

EXPLORABLE = Explorable(
    id="gpu-vs-tpu",
    question="Where does the time go on either machine?",
    level="hardware",
    controls=(
        Control("m", "m: rows of A", M_VALUES, 1024, display=lambda m: f"{m:,}"),
        Control("n", "n: columns of B", N_VALUES, 3072, display=lambda n: f"{n:,}"),
        Control("k", "k: length of a dot product", K_VALUES, 768, display=lambda k: f"{k:,}"),
        Control(
            "block", "Block of the GPU", BLOCKS, FASTEST, kind="select",
            display=lambda block: block.replace("x", " × ") if block != FASTEST else "the fastest",
        ),
    ),
    compute=compute,
    figure=GpuVsTpuFigure,
    readout=readout,
    sentence=sentence,
    assumes=(
        "bf16; all cores in step, two buffers, memory at its printed rate and no latency. The rate "
        "of the H100’s L2 cache is not published: here it is what was measured on an H200. "
        "Libraries also split k, load once for a few neighbors, and keep blocks alive."
    ),
)  # fmt: skip

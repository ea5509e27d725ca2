"""Activation functions: a curve above, and below it the passes over memory that it costs.

The curve changes with the function and the bytes do not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from primer import hardware, units
from primer.activations import FUNCTIONS, FUSED, Activation, Kernel
from primer.explore.explorable import Control, Explorable, Row
from primer.figures import style
from primer.figures._picture import Picture, draw
from primer.workloads import Matmul

CHIP = "h100_sxm5_80gb"
ONE_MATMUL = Matmul(1024, 3072, 768, storage="fp16")
TITLES = {
    "relu": "ReLU",
    "gelu": "GELU, exact",
    "gelu_tanh": "GELU with tanh",
    "silu": "SiLU (swish)",
}
FUSED_TITLES = {
    "none": "nothing",
    "bias": "the bias",
    "all": "bias, function",
}
STEPS = ("matmul", "bias", "function")
LIMITS = (-4.0, 3.0)
PROBE = -1.0
BAR_X, BAR_WIDTH = 29.0, 50.0  # of 100
BAR_HEIGHT = 0.56
MOST_BYTES = ONE_MATMUL.compulsory_bytes  # no pass moves more


@dataclass(frozen=True, kw_only=True)
class ActivationPoint:
    """A function behind the one matmul.

    Parameters
    ----------
    function : str
        A key of `activations.FUNCTIONS`.
    chain : Activation
        Its passes over memory.
    memory_time_s : float [s]
        Time for all bytes at the full bandwidth of the chip.
    """

    function: str
    chain: Activation
    memory_time_s: float

    @property
    def value_at_probe(self) -> float:
        """The function at −1, float."""
        return FUNCTIONS[self.function](PROBE)


def compute(function: str, fused: str) -> ActivationPoint:
    """The one matmul for 1,024 tokens in fp16, its bias, and a function."""
    chain = Activation(ONE_MATMUL, fused)
    bandwidth = hardware.load(CHIP).bandwidth_bytes_per_s
    return ActivationPoint(
        function=function, chain=chain, memory_time_s=chain.traffic_bytes / bandwidth
    )


class ActivationsFigure(Picture):
    """The curve over ReLU's, and one bar for each step: a pass over memory, or none.

    Parameters
    ----------
    ax : Axes
        Receives the curve; the bars stand below it.
    """

    size: ClassVar[tuple[float, float]] = (5.6, 4.7)
    box: ClassVar[tuple[float, float, float, float]] = (0.1, 0.49, 0.86, 0.485)
    depends: ClassVar[dict[str, tuple[str, ...]]] = {
        **dict.fromkeys(("curve", "probe", "label-0", "label-1", "name-function"), ("function",)),
        **{
            f"{part}-{step}": ("fused",)
            for step in STEPS
            for part in ("read", "written", "gone", "bytes")
        },
        "total": ("fused",),
    }

    def __init__(self, ax: Axes) -> None:
        self.ax = ax
        self.alt = "An activation function without a curve."
        self._curve(ax)
        self.reads: list[Rectangle] = []
        self.writes: list[Rectangle] = []
        self.gone: list[Rectangle] = []
        self.bytes: list[Text] = []
        self._bars(ax.inset_axes((-0.1 / 0.86, -1.0, 1 / 0.86, 0.78)))

    def _curve(self, ax: Axes) -> None:
        ax.set_xlim(*LIMITS)
        ax.set_ylim(-0.55, 3.1)
        ax.set_xticks(range(int(LIMITS[0]), int(LIMITS[1]) + 1))
        ax.set_yticks(range(4))
        ax.set_xlabel("number that goes in")
        ax.grid(True)
        ax.plot([LIMITS[0], 0, LIMITS[1]], [0, 0, LIMITS[1]], color=style.MUTED, lw=1.4, ls="--")
        ax.text(2.2, 2.45, "ReLU, dashed", color=style.MUTED, ha="right", va="center")
        (self.curve,) = ax.plot([], [], color=style.COMPUTE, gid="curve", zorder=3)
        (self.probe,) = ax.plot(
            [], [], "o", ms=7, color=style.CHANGED, mec=style.SURFACE, gid="probe", zorder=4
        )
        self.labels = [
            ax.text(-3.9, y, "", color=style.COMPUTE, va="center", gid=f"label-{i}")
            for i, y in enumerate((0.82, 0.42))
        ]

    def _bars(self, bars: Axes) -> None:
        bars.set_xlim(0, 100)
        bars.set_ylim(-1.0, 3.45)
        bars.set_axis_off()
        self.names = [
            bars.text(BAR_X - 2, 2 - i, step, ha="right", va="center", gid=f"name-{step}")
            for i, step in enumerate(STEPS)
        ]
        read, written = ONE_MATMUL.a_bytes + ONE_MATMUL.b_bytes, ONE_MATMUL.c_bytes
        for x, word in ((read / 2, "read"), (read + written / 2, "written")):
            bars.text(_at(x), 2.72, word, ha="center", va="center", color=style.MEMORY)
        for i, step in enumerate(STEPS):
            self._row(bars, 2 - i, step)
        self.total = bars.text(
            BAR_X, -0.8, "", va="center", fontweight="bold", color=style.MEMORY, gid="total"
        )

    def _row(self, bars: Axes, y: float, step: str) -> None:
        """One step: what it reads, what it writes, or that it is not a pass of its own."""
        low, color = y - BAR_HEIGHT / 2, style.MEMORY
        looks: dict[str, dict[str, Any]] = {
            "read": {"fc": color, "ec": color},
            "written": {"fc": "none", "ec": color, "hatch": "////"},
            "gone": {"fc": "none", "ec": style.IDLE, "ls": (0, (2.5, 2))},
        }
        for part, rectangles in zip(looks, (self.reads, self.writes, self.gone), strict=True):
            bar = Rectangle(
                (BAR_X, low), 0, BAR_HEIGHT, lw=1.2, gid=f"{part}-{step}", **looks[part]
            )
            bars.add_patch(bar)
            rectangles.append(bar)
        self.bytes.append(bars.text(BAR_X, y, "", va="center", gid=f"bytes-{step}"))

    @property
    def moving(self) -> tuple[Any, ...]:
        """The artists that a state changes."""
        curve = (self.curve, self.probe, *self.labels, self.names[2])
        return (*curve, *self.reads, *self.writes, *self.gone, *self.bytes, self.total)

    def update(self, result: ActivationPoint) -> None:
        """Draw one function behind one chain of kernels."""
        function = FUNCTIONS[result.function]
        xs = [LIMITS[0] + i * (LIMITS[1] - LIMITS[0]) / 70 for i in range(71)]
        self.curve.set_data(xs, [function(x) for x in xs])
        self.probe.set_data([PROBE], [result.value_at_probe])
        title = TITLES[result.function]
        value = units.number(result.value_at_probe, 4)
        self.labels[0].set_text(title)
        self.labels[1].set_text(f"at −1: {value}".replace("-", "−"))
        self.names[2].set_text(title.split(",")[0].removesuffix(" (swish)"))
        for i, step in enumerate(STEPS):
            own = [k for k in result.chain.kernels if k.name.split(" + ")[0] == step]
            self._set_row(i, own[0] if own else None)
        total = units.text(result.chain.traffic_bytes, "B")
        self.total.set_text(f"{total} in all: {units.text(result.memory_time_s, 's')} on an H100")
        self.alt = describe(result)

    def _set_row(self, i: int, kernel: Kernel | None) -> None:
        for bar in (self.reads[i], self.writes[i]):
            bar.set_visible(kernel is not None)
        self.gone[i].set_visible(kernel is None)
        if kernel is None:
            self.gone[i].set_width(_at(2 * ONE_MATMUL.c_bytes) - BAR_X)
            self.bytes[i].set_text("in registers, no bytes")
            self.bytes[i].set_x(BAR_X + 2)
            return
        self.reads[i].set_width(_at(kernel.read_bytes) - BAR_X)
        self.writes[i].set_x(_at(kernel.read_bytes))
        self.writes[i].set_width(_at(kernel.written_bytes) - BAR_X)
        self.bytes[i].set_text(units.text(kernel.traffic_bytes, "B"))
        self.bytes[i].set_x(_at(kernel.traffic_bytes) + 2)


def _at(amount: float) -> float:
    """Where a bar of so many bytes ends."""
    return BAR_X + BAR_WIDTH * amount / MOST_BYTES


def describe(result: ActivationPoint) -> str:
    """What the picture shows, in words."""
    passes = ", ".join(
        f"{kernel.name} {units.text(kernel.traffic_bytes, 'B')}" for kernel in result.chain.kernels
    )
    return f"The curve of {TITLES[result.function]}, and passes over memory: {passes}."


def draw_activations(result: ActivationPoint, *, ax: Axes | None = None) -> ActivationsFigure:
    """Draw one function and its passes.

    Parameters
    ----------
    result : ActivationPoint
        From `compute`.
    ax : Axes, optional
        Where to draw; by default on a figure of its own.
    """
    return draw(ActivationsFigure, result, ax)


def readout(result: ActivationPoint) -> tuple[Row, ...]:
    """The rows under the figure."""
    chain = result.chain
    value = result.value_at_probe
    return (
        Row("n_kernels", len(chain.kernels), "1", "Kernels", str(len(chain.kernels))),
        Row("traffic_bytes", chain.traffic_bytes, "B", "Bytes of all of them"),
        Row("extra_bytes", chain.extra_bytes, "B", "More than the product alone"),
        Row("memory_time_s", result.memory_time_s, "s", "H100's memory, full rate"),
        Row("value_at_probe", value, "1", "The function at −1",
            units.number(value, 4).replace("-", "−")),
    )  # fmt: skip


def sentence(result: ActivationPoint) -> str:
    """What the reader sees in this state."""
    name = TITLES[result.function].split(",")[0]
    if result.chain.fused == "none":
        return (
            "Two of the three kernels only fetch every number and put it back: {extra_bytes} of "
            f"{{traffic_bytes}}. {name} costs what any other function costs, a pass over memory."
        )
    if result.chain.fused == "bias":
        return (
            "The bias is added while the sums are still in registers, for no bytes. "
            f"{name} alone still takes {{extra_bytes}}, as many as the product itself."
        )
    return (
        f"Bias and {name} both meet the sums in registers. What is left, {{traffic_bytes}}, are "
        "the matrices of the product. The function added no byte."
    )


EXPLORABLE = Explorable(
    id="activations",
    question="What does an activation function cost?",
    level="runtime",
    controls=(
        Control(
            "function", "Function", tuple(FUNCTIONS), "gelu", kind="select",
            display=lambda name: TITLES[name],
        ),
        Control(
            "fused", "Fused with it", FUSED, "none", kind="select",
            display=lambda name: FUSED_TITLES[name],
        ),
    ),
    compute=compute,
    figure=ActivationsFigure,
    readout=readout,
    sentence=sentence,
    assumes=(
        "the one matmul with 1,024 tokens in fp16; no cache keeps the result between two kernels, "
        "though this one would fit into an H100's L2; the bias itself, 6 kB, and launches left out."
    ),
)  # fmt: skip

"""One graph, six slopes: every way into the arithmetic of a chip, under one roof.

Each level of the memory and each link has a bandwidth, so each has a ridge: the operations that
must be done for every byte that comes this way, or the arithmetic waits. The axis counts the bytes
of the level at hand, so that one kernel has another place on each slope.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from matplotlib.axes import Axes
from matplotlib.transforms import offset_copy

from primer import hardware, links, units
from primer.figures import style
from primer.figures._picture import Picture

X_LIMITS = (3.0, 300_000.0)
Y_LIMITS = (1e12, 3e15)
# NVIDIA prints no rate for the L2 cache, and no measurement of this card was found. On the PCIe
# card, whose clock is lower, Chips and Cheese read this much, as the scaling book quotes it;
# gpu-benches (source "gpu_benches_l2" of the tables) read 6.9 TB/s on that card.
L2_OF_PCIE_CARD_BYTES_PER_S = 5.5e12


@dataclass(frozen=True)
class Slope:
    """One way into the chip.

    Parameters
    ----------
    name : str
        What it is called in the picture.
    bytes_per_s : float [B/s]
        One way.
    is_link : bool
        A link between devices; else a level of the chip's own memory.
    upper_bytes_per_s : float [B/s], optional
        The upper end, where only a range is known.
    label_right : bool
        Whether its labels stand below and to the right of the line.
    """

    name: str
    bytes_per_s: float
    is_link: bool = False
    upper_bytes_per_s: float | None = None
    label_right: bool = False

    def ridge_flop_per_byte(self, peak_flop_per_s: float) -> float:
        """Operations per byte at which this way in stops being the limit, float [FLOP/B].

        >>> round(Slope("NIC", 50e9, is_link=True).ridge_flop_per_byte(989.4e12))
        19788
        """
        return peak_flop_per_s / self.bytes_per_s


def h100_slopes() -> tuple[Slope, ...]:
    """The six ways into an H100, from the nearest to the farthest.

    >>> chip = hardware.load("h100_sxm5_80gb")
    >>> peak = chip.peak_flop_per_s("bf16")
    >>> [round(way.ridge_flop_per_byte(peak)) for way in h100_slopes() if way.name != "L2"]
    [32, 295, 2199, 15705, 19788]
    """
    chip, nic = hardware.load("h100_sxm5_80gb"), links.load("infiniband_ndr")
    sister = hardware.load("h200_sxm_141gb")
    return (
        Slope("SMEM", _level(chip, "l1")),
        Slope("L2", L2_OF_PCIE_CARD_BYTES_PER_S, upper_bytes_per_s=_level(sister, "l2")),
        Slope("HBM", chip.bandwidth_bytes_per_s, label_right=True),
        Slope("NVLink", chip.link("nvlink").oneway_bytes_per_s, is_link=True),
        Slope("PCIe", chip.link("pcie").oneway_bytes_per_s, is_link=True),
        Slope("NIC", nic.oneway_bytes_per_s, is_link=True, label_right=True),
    )


def _level(chip: hardware.Chip, name: str) -> float:
    rate = chip.level(name).bandwidth
    if rate is None:
        raise ValueError(f"bandwidth of {name} on {chip.name} must be in the tables; got None")
    return rate.value


class SlopesFigure(Picture):
    """Parallel slopes under one roof, each with its ridge.

    Parameters
    ----------
    ax : Axes
        Receives the log-log plot.
    """

    size: ClassVar[tuple[float, float]] = (6.0, 4.3)
    box: ClassVar[tuple[float, float, float, float]] = (0.14, 0.135, 0.825, 0.84)

    def __init__(self, ax: Axes) -> None:
        self.ax, self.alt = ax, "A roof without slopes."
        style.log_axis(ax, "x", X_LIMITS)
        style.log_axis(ax, "y", Y_LIMITS)
        ax.set_axisbelow(True)
        ax.grid(True)
        ax.set_xlabel("FLOP per byte that comes this way")
        ax.set_ylabel("attainable rate  [FLOP/s]")

    def add_roof(self, peak_flop_per_s: float, left_flop_per_byte: float, title: str) -> None:
        """The roof, from the leftmost ridge on."""
        peak = peak_flop_per_s
        self.ax.plot([left_flop_per_byte, X_LIMITS[1]], [peak, peak], color=style.COMPUTE, lw=2.6)
        self._text(X_LIMITS[1], peak, title, 0, 20, color=style.COMPUTE, ha="right")

    def add(self, way: Slope, peak_flop_per_s: float) -> None:
        """One slope up to the roof, its name along it and its ridge above it."""
        color = style.NETWORK if way.is_link else style.MEMORY
        ridge = way.ridge_flop_per_byte(peak_flop_per_s)
        if way.upper_bytes_per_s is None:
            self._line(way.bytes_per_s, peak_flop_per_s, color=color, lw=2.2)
            self._ridge(ridge, peak_flop_per_s, color, way.label_right)
        else:
            for rate in (way.bytes_per_s, way.upper_bytes_per_s):
                self._line(rate, peak_flop_per_s, color=color, lw=1.2, ls=(0, (4, 2)))
        self._name(way, color)

    def _line(self, rate: float, peak: float, **options: Any) -> None:
        """From the edge of the plot up to the roof."""
        start = max(X_LIMITS[0], Y_LIMITS[0] / rate)
        self.ax.plot([start, peak / rate], [start * rate, peak], **options)

    def _name(self, way: Slope, color: str) -> None:
        """The name along the line, near its lower end."""
        rate = way.upper_bytes_per_s or way.bytes_per_s
        x = 2.4 * max(X_LIMITS[0], Y_LIMITS[0] / rate)
        dx, dy = (5, -5) if way.label_right else (-4, 4)
        self._text(
            x, x * rate, way.name, dx, dy, color=color, ha="left",
            va="top" if way.label_right else "bottom",
            rotation=self._angle(), rotation_mode="anchor",
        )  # fmt: skip

    def _ridge(self, ridge: float, peak: float, color: str, label_right: bool) -> None:
        self.ax.plot([ridge], [peak], "o", ms=6, color=color, mec=style.SURFACE, mew=1.2, zorder=5)
        side = "left" if label_right else "right"
        dx = -2 if label_right else 3
        self._text(ridge, peak, f"{ridge:,.0f}", dx, 6, color=style.INK, ha=side)

    def _text(self, x: float, y: float, text: str, dx: float, dy: float, **options: Any) -> None:
        shifted = offset_copy(self.ax.transData, style.page(self.ax), dx, dy, units="points")
        self.ax.text(x, y, text, transform=shifted, **options)

    def _angle(self) -> float:
        """Angle on the paper of a line that rises one decade for one decade."""
        box = self.ax.get_window_extent()
        width = math.log10(X_LIMITS[1] / X_LIMITS[0])
        height = math.log10(Y_LIMITS[1] / Y_LIMITS[0])
        return math.degrees(math.atan2(box.height / height, box.width / width))


def draw_slopes(
    slopes: Sequence[Slope] | None = None,
    *,
    peak_flop_per_s: float | None = None,
    title: str = "",
    ax: Axes | None = None,
) -> SlopesFigure:
    """Draw every way into a chip under its roof; by default the six of an H100 in 16 bits.

    Parameters
    ----------
    slopes : sequence of Slope, optional
        From the fastest to the slowest.
    peak_flop_per_s : float [FLOP/s], optional
        The roof; by default H100's dense bf16 peak.
    title : str
        Written above the roof.
    ax : Axes, optional
        Where to draw; by default on a figure of its own.

    Raises
    ------
    ValueError
        If there is no slope.
    """
    ways = h100_slopes() if slopes is None else tuple(slopes)
    if not ways:
        raise ValueError("slopes must hold at least one way into the chip; got none")
    chip = hardware.load("h100_sxm5_80gb")
    peak = chip.peak_flop_per_s("bf16") if peak_flop_per_s is None else peak_flop_per_s
    title = title or f"{chip.name}, bf16: {units.text(peak, 'FLOP/s')}"
    with style.context():
        figure = SlopesFigure(
            style.axes(SlopesFigure.size, box=SlopesFigure.box) if ax is None else ax
        )
        fastest = max(way.upper_bytes_per_s or way.bytes_per_s for way in ways)
        figure.add_roof(peak, peak / fastest, title)
        for way in ways:
            figure.add(way, peak)
    figure.alt = _describe(ways, peak)
    return figure


def _describe(ways: Sequence[Slope], peak: float) -> str:
    """What the picture shows, in words."""
    said = []
    for way in ways:
        ridge = f"{way.ridge_flop_per_byte(peak):,.0f}"
        if way.upper_bytes_per_s is not None:
            ridge = f"{peak / way.upper_bytes_per_s:,.0f} to {ridge}, known as a range only"
        said.append(f"{way.name} {ridge}")
    roof = units.text(peak, "FLOP/s")
    return f"One roof at {roof}, and a slope for each way in. Ridges in FLOP/B: {'; '.join(said)}."

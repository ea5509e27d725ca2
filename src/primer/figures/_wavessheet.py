"""The sheet of the waves figure: the result in tiles, the machine over time, and the curve."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.colors import to_rgba

from primer.figures import _boxes, style
from primer.figures._boxes import Box
from primer.figures._wavesruns import M_LIMITS, WaveRun
from primer.waves import Waves

SIZE = (5.5, 5.55)
LEFT, RIGHT = 14.0, 382.0
FONT = 10.5
TOP = 366.0  # of both pictures
C_WIDTH, C_HEIGHT, THIN = 112.0, 132.0, 6.0
TIME_X, PER_SM = 176.0, 1.0
BAR_Y, BAR = 148.0, 15.0
PLOT: Box = (52.0, 30.0, RIGHT - 52.0, 78.0)
MOST_LINES = 24  # borders between tiles, and between waves; more would fill the picture
LIGHT: dict[str, Any] = {"fc": to_rgba(style.COMPUTE, 0.28), "ec": style.COMPUTE, "lw": 1.0}
SOLID: dict[str, Any] = {"fc": style.COMPUTE, "ec": style.COMPUTE, "lw": 1.0}
EDGE: dict[str, Any] = {"fc": style.SURFACE, "ec": style.COMPUTE, "lw": 0.8, "hatch": "\\\\\\\\"}
WAITS: dict[str, Any] = {"fc": style.SURFACE, "ec": style.IDLE, "lw": 0.8, "hatch": "////"}
_WORDS: dict[str, Any] = {"va": "center", "fontsize": FONT}


class Result:
    """The result, cut into tiles; those of the last wave are dark."""

    def __init__(self, ax: Axes) -> None:
        self.beyond = _boxes.patch(ax, "beyond", zorder=1, **EDGE)
        self.tiles = _boxes.patch(ax, "tiles", zorder=2, **{**LIGHT, "lw": 0})
        self.tail = _boxes.patch(ax, "tail-tiles", zorder=2, **{**SOLID, "lw": 0})
        self.lines = _boxes.patch(ax, "borders", fc="none", ec=style.SURFACE, lw=0.8, zorder=3)
        self.frame = _boxes.patch(ax, "frame", fc="none", ec=style.INK, lw=1.4, zorder=4)
        self.title = ax.text(LEFT, TOP + 14, "", gid="shape", **_WORDS)
        self.words = ax.text(LEFT, TOP - C_HEIGHT - 13, "", gid="tile-words", **_WORDS)

    @property
    def moving(self) -> tuple[Any, ...]:
        """The artists that a state changes."""
        areas = (self.beyond, self.tiles, self.tail, self.lines, self.frame)
        return (*areas, self.title, self.words)

    def update(self, w: Waves) -> None:
        """Draw one result, to scale but for what would be too thin."""
        rows, columns = w.n_tiles_m * w.tile_m, w.n_tiles_n * w.tile_n
        unit = min(C_WIDTH / columns, C_HEIGHT / rows)
        width, height = max(columns * unit, THIN), max(rows * unit, THIN)
        across, down = width / w.n_tiles_n, height / w.n_tiles_m
        inner = (width * w.n / columns, height * w.m / rows)
        self.beyond.set_path(_boxes.boxes(_overhang((width, height), inner)))
        self.frame.set_path(_boxes.boxes([(LEFT, TOP - inner[1], *inner)]))
        cut = [clip(place, inner) for place in runs(w, across, down, last=False)]
        dark = [clip(place, inner) for place in runs(w, across, down, last=True)]
        self.tiles.set_path(_boxes.boxes(cut))
        self.tail.set_path(_boxes.boxes(dark))
        self.lines.set_path(_boxes.lines(_grid(w, across, down, inner)))
        self.title.set_text(f"C: {w.m:,} × {w.n:,}")
        tiles = "1 tile" if w.n_tiles == 1 else f"{w.n_tiles:,} tiles"
        self.words.set_text(f"{w.n_tiles_m:,} × {w.n_tiles_n:,} = {tiles}")


def runs(w: Waves, across: float, down: float, *, last: bool) -> list[Box]:
    """The tiles of the last wave, or of all others, row by row, as up to three rectangles."""
    first = w.n_tiles - w.n_tail_blocks
    row, column = divmod(first, w.n_tiles_n)
    places: list[Box] = []
    if last:
        ends = w.n_tiles_n if row < w.n_tiles_m else column
        places.append((column * across, row * down, (ends - column) * across, down))
        places.append((0, (row + 1) * down, ends * across, (w.n_tiles_m - row - 1) * down))
    else:
        places.append((0, 0, w.n_tiles_n * across, row * down))
        places.append((0, row * down, column * across, down))
    return places


def clip(place: Box, inner: tuple[float, float]) -> Box:
    """A rectangle from the upper left corner, cut off where the result ends, in the sheet's points.

    >>> clip((0, 10, 40, 10), (30, 12)) == (LEFT, TOP - 12, 30, 2)
    True
    """
    x, y, w, h = place
    right, bottom = min(x + w, inner[0]), min(y + h, inner[1])
    width, height = max(0.0, right - x), max(0.0, bottom - y)
    return (LEFT + x, TOP - y - height, width, height)


def _overhang(whole: tuple[float, float], inner: tuple[float, float]) -> list[Box]:
    """What tiles cover to the right of the result, and below."""
    (width, height), (right, bottom) = whole, inner
    beside = (LEFT + right, TOP - bottom, width - right, bottom)
    below = (LEFT, TOP - height, width, height - bottom)
    return [place for place in (beside, below) if min(place[2:]) > 0]


def _grid(w: Waves, across: float, down: float, inner: tuple[float, float]) -> list[Box]:
    right, bottom = LEFT + inner[0], TOP - inner[1]
    found: list[Box] = []
    if w.n_tiles_n <= 2 * MOST_LINES and across > 2:
        xs = [LEFT + i * across for i in range(1, w.n_tiles_n)]
        found += [(x, TOP, x, bottom) for x in xs]
    if w.n_tiles_m <= 2 * MOST_LINES and down > 2:
        ys = [TOP - i * down for i in range(1, w.n_tiles_m)]
        found += [(LEFT, y, right, y) for y in ys]
    return found


class Machine:
    """All multiprocessors over time: one point of height for each."""

    def __init__(self, ax: Axes) -> None:
        self.full = _boxes.patch(ax, "full-waves", zorder=2, **LIGHT)
        self.busy = _boxes.patch(ax, "last-wave", zorder=2, **SOLID)
        self.idle = _boxes.patch(ax, "waiting", zorder=1, **WAITS)
        self.lines = _boxes.patch(ax, "waves", fc="none", ec=style.COMPUTE, lw=1.0, zorder=3)
        self.words = [
            ax.text(TIME_X, TOP - C_HEIGHT - 13 - 16 * i, "", gid=f"wave-words-{i}", **_WORDS)
            for i in range(2)
        ]
        ax.text(TIME_X, TOP + 14, "the multiprocessors, over time →", **_WORDS)
        for y, name in ((TOP - 6, "SM 1"), (TOP - C_HEIGHT + 6, "132")):
            ax.text(TIME_X - 5, y, name, ha="right", **_WORDS)

    @property
    def moving(self) -> tuple[Any, ...]:
        """The artists that a state changes."""
        return (self.full, self.busy, self.idle, self.lines, *self.words)

    def update(self, run: WaveRun) -> None:
        """Draw the waves of one product."""
        w = run.waves
        width, high = (RIGHT - TIME_X) / w.n_waves, w.n_sms * PER_SM
        x, bottom = RIGHT - width, TOP - high
        full = [(TIME_X, bottom, x - TIME_X, high)] if w.n_waves > 1 else []
        rest = high - w.n_tail_blocks * PER_SM
        self.full.set_path(_boxes.boxes(full))
        self.busy.set_path(_boxes.boxes([(x, bottom + rest, width, high - rest)]))
        self.idle.set_path(_boxes.boxes([(x, bottom, width, rest)] if rest else []))
        shown = range(1, w.n_waves - 1 if w.n_waves <= MOST_LINES else 0)
        edges = [TIME_X + i * width for i in shown]
        self.lines.set_path(_boxes.lines((e, TOP, e, bottom) for e in edges))
        for line, text in zip(self.words, wave_words(run), strict=True):
            line.set_text(text)


def wave_words(run: WaveRun) -> tuple[str, str]:
    """What the waves are, and who waits."""
    w = run.waves
    before, tail = w.n_waves - 1, w.n_tail_blocks
    if not before:
        first = f"1 wave: {tail} tile{'' if tail == 1 else 's'}"
    else:
        times = f"{before} × " if before > 1 else ""
        first = f"{w.n_waves} waves: {times}{w.n_sms}, then {tail}"
    last = " in the last" if before else ""
    return first, f"{run.n_idle_sms} wait{last}" if run.n_idle_sms else "none waits"


class Shares:
    """Where the machine's time went, as one bar."""

    def __init__(self, ax: Axes) -> None:
        looks = (SOLID, EDGE, WAITS)
        self.parts = [
            _boxes.patch(ax, f"share-{i}", zorder=2, **look) for i, look in enumerate(looks)
        ]
        self.words = []
        for i, (x, look) in enumerate(zip((LEFT, 130.0, 268.0), looks, strict=True)):
            key = _boxes.boxes([(x, BAR_Y + BAR + 7, 11.0, 11.0)])
            _boxes.patch(ax, f"key-{i}", key, **look)
            text = ax.text(x + 17, BAR_Y + BAR + 12.5, "", gid=f"share-word-{i}", **_WORDS)
            self.words.append(text)

    @property
    def moving(self) -> tuple[Any, ...]:
        """The artists that a state changes."""
        return (*self.parts, *self.words)

    def update(self, w: Waves) -> None:
        """Divide the bar."""
        shares = (w.utilization_frac, w.edge_frac, w.tail_frac)
        x = LEFT
        for part, share in zip(self.parts, shares, strict=True):
            width = share * (RIGHT - LEFT)
            part.set_path(_boxes.boxes([(x, BAR_Y, width, BAR)] if width > 0.05 else []))
            x += width
        names = ("wanted", "past the edge", "waiting")
        for text, name, share in zip(self.words, names, shares, strict=True):
            text.set_text(f"{name} {100 * share:.1f} %")


class Plot:
    """How well every m would fill the machine with this n and tile."""

    def __init__(self, ax: Axes) -> None:
        x, y, w, h = PLOT
        page = (72 * SIZE[0], 72 * SIZE[1])
        self.ax = ax.inset_axes((x / page[0], y / page[1], w / page[0], h / page[1]))
        style.log_axis(self.ax, "x", M_LIMITS)
        self.ax.set_ylim(0, 1.05)
        self.ax.set_yticks([0, 0.5, 1], ["0", "50 %", "100 %"])
        self.ax.grid(True, axis="y")
        self.ax.set_axisbelow(True)
        ax.text(LEFT, y + h + 14, "wanted, for any m with this n and tile", **_WORDS)
        ax.text(RIGHT, 8, "m", ha="right", **_WORDS)
        (self.curve,) = self.ax.plot([], [], color=style.COMPUTE, lw=1.3, gid="curve")
        self.curve.set_solid_joinstyle("round")
        look: dict[str, Any] = {
            "color": style.COMPUTE,
            "mec": style.SURFACE,
            "mew": 1.4,
            "zorder": 5,
        }
        (self.dot,) = self.ax.plot([], [], "o", ms=10, gid="dot", clip_on=False, **look)

    @property
    def moving(self) -> tuple[Any, ...]:
        """The artists that a state changes."""
        return (self.curve, self.dot)

    def update(self, run: WaveRun) -> None:
        """Draw the curve and the product on it."""
        xs, ys = zip(*run.curve, strict=True)
        self.curve.set_data(xs, ys)
        self.dot.set_data([run.waves.m], [run.waves.utilization_frac])

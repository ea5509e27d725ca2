"""A matrix product in a cache: why it misses, what it moves, and how far that is from the floor.

Below, the same loops on a product small enough to be watched in a cache of eight lines.
"""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar

from matplotlib.axes import Axes

from primer.explore.explorable import Control, Explorable, Row, State
from primer.figures._gemm import canvas
from primer.figures._picture import Picture, draw
from primer.figures._tilingbars import CAUSES, RealProduct, ratio
from primer.figures._tilingruns import (
    CACHES,
    ELEMENT_BYTES,
    N_STEPS,
    ORDERS,
    SIZES,
    TILES,
    Product,
    TilingRun,
    compute,
)
from primer.figures._tilingsheet import SIZE, SmallProduct

CACHE_NAMES = {
    "32k_8way": "32 KiB, 8-way",
    "4k_4way": "4 KiB, 4-way",
    "4k_full": "4 KiB, fully associative",
    "4k_32k": "4 KiB, then 32 KiB",
}
TILE_NAMES = {"none": "none", "48-16-4": "48, in it 16, in it 4"}


class TilingFigure(Picture):
    """Misses by cause for each level, the traffic against its floors, and the small product.

    Parameters
    ----------
    ax : Axes
        Becomes a sheet measured in points.
    """

    size: ClassVar[tuple[float, float]] = SIZE
    box: ClassVar[tuple[float, float, float, float]] = (0.0, 0.0, 1.0, 1.0)
    _REAL = ("order", "tile", "cache", "n", "storage")
    depends: ClassVar[dict[str, tuple[str, ...]]] = {
        **dict.fromkeys(("title-0", "title-1", "frames", *CAUSES), _REAL),
        **dict.fromkeys(("traffic", "dot", "floor", "each-once", "distance"), _REAL),
        **dict.fromkeys(
            ("held", "gone", "touched", "missed", "words-1", "words-2"), ("order", "tile", "step")
        ),
        "words-0": ("step",),
    }

    def __init__(self, ax: Axes) -> None:
        self.ax = ax
        self.alt = "A matrix product in a cache."
        canvas(ax, SIZE)
        self.real = RealProduct(ax)
        self.small = SmallProduct(ax)

    @property
    def moving(self) -> tuple[Any, ...]:
        """The artists that a state changes."""
        return (*self.real.moving, *self.small.moving)

    def update(self, result: TilingRun) -> None:
        """Show one product."""
        self.real.update(result.product)
        self.small.update(result)
        self.alt = describe(result)


def describe(result: TilingRun) -> str:
    """What the picture shows, in words."""
    product = result.product
    first = product.run.levels[0]
    return (
        f"A product of {product.n} × {product.n} matrices: {first.n_misses:,} misses, of which "
        f"{first.n_compulsory:,} compulsory, {first.n_capacity:,} capacity, "
        f"{first.n_conflict:,} conflict. {product.run.traffic_bytes:,} bytes cross to memory, "
        f"{ratio(product)} the floor. Below, a small product after {result.step} steps."
    )


def draw_tiling(result: TilingRun, *, ax: Axes | None = None) -> TilingFigure:
    """Draw one product.

    Parameters
    ----------
    result : TilingRun
        From `compute`.
    ax : Axes, optional
        Where to draw; by default on a figure of its own.
    """
    return draw(TilingFigure, result, ax)


def tile_name(tile: str) -> str:
    """A tile for reading.

    >>> tile_name("16"), tile_name("48-16-4")
    ('16 × 16', '48, in it 16, in it 4')
    """
    return TILE_NAMES.get(tile, f"{tile} × {tile}")


def is_valid(state: State) -> bool:
    """Eight bytes a number only at 64, where rows are then as long as those of 128 in fp32."""
    return bool(state["storage"] == "fp32" or state["n"] == 64)


def readout(result: TilingRun) -> tuple[Row, ...]:
    """The rows under the figure."""
    n_misses = result.small.trace.n_misses(result.n_done)
    return (
        *_rows(result.product),
        _count("small_n_accesses", result.n_done, "Small product: accesses"),
        _count("small_n_misses", n_misses, "Small product: misses"),
    )


@cache
def _rows(product: Product) -> tuple[Row, ...]:
    """Those of the real product; misses by cause are those of the first level."""
    first, *further = product.run.levels
    more = further[0].n_misses if further else "no second level"
    return (
        _count("n_accesses", first.n_accesses, "Accesses"),
        _count("n_hits", first.n_hits, "Hits, first level"),
        _count("n_misses", first.n_misses, "Misses, first level"),
        _count("n_compulsory", first.n_compulsory, "of them compulsory"),
        _count("n_capacity", first.n_capacity, "of them capacity"),
        _count("n_conflict", first.n_conflict, "of them conflict"),
        Row("l2_n_misses", more, "", "Misses, second level",
            more if isinstance(more, str) else f"{more:,}"),
        _count("column_room", product.column_room, "Places for a column of B"),
        Row("traffic_bytes", product.run.traffic_bytes, "B", "Traffic with memory"),
        Row("compulsory_bytes", product.compulsory_bytes, "B", "Each matrix once"),
        Row("floor_bytes", product.floor_bytes, "B", "Floor of any order"),
        Row("floor_ratio", product.floor_ratio, "1", "Traffic, against the floor",
            ratio(product)),
    )  # fmt: skip


def _count(name: str, value: int, label: str) -> Row:
    return Row(name, value, "1", label, f"{value:,}")


def sentence(result: TilingRun) -> str:
    """What limits this product, and what the small one shows."""
    beyond = " Of these, {l2_n_misses} go on to memory." if len(result.product.levels) > 1 else ""
    return (
        f"{verdict(result.product)}{beyond} In the small product, {{small_n_misses}} of "
        "{small_n_accesses} accesses have missed so far."
    )


def verdict(product: Product) -> str:
    """Why the first level misses, as a template."""
    first = product.run.levels[0]
    is_plain = not TILES[product.tile]
    if 2 * first.n_conflict > first.n_misses:
        why = (
            "rows lie so far apart that the lines of a column of B share {column_room} places, "
            "while much of the cache is idle."
            if is_plain
            else "the rows of a tile fall into few sets, and other lines need the same ones."
        )
        return f"Sets collide: {why} {{n_conflict}} of {{n_misses}} misses are conflicts."
    if 2 * first.n_compulsory > first.n_misses:
        return (
            "Most of the {n_misses} misses are compulsory, the first touch of a line: what is "
            "left to gain is small."
        )
    return _plain(product) if is_plain else _tiled(product)


def _plain(product: Product) -> str:
    """No tiles, no collisions: what does not last."""
    first = product.run.levels[0]
    if 4 * first.n_misses > first.n_accesses:
        return (
            "A column of B has {n} lines, too many to last until the next column needs them "
            "again: every step down it is a miss, {n_misses} in all."
        )
    return (
        "Each line that comes is used up, but B does not last until the next row of A: it is "
        "fetched again for every row, which makes {n_misses} misses."
    )


def _tiled(product: Product) -> str:
    """Tiles, few collisions: whether three of them fit, one, or none."""
    first, room = product.run.levels[0], product.levels[0].size_bytes
    if product.tile_bytes > room >= product.tile_and_rows_bytes:
        return (
            "Three such tiles do not fit into the first level. One, with a row of each of the "
            "others, does, and that is enough: {n_misses} misses."
        )
    if product.tile_bytes > room:
        return (
            "Three such tiles need more room than the first level has, so that parts of a tile "
            "leave before their turn comes again: {n_misses} misses."
        )
    collide = " {n_conflict} of them are conflicts: there is room, but not in the right sets."
    return (
        "The tiles fit: a line is fetched for a visit of its tile, and used for all products "
        f"there: {{n_misses}} misses.{collide if 10 * first.n_conflict > first.n_misses else ''}"
    )


EXPLORABLE = Explorable(
    id="tiling",
    question="How many bytes does a matrix product move through this cache?",
    level="isa",
    controls=(
        Control(
            "order", "Loop order", ORDERS, "ijk", kind="select",
            display=lambda order: ", ".join(order),
        ),
        Control("tile", "Tile", tuple(TILES), "none", display=tile_name),
        Control(
            "cache", "Cache", tuple(CACHES), "32k_8way", kind="select",
            display=lambda cache: CACHE_NAMES[cache],
        ),
        Control("storage", "Numbers", tuple(ELEMENT_BYTES), "fp32", kind="select"),
        Control("n", "N: rows and columns", SIZES, 96),
        Control("step", "Small product, step", tuple(range(N_STEPS + 1)), 4, kind="step"),
    ),
    compute=compute,
    figure=TilingFigure,
    readout=readout,
    sentence=sentence,
    assumes=(
        "LRU, lines of 64 bytes, write-back with write-allocate, cold at the start and written "
        "back at the end; no prefetching, no packing; one number at a time. The small product is "
        "4 × 8 times 8 × 8 with four numbers to a line and eight lines, fully associative, so "
        "that sets never collide in it; its tiles are smaller too."
    ),
    is_valid=is_valid,
)  # fmt: skip

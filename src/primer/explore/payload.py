"""All states of an explorable in one small script file for the published page.

Equal drawings, equal table cells and equal sentences are kept once; a state is
a row of indices into them. The file calls `primerFrames(id, data)`, which
`static/explore.js` defines, so that it also loads where `fetch` does not.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import islice, pairwise
from typing import Any

from primer import figures
from primer.explore.explorable import Explorable, State
from primer.explore.frames import FrameRenderer

_Frame = tuple[tuple[str, ...], tuple[tuple[Any, str, str], ...], str] | None


class Pool:
    """Distinct items in the order in which they first came, and an index for each."""

    def __init__(self) -> None:
        self._at: dict[Any, int] = {}

    def add(self, item: Any) -> int:
        """Index of `item`, which is kept if it is new."""
        return self._at.setdefault(item, len(self._at))

    def items(self) -> list[Any]:
        """The distinct items."""
        return list(self._at)


def draw_range(explorable_id: str, start: int, stop: int) -> list[_Frame]:
    """States `start` to `stop` of a registered explorable, drawn in this process."""
    explorable = figures.load(explorable_id)
    renderer = FrameRenderer(explorable)
    with renderer.settings():
        return [
            _draw_state(explorable, renderer, state)
            for state in islice(explorable.states(), start, stop)
        ]


def _draw_state(explorable: Explorable, renderer: FrameRenderer, state: State | None) -> _Frame:
    if state is None:
        return None
    outcome = explorable.evaluate(state)
    cells = tuple((row.value, row.unit, row.text) for row in outcome.rows)
    return renderer.fragments(outcome), cells, outcome.sentence


def draw_all(explorable: Explorable, *, workers: int | None = None) -> list[_Frame]:
    """All states, on a pool of processes where there are enough of them."""
    workers = workers or os.cpu_count() or 1
    n = explorable.n_states
    if workers == 1 or n < 200:
        return draw_range(explorable.id, 0, n)
    edges = [n * i // workers for i in range(workers + 1)]
    with ProcessPoolExecutor(workers) as pool:
        parts = [pool.submit(draw_range, explorable.id, a, b) for a, b in pairwise(edges)]
        return [state for part in parts for state in part.result()]


def build(explorable: Explorable, *, workers: int | None = None) -> dict[str, Any]:
    """The data that the page script switches between.

    Returns
    -------
    dict
        `at`: position of each state in the columns, -1 where it is impossible;
        `fragments`, `cells`, `sentences`: the distinct pieces; `frame`, `rows`,
        `sentence`: for each possible state an index into them.
    """
    drawn = draw_all(explorable, workers=workers)
    possible = [state for state in drawn if state is not None]
    numbers = iter(range(len(possible)))
    at = [-1 if state is None else next(numbers) for state in drawn]
    fragments, cells, sentences = Pool(), Pool(), Pool()
    # Slot by slot, as what looks alike compresses better when it stands together.
    frame = _columns(fragments, [pieces for pieces, _, _ in possible])
    rows = _columns(cells, [values for _, values, _ in possible])
    sentence = [sentences.add(template) for _, _, template in possible]
    return {
        "at": at,
        "fragments": fragments.items(),
        "cells": cells.items(),
        "sentences": sentences.items(),
        "frame": frame,
        "rows": rows,
        "sentence": sentence,
    }


def _columns(pool: Pool, rows: Sequence[Sequence[Any]]) -> list[list[int]]:
    """Indices of what stands in each place, place by place."""
    return [[pool.add(item) for item in column] for column in zip(*rows, strict=True)]


def script(explorable: Explorable, *, workers: int | None = None) -> str:
    """The text of the file that a page loads on first touch."""
    data = json.dumps(
        build(explorable, workers=workers),
        ensure_ascii=False,
        separators=(",", ":"),
        allow_nan=False,
    )
    return f"primerFrames({json.dumps(explorable.id)},{data});\n"

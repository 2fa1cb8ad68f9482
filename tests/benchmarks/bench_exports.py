"""What writing a map's cells costs beside what everybody would do: the standard json module."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

import numpy as np

from explorer.figures.view_state import ViewState
from tests.benchmarks.table import Row, at_most, sized
from tests.figures.reading import BOTH
from tests.figures.samples import RECIPE, file_bytes, maps

SIDE = sized(256, 16)


def _fastest(function: Callable[[], object]) -> float:
    """Return the least processor time of five runs, in ms."""
    times = []
    for _ in range(sized(5, 1)):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return 1e3 * min(times)


def run() -> list[Row]:
    """Write 256 × 256 cells of two maps as GeoJSON; the peer writes the very same features."""
    values = np.random.default_rng(1).random((SIDE, SIDE), np.float32)
    result = maps(values, values)
    view = ViewState.for_result(result, surfaces=BOTH)
    made = json.loads(file_bytes(result, view, RECIPE, "geojson"))
    ours = _fastest(lambda: file_bytes(result, view, RECIPE, "geojson"))
    peer = _fastest(lambda: json.dumps(made).encode())
    return [
        at_most(
            "65,536 cells of two maps as GeoJSON, against json.dumps of them",
            ours / peer,
            1.0,
            "×",
            f"{ours:.0f} ms against {peer:.0f} ms",
        )
    ]

"""Finding the parts of a drawn map by their colours."""

from __future__ import annotations

import numpy as np


def panes(pixels: np.ndarray, colour: np.ndarray) -> list[slice]:
    """The runs of columns in which the lowest colour fills a large part: one a pane."""
    filled = (np.abs(pixels.astype(int) - colour) <= 3).all(2).sum(0) > 60
    edges = np.flatnonzero(np.diff(np.concatenate(([0], filled, [0])).astype(int)))
    # Thin interruptions (a white line over the map) do not end a pane.
    runs: list[list[int]] = []
    for a, b in zip(edges[::2], edges[1::2], strict=True):
        if runs and a - runs[-1][1] < 40:
            runs[-1][1] = int(b)
        else:
            runs.append([int(a), int(b)])
    return [slice(a, b) for a, b in runs if b - a > 100]

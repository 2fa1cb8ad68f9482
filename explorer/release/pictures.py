"""Heatmaps of releases as they are drawn: functions of stored output and of how it is shown."""

from __future__ import annotations

from explorer.privacy.core.bound import FloatArray
from explorer.privacy.heatmaps.gaussian_filter import smoothing
from explorer.release.mechanisms.base import Shown

SIGMA = 0.02
"""Of the filter, in sides of the map, unless chosen otherwise."""


def heatmap(shown: Shown, sigma: float = SIGMA) -> FloatArray:
    """Return a map filtered as the heatmap study draws it, of mass 1, row 0 south.

    Parameters
    ----------
    shown : Shown
        With a square grid.
    sigma : float
        ≥ 0; it may be chosen after the release, as often as one likes.

    Raises
    ------
    ValueError
        If there is no square grid.
    """
    if shown.grid is None or shown.grid.shape[0] != shown.grid.shape[1]:
        raise ValueError("shown: it has no square map to filter")
    return smoothing(len(shown.grid), sigma).exact(shown.grid)

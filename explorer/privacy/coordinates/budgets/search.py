"""Minimise functions of one variable for many parameters at once.

A grid finds the basin, shrinking grids around the best point so far do the rest. The best point is
always kept, so the answer never gets worse, and the ends of the range are tried exactly, which
matters where the objective jumps there.
"""

from collections.abc import Callable

import numpy as np

from explorer.privacy.core.bound import FloatArray

_OFFSETS = np.linspace(-1.0, 1.0, 33)
_SHRINK = 0.08
"""Of the window: a little more than the 1/16 between two of its points."""
_NARROW = 1e-11
"""The last window's half; its points are a sixteenth of that apart."""


def minimise_interval(
    objective: Callable[[FloatArray], FloatArray],
    shape: tuple[int, ...],
    points: int = 513,
) -> tuple[FloatArray, FloatArray]:
    """Return where in [0, 1] an objective is least, and its value there, for a batch.

    Parameters
    ----------
    objective : callable
        Maps places of shape (*shape, k) to values of that shape; +inf where impossible.
    shape : tuple of int
        Of the batch.
    points : int
        Of the first grid.
    """
    first = np.broadcast_to(np.linspace(0.0, 1.0, points), (*shape, points))
    where, value = _least(objective, first)
    spread = 2.0 / (points - 1)
    while spread > _NARROW:
        near = where[..., None] + spread * _OFFSETS
        where, value = _least(objective, np.minimum(np.maximum(near, 0.0), 1.0))
        spread *= _SHRINK
    return where, value


def _least(
    objective: Callable[[FloatArray], FloatArray], places: FloatArray
) -> tuple[FloatArray, FloatArray]:
    values = objective(places)
    rows = np.arange(values.size // values.shape[-1])
    best = values.reshape(rows.size, -1).argmin(axis=-1)
    where, value = (
        array.reshape(rows.size, -1)[rows, best].reshape(values.shape[:-1])
        for array in (places, values)
    )
    return where, value

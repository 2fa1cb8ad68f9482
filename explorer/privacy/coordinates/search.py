"""Minimise functions of one or two variables for many parameters at once.

A grid finds the basin, shrinking grids around the best point so far do the rest. The best point is
always kept, so the answer never gets worse, and the ends of the ranges are tried exactly, which
matters where the objective jumps there.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from explorer.privacy.bounds import FloatArray

_ROUNDS = 46
_OFFSETS = np.linspace(-1.0, 1.0, 9)


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
    where, _, value = minimise_square(lambda u, _: objective(u), shape, points, 1)
    return where, value


def minimise_square(
    objective: Callable[[FloatArray, FloatArray], FloatArray],
    shape: tuple[int, ...],
    rows: int = 65,
    columns: int = 25,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return where in [0, 1]² an objective is least, and its value there, for a batch.

    Parameters
    ----------
    objective : callable
        Maps two arrays of shape (*shape, k) to values of that shape; +inf where impossible.
    shape : tuple of int
        Of the batch.
    rows, columns : int
        Of the first grid; one column leaves the second variable at 1.
    """
    first = np.linspace(0.0, 1.0, rows)
    second = np.linspace(0.0, 1.0, columns) if columns > 1 else np.ones(1)
    u, s = (
        np.broadcast_to(grid.ravel(), (*shape, rows * columns))
        for grid in np.meshgrid(first, second, indexing="ij")
    )
    u, s, value = _least(objective, u, s)
    spread_u, spread_s = 2.0 / (rows - 1), 2.0 / (columns - 1) if columns > 1 else 0.0
    du, ds = np.meshgrid(_OFFSETS, _OFFSETS if columns > 1 else np.zeros(1), indexing="ij")
    for _ in range(_ROUNDS):
        u, s, value = _least(
            objective,
            np.clip(u[..., None] + spread_u * du.ravel(), 0.0, 1.0),
            np.clip(s[..., None] + spread_s * ds.ravel(), 0.0, 1.0),
        )
        spread_u, spread_s = spread_u * 0.55, spread_s * 0.55
    return u, s, value


def _least(
    objective: Callable[[FloatArray, FloatArray], FloatArray], u: FloatArray, s: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    values = objective(u, s)
    best = np.argmin(values, axis=-1)[..., None]
    return tuple(np.take_along_axis(array, best, axis=-1)[..., 0] for array in (u, s, values))  # type: ignore[return-value]

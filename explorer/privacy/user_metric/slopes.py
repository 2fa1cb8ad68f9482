"""Lipschitz constants of all leading parts of a query at once, and the pairs that attain them."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from explorer.privacy.core import checks
from explorer.privacy.core.bound import FloatArray

_ENTRIES = 1 << 18
"""Most numbers held at once: what stays in the processor's cache."""


class Slopes(NamedTuple):
    """Steepest pairs of items, one entry a number of leading coordinates.

    Attributes
    ----------
    lip : ndarray of float, shape (dim,)
        Entry j − 1: the largest ‖f(x) − f(x')‖_p / d(x, x') of the first j coordinates of f.
    first, second : ndarray of int, shape (dim,)
        A pair of items that attains it.
    """

    lip: FloatArray
    first: NDArray[np.intp]
    second: NDArray[np.intp]


def prefix_lipschitz(
    values: ArrayLike, first: ArrayLike, second: ArrayLike, distances: ArrayLike, p: float
) -> Slopes:
    """Return `lipschitz` over given pairs for the first 1, 2, …, dim coordinates of a query.

    With all pairs of items this is Δ_EM of the query (Theorem 4.1). Where distance is the length
    of a shortest path through neighbours, pairs of neighbours are enough.

    Parameters
    ----------
    values : array_like of float, shape (k, dim)
        f of every item, finite; dim ≥ 1.
    first, second : array_like of int, shape (pairs,)
        Items of each pair, in [0, k); at least one pair.
    distances : array_like of float, shape (pairs,)
        d ≥ 0 of each pair, finite.
    p : float
        In [1, ∞].

    Returns
    -------
    Slopes
        `lip` is infinite where f differs on two items at distance 0.

    Raises
    ------
    ValueError
        If shapes do not fit or a number is outside its domain.
    """
    order = float(checks.reals("p", p, 1.0))
    f = np.asarray(values, dtype=float)
    if f.ndim != 2 or f.shape[1] == 0 or not np.isfinite(f).all():
        raise ValueError(f"values: shape {f.shape} must be (items, dim ≥ 1) and every entry finite")
    i, j = (np.asarray(v, dtype=np.intp) for v in (first, second))
    d = checks.reals("distances", distances, 0.0, 1e300)
    if i.ndim != 1 or i.size == 0 or i.shape != j.shape or i.shape != d.shape:
        raise ValueError(f"first: {i.shape}, {j.shape} and {d.shape} must be one row of pairs")
    if min(i.min(), j.min()) < 0 or max(i.max(), j.max()) >= len(f):
        raise ValueError(f"first: every item of a pair must be in [0, {len(f)})")
    lip = np.full(f.shape[1], -1.0)
    best = np.zeros(f.shape[1], dtype=np.intp)
    rows = max(1, _ENTRIES // f.shape[1])
    for start in range(0, i.size, rows):
        part = slice(start, start + rows)
        slope = _over(_prefix_norms(np.abs(f[i[part]] - f[j[part]]), order), d[part, None])
        at = slope.argmax(axis=0)
        top = slope[at, np.arange(f.shape[1])]
        better = top > lip
        lip[better], best[better] = top[better], start + at[better]
    return Slopes(lip, i[best], j[best])


def _prefix_norms(change: FloatArray, order: float) -> FloatArray:
    """ℓp norms of the first 1, 2, … entries of every row of numbers ≥ 0."""
    if math.isinf(order):
        return np.maximum.accumulate(change, axis=1)
    if order == 1.0:
        return np.cumsum(change, axis=1)
    # Scaled by the row's largest, so that no power over- or underflows where it matters.
    top = change.max(axis=1, keepdims=True)
    scaled = change / np.where(top > 0, top, 1.0)
    out: FloatArray = np.cumsum(scaled**order, axis=1) ** (1 / order) * top
    return out


def _over(change: FloatArray, distance: FloatArray) -> FloatArray:
    """Change over distance; 0/0 = 0, anything else over 0 is infinite."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where(change > 0, change / distance, 0.0)

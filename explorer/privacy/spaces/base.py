"""What every metric space has: items, distances, a unit, and the earth mover's distance.

A space says how far apart two items are and how far that is in a unit for display: `length` is
what a normalised distance of 1 measures in `unit`. Items of a finite space are whole numbers
0 … size−1; items of the line are numbers, of the square (x, y), of the sphere (latitude,
longitude) in degrees. Items outside the declared space are refused, because guarantees rest on
its diameter.
"""

import math
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from explorer.privacy.core import checks
from explorer.privacy.core.bound import FloatArray

IntArray = NDArray[np.int64]

_PAIRS_MAX = 4_000_000
"""Most pairs of items of two datasets of one size: an assignment of 2000 items takes a second."""
_WEIGHTED_MAX = 200_000
"""Most pairs of items with different masses: a linear program."""


class MetricSpace(ABC):
    """A metric space of diameter at most 1 and its unit of display.

    Attributes
    ----------
    length : float
        What a distance of 1 measures, > 0.
    unit : str
        The unit of `length`; empty where distances are pure numbers.
    """

    def __init__(self, length: float = 1.0, unit: str = "") -> None:
        checks.positive("length", length)
        self.length, self.unit = float(length), unit

    @abstractmethod
    def items(self, values: ArrayLike) -> NDArray[Any]:
        """Return items as an array with one along the first axis.

        Raises
        ------
        ValueError
            If an item is outside the space.
        """

    @abstractmethod
    def cross(self, x: ArrayLike, y: ArrayLike) -> FloatArray:
        """Return the normalised distance of every item of x to every item of y."""

    def distances(self, x: ArrayLike) -> FloatArray:
        """Return the square matrix of normalised distances of items."""
        return self.cross(x, x)

    def in_unit(self, distance: ArrayLike) -> FloatArray:
        """Return normalised distances in the space's unit."""
        return np.asarray(distance, dtype=float) * self.length

    def normalised(self, distance: ArrayLike) -> FloatArray:
        """Return distances given in the space's unit as normalised ones."""
        return np.asarray(distance, dtype=float) / self.length

    def emd(
        self, x: ArrayLike, y: ArrayLike, p: ArrayLike | None = None, q: ArrayLike | None = None
    ) -> float:
        """Return the earth mover's distance of two datasets, normalised.

        Parameters
        ----------
        x, y : array_like
            Items, at least one each.
        p, q : array_like of float, optional
            Their masses ≥ 0, not all 0; normalised here. By default every item weighs the same.

        Raises
        ------
        ValueError
            If items or masses are not of the domain, or there are too many pairs: 4e6 for
            datasets of one size, 2e5 for weighted ones (none on the line, grids and clusters).
        """
        a, b = self.items(x), self.items(y)
        mass_a, mass_b = weights("p", p, len(a)), weights("q", q, len(b))
        same = p is None and q is None and len(a) == len(b)
        return _planned(self.cross(a, b), None if same else (mass_a, mass_b))


def weights(name: str, masses: ArrayLike | None, count: int) -> FloatArray:
    """Return masses of sum 1, equal ones by default; ValueError names what is wrong."""
    if count == 0:
        raise ValueError(f"{name}: a dataset must have at least one item")
    if masses is None:
        return np.full(count, 1.0 / count)
    m = np.asarray(masses, dtype=float)
    if m.shape != (count,) or not np.isfinite(m).all() or (m < 0).any() or m.sum() <= 0:
        raise ValueError(f"{name}: must be {count} masses, finite, at least 0 and not all 0")
    return np.asarray(m / m.sum())


def _planned(cost: FloatArray, masses: tuple[FloatArray, FloatArray] | None) -> float:
    """Optimal transport: an assignment for equal weights (Lemma 2.1), a linear program else."""
    if masses is None:
        if cost.size > _PAIRS_MAX:
            raise ValueError(f"x: {cost.size} pairs of items are more than {_PAIRS_MAX}")
        from scipy.optimize import linear_sum_assignment

        rows, columns = linear_sum_assignment(cost)
        return math.fsum(cost[rows, columns]) / len(rows)
    p, q = masses
    rows, columns = np.flatnonzero(p), np.flatnonzero(q)
    cost, p, q = cost[np.ix_(rows, columns)], p[rows], q[columns]
    if cost.size > _WEIGHTED_MAX:
        raise ValueError(f"x: {cost.size} pairs of weighted items are more than {_WEIGHTED_MAX}")
    if 1 in cost.shape:
        return math.fsum((cost * (p[:, None] * q)).ravel())
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    count_p, count_q = cost.shape
    variable = np.arange(cost.size)
    one = np.ones(cost.size)
    # The last column's equation follows from the others; leaving it out keeps rounding harmless.
    kept = variable % count_q < count_q - 1
    row = np.concatenate([variable // count_q, count_p + (variable % count_q)[kept]])
    constraints = coo_array(
        (np.concatenate([one, one[kept]]), (row, np.concatenate([variable, variable[kept]]))),
        shape=(count_p + count_q - 1, cost.size),
    )
    found = linprog(
        cost.ravel(),
        A_eq=constraints.tocsr(),
        b_eq=np.concatenate([p, q[:-1]]),
        bounds=(0, None),
        method="highs",
    )
    return float(max(found.fun, 0.0))


def inside(
    values: ArrayLike, tail: tuple[int, ...], name: str, low: FloatArray, high: FloatArray
) -> FloatArray:
    """Return coordinates as floats, one item along the first axis, each within its limits."""
    a = np.asarray(values, dtype=float)
    if a.shape[1:] != tail or a.ndim != 1 + len(tail):
        raise ValueError(f"{name}: shape {a.shape} must be {('items', *tail)}")
    bad = ~((a >= low) & (a <= high))
    if bad.any():
        at = np.argwhere(bad)[0]
        column = at[-1] if tail else 0
        raise ValueError(f"{name}: {a[tuple(at)]:g} is outside [{low[column]:g}, {high[column]:g}]")
    return a


def indices(values: ArrayLike, size: int) -> IntArray:
    """Return whole numbers in [0, size) as an array of integers."""
    a = np.asarray(values)
    if a.ndim != 1 or a.dtype.kind not in "iuf":
        raise ValueError(f"items: shape {a.shape} must be a list of whole numbers")
    checks.integers("items", a, 0, size - 1)
    return a.astype(np.int64)

"""Metric spaces: finite, line, square and sphere, each with its earth mover's distance.

A space says how far apart two items are and how far that is in a unit for display: `length` is
what a normalised distance of 1 measures in `unit`. Items of a finite space are whole numbers
0 … size−1; items of the line are numbers, of the square (x, y), of the sphere (latitude,
longitude) in degrees. Items outside the declared space are refused, because guarantees rest on
its diameter.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from explorer.privacy.core import checks
from explorer.privacy.core.bound import FloatArray
from explorer.privacy.transport.grid import grid_emd, line_emd

IntArray = NDArray[np.int64]

_MAX_PAIRS = 4_000_000
"""Most pairs of items of two datasets of one size: an assignment of 2000 items takes a second."""
_MAX_WEIGHTED = 200_000
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
        return _plan(self.cross(a, b), None if same else (mass_a, mass_b))


def weights(name: str, masses: ArrayLike | None, count: int) -> FloatArray:
    """Return masses of sum 1, equal ones by default; ValueError names the violation."""
    if count == 0:
        raise ValueError(f"{name}: a dataset must have at least one item")
    if masses is None:
        return np.full(count, 1.0 / count)
    m = np.asarray(masses, dtype=float)
    if m.shape != (count,) or not np.isfinite(m).all() or (m < 0).any() or m.sum() <= 0:
        raise ValueError(f"{name}: must be {count} masses, finite, at least 0 and not all 0")
    return np.asarray(m / m.sum())


def _plan(cost: FloatArray, masses: tuple[FloatArray, FloatArray] | None) -> float:
    """Optimal transport: an assignment for equal weights (Lemma 2.1), a linear program else."""
    if masses is None:
        if cost.size > _MAX_PAIRS:
            raise ValueError(f"x: {cost.size} pairs of items are more than {_MAX_PAIRS}")
        from scipy.optimize import linear_sum_assignment

        rows, columns = linear_sum_assignment(cost)
        return math.fsum(cost[rows, columns]) / len(rows)
    p, q = masses
    rows, columns = np.flatnonzero(p), np.flatnonzero(q)
    cost, p, q = cost[np.ix_(rows, columns)], p[rows], q[columns]
    if cost.size > _MAX_WEIGHTED:
        raise ValueError(f"x: {cost.size} pairs of weighted items are more than {_MAX_WEIGHTED}")
    if 1 in cost.shape:
        return math.fsum((cost * (p[:, None] * q)).ravel())
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    count_p, count_q = cost.shape
    variable = np.arange(cost.size)
    one = np.ones(cost.size)
    # The last column's equation follows from the others; leaving it out keeps rounding harmless.
    free = variable % count_q < count_q - 1
    row = np.concatenate([variable // count_q, count_p + (variable % count_q)[free]])
    constraints = coo_array(
        (np.concatenate([one, one[free]]), (row, np.concatenate([variable, variable[free]]))),
        shape=(count_p + count_q - 1, cost.size),
    )
    solution = linprog(
        cost.ravel(),
        A_eq=constraints.tocsr(),
        b_eq=np.concatenate([p, q[:-1]]),
        bounds=(0, None),
        method="highs",
    )
    return float(max(solution.fun, 0.0))


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


EARTH_HALF_CIRCUMFERENCE_MILES = 12_450.7
"""At the equator: the diameter of the surface of the Earth. The paper's 12,930 is inconsistent."""


class Line(MetricSpace):
    """An interval [low, high] of the line; items are numbers in its unit."""

    def __init__(self, low: float = 0.0, high: float = 1.0, unit: str = "") -> None:
        super().__init__(high - low, unit)
        self.low, self.high = float(low), float(high)

    def items(self, values: ArrayLike) -> FloatArray:
        """Return a 1-dimensional array of numbers within [low, high]."""
        return inside(values, (), "items", np.array([self.low]), np.array([self.high]))

    def cross(self, x: ArrayLike, y: ArrayLike) -> FloatArray:
        """Return |x − y|/(high − low)."""
        a, b = self.items(x), self.items(y)
        return np.asarray(np.abs(a[:, None] - b) / self.length)

    def emd(
        self, x: ArrayLike, y: ArrayLike, p: ArrayLike | None = None, q: ArrayLike | None = None
    ) -> float:
        """Return ∫|F_x − F_y|; see `MetricSpace.emd`."""
        a, b = self.items(x), self.items(y)
        zero_a, zero_b = np.zeros(len(a)), np.zeros(len(b))
        left = np.concatenate([weights("p", p, len(a)), zero_b])
        right = np.concatenate([zero_a, weights("q", q, len(b))])
        return line_emd(np.concatenate([a, b]), left, right) / self.length


class Square(MetricSpace):
    """A square [0, side]² under ℓ1 or ℓ2; items are (x, y) in its unit."""

    def __init__(self, norm: int = 2, side: float = 1.0, unit: str = "") -> None:
        if norm not in (1, 2):
            raise ValueError(f"norm: {norm!r} must be 1 or 2")
        super().__init__(side * (2 if norm == 1 else math.sqrt(2)), unit)
        self.norm, self.side = norm, float(side)

    def items(self, values: ArrayLike) -> FloatArray:
        """Return an array of shape (items, 2) within [0, side]²."""
        return inside(values, (2,), "items", np.zeros(2), np.full(2, self.side))

    def cross(self, x: ArrayLike, y: ArrayLike) -> FloatArray:
        """Return the ℓ1 or ℓ2 distances over the diagonal's."""
        difference = self.items(x)[:, None, :] - self.items(y)
        if self.norm == 1:
            return np.asarray(np.abs(difference).sum(axis=-1) / self.length)
        return np.asarray(np.hypot(difference[..., 0], difference[..., 1]) / self.length)


class Sphere(MetricSpace):
    """The surface of a sphere under great-circle distance; items are (latitude, longitude)."""

    def __init__(
        self, half_circumference: float = EARTH_HALF_CIRCUMFERENCE_MILES, unit: str = "miles"
    ) -> None:
        super().__init__(half_circumference, unit)

    def items(self, values: ArrayLike) -> FloatArray:
        """Return an array of shape (items, 2) of degrees, latitude in ±90, longitude in ±360."""
        limit = np.array([90.0, 360.0])
        return inside(values, (2,), "items", -limit, limit)

    def cross(self, x: ArrayLike, y: ArrayLike) -> FloatArray:
        """Return central angles over π."""
        a, b = self.items(x)[:, None, :], self.items(y)
        difference = b - a
        return central_angle(a[..., 0], b[..., 0], difference[..., 0], difference[..., 1])


def central_angle(
    latitude1: ArrayLike, latitude2: ArrayLike, d_latitude: ArrayLike, d_longitude: ArrayLike
) -> FloatArray:
    """Return the central angle of two points of the sphere over π, in [0, 1].

    By atan2 of two square roots: accurate for near and for antipodal points. Differences are
    a separate argument because subtracting two nearly equal coordinates would lose their digits.

    Parameters
    ----------
    latitude1, latitude2, d_latitude, d_longitude : array_like of float
        Degrees, broadcast together.
    """
    phi1, phi2 = np.radians(np.asarray(latitude1, float)), np.radians(np.asarray(latitude2, float))
    half_phi = np.radians(np.asarray(d_latitude, float)) / 2
    half = np.radians(np.asarray(d_longitude, float)) / 2
    across = np.cos(phi1) * np.cos(phi2)
    sine = np.sin(half_phi) ** 2 + across * np.sin(half) ** 2
    cosine = np.sin((phi1 + phi2) / 2) ** 2 + across * np.cos(half) ** 2
    # Near a pole a product of cosines may come out as −6e-17.
    angle = np.arctan2(np.sqrt(np.maximum(sine, 0.0)), np.sqrt(np.maximum(cosine, 0.0)))
    return np.asarray(2 * angle / math.pi)


MAX_POINTS = 5000
"""Largest number of items whose distances are stored or required as a matrix."""
_TOLERANCE = 1e-9


class FiniteSpace(MetricSpace):
    """Items 0 … size−1.

    Attributes
    ----------
    size : int
        Number of items, at least 1.
    """

    def __init__(self, size: int, length: float = 1.0, unit: str = "") -> None:
        super().__init__(length, unit)
        checks.whole("size", size, 1)
        self.size = int(size)

    def items(self, values: ArrayLike) -> IntArray:
        """Return a 1-dimensional array of whole numbers in [0, size)."""
        return indices(values, self.size)

    def matrix(self) -> FloatArray:
        """Return all normalised distances, shape (size, size).

        Raises
        ------
        ValueError
            If there are more than 5000 items.
        """
        if self.size > MAX_POINTS:
            raise ValueError(f"size: {self.size} items are more than {MAX_POINTS}")
        every = np.arange(self.size)
        return self.cross(every, every)

    def histogram(self, x: ArrayLike, p: ArrayLike | None = None) -> FloatArray:
        """Return the normalised histogram K̃ of a dataset, shape (size,); masses as in `emd`."""
        items = self.items(x)
        masses = weights("p", p, len(items))
        return np.bincount(items, masses, self.size).astype(np.float64)


class MatrixSpace(FiniteSpace):
    """A space given by its matrix of normalised distances.

    Parameters
    ----------
    matrix : array_like of float, shape (size, size)
        Normalised distances, at most 1: symmetric, 0 on the diagonal, with the triangle
        inequality (all to 1e-9). Different items may be at distance 0.
    """

    def __init__(self, matrix: ArrayLike, length: float = 1.0, unit: str = "") -> None:
        d = np.array(matrix, dtype=float)
        if d.ndim != 2 or d.shape[0] != d.shape[1] or not 1 <= d.shape[0] <= MAX_POINTS:
            raise ValueError(f"matrix: shape {d.shape} must be square, 1 to {MAX_POINTS} items")
        if not np.isfinite(d).all() or (d < 0).any() or d.max() > 1 + _TOLERANCE:
            raise ValueError("matrix: every distance must be in [0, 1]")
        if np.abs(np.diag(d)).max() > 0 or np.abs(d - d.T).max() > _TOLERANCE:
            raise ValueError("matrix: must be symmetric with 0 on the diagonal")
        _check_triangles(d)
        super().__init__(len(d), length, unit)
        self._distances: FloatArray = np.minimum((d + d.T) / 2, 1.0)

    @classmethod
    def from_distances(cls, distances: ArrayLike, unit: str = "") -> MatrixSpace:
        """Return the space of a matrix of distances in any unit, normalised by the largest."""
        d = np.asarray(distances, dtype=float)
        largest = float(d.max()) if d.size and np.isfinite(d).all() else math.nan
        if not largest > 0:
            raise ValueError("distances: must be finite, and two items must be apart")
        return cls(d / largest, largest, unit)

    @classmethod
    def from_embedding(cls, points: ArrayLike, norm: float = 2.0, unit: str = "") -> MatrixSpace:
        """Return the space of points in ℝ^t under ℓp, normalised by their diameter.

        Vectors of norm at most 1 have diameter up to 2, not 1 as the paper's Section 6.1 has it
        (errata user-B5).

        Parameters
        ----------
        points : array_like of float, shape (items, t)
        norm : float
            p in [1, ∞].
        """
        z = np.asarray(points, dtype=float)
        if z.ndim != 2 or not np.isfinite(z).all() or len(z) > MAX_POINTS or z.shape[1] == 0:
            raise ValueError(f"points: shape {z.shape} must be (items ≤ {MAX_POINTS}, t), finite")
        checks.reals("norm", norm, 1.0)
        rows = [np.linalg.norm(z - row, ord=norm, axis=1) for row in z]
        d = np.array(rows).reshape(len(z), len(z))
        return cls.from_distances((d + d.T) / 2, unit)

    def cross(self, x: ArrayLike, y: ArrayLike) -> FloatArray:
        """Return the entries of the matrix."""
        return np.asarray(self._distances[np.ix_(self.items(x), self.items(y))])


def _check_triangles(d: FloatArray) -> None:
    for middle in range(len(d)):
        through = d[:, middle, None] + d[middle]
        if (d > through + _TOLERANCE).any():
            i, j = np.argwhere(d > through + _TOLERANCE)[0]
            raise ValueError(
                f"matrix: d({i}, {j}) = {d[i, j]:g} is more than the way through {middle}, "
                f"{through[i, j]:g}: not a metric"
            )


class Grid(FiniteSpace):
    """A grid of width × height cells under ℓ1; item y·width + x, diameter width + height − 2 steps.

    Parameters
    ----------
    width, height : int
        At least 1, and not both 1.
    step : float
        Distance of neighbours in `unit`.
    """

    def __init__(self, width: int, height: int, step: float = 1.0, unit: str = "") -> None:
        for name, side in (("width", width), ("height", height)):
            checks.whole(name, side, 1)
        if width * height == 1:
            raise ValueError("width: a grid of one cell has no distances")
        super().__init__(int(width * height), step * (width + height - 2), unit)
        self.width, self.height = int(width), int(height)

    def cross(self, x: ArrayLike, y: ArrayLike) -> FloatArray:
        """Return |Δx| + |Δy| over width + height − 2."""
        a, b = self.items(x)[:, None], self.items(y)
        steps = np.abs(a % self.width - b % self.width) + np.abs(a // self.width - b // self.width)
        return np.asarray(steps / (self.width + self.height - 2))

    def emd(
        self, x: ArrayLike, y: ArrayLike, p: ArrayLike | None = None, q: ArrayLike | None = None
    ) -> float:
        """Return `grid_emd` of the histograms; it compiles once, so call it from a worker."""
        a, b = (
            self.histogram(items, masses).reshape(self.height, self.width)
            for items, masses in ((x, p), (y, q))
        )
        step = 1.0 / (self.width + self.height - 2)
        return grid_emd(a, b, step, step).value


class Clustered(FiniteSpace):
    """`clusters` × `each` items: distance r inside a cluster, 1 between; item = cluster·each + i.

    Parameters
    ----------
    clusters, each : int
        At least 1.
    r : float
        In [0, 1]; the paper's r < ½ is not needed for a metric (errata user-E5).
    """

    def __init__(
        self, clusters: int, each: int, r: float, length: float = 1.0, unit: str = ""
    ) -> None:
        for name, count in (("clusters", clusters), ("each", each)):
            checks.whole(name, count, 1)
        checks.reals("r", r, 0.0, 1.0)
        super().__init__(int(clusters * each), length, unit)
        self.clusters, self.each, self.r = int(clusters), int(each), float(r)

    def cross(self, x: ArrayLike, y: ArrayLike) -> FloatArray:
        """Return 0, r or 1."""
        a, b = self.items(x)[:, None], self.items(y)
        near = np.where(a == b, 0.0, self.r)
        return np.where(a // self.each == b // self.each, near, 1.0)

    def emd(
        self, x: ArrayLike, y: ArrayLike, p: ArrayLike | None = None, q: ArrayLike | None = None
    ) -> float:
        """Return `emd_of_masses` of the histograms."""
        return float(self.emd_of_masses(self.histogram(x, p), self.histogram(y, q)))

    def emd_of_masses(self, p: ArrayLike, q: ArrayLike) -> FloatArray:
        """Return (r/2)‖p−q‖₁ + ((1−r)/2)Σ_b|p(b) − q(b)|: the distance on a tree.

        Also of *signed* masses, as unbiased estimates are: then it is the Kantorovich–Rubinstein
        norm of p − q (errata user-E3).

        Parameters
        ----------
        p, q : array_like of float, shape (..., size)
            Equal sums (to 1e-9); the leading sides broadcast.

        Raises
        ------
        ValueError
            If shapes do not fit, an entry is not finite, or the sums differ.
        """
        a, b = np.asarray(p, dtype=float), np.asarray(q, dtype=float)
        for name, mass in (("p", a), ("q", b)):
            if mass.ndim == 0 or mass.shape[-1] != self.size or not np.isfinite(mass).all():
                raise ValueError(f"{name}: shape {mass.shape} must end in {self.size}, all finite")
        gap = a - b
        scale = 1.0 + np.abs(a).sum(axis=-1) + np.abs(b).sum(axis=-1)
        if (np.abs(gap.sum(axis=-1)) > _TOLERANCE * scale).any():
            raise ValueError("q: its sum must be that of p; mass cannot be moved into nothing")
        across = gap.reshape(*gap.shape[:-1], self.clusters, self.each).sum(axis=-1)
        inner, outer = np.abs(gap).sum(axis=-1), np.abs(across).sum(axis=-1)
        return np.asarray(self.r / 2 * inner + (1 - self.r) / 2 * outer)


class Discrete(Clustered):
    """`size` items, all at distance 1: d_EM is the total variation distance."""

    def __init__(self, size: int, length: float = 1.0, unit: str = "") -> None:
        super().__init__(size, 1, 1.0, length, unit)

"""Spaces of finitely many items: from a matrix or an embedding, grids, clusters, 0/1."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core import checks
from explorer.privacy.core.bound import FloatArray
from explorer.privacy.spaces.base import IntArray, MetricSpace, indices, weights
from explorer.privacy.transport.grid import grid_emd

POINTS_MAX = 5000
"""Largest number of items whose distances are kept or asked for as a matrix."""
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
        if self.size > POINTS_MAX:
            raise ValueError(f"size: {self.size} items are more than {POINTS_MAX}")
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
        if d.ndim != 2 or d.shape[0] != d.shape[1] or not 1 <= d.shape[0] <= POINTS_MAX:
            raise ValueError(f"matrix: shape {d.shape} must be square, 1 to {POINTS_MAX} items")
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
        if z.ndim != 2 or not np.isfinite(z).all() or len(z) > POINTS_MAX or z.shape[1] == 0:
            raise ValueError(f"points: shape {z.shape} must be (items ≤ {POINTS_MAX}, t), finite")
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

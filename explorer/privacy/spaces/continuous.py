"""The line, the square and the sphere."""

import math

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core.bound import FloatArray
from explorer.privacy.spaces.base import MetricSpace, inside, weights
from explorer.privacy.transport.grid import line_emd

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
    asked for apart because subtracting two nearly equal coordinates would lose their digits.

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

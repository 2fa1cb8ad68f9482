"""Planar Laplace noise for places: metric differential privacy, by distance.

A place moved by noise whose density falls as e^{−αr} with the distance r from it is α-private per
metre: for two places d metres apart the densities of every answer differ by a factor of at most
e^{αd}, by the triangle inequality. On a sphere that holds for great-circle distances if the density
is taken per area of the sphere, whose circles of radius r are shorter than a plane's; the noise is
then the plane's, of which a draw is kept with probability sin(r/R)/(r/R) and else drawn again.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core import checks
from explorer.privacy.core.bound import USER_METRIC, Bound, FloatArray, Reference, Role
from explorer.privacy.noise.demonstration import IntArray

PLANAR = Reference(
    "Andrés, Bordenabe, Chatzikokolakis and Palamidessi 2013",
    "Section 4.1",
    "geo-indistinguishability; on the sphere by rejection, which is not in the paper",
)
SEVERAL = Reference(
    USER_METRIC,
    "Section 4.2",
    "independent noise for every item and no shuffling: the logarithms of the ratios add up",
)
Uniform = Callable[[int, IntArray], FloatArray]
"""Returns independent uniform numbers in (0, 1): of a stream, for so many items' numbers."""


def planar_laplace_cdf(radius: ArrayLike, alpha: float) -> FloatArray:
    """Return P(r ≤ radius) = 1 − (1 + αr)e^{−αr}, the law Gamma(2, 1/α) of the distance moved.

    Parameters
    ----------
    radius : array_like of float
        ≥ 0, in metres.
    alpha : float
        > 0, a metre.
    """
    checks.positive("alpha", alpha)
    t = alpha * checks.reals("radius", radius, 0.0)
    return np.asarray(-np.expm1(-t) - t * np.exp(-t))


def planar_laplace_radius(share: ArrayLike, alpha: float) -> FloatArray:
    """Return the distance below which a share of all draws lies: −(W₋₁((p − 1)/e) + 1)/α.

    The inverse of `planar_laplace_cdf`; W₋₁ is the lower branch of Lambert's function.

    Parameters
    ----------
    share : array_like of float
        In (0, 1).
    alpha : float
        > 0, a metre.
    """
    from scipy.special import lambertw

    checks.positive("alpha", alpha)
    p = checks.open_unit("share", share)
    return np.asarray(-(lambertw((p - 1) / np.e, -1).real + 1) / alpha)


def log_density(distance: ArrayLike, alpha: float, sphere: float) -> FloatArray:
    """Return the logarithm of the density of the answer, per square metre of a sphere.

    Parameters
    ----------
    distance : array_like of float
        Great-circle distance between place and answer, in metres, 0 to π·sphere.
    alpha : float
        > 0, a metre.
    sphere : float
        Its radius in metres, > 0.
    """
    b = checks.positive("alpha", alpha) * checks.positive("sphere", sphere)
    # ∫ e^{−bθ} sin θ dθ over 0…π is (1 + e^{−bπ})/(1 + b²).
    total = 2 * np.pi * sphere**2 * (1 + np.exp(-b * np.pi)) / (1 + b**2)
    return np.asarray(-alpha * np.asarray(distance, float) - np.log(total))


def moved_points(
    x: ArrayLike, y: ArrayLike, alpha: float, uniform: Uniform
) -> tuple[FloatArray, FloatArray]:
    """Return points of a plane moved by independent planar Laplace noise: x, y.

    Demonstration, as `moved_places`.

    Parameters
    ----------
    x, y : array_like, shape (n,)
        In any unit.
    alpha : float
        > 0, a unit.
    uniform : callable
        ``uniform(stream, items)``; two streams are read.

    Returns
    -------
    x, y : ndarray, shape (n,)

    Privacy
    -------
    Density α²/(2π)·e^{−αr} per area, so ratios of at most e^{αd} for points d apart (Andrés et al.,
    Section 4.1).
    """
    x, y = np.asarray(x, float), np.asarray(y, float)
    items: IntArray = np.arange(len(x), dtype=np.int64)
    away = planar_laplace_radius(uniform(0, items), alpha)
    angle = 2 * np.pi * uniform(1, items)
    return x + away * np.cos(angle), y + away * np.sin(angle)


def moved_places(
    latitude: ArrayLike, longitude: ArrayLike, alpha: float, sphere: float, uniform: Uniform
) -> tuple[FloatArray, FloatArray]:
    """Return places moved by independent planar Laplace noise on a sphere: latitude, longitude.

    Demonstration: numbers in double precision are no exact noise: their lattices leak.

    Parameters
    ----------
    latitude, longitude : array_like, shape (n,)
        Degrees.
    alpha : float
        > 0, a metre.
    sphere : float
        Its radius in metres.
    uniform : callable
        ``uniform(stream, items)``; every attempt reads three streams of its own.

    Returns
    -------
    latitude, longitude : ndarray, shape (n,)
        Degrees; longitudes in [−180, 180).

    Privacy
    -------
    Density e^{−αr} per area, so ratios of at most e^{αd} for places d apart (`log_density`).
    """
    b = float(checks.positive("alpha", alpha) * checks.positive("sphere", sphere))
    lat, lon = np.asarray(latitude, float), np.asarray(longitude, float)
    angle, bearing = np.zeros(lat.shape), np.zeros(lat.shape)
    waiting: IntArray = np.arange(len(lat), dtype=np.int64)
    attempt = 0
    while waiting.size:
        radius = planar_laplace_radius(uniform(3 * attempt, waiting), b)
        accepted = (radius < np.pi) & (uniform(3 * attempt + 1, waiting) * radius < np.sin(radius))
        angle[waiting[accepted]] = radius[accepted]
        bearing[waiting[accepted]] = 2 * np.pi * uniform(3 * attempt + 2, waiting[accepted])
        waiting = waiting[~accepted]
        attempt += 1
    return _destination(lat, lon, angle, bearing)


def _destination(
    latitude: FloatArray, longitude: FloatArray, angle: FloatArray, bearing: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return where a great circle leads that leaves a place at a bearing; angles in radians."""
    phi = np.radians(latitude)
    sine = np.sin(phi) * np.cos(angle) + np.cos(phi) * np.sin(angle) * np.cos(bearing)
    east = np.sin(bearing) * np.sin(angle) * np.cos(phi)
    turned = np.arctan2(east, np.cos(angle) - np.sin(phi) * sine)
    there = longitude + np.degrees(turned)
    return np.degrees(np.arcsin(np.clip(sine, -1, 1))), (there + 180) % 360 - 180


def great_circle(
    first: tuple[ArrayLike, ArrayLike], second: tuple[ArrayLike, ArrayLike], sphere: float
) -> FloatArray:
    """Return distances between (latitude, longitude) in degrees, in the unit of the radius.

    The haversine formula.
    """
    (lat, lon), (other_lat, other_lon) = (
        tuple(np.radians(np.asarray(part, float)) for part in place) for place in (first, second)
    )
    high, wide = np.sin((other_lat - lat) / 2) ** 2, np.sin((other_lon - lon) / 2) ** 2
    half = np.sqrt(high + np.cos(lat) * np.cos(other_lat) * wide)
    return np.asarray(2 * sphere * np.arcsin(np.clip(half, 0, 1)))


def level_of_moves(alpha: float, distances: ArrayLike) -> Bound:
    """Return the ε towards a user whose items are moved by these distances: α·Σd.

    Parameters
    ----------
    alpha : float
        > 0, a metre.
    distances : array_like, shape (..., items)
        Metres, ≥ 0: how far each item of a user is from the one in the other data set.
    """
    checks.positive("alpha", alpha)
    moves = checks.reals("distances", distances, 0.0)
    return Bound(alpha * np.sum(moves, axis=-1), Role.UPPER, SEVERAL)

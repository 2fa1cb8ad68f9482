"""The exact privacy of M_mean on the corners {−1, 1}^d of the cube, for d ≤ 4.

A channel's report z says of every corner v only on which side of the plane v·z = 0 it is, because
its density has one value there and another on the other side. So the output space falls into
finitely many chambers (2, 4, 14, 104 of them for 1…4 coordinates) and all levels are exact maxima.
"""

from functools import cache
from itertools import product

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.coordinates.levels.finite import bcdp_levels_from_logs
from explorer.privacy.coordinates.reports.channel import log_half_space_probabilities
from explorer.privacy.coordinates.reports.mean import increments
from explorer.privacy.core import checks
from explorer.privacy.core.bound import FloatArray

_LARGEST = 4


@cache
def chambers(m: int) -> FloatArray:
    """Return one whole-numbered point of every chamber of the planes v·z = 0, v a corner.

    A chamber is a threshold function without bias; up to four inputs these have weights of at most
    3, so the points of a small cube meet all of them.
    """
    points = np.array(list(product(range(-3, 4), repeat=m)))
    sides = points @ corners(m).T
    points, sides = points[(sides != 0).all(axis=1)], sides[(sides != 0).all(axis=1)] > 0
    _, first = np.unique(sides, axis=0, return_index=True)
    result: FloatArray = points[np.sort(first)].astype(float)
    return result


def corners(m: int) -> FloatArray:
    """Return the corners of the cube, the last coordinate fastest, bit 1 being +1."""
    return np.array(list(product((-1.0, 1.0), repeat=m)))


def corner_log_likelihoods(c: ArrayLike) -> FloatArray:
    """Return log-likelihoods of all joint outputs of M_mean's channels on the corners.

    Parameters
    ----------
    c : array_like of shape (d,), d ≤ 4
        Budgets in [0, ∞), in any order.

    Returns
    -------
    ndarray of shape (2^d, outputs)
        Up to a constant for each output, rows in the order of `corners`.
    """
    order, alpha, _ = increments(c)
    d = order.size
    if order.ndim != 1 or d > _LARGEST:
        raise ValueError(f"c must be a vector of at most {_LARGEST} budgets, got {np.shape(c)}")
    points = corners(d)
    logs = np.zeros((points.shape[0], 1))
    for k in np.flatnonzero(alpha):
        seen = points[:, order[k:]]
        plus, minus = log_half_space_probabilities(1.0, alpha[k])
        factor = np.where(seen @ chambers(d - int(k)).T > 0.0, plus, minus)
        logs = (logs[:, :, None] + factor[:, None, :]).reshape(points.shape[0], -1)
    return logs


def m_mean_corner_levels(c: ArrayLike, prior: ArrayLike) -> FloatArray:
    """Return the exact coordinate levels δ_i of all M_mean channels for a prior on the corners.

    Parameters
    ----------
    c : array_like of shape (d,), d ≤ 4
        Budgets in [0, ∞).
    prior : array_like of shape (2^d,)
        Probabilities of the corners, the last coordinate fastest, bit 1 being +1.
    """
    logs = corner_log_likelihoods(c)
    return bcdp_levels_from_logs([2] * checks.positive_levels("c", c).size, prior, logs)

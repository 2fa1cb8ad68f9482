"""The least noise that reaches a target (ε, δ) exactly, and from how many users on there is any.

The paper's constant 50 asks for 20 to 90 times as much. What is exact is exact under conditions
that must be shown beside it (`CONDITION`).
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core import checks
from explorer.privacy.core.roots import bisect
from explorer.privacy.core.vectorised import scalar_if_0d, vectorised
from explorer.privacy.histograms.crossings import (
    HUMPS_USERS,
    Query,
    calibrated,
    dip_below_half,
    excess,
    excesses,
    gaussian_noise,
)

__all__ = ["CONDITION", "Calibration", "Query", "calibrate", "least_users"]

CONDITION = (
    "One user's value is replaced; all n users add their noise; the shuffler hides how many "
    "messages a user sends; the list of bins is public."
)
"""What an exact result rests on. With n_h users who add noise for certain, calibrate at n_h."""


class Calibration(NamedTuple):
    """The least noise for a target, by exact δ.

    Attributes
    ----------
    noise : float or ndarray
        n(1−p), the expected number of noise bits that are *not* sent in a bin: what is added to a
        count has the variance noise·p. Infinite where no p reaches the target.
    p : float or ndarray
        Probability of a noise bit, in [½, 1]; ½ where no p reaches the target.
    delta : float or ndarray
        The exact δ at ε of this p: at most the target exactly where `feasible`.
    feasible : bool or ndarray
        Whether n users suffice.
    """

    noise: Any
    p: Any
    delta: Any
    feasible: Any


def calibrate(
    eps: ArrayLike, delta: ArrayLike, n: ArrayLike, query: Query | str = Query.HISTOGRAM
) -> Calibration:
    """Return the least noise whose exact δ at ε is at most a target.

    Parameters
    ----------
    eps : array of float
        Target ε of the release itself (not of one bin), in [0, 800].
    delta : array of float
        Target δ, in [1e-300, 1].
    n : array of int
        Users that add noise, in [1, 1e12].
    query : Query
        A count (one bin) or a histogram (two bins change together).

    Returns
    -------
    Calibration
        Shapes broadcast. δ is not monotone in p near ½, so up to n = 1e5 less noise is looked
        for below every candidate; at any n the p returned is accepted by its own δ. It keeps
        its guarantee for more users at the same p, but do not round it: more noise may mean a
        larger δ.

    Raises
    ------
    ValueError
        Outside these domains.

    Notes
    -----
    `CONDITION` belongs beside the result. For the removal of a user this noise is no guarantee:
    at (1, 1e-6) the exact δ is then about 1e-3 (errata hist-A4).
    """
    kind = Query(query)
    e = checks.reals("eps", eps, 0.0, checks.EPSILON_MAX)
    target = checks.delta(delta)
    users = checks.integers("n", n, 1, checks.COUNT_MAX)
    e, target, users = np.broadcast_arrays(e, target, users)
    found = calibrated(e.ravel(), target.ravel(), users.ravel(), kind)
    noise, p, reached = (scalar_if_0d(part.reshape(e.shape)) for part in found[:3])
    feasible = found[3].reshape(e.shape)
    return Calibration(noise, p, reached, bool(feasible) if feasible.ndim == 0 else feasible)


def least_users(eps: ArrayLike, delta: ArrayLike, query: Query | str = Query.HISTOGRAM) -> Any:
    """Return the least n for which some p has an exact δ at ε of at most a target.

    Parameters
    ----------
    eps : array of float
        ε in [0, 800].
    delta : array of float
        δ in [1e-300, 1].
    query : Query
        Count or histogram.

    Returns
    -------
    float or ndarray
        Whole numbers; infinite where 1e12 users are too few. More users always help.
    """
    kind = Query(query)
    e = checks.reals("eps", eps, 0.0, checks.EPSILON_MAX)
    return vectorised(lambda e, d: _least_users(e, d, kind))(e, checks.delta(delta))


def _least_users(eps: float, target: float, kind: Query) -> float:
    def half_is_enough(n: float) -> bool:
        return excess(eps, target, n, kind)(0.5) <= 0

    if not half_is_enough(checks.COUNT_MAX):
        return math.inf
    noise = float(gaussian_noise(np.array([eps]), np.array([target]), kind)[0])
    low, high = _fewest_bracket(half_is_enough, 4 * noise)

    def missing(log_n: float) -> float:
        return -excess(eps, target, math.floor(math.exp(log_n)), kind)(0.5)

    if high > HUMPS_USERS:
        # Smooth in n: a few values of δ say about where, and a step or two settle it.
        near = math.floor(math.exp(bisect(missing, math.log(low), math.log(high), 0.3 / high)[0]))
        low, high = _narrowed(half_is_enough, low, near, high)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if half_is_enough(middle) else (middle, high)
    # A dip of δ below p = ½ may spare a user or two; the trend allows no more.
    for _ in range(3):
        if high <= 1:
            break
        curves = excesses(eps, target, high - 1, kind)
        at_half = float(curves(np.array([0.5]))[0])
        if dip_below_half(curves, at_half, eps, high - 1) is None:
            break
        high -= 1
    return high


def _fewest_bracket(enough: Callable[[float], bool], guess: float) -> tuple[float, float]:
    """Return whole low < high with enough(high) and not enough(low), the latter unless low is 0."""
    factor = 1.01
    high = float(min(max(math.ceil(guess), 1), checks.COUNT_MAX))
    if enough(high):
        while high > 1:
            low = float(math.floor(high / factor))
            if low < 1 or not enough(low):
                return low, high
            high, factor = low, factor**3
        return 0.0, high
    while True:
        low, high = high, min(float(math.ceil(high * factor)), checks.COUNT_MAX)
        if enough(high):
            return low, high
        factor = factor**3


def _narrowed(
    enough: Callable[[float], bool], low: float, near: float, high: float
) -> tuple[float, float]:
    """Return a bracket within the given one, small if `near` is near."""
    step = 1.0
    if enough(near):
        while near - step > low and enough(near - step):
            near, step = near - step, 4 * step
        return max(near - step, low), near
    while near + step < high and not enough(near + step):
        near, step = near + step, 4 * step
    return near, min(near + step, high)

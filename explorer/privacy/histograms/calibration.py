"""The least noise that reaches a target (ε, δ) exactly, and from how many users on there is any.

The paper's constant 50 asks for 20 to 90 times as much. What is exact is exact under conditions
that must be shown beside it (`CONDITION`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy import domain
from explorer.privacy.bounds import BoolArray
from explorer.privacy.histograms.count_delta import replace_delta
from explorer.privacy.histograms.joint_delta import joint_delta
from explorer.privacy.roots import bisect
from explorer.privacy.user_metric.gaussian import gaussian_sigma

CONDITION = (
    "One user's value is replaced; all n users add their noise; the shuffler hides how many "
    "messages a user sends; the list of bins is public."
)
"""What an exact result rests on. With n_h users who add noise for certain, calibrate at n_h."""

_HUMPS = 0.02
_HUMPS_USERS = 1e5
_STEPS = 16
_WALK = 256
_TOLERANCE = 1e-13

Curve = Callable[[float], float]


class Query(StrEnum):
    """What is released."""

    COUNT = "count"
    HISTOGRAM = "histogram"


_DELTA = {Query.COUNT: replace_delta, Query.HISTOGRAM: joint_delta}


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
    at (1, 1e-6) the exact δ is then about 1e-3 (errata A4).
    """
    kind = Query(query)
    e = domain.reals("eps", eps, 0.0, domain.EPSILON_MAX)
    target = domain.delta(delta)
    users = domain.integers("n", n, 1, domain.COUNT_MAX)
    e, target, users = np.broadcast_arrays(e, target, users)
    noise, p, reached = (np.empty(e.shape) for _ in range(3))
    feasible: BoolArray = np.empty(e.shape, dtype=bool)
    for i in np.ndindex(e.shape):
        one = _calibrate(float(e[i]), float(target[i]), float(users[i]), kind)
        noise[i], p[i], reached[i], feasible[i] = one
    return Calibration(
        domain.simple(noise),
        domain.simple(p),
        domain.simple(reached),
        bool(feasible) if feasible.ndim == 0 else feasible,
    )


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
    e, target = np.broadcast_arrays(
        domain.reals("eps", eps, 0.0, domain.EPSILON_MAX), domain.delta(delta)
    )
    out = np.empty(e.shape)
    for i in np.ndindex(e.shape):
        out[i] = _least_users(float(e[i]), float(target[i]), kind)
    return domain.simple(out)


def _least_users(eps: float, target: float, kind: Query) -> float:
    def half_is_enough(n: float) -> bool:
        return _curve(eps, target, n, kind)(0.5) <= 0

    if not half_is_enough(domain.COUNT_MAX):
        return math.inf
    low, high = _fewest_bracket(half_is_enough, 4 * _gaussian_noise(eps, target, kind))

    def excess(log_n: float) -> float:
        return -_curve(eps, target, math.floor(math.exp(log_n)), kind)(0.5)

    if high > _HUMPS_USERS:
        # Smooth in n: a few values of δ say about where, and a step or two settle it.
        near = math.floor(math.exp(bisect(excess, math.log(low), math.log(high), 0.3 / high)[0]))
        low, high = _narrowed(half_is_enough, low, near, high)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if half_is_enough(middle) else (middle, high)
    # A dip of δ below p = ½ may spare a user or two; the trend allows no more.
    for _ in range(3):
        if high <= 1 or _dip_below_half(_curve(eps, target, high - 1, kind), eps, high - 1) is None:
            break
        high -= 1
    return high


def _fewest_bracket(enough: Callable[[float], bool], guess: float) -> tuple[float, float]:
    """Return whole low < high with enough(high) and not enough(low), the latter unless low is 0."""
    factor = 1.01
    high = float(min(max(math.ceil(guess), 1), domain.COUNT_MAX))
    if enough(high):
        while high > 1:
            low = float(math.floor(high / factor))
            if low < 1 or not enough(low):
                return low, high
            high, factor = low, factor**3
        return 0.0, high
    while True:
        low, high = high, min(float(math.ceil(high * factor)), domain.COUNT_MAX)
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


def _curve(eps: float, target: float, n: float, kind: Query) -> Curve:
    """Return q ↦ ln δ(q) − ln target; −∞ where δ underflows."""
    exact = _DELTA[kind]
    goal = math.log(target)

    def curve(q: float) -> float:
        value = exact(eps, n, q)
        return (math.log(value) if value > 0 else -math.inf) - goal

    return curve


def _step(eps: float, n: float, q: float) -> float:
    """Return a sixteenth of the distance in q between two humps of δ near q."""
    lift, r = math.exp(min(eps, 40.0)), 1 - q
    return min((q + lift * r) ** 2, (r + lift * q) ** 2) / (lift * _STEPS * (n + 1))


def _dip_below_half(curve: Curve, eps: float, n: float) -> float | None:
    """Return a q < ½ that meets the target although ½ does not: between humps there may be one."""
    # Within 30 % of the target only: no hump is higher.
    if n > _HUMPS_USERS or curve(0.5) > 0.3:
        return None
    h = _step(eps, n, 0.5)
    values: list[tuple[float, float]] = [(0.5, curve(0.5))]
    for k in range(1, _WALK + 1):
        q = 0.5 - k * h
        if q <= 0:
            break
        values.append((q, curve(q)))
        if values[-1][1] <= 0:
            return q
        if len(values) > 2 and values[-3][1] >= values[-2][1] <= values[-1][1] < 0.3:
            dip = _lowest(curve, values[-1][0], values[-3][0])
            if curve(dip) <= 0:
                return dip
    return None


def _lowest(curve: Curve, low: float, high: float) -> float:
    """Return about the minimum of a curve with one minimum between two places."""
    for _ in range(40):
        third = (high - low) / 3
        if curve(low + third) < curve(high - third):
            high -= third
        else:
            low += third
    return 0.5 * (low + high)


def _crossing(curve: Curve, low: float, high: float) -> float:
    """Return a q with curve ≤ 0 just above a crossing, from curve(low) > 0 ≥ curve(high)."""
    found = bisect(lambda x: -curve(math.exp(x)), math.log(low), math.log(high), _TOLERANCE)[1]
    return min(math.exp(found), high)


def _gaussian_noise(eps: float, target: float, kind: Query) -> float:
    """Return the variance of Gaussian noise for the same target, near which ours is."""
    sensitivity = math.sqrt(2.0) if kind is Query.HISTOGRAM else 1.0
    # Of more users than there can be, no more need be known.
    return min(float(gaussian_sigma(eps, target, sensitivity)), 1e100) ** 2


def _first_bracket(
    curve: Curve, eps: float, target: float, n: float, kind: Query, low: float, top: float
) -> tuple[float, float]:
    """Return two q with a crossing between, from curve(low) > 0 ≥ curve(top); equal if none is.

    Humps may make more crossings than one; they are few users' concern, for whom q is raised in
    steps from below. With many, the crossing is looked for where Gaussian noise would have it.
    """
    below, high = low, low
    if n > _HUMPS_USERS:
        share = min(_gaussian_noise(eps, target, kind) / n, 0.25)
        guess = 2 * share / (1 + math.sqrt(1 - 4 * share))
        factor = 1.0005
        if low < guess < top:
            if curve(guess) <= 0:
                high = guess
                while curve(below := max(high / factor, low)) <= 0 and below > low:
                    high, factor = below, factor**3
                return below, high
            below = guess
            while curve(high := min(below * factor, top)) > 0 and high < top:
                below, factor = high, factor**3
            return below, high
    while high < top:
        high = min(1.5 * high, top)
        if curve(high) <= 0:
            break
        below = high
    return below, high


def _calibrate(
    eps: float, target: float, n: float, kind: Query
) -> tuple[float, float, float, bool]:
    if target == 1.0:
        return 0.0, 1.0, 1.0, True
    exact, curve = _DELTA[kind], _curve(eps, target, n, kind)
    # With probability (1−q)ⁿ nothing hides a message: that alone must be at most δ.
    low = -math.expm1(math.log(target) / n)
    found: float | None = None
    if low < 0.5:
        found = 0.5 if curve(0.5) <= 0 else _dip_below_half(curve, eps, n)
    if found is None:
        return math.inf, 0.5, exact(eps, n, 0.5), False
    below, high = _first_bracket(curve, eps, target, n, kind, low * (1 - 1e-9), found)
    if below < high:
        found = _crossing(curve, below, high)
    found = _before_humps(curve, found, low, eps, n)
    # p is what the users run, so q = 1−p is judged as the double it becomes.
    p = 1.0 - found
    q = 1.0 - p
    while curve(q) > 0 and p > 0.5:
        p = math.nextafter(p, 0.0)
        q = 1.0 - p
    return n * q, p, exact(eps, n, q), True


def _before_humps(curve: Curve, found: float, low: float, eps: float, n: float) -> float:
    """Return a smaller q that meets the target too, if one hides behind a hump."""
    # With many users the humps are smaller than anyone can tell.
    if found < _HUMPS or n > _HUMPS_USERS:
        return found
    best, last = found, found
    h = _step(eps, n, found)
    for k in range(1, _WALK // 2):
        q = found - k * h
        if q <= low:
            break
        value = curve(q)
        if value > 0.3:
            break
        if value <= 0:
            # Whether the target was met already at the last step or not, the edge is below q.
            best = q
        elif best < last:
            best = _crossing(curve, q, best)
        last = best
    return best

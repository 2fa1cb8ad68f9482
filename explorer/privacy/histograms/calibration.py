"""Calibration: the least noise that reaches a target (ε, δ) exactly, and the least number of users.

As a function of the noise the exact δ is smooth, or has humps near ½; the search brackets where it
crosses the target.

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

from explorer.privacy.core import checks
from explorer.privacy.core.bound import BoolArray, FloatArray
from explorer.privacy.core.roots import bisect
from explorer.privacy.core.vectorised import scalar_if_0d, vectorised
from explorer.privacy.histograms.exact_delta import joint_deltas, replace_delta

_HUMP_MARGIN = 0.02
HUMPS_USERS = 1e5
_STEPS = 16
_MAX_WALK_STEPS = 256
_TOLERANCE = 1e-13
_BATCH_SIZE = 32
"""Places of a walk looked at together: two humps."""

Curve = Callable[[float], float]
Curves = Callable[[FloatArray], FloatArray]


class Query(StrEnum):
    """Released query: a count or a histogram."""

    COUNT = "count"
    HISTOGRAM = "histogram"


_SENSITIVITY = {Query.COUNT: 1.0, Query.HISTOGRAM: math.sqrt(2.0)}


def _deltas(eps: FloatArray, n: FloatArray, q: FloatArray, kind: Query) -> FloatArray:
    """Return the exact δ of 1-dimensional arrays of points."""
    if kind is Query.HISTOGRAM:
        return joint_deltas(eps, n, q)
    return np.array([replace_delta(*map(float, point)) for point in zip(eps, n, q, strict=True)])


def excess(eps: float, target: float, n: float, kind: Query) -> Curve:
    """Return q ↦ ln δ(q) − ln target; −∞ where δ underflows."""
    return _single(excesses(eps, target, n, kind))


def _single(curves: Curves) -> Curve:
    return lambda q: float(curves(np.array([q]))[0])


def excesses(eps: float, target: float, n: float, kind: Query) -> Curves:
    """Return `excess` for 1-dimensional arrays of q."""

    def curves(q: FloatArray) -> FloatArray:
        return _log_excess(np.full(q.shape, eps), np.full(q.shape, n), q, math.log(target), kind)

    return curves


def _log_excess(
    eps: FloatArray, n: FloatArray, q: FloatArray, goal: Any, kind: Query
) -> FloatArray:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(_deltas(eps, n, q, kind)) - goal)


def _step(eps: float, n: float, q: float) -> float:
    """Return a sixteenth of the distance in q between two humps of δ near q."""
    lift, r = math.exp(min(eps, 40.0)), 1 - q
    return min((q + lift * r) ** 2, (r + lift * q) ** 2) / (lift * _STEPS * (n + 1))


def dip_below_half(curves: Curves, at_half: float, eps: float, n: float) -> float | None:
    """Return a q < ½ that meets the target although ½ does not: between humps there may be one."""
    # Within 30 % of the target only: no hump is higher.
    if n > HUMPS_USERS or at_half > 0.3:
        return None
    h = _step(eps, n, 0.5)
    places, values = [0.5], [at_half]
    for start in range(1, _MAX_WALK_STEPS + 1, _BATCH_SIZE):
        q: FloatArray = 0.5 - np.arange(float(start), start + _BATCH_SIZE) * h
        q = q[q > 0]
        for place, value in zip(q.tolist(), curves(q).tolist(), strict=True):
            places.append(place)
            values.append(value)
            if value <= 0:
                return float(place)
            if len(values) > 2 and values[-3] >= values[-2] <= value < 0.3:
                dip = _lowest(curves, place, places[-3])
                if float(curves(np.array([dip]))[0]) <= 0:
                    return dip
    return None


def _lowest(curves: Curves, low: float, high: float) -> float:
    """Return about the minimum of a curve with one minimum between two places."""
    for _ in range(6):
        places = np.linspace(low, high, 17)
        best = int(np.argmin(curves(places)))
        low, high = float(places[max(best - 1, 0)]), float(places[min(best + 1, 16)])
    return 0.5 * (low + high)


def _crossing(curve: Curve, low: float, high: float) -> float:
    """Return a q with curve ≤ 0 just above a crossing, from curve(low) > 0 ≥ curve(high)."""
    log_q = bisect(lambda x: -curve(math.exp(x)), math.log(low), math.log(high), _TOLERANCE)[1]
    return min(math.exp(log_q), high)


def gaussian_noise(eps: FloatArray, target: FloatArray, kind: Query) -> FloatArray:
    """Return about the variance of Gaussian noise for the same target, near which ours is.

    With m = εσ/Δ and h = Δ/2σ its δ is near 2h·φ(m−h)/(1 + m√(π/2) + m²), good to some percent.
    """
    sensitivity, goal = _SENSITIVITY[kind], np.log(target) + 0.5 * math.log(2 * math.pi)
    root = np.sqrt(-2 * np.log(target))
    # From the private side: m − h = √(2 ln(1/δ)), or where ε hardly helps δ = Δ/σ.
    with np.errstate(divide="ignore", over="ignore"):
        width = (root + np.sqrt(root**2 + 2 * eps)) / (2 * np.maximum(eps, 1e-300))
        x = np.log(np.maximum(np.minimum(width, np.exp(-goal)), 1e-3))
    for _ in range(6):
        # Of more users than there can be, no more need be known.
        ratio = np.exp(-np.minimum(x, 115.0))
        m, h = eps / ratio, ratio / 2
        bend = m * (math.sqrt(math.pi / 2) + m)
        value = -0.5 * np.square(np.maximum(m - h, 0.0)) - x - np.log1p(bend) - goal
        fall = np.maximum((m - h) * (m + h), 0.0) + 1 + (bend + m * m) / (1 + bend)
        x = x + np.clip(value / fall, -1.0, 1.0)
    return np.asarray(np.exp(2 * np.minimum(x, 115.0)) * sensitivity**2)


def _gaussian_share(eps: FloatArray, target: FloatArray, n: FloatArray, kind: Query) -> FloatArray:
    """Return the q at which our noise has the variance of Gaussian noise; ½ if none has."""
    share = np.minimum(gaussian_noise(eps, target, kind) / n, 0.25)
    return np.asarray(2 * share / (1 + np.sqrt(1 - 4 * share)))


def calibrated(
    eps: FloatArray, target: FloatArray, n: FloatArray, kind: Query
) -> tuple[FloatArray, FloatArray, FloatArray, BoolArray]:
    """Return noise, p, its δ and whether there is one, for 1-dimensional arrays of targets."""
    p, reached = np.full(eps.shape, 0.5), np.ones(eps.shape)
    # With probability (1−q)ⁿ nothing hides a message: that alone must be at most δ.
    low = -np.expm1(np.log(target) / n)
    guess = np.maximum(_gaussian_share(eps, target, n, kind), low * (1 + 1e-9))
    slope = _gaussian_slope(eps, n * guess * np.maximum(1 - guess, 0.5), kind)
    active = target < 1
    smooth = active & (guess < np.where(n > HUMPS_USERS, 0.4, _HUMP_MARGIN))
    q = np.full(eps.shape, math.nan)
    starts = _Starts(low, np.where(smooth, 0.5, math.nan), guess, slope)
    rough = np.flatnonzero(active & ~smooth)
    reached[rough] = _deltas(eps[rough], n[rough], p[rough], kind)
    for i in rough:
        starts.bracket(i, float(eps[i]), float(target[i]), float(n[i]), float(reached[i]), kind)
    some = np.flatnonzero(np.isfinite(starts.high))
    q[some] = _crossings(eps[some], target[some], n[some], starts.at(some), kind)
    for i in some[np.isnan(q[some])]:
        point = float(eps[i]), float(target[i]), float(n[i])
        if smooth[i]:
            reached[i] = joint = float(_deltas(eps[[i]], n[[i]], p[[i]], kind)[0])
            starts.bracket(i, *point, joint, kind)
        if math.isfinite(starts.high[i]):
            below, high = float(starts.low[i]), float(starts.high[i])
            q[i] = _crossing(excess(*point, kind), below, high) if below < high else high
    found_q = np.isfinite(q)
    for i in np.flatnonzero(found_q & (q >= _HUMP_MARGIN) & (n <= HUMPS_USERS)):
        point = float(eps[i]), float(target[i]), float(n[i])
        curves = excesses(*point, kind)
        q[i] = _before_humps(curves, float(q[i]), float(low[i]), point[0], point[2])
    p[~active] = 1.0
    p[found_q], reached[found_q] = _check_target(
        q[found_q], eps[found_q], target[found_q], n[found_q], kind
    )
    feasible = found_q | ~active
    return np.where(feasible, n * (1 - p), math.inf), p, reached, feasible


class _Starts(NamedTuple):
    """Start of each search for a crossing: bracket of q, first guess and slope of δ.

    Attributes
    ----------
    low, high : ndarray of float
        `high` is NaN where there is no crossing up to ½.
    guess, slope : ndarray of float
        A q near the crossing and about d ln δ/d ln q there.
    """

    low: FloatArray
    high: FloatArray
    guess: FloatArray
    slope: FloatArray

    def at(self, index: Any) -> _Starts:
        return _Starts(*(part[index] for part in self))

    def bracket(
        self, i: Any, eps: float, target: float, n: float, at_half: float, kind: Query
    ) -> None:
        """Find a crossing's bracket, given δ at ½.

        Humps may make more crossings than one; they are few users' concern, for whom q is raised
        in steps from below. With many, the search starts at the crossing of Gaussian noise.
        """
        self.high[i] = math.nan
        if self.low[i] >= 0.5:
            return
        curves = excesses(eps, target, n, kind)
        top: float | None = 0.5
        if at_half > target:
            top = dip_below_half(curves, math.log(at_half / target), eps, n)
        if top is None:
            return
        below = float(self.low[i]) * (1 - 1e-9)
        self.low[i], self.high[i] = below, top
        if n > HUMPS_USERS:
            near = float(self.guess[i])
            self.low[i], self.high[i] = _near(_single(curves), near, below, top)
            self.guess[i] = math.sqrt(self.low[i] * self.high[i])
        elif below < top:
            steps = math.ceil(math.log(top / below) / math.log(1.5))
            places = np.minimum(below * 1.5 ** np.arange(steps + 1.0), top)
            values = curves(places)
            enough = values[1:] <= 0
            first = int(np.argmax(enough)) if enough.any() else steps - 1
            self.low[i], self.high[i] = places[first : first + 2]
            rise = float(values[first + 1] - values[first])
            if math.isfinite(rise) and rise < 0:
                self.slope[i] = rise / math.log(self.high[i] / self.low[i])
                self.guess[i] = self.low[i] * math.exp(-values[first] / self.slope[i])


def _check_target(
    q: FloatArray, eps: FloatArray, target: FloatArray, n: FloatArray, kind: Query
) -> tuple[FloatArray, FloatArray]:
    """Return p and its δ, at most the target: q = 1−p is judged as the double it becomes.

    Where rounding left too little noise q is raised, by 1e-13 of itself and then in ever larger
    steps, and p by one double at least.
    """
    p = 1.0 - q
    reached = _deltas(eps, n, 1.0 - p, kind)
    raised = 1e-13
    while (short := np.flatnonzero((reached > target) & (p > 0.5))).size:
        p[short] = np.minimum(np.nextafter(p[short], 0.0), 1.0 - q[short] * (1 + raised))
        p[short] = np.maximum(p[short], 0.5)
        reached[short] = _deltas(eps[short], n[short], 1.0 - p[short], kind)
        raised *= 3
    return p, reached


def _crossings(
    eps: FloatArray, target: FloatArray, n: FloatArray, starts: _Starts, kind: Query
) -> FloatArray:
    """Return where δ(q) crosses its target near each guess; NaN where that is not found.

    Secants of ln δ over ln q, which is smooth: δ is a polynomial in q.
    """
    goal, x, slope = np.log(target), np.log(starts.guess), starts.slope.copy()
    least, most = np.log(starts.low), np.log(starts.high)
    out = np.full(eps.shape, math.nan)
    before, height = np.full(eps.shape, math.nan), np.full(eps.shape, math.nan)
    last_move = np.ones(eps.shape)
    rows = np.arange(eps.size)
    for _ in range(16):
        if rows.size == 0:
            break
        value = _log_excess(eps[rows], n[rows], np.exp(x[rows]), goal[rows], kind)
        with np.errstate(invalid="ignore", divide="ignore"):
            secant = (value - height[rows]) / (x[rows] - before[rows])
            slope[rows] = np.where(secant < 0, secant, slope[rows])
            move = np.clip(-value / slope[rows], -0.7, 0.7)
        # The crossing may lie just above the least q there is; a step beyond stops there.
        move = np.clip(move, least[rows] - x[rows], most[rows] - x[rows])
        before[rows], height[rows] = x[rows], value
        x[rows] += move
        done = (np.abs(move) < 1e-7) & (np.abs(move * last_move[rows]) < 1e-15)
        done |= value == 0
        last_move[rows] = move
        at = rows[done]
        out[at] = np.exp(x[at])
        rows = rows[~done & np.isfinite(value) & (move != 0)]
    return np.where((out >= starts.low) & (out <= starts.high), out, math.nan)


def _gaussian_slope(eps: FloatArray, variance: FloatArray, kind: Query) -> FloatArray:
    """Return about d ln δ/d ln σ² of Gaussian noise: its δ falls like φ(z)/z², z = εσ/Δ − Δ/2σ."""
    ratio = _SENSITIVITY[kind] / np.sqrt(np.maximum(variance, 1e-9))
    z = np.maximum(eps / ratio - ratio / 2, 0.5)
    return np.asarray(-(z + 2 / (z + 1)) * (eps / ratio + ratio / 2) / 2 - 0.5)


def _near(curve: Curve, guess: float, low: float, top: float) -> tuple[float, float]:
    """Return two q about a guess with a crossing between, from curve(low) > 0 ≥ curve(top)."""
    factor = 1.0005
    if not low < guess < top:
        return low, top
    if curve(guess) <= 0:
        high = guess
        while curve(below := max(high / factor, low)) <= 0 and below > low:
            high, factor = below, factor**3
        return below, high
    below = guess
    while curve(high := min(below * factor, top)) > 0 and high < top:
        below, factor = high, factor**3
    return below, high


def _before_humps(curves: Curves, found: float, low: float, eps: float, n: float) -> float:
    """Return a smaller q that meets the target too, if one hides behind a hump.

    With many users, or at a small q, the humps are below rounding.
    """
    best, last = found, found
    h = _step(eps, n, found)
    for start in range(1, _MAX_WALK_STEPS // 2, _BATCH_SIZE):
        q = found - np.arange(start, min(start + _BATCH_SIZE, _MAX_WALK_STEPS // 2)) * h
        values = curves(np.maximum(q, 0.0))
        for place, value in zip(q.tolist(), values.tolist(), strict=True):
            if place <= low or value > 0.3:
                return best
            if value <= 0:
                # Whether the target was met already at the last step or not, the edge is below q.
                best = place
            elif best < last:
                best = _crossing(_single(curves), place, best)
            last = best
        if start == 1 and values[0] > 0 and (np.diff(values) > 0).all():
            # Two humps' width without a dip: the trend is steeper than the humps are.
            return best
    return best


__all__ = ["CONDITION", "Calibration", "Query", "calibrate", "least_users"]

CONDITION = (
    "One user's value is replaced; all n users add their noise; the shuffler hides how many "
    "messages a user sends; the list of bins is public."
)
"""Condition of an exact result. With n_h users who add noise for certain, calibrate at n_h."""


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
    e = checks.reals("eps", eps, 0.0, checks.MAX_EPSILON)
    target = checks.delta(delta)
    users = checks.integers("n", n, 1, checks.MAX_COUNT)
    e, target, users = np.broadcast_arrays(e, target, users)
    results = calibrated(e.ravel(), target.ravel(), users.ravel(), kind)
    noise, p, reached = (scalar_if_0d(part.reshape(e.shape)) for part in results[:3])
    feasible = results[3].reshape(e.shape)
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
    e = checks.reals("eps", eps, 0.0, checks.MAX_EPSILON)
    return vectorised(lambda e, d: _least_users(e, d, kind))(e, checks.delta(delta))


def _least_users(eps: float, target: float, kind: Query) -> float:
    def half_is_enough(n: float) -> bool:
        return excess(eps, target, n, kind)(0.5) <= 0

    if not half_is_enough(checks.MAX_COUNT):
        return math.inf
    noise = float(gaussian_noise(np.array([eps]), np.array([target]), kind)[0])
    low, high = _fewest_bracket(half_is_enough, 4 * noise)

    def missing(log_n: float) -> float:
        return -excess(eps, target, math.floor(math.exp(log_n)), kind)(0.5)

    if high > HUMPS_USERS:
        # Smooth in n: a few values of δ say about where, and a step or two settle it.
        near = math.floor(math.exp(bisect(missing, math.log(low), math.log(high), 0.3 / high)[0]))
        low, high = _narrow(half_is_enough, low, near, high)
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
    high = float(min(max(math.ceil(guess), 1), checks.MAX_COUNT))
    if enough(high):
        while high > 1:
            low = float(math.floor(high / factor))
            if low < 1 or not enough(low):
                return low, high
            high, factor = low, factor**3
        return 0.0, high
    while True:
        low, high = high, min(float(math.ceil(high * factor)), checks.MAX_COUNT)
        if enough(high):
            return low, high
        factor = factor**3


def _narrow(
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

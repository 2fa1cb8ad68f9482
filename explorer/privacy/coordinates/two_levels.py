"""The best designs for two groups of coordinates, some sensitive and the others not.

"Best" is the least exact error of one user's report in the worst case x = 0, channels combined
with weights 1/V. All of it is found by search, so what is returned is a budget that satisfies its
constraint, with its exact error; that no better one exists is not certified.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.coordinates.designs import DUCHI, log_moment_function
from explorer.privacy.coordinates.levels import (
    log_mix,
    log_mix_high,
    log_mix_low,
    log_mix_total,
)
from explorer.privacy.core import checks
from explorer.privacy.core.bound import FloatArray
from explorer.privacy.core.roots import minimise_interval

CONSTRAINTS = ("paper", "exact")
# Below this share of what is allowed, a channel's weight is beyond the resolution of a float.
_SMALLEST_SHARE = 1e-6


@dataclass(frozen=True)
class TwoLevels:
    """Budgets of k sensitive and d − k other coordinates, arrays over the swept parameters.

    Attributes
    ----------
    mse : ndarray
        Exact error of one user's report at x = 0; divide by n. Infinite if there is no estimate.
    c_sensitive, c_rest : ndarray
        Budgets; c_rest is also the total level L.
    """

    mse: FloatArray
    c_sensitive: FloatArray
    c_rest: FloatArray


def best_two_levels(
    d: ArrayLike,
    k: ArrayLike,
    level: ArrayLike,
    eps: ArrayLike,
    q: ArrayLike,
    constraint: str = "exact",
    channel: str = DUCHI,
) -> TwoLevels:
    """Return the budgets (a on k coordinates, L on the others) of least error.

    Parameters
    ----------
    d, k : array_like of int
        Coordinates, and sensitive ones, 1 ≤ k ≤ d.
    level : array_like
        Coordinate level δ_i ≥ 0 demanded for the sensitive ones; the others demand ε.
    eps : array_like
        Total level in [0, ∞).
    q : array_like
        Coupling in [0, 1].
    constraint : {"paper", "exact"}
        Proposition 4, part 2, which is what choosing the best ζ amounts to; or the best
        certificate log((1−q)e^a + q·e^L) ≤ δ.
    channel : {"duchi", "privunit"}
        What reports are made by, see `log_channel_moment`.

    Notes
    -----
    a may be best below what is allowed, if few coordinates are sensitive and δ is not far below
    ε: a smaller a leaves more to the channel that does not carry them.
    """
    checks.one_of("constraint", constraint, CONSTRAINTS)
    d, k = checks.whole("d", d, 1), checks.whole("k", k, 1)
    checks.at_most("k", k, "d", d, 1)
    eps = checks.reals("eps", eps, 0.0, open_high=True)
    level = np.minimum(checks.reals("level", level, 0.0), eps)
    q = checks.reals("q", q, 0.0, 1.0)
    d, k, level, eps, q = np.broadcast_arrays(d, k, level, eps, q)
    highest = np.maximum(np.minimum(eps, log_mix_high(q, level)), level)
    highest = np.where(k == d, level, highest)
    shape, total, count, few, low, share_q = (
        level.shape,
        highest[..., None],
        d[..., None],
        k[..., None],
        level[..., None],
        q[..., None],
    )

    def budgets(u: FloatArray, s: FloatArray) -> tuple[FloatArray, FloatArray]:
        top = np.where(u >= 1.0, total, low + (total - low) * np.sin(0.5 * math.pi * u) ** 2)
        if constraint == "paper":
            allowed = np.where(top <= low, top, low - log_mix(share_q, 0.0, top))
        else:
            allowed = log_mix_low(share_q, low, top)
        with np.errstate(invalid="ignore"):
            allowed = np.where(allowed > 0.0, allowed, 0.0)
        return allowed * _SMALLEST_SHARE ** (1.0 - s), top

    everything = log_moment_function(count, channel)
    others = log_moment_function(np.maximum(count - few, 1), channel)
    with np.errstate(divide="ignore"):
        log_few, log_others = np.log(few), np.log(count - few)

    def log_error(a: FloatArray, top: FloatArray) -> FloatArray:
        first = -everything(a)
        second = -others(np.maximum(top - a, 0.0))
        with np.errstate(invalid="ignore"):
            rest = log_others - np.logaddexp(first, second)
        rest = np.where(few == count, -np.inf, rest)
        return np.asarray(np.logaddexp(log_few - first, rest))

    # A larger total never hurts, so either a is all that a total allows or the total is the highest
    # (or, as the paper's constraint allows less just above the least total, that one).
    edges = np.array([-1.0, 1.0] if constraint == "exact" else [-1.0, 1.0, 0.0])
    edge = edges.reshape(-1, *(1,) * (level.ndim + 1))

    def on_edges(place: FloatArray) -> tuple[FloatArray, FloatArray]:
        return budgets(np.where(edge < 0.0, place, edge), np.where(edge < 0.0, 1.0, place))

    place, values = minimise_interval(lambda u: log_error(*on_edges(u)), (edges.size, *shape), 129)
    best = np.argmin(values, axis=0)[None]
    a, top, value = (
        np.take_along_axis(np.broadcast_to(array, values.shape), best, axis=0)[0]
        for array in (*(edge[..., 0] for edge in on_edges(place[..., None])), values)
    )
    with np.errstate(over="ignore"):
        mse = np.exp(value)
    # A coordinate with level 0 is never reported, but the others may still be.
    nothing = level == 0.0
    return TwoLevels(
        np.where(nothing, np.inf, mse),
        np.where(nothing, 0.0, a),
        np.where(nothing, np.where(q == 0.0, eps, 0.0), top),
    )


# Channels of the sensitive and of the other coordinates: one for all of a kind, or one for each.
LAYOUTS = ("one channel", "groups", "singles and group", "group and singles", "singles")


@dataclass(frozen=True)
class DisjointTwoLevels:
    """Levels of disjoint channels for k sensitive and d − k other coordinates.

    Attributes
    ----------
    mse : ndarray
        Exact error of one user's report at x = 0; divide by n.
    alpha_sensitive, alpha_rest : ndarray
        Level of each channel of the kind.
    layout : ndarray of int
        Index into `LAYOUTS`; in the first everything is in one channel of both levels.
    """

    mse: FloatArray
    alpha_sensitive: FloatArray
    alpha_rest: FloatArray
    layout: checks.IntArray


def best_two_levels_disjoint(
    d: int, k: int, level: ArrayLike, eps: ArrayLike, q: ArrayLike, channel: str = DUCHI
) -> DisjointTwoLevels:
    """Return the best disjoint design for k sensitive coordinates, for many parameters at once.

    For each layout the total level follows from the sensitive channels' level a, as the exact
    constraint is tight: L = a + log(1 + (e^{δ−a} − 1)/q), at most ε. What is left goes to the other
    channels, and the error is convex in a. Parameters as in `best_two_levels`, d and k scalar.
    """
    d, k = int(checks.whole("d", d, 1)), int(checks.whole("k", k, 1, float(d)))
    eps = checks.reals("eps", eps, 0.0, open_high=True)
    level = np.minimum(checks.reals("level", level, 0.0), eps)
    level, eps, q = np.broadcast_arrays(level, eps, checks.reals("q", q, 0.0, 1.0))
    low, most, coupling = level[..., None], eps[..., None], q[..., None]
    rest = d - k
    # The layouts of more than one channel side by side, along the first axis: channels of the
    # sensitive coordinates, channels of the others.
    along = (4, *(1,) * (level.ndim + 1))
    first = np.array([1, k, 1, k]).reshape(along)
    second = np.maximum(np.array([1, 1, rest, rest]), 1).reshape(along)

    own = log_moment_function(k // first, channel)
    other = log_moment_function(np.maximum(rest // second, 1), channel)
    log_k, log_rest = math.log(k), math.log(max(rest, 1))

    def levels(u: FloatArray) -> tuple[FloatArray, FloatArray]:
        a = low * _SMALLEST_SHARE ** (1.0 - u)
        total = np.minimum(most, log_mix_total(coupling, low, a))
        return a, (total - first * a) / second

    def log_error(u: FloatArray) -> FloatArray:
        a, b = levels(u)
        value = log_k + own(a)
        if rest:
            value = np.logaddexp(value, log_rest + other(np.maximum(b, 0.0)))
        return np.where(b >= 0.0, value, np.inf)

    u, value = minimise_interval(log_error, (4, *level.shape), 129)
    a, b = (array[..., 0] for array in levels(u[..., None]))
    one = math.log(d) + log_moment_function(np.array(d), channel)(level)
    errors = np.concatenate([one[None], value])
    shares = np.concatenate([level[None], a])
    others = np.concatenate([level[None], b if rest else np.zeros_like(b)])
    best = np.argmin(errors, axis=0)[None]
    error, a, b = (np.take_along_axis(array, best, axis=0)[0] for array in (errors, shares, others))
    with np.errstate(over="ignore"):
        return DisjointTwoLevels(np.exp(error), a, b, best[0])

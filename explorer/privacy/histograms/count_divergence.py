"""The exact δ of a count that is hidden by binomial noise, for replaced and for removed users.

The counting protocol shows exactly the number of messages, Σxᵢ + Bin(n, p). With q = 1−p (or p:
both give the same replace-one δ) the privacy of a replaced user is that of Z against Z + 1 for
Z ~ Bin(n, q). Written over g = Bin(n+1, q) both laws are g times a polynomial, so that δ is a sum
of positive terms over a tail.
"""

import math
from collections.abc import Callable
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core import checks
from explorer.privacy.core.vectorised import columns, scalar_if_0d, vectorised
from explorer.privacy.histograms.binomial_sums import tail_sum

_LARGE = 300.0


class Adjacency(StrEnum):
    """Which two noisy counts are told apart (n users take part before the change)."""

    REPLACE = "replace"
    """Z against Z+1, Z ~ Bin(n, q): a user's bit changes and n is public (the paper's)."""
    REMOVE = "addremove"
    """Bin(n−1, q) against 1 + Bin(n, q): a user holding 1 leaves and takes their noise along."""
    REMOVE_ZERO = "addremove0"
    """Bin(n−1, q) against Bin(n, q): a user holding 0 leaves and takes their noise along."""


class Directions(NamedTuple):
    """Both hockey-stick divergences of a pair of neighbouring counts.

    Attributes
    ----------
    up, down : float or array
        H(larger‖smaller) and H(smaller‖larger); the guarantee is the larger of the two.
    """

    up: Any
    down: Any


class _Pair(NamedTuple):
    """Two laws as g(y)·scale times `larger` and `smaller`, polynomials of y and z = N−y."""

    trials: float
    log_scale: float
    larger: Callable[[Any, Any], Any]
    smaller: Callable[[Any, Any], Any]
    excess: Callable[[Any, Any], Any]
    """larger − smaller, without cancellation."""


def _pair(n: float, q: float, adjacency: Adjacency) -> _Pair:
    N = n + 1
    r = 1 - q

    def above(y: Any, z: Any, trials: float) -> Any:
        """Return y − trials·q, from the end where it is the difference of small numbers."""
        return y - trials * q if q <= 0.5 else trials * r - z

    if adjacency is Adjacency.REMOVE_ZERO:
        return _Pair(
            n,
            0.0,
            lambda y, z: 1.0 + 0.0 * y,
            lambda y, z: z / (n * r),
            lambda y, z: above(y, z, n) / (n * r),
        )
    # The common factor 1/(Nq) is kept apart: it has no double for the smallest q.
    log_scale = -math.log(N) - math.log(q)
    if adjacency is Adjacency.REPLACE:
        return _Pair(
            N, log_scale, lambda y, z: y, lambda y, z: z * (q / r), lambda y, z: above(y, z, N) / r
        )

    def smaller(y: Any, z: Any) -> Any:
        return z * (z - 1) / (n * r * r) * q

    return _Pair(N, log_scale, lambda y, z: y, smaller, lambda y, z: y - smaller(y, z))


def _gain(first: Any, second: Any, difference: Any, eps: float) -> Any:
    """Return first − e^ε·second; beyond the range of doubles only its sign and its size count."""
    if eps <= _LARGE:
        return difference - math.expm1(eps) * second
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        exponent = eps + np.log(second) - np.log(first)
        return np.where(second == 0, first, first * -np.expm1(np.minimum(exponent, 700.0)))


def _last_true(holds: Callable[[float], bool], top: float) -> float:
    """Return the largest whole y ≤ top where a property holds that is lost once; −1 if none."""
    low, high = -1.0, top + 1
    while high - low > 1:
        middle = (low + high) // 2
        if holds(middle):
            low = middle
        else:
            high = middle
    return low


def _divergence(eps: float, n: float, q: float, adjacency: Adjacency, up: bool) -> float:
    if q in (0.0, 1.0):
        return 0.0 if adjacency is Adjacency.REMOVE_ZERO and q == 0 else 1.0
    pair = _pair(n, q, adjacency)
    N = pair.trials

    def gain(y: Any) -> Any:
        larger, smaller = pair.larger(y, N - y), pair.smaller(y, N - y)
        excess = pair.excess(y, N - y)
        if up:
            return _gain(larger, smaller, excess, eps)
        return _gain(smaller, larger, -excess, eps)

    # The likelihood ratio larger/smaller grows with y, so the gain changes its sign once.
    if up:
        edge = _last_true(lambda y: not gain(y) > 0, N) + 1
    else:
        edge = _last_true(lambda y: bool(gain(y) > 0), N)
    log_q, log_r = math.log(q), math.log1p(-q)
    if q <= 0.5:
        value = tail_sum(edge, 1 if up else -1, N, log_q, log_r, gain, pair.log_scale)
    else:
        # Counted from the other end a tail beside N keeps its digits.
        value = tail_sum(
            N - edge, -1 if up else 1, N, log_r, log_q, lambda x: gain(N - x), pair.log_scale
        )
    return min(max(value, 0.0), 1.0)


def count_divergences(
    eps: ArrayLike, n: ArrayLike, q: ArrayLike, adjacency: Adjacency | str = Adjacency.REPLACE
) -> Directions:
    """Return both hockey-stick divergences of neighbouring noisy counts, exactly.

    Parameters
    ----------
    eps : array of float
        ε in [0, 800].
    n : array of int
        Users that add noise, in [1, 1e12].
    q : array of float
        Success probability of one user's noise bit, in [0, 1]. For replaced users p and 1−p give
        the same δ (directions exchanged); for removed users it must be the p that is run.
    adjacency : Adjacency
        Which counts are neighbours.

    Returns
    -------
    Directions
        Shapes broadcast from the arguments. Relative precision 1e-9 (1e-11 below n = 1e9),
        down to 1e-300.

    Raises
    ------
    ValueError
        Outside these domains.

    References
    ----------
    Balcer & Cheu 2020, Theorem 3.1(i), whose proof bounds this δ by 2e^{−nqε²/50}; errata hist-A4
    for removed users.
    """
    kind = Adjacency(adjacency)
    e = checks.reals("eps", eps, 0.0, checks.EPSILON_MAX)
    users = checks.integers("n", n, 1, checks.COUNT_MAX)
    rate = checks.reals("q", q, 0.0, 1.0)

    def both(eps: float, n: float, q: float) -> tuple[float, float]:
        return _divergence(eps, n, q, kind, True), _divergence(eps, n, q, kind, False)

    return Directions(*columns(vectorised(both, row=2)(e, users, rate)))


def count_delta(
    eps: ArrayLike, n: ArrayLike, q: ArrayLike, adjacency: Adjacency | str = Adjacency.REPLACE
) -> Any:
    """Return the exact δ of the counting protocol: the larger of both directions.

    Parameters, shapes and errors as for `count_divergences`. If only n_h users can be trusted to
    add their noise, pass n = n_h: the others add nothing to the privacy. δ is not monotone in q
    (it has humps of up to 13 % near ½), so a q must be judged by its own δ.
    """
    both = count_divergences(eps, n, q, adjacency)
    return scalar_if_0d(np.maximum(both.up, both.down))


def replace_delta(eps: float, n: float, q: float) -> float:
    """Return `count_delta` for replaced users, one point and unchecked: for root finding."""
    up = _divergence(eps, n, q, Adjacency.REPLACE, True)
    return max(up, _divergence(eps, n, q, Adjacency.REPLACE, False))

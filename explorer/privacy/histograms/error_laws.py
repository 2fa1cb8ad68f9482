"""The exact law of the analyzer's output for one bin, and of its error.

With W = n − Z, Z ~ Bin(n, p) the noise, the output is 0 if W ≥ s and (s + n(1−p) − W)/n otherwise,
for a true count s. Partial moments of W have closed forms, so nothing is summed but tails.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core import checks
from explorer.privacy.core.binomial import log_pmf, lower_tail, point, upper_tail
from explorer.privacy.core.bound import FloatArray
from explorer.privacy.core.vectorised import columns, vectorised


class ErrorLaw(NamedTuple):
    """Exact numbers of the error (estimate − true frequency) of one bin.

    Attributes
    ----------
    bias : float or ndarray
        Mean error, in frequency (multiply by n for counts).
    rmse : float or ndarray
        Root of the mean squared error.
    zero : float or ndarray
        Probability that the output is 0.
    """

    bias: Any
    rmse: Any
    zero: Any


def _arguments(n: ArrayLike, p: ArrayLike, s: ArrayLike) -> tuple[FloatArray, ...]:
    users = checks.integers("n", n, 1, checks.MAX_COUNT)
    rate = checks.reals("p", p, 0.0, 1.0)
    count = checks.integers("s", s, 0, checks.MAX_COUNT)
    checks.at_most("s", count, "n", users)
    return users, rate, count


def error_law(n: ArrayLike, p: ArrayLike, s: ArrayLike) -> ErrorLaw:
    """Return bias, root mean square and probability of a zero of one bin's estimate, exactly.

    Parameters
    ----------
    n : array of int
        Users, in [1, 1e12].
    p : array of float
        Probability of a noise bit, in [0, 1].
    s : array of int
        True count, in [0, n].

    Returns
    -------
    ErrorLaw
        Shapes broadcast. For counts near n(1−p) the truncation bias dominates; a count of 0 has
        no error at all.

    Raises
    ------
    ValueError
        Outside these domains.

    References
    ----------
    Balcer & Cheu 2020, Figure 1 and Theorem 3.1(ii, iii); errata hist-B4.
    """
    return ErrorLaw(*columns(vectorised(_moments, row=3)(*_arguments(n, p, s))))


def _moments(n: float, p: float, s: float) -> tuple[float, float, float]:
    q = 1 - p
    mean = n * q
    at_edge = point(s, n, q)
    zero = upper_tail(s, n, q)
    # E[(W−μ); W ≥ s] = s·p·Pr[W = s], and the error is −s there instead of μ − W.
    beyond = upper_tail(s + 1, n, q)
    bias = -(s / n) * (beyond + q * at_edge)
    # E[(W−μ)²; W < s] = npq·Pr[W′ < s] − s·p·Pr[W = s](s − μ), W′ ~ Bin(n−1, q).
    tail = lower_tail(s - 1, n - 1, q) if n > 1 else float(s > 0)
    square = n * p * q * tail - s * p * at_edge * (s - mean)
    rmse = math.sqrt(max(square, 0.0) + s * s * zero) / n
    return bias, rmse, zero


def error_tail(n: ArrayLike, p: ArrayLike, s: ArrayLike, alpha: ArrayLike) -> Any:
    """Return Pr[|estimate − s/n| > α] of one bin, exactly.

    Parameters
    ----------
    n, p, s : array
        As in `error_law`.
    alpha : array of float
        Error in frequency, in [0, 2].

    References
    ----------
    Balcer & Cheu 2020, Theorem 3.1(ii), whose bound this replaces by the exact probability.
    """
    return vectorised(_tail)(*_arguments(n, p, s), checks.reals("alpha", alpha, 0.0, 2.0))


def _tail(n: float, p: float, s: float, alpha: float) -> float:
    q = 1 - p
    mean, radius = n * q, n * alpha
    total = upper_tail(s, n, q) if s > radius else 0.0
    # Not truncated: W < s and |W − μ| > αn.
    below = math.ceil(mean - radius) - 1
    total += lower_tail(min(below, s - 1), n, q)
    above = max(math.floor(mean + radius) + 1, below + 1)
    if above < s:
        if s <= mean:
            total += lower_tail(s - 1, n, q) - lower_tail(above - 1, n, q)
        else:
            total += upper_tail(above, n, q) - upper_tail(s, n, q)
    return min(1.0, max(0.0, total))


def output_law(n: int, p: float, s: int) -> tuple[FloatArray, FloatArray]:
    """Return all possible outputs of one bin and their probabilities, for small n.

    Parameters
    ----------
    n : int
        Users, in [1, 1e6].
    p : float
        Probability of a noise bit, in [0, 1].
    s : int
        True count, in [0, n].

    Returns
    -------
    outputs, probabilities : ndarray
        0 first, then y/n − p for y = n+1, …, n+s: never in (0, 1−p], and up to 2 − p (errata
        hist-B4).
    """
    checks.integers("n", n, 1, 1e6)
    users, rate, count = (float(x) for x in _arguments(n, p, s))
    y = np.arange(users + 1, users + count + 1)
    noise = y - count
    q = 1 - rate
    if rate in (0.0, 1.0):
        law = (noise == users * rate).astype(float)
    else:
        law = np.exp(log_pmf(users - noise, users, math.log(q), math.log1p(-q)))
    zero = upper_tail(count, users, q)
    return np.concatenate([[0.0], y / users - rate]), np.concatenate([[zero], law])

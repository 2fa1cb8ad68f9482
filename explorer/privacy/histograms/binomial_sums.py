"""Sums over a tail of a binomial law, term by term where that is short and smoothly where not.

Every exact number of the protocol is a sum Σ g(y)c(y) over y beyond an edge in the tail of
g = Bin(N, q) with a polynomial c ≥ 0: nothing cancels. It needs about 50/rate terms, where
e^−rate is the ratio of neighbouring terms at the edge, and at most about 10 deviations. Where even
these are many the terms are smooth and the sum is an integral with one correction.
"""

import math
from collections.abc import Callable
from functools import cache

import numpy as np

from explorer.privacy.core.binomial import log_pmf, log_pmf_at, log_pmf_run
from explorer.privacy.core.bound import FloatArray

Weight = Callable[[FloatArray], FloatArray]

DIRECT = 8192
"""Longest sum that is taken term by term."""
_NEGLIGIBLE = 50.0


@cache
def panels(number: int, nodes: int = 32) -> tuple[FloatArray, FloatArray]:
    """Return nodes and weights on [0, 1] of Gauss–Legendre on `number` equal panels."""
    x, w = np.polynomial.legendre.leggauss(nodes)
    starts = np.arange(number)[:, np.newaxis]
    return (
        ((starts + (x + 1) / 2) / number).ravel(),
        np.tile(w / (2 * number), number),
    )


def reach(rate: float, variance: float) -> float:
    """Return after how many steps the terms beyond an edge have fallen by e^−50.

    Parameters
    ----------
    rate : float
        Logarithm of the ratio of the first two terms, ≥ 0.
    variance : float
        y(N−y)/N at the edge y; further out the terms fall faster by j²/2(variance + j).
    """
    bent = _NEGLIGIBLE + math.sqrt(_NEGLIGIBLE**2 + 2 * _NEGLIGIBLE * variance)
    return min(_NEGLIGIBLE / rate, bent) if rate > 0 else bent


def tail_sum(
    edge: float,
    step: int,
    trials: float,
    log_q: float,
    log_r: float,
    weight: Weight | None = None,
    log_scale: float = 0.0,
) -> float:
    """Return e^log_scale · Σ g(y)c(y) over y = edge, edge + step, … within [0, N].

    Parameters
    ----------
    edge : float
        A whole number on the far side of the mode, as seen from the tail that is summed.
    step : int
        +1 for an upper tail, −1 for a lower one.
    trials, log_q, log_r : float
        N, ln q and ln(1−q) of the law g.
    weight : callable, optional
        c(y) on arrays, not growing faster than y²; 1 if not given.
    log_scale : float
        Joined to the logarithm of g before anything can overflow or vanish.
    """
    if not 0 <= edge <= trials:
        return 0.0
    rest = trials - edge
    room = rest if step > 0 else edge
    if room == 0:
        rate = math.inf
    elif step > 0:
        rate = math.log((edge + 1) / rest) + log_r - log_q
    else:
        rate = math.log((rest + 1) / edge) + log_q - log_r
    count = min(math.ceil(reach(max(rate, 0.0), edge * rest / trials)), room)
    if count <= DIRECT:
        last = edge + step * count
        first, last = min(edge, last), max(edge, last)
        logs = log_pmf_run(first, last, trials, log_q, log_r) + log_scale
        weights = 1.0 if weight is None else weight(np.arange(first, last + 1))
        if log_scale > 600.0:
            with np.errstate(divide="ignore"):
                return float(np.exp(logs + np.log(np.maximum(weights, 0.0))).sum())
        return float((np.exp(logs) * weights).sum())

    def smooth(u: FloatArray) -> FloatArray:
        y = edge + step * u
        g = np.exp(log_pmf(y, trials, log_q, log_r) + log_scale)
        return g if weight is None else g * weight(y)

    # Midpoint rule read backwards: Σ F(j) = ∫ F from −½, plus F′(−½)/24, to 1e-11 and better
    # because F changes little within 150 steps.
    nodes, weights = panels(4)
    integral = (count + 1) * float(weights @ smooth(nodes * (count + 1) - 0.5))
    inside, outside = smooth(np.array([0.0, -1.0]))
    return float(integral + (inside - outside) / 24)


def upper_tail(threshold: float, trials: float, q: float) -> float:
    """Return Pr[Bin(N, q) ≥ t] for a whole t, with relative precision if it is below one half."""
    if threshold <= 0:
        return 1.0
    if threshold > trials or q == 0:
        return 0.0
    if q == 1:
        return 1.0
    log_q, log_r = math.log(q), math.log1p(-q)
    if threshold > trials * q:
        return min(1.0, tail_sum(threshold, 1, trials, log_q, log_r))
    return max(0.0, 1.0 - tail_sum(threshold - 1, -1, trials, log_q, log_r))


def lower_tail(threshold: float, trials: float, q: float) -> float:
    """Return Pr[Bin(N, q) ≤ t] for a whole t, with relative precision if it is below one half."""
    return (
        upper_tail(trials - threshold, trials, 1 - q) if q > 0.5 else _lower(threshold, trials, q)
    )


def _lower(threshold: float, trials: float, q: float) -> float:
    if threshold < 0:
        return 0.0
    if threshold >= trials or q == 0:
        return 1.0
    log_q, log_r = math.log(q), math.log1p(-q)
    if threshold < trials * q:
        return min(1.0, tail_sum(threshold, -1, trials, log_q, log_r))
    return max(0.0, 1.0 - tail_sum(threshold + 1, 1, trials, log_q, log_r))


def point(y: float, trials: float, q: float) -> float:
    """Return Pr[Bin(N, q) = y] for a whole y."""
    if not 0 <= y <= trials:
        return 0.0
    if q in (0.0, 1.0):
        return float(y == trials * q)
    return math.exp(log_pmf_at(y, trials, math.log(q), math.log1p(-q)))

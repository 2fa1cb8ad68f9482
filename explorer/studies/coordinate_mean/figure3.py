"""Figure 3 of the paper: error of the private mean against the coupling q.

d = 10, δ = (0.2, 0.2, ε, …, ε), ε = 2, n = 10,000 users with fair ±1 coordinates. The paper's
M_mean uses ζ = (1+q)/2 and is drawn as lying below min δ-LDP for all q < 1. With the unbiased
constant its mean error does so only up to q = 0.086 (0.294 if averages are projected; errata
coord-A2, coord-B14), its median error, which the paper plots, up to q = 0.175, since the
budget of the sensitive coordinates falls like (1−q)/2. Better budgets never lose.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.coordinates.budgets import budget_vector
from explorer.privacy.coordinates.mean import m_mean_covariance
from explorer.privacy.coordinates.sampling import m_mean_average
from explorer.privacy.core import checks
from explorer.privacy.core.bound import FloatArray

D, K, LEVEL, EPS, USERS = 10, 2, 0.2, 2.0, 10_000


def coordinate_levels() -> FloatArray:
    """Return the demanded levels of Figure 3."""
    return np.repeat([LEVEL, EPS], [K, D - K])


def paper_budget(q: ArrayLike) -> FloatArray:
    """Return the budget of Theorem 2 with the figure's ζ = (1+q)/2, shape (…, 10)."""
    q = checks.reals("q", q, 0.0, 1.0)
    return budget_vector(coordinate_levels(), EPS, q, 0.5 * (1.0 + q))


_FREQUENCIES = np.linspace(0.0, 40.0, 4_001)[1:]
"""Frequencies of Imhof's integral, in units of one over the mean error."""


def mean_error(c: ArrayLike, q: float, users: int = USERS) -> float:
    """Return the mean squared error of a budget on data of ±1, averages not projected.

    It is the same at every coupling `q` of the prior.
    """
    return float(np.trace(_covariance(c, q))) / users


def median_error(c: ArrayLike, q: float, users: int = USERS) -> float:
    """Return the median of the squared error on data from the prior, averages not projected.

    By the central limit theorem errors are normal, with the covariance that one user's report has
    on average. Their square is a weighted sum of squared normals, whose law is Imhof's integral
    (1961).
    """
    weights = np.linalg.eigvalsh(_covariance(c, q))
    mean = float(weights.sum())
    scaled = np.outer(_FREQUENCIES, weights / mean)
    angle = 0.5 * np.arctan(scaled).sum(axis=1)
    damping = _FREQUENCIES * np.exp(0.25 * np.log1p(scaled**2).sum(axis=1))

    def share_below_less_half(error: float) -> float:
        values = np.sin(angle - 0.5 * error * _FREQUENCIES) / damping
        at_zero = 0.5 - 0.5 * error
        step = float(_FREQUENCIES[0])
        return -step * float(values.sum() + 0.5 * (at_zero - values[-1])) / math.pi

    return _root(share_below_less_half, 0.0, 2.0) * mean / users


def crossing(error: Callable[[ArrayLike, float], float]) -> float:
    """Return the q in [0.01, 0.9] from which the paper's choice errs more than min δ-LDP.

    Parameters
    ----------
    error : callable
        `mean_error` or `median_error`.
    """
    alike = np.full(D, LEVEL)
    return _root(lambda q: error(paper_budget(q), q) - error(alike, q), 0.01, 0.9)


def _covariance(c: ArrayLike, q: float) -> FloatArray:
    """Return the covariance of one user's report given the data, averaged over the prior (60).

    With probability q all coordinates are equal; of independent ones only the variances stay.
    """
    equal = m_mean_covariance(np.ones(D), c)
    result: FloatArray = q * equal + (1.0 - q) * np.diag(np.diag(equal))
    return result


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where an increasing function is 0, by bisection."""
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if function(middle) > 0 else (middle, high)
    return (low + high) / 2


@dataclass(frozen=True)
class Trials:
    """Errors of repeated draws, one entry a trial, averages as they are and projected."""

    plain: FloatArray
    projected: FloatArray


def simulate(
    q: float, trials: int, rng: np.random.Generator, c: ArrayLike | None = None, users: int = USERS
) -> Trials:
    """Draw the experiment of Figure 3.

    Each trial draws users from the prior (60) with ±1 for its bits, their reports, and the squared
    distance of the average of the reports from that of the data.

    Parameters
    ----------
    q : float
        Coupling of the prior in [0, 1], and what the budget assumes.
    trials, users : int
        At least 1 each. The figure has 1000 trials of 10,000 users.
    rng : numpy.random.Generator
    c : array_like of shape (10,), optional
        Budget; the paper's at q if not given.
    """
    trials, users = int(checks.whole("trials", trials, 1)), int(checks.whole("users", users, 1))
    budget = paper_budget(q) if c is None else np.asarray(c, float)
    plain, projected = np.empty(trials), np.empty(trials)
    for trial in range(trials):
        x = sample_copies(users, D, q, rng)
        estimate, truth = m_mean_average(x, budget, rng), x.mean(axis=0)
        # A coordinate without a report has an infinite error, or that of a guess of 0.
        plain[trial] = (
            float(((estimate.mean - truth) ** 2).sum()) if estimate.informative.all() else math.inf
        )
        guess = np.where(estimate.informative, estimate.projected, 0.0)
        projected[trial] = ((guess - truth) ** 2).sum()
    return Trials(plain, projected)


def sample_copies(n: int, d: int, q: float, rng: np.random.Generator) -> FloatArray:
    """Draw n records of ±1 from the prior (60): all coordinates equal with probability q."""
    n, d = int(checks.whole("n", n, 1)), int(checks.whole("d", d, 1))
    checks.reals("q", q, 0.0, 1.0)
    x: FloatArray = 2.0 * rng.integers(0, 2, (n, d)).astype(np.float64) - 1.0
    equal = rng.random(n) < q
    x[equal] = x[equal, :1]
    return x

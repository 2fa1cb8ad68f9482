"""Figure 3 of the paper: error of the private mean against the coupling q.

d = 10, δ = (0.2, 0.2, ε, …, ε), ε = 2, n = 10,000 users with fair ±1 coordinates. The paper's
M_mean uses ζ = (1+q)/2 and is drawn as lying below min δ-LDP for all q < 1. With the unbiased
constant it does so only up to q = 0.086 (0.294 if averages are projected; errata coord-A2,
coord-B14), since the budget of the sensitive coordinates falls like (1−q)/2. Better budgets never
lose.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.coordinates.budgets.budget import budget_vector
from explorer.privacy.coordinates.reports.sampling import m_mean_average
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

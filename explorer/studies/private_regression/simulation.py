"""Simulates Algorithm 3: draws reports, estimates the objective and minimises it in three ways.

Trials run in the worker process, which returns `Trials`. The audit runs both reports of a user.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from explorer.privacy import coordinates as co
from explorer.privacy.core.bound import FloatArray
from explorer.studies.base.study import Context, Guarantee, Request, Sweep
from explorer.studies.base.sweeping import SweptPoints
from explorer.studies.guarantees.audits import Audited
from explorer.studies.private_regression.data import Source, blocks
from explorer.studies.private_regression.theory import demands_of, plans_for

OPTIONS = ("psd-clip", "trust-region", "unprojected")
"""Keys of the ways to minimise the estimated objective."""
NORMALS_PER_CALL = 12_000_000


@dataclass(frozen=True)
class Task:
    """One point of a sweep; hashable and picklable.

    Attributes
    ----------
    source : Source
    features, n : int
    c : tuple of float
        Budgets of the features and of the label, all > 0.
    rule : str
        Weights of M_mean.
    radius : float
    seed : int
        Seed of the request.
    channel : str
        Kind of report: `co.DUCHI` or `co.PRIV_UNIT`.
    """

    source: Source
    features: int
    n: int
    c: tuple[float, ...]
    rule: str
    radius: float
    seed: int
    channel: str = co.DUCHI


@dataclass(frozen=True)
class Truth:
    """The objective on the users' own records.

    Attributes
    ----------
    A, b : ndarray
        (1/n)Σ z zᵀ and (1/n)Σ l·z.
    l2 : float
        (1/n)Σ l².
    theta : ndarray
        Minimiser over the ball.
    least : float
        f* = ½θᵀAθ − bᵀθ at it.
    """

    A: FloatArray
    b: FloatArray
    l2: float
    theta: FloatArray
    least: float

    def excess(self, theta: FloatArray) -> float:
        """Return f(θ) − f*."""
        value = float(0.5 * theta @ self.A @ theta - self.b @ theta) - self.least
        return max(value, 0.0)

    def squared_error(self, excess: float) -> float:
        """Return the mean squared prediction error at this excess risk."""
        return max(2.0 * (excess + self.least) + self.l2, 0.0)


@dataclass(frozen=True)
class Trials:
    """Result of some trials.

    Attributes
    ----------
    truth : Truth
    excess : ndarray of shape (trials, options)
    indefinite : int
        Number of trials whose estimated objective was not convex.
    theta : ndarray of shape (options, features)
        Coefficients of the first trial.
    """

    truth: Truth
    excess: FloatArray
    indefinite: int
    theta: FloatArray


@lru_cache(maxsize=64)
def truth_of(source: Source, features: int, n: int, radius: float, seed: int) -> Truth:
    """Return the objective without privacy, and its minimum over the ball."""
    A, b, l2, users = np.zeros((features, features)), np.zeros(features), 0.0, 0
    for x in blocks(source, features, n, seed):
        z, label = x[:, :-1], x[:, -1]
        A += z.T @ z
        b += label @ z
        l2 += float(label @ label)
        users += x.shape[0]
    A, b = A / users, b / users
    best = co.trust_region(A, b, radius)
    return Truth(A, b, l2 / users, best.theta, best.value)


def trials_per_call(task: Task) -> int:
    """Return a number of trials that takes a fraction of a second."""
    normals = sum(channel.coordinates.size for channel in co.m_mean_channels(task.c, task.rule))
    return max(NORMALS_PER_CALL // (2 * task.n * (normals + len(task.c))), 1)


def run_trials(task: Task, first: int, count: int) -> Trials:
    """Draw some trials; trial number t does not depend on the others drawn with it."""
    truth = truth_of(task.source, task.features, task.n, task.radius, task.seed)
    excess, indefinite = np.empty((count, len(OPTIONS))), 0
    first_theta = np.zeros((len(OPTIONS), task.features))
    for trial in range(count):
        rng = np.random.default_rng((abs(task.seed), 2, task.n, task.features, first + trial))
        A, b = estimate_objective(task, rng)
        indefinite += bool(np.linalg.eigvalsh(A)[0] < 0.0)
        for j, theta in enumerate(minimise(A, b, task.radius)):
            excess[trial, j] = truth.excess(theta)
            if trial == 0:
                first_theta[j] = theta
    return Trials(truth, excess, indefinite, first_theta)


def estimate_objective(task: Task, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Return A and b of f̂, from two reports of each user at half the budget."""
    half = np.array(task.c) / 2.0
    A, b, users = np.zeros((task.features, task.features)), np.zeros(task.features), 0
    for x in blocks(task.source, task.features, task.n, task.seed):
        first, second = (co.m_mean(x, half, rng, task.rule, task.channel) for _ in range(2))
        part, vector = co.regression_moments(
            first[:, :-1], first[:, -1], second[:, :-1], second[:, -1]
        )
        A += x.shape[0] * part
        b += x.shape[0] * vector
        users += x.shape[0]
    return A / users, b / users


def minimise(A: FloatArray, b: FloatArray, radius: float) -> tuple[FloatArray, ...]:
    """Return the coefficients by every option, in the order of `OPTIONS`."""
    size = float(np.abs(A).max()) or 1.0
    return (
        co.minimise_clipped(A, b, radius),
        co.trust_region(A, b, radius).theta,
        np.linalg.pinv(A / size, hermitian=True) @ (b / size),
    )


def audits(request: Request, _promise: Guarantee, context: Context) -> Audited:
    """Return both reports of M_mean at half the budget, on two opposite records."""
    values = {k: np.array([float(v)]) for k, v in request.values if isinstance(v, int | float)}
    points = SweptPoints(Sweep("n", 1.0, 1.0, 1), np.empty(0), values)
    features = int(request["features"])
    (plan,) = plans_for(request["budget"], demands_of(request, points, features), context)
    half, size = plan.c / 2, plan.c.size

    def run(side: int, runs: int, rng: np.random.Generator) -> FloatArray:
        rows = np.full((runs, size), 1.0 if side else -1.0)
        score = np.zeros(runs)
        for _ in range(2):
            score += co.m_mean(rows, half, rng, plan.rule, plan.channel).sum(axis=1)
        return score

    return Audited(
        "both reports of one user; the whole record is replaced by the opposite one",
        run,
        float(plan.total),
        0.0,
        "promised of the whole record, L",
        max(1, 50_000 // size),
    )

"""Algorithm 3 tried out: reports drawn, the objective estimated, every option minimised.

Runs in the worker process; only `Trials` comes back.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from explorer.privacy import coordinates as co
from explorer.privacy.core.bound import FloatArray
from explorer.studies.private_regression.data import Source, blocks

OPTIONS = ("psd-clip", "trust-region", "unprojected")
NORMALS_A_CALL = 12_000_000


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
        Of the request.
    channel : str
        What reports are made by.
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
        """Return the mean squared error of prediction of coefficients with this excess risk."""
        return max(2.0 * (excess + self.least) + self.l2, 0.0)


@dataclass(frozen=True)
class Trials:
    """What came out of some trials.

    Attributes
    ----------
    truth : Truth
    excess : ndarray of shape (trials, options)
    indefinite : int
        In how many the estimated objective was not convex.
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


def trials_a_call(task: Task) -> int:
    """Return how many trials take a fraction of a second."""
    normals = sum(channel.coordinates.size for channel in co.m_mean_channels(task.c, task.rule))
    return max(NORMALS_A_CALL // (2 * task.n * (normals + len(task.c))), 1)


def run_trials(task: Task, first: int, count: int) -> Trials:
    """Draw some trials; trial number t is the same whatever others are drawn with it."""
    truth = truth_of(task.source, task.features, task.n, task.radius, task.seed)
    excess, indefinite = np.empty((count, len(OPTIONS))), 0
    shown = np.zeros((len(OPTIONS), task.features))
    for trial in range(count):
        rng = np.random.default_rng((abs(task.seed), 2, task.n, task.features, first + trial))
        A, b = estimated(task, rng)
        indefinite += bool(np.linalg.eigvalsh(A)[0] < 0.0)
        for j, theta in enumerate(solved(A, b, task.radius)):
            excess[trial, j] = truth.excess(theta)
            if trial == 0:
                shown[j] = theta
    return Trials(truth, excess, indefinite, shown)


def estimated(task: Task, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
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


def solved(A: FloatArray, b: FloatArray, radius: float) -> tuple[FloatArray, ...]:
    """Return the coefficients by every option, in the order of `OPTIONS`."""
    size = float(np.abs(A).max()) or 1.0
    return (
        co.minimise_clipped(A, b, radius),
        co.trust_region(A, b, radius).theta,
        np.linalg.pinv(A / size, hermitian=True) @ (b / size),
    )

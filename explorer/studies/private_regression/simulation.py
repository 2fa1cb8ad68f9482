"""Simulates Algorithm 3: draws reports, estimates the objective and minimises it in three ways.

Trials run in the worker process, which returns `Trials`. The audit runs both reports of a user.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from explorer.privacy import coordinates as co
from explorer.privacy.core.bound import FloatArray
from explorer.studies.base.study import Context, Guarantee, Request, Sweep
from explorer.studies.base.sweeping import SweptPoints
from explorer.studies.coordinate_mean.demanded import own_demand
from explorer.studies.guarantees.audits import Audited
from explorer.studies.private_regression.data import Source, blocks
from explorer.studies.private_regression.theory import demands_of, plans_for

MAX_FEATURES = 20
OPTIONS = ("psd-clip", "trust-region", "unprojected")
"""Keys of the ways to minimise the estimated objective."""
NORMALS_PER_CALL = 12_000_000
_SOLUTIONS_PER_CALL = 60
"""Least squares of a fold that are solved in one call, each in some 10 ms."""


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
    folds : int
        Parts of the users, each of which is predicted from the reports of the others; 1 if errors
        are those on the users who reported.
    """

    source: Source
    features: int
    n: int
    c: tuple[float, ...]
    rule: str
    radius: float
    seed: int
    channel: str = co.DUCHI
    folds: int = 1


@dataclass(frozen=True)
class Fold:
    """Moments of a part of the users: how many, (1/n)Σ z zᵀ and (1/n)Σ l·z, of the part alone."""

    users: int
    A: FloatArray
    b: FloatArray


def without(folds: Sequence[Fold], left_out: int | None = None) -> Fold:
    """Return the moments of all users but those of one fold."""
    kept = [fold for i, fold in enumerate(folds) if i != left_out]
    users = sum(fold.users for fold in kept)
    shares = [fold.users / users for fold in kept]
    A = np.sum([share * fold.A for share, fold in zip(shares, kept, strict=True)], axis=0)
    b = np.sum([share * fold.b for share, fold in zip(shares, kept, strict=True)], axis=0)
    return Fold(users, A, b)


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
    folds : tuple of Fold
        Of the records themselves.
    held_out : float
        Excess risk of least squares without privacy: 0, or that of predicting each fold from the
        others.
    """

    A: FloatArray
    b: FloatArray
    l2: float
    theta: FloatArray
    least: float
    folds: tuple[Fold, ...] = ()
    held_out: float = 0.0

    def held_out_excess(self, thetas: Sequence[FloatArray]) -> float:
        """Return Σ (n_f/n)·f_f(θ_f) − f*, f_f being the objective on the users of fold f.

        Below 0 if the θ_f predict the folds better than one θ can predict all users.
        """
        users = sum(fold.users for fold in self.folds)
        values = [
            fold.users / users * (0.5 * theta @ fold.A @ theta - fold.b @ theta)
            for fold, theta in zip(self.folds, thetas, strict=True)
        ]
        return float(sum(values)) - self.least

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
        Number of trials in which an estimated objective was not convex.
    theta : ndarray of shape (options, features)
        Coefficients of the first trial, from the reports of all users.
    """

    truth: Truth
    excess: FloatArray
    indefinite: int
    theta: FloatArray


@lru_cache(maxsize=64)
def truth_of(
    source: Source, features: int, n: int, radius: float, seed: int, folds: int = 1
) -> Truth:
    """Return the objective without privacy, and its minimum over the ball."""
    moments, l2, users = _Moments(features, folds), 0.0, 0
    for x in blocks(source, features, n, seed):
        z, label = x[:, :-1], x[:, -1]
        for fold, rows in moments.parts(x.shape[0]):
            moments.add(fold, z[rows].T @ z[rows], label[rows] @ z[rows])
        l2 += float(label @ label)
        users += x.shape[0]
    parts = moments.folds()
    every = without(parts)
    best = co.trust_region(every.A, every.b, radius)
    truth = Truth(every.A, every.b, l2 / users, best.theta, best.value, parts)
    if folds == 1:
        return truth
    others = [without(parts, i) for i in range(folds)]
    thetas = [co.trust_region(other.A, other.b, radius).theta for other in others]
    return replace(truth, held_out=truth.held_out_excess(thetas))


class _Moments:
    """Sums over the users of each fold; user number i belongs to fold i modulo `folds`.

    Users come in random order, so that the folds are random parts.
    """

    def __init__(self, features: int, folds: int) -> None:
        self.A = np.zeros((folds, features, features))
        self.b = np.zeros((folds, features))
        self.users = np.zeros(folds, int)
        self._before = 0

    def parts(self, size: int) -> Iterator[tuple[int, slice]]:
        """Yield every fold with its rows among the next so many users."""
        folds = self.users.size
        for fold in range(folds):
            rows = slice((fold - self._before) % folds, None, folds)
            count = len(range(*rows.indices(size)))
            self.users[fold] += count
            if count:
                yield fold, rows
        self._before += size

    def add(self, fold: int, A: FloatArray, b: FloatArray) -> None:
        """Add sums over some users of a fold."""
        self.A[fold] += A
        self.b[fold] += b

    def folds(self) -> tuple[Fold, ...]:
        """Return the averages of each fold."""
        return tuple(
            Fold(int(users), A / users, b / users)
            for users, A, b in zip(self.users, self.A, self.b, strict=True)
        )


def trials_per_call(task: Task) -> int:
    """Return a number of trials that takes a fraction of a second."""
    normals = sum(channel.coordinates.size for channel in co.m_mean_channels(task.c, task.rule))
    drawn = NORMALS_PER_CALL // (2 * task.n * (normals + len(task.c)))
    return max(min(drawn, _SOLUTIONS_PER_CALL // task.folds), 1)


def run_trials(task: Task, first: int, count: int) -> Trials:
    """Draw some trials; trial number t does not depend on the others drawn with it."""
    truth = truth_of(task.source, task.features, task.n, task.radius, task.seed, task.folds)
    excess, indefinite = np.empty((count, len(OPTIONS))), 0
    first_theta = np.zeros((len(OPTIONS), task.features))
    for trial in range(count):
        rng = np.random.default_rng((abs(task.seed), 2, task.n, task.features, first + trial))
        folds = estimate_folds(task, rng)
        every = without(folds)
        fits = [every] if task.folds == 1 else [without(folds, i) for i in range(task.folds)]
        indefinite += any(np.linalg.eigvalsh(fit.A)[0] < 0.0 for fit in fits)
        found = [minimise(fit.A, fit.b, task.radius) for fit in fits]
        for j, thetas in enumerate(zip(*found, strict=True)):
            one = task.folds == 1
            excess[trial, j] = truth.excess(thetas[0]) if one else truth.held_out_excess(thetas)
        if trial == 0:
            first_theta[:] = minimise(every.A, every.b, task.radius)
    return Trials(truth, excess, indefinite, first_theta)


def estimate_folds(task: Task, rng: np.random.Generator) -> tuple[Fold, ...]:
    """Return A and b of f̂ by fold, from two reports of each user at half the budget."""
    half, moments = np.array(task.c) / 2.0, _Moments(task.features, task.folds)
    for x in blocks(task.source, task.features, task.n, task.seed):
        first, second = (co.m_mean(x, half, rng, task.rule, task.channel) for _ in range(2))
        for fold, rows in moments.parts(x.shape[0]):
            one, two = first[rows], second[rows]
            part, vector = co.regression_moments(one[:, :-1], one[:, -1], two[:, :-1], two[:, -1])
            moments.add(fold, one.shape[0] * part, one.shape[0] * vector)
    return moments.folds()


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
    own = own_demand(request, context, 1, MAX_FEATURES)
    features = int(request["features"]) if own is None else len(own.levels)
    values["features"] = np.array([float(features)])
    demands = demands_of(request, points, features, own)
    (plan,) = plans_for(request["budget"], demands, context)
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

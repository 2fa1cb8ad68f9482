"""Figure 3 of the paper: error of the private mean against the coupling q, computed and simulated.

d = 10, δ = (0.2, 0.2, ε, …, ε), ε = 2, n = 10,000 users with fair ±1 coordinates. The paper's
M_mean uses ζ = (1+q)/2 and is drawn below min δ-LDP for all q < 1. With the unbiased constant its
mean error is below it only up to q = 0.086 (0.294 if averages are projected; errata coord-A2,
coord-B14), its median error, which the paper plots, up to q = 0.175, since the budget of the
sensitive coordinates falls like (1−q)/2. Better budgets never lose.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy import coordinates as co
from explorer.privacy.coordinates.budgets import budget_vector
from explorer.privacy.coordinates.mean import m_mean_covariance
from explorer.privacy.coordinates.sampling import m_mean_average
from explorer.privacy.core import checks
from explorer.privacy.core.bound import FloatArray
from explorer.studies.base.simulation import dots_series, mean_interval, trial_pieces
from explorer.studies.base.study import (
    Context,
    Fidelity,
    Guarantee,
    Request,
    Result,
    Series,
    Sweep,
)
from explorer.studies.base.sweeping import SweptPoints, evenly_spread
from explorer.studies.coordinate_mean import theory
from explorer.studies.coordinate_mean.demanded import MAX_COORDINATES, own_demand
from explorer.studies.coordinate_mean.theory import Plan, demands_of, paper_plans, with_own
from explorer.studies.guarantees.audits import Audited

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


MEAN, MEDIAN = "mean", "median"
"""What dots show of the trials."""
_SIMULATED = ("paper", "baseline", "exact", "hybrid")
"""Mechanisms that are simulated."""
_MAX_DOTS = 9
_NORMALS_PER_TRIAL = 2_000_000
_NORMALS_PER_DOT = 20_000_000
"""Limits of the normals drawn. Beyond them fewer users are drawn and the errors scaled, which fall
exactly as 1/n. A dot then takes about a second; 100 trials of Figure 3 are drawn in full."""
_NORMALS_PER_CALL = 10_000_000


@dataclass(frozen=True)
class Experiment:
    """A mechanism to simulate, complete and picklable.

    Attributes
    ----------
    plan : Plan
    users : int
        Number of users drawn.
    q, x2 : float
        Coupling of the data (prior (60), bits ±1) and their mean square.
    """

    plan: Plan
    users: int
    q: float
    x2: float


def normals_a_user(plan: Plan) -> int:
    """Return the number of normals in one user's report."""
    if plan.subsets:
        return sum(len(subset) for subset in plan.subsets)
    return sum(channel.coordinates.size for channel in co.m_mean_channels(plan.c, plan.rule))


def users_drawn(plan: Plan, n: int, trials: int) -> int:
    """Return the number of users to draw in each trial in place of n."""
    normals = min(_NORMALS_PER_TRIAL, _NORMALS_PER_DOT // trials)
    return int(min(n, max(normals // max(normals_a_user(plan), 1), 1)))


def trials_per_call(experiment: Experiment) -> int:
    """Return a number of trials that takes a fraction of a second."""
    work = experiment.users * (normals_a_user(experiment.plan) + experiment.plan.c.size)
    return max(_NORMALS_PER_CALL // work, 1)


def errors(experiment: Experiment, trials: int, seed: tuple[int, ...]) -> FloatArray:
    """Return the squared error of the average, not projected, in each trial.

    Summed over coordinates, against the average of the drawn data. Runs in a worker process.
    """
    plan = experiment.plan
    d = plan.c.size
    channels = (
        co.design_channels(d, plan.subsets, plan.alphas, plan.channel)
        if plan.subsets
        else co.m_mean_channels(plan.c, plan.rule, plan.channel)
    )
    rng = np.random.default_rng(seed)
    squared = np.empty(trials)
    for trial in range(trials):
        x = np.sqrt(experiment.x2) * sample_copies(experiment.users, d, experiment.q, rng)
        estimate = co.draw_mean(x, channels, rng)
        squared[trial] = ((estimate.mean - x.mean(axis=0)) ** 2).sum()
    return squared


def summary(errors: FloatArray, dots: str) -> tuple[float, float, float]:
    """Return the median and quartiles of the errors, or their mean and its 95 % interval."""
    if dots == MEDIAN:
        low, middle, high = np.quantile(errors, [0.25, 0.5, 0.75])
        return float(middle), float(low), float(high)
    mean, low, high = map(float, mean_interval(errors, least=0.0))
    return mean, low, high


def simulated(
    full: Result,
    request: Request,
    points: SweptPoints,
    known: dict[str, tuple[SweptPoints, list[Plan]]],
    labels: dict[str, str],
    context: Context,
) -> Iterator[Result]:
    """Yield the full answer with more and more simulated dots, the last one complete.

    Every dot has its own seed, derived from the request's seed, the mechanism and the index of the
    point, so that it does not depend on the other dots.
    """
    jobs = [
        (key, place)
        for place in _common_points(points, known)
        for key in _SIMULATED
        if key in known
    ]
    dots: dict[str, list[tuple[float, float, float, float]]] = {key: [] for key in _SIMULATED}
    reduction = 0.0
    for done, (key, place) in enumerate(jobs, 1):
        where, plans = known[key]
        j = int(np.flatnonzero(where.x == place)[0])
        n, x2, q = int(where["n"][j]), float(where["x2"][j]), float(where["q"][j])
        plan = plans[j]
        if np.isfinite(plan.worst):
            users = users_drawn(plan, n, int(request["trials"]))
            reduction = max(reduction, n / users)
            experiment = Experiment(plan, users, q, x2)
            pieces = trial_pieces(
                context,
                errors,
                experiment,
                int(request["trials"]),
                trials_per_call(experiment),
                (abs(request.seed), _SIMULATED.index(key), j),
            )
            trial_errors = np.concatenate(list(pieces)) * (users / n)
            dots[key].append((place, *summary(trial_errors, request["dots"])))
        last = done == len(jobs)
        if last or key == _SIMULATED[-1]:
            notes = full.notes
            if reduction > 1.0:
                notes += (
                    f"Up to {reduction:,.0f} times fewer users were drawn than asked for, and the "
                    "errors divided accordingly: they fall exactly as 1/n.",
                )
            yield replace(
                full,
                fidelity=Fidelity.FULL,
                series=full.series + _series(dots, labels, request),
                notes=notes,
                progress=done / len(jobs),
                complete=last,
            )


def _common_points(
    points: SweptPoints, known: dict[str, tuple[SweptPoints, list[Plan]]]
) -> list[float]:
    """Return about nine points of the axis at which every mechanism is known."""
    common = points.x
    for where, _ in known.values():
        common = np.intersect1d(common, where.x)
    return [float(x) for x in common[evenly_spread(common.size, _MAX_DOTS)]]


def _series(
    dots: dict[str, list[tuple[float, float, float, float]]],
    labels: dict[str, str],
    request: Request,
) -> tuple[Series, ...]:
    bars = "median and quartiles" if request["dots"] == MEDIAN else "mean and 95 % interval"
    note = f"{bars} of {request['trials']} trials, seed {request.seed}, averages not projected"
    return tuple(
        dots_series(f"{key}_simulated", f"simulated: {labels[key]}", theory.FIGURE_3, rows, note)
        for key, rows in dots.items()
        if rows
    )


def audits(request: Request, _promise: Guarantee, context: Context) -> Audited:
    """Return M_mean with the paper's budgets, on two records that differ in one coordinate."""
    values = {k: np.array([float(v)]) for k, v in request.values if isinstance(v, int | float)}
    own = own_demand(request, context, 2, MAX_COORDINATES)
    one = with_own(SweptPoints(Sweep("q", 0.0, 1.0, 1), np.empty(0), values), own, None)
    demands = demands_of(request, one, own)
    (plan,), most = paper_plans(demands), demands[-1].most
    records = np.ones((2, plan.c.size))
    records[0, most] = -1.0

    def run(side: int, runs: int, rng: np.random.Generator) -> FloatArray:
        report = co.m_mean(np.tile(records[side], (runs, 1)), plan.c, rng, plan.rule, plan.channel)
        score: FloatArray = report[:, most]
        return score

    return Audited(
        "one report by the paper's budgets; the most sensitive coordinate is flipped, the others "
        "are fixed",
        run,
        float(plan.c[most]),
        0.0,
        "promised of this coordinate alone, c₁",
        max(1, 100_000 // plan.c.size),
    )

"""The experiment of Figure 3, drawn: users' data, their reports, and the error of the average."""

from dataclasses import dataclass

import numpy as np

from explorer.privacy import coordinates as co
from explorer.privacy.core.bound import FloatArray
from explorer.studies.base.simulation import mean_interval
from explorer.studies.coordinate_mean.figure3 import sample_copies
from explorer.studies.coordinate_mean.parameters import MEDIAN
from explorer.studies.coordinate_mean.plans import Plan

NORMALS_A_TRIAL = 2_000_000
NORMALS_A_DOT = 20_000_000
"""More users than these allow are stood in for by fewer: errors fall exactly as 1/n. A dot then
takes a second or less, whatever is asked; 100 trials of Figure 3 are drawn in full."""
NORMALS_A_CALL = 10_000_000


@dataclass(frozen=True)
class Experiment:
    """A mechanism to be tried out, complete and picklable.

    Attributes
    ----------
    plan : Plan
    users : int
        How many are drawn.
    q, x2 : float
        Coupling of the data (prior (60), bits ±1) and their mean square.
    """

    plan: Plan
    users: int
    q: float
    x2: float


def normals_a_user(plan: Plan) -> int:
    """Return how many normals one user's report takes."""
    if plan.subsets:
        return sum(len(subset) for subset in plan.subsets)
    return sum(channel.coordinates.size for channel in co.m_mean_channels(plan.c, plan.rule))


def users_drawn(plan: Plan, n: int, trials: int) -> int:
    """Return how many users are drawn to stand for n in each trial."""
    normals = min(NORMALS_A_TRIAL, NORMALS_A_DOT // trials)
    return int(min(n, max(normals // max(normals_a_user(plan), 1), 1)))


def trials_a_call(experiment: Experiment) -> int:
    """Return how many trials take a fraction of a second."""
    work = experiment.users * (normals_a_user(experiment.plan) + experiment.plan.c.size)
    return max(NORMALS_A_CALL // work, 1)


def errors(experiment: Experiment, trials: int, seed: tuple[int, ...]) -> FloatArray:
    """Return the squared error of the average, not projected, in each trial.

    Summed over coordinates, against the average of the data drawn. Runs in a worker process.
    """
    plan = experiment.plan
    d = plan.c.size
    channels = (
        co.design_channels(d, plan.subsets, plan.alphas, plan.channel)
        if plan.subsets
        else co.m_mean_channels(plan.c, plan.rule, plan.channel)
    )
    rng = np.random.default_rng(seed)
    found = np.empty(trials)
    for trial in range(trials):
        x = np.sqrt(experiment.x2) * sample_copies(experiment.users, d, experiment.q, rng)
        estimate = co.draw_mean(x, channels, rng)
        found[trial] = ((estimate.mean - x.mean(axis=0)) ** 2).sum()
    return found


def summary(found: FloatArray, dots: str) -> tuple[float, float, float]:
    """Return what is marked of the trials' errors, and the ends of its bar.

    The median and the quartiles, or the mean and its 95 % interval.
    """
    if dots == MEDIAN:
        low, middle, high = np.quantile(found, [0.25, 0.5, 0.75])
        return float(middle), float(low), float(high)
    mean, low, high = map(float, mean_interval(found, least=0.0))
    return mean, low, high

"""Privacy audits by sampling: Clopper–Pearson lower bounds on ε and δ.

A mechanism that is (ε, δ)-DP has P(E) ≤ e^ε P'(E) + δ for every event E and every two neighbours.
Counting how often events happen on both bounds the probabilities, and so ε from below, with a
confidence that holds for any mechanism whatsoever. A lower bound above the promised ε proves a
broken promise; one below it proves nothing.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core import checks
from explorer.privacy.core.bound import BoolArray, FloatArray


@dataclass(frozen=True, slots=True)
class Audit:
    """A lower bound and the event that shows it.

    Attributes
    ----------
    epsilon : float
        Too high with probability at most 1 − confidence; −inf if nothing is shown.
    event : int
        Index of the event.
    swapped : bool
        Whether the event is the likelier one on the second dataset.
    """

    epsilon: float
    event: int
    swapped: bool


def clopper_pearson(hits: ArrayLike, trials: int, risk: float) -> tuple[FloatArray, FloatArray]:
    """Return lower and upper bounds of a probability, each wrong with probability at most `risk`.

    Parameters
    ----------
    hits : array of int
        How often the event happened, in [0, trials].
    trials : int
        Independent trials, in [1, 1e12].
    risk : float
        In (0, 1), for each side by itself.

    Raises
    ------
    ValueError
        Outside these domains.

    References
    ----------
    Clopper and Pearson 1934, *The use of confidence or fiducial limits*.
    """
    from scipy.special import betaincinv

    n = float(checks.integers("trials", trials, 1, checks.MAX_COUNT))
    x = checks.integers("hits", hits, 0, n)
    side = float(checks.open_unit("risk", risk))
    # The beta quantiles' parameters must be above 0; at the ends the bounds are 0 and 1.
    low = np.where(x > 0, betaincinv(np.maximum(x, 1), n - np.maximum(x, 1) + 1, side), 0.0)
    below = np.minimum(x, n - 1)
    high = np.where(x < n, betaincinv(below + 1, n - below, 1 - side), 1.0)
    return np.asarray(low), np.asarray(high)


def epsilon_lower_bound(
    counts_p: ArrayLike,
    counts_q: ArrayLike,
    trials: int | tuple[int, int],
    confidence: float = 1 - 1e-6,
    delta: float = 0.0,
) -> Audit:
    """Return the largest ε that some of the given events refutes: ln((P(E) − δ)/P'(E)) from below.

    The risk is shared evenly among all events, both directions and both probabilities
    (Bonferroni), so the events may overlap and be counted on the same runs; they must have been
    fixed before these runs were seen (`likeliest_events` finds good ones on others).

    Parameters
    ----------
    counts_p, counts_q : array of int, shape (events,)
        How often each event happened on the one dataset and on its neighbour.
    trials : int or (int, int)
        Independent runs on each.
    confidence : float
        In (0, 1).
    delta : float
        δ of the promise, in [0, 1].

    Raises
    ------
    ValueError
        If shapes differ, no event is given or a number is outside its domain.
    """
    slack = float(checks.reals("delta", delta, 0.0, 1.0))
    (low_p, high_p), (low_q, high_q) = _intervals(counts_p, counts_q, trials, confidence)
    losses = np.stack([_log_ratio(low_p - slack, high_q), _log_ratio(low_q - slack, high_p)])
    swapped, event = np.unravel_index(int(np.argmax(losses)), losses.shape)
    return Audit(float(losses.max()), int(event), bool(swapped))


def delta_lower_bound(
    counts_p: ArrayLike,
    counts_q: ArrayLike,
    trials: int | tuple[int, int],
    epsilon: float,
    confidence: float = 1 - 1e-6,
) -> float:
    """Return the largest δ that some of the events refutes at ε: P(E) − e^ε P'(E) from below.

    Parameters are those of `epsilon_lower_bound`, with ε in [0, 800]; at least 0.
    """
    factor = math.exp(min(float(checks.reals("epsilon", epsilon, 0.0, checks.MAX_EPSILON)), 700.0))
    (low_p, high_p), (low_q, high_q) = _intervals(counts_p, counts_q, trials, confidence)
    best = max((low_p - factor * high_q).max(), (low_q - factor * high_p).max())
    return max(0.0, float(best))


def _intervals(
    counts_p: ArrayLike, counts_q: ArrayLike, trials: int | tuple[int, int], confidence: float
) -> list[tuple[FloatArray, FloatArray]]:
    """Return each dataset's lowest and highest probabilities of the events, all true at once."""
    p, q = np.atleast_1d(counts_p), np.atleast_1d(counts_q)
    if p.shape != q.shape or p.ndim != 1 or not p.size:
        raise ValueError(
            f"counts_p, counts_q: shapes {p.shape} and {q.shape} are not (events,) for both"
        )
    runs = trials if isinstance(trials, tuple) else (trials, trials)
    risk = (1 - float(checks.open_unit("confidence", confidence))) / (4 * p.size)
    return [clopper_pearson(counts, n, risk) for counts, n in zip((p, q), runs, strict=True)]


def likeliest_events(counts_p: ArrayLike, counts_q: ArrayLike, events: int = 8) -> BoolArray:
    """Return nested sets of outcomes in which the first dataset's runs are most over-represented.

    By the lemma of Neyman and Pearson the best events are sets of outcomes with the largest
    ratios. To be used on one half of the runs, for a bound from the other half.

    Parameters
    ----------
    counts_p, counts_q : array of int, shape (outcomes,)
        How often each outcome was seen.
    events : int
        How many sets to return, ≥ 1.

    Returns
    -------
    ndarray of bool, shape (events, outcomes)
        The sets' likelihoods on the first dataset are about evenly spaced on a log scale.
    """
    p = checks.integers("counts_p", counts_p, 0, checks.MAX_COUNT)
    q = checks.integers("counts_q", counts_q, 0, checks.MAX_COUNT)
    if p.shape != q.shape or p.ndim != 1 or not p.size:
        raise ValueError(
            f"counts_p, counts_q: shapes {p.shape} and {q.shape} are not (outcomes,) for both"
        )
    checks.reals("events", events, 1)
    # Half a count more on both sides: an outcome seen once and never is no proof of a high ratio.
    order = np.argsort(-(p + 0.5) / (q + 0.5), kind="stable")
    reached = np.cumsum(p[order]) / max(float(p.sum()), 1.0)
    masks = np.zeros((events, p.size), dtype=np.bool_)
    for row, share in enumerate(0.5 ** np.arange(1, events + 1)):
        masks[row, order[: int(np.searchsorted(reached, share)) + 1]] = True
    return masks


@dataclass(frozen=True)
class Tested:
    """Shown lower limits on the errors of tests of one data set against its neighbour.

    Attributes
    ----------
    type1, type2 : ndarray of float, shape (2·cuts,)
        Some test has both errors at most these; all together wrong with probability at most
        1 − confidence.
    epsilon : float
        As of `Audit`, at the δ that was given; of the same confidence.
    """

    type1: FloatArray
    type2: FloatArray
    epsilon: float


def thresholds_of(scores_p: ArrayLike, scores_q: ArrayLike, most: int = 24) -> FloatArray:
    """Return scores, increasing, at which tests that say "second" from there on are worth a look.

    Parameters
    ----------
    scores_p, scores_q : array of float, shape (runs,)
        Of outputs on the first data set and on the second; not those that judge the tests.
    most : int
        How many at most.
    """
    both = np.concatenate([np.asarray(scores_p, float), np.asarray(scores_q, float)])
    levels = np.concatenate([np.linspace(0.02, 0.98, most - 4), [0.002, 0.007, 0.993, 0.998]])
    # Scores of few values are cut at these.
    return np.unique(np.quantile(both, levels, method="higher"))


def judged_tests(
    hits_p: ArrayLike, hits_q: ArrayLike, trials: int, confidence: float, delta: float = 0.0
) -> Tested:
    """Return the shown error rates of tests fixed beforehand.

    Parameters
    ----------
    hits_p, hits_q : array of int, shape (cuts,)
        How often a test said "second" on the first data set, and on the second.
    trials : int
        Runs of each.
    confidence : float
        In (0, 1), of all that is returned together.
    delta : float
        δ of the promise.

    Raises
    ------
    ValueError
        As `epsilon_lower_bound`.
    """
    said_p, said_q = np.atleast_1d(hits_p), np.atleast_1d(hits_q)
    # The opposite of a test is one as well. Half of the risk is for ε.
    p, q = (np.concatenate([count, trials - count]) for count in (said_p, said_q))
    half = 1 - (1 - confidence) / 2
    (_, type1), (low_q, _) = _intervals(p, q, trials, half)
    lower = epsilon_lower_bound(p, q, trials, half, delta)
    # A test that does not look has errors that add up to 1.
    return Tested(type1, np.minimum(1 - low_q, 1 - type1), lower.epsilon)


def _log_ratio(low: FloatArray, high: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore"):
        return np.where(low > 0, np.log(np.maximum(low, 1e-320)) - np.log(high), -math.inf)

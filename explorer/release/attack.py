"""Attacks on releases: averaging, membership inference, and an audit of a mechanism's ε.

All run on synthetic users only: on real data, N runs would be N releases.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core.bound import FloatArray
from explorer.privacy.heatmaps.quadtree import all_codes
from explorer.privacy.noise.laplace_law import dlap_sd
from explorer.privacy.releases.attacks import (
    audit_epsilon_lower,
    averaging_sd,
    best_guess,
    tradeoff,
)
from explorer.privacy.releases.means import DECIMAL_PLACES
from explorer.privacy.releases.selection import permute_and_flip_law
from explorer.release.dry_run import neighbour, synthetic_records, with_identical_rows
from explorer.release.mechanisms import MECHANISMS, mechanism_of
from explorer.release.mechanisms.base import RandomBytes, UserRecords
from explorer.release.mechanisms.contributions import (
    bin_counts,
    heatmap_counts,
    mean_sums,
    one_cell_counts,
    region_counts,
    user_count,
)

LogLikelihood = Callable[[Mapping[str, Any]], float]
"""Map from ``Output.stored`` to ln P, up to terms that do not depend on the records."""


def log_likelihood(name: str, records: UserRecords, p: Any, epsilon: Fraction) -> LogLikelihood:
    """Return the log-likelihood of a mechanism's stored output given the records.

    Parameters
    ----------
    name : str
        Id of the mechanism.
    records : UserRecords
    p : object
        Its parsed parameters.
    epsilon : Fraction
    """
    return _LIKELIHOODS[name](records, p, epsilon)


def _laplace(values: ArrayLike, counts: ArrayLike, epsilon: Fraction, sensitivity: int) -> float:
    """Return −Σ|Y − s|·ε/B."""
    distance = np.abs(np.asarray(values, dtype=float) - np.asarray(counts, dtype=float))
    return -float(distance.sum()) * float(epsilon / sensitivity)


def _adaptive(records: UserRecords, p: Any, epsilon: Fraction) -> LogLikelihood:
    budgets = MECHANISMS["heatmap.adaptive/1"].budgets(p, epsilon)  # type: ignore[attr-defined]
    counts = heatmap_counts(records, p.area, p.level, p.units)

    def of(stored: Mapping[str, Any]) -> float:
        result = 0.0
        table = np.array([row[:3] for row in stored["readings"]], dtype=np.int64)
        values = np.array([float(row[3]) for row in stored["readings"]])
        for level, draw in np.unique(table[:, [0, 2]], axis=0).tolist():
            at = (table[:, 0] == level) & (table[:, 2] == draw)
            exact = counts.at(level, table[at, 1])
            result += _laplace(values[at], exact, budgets.of(level, draw), p.units)
        return result

    return of


def _paper(records: UserRecords, p: Any, epsilon: Fraction) -> LogLikelihood:
    parts = MECHANISMS["heatmap.paper/1"].parts(p, epsilon)
    counts = heatmap_counts(records, p.area, p.level, p.units)

    def of(stored: Mapping[str, Any]) -> float:
        table = np.array([row[:2] for row in stored["readings"]], dtype=np.int64)
        values = np.array([float(row[2]) for row in stored["readings"]])
        result = 0.0
        for level, part in enumerate(parts, p.start):
            at = table[:, 0] == level
            result += _laplace(values[at], counts.at(level, table[at, 1]), part.epsilon, p.units)
        return result

    return of


def _pyramid(records: UserRecords, p: Any, epsilon: Fraction) -> LogLikelihood:
    parts = MECHANISMS["heatmap.pyramid/1"].parts(p, epsilon)
    counts = heatmap_counts(records, p.area, p.level, p.units)
    exact = [counts.at(k, np.arange(1 << 2 * k)) for k, _ in enumerate(parts, p.start)]

    def of(stored: Mapping[str, Any]) -> float:
        levels = zip(stored["levels"], exact, parts, strict=True)
        return sum(_laplace(one, s, part.epsilon, p.units) for one, s, part in levels)

    return of


def _cells(records: UserRecords, p: Any, epsilon: Fraction) -> LogLikelihood:
    exact = one_cell_counts(records, p.area, p.level)[all_codes(p.level).ravel()]
    return lambda stored: _laplace(stored["cells"], exact, epsilon, 1)


def _users(records: UserRecords, p: Any, epsilon: Fraction) -> LogLikelihood:
    exact = user_count(records, p.area)
    return lambda stored: _laplace([stored["noisy_users"]], exact, epsilon, 1)


def _regions(records: UserRecords, p: Any, epsilon: Fraction) -> LogLikelihood:
    scores = region_counts(records, p.area, p.rows, p.columns).tolist()
    parts = MECHANISMS["select.region/1"].parts(p, epsilon)

    @cache
    def law(left: tuple[int, ...], share: Fraction) -> FloatArray:
        return permute_and_flip_law([scores[k] for k in left], share)

    def of(stored: Mapping[str, Any]) -> float:
        left, result = tuple(range(len(scores))), 0.0
        for region, part in zip(stored["regions"], parts, strict=True):
            result += float(np.log(law(left, part.epsilon)[left.index(region)]))
            left = tuple(k for k in left if k != region)
        return result

    return of


def _bins(records: UserRecords, p: Any, epsilon: Fraction) -> LogLikelihood:
    exact = bin_counts(records, p.area, p.column, p.bin_of(), p.count, p.units)
    return lambda stored: _laplace(stored["bins"], exact, epsilon, p.units)


def _means(records: UserRecords, p: Any, epsilon: Fraction) -> LogLikelihood:
    *sums, count = MECHANISMS["mean/1"].parts(p, epsilon)
    scale = 10**DECIMAL_PLACES
    bounds = [(int(low * scale), int(high * scale)) for low, high in p.bounds()]
    totals, users = mean_sums(records, p.area, p.columns, bounds, p.units)
    return lambda stored: (
        _laplace(stored["centred_sums"], totals, sums[0].epsilon, p.units)
        + _laplace([stored["noisy_users"]], users, count.epsilon, 1)
    )


_LIKELIHOODS: dict[str, Callable[[UserRecords, Any, Fraction], LogLikelihood]] = {
    "heatmap.adaptive/1": _adaptive,
    "heatmap.adaptive/2": _adaptive,
    "heatmap.paper/1": _paper,
    "heatmap.pyramid/1": _pyramid,
    "counts.cells/1": _cells,
    "count.users/1": _users,
    "select.region/1": _regions,
    "histogram/1": _bins,
    "mean/1": _means,
}


RISK = Fraction(1, 100)
"""β: upper bound of the probability that a correct mechanism fails an audit."""
FIRST_PART = 5
"""One in so many runs selects the threshold; the others are counted."""
_THRESHOLDS = 200


@dataclass(frozen=True, slots=True)
class AveragingResult:
    """Noise that remains when demonstration draws of one count are averaged.

    Attributes
    ----------
    draws : int
        k.
    sd : float
        Standard deviation of the mean of k draws.
    epsilon : Fraction
        Privacy cost of k draws: k·ε.
    """

    draws: int
    sd: float
    epsilon: Fraction


@dataclass(frozen=True, slots=True, eq=False)
class Membership:
    """Limits of membership inference under ε.

    Attributes
    ----------
    false_alarms, misses : ndarray of float
        Trade-off curve f(α): no test lies below it.
    best_total_error : float
        2/(1 + e^ε): smallest sum of both error rates.
    best_guess : float
        e^ε/(1 + e^ε): largest probability of a correct guess.
    """

    false_alarms: FloatArray
    misses: FloatArray
    best_total_error: float
    best_guess: float


@dataclass(frozen=True, slots=True, eq=False)
class AuditResult:
    """Result of running a release mechanism on neighbouring data sets.

    Attributes
    ----------
    claim : float
        ε of the certificate.
    shown : float
        ε̂, a lower bound of the true ε with error probability at most `RISK`.
    hits_with, hits_without : int
        Runs at or above the threshold, with the user and without.
    runs : int
        Number of counted runs of each kind.
    threshold : float
        Of the log-likelihood ratio, selected on runs that are not counted.
    false_alarms, misses : ndarray of float
        Empirical error rates of the tests at all thresholds, in the counted runs: estimates to
        compare with the curve of `membership`.
    """

    claim: float
    shown: float
    hits_with: int
    hits_without: int
    runs: int
    threshold: float
    false_alarms: FloatArray
    misses: FloatArray

    @property
    def fails(self) -> bool:
        """Whether ε̂ exceeds the claim. A correct mechanism fails in at most 1 of 100 audits."""
        return self.shown > self.claim


def averaging(epsilon: Fraction, draws: Sequence[int]) -> list[AveragingResult]:
    """Return remaining noise and cost of averaging k draws of a count of sensitivity 1."""
    sd = dlap_sd(epsilon, 1)
    return [AveragingResult(k, averaging_sd(sd, k), k * epsilon) for k in draws]


def membership(epsilon: Fraction, points: int = 201) -> Membership:
    """Return the trade-off of false alarms and misses under ε, including its corner."""
    corner = Fraction(1 - best_guess(epsilon))
    alphas = sorted({corner, *(Fraction(k, points - 1) for k in range(points))})
    result = [tradeoff(epsilon, alpha) for alpha in alphas]
    return Membership(
        np.array([float(alpha) for alpha in alphas]),
        np.array([errors.beta for errors in result]),
        result[0].best_total_error,
        best_guess(epsilon),
    )


def audit(
    name: str,
    parameters: dict[str, Any],
    epsilon: Fraction,
    runs: int,
    users: int,
    rng: np.random.Generator,
    random_bytes: RandomBytes = os.urandom,
    check: Callable[[], None] = lambda: None,
) -> AuditResult:
    """Audit a mechanism's implementation on synthetic users, with and without one of them.

    All rows of that user are equal, which maximises the influence. The test statistic is the
    log-likelihood ratio, the most powerful one; the threshold is selected on the first fifth of
    the runs, and the other runs are counted.

    Parameters
    ----------
    name : str
        Id of the mechanism.
    parameters : dict
        As in a plan.
    epsilon : Fraction
    runs : int
        Runs with the user, and as many without, ≥ 50.
    users : int
        Number of synthetic users, ≥ 1.
    rng : numpy.random.Generator
        For the synthetic users.
    random_bytes : callable
        For the noise; `os.urandom` except in tests.
    check : callable
        Called between runs; it cancels the audit by raising.

    Raises
    ------
    ParameterError
        If the parameters are invalid.
    """
    if runs < 50:
        raise ValueError(f"runs: {runs} are too few; take 50 or more")
    mechanism = mechanism_of(name)
    p = mechanism.parse(parameters)
    records = with_identical_rows(synthetic_records(p, mechanism.reads(p), users, rng), 0, p)
    both = records, neighbour(records, 0)
    with_user, without = (log_likelihood(name, one, p, epsilon) for one in both)

    def scores(of: UserRecords) -> FloatArray:
        result = np.empty(runs)
        for k in range(runs):
            check()
            stored = mechanism.draw(of, p, epsilon, random_bytes).stored
            result[k] = with_user(stored) - without(stored)
        return result

    here, there = (scores(one) for one in both)
    return evaluate_audit(here, there, float(mechanism.price(p, epsilon)))


def evaluate_audit(here: FloatArray, there: FloatArray, claim: float) -> AuditResult:
    """Return the result of an audit from the scores of its runs.

    Parameters
    ----------
    here, there : ndarray of float, shape (runs,)
        Log-likelihood ratios of the runs with the user and without, in order.
    claim : float
        ε.
    """
    first = max(len(here) // FIRST_PART, 1)
    # Ratios of equal outputs differ in the last digits.
    here, there = np.round(here, 9), np.round(there, 9)
    thresholds = np.unique(np.concatenate([here[:first], there[:first]]))
    if len(thresholds) > _THRESHOLDS:
        thresholds = thresholds[np.linspace(0, len(thresholds) - 1, _THRESHOLDS).astype(int)]

    counted = len(here) - first

    def hits(threshold: float, part: slice) -> tuple[int, int]:
        with_user, without = (int((one[part] >= threshold).sum()) for one in (here, there))
        return with_user, without

    def expected_bound(threshold: float) -> float:
        """Return ε̂ of the counted runs if hits were as frequent as in the first part."""
        most = [
            round((seen + 0.5) / (first + 1) * counted) for seen in hits(threshold, slice(first))
        ]
        return audit_epsilon_lower(most[0], most[1], counted, RISK).eps_lower

    best = max(thresholds.tolist(), key=expected_bound)
    seen = hits(best, slice(first, None))
    shown = audit_epsilon_lower(*seen, counted, RISK).eps_lower
    rates = np.array([(0, 0), *(hits(t, slice(first, None)) for t in thresholds[::-1])]) / counted
    misses, alarms = 1 - rates[::-1, 0], rates[::-1, 1]
    return AuditResult(claim, shown, *seen, counted, best, alarms, misses)

"""What can be found out about one person from releases, and whether the code that draws keeps ε.

All on made-up people: on real data N runs would be N releases.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from explorer.privacy.core.bound import FloatArray
from explorer.privacy.noise.laplace_law import dlap_sd
from explorer.privacy.releases.attacks import (
    audit_epsilon_lower,
    averaging_sd,
    best_guess,
    tradeoff,
)
from explorer.release.dry_run import gathered, neighbour, synthetic_people
from explorer.release.likelihoods import log_likelihood
from explorer.release.mechanisms import mechanism_of
from explorer.release.mechanisms.base import RandomBytes
from explorer.release.user_records import UserRecords

RISK = Fraction(1, 100)
"""β: how often a correct mechanism fails an audit by chance, at most."""
FIRST_PART = 5
"""One in so many runs sets the threshold, the others are counted."""
_THRESHOLDS = 200


@dataclass(frozen=True, slots=True)
class Averaged:
    """What averaging demonstration draws of one count leaves of its noise.

    Attributes
    ----------
    draws : int
    sd : float
        Of the mean of so many draws.
    epsilon : Fraction
        What so many draws would cost: k·ε.
    """

    draws: int
    sd: float
    epsilon: Fraction


@dataclass(frozen=True, slots=True, eq=False)
class Membership:
    """What ε leaves to everybody who asks whether a person is there.

    Attributes
    ----------
    false_alarms, misses : ndarray of float
        The curve f(α): no test is below it.
    best_total_error : float
        2/(1 + e^ε).
    best_guess : float
        e^ε/(1 + e^ε).
    """

    false_alarms: FloatArray
    misses: FloatArray
    best_total_error: float
    best_guess: float


@dataclass(frozen=True, slots=True, eq=False)
class Audited:
    """What runs of the release's code on neighbours show.

    Attributes
    ----------
    claim : float
        ε of the certificate.
    shown : float
        ε̂: no smaller ε holds, wrong with chance at most `RISK`.
    hits_with, hits_without : int
        Runs at or above the threshold, with the person and without.
    runs : int
        That were counted, of each.
    threshold : float
        Of the log-likelihood ratio, from runs that were not counted.
    false_alarms, misses : ndarray of float
        What tests at other thresholds did in the runs that were counted, from always to never
        saying "there": estimates, to be drawn beside the claimed curve of `membership`.
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
        """Whether more than the claim was shown; by chance in 1 of 100 audits, so repeat."""
        return self.shown > self.claim


def averaging(epsilon: Fraction, draws: Sequence[int]) -> list[Averaged]:
    """Return what averages of so many draws of a count of sensitivity 1 leave, and would cost."""
    sd = dlap_sd(epsilon, 1)
    return [Averaged(k, averaging_sd(sd, k), k * epsilon) for k in draws]


def membership(epsilon: Fraction, points: int = 201) -> Membership:
    """Return the claimed trade-off of false alarms and misses, its corner included."""
    corner = Fraction(1 - best_guess(epsilon))
    alphas = sorted({corner, *(Fraction(k, points - 1) for k in range(points))})
    found = [tradeoff(epsilon, alpha) for alpha in alphas]
    return Membership(
        np.array([float(alpha) for alpha in alphas]),
        np.array([errors.beta for errors in found]),
        found[0].best_total_error,
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
) -> Audited:
    """Run a mechanism's own code on made-up people with and without one of them.

    That person's rows are all alike, so that they weigh as much in one place as anybody can. Of
    every output the log-likelihood ratio is taken, which is the best test there is; a threshold is
    chosen on a first fifth of the runs, and the others are counted.

    Parameters
    ----------
    name : str
        Id of the mechanism.
    parameters : dict
        Of a plan.
    epsilon : Fraction
    runs : int
        With the person and as many without, ≥ 50.
    users : int
        How many made-up people, ≥ 1.
    rng : numpy.random.Generator
        Makes the people.
    random_bytes : callable
        For the noise; `os.urandom`, but in tests.
    check : callable
        Called between runs; it stops the audit by raising.

    Raises
    ------
    ParameterError
        If the parameters can't be used.
    """
    if runs < 50:
        raise ValueError(f"runs: {runs} are too few; take 50 or more")
    mechanism = mechanism_of(name)
    p = mechanism.checked(parameters)
    people = gathered(synthetic_people(p, mechanism.reads(p), users, rng), 0, p)
    both = people, neighbour(people, 0)
    with_user, without = (log_likelihood(name, one, p, epsilon) for one in both)

    def scores(of: UserRecords) -> FloatArray:
        found = np.empty(runs)
        for k in range(runs):
            check()
            stored = mechanism.draw(of, p, epsilon, random_bytes).stored
            found[k] = with_user(stored) - without(stored)
        return found

    here, there = (scores(one) for one in both)
    return judged(here, there, float(mechanism.price(p, epsilon)))


def judged(here: FloatArray, there: FloatArray, claim: float) -> Audited:
    """Return what scores of runs with a person and without show.

    Parameters
    ----------
    here, there : ndarray of float, shape (runs,)
        Of each run, in order.
    claim : float
        ε.
    """
    first = max(len(here) // FIRST_PART, 1)
    # Ratios of equal outputs differ in their last digits: compare them rounded.
    here, there = np.round(here, 9), np.round(there, 9)
    thresholds = np.unique(np.concatenate([here[:first], there[:first]]))
    if len(thresholds) > _THRESHOLDS:
        thresholds = thresholds[np.linspace(0, len(thresholds) - 1, _THRESHOLDS).astype(int)]

    counted = len(here) - first

    def hits(threshold: float, part: slice) -> tuple[int, int]:
        with_user, without = (int((one[part] >= threshold).sum()) for one in (here, there))
        return with_user, without

    def promised(threshold: float) -> float:
        """Return what the counted runs would show if hits were as frequent as in the first."""
        most = [
            round((seen + 0.5) / (first + 1) * counted) for seen in hits(threshold, slice(first))
        ]
        return audit_epsilon_lower(most[0], most[1], counted, RISK).eps_lower

    best = max(thresholds.tolist(), key=promised)
    seen = hits(best, slice(first, None))
    shown = audit_epsilon_lower(*seen, counted, RISK).eps_lower
    rates = np.array([(0, 0), *(hits(t, slice(first, None)) for t in thresholds[::-1])]) / counted
    misses, alarms = 1 - rates[::-1, 0], rates[::-1, 1]
    return Audited(claim, shown, *seen, counted, best, alarms, misses)

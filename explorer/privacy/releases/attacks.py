"""Attacks on a release: error rates of membership tests, and lower bounds from runs."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

from explorer.privacy.audit import clopper_pearson


class Errors(NamedTuple):
    """Error rates of any membership test under ε-DP.

    Attributes
    ----------
    beta : float
        Least rate of misses at the false-alarm rate asked about.
    best_total_error : float
        Least sum of both rates at any threshold.
    """

    beta: float
    best_total_error: float


class LowerBound(NamedTuple):
    """Lower bound on ε from runs with and without a user.

    Attributes
    ----------
    p_low, p_high : float
        Of the event: at least so likely with the user, at most so likely without.
    eps_lower : float
        ln(p_low/p_high): no smaller ε holds; −∞ if nothing was seen.
    """

    p_low: float
    p_high: float
    eps_lower: float


def tradeoff(epsilon: Fraction, alpha: Fraction) -> Errors:
    """Return max(0, 1 − e^ε·α, e^−ε·(1 − α)), and 2/(1 + e^ε).

    Parameters
    ----------
    epsilon : Fraction
        ≥ 0.
    alpha : Fraction
        In [0, 1].
    """
    if epsilon < 0 or not 0 <= alpha <= 1:
        raise ValueError(f"epsilon, alpha: {epsilon}, {alpha} are outside [0, ∞) and [0, 1]")
    e, a = float(epsilon), float(alpha)
    steep = 1 - math.exp(min(e + math.log(a), 700.0)) if a > 0 else 1.0
    low = math.exp(-e)
    return Errors(max(0.0, steep, low * (1 - a)), 2 * low / (1 + low))


def best_guess(epsilon: Fraction) -> float:
    """Return e^ε/(1 + e^ε): how often the best guess from even odds is right, at most."""
    return 1 / (1 + math.exp(-float(epsilon)))


def audit_epsilon_lower(hits_with: int, hits_without: int, runs: int, beta: Fraction) -> LowerBound:
    """Return the ε that runs refute all smaller values of, wrong with chance at most β.

    Half of the risk is for each probability (Clopper and Pearson 1934).

    Parameters
    ----------
    hits_with, hits_without : int
        How often an event happened that was fixed before these runs, with the user and without.
    runs : int
        Of each.
    beta : Fraction
        In (0, 1).
    """
    half = float(Fraction(beta) / 2)
    low = float(clopper_pearson(hits_with, runs, half)[0])
    high = float(clopper_pearson(hits_without, runs, half)[1])
    # No ε is below 0, whatever was seen.
    return LowerBound(low, high, max(math.log(low / high), 0.0) if low > 0 else 0.0)


def averaging_sd(sd: float, draws: int) -> float:
    """Return the standard deviation of the mean of independent draws: sd/√k, whose price is kε."""
    if draws < 1:
        raise ValueError(f"draws: {draws} is below 1")
    return sd / math.sqrt(draws)

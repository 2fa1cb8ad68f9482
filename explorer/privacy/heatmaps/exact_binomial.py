"""Ranks and thresholds from binomial tails, in exact rational arithmetic."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from math import comb

from explorer.privacy.core import checks


@lru_cache(maxsize=64)
def upper_rank(draws: int, quantile: Fraction, confidence: Fraction) -> int | None:
    """Return the least k for which the k-th smallest of m draws is above a quantile, surely.

    The least k with P(Bin(m, q) ≤ k − 1) ≥ confidence: the k-th smallest of m independent draws of
    any law is then at least its q-quantile with that probability. No law is assumed (see David and
    Nagaraja 2003, *Order statistics*, section 7.1).

    Parameters
    ----------
    draws : int
        m ≥ 1.
    quantile : Fraction
        q in (0, 1).
    confidence : Fraction
        In (0, 1).

    Returns
    -------
    int or None
        In 1..m; None if there are too few draws.
    """
    _check(draws, quantile=quantile, confidence=confidence)
    for k, below in enumerate(_distribution(draws, quantile), 1):
        if k <= draws and below >= confidence:
            return k
    return None


@lru_cache(maxsize=64)
def lower_rank(draws: int, quantile: Fraction, confidence: Fraction) -> int | None:
    """Return the largest k for which the k-th smallest of m draws is below a quantile, surely.

    The largest k with P(Bin(m, q) ≤ k − 1) ≤ 1 − confidence: the k-th smallest is then at most the
    q-quantile with that probability. Parameters are those of `upper_rank`.

    Returns
    -------
    int or None
        In 1..m; None if there are too few draws.
    """
    _check(draws, quantile=quantile, confidence=confidence)
    found = None
    for k, below in enumerate(_distribution(draws, quantile), 1):
        if k > draws or below > 1 - confidence:
            break
        found = k
    return found


@lru_cache(maxsize=64)
def too_noisy_threshold(
    draws: int = 20,
    tolerated: Fraction = Fraction(1, 10),
    false_alarm: Fraction = Fraction(1, 400),
) -> tuple[int, float]:
    """Return how many of so many draws must fail before a map is called too noisy.

    Of each draw it is asked whether its map is no closer to the truth than a map without data. If
    that happens with a chance of at most `tolerated`, then K or more failures have a probability of
    at most `false_alarm`. Curator only: it compares with the truth.

    Parameters
    ----------
    draws : int
        ≥ 1.
    tolerated, false_alarm : Fraction
        In (0, 1).

    Returns
    -------
    (int, float)
        The least such K, `draws` + 1 if none is small enough, and the probability of K or more.
    """
    _check(draws, tolerated=tolerated, false_alarm=false_alarm)
    below = Fraction(0)
    for k, up_to in enumerate(_distribution(draws, tolerated)):
        if 1 - below <= false_alarm:
            return k, float(1 - below)
        below = up_to
    return draws + 1, 0.0


def _check(draws: int, **chances: Fraction) -> None:
    checks.integers("draws", draws, 1, checks.MAX_COUNT)
    for name, chance in chances.items():
        checks.open_unit(name, float(chance))


def _distribution(trials: int, chance: Fraction) -> Iterator[Fraction]:
    """Yield P(Bin(n, p) ≤ k) for k = 0..n."""
    chance = Fraction(chance)
    hit, whole = chance.numerator, chance.denominator
    missed, running = whole - hit, 0
    for k in range(trials + 1):
        running += comb(trials, k) * hit**k * missed ** (trials - k)
        yield Fraction(running, whole**trials)

"""Distinguishability of two neighbouring data sets: total variation, error rates, f-DP.

If both are equally likely beforehand, the best guess is right with probability (1 + TV)/2, TV the
total variation distance of the two laws of what is seen: δ(0) of the pair. Of an (ε, δ) statement
alone TV ≤ (e^ε − 1 + 2δ)/(e^ε + 1); of a dominating pair that is known, its own δ(0), which is far
less. Every bound here is rounded to its safe side.

**Guarantees as tests: the least type II error of any test at a type I error (f-DP).** Of a test of
one data set against its neighbour α is how often it says "the neighbour" wrongly and β how often it
misses it. Any (ε, δ)-DP, and so any curve δ(ε) that bounds both orders of the two data sets, says β
≥ max(0, 1 − δ − e^ε·α, e^−ε(1 − δ − α)); a curve that bounds δ(ε) from below says what no better
promise can.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core import checks
from explorer.privacy.core.bound import HISTOGRAMS, Bound, FloatArray, Grade, Reference, Role
from explorer.privacy.core.vectorised import scalar_if_0d
from explorer.privacy.histograms import count_delta, histogram_delta
from explorer.privacy.shuffling import Clones, clones_are_wide, shuffled_delta

_EXACT = 2e-9
"""Share of itself by which a δ(0) is raised, twice the error of its function."""
_KOV = "Kairouz, Oh & Viswanath 2015"
_CLONES = "Feldman, McMillan & Talwar"
PIECEWISE = Reference(
    "Wasserman & Zhou 2010; Dong, Roth & Su 2022", "Proposition 3 (f-DP of (ε, δ)-DP)"
)
DUAL = Reference(
    "Dong, Roth & Su 2022",
    "Proposition 6 (f-DP and all its (ε, δ) are the same)",
    "both orders of the two data sets",
)
_LAST_DIGITS = 2e-15
"""Largest rounding error of 1 − δ − e^ε·α where it is above 0."""


def guess_from_eps_delta(eps: ArrayLike, delta: ArrayLike) -> Any:
    """Return (e^ε+δ)/(1+e^ε), an upper bound on Pr[right] of which no more than (ε, δ) is known.

    Randomised response attains it. Under pure ε-DP it bounds every posterior from 50:50.

    Parameters
    ----------
    eps : array of float
        ε ≥ 0.
    delta : array of float
        δ in [0, 1]. Shapes broadcast.

    Returns
    -------
    float or ndarray
        In [½, 1], rounded up.

    Raises
    ------
    ValueError
        Outside these domains.

    References
    ----------
    Kairouz, Oh & Viswanath 2015, Theorem 2.1.
    """
    e = checks.reals("eps", eps, 0.0)
    d = checks.reals("delta", delta, 0.0, 1.0)
    low = np.exp(-e)
    return scalar_if_0d(_up((1 + d * low) / (1 + low), 4e-16))


def guess_from_total_variation(distance: ArrayLike) -> Any:
    """Return (1+TV)/2, the probability that the best guess is right, rounded up; TV in [0, 1]."""
    return scalar_if_0d(_up((1 + checks.reals("distance", distance, 0.0, 1.0)) / 2, 4e-16))


def clone_total_variation(
    eps0: ArrayLike, k: ArrayLike, variant: Clones | str = Clones.PUBLISHED
) -> Bound:
    """Return δ(0) of the clones' pair: of one shuffle of k messages, any ε₀-LDP randomisers.

    Arguments and conditions as in `shuffled_delta`.
    """
    which = Clones(variant)
    value = np.asarray(shuffled_delta(0.0, eps0, k, which), dtype=float)
    # Wide crowds are sampled, and raised for that already.
    return Bound(
        _up(value, _EXACT),
        Role.UPPER,
        Reference(f"{_CLONES} {which.value}", "the clones' pair at ε = 0"),
        truncated=np.broadcast_to(clones_are_wide(eps0, k, which), value.shape),
        grade=Grade.PROVED,
    )


def count_total_variation(n: ArrayLike, q: ArrayLike) -> Bound:
    """Return δ(0) of a count hidden by binomial noise: Z against Z+1, Z ~ Bin(n, q).

    Parameters
    ----------
    n : array of int
        Users who add noise, in [1, 1e12].
    q : array of float
        Probability of one user's noise bit (1−p or p), in [0, 1].
    """
    return Bound(
        _up(count_delta(0.0, n, q), _EXACT),
        Role.UPPER,
        Reference(HISTOGRAMS, "Theorem 3.1 (i)", "exact, at ε = 0"),
        grade=Grade.PROVED,
    )


def two_bin_total_variation(n: ArrayLike, q: ArrayLike) -> Bound:
    """Return δ(0) of a histogram whose two bins change: (Z₁+1, Z₂) against (Z₁, Z₂+1).

    Arguments as for `count_total_variation`.
    """
    return Bound(
        _up(histogram_delta(0.0, n, q), _EXACT),
        Role.UPPER,
        Reference(HISTOGRAMS, "Theorem 3.2 (i)", "exact for two bins, at ε = 0"),
        grade=Grade.PROVED,
    )


def pure_total_variation(eps: ArrayLike) -> Bound:
    """Return tanh(ε/2), the largest total variation that (ε, 0)-DP allows; ε ≥ 0."""
    value = np.tanh(checks.reals("eps", eps, 0.0) / 2)
    where = Reference(_KOV, "Theorem 2.1", "δ = 0")
    return Bound(_up(value, 4e-16), Role.UPPER, where, grade=Grade.PROVED)


def _up(value: ArrayLike, share: float) -> FloatArray:
    """Return a probability raised by a share of itself."""
    return np.minimum(np.asarray(value, dtype=float) * (1 + share), 1.0)


def tradeoff_from_deltas(
    type1: ArrayLike, eps: ArrayLike, delta: ArrayLike, reference: Reference = PIECEWISE
) -> Bound:
    """Return a lower bound on β of any test, from one or more (ε, δ) that all hold.

    Parameters
    ----------
    type1 : array of float, shape (N,)
        α in [0, 1].
    eps, delta : array of float, shape (M,) or a number
        Each ε ≥ 0 with an upper bound on its δ in [0, 1], for both orders of the two data sets.
    reference : Reference
        Where δ(ε) comes from.

    Returns
    -------
    Bound
        `Role.LOWER`, rounding included.
    """
    alpha, e, d = _arguments(type1, eps, delta)
    rest = 1 - d
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        steep = rest - np.where(alpha > 0, np.exp(e + np.log(alpha)), 0.0)
        flat = np.exp(-e) * (rest - alpha)
    best = np.maximum(steep, flat).max(axis=1) - _LAST_DIGITS
    return Bound(np.maximum(best, 0.0), Role.LOWER, reference, grade=Grade.PROVED)


def tradeoff_attained(
    type1: ArrayLike, eps: ArrayLike, delta: ArrayLike, reference: Reference = DUAL
) -> Bound:
    """Return an upper bound on any valid tradeoff function: a β that some test attains.

    Parameters
    ----------
    type1 : array of float, shape (N,)
        α in [0, 1].
    eps : array of float, shape (M,)
        Increasing, from 0.
    delta : array of float, shape (M,)
        Lower bounds on δ(ε), the larger of both orders.

    Returns
    -------
    Bound
        `Role.UPPER`, rounding included. Between two ε δ is at least what it is at the larger one,
        beyond the last at least 0: the finer they lie, the sharper the bound.
    """
    alpha, e, d = _arguments(type1, eps, delta)
    if e.size and (e[0, 0] != 0 or (np.diff(e[0]) <= 0).any()):
        raise ValueError("eps: must increase from 0")
    most = np.append(1 - d[0, 1:], 1.0)
    with np.errstate(over="ignore", divide="ignore"):
        steep = most - np.where(alpha > 0, np.exp(e + np.log(alpha)), 0.0)
    flat = np.exp(-e) * np.maximum(most - alpha, 0.0)
    best = np.maximum(steep, flat).max(axis=1) + _LAST_DIGITS
    # A test that does not look has β = 1 − α.
    return Bound(np.clip(best, 0.0, 1 - alpha[:, 0]), Role.UPPER, reference, grade=Grade.PROVED)


def _arguments(
    type1: ArrayLike, eps: ArrayLike, delta: ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return α as a column, and ε and δ as rows."""
    alpha = np.atleast_1d(checks.reals("type1", type1, 0.0, 1.0))[:, None]
    e = np.atleast_1d(checks.reals("eps", eps, 0.0))
    d = np.atleast_1d(checks.reals("delta", delta, 0.0, 1.0))
    if e.shape != d.shape or e.ndim != 1:
        raise ValueError(f"eps, delta: shapes {e.shape} and {d.shape} are not one and the same")
    return alpha, e[None, :], d[None, :]

"""Distinguishability of two neighbouring data sets: total variation, error rates, odds.

If both are equally likely beforehand, the best guess is right with probability (1 + TV)/2, TV the
total variation distance of the two laws of what is seen: δ(0) of the pair. Of an (ε, δ) statement
alone TV ≤ (e^ε − 1 + 2δ)/(e^ε + 1); of a dominating pair that is known, its own δ(0), which is far
less. Every bound here is rounded to its safe side.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core import checks
from explorer.privacy.core.bound import HISTOGRAMS, Bound, FloatArray, Grade, Reference, Role
from explorer.privacy.core.vectorised import scalar_if_0d
from explorer.privacy.histograms import count_delta, histogram_delta
from explorer.privacy.shuffle_rdp.numerical import (
    composed_clone_total_variation,
    composed_lower_total_variation,
    composed_response_total_variation,
)
from explorer.privacy.shuffling import Clones, clones_are_wide, shuffled_delta

__all__ = [
    "clone_total_variation",
    "composed_clone_total_variation",
    "composed_lower_total_variation",
    "composed_response_total_variation",
    "count_total_variation",
    "guess_from_eps_delta",
    "guess_from_total_variation",
    "pure_total_variation",
    "two_bin_total_variation",
]

_EXACT = 2e-9
"""By how much of itself a δ(0) is raised, twice what its function may err by."""
_KOV = "Kairouz, Oh & Viswanath 2015"
_CLONES = "Feldman, McMillan & Talwar"


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

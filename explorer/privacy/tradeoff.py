"""Guarantees as tests: the least type II error of any test at a type I error (f-DP).

Of a test of one data set against its neighbour α is how often it says "the neighbour" wrongly and β
how often it misses it. Any (ε, δ)-DP, and so any curve δ(ε) that bounds both orders of the two
data sets, says β ≥ max(0, 1 − δ − e^ε·α, e^−ε(1 − δ − α)); a curve that bounds δ(ε) from below says
what no better promise can.
"""

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core import checks
from explorer.privacy.core.bound import Bound, FloatArray, Grade, Reference, Role

PIECEWISE = Reference(
    "Wasserman & Zhou 2010; Dong, Roth & Su 2022", "Proposition 3 (f-DP of (ε, δ)-DP)"
)
DUAL = Reference(
    "Dong, Roth & Su 2022",
    "Proposition 6 (f-DP and all its (ε, δ) are the same)",
    "both orders of the two data sets",
)
_LAST_DIGITS = 2e-15
"""What 1 − δ − e^ε·α may lose to rounding where it is above 0."""


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
    kept = 1 - d
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        steep = kept - np.where(alpha > 0, np.exp(e + np.log(alpha)), 0.0)
        flat = np.exp(-e) * (kept - alpha)
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

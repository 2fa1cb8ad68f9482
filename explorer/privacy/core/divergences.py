"""Rényi divergence, hockey-stick divergence, and the conversion between the two.

Rényi differential privacy of order λ at level ρ(λ) composes by adding; an (ε, δ) statement is
read off at the end with Lemma 1.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core import checks
from explorer.privacy.core.bound import BoolArray, FloatArray
from explorer.privacy.core.vectorised import scalar_if_0d


class Conversion(NamedTuple):
    """An (ε, δ) statement made from Rényi levels.

    Attributes
    ----------
    epsilon : ndarray of float
        ε at δ, clipped at 0.
    order : ndarray of int
        The minimising order λ*.
    at_edge : ndarray of bool
        Whether λ* is the largest order searched, so that larger orders might give less.
    """

    epsilon: FloatArray
    order: np.ndarray[Any, np.dtype[np.int64]]
    at_edge: BoolArray


def softplus(x: ArrayLike) -> FloatArray:
    """Return ln(1+e^x) without overflow, with full relative precision for very negative x."""
    return np.logaddexp(0.0, x)


def orders_up_to(lam_max: int) -> FloatArray:
    """Return the integer orders 2, 3, …, λ_max.

    Raises
    ------
    ValueError
        If λ_max is not a whole number in [2, 4096].
    """
    checks.integers("lam_max", lam_max, 2, checks.MAX_ORDER)
    return np.arange(2.0, int(lam_max) + 1)


def conversion_penalty(order: ArrayLike, delta: ArrayLike) -> Any:
    """Return the term that Lemma 1 adds to the composed Rényi level of an order.

    [ln(1/δ) + (λ−1)ln(1−1/λ) − ln λ]/(λ−1), the arguments broadcast together. It is negative when
    δ > (1−1/λ)^(λ−1)/λ.

    Raises
    ------
    ValueError
        If an order is below 2 or δ is outside [1e-300, 1].

    References
    ----------
    Girgis, Data & Diggavi, Lemma 1 (after Canonne, Kamath & Steinke 2020, Proposition 12).
    """
    lam = checks.reals("lam", order, 1.0, np.inf, open_low=True)
    d = checks.delta(delta)
    return scalar_if_0d((-np.log(d) - np.log(lam)) / (lam - 1) + np.log1p(-1 / lam))


def epsilon_from_rdp(
    rdp: ArrayLike, orders: ArrayLike, T: ArrayLike, delta: ArrayLike, *, clip: bool = True
) -> Conversion:
    """Convert T-fold composed Rényi levels to ε at δ: the minimum over the given orders.

    Parameters
    ----------
    rdp : array of float, shape (..., L)
        Level of one round at each order.
    orders : array of float, shape (L,)
        The orders, increasing.
    T, delta : array of float, broadcasting with ``rdp.shape[:-1]``
        Rounds, in [1, 1e9], and target δ, in [1e-300, 1].
    clip : bool
        Report negative values as 0 (ε below 0 says no more than ε = 0).

    Returns
    -------
    Conversion
        Shapes broadcast from T, δ and the leading shape of `rdp`.

    Notes
    -----
    Any subset of orders gives a sound ε, only a looser one (errata shuf-A4).
    """
    table = np.asarray(rdp, dtype=float)
    lam = np.asarray(orders, dtype=float)
    rounds = checks.rounds(T)[..., np.newaxis]
    d = checks.delta(delta)[..., np.newaxis]
    # The δ-free part of the penalty is computed once for all sweep points.
    fixed = np.log1p(-1 / lam) - np.log(lam) / (lam - 1)
    objective = rounds * table
    penalty = (-np.log(d)) * (1 / (lam - 1)) + fixed
    if np.broadcast_shapes(objective.shape, penalty.shape) == objective.shape:
        objective += penalty
    else:
        objective = objective + penalty
    best = np.argmin(objective, axis=-1)
    value = np.take_along_axis(objective, best[..., np.newaxis], axis=-1)[..., 0]
    if clip:
        value = np.maximum(value, 0.0)
    return Conversion(value, lam[best].astype(np.int64), best == lam.size - 1)


def hockey_stick(p: ArrayLike, q: ArrayLike, epsilon: ArrayLike) -> Any:
    """Return Σ (p − e^ε q)_+ of two finite laws given as arrays of probabilities.

    Parameters
    ----------
    p, q : array of float, shape (..., M)
    epsilon : array of float, broadcasting with the leading shape
        ε ≥ 0.
    """
    eps = np.asarray(epsilon, dtype=float)[..., np.newaxis]
    difference = np.asarray(p, dtype=float) - np.exp(eps) * np.asarray(q, dtype=float)
    return scalar_if_0d(np.maximum(difference, 0.0).sum(axis=-1))

"""Composition of T rounds of an (ε, δ)-DP mechanism, and subsampling of clients.

Composition follows Kairouz, Oh & Viswanath 2015; subsampling draws k of n clients without
replacement (replace-one neighbours).
"""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core import checks
from explorer.privacy.core.binomial import logistic_log_p
from explorer.privacy.core.bound import FloatArray, Role
from explorer.privacy.core.loss_sums import LossSums, two_losses
from explorer.privacy.core.vectorised import scalar_if_0d, vectorised


def kov_epsilon(epsilon: ArrayLike, T: ArrayLike, delta_slack: ArrayLike) -> Any:
    """Return the closed-form ε of T rounds that are (ε, ·)-DP each, at slack δ̃.

    The three-way minimum of Theorem 3.4: Tε; and tanh(ε/2)Tε + ε√(2T·ℓ) with
    ℓ = ln(e + √(Tε²)/δ̃) or ℓ = ln(1/δ̃). The δs of the rounds and δ̃ add up (at most). Arguments
    broadcast together.

    Parameters
    ----------
    epsilon : array of float
        ε ≥ 0 of one round.
    T : array of float
        Rounds, in [1, 1e9].
    delta_slack : array of float
        δ̃ in [1e-300, 1].

    Raises
    ------
    ValueError
        Outside these domains.

    References
    ----------
    Kairouz, Oh & Viswanath 2015, Theorem 3.4.
    """
    eps = checks.reals("eps", epsilon, 0.0)
    rounds = checks.rounds(T)
    slack = checks.delta(delta_slack, "delta_slack")
    drift = np.tanh(eps / 2) * rounds * eps
    spread = eps * np.sqrt(2 * rounds)
    first = drift + spread * np.sqrt(np.log(math.e + np.sqrt(rounds) * eps / slack))
    with np.errstate(invalid="ignore"):  # ∞·0 at δ̃ = 1, where nothing is added
        second = drift + np.where(slack < 1, spread * np.sqrt(-np.log(slack)), 0.0)
    return scalar_if_0d(np.minimum(rounds * eps, np.minimum(first, second)))


def _responses(epsilon: float, T: float, log_delta: float) -> LossSums:
    """Return the sums of the losses of T independent randomised responses at ε."""
    log_q, log_p = logistic_log_p(epsilon)
    return two_losses(T, log_p, log_q, epsilon, -epsilon, log_delta)


def kov_exact_delta(epsilon_global: ArrayLike, epsilon: ArrayLike, T: ArrayLike) -> Any:
    """Return the exact δ at ε_g of T rounds of (ε, 0)-DP, worst case over mechanisms.

    Σ_l C(T,l)[e^{(T−l)ε} − e^{ε_g+lε}]_+/(1+e^ε)^T; arguments broadcast. Every term is positive.

    References
    ----------
    Kairouz, Oh & Viswanath 2015, Theorem 3.3.
    """
    eps_g = checks.reals("eps_g", epsilon_global, 0.0)
    eps = checks.reals("eps", epsilon, 0.0, checks.MAX_EPSILON)
    rounds = checks.rounds(T)
    delta = vectorised(lambda g, e, t: min(_responses(e, t, -800.0).delta(g), 1.0))
    return delta(eps_g, eps, rounds)


def kov_exact_epsilon(
    epsilon: ArrayLike, T: ArrayLike, delta_slack: ArrayLike, side: Role = Role.EXACT
) -> Any:
    """Return the exact ε at δ̃ of T rounds of (ε, 0)-DP, worst case over mechanisms.

    The inverse of `kov_exact_delta` in ε_g, never more than Tε nor than `kov_epsilon`; with a
    `side`, `Role.UPPER` or `Role.LOWER`, proof against rounding on that side.
    """
    eps = checks.reals("eps", epsilon, 0.0, checks.MAX_EPSILON)
    rounds = checks.rounds(T)
    slack = checks.delta(delta_slack, "delta_slack")

    def epsilon_global(e: float, t: float, d: float) -> float:
        return _responses(e, t, math.log(d)).epsilon(d, side) if e else 0.0

    return vectorised(epsilon_global)(eps, rounds, slack)


def subsampled_epsilon(epsilon: ArrayLike, gamma: ArrayLike) -> Any:
    """Return ln(1 + γ(e^ε − 1)), the ε of a mechanism run on a secret sample of rate γ.

    Parameters
    ----------
    epsilon : array of float
        ε ≥ 0 of the mechanism on the sampled records.
    gamma : array of float
        Sampling rate in [0, 1].

    Raises
    ------
    ValueError
        Outside these domains.

    References
    ----------
    Ullman 2017 (lecture notes), Theorem; the mechanism's δ becomes γδ.
    """
    eps = checks.reals("eps", epsilon, 0.0)
    rate = checks.reals("gamma", gamma, 0.0, 1.0)
    eps, rate = np.broadcast_arrays(eps, rate)
    moderate = np.minimum(eps, 30.0)
    with np.errstate(divide="ignore"):
        # Above 30 the −γ inside the logarithm matters only if γe^ε is small as well.
        large = np.logaddexp(np.log1p(-rate), np.log(rate) + eps)
    out: FloatArray = np.where(eps <= 30.0, np.log1p(rate * np.expm1(moderate)), large)
    return scalar_if_0d(out)


def pure_dp_renyi(order: ArrayLike, epsilon: ArrayLike) -> Any:
    """Return the largest Rényi divergence of order λ that an (ε, 0)-DP mechanism can have.

    ln[(e^{λε} + e^{(1−λ)ε})/(1+e^ε)]/(λ−1), attained by randomised response; arguments broadcast.

    References
    ----------
    Randomised response dominates every (ε, 0)-DP pair (Kairouz, Oh & Viswanath 2015, Theorem 2.5).
    """
    lam = checks.reals("lam", order, 1.0, np.inf, open_low=True)
    eps = checks.reals("eps", epsilon, 0.0)
    lam, eps = np.broadcast_arrays(lam, eps)
    a, b = (lam - 0.5) * eps, 0.5 * eps
    # The ratio is cosh(a)/cosh(b) = 1 + 2·sinh(λε/2)·sinh((λ−1)ε/2)/cosh(b).
    small = a < 1.0
    e = np.where(small, eps, 0.0)
    near = np.log1p(2 * np.sinh(lam * e / 2) * np.sinh((lam - 1) * e / 2) / np.cosh(e / 2))
    far = (a - b) + np.log1p(np.exp(-2 * a)) - np.log1p(np.exp(-2 * b))
    # No order's level exceeds ε; near order 1 rounding would.
    return scalar_if_0d(np.minimum(np.where(small, near, far) / (lam - 1), eps))

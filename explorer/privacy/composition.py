"""What T rounds of an (ε, δ)-DP mechanism add up to (Kairouz, Oh & Viswanath 2015)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy import domain
from explorer.privacy.binomial import log_pmf_run, logistic_log_p
from explorer.privacy.bounds import FloatArray


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
    eps = domain.reals("eps", epsilon, 0.0, np.inf)
    rounds = domain.rounds(T)
    slack = domain.delta(delta_slack, "delta_slack")
    drift = np.tanh(eps / 2) * rounds * eps
    spread = eps * np.sqrt(2 * rounds)
    first = drift + spread * np.sqrt(np.log(math.e + np.sqrt(rounds) * eps / slack))
    second = drift + spread * np.sqrt(-np.log(slack))
    return domain.simple(np.minimum(rounds * eps, np.minimum(first, second)))


class _RandomisedResponses:
    """T independent randomised responses at ε: atoms of privacy loss (T − 2l)ε, descending."""

    def __init__(self, epsilon: float, T: float, depth: float = 800.0) -> None:
        log_q, log_p = logistic_log_p(epsilon)
        # l lies are told with probability q = 1/(1+e^ε) each. Where l is far above its mean the
        # loss is negative and nothing contributes; far below it (e^−depth) nothing has mass.
        mean = T * math.exp(log_q)
        low = max(0.0, math.floor(mean - math.sqrt(2 * depth * mean)))
        high = min(math.floor(T / 2), math.ceil(mean + 12 * math.sqrt(mean) + 60))
        self.lies = np.arange(low, high + 1)
        self.loss = (T - 2 * self.lies) * epsilon
        self.log_mass = log_pmf_run(low, high, T, log_q, log_p)

    def delta(self, epsilon: float) -> float:
        """Hockey-stick divergence at ε."""
        above = self.loss > epsilon
        return float(np.sum(np.exp(self.log_mass[above]) * -np.expm1(epsilon - self.loss[above])))

    def epsilon(self, delta: float) -> float:
        """Smallest ε ≥ 0 whose hockey-stick divergence is at most δ."""
        # Between neighbouring atoms δ is linear in e^ε: find the pair of atoms, then solve.
        # From one atom to the next one down δ grows by (1 − e^−2ε) times what is held above,
        # Σ mass·e^{loss_i − loss}: positive terms.
        # It is not reached before all the mass above is more than δ.
        mass_above = np.cumsum(np.exp(self.log_mass))
        end = int(np.searchsorted(mass_above, delta)) + 64
        while True:
            relative = self.loss[:end] - self.loss[0]
            held = np.exp(np.logaddexp.accumulate(self.log_mass[:end] - relative) + relative)
            grown = np.cumsum(held[:-1] * -np.expm1(np.diff(relative)))
            if end >= self.loss.size or (grown.size and grown[-1] > delta):
                break
            end *= 2
        low = int(np.searchsorted(grown, delta, side="right"))
        top = self.loss[: low + 1]
        mass = np.exp(self.log_mass[: low + 1])
        # δ = Σ mass − e^ε Σ mass·e^{−loss} over the atoms with loss above ε, taken relative to
        # the lowest of them so that no large numbers cancel.
        shift = float(top[-1])
        above = float(np.sum(mass * np.exp(shift - top)))
        remaining = float(np.sum(mass)) - delta
        if remaining <= 0.0:
            return 0.0
        return max(0.0, min(shift, shift + math.log(remaining / above)))


def _over_unique(function: Any, *arguments: FloatArray) -> FloatArray:
    """Evaluate a scalar function over broadcast arguments."""
    arrays = np.broadcast_arrays(*arguments)
    out = np.empty(arrays[0].shape)
    for index in np.ndindex(out.shape):
        out[index] = function(*(float(a[index]) for a in arrays))
    return out


def kov_exact_delta(epsilon_global: ArrayLike, epsilon: ArrayLike, T: ArrayLike) -> Any:
    """Return the exact δ at ε_g of T rounds of (ε, 0)-DP, worst case over mechanisms.

    Σ_l C(T,l)[e^{(T−l)ε} − e^{ε_g+lε}]_+/(1+e^ε)^T; arguments broadcast. Every term is positive.

    References
    ----------
    Kairouz, Oh & Viswanath 2015, Theorem 3.3.
    """
    eps_g = domain.reals("eps_g", epsilon_global, 0.0, np.inf)
    eps = domain.reals("eps", epsilon, 0.0, domain.EPSILON_MAX)
    rounds = domain.rounds(T)
    found = _over_unique(lambda g, e, t: _RandomisedResponses(e, t).delta(g), eps_g, eps, rounds)
    return domain.simple(np.minimum(found, 1.0))


def kov_exact_epsilon(epsilon: ArrayLike, T: ArrayLike, delta_slack: ArrayLike) -> Any:
    """Return the exact ε at δ̃ of T rounds of (ε, 0)-DP, worst case over mechanisms.

    The inverse of `kov_exact_delta` in ε_g, never more than Tε nor than `kov_epsilon`.
    """
    eps = domain.reals("eps", epsilon, 0.0, domain.EPSILON_MAX)
    rounds = domain.rounds(T)
    slack = domain.delta(delta_slack, "delta_slack")
    return domain.simple(
        _over_unique(
            # Of masses that are nothing beside δ none is listed.
            lambda e, t, d: _RandomisedResponses(e, t, 45 - math.log(d)).epsilon(d),
            eps, rounds, slack,
        )
    )  # fmt: skip

"""Theorem 4.4 proved again for given numbers, its lemma replaced by the exact pair."""

from __future__ import annotations

import numpy as np

from explorer.privacy import user_metric as um

DISTANCES = np.geomspace(1e-4, 1.0, 13)


def assert_private(
    alpha: float, alpha0: float, delta_prime: float, inside: float, m: int, n: int
) -> None:
    """Check that α₀ is (α, δ')-private, m hops of exact δ at the ε that the theorem gives each.

    A hop over d gets ε(d) = ln(1 + tanh(α₀d/2)·K) at δ/m. As ε(d) is concave in d, m hops of mean
    length w cost at most m·ε(w) together, which must not exceed αw; their δ add up to at most
    δ·e^{mε(1)}, which must not exceed δ'.
    """
    total = m * n
    epsilon = np.asarray(um.single_item_epsilon(total, alpha0, DISTANCES, inside / m))
    exact = np.asarray(um.hop_delta(total, alpha0, DISTANCES, epsilon))
    assert (exact <= inside / m).all()
    assert (m * epsilon <= alpha * DISTANCES * (1 + 1e-9)).all()
    assert np.log(inside) + m * epsilon[-1] <= np.log(delta_prime) + 1e-9

"""How well CLDP-SGD converges while it protects (Theorem 3, part 2)."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core import checks
from explorer.privacy.core.vectorised import scalar_if_0d


def gradient_second_moment(
    p: float, L: ArrayLike, d: ArrayLike, eps0: ArrayLike, k: ArrayLike
) -> Any:
    """Return G² = max(d^{1−2/p}, 1)L² + G_p²/k of the averaged, locally randomised gradients.

    With A = ((e^ε₀+1)/(e^ε₀−1))²: G_1² = L²dA, G_∞² = L²d²A, and G_p² = 14L²dA·max(d^{1−2/p}, 1)
    between them.

    Parameters
    ----------
    p : float
        In [1, ∞]: norm of the gradient ball, radius L (the clipping threshold).
    L, d, eps0, k : array of float, broadcast together
        Lipschitz constant > 0, dimension ≥ 1, ε₀ in (0, 800], clients sampled.

    Raises
    ------
    ValueError
        Outside these domains.

    References
    ----------
    Girgis, Data & Diggavi, Theorem 3 and Remark 1 (Lemma 8 prints other constants for p = 1 and ∞;
    errata shuf-B5); for other p Lemma 8.
    """
    checks.reals("p", p, 1.0)
    lipschitz = checks.reals("L", L, 0.0, np.inf, open_low=True)
    size = checks.integers("d", d, 1, 1e12)
    e = checks.reals("eps0", eps0, 0.0, checks.EPSILON_MAX, open_low=True)
    sampled = checks.integers("k", k, 1, checks.COUNT_MAX)
    widest = np.maximum(size ** (1.0 if p == np.inf else 1.0 - 2.0 / p), 1.0)
    factor = {1: size, np.inf: size**2}.get(p, 14 * size * widest) / sampled
    with np.errstate(over="ignore", divide="ignore"):
        # Infinite where it has no double.
        moment = widest * lipschitz**2 + factor * (lipschitz / np.tanh(e / 2)) ** 2
    return scalar_if_0d(moment)


def convergence_bound(
    p: float,
    L: ArrayLike,
    D: ArrayLike,
    d: ArrayLike,
    eps0: ArrayLike,
    k: ArrayLike,
    T: ArrayLike,
) -> Any:
    """Return 2DG(2 + ln T)/√T, the bound on the expected excess risk after T steps.

    Parameters
    ----------
    p, L, d, eps0, k
        As in `gradient_second_moment`.
    D : array of float
        Diameter of the parameter set, > 0.
    T : array of float
        Steps with rates D/(G√t), in [1, 1e9].

    References
    ----------
    Girgis, Data & Diggavi, (36); Theorem 3 prints O(·) (errata shuf-B6).
    """
    diameter = checks.reals("D", D, 0.0, np.inf, open_low=True)
    rounds = checks.rounds(T)
    moment = np.asarray(gradient_second_moment(p, L, d, eps0, k))
    with np.errstate(over="ignore"):
        bound = 2 * diameter * np.sqrt(moment) * (2 + np.log(rounds)) / np.sqrt(rounds)
    return scalar_if_0d(bound)

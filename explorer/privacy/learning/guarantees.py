"""Guarantees of training by CLDP-SGD: ε at δ, and the excess risk."""

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core import checks
from explorer.privacy.core.bound import SHUFFLE_RDP as _PAPER, Bound, FloatArray, Reference, Role
from explorer.privacy.shuffle_rdp import (
    clone_epsilon,
    convergence_bound,
    upper_epsilon,
)
from explorer.privacy.shuffling import Clones

PRIVACY = Reference(
    _PAPER, "Theorem 3 (7)", "min with T·εₛ per order and in all; errata shuf-A4, shuf-A6"
)
CONVERGENCE = Reference(
    _PAPER, "Theorem 3 with Remark 1", "explicit form (36); errata shuf-B5, shuf-B6"
)
CONVERGENCE_EXACT = Reference(
    _PAPER, "Theorem 3 with the exact error of R_p", "explicit form (36); errata shuf-B5, shuf-B6"
)


def rounds_of(epochs: ArrayLike, n: ArrayLike, k: ArrayLike) -> FloatArray:
    """Return T = ⌈epochs·n/k⌉: an epoch is n/k rounds (errata shuf-B7).

    Parameters
    ----------
    epochs : array of float
        > 0; the paper's are whole.
    n, k : array of float
        1 ≤ k ≤ n.
    """
    passes = checks.reals("epochs", epochs, 0.0, checks.MAX_ROUNDS, open_low=True)
    sampled, clients = checks.population(k, n)
    # Whole numbers below 2^53 divide exactly here: no round is lost or added by rounding.
    return np.asarray(-np.floor_divide(-(passes * clients), sampled))


def training_epsilon(
    eps0: ArrayLike,
    k: ArrayLike,
    n: ArrayLike,
    T: ArrayLike,
    delta: ArrayLike,
    lam_max: int = 512,
) -> Bound:
    """Return ε at δ of T rounds by Theorem 3, capped by what holds in any case.

    Arguments as in `upper_epsilon`. `truncated` marks where the best order is the largest one
    searched: a larger `lam_max` might give less (errata shuf-A4).
    """
    found = upper_epsilon(eps0, k, n, T, delta, lam_max, capped=True)
    return Bound(
        np.asarray(found.epsilon), Role.UPPER, PRIVACY, truncated=np.asarray(found.at_edge, bool)
    )


def training_epsilon_numerical(
    eps0: ArrayLike, k: ArrayLike, n: ArrayLike, T: ArrayLike, delta: ArrayLike
) -> Bound:
    """Return ε at δ of T rounds by composition of subsampled clones, rounded up.

    It holds for every ε₀-LDP randomiser that all clients of a round have in common, R_2 and R_∞
    among them.
    """
    return clone_epsilon(eps0, k, n, T, delta, Clones.PUBLISHED)


def excess_risk(
    p: float,
    L: ArrayLike,
    D: ArrayLike,
    d: ArrayLike,
    eps0: ArrayLike,
    k: ArrayLike,
    T: ArrayLike,
) -> Bound:
    """Return 2DG(2 + ln T)/√T with Remark 1's G, for convex losses with ‖∇f‖_p ≤ L.

    Arguments as in `convergence_bound`; clipping at C = L must leave the gradients alone.
    """
    value = np.asarray(convergence_bound(p, L, D, d, eps0, k, T))
    return Bound(value, Role.UPPER, CONVERGENCE)


def excess_risk_exact(D: ArrayLike, second_moment: ArrayLike, T: ArrayLike) -> Bound:
    """Return 2DG(2 + ln T)/√T for a G² that is known, as from `training.moment`."""
    diameter = checks.reals("D", D, 0.0, np.inf, open_low=True)
    square = checks.reals("second_moment", second_moment, 0.0, np.inf, open_low=True)
    rounds = checks.rounds(T)
    value = 2 * diameter * np.sqrt(square) * (2 + np.log(rounds)) / np.sqrt(rounds)
    return Bound(np.asarray(value), Role.UPPER, CONVERGENCE_EXACT)

"""What sampling k of n clients without replacement does to a guarantee (replace-one neighbours)."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core import checks
from explorer.privacy.core.bound import FloatArray
from explorer.privacy.core.vectorised import scalar_if_0d


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

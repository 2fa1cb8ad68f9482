"""Errors of histograms to which each user reports one item drawn from their own.

The report depends on that item alone, so that whatever is ε-private for one item is ε-private for
all of a user's data, without a δ: a mixture of ε-private laws. Every estimate is unbiased for the
mean of the users' histograms; S is the mean of their ‖K̃_i‖², in [1/k, 1].
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.coordinates.reports.moments import PRIV_UNIT, log_channel_moment
from explorer.privacy.core import checks
from explorer.privacy.core.bound import FloatArray
from explorer.privacy.core.vectorised import scalar_if_0d

DOMAIN_MAX = 1e12


def one_item_hadamard_mse(
    k: ArrayLike, epsilon: ArrayLike, n: ArrayLike, mean_square: ArrayLike
) -> Any:
    """Return E‖F̃ − K̃‖₂² = (k/tanh²(ε/2) − S)/n of Hadamard response.

    Parameters
    ----------
    k : array of float
        Size of the domain, in [1, 1e12].
    epsilon : array of float
        User-level privacy, in [0, 800]; infinite error at 0.
    n : array of float
        Users, in [1, 1e12].
    mean_square : array of float
        S, in [0, 1].
    """
    size, e, users, square = _checked(k, epsilon, n, mean_square)
    with np.errstate(divide="ignore", over="ignore"):
        # k/tanh² − S = (k − S) + k/sinh², whose second term alone is small for large ε.
        half = np.minimum(e / 2, 350.0)
        return scalar_if_0d(((size - square) + size / np.sinh(half) ** 2) / users)


def one_item_grr_mse(k: ArrayLike, epsilon: ArrayLike, n: ArrayLike, mean_square: ArrayLike) -> Any:
    """Return E‖F̃ − K̃‖₂² = (((1−q)² + (k−1)q²)/(p−q)² − S)/n of k-ary randomised response.

    p = e^ε/(e^ε+k−1) and q = 1/(e^ε+k−1). Parameters as in `one_item_hadamard_mse`.
    """
    size, e, users, square = _checked(k, epsilon, n, mean_square)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        # Over q²: (1−q)/q = e^ε + k − 2 and (p−q)/q = e^ε − 1, all divided by e^ε.
        other = np.exp(-e)
        apart = -np.expm1(-e)
        second = ((1 + (size - 2) * other) ** 2 + (size - 1) * other**2) / apart**2
        return scalar_if_0d(np.where(e == 0, np.inf, (second - square) / users))


def priv_unit_histogram_mse(
    k: ArrayLike, epsilon: ArrayLike, n: ArrayLike, mean_square: ArrayLike
) -> Any:
    """Return E‖F̃ − K̃‖₂² = ((1−1/k)V − (S−1/k))/n of PrivUnit on the plane of histograms.

    The drawn item x is reported as e_x − 1/k, which has the same length √(1−1/k) for all items, in
    the k−1 dimensions of that plane; V is the second moment of PrivUnit there. Parameters as in
    `one_item_hadamard_mse`, with k ≥ 2.
    """
    size, e, users, square = _checked(k, epsilon, n, mean_square)
    checks.integers("k", size, 2, DOMAIN_MAX)
    moment = np.exp(log_channel_moment((size - 1).astype(np.int64), e, PRIV_UNIT))
    return scalar_if_0d(((1 - 1 / size) * moment - (square - 1 / size)) / users)


def _checked(*arguments: ArrayLike) -> tuple[FloatArray, ...]:
    k, epsilon, n, square = arguments
    return tuple(
        np.broadcast_arrays(
            checks.integers("k", k, 1, DOMAIN_MAX),
            checks.epsilon0(epsilon),
            checks.integers("n", n, 1, checks.COUNT_MAX),
            checks.reals("mean_square", square, 0.0, 1.0),
        )
    )

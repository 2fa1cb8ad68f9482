"""The best levels of given disjoint channels, directly: one search over the total level.

At a total level L every channel may have at most u_j(L), and the error Σ_j a_j coth²(α_j/2) is
least where what is left of L is shared so that all derivatives agree (water filling). The problem
is jointly convex in t_j = 1/(e^{α_j} − 1) and L, so the error as a function of L has one minimum.
"""

import math
from collections.abc import Sequence

import numpy as np

from explorer.privacy.coordinates.budgets.design_search import USELESS
from explorer.privacy.coordinates.levels.log_mixtures import log_mix_high, log_mix_low
from explorer.privacy.coordinates.reports.channel import log_second_moment
from explorer.privacy.core.bound import FloatArray
from explorer.privacy.core.roots import increasing_root

_GOLDEN = (math.sqrt(5) - 1) / 2


def _levels_of_slope(log_slope: FloatArray) -> FloatArray:
    """Return α with coth(α/2)/sinh²(α/2) = e^log_slope."""
    # With s = 1/sinh²(α/2) it is s·√(1+s): in v = ln s a convex function, between v and 3v/2.
    v = np.where(log_slope > 0, log_slope / 1.5, log_slope)
    for _ in range(40):
        share = 1 / (1 + np.exp(-np.clip(v, -700, 700)))
        step = (v + 0.5 * np.logaddexp(0.0, v) - log_slope) / (1 + 0.5 * share)
        v = v - step
        if np.all(np.abs(step) < 1e-13 * (1 + np.abs(v))):
            break
    return np.asarray(2 * np.arcsinh(np.exp(np.clip(-v / 2, -700, 700))))


def filled_levels(log_cost: FloatArray, caps: FloatArray, total: float) -> FloatArray:
    """Return the α ≤ caps with Σα ≤ total that minimise Σ e^log_cost·coth²(α/2).

    Parameters
    ----------
    log_cost, caps : ndarray of shape (k,)
        Logarithms of the weights and largest levels, ≥ 0.
    total : float
        > 0.
    """
    if caps.sum() <= total:
        return caps

    def spare(log_slope: FloatArray) -> FloatArray:
        used = np.minimum(caps, _levels_of_slope(log_slope - log_cost))
        return np.array([total - float(used.sum())])

    # At slopes that give every channel its share of the total there is just enough.
    share = total / log_cost.size
    at = math.log1p(2 / math.expm1(share)) - 2 * math.log(math.sinh(min(share, 600.0) / 2))
    low, high = np.array([float(log_cost.min()) - 1400.0]), np.array([float(log_cost.max()) + at])
    _, slope = increasing_root(spare, low, high + 1e-9)
    return np.asarray(np.minimum(caps, _levels_of_slope(slope - log_cost)))


def direct_levels(
    demanded: FloatArray, eps: float, q: FloatArray, subsets: Sequence[Sequence[int]]
) -> FloatArray:
    """Return the best level of each disjoint channel, for `best_disjoint_levels`.

    Parameters
    ----------
    demanded : ndarray of shape (d,)
        min(δ_i, ε), > 0.
    eps : float
    q : ndarray of shape (d,)
    subsets : sequence of sequences of int
        Disjoint and together all coordinates.
    """
    sizes = np.array([len(subset) for subset in subsets])
    log_cost = np.log(sizes) + log_second_moment(sizes, math.inf)
    owner = np.empty(demanded.size, dtype=np.int64)
    for j, subset in enumerate(subsets):
        owner[list(subset)] = j

    def levels(log_total: float) -> FloatArray:
        total = math.exp(log_total)
        caps = np.full(sizes.size, USELESS)
        np.minimum.at(caps, owner, np.nan_to_num(log_mix_low(q, demanded, total), nan=0.0))
        return filled_levels(log_cost, np.maximum(caps, 0.0), total)

    def log_error(log_total: float) -> float:
        with np.errstate(divide="ignore"):
            each = log_cost - 2 * np.log(np.tanh(levels(log_total) / 2))
        top = float(each.max())
        return top + math.log(float(np.exp(each - top).sum())) if top < math.inf else math.inf

    # No channel is worth more than USELESS, nor is a total beyond the sum of these.
    last = min(eps, float(log_mix_high(q, demanded).min()), USELESS * sizes.size)
    high = math.log(last)
    # The least demand bounds what the total must at least be: half of it for every channel.
    low = min(math.log(float(demanded.min())) - math.log(4.0), high - 1.0)
    a, b = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_a, at_b = log_error(a), log_error(b)
    while high - low > 1e-9:
        if at_a <= at_b:
            high, b, at_b = b, a, at_a
            a = high - _GOLDEN * (high - low)
            at_a = log_error(a)
        else:
            low, a, at_a = a, b, at_b
            b = low + _GOLDEN * (high - low)
            at_b = log_error(b)
    return levels(min((low, a, b, high, math.log(last)), key=log_error))

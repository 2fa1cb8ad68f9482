"""How far an item's randomised answer lies from the item, on average."""

import math
from functools import partial

import numpy as np

from explorer.privacy import user_metric as um
from explorer.privacy.core.bound import FloatArray
from explorer.privacy.spaces import Clustered, FiniteSpace, Square
from explorer.studies.base.study import Context
from explorer.studies.itemwise.parameters import EXPONENTIAL, GKRR, OPTIMAL, PLANAR
from explorer.studies.metric_space.choice import ChosenSpace

ITEMS_MAX = {EXPONENTIAL: 300, OPTIMAL: um.OPTIMAL_ITEMS}
"""Most items of a space on which a law is summed, or solved for."""
_NAMES = {EXPONENTIAL: "the exponential mechanism", OPTIMAL: "the optimal mechanism"}
_STEP = 1.05
"""Between two α₀ for which the optimal mechanism is solved."""


def why_not(randomiser: str, space: ChosenSpace) -> str:
    """Return why a randomiser can't be used on a space; empty if it can."""
    if space.metric is None:
        return space.missing
    if randomiser == PLANAR and not isinstance(space.metric, Square):
        return "planar Laplace noise needs a square: choose one as metric space"
    if randomiser == GKRR and not isinstance(space.metric, Clustered):
        return "GKRR needs clusters or 0/1 distances: choose one of these as metric space"
    if randomiser in ITEMS_MAX:
        name, most = _NAMES[randomiser], ITEMS_MAX[randomiser]
        if not isinstance(space.metric, FiniteSpace):
            return f"{name} needs finitely many items: choose such a space"
        if space.metric.size > most:
            return f"{name} is for up to {most} items; choose a smaller space"
    return ""


def optimal_distance(space: ChosenSpace, alpha0: FloatArray, context: Context) -> FloatArray:
    """Return the mean normalised distance of the optimal mechanism, over items drawn evenly.

    It is solved for the next lower of α₀ 5 % apart, for which it promises more, and kept.
    """
    metric = space.metric
    if not isinstance(metric, FiniteSpace):
        raise TypeError(f"{space.name} has no optimal mechanism")
    apart = metric.matrix().tobytes()
    out = np.empty(alpha0.shape)
    for i, a0 in enumerate(alpha0):
        context.check()
        lower = min(_STEP ** math.floor(math.log(a0) / math.log(_STEP)), 800.0)
        key = ("itemwise", "optimal", apart, lower)
        out[i] = context.memo(key, partial(_optimal_mean, metric, lower))
    return out


def _optimal_mean(space: FiniteSpace, alpha0: float) -> float:
    return um.Optimal(space, alpha0).mean


def mean_distance(randomiser: str, space: ChosenSpace, alpha0: FloatArray) -> FloatArray:
    """Return the mean normalised distance of an answer from its item, at each α₀ > 0.

    Planar Laplace: 2/α₀ (of Gamma(2, 1/α₀) for ℓ2; two coordinates of 1/α₀ each for ℓ1), before
    any clipping to the square. GKRR: from its three probabilities. Exponential mechanism: over
    items chosen evenly, at the rate α₀/2, which always suffices (α₀ where all items look alike).
    """
    metric = space.metric
    if randomiser == PLANAR:
        return np.asarray(2 / alpha0)
    if isinstance(metric, Clustered):
        s, t, r = metric.clusters, metric.each, metric.r
        near = (t - 1) * np.exp(-alpha0 * r)
        far = (s - 1) * t * np.exp(-alpha0)
        return np.asarray((r * near + far) / (1 + near + far))
    if not isinstance(metric, FiniteSpace):
        raise TypeError(f"{space.name} has no exponential mechanism")
    d = metric.matrix()
    out = np.empty(alpha0.shape)
    for i, a0 in enumerate(alpha0):
        weight = np.exp(-a0 / 2 * d)
        out[i] = ((weight * d).sum(axis=1) / weight.sum(axis=1)).mean()
    return out

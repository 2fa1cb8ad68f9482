"""How far an item's randomised answer lies from the item, on average."""

import numpy as np

from explorer.privacy.core.bound import FloatArray
from explorer.privacy.spaces import Clustered, FiniteSpace, Square
from explorer.studies.itemwise.parameters import EXPONENTIAL, GKRR, PLANAR
from explorer.studies.metric_space.choice import ChosenSpace

ITEMS_MAX = 300
"""Most items of a space on which the exponential mechanism's law is summed."""


def why_not(randomiser: str, space: ChosenSpace) -> str:
    """Return why a randomiser can't be used on a space; empty if it can."""
    if space.metric is None:
        return space.missing
    if randomiser == PLANAR and not isinstance(space.metric, Square):
        return "planar Laplace noise needs a square: choose one as metric space"
    if randomiser == GKRR and not isinstance(space.metric, Clustered):
        return "GKRR needs clusters or 0/1 distances: choose one of these as metric space"
    if randomiser == EXPONENTIAL:
        if not isinstance(space.metric, FiniteSpace):
            return "the exponential mechanism needs finitely many items: choose such a space"
        if space.metric.size > ITEMS_MAX:
            return f"the exponential mechanism is summed for up to {ITEMS_MAX} items"
    return ""


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

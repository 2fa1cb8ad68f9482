"""Thresholds, α and group privacy as bounds at the points of a sweep."""

from dataclasses import dataclass

import numpy as np

from explorer.privacy import user_metric as um
from explorer.privacy.core.bound import Bound, FloatArray, Role
from explorer.privacy.user_metric import Concentration
from explorer.studies.base.sweeping import SweptPoints
from explorer.studies.unbounded import text


@dataclass(frozen=True)
class Points:
    """What the formulas take, one entry a point, the sliders' own last."""

    eps: FloatArray
    r: FloatArray
    s: FloatArray
    delta: FloatArray
    d: FloatArray

    @property
    def hops(self) -> FloatArray:
        """Return ⌈d/r⌉, not raised by what rounding adds to an exact multiple."""
        return np.maximum(np.ceil(self.d / self.r * (1 - 1e-12)), 1.0)


Reductions = dict[str, um.Reduction]
"""The reduction by each concentration bound."""


def points_of(swept: SweptPoints) -> Points:
    """Return the points of a sweep."""
    return Points(swept["eps"], swept["r"], swept["s"], swept["delta"], swept["d"])


def reductions(p: Points) -> Reductions:
    """Return the reduction by both concentration bounds."""
    arguments = (p.eps, p.delta, p.r, p.s)
    return {
        "chernoff": um.bounded_reduction(*arguments, Concentration.CHERNOFF),
        "printed": um.bounded_reduction(*arguments, Concentration.PRINTED),
    }


def alpha_curves(p: Points, found: Reductions) -> dict[str, Bound]:
    """Return the largest α that each bound allows for (ε, ·, r), what none can, and baselines."""
    exact = np.asarray(um.binomial_threshold(p.delta, p.r, p.s))
    premise = p.r >= -2 * np.log(p.delta) / p.s
    # Where even one draw in s rarely moves, no α is too large for this argument.
    possible = exact > 0
    none = "the draws of both data sets are the same with probability 1 − δ: no limit on α"
    return {
        "chernoff": Bound(found["chernoff"].alpha, Role.LOWER, text.CHERNOFF),
        "printed": Bound(found["printed"].alpha, Role.LOWER, text.PRINTED),
        "binomial": Bound(
            p.eps / np.where(possible, exact, 1.0),
            Role.UPPER,
            text.BINOMIAL,
            possible,
            "" if possible.all() else none,
        ),
        "informal": Bound(
            p.eps / p.r,
            Role.BASELINE,
            text.INFORMAL,
            premise,
            "" if premise.all() else text.INFORMAL_FAILS,
        ),
        "sizes": Bound(p.eps / p.r, Role.BASELINE, text.SIZES),
        "user": Bound(p.eps, Role.BASELINE, text.USER_LEVEL),
    }


def threshold_curves(p: Points, found: Reductions) -> dict[str, Bound]:
    """Return the distance that the draws exceed with probability at most δ."""
    exact = np.asarray(um.binomial_threshold(p.delta, p.r, p.s))
    return {
        "chernoff": Bound(found["chernoff"].threshold, Role.UPPER, text.CHERNOFF),
        "printed": Bound(found["printed"].threshold, Role.UPPER, text.PRINTED),
        "binomial": Bound(exact, Role.LOWER, text.BINOMIAL),
        "mean": Bound(p.r, Role.BASELINE, text.SIZES),
    }


def group_epsilon_curves(p: Points, _: Reductions) -> dict[str, Bound]:
    """Return the ε of ⌈d/r⌉ hops and the paper's straight line."""
    far = p.d >= p.r
    return {
        "group": Bound(p.hops * p.eps, Role.UPPER, text.GROUP),
        "roughly": Bound(
            2 * p.eps / p.r * p.d,
            Role.BASELINE,
            text.ROUGHLY,
            far,
            "" if far.all() else text.NOT_WITHIN_R,
        ),
    }


def group_delta_curves(p: Points, found: Reductions) -> dict[str, Bound]:
    """Return the δ of ⌈d/r⌉ hops after the reduction, and the printed forms, at most 1."""
    total = found["chernoff"].delta_total
    grown = np.asarray(um.group_privacy_delta(p.eps, total, p.hops))
    with np.errstate(over="ignore"):
        fact = total * np.exp(p.hops)
        table = total * np.exp(p.hops * p.eps)
    return {
        "group": Bound(np.minimum(grown, 1.0), Role.UPPER, text.GROUP),
        "fact": Bound(np.minimum(fact, 1.0), Role.BASELINE, text.FACT),
        "table": Bound(np.minimum(table, 1.0), Role.BASELINE, text.TABLE),
    }

"""Budgets at every point of a sweep, and Theorem 3's order of magnitude there."""

import math
from collections.abc import Sequence

import numpy as np

from explorer.privacy import coordinates as co
from explorer.privacy.core.bound import BoolArray, Bound, FloatArray, Role
from explorer.studies.base.study import Context, Request
from explorer.studies.base.sweeping import SweptPoints
from explorer.studies.coordinate_mean.parameters import TWO
from explorer.studies.coordinate_mean.plans import (
    Demand,
    Plan,
    baseline_plans,
    best_zeta_plans,
    paper_plans,
    sensitive,
    two_level_plans,
)
from explorer.studies.private_regression import text
from explorer.studies.private_regression.parameters import BASELINE, BEST_ZETA, PAPER


def demands_of(request: Request, points: SweptPoints, available: int) -> list[Demand]:
    """Return what is demanded at every point: sensitive features, other features, the label.

    The label comes last and demands ε, the largest level, as the exemption of the last coordinate
    asks (errata coord-A7).
    """
    demands = []
    for p, share, level, eps, q in zip(
        *(points[key] for key in ("features", "share", "level", "eps", "q")), strict=True
    ):
        count = min(int(p), available)
        zeta = 0.5 * (1.0 + float(q))
        demands.append(
            Demand(
                TWO,
                count + 1,
                sensitive(count, float(share)),
                float(level),
                float(eps),
                float(q),
                zeta,
                request["channel"],
            )
        )
    return demands


def plans_for(budget: str, demands: Sequence[Demand], context: Context) -> list[Plan]:
    """Return M_mean with the budgets chosen, one entry a point."""
    distinct = list(dict.fromkeys(demands))

    def make() -> list[Plan]:
        if budget == PAPER:
            return paper_plans(distinct)
        if budget == BASELINE:
            return baseline_plans(distinct)
        if budget == BEST_ZETA:
            return best_zeta_plans(distinct, context.check)
        return two_level_plans(distinct, context.check)[0]

    made = context.memo(("private-regression", "budgets", budget, tuple(distinct)), make)
    found = dict(zip(distinct, made, strict=True))
    return [found[demand] for demand in demands]


def halved_r2(plan: Plan) -> float:
    """Return r² as the proof has it: the worst error of one user's report at half the budget."""
    return float(co.m_mean_moments(plan.c / 2.0, plan.rule, plan.channel)[0].sum())


def rate(r2: float, d: int, n: float, radius: float) -> float:
    """Return Theorem 3's (R² + R)·min((log d/√n)(r² + r·d), d)."""
    first = math.log(d) / math.sqrt(n) * (r2 + math.sqrt(r2) * d) if r2 < math.inf else math.inf
    return (radius**2 + radius) * min(first, float(d))


def theorem_3(
    plans: Sequence[Plan], points: SweptPoints, holds: BoolArray, why: str
) -> dict[str, Bound]:
    """Return Theorem 3 as printed, and with r² of the reports that are really sent."""
    n, radius = points["n"], points["radius"]
    # Over n or R all points share one plan.
    distinct = {id(plan): plan for plan in plans}
    printed_r2 = {key: float(co.theorem3_r2(plan.c)) for key, plan in distinct.items()}
    halved = {key: halved_r2(plan) for key, plan in distinct.items()}

    def values(r2: dict[int, float]) -> FloatArray:
        return np.array(
            [
                rate(r2[id(plan)], plan.c.size, float(m), float(r))
                for plan, m, r in zip(plans, n, radius, strict=True)
            ]
        )

    reason = "" if holds.all() else why
    return {
        "theorem3": Bound(values(printed_r2), Role.ESTIMATE, text.THEOREM_3, holds, reason),
        "theorem3_half": Bound(values(halved), Role.ESTIMATE, text.THEOREM_3_HALF, holds, reason),
    }

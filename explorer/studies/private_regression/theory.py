"""Budgets at every point of a sweep, and the order of magnitude of Theorem 3 there."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from explorer.privacy import coordinates as co
from explorer.privacy.core.bound import COORDINATES, FloatArray, Reference
from explorer.studies.base.builders import TYPED
from explorer.studies.base.study import Context, Request
from explorer.studies.base.sweeping import SweptPoints
from explorer.studies.coordinate_mean.demanded import OwnDemand
from explorer.studies.coordinate_mean.theory import (
    TWO,
    Demand,
    Plan,
    baseline_plans,
    best_zeta_plans,
    nested_plans,
    paper_plans,
    sensitive,
    two_level_plans,
)

PAPER, BEST_ZETA, EXACT, BASELINE = "paper", "best_zeta", "exact", "baseline"
"""Kinds of budgets."""

ALGORITHM_3 = Reference(
    COORDINATES,
    "Algorithm 3",
    "two reports at half the budget; f̂ symmetrised (errata coord-B10, coord-B11)",
)
CLIPPED = Reference(
    COORDINATES, "Algorithm 3", "A's negative eigenvalues set to 0, minimised by cvxpy"
)
TRUST_REGION = Reference(
    COORDINATES,
    "Algorithm 3",
    "the exact minimiser of the indefinite f̂ over the ball, as the proof asks",
)
UNPROJECTED = Reference(COORDINATES, "Algorithm 3 without Θ", "the normal equations A·θ = b alone")
THEOREM_3 = Reference(
    COORDINATES, "Theorem 3", "constant unknown; r² of c, not of c/2 (errata coord-B13)"
)
THEOREM_3_HALF = Reference(COORDINATES, "Theorem 3 with (85)", "constant unknown; exact r² at c/2")
LEAST_SQUARES = Reference("Gauss 1809", "least squares", "over the ball, without privacy")
NOTHING = Reference(COORDINATES, "f(0)", "no report is used")
CERTIFICATE = Reference(
    COORDINATES, "Theorem 2 and Proposition 4", "c and L of both reports together"
)
REFERENCES = (ALGORITHM_3, THEOREM_3, THEOREM_3_HALF, CERTIFICATE)


def demands_of(
    request: Request, points: SweptPoints, available: int, own: OwnDemand | None = None
) -> list[Demand]:
    """Return the demand at every point: sensitive features, other features, the label.

    The label comes last and demands ε, the largest level, as the exemption of the last coordinate
    asks (errata coord-A7); no bound on its own coupling is assumed. Of levels of the user's own
    the first are taken, as many as there are features.
    """
    demands = []
    for p, share, level, eps, q in zip(
        *(points[key] for key in ("features", "share", "level", "eps", "q")), strict=True
    ):
        count = min(int(p), available)
        demand = Demand(
            TWO,
            count + 1,
            sensitive(count, float(share)),
            float(level),
            float(eps),
            float(q),
            0.5 * (1.0 + float(q)),
            request["channel"],
        )
        demands.append(demand if own is None else _with_own(demand, own, count))
    if own is not None and own.couplings and points.sweep.key == "q":
        # As in the study of means: a q on the x axis is that of all coordinates.
        demands[:-1] = [replace(demand, couplings=()) for demand in demands[:-1]]
    return demands


def _with_own(demand: Demand, own: OwnDemand, count: int) -> Demand:
    """Return the demand with levels, and couplings if there are any, of the user's own."""
    first = OwnDemand(own.levels[:count], own.couplings[:count])
    low = min(first.levels)
    demand = replace(
        demand,
        profile=TYPED,
        k=first.levels.count(low),
        level=low,
        own=(*first.levels, max(demand.eps, *first.levels)),
    )
    if not first.couplings:
        return demand
    # The label has the largest level, so that those of all features may rest on couplings.
    rests = [
        q for q, level in zip(first.couplings, first.levels, strict=True) if level < demand.eps
    ]
    q = max(rests or first.couplings)
    return replace(demand, q=q, zeta=0.5 * (1.0 + q), couplings=(*first.couplings, 1.0))


def plans_for(budget: str, demands: Sequence[Demand], context: Context) -> list[Plan]:
    """Return M_mean with the budgets of one kind, one entry a point."""
    distinct = list(dict.fromkeys(demands))

    def compute() -> list[Plan]:
        if budget == PAPER:
            return paper_plans(distinct)
        if budget == BASELINE:
            return baseline_plans(distinct)
        if budget == BEST_ZETA:
            return best_zeta_plans(distinct, context.check)
        if distinct[0].own:
            return [_exact_plan(demand, context.check) for demand in distinct]
        return two_level_plans(distinct, context.check)[0]

    plans: list[Plan] = context.cached(
        ("private-regression", "budgets", budget, tuple(distinct)), compute
    )
    by_demand = dict(zip(distinct, plans, strict=True))
    return [by_demand[demand] for demand in demands]


def _exact_plan(demand: Demand, check: Callable[[], None]) -> Plan:
    """Return M_mean with the best budgets that the exact constraint allows to own levels."""
    check()
    couplings = np.broadcast_to(demand.coupling, demand.d)
    best = co.best_budget_of_couplings(
        demand.levels, demand.eps, couplings, demand.channel, exact=True
    )
    return nested_plans(best.c[None], "optimal", demand.channel)[0]


def halved_r2(plan: Plan) -> float:
    """Return r² of the proof: the largest error of one user's report at half the budget."""
    return float(co.m_mean_moments(plan.c / 2.0, plan.rule, plan.channel)[0].sum())


def rate(r2: float, d: int, n: float, radius: float) -> float:
    """Return Theorem 3's (R² + R)·min((log d/√n)(r² + r·d), d)."""
    first = math.log(d) / math.sqrt(n) * (r2 + math.sqrt(r2) * d) if r2 < math.inf else math.inf
    return (radius**2 + radius) * min(first, float(d))


def orders(plans: Sequence[Plan], points: SweptPoints) -> tuple[FloatArray, FloatArray]:
    """Return Theorem 3's order with r² of c as printed, and with that of the reports' c/2."""
    n, radius = points["n"], points["radius"]
    # Over n or R all points share one plan.
    distinct = {id(plan): plan for plan in plans}
    printed_r2 = {key: float(co.theorem3_r2(plan.c)) for key, plan in distinct.items()}
    own_r2 = {key: halved_r2(plan) for key, plan in distinct.items()}

    def values(r2: dict[int, float]) -> FloatArray:
        return np.array(
            [
                rate(r2[id(plan)], plan.c.size, float(m), float(r))
                for plan, m, r in zip(plans, n, radius, strict=True)
            ]
        )

    return values(printed_r2), values(own_r2)

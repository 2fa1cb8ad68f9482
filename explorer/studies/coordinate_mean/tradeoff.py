"""A report of M_mean as tests: run, the most sensitive coordinate flipped."""

import numpy as np

from explorer.privacy import coordinates as co
from explorer.privacy.core.bound import FloatArray
from explorer.studies.base.study import Context, Guarantee, Request, Sweep
from explorer.studies.base.sweeping import SweptPoints
from explorer.studies.coordinate_mean.plans import paper_plans
from explorer.studies.coordinate_mean.points import demands_of
from explorer.studies.guarantees.audits import Audited


def audits(request: Request, _promise: Guarantee, _context: Context) -> Audited:
    """Return M_mean with the paper's budgets, on two records that differ in one coordinate."""
    values = {k: np.array([float(v)]) for k, v in request.values if isinstance(v, int | float)}
    (plan,) = paper_plans(
        demands_of(request, SweptPoints(Sweep("q", 0.0, 1.0, 1), np.empty(0), values))
    )
    records = np.ones((2, plan.c.size))
    records[0, 0] = -1.0

    def run(side: int, runs: int, rng: np.random.Generator) -> FloatArray:
        seen = co.m_mean(np.tile(records[side], (runs, 1)), plan.c, rng, plan.rule, plan.channel)
        found: FloatArray = seen[:, 0]
        return found

    return Audited(
        "one report by the paper's budgets; the most sensitive coordinate is flipped, the others "
        "are fixed",
        run,
        float(plan.c[0]),
        0.0,
        "promised of this coordinate alone, c₁",
        max(1, 100_000 // plan.c.size),
    )

"""A user's two reports as tests: run, the whole record replaced."""

import numpy as np

from explorer.privacy import coordinates as co
from explorer.privacy.core.bound import FloatArray
from explorer.studies.base.study import Context, Guarantee, Request, Sweep
from explorer.studies.base.sweeping import SweptPoints
from explorer.studies.guarantees.audits import Audited
from explorer.studies.private_regression.theory import demands_of, plans_for


def audits(request: Request, _promise: Guarantee, context: Context) -> Audited:
    """Return both reports of M_mean at half the budget, on two opposite records."""
    values = {k: np.array([float(v)]) for k, v in request.values if isinstance(v, int | float)}
    points = SweptPoints(Sweep("n", 1.0, 1.0, 1), np.empty(0), values)
    features = int(request["features"])
    (plan,) = plans_for(request["budget"], demands_of(request, points, features), context)
    half, size = plan.c / 2, plan.c.size

    def run(side: int, runs: int, rng: np.random.Generator) -> FloatArray:
        rows = np.full((runs, size), 1.0 if side else -1.0)
        found = np.zeros(runs)
        for _ in range(2):
            found += co.m_mean(rows, half, rng, plan.rule, plan.channel).sum(axis=1)
        return found

    return Audited(
        "both reports of one user; the whole record is replaced by the opposite one",
        run,
        float(plan.total),
        0.0,
        "promised of the whole record, L",
        max(1, 50_000 // size),
    )

"""A private map as tests: what its mechanisms show with and without one user."""

import numpy as np

from explorer.privacy.core.bound import FloatArray
from explorer.privacy.heatmaps import CellCounts, measure
from explorer.privacy.noise.demonstration import IntArray
from explorer.studies.base.study import Context, Guarantee, Request
from explorer.studies.guarantees.audits import Audited
from explorer.studies.heatmap_theory.curves import plan_of
from explorer.studies.heatmap_theory.parameters import COUNTS

_LEVEL, _CELL = 1, 1


def audits(request: Request, _promise: Guarantee, _context: Context) -> Audited | str:
    """Return what the pyramid measures, or the mechanism of the map that is asked for, run."""
    asked = str(request["audited"])
    if asked == COUNTS:
        return _counts(request)
    from explorer.studies.heatmap_theory.map_audits import audit

    return audit(asked, request)


def _counts(request: Request) -> Audited:
    """Return the counts of a map of 2 × 2 cells: empty, or one user in a cell.

    Everything later is made of these counts, and the score is their log-likelihood ratio.
    """
    eps = float(request["epsilon"])
    plan = plan_of("experiments", eps, _LEVEL, 1, 1.0)
    empty = np.zeros(0, np.int64)
    data = [
        CellCounts(_LEVEL, empty, empty.astype(float), 0, 0),
        CellCounts(_LEVEL, np.array([_CELL]), np.ones(1), 1, 1),
    ]

    def once(side: int, rng: np.random.Generator) -> float:
        def noise(_level: int, codes: IntArray) -> FloatArray:
            return rng.laplace(size=codes.shape)

        seen = measure(data[side], plan, 1, noise)
        score = 0.0
        for level in plan.measured:
            own = np.flatnonzero(np.asarray(seen.codes[level]) == _CELL >> 2 * (_LEVEL - level))
            for value in np.asarray(seen.values[level])[own]:
                score += plan.epsilon[level] * (abs(value) - abs(value - 1))
        return float(score)

    def run(side: int, runs: int, rng: np.random.Generator) -> FloatArray:
        return np.array([once(side, rng) for _ in range(runs)])

    return Audited(
        "the pyramid's noisy counts of 2 × 2 cells (schedule of the experiments); one user, or "
        "nobody",
        run,
        eps,
    )

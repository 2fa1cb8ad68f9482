"""Item-wise release as tests: the randomiser of one item, run."""

import numpy as np

from explorer.privacy import user_metric as um
from explorer.privacy.core.bound import FloatArray
from explorer.privacy.spaces import Clustered, FiniteSpace, Square
from explorer.studies.base.study import Context, Guarantee, Request
from explorer.studies.guarantees.audits import Audited
from explorer.studies.itemwise.displacement import why_not
from explorer.studies.itemwise.parameters import EXPONENTIAL, GKRR, OPTIMAL, PLANAR
from explorer.studies.metric_space.choice import chosen_space


def audits(request: Request, _promise: Guarantee, context: Context) -> Audited | str:
    """Return the randomiser of one item, on two items far apart: before any shuffle."""
    space, alpha0 = chosen_space(request, context), float(request["alpha0"])
    kind, metric = request["randomiser"], space.metric
    reason = space.missing or why_not(kind, space)
    if reason:
        return reason
    if isinstance(metric, Square) and kind == PLANAR:
        return _planar(metric, alpha0)
    if kind == GKRR and isinstance(metric, Clustered):
        gkrr = um.GKRR(metric, alpha0)
        return _finite(gkrr, gkrr.law(), metric, alpha0)
    if kind == EXPONENTIAL and isinstance(metric, FiniteSpace):
        exponential = um.Exponential(metric, alpha0)
        return _finite(exponential, exponential.law(), metric, alpha0)
    if kind == OPTIMAL and isinstance(metric, FiniteSpace):
        optimal = um.Optimal(metric, alpha0)
        return _finite(optimal, optimal.law(), metric, alpha0)
    return "this randomiser does not run on this space"


def _finite(
    mechanism: um.GKRR | um.Exponential | um.Optimal,
    law: FloatArray,
    space: FiniteSpace,
    alpha0: float,
) -> Audited:
    """Return the audit of answers that are items: the score is the log-likelihood ratio."""
    apart = space.matrix()
    first, second = np.unravel_index(int(np.argmax(apart)), apart.shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        score = np.nan_to_num(np.log(law[second]) - np.log(law[first]), nan=0.0)

    def run(side: int, runs: int, rng: np.random.Generator) -> FloatArray:
        found: FloatArray = score[mechanism.answer(np.full(runs, second if side else first), rng)]
        return found

    eps = alpha0 * float(apart[first, second])
    return Audited(_WHAT, run, eps, 0.0, _PROMISE, 10_000)


def _planar(space: Square, alpha0: float) -> Audited:
    mechanism = um.PlanarLaplace(space, alpha0)
    corners = np.array([[0.0, 0.0], [space.side, space.side]])
    apart = float(space.cross(corners[:1], corners[1:])[0, 0])

    def run(side: int, runs: int, rng: np.random.Generator) -> FloatArray:
        seen = mechanism.answer(np.tile(corners[side], (runs, 1)), rng)
        with np.errstate(divide="ignore"):
            first, second = (np.log(mechanism.density(corner, seen)) for corner in corners)
        found: FloatArray = second - first
        return found

    return Audited(_WHAT, run, alpha0 * apart, 0.0, _PROMISE, 10_000)


_WHAT = "one item at the slider's α₀, randomised but not shuffled; two items farthest apart"
_PROMISE = "promised of one item, α₀·d"

"""A linear query's answer as tests: K-norm noise, run."""

import numpy as np

from explorer.privacy import user_metric as um
from explorer.privacy.core.bound import FloatArray
from explorer.studies.base.study import Context, Guarantee, Request
from explorer.studies.guarantees.audits import Audited

_NUMBERS = 2


def audits(request: Request, _promise: Guarantee, _context: Context) -> Audited:
    """Return Algorithm 1 with the slider's norm, on two answers as far apart as w allows."""
    alpha, w, p = (float(request[key]) for key in ("alpha", "w", "p"))
    apart = np.array([w, 0.0])

    def run(side: int, runs: int, rng: np.random.Generator) -> FloatArray:
        seen = um.priv_emd_linear(np.tile(side * apart, (runs, 1)), alpha, 1.0, p, rng)
        lengths = [np.linalg.norm(seen - other, ord=p, axis=1) for other in (0 * apart, apart)]
        found: FloatArray = alpha * (lengths[0] - lengths[1])
        return found

    return Audited(
        f"K-norm noise, p of the slider, on a query of {_NUMBERS} numbers and slope 1, local; two "
        "data sets w apart",
        run,
        alpha * w,
        0.0,
        "promised of K-norm noise, α·w",
        10_000,
    )

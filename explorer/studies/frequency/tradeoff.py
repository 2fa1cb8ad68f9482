"""Private histograms as tests: the user-level mechanisms, run."""

import numpy as np

from explorer.privacy import user_metric as um
from explorer.privacy.core.bound import FloatArray
from explorer.studies.base.study import Context, Guarantee, Request
from explorer.studies.guarantees.audits import Audited


def audits(request: Request, _promise: Guarantee, _context: Context) -> Audited:
    """Return the Laplace histogram of two users, of whom one moves all items to another bin."""
    eps, users = float(request["eps"]), 2
    data = [np.array([1.0, 0.0]), np.array([1 - 1 / users, 1 / users])]
    scale = float(um.laplace_scale(users, eps))

    def run(side: int, runs: int, rng: np.random.Generator) -> FloatArray:
        seen = np.array([um.laplace_histogram(data[side], users, eps, rng) for _ in range(runs)])
        lengths = [np.abs(seen - other).sum(axis=1) for other in data]
        found: FloatArray = (lengths[0] - lengths[1]) / scale
        return found

    return Audited(
        f"the curator's Laplace histogram of {users} users; one of them moves all items to another "
        "bin",
        run,
        eps,
        0.0,
        "promised of Laplace noise for any replacement",
    )

"""A training as tests: the composed laws, and a client's randomiser run."""

from collections.abc import Iterator

import numpy as np

from explorer.privacy import learning
from explorer.privacy.core.bound import FloatArray
from explorer.privacy.shuffling.clones import Clones
from explorer.studies.base.study import Context, Guarantee, Request
from explorer.studies.cldp_sgd.parameters import R_1, R_2_HALF, R_INF
from explorer.studies.guarantees.audits import Audited
from explorer.studies.guarantees.rounds import round_laws
from explorer.studies.guarantees.tradeoffs import Law

USES = ("eps0", "epochs", "n", "k", "delta", "lam_max", "randomiser")
_DIMENSION = 10
"""Of the gradients that are reported in an audit: ε₀ is the same whatever it is."""


def laws(request: Request, promise: Guarantee, context: Context) -> Iterator[Law]:
    """Yield what composed clones and responses say of every ε."""
    local, epochs, n, k = (float(request[key]) for key in ("eps0", "epochs", "n", "k"))
    chain = (local, k, n, float(learning.rounds_of(epochs, n, k)))
    yield from round_laws(chain, Clones.PUBLISHED, promise, context, ("shuffle-rdp", "composed"))


def audits(request: Request, _promise: Guarantee, _context: Context) -> Audited:
    """Return the randomiser of one gradient, on two opposite ones: before any shuffle."""
    eps0, kind = float(request["eps0"]), request["randomiser"]
    gradient = np.full(_DIMENSION, 1.0) if kind == R_INF else np.eye(_DIMENSION)[0]

    def run(side: int, runs: int, rng: np.random.Generator) -> FloatArray:
        rows = np.tile(gradient if side else -gradient, (runs, 1))
        if kind == R_INF:
            _, positive = learning.coordinate_report(_DIMENSION, eps0, 1.0).randomise(rows, rng)
            return positive.astype(float)
        if kind == R_1:
            # Row j of H has the sign of its first entry, +, in its first column.
            _, positive = learning.hadamard_report(_DIMENSION, eps0, 1.0).randomise(rows, rng)
            return positive.astype(float)
        unit = learning.priv_unit(_DIMENSION, eps0, 1.0, best_cap=kind != R_2_HALF)
        seen: FloatArray = unit.randomise(rows, rng) @ gradient
        return seen

    return Audited(
        f"one gradient of {_DIMENSION} numbers by this randomiser, before any shuffle; it is the "
        "opposite one instead",
        run,
        eps0,
        0.0,
        "promised of one report",
    )

"""The shuffled messages as tests: their exact law, and the protocol run."""

from collections.abc import Iterator

import numpy as np

from explorer.privacy import histograms as hg
from explorer.privacy.core.bound import FloatArray, Role
from explorer.studies.base.study import Context, Guarantee, Request, Sweep
from explorer.studies.base.sweeping import SweptPoints
from explorer.studies.guarantees.audits import Audited
from explorer.studies.guarantees.tradeoffs import Law
from explorer.studies.shuffled_histograms import curves, text
from explorer.studies.shuffled_histograms.curves import Points

USES = ("release", "eps", "delta", "n", "trusted")
_SUMMED = 2e-9
_RUN_WHOLE = 1_000
"""Users up to whom every noise bit is drawn; of more, their sum."""


def laws(request: Request, promise: Guarantee, context: Context) -> Iterator[Law]:
    """Yield the exact δ of the noise that is added, at every ε."""
    kind, users, q = _noise(request, context)
    yield Law(
        "law",
        "exact law of the messages",
        lambda eps: np.minimum(curves.exact_delta(kind, eps, users, q) * (1 + _SUMMED), 1.0),
        Role.UPPER,
        promise.pairs[0][0],
        text.EXACT,
    )


def _noise(request: Request, context: Context) -> tuple[hg.Query, float, float]:
    """Return what is released, how many users are trusted to add noise, and 1 − p."""
    kind = hg.Query(request["release"])
    values = {k: np.array([float(v)]) for k, v in request.values if isinstance(v, int | float)}
    one = Points.of(SweptPoints(Sweep("n", 1.0, 1.0, 1), np.empty(0), values), kind)
    noise = curves.calibrated(one, context)
    return kind, float(one.held[0]), float(noise.q[0])


def audits(request: Request, promise: Guarantee, context: Context) -> Audited:
    """Return the randomiser and the shuffler, run: one user's value is another one."""
    kind, held, q = _noise(request, context)
    users, (eps, delta) = int(held), promise.pairs[0]
    two = kind is hg.Query.HISTOGRAM

    def whole(side: int, rng: np.random.Generator) -> float:
        values = np.zeros(users, np.int64)
        values[0] = side
        if not two:
            return float(hg.count_randomizer(values, 1 - q, rng).messages.size)
        sent = hg.histogram_randomizer(values, 2, 1 - q, rng)
        seen = np.bincount(hg.shuffler(sent, rng), minlength=2)
        return float(seen[1] - seen[0])

    def run(side: int, runs: int, rng: np.random.Generator) -> FloatArray:
        if users <= _RUN_WHOLE:
            return np.array([whole(side, rng) for _ in range(runs)])
        noise: FloatArray = rng.binomial(users, 1 - q, runs).astype(float) + side
        if two:
            noise -= rng.binomial(users, 1 - q, runs) + (1 - side)
        return noise

    moved = "from one bin to another, both counts are seen" if two else "from 0 to 1"
    return Audited(
        f"{'P_hist' if two else 'P_zsum'} of {users:,} users; one of them moves {moved}",
        run,
        eps,
        delta,
        at_once=max(1, 2_000_000 // users) if users <= _RUN_WHOLE else 10_000,
    )

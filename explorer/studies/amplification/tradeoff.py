"""One shuffle as tests: the clones' whole law, and randomised response run."""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from explorer.privacy.core.bound import FloatArray, Role
from explorer.privacy.shuffle_rdp import RandomisedResponseRound, ThreeSymbolRound
from explorer.privacy.shuffling.clones import ClonePair, Clones
from explorer.privacy.tradeoff import DUAL
from explorer.studies.amplification import text
from explorer.studies.base.study import Context, Guarantee, Request
from explorer.studies.guarantees.audits import Audited
from explorer.studies.guarantees.rounds import responses_run
from explorer.studies.guarantees.tradeoffs import Law

USES = ("eps0", "n", "delta")
_SUMMED = 2e-9
"""By how much of itself a δ that is summed is moved to its safe side."""


def laws(request: Request, promise: Guarantee, context: Context) -> Iterator[Law]:
    """Yield what the clones and randomised response say of every ε."""
    eps0, n = float(request["eps0"]), float(request["n"])
    farthest = min(eps for eps, _ in promise.pairs)
    for variant in Clones:
        key = f"exact_{variant.value}"
        make = partial(ClonePair, eps0, n, variant)
        pair: ClonePair = context.memo(("amplification", "pair", eps0, n, variant), make)
        yield Law(
            f"law_{variant.value}",
            f"law of the clones {variant.value}",
            _raised(pair),
            Role.UPPER,
            farthest,
            DUAL,
            text.ASSUMES.get(key, ()),
        )
    two, three = (
        context.memo(("amplification", kind.__name__, eps0, n), partial(kind, eps0, n, n))
        for kind in (RandomisedResponseRound, ThreeSymbolRound)
    )
    yield Law(
        "response",
        "2RR, 3RR: nobody can promise more",
        lambda eps: np.maximum(two.delta(eps), three.delta(eps)) * (1 - _SUMMED),
        Role.LOWER,
        farthest,
        text.LOWER,
    )


def _raised(pair: ClonePair) -> Callable[[FloatArray], FloatArray]:
    return lambda eps: np.minimum(pair.delta(eps) * (1 + _SUMMED), 1.0)


def audits(request: Request, promise: Guarantee, _context: Context) -> Audited:
    """Return randomised response, shuffled: what the lower bound is made of."""
    eps0, n = float(request["eps0"]), int(request["n"])
    eps, delta = promise.pairs[0]
    return responses_run(eps0, n, n, 1, delta, eps)

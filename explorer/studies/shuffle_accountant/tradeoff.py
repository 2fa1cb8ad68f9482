"""All rounds as tests: the composed laws, and randomised response run."""

from collections.abc import Iterator

from explorer.privacy.shuffling.clones import Clones
from explorer.studies.base.study import Context, Guarantee, Request
from explorer.studies.guarantees.audits import Audited
from explorer.studies.guarantees.rounds import responses_run, round_laws
from explorer.studies.guarantees.tradeoffs import Law

USES = ("eps0", "n", "k", "T", "delta", "lam_max", "clones")


def laws(request: Request, promise: Guarantee, context: Context) -> Iterator[Law]:
    """Yield what composed clones and responses say of every ε."""
    eps0, k, n, rounds = (float(request[key]) for key in ("eps0", "k", "n", "T"))
    chain, variant = (eps0, k, n, rounds), Clones(request["clones"])
    yield from round_laws(chain, variant, promise, context, ("shuffle-rdp", "composed"))


def audits(request: Request, promise: Guarantee, _context: Context) -> Audited:
    """Return randomised response through all rounds: what the lower bound is made of."""
    eps, delta = promise.pairs[0]
    k, n, rounds = (int(request[key]) for key in ("k", "n", "T"))
    return responses_run(float(request["eps0"]), k, n, rounds, delta, eps)

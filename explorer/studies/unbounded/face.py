"""What unbounded data show first."""

from explorer.studies.base.claims import Claimed
from explorer.studies.base.numbers import at_least, nearest
from explorer.studies.base.study import Answer, Face, Result


def _draws(result: Result, found: Claimed | None) -> Answer | None:
    if found is None:
        return None
    request = result.request
    return Answer(
        found.said.number,
        f"Draw {int(request['s']):,} items from each user and allow α = {at_least(found.value)}: "
        f"then ε = {nearest(float(request['eps']))} for moves up to {nearest(float(request['r']))} "
        "of the diameter.",
    )


FACES = {
    "alpha": Face(("eps", "r", "s", "delta"), ("chernoff", "printed", "binomial", "sizes"), _draws),
    "threshold": Face(("r", "s", "delta"), ("chernoff", "printed", "binomial", "mean")),
    "group_eps": Face(("eps", "r", "d"), ("group", "roughly")),
    "group_delta": Face(("eps", "r", "d", "delta"), ("group", "fact", "table")),
}
"""What is shown first, by quantity."""

SHORT_NAMES = {
    "chernoff": "Chernoff form",
    "printed": "Theorem 5.3",
    "binomial": "0/1 distances, exact",
    "informal": "Theorem 1.3, informal",
    "sizes": "ε/r, equal sizes",
    "user": "α = ε, user-level DP",
    "mean": "mean distance r",
    "group": "k hops (Lemma A.2)",
    "roughly": "the paper's “roughly”",
    "fact": "Fact 5.1 as printed",
    "table": "Table 1 as printed",
}

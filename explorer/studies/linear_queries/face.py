"""What linear queries show first."""

from explorer.studies.base.claims import Claimed
from explorer.studies.base.face import number_of
from explorer.studies.base.phrases import error_phrase, times
from explorer.studies.base.study import Answer, Face, Result
from explorer.studies.linear_queries.parameters import IN_LENGTHS, QUANTITIES

_STATISTICS = {q.key: q.statistic for q in QUANTITIES if q.statistic is not None}


def _errors(result: Result, found: Claimed | None) -> Answer | None:
    if found is None:
        return None
    name = SHORT_NAMES.get(found.series.key, found.series.label)
    statistic = _STATISTICS[result.request.quantity]
    length = next((r for r in result.readouts if r.key == f"{found.series.key}_length"), None)
    if length is not None and length.value is not None:
        error = error_phrase(length.value, statistic, length.unit)
    else:
        distances = result.request["query"] in IN_LENGTHS
        unit = "of the largest distance" if distances else "in the query's own unit"
        error = error_phrase(found.value, statistic, unit)
    text = f"{name}: {error}."
    if user := number_of(result, "user"):
        text += (
            f" User-level DP, a different guarantee, has {times(user / found.value)} that error."
        )
    return Answer(found.said.number, text, statistic=statistic)


FACES = {
    "rmse": Face(
        ("alpha", "n", "query", "landmarks"), ("kinf", "k2", "k1", "gauss", "user"), _errors
    ),
    "coordinate": Face(
        ("alpha", "n", "query", "landmarks"), ("kinf", "k2", "k1", "gauss", "user"), _errors
    ),
    "euclid": Face(
        ("alpha", "n", "query", "landmarks"), ("kinf", "k2", "k1", "gauss", "user"), _errors
    ),
    "own": Face(("alpha", "n", "query", "landmarks"), ("kinf", "k2", "k1", "gauss", "user")),
    "quantile": Face(("alpha", "n", "query", "landmarks"), ("kinf", "k2", "k1", "gauss", "user")),
    "true_delta": Face(("alpha", "delta"), ("gauss", "textbook", "printed", "asked")),
    "lip": Face(("query", "landmarks", "width"), ("kinf", "k2", "k1", "user")),
}
"""What is shown first, by quantity."""

SHORT_NAMES = {
    "k1": "ℓ1 noise (Laplace)",
    "k2": "ℓ2 noise",
    "kinf": "ℓ∞ noise",
    "kp": "ℓp noise",
    "gauss": "Gaussian, exact",
    "textbook": "Gaussian, textbook",
    "printed": "Gaussian as printed",
    "user": "user-level DP, ℓ2 noise",
    "user_gauss": "user-level DP, Gaussian",
    "asked": "δ asked for",
}

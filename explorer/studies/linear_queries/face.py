"""What linear queries show first."""

from explorer.studies.base.claims import Claimed
from explorer.studies.base.face import number_of
from explorer.studies.base.numbers import at_most
from explorer.studies.base.phrases import times
from explorer.studies.base.study import Answer, Face, Result


def _errors(result: Result, found: Claimed | None) -> Answer | None:
    if found is None:
        return None
    name = SHORT_NAMES.get(found.series.key, found.series.label)
    text = f"With {name} the answer is off by at most {at_most(found.value)}"
    if user := number_of(result, "user"):
        text += f"; user-level DP, another promise, errs {times(user / found.value)} that"
    return Answer(found.said.number, f"{text}.")


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

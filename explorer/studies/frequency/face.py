"""What frequency estimation shows first."""

from explorer.studies.base.claims import Claimed
from explorer.studies.base.face import number_of
from explorer.studies.base.numbers import nearest
from explorer.studies.base.phrases import error_phrase
from explorer.studies.base.study import Answer, Face, Result, Statistic


def _errors(result: Result, found: Claimed | None) -> Answer | None:
    if found is None:
        return None
    name = SHORT_NAMES.get(found.series.key, found.series.label)
    error = error_phrase(found.value, Statistic.MEAN, "of the largest distance")
    text = f"{name}: {error}"
    laplace = number_of(result, "laplace")
    if laplace is not None and found.series.key != "laplace":
        text += f"; Laplace noise {nearest(laplace)}. Their guarantees are not comparable"
    return Answer(found.said.number, f"{text}.", statistic=Statistic.MEAN)


FACES = {
    "emd": Face(("alpha", "eps", "n", "m"), ("gkrr", "hadamard", "laplace", "theorem65"), _errors),
    "rmse": Face(
        ("alpha", "eps", "n", "m"), ("gkrr", "hadamard", "laplace", "one_hadamard", "one_priv_unit")
    ),
    "cluster": Face(("alpha", "eps", "n", "m"), ("gkrr", "hadamard", "laplace")),
    "wins": Face(
        ("eps", "n", "m"), ("gkrr_wins", "hadamard_wins", "laplace_wins", "one_item_wins", "here")
    ),
}
"""What is shown first, by quantity."""

SHORT_NAMES = {
    "gkrr": "GKRR",
    "theorem65": "Theorem 6.5, printed",
    "theorem66": "Theorem 6.6",
    "theorem66_printed": "Theorem 6.6, eq. (6)/(7)",
    "remark": "remark to Theorem 6.6",
    "hadamard": "Hadamard response",
    "laplace": "Laplace",
    "gkrr_theorem": "GKRR by Theorem 4.4",
    "gkrr_printed": "GKRR by eq. (6)/(7)",
    "hadamard_printed": "Hadamard, not private",
    "laplace_printed": "Laplace, not private",
    "one_hadamard": "one item, Hadamard",
    "one_grr": "one item, k-ary RR",
    "one_priv_unit": "one item, PrivUnit",
    "one_item_wins": "one drawn item wins",
    "hadamard_wins": "Hadamard wins",
    "choice": "α = ε/r, the paper's",
    "paper": "the paper's condition",
}

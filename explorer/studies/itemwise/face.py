"""What item-wise release shows first."""

from explorer.studies.base.claims import Claimed
from explorer.studies.base.face import number_of
from explorer.studies.base.numbers import at_least
from explorer.studies.base.phrases import times
from explorer.studies.base.study import Answer, Face, Result


def _allowed(result: Result, found: Claimed | None) -> Answer | None:
    if found is None:
        return None
    text = f"Each item may have α₀ = {at_least(found.value)}"
    rivals = (("tight", "what Theorem 4.4 allows"), ("composed", "plain composition"))
    said = [
        f"{times(found.value / value)} {name}"
        for key, name in rivals
        if key != found.series.key and (value := number_of(result, key))
    ]
    return Answer(found.said.number, text + (f": {', '.join(said)}." if said else "."))


FACES = {
    "alpha0": Face(
        ("alpha", "m", "n", "w"), ("sorted", "exact", "tight", "composed", "refuted"), _allowed
    ),
    "alpha": Face(("alpha0", "m", "n", "w"), ("sorted", "exact", "tight", "composed", "refuted")),
    "delta": Face(("alpha", "alpha0", "m", "n"), ("sorted", "exact", "claimed", "refuted")),
    "noise": Face(("alpha", "m", "n", "delta"), ("sorted", "exact", "tight", "composed")),
}
"""What is shown first, by quantity."""

SHORT_NAMES = {
    "sorted": "hops, increasing order",
    "exact": "exact hops",
    "tight": "Theorem 4.4, δ·e^h = δ′",
    "simple": "Theorem 4.4, δ′e^(−α)",
    "composed": "plain composition",
    "printed": "equation (6)/(7)",
    "refuted": "refuted by an example",
    "proof": "Theorem 4.3, proof's δ",
    "claimed": "Theorem 4.4, its δ",
}

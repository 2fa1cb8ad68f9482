"""What the mean under coordinate DP shows first."""

from explorer.studies.base.claims import Claimed
from explorer.studies.base.face import number_of
from explorer.studies.base.numbers import nearest
from explorer.studies.base.phrases import error_phrase, times
from explorer.studies.base.study import Answer, Face, Result, Statistic


def _errors(result: Result, found: Claimed | None) -> Answer | None:
    if found is None:
        return None
    name = SHORT_NAMES.get(found.series.key, found.series.label)
    text = f"{name}: {error_phrase(found.value, Statistic.MEAN_SQUARE)}"
    if alike := number_of(result, "baseline"):
        more = times(alike / found.value)
        text += f"; protecting all coordinates alike {nearest(alike)}, {more} that"
    return Answer(found.said.number, f"{text}.", statistic=Statistic.MEAN_SQUARE)


FACES = {
    "mse": Face(("q", "level", "eps", "share"), ("hybrid", "exact", "paper", "baseline"), _errors),
    "budget": Face(("q", "level", "eps", "share"), ("hybrid", "exact", "paper", "demanded")),
    "level": Face(("q", "level", "eps"), ("paper", "exact", "hybrid", "demanded")),
    "run": Face(("records", "level", "eps", "q"), ("reported", "truth")),
}
"""What is shown first, by quantity."""

SHORT_NAMES = {
    "paper": "the paper's ζ",
    "baseline": "all coordinates alike",
    "theorem2": "Theorem 2, order only",
    "corollary1": "Corollary 1, order only",
    "central": "a trusted curator",
    "exact": "exact budgets",
    "hybrid": "hybrid channels",
    "best_zeta": "the best ζ",
    "paper_projected": "paper's ζ, projected",
    "baseline_projected": "all alike, projected",
    "exact_projected": "exact budgets, projected",
    "hybrid_projected": "hybrid, projected",
    "best_zeta_projected": "best ζ, projected",
    "demanded": "what is demanded",
    "proposition6": "one channel each, Prop. 6",
    "proposition4": "Proposition 4, part 2",
    "total": "whatever the beliefs",
    "reported": "mean of the reports",
    "truth": "mean of the records",
}

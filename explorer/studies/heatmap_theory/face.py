"""What the theory of heatmaps shows first."""

from explorer.studies.base.claims import Claimed
from explorer.studies.base.face import number_of
from explorer.studies.base.numbers import at_least
from explorer.studies.base.phrases import error_phrase
from explorer.studies.base.study import Answer, Face, Result, Statistic


def _error(result: Result, found: Claimed | None) -> Answer | None:
    least = number_of(result, "lower")
    if found is None or least is None:
        return None
    return Answer(
        found.said.number,
        f"The map: {error_phrase(found.value, Statistic.MEAN, 'of its side')}; no method can "
        f"promise less than {at_least(least)}.",
        statistic=Statistic.MEAN,
    )


FACES = {
    "error": Face(
        ("epsilon", "n", "k", "resolution"),
        ("experiments", "theory", "dense", "lower", "lower_dense"),
        _error,
    ),
    "split": Face(("epsilon", "resolution", "k"), ("theory", "experiments", "capped")),
    "kl": Face(("emd", "sigma"), ("kl",)),
    "similarity": Face(("emd", "sigma"), ("huber", "similarity")),
    "bits": Face(("B", "n", "epsilon", "delta"), ("corrected", "printed")),
    "missing": Face(("missing", "B", "epsilon"), ("worst", "one_place", "full")),
}
"""What is shown first, by quantity."""

SHORT_NAMES = {
    "theory": "Theorem 3.1",
    "experiments": "schedule of experiments",
    "capped": "capped depth",
    "dense": "dense aggregation",
    "lower": "no method below, k cells",
    "lower_dense": "no method below, any map",
    "order": "order of Theorem C.1",
    "similarity": "Corollary B.5",
    "huber": "Bretagnolle–Huber",
    "kl": "Lemma B.3",
    "corrected": "shares, corrected",
    "printed": "shares, as printed",
    "worst": "user spread over the map",
}

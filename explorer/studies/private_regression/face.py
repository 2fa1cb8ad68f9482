"""What private regression shows first."""

from explorer.studies.base.claims import Claimed
from explorer.studies.base.face import number_of
from explorer.studies.base.numbers import nearest
from explorer.studies.base.study import Answer, Face, Result, Statistic
from explorer.studies.coordinate_mean.parameters import MEDIAN


def _excess(result: Result, _found: Claimed | None) -> Answer | None:
    ours, silent = (number_of(result, key) for key in ("trust-region", "nothing"))
    if ours is None:
        return None
    median = result.request["dots"] == MEDIAN
    statistic = Statistic.MEDIAN if median else Statistic.MEAN
    text = f"{statistic.capitalize()} excess error of the trials about {nearest(ours, 2)}"
    if silent is not None:
        text += f"; predicting a constant gives {nearest(silent, 2)}"
    return Answer(f"f(θ̂) − f* ≈ {nearest(ours, 2)}", f"{text}.", statistic=statistic)


FACES = {
    "excess": Face(("n", "eps", "level", "q"), ("trust-region", "nothing", "theorem3"), _excess),
    "rmse": Face(("n", "eps", "level", "q"), ("trust-region", "nothing", "nonprivate")),
}
"""What is shown first, by quantity."""

SHORT_NAMES = {
    "theorem3": "Theorem 3, order only",
    "theorem3_half": "Theorem 3, own r², order",
    "nothing": "saying nothing",
    "psd-clip": "clipped to convex",
    "trust-region": "exact over the ball",
    "unprojected": "unprojected",
    "nonprivate": "without privacy",
}

"""What users' data show first."""

import math

from explorer.privacy.core.bound import Role
from explorer.studies.base.claims import Claimed
from explorer.studies.base.face import number_of
from explorer.studies.base.numbers import nearest
from explorer.studies.base.phrases import error_phrase
from explorer.studies.base.study import Answer, Face, Result, Statistic

FARTHEST = math.sqrt(2)
"""Of two tables of shares in ℓ2: all users hold one item, or all hold another."""


def _shares(result: Result, _found: Claimed | None) -> Answer | None:
    rmse, moved = (number_of(result, key) for key in ("rmse", "moved"))
    if rmse is None:
        return None
    text = f"The estimated shares: {error_phrase(rmse, Statistic.RMS, role=Role.ESTIMATE)} in all"
    if rmse > FARTHEST:
        text = f"Says nothing: no two tables of shares are further apart than {nearest(FARTHEST)}"
    if moved is not None:
        text += f"; an answer lies {nearest(moved)} from its item on average"
    shown = None if rmse > FARTHEST else Statistic.RMS
    return Answer(f"‖F − K̃‖₂ ≈ {nearest(rmse)}", f"{text}.", statistic=shown)


FACES = {
    "shares": Face(
        ("alpha", "users", "sizes", "space"), ("truth", "answers", "projected"), _shares
    ),
    "map": Face(("alpha", "users", "sizes", "space"), ("before", "after")),
    "mean": Face(("alpha", "users", "query", "space"), ("truth", "release")),
    "moved": Face(("users", "against", "second", "space"), ("moved",)),
    "found_out": Face(("alpha", "users", "against", "second"), ("one", "all", "pools", "chance")),
}
"""What is shown first, by quantity."""

SHORT_NAMES = {
    "truth": "true (curator only)",
    "answers": "shares of the answers",
    "estimate": "unbiased estimate F",
    "projected": "estimate, projected",
    "before": "items (curator only)",
    "after": "answers, shuffled",
    "moved": "d_EM of a user's data",
    "one": "who moved farthest",
    "all": "all, by adding up",
    "pools": "all, by the pools",
}

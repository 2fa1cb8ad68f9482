"""Between two points a curve is drawn straight: few points where its neighbours have many mislead.

An upper bound computed at 8 places of an axis where the others have 100 was drawn up to 12 % below
what it is there, and a lower bound above an upper one.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from explorer.engine.runtime import StudyRuntime, final_result
from explorer.privacy.core.bound import Role
from explorer.studies.base.study import Mark, default_request, default_sweep
from explorer.studies.registry import get_study

STUDIES = ("shuffle-rdp", "amplification", "cldp-sgd", "histograms", "itemwise", "frequency")
LEAST = 0.3
"""Of the points of the curve that has most."""
CASES = [
    (study, quantity.key, sweep)
    for study in STUDIES
    for quantity in get_study(study).quantities[:1]
    for sweep in quantity.sweeps[:2]
    if (study, quantity.key) != ("cldp-sgd", "accuracy")
]
POINTS = 30
CLAIMED = (Role.UPPER, Role.LOWER, Role.EXACT)


def answered(study_id: str, quantity: str, sweep: str, **values: float):
    study = get_study(study_id)
    request = replace(
        default_request(study, **values),
        quantity=quantity,
        sweep=replace(default_sweep(study, sweep), points=POINTS),
    )
    host = StudyRuntime()
    try:
        return final_result(host, request)
    finally:
        host.close()


@pytest.mark.full
@pytest.mark.parametrize(("study", "quantity", "sweep"), CASES)
def test_claimed_curves_have_their_share_of_points(study: str, quantity: str, sweep: str) -> None:
    lines = [s for s in answered(study, quantity, sweep).series if s.mark is Mark.LINE]
    most = max(s.x.size for s in lines)
    few = {s.key: s.x.size for s in lines if s.role in CLAIMED and s.x.size < LEAST * most}
    if study == "shuffle-rdp" and sweep == "k":
        few.pop("worst_case", None)  # a search of seconds a point
    assert few == {}


@pytest.mark.full
def test_a_lower_bound_is_not_drawn_above_an_upper_one() -> None:
    """On the steep end of ε₀, where the clones' condition begins to fail."""
    result = answered("amplification", "eps", "eps0")
    lower, upper = (next(s for s in result.series if s.key == k) for k in ("lower", "exact_2023"))
    x = np.linspace(8.0, 9.95, 400)
    below = np.interp(x, lower.x[lower.present], lower.y[lower.present])
    above = np.interp(x, upper.x[upper.present], upper.y[upper.present])
    assert (below <= above * (1 + 1e-3)).all()

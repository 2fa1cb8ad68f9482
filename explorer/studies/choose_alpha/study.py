"""From what must be protected to α, and from α to what every change of a user's data gets."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from explorer.privacy.core.bound import Bound, Role
from explorer.studies.base.study import (
    Condition,
    Context,
    Readout,
    Request,
    Result,
    Series,
    Study,
)
from explorer.studies.base.sweeping import SweptPoints, readout_from, series_from, swept_points
from explorer.studies.choose_alpha import text
from explorer.studies.choose_alpha.curves import (
    alpha_curves,
    asked_dots,
    epsilon_curves,
    iso_curves,
    looked_at,
)
from explorer.studies.choose_alpha.face import FACES, SHORT_NAMES
from explorer.studies.choose_alpha.help import PAGE, PRESETS
from explorer.studies.choose_alpha.parameters import PARAMETERS, QUANTITIES
from explorer.studies.choose_alpha.requirements import Requirements, distance_of, requirements_of
from explorer.studies.guarantees.tradeoffs import with_tradeoff
from explorer.studies.metric_space.choice import ChosenSpace, chosen_space


@with_tradeoff()
class ChooseAlpha(Study):
    """α for a list of requirements (ε, distance, share of the data), on any metric space."""

    id = "choose-alpha"
    references = (text.SETTING, text.USER_LEVEL)
    parameters = PARAMETERS
    quantities = QUANTITIES
    page = PAGE
    presets = PRESETS
    faces = FACES
    short_names = SHORT_NAMES

    def answer(self, request: Request, context: Context) -> Iterator[Result]:
        """Yield the one answer: everything here is a closed form."""
        points = swept_points(self, request)
        space = chosen_space(request, context)
        context.check()
        if space.metric is None:
            answer = _nothing(request, points, space)
        else:
            answer = _answered(request, points, space)
        yield Result(
            request,
            request.fidelity,
            complete=True,
            space=space.picture,
            **answer,
        )


def _answered(request: Request, points: SweptPoints, space: ChosenSpace) -> dict[str, Any]:
    asked = requirements_of(request, space)
    alpha = asked.alpha
    q = looked_at(points, request, space)
    if request.quantity == "alpha":
        series, _ = alpha_curves(points, request, space)
    elif request.quantity == "eps":
        series = epsilon_curves(points, q, asked, alpha, space)
    else:
        series = (*iso_curves(points, q, asked, alpha), asked_dots(points, asked, space, "tau"))
    distance, tau = distance_of(request, space, ""), float(request["tau"])
    epsilon = alpha * min(distance / space.diameter, 1.0) * tau
    return {
        "series": series,
        "readouts": _readouts(asked, alpha, epsilon, space),
        "tables": (text.requirement_table(asked, alpha, space),),
        "conditions": text.conditions(asked, space),
        "guarantee": text.guarantee(alpha, epsilon, tau, min(distance, space.diameter), space),
        "notes": space.notes,
    }


def _readouts(
    asked: Requirements, alpha: float, epsilon: float, space: ChosenSpace
) -> tuple[Readout, ...]:
    found = [
        Readout("alpha", "α, per diameter", alpha, Role.EXACT, note=text.LARGEST),
        Readout("binding", "requirement that binds", float(asked.binding + 1)),
        Readout("change", "ε of the change looked at", epsilon, Role.UPPER),
    ]
    if space.unit:
        per = Readout(
            "per_unit", "α, per unit", alpha / space.diameter, Role.EXACT, f"1/{space.unit}"
        )
        found.insert(1, per)
    found.append(Readout("diameter", "diameter", space.diameter, unit=space.unit))
    return tuple(found)


def _nothing(request: Request, points: SweptPoints, space: ChosenSpace) -> dict[str, Any]:
    """Return what is left to say while the space's file is still to be chosen."""
    nowhere = np.full(points.x.size + 1, np.nan)
    bound = Bound(nowhere, Role.EXACT, text.SETTING, np.zeros(nowhere.shape, bool), space.missing)
    label = {"alpha": "all requirements", "eps": "the change looked at"}.get(
        request.quantity, "ε asked"
    )
    series: tuple[Series, ...] = (series_from("alpha", label, points, bound),)
    return {
        "series": series,
        "readouts": (readout_from("alpha", "α, per diameter", bound),),
        "conditions": (Condition("The metric space is given", False, space.missing),),
        "notes": (space.missing,),
    }

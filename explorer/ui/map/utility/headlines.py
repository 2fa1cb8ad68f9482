"""Headline of the utility curves: the ε that reaches the target. Imports no Qt."""

from __future__ import annotations

from collections.abc import Sequence

from explorer.engine.error_curves import ErrorCurves as Curves, Question
from explorer.studies.base.numbers import at_most
from explorer.studies.base.phrases import Headline
from explorer.studies.base.study import Request
from explorer.studies.heatmap.experiments import utility_report as words
from explorer.studies.heatmap.experiments.error_curves import AXES, STAGES
from explorer.studies.heatmap.experiments.utility_search import Found


def lines_of(shown: Question, curves: Curves | None, target: float) -> list[words.Line]:
    """Return the ε that each mechanism needs; empty if ε is not on the axis."""
    known = curves is not None and shown.axis == "epsilon"
    return words.lines(curves.curves, shown.shown_measure, target) if curves and known else []


def in_front(
    shown: Question,
    found: Curves | None,
    lines: Sequence[words.Line],
    mechanism: str,
    target: float,
    certified: Found | None,
    request: Request,
) -> Headline:
    """Return the headline of a mechanism: certified if available, else estimated or proved.

    `request` is the map's current request, `shown` that of the curves.
    """
    measure, now = shown.shown_measure, float(request["epsilon"])
    mine = next((line for line in lines if line.mechanism == mechanism), None)
    curves = () if found is None else found.curves
    curve = next((c for c in curves if c.mechanism == mechanism), None)
    users = int(request["n0"]) if found is None else found.users
    sure = ""
    if certified is not None:
        head, text = words.sure_answer(certified, mechanism, measure, target)
    elif shown.axis == "epsilon":
        head, text = words.headline(mine), words.sentence(curve, measure, target, now, mine)
        sure = words.how_sure(curve, measure, (mine and mine.epsilon) or now)
    else:
        head, text = "", words.over(AXES[shown.axis], measure, now)
    rests_on = words.evaluation_text(shown.origin, users, mechanism, request["w"])
    return Headline(head, text, rests_on, curator_only=not shown.proved, more=sure)


def usable(
    found: Curves | None, lines: Sequence[words.Line], mechanism: str, certified: Found | None
) -> float | None:
    """Return the recommended ε: certified if available, else estimated from enough draws."""
    if certified is not None and certified.enough is not None:
        return float(at_most(certified.enough))
    few = any(
        min(curve.draws) < STAGES[-1] and not curve.proved
        for curve in (() if found is None else found.curves)
        if curve.mechanism == mechanism
    )
    return next((x.epsilon for x in lines if x.mechanism == mechanism and not few), None)

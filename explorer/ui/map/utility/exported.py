"""What *Which ε?* exports: its curves as a result, and the map's question as their recipe."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from explorer.engine.session.which_view import which_to_recipe
from explorer.figures.view_state import ViewState
from explorer.studies.heatmap import text
from explorer.studies.heatmap.experiments.error_curves import AXES, MEASURES
from explorer.studies.heatmap.experiments.which_result import TITLE, log_axis, which_result
from explorer.studies.heatmap.experiments.which_words import MEAN
from explorer.ui.controllers.workspace import Exported
from explorer.ui.drawing.map_style import style_for

if TYPE_CHECKING:
    from explorer.ui.map.utility.view import WhichEpsilon


def exported(view: WhichEpsilon) -> Exported | None:
    """Return the curves on the screen as they are exported; None while there are none."""
    answer, drawn = view.answer, view.plot.result
    if answer is None or drawn is None:
        return None
    question = answer.question
    axis, measure = AXES[question.axis], MEASURES[question.measure]
    target = view.target_of(measure.key)
    statistic = MEAN if question.proved else view.which.statistic
    shown = replace(view.which, statistic=statistic, targets={measure.key: target})
    told = which_to_recipe(shown, question.draws)
    judged = told["judged_on"]  # never the path of a file
    notes = [f"Judged on {judged}" + f", {answer.users:,} users" * (axis.key != "users") + "."]
    if not answer.finished:
        notes.append(f"{answer.done:,} of {answer.total:,} draws are there.")
    notes += [view.spoken.text, view.spoken.beside]
    result = which_result(
        question.request,
        axis,
        measure,
        statistic,
        drawn.series,
        answer.curves,
        answer.grey,
        target,
        text.stamp(False, curator_only=True),
        notes,
    )
    look = ViewState(
        title=TITLE, theme=style_for(view.palette()).theme, x_log=log_axis(axis), y_log=measure.log
    )
    return Exported(result, look, question.request, {"which": told})

"""Curves of the error as they come, batch after batch."""

from __future__ import annotations

from dataclasses import replace

import pytest

from explorer.engine import error_curves
from explorer.engine.error_curves import ErrorCurves, Question, find_curves
from explorer.engine.executors.base import InPlaceExecutor
from explorer.engine.runtime import StudyRuntime
from explorer.geography.region import Region
from explorer.studies.base.study import Selection, default_request
from explorer.studies.heatmap.experiments.error_curves import EPSILONS
from explorer.studies.heatmap.experiments.evaluation import SYNTHETIC_USERS
from explorer.studies.heatmap.study import HeatmapStudy


def test_the_first_whole_curve_is_reported_when_it_is_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """However soon after another report: the next batch may be a second away."""
    monkeypatch.setattr(error_curves, "FIRST_S", 3600.0)
    monkeypatch.setattr(error_curves, "LATER_S", 3600.0)
    # No processes: what is looked at is which results are told of, and when.
    monkeypatch.setattr("explorer.engine.computing.EmbeddedExecutor", lambda *_: InPlaceExecutor())
    request = default_request(HeatmapStudy(), resolution="64")
    request = replace(request, selection=Selection("0" * 64, Region(0.0, 0.0, 1.0, 1.0)))
    question = Question(
        request, measure="similarity", judged_on=next(iter(SYNTHETIC_USERS)), draws=1
    )
    host, reports = StudyRuntime(), list[ErrorCurves]()
    try:
        answer = find_curves(host, question, lambda: None, reports.append)
    finally:
        host.close()
    assert answer.finished
    assert [one.done for one in reports] == [len(EPSILONS), answer.total]
    assert min(reports[0].curves[0].draws) == 1

"""Curves of the error as they come, batch after batch."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from explorer.checkins import open_checkins
from explorer.engine import error_curves
from explorer.engine.error_curves import ErrorCurves, Question, find_curves
from explorer.engine.executors.base import InPlaceExecutor
from explorer.engine.runtime import StudyRuntime
from explorer.geography.region import Region
from explorer.studies.base.study import Selection, default_request
from explorer.studies.heatmap.experiments.error_curves import EPSILONS, SYNTHETIC_USERS
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


@pytest.mark.full
def test_the_curve_of_a_map_with_a_prior_takes_its_file_along(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Beside the one without a prior, on the same draws and clearly better at small ε."""
    monkeypatch.setattr("explorer.engine.computing.EmbeddedExecutor", lambda *_: InPlaceExecutor())
    rng, files = np.random.default_rng(0), []
    for name, first in (("data.csv", 100), ("other.csv", 500)):
        rows = (
            f"{user},2010-01-01T00:00:00Z,{40.2 + rng.normal(0, 0.02):.6f},"
            f"{-74.2 + rng.normal(0, 0.02):.6f}\n"
            for user in range(first, first + 150)
            for _ in range(2)
        )
        files.append(tmp_path / name)
        files[-1].write_text("user,time,lat,lon\n" + "".join(rows))
    host = StudyRuntime()
    try:
        data = open_checkins(files[0], cache_dir=None)
        host.add_data(data)
        request = default_request(
            HeatmapStudy(),
            mechanism="adaptive-prior",
            resolution="32",
            prior_cities=False,
            prior_checkins=host.add_file(files[1]),
        )
        region = Region(40.0, -74.4, 40.8, -73.6)
        request = replace(request, selection=Selection(data.fingerprint, region))
        question = Question(request, measure="similarity", draws=3)
        answer = find_curves(host, question, lambda: None, lambda _: None)
    finally:
        host.close()
    curves = {curve.mechanism: curve for curve in answer.curves}
    assert next(iter(curves)) == "adaptive-prior"
    assert curves["adaptive-prior"].mean[:4].mean() > 1.2 * curves["adaptive"].mean[:4].mean()

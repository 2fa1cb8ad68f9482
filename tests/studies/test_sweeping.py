"""The points of a sweep: the sliders' own on a curve of few, and few spread evenly."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from explorer.studies.base.study import Scale, Sweep, default_request
from explorer.studies.base.sweeping import evenly_spread, swept_points
from explorer.studies.frequency import Frequency


@pytest.mark.parametrize(
    ("own", "there"), [(25.0, True), (1.0, True), (50.0, True), (0.5, False), (80.0, False)]
)
def test_the_sliders_point_lies_on_the_curve_if_it_is_between_its_ends(own, there):
    study = Frequency()
    request = default_request(study, alpha=own)
    sweep = Sweep("alpha", 1.0, 50.0, 60, Scale.LOG)
    few = swept_points(study, replace(request, quantity="rmse", sweep=sweep)).downsampled(9)
    points = few.with_sliders()
    assert np.all(np.diff(points.x) > 0)
    assert (points.x == own).sum() == int(there)
    assert set(few.x) <= set(points.x)
    np.testing.assert_array_equal(points["alpha"], np.append(points.x, own))
    assert all(column.size == points.x.size + 1 for column in points.columns.values())


@pytest.mark.parametrize(
    ("count", "most", "indices"),
    [(0, 5, []), (1, 5, [0]), (3, 5, [0, 1, 2]), (9, 3, [0, 4, 8]), (10, 4, [0, 3, 6, 9])],
)
def test_indices_are_spread_evenly_with_both_ends(count, most, indices):
    assert evenly_spread(count, most).tolist() == indices

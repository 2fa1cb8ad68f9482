"""The points of a sweep: the sliders' own on a curve of few, and few spread evenly."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from explorer.studies.base.study import Scale, Sweep, default_request
from explorer.studies.base.sweeping import evenly_spread, swept_points
from explorer.studies.frequency import Frequency
from explorer.studies.registry import get_study


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


def test_few_points_are_close_together_where_a_curve_bends():
    study = get_study("amplification")
    points = swept_points(study, default_request(study))
    bend = np.searchsorted(points.x, 3.0)

    def value(swept):
        return np.exp(30 * np.maximum(np.log(swept["eps0"] / points.x[bend]), 0.0))

    few = points.placed(12, value)
    assert few.x.size == 12
    assert {points.x[0], points.x[-1]} <= set(few.x)
    assert np.abs(np.searchsorted(points.x, few.x) - bend).min() <= 1
    assert few["eps0"][-1] == points["eps0"][-1]
    lines = np.exp(np.interp(np.log(points.x), np.log(few.x), np.log(value(few)[:-1])))
    exact = value(points)[:-1]
    even = points.downsampled(12)
    evenly = np.exp(np.interp(np.log(points.x), np.log(even.x), np.log(value(even)[:-1])))
    assert np.abs(np.log(lines / exact)).max() < np.abs(np.log(evenly / exact)).max() / 4
    assert points.placed(1000, value) is points
    # A curve without values, as of an empty crowd, gets points all the same.
    nowhere = points.placed(12, lambda swept: np.full(swept["eps0"].shape, np.nan))
    assert nowhere.x.size == 12

"""Values at the pointer: computed points with their role, interpolated ones without."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from explorer.figures.geometry import axis_coordinates
from explorer.privacy.core.bound import Role
from explorer.studies.base.study import Mark
from explorer.ui.plot.reading import nearest_curves, reading, value_at

PIXEL = (0.01, 0.01)


def curve(role: Role, log: bool = True, mark: Mark = Mark.LINE) -> SimpleNamespace:
    x, heights = np.array([1.0, 3.0]), np.array([2.11802, 0.24479])
    return SimpleNamespace(
        x=x,
        y=axis_coordinates(heights, log),
        heights=heights,
        role=role,
        mark=mark,
        x_log=True,
        y_log=log,
        low=None,
        high=None,
    )


@pytest.mark.parametrize("log", [True, False])
@pytest.mark.parametrize(("role", "said"), [(Role.UPPER, "2.119"), (Role.LOWER, "2.118")])
def test_a_computed_bound_is_read_on_its_safe_side(role, said, log) -> None:
    assert reading(curve(role, log), 1.0, 0.0, PIXEL, "T") == said
    assert reading(curve(role, log, Mark.DOTS), 1.0, 0.0, PIXEL, "T") == f"{said} at T = 10"
    assert value_at(curve(role, log), 1.0) == 2.11802  # to the last digit


def test_what_is_read_between_points_has_no_role() -> None:
    upper, lower = (reading(curve(role), 2.0, 0.0, PIXEL, "T") for role in (Role.UPPER, Role.LOWER))
    assert upper == lower
    assert upper.startswith("≈ ")


def test_the_nearest_curve_is_read_with_two_above_and_two_below() -> None:
    def drawn(height: float) -> SimpleNamespace:
        flat = curve(Role.UPPER)
        flat.y = np.full(2, height)
        return SimpleNamespace(curve=flat)

    curves = [drawn(height) for height in (1, 7, 3, 5, 2, 6, 4)]
    shown, nearest = nearest_curves(curves, 2.0, 4.2)
    assert nearest == 6
    assert [float(curves[n].curve.y[0]) for n in shown] == [6, 5, 4, 3, 2]
    shown, nearest = nearest_curves(curves, 2.0, 99.0)
    assert nearest == 1
    assert [float(curves[n].curve.y[0]) for n in shown] == [7, 6, 5, 4, 3]
    curves[1].curve.y = np.full(2, np.nan)  # undefined curves come last
    assert nearest_curves(curves[:3], 2.0, 3.0) == ([2, 0, 1], 2)

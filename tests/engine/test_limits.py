"""Declared limits of recipes and sweeps that strangers wrote."""

from __future__ import annotations

from dataclasses import replace

import pytest

from explorer.engine.grid_runner import MAX_TYPED_POINTS
from explorer.engine.session.recipe import Recipe, RecipeError, recipe_from_dict, request_from_dict
from explorer.studies.base.grid import MAX_POINTS, Grid, axes_of
from explorer.studies.base.study import Request, default_request
from explorer.studies.registry import get_study


def swept(points: int) -> Request:
    request = default_request(get_study("amplification"))
    assert request.sweep is not None
    return replace(request, sweep=replace(request.sweep, points=points))


@pytest.mark.parametrize("points", [2, MAX_POINTS, MAX_POINTS + 1, MAX_TYPED_POINTS])
def test_points_of_a_recipe_are_thinned_and_it_says_so(points: int) -> None:
    raw = Recipe(swept(points)).to_dict()
    recipe = recipe_from_dict(raw)
    assert recipe.request == swept(min(points, MAX_POINTS))
    assert len(recipe.left_out) == (points > MAX_POINTS)
    assert request_from_dict(raw, "question") == recipe.request
    assert request_from_dict(raw, "question", MAX_TYPED_POINTS) == swept(points)


def test_more_points_than_can_be_typed_are_refused() -> None:
    raw = Recipe(swept(10)).to_dict()
    raw["sweep"]["points"] = MAX_TYPED_POINTS + 1
    with pytest.raises(RecipeError):
        recipe_from_dict(raw)


def test_a_sweep_has_at_most_a_million_values() -> None:
    study = get_study("amplification")
    key = next(p.key for p in study.parameters if p.key != swept(1).sweep.key and p.low is not None)
    p = next(p for p in study.parameters if p.key == key)
    grid = Grid((f"{key}={p.low}:{p.high}:11",), 1)
    with pytest.raises(ValueError, match="1,000,000"):
        axes_of(study, swept(MAX_TYPED_POINTS), grid)

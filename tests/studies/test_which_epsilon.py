"""Curves of the error, and the smallest ε that reaches a target."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from explorer.engine.session.recipe import Recipe, recipe_from_dict
from explorer.figures.gate import gate
from explorer.figures.view_state import ViewState
from explorer.geography.region import Region
from explorer.studies.base.study import Origin, Result, Selection, default_request
from explorer.studies.heatmap.conditions import conditions
from explorer.studies.heatmap.experiments import which_words
from explorer.studies.heatmap.experiments.error_curves import (
    AXES,
    EPSILONS,
    MEASURES,
    STAGES,
    ErrorCurve,
    compared,
    curve_points,
    error_curves,
    in_order,
)
from explorer.studies.heatmap.experiments.judging import taken
from explorer.studies.heatmap.experiments.made import Mixtures
from explorer.studies.heatmap.experiments.plan import rows_of
from explorer.studies.heatmap.experiments.sources import Place
from explorer.studies.heatmap.experiments.which_epsilon import (
    GRID,
    SIZES,
    Found,
    estimate_epsilon,
    quantile_interval,
    reaches,
    search,
)
from explorer.studies.heatmap.study import HeatmapStudy
from tests.benchmarks.bench_which_epsilon import false_alarms
from tests.figures.samples import maps

REQUEST = default_request(HeatmapStudy(), resolution="64")


def key(trial) -> str:
    return f"{trial['values']} {trial['draw']} {trial['counts']}"


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    points = curve_points(
        Place("square"), Mixtures(5, 0.01, (0.02, 0.08)), REQUEST, AXES["epsilon"],
        ("pyramid", "laplace"), 60, 5,
    )  # fmt: skip
    return list(rows_of(points, 0, tmp_path_factory.mktemp("counts"), ("emd",)))


def test_trials_run_coarse_first(rows) -> None:
    trials = in_order(rows, key)
    assert len(trials.by_key) == 2 * len(EPSILONS) * 5
    draws = [trial["draw"] for trial in trials.by_key.values()]
    of = [trial["values"]["mechanism"] for trial in trials.by_key.values()]
    n = len(EPSILONS)
    assert draws[: 2 * n] == [0] * 2 * n  # every curve once, one curve after the other
    assert of[: 2 * n] == ["pyramid"] * n + ["laplace"] * n
    assert set(draws[: 2 * n * STAGES[-1]]) == set(range(STAGES[-1]))
    assert draws[2 * n * STAGES[-1] :] == [3] * 2 * n + [4] * 2 * n
    assert all(trial["measures"] == ["emd"] for trial in trials.by_key.values())


def test_curves_say_what_the_draws_say(rows) -> None:
    """Half of the trials are known: those points have numbers, the others none."""
    trials = in_order(rows, key)
    found = {k: {"emd": 1.0 + t["draw"]} for k, t in trials.by_key.items() if t["draw"] < 3}
    del found[key(rows[0].trials[2])]
    curves = error_curves(trials, found, "emd")
    assert [curve.mechanism for curve in curves] == ["pyramid", "laplace"]
    assert curves[0].draws == (2, *[3] * (len(EPSILONS) - 1))
    np.testing.assert_allclose(curves[1].x, EPSILONS)
    np.testing.assert_allclose(curves[1].mean, 2.0)
    np.testing.assert_allclose(curves[1].high - curves[1].low, 2 * 1.96 / np.sqrt(3))
    np.testing.assert_allclose(curves[1].quantile(0.9), 2.8)
    assert curves[0].mean[0] == 1.5
    assert np.isnan(error_curves(trials, {}, "emd")[0].mean).all()


def test_a_curve_over_users_ends_with_those_there_are() -> None:
    source = Mixtures(5, 0.01, (0.02, 0.08))
    points = curve_points(Place("square"), source, REQUEST, AXES["users"], ("pyramid",), 120, 3)
    assert [point.users for point in points] == [25, 50, 100]
    assert [point.x for point in points] == [25, 50, 100]
    points = curve_points(Place("square"), source, REQUEST, AXES["sigma"], ("pyramid",), 120, 3)
    assert {point.values["sigma"] for point in points} == set(AXES["sigma"].values)


def test_only_what_reads_an_axis_is_drawn_over_it() -> None:
    assert compared("gaussian", AXES["epsilon"])[0] == "gaussian"
    assert len(compared("gaussian", AXES["epsilon"])) == 5
    assert "laplace" not in compared("pyramid", AXES["w"])
    assert compared("laplace", AXES["w"])[0] != "laplace"


def test_the_estimate_is_where_the_curve_meets_the_target() -> None:
    eps = np.array(EPSILONS)
    met = estimate_epsilon(eps, 1.3 / eps, 1.0)
    assert met.epsilon == pytest.approx(1.3)
    assert met.violations == 0
    assert estimate_epsilon(eps, 1.3 / eps, 0.01).beyond == 1
    assert estimate_epsilon(eps, 1.3 / eps, 100.0).beyond == -1
    rising = estimate_epsilon(eps, 1 - 0.5 / (1 + eps), 0.75, low_is_good=False)
    assert rising.epsilon == pytest.approx(1.0, rel=0.02)
    assert estimate_epsilon(eps, np.full(12, np.nan), 1.0) is None
    assert estimate_epsilon([1.0, 2.0, 4.0], [3.0, np.nan, 1.0], 3**0.5).epsilon == pytest.approx(2)


def test_a_curve_that_rises_somewhere_is_fitted() -> None:
    bumpy = estimate_epsilon([1.0, 2.0, 4.0, 8.0], [4.0, 1.0, 1.44, 0.3], 0.6)
    assert bumpy.violations == 1
    assert bumpy.epsilon == pytest.approx(4 * 2**0.5)  # between √1.44 at 2 and 4, and .3 at 8


def answered(asks, draws_of) -> Found:
    """Run a search on what a function of ε and number of draws returns."""
    try:
        asked = next(asks)
        while True:
            asked = asks.send(draws_of(*asked))
    except StopIteration as end:
        return end.value


def test_a_search_without_noise_finds_the_step_of_the_grid() -> None:
    found = answered(search(1.0), lambda epsilon, m: [1.3 / epsilon] * m)
    assert found.not_enough < 1.3 <= found.enough
    assert GRID.index(found.enough) == GRID.index(found.not_enough) + 1
    assert set(found.draws.values()) == {SIZES[0]}
    never = answered(search(1.0), lambda _, m: [2.0] * m)
    assert never == Found(None, GRID[-1], dict.fromkeys(never.draws, SIZES[0]))
    assert answered(search(1.0), lambda _, m: [0.5] * m).enough == GRID[0]
    assert answered(search(0.5, False), lambda e, m: [min(e, 1.0)] * m).enough >= 0.5


def test_an_undecided_epsilon_is_walked_around() -> None:
    """The first ε looked at has its quantile just at the target: its neighbours are certain."""
    middle = GRID[22]
    rng = np.random.default_rng(5)
    noise = rng.random(SIZES[-1])  # its .9 quantile is .9

    found = answered(search(0.9), lambda e, m: (noise * (middle / e) ** 1.5)[:m])
    assert found.draws[middle] == SIZES[-1]
    assert found.not_enough < middle < found.enough
    assert found.enough / found.not_enough < 2


def test_too_few_draws_tell_nothing() -> None:
    assert reaches([0.0] * 50, 1.0) is None
    assert reaches([0.0] * 100, 1.0) is True
    assert reaches([2.0] * 100, 1.0) is False
    assert reaches([2.0] * 100, 1.0, low_is_good=False) is True


def test_the_interval_of_a_quantile_has_an_open_end_where_draws_are_few() -> None:
    low, high = quantile_interval(np.arange(20.0), 0.9)
    assert high is None
    assert 0 < low < 18
    low, high = quantile_interval(np.arange(400.0), 0.9)
    assert low < 360 < high


def test_what_a_search_certifies_is_true() -> None:
    """A share of the command `python -m tests.benchmarks which-epsilon`, at Δ = 64."""
    wrong, repetitions = false_alarms(20, 150, "64", "similarity", "laplace", (0.5, 0.6))
    assert repetitions == 20
    assert wrong <= 3  # four or more of twenty have a chance below 1.6 % if each has one of 5 %


def test_every_measure_is_measured() -> None:
    from explorer.studies.heatmap.experiments import trial

    assert set(MEASURES) == set(trial.MEASURES)


def curve_of(mechanism: str, errors) -> ErrorCurve:
    y = np.asarray(errors, float)
    quantiles = np.array([0.8 * y, 0.85 * y, 0.9 * y, y, 1.1 * y])
    return ErrorCurve(mechanism, np.array(EPSILONS), (20,) * len(y), y, y, y, quantiles)


def test_the_answer_is_one_sentence() -> None:
    km = MEASURES["emd_km"]
    curves = [curve_of("pyramid", 2 / np.array(EPSILONS)),
              curve_of("adaptive", 1.2345 / np.array(EPSILONS)),
              curve_of("laplace", np.full(12, 11.0))]  # fmt: skip
    table = which_words.lines(curves, km, 1.0)
    assert [row.mechanism for row in table] == ["adaptive", "pyramid", "laplace"]
    assert [row.words for row in table] == ["≈ 1.24", "≈ 2", "over 12.8"]
    assert [row.least for row in table] == [True, False, False]
    assert table[0].epsilon == 1.24  # rounded up, so that it is enough by the curve
    assert which_words.headline(table[0]) == "ε ≈ 1.24"
    said = which_words.sentence(curves[1], km, 1.0, 0.8, table[0])
    assert said == (
        "With adaptive quadtree this map is off by less than 1 km in 9 of 10 draws. "
        "At today's ε = 0.8 it is ≈ 1.54 km."
    )
    assert which_words.sentence(curves[2], km, 1.0, 0.8, table[2]) == (
        "With Laplace this map is off by less than 1 km in 9 of 10 draws only above ε = 12.8. "
        "At today's ε = 0.8 it is ≈ 11 km."
    )
    early = replace(curves[1], draws=(1,) * 12)
    assert which_words.sentence(early, km, 1.0, 0.8, table[0]).endswith(
        "So far from 1 draw a point."
    )
    found = Found(1.28, 1.07, {1.28: 400, 1.07: 100})
    assert which_words.certified(found, "adaptive", km, 1.0) == (
        "ε = 1.28 is enough, ε = 1.07 is not: with adaptive quadtree this map is off by less than "
        "1 km in 9 of 10 draws (95 % sure, 500 draws)."
    )


@pytest.mark.parametrize(("here", "holds"), [(True, False), (False, None)])
def test_an_epsilon_taken_says_where_it_came_from(here: bool, holds: bool | None) -> None:
    selection = Selection("0" * 64, Region(40.0, -74.0, 41.0, -73.0))
    request = replace(REQUEST, selection=selection)
    asked = taken(request, "pyramid", AXES["epsilon"], 1.0, here=here)
    assert (asked["mechanism"], asked["epsilon"]) == ("pyramid", 1.0)
    found = next(c for c in conditions(asked) if c.text.startswith("ε"))
    assert found.holds is holds  # never ✓, though 1 is the default
    assert asked.selection.rows == request.selection.rows
    again = recipe_from_dict(Recipe(asked).to_dict()).request
    assert again.selection.epsilon_from is asked.selection.epsilon_from
    users = taken(request, "pyramid", AXES["users"], 50.0, here=here).selection
    assert (users.users, users.epsilon_from) == (50, Origin.TYPED)
    assert taken(request, "pyramid", AXES["resolution"], 64.0, here=here)["resolution"] == "64"


def test_a_private_only_file_with_an_epsilon_judged_here_is_refused_with_a_remedy() -> None:
    result = maps()

    def asked(came: Origin) -> Result:
        selection = replace(result.request.selection, epsilon_from=came)
        return replace(result, request=replace(result.request, selection=selection))

    judged = asked(Origin.JUDGED)
    recipe = Recipe(judged.request).to_dict()
    private = ViewState.for_result(judged)
    with pytest.raises(ValueError, match=r"judged on these check-ins.* Judge on a stand-in"):
        gate(judged, private, recipe)
    both = ViewState.for_result(judged, surfaces=("true", "private"))
    assert gate(judged, both, recipe) == (judged, both, recipe)  # the curator's own
    assert gate(asked(Origin.STAND_IN), private, recipe)[2]["private_only"] is True

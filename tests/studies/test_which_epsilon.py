"""Curves of the error, and the smallest ε that reaches a target."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import get_args

import msgspec
import numpy as np
import pytest
from scipy.optimize import isotonic_regression

from explorer.engine.session import schema
from explorer.engine.session.recipe import Recipe, recipe_from_dict
from explorer.engine.session.session import state_from_dict
from explorer.engine.session.utility_settings import (
    UtilitySettings,
    utility_from_recipe,
    utility_to_recipe,
)
from explorer.figures.export import apply_export_policy
from explorer.figures.view_state import ViewState
from explorer.geography.region import Region
from explorer.privacy.heatmaps import schedule
from explorer.privacy.heatmaps.theory import sparse_error_bound
from explorer.studies.base.study import Origin, Result, Selection, default_request
from explorer.studies.heatmap.experiments import utility_report
from explorer.studies.heatmap.experiments.error_curves import (
    AXES,
    EPSILONS,
    GRID,
    MEASURES,
    SIZES,
    STAGES,
    ErrorCurve,
    Found,
    _never_rising,
    curve_points,
    default_mechanisms,
    error_curves,
    estimate_epsilon,
    first_curve,
    first_target,
    parameters_read_by,
    proved_curves,
    quantile_interval,
    reaches,
    request_at,
    search,
    trials_in_order,
)
from explorer.studies.heatmap.experiments.plan import Point, rows_of
from explorer.studies.heatmap.experiments.samples import (
    UNIT_SQUARE,
    Mixtures,
    Place,
    Points,
    count_points,
)
from explorer.studies.heatmap.experiments.trial import run_trial, task_of
from explorer.studies.heatmap.guarantee import conditions
from explorer.studies.heatmap.mechanisms import MECHANISMS
from explorer.studies.heatmap.study import HeatmapStudy
from tests import snapshots
from tests.benchmarks.bench_which_epsilon import false_alarms
from tests.figures.samples import maps
from tests.studies.context import Context

REQUEST = default_request(HeatmapStudy(), resolution="64")


def key(trial) -> str:
    return f"{trial['values']} {trial['draw']} {trial['counts']}"


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    points = curve_points(
        Place("square"),
        Mixtures(5, 0.01, (0.02, 0.08)),
        REQUEST,
        AXES["epsilon"],
        ("pyramid", "laplace"),
        60,
        5,
    )
    return list(rows_of(points, 0, tmp_path_factory.mktemp("counts"), Context(), ("emd",)))


def test_trials_run_coarse_first(rows) -> None:
    trials = trials_in_order(rows, key)
    assert len(trials.by_key) == 2 * len(EPSILONS) * 5
    draws = [trial["draw"] for trial in trials.by_key.values()]
    of = [trial["values"]["mechanism"] for trial in trials.by_key.values()]
    n = len(EPSILONS)
    assert draws[: 2 * n] == [0] * 2 * n  # every curve once, one curve after the other
    assert of[: 2 * n] == ["pyramid"] * n + ["laplace"] * n
    assert set(draws[: 2 * n * STAGES[-1]]) == set(range(STAGES[-1]))
    assert draws[2 * n * STAGES[-1] :] == [3] * 2 * n + [4] * 2 * n
    assert all(trial["measures"] == ["emd"] for trial in trials.by_key.values())
    first = list(first_curve(trials).by_key)
    assert first == list(trials.by_key)[:n]


def test_curves_say_what_the_draws_say(rows) -> None:
    """Half of the trials are known: those points have numbers, the others none."""
    trials = trials_in_order(rows, key)
    found = {k: {"emd": 1.0 + t["draw"]} for k, t in trials.by_key.items() if t["draw"] < 3}
    del found[key(rows[0].trials[2])]
    curves = error_curves(trials, found, "emd")
    assert [curve.mechanism for curve in curves] == ["pyramid", "laplace"]
    assert curves[0].draws == (2, *[3] * (len(EPSILONS) - 1))
    np.testing.assert_allclose(curves[1].x, EPSILONS)
    np.testing.assert_allclose(curves[1].mean, 2.0)
    # Student's t of 2 degrees of freedom, 4.303, over √3 is 2.484: an error is not below 0.
    np.testing.assert_allclose(curves[1].high - 2.0, 4.302652729749464 / np.sqrt(3))
    np.testing.assert_allclose(curves[1].low, 0.0)
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
    assert default_mechanisms("gaussian", AXES["epsilon"])[0] == "gaussian"
    assert len(default_mechanisms("gaussian", AXES["epsilon"])) == 5
    assert "laplace" not in default_mechanisms("pyramid", AXES["w"])
    assert default_mechanisms("laplace", AXES["w"])[0] != "laplace"


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
    rng = np.random.default_rng(3)
    for size in (1, 2, 5, 45):
        y = rng.normal(size=size)
        expected = isotonic_regression(y, increasing=False).x
        np.testing.assert_allclose(_never_rising(y), expected, atol=1e-12)
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


@pytest.mark.full
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
    curves = [
        curve_of("pyramid", 2 / np.array(EPSILONS)),
        curve_of("adaptive", 1.2345 / np.array(EPSILONS)),
        curve_of("laplace", np.full(12, 11.0)),
    ]
    table = utility_report.lines(curves, km, 1.0)
    assert [row.mechanism for row in table] == ["adaptive", "pyramid", "laplace"]
    assert [row.words for row in table] == ["≈ 1.24", "≈ 2", "over 12.8"]
    assert [row.least for row in table] == [True, False, False]
    assert table[0].epsilon == 1.24  # rounded up, so that it is enough by the curve
    assert utility_report.headline(table[0]) == "ε ≈ 1.24"
    said = utility_report.sentence(curves[1], km, 1.0, 0.8, table[0])
    snapshots.check(said)
    snapshots.check(utility_report.sentence(curves[2], km, 1.0, 0.8, table[2]))
    early = replace(curves[1], draws=(1,) * 12)
    (few,) = utility_report.lines([early], km, 1.0)
    assert (few.words, few.epsilon) == (utility_report.NOT_KNOWN, None)  # no result of few runs
    assert utility_report.headline(few) == "ε = …"
    first = utility_report.sentence(early, km, 1.0, 0.8, few)
    assert first == utility_report.progress(1, 20, busy=True, unfinished=True)
    early = replace(early, draws=(3, *[19] * 11))
    said = utility_report.sentence(early, km, 1.0, 0.8, utility_report.lines([early], km, 1.0)[0])
    assert said == utility_report.progress(3, 20, busy=True, unfinished=True) != first
    found = Found(1.28, 1.07, {1.28: 400, 1.07: 100})
    snapshots.check(utility_report.search_report(found, "adaptive", km, 1.0))


@pytest.mark.parametrize(
    ("came", "holds"), [(Origin.JUDGED, False), (Origin.STAND_IN, None), (Origin.THEORY, None)]
)
def test_an_epsilon_taken_says_where_it_came_from(came: Origin, holds: bool | None) -> None:
    selection = Selection("0" * 64, Region(40.0, -74.0, 41.0, -73.0))
    request = replace(REQUEST, selection=selection)
    asked = request_at(request, "pyramid", AXES["epsilon"], 1.0, came)
    assert (asked["mechanism"], asked["epsilon"]) == ("pyramid", 1.0)
    found = next(c for c in conditions(asked) if c.text.startswith("ε"))
    assert found.holds is holds  # never ✓, though 1 is the default
    assert asked.selection.rows == request.selection.rows
    again = recipe_from_dict(Recipe(asked).to_dict()).request
    assert again.selection.epsilon_from is asked.selection.epsilon_from
    users = request_at(request, "pyramid", AXES["users"], 50.0, came).selection
    assert (users.users, users.epsilon_from) == (50, Origin.TYPED)
    finer = request_at(request, "pyramid", AXES["resolution"], 64.0, came)
    assert finer["resolution"] == "64"
    assert finer.selection.settings_from is came
    found = next(c for c in conditions(finer) if c.text.startswith("ε"))
    assert found.holds is holds
    assert recipe_from_dict(Recipe(finer).to_dict()).request.selection == finer.selection


def test_what_was_found_here_is_not_taken_back_by_a_stand_in() -> None:
    request = replace(REQUEST, selection=Selection("0" * 64, Region(40.0, -74.0, 41.0, -73.0)))
    here = request_at(request, "adaptive", AXES["sigma"], 0.04, Origin.JUDGED)
    later = request_at(here, "pyramid", AXES["epsilon"], 1.0, Origin.STAND_IN).selection
    assert (later.epsilon_from, later.settings_from) == (Origin.STAND_IN, Origin.JUDGED)
    assert later.judged
    other = request_at(request, "pyramid", AXES["epsilon"], 1.0, Origin.JUDGED).selection
    same = request_at(request, request["mechanism"], AXES["epsilon"], 1.0, Origin.JUDGED).selection
    assert (other.settings_from, same.settings_from) == (Origin.JUDGED, Origin.TYPED)


def test_a_private_only_file_with_an_epsilon_judged_here_is_refused_with_a_remedy() -> None:
    result = maps()

    def asked(came: Origin, of: str = "epsilon_from") -> Result:
        selection = replace(result.request.selection, **{of: came})
        return replace(result, request=replace(result.request, selection=selection))

    judged = asked(Origin.JUDGED)
    recipe = Recipe(judged.request).to_dict()
    private = ViewState.for_result(judged)
    with pytest.raises(ValueError, match="Utility") as error:
        apply_export_policy(judged, private, recipe)
    snapshots.check(error.value)
    with pytest.raises(ValueError, match="another setting was") as error:
        apply_export_policy(asked(Origin.JUDGED, "settings_from"), private, recipe)
    snapshots.check(error.value)
    both = ViewState.for_result(judged, surfaces=("true", "private"))
    assert apply_export_policy(judged, both, recipe) == (judged, both, recipe)  # the curator's own
    assert apply_export_policy(asked(Origin.STAND_IN), private, recipe)[2]["private_only"] is True


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("measure", MEASURES)
def test_what_is_proved_is_the_theorys_bound(axis: str, measure: str) -> None:
    request = default_request(HeatmapStudy(), resolution="64", n0=20_000, epsilon=2.0)
    sides = (30.0, 20.0)
    curves = {c.mechanism: c for c in proved_curves(request, AXES[axis], measure, sides)}
    assert set(curves) >= {"pyramid", "capped"}
    assert ("dense" in curves) == ("adaptive" in curves) == (axis != "w")
    able = {key for key, mechanism in MECHANISMS.items() if mechanism.proved}
    for key, curve in curves.items():
        assert curve.proved
        assert np.isfinite(curve.mean).any() == (key in able and measure != "pearson")
    if axis == "users" and measure != "pearson":
        plan = schedule(2.0, 6, 20)
        emd = float(sparse_error_bound(plan, 20, 10_000).value)
        expected = {
            "emd": emd,
            "emd_km": emd * 30,
            "kl": emd / (2 * 0.02**2),
            "similarity": max(0.0, 1 - math.sqrt(emd) / (2 * 0.02)),
        }
        place = list(curves["pyramid"].x).index(10_000)
        assert curves["pyramid"].mean[place] == pytest.approx(expected[measure])


def test_a_proved_epsilon_reaches_the_target_by_its_own_bound() -> None:
    km = MEASURES["emd_km"]
    curves = proved_curves(
        default_request(HeatmapStudy(), n0=50_000), AXES["epsilon"], "emd_km", (40.0, 40.0)
    )
    for line in utility_report.lines(curves, km, 1.0):
        curve = next(c for c in curves if c.mechanism == line.mechanism)
        if line.epsilon is None:
            assert line.words in (utility_report.NOT_PROVED, "over 20")
            continue
        at = list(curve.x).index(line.epsilon)
        assert curve.mean[at] <= 1.0
        assert not (curve.mean[:at] <= 1.0).any()
        assert line.words == f"{line.epsilon:.3g}"
        said = utility_report.sentence(curve, km, 1.0, 1.0, line)
        assert said.endswith("on average over draws: that is proved.")
    few = [c for c in curves if c.mechanism == "adaptive"]
    (line,) = utility_report.lines(few, km, 1.0)
    snapshots.check(utility_report.sentence(few[0], km, 1.0, 1.0, line))


@pytest.mark.full
@pytest.mark.parametrize("measure", ["emd", "similarity", "kl"])
def test_what_is_measured_keeps_to_what_is_proved(measure: str, tmp_path) -> None:
    """Maps of few cells, drawn: the mean over draws is on the right side of the bound."""
    source = OneCell(40)
    request = default_request(HeatmapStudy(), resolution="32", n0=40, epsilon=20.0, w=20)
    able = [key for key, mechanism in MECHANISMS.items() if mechanism.proved]
    curves = {c.mechanism: c for c in proved_curves(request, AXES["epsilon"], measure, None)}
    points = [
        Point(
            Place("square"),
            source,
            40,
            {**{k: v for k, v in request.values if k in parameters_read_by(key)}, "mechanism": key},
            5,
        )
        for key in able
    ]
    for row in rows_of(points, 0, tmp_path, Context(), (measure,)):
        drawn = [run_trial(task_of(trial, tmp_path))[measure] for trial in row.trials]
        bound = curves[row.point.values["mechanism"]].mean[-1]
        good = MEASURES[measure].low_is_good
        assert np.isnan(bound) or (np.mean(drawn) <= bound if good else np.mean(drawn) >= bound)


class OneCell:
    """Users who are all in two cells."""

    data = "two cells"

    def __init__(self, users: int) -> None:
        self._users = users

    def sample(self, place, users, level, number, *_how):
        at = np.where(np.arange(self._users) % 2, 0.3, 0.7)
        return count_points(Points(np.arange(self._users), at, at), UNIT_SQUARE, level)


def test_the_words_of_files_are_those_of_the_program() -> None:
    for name, known in (("axis", AXES), ("measure", MEASURES)):
        field = next(f for f in msgspec.structs.fields(schema.Utility) if f.name == name)
        assert set(get_args(field.type)) == set(known)


def test_a_view_that_cannot_be_read_is_left_out_field_by_field() -> None:
    left_out: list[str] = []
    raw = {"open": True, "axis": "colour", "targets": {"emd": -1.0}, "judged_on": "theory"}
    which = state_from_dict({"study": "heatmap", "which": raw}, left_out).which
    assert which == UtilitySettings(open=True, judged_on="theory")
    assert [said.partition(":")[0].rstrip(".") for said in left_out] == [
        "which.axis",
        "which.targets",
    ]


def test_exported_curves_name_no_file_and_open_on_synthetic_people_in_its_place() -> None:
    shown = UtilitySettings(True, "users", "emd", "mean", {"emd": 0.02}, "/home/me/people.csv")
    raw = utility_to_recipe(shown, 20)
    assert "people" not in str(raw)
    left_out: list[str] = []
    assert utility_from_recipe(raw, left_out) == replace(shown, judged_on="sample")
    assert [said.partition(":")[0] for said in left_out] == ["which.judged_on"]

    for judged_on in ("", "sample", "theory"):
        shown, left_out = replace(shown, judged_on=judged_on), []
        assert utility_from_recipe(utility_to_recipe(shown, 20), left_out) == shown
        assert not left_out


def test_the_first_target_grows_with_the_map() -> None:
    km = MEASURES["emd_km"]
    assert first_target(km, (29.6, 38.9)) == 1.0  # the sample's city
    assert first_target(km, (3.0, 4.0)) == 0.1
    assert first_target(km, (5600.0, 5000.0)) == 200.0
    assert first_target(km, None) == km.target
    assert first_target(MEASURES["emd"], (3.0, 4.0)) == MEASURES["emd"].target

"""Choosing α: the paper's example, the plane of changes, every space, every end."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from explorer.figures.captions import axis_labels, settings_line
from explorer.privacy.core.bound import Role
from explorer.studies.base.study import Mark, Scale, Sweep, default_request
from explorer.studies.choose_alpha import ChooseAlpha
from explorer.studies.choose_alpha.study import change_sentence, factor_text
from explorer.studies.metric_space.parameters import half_circumference
from explorer.studies.metric_space.space import space_of
from tests.studies import walking
from tests.studies.context import Context

STUDY = ChooseAlpha()


def ask(what="fraction", key="q", low=1e-4, high=1.0, points=9, context=None, **values):
    request = replace(
        default_request(STUDY, **values),
        quantity=what,
        sweep=Sweep(key, low, high, points, Scale.LOG),
    )
    return walking.final_result(STUDY, request, context)


def curves(result):
    return {s.key: s for s in result.series}


@pytest.mark.parametrize(
    ("key", "alpha"), [("earth", 24.9014), ("rounded", 25.0), ("printed", 25.86)]
)
def test_the_papers_example(key, alpha):
    result = walking.preset(STUDY, key)
    assert result.readout("alpha").value == pytest.approx(alpha, rel=1e-12)
    assert result.readout("binding").value == 2
    rows = {row[0]: row for row in result.tables[0].rows}
    # The second requirement gets exactly what it asks, the first a third of it.
    assert rows["2"][6] == pytest.approx(0.2)
    assert rows["1"][6] == pytest.approx(0.2 / 3)
    assert rows["2"][8] == "tightest"
    assert "3×" in rows["1"][8]
    assert rows["1"][4] == "1/30 of the data"


def test_a_preset_of_a_city_binds_where_the_whole_city_is_crossed():
    result = walking.preset(STUDY, "city")
    # 1/(q τ) = √2·20·7/28, less than 1/(0.5/√2/20) and 0.5·168·√2·20/28.
    assert result.readout("alpha").value == pytest.approx(math.sqrt(2) * 5, rel=1e-12)
    assert result.readout("binding").value == 1
    assert result.space.unit == "km"


def test_lines_of_one_epsilon_are_those_of_the_definition():
    shown = curves(ask(points=41))
    alpha = 0.2 * 12_450.7 / 100
    for key, level in (("requirement_1", 0.2), ("level_0.5", 0.5), ("level_2", 2.0)):
        series = shown[key]
        there = series.y < 1
        assert there.any()
        np.testing.assert_allclose(alpha * series.x[there] * series.y[there], level, rtol=1e-12)
        # More may move: the data sets may be nearer to each other than qτ.
        assert series.role is Role.LOWER
        # Where all data may move that far, ε is below the level.
        assert np.all(series.y[~there] == 1)
        assert np.all(alpha * series.x[~there] <= level * (1 + 1e-12))
    dots = shown["asked"]
    assert dots.mark is Mark.DOTS
    np.testing.assert_allclose(dots.x, [100 / 12_450.7, 1000 / 12_450.7])
    np.testing.assert_allclose(dots.y, [1.0, 1 / 30])
    # Requirements are met: each lies on or below the line of its own ε.
    assert np.all(dots.y * dots.x * alpha <= 0.2 * (1 + 1e-12))


def test_the_plane_in_miles_is_the_plane_in_shares():
    by_share = curves(ask(low=1e-3, high=0.5))
    by_miles = curves(ask(key="moved", low=12.4507, high=6225.35))
    for key in ("requirement_1", "level_1"):
        np.testing.assert_allclose(by_share[key].y, by_miles[key].y, rtol=1e-9)
    assert "wide" in curves(ask(key="moved", low=1.0, high=25_000))["level_1"].undefined_reason


def test_requirements_with_one_epsilon_share_a_line():
    few = curves(ask())
    assert "requirements 1, 2" in few["requirement_1"].label
    assert "requirement_2" not in few
    more = curves(ask(eps2=0.5))
    assert "requirement_2" in more
    assert "level_0.5" not in more


def test_epsilon_of_a_change_is_alpha_times_distance_times_share():
    result = ask("eps", "moved", 1, 20_000, 30, space_unit="km", tau=0.25)
    alpha = result.readout("alpha").value
    diameter = result.readout("diameter").value
    assert diameter == pytest.approx(20_037.46, abs=0.02)
    shown = curves(result)
    x = shown["change"].x
    np.testing.assert_allclose(shown["change"].y, alpha * x / diameter * 0.25)
    np.testing.assert_allclose(shown["share_1.000"].y, alpha * x / diameter)
    np.testing.assert_allclose(shown["any"].y, alpha)
    assert walking.ordered(shown["change"], shown["share_1.000"])
    assert walking.ordered(shown["share_1.000"], shown["any"])
    by_share = curves(ask("eps", "tau", 1e-3, 1.0, 7))
    np.testing.assert_allclose(
        by_share["change"].y, 0.2 * by_share["change"].x, rtol=1e-12
    )  # 100 miles, all data: ε = 0.2


def test_alpha_is_the_least_of_what_each_requirement_needs():
    result = ask("alpha", "distance1", 1, 25_000, 40)
    shown = curves(result)
    least = np.minimum(shown["alone_1"].y, shown["alone_2"].y)
    np.testing.assert_array_equal(shown["alpha"].y, least)
    assert shown["alpha"].role is Role.EXACT
    assert result.readout("alpha").value == pytest.approx(24.9014, rel=1e-12)
    # A distance beyond the diameter asks for no more than the diameter.
    far = shown["alone_1"].x > 12_450.7
    assert np.ptp(shown["alone_1"].y[far]) == 0


def test_a_requirement_beyond_the_space_is_taken_as_its_diameter_and_reported():
    result = ask(space="line", space_side=50.0, distance1=1000.0, requirements="1")
    assert result.conditions[0].holds is False
    assert "1,000 mi in requirement 1" in result.conditions[0].margin
    assert result.readout("alpha").value == pytest.approx(0.2 * 30)


@pytest.mark.parametrize("space", ["matrix", "points"])
def test_without_a_file_nothing_is_claimed(space):
    result = ask(space=space)
    assert all(not s.present.any() for s in result.series)
    assert result.conditions[0].holds is False
    assert "open a CSV file" in result.notes[0]
    assert result.guarantee is None


def test_a_users_own_distances(tmp_path):
    context = Context()
    path = tmp_path / "towns.csv"
    path.write_text(",A,B,C\nA,0,10,40\nB,10,0,30\nC,40,30,0\n")
    value = context.add_file(path)
    result = ask(
        space="matrix",
        space_matrix=value,
        space_unit="km",
        context=context,
        requirements="1",
        distance1=4.0,
        tau1=0.5,
        eps1=1.0,
    )
    assert result.readout("alpha").value == pytest.approx(1 / (0.1 * 0.5))
    assert result.space.diameter == 40.0
    assert "towns.csv" in result.space.name


@pytest.mark.parametrize("epsilon", [1e-9, 0.01, 0.2, 0.2001, 1.0, 7.3, 19.9, 250.0])
def test_the_sentence_never_understates(epsilon):
    if epsilon <= 20:
        assert float(factor_text(epsilon).replace(",", "")) >= math.exp(epsilon) * (1 - 1e-9)
    space = space_of(default_request(STUDY), Context())
    said = change_sentence(epsilon, 1 / 30, 100.0, space)
    assert said.startswith("Moving 1/30 of your data by 100 mi changes any outcome's odds")
    # A δ is added to the chance of a right guess; it is no chance that odds hold.
    assert "certain" in said or "plus δ/2" in said


def test_the_sentence_of_the_issue():
    result = ask(
        space_unit="km",
        requirements="1",
        eps1=0.2,
        distance1=100.0,
        tau1=1 / 30,
        moved=100.0,
        tau=1 / 30,
    )
    assert result.guarantee.sentence.startswith(
        "Moving 1/30 of your data by 100 km changes any outcome's odds by at most e^0.2 "
    )
    assert "right at most 54.99 % of the time" in result.guarantee.sentence


@pytest.mark.parametrize(
    ("unit", "shown"), [("mi", " mi"), ("km", " km"), ("m", " m"), ("none", "")]
)
def test_distances_have_the_unit_of_the_space_wherever_they_are_written(unit, shown):
    result = ask("alpha", "distance1", 10.0, 1000.0, 5, space_unit=unit)
    line = settings_line(result)
    assert f"d₂ = 100{shown} ·" in line
    x, _ = axis_labels(result)
    assert (f"[{unit}]" in x) == bool(shown)
    plane = ask("fraction", "moved", 10.0, 1000.0, 5, space_unit=unit)
    assert (f"[{unit}]" in axis_labels(plane)[0]) == bool(shown)
    assert "unit" not in axis_labels(plane)[0]
    side = ask(space="line", space_unit=unit)
    assert f"L = 20{shown}" in settings_line(side)


def test_in_metres_the_whole_earth_can_be_asked_about():
    p = {p.key: p for p in STUDY.parameters}["distance1"]
    half = half_circumference("paper", "m")
    assert p.high > half
    result = ask("alpha", "distance1", 1e6, 2.5e7, 5, space_unit="m", distance1=2e7, tau1=1.0)
    assert "20,000,000 m" in result.tables[0].rows[0][2]


def test_the_page_calls_marks_what_is_no_dot():
    assert not any("are the dots" in paragraph for paragraph in STUDY.page.what)

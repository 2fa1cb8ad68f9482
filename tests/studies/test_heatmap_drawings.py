"""Centres for a private map and noisy points: what is drawn, what is said, what may leave."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from explorer.figures.captions import settings_line
from explorer.geography.coordinates import EARTH_RADIUS_KM
from explorer.geography.plane import Plane
from explorer.geography.region import PlaneRegion
from explorer.privacy.core.bound import Role
from explorer.privacy.heatmaps.clustering import distances, k_median_cost
from explorer.privacy.user_metric.point_noise import great_circle, planar_laplace_cdf
from explorer.studies.base.study import (
    Fidelity,
    Origin,
    Request,
    Result,
    Selection,
    all_sides,
    relevant,
)
from explorer.studies.heatmap import text
from explorer.studies.heatmap.experiments.error_curves import AXES, default_mechanisms
from explorer.studies.heatmap.mechanisms import HIDES_USERS, MECHANISMS, recommend
from explorer.studies.heatmap.noisy_points import clamp, nearest_turn, one_of_each
from explorer.studies.heatmap.parameters import PARAMETERS
from explorer.studies.heatmap.public import public_result
from tests import snapshots
from tests.studies.test_heatmap import REGION, FakeContext, FakeData, answers, request_for

SIDES = np.array([REGION.height_km, REGION.width_km])
RANKED = [m.key for m in MECHANISMS.values() if m.comparable]


def told(request: Request) -> Request:
    """Return the request with a region that may be told."""
    assert request.selection is not None
    selection = replace(request.selection, region_from=all_sides(Origin.TYPED))
    return replace(request, selection=selection)


def middles(side: int) -> np.ndarray:
    at = (np.arange(side) + 0.5) / side
    return np.stack(np.meshgrid(at, at, indexing="ij"), -1).reshape(-1, 2)


def with_centres(fidelity: Fidelity = Fidelity.FULL, **values: object) -> Result:
    return answers(told(request_for(beside="true,centres", fidelity=fidelity, **values)))[-1]


@pytest.mark.parametrize("mechanism", ["adaptive", "pyramid", "laplace"])
def test_centres_are_those_of_the_private_map_and_their_numbers_are_right(mechanism: str) -> None:
    result = with_centres(mechanism=mechanism, centres=4, sigma=0.0)
    drawn = result.surface("centres")
    assert not drawn.curator_only
    assert drawn.overlay is not None
    np.testing.assert_array_equal(drawn.values, result.surface("private").values)  # σ = 0
    centres, cells = drawn.overlay.points * SIDES, middles(64) * SIDES
    private = drawn.values.ravel().astype(float)
    cost = result.readout("centres_cost")
    assert not cost.curator_only
    assert cost.value == pytest.approx(k_median_cost(cells, private / private.sum(), centres))
    nearest = np.argmin(distances(cells, centres), axis=1)
    np.testing.assert_allclose(
        drawn.overlay.shares, np.bincount(nearest, private, minlength=4), atol=1e-5
    )
    truth = result.surface("true").values.ravel().astype(float)
    true = result.readout("centres_true")
    assert true.curator_only
    assert true.value == pytest.approx(k_median_cost(cells, truth / truth.sum(), centres), rel=1e-5)
    emd, best = result.readout("centres_emd"), result.readout("centres_best")
    a2 = result.readout("centres_a2")
    assert (a2.value, a2.role) == (pytest.approx(best.value + 2 * emd.value), Role.UPPER)
    assert emd.value >= abs(true.value - cost.value)
    assert emd.value == pytest.approx(result.readout("emd_km").value, rel=1e-4)
    assert best.value <= true.value
    # Within what any centres can differ: f·OPT + (1 + f)·EMD already holds for f = 1 here.
    assert true.value <= best.value + 2 * emd.value
    assert "f·OPT + (1 + f)·EMD" in emd.note


@pytest.mark.full
def test_of_a_finer_map_than_is_added_up_distances_are_estimates_and_bounds_wider() -> None:
    result = with_centres(mechanism="laplace", centres=2, sigma=0.0, resolution="512")
    overlay = result.surface("centres").overlay
    assert overlay is not None
    centres, cells = overlay.points * SIDES, middles(512) * SIDES
    inside, costs = SIDES.sum() / 512, []
    for name, surface in (("centres_cost", "private"), ("centres_true", "true")):
        readout = result.readout(name)
        assert readout.role is Role.ESTIMATE
        mass = result.surface(surface).values.ravel().astype(float)
        exactly = k_median_cost(cells, mass / mass.sum(), centres)
        assert abs(readout.value - exactly) <= inside
        costs.append(exactly)
    assert result.readout("centres_emd").value >= abs(costs[0] - costs[1])
    coarser = with_centres(mechanism="laplace", centres=2, sigma=0.0)
    assert {coarser.readout(k).role for k in ("centres_cost", "centres_true")} == {Role.EXACT}


def test_squares_go_by_their_mass_and_borders_lie_between_centres() -> None:
    overlay = with_centres(centres=5, sigma=0.0).surface("centres").overlay
    assert overlay is not None
    squares = overlay.squares
    found = with_centres(centres=5, sigma=0.0).surface("centres").values.astype(float)
    mass = found.reshape(32, 2, 32, 2).sum(axis=(1, 3))
    row, column = (squares[:, :2] * 32).astype(int).T
    area = squares[:, 2] ** 2 / mass[row, column]
    np.testing.assert_allclose(area, area[0], rtol=1e-4)
    assert (squares[:, 2] ** 2).sum() <= 0.25 + 1e-6
    ends = overlay.borders.reshape(-1, 2) * SIDES
    near = np.sort(distances(ends, overlay.points * SIDES), axis=1)
    np.testing.assert_allclose(near[:, 0], near[:, 1], atol=1e-5 * SIDES.sum())


def test_a_live_answer_has_centres_and_no_judgement() -> None:
    live = with_centres(Fidelity.COARSE)
    assert live.surface("centres").overlay is not None
    assert "centres_true" not in {r.key for r in live.readouts}


def test_kappa_is_said_for_the_pyramid_alone() -> None:
    for mechanism in RANKED:
        keys = {r.key for r in with_centres(Fidelity.COARSE, mechanism=mechanism).readouts}
        assert ("centres_kappa" in keys) is (mechanism == "pyramid")
    note = with_centres(Fidelity.COARSE, mechanism="pyramid").readout("centres_kappa").note
    snapshots.check(note)


def test_where_k_is_chosen_it_is_said_what_it_may_not_rest_on() -> None:
    k = next(p for p in PARAMETERS if p.key == "centres")
    snapshots.check(k.help)
    assert relevant(k, dict(request_for(beside="true,centres").values), "")
    assert not relevant(k, dict(request_for().values), "")
    result = with_centres(Fidelity.COARSE)
    assert text.OF_CENTRES in result.notes
    assert "no further ε" in text.OF_CENTRES
    assert any(
        " k" in c.text and "without looking at the data" in c.text for c in result.conditions
    )


def test_only_what_is_private_leaves_with_centres() -> None:
    result = with_centres(centres=3, mechanism="pyramid")
    public = public_result(result)
    assert [s.key for s in public.surfaces] == ["private", "centres"]
    assert public.surface("centres").overlay is result.surface("centres").overlay
    assert public.surface("centres").label == "3 centres of pyramid, ε = 1"
    told_keys = {r.key for r in public.readouts}
    assert {"centres_cost", "centres_kappa"} <= told_keys
    assert not {"centres_true", "centres_emd", "centres_best", "centres_a2"} & told_keys


def test_a_region_found_from_the_data_leaves_no_trace_in_centres() -> None:
    """Neither kilometres nor the region's shape: borders and search are those of a square."""
    request = request_for(beside="centres", centres=4, sigma=0.0)
    selection = replace(request.selection, region_from=all_sides(Origin.DRAWN))
    result = answers(replace(request, selection=selection))[-1]
    public = public_result(result)
    assert "centres_cost" not in {r.key for r in public.readouts}
    overlay = public.surface("centres").overlay
    assert overlay is not None
    slopes = overlay.borders[:, 2:] - overlay.borders[:, :2]
    steep = slopes[(np.abs(slopes) > 1e-6).all(axis=1)]
    np.testing.assert_allclose(np.abs(steep[:, 0]), np.abs(steep[:, 1]), rtol=1e-4, atol=1e-7)


def test_without_check_ins_there_are_centres_all_the_same() -> None:
    data = FakeData(users=1)
    data._all = (np.zeros(0, int), np.zeros(0), np.zeros(0))
    request = request_for(beside="true,centres,points", fidelity=Fidelity.FULL)
    last = answers(request, FakeContext(data))[-1]
    assert last.complete
    assert len(last.surface("centres").overlay.points) == 5
    assert last.surface("points").overlay.points.shape == (0, 2)


# Noisy points --------------------------------------------------------------------------------


def points_of(**values: object) -> tuple[np.ndarray, np.ndarray, Result]:
    """Return where points of the fake data were and are, in degrees."""
    data = FakeData()
    result = answers(
        request_for(mechanism="planar-laplace", beside="points", users=None, **values),
        FakeContext(data),
    )[-1]
    overlay = result.surface("points").overlay
    assert overlay is not None
    south, west, north, east = REGION.box
    now = overlay.points * (north - south, east - west) + (south, west)
    return np.column_stack(data._all[1:]), now, result


def test_every_check_in_moves_by_as_much_as_it_is_said() -> None:
    before, now, result = points_of(epsilon=2.0, radius=400.0)
    assert len(now) == len(before)
    away = great_circle(tuple(before.T), tuple(now.T), 1000 * EARTH_RADIUS_KM)
    # α = 2/400 a metre; Dvoretzky–Kiefer–Wolfowitz at 10⁻⁶ for so many points.
    there = np.arange(1, len(away) + 1) / len(away)
    off = np.abs(planar_laplace_cdf(np.sort(away), 2 / 400) - there).max()
    assert off <= np.sqrt(np.log(2e6) / (2 * len(away))) + 1 / len(away)
    assert result.readout("points").value == len(before)
    assert result.surface("private").values.sum() == pytest.approx(1, rel=1e-4)
    snapshots.check(result.surface("private").label)
    # The points are those of the map that they stand beside, not another draw.
    assert result.surface("points").source == "private"
    grid = np.histogram2d(*now.T, bins=64, range=(REGION.box[::2], REGION.box[1::2]))[0]
    np.testing.assert_array_equal(grid > 0, result.surface("points").values > 0)


def test_only_alpha_counts() -> None:
    one, other = (points_of(epsilon=e, radius=r)[1] for e, r in ((2.0, 400.0), (1.0, 200.0)))
    np.testing.assert_allclose(one, other, atol=1e-12)


def test_points_that_leave_the_region_stand_on_its_side_and_are_counted() -> None:
    _, now, result = points_of(epsilon=0.05, radius=1000.0)
    south, west, north, east = REGION.box
    edge = ((now == (south, west)) | (now == (north, east))).any(axis=1)
    assert 0 < edge.sum() == result.readout("points_clamped").value
    box = (-1.0, 170.0, 1.0, 180.0)
    turned = nearest_turn(np.array([-179.0, 100.0, 175.0]), box)
    lat, lon, outside = clamp(np.array([0.0, 0.0, 5.0]), turned, box)
    np.testing.assert_array_equal(lat, [0.0, 0.0, 1.0])
    np.testing.assert_array_equal(lon, [180.0, 170.0, 175.0])  # across the antimeridian
    assert outside == 3


def test_on_a_plane_points_move_in_its_unit_and_do_not_come_back_on_the_other_side() -> None:
    plane = Plane.parse("1000x500")
    region = PlaneRegion.whole(plane)
    rng = np.random.default_rng(4)
    data = FakeData()
    data._all = (
        np.repeat(np.arange(60), 50),
        -rng.uniform(0, 500, 3000),
        rng.uniform(0, 1000, 3000),
    )
    request = request_for(
        mechanism="planar-laplace", beside="points", users=None, epsilon=2.0, radius=20.0
    )
    selection = replace(request.selection, region=region, region_from=all_sides(Origin.TYPED))
    result = answers(replace(request, selection=selection), FakeContext(data))[-1]
    overlay = result.surface("points").overlay
    assert overlay is not None
    south, west, north, east = region.box
    now = overlay.points * (north - south, east - west) + (south, west)
    apart = now - np.column_stack(data._all[1:])
    inside = ((overlay.points > 0) & (overlay.points < 1)).all(axis=1)
    assert 0 < (~inside).sum() == result.readout("points_clamped").value
    # None came in from the other side: none is farther than 25 times the mean move of 20.
    assert np.hypot(*apart.T).max() < 500
    # α = 2/20 a pixel; points in the middle are cut nowhere (chance below 10⁻¹⁵ for each).
    middle = ((overlay.points > 0.4) & (overlay.points < 0.6)).all(axis=1)
    away = np.sort(np.hypot(*apart[middle].T))
    there = np.arange(1, len(away) + 1) / len(away)
    off = np.abs(planar_laplace_cdf(away, 2 / 20) - there).max()
    assert off <= np.sqrt(np.log(2e6) / (2 * len(away))) + 1 / len(away)
    snapshots.check(result.surface("private").label)
    promise = result.guarantee
    said = " ".join((promise.unit, promise.add_remove, promise.replace_one, promise.sentence))
    assert "α = 0.1 a px" in said
    assert "d px elsewhere" in said
    assert not re.search(r"metre|\bm\b", said)
    assert "r = 20 px" in settings_line(result)
    assert "r = 20 m" in settings_line(points_of(radius=20.0)[2])


@pytest.mark.full
def test_one_of_each_is_drawn_by_weight() -> None:
    user = np.array([2, 0, 2, 1, 0, 2])
    weight = np.array([1.0, 3.0, 1.0, 5.0, 1.0, 2.0])
    rng = np.random.default_rng(3)
    drawn = np.stack(
        [one_of_each(user, weight, lambda _, i: rng.random(len(i))) for _ in range(10_000)]
    )
    assert (user[drawn] == [0, 1, 2]).all()
    share = np.bincount(drawn.ravel(), minlength=6) / 10_000
    # Hoeffding: a share is off by more than .0288 with a chance of at most 6·2e^{−2·n·.0288²}.
    np.testing.assert_allclose(share, [0.25, 0.75, 0.25, 1, 0.25, 0.5], atol=0.0288)
    assert len(points_of(points="one")[1]) == 60


def test_the_promise_is_one_of_distances() -> None:
    result = points_of(epsilon=1.0, radius=250.0)[2]
    promise = result.guarantee
    assert "not covered" in promise.add_remove
    assert "α = 0.004 a metre" in promise.replace_one
    assert "α·(d₁ + … + d_k)" in promise.replace_one
    assert "largest distance" in points_of(points="one")[2].guarantee.replace_one
    assert "double" in promise.sentence or "floating point" in promise.sentence
    assert not any("sensitivity" in c.margin for c in result.conditions)


def test_what_the_largest_user_spends_is_told_to_the_curator_alone() -> None:
    result = points_of(epsilon=0.5, radius=300.0)[2]
    most = np.bincount(FakeData()._all[0]).max()
    found = result.readout("points_user")
    assert found.curator_only
    assert found.value == pytest.approx(0.5 * most)
    assert "points_user" not in {r.key for r in public_result(result).readouts}
    assert "points_user" not in {r.key for r in points_of(points="one")[2].readouts}


def test_it_is_ranked_with_no_other() -> None:
    request = request_for(mechanism="planar-laplace")
    assert recommend(request).reason == HIDES_USERS
    for axis in AXES.values():
        assert "planar-laplace" not in default_mechanisms("planar-laplace", axis)
    beside = answers(request_for(beside="points"))[0]
    assert any("does not compare" in note for note in beside.notes)
    assert any("α·(d₁ + … + d_k)" in note for note in beside.notes)


def test_points_alone_may_leave_as_they_are_made_of_noise() -> None:
    request = told(request_for(beside="true,points"))
    assert isinstance(request.selection, Selection)
    public = public_result(answers(request)[-1])
    assert [s.key for s in public.surfaces] == ["private", "points"]
    assert public.surface("points").source == "private:planar-laplace"
    snapshots.check(public.surface("points").label)

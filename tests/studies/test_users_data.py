"""Study of users' data: algorithms on files, refused files, comparison of two data sets."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from explorer.privacy import user_metric as um
from explorer.studies.base.csv_table import TableFileError
from explorer.studies.base.phrases import REAL_DATA
from explorer.studies.base.study import default_request, default_sweep, quantity
from explorer.studies.guarantees.audits import is_refuted, run_audit
from explorer.studies.metric_space.space import space_of
from explorer.studies.users_data import UsersData, guarantee
from explorer.studies.users_data.algorithms import audits
from tests import snapshots
from tests.studies import walking
from tests.studies.context import Context

STUDY = UsersData()


def ask(what, context=None, seed=0, **values):
    request = default_request(STUDY, **values)
    sweep = default_sweep(STUDY, quantity(STUDY, what).sweeps[0])
    request = replace(request, quantity=what, sweep=sweep, seed=seed)
    return walking.final_result(STUDY, request, context)


def curves(result):
    return {s.key: s for s in result.series}


def write(tmp_path, name, rows):
    path = tmp_path / name
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def two_files(tmp_path):
    """Two users of three items on a line of four; a's data moved by one step in all."""
    context = Context()
    space = context.add_file(write(tmp_path, "space.csv", ["p,0", "q,1", "r,2", "s,4"]))
    one = write(tmp_path, "one.csv", ["user,item", "a,p", "a,q", "a,q", "b,s", "b,s", "b,p"])
    two = write(tmp_path, "two.csv", ["a,q", "b,s", "a,q", "b,p", "b,s", "a,q", "c,p"])
    values = {
        "space": "points",
        "space_points": space,
        "users": context.add_file(one),
        "second": context.add_file(two),
    }
    return context, values


@pytest.mark.parametrize("key", [p.key for p in STUDY.presets])
def test_presets_draw_something(key):
    result = walking.preset(STUDY, key, points=101)
    assert any(series.present.any() for series in result.series)
    assert result.stamp == guarantee.SYNTHETIC
    assert result.tables[0].title.endswith("(curator only)")


@pytest.mark.full
def test_local_runs_are_noted_as_simulated():
    for what in ("shares", "map", "mean"):
        local = ask(what, model="local", space_cells=3)
        assert guarantee.SIMULATED in local.notes
        assert guarantee.SIMULATED in local.guarantee.trust
        assert guarantee.SIMULATED not in ask(what, space_cells=3).notes


def test_table_of_a_file_comes_first_and_counts_every_line(tmp_path):
    context = Context()
    path = write(
        tmp_path,
        "points.csv",
        ["user,x,y", "a,1,1", "a,19.5,3", "b,2,2", "b,25,2", "b,x,2", "b,3,3", "c,-1,0"],
    )
    values = {"users": context.add_file(path), "space_cells": 8}
    result = ask("shares", context, **values)
    rows = dict(result.tables[0].rows)
    assert (rows["users"], rows["items"], rows["lines rejected"]) == (2, 4, 3)
    assert result.tables[0].rows[-1][1] == 1
    snapshots.check(result.tables[0].note)
    assert result.stamp == REAL_DATA
    # A user without items stops the release, unless they are moved to the edge as declared.
    snapshots.check(result.series[0].undefined_reason)
    moved = ask("shares", context, clamp=True, **values)
    snapshots.check(moved.series[0].undefined_reason)
    drawn = ask("shares", context, clamp=True, sizes="drawn", **values)
    assert dict(drawn.tables[0].rows)["items"] == 6
    truth = curves(drawn)["truth"].y
    # Users weigh alike: c's one item, at the corner, is a third of all.
    assert truth[0] == pytest.approx((1 / 2 + 1 / 3 + 1) / 3)
    assert truth.sum() == pytest.approx(1.0)


@pytest.mark.full
def test_estimate_is_the_debiased_histogram_of_answers_and_its_error_is_the_stated_one():
    errors = []
    for seed in range(25):
        result = ask("shares", seed=seed, space="discrete", space_items=5, alpha=30.0)
        errors.append(result.readout("error").value ** 2)
        assert curves(result)["estimate"].y.sum() == pytest.approx(1.0)
    # Made users differ by seed; so does the stated error, by little.
    assert np.mean(errors) == pytest.approx(result.readout("rmse").value ** 2, rel=0.35)


@pytest.mark.full
def test_error_after_drawing_holds_the_draws_too():
    """Of the last two numbers one is of the draws alone: answers are hardly wrong there."""
    values = {
        "space": "discrete",
        "space_items": 3,
        "sizes": "drawn",
        "eps": 20.0,
        "r": 1e-4,
        "s": 2,
        "delta": 0.1,
    }
    users = {}
    errors = []
    for seed in range(60):
        result = ask("shares", seed=seed, **values)
        errors.append(result.readout("error").value ** 2)
        users[seed] = result.readout("rmse").value ** 2
    assert np.mean(errors) == pytest.approx(np.mean(list(users.values())), rel=0.35)


def test_claimed_alpha0_is_the_most_that_is_proved_for_the_promise():
    result = ask("shares", space_cells=3, alpha=12.0)
    claimed = result.readout("alpha0").value
    one_argument_for_all = float(um.group_alpha0(12.0, 1e-6, 20, 200, 0.25))
    assert claimed > 1.1 * one_argument_for_all
    assert um.sorted_delta(12.0, claimed, 20, 200, 0.25) <= 1e-6
    assert um.sorted_delta(12.0, 1.002 * claimed, 20, 200, 0.25) > 1e-6


@pytest.mark.full
def test_items_all_one_apart_hide_side_by_side():
    result = ask("shares", space="discrete", space_items=3, alpha=12.0)
    claimed = result.readout("alpha0").value
    in_order = um.group_alpha0(12.0, 1e-6, 20, 200, 1.0, 1.0, "2023", in_order=True)
    assert claimed > float(in_order)
    assert um.product_alpha(claimed, 1e-6, 20, 200) <= 12.0


@pytest.mark.full
def test_release_of_an_average_has_the_stated_noise():
    noise = []
    for seed in range(60):
        result = ask("mean", seed=seed, space_cells=2, query="position", alpha=2.0)
        noise.extend(curves(result)["release"].y - curves(result)["truth"].y)
    assert np.std(noise) == pytest.approx(result.readout("rmse").value, rel=0.2)
    local = ask("mean", space_cells=2, query="position", alpha=2.0, model="local")
    ratio = local.readout("rmse").value / result.readout("rmse").value
    assert ratio == pytest.approx(math.sqrt(200), rel=0.01)


def test_after_drawing_algorithm_1_has_the_deltas_of_the_draws_alone():
    result = ask("mean", sizes="drawn", eps=1.0, r=0.05, s=1000, delta=1e-6)
    reduction = um.bounded_reduction(1.0, 1e-6, 0.05, 1000)
    assert result.readout("alpha").value == pytest.approx(float(reduction.alpha))
    assert result.readout("delta_total").value == 1e-6
    item_wise = ask("shares", sizes="drawn", eps=1.0, r=0.05, s=1000, delta=1e-6)
    assert item_wise.readout("delta_total").value == 2e-6
    certain = ask("mean", sizes="drawn", eps=1.0, r=1.0, s=10)
    assert certain.readout("delta_total").value == 0.0


def test_two_files_user_by_user(two_files):
    context, values = two_files
    result = ask("moved", context, **values)
    assert curves(result)["moved"].y == pytest.approx([1 / 12, 0.0])
    table = result.tables[1]
    assert table.rows[0] == ("a", pytest.approx(1 / 12), pytest.approx(1 / 3), 3, 3)
    assert "(c)" in " ".join(result.notes)
    assert result.readout("pools").value == pytest.approx(1 / 24)
    assert all(c.holds is not False for c in result.conditions)


def test_guarantee_about_two_files(two_files):
    context, values = two_files
    result = ask("found_out", context, alpha=6.0, **values)
    found = curves(result)
    f = found["one"].x
    assert found["one"].y == pytest.approx(um.power_bound(0.5, 0.0, f))
    assert found["all"].y == pytest.approx(found["one"].y)
    # n = 2 users, their pools half as far apart: the same ε.
    assert found["pools"].y == pytest.approx(found["one"].y)
    snapshots.check(result.guarantee.replace_one)
    assert "e^0.5 times" in result.guarantee.replace_one
    with_delta = ask("found_out", context, alpha=6.0, promise="itemwise", delta=0.01, **values)
    assert "odds" not in with_delta.guarantee.replace_one
    assert "pools" not in curves(with_delta)
    epsilon, delta = um.several_users(6.0, [1 / 12, 0.0], [0.01, 0.01])
    assert curves(with_delta)["all"].y == pytest.approx(um.power_bound(epsilon, delta, f))


def test_parts_of_one_file(two_files):
    context, values = two_files
    result = ask("moved", context, **{**values, "against": "split", "split": 1})
    # {p, q, q} at 0, 1, 1 against {p, s, s} at 0, 4, 4: two thirds by 3 of 4.
    assert curves(result)["moved"].y == pytest.approx([0.5])
    too_many = ask("moved", context, **{**values, "against": "split", "split": 2})
    assert "smaller k" in too_many.series[0].undefined_reason


def test_other_sizes_fail_the_condition(two_files, tmp_path):
    context, values = two_files
    path = write(tmp_path, "more.csv", ["a,p", "a,q", "a,q", "a,q", "b,s", "b,s", "b,p"])
    result = ask("moved", context, **{**values, "second": context.add_file(path)})
    assert result.conditions[0].holds is False


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (["a"], "user,item is needed"),
        (["a,p,1,2"], "4 fields"),
        (["a,nowhere", "b,there"], "'nowhere'"),
    ],
)
def test_files_that_hold_nothing_are_refused(two_files, tmp_path, rows, said):
    context, values = two_files
    value = context.add_file(write(tmp_path, "bad.csv", rows))
    with pytest.raises(TableFileError, match=r"bad\.csv") as caught:
        ask("shares", context, **{**values, "users": value})
    assert said in str(caught.value)


@pytest.mark.full
@pytest.mark.parametrize("promise", ["linear", "itemwise"])
@pytest.mark.parametrize("values", [{}, {"model": "local"}, {"sizes": "drawn", "s": 20}])
def test_audits_do_not_refute_the_algorithms(promise, values):
    request = default_request(STUDY, promise=promise, space_cells=3, **values)
    subject = audits(request, None, Context())
    assert subject.what.startswith(f"Algorithm {1 if promise == 'linear' else 2}")
    assert subject.eps == pytest.approx(1.0 if "sizes" in values else 60.0 / 4)
    *_, found = run_audit(subject, 400, 0)
    assert not is_refuted(subject, found.tested)


@pytest.mark.full
@pytest.mark.parametrize("promise", ["linear", "itemwise"])
def test_audit_refutes_algorithms_with_too_little_noise(promise):
    request = default_request(STUDY, promise=promise, space="discrete", space_items=4, alpha=20.0)
    subject = replace(audits(request, None, Context()), eps=1.0)
    *_, found = run_audit(subject, 1000, 0)
    assert is_refuted(subject, found.tested)


def test_no_audit_where_nothing_is_drawn_exactly():
    said = audits(default_request(STUDY, space="square-l2"), None, Context())
    assert said.endswith("choose a grid.")


def test_the_first_answer_is_below_the_largest_possible_error():
    assert ask("shares").number("rmse") < math.sqrt(2)


def test_the_mean_distance_to_places_is_averaged_on_points_and_cells(tmp_path):
    rows = ["a,1,1", "a,3,1", "b,5,5", "b,5,7"]
    path = write(tmp_path, "points.csv", rows)
    context = Context()
    values = {"query": "places", "places": "1 1; 5 5", "users": context.add_file(path)}
    square = ask("mean", context, space="square-l2", space_side=8.0, alpha=50.0, **values)
    truth = curves(square)["truth"].y
    expected = [(1.0 + (math.sqrt(32) + math.sqrt(52)) / 2) / 2]
    expected.append(((math.sqrt(32) + math.sqrt(20)) / 2 + 1.0) / 2)
    np.testing.assert_allclose(truth, expected)
    diagonal = 8 * math.sqrt(2)
    assert square.readout("lip").value == pytest.approx(2 * diagonal)
    assert square.readout("scale").value == pytest.approx(2 * diagonal / (50.0 * 2))
    grid = ask("mean", context, space="grid", space_side=8.0, space_cells=4, **values)
    # Cell centres 1, 3, 5, 7 under ℓ1: exact on them.
    np.testing.assert_allclose(curves(grid)["truth"].y, [(1 + 9) / 2, (7 + 1) / 2])
    for places, why in (("9 1", "row 1"), ("1 1 1", "two numbers"), ("", "two numbers")):
        with pytest.raises(ValueError, match=why):
            ask("mean", context, space="square-l2", space_side=8.0, **{**values, "places": places})


def test_the_running_example_works_on_check_ins():
    class Rows:
        user = np.array([0, 0, 1, 1, 1], dtype=np.uint32)
        lat = np.array([40.0, 41.0, 34.0, 34.0, 35.0])
        lon = np.array([-74.0, -74.0, -118.0, -117.0, -118.0])
        rows = 5

    class Checkins:
        plane = None

        def points(self, box, check):
            assert box == (-90.0, -180.0, 90.0, 180.0)
            return Rows()

    context = Context()
    context.checkins_of_file = lambda value: Checkins()
    values = {"space": "sphere", "query": "places", "checkins": f"mine.csv#{0:064x}"}
    values |= {"places": "40.7128 -74.0060", "sizes": "drawn", "s": 30}
    result = ask("mean", context, **values)
    assert result.stamp == REAL_DATA
    space = walking_space(result)
    far = [
        space.cross(np.column_stack([Rows.lat, Rows.lon])[own], [[40.7128, -74.006]]).mean()
        for own in (slice(0, 2), slice(2, 5))
    ]
    assert curves(result)["truth"].y[0] == pytest.approx(np.mean(far) * space.length)
    alpha = result.readout("alpha").value
    assert result.readout("scale").value == pytest.approx(space.length / (alpha * 2))
    refused = ask("mean", context, **{**values, "sizes": "equal"})
    assert not curves(refused)["release"].present.any()
    answers = curves(ask("map", context, **values))["after"]
    assert ((answers.y >= 0) & (answers.y <= 1)).all()


def walking_space(result):
    return space_of(result.request, Context()).metric


def test_users_on_the_earth_are_read_in_degrees(tmp_path):
    rows = ["user,lat,lon", "a,40,-74", "a,91,0", "b,10,181", "b,-34,151"]
    context = Context()
    users = context.add_file(write(tmp_path, "places.csv", rows))
    result = ask("mean", context, space="sphere", query="places", users=users)
    assert dict(result.tables[0].rows)["lines rejected"] == 2
    assert curves(result)["truth"].present.all()

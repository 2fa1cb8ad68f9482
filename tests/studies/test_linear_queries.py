"""Linear queries: the paper's examples, sensitivities found and proved, errors drawn, every end."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from explorer.privacy import user_metric as um
from explorer.privacy.core.bound import Role
from explorer.privacy.spaces import Clustered, Discrete, Grid, Sphere, Square
from explorer.studies.base.claims import evaluate_claim, headline_of
from explorer.studies.base.csv_table import TableFileError
from explorer.studies.base.numbers import at_most
from explorer.studies.base.study import Cancelled, Scale, Sweep, default_request
from explorer.studies.linear_queries import LinearQueries
from explorer.studies.linear_queries.queries import query_of, read_values
from explorer.studies.linear_queries.theory import printed_private_up_to, sensitivity
from explorer.studies.metric_space.space import space_of
from tests.studies import walking
from tests.studies.context import Context

STUDY = LinearQueries()
CONTEXT = Context()
"""Shared by walks through the parameters, which have most of their work in common."""
ERRORS = ("rmse", "coordinate", "euclid", "own", "quantile")
QUERIES = ("landmarks", "position", "coordinate", "cells", "given", "file")
SPACES = ("line", "square-l1", "square-l2", "grid", "sphere", "clustered", "discrete", "matrix")


def ask(what="rmse", key="alpha", low=0.1, high=100.0, points=7, context=None, **values):
    request = replace(
        default_request(STUDY, **values),
        quantity=what,
        sweep=Sweep(key, low, high, points, Scale.LOG),
    )
    return walking.final_result(STUDY, request, context)


def curves(result):
    return {s.key: s for s in result.series}


def found(p, count=1, width=0.1, context=None, **values):
    context = context or Context()
    request = default_request(STUDY, **values)
    space = space_of(request, context)
    query = query_of(request, space, context, count, width)
    assert not query.missing, query.missing
    return sensitivity(query, space, p, context), query


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("space", SPACES)
def test_every_query_on_every_space_answers_or_says_why(query, space):
    result = ask(query=query, space=space, space_cells=8, landmarks=4, points=3)
    shown = curves(result)
    there = query == "given" or (
        space != "matrix"
        and query != "file"
        and (query in ("landmarks", "cells") or space not in ("clustered", "discrete"))
    )
    assert shown["k1"].present.any() == there
    if not there:
        assert shown["k1"].undefined_reason
        assert result.notes
        assert result.conditions[0].holds is False
    # True δ of a width needs no query.
    assert curves(ask("true_delta", query=query, space=space))["printed"].present.all()


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("city", {"k1": 1.42730e-4, "k1_length": 1.84550}),
        ("city-rmse", {"k1": 1.78885e-4, "k1_length": 2.22725}),
        ("width", {"printed": 4.50176e-5, "textbook": 1.26049e-9, "gauss": 1e-12}),
        ("width-6", {"printed": 1.39702e-6, "gauss": 1e-6}),
        ("lemma62", {"printed": 7.43384e-3, "gauss": 1.05726e-2, "k2": 4.19524e-3}),
        ("table2a", {"k2": 4e-6, "user": 1e-4, "lip": 1.0}),
        ("norms", {"k1": 3.62039e-5, "k2": 2.63879e-5, "kinf": 1.61592e-5, "lip": 4.0}),
        ("histogram", {"k1": 18.0, "kinf": 4.0}),
    ],
)
def test_the_papers_examples(key, expected):
    result = walking.preset(STUDY, key)
    for name, value in expected.items():
        assert result.readout(name).value == pytest.approx(value, rel=2e-5), name


def test_the_papers_example_on_its_own_earth():
    # Erratum user-B6: neither 2.31 nor 1.85 miles is 1.6.
    values = {"model": "local", "space_earth": "paper", "landmarks": 1}
    assert ask(**values).readout("k1_length").value == pytest.approx(2.313, abs=1e-3)
    alone = ask("coordinate", "n", 1, 10, 3, **{**values, "n": 1})
    assert alone.readout("k1").value == pytest.approx(0.04, rel=1e-12)


def test_the_printed_width_is_said_not_to_be_private():
    result = ask()
    label = curves(result)["printed"].label
    assert "not private here" in label
    assert curves(result)["printed"].role is Role.BASELINE
    assert [c.holds for c in result.conditions if "printed" in c.text] == [False]
    safe = ask(alpha=0.01, low=0.01, high=0.1)
    assert "not private" not in curves(safe)["printed"].label
    assert [c.holds for c in safe.conditions if "printed" in c.text] == [True]
    rows = result.tables[0].rows
    assert rows[1][4] == pytest.approx(4.5e-5, rel=1e-2)
    assert rows[2][5] == pytest.approx(0.0173, rel=3e-3)
    assert rows[3][5] == pytest.approx(0.792, rel=1e-3)
    assert rows[1][8] == pytest.approx(0.33434, rel=1e-4)


@pytest.mark.parametrize("delta", [1e-12, 1e-6, 1e-3, 0.1])
def test_how_far_the_printed_width_is_private(delta):
    limit = printed_private_up_to(delta)
    for factor, private in ((1 - 1e-5, True), (1 + 1e-4, False)):
        alpha = limit * factor
        true = um.gaussian_delta(um.gaussian_sigma_printed(alpha, delta), alpha)
        assert (true <= delta) == private


def test_the_textbook_width_leaves_the_plot_where_it_is_not_private():
    shown = curves(ask(low=1.0, high=100.0, points=60))["textbook"]
    assert shown.present[shown.x < 10.2].all()
    assert not shown.present[shown.x > 10.3].any()
    assert "true δ" in shown.undefined_reason
    gauss = curves(ask(low=1.0, high=100.0, points=60))["gauss"]
    assert np.all(gauss.y[shown.present] <= shown.y[shown.present])


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 3.0, math.inf])
def test_constants_found_are_those_of_lipschitz(p):
    for values, metric in (
        ({"space": "grid", "space_cells": 6}, Grid(6, 6)),
        ({"space": "clustered", "space_clusters": 3, "space_each": 4}, Clustered(3, 4, 0.1)),
        ({"space": "discrete", "space_items": 7}, Discrete(7)),
    ):
        for kind in ("landmarks", "cells"):
            for count in (1, 3, 5):
                s, query = found(p, count, 0.3, query=kind, **values)
                items = np.arange(metric.size)
                if metric.size == len(query.values):
                    centres = (
                        [
                            int(np.flatnonzero(row)[0])
                            for row in (query.values == query.values.max(axis=0)).T
                        ]
                        if kind == "cells"
                        else query.values.argmin(axis=0)
                    )
                else:
                    j = np.arange(min(count, metric.size))
                    centres = (j % metric.clusters) * metric.each + j // metric.clusters
                between = metric.cross(items, np.asarray(centres))
                f = between if kind == "landmarks" else np.maximum(1 - between / 0.3, 0)
                assert s.attained
                assert s.lip[-1] == pytest.approx(um.lipschitz(f, metric.matrix(), p), rel=1e-9)
                widest = um.lipschitz(f, Discrete(metric.size).matrix(), p)
                assert s.width[-1] >= widest * (1 - 1e-9)


@pytest.mark.parametrize("kind", ["position", "coordinate", "landmarks", "cells"])
@pytest.mark.parametrize("p", [1.0, 1.3, 2.0, 7.0, math.inf])
def test_proved_constants_are_above_all_random_pairs(kind, p):
    rng = np.random.default_rng(5)
    for name, metric, draw in (
        ("square-l1", Square(1, 20.0), lambda k: rng.uniform(0, 20, (k, 2))),
        ("square-l2", Square(2, 20.0), lambda k: rng.uniform(0, 20, (k, 2))),
        (
            "sphere",
            Sphere(),
            lambda k: np.column_stack(
                [np.degrees(np.arcsin(rng.uniform(-1, 1, k))), rng.uniform(-180, 180, k)]
            ),
        ),
    ):
        s, query = found(p, 5, 0.4, query=kind, space=name)
        assert s.found <= s.lip[-1] * (1 + 1e-9)
        assert s.width[-1] <= s.lip[-1]
        items = draw(60)
        near = items + (1e-3 * draw(60) if name != "sphere" else 0.01)
        items = np.concatenate([items, np.clip(near, -90 if name == "sphere" else 0, 20)])
        d = metric.cross(items, items)
        f = _values(kind, name, items, d[:, :5], 0.4, metric)
        assert um.lipschitz(f, d, p) <= s.lip[-1] * (1 + 1e-6)
        assert um.lipschitz(f, Discrete(len(f)).matrix(), p) <= s.width[-1] * (1 + 1e-9)
        if kind == "position":
            assert um.lipschitz(f, d, p) >= 0.8 * s.lip[-1]
        assert query.in_lengths == (kind != "cells")


def _values(kind, name, items, between, width, metric):
    if kind == "landmarks":
        return between
    if kind == "cells":
        # Any five centres: proved with the spread of ours, so only their own norm is compared.
        tents = np.maximum(1 - between / width, 0)
        return tents[:, :1]
    if name == "sphere":
        a, b = np.radians(items).T
        if kind == "coordinate":
            return a[:, None] / np.pi
        xyz = [np.cos(a) * np.cos(b), np.cos(a) * np.sin(b), np.sin(a)]
        return np.column_stack(xyz) / np.pi
    f = items / metric.length
    return f[:, :1] if kind == "coordinate" else f


@pytest.mark.parametrize("p", [1.0, 2.0, 4.0, math.inf])
def test_cells_proved_on_the_line_by_a_fine_grid(p):
    context = Context()
    for width in (0.05, 0.2, 0.7):
        s, query = found(p, 8, width, context, query="cells", space="line", space_side=1.0)
        x = np.linspace(0, 1, 4001)
        tents = np.maximum(1 - np.abs(x[:, None] - query.centres[:, 0]) / width, 0)
        step = np.linalg.norm(np.diff(tents, axis=0), ord=p, axis=1).max() * 4000
        assert step <= s.lip[-1] * (1 + 1e-9)
        assert s.found <= step * (1 + 1e-6)


def test_nested_landmarks_are_looked_at_once():
    context = Context()
    swept = curves(
        ask("lip", "landmarks", 1, 16, 16, context, query="landmarks", space="grid", space_cells=9)
    )
    for count in (1, 4, 16):
        s, _ = found(2.0, count, query="landmarks", space="grid", space_cells=9)
        y = swept["k2"].y[np.flatnonzero(swept["k2"].x == count)[0]]
        assert y == pytest.approx(s.lip[-1], rel=1e-12)


def test_too_many_pairs_leave_a_bound_and_few_landmarks_exact(tmp_path, monkeypatch):
    context = Context()
    path = tmp_path / "points.csv"
    rng = np.random.default_rng(1)
    path.write_text("\n".join(f"{a:.6f},{b:.6f}" for a, b in rng.uniform(0, 9, (20, 2))))
    values = {
        "space": "points",
        "space_points": context.add_file(path),
        "query": "landmarks",
        "landmarks": 4,
    }
    exact = curves(ask("lip", "landmarks", 1, 8, 8, context, **values))["k2"]
    assert exact.role is Role.EXACT
    monkeypatch.setattr("explorer.studies.linear_queries.theory.MAX_ENTRIES", 5 * 190)
    context.kept.clear()
    result = ask("lip", "landmarks", 1, 8, 8, context, **values)
    cut = curves(result)["k2"]
    assert cut.role is Role.UPPER
    few = cut.x <= 5
    assert 0 < few.sum() < len(few)
    np.testing.assert_allclose(cut.y[few], exact.y[few], rtol=1e-12)
    np.testing.assert_allclose(cut.y[~few], np.sqrt(cut.x[~few]), rtol=1e-12)
    assert np.all(cut.y >= exact.y * (1 - 1e-12))
    assert result.readout("k2").value == pytest.approx(exact.y[exact.x == 4][0], rel=1e-12)
    context.kept.clear()
    table = ask("lip", "p", 1, 8, 3, context, **{**values, "landmarks": 8}).tables[1]
    assert {row[2] for row in table.rows} == {"upper bound"}
    assert {row[3] for row in table.rows} == {None}


@pytest.mark.parametrize("model", ["central", "local"])
def test_errors_are_those_of_the_noise_that_is_drawn(model):
    # Means of draws within five standard errors: false alarm 6e-7 each.
    rng = np.random.default_rng(3)
    n, draws = 4, 20_000
    values = {
        "model": model,
        "query": "given",
        "dim": 3,
        "slope": 2.0,
        "alpha": 5.0,
        "n": n,
        "p": 3.0,
        "delta": 1e-3,
    }
    for what in ("rmse", "coordinate", "euclid"):
        result = ask(what, low=5.0, high=10.0, points=2, **values)
        for key, p in (("k1", 1.0), ("k2", 2.0), ("kinf", math.inf), ("kp", 3.0)):
            lip = 2.0 * 3 ** max(1 / p - 0.5, 0)
            users, count = (n, 1) if model == "central" else (1, n)
            scale = um.k_norm_scale(5.0, lip, users)
            z = um.k_norm_noise(draws * count, 3, scale, p, rng).reshape(draws, count, 3).mean(1)
            size = {
                "rmse": (z**2).sum(1),
                "coordinate": np.abs(z).mean(1),
                "euclid": np.linalg.norm(z, axis=1),
            }[what]
            margin = 5 * size.std() / math.sqrt(draws)
            shown = result.readout(key)
            value = shown.value**2 if what == "rmse" else shown.value
            if shown.role is Role.EXACT:
                assert abs(size.mean() - value) < margin, (what, key)
            else:
                assert shown.role is Role.UPPER
                assert size.mean() < value + margin, (what, key)


def test_quantiles_hold_for_their_share_of_draws():
    rng = np.random.default_rng(4)
    draws, beta = 20_000, 0.9
    result = ask(
        "quantile", low=5.0, high=10.0, points=2, query="given", dim=4, alpha=5.0, n=10, beta=beta
    )
    band = 5 * math.sqrt(beta * (1 - beta) / draws)
    for key, p in (("k1", 1.0), ("k2", 2.0), ("kinf", math.inf)):
        scale = um.k_norm_scale(5.0, 4 ** max(1 / p - 0.5, 0), 10)
        size = np.linalg.norm(um.k_norm_noise(draws, 4, scale, p, rng), ord=p, axis=1)
        assert abs((size <= result.readout(key).value).mean() - beta) < band
    sigma = um.gaussian_sigma(5.0, 1e-12, 1.0, 10)
    size = np.linalg.norm(sigma * rng.standard_normal((draws, 4)), axis=1)
    assert abs((size <= result.readout("gauss").value).mean() - beta) < band


def test_user_level_is_metric_privacy_on_the_discrete_space():
    result = ask(query="landmarks", space="discrete", space_items=20, landmarks=4, eps=3.0)
    alike = ask(query="landmarks", space="discrete", space_items=20, landmarks=4, alpha=3.0)
    assert result.readout("user").value == pytest.approx(alike.readout("k2").value, rel=1e-12)


def test_a_query_and_a_space_from_files(tmp_path):
    context = Context()
    near = tmp_path / "distances.csv"
    near.write_text(",home,work,park\nhome,0,3,4\nwork,3,0,5\npark,4,5,0\n")
    own = tmp_path / "values.csv"
    own.write_text("item,minutes,price\nhome,10,1\nwork,40,2\npark,0,2\n")
    values = {
        "space": "matrix",
        "space_matrix": context.add_file(near),
        "query": "file",
        "values": context.add_file(own),
    }
    result = ask("lip", "p", 1.0, 8.0, 5, context, **values)
    f = np.array([[10.0, 1.0], [40.0, 2.0], [0.0, 2.0]])
    d = np.array([[0.0, 3, 4], [3, 0, 5], [4, 5, 0]]) / 5
    for key, p in (("k1", 1.0), ("k2", 2.0), ("kinf", math.inf)):
        assert result.readout(key).value == pytest.approx(um.lipschitz(f, d, p), rel=1e-12)
        assert result.readout(key).role is Role.EXACT
    table = result.tables[1]
    assert {row[4] for row in table.rows} == {"home"}
    assert {row[5] for row in table.rows} == {"work"}
    assert result.readout("steepest").note == "home and work"
    assert result.guarantee is not None


def test_a_query_that_differs_on_items_at_distance_zero(tmp_path):
    context = Context()
    near = tmp_path / "d.csv"
    near.write_text("0,0,4\n0,0,4\n4,4,0\n")
    own = tmp_path / "v.csv"
    own.write_text("1\n2\n3\n")
    values = {
        "space": "matrix",
        "space_matrix": context.add_file(near),
        "query": "file",
        "values": context.add_file(own),
    }
    result = ask(context=context, **values)
    assert result.conditions[0].holds is False
    assert result.guarantee is None
    for key in ("k1", "k2", "gauss", "printed"):
        assert not curves(result)[key].present.any()
        assert "distance 0" in curves(result)[key].undefined_reason
    # A user-level mechanism needs no distances.
    assert curves(result)["user"].present.all()
    own.write_text("2\n2\n2\n")
    constant = ask(context=context, **{**values, "values": context.add_file(own)})
    assert any("constant" in n or "the same" in n for n in constant.notes)
    assert constant.readout("k1").value == 0


@pytest.mark.parametrize(
    ("text", "needles"),
    [
        ("1\n2\n", ["2 rows", "3 items"]),
        ("1\nx\n3\n", ["line 2", "field 1", "'x'"]),
        ("a,1\nb,nan\nc,2\n", ["line 2", "field 2", "'nan'"]),
        ("1,2\n3\n4,5\n", ["line 2", "1 values", "2"]),
        ("a\nb\nc\n", ["line 1", "0 values"]),
    ],
)
def test_errors_of_a_file_name_line_and_remedy(tmp_path, text, needles):
    path = tmp_path / "values.csv"
    path.write_text(text)
    with pytest.raises(TableFileError) as error:
        read_values(str(path), "values.csv", ("x", "y", "z"), False)
    for needle in ("values.csv", *needles):
        assert needle in str(error.value)


NAMED = ",home,work,gym\nhome,0,3,1\nwork,3,0,2.5\ngym,1,2.5,0\n"


def _from(tmp_path, distances, text, context=None):
    context = context or Context()
    near, own = tmp_path / "distances.csv", tmp_path / "values.csv"
    near.write_text(distances)
    own.write_text(text)
    values = {
        "space": "matrix",
        "space_matrix": context.add_file(near),
        "query": "file",
        "values": context.add_file(own),
    }
    return ask("lip", "p", 1.0, 8.0, 5, context, **values)


@pytest.mark.parametrize(
    "text",
    [
        "item,a\nwork,0\nhome,1\ngym,0\n",
        "home,1\nwork,0\ngym,0\n",
        "gym,0\nwork,0\nhome,1\n",
    ],
)
def test_values_go_to_items_by_name_in_any_order(tmp_path, text):
    # Taken by place the steepest slope would be that of other pairs, and the noise too small.
    result = _from(tmp_path, NAMED, text)
    assert result.readout("k1").value == pytest.approx(3.0)
    assert set(result.readout("steepest").note.split(" and ")) == {"home", "gym"}
    assert not result.notes


@pytest.mark.parametrize("header", ["", "id,a\n", ",7\n"])
def test_names_may_be_numbers(tmp_path, header):
    distances = NAMED.replace("home", "101").replace("work", "102").replace("gym", "103")
    result = _from(tmp_path, distances, f"{header}102,0\n101,1\n103,0\n")
    assert result.readout("k1").value == pytest.approx(3.0)
    assert result.readout("steepest").note == "101 and 103"


@pytest.mark.parametrize(
    ("text", "needle"),
    [
        (
            "item,a\nwork,0\nhome,1\npub,0\n",
            "values.csv, line 4, field 1: no item of the space is named 'pub'",
        ),
        ("work,0\nhome,1\nwork,2\n", "values.csv, line 3, field 1: more than one item is named"),
        ("0,0\nwork,0\nhome,1\ngym,0\n", "4 rows of values where the space has 3 items"),
    ],
)
def test_names_that_do_not_fit_are_refused_with_their_line(tmp_path, text, needle):
    with pytest.raises(TableFileError) as error:
        _from(tmp_path, NAMED, text)
    assert needle in str(error.value)


def test_a_row_too_many_is_no_header_if_it_holds_values(tmp_path):
    # A point that was rejected leaves a row of values over: none may be dropped silently.
    with pytest.raises(TableFileError, match="4 rows of values where the space has 3 items"):
        _from(tmp_path, "0,3,1\n3,0,2.5\n1,2.5,0\n", "5\n1\n0\n0\n")


def test_names_without_anything_to_match_are_taken_by_place_and_reported(tmp_path):
    result = _from(tmp_path, "0,3,1\n3,0,2.5\n1,2.5,0\n", "home,1\nwork,0\ngym,0\n")
    assert result.readout("k1").value == pytest.approx(3.0)
    assert any("in the order of the space" in note for note in result.notes)
    # A header without a column of names is names, too.
    named = _from(tmp_path, "home,work,gym\n0,3,1\n3,0,2.5\n1,2.5,0\n", "gym,0\nwork,0\nhome,1\n")
    assert named.readout("k1").value == pytest.approx(3.0)
    assert not named.notes


def test_points_of_a_file_have_a_mean_position(tmp_path):
    context = Context()
    path = tmp_path / "points.csv"
    path.write_text("home,0,0\nwork,3,4\npark,6,0\n")
    values = {"space": "points", "space_points": context.add_file(path), "query": "position"}
    result = ask("lip", "p", 1.0, 4.0, 3, context, **values)
    assert result.readout("k2").value == pytest.approx(1.0)
    assert result.readout("k1").value == pytest.approx(1.4)


@pytest.mark.parametrize("alpha", [0.01, 25.0])
def test_an_error_above_the_range_of_answers_is_said_to_tell_nothing(alpha):
    result = ask(alpha=alpha, n=1, query="cells")
    reach, claimed = result.number("range"), evaluate_claim(result)
    assert reach == pytest.approx(ask("lip", "p", 1.5, 4.0, query="cells").readout("user").value)
    text = headline_of(STUDY, result, claimed).text
    assert (at_most(reach) in text) is (claimed.value >= reach)


def test_the_guarantee_moves_with_the_sliders():
    g = ask(alpha=25.0, w=0.008).guarantee
    assert "54.99 % of the time" in g.sentence
    assert "(25·w, 0)" in g.replace_one
    assert "public size" in g.replace_one
    assert "any size" in ask(model="local").guarantee.replace_one


def test_dragging_alpha_looks_at_no_pairs_again():
    context = Context()
    ask(context=context)
    kept = {k for k in context.kept if k[0] in ("linear-query", "linear-sensitivity")}
    ask(context=context, alpha=30.0, n=50)
    again = {k for k in context.kept if k[0] in ("linear-query", "linear-sensitivity")}
    assert again == kept


def test_work_stops_when_cancelled():
    with pytest.raises(Cancelled):
        ask(context=Context(stop_after=3))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"space": "sphere", "centres_typed": "0 0; 0 90"}, [[0, 0.5], [0.5, 0]]),
        ({"space": "line", "centres_typed": "5; 20"}, [[0, 0.75], [0.75, 0]]),
        ({"space": "square-l1", "centres_typed": "0 0; 20 20"}, [[0, 1], [1, 0]]),
        ({"space": "typed", "centres_typed": "1; 3"}, [[0, 1], [0.25, 0.75], [1, 0]]),
    ],
)
def test_landmarks_are_where_they_are_typed(values, expected):
    request = default_request(STUDY, query="landmarks", centres="typed", **values)
    context = Context()
    query = query_of(request, space_of(request, context), context, 5, 0.1)
    assert query.dim == 2
    np.testing.assert_allclose(query.values[: len(expected)], expected, atol=1e-12)
    # The first k rows.
    assert query_of(request, space_of(request, context), context, 1, 0.1).dim == 1


def test_landmarks_on_a_grid_are_cells():
    own = {"centres": "typed", "centres_typed": "1 1; 19 1", "space": "grid", "space_cells": 4}
    request = default_request(STUDY, query="landmarks", **own)
    context = Context()
    query = query_of(request, space_of(request, context), context, 2, 0.1)
    np.testing.assert_allclose(query.values[:4], np.array([[0, 3], [1, 2], [2, 1], [3, 0]]) / 6)


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"space": "sphere", "centres_typed": "91 0"}, "row 1: not latitude"),
        ({"space": "sphere", "centres_typed": "1"}, "latitude and longitude"),
        ({"space": "typed", "centres_typed": "4"}, "row 1: not the number of the item"),
        ({"space": "typed", "centres_typed": "1.5"}, "row 1: not the number of the item"),
    ],
)
def test_typed_landmarks_that_are_none_say_why(values, why):
    request = default_request(STUDY, query="landmarks", centres="typed", **values)
    context = Context()
    with pytest.raises(ValueError, match=why):
        query_of(request, space_of(request, context), context, 2, 0.1)
    on_clusters = request.with_value("space", "clustered")
    missing = query_of(on_clusters, space_of(on_clusters, context), context, 2, 0.1).missing
    assert "choose one" in missing

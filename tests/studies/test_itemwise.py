"""Item-wise release: the paper's example by every route, the order of the routes, every end."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from explorer.privacy import user_metric as um
from explorer.privacy.core.bound import Role
from explorer.privacy.spaces import Clustered, Grid, Square
from explorer.studies.base.study import Cancelled, Fidelity, Scale, Sweep, default_request
from explorer.studies.itemwise import ItemWise
from explorer.studies.itemwise.theory import mean_distance
from explorer.studies.metric_space.space import space_of
from tests.studies import walking
from tests.studies.context import Context

STUDY = ItemWise()
CONTEXT = Context()
"""Shared by walks through the parameters, which have most of their work in common."""
SMALL = {"m": 100, "n": 200}


def ask(what="alpha0", key="alpha", low=0.1, high=100.0, points=7, context=CONTEXT, **values):
    request = replace(
        default_request(STUDY, **values),
        quantity=what,
        sweep=Sweep(key, low, high, points, Scale.LOG),
    )
    return walking.final_result(STUDY, request, context)


def curves(result):
    return {s.key: s for s in result.series}


def table_of(result, key):
    return next(table for table in result.tables if table.key == key)


@pytest.mark.full
@pytest.mark.parametrize("randomiser", ["planar", "gkrr", "exponential", "optimal"])
@pytest.mark.parametrize(
    "space", ["line", "square-l1", "square-l2", "grid", "sphere", "clustered", "discrete", "matrix"]
)
def test_every_randomiser_on_every_space_answers_or_says_why(randomiser, space):
    result = ask("noise", points=3, randomiser=randomiser, space=space, space_cells=8, **SMALL)
    fits = {
        "planar": ("square-l1", "square-l2"),
        "gkrr": ("clustered", "discrete"),
        "exponential": ("grid", "clustered", "discrete"),
        "optimal": (),  # 64 cells, 100 items: too many for a linear program
    }[randomiser]
    exact = curves(result)["exact"]
    assert exact.present.any() == (space in fits)
    if space not in fits:
        assert exact.undefined_reason


@pytest.mark.full
def test_the_optimal_mechanism_errs_least_and_is_solved_at_rest():
    small = {"space": "grid", "space_cells": 5, "m": 20, "n": 200}
    best = curves(ask("noise", "alpha", 1, 50, 3, randomiser="optimal", **small))["exact"]
    other = curves(ask("noise", "alpha", 1, 50, 3, randomiser="exponential", **small))["exact"]
    assert best.role is Role.EXACT
    assert (best.y[best.present] < other.y[best.present]).all()
    request = replace(
        default_request(STUDY, randomiser="optimal", **small),
        quantity="noise",
        sweep=Sweep("alpha", 1, 50, 3, Scale.LOG),
    )
    first, *_ = walking.answers(STUDY, request)
    assert "when the sliders rest" in curves(first)["exact"].undefined_reason


@pytest.mark.full
@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("central", {"exact": 3.8489, "tight": 2.48387, "simple": 2.40528, "composed": 0.025}),
        ("local", {"exact": 0.08067, "tight": 0.02497, "simple": 0.02491, "printed": 0.003165}),
        ("three", {"tight": 41.98757, "exact": 10.59876, "composed": 3000.0}),
        ("second-branch", {"printed": 10.266, "simple": 8.7097, "tight": 9.4226, "exact": 10.544}),
        ("second-branch-broken", {"printed": 13.3547, "simple": 11.2809, "exact": 13.25178}),
        ("places", {"exact": 2 / 3.8489897, "length": 14.697}),
    ],
)
def test_the_papers_example(key, expected):
    result = walking.preset(STUDY, key)
    for name, value in expected.items():
        assert result.readout(name).value == pytest.approx(value, rel=3e-4), name


def test_the_table_of_corrected_numbers():
    # The specification's four rows, and the concrete example.
    rows = {(row[1], row[4]): row for row in table_of(ask(), "examples").rows}
    for (alpha, n), printed, theorem, hops, composed in (
        ((25.0, 1.0), 0.00317, 0.02497, 0.08067, 0.025),
        ((25.0, 1e3), 0.1001, 0.5985, 1.3456, 0.025),
        ((5.0, 1e5), 0.2442, 1.1217, 2.2558, 0.005),
        ((1.0, 1e5), 0.0514, 0.34608, 0.9482, 0.001),
    ):
        row = rows[alpha, n]
        assert row[6] == pytest.approx(printed, abs=6e-5)
        assert row[9] == pytest.approx(theorem, abs=6e-5)
        # Printed rounded down.
        assert 0 <= row[10] - hops < 1e-4
        assert row[11] == composed
    text = rows[25.0, 1e5]
    assert text[5] == 3.0
    assert text[8] == pytest.approx(2.40528, abs=1e-5)
    assert "α = 41.98" in table_of(ask(), "examples").note


@pytest.mark.parametrize("model", ["local", "central"])
def test_notions_of_privacy_hold_of_the_example_change(model):
    m, w, n = 20, 0.25, 1 if model == "local" else 50
    result = ask("alpha", "alpha0", 0.1, 5.0, 2, model=model, m=m, n=n, w=w, delta=1e-3, alpha0=0.7)
    table = table_of(result, "notions")
    rows = {row[0]: row[-4:] for row in table.rows}
    assert table.roles[-3:] == (Role.UPPER,) * 3
    alpha = min(s.value for s in result.readouts if s.role is Role.UPPER and s.value)
    _, central, at_w, fails = rows["bounded central d_EM-DP"]
    assert central == pytest.approx(alpha)
    assert at_w == pytest.approx(alpha * w)
    local = rows["bounded local d_EM-DP"]
    assert local[1] == pytest.approx(alpha if model == "local" else m * 0.7)
    assert rows["local d_X-DP"] == ("α₀", 0.7, pytest.approx(0.7 * w), 0.0)
    assert rows["user-level central DP"] == ("ε", central, central, fails)
    assert rows["unbounded local d_EM-DP"][1:] == (None, None, None)
    # Randomised response on two items: a user who draws sends Bin(m, q) ones, whatever their
    # number of items; data sets whose shares of ones differ by w are at that distance.
    keep = 1 / (1 + math.exp(-0.7))
    ones = np.arange(m + 1)
    shares = np.linspace(0.0, 1.0 - w, 7)
    if model == "local":
        _, epsilon, _, delta = rows["discrete local d_EM-DP, r = w"]
        for low, high in np.column_stack([shares, shares + w]):
            p, q = (binom.pmf(ones, m, s * keep + (1 - s) * (1 - keep)) for s in (low, high))
            for one, two in ((p, q), (q, p)):
                assert np.maximum(one - math.exp(epsilon) * two, 0).sum() <= delta


def test_one_change_has_its_own_epsilon():
    result = ask("change", "v1", 0.01, 50.0, 4, v0=50, v1=2.0)
    shown = curves(result)
    assert set(shown) == {"theorem43", "composed", "rough", "hops", "hop", "hop_stronger"}
    assert not shown["hop"].present.any()
    sure = um.theorem43_epsilon(3.0, 1e-12, 1000 * 10**5, 50, shown["theorem43"].x)
    np.testing.assert_allclose(shown["theorem43"].y, sure.epsilon)
    np.testing.assert_allclose(shown["composed"].y, 3.0 * shown["composed"].x)
    worth = um.best_alpha(3.0, 1e-12, 1000, 1e5)
    np.testing.assert_allclose(shown["hops"].y, worth * shown["hops"].x / 1000)
    ((epsilon, delta),) = result.guarantee.pairs
    assert (epsilon, delta) == (pytest.approx(worth * 2.0 / 1000), 1e-12)
    # A curve ends where the change ceases to be possible, and not at the point before.
    wide = curves(ask("change", "v1", 10.0, 1e6, 4, v0=50, v1=20.0))
    assert {float(wide[key].x[wide[key].present].max()) for key in ("composed", "hops")} == {50.0}
    one = curves(ask("change", "v1", 0.01, 100.0, 30, v0=1, v1=0.1))["hop"]
    assert one.x[one.present].max() == 1.0
    fewer = curves(ask("change", "v0", 1, 1e6, 4, v0=50, v1=19.5))["composed"]
    assert fewer.x[fewer.present].min() == 20.0
    assert fewer.x[fewer.present].max() == 1000.0
    beyond = ask("change", "v1", 10.0, 1000.0, 4, v0=50, v1=80.0)
    assert beyond.guarantee is None
    assert beyond.conditions[0].holds is False
    assert not curves(beyond)["hops"].present[curves(beyond)["hops"].x > 50].any()


@pytest.mark.full
def test_one_item_that_moves_has_the_number_of_lemma_b1():
    result = ask("change", "v1", 0.01, 10.0, 4, v0=1, v1=0.1)
    shown, bounds = curves(result), {}
    for key, clones in (("hop", "2021"), ("hop_stronger", "2023")):
        bounds[key] = um.hop_epsilon(1e8, 3.0, 0.1, 1e-12, 1.0, clones)
        assert result.number(key) == pytest.approx(bounds[key])
        assert shown[key].role is Role.UPPER
        assert not shown[key].present[shown[key].x > 1].any()
    assert bounds["hop_stronger"] < bounds["hop"] < result.number("theorem43")
    assert result.guarantee.pairs == ((pytest.approx(bounds["hop_stronger"]), 1e-12),)
    # Randomised response between two items, which nothing hides.
    alone = ask("change", "v1", 0.1, 1.0, 3, model="local", m=1, v0=1, v1=0.5, delta=0.01)
    epsilon = math.log(math.exp(1.5) - 0.01 * (1 + math.exp(1.5)))
    assert curves(alone)["hop"].role is Role.EXACT
    assert alone.number("hop") == pytest.approx(epsilon)


OWN = {"space": "grid", "space_cells": 2, "randomiser": "typed"}


def test_an_own_table_has_its_own_alpha0_and_distance():
    result = ask("noise", "alpha", 1.0, 100.0, 5, **OWN)
    needed = result.readout("own_alpha0").value
    assert needed == pytest.approx(2 * math.log(3))
    assert needed >= 2 * math.log(3)
    worth = result.readout("own_alpha").value
    assert worth == pytest.approx(um.best_alpha(needed, 1e-12, 1000, 1e5, 0.5))
    exact = curves(result)["exact"]
    np.testing.assert_allclose(exact.y[exact.present], 0.25)
    # Where a smaller α₀ is allowed the table is not.
    allowed = curves(ask("alpha0", "alpha", 1.0, 100.0, 5, **OWN))["exact"]
    np.testing.assert_array_equal(exact.present, allowed.y >= needed)
    (fits,) = (c for c in result.conditions if "table" in c.text)
    assert fits.holds
    (fits,) = (c for c in ask("alpha", "alpha0", 1, 5, 3, **OWN).conditions if "table" in c.text)
    assert fits.holds
    low = ask("alpha", "alpha0", 1, 5, 3, alpha0=2.0, **OWN)
    assert [c.holds for c in low.conditions if "table" in c.text] == [False]


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"space": "square-l2"}, "space of 2 to 400 items"),
        ({"space_cells": 3}, "4 rows and the space 9 items"),
        ({"table": "1 0; 1/2 1/2; 1/2 1/2; 1/2 1/2"}, "columns"),
        ({"randomiser": "file"}, "no file of the table"),
    ],
)
def test_an_own_table_that_does_not_fit_says_why(values, why):
    result = ask("noise", "alpha", 1.0, 100.0, 3, **{**OWN, **values})
    exact = curves(result)["exact"]
    assert not exact.present.any()
    assert why in exact.undefined_reason
    assert [c.holds for c in result.conditions if "table" in c.text] == [False]


def test_an_own_table_from_a_file(tmp_path):
    rows = ["", "north,.7,.2,.1", "middle,.2,.6,.2", "south,.1,.2,.7"]
    path = tmp_path / "table.csv"
    path.write_text("\n".join(rows), encoding="utf-8")
    request = replace(
        default_request(STUDY, space="discrete", space_items=3, randomiser="file"),
        quantity="noise",
        sweep=Sweep("alpha", 1, 100, 3, Scale.LOG),
    )
    context = Context()
    request = request.with_value("table_file", context.add_file(path))
    result = walking.final_result(STUDY, request, context)
    assert result.readout("own_alpha0").value == pytest.approx(math.log(7))
    assert curves(result)["exact"].y[-1] == pytest.approx(1 / 3)


def test_routes_to_alpha0_keep_their_order():
    for model in ("central", "local"):
        shown = curves(ask(model=model, points=9))
        for name in ("tight", "simple", "composed"):
            at = np.isin(shown[name].x, shown["exact"].x)
            both = np.isfinite(shown[name].y[at])
            assert shown[name].role is Role.LOWER
            assert np.all(shown[name].y[at][both] <= shown["exact"].y[both] * (1 + 1e-9))
        assert walking.ordered(shown["simple"], shown["tight"])
        assert shown["exact"].role is Role.LOWER
        assert shown["printed"].role is Role.BASELINE


def test_routes_to_alpha_keep_their_order():
    shown = curves(ask("alpha", "alpha0", 0.01, 5.0, 9))
    for name in ("tight", "simple", "composed"):
        both = shown[name].present & shown["exact"].present
        assert np.all(shown[name].y[both] >= shown["exact"].y[both] * (1 - 1e-9))
        assert shown[name].role is Role.UPPER


def test_curves_are_the_mathematics():
    shown = curves(ask(points=5))
    arguments = (shown["exact"].x, 1e-12, 1000, 10**5)
    np.testing.assert_allclose(shown["exact"].y, um.group_alpha0(*arguments), rtol=1e-12)
    inverted = um.theorem44_invert(*arguments, um.Internal.TIGHT)
    np.testing.assert_allclose(shown["tight"].y, inverted.alpha0, rtol=1e-12)
    deltas = curves(ask("delta", "alpha0", 0.5, 8.0, 5))
    at = deltas["exact"].x
    expected = np.minimum(um.group_delta(25.0, at, 1000, 10**5), 1.0)
    np.testing.assert_allclose(deltas["exact"].y, expected, rtol=1e-12)
    assert walking.ordered(deltas["proof"], deltas["claimed"])
    both = deltas["proof"].present
    assert np.all(deltas["exact"].y[both] <= deltas["proof"].y[both])


def test_printed_equations_leave_the_plot_where_their_condition_fails():
    shown = curves(ask(model="local", low=1.0, high=500.0, points=30))["printed"]
    assert not shown.present[shown.x > 27].any()
    assert shown.present[shown.x < 26].all()
    assert "condition" in shown.undefined_reason
    assert "not to calibrate" in shown.note


@pytest.mark.full
def test_spending_too_much_is_reported():
    result = walking.preset(STUDY, "second-branch")
    broken = [c for c in result.conditions if "spends" in c.text]
    assert broken[0].holds is False
    assert "256.7" in broken[0].margin
    # By the theorem, that is: exact hops allow (7)'s number there, and don't elsewhere.
    safe = curves(result)
    assert result.readout("printed").value < result.readout("exact").value
    assert safe["printed"].role is Role.BASELINE
    worse = walking.preset(STUDY, "second-branch-broken")
    assert worse.readout("printed").value > worse.readout("exact").value
    assert um.group_delta(50.0, worse.readout("printed").value, 200, 10**9) > 1e-6
    fine = walking.preset(STUDY, "central")
    assert [c.holds for c in fine.conditions if "spends" in c.text] == [True]


def test_the_paper_s_example_is_bracketed():
    result = walking.preset(STUDY, "central")
    known = {key: result.readout(key) for key in ("exact", "sorted", "refuted")}
    assert [r.role for r in known.values()] == [Role.LOWER, Role.LOWER, Role.UPPER]
    assert 4.359 <= known["sorted"].value < known["refuted"].value <= 4.413
    assert "hops in increasing order" in result.guarantee.replace_one
    shown = curves(result)
    # Certified everywhere below what is refuted; each as good at a weaker promise.
    certified = np.interp(shown["refuted"].x, shown["sorted"].x, shown["sorted"].y)
    assert np.all(certified <= shown["refuted"].y * (1 + 1e-9))
    for key in ("sorted", "refuted"):
        assert np.all(np.diff(shown[key].y) >= 0)


@pytest.mark.parametrize("what", ["alpha0", "alpha"])
def test_items_all_one_apart_have_hops_side_by_side(what):
    values = {
        "space": "discrete",
        "m": 20,
        "n": 20_000,
        "delta": 1e-6,
        "alpha": 53.0,
        "alpha0": 8.526,
    }
    axis = "alpha" if what == "alpha0" else "alpha0"
    result = ask(what, axis, 5.0, 60.0 if what == "alpha0" else 9.0, 3, **values)
    best = result.readout("product").value
    if what == "alpha0":
        assert best == pytest.approx(8.526, rel=1e-3)
        assert result.readout("sorted").value < best < result.readout("refuted").value
    else:
        assert best == pytest.approx(53.0, rel=5e-3)
        assert result.readout("refuted").value < best


def test_a_smallest_distance_gains():
    base = curves(ask(space="sphere", **SMALL))
    assert "exact_near" not in base
    for clones in ("2021", "2023"):
        shown = curves(ask(space="discrete", clones=clones, **SMALL))
        assert walking.ordered(shown["exact"], shown["exact_near"])
        again = um.group_alpha0(shown["exact_near"].x, 1e-12, 100, 200, 1.0, 1.0, clones)
        np.testing.assert_allclose(shown["exact_near"].y, again, rtol=1e-12)


def test_the_guarantee_takes_the_best_route_that_certifies():
    good = walking.preset(STUDY, "central").guarantee
    assert "hops in increasing order" in good.replace_one
    assert "25·w, 1e-12" in good.replace_one
    assert "54.99 % of the time" in good.sentence
    assert good.differences
    # A single item hides among nobody: composition is all there is, without a δ.
    alone = ask(model="local", m=1, low=0.1, high=1.0).guarantee
    assert "not covered" in alone.add_remove
    assert "their own" in " ".join(ask(model="local").guarantee.differences)


def test_a_delta_of_one_promises_nothing():
    result = ask("delta", "alpha", 0.01, 0.1, 3, alpha=0.01, alpha0=50.0)
    assert result.readout("exact").value == 1.0
    assert result.guarantee is None


def test_the_first_answer_is_an_estimate_and_says_so():
    request = replace(
        default_request(STUDY), quantity="alpha0", sweep=Sweep("alpha", 1, 100, 9, Scale.LOG)
    )
    (first,) = walking.answers(STUDY, replace(request, fidelity=Fidelity.COARSE))
    last = walking.answers(STUDY, request)[-1]
    assert curves(first)["exact"].role is Role.ESTIMATE
    assert "exact sum follows" in curves(first)["exact"].note
    assert "exact hops" not in first.guarantee.replace_one
    assert curves(last)["exact"].role is Role.LOWER
    same = np.isin(curves(last)["exact"].x, curves(first)["exact"].x)
    np.testing.assert_allclose(curves(first)["exact"].y, curves(last)["exact"].y[same], rtol=1e-3)
    for key in ("exact", "tight", "printed"):
        at = curves(last)[key].x == 25.0
        assert curves(last)[key].y[at] == last.readout(key).value
    only = list(STUDY.answer(replace(request, fidelity=Fidelity.COARSE), Context()))
    assert [r.complete for r in only] == [True]


@pytest.mark.parametrize(
    ("randomiser", "space", "words"),
    [
        ("planar", "square-l2", "before any clipping"),
        ("gkrr", "clustered", "same for every item"),
        ("exponential", "clustered", "items drawn evenly, answered at the rate α₀/2"),
    ],
)
def test_what_a_mean_distance_is_taken_over_is_reported_where_it_is_shown(randomiser, space, words):
    result = ask("noise", randomiser=randomiser, space=space, **SMALL)
    for curve in result.series:
        assert words in curve.note
    assert words in result.readout("length").note
    assert result.readout("exact").unit == "diameters"
    assert next(q for q in STUDY.quantities if q.key == "noise").unit == "diameters"


def test_dragging_what_a_curve_does_not_depend_on_computes_nothing_anew():
    context = Context()
    ask("alpha", "alpha0", 0.1, 5.0, 9, context, alpha0=1.0)
    kept = len(context.kept)
    ask("alpha", "alpha0", 0.1, 5.0, 9, context, alpha0=2.0)
    # The new slider's own point on the three numerical curves.
    assert len(context.kept) == kept + 3


def test_work_stops_when_cancelled():
    with pytest.raises(Cancelled):
        ask(context=Context(stop_after=4))


@pytest.mark.parametrize("alpha0", [0.3, 4.0])
def test_displacements_are_those_of_the_mechanisms(alpha0):
    # Means of draws within five standard errors: false alarm 6e-7 each.
    rng = np.random.default_rng(11)
    draws = 40_000

    def space(**values):
        return space_of(default_request(STUDY, **values), Context())

    for norm in (1, 2):
        square = Square(norm, 20.0, "mi")
        answers = um.PlanarLaplace(square, alpha0).answer([[10.0, 10.0]] * draws, rng)
        off = answers - 10.0
        length = np.abs(off).sum(axis=1) if norm == 1 else np.hypot(*off.T)
        kind = space(space=f"square-l{norm}", space_side=20.0)
        expected = mean_distance("planar", kind, np.array([alpha0]))[0] * square.length
        assert abs(length.mean() - expected) < 5 * length.std() / math.sqrt(draws)

    clusters = Clustered(4, 3, 0.2)
    own = np.zeros(draws, int)
    answers = um.GKRR(clusters, alpha0).answer(own, rng)
    moved = clusters.matrix()[0, answers]
    chosen = space(space="clustered", space_clusters=4, space_each=3, space_near=0.2)
    expected = mean_distance("gkrr", chosen, np.array([alpha0]))[0]
    assert abs(moved.mean() - expected) < 5 * moved.std() / math.sqrt(draws)

    grid = Grid(4, 4)
    law = um.Exponential(grid, alpha0, sharp=False).law()
    chosen = space(space="grid", space_cells=4)
    expected = mean_distance("exponential", chosen, np.array([alpha0]))[0]
    assert expected == pytest.approx((law * grid.matrix()).sum(axis=1).mean())

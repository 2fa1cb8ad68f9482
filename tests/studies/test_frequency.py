"""Study of frequency estimation: the paper's comparisons, calibration, regions, simulation."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from explorer.privacy import user_metric as um
from explorer.privacy.core.bound import Role
from explorer.privacy.core.composition import kov_exact_delta
from explorer.privacy.spaces import Clustered, MatrixSpace
from explorer.studies.base.study import Cancelled, Fidelity, Mark, Scale, Sweep, default_request
from explorer.studies.base.sweeping import swept_points
from explorer.studies.frequency import Frequency, simulation as sim
from explorer.studies.frequency.theory import alpha0_needed, problem_of
from tests import snapshots
from tests.studies import walking
from tests.studies.context import Context

STUDY = Frequency()
CONTEXT = Context()
"""Shared by walks through the parameters, which have most of their work in common."""
SMALL = {"m": 100, "n": 50}


def ask(what="emd", key="alpha", low=1.0, high=100.0, points=5, context=None, **values):
    request = replace(
        default_request(STUDY, **values),
        quantity=what,
        sweep=Sweep(key, low, high, points, Scale.LOG),
    )
    return walking.final_result(STUDY, request, context)


def curves(result):
    return {s.key: s for s in result.series}


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("local", {"edge": 6.29736, "needed": 0.0270071}),
        ("central", {"edge": 43.5906}),
        (
            "theorem66",
            {
                "gkrr": 5.55274,
                "theorem65": 11.1444,
                "theorem66": 12.8814,
                "theorem66_printed": 357.56,
                "remark": 635.885,
            },
        ),
        ("hadamard", {"item": 0.00483873, "hadamard": 0.413332, "hadamard_printed": 0.371693}),
        ("near", {"gkrr": 0.555274, "hadamard": 0.795559}),
        ("items", {"gkrr": 1.07552, "alpha0": 0.0822136}),
    ],
)
def test_the_papers_comparisons(key, expected):
    result = walking.preset(STUDY, key, points=3)
    for name, value in expected.items():
        assert result.readout(name).value == pytest.approx(value, rel=2e-5), name


def test_edges_in_presets():
    edges = curves(ask("wins", "eps", 0.1, 10.0, 3, rival="hadamard"))
    np.testing.assert_allclose(edges["gkrr_wins"].y, [1.36827, 15.8964, 343.147], rtol=1e-4)
    np.testing.assert_allclose(edges["paper"].y, [1.0, 10.0, 289.53], rtol=1e-4)
    central = {"model": "central", "rival": "laplace"}
    few = curves(ask("wins", "eps", 0.1, 10.0, 3, n=40, **central))
    np.testing.assert_allclose(few["gkrr_wins"].y[:2], [6.55415, 82.1936], rtol=1e-4)
    np.testing.assert_allclose(few["paper"].y[:2], [5.877, 100.0], rtol=1e-4)
    many = ask("wins", "eps", 0.1, 10.0, 3, n=100_000, **central).readout("edge")
    assert many.value == pytest.approx(240.517, rel=1e-4)
    more = ask("wins", "eps", 0.1, 10.0, 3, n=10**7, **central).readout("edge")
    assert more.value is None
    assert "800" in more.note
    near = curves(ask("emd", "space_near", 0.01, 1.0, 3))
    np.testing.assert_allclose(near["gkrr"].y, [0.55380, 0.55527, 0.58039], rtol=1e-4)
    np.testing.assert_allclose(near["hadamard"].y, [0.66845, 0.79556, 2.06666], rtol=1e-4)


@pytest.mark.full
def test_errors_are_the_mathematics_at_the_exact_calibration():
    shown = curves(ask("rmse", points=3))
    for i, alpha in enumerate(shown["gkrr"].x):
        a0 = um.best_alpha0(alpha, 1e-12, 1000, 1, 0.1)
        expected = math.sqrt(um.gkrr_mse(10, 10, 0.1, a0, 1000, 10**5))
        assert shown["gkrr"].y[i] == pytest.approx(expected, rel=1e-12)
    e0 = um.per_item_epsilon(1000, 1.0, 1e-12)
    hadamard = math.sqrt(um.hadamard_mse(100, e0, 1000, 10**5))
    assert shown["hadamard"].y[0] == pytest.approx(hadamard, rel=1e-12)
    assert shown["laplace"].y[0] == pytest.approx(math.sqrt(8 * 100 / 1e5), rel=1e-12)
    assert {shown[k].role for k in ("gkrr", "gkrr_theorem", "hadamard", "laplace")} == {Role.EXACT}
    central = curves(ask("rmse", points=3, model="central"))["laplace"]
    assert central.y[0] == pytest.approx(math.sqrt(2 * 100) * 2 / 1e5, rel=1e-12)
    assert central.y[0] == pytest.approx(
        2 * curves(ask("rmse", points=3, model="central"))["laplace_printed"].y[0]
    )


def test_bounds_on_the_distance_keep_their_order():
    for model in ("local", "central"):
        shown = curves(ask(points=4, model=model, low=1.0, high=400.0))
        assert walking.ordered(shown["gkrr"], shown["theorem65"])
        assert walking.ordered(shown["theorem65"], shown["theorem66"])
        assert walking.ordered(shown["theorem66"], shown["theorem66_printed"])
        for key in ("gkrr", "theorem65", "theorem66", "hadamard"):
            assert shown[key].role is Role.UPPER
        assert shown["laplace"].role is Role.EXACT
        for key in ("theorem66_printed", "remark"):
            assert shown[key].role is Role.BASELINE


@pytest.mark.parametrize("what", ["emd", "rmse", "cluster"])
def test_gkrrs_errors_fall_as_alpha0_rises(what):
    for near in (0.01, 0.3, 1.0):
        y = curves(ask(what, "alpha0", 1e-3, 50.0, 80, space_near=near))["gkrr"].y
        assert np.all(np.diff(y[np.isfinite(y)]) < 0)


def test_alpha0_on_the_axis_applies_to_all_calibrations():
    result = ask("rmse", "alpha0", 0.01, 10.0, 5)
    shown = curves(result)
    expected = np.sqrt(um.gkrr_mse(10, 10, 0.1, shown["gkrr"].x, 1000, 10**5))
    np.testing.assert_allclose(shown["gkrr"].y, expected, rtol=1e-12)
    assert not shown["gkrr_theorem"].present.any()
    # The sliders' own α₀ follows from α.
    assert result.readout("alpha0").value == um.best_alpha0(25.0, 1e-12, 1000, 1, 0.1)


@pytest.mark.parametrize("compared", ["emd", "rmse"])
@pytest.mark.parametrize("model", ["central", "local"])
def test_at_the_edge_errors_are_equal(compared, model):
    request = replace(
        default_request(STUDY, compared=compared, model=model, n=500),
        quantity="wins",
        sweep=Sweep("eps", 0.1, 5.0, 4, Scale.LOG),
    )
    p = problem_of(swept_points(STUDY, request), request)
    target = np.array([0.05, 0.5, 2.0, 30.0, 1.0])
    a0 = alpha0_needed(p, target, compared)
    assert np.isfinite(a0).all()
    error = (
        np.sqrt(um.gkrr_mse(p.s, p.t, p.r, a0, p.m, p.n))
        if compared == "rmse"
        else math.sqrt(2 / math.pi) * um.gkrr_emd_bound(p.s, p.t, p.r, a0, p.m, p.n)
    )
    np.testing.assert_allclose(error, target, rtol=1e-9)
    assert np.all(error <= target)
    impossible = alpha0_needed(p, np.zeros(5) - 1.0, compared)
    assert np.isinf(impossible).all()


@pytest.mark.parametrize(
    ("model", "compared"), [("local", "emd"), ("local", "rmse"), ("central", "emd")]
)
def test_above_the_edge_gkrr_errs_less_and_below_more(model, compared):
    values = {"model": model, "compared": compared, "n": 40, "rival": "hadamard"}
    edge = ask("wins", "eps", 0.5, 2.0, 2, **values).readout("edge").value
    for factor, wins in ((1.02, True), (0.98, False)):
        result = ask(compared, alpha=edge * factor, low=1.0, high=2.0, points=2, **values)
        gkrr, rival = (result.readout(k).value for k in ("gkrr", "hadamard"))
        assert (gkrr < rival) == wins


@pytest.mark.full
def test_edge_in_d_em_is_an_estimate_near_simulations():
    # Two upper bounds cross at 107.6 only.
    values = {"model": "central", "rival": "laplace", "n": 40}
    result = ask("wins", "eps", 0.5, 2.0, 3, alpha=83.0, **values)
    edge = result.readout("edge")
    assert edge.role is Role.ESTIMATE
    assert "estimate" in edge.note
    assert curves(result)["gkrr_wins"].role is Role.ESTIMATE
    assert result.conditions[0].holds
    assert "α = 82.19" in result.conditions[0].margin
    laplace = um.laplace_emd_mean(10, 10, 0.1, 40, 1.0)
    means = []
    for factor in (0.9, 1.1):
        a0 = um.best_alpha0(edge.value * factor, 1e-12, 1000, 40, 0.1)
        found = sim.errors(
            experiment(alpha0=a0, s=10, t=10, r=0.1, m=1000, n=40, local=False), 100, (5,)
        )[:, 0, 0]
        # False alarms: the means are 20 standard errors away.
        means.append(found.mean())
    assert means[0] > laplace > means[1]
    # In ℓ2 all errors are exact: above this α GKRR does win.
    exact = ask("wins", "eps", 0.5, 2.0, 3, compared="rmse", **values)
    assert exact.readout("edge").role is Role.UPPER
    assert curves(exact)["gkrr_wins"].role is Role.UPPER
    assert curves(exact)["laplace_wins"].role is Role.ESTIMATE


@pytest.mark.full
@pytest.mark.parametrize("what", ["wins", "emd"])
def test_curves_pass_through_the_number_beside_them(what):
    key, own = ("eps", 1.0) if what == "wins" else ("alpha", 25.0)
    result = ask(what, key, 0.5, 60.0 if what == "emd" else 20.0, 6)
    curve = curves(result)["gkrr_wins" if what == "wins" else "gkrr"]
    at = curve.x == own
    assert at.sum() == 1
    assert curve.y[at][0] == result.readout("edge" if what == "wins" else "gkrr").value


def test_a_theorem_without_an_alpha0_has_none_in_the_table():
    row = {r[0]: r for r in ask("rmse", points=3, m=10).tables[0].rows}["GKRR, α₀ by Theorem 4.4"]
    assert row[2:] == (None, None, None, None)


def test_preset_states_the_largest_distance_of_histograms():
    text = next(p for p in STUDY.presets if p.key == "items").computed
    assert "√2" in text
    a, b = np.eye(2)
    assert np.linalg.norm(a - b) > 1.1


@pytest.mark.full
def test_regions_cover_the_plane():
    result = ask("wins", "eps", 0.05, 20.0, 9, model="central", n=40, m=1000)
    shown = curves(result)
    won = shown["gkrr_wins"]
    assert won.mark is Mark.AREA
    assert won.present.any()
    assert not won.present.all()
    assert won.undefined_reason
    for i in range(len(won.x)):
        others = [shown[k] for k in ("hadamard_wins", "laplace_wins") if shown[k].present[i]]
        assert len(others) == 1
        assert others[0].low[i] == 0.01
        if won.present[i]:
            assert others[0].high[i] == won.low[i] == won.y[i]
            assert won.high[i] == 800
        else:
            assert others[0].high[i] == 800
    np.testing.assert_allclose(shown["equal"].y, shown["equal"].x)
    y = shown["choice"].y[shown["choice"].present]
    np.testing.assert_allclose(y, 10 * shown["choice"].x[shown["choice"].present])
    alone = curves(ask("wins", "eps", 0.1, 1.0, 3, rival="laplace"))
    assert "hadamard_wins" not in alone


def test_sliders_are_a_dot_with_a_winner():
    for alpha, wins in ((10.0, False), (20.0, True)):
        result = ask("wins", "eps", 0.1, 10.0, 3, rival="hadamard", alpha=alpha)
        here = curves(result)["here"]
        assert here.mark is Mark.DOTS
        assert (here.x[0], here.y[0]) == (1.0, alpha)
        assert result.conditions[0].holds is wins
        assert "Hadamard" in result.conditions[0].text
        assert "15.9" in result.conditions[0].margin
    assert "here" not in curves(ask("wins", "eps", 2.0, 10.0, 3))
    assert "one drawn item" in ask("wins", "eps", 0.1, 10.0, 3).conditions[0].text
    of_two = ask("wins", "eps", 0.1, 10.0, 3, rival="laplace").conditions[0].text
    assert "Laplace" in of_two


def test_printed_budgets_fail_their_conditions():
    result = walking.preset(STUDY, "hadamard", points=3)
    by_text = {c.text: c for c in result.conditions}
    hadamard = next(c for text, c in by_text.items() if "Hadamard" in text)
    assert hadamard.holds is False
    assert "8.428e-11" in hadamard.margin
    laplace = next(c for text, c in by_text.items() if "Laplace" in text)
    assert laplace.holds is False
    assert "2-private" in laplace.margin
    item = result.readout("item").value
    assert kov_exact_delta(1.0, item, 1000) <= 1e-12
    assert kov_exact_delta(1.0, item * (1 + 1e-6), 1000) > 1e-12
    (printed,) = (r for r in result.tables[0].rows if "printed" in r[0] and r[1] == "ε₀")
    assert printed[2] == pytest.approx(0.005381, abs=1e-6)


def test_items_at_distance_zero_are_not_distinguished():
    result = ask(space_near=0.0)
    for key in ("gkrr", "theorem65", "theorem66"):
        assert not curves(result)[key].present.any()
        assert "distance 0" in curves(result)[key].undefined_reason
    assert result.conditions[0].holds is False
    assert curves(result)["hadamard"].present.all()
    single = ask(space_near=0.0, space_each=1)
    assert curves(single)["gkrr"].present.all()
    assert single.conditions[0].holds


def test_zero_one_distances_are_k_randomised_response():
    shown = curves(ask("rmse", space="discrete", space_items=50, points=2))
    a0 = um.best_alpha0(1.0, 1e-12, 1000, 1, 1.0)
    e = math.exp(a0)
    # Kairouz, Bonawitz & Ramage 2016: per item E‖·‖² of k-RR's unbiased estimate.
    p, q = e / (e + 49), 1 / (e + 49)
    variance = (p * (1 - p) + 49 * q * (1 - q)) / (p - q) ** 2
    assert shown["gkrr"].y[0] == pytest.approx(math.sqrt(variance / 1e8), rel=1e-9)


def experiment(**values):
    base = {
        "s": 3,
        "t": 4,
        "r": 0.2,
        "alpha0": 1.0,
        "item": 0.7,
        "eps": 1.0,
        "m": 20,
        "n": 30,
        "local": True,
        "data": "skewed",
    }
    return sim.Experiment(**{**base, **values})


@pytest.mark.full
@pytest.mark.parametrize("local", [True, False])
@pytest.mark.parametrize("data", ["even", "skewed", "one"])
def test_simulated_errors_are_those_of_theory(local, data):
    # Means within five standard errors: false alarm 6e-7 each. Shifting to sum 1 changes
    # Hadamard's and Laplace's estimates: theirs are at most the errors of theory.
    e = experiment(local=local, data=data)
    found = sim.errors(e, 350, (1, 2))
    mean = found.mean(axis=0)
    margin = 5 * found.std(axis=0) / math.sqrt(len(found))
    place = {key: i for i, key in enumerate(sim.ESTIMATES)}
    exact = um.gkrr_mse(3, 4, 0.2, 1.0, 20, 30)
    across = um.gkrr_cluster_mse(3, 4, 0.2, 1.0, 20, 30)
    i = place["gkrr"]
    assert abs(mean[i, 1] - exact) < margin[i, 1]
    assert abs(mean[i, 2] - across) < margin[i, 2]
    assert mean[i, 0] < um.gkrr_emd_bound(3, 4, 0.2, 1.0, 20, 30) + margin[i, 0]
    i = place["hadamard"]
    assert mean[i, 1] < um.hadamard_mse(12, 0.7, 20, 30) + margin[i, 1]
    assert mean[i, 2] < um.hadamard_cluster_mse_bound(12, 0.7, 20, 30) + margin[i, 2]
    i = place["laplace"]
    laplace = um.laplace_mse(12, 1 if local else 30, 1.0, 30 if local else 1)
    # The shift takes one of the twelve directions of independent noise away.
    assert abs(mean[i, 1] - laplace * 11 / 12) < margin[i, 1]
    for kind in ("gkrr", "hadamard", "laplace"):
        signed, near = found[:, place[kind], 1], found[:, place[f"{kind}_simplex"], 1]
        assert np.all(near <= signed * (1 + 1e-9))
    # The nearest in d_EM is at most twice as far (triangle inequality).
    assert np.all(found[:, place["gkrr_emd"], 0] <= 2 * found[:, place["gkrr"], 0] + 1e-12)


@pytest.mark.parametrize("t", [1, 4])
def test_estimates_from_shares_are_those_from_answers(t):
    space = Clustered(3, t, 0.2)
    mechanism = um.GKRR(space, 1.3)
    answers = mechanism.answer(np.arange(space.size).repeat(5), np.random.default_rng(0))
    expected = um.gkrr_estimate(answers, mechanism)
    got = sim.estimate_of(space.histogram(answers), space, 1.3)
    np.testing.assert_allclose(got, expected, atol=1e-12)


@pytest.mark.parametrize("data", ["even", "skewed", "one"])
@pytest.mark.parametrize(("m", "n"), [(1, 1), (7, 3), (10**6, 10**6)])
def test_data_drawn_have_all_items(data, m, n):
    counts = sim.counts_of(experiment(data=data, m=m, n=n))
    assert counts.sum() == m * n
    assert (counts >= 0).all()
    if data == "skewed" and m * n > 100:
        by_cluster = counts.reshape(3, 4)
        assert (np.diff(by_cluster, axis=1) <= 0).all()


def test_dots_come_one_by_one_with_progress():
    context = Context()
    values = {"simulate": True, "trials": 4, "space_clusters": 2, "space_each": 3, **SMALL}
    request = replace(
        default_request(STUDY, **values), quantity="emd", sweep=Sweep("alpha", 1, 50, 5, Scale.LOG)
    )
    found = walking.answers(STUDY, request, context)
    shares = [r.progress for r in found if r.progress is not None]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    # Five points of the sweep and the sliders' own.
    assert context.heavy_calls == ["errors"] * 6
    dots = [s for s in found[-1].series if s.mark is Mark.DOTS]
    assert {s.key for s in dots} == {f"{key}_simulated" for key in sim.ESTIMATES}
    assert all(s.role is Role.ESTIMATE and len(s.x) == 6 for s in dots)
    again = walking.final_result(STUDY, request, Context())
    np.testing.assert_array_equal(
        curves(again)["gkrr_simulated"].y, curves(found[-1])["gkrr_simulated"].y
    )
    other = walking.final_result(STUDY, replace(request, seed=5), Context())
    assert np.any(curves(other)["gkrr_simulated"].y != curves(found[-1])["gkrr_simulated"].y)


def test_large_domains_are_not_simulated():
    result = ask(simulate=True, space_clusters=100, space_each=100, **SMALL)
    assert any("512" in note for note in result.notes)


def test_coarse_answer_is_marked_as_an_estimate():
    request = replace(
        default_request(STUDY), quantity="rmse", sweep=Sweep("alpha", 1, 100, 5, Scale.LOG)
    )
    (first,) = walking.answers(STUDY, replace(request, fidelity=Fidelity.COARSE))
    last = walking.answers(STUDY, request)[-1]
    for key in ("gkrr", "hadamard"):
        assert curves(first)[key].role is Role.ESTIMATE
        assert "exact one follows" in curves(first)[key].note
        assert curves(last)[key].role is Role.EXACT
        same = np.isin(curves(last)[key].x, curves(first)[key].x)
        np.testing.assert_allclose(curves(first)[key].y, curves(last)[key].y[same], rtol=0.02)
    only = list(STUDY.answer(replace(request, fidelity=Fidelity.COARSE), Context()))
    assert [r.complete for r in only] == [True]


def test_the_guarantee_names_all_three_promises():
    g = ask().guarantee
    assert "(25·w, 1e-12)" in g.replace_one
    assert "(1, 0)" in g.replace_one
    assert "clusters" in g.sentence
    snapshots.check(ask(space="discrete").guarantee.sentence)
    assert "their own" in ask(model="local").guarantee.trust
    assert len(g.differences) >= 4


def test_with_one_item_a_cluster_all_items_are_far():
    # r is the distance of nobody then: any change may go the whole way, at α and not at αr.
    alone, flat = (
        ask(space="clustered", space_clusters=10, space_each=1, space_near=0.1),
        ask(space="discrete", space_items=10),
    )
    assert alone.guarantee.sentence == flat.guarantee.sentence
    assert "no useful" in alone.guarantee.sentence
    for key in ("gkrr", "hadamard", "laplace"):
        assert alone.readout(key).value == pytest.approx(flat.readout(key).value, rel=1e-9)


@pytest.mark.parametrize("stop", [2, 5])
def test_work_stops_when_cancelled(stop):
    with pytest.raises(Cancelled):
        ask(context=Context(stop_after=stop))
    with pytest.raises(Cancelled):
        ask(
            simulate=True,
            trials=50,
            space_clusters=2,
            space_each=2,
            **SMALL,
            context=Context(stop_after=25),
        )


@pytest.mark.parametrize("model", ["local", "central"])
def test_an_own_metric_has_upper_bounds(model):
    values = {"space": "typed", "space_typed": "0 1 4; 1 0 3; 4 3 0", "model": model, "n": 1000}
    result = ask("emd", "alpha", 5.0, 100.0, 3, **values)
    shown = {s.key: s for s in result.series}
    assert set(shown) == {"own", "hadamard", "laplace"}
    assert all(s.role is Role.UPPER for s in shown.values())
    users = 1 if model == "local" else 1000
    alpha0 = um.best_alpha0(25.0, 1e-12, 1000, users, 0.25)
    metric = um.MetricFrequency(MatrixSpace.from_distances([[0, 1, 4], [1, 0, 3], [4, 3, 0]]))
    square, distance = metric.errors(alpha0)
    assert result.readout("own").value == pytest.approx(distance / math.sqrt(1e6), rel=1e-3)
    root = ask("rmse", "alpha", 5.0, 100.0, 3, **values).readout("own")
    assert root.value == pytest.approx(math.sqrt(square / 1e6), rel=1e-3)


@pytest.mark.parametrize(
    ("values", "what", "why"),
    [
        ({"space": "matrix"}, "emd", "no file of distances"),
        ({"space": "typed"}, "wins", "choose clusters"),
        ({"space": "typed"}, "cluster", "no clusters"),
    ],
)
def test_an_own_metric_without_numbers_says_why(values, what, why):
    axis = {"wins": "eps"}.get(what, "alpha")
    result = ask(what, axis, 1.0, 10.0, 3, **values)
    assert not any(s.present.any() for s in result.series)
    assert why in result.series[0].undefined_reason
    assert [c.holds for c in result.conditions] == [False]

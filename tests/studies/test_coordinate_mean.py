"""Study of the private mean: the specification's table, Figure 3, simulations, public files."""

from __future__ import annotations

import itertools
import math
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from explorer.privacy import coordinates as co
from explorer.privacy.core.bound import Role
from explorer.studies.base.numbers import at_most
from explorer.studies.base.phrases import is_right
from explorer.studies.base.study import (
    Cancelled,
    Fidelity,
    Mark,
    Scale,
    Sweep,
    default_request,
    default_sweep,
)
from explorer.studies.coordinate_mean import CoordinateMean
from explorer.studies.coordinate_mean.guarantee import no_file
from explorer.studies.coordinate_mean.public_file import CAVEATS
from explorer.studies.coordinate_mean.theory import (
    Demand,
    convex_plan,
    mse,
    proposition6_plan,
    searched_plans,
)
from tests import snapshots
from tests.studies import walking
from tests.studies.context import Context

STUDY = CoordinateMean()
CONTEXT = Context()
"""Shared by walks through the parameters, which have most of their work in common."""
# The specification's table: exact error of 1e4 users at x = 0.
TABLE = {
    0.0: (0.319, 0.319, 0.319, 0.0416),
    0.05: (1.366, 0.647, 0.568, 0.113),
    0.1: (1.564, 0.901, 0.736, 0.184),
    0.2: (2.091, 1.421, 1.045, 0.348),
    0.5: (5.476, 1.504, 1.504, 1.032),
    0.9: (120.5, 1.504, 1.504, 1.504),
}


def ask(what="mse", key="q", low=0.0, high=1.0, points=5, context=None, **values):
    request = replace(
        default_request(STUDY, **values),
        quantity=what,
        sweep=Sweep(key, low, high, points, Scale.LINEAR),
    )
    return walking.answers(STUDY, request, context)


def curves(result):
    return {s.key: s for s in result.series}


@pytest.mark.full
def test_its_page_holds_together():
    walking.check_page(STUDY)


@pytest.mark.parametrize("q", TABLE)
def test_the_table_of_the_specification(q):
    result = ask(points=2, q=q)[-1]
    paper, zeta, exact, hybrid = TABLE[q]
    for key, value in (
        ("paper", paper),
        ("best_zeta", zeta),
        ("exact", exact),
        ("hybrid", hybrid),
        ("baseline", 1.504),
    ):
        assert result.readout(key).value == pytest.approx(value, rel=3e-3)


def test_the_papers_crossing_with_min_delta_ldp():
    (result,) = ask(low=0.08, high=0.09, points=101)[-1:]
    shown = curves(result)
    above = shown["paper"].y > shown["baseline"].y
    assert shown["paper"].x[np.argmax(above)] == pytest.approx(0.0859, abs=2e-4)
    projected = curves(ask(low=0.28, high=0.31, points=31, projected=True, x2=1.0)[-1])
    above = projected["paper_projected"].y > projected["baseline_projected"].y
    assert projected["paper_projected"].x[np.argmax(above)] == pytest.approx(0.294, abs=1.5e-3)


def test_numbers_in_presets():
    bars = curves(walking.preset(STUDY, "budgets"))
    assert bars["paper"].y[0] == pytest.approx(0.09, abs=5e-4)
    assert bars["exact"].y[0] == pytest.approx(0.153, abs=5e-4)
    np.testing.assert_allclose(bars["baseline"].y, 0.2)
    assert bars["baseline"].role is Role.BASELINE
    own = bars["proposition6"].y[[0, -1]]
    np.testing.assert_allclose(own, [0.062, 0.093], atol=5e-4)
    corollary = walking.preset(STUDY, "corollary1")
    shown = curves(corollary)
    ratio = shown["paper"].y / shown["theorem2"].y
    np.testing.assert_allclose(ratio[shown["paper"].present], 6.0, rtol=0.03)
    assert any("0.01646" in condition.margin for condition in corollary.conditions)
    worst = curves(ask(low=0.999, high=1.0, points=2, projected=True, x2=1.0)[-1])
    assert worst["paper_projected"].y[0] == pytest.approx(2.94, abs=0.01)
    assert worst["baseline_projected"].y[0] == pytest.approx(1.476, abs=1e-3)


@pytest.mark.full
def test_the_papers_curve_breaks_where_it_jumps():
    shown = curves(ask(points=101, projected=True)[-1])
    for key in ("paper", "theorem2", "paper_projected"):
        curve = shown[key]
        gap = np.flatnonzero(~curve.present)
        assert gap.tolist() == [curve.x.size - 2], key
        assert 0.99 < curve.x[gap[0]] < 1.0
        assert "jumps" in curve.undefined_reason
    # The error grows without bound before q = 1, where it is that of min δ-LDP.
    paper = shown["paper"]
    assert paper.y[-1] == pytest.approx(shown["baseline"].y[-1], rel=1e-12)
    assert paper.y[-3] > 1e4
    near = ask(low=0.999, high=0.9999, points=2)[-1]
    assert curves(near)["paper"].y[0] == pytest.approx(1_195_449.6, rel=1e-6)
    assert curves(near)["paper"].present.all()
    # What is computed at the slider is told there, too.
    assert ask(points=101, q=0.995)[-1].readout("paper").value > 1e4
    for key in ("baseline", "exact", "hybrid", "best_zeta", "corollary1"):
        assert shown[key].present.all()


def test_with_a_fixed_zeta_it_jumps_where_all_budgets_become_one():
    values = {"zeta_rule": "fixed", "zeta": 0.5}
    jump = math.expm1(0.1) / math.expm1(0.2)
    assert jump == pytest.approx(0.475, abs=5e-4)
    assert "q = 0.475" in next(p for p in STUDY.presets if p.key == "corollary1").computed
    shown = curves(ask(points=101, **values)[-1])
    (gap,) = np.flatnonzero(~shown["paper"].present)
    around = shown["paper"].x[[gap - 1, gap + 1]]
    assert around[0] < jump < around[1]
    levels = curves(ask("level", "q", points=101, **values)[-1])
    assert not levels["paper"].present[gap]
    assert levels["exact"].present.all()


@pytest.mark.parametrize(
    ("key", "low", "high", "values"),
    [
        ("n", 1, 1e6, {}),
        ("eps", 0.3, 5.0, {}),
        ("level", 0.01, 1.9, {}),
        ("q", 0.0, 0.9, {}),
        ("share", 0.0, 1.0, {}),
        ("d", 2, 30, {}),
        ("level", 0.5, 5.0, {"q": 0.0}),
    ],
)
def test_curves_without_a_jump_are_whole(key, low, high, values):
    assert curves(ask("mse", key, low, high, 20, **values)[-1])["paper"].present.all()


@pytest.mark.parametrize("profile", ["two", "linear", "geometric"])
@pytest.mark.parametrize("q", [0.0, 0.1, 1.0])
def test_channels_by_proposition_6_keep_the_levels(profile, q):
    demand = Demand(profile, 7, 2 if profile == "two" else 1, 0.3, 2.0, q, 0.5 * (1 + q))
    plan = proposition6_plan(demand)
    slack = 1 + 1e-12
    assert plan.total <= 2.0 * slack
    assert np.all(co.linear_budget_matrix(demand.levels, q) @ plan.c <= slack)
    assert np.all(co.bcdp_from_cdp(plan.c, q) <= demand.levels * slack)
    assert np.all(co.best_certificate(plan.c, q, plan.total) <= demand.levels * slack)
    subsets = [(i,) for i in range(7)]
    assert plan.worst == pytest.approx(float(co.design_mse(7, subsets, plan.c)))
    # No worse than in proportion to the demanded levels.
    share = min(co.linear_budget_scale(demand.levels, q, demand.levels), 2.0 / demand.levels.sum())
    assert plan.worst <= float(co.design_mse(7, subsets, share * demand.levels)) * slack


def test_better_designs_are_never_worse():
    for values in ({}, {"share": 0.7, "d": 6}, {"level": 1.0, "eps": 5.0}):
        shown = curves(ask(points=12, **values)[-1])
        for better, worse in itertools.pairwise(("hybrid", "exact", "best_zeta", "baseline")):
            assert walking.ordered(shown[better], shown[worse]), (better, worse, values)
        paper = shown["paper"]
        computed = np.isin(paper.x, shown["best_zeta"].x)
        assert np.all(shown["best_zeta"].y <= paper.y[computed] * (1 + 1e-9))


def test_errors_are_those_of_the_mathematics():
    result = ask(key="eps", low=0.5, high=3.0, points=4, q=0.03, x2=0.3, n=500)[-1]
    for eps, y in zip(curves(result)["paper"].x, curves(result)["paper"].y, strict=True):
        levels = np.repeat([0.2, eps], [2, 8])
        c = co.budget_vector(levels, eps, 0.03, 0.515)
        assert y == pytest.approx(float(co.m_mean_mse(0.3, c, 500)), rel=1e-12)
    projected = ask(points=2, q=0.1, projected=True, x2=1.0)[-1].readout("paper_projected").value
    c = co.budget_vector(np.repeat([0.2, 2.0], [2, 8]), 2.0, 0.1, 0.55)
    assert projected == pytest.approx(float(co.projected_mse(0.0, 1.0, c, 1e4)), rel=1e-12)


def test_a_fixed_zeta_is_used():
    result = ask(points=2, zeta_rule="fixed", zeta=0.2)[-1]
    c = co.budget_vector(np.repeat([0.2, 2.0], [2, 8]), 2.0, 0.1, 0.2)
    assert result.readout("paper").value == pytest.approx(float(co.m_mean_mse(0, c, 1e4)))


def test_coarse_answers_come_first_and_only_lack_curves():
    number, coarse, full = ask(points=60)
    assert number.curve_follows
    assert number.readout("hybrid").value == full.readout("hybrid").value
    assert coarse.fidelity is Fidelity.COARSE
    keys = [s.key for s in coarse.series]
    assert [s.key for s in full.series][: len(keys)] == keys
    assert curves(coarse)["exact"].x.size < curves(full)["exact"].x.size == 60


def test_budgets_as_bars():
    result = ask("budget", "i", 1, 200, 7)[-1]
    for series in result.series:
        assert series.mark is Mark.BARS
        np.testing.assert_array_equal(series.x, np.arange(1, 11))
    shown = curves(result)
    np.testing.assert_allclose(shown["demanded"].y, np.repeat([0.2, 2.0], [2, 8]))
    assert shown["paper"].y[0] == pytest.approx(0.09, abs=1e-3)
    for key in ("paper", "exact", "hybrid", "best_zeta"):
        total = result.readout(f"total_{key}").value
        assert total <= 2.0 * (1 + 1e-9)
        level = co.best_certificate(shown[key].y, 0.1, total)
        assert np.all(level <= shown["demanded"].y * (1 + 1e-9))
    places = curves(ask("budget", "place", 0.0, 1.0, 3)[-1])
    np.testing.assert_allclose(places["paper"].x, np.arange(1, 11) / 10)
    np.testing.assert_array_equal(places["paper"].y, shown["paper"].y)
    beyond = ask("budget", "i", 50, 60, 7)[-1]
    assert "d = 10" in beyond.series[0].undefined_reason


def test_levels_rise_from_c_to_the_total_with_the_true_coupling():
    shown = curves(ask("level", "true_q", points=11, d=4, share=0.5, q=0.1)[-1])
    for key in ("paper", "exact", "hybrid"):
        assert shown[key].role is Role.UPPER
        assert np.all(np.diff(shown[key].y) >= 0)
    # Demanded 0.2 is met at the assumed coupling, and the exact constraint uses all of it.
    assert np.interp(0.1, shown["exact"].x, shown["exact"].y) == pytest.approx(0.2, rel=1e-9)
    assert shown["paper"].y[-1] == pytest.approx(shown["total"].y[-1])
    assert shown["brute_force"].role is Role.LOWER
    assert walking.ordered(shown["brute_force"], shown["paper"])
    assert walking.ordered(shown["paper"], shown["proposition4"])


def test_levels_of_repeated_releases_do_not_add():
    values = {"q": 0.1, "true_q": 0.1}
    once, twice = (
        ask("level", "true_q", points=3, releases=t, **values)[-1].readout("paper").value
        for t in (1, 2)
    )
    c = co.budget_vector(np.repeat([0.2, 2.0], [2, 8]), 2.0, 0.1, 0.55)
    assert once == pytest.approx(np.log(0.9 * np.exp(c[0]) + 0.1 * np.exp(c[-1])))
    assert twice == pytest.approx(np.log(0.9 * np.exp(2 * c[0]) + 0.1 * np.exp(2 * c[-1])))
    assert twice > 2.0 * once
    shown = ask("level", "true_q", points=3, releases=2, d=3)[-1]
    assert shown.readout("brute_force").value is None


@pytest.mark.parametrize("q", [0.0, 0.1, 0.6])
def test_designs_for_any_levels(q):
    demand = Demand("linear", 7, 1, 0.3, 2.0, q, 0.5 * (1 + q))
    ((nested, hybrid),) = searched_plans([demand])
    theorem2 = float(co.best_zeta(demand.levels, 2.0, q).mse)
    assert hybrid.worst <= nested.worst * (1 + 1e-9)
    assert nested.worst <= theorem2 * (1 + 1e-6)
    for plan in (nested, hybrid):
        assert plan.total <= 2.0 * (1 + 1e-9)
        level = co.design_bcdp(7, plan.subsets, plan.alphas, q)
        assert np.all(level <= demand.levels * (1 + 1e-9))
        assert plan.worst == pytest.approx(float(co.design_mse(7, plan.subsets, plan.alphas)))
        assert mse(plan, 1.0, 1.0) == pytest.approx(
            float(co.design_mse(7, plan.subsets, plan.alphas, 1.0))
        )


def test_convex_design_runs_in_the_worker():
    context = Context()
    result = ask("budget", "i", 1, 10, 10, context, q=0.1)[-1]
    assert context.heavy_calls == ["convex_plan"]
    rows = {row[0]: row for row in result.tables[0].rows}
    (hybrid,), (convex,) = ([v for k, v in rows.items() if s in k] for s in ("hybrid", "globally"))
    assert convex[-1] == pytest.approx(mse(convex_plan(_demand(0.1)), 0.0, 1e4))
    assert hybrid[-1] <= convex[-1] * (1 + 1e-6)


def _demand(q):
    return Demand("two", 10, 2, 0.2, 2.0, q, 0.5 * (1 + q))


@pytest.mark.full
@pytest.mark.parametrize("x2", [0.0, 0.4])
def test_simulations_lie_over_the_theory(x2):
    # 4 mechanisms × 3 places: with 5 standard errors of 150 trials each, and errors that are
    # nearly χ², a false alarm has probability below 1e-4.
    context = Context()
    results = ask(
        points=3, simulate=True, trials=150, n=300, d=4, share=0.5, x2=x2, context=context
    )
    done = [r.progress for r in results if r.progress is not None]
    assert done == sorted(done)
    assert done[-1] == 1.0
    shown = curves(results[-1])
    for key in ("paper", "baseline", "exact", "hybrid"):
        dots, theory = shown[f"{key}_simulated"], shown[key]
        assert dots.mark is Mark.DOTS
        expected = theory.y[np.searchsorted(theory.x, dots.x)]
        width = (dots.high - dots.y) / 1.976  # Student's t with 149 degrees of freedom
        assert np.all(np.abs(dots.y - expected) <= 5 * width), key


def test_the_same_seed_draws_the_same_dots():
    values = {"simulate": True, "trials": 3, "n": 100, "dots": "median"}
    first, again = (curves(ask(points=2, **values)[-1])["paper_simulated"] for _ in range(2))
    np.testing.assert_array_equal(first.y, again.y)
    assert np.all(first.low <= first.y)
    assert np.all(first.y <= first.high)


@pytest.mark.full
def test_errors_of_many_users_are_scaled():
    result = ask(points=2, simulate=True, trials=2, n=1_000_000_000)[-1]
    assert any("fewer users" in note for note in result.notes)
    theory, dots = curves(result)["paper"], curves(result)["paper_simulated"]
    assert np.all(np.abs(np.log(dots.y / theory.y)) < 3)


def table_of_public_records(folder, n=4000, q=0.3):
    rng = np.random.default_rng(5)
    equal = rng.random(n) < q
    x = rng.integers(0, 2, (n, 3))
    x[equal] = x[equal, :1]
    path = folder / "public.csv"
    path.write_text("a,b,c\n" + "\n".join(",".join(map(str, row)) for row in x) + "\n1,0\n")
    return path


def condition_of(result, short):
    """Return the condition whose short text holds some words."""
    (found,) = (c for c in result.conditions if short in c.short)
    return found


def coupling_table(result):
    return next(t for t in result.tables if t.key == "coupling")


def test_budgets_use_the_upper_bound_of_a_public_file(tmp_path):
    context = Context()
    value = context.add_file(table_of_public_records(tmp_path))
    result = ask("mse", "n", 100, 1000, 3, context, q_from="file", public=value)[-1]
    table = coupling_table(result)
    assert [row[0] for row in table.rows] == list("abc")
    assert all("2 values" in row[1] for row in table.rows)
    for *_, upper, plug_in, lower in table.rows:
        # Sampling noise of the plug-in estimate is some 0.02 with 4000 records.
        assert plug_in == pytest.approx(0.3, abs=0.08)
        assert lower <= 0.3
        assert plug_in < upper < plug_in + 0.2
    q = max(row[2] for row in table.rows)
    c = co.budget_vector(np.repeat([0.2, 2.0], [2, 8]), 2.0, q, 0.5 * (1 + q))
    assert result.readout("paper").value == pytest.approx(float(co.m_mean_mse(0.0, c, 1e4)))
    assert "line 4002: 2 fields" in result.notes[0]
    assert CAVEATS[0] in result.notes
    sentence = result.guarantee.sentence
    for part in ("95 %", "4,000 public records", at_most(q), "e^0.2 = 1.222", "e^2 = 7.39"):
        assert part in sentence
    assert condition_of(result, "on the coupling").holds is True
    vouched = condition_of(result, "declared beforehand")
    assert vouched.holds is None
    assert all(f"{name}: 2" in vouched.margin for name in "abc")
    surer = ask("mse", "n", 100, 1000, 3, context, q_from="file", public=value, beta=1e-6)[-1]
    assert "99.99 %" in surer.guarantee.sentence
    assert max(row[2] for row in coupling_table(surer).rows) > q


def test_declared_values_count_even_if_absent(tmp_path):
    lines = table_of_public_records(tmp_path).read_text().splitlines()
    path = tmp_path / "declared.csv"
    head = "a [0|1],b [0|1],c [0|1]"
    path.write_text("\n".join([head, *lines[1:-1], "0,2,1", "1.0,0,1"]))
    context = Context()
    value = context.add_file(path)
    result = ask("mse", "n", 100, 1000, 2, context, q_from="file", public=value)[-1]
    assert not any("declared beforehand" in c.short for c in result.conditions)
    snapshots.check(result.notes[0])
    assert "values 0, 1" in result.notes[0]
    assert "4,001 records" in result.notes[0]
    q = max(row[2] for row in coupling_table(result).rows)
    path.write_text("\n".join(["a [0|1|2],b [0|1],c [0|1]", *lines[1:-1]]))
    unseen = ask(
        "mse", "n", 100, 1000, 2, q_from="file", public=context.add_file(path), context=context
    )[-1]
    assert coupling_table(unseen).rows[0][2] == 1.0 > q
    # At q = 1 nothing is better than protecting everything alike.
    assert unseen.readout("exact").value == pytest.approx(unseen.readout("baseline").value)


@pytest.mark.parametrize("head", ["a,b", "a [x|y],b"])
def test_a_column_of_one_value_is_refused(tmp_path, head):
    path = tmp_path / "constant.csv"
    path.write_text(head + "\n" + "x,1\nx,2\n" * 40)
    context = Context()
    value = context.add_file(path)
    with pytest.raises(ValueError, match=r"constant\.csv, column a:"):
        ask(points=2, q_from="file", public=value, context=context)


@pytest.mark.parametrize(
    ("head", "reads_bins", "why"),
    [
        ("a,b", False, "reads the numbers"),
        ("a [-6:6],b [-6:6]", False, "reads the numbers"),
        ("a,b", True, "a [0:120]"),
        ("a [-6:6],b [-6:6]", True, ""),
    ],
)
def test_bins_certify_only_mechanisms_that_read_bins(tmp_path, head, reads_bins, why):
    # Two Gaussian columns of correlation 0.3 have 0.19 on two bins and 0.655 in truth.
    rng = np.random.default_rng(8)
    x = rng.normal(size=(20_000, 2))
    x[:, 1] = 0.3 * x[:, 0] + math.sqrt(1 - 0.09) * x[:, 1]
    path = tmp_path / "gauss.csv"
    path.write_text(head + "\n" + "\n".join(f"{a:.3f},{b:.3f}" for a, b in x))
    context = Context()
    value = context.add_file(path)
    own = {"q_from": "file", "public": value, "bins": 2, "reads_bins": reads_bins}
    result = ask("mse", "n", 100, 1000, 2, context, **own)[-1]
    row = coupling_table(result).rows[0]
    assert row[3] == pytest.approx(0.19, abs=0.03)
    assert row[2] < 0.655
    condition = condition_of(result, "on the coupling")
    assert condition.holds is (not why)
    sentence = result.guarantee.sentence
    if why:
        assert why in condition.margin
        assert condition.margin in sentence
        snapshots.check(sentence)
        assert "confidence" not in sentence
        snapshots.check(coupling_table(result).note)
    else:
        assert "confidence 95 %" in sentence


def test_public_file_with_dependent_columns(tmp_path):
    x = np.random.default_rng(3).normal(size=20_000)
    path = tmp_path / "settled.csv"
    path.write_text("a,b,c\n" + "\n".join(f"{v:.4f},{-v:.4f},{2 * v:.4f}" for v in x))
    context = Context()
    value = context.add_file(path)
    result = ask(points=2, q_from="file", public=value, bins=7, context=context)[-1]
    rows = coupling_table(result).rows
    assert all(row[2] == 1.0 for row in rows)
    assert all(0.99 <= row[3] <= 1.0 for row in rows)


@pytest.mark.parametrize(
    ("head", "why"),
    [
        ("a [yes|yes],b", "declared value once"),
        ("a [5:1],b", "in brackets"),
        ("a [x],b", "in brackets"),
    ],
)
def test_invalid_headings_are_refused(tmp_path, head, why):
    path = tmp_path / "head.csv"
    path.write_text(head + "\n" + "1,2\n2,1\n" * 5)
    context = Context()
    with pytest.raises(ValueError, match=rf"head\.csv, 'a \[.*{why}"):
        ask(points=2, q_from="file", public=context.add_file(path), context=context)


def test_on_the_axis_of_q_the_file_is_a_dot(tmp_path):
    context = Context()
    value = context.add_file(table_of_public_records(tmp_path))
    result = ask(points=3, q_from="file", public=value, context=context)[-1]
    dot = curves(result)["file_q"]
    assert dot.x[0] == max(row[2] for row in coupling_table(result).rows)
    assert dot.role is Role.EXACT
    snapshots.check(dot.note)
    c = co.budget_vector(np.repeat([0.2, 2.0], [2, 8]), 2.0, dot.x[0], 0.5 * (1 + dot.x[0]))
    assert dot.y[0] == pytest.approx(float(co.m_mean_mse(0.0, c, 1e4)))
    # The line on the axis is the slider, and the numbers beside the plot are there.
    assert result.readout("paper").value == pytest.approx(1.564, rel=1e-3)
    assert "With confidence" not in result.guarantee.sentence


def test_words_among_numbers_are_rejected(tmp_path):
    path = tmp_path / "mixed.csv"
    rng = np.random.default_rng(4)
    rows = [
        f"{a:.3f},{'xy'[b]}" for a, b in zip(rng.random(50), rng.integers(0, 2, 50), strict=True)
    ]
    path.write_text("a,b\n" + "\n".join(rows) + "\n?,x\n")
    context = Context()
    value = context.add_file(path)
    result = ask(points=2, q_from="file", public=value, context=context)[-1]
    for part in ("50 records", "2 columns", "line 52, a: '?'"):
        assert part in result.notes[0]


def test_without_a_public_file_the_slider_counts():
    result = ask(points=2, q_from="file")[-1]
    assert result.readout("paper").value == pytest.approx(1.564, rel=1e-3)
    assert any(c.holds is False and "public file" in c.text for c in result.conditions)


def test_files_that_are_no_tables_are_refused(tmp_path):
    path = tmp_path / "words.csv"
    path.write_text("just one column\n1\n2\n")
    context = Context()
    value = context.add_file(path)
    with pytest.raises(ValueError, match=r"words\.csv, line 1: .*one column"):
        ask(q_from="file", public=value, context=context)
    with pytest.raises(LookupError):
        ask(q_from="file", public=value)


def test_the_guarantee_moves_with_the_sliders():
    weak, strong = (ask(points=2, level=v)[-1].guarantee for v in (1.0, 0.05))
    assert weak.sentence != strong.sentence
    assert "q = 0.1" in weak.sentence
    assert "at most 88.08 %" in weak.sentence
    assert "not covered" in weak.add_remove
    assert weak.differences


def test_guarantee_of_repeated_reports():
    once, often = (
        ask("level", "true_q", points=2, releases=t)[-1].guarantee.sentence for t in (1, 5)
    )
    assert "After" not in once
    # q = 0.1: log(0.9·e^(5c) + 0.1·e^(5L)) with the paper's c = 0.09 and L = 0.7714.
    level = math.log(0.9 * math.exp(5 * 0.09) + 0.1 * math.exp(5 * 0.771394756990037))
    assert is_right(level) in often
    assert f"level is {at_most(level)}" in often
    assert "certain" not in once
    total = 5 * 0.771394756990037
    assert f"{is_right(total)} (level {at_most(total)})" in often


def test_sentence_for_a_large_level():
    sentence = ask("level", "true_q", points=2, releases=20)[-1].guarantee.sentence
    assert "100 %" not in sentence
    # 20 reports of the paper's L = 0.7714.
    snapshots.check(sentence)
    assert "at most 88.08 %" in sentence


def test_sentences_end_once():
    for what, key in (("mse", "q"), ("level", "true_q")):
        promise = ask(what, key, points=2)[-1].guarantee
        assert not promise.replace_one.endswith(".")
        assert not promise.add_remove.endswith(".")


def test_zeta_has_no_effect_without_coupling():
    margins = {
        q: condition_of(ask(points=2, q=q)[-1], "beats min δ-LDP").margin for q in (0.0, 0.1)
    }
    snapshots.check(margins[0.0])
    assert "ζ₀" not in margins[0.0]
    snapshots.check(margins[0.1])
    levels = np.repeat([0.2, 2.0], [2, 8])
    for zeta in (1e-300, 0.5, 1.0):
        np.testing.assert_array_equal(co.budget_vector(levels, 2.0, 0.0, zeta), levels)


def test_conditions_of_the_error_are_not_of_the_guarantee():
    failing = [c for c in ask(points=2, q=0.6, eps=5.0)[-1].conditions if c.holds is False]
    assert failing
    assert all(c.text.startswith("Only ") and not c.of_guarantee for c in failing)


@pytest.mark.full
def test_it_stops_when_cancelled():
    for stop in (0, 3):
        with pytest.raises(Cancelled):
            ask(points=100, context=Context(stop))
    with pytest.raises(Cancelled):
        ask(points=3, simulate=True, trials=1000, context=Context(12))


def test_an_axis_can_not_be_set():
    with pytest.raises(ValueError, match="i:"):
        list(STUDY.answer(default_request(STUDY, i=3), Context()))
    request = replace(default_request(STUDY), sweep=default_sweep(STUDY, "true_q"))
    with pytest.raises(ValueError, match="true_q"):
        list(STUDY.answer(request, Context()))


@pytest.mark.full
def test_nothing_slow_is_imported():
    script = (
        "import sys\n"
        "from tests.studies.context import Context\n"
        "from explorer.studies.coordinate_mean import CoordinateMean\n"
        "from explorer.studies.base.study import default_request\n"
        "study = CoordinateMean()\n"
        "list(study.answer(default_request(study, projected=True), Context()))\n"
        "slow = ('scipy.stats', 'scipy.optimize', 'cvxpy', 'numba', 'pandas', 'matplotlib')\n"
        "print(sorted(m for m in slow if m in sys.modules))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_note_on_a_missing_file():
    assert no_file(0.1) in ask(q_from="file")[-1].notes
    assert no_file(0.1) not in ask()[-1].notes


OWN_DEMAND = "0.2 0.1; 2 0.3; 0.5 0; 2 1"


def final(*args, **values):
    return ask(*args, **({"context": CONTEXT} | values))[-1]


def test_an_own_demand_in_any_order_is_met_coordinate_by_coordinate():
    result = final("budget", key="i", low=1, high=4, points=4, profile="typed", demand=OWN_DEMAND)
    table = next(t for t in result.tables if t.key == "demand")
    levels, couplings = np.array([row[1:3] for row in table.rows], float).T
    assert levels.tolist() == [0.2, 2.0, 0.5, 2.0]
    assert couplings.tolist() == [0.1, 0.3, 0.0, 1.0]
    plans = {row[0]: row for row in next(t for t in result.tables if t.key == "designs").rows}
    for place, label in enumerate(table.columns[3:], 3):
        c = np.array([row[place] for row in table.rows], float)
        total = plans[label.removeprefix("c: ")][3]
        assert (co.best_certificate(c, couplings, total) <= levels + 1e-9).all(), label
        assert plans[label.removeprefix("c: ")][1:3] == (c[0], c[3])
    shown = next(s for s in result.series if s.key == "paper")
    expected = co.budget_of_couplings(levels, 2.0, couplings, 0.55)
    assert shown.y == pytest.approx(expected, rel=1e-12)


def test_own_couplings_count_at_the_sliders_and_one_q_along_its_axis():
    own = final(high=0.4, points=2, profile="typed", demand=OWN_DEMAND)
    one = final(high=0.4, points=2, profile="typed", demand="0.2; 2; 0.5; 2", q=0.3)
    for key in ("paper", "exact", "hybrid", "best_zeta", "baseline"):
        here, there = (next(s for s in r.series if s.key == key) for r in (own, one))
        assert here.y == pytest.approx(there.y, rel=1e-9, nan_ok=True)
    for key in ("exact", "hybrid", "best_zeta"):
        assert own.readout(key).value < 0.9 * one.readout(key).value
    snapshots.check("\n".join((*own.notes, own.guarantee.sentence, own.guarantee.replace_one)))


def test_an_own_demand_of_two_levels_is_that_of_the_sliders():
    asked = {"what": "level", "key": "true_q", "whose": "least", "points": 2}
    own = final(profile="typed", demand="0.2 2 0.2 2 2", **asked)
    two = final(d=5, share=0.4, **asked)
    for key in ("paper", "proposition4", "total", "demanded", "best_zeta"):
        here, there = (next(s for s in r.series if s.key == key) for r in (own, two))
        assert here.y == pytest.approx(there.y, rel=1e-6)
    assert own.readout("exact").value == pytest.approx(two.readout("exact").value, rel=1e-3)


def test_an_own_demand_from_a_file_is_the_typed_one(tmp_path):
    path = tmp_path / "levels.csv"
    path.write_text("name;level;q\nage;0,2;1/10\nsex;2;0,3\nill;1/2;0\nzip;2;1\n", "utf-8")
    value = CONTEXT.add_file(path)
    read = final(high=0.4, points=2, profile="file", demand_file=value)
    typed = final(high=0.4, points=2, profile="typed", demand=OWN_DEMAND)
    for here, there in zip(read.series, typed.series, strict=True):
        np.testing.assert_array_equal(here.y, there.y)
    assert [row[0] for row in next(t for t in read.tables if t.key == "demand").rows] == [
        "age",
        "sex",
        "ill",
        "zip",
    ]
    assert "levels is open" in " ".join(final(profile="file").notes)


@pytest.mark.parametrize(
    ("demand", "message"),
    [
        ("0.2; 0", "row 2: 0 is"),
        ("0.2 0.1; 0.3 1.5", "row 2: 1.5 is"),
        ("0.2 0 1; 0.3 0 1", "row 1: 3 numbers"),
        ("0.2", "1 levels; give 2"),
    ],
)
def test_what_is_no_demand_is_refused_with_its_place(demand, message):
    with pytest.raises(ValueError, match=message):
        ask(profile="typed", demand=demand)


def test_a_run_takes_a_level_for_each_column_of_the_file(tmp_path):
    path = tmp_path / "records.csv"
    rng = np.random.default_rng(1)
    rows = "\n".join(",".join(f"{x:.3f}" for x in row) for row in rng.uniform(-1, 1, (50, 3)))
    path.write_text("a,b,c\n" + rows + "\n", "utf-8")
    asked = {"profile": "typed", "records": CONTEXT.add_file(path)}
    result = final("run", "i", 1, 3, 3, demand="2; 0.3; 1", **asked)
    table = next(t for t in result.tables if t.key == "run")
    assert [row[1] for row in table.rows] == [2.0, 0.3, 1.0]
    with pytest.raises(ValueError, match="3 columns, and 2"):
        final("run", "i", 1, 3, 3, demand="2; 0.3", **asked)

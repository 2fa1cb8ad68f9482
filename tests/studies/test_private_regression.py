"""Study of private regression: options, baselines, Theorem 3, files, stamps, cancelling."""

from __future__ import annotations

import itertools
import math
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from explorer.engine.runtime import StudyRuntime
from explorer.engine.solving import SolveGoal, solve
from explorer.privacy import coordinates as co
from explorer.privacy.core.bound import Role
from explorer.studies.base.csv_table import heading_bounds
from explorer.studies.base.study import Cancelled, Fidelity, Mark, Scale, Sweep, default_request
from explorer.studies.base.sweeping import swept_points
from explorer.studies.private_regression import PrivateRegression
from explorer.studies.private_regression.data import (
    BLOCK,
    Source,
    blocks,
    coefficients,
    sample_block,
)
from explorer.studies.private_regression.guarantee import NO_FILE
from explorer.studies.private_regression.simulation import (
    OPTIONS,
    Task,
    estimate_folds,
    run_trials,
    truth_of,
    without,
)
from explorer.studies.private_regression.study import RegressionPoints
from tests import snapshots
from tests.studies import walking
from tests.studies.context import Context

STUDY = PrivateRegression()
QUICK = {"trials": 2, "n": 1000}


def ask(what="excess", key="n", low=1000, high=4000, points=3, context=None, **values):
    request = replace(
        default_request(STUDY, **{**QUICK, **values}),
        quantity=what,
        sweep=Sweep(key, low, high, points, Scale.LINEAR),
    )
    return walking.answers(STUDY, request, context)


def curves(result):
    return {s.key: s for s in result.series}


@pytest.mark.parametrize(
    ("what", "key"), [pair for pair in walking.axis_pairs(STUDY) if pair[1] != "n"]
)
def test_every_axis_over_its_whole_range(what, key):
    walking.walk_axis(STUDY, what, key, points=3, **QUICK)


@pytest.mark.full
def test_every_parameter_to_both_ends():
    context = Context()
    for p in STUDY.parameters:
        if p.numeric:
            values = [p.clamp(v) for v in p.grid(p.low, p.high, 2)]
        else:
            values = [value for value, _ in p.choices] or [p.default]
        # Both quantities show the same trials; many users are an end of the axis.
        for what, value in itertools.product(("excess", "rmse"), values):
            if not (p.axis_only or p.key == "n"):
                ask(what, "eps", 0.01, 20.0, 2, context, **{p.key: value})


def test_its_page_and_presets_hold_together():
    walking.check_page(STUDY)
    for preset in STUDY.presets:
        request = walking.preset_request(STUDY, preset).with_value("trials", 2)
        request = request.with_value("n", 1000)
        low = request.sweep.low
        high = 4000 if request.sweep.key == "n" else request.sweep.high
        sweep = replace(request.sweep, points=2, low=low, high=high)
        walking.answers(STUDY, replace(request, sweep=sweep))


def test_theorem_3_comes_first_then_points_with_progress():
    results = ask()
    first, theory, *others = results
    assert first.fidelity is Fidelity.COARSE
    assert (theory.fidelity, theory.progress) == (Fidelity.FULL, None)
    assert [s.key for s in first.series] == ["theorem3", "theorem3_half"]
    progress = [r.progress for r in others]
    assert progress == sorted(progress)
    assert progress[-1] == 1.0
    # The sliders' own point is tried out before the others.
    assert others[0].readout("psd-clip").value is not None
    assert "psd-clip" not in curves(others[0])
    shown = curves(results[-1])
    for key in OPTIONS:
        assert shown[key].mark is Mark.DOTS
        assert shown[key].x.size == 3
        assert np.all(shown[key].low <= shown[key].y)
    for earlier, later in itertools.pairwise(results):
        keys = [s.key for s in earlier.series]
        assert [s.key for s in later.series][: len(keys)] == keys


def test_theorem_3_is_solved_for_the_users_it_takes():
    host = StudyRuntime()
    try:
        goal = SolveGoal(default_request(STUDY), "theorem3", "n", 0.5)
        found = solve(host, goal, lambda: None)
    finally:
        host.close()
    c = co.budget_vector(np.repeat([1.0, 4.0], [1, 3]), 4.0, 0.05, 0.525)
    assert (
        co.theorem3_bound(c, found.value, 1.0) <= 0.5 < co.theorem3_bound(c, found.value - 1, 1.0)
    )


def test_theory_comes_before_trials():
    request = replace(default_request(STUDY), sweep=Sweep("n", 1e6, 1e6, 1))
    context = Context()
    for result in STUDY.answer(request, context):
        if result.fidelity is Fidelity.FULL and result.progress is None:
            break
    assert "theorem3" in curves(result)
    assert context.heavy_calls == []


@pytest.mark.full
def test_dots_are_medians_unless_asked():
    values = {"trials": 7, "eps": 1.0, "level": 0.3}
    median, mean = (ask(dots=d, **values)[-1] for d in ("median", "mean"))
    c = co.budget_vector(np.repeat([0.3, 1.0], [1, 3]), 1.0, 0.05, 0.525)
    for j, key in enumerate(OPTIONS):
        task = Task(Source(), 3, 1000, tuple(c), "paper", 1.0, 0)
        drawn = run_trials(task, 0, 7).excess[:, j]
        low, middle, high = np.quantile(drawn, [0.25, 0.5, 0.75])
        assert median.readout(key).value == pytest.approx(middle, rel=1e-9)
        assert mean.readout(key).value == pytest.approx(drawn.mean(), rel=1e-9)
        dot = curves(median)[key]
        assert (dot.low[0], dot.y[0], dot.high[0]) == pytest.approx((low, middle, high), rel=1e-9)
        assert "median and quartiles" in dot.note
    assert "need not exist" in curves(mean)["unprojected"].note
    assert "need not exist" not in curves(mean)["psd-clip"].note
    assert "need not exist" not in curves(median)["unprojected"].note


def test_conditions_of_the_error_are_not_of_the_guarantee():
    failing = [c for c in ask(eps=0.1, level=0.1)[-1].conditions if c.holds is False]
    assert len(failing) >= 2
    assert all(
        c.text.startswith(("Only ", "Theorem 3 only")) and not c.of_guarantee for c in failing
    )


def test_theorem_3_is_the_mathematics():
    result = ask(budget="paper")[-1]
    levels = np.repeat([1.0, 4.0], [1, 3])
    c = co.budget_vector(levels, 4.0, 0.05, 0.525)
    bound = curves(result)["theorem3"]
    np.testing.assert_allclose(bound.y, co.theorem3_bound(c, bound.x, 1.0))
    assert bound.role is Role.ESTIMATE
    assert "constant is unknown" in bound.note
    halved = curves(result)["theorem3_half"]
    assert np.all(halved.y >= bound.y)


def test_synthetic_records_are_what_they_say():
    block = sample_block(4, 0, BLOCK)
    assert np.abs(block).max() <= 1.0
    # Least squares of the unclipped part finds the coefficients: noise 0.25/√3 over √(σ²·BLOCK).
    z, label = block[:, :-1], block[:, -1]
    found = np.linalg.lstsq(z, label, rcond=None)[0]
    np.testing.assert_allclose(found, coefficients(4), atol=0.03)
    parts = list(blocks(Source(), 4, BLOCK + 10, 0))
    assert [len(part) for part in parts] == [BLOCK, 10]
    np.testing.assert_array_equal(parts[0], block)


def test_the_estimated_objective_is_unbiased():
    # 200 draws of A and b: each entry's mean within 4.5 standard errors of the truth; 5 entries,
    # two-sided: a false alarm has probability below 4e-5 for normal means.
    task = Task(Source(), 2, 200, (1.5, 3.0, 3.0), "optimal", 1.0, 0)
    truth = truth_of(task.source, 2, 200, 1.0, 0)
    rng = np.random.default_rng(8)
    draws = [without(estimate_folds(task, rng)) for _ in range(200)]
    flat = np.array([np.concatenate([x.A[np.triu_indices(2)], x.b]) for x in draws])
    expected = np.concatenate([truth.A[np.triu_indices(2)], truth.b])
    error = flat.std(axis=0, ddof=1) / math.sqrt(len(draws))
    assert np.all(np.abs(flat.mean(axis=0) - expected) <= 4.5 * error)


def test_trials_are_those_of_algorithm_3():
    task = Task(Source(), 3, 500, (1.0, 4.0, 4.0, 4.0), "optimal", 1.0, 3)
    found = run_trials(task, 0, 3)
    truth = truth_of(task.source, 3, 500, 1.0, 3)
    x = np.concatenate(list(blocks(task.source, 3, 500, 3)))
    np.testing.assert_allclose(truth.A, x[:, :-1].T @ x[:, :-1] / 500)
    rng = np.random.default_rng((3, 2, 500, 3, 0))
    theirs = co.private_regression(x, task.c, 1.0, rng, method="trust-region")
    np.testing.assert_allclose(found.theta[1], theirs.theta, rtol=1e-9)
    assert np.linalg.norm(found.theta[0]) <= 1.0 + 1e-9
    # The best of the ball is no worse than any of them.
    assert np.all(found.excess[:, :2] >= 0.0)
    # A trial is the same whatever others are drawn with it.
    np.testing.assert_array_equal(found.excess[2:], run_trials(task, 2, 1).excess)


def test_errors_of_prediction_go_with_the_excess():
    task = Task(Source(), 2, 400, (2.0, 4.0, 4.0), "optimal", 1.0, 0)
    truth = truth_of(task.source, 2, 400, 1.0, 0)
    x = np.concatenate(list(blocks(task.source, 2, 400, 0)))
    for theta in (np.zeros(2), np.array([0.3, -0.2]), truth.theta):
        direct = float(np.mean((x[:, -1] - x[:, :-1] @ theta) ** 2))
        assert truth.squared_error(truth.excess(theta)) == pytest.approx(direct, rel=1e-9)


def test_numbers_in_presets():
    result = ask("rmse", n=100_000, eps=20.0, level=8.0, q=0.01, trials=4, budget="exact")[-1]
    assert result.readout("nothing").value == pytest.approx(0.37, abs=0.005)
    assert result.readout("nonprivate").value == pytest.approx(0.144, abs=0.002)
    # Seen over 40 trials: 0.153 to 0.156 on average.
    assert result.readout("psd-clip").value == pytest.approx(0.155, abs=0.01)


@pytest.mark.full
def test_preset_on_the_solution_without_the_ball():
    (chosen,) = (p for p in STUDY.presets if p.key == "prediction")
    request = walking.preset_request(STUDY, chosen).with_value("trials", 3)
    sweep = replace(request.sweep, points=7)
    shown = curves(walking.final_result(STUDY, replace(request, sweep=sweep)))
    x, nothing = shown["unprojected"].x, shown["nothing"].y
    weak, strong = x <= 1.42, x >= 3.5
    assert weak.sum() >= 4
    assert strong.sum() >= 2
    assert np.all(shown["unprojected"].y[weak] > 0.45)
    assert np.all(shown["unprojected"].y[weak] > nothing[weak])
    np.testing.assert_allclose(
        shown["unprojected"].y[strong], shown["psd-clip"].y[strong], rtol=0.05
    )
    assert np.all(shown["psd-clip"].y[x >= 0.55] < nothing[x >= 0.55])


@pytest.mark.full
def test_more_privacy_costs_more():
    rows = [
        ask(n=20_000, trials=6, eps=eps, level=eps, q=0.0)[-1].readout("psd-clip").value
        for eps in (1.0, 20.0)
    ]
    nothing = ask()[-1].readout("nothing").value
    assert rows[1] < 0.2 * nothing < rows[0]


def test_without_much_noise_all_options_meet_least_squares():
    # Levels of 20 leave the noise of a bounded report, which 10⁵ users average out.
    result = ask("rmse", n=100_000, eps=20.0, level=20.0, q=0.0, features=1)[-1]
    best = result.readout("nonprivate").value
    for key in OPTIONS:
        assert result.readout(key).value == pytest.approx(best, rel=0.02)
    assert best < 0.5 * result.readout("nothing").value


def table_of_records(folder, n=1500, heading="height [0:2],weight,age,y"):
    rng = np.random.default_rng(11)
    height, weight, age = rng.uniform(1, 2.1, n), rng.uniform(-1, 1, n), rng.uniform(-1, 1, n)
    y = 0.5 * (height - 1) - 0.3 * weight + 0.1 * age + 0.05 * rng.standard_normal(n)
    rows = "\n".join(
        ",".join(f"{v:.6f}" for v in row) for row in zip(height, weight, age, y, strict=True)
    )
    path = folder / "records.csv"
    path.write_text(f"{heading}\n{rows}\n1.5,x,0,0\n")
    return path


def test_a_users_own_file(tmp_path):
    context = Context()
    value = context.add_file(table_of_records(tmp_path))
    results = ask(low=500, high=2000, points=4, source="file", file=value, context=context)
    for result in results:
        assert result.curator_only
        assert "not private" in result.stamp
        assert all(readout.curator_only for readout in result.readouts)
    last = results[-1]
    for part in ("1,500 records", "4 columns", "line 1502", "weight: 'x'"):
        assert part in last.notes[0]
    table = next(t for t in last.tables if t.key == "columns")
    assert [row[:4] for row in table.rows] == [
        ("height", "feature", 0.0, 2.0),
        ("weight", "feature", -1.0, 1.0),
        ("age", "feature", -1.0, 1.0),
        ("y", "label", -1.0, 1.0),
    ]
    assert table.rows[0][4] > 0
    # More users than records are not drawn, and that is said.
    assert curves(last)["psd-clip"].x.max() <= 1500
    assert "1,500 usable records" in curves(last)["theorem3"].undefined_reason
    # Asked for more features than there are, all are used and the theory is theirs.
    wide = ask("excess", "eps", 1.0, 4.0, 2, context, source="file", file=value, features=20)[-1]
    assert wide.series[0].present.all()
    assert any("3 features" in note for note in wide.notes)
    beyond = ask("excess", "features", 1, 20, 20, context, source="file", file=value)[-1]
    np.testing.assert_array_equal(beyond.series[0].present, np.arange(1, 21) <= 3)
    coefficients_found = next(t for t in last.tables if t.key == "coefficients")
    assert [row[0] for row in coefficients_found.rows] == ["height", "weight", "age"]


def scattered(folder, beyond, n=200):
    """Return a file whose first feature lies beyond [−1, 1] so many times."""
    rng = np.random.default_rng(3)
    x = rng.uniform(-1, 1, (n, 3))
    x[:beyond, 0] += 50.0
    path = folder / f"beyond{beyond}.csv"
    path.write_text("a,b,y\n" + "\n".join(",".join(f"{v:.4f}" for v in row) for row in x) + "\n")
    return path


@pytest.mark.parametrize(
    ("beyond", "margin"),
    [
        (0, "0 values"),
        (1, "1 value "),
        (100, "100 values"),
        (101, "101 values"),
        (200, "200 values"),
    ],
)
def test_bounds_that_do_not_fit_are_reported(tmp_path, beyond, margin):
    context = Context()
    value = context.add_file(scattered(tmp_path, beyond))
    result = ask(n=200, low=100, high=200, context=context, source="file", file=value)[-1]
    public, fits = (
        next(c for c in result.conditions if c.text.startswith(start))
        for start in ("The bounds are public", "Only the error: the bounds fit")
    )
    assert public.holds is None
    assert margin in public.margin
    assert fits.holds is (beyond <= 100)
    warned = [note for note in result.notes if "clipped values" in note]
    assert bool(warned) is (beyond > 100)
    if warned:
        assert f"{beyond} of 200" in warned[0]
        snapshots.check(warned[0])
        assert warned[0] == result.notes[0]
        assert "age [0:120]" in warned[0]


def test_reason_for_a_file_of_few_records(tmp_path):
    path = tmp_path / "few.csv"
    path.write_text("a,b,y\n" + "1,1,1\n" * 50)
    context = Context()
    value = context.add_file(path)
    shown = curves(ask(low=100, high=1000, context=context, source="file", file=value)[-1])
    snapshots.check(shown["theorem3"].undefined_reason)
    assert "x axis" in shown["theorem3"].undefined_reason
    beyond = ask("excess", "features", 1, 20, 20, context, source="file", file=value)[-1]
    snapshots.check(curves(beyond)["theorem3"].undefined_reason)


def test_another_column_as_label_and_its_unit(tmp_path):
    context = Context()
    value = context.add_file(table_of_records(tmp_path))
    values = {"source": "file", "file": value, "target": 1, "context": context}
    result = ask("rmse", n=500, low=100, high=500, features=2, **values)[-1]
    table = next(t for t in result.tables if t.key == "columns")
    assert [row[0] for row in table.rows] == ["weight", "age", "y", "height"]
    assert [row[1] for row in table.rows] == ["feature", "feature", "not used", "label"]
    # A label spread evenly over 1…2.1 metres, scaled about 1: saying nothing is off by
    # √(mean (height − 1)²) = √(1.1²/3), clipped at 2.
    assert result.readout("nothing").value == pytest.approx(1.1 / math.sqrt(3), rel=0.1)
    missing = ask(n=500, low=100, high=500, **{**values, "target": 9})[-1]
    assert any(c.holds is False and "label's column" in c.text for c in missing.conditions)


def test_users_of_a_file_are_sampled_by_the_seed(tmp_path):
    context = Context()
    value = context.add_file(table_of_records(tmp_path))
    source = Source(context.file(value), value)
    first, again, other = (np.concatenate(list(blocks(source, 3, 100, seed))) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)
    assert len({tuple(row) for row in first}) == 100
    assert np.concatenate(list(blocks(source, 3, 10_000, 1))).shape == (1500, 4)


@pytest.mark.parametrize(
    ("heading", "why"),
    [
        ("height [2:0],weight,age,y", r"line 1, 'height \[2:0\]'"),
        ("height [a:b],weight,age,y", "two numbers"),
    ],
)
def test_wrong_bounds_are_refused_by_name(tmp_path, heading, why):
    context = Context()
    value = context.add_file(table_of_records(tmp_path, 10, heading))
    with pytest.raises(ValueError, match=why):
        ask(source="file", file=value, context=context)


def test_bounds_in_a_heading():
    assert heading_bounds("age [0:120]", "f") == ("age", (0.0, 120.0))
    assert heading_bounds("[-1:1]", "f") == ("[-1:1]", (-1.0, 1.0))
    assert heading_bounds("plain", "f") == ("plain", None)


def test_synthetic_records_without_a_file():
    result = ask(source="file")[-1]
    assert result.stamp == "synthetic data"
    assert not result.curator_only
    assert any(c.holds is False and "file is open" in c.text for c in result.conditions)
    with pytest.raises(LookupError):
        ask(source="file", file="gone.csv#" + "0" * 64)


def test_budgets_keep_the_levels():
    for budget in ("paper", "best_zeta", "exact", "baseline"):
        result = ask(budget=budget)[-1]
        assert "at most 73.11 %" in result.guarantee.sentence
        assert "not covered" in result.guarantee.add_remove
        assert result.guarantee.differences


def test_it_stops_between_pieces():
    for stop in (0, 4):
        with pytest.raises(Cancelled):
            ask(context=Context(stop), trials=50)
    context = Context()
    ask(context=context)
    assert set(context.heavy_calls) == {"run_trials"}


def test_solvers_stay_out_of_the_windows_process():
    script = (
        "import sys\n"
        "from dataclasses import replace\n"
        "from explorer.studies.base.study import default_request, Fidelity\n"
        "from explorer.studies.private_regression import PrivateRegression\n"
        "from tests.studies.context import Context\n"
        "study = PrivateRegression()\n"
        "request = replace(default_request(study), fidelity=Fidelity.COARSE)\n"
        "list(study.answer(request, Context()))\n"
        "slow = ('scipy.stats', 'scipy.optimize', 'cvxpy', 'numba', 'pandas', 'matplotlib')\n"
        "print(sorted(m for m in slow if m in sys.modules))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_note_on_a_missing_file():
    first = ask(source="file", trials=2)[0]
    assert first.notes[0] == NO_FILE


def test_every_feature_has_the_level_and_the_coupling_demanded_of_it():
    asked = {"profile": "typed", "demand": "1 0.05; 4 0.5; 2 0", "eps": 4.0}
    for budget in ("paper", "best_zeta", "exact", "baseline"):
        points = RegressionPoints(
            swept_points(STUDY, default_request(STUDY, budget=budget, **asked)),
            default_request(STUDY, budget=budget, **asked),
            Context(),
        )
        demand, plan = points.demands[-1], points.plans[-1]
        assert demand.levels.tolist() == [1.0, 4.0, 2.0, 4.0]
        certified = co.best_certificate(plan.c, np.array([0.05, 0.5, 0.0, 1.0]), plan.total)
        assert (certified <= demand.levels * (1 + 1e-12)).all(), budget
        assert plan.total > 1.0 or budget == "baseline"


def test_own_levels_that_are_two_are_those_of_the_sliders():
    for budget in ("paper", "baseline"):
        own = ask(profile="typed", demand="1 4 4", budget=budget)[-1]
        two = ask(share=0.35, features=3, budget=budget)[-1]
        assert own.readout("theorem3").value == two.readout("theorem3").value
        assert own.readout("trust-region").value == two.readout("trust-region").value


def test_own_levels_take_as_many_features_as_there_are_columns(tmp_path):
    path = tmp_path / "records.csv"
    path.write_text("a,b,label\n" + "0.1,0.2,0.3\n-0.5,0.4,0.1\n" * 60, "utf-8")
    context = Context()
    asked = {"source": "file", "file": context.add_file(path), "context": context}
    result = ask(low=100, high=120, profile="typed", demand="1 2", **asked)[-1]
    assert [row[1] for row in next(t for t in result.tables if t.key == "columns").rows] == [
        "feature",
        "feature",
        "label",
    ]
    with pytest.raises(ValueError, match="2 features, and 3"):
        ask(profile="typed", demand="1 2 3", **asked)


def test_folds_are_predicted_from_the_other_users():
    n, p, folds = 403, 3, 4
    z = np.vstack(list(blocks(Source(), p, n, 0)))
    truth = truth_of(Source(), p, n, 1.0, 0, folds)
    assert [fold.users for fold in truth.folds] == [101, 101, 101, 100]
    loss, place = 0.0, np.arange(n) % folds
    for fold in range(folds):
        train, held = z[place != fold], z[place == fold]
        theta, *_ = np.linalg.lstsq(train[:, :-1], train[:, -1], rcond=None)
        assert np.linalg.norm(theta) < 1.0
        loss += float(((held[:, -1] - held[:, :-1] @ theta) ** 2).sum())
    assert truth.squared_error(truth.held_out) == pytest.approx(loss / n, rel=1e-9)
    assert truth.held_out > 0.0
    task = Task(Source(), p, n, (1e3,) * (p + 1), "optimal", 1.0, 0, folds=folds)
    trials = run_trials(task, 0, 2)
    rng = np.random.default_rng((0, 2, n, p, 1))
    parts = estimate_folds(task, rng)
    thetas = [
        co.trust_region(fit.A, fit.b, 1.0).theta
        for fit in (without(parts, fold) for fold in range(folds))
    ]
    wrong = sum(
        float(((held[:, -1] - held[:, :-1] @ theta) ** 2).sum())
        for theta, held in zip(thetas, (z[place == f] for f in range(folds)), strict=True)
    )
    found = trials.excess[1, OPTIONS.index("trust-region")]
    assert truth.squared_error(found) == pytest.approx(wrong / n, rel=1e-9)


def test_folds_leave_the_reports_and_the_coefficients_of_all_users_as_they_are():
    task = Task(Source(), 2, 300, (2.0, 4.0, 4.0), "optimal", 1.0, 5)
    apart = replace(task, folds=3)
    one, several = (without(estimate_folds(t, np.random.default_rng(1))) for t in (task, apart))
    np.testing.assert_allclose(one.A, several.A, rtol=1e-12)
    np.testing.assert_allclose(one.b, several.b, rtol=1e-12)
    assert run_trials(task, 0, 1).theta == pytest.approx(run_trials(apart, 0, 1).theta, rel=1e-6)


def test_held_out_errors_are_drawn_and_said_to_be():
    asked = {"evaluation": "held-out", "folds": 4, "features": 2}
    held = ask("rmse", low=1000, high=1000, points=2, **asked)[-1]
    inside = ask("rmse", low=1000, high=1000, points=2, features=2)[-1]
    assert held.readout("nonprivate").value > inside.readout("nonprivate").value
    assert held.readout("nothing").value == inside.readout("nothing").value
    assert held.readout("trust-region").value != inside.readout("trust-region").value
    snapshots.check("\n".join(held.notes))

"""The theory of heatmaps: known values, bounds in order, schedules, communication, simulation."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from explorer.privacy.core.bound import Role
from explorer.privacy.heatmaps import schedule, theory
from explorer.privacy.heatmaps.clustering import coreset_error
from explorer.privacy.heatmaps.shuffle_parameters import deficient_epsilon
from explorer.studies.base.numbers import at_most
from explorer.studies.base.study import Cancelled, Fidelity, Mark, Scale, Sweep, default_request
from explorer.studies.guarantees.audits import is_refuted, run_audit
from explorer.studies.heatmap.mechanisms import MECHANISMS
from explorer.studies.heatmap_theory import HeatmapTheory
from explorer.studies.heatmap_theory.audits import audits
from explorer.studies.heatmap_theory.simulation import Experiment, errors
from tests import snapshots
from tests.studies import walking
from tests.studies.context import Context

STUDY = HeatmapTheory()


def ask(what="error", key="n", low=100.0, high=1e7, points=9, context=None, **values):
    request = replace(
        default_request(STUDY, **values),
        quantity=what,
        sweep=Sweep(key, low, high, points, Scale.LOG),
    )
    return walking.final_result(STUDY, request, context)


def curves(result):
    return {s.key: s for s in result.series}


def test_its_page_and_presets_hold_together():
    walking.check_page(STUDY)
    for preset in STUDY.presets:
        assert preset.computed
        assert preset.published


@pytest.mark.parametrize("resolution", [16, 256, 2048])
@pytest.mark.parametrize(
    ("key", "low", "high"),
    [("n", 1.0, 1e9), ("epsilon", 0.01, 20.0), ("k", 1.0, 1e6), ("guess", 0.01, 100.0)],
)
def test_lower_bounds_are_below_upper_ones(key, low, high, resolution):
    shown = curves(ask("error", key, low, high, 40, resolution=resolution))
    for upper in ("theory", "experiments", "capped"):
        assert shown[upper].role is Role.UPPER
        assert walking.ordered(shown["lower"], shown[upper])
    assert walking.ordered(shown["lower_dense"], shown["dense"])
    assert shown["lower"].role is shown["lower_dense"].role is Role.LOWER
    assert shown["order"].role is Role.ESTIMATE
    assert shown["dense"].y.max() <= 2


def test_centres_of_a_private_map_cost_what_corollary_a2_says():
    values = {"k": 30, "resolution": 64, "epsilon": 0.7, "optimum": 0.1}
    shown = curves(ask("centres", points=5, **values, factor=2.0, lam=0.25))
    for key in ("theory", "experiments"):
        curve = shown[f"centres_{key}"]
        assert curve.role is Role.UPPER
        assert walking.ordered(shown["without"], curve)
        for n, y in zip(curve.x, curve.y, strict=True):
            kappa = float(coreset_error(schedule(0.7, 6, 30, key), 30, n).value) / n
            assert y == pytest.approx(min(2.0, (2 * (1.25 * 0.1 + kappa) + kappa) / 0.75))
    assert shown["best"].role is Role.LOWER
    assert shown["centres_order"].role is Role.ESTIMATE
    sparse = ask("centres", **values)
    assert [c.holds for c in sparse.conditions if c.holds is None]
    assert curves(sparse)["centres_theory"].y[-1] < curves(sparse)["centres_theory"].y[0]


def test_curves_are_the_mathematics():
    shown = curves(ask(k=30, resolution=64, epsilon=0.7, guess=2.0, points=7))
    for j, n in enumerate(shown["lower"].x):
        for key in ("theory", "experiments"):
            expected = theory.sparse_error_bound(schedule(0.7, 6, 30, key), 30, n)
            assert shown[key].y[j] == pytest.approx(float(expected.value), rel=1e-12)
        assert shown["lower"].y[j] == float(theory.sparse_lower_bound(30, 0.7, n).value)
        dense = theory.dense_error_bound(0.7, 2.0 * n, n, 6)
        assert shown["dense"].y[j] == pytest.approx(float(dense.value), rel=1e-12)
        order = theory.sparse_lower_printed(30, 0.7, int(n))
        if np.isfinite(shown["order"].y[j]):
            assert shown["order"].y[j] == pytest.approx(float(order.value), rel=1e-12)
        last = min(max(round(0.5 * np.log2(0.7 * 2.0 * n)), 2), 6)
        capped = theory.sparse_error_bound(schedule(0.7, 6, 30, last=last), 30, n)
        assert shown["capped"].y[j] == pytest.approx(float(capped.value), rel=1e-12)


def test_known_values():
    result = walking.preset(STUDY, "tight")
    assert result.readout("experiments").value == pytest.approx(0.0178, abs=5e-5)
    assert result.readout("theory").value == pytest.approx(0.0240, abs=5e-5)
    assert result.readout("lower").value == pytest.approx(1.34e-6, rel=3e-3)


def test_dense_is_better_from_some_sparsity_on():
    shown = curves(walking.preset(STUDY, "sparsity", points=80))
    for key, first in (("theory", 11_237), ("experiments", 4_687)):
        better = shown[key].y > shown["dense"].y
        assert shown[key].x[np.argmax(better)] == first
        assert better[np.argmax(better) :].all()
    assert shown["dense"].y[0] == pytest.approx(0.0637, abs=5e-5)


def test_order_of_both_bounds_is_root_k_over_n():
    """Over a factor of 100 in n the bounds fall by 100, over 16 in k they grow by 4 to 6.

    (More than 4 in Theorem 3.1's schedule, of which more levels matter where q is larger.)
    """
    shown = curves(ask(low=1e6, high=1e8, points=3, k=64))
    for key in ("theory", "experiments", "lower"):
        assert shown[key].y[0] / shown[key].y[-1] == pytest.approx(100, rel=1e-6)
    shown = curves(ask("error", "k", 64, 1024, 3, n=10**8, resolution=1024))
    for key in ("theory", "experiments", "lower"):
        assert 3.4 < shown[key].y[-1] / shown[key].y[0] < 6.5


def test_more_cells_than_the_map_has_leave_the_plot():
    result = ask("error", "k", 10, 10_000, 9, resolution=16)
    for key in ("theory", "experiments", "capped", "lower"):
        series = curves(result)[key]
        np.testing.assert_array_equal(series.present, series.x <= 256)
        assert "fewer than k cells" in series.undefined_reason
    beyond = ask(k=1000, resolution=16)
    assert beyond.readout("theory").value is None
    assert any(c.holds is False and "k ≤ Δ²" in c.text for c in beyond.conditions)


def replace_sweep(what, low, high):
    request = replace(
        default_request(STUDY), quantity=what, sweep=Sweep("i", low, high, 3, Scale.LINEAR)
    )
    return walking.final_result(STUDY, request)


def test_schedules_as_bars():
    result = walking.preset(STUDY, "schedules", points=100)
    shown = curves(result)
    for series in shown.values():
        assert series.mark is Mark.BARS
        assert np.nansum(series.y) == pytest.approx(1.0)
    assert np.round(shown["experiments"].y[2:9], 5).tolist() == [
        0.32129,
        0.22719,
        0.16065,
        0.11359,
        0.08032,
        0.05680,
        0.04016,
    ]
    assert np.round(shown["capped"].y[:6], 5).tolist() == [0, 0, 0.45308, 0.32038, 0.22654, 0]
    theory_bars = shown["theory"].y
    np.testing.assert_allclose(theory_bars[1:9] / theory_bars[2], 0.8 ** np.abs(np.arange(-1, 7)))
    assert shown["theory"].x.tolist() == list(range(9))  # Δ = 256 ends at level 8
    beyond = curves(replace_sweep("split", 9.0, 11.0))
    assert "no such level" in beyond["theory"].undefined_reason
    assert result.readout("q").value == 2
    table = result.tables[0]
    for key, bound in (
        ("Theorem 3.1, its schedule", "theory"),
        ("Theorem 3.1, schedule of the experiments", "experiments"),
    ):
        adds = sum(row[5] for row in table.rows if row[0] == key)
        plan = schedule(1.0, 8, 20, bound)
        assert adds == pytest.approx(2 / 200 * float(theory.noise_term(plan, 20).value))


def test_figure_12():
    result = walking.preset(STUDY, "figure-12")
    found = {r.key: r.value for r in result.readouts}
    assert found["m"] == 102_409
    assert (found["r_printed"], found["bits_printed"]) == (18, 31)
    assert found["printed"] == pytest.approx(7.143, abs=1e-3)
    assert (found["r_corrected"], found["bits_corrected"]) == (26, 34)
    assert found["corrected"] == pytest.approx(11.316, abs=1e-3)
    shown = curves(result)
    assert (np.diff(shown["printed"].y) >= 0).all()
    assert walking.ordered(shown["printed"], shown["corrected"])
    assert shown["printed"].role is Role.BASELINE


def test_too_few_users_for_shares():
    shown = curves(ask("bits", "n", 1, 100, 40))
    np.testing.assert_array_equal(shown["corrected"].present, shown["corrected"].x >= 19)
    np.testing.assert_array_equal(shown["printed"].present, shown["printed"].x >= 2)
    few, enough = (ask("bits", "B", 1, 10, 3, n=n) for n in (18, 19))
    assert any(c.holds is False for c in few.conditions)
    # Of so few shares nothing is known, so nothing is promised.
    assert few.guarantee is None
    assert "DP" in enough.guarantee.add_remove


def test_the_shuffle_guarantee_counts_deltas():
    promised = ask("bits", "B", 1, 10, 3, epsilon=1.0, delta=1e-5).guarantee
    # Two hops of (ε, δ): (2ε, (1 + e^ε)δ), rounded up.
    assert "(2, 3.719e-5)" in promised.replace_one
    missing = ask("missing", "B", 1, 64, 3, epsilon=1.0).guarantee
    snapshots.check(missing.sentence)


def test_missing_noise():
    result = walking.preset(STUDY, "missing")
    shown = curves(result)
    assert walking.ordered(shown["one_place"], shown["worst"])
    assert walking.ordered(shown["full"], shown["one_place"])
    assert (np.diff(shown["worst"].y) > 0).all()
    assert shown["worst"].y[0] == pytest.approx(1.0)
    assert result.readout("one_place").value == pytest.approx(1.482, abs=1e-3)
    assert result.readout("worst").value == pytest.approx(2.707, abs=1e-3)
    parts = schedule(1.0, 8, 20).epsilon
    expected = sum(float(deficient_epsilon(e, 64, 0.1).value) for e in parts if e > 0)
    assert result.readout("one_place").value == pytest.approx(expected)


def test_similarity_bounds():
    shown = curves(ask("similarity", "emd", 1e-4, 2.0, 30, sigma=0.1))
    assert (shown["huber"].y > 0).all()
    assert (shown["similarity"].y >= 0).all()
    at = shown["huber"].x
    np.testing.assert_allclose(shown["similarity"].y, np.maximum(0, 1 - np.sqrt(at) / 0.2))
    np.testing.assert_allclose(shown["huber"].y, 1 - np.sqrt(1 - np.exp(-at / 0.02)), atol=1e-12)
    kl = curves(ask("kl", "sigma", 0.005, 0.5, 9, emd=0.05))["kl"]
    np.testing.assert_allclose(kl.y, 0.05 / (2 * kl.x**2))


@pytest.mark.full
def test_simulated_errors_are_below_their_bounds():
    """Means of 4 runs; the bounds are twenty times as large, so that chance cannot fail this."""
    context = Context()
    request = replace(
        default_request(STUDY, simulate=True, trials=4, resolution=32, k=12),
        quantity="error",
        sweep=Sweep("n", 2e3, 1e5, 5, Scale.LOG),
        seed=3,
    )
    found = walking.answers(STUDY, request, context)
    assert [r.progress for r in found] == [None, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0] or (
        found[-1].progress == 1.0 and len(found) == 6
    )
    shown = curves(found[-1])
    for key in ("theory", "experiments", "capped", "least-squares"):
        dots = shown[f"{key}_simulated"]
        assert dots.mark is Mark.DOTS
        assert dots.role is Role.ESTIMATE
        assert (dots.low <= dots.y).all()
        assert (dots.y <= dots.high).all()
        assert (dots.y > 0).all()
        if key in shown:
            assert (dots.y <= shown[key].y).all()
        # Fifty times the users, about a fiftieth of the error.
        assert 10 < dots.y[0] / dots.y[-1] < 250
        assert (dots.y >= shown["lower"].y).all()
    again = walking.final_result(STUDY, request)
    for one, other in zip(found[-1].series, again.series, strict=True):
        np.testing.assert_array_equal(one.y, other.y)
    assert set(context.heavy_calls) == {"errors"}


def test_the_simulation_leaves_out_what_takes_too_long():
    result = ask("error", "k", 2000, 100_000, 4, resolution=1024, simulate=True)
    assert result.complete
    assert any("1,024 cells" in note for note in result.notes)
    assert not any(s.mark is Mark.DOTS for s in result.series)


def test_an_experiment_is_reproducible_and_nearly_exact_at_a_large_epsilon():
    for mechanism in ("theory", "experiments", "capped", "least-squares"):
        experiment = Experiment(mechanism, 1e4, 1000, 5, 4, 1e9)
        found = errors(experiment, 3, (1, 2))
        np.testing.assert_array_equal(found, errors(experiment, 3, (1, 2)))
        assert found.max() < 1e-3


def test_coarse_requests_get_no_dots():
    request = replace(default_request(STUDY, simulate=True), fidelity=Fidelity.COARSE)
    (only,) = walking.answers(STUDY, request)
    assert only.complete


def test_it_stops_when_cancelled():
    request = default_request(STUDY, simulate=True)
    with pytest.raises(Cancelled):
        list(STUDY.answer(request, Context(stop_after=8)))


def test_what_is_promised_moves_with_the_sliders():
    one, two = (ask(epsilon=e).guarantee for e in (1.0, 2.0))
    assert "73.11 %" in one.sentence
    assert one.sentence != two.sentence
    assert "2-DP" in one.replace_one
    assert one.differences
    shuffled = ask("bits", "B", 1, 1000, 3, epsilon=1.0, delta=1e-6).guarantee
    assert "1e-6" in shuffled.add_remove
    assert "not covered" in shuffled.add_remove
    assert "not covered" in ask("kl", "emd", 1e-3, 1, 3).guarantee.add_remove


@pytest.mark.parametrize(
    ("values", "levels"),
    [({}, (2, 8)), ({"k": 2, "resolution": 16}, (0, 4)), ({"k": 5000, "resolution": 16}, (4,))],
)
def test_why_the_schedules_differ_is_what_the_bars_show(values, levels):
    request = replace(
        default_request(STUDY, **values), quantity="split", sweep=Sweep("i", 0.0, 11.0, 12)
    )
    result = walking.final_result(STUDY, request)
    bars, why = curves(result), result.guarantee.differences[0]
    theorem, experiments = (bars[key].y[list(levels)] for key in ("theory", "experiments"))
    assert (
        f"level q = {levels[0]} has ε {at_most(theorem[0])} in the theorem, "
        f"{at_most(experiments[0])} in the experiments"
    ) in why
    if len(levels) == 2:
        finest = (
            f"the finest, {levels[1]}, has {at_most(theorem[1])} and {at_most(experiments[1])}."
        )
        assert why.endswith(finest)
    else:
        assert "finest" not in why
    assert ask("error", "n", **values).guarantee.differences[0] == why
    # Of dense aggregation there is no bar.
    assert not any("ense" in text for text in result.guarantee.differences)


@pytest.mark.parametrize("epsilon", [0.3, 1.0])
def test_dense_aggregation_falls_like_one_over_n_once_its_level_is_the_maps(epsilon):
    result = ask("error", "n", 1.0, 1e9, 200, epsilon=epsilon, resolution=64)
    dense = curves(result)["dense"]
    enough = 64**2 / 2 / epsilon
    (said,) = (text for text in result.guarantee.differences if "Dense" in text)
    assert f"from n₀ ≈ {enough:,.0f} users on, like 1/(εn)" in said
    slopes = np.diff(np.log(dense.y)) / np.diff(np.log(dense.x))
    np.testing.assert_allclose(slopes[dense.x[:-1] > enough * 1.01], -1)
    before = (dense.x > 30 / epsilon) & (dense.x < enough) & (dense.y < 2)
    ends = np.flatnonzero(before)[[0, -1]]
    slope = np.diff(np.log(dense.y[ends])) / np.diff(np.log(dense.x[ends]))
    assert -0.6 < slope[0] < -0.3


@pytest.mark.full
def test_dots_below_a_lower_bound_are_explained():
    simulated = ask("error", simulate=True, trials=2, resolution=16, k=3)
    snapshots.check(simulated.guarantee.differences[-1])
    assert "some map" in curves(simulated)["lower_dense"].note
    snapshots.check(ask("error").guarantee.differences[-1])


def test_the_printed_order_is_called_unproved_and_holds_below_the_worked_out_bound():
    shown = curves(ask("error", "k", 2.0, 1000.0, 30))
    assert (shown["order"].y <= shown["lower"].y).all()
    assert shown["order"].role is Role.ESTIMATE
    snapshots.check(shown["order"].note)


def test_numbers_in_conditions_are_rounded_to_their_safe_side():
    margins = " ".join(
        c.margin for c in ask("error", k=1000, epsilon=0.01, resolution=1024).conditions
    )
    assert "(k − 1)/ε = 99,900" in margins
    assert not re.search(r"e[+-]0", margins)
    bounded = ask("error", k=20)
    best = min(r.value for r in bounded.readouts if r.role is Role.UPPER)
    (margin,) = (c.margin for c in bounded.conditions if "best upper bound" in c.text)
    assert margin == f"it is {at_most(best)}"
    assert float(margin.split()[-1]) >= best


def test_missing_noise_fails_the_condition():
    def promised(share):
        found = ask("missing", "B", 1, 64, 3, missing=share).conditions
        return next(c for c in found if "As many users as promised" in c.text)

    assert promised(0.1).holds is False
    assert "0.1 of nₘᵢₙ add none" in promised(0.1).margin
    assert promised(0.0).holds is None
    # What is drawn is why a spread user loses more, not how many shares there are.
    (why,) = ask("missing", "B", 1, 64, 3).guarantee.differences
    snapshots.check(why)
    (why,) = ask("bits", "B", 1, 64, 3).guarantee.differences


@pytest.mark.full
@pytest.mark.parametrize("key", [key for key, found in MECHANISMS.items() if found.comparable])
def test_every_mechanism_of_the_map_is_audited_from_checkins_to_map(key):
    request = default_request(STUDY, audited=key, delta=0.01)
    subject = audits(request, None, None)
    assert MECHANISMS[key].label in subject.what
    *_, found = run_audit(subject, 80, 0)
    assert (subject.eps, subject.delta) == (1.0, 0.01 if "delta" in MECHANISMS[key].uses else 0.0)
    assert not is_refuted(subject, found.tested)


@pytest.mark.full
@pytest.mark.parametrize("key", ["laplace", "pyramid"])
def test_a_map_whose_noise_is_too_small_is_found_out(key):
    request = default_request(STUDY, audited=key, epsilon=4.0, delta=0.01)
    subject = replace(audits(request, None, None), eps=1.0)
    *_, found = run_audit(subject, 2000, 0)
    assert is_refuted(subject, found.tested)


def test_a_mechanism_that_can_not_run_says_why():
    request = default_request(STUDY, audited="shuffled-cells", epsilon=0.01, delta=1e-20)
    said = audits(request, None, None)
    assert said.startswith("Shuffled histogram (Balcer–Cheu) can't be run on so few users: ")

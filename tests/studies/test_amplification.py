"""Amplification by shuffling as a study: published numbers, order, regions, words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from explorer.privacy.core.bound import Role
from explorer.privacy.shuffling import (
    clones_closed_form,
    clones_condition,
    shuffled_delta,
    shuffled_epsilon,
)
from explorer.studies.base.study import (
    Cancelled,
    Fidelity,
    Mark,
    Scale,
    Sweep,
    default_request,
    default_sweep,
)
from explorer.studies.base.sweeping import evenly_spread
from explorer.studies.registry import get_study
from tests import snapshots
from tests.studies.checks import assert_page, last
from tests.studies.context import Context

ROLES = {
    "closed": Role.UPPER,
    "exact_2021": Role.UPPER,
    "exact_2023": Role.UPPER,
    "local": Role.UPPER,
    "outside": Role.BASELINE,
    "lower": Role.LOWER,
    "worst_case": Role.UPPER,
    "condition_8": Role.EXACT,
    "condition_9": Role.BASELINE,
    "here": Role.BASELINE,
}


@pytest.fixture(scope="module")
def study():
    return get_study("amplification")


def curves(result):
    return {s.key: s for s in result.series}


def at(study, what="eps", **values):
    return last(study, what=what, points=2, **values)


@pytest.mark.parametrize(
    ("eps0", "n", "older", "newer"),
    [
        (4.0, 10**5, 0.1697698, 0.1181531),
        (1.0, 10**4, 0.0530053, 0.0432062),
        (1.0, 10**6, 0.0043345, 0.0035135),
    ],
)
def test_published_numbers(study, eps0, n, older, newer):
    final = at(study, eps0=eps0, n=n, delta=1e-6)
    assert final.readout("exact_2021").value == pytest.approx(older, abs=6e-8)
    assert final.readout("exact_2023").value == pytest.approx(newer, abs=5e-8)
    if eps0 == 4.0:
        assert 0.16753858 <= final.readout("exact_2021").value <= 0.17279055


@pytest.mark.full
@pytest.mark.parametrize("what", ["eps", "delta"])
@pytest.mark.parametrize("key", ["eps0", "n", "delta", "eps"])
def test_every_axis_over_its_whole_range(study, what, key):
    if key == what:
        return
    for values in ({}, {"n": 1, "eps0": 10.0}, {"n": 10**9, "eps0": 0.01}):
        sweep = replace(default_sweep(study, key), points=5)
        final = last(study, what=what, sweep=sweep, **values)
        shown = curves(final)
        assert {k: s.role for k, s in shown.items()} == {k: ROLES[k] for k in shown}
        lower, upper = shown["lower"], shown["exact_2021"]
        # Points of the lower bound may be fewer.
        both = np.isin(upper.x, lower.x)
        there = lower.present
        assert np.all(lower.y[there] <= upper.y[both][there] * (1 + 1e-9) + 1e-13)
        assert np.all(shown["exact_2023"].y <= upper.y * (1 + 1e-4) + 1e-300)
        # From the closed form δ can be a little below the exact clones' raised by 1e-5.
        both = shown["closed"].present
        assert np.all(upper.y[both] <= shown["closed"].y[both] * (1 + 1e-4) + 1e-300)
        if what == "eps":
            assert np.all(upper.y <= shown["local"].y * (1 + 1e-12))
        assert final.conditions
        assert final.guarantee is not None


def test_curves_are_the_mathematics(study):
    sweep = Sweep("eps0", 0.1, 8, 9, Scale.LOG)
    shown = curves(last(study, sweep=sweep, n=2000, delta=1e-5))
    eps0 = shown["closed"].x
    for variant in ("2021", "2023"):
        np.testing.assert_allclose(
            shown[f"exact_{variant}"].y, shuffled_epsilon(eps0, 2000, 1e-5, variant), rtol=1e-12
        )
    holds = clones_condition(eps0, 2000, 1e-5)
    assert holds.any()
    assert not holds.all()
    np.testing.assert_array_equal(shown["closed"].present, holds)
    np.testing.assert_allclose(
        shown["closed"].y[holds], clones_closed_form(eps0, 2000, 1e-5)[holds], rtol=1e-12
    )
    assert "condition (8)" in shown["closed"].undefined_reason
    # The shade stands exactly where the closed form doesn't.
    assert shown["outside"].mark is Mark.AREA
    np.testing.assert_array_equal(shown["outside"].x, eps0[~holds])
    np.testing.assert_allclose(shown["outside"].high, eps0[~holds])
    np.testing.assert_allclose(shown["outside"].low, shown["exact_2021"].y[~holds])
    everywhere = curves(last(study, sweep=Sweep("eps0", 0.1, 1, 5), n=10**6))
    assert everywhere["outside"].x.size == 0


def test_among_few_clients_others_hold_mixed_values_in_the_lower_bound(study):
    for eps0, n, mixed, alike in ((0.5, 10, 0.206592, 0.199554), (1.0, 30, 0.279576, 0.272550)):
        found = at(study, eps0=eps0, n=n, delta=0.01)
        assert found.readout("lower").value == pytest.approx(mixed, abs=6e-7)
        assert found.readout("lower").value > alike
        assert found.readout("lower").value <= found.readout("exact_2023").value
        back = at(study, "delta", eps0=eps0, n=n, eps=mixed)
        assert back.readout("lower").value == pytest.approx(0.01, rel=1e-4)


def test_delta_is_the_inverse_of_epsilon(study):
    for delta in (1e-3, 1e-6, 1e-12):
        there = at(study, eps0=3.0, n=5000, delta=delta)
        for key in ("exact_2021", "exact_2023", "lower"):
            eps = there.readout(key).value
            back = at(study, "delta", eps0=3.0, n=5000, eps=eps)
            assert back.readout(key).value == pytest.approx(delta, rel=1e-6)
    direct = at(study, "delta", eps0=1.0, n=1000, eps=0.2)
    assert direct.readout("exact_2021").value == pytest.approx(shuffled_delta(0.2, 1.0, 1000))
    crowd = at(study, "delta", eps0=1.0, n=10**5, eps=0.1)
    assert crowd.readout("closed").value > crowd.readout("exact_2021").value > 0
    without = at(study, "delta", eps0=1.0, n=1, eps=0.2)
    # One message alone: the shuffle does nothing, and randomised response is exact.
    assert without.readout("lower").value == pytest.approx(without.readout("local").value)


def test_the_region_is_that_of_the_condition(study):
    final = last(study, what="region", eps0=3.0, n=1000, delta=1e-8)
    assert final.readout("condition_8").value == pytest.approx(1.185, abs=6e-4)
    assert final.readout("condition_9").value == pytest.approx(1.997, abs=1e-3)
    edge = curves(final)["condition_8"]
    assert edge.mark is Mark.AREA
    assert "ε₀" in edge.undefined_reason
    for x, y in zip(edge.x[edge.present], edge.y[edge.present], strict=True):
        assert clones_condition(y * (1 - 1e-9), x, 1e-8)
        assert not clones_condition(y * (1 + 1e-9) + 1e-12, x, 1e-8)
    here = curves(final)["here"]
    assert (here.x[0], here.y[0]) == (1000, 3.0)
    assert final.conditions[0].holds is False
    by_delta = last(study, what="region", sweep=Sweep("delta", 1e-12, 0.1, 5, Scale.LOG))
    assert np.all(np.diff(curves(by_delta)["condition_8"].y) > 0)


def test_what_an_ignored_condition_would_claim_is_reported(study):
    final = at(study, eps0=4.0, n=1000, delta=5e-11)
    said = " ".join(final.guarantee.differences)
    assert "claim ε = 2.347" in said
    assert "6.78e-8" in said
    assert final.readout("closed").value is None
    assert final.conditions[0].holds is False
    fine = at(study, eps0=1.0, n=10**6)
    assert "would claim" not in " ".join(fine.guarantee.differences)
    assert fine.conditions[0].holds is True


def test_the_guarantee_moves_and_never_exceeds_the_local_one(study):
    tiny, crowd = (at(study, eps0=2.0, n=n).guarantee for n in (1, 10**6))
    assert tiny.sentence != crowd.sentence
    assert "(2, 1e-6)-DP" in tiny.replace_one
    assert "not covered" in crowd.add_remove
    lone = at(study, eps0=2.0, n=1)
    assert next(c for c in lone.conditions if "amplifies" in c.text).holds is False


def amplifies(final):
    return [c for c in final.conditions if "amplifies" in c.text]


def test_the_shuffle_is_asked_to_amplify_only_where_something_is_left(study):
    # One message alone is (0, 0.1)-DP here: neither ✓ with "0, alone 0" nor ✗.
    idle = at(study, eps0=0.01, n=10**9, delta=0.1)
    assert not amplifies(idle)
    assert "ε = 0" in idle.guarantee.differences[0]
    beyond = at(study, "delta", eps0=1.0, eps=5.0)
    assert not amplifies(beyond)
    assert [c.holds for c in beyond.conditions].count(False) == 0
    assert "δ = 0" in beyond.guarantee.differences[0]
    # δ is compared with δ where δ is asked for.
    (asked,) = amplifies(at(study, "delta", eps0=2.0, eps=0.1))
    assert asked.holds is True
    assert asked.margin == "δ = 2.048e-17, alone 0.7491"
    (lone,) = amplifies(at(study, "delta", n=1))
    assert lone.holds is False


def test_conditions_of_single_curves_say_so(study):
    final = at(study, eps0=4.0, n=1000, delta=5e-11)
    for curve in ("clones 2021, closed form", "clones 2023, evaluated exactly"):
        (own,) = [c for c in final.conditions if f"“{curve}”" in c.text]
        assert own.text.startswith("Only for the curve")
        assert not own.of_guarantee
    assert not any(c.of_guarantee for c in final.conditions if c.holds is False)


def test_who_sees_the_messages_is_reported_with_delta(study):
    final = at(study, eps0=0.01, n=10**9, delta=0.1)
    assert final.guarantee.replace_one.startswith("(0, 0.1)-DP")
    snapshots.check(at(study, n=1).guarantee.replace_one)


def test_no_shuffle_below_eps0_is_said_to_have_delta_0(study):
    """At the defaults 2RR has 1.39e-47, too little for the list of its counts; 3RR has more."""
    final = at(study, "delta")
    assert final.readout("lower").value == pytest.approx(3.816e-30, rel=1e-3)
    snapshots.check(final.readout("lower").note)
    snapshots.check(final.guarantee.differences[-1])
    final = at(study, "delta", n=10**7)
    assert final.readout("lower").value is None
    snapshots.check(final.readout("lower").note)
    assert "δ = 0" not in " ".join(final.guarantee.differences)
    snapshots.check(final.guarantee.differences[-1])
    sweep = Sweep("eps", 0.01, 5, 30, Scale.LOG)
    shown = curves(last(study, what="delta", sweep=sweep))["lower"]
    assert np.all(shown.y[shown.present & (shown.x < 2)] > 0)
    assert np.all(shown.y[shown.x >= 2] == 0)
    seen = at(study, "delta", eps0=2.0, n=1000, eps=0.2)
    snapshots.check(seen.guarantee.differences[-1])


@pytest.mark.full
@pytest.mark.parametrize("what", ["eps", "delta"])
@pytest.mark.parametrize(
    ("eps0", "n"), [(0.01, 10**8), (1.0, 1), (1.0, 1000), (4.0, 10**8), (10.0, 1), (10.0, 10)]
)
def test_no_difference_is_vacuous(study, what, eps0, n):
    values = {"delta": 1e-30} if what == "eps" else {"eps": 0.9 * eps0}
    said = " ".join(at(study, what, eps0=eps0, n=n, **values).guarantee.differences)
    assert said
    for vacuous in (" 1 times", "e+", "e-300 instead of 1e-300", "factor of 1 "):
        assert vacuous not in said, said


def test_a_large_crowd_is_marked_as_sampled(study):
    final = at(study, eps0=1.0, n=10**8)
    assert "certified" in final.readout("exact_2021").note
    assert "certified" not in at(study, eps0=1.0, n=10**4).readout("exact_2021").note


@pytest.mark.full
def test_coarse_first_and_cancelled_when_asked(study):
    request = default_request(study)
    number, *results = study.answer(request, Context())
    assert number.curve_follows
    assert number.readout("exact_2021") == results[-1].readout("exact_2021")
    # The worst case comes last, at the sliders first.
    assert [r.fidelity for r in results] == [Fidelity.COARSE, *[Fidelity.FULL] * 3]
    quick = replace(request, quantity="delta", sweep=default_sweep(study, "eps"))
    assert len(list(study.answer(quick, Context()))) == 3
    alone = list(study.answer(replace(request, fidelity=Fidelity.COARSE), Context()))
    assert [(r.fidelity, r.complete) for r in alone] == [(Fidelity.COARSE, True)]
    with pytest.raises(Cancelled):
        list(study.answer(request, Context(stop_after=30)))


@pytest.mark.full
@pytest.mark.parametrize(("n", "key"), [(1200, "eps0"), (10**5, "eps0"), (10**6, "n")])
def test_coarse_curves_bend_where_the_curves_do_and_keep_their_order(study, n, key):
    request = replace(default_request(study).with_value("n", n), sweep=default_sweep(study, key))
    coarse, full = (
        curves(list(study.answer(replace(request, fidelity=fidelity), Context()))[-1])
        for fidelity in (Fidelity.COARSE, Fidelity.FULL)
    )
    x, exact = full["exact_2021"].x, full["exact_2021"].y
    lines = {
        name: np.exp(np.interp(np.log(x), np.log(coarse[name].x), np.log(coarse[name].y)))
        for name in ("exact_2021", "exact_2023", "lower")
    }
    even = exact[evenly_spread(x.size, coarse["exact_2021"].x.size)]
    even_x = x[evenly_spread(x.size, coarse["exact_2021"].x.size)]
    evenly = np.exp(np.interp(np.log(x), np.log(even_x), np.log(even)))
    errors = [np.abs(np.log(y / exact)).mean() for y in (lines["exact_2021"], evenly)]
    assert errors[0] < 0.7 * errors[1]
    assert np.all(lines["lower"] <= np.minimum(lines["exact_2021"], lines["exact_2023"]))
    if key == "eps0":
        final = np.interp(coarse["lower"].x, full["lower"].x, full["lower"].y)
        ratio = coarse["lower"].y / final
        assert np.all((ratio > 0.9) & (ratio < 1 + 1e-3))


@pytest.mark.full
def test_the_page(study):
    assert_page(study)


def test_a_sweep_that_makes_no_sense_is_refused(study):
    with pytest.raises(ValueError, match="eps0, n, delta"):
        last(study, sweep=Sweep("eps", 0.1, 1, 3))


def test_a_delta_too_small_for_a_double_is_no_pure_privacy(study):
    # All messages may be the same: below ε₀ no shuffle is (ε, 0)-DP, however large the crowd.
    final = at(study, "delta", eps0=0.01, n=10**9, eps=1e-4)
    for key in ("closed", "exact_2021", "exact_2023"):
        assert final.readout(key).value == 1e-300
    assert "(1e-4, 1e-300)-DP" in final.guarantee.replace_one
    pure = at(study, "delta", eps0=2.0, n=1, eps=2.0)
    assert "(2, 0)-DP" in pure.guarantee.replace_one
    assert pure.readout("lower").value == pure.readout("exact_2021").value == 0.0


def test_the_closed_forms_condition_is_asked_at_its_own_delta(study):
    above = at(study, "delta", eps0=10.0, n=10**9, eps=1e-4)
    assert above.readout("closed").value is None
    assert above.conditions[0].holds is False
    fine = at(study, "delta", eps0=1.0, n=10**6, eps=0.05)
    assert fine.readout("closed").value < 1
    assert fine.conditions[0].holds is True


def test_the_sentence_takes_what_is_better_of_crowd_and_message(study):
    # (0, 0.1) alone would allow 55 in 100, where one message of ε₀ = 0.01 allows 50.25.
    promise = at(study, eps0=0.01, n=10**9, delta=0.1).guarantee
    assert "50.01 % of the time" in promise.sentence
    assert promise.beside.endswith(
        "“ε₀ alone: no amplification” on its own says less: at most 50.25 % of the time."
    )

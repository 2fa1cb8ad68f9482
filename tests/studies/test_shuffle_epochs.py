"""The accountant's further quantities: each client once an epoch, and ternary divergences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from explorer.privacy import shuffle_rdp as rdp
from explorer.studies.base.claims import evaluate_claim
from explorer.studies.base.study import Fidelity, Sweep, default_request
from explorer.studies.registry import get_study
from tests.studies.context import Context


@pytest.fixture(scope="module")
def study():
    return get_study("shuffle-rdp")


def ask(study, what, key, low, high, points=6, **values):
    request = replace(
        default_request(study, **values), quantity=what, sweep=Sweep(key, low, high, points, "log")
    )
    return list(study.answer(request, Context()))


def curves(result):
    return {s.key: s for s in result.series}


def test_once_an_epoch_is_composed_epoch_by_epoch(study):
    final = ask(study, "epochs", "T", 100, 1e5, 4, clones="2023")[-1]
    shown = curves(final)
    for key, how in (("epoch_fixed", "fixed"), ("epoch_adaptive", "adaptive")):
        direct = rdp.allocation_epsilon(2.0, 1e3, 1e6, shown[key].x, 1e-8, how, "2023").value
        np.testing.assert_allclose(shown[key].y, direct, rtol=1e-12)
    fresh = rdp.clone_epsilon(2.0, 1e3, 1e6, shown["numerical_upper"].x, 1e-8, "2023").value
    np.testing.assert_allclose(shown["numerical_upper"].y, fresh, rtol=1e-12)
    known = shown["epoch_lower"].present
    assert known.sum() == 3
    assert np.all(shown["epoch_lower"].y[known] <= shown["epoch_fixed"].y[known])
    assert np.all(shown["epoch_fixed"].y < shown["epoch_adaptive"].y)
    first, second = final.guarantee.differences
    assert "1,000 rounds" in first
    assert "100 epochs" in first
    assert "Feldman & Shenfeld" in second
    assert "not offered" in second


def test_from_below_only_whole_epochs_count(study):
    lower = curves(ask(study, "epochs", "T", 500, 2000, 4)[-1])["epoch_lower"]
    whole = lower.x >= 1000
    assert not whole.all()
    assert np.isnan(lower.y[~whole]).all()
    assert "no epoch is over" in lower.undefined_reason
    one = rdp.randomised_response_epsilon(2.0, 1e6, 1e6, 1, 1e-8).value
    fresh = rdp.clone_epsilon(2.0, 1e6, 1e6, 1, 1e-8).value
    at_one = lower.y[whole & (lower.x < 2000)]
    assert np.all((one <= at_one) & (at_one <= fresh))


def test_nothing_else_than_fresh_samples_is_claimed_unless_asked(study):
    final = ask(study, "epochs", "T", 100, 1e5, 3)[-1]
    # Once an epoch says less here, but of another protocol.
    assert final.readout("epoch_fixed").value < final.readout("numerical_upper").value
    assert evaluate_claim(final).series.key == "numerical_upper"
    chosen = evaluate_claim(final, "epoch_fixed")
    assert chosen.series.key == "epoch_fixed"
    assert chosen.value == final.readout("epoch_fixed").value


def test_more_sampled_than_there_are_is_absent_with_its_reason(study):
    final = ask(study, "epochs", "T", 10, 100, 3, k=100, n=50)[-1]
    assert final.guarantee is None
    assert not any(s.present.any() for s in final.series)
    assert "k > n" in final.notes[0]


def test_ternary_divergences_are_the_mathematics(study):
    first, final = ask(study, "ternary", "k", 1, 1e5, 6)
    shown = curves(final)
    assert curves(first)["exact_3rr"].computing
    for key, evaluate in (
        ("theorem4", rdp.theorem4),
        ("theorem6", rdp.theorem6),
        ("exact_2rr", rdp.ternary_2rr),
        ("exact_3rr", rdp.ternary_3rr),
    ):
        np.testing.assert_allclose(shown[key].y, evaluate(2, 2.0, shown[key].x), rtol=3e-7)
    exact = np.maximum(shown["exact_2rr"].y, shown["exact_3rr"].y)
    assert np.all(exact <= shown["sharp_alike"].y)
    assert np.all(shown["sharp_alike"].y <= shown["sharp_mixed"].y)
    assert np.all(shown["sharp_mixed"].y <= shown["theorem4"].y)
    assert final.readout("sharp_mixed").value == pytest.approx(0.06425, rel=1e-4)
    # At α = 2 and ε₀ = 2 the largest of all randomisers is that of three symbols.
    np.testing.assert_allclose(shown["exact_3rr"].y, shown["sharp_alike"].y, rtol=3e-7)
    ratio = final.readout("theorem4").value / final.readout("exact_3rr").value
    assert f"{ratio:.3g} times" in final.notes[0]


def test_sharp_cases_are_for_order_2_and_said_so(study):
    final = ask(study, "ternary", "k", 10, 1e4, 3, alpha=5)[-1]
    for key in ("sharp_alike", "sharp_mixed"):
        assert not curves(final)[key].present.any()
        assert "α = 2 only" in curves(final)[key].undefined_reason
        assert "α = 2 only" in final.readout(key).note
    assert evaluate_claim(final).series.key == "theorem4"


def test_what_needs_others_alike_is_not_claimed_unasked(study):
    final = ask(study, "ternary", "eps0", 0.1, 5, 4)[-1]
    assert evaluate_claim(final).series.key == "sharp_mixed"
    assert evaluate_claim(final, "sharp_alike").series.key == "sharp_alike"


def test_a_coarse_request_gets_one_answer(study):
    for what in ("epochs", "ternary"):
        request = replace(
            default_request(study),
            quantity=what,
            fidelity=Fidelity.COARSE,
            sweep=Sweep("k", 10, 1e4, 5, "log"),
        )
        (only,) = study.answer(request, Context())
        assert only.complete
        assert not any(s.computing for s in only.series)


def test_a_bound_beyond_every_double_says_so(study):
    final = ask(study, "ternary", "k", 10, 1e4, 3, alpha=64, eps0=10.0)[-1]
    theorem = curves(final)["theorem4"]
    assert not theorem.present.all()
    assert "1e308" in theorem.undefined_reason
    assert "α = 2 only" in curves(final)["sharp_mixed"].undefined_reason

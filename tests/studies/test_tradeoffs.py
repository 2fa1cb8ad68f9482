"""The trade-off curve of every guarantee, and audits held against it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from explorer.privacy.core.bound import Role
from explorer.studies.base.study import Cancelled, default_request, default_sweep, relevant
from explorer.studies.guarantees.audits import Audited, is_refuted, run_audit
from explorer.studies.guarantees.tradeoffs import KEY
from explorer.studies.registry import get_study, study_infos
from tests.studies.checks import last
from tests.studies.context import Context

BOUNDS = [info.id for info in study_infos() if info.workspace == "bounds"]
OWN = "coordinate-learnt"
"""Has the curve of its exact laws, as its first quantity."""
AUDITED = [study for study in BOUNDS if any(p.key == "audit" for p in get_study(study).parameters)]
LAWS = ("amplification", "shuffle-rdp", "cldp-sgd", "histograms")


def curves(result) -> dict[str, np.ndarray]:
    return {s.key: s.y for s in result.series}


@pytest.mark.parametrize("study_id", BOUNDS)
def test_every_guarantee_has_its_curve(study_id):
    study = get_study(study_id)
    result = last(study, what=KEY, points=21)
    if study_id == OWN:
        return
    assert result.guarantee.pairs
    found = curves(result)
    for eps, delta in result.guarantee.pairs:
        alpha = result.series[0].x
        line = np.maximum(1 - delta - np.exp(eps) * alpha, np.exp(-eps) * (1 - delta - alpha))
        assert (found["pair"] >= np.maximum(line, 0) - 1e-14).all()
    assert (found["pair"] <= found["chance"] + 1e-14).all()
    shown = [p for p in study.parameters if relevant(p, dict(result.request.values), KEY)]
    assert all(p.key in {q.key for q in shown} for p in shown if p.key in ("eps", "alpha"))


@pytest.mark.parametrize("study_id", LAWS)
def test_a_law_says_more_than_its_pair_and_no_more_than_can_be_promised(study_id):
    result = last(get_study(study_id), what=KEY, points=21)
    found = curves(result)
    laws = [s for s in result.series if s.key.startswith("law")]
    assert laws
    assert all(s.role is Role.LOWER for s in laws)
    for law in laws:
        assert (law.y >= found["pair"] - 1e-12).all()
        assert law.y[5] > found["pair"][5]
        assert (law.y <= found.get("response", found["chance"]) + 1e-12).all()


def test_the_best_guess_is_that_of_the_odds():
    """At β = α the curve gives the odds of the law, and the larger number of both."""
    result = last(get_study("histograms"), what=KEY, points=1001)
    law = next(s for s in result.series if s.key == "law")
    tv = 1 - float((law.x + law.y).min())
    assert tv == pytest.approx(0.086348, abs=2e-5)


@pytest.mark.full
@pytest.mark.parametrize("study_id", AUDITED)
def test_no_audit_refutes_what_is_run(study_id):
    values = {"T": 20, "k": 50, "n": 100} if study_id == "shuffle-rdp" else {}
    result = last(get_study(study_id), what=KEY, points=21, audit=True, audit_runs=1000, **values)
    dots = next(s for s in result.series if s.key == "audit")
    assert (dots.x + dots.y <= 1 + 1e-12).all()
    verdict = next(c for c in result.conditions if c.text.startswith("The audit refutes nothing"))
    assert verdict.holds is True
    assert not verdict.of_guarantee
    assert result.readout("audit_judged").value == 750


@pytest.mark.full
@pytest.mark.parametrize("study_id", ["heatmap-theory", "frequency", "linear-queries", "itemwise"])
def test_an_audit_sees_a_promise_that_is_not_kept(study_id, monkeypatch):
    """Noise for four times the ε that is promised."""
    import explorer.studies.guarantees.tradeoffs as tradeoffs

    plain = tradeoffs.audited_answer

    def overstated(full, subject, context):
        return plain(full, replace(subject, eps=subject.eps / 4), context)

    monkeypatch.setattr(tradeoffs, "audited_answer", overstated)
    values = {"w": 1.0, "alpha": 2.0} if study_id == "linear-queries" else {}
    result = last(get_study(study_id), what=KEY, points=21, audit=True, audit_runs=8000, **values)
    verdict = next(c for c in result.conditions if c.text.startswith("The audit refutes nothing"))
    assert verdict.holds is False


def test_an_audit_shows_nearly_all_of_randomised_response():
    def run(side, runs, rng):
        return (rng.random(runs) < (0.75 if side else 0.25)).astype(float)

    kept = Audited("randomised response", run, np.log(3))
    found = list(run_audit(kept, 100_000, 0))
    assert [f.tested is None for f in found] == [True] + [False] * 8
    assert found[-1].share == 1.0
    assert 0.9 * np.log(3) < found[-1].tested.epsilon <= np.log(3)
    assert not is_refuted(kept, found[-1].tested)
    assert is_refuted(replace(kept, eps=0.9), found[-1].tested)
    # The curve of (0, 1/2) goes through the same point: nothing is refuted.
    other = replace(kept, eps=0.0, delta=0.5)
    assert not is_refuted(other, list(run_audit(other, 100_000, 0))[-1].tested)


def test_last_digits_of_noise_are_no_outcome():
    """Laplace noise in floating point is told apart by its last digits; scores are rounded."""

    def run(side, runs, rng):
        seen = side + rng.laplace(size=runs)
        return np.abs(seen) - np.abs(seen - 1)

    found = list(run_audit(Audited("Laplace noise", run, 1.0), 20_000, 1))
    assert found[-1].tested.epsilon <= 1.0


def test_an_audit_is_cancelled_between_two_pieces():
    study = get_study("heatmap-theory")
    request = replace(
        default_request(study, audit=True, audit_runs=100_000),
        quantity=KEY,
        sweep=default_sweep(study, "type1"),
    )
    context = Context(stop_after=12)
    with pytest.raises(Cancelled):
        list(study.answer(request, context))
    assert context.checks == 13


def test_nothing_is_audited_where_nothing_can_run():
    result = last(
        get_study("itemwise"), what=KEY, points=5, audit=True, audit_runs=1000, randomiser="gkrr"
    )
    assert any(note.startswith("No audit: GKRR needs clusters") for note in result.notes)
    assert "audit" not in curves(result)

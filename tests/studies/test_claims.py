"""Which bound is claimed: the tightest whose conditions hold, or the user's, never in silence."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from explorer.privacy.core.bound import Grade, Reference, Role
from explorer.studies.base.claims import (
    STILL_COMPUTING,
    carry_over,
    check_claim,
    evaluate_claim,
    with_claim,
)
from explorer.studies.base.study import (
    Condition,
    Fidelity,
    Guarantee,
    Result,
    ScalarResult,
    Series,
    default_request,
)
from explorer.studies.registry import get_study, study_ids
from tests import snapshots
from tests.studies.checks import best_valid, last
from tests.studies.context import Context

SOURCE = Reference("somebody", "somewhere")
PROMISE = Guarantee("a record", "", "", "nobody", "a sentence")


def series(key: str, y: float, role: Role = Role.UPPER, **more) -> Series:
    x = np.array([1.0, 1e5])
    return Series(key, f"bound {key}", role, x, np.array([0.0, y]), SOURCE, **more)


def answer(*curves: Series, conditions: tuple[Condition, ...] = (), complete: bool = True):
    request = default_request(get_study("shuffle-rdp"))
    assert request.sweep.key == "T"
    assert request["T"] == 1e5
    return Result(
        request, Fidelity.FULL, curves, conditions=conditions, guarantee=PROMISE, complete=complete
    )


THREE = (series("theorem1", 1.0), series("numerical_upper", 0.2), series("clones_closed", 0.5))


def test_the_tightest_bound_is_claimed_at_the_sliders_own_value() -> None:
    found = evaluate_claim(answer(*THREE))
    assert (found.series.key, found.value) == ("numerical_upper", 0.2)
    assert found.text.number == "ε ≤ 0.2"
    snapshots.check(found.line)


@pytest.mark.parametrize("role", [Role.LOWER, Role.ESTIMATE, Role.BASELINE])
def test_what_is_no_upper_bound_is_not_claimed(role) -> None:
    found = evaluate_claim(answer(series("theorem1", 1.0), series("numerical_upper", 0.2, role)))
    assert found.series.key == "theorem1"


@pytest.mark.parametrize("holds", [True, False, None])
@pytest.mark.parametrize("optional", [True, False])
def test_nothing_is_claimed_whose_conditions_fail(holds, optional) -> None:
    condition = Condition("Only for it: n is large", holds, key="large", optional=optional)
    sharp = series("numerical_upper", 0.2, assumes=("large",))
    result = answer(series("theorem1", 1.0), sharp, conditions=(condition,))
    may = holds is True or (holds is None and not optional)
    assert evaluate_claim(result).series.key == ("numerical_upper" if may else "theorem1")
    # An optional assumption is made by whoever claims what rests on it; no other one is.
    chosen = evaluate_claim(result, "numerical_upper")
    assert chosen.series.key == ("theorem1" if holds is False else "numerical_upper")
    (shown,) = with_claim(result, "numerical_upper").conditions
    assert shown.of_guarantee is (holds is not False)


def test_a_claim_that_fails_is_named_and_not_exchanged_in_silence() -> None:
    condition = Condition("Only for it: n is large", False, "n = 3", key="large")
    sharp = series("numerical_upper", 0.2, assumes=("large",))
    result = answer(series("theorem1", 1.0), sharp, conditions=(condition,))
    said = with_claim(result, "numerical_upper").guarantee
    snapshots.check(said.sentence)
    assert "right at most" in said.beside


def test_what_is_being_computed_is_not_said_to_fail() -> None:
    coming = replace(
        series("numerical_upper", np.nan), computing=True, undefined_reason="it is being computed"
    )
    result = answer(series("theorem1", 1.0), coming, complete=False)
    found = evaluate_claim(result, "numerical_upper")
    snapshots.check(found.line)
    assert evaluate_claim(result).line.endswith("Further bounds are being computed…")


def test_no_verdict_that_bounds_still_computed_may_change() -> None:
    """A loose bound comes first: that it is useless says nothing of those that follow."""
    coming = replace(series("numerical_upper", np.nan), computing=True)
    for wanted in ("", "numerical_upper"):
        early = evaluate_claim(answer(series("theorem1", 9.0), coming, complete=False), wanted)
        assert early.unsettled
        assert early.text.number == "ε ≤ 9"
        assert early.text.lines[0] == STILL_COMPUTING
    useful = evaluate_claim(answer(series("theorem1", 1.0), coming, complete=False))
    assert useful.text.lines[0] == evaluate_claim(answer(series("theorem1", 1.0))).text.lines[0]
    settled = evaluate_claim(answer(series("theorem1", 9.0)))
    assert settled.text.lines[0] not in (STILL_COMPUTING, "")


def test_stating_twice_says_the_same() -> None:
    once = with_claim(answer(*THREE), "theorem1")
    assert with_claim(once, "theorem1").guarantee == once.guarantee
    assert with_claim(with_claim(answer(*THREE)), "theorem1").guarantee == once.guarantee


def test_the_grade_is_that_of_the_bound() -> None:
    proved = replace(series("theorem1", 1.0), grade=Grade.PROVED)
    assert evaluate_claim(answer(proved)).line.endswith("; rounding included.")
    assert "rounding" not in evaluate_claim(answer(series("theorem1", 1.0))).line


def test_a_claim_that_cannot_be_made_names_those_that_can() -> None:
    study = get_study("shuffle-rdp")
    with pytest.raises(ValueError, match="'lower_2rr' can't") as error:
        check_claim(study, "eps", "lower_2rr")
    snapshots.check(error.value)


def test_claims_name_quantities_and_parameters_there_are() -> None:
    failures = []
    for study in map(get_study, study_ids()):
        quantities = {q.key for q in study.quantities}
        solvable = {"", *(p.key for p in study.parameters)}
        failures += [
            (study.id, key, claim)
            for key, claim in study.claims.items()
            if key not in quantities
            or claim.solves not in solvable
            or not 0 < len(claim.among) == len(set(claim.among))
        ]
    assert not failures


@pytest.mark.parametrize(
    ("study_id", "what", "key"),
    [
        ("unbounded", "alpha", "chernoff"),
        ("unbounded", "threshold", "chernoff"),
        ("heatmap-theory", "error", "experiments"),
        ("heatmap-theory", "similarity", "huber"),
        ("itemwise", "alpha0", "sorted"),
        ("histograms", "error", "tails"),
        ("linear-queries", "rmse", "kinf"),
        ("amplification", "eps", "exact_2021"),
    ],
)
def test_no_valid_bound_of_a_real_answer_is_better(study_id, what, key) -> None:
    study = get_study(study_id)
    result = last(study, Context(), what, points=5)
    found = evaluate_claim(result)
    assert found.series.key == key
    assert found.value == best_valid(study, result)
    assert with_claim(result).guarantee.claimed == found.line


@pytest.mark.full
def test_odds_are_those_of_the_law() -> None:
    """By `shuffle-beyond`, section 3: δ(0) where the law is known, (ε, δ) under it."""
    for values, law, alone in (
        ({"study": "amplification"}, "50.27", "51.13"),
        ({"study": "amplification", "eps0": 4.0}, "50.9", "54.24"),
        ({"study": "histograms"}, "54.32", "73.11"),
        ({"study": "histograms", "release": "count"}, "53.42", "73.11"),
    ):
        study = get_study(values.pop("study"))
        promise = last(study, Context(), points=3, **values).guarantee
        assert f"right at most {law} %" in promise.sentence
        assert f"at most {alone} % of the time" in promise.beside


def numbered(result: Result, **values: float) -> Result:
    """Return an answer with numbers at the sliders."""
    return replace(
        result, readouts=tuple(ScalarResult(k, k, v, Role.UPPER) for k, v in values.items())
    )


def test_an_incomplete_answer_takes_the_curves_it_lacks_from_the_one_before() -> None:
    before = numbered(answer(*THREE), theorem1=1.0, numerical_upper=0.2, clones_closed=0.5)
    moved = before.request.with_value("eps0", 1.0)
    coming = series("numerical_upper", np.nan, computing=True)
    fresh = numbered(answer(series("theorem1", 0.9), coming, complete=False), theorem1=0.9)
    merged = carry_over(before, replace(fresh, request=moved), "numerical_upper")
    assert [s.key for s in merged.series] == [s.key for s in before.series]
    assert [s.y[-1] for s in merged.series] == [0.9, 0.2, 0.5]
    assert merged.outdated == merged.outdated_numbers == {"numerical_upper", "clones_closed"}
    claim = evaluate_claim(merged)
    assert (claim.series.key, claim.value, claim.outdated) == ("numerical_upper", 0.2, True)


def test_the_bound_claimed_before_stays_claimed_until_the_answer_is_complete() -> None:
    before = numbered(answer(*THREE), theorem1=1.0, numerical_upper=0.2, clones_closed=0.5)
    moved = before.request.with_value("eps0", 1.0)
    values = {"theorem1": 0.3, "numerical_upper": 0.4}
    curves = [series(key, y) for key, y in values.items()]
    fresh = replace(numbered(answer(*curves, complete=False), **values), request=moved)
    claim = evaluate_claim(carry_over(before, fresh, "numerical_upper"))
    assert (claim.series.key, claim.value, claim.outdated) == ("numerical_upper", 0.4, False)
    assert not claim.unsettled
    whole = carry_over(before, replace(fresh, complete=True), "numerical_upper")
    assert (whole.outdated, evaluate_claim(whole).series.key) == (frozenset(), "theorem1")


def test_curves_are_carried_over_to_no_other_question() -> None:
    before, fresh = answer(*THREE), answer(series("theorem1", 0.9), complete=False)
    other = replace(fresh, request=replace(fresh.request, quantity="rdp"))
    assert carry_over(before, other) is other
    assert carry_over(None, fresh) is fresh


def test_a_stage_of_one_answer_is_up_to_date_in_the_next() -> None:
    first = numbered(answer(*THREE[:2], complete=False), theorem1=1.0, numerical_upper=0.2)
    second = answer(THREE[0], series("numerical_upper", np.nan, computing=True), complete=False)
    merged = carry_over(first, second, "numerical_upper")
    assert (merged.outdated, merged.outdated_numbers) == (frozenset(), frozenset())
    assert evaluate_claim(merged).value == 0.2

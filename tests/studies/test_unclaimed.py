"""Better bounds say why they are not claimed; odds beside a claim are its own, or it is said."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from explorer.figures.pages.reviewer import reviewer_lines
from explorer.figures.tables import comments, result_document
from explorer.figures.view_state import ViewState
from explorer.studies.base.claims import evaluate_claim, unclaimed_reasons, with_claim
from explorer.studies.base.phrases import chance_of, is_right, odds_basis
from explorer.studies.base.study import Claim, Guarantee, preset
from explorer.studies.registry import get_study, study_infos
from tests import snapshots
from tests.studies.checks import assert_claim, assert_odds, last
from tests.studies.preset_answers import PATH, answer
from tests.studies.walking import final_result

UNCONFIRMED = "not claimed: 1 condition not confirmed"
MARKS = {
    ("amplification", "million"): {"exact_2023": UNCONFIRMED, "worst_case": UNCONFIRMED},
    ("shuffle-rdp", "ternary"): {
        "theorem6": UNCONFIRMED,
        "sharp_alike": UNCONFIRMED,
    },
    ("histograms", "table-1"): {
        "central": "not claimed: it ",
        "stable": "not claimed: it ",
        # The role says that these are no bounds.
        "cheu_order": "",
        "few_order": "",
        "fewest_order": "",
        "central_order": "",
    },
    ("frequency", "near"): {"laplace": "not claimed: it "},
    ("coordinate-mean", "beliefs"): {"best_zeta": "not claimed: it "},
    ("itemwise", "local"): {},  # what is refuted bounds the claim from the other side
}


@pytest.mark.parametrize(("study_id", "key"), MARKS)
def test_a_better_number_that_is_not_claimed_says_why(study_id: str, key: str) -> None:
    result = answer(study_id, key)
    reasons = unclaimed_reasons(result, evaluate_claim(result))
    begins = MARKS[study_id, key]
    assert set(reasons) == set(begins)
    assert all(reasons[curve].remark.startswith(text) for curve, text in begins.items() if text)
    assert all(not reasons[curve].remark for curve, text in begins.items() if not text)
    document = result_document(result, ViewState.for_result(result), {})
    told = {s["key"]: s["why_not_claimed"] for s in document["series"] if "why_not_claimed" in s}
    shown = {s["key"] for s in document["series"]}
    assert told == {key: reason.why for key, reason in reasons.items() if key in shown}


def test_the_reason_is_that_of_the_condition_which_decides() -> None:
    """Whether an assumption may be made, fails or holds changes claim and reason together."""
    result = answer("amplification", "million")
    (needed,) = (c for c in result.conditions if c.key == "common")
    others = tuple(c for c in result.conditions if c.key != "common")
    for holds, mark in (
        (None, UNCONFIRMED),
        (False, "not claimed: a condition does not hold"),
        (True, ""),
    ):
        asked = replace(result, conditions=(*others, replace(needed, holds=holds)))
        found = evaluate_claim(asked)
        reasons = unclaimed_reasons(asked, found)
        assert (found.series.key == "worst_case") is (holds is True)
        assert set(reasons) == ({"exact_2023", "worst_case"} if mark else set())
        assert not mark or reasons["exact_2023"].remark == mark
        assert not mark or needed.text.split(": ", 1)[1] in reasons["exact_2023"].why


def test_what_the_user_claims_instead_is_the_reason() -> None:
    result = answer("amplification", "million")
    reasons = unclaimed_reasons(result, evaluate_claim(result, "local"))
    label = next(s.label for s in result.series if s.key == "local")
    assert reasons["exact_2021"].why == f"you claim “{label}”"
    assert reasons["exact_2023"].remark == UNCONFIRMED
    assert "lower" not in reasons


def _without_preset() -> list[tuple[str, str]]:
    """Return what may be claimed of and no kept preset asks: `answer` checks those."""
    asked = set()
    for name in json.loads(PATH.read_text(encoding="utf-8"))["answers"]:
        study, key = name.split("/")
        asked.add((study, preset(get_study(study), key).quantity))
    claims = [(info.id, what) for info in study_infos() for what in get_study(info.id).claims]
    return [pair for pair in claims if pair not in asked and pair[1] != "tradeoff"]


@pytest.mark.parametrize(("study_id", "what"), _without_preset())
def test_every_claim_at_the_defaults_has_its_reasons_and_odds(study_id: str, what: str) -> None:
    study = get_study(study_id)
    result = last(study, what=what, points=2)  # checks each answer on the way
    assert evaluate_claim(result).series.key in study.claims[what].among


def test_a_bound_without_a_reason_is_found(monkeypatch) -> None:
    study, result = get_study("frequency"), answer("frequency", "near")
    assert_claim(study, result)
    bare: Claim = replace(study.claims["emd"], besides={})
    monkeypatch.setattr(type(study), "claims", {"emd": bare})
    with pytest.raises(AssertionError, match="laplace"):
        assert_claim(study, result)


def test_odds_of_another_basis_name_it() -> None:
    plain = Guarantee("a record", "", "", "nobody", "a sentence", pairs=((0.5, 1e-6),))
    assert odds_basis(plain) == ""
    assert odds_basis(replace(plain, pairs=())) == ""
    assert odds_basis(replace(plain, distance=0.9)) == ""  # it says less
    assert odds_basis(replace(plain, distance=0.1)) == "from δ(0), not from (ε, δ)"
    weak = replace(plain, pairs=((9.0, 1e-6), (1.0, 0.0)))
    snapshots.check(odds_basis(weak))
    assert odds_basis(replace(weak, qualified=True)) == ""  # no odds are shown


def test_odds_that_do_not_belong_to_the_claim_are_found() -> None:
    result = answer("shuffle-rdp", "figure-2a")
    found, promise = evaluate_claim(result), with_claim(result).guarantee
    assert_odds("eps", promise, found)
    assert chance_of(promise) == pytest.approx(0.50873751)
    with pytest.raises(AssertionError):
        assert_odds("eps", replace(promise, distance=None), found)
    with pytest.raises(AssertionError):
        assert_odds("eps", promise, replace(found, value=found.value / 2))
    (numbers,) = (lines for head, lines in reviewer_lines(result, "", {}) if head == "Numbers")
    assert numbers[-1].endswith(" 50.88 % of the time, from δ(0), not from (ε, δ)")


def test_the_odds_of_a_promise_on_levels_follow_the_claim() -> None:
    result = answer("itemwise", "three")
    w, alpha = float(result.request["w"]), {s.key: float(s.y[-1]) for s in result.series}
    assert len(alpha) > 2
    for key in ("sorted", "exact"):
        found = evaluate_claim(result, key)
        assert found.series.key == key
        promise = with_claim(result, key).guarantee
        assert promise.pairs[0] == (found.value * w, 1e-12)
        assert is_right(*promise.pairs[0]) in promise.sentence
        assert found.series.label in promise.replace_one


def test_noise_that_needs_no_delta_has_odds_without_it() -> None:
    asked = answer("linear-queries", "city").request.with_value("delta", 0.1)
    promise = with_claim(final_result(get_study("linear-queries"), asked)).guarantee
    assert promise.pairs == ((float(asked["alpha"]) * float(asked["w"]), 0.0),)
    snapshots.check(promise.sentence)


def test_a_level_below_the_one_demanded_says_whose_odds_are_printed() -> None:
    result = answer("coordinate-mean", "beliefs")
    found, promise = evaluate_claim(result), with_claim(result).guarantee
    assert promise.pairs == ((0.2, 0.0),)
    assert found.value < 0.2
    assert f"{is_right(found.value)}," in promise.sentence
    assert promise.beside.startswith("Of the level demanded, 0.2: ")
    assert is_right(0.2) in promise.beside


def test_odds_beside_a_renyi_level_are_not_its_own() -> None:
    promise = with_claim(answer("shuffle-rdp", "renyi-order")).guarantee
    snapshots.check(promise.sentence)
    snapshots.check(promise.beside)


def test_the_lines_of_a_csv_say_why_a_better_bound_is_not_claimed() -> None:
    result = answer("amplification", "million")
    lines = comments(result, ViewState.for_result(result), {})
    told = [line for line in lines if "not claimed" in line]
    assert len(told) == 2
    for line, key in zip(told, ("exact_2023", "worst_case"), strict=True):
        assert line.startswith(f"{key}: better here and not claimed: it assumes more")

"""What the five studies of metric privacy for users say: errata, conditions, sentences."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from explorer.studies.base.numbers import nearest
from explorer.studies.base.study import Scale, Sweep, default_request, default_sweep, quantity
from explorer.studies.errata import labels_in
from explorer.studies.registry import get_study
from tests.studies import walking

STUDIES = ("choose-alpha", "itemwise", "linear-queries", "frequency", "unbounded")
ROOT = Path(__file__).resolve().parents[2] / "explorer" / "studies"


def result_of(study, what, **values):
    request = replace(default_request(study, **values), quantity=what)
    sweep = request.sweep
    allowed = quantity(study, what).sweeps
    if sweep is None or sweep.key not in allowed:
        sweep = default_sweep(study, allowed[0])
    return walking.final_result(study, replace(request, sweep=replace(sweep, points=3)))


def said(result):
    """Return all that a result says in words."""
    g = result.guarantee
    return [
        *(c.text for c in result.conditions),
        *(c.margin for c in result.conditions),
        *(s.undefined_reason for s in result.series),
        *((g.sentence, g.replace_one, g.unit) if g else ()),
    ]


@pytest.mark.parametrize("name", STUDIES)
def test_labels_of_errata_can_be_looked_up_on_the_studys_page(name):
    study = get_study(name)
    source = "".join(p.read_text() for p in (ROOT / name.replace("-", "_")).glob("*.py"))
    listed = set(labels_in(" ".join(study.page.errata)))
    assert set(labels_in(source)) == listed
    # Every paragraph has its label, so that a label leads to one.
    assert all(labels_in(paragraph) for paragraph in study.page.errata)


@pytest.mark.full
@pytest.mark.parametrize("name", STUDIES)
def test_nothing_is_the_better_the_shorter_and_no_number_has_a_hyphen(name):
    study = get_study(name)
    for item in study.quantities:
        result = result_of(study, item.key)
        for text in said(result):
            assert "the better the" not in text
            assert not re.search(r"(?:[ =(])-\d", text), text
    assert not any("other than the" in p.computed for p in study.presets)


def test_numbers_below_zero_have_a_minus_sign():
    assert nearest(-27.6310211) == "−27.63"
    assert nearest(-1.118) == "−1.118"
    assert nearest(2.5) == "2.5"
    few = result_of(get_study("itemwise"), "alpha0", model="local", m=10)
    assert "limit −" in few.conditions[0].margin
    draws = result_of(get_study("unbounded"), "alpha")
    assert "ln δ = −27.63" in draws.conditions[0].margin


@pytest.mark.full
@pytest.mark.parametrize(
    ("model", "yes", "no"), [("local", "ln(m/(16", "mn"), ("central", "ln(mn/(16", "ln(m/")]
)
def test_conditions_of_the_theorem_name_the_items_of_their_model(model, yes, no):
    study = get_study("itemwise")
    for what in ("alpha0", "alpha", "delta"):
        result = result_of(study, what, model=model, m=1000 if what == "alpha0" else 10)
        condition = result.conditions[0]
        assert yes in condition.text
        assert no not in condition.text
        items = 1000 if what == "alpha0" else 10
        total = items if model == "local" else items * 100_000
        assert f"{'m' if model == 'local' else 'mn'} = {total:,}" in condition.margin
    few = result_of(study, "alpha0", model=model, m=2, n=1)
    why = {s.key: s.undefined_reason for s in few.series}["tight"]
    assert ("mn is not above" in why) == (model == "central")
    high = result_of(study, "alpha", model=model, m=2, n=1)
    why = {s.key: s.undefined_reason for s in high.series}["tight"]
    assert yes in why


def test_a_sentence_about_a_change_closes_its_comma():
    sentence = result_of(get_study("itemwise"), "alpha0").guarantee.sentence
    assert "0.008 of the largest distance apart, both equally likely" in sentence


def test_what_a_histogram_of_soft_cells_needs_is_what_is_reported():
    study = get_study("linear-queries")
    preset = next(p for p in study.presets if p.key == "histogram")
    found = {}
    for h in (0.05, 0.12, 0.147, 0.25):
        request = default_request(study, **{**dict(preset.values), "width": h})
        sweep = Sweep("width", 0.02, 1.0, 2, Scale.LOG)
        last = walking.final_result(study, replace(request, quantity="lip", sweep=sweep))
        found[h] = [last.readout(k).value for k in ("k1", "k2", "kinf")]
    np.testing.assert_allclose(found[0.05], 20.0)
    np.testing.assert_allclose(found[0.12], 1 / 0.12)
    for h, ell1 in ((0.147, 27.2), (0.25, 18.0)):
        assert found[h][0] == pytest.approx(ell1, rel=2e-3)
        assert found[h][2] == pytest.approx(1 / h)
    for number in ("0.12", "8.3", "27 at 0.147", "18 at 0.25", "in ℓ∞"):
        assert number in preset.computed


@pytest.mark.parametrize(
    "study_id",
    [
        "choose-alpha",
        "coordinate-learnt",
        "coordinate-mean",
        "frequency",
        "itemwise",
        "linear-queries",
        "private-regression",
        "unbounded",
    ],
)
def test_what_a_paper_prints_is_said_of_its_first_version(study_id):
    # The texts are arXiv 2405.02665 v1 and 2410.18404 v1; both have newer versions.
    page = get_study(study_id).page
    assert page.errata
    for erratum in page.errata:
        assert erratum.startswith("The paper (v1)"), erratum
    assert any("v1)" in str(source) for source in page.sources)


def test_example_2_claims_what_the_paper_states():
    # It states δ₁ = 0 and that two copies can tell x₁ = 1; the other levels are ours.
    found = {p.key: p for p in get_study("coordinate-learnt").presets}
    assert "log" not in found["example2"].published
    assert "δ₁ = 0" in found["example2"].published
    assert "(0, log 3, log 3)" in found["example2"].computed

"""What a reviewer gets: the same by text, LaTeX and page, with its recipe, rounded safely."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import pytest

from explorer.engine.session.recipe import Recipe
from explorer.figures.export import ExportJob, render
from explorer.figures.formats import Kind, by_suffix
from explorer.figures.pages.reviewer import best_proved, reviewer_lines
from explorer.figures.view_state import ViewState
from explorer.privacy.core.bound import Grade
from explorer.studies.base.claims import evaluate_claim
from explorer.studies.base.study import default_request, default_sweep
from explorer.studies.registry import get_study
from tests.studies.walking import final_result


def job(study_id: str, suffix: str, claim: str = "") -> ExportJob:
    """Return what is to be written of a study's first quantity at its defaults."""
    study = get_study(study_id)
    sweep = replace(default_sweep(study, study.quantities[0].sweeps[0]), points=5)
    request = replace(default_request(study), sweep=sweep)
    result = final_result(study, request)
    view = ViewState.for_result(result, theme="light", claim=claim)
    recipe = Recipe(request, "", view=view.to_dict()).to_dict()
    return ExportJob(result, view, recipe, by_suffix(suffix, Kind.REVIEWER))


@pytest.fixture(scope="module")
def amplification() -> ExportJob:
    return job("amplification", "txt")


def test_the_text_has_what_a_reviewer_asks(amplification: ExportJob) -> None:
    said = dict(reviewer_lines(amplification.result, "", amplification.recipe))
    for heading in (
        "Definition",
        "Protects",
        "Claimed",
        "Numbers",
        "Neighbouring: replace one",
        "Neighbouring: add or remove one",
        "Conditions",
        "Settings",
        "Version",
    ):
        assert said[heading], heading
    found = evaluate_claim(amplification.result)
    assert found is not None
    assert found.series.grade is Grade.NUMERICAL
    assert "rounding error" in said["Claimed"][1]
    shown = float(said["Numbers"][0].split("(")[2].split(",")[0])
    assert found.value <= shown <= found.value * 1.001
    text = render(amplification).decode()
    assert all(line in text for lines in said.values() for line in lines)
    recipe = text.partition("# recipe: ")[2]
    assert json.loads(recipe)["study"] == "amplification"


@pytest.mark.full
def test_latex_and_page_carry_the_same(amplification: ExportJob) -> None:
    from pypdf import PdfReader

    latex = render(replace(amplification, format=by_suffix("tex", Kind.REVIEWER))).decode()
    assert latex.count(r"\begin{") == latex.count(r"\end{") >= 2
    body = latex.partition("% recipe: ")[0]
    assert body.isascii() or not set(body) & set("εδ≤·₀⁻")
    page = replace(amplification, format=by_suffix("pdf", Kind.REVIEWER))
    reader = PdfReader(io.BytesIO(render(page)))
    assert len(reader.pages) == 1
    assert [round(float(n)) for n in reader.pages[0].mediabox[2:]] == [595, 842]
    words = " ".join(reader.pages[0].extract_text().split())
    assert "0.04503" in words
    assert "vouched for" in words
    assert json.loads(reader.metadata["/Keywords"])["study"] == "amplification"


def test_beside_a_numerical_claim_stands_the_best_proved_one(amplification: ExportJob) -> None:
    result, found = amplification.result, evaluate_claim(amplification.result)
    assert found is not None
    proved = best_proved(result, found)
    graded = {s.key for s in result.series if s.grade is Grade.PROVED}
    if proved is None:
        assert not any(
            (c := evaluate_claim(result, key)) is not None and c.series.key == key for key in graded
        )
    else:
        assert proved.series.key in graded
        assert proved.value >= found.value

"""Every preset says in a few letters how what comes out compares with its paper."""

from __future__ import annotations

import json

import pytest

from explorer.studies.base.help_page import Preset
from explorer.studies.registry import cards, get_study
from tests.studies.preset_answers import PATH

PRESETS = [
    pytest.param(card.id, item, id=f"{card.id}/{item.key}")
    for card in cards()
    for item in get_study(card.id).presets
]
ANSWERS = json.loads(PATH.read_text(encoding="utf-8"))["answers"]
SIMULATED = "_simulated"
"""Ends the keys of dots, which the kept answers leave out."""


@pytest.mark.parametrize(("study_id", "item"), PRESETS)
def test_a_preset_has_a_verdict(study_id: str, item: Preset) -> None:
    assert item.status in ("=", "≠", "+", "▷", "?")
    assert 0 < len(item.verdict) <= 28
    assert item.published or item.status == "+"
    assert item.computed


@pytest.mark.parametrize(("study_id", "item"), [p for p in PRESETS if p.values[1].curves])
def test_the_curves_of_a_figure_are_there_and_have_points(study_id: str, item: Preset) -> None:
    series = ANSWERS[f"{study_id}/{item.key}"]["series"]
    keys = [k.removesuffix(SIMULATED) for k in item.curves]
    assert set(keys) <= set(series)
    assert any(k.endswith(SIMULATED) for k in item.curves) <= bool(
        dict(item.values).get("simulate")
    )
    assert 2 <= len(item.curves) <= 5
    drawn = [k for k in keys if any(y != "nan" and y is not None for y in series[k]["y"])]
    assert len(drawn) >= 2

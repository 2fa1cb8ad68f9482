"""What each study shows first: few parameters, few curves, short names, all of which exist."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from explorer.engine.runtime.runtime import StudyRuntime
from explorer.studies.base.claims import claimed
from explorer.studies.base.face import (
    MOST_CURVES,
    MOST_LETTERS,
    MOST_SLIDERS,
    answer_of,
    essential_keys,
    face_of,
    primary_keys,
    short_name,
)
from explorer.studies.base.numbers import at_least, at_most
from explorer.studies.base.study import default_request, default_sweep, parameter, relevant
from explorer.studies.cards import study_ids
from explorer.studies.registry import get_study

QUANTITIES = [(i, q.key) for i in study_ids() for q in get_study(i).quantities] + [("heatmap", "")]


@pytest.mark.parametrize(("study_id", "key"), QUANTITIES)
def test_few_parameters_and_curves_stand_in_front(study_id: str, key: str) -> None:
    study = get_study(study_id)
    face = face_of(study, key)
    assert 1 <= len(face.essential) <= MOST_SLIDERS
    assert len(set(face.essential)) == len(face.essential)
    assert len(face.primary) <= MOST_CURVES
    for k in face.essential:
        parameter(study, k)


@pytest.mark.parametrize(("study_id", "key"), [q for q in QUANTITIES if q[1]])
def test_the_parameter_on_the_x_axis_has_a_row(study_id: str, key: str) -> None:
    study = get_study(study_id)
    shown = next(q for q in study.quantities if q.key == key)
    for swept in shown.sweeps:
        request = replace(default_request(study), quantity=key, sweep=default_sweep(study, swept))
        keys = essential_keys(study, request)
        assert len(keys) <= MOST_SLIDERS
        p = parameter(study, swept)
        assert swept in keys or not (p.in_panel and relevant(p, dict(request.values), key))


@pytest.mark.parametrize("study_id", study_ids())
def test_short_names_are_short_and_tell_curves_apart(study_id: str) -> None:
    names = get_study(study_id).short_names
    assert all(len(name) <= MOST_LETTERS for name in names.values())
    assert len(set(names.values())) == len(names)


MOST_WORDS = 55
"""Of the answer, numbers counted."""


@pytest.fixture(scope="module")
def runtime() -> Iterator[StudyRuntime]:
    made = StudyRuntime()
    yield made
    made.close()


@pytest.mark.parametrize("study_id", [i for i in study_ids() if i != "heatmap"])
def test_what_stands_in_front_is_there_and_short(runtime: StudyRuntime, study_id: str) -> None:
    """By the first answer to each quantity over its first axis."""
    study = get_study(study_id)
    for shown in study.quantities:
        sweep = replace(default_sweep(study, shown.sweeps[0]), points=5)
        request = replace(default_request(study), quantity=shown.key, sweep=sweep)
        result = next(iter(runtime.answer(request, lambda: None)))
        there = [s.key for s in result.series]
        keys = primary_keys(study, request, there)
        assert 1 <= len(keys) <= MOST_CURVES
        for series in result.series:
            assert len(short_name(study, series.key, series.label)) <= MOST_LETTERS, series.label
        found = claimed(result)
        answer = answer_of(study, result, found)
        if found is not None:
            assert answer is not None
            rounded = {at_most(found.value), at_least(found.value)}
            assert any(number in answer.number for number in rounded), answer
        if answer is not None:
            assert len(f"{answer.number} {answer.text}".split()) <= MOST_WORDS, answer.text
            assert answer.text.endswith(".")

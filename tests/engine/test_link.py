"""A link asks again what it was copied from, and tells of no file."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from explorer.engine.session.link import SCHEME, is_link, link_of, recipe_of
from explorer.engine.session.recipe import Recipe, RecipeError, recipe_from_dict
from explorer.geography.region import region_of
from explorer.studies.base.parameters import Kind
from explorer.studies.base.study import Selection, default_request, preset_request, relevant
from explorer.studies.registry import get_study, study_ids


@pytest.mark.parametrize("study_id", study_ids())
def test_a_link_asks_the_same(study_id) -> None:
    study = get_study(study_id)
    asked = [default_request(study), *(preset_request(study, p) for p in study.presets)]
    for request in asked:
        link = link_of(Recipe(replace(request, selection=None)).to_dict())
        assert is_link(link)
        assert "\n" not in link
        read = recipe_from_dict(recipe_of(link)).request
        assert (read.quantity, read.sweep, read.seed) == (
            request.quantity, request.sweep, request.seed
        )  # fmt: skip
        values = dict(request.values)
        for p in study.parameters:
            if relevant(p, values, request.quantity) and p.kind is not Kind.FILE:
                assert read[p.key] == request[p.key], p.key


def test_a_link_tells_neither_data_nor_files() -> None:
    request = default_request(get_study("shuffle-rdp"))
    chosen = Selection(data="ab" * 32, region=region_of((1.25, 2.25, 3.25, 4.25)))
    recipe = Recipe(replace(request, selection=chosen), "secret.csv", columns={"user": 1})
    link = link_of(recipe.to_dict())
    assert link == link_of(Recipe(request).to_dict())
    for told in ("ab" * 8, "secret", "1.25"):
        assert told not in link
    assert recipe_from_dict(recipe_of(link)).request.selection is None


@given(st.text(max_size=60) | st.sampled_from((
    "shuffle-rdp?.sweep=T,1", "shuffle-rdp?.view={", "shuffle-rdp?.new=1", "shuffle-rdp?eps0=many",
    "shuffle-rdp?no=1", "nothing?a=1", "shuffle-rdp?.selection=[]", "shuffle-rdp?.seed=x",
)))  # fmt: skip
def test_a_damaged_link_is_refused_in_a_sentence(text: str) -> None:
    refused = text.partition("?")[0].strip() not in study_ids()
    with pytest.raises(RecipeError, match=r"\w") if refused or "?" in text else nullcontext():
        recipe_from_dict(recipe_of(SCHEME + text))

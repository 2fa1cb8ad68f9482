"""A link asks again what it was copied from, and tells of no file."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from explorer.engine.session.link import SCHEME, is_link, left_out, link_of, recipe_of
from explorer.engine.session.plot_view import Pin, pins_from_list, pins_to_list
from explorer.engine.session.recipe import Recipe, RecipeError, recipe_from_dict
from explorer.geography.region import region_of
from explorer.studies.base.parameters import Kind
from explorer.studies.base.study import Selection, default_request, preset_request, relevant
from explorer.studies.registry import get_study, study_ids


def study_default(study, key: str):
    return next(p.default for p in study.parameters if p.key == key)


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
            request.quantity,
            request.sweep,
            request.seed,
        )
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


def test_a_link_has_what_is_pinned_and_says_what_it_leaves_out() -> None:
    study = get_study("linear-queries")
    request = default_request(study).with_value("alpha", 0.02)
    space = request.with_value("space", "matrix")
    pins = (
        Pin(request.with_value("alpha", 0.05)),
        Pin(space.with_value("alpha", study_default(study, "alpha")), frozenset({"k1"})),
        Pin(space.with_value("space_matrix", "ab" * 32 + "/secret.csv")),
    )
    view = {"pinned": pins_to_list(pins), "y_log": True}
    recipe = {**Recipe(request).to_dict(), "view": view}
    link = link_of(recipe)
    assert left_out(recipe) == 1
    assert "secret" not in link
    read = recipe_from_dict(recipe_of(link))
    assert read.request == request
    assert read.view["y_log"] is True
    assert pins_from_list(read.view["pinned"], []) == pins[:2]
    plain = {**Recipe(request).to_dict(), "view": {"y_log": True}}
    assert len(link) < len(link_of(plain)) + 300


@given(
    st.text(max_size=60)
    | st.sampled_from(
        (
            "shuffle-rdp?.sweep=T,1",
            "shuffle-rdp?.view={",
            "shuffle-rdp?.new=1",
            "shuffle-rdp?eps0=many",
            "shuffle-rdp?no=1",
            "nothing?a=1",
            "shuffle-rdp?.selection=[]",
            "shuffle-rdp?.seed=x",
            "shuffle-rdp?.pins={}",
            "shuffle-rdp?.pins=[1]",
            "shuffle-rdp?.pins=[{}]",
            'shuffle-rdp?.pins=[{"values":[]}]',
            "shuffle-rdp?.view=[]&.pins=[]",
        )
    )
)
def test_a_damaged_link_is_refused_in_a_sentence(text: str) -> None:
    refused = text.partition("?")[0].strip() not in study_ids()
    with pytest.raises(RecipeError, match=r"\w") if refused or "?" in text else nullcontext():
        recipe_from_dict(recipe_of(SCHEME + text))

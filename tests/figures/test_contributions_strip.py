"""The histogram of what users contribute, below the maps of a picture, for the curator alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from explorer.figures.view_state import ViewState
from explorer.studies.base.study import Result, Table
from tests.figures.reading import BOTH, words_of
from tests.figures.samples import file_bytes, maps

RECIPE = {"schema": "privacy-explorer-recipe/1"}
TABLE = Table(
    "contributions",
    "What users contribute",
    ("from", "to", "a", "b"),
    ((1.0, 1.0, 31.0, 47.0), (2.0, 2.0, 20.0, 9.0), (3.0, 4.0, 7.0, 2.0)),
)
SAID = ("cells visited", "a user, up to …")


def counted(cap: int = 1_000_000) -> Result:
    made = maps()
    return replace(made, request=made.request.with_value("cap", cap), tables=(TABLE,))


def words(result: Result, **view: object) -> str:
    looked = ViewState.for_result(result, **{"surfaces": BOTH, "show_contributions": True, **view})
    return words_of(file_bytes(result, looked, RECIPE, "svg", size_px=(1600, 1100)), "svg")


def test_it_stands_below_the_maps_if_the_view_shows_it() -> None:
    shown, hidden = words(counted()), words(counted(), show_contributions=False)
    for word in SAID:
        assert word in shown
        assert word not in hidden
    assert "…; k = 2" not in shown
    assert "…; k = 2" in words(counted(cap=2))
    assert "(True heatmap)" in shown


@pytest.mark.full
def test_it_is_in_no_picture_without_the_true_map() -> None:
    said = words(counted(), surfaces=("private",))
    assert not any(word in said for word in SAID)
    view = ViewState.for_result(counted(), surfaces=("private",), show_contributions=True)
    for suffix in ("png", "svg"):
        with_it, without = (
            file_bytes(counted(), replace(view, show_contributions=on), RECIPE, suffix)
            for on in (True, False)
        )
        assert with_it == without


@pytest.mark.parametrize("size", [(400, 300), (700, 250)])
def test_a_page_without_room_leaves_it_out(size: tuple[int, int]) -> None:
    result = counted()
    view = ViewState.for_result(result, surfaces=BOTH, show_contributions=True)
    said = words_of(file_bytes(result, view, RECIPE, "svg", size_px=size), "svg")
    assert SAID[0] not in said


def test_answers_without_a_histogram_are_drawn_as_ever() -> None:
    plain = maps()
    assert words(plain) == words(plain, show_contributions=False)

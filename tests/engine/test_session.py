"""Session state, undo and redo, recipes there and back."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from explorer.engine.session.recipe import Recipe, RecipeError, recipe_from_dict
from explorer.engine.session.session import Session, SessionState, state_from_dict, state_to_dict
from explorer.geography.region import Region
from explorer.studies.base.study import Scale, Selection, Sweep, default_request
from tests import snapshots
from tests.engine.tiny import TinyStudy


@pytest.fixture
def session(tiny: TinyStudy) -> Session:
    return Session(SessionState(tiny.id))


def test_one_drag_is_one_step(session: Session) -> None:
    for a in (1.0, 2.5, 4.0):
        session.set_value("a", a, gesture="drag-1")
    session.end_gesture()
    session.set_value("a", 5.0, gesture="drag-1")
    assert session.request()["a"] == 5.0
    session.undo()
    assert session.request()["a"] == 4.0
    session.undo()
    assert session.request()["a"] == 2.0
    assert session.undo_text == ""
    session.redo()
    session.redo()
    assert session.request()["a"] == 5.0
    session.undo()
    session.set_value("x", 3.0)
    assert session.redo_text == ""


def test_a_cancelled_drag_leaves_no_step(session: Session) -> None:
    session.set_value("a", 3.0)
    for a in (3.5, 4.0):
        session.set_value("a", a, gesture="drag-1")
    session.end_gesture(cancelled=True)
    assert (session.request()["a"], session.in_gesture) == (3.0, False)
    assert session.redo_text == ""
    session.end_gesture(cancelled=True)  # nothing runs
    assert session.request()["a"] == 3.0
    session.undo()
    assert (session.request()["a"], session.undo_text) == (2.0, "")


def test_changes_are_reported_once_and_no_change_is_not(session: Session) -> None:
    told: list[float] = []
    session.changed.connect(lambda new, old: told.append(new.request["a"]))
    session.set_value("a", 3.0)
    session.set_value("a", 3.0)
    assert told == [3.0]


def test_out_of_range_says_what_is_allowed_and_changes_nothing(session: Session) -> None:
    before = session.state
    with pytest.raises(ValueError, match="0 to 10; 11"):
        session.set_value("a", 11)
    with pytest.raises(ValueError, match="not a parameter of") as error:
        session.set_value("b", 1)
    snapshots.check(error.value)
    with pytest.raises(ValueError, match="not a number"):
        session.set_value("a", "much")
    assert session.state is before


@given(st.lists(st.tuples(st.sampled_from("ax"), st.integers(0, 5)), max_size=30))
def test_undo_walks_back_through_every_state(steps: list[tuple[str, int]]) -> None:
    from explorer.studies.registry import register, unregister

    study = TinyStudy(id="tiny-undo")
    register(study)
    try:
        session = Session(SessionState(study.id))
        seen = [session.request()]
        for key, value in steps:
            session.set_value(key, value)
            if session.request() != seen[-1]:
                seen.append(session.request())
        for expected in reversed(seen[:-1]):
            session.undo()
            assert session.request() == expected
        for expected in seen[1:]:
            session.redo()
            assert session.request() == expected
    finally:
        unregister(study.id)


def test_a_recipe_goes_there_and_back(tiny: TinyStudy) -> None:
    request = replace(
        default_request(tiny, a=0.1 + 0.2),
        sweep=Sweep("a", 0.5, 9.0, 17, Scale.LOG),
        selection=Selection("ab" * 32, Region(-34.5, -70.25, 1.0, 2.0), "2010-01-01", None, 200, 3),
        seed=2**63 - 1,
    )
    columns = {"user": 3, "time": None, "lat": 0, "lon": 1, "time_format": "epoch_s"}
    recipe = Recipe(request, "check „ins“.txt", view={"theme": "dark"}, columns=columns)
    read = recipe_from_dict(json.loads(json.dumps(recipe.to_dict())))
    assert read == recipe


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": "other/9"}, "newer program"),
        ({"study": "unheard"}, "no study 'unheard'"),
        ({"values": {"a": 99}}, "outside"),
        ({"values": {"zz": 1}}, "not a parameter"),
        ({"values": None}, "can't be followed"),
        ({"sweep": {"key": "a", "low": 0, "high": 1, "points": 10**9, "scale": "lin"}}, "points"),
        ({"sweep": {"key": "a", "low": 0}}, "lacks the field 'high'"),
        ({"quantity": "z"}, "not a quantity"),
        ({"data": {"columns": {"user": "first"}}}, "data.columns.user: expected a whole number"),
        ({"data": {"columns": {"lat": -1}}}, "data.columns.lat: .* got -1"),
        ({"data": {"columns": {"altitude": 1}}}, "data.columns: has a field 'altitude'"),
    ],
)
def test_a_broken_recipe_is_refused_with_its_field(
    tiny: TinyStudy, change: dict[str, object], message: str
) -> None:
    raw = {**Recipe(default_request(tiny)).to_dict(), **change}
    with pytest.raises(RecipeError, match=message):
        recipe_from_dict(raw)


def test_a_session_is_saved_and_read_even_if_a_study_is_gone(tiny: TinyStudy) -> None:
    session = Session(SessionState(tiny.id))
    session.set_value("a", 7.0)
    raw = json.loads(json.dumps(state_to_dict(session.state)))
    assert state_from_dict(raw) == session.state
    raw["requests"].append({"schema": "from the future"})
    assert state_from_dict(raw) == session.state


def test_a_time_zone_is_undone_until_other_data_are_there(session: Session) -> None:
    session.set_zone("Asia/Tokyo")
    session.set_value("a", 3.0)
    session.undo()
    session.undo()
    assert session.state.zone is None
    session.redo()
    assert session.state.zone == "Asia/Tokyo"
    session.replace_zone("Europe/Vienna")
    session.undo()
    assert session.state.zone == "Europe/Vienna"


def test_a_new_data_set_can_not_be_undone_into_the_old_one(session: Session) -> None:
    old = Selection("aa", Region(0, 0, 1, 1))
    session.set_selection(old)
    session.set_value("a", 3.0)
    session.replace_data(Selection("bb", Region(0, 0, 2, 2)))
    session.undo()
    session.undo()
    assert session.state.selection is not None
    assert session.state.selection.data == "bb"
    assert session.request()["a"] == 2.0

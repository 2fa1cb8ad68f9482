"""Rows of a comparison and looks: kept, moved, set in common, read back."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from explorer.engine.runtime import StudyRuntime, final_result
from explorer.engine.session.comparison import (
    MAX_ENTRIES,
    Entry,
    common_parameters,
    entries_from_list,
    entries_of,
    entries_to_list,
    move_rows,
    set_for_all,
    with_entries,
)
from explorer.engine.session.plot_view import (
    MAX_PINS,
    Pin,
    PlotView,
    looks_from_list,
    looks_to_list,
    pins_from_list,
    pins_to_list as pins_list,
)
from explorer.engine.session.session import Session, SessionState, state_from_dict, state_to_dict
from explorer.figures.comparison import compared_row
from explorer.figures.style import PIN_DASHES
from explorer.privacy.core.bound import Reference, Role
from explorer.studies.base.study import (
    Fidelity,
    Mark,
    Result,
    ScalarResult,
    Scale,
    Series,
    Sweep,
    default_request,
    default_sweep,
)
from explorer.studies.registry import get_study

SHUFFLE = default_request(get_study("shuffle-rdp"))
ONE_ROUND = default_request(get_study("amplification"))


def test_only_numbers_with_a_role_are_compared_and_hidden_curves_are_not() -> None:
    result = Result(
        SHUFFLE,
        Fidelity.FULL,
        readouts=(
            ScalarResult("a", "a", 1.0, Role.UPPER),
            ScalarResult("order", "order", 8.0),
            ScalarResult("b", "b", 2.0, Role.LOWER),
        ),
    )
    assert [e.key for e in entries_of(result)] == ["a", "b"]
    assert [e.key for e in entries_of(result, {"b"})] == ["a"]
    twice = with_entries(entries_of(result), entries_of(result))
    assert len(twice) == 2
    many = [Entry(SHUFFLE, str(i)) for i in range(MAX_ENTRIES + 1)]
    with pytest.raises(ValueError, match="at most 200 rows"):
        with_entries((), many)


def test_a_curve_without_a_number_is_asked_for_at_the_sliders_value() -> None:
    study = get_study("choose-alpha")
    request = replace(
        default_request(study), quantity="fraction", sweep=default_sweep(study, "moved")
    )
    with closing(StudyRuntime()) as host:
        answer = final_result(host, request)
        entries = [e for e in entries_of(answer, {"level_2"}) if e.request.sweep.points == 1]
        assert [e.key for e in entries] == [
            s.key for s in answer.series if s.mark is Mark.LINE and s.key != "level_2"
        ]
        (entry,) = [e for e in entries if e.key == "level_0.1"]
        row = compared_row(entry.request, entry.key, final_result(host, entry.request))
        # τ = ε/(α q): 0.1 of e^0.2 at all data moved by 100 miles.
        assert row.value == pytest.approx(0.5)
        assert (row.role, row.statement) == (Role.LOWER, "ε = 0.1")
        (farther,), _ = set_for_all([entry], "moved", 200.0)
        assert farther.request.sweep.low == farther.request.sweep.high == 200.0
        row = compared_row(farther.request, entry.key, final_result(host, farther.request))
        assert row.value == pytest.approx(0.25)
    assert entries_from_list(entries_to_list([farther]), []) == (farther,)


@pytest.mark.full
def test_a_number_is_held_to_its_own_conditions_and_not_to_those_of_another_curve() -> None:
    """At ε₀ = 1, k = 1,000 the closed form is not valid: what was proved otherwise stands."""
    request = default_request(get_study("shuffle-rdp"), eps0=1.0, k=1000)
    with closing(StudyRuntime()) as runtime:
        result = final_result(runtime, request)
    (eighth,) = (c for c in result.conditions if c.key == "condition_8")
    assert eighth.holds is False
    for key in ("numerical_upper", "theorem1", "clones_closed", "order"):
        row = compared_row(request, key, result)
        own = [c for c in row.conditions if c.key == eighth.key]
        assert (
            [*row.failing] == own == [replace(eighth, of_guarantee=True)] * (key == "clones_closed")
        )


@pytest.mark.full
def test_what_only_says_how_sharp_a_bound_is_breaks_no_number() -> None:
    """With orders up to 4 the best is the last one searched: each ε holds all the same."""
    request = default_request(get_study("shuffle-rdp"), T=1, lam_max=4)
    with closing(StudyRuntime()) as runtime:
        result = final_result(runtime, request)
    (sharp,) = (c for c in result.conditions if "the best order lies inside" in c.text)
    assert (sharp.holds, sharp.key, sharp.of_guarantee) == (False, "", False)
    row = compared_row(request, "theorem1", result)
    assert sharp in row.conditions
    assert sharp not in row.failing


def test_an_axis_without_a_slider_has_no_numbers_to_compare() -> None:
    study = get_study("choose-alpha")
    request = replace(default_request(study), sweep=default_sweep(study, "q"))
    line = Series("a", "a", Role.UPPER, np.ones(1), np.ones(1), Reference("b", "Theorem 1"))
    assert entries_of(Result(request, Fidelity.FULL, series=(line,))) == ()


def test_shared_parameters_are_set_where_they_fit() -> None:
    entries = (Entry(SHUFFLE, "a"), Entry(ONE_ROUND, "b"), Entry(ONE_ROUND, "c"))
    common = {c.parameter.key: c.rows for c in common_parameters(entries)}
    assert common["eps0"] == common["n"] == common["delta"] == 3
    assert common["T"] == 1
    assert "gamma" not in common
    assert "clones" not in common
    changed, refused = set_for_all(entries, "eps0", 0.5)
    assert not refused
    assert [e.request["eps0"] for e in changed] == [0.5] * 3
    same, refused = set_for_all(entries, "n", 3.7)
    assert same == entries
    assert len(refused) == 2  # one sentence a study
    assert all("not a whole number" in why for why in refused)
    alike, _ = set_for_all((Entry(SHUFFLE.with_value("T", 5), "a"), Entry(SHUFFLE, "a")), "T", 9)
    assert len(alike) == 1


@pytest.mark.parametrize(
    ("rows", "by", "order"),
    [
        ([1], -1, "bacd"),
        ([0], -1, "abcd"),
        ([1, 2], -1, "bcad"),
        ([2, 3], -1, "acdb"),
        ([0, 1], 1, "cabd"),
        ([3], 1, "abcd"),
        ([0, 2], 1, "badc"),
        ([0, 1], -1, "abcd"),
        ([2, 3], 1, "abcd"),
        ([], 1, "abcd"),
    ],
)
def test_rows_move_together(rows, by, order) -> None:
    entries = tuple(Entry(SHUFFLE, key) for key in "abcd")
    assert "".join(e.key for e in move_rows(entries, rows, by)) == order


def test_everything_of_a_session_is_read_back() -> None:
    state = SessionState(
        "shuffle-rdp",
        looks={("shuffle-rdp", "eps"): PlotView(False, frozenset({"cap"}))},
        pins=(Pin(SHUFFLE.with_value("T", 3), frozenset({"cap"})),),
        comparison=(Entry(ONE_ROUND, "exact"), Entry(SHUFFLE, "theorem1")),
    )
    back = state_from_dict(state_to_dict(state))
    assert dict(back.looks) == dict(state.looks)
    assert back.pins == state.pins
    assert back.comparison == state.comparison
    assert entries_from_list(entries_to_list(state.comparison), []) == state.comparison
    assert pins_from_list(pins_list(state.pins), []) == state.pins
    assert looks_from_list(looks_to_list(state.looks), []) == dict(state.looks)


def test_what_cannot_be_read_is_left_out() -> None:
    good = entries_to_list([Entry(SHUFFLE, "theorem1")])
    spoilt = [None, {"recipe": 3, "readout": "a"}, *good, {"readout": "a"}]
    said: list[str] = []
    assert entries_from_list(spoilt, said) == (Entry(SHUFFLE, "theorem1"),)
    assert [sentence.partition(":")[0] for sentence in said] == [
        "comparison[0]",
        "comparison[1].recipe",
        "comparison[3]",
    ]
    old = state_from_dict({"study": "shuffle-rdp", "requests": []}, said)
    assert (dict(old.looks), old.pins, old.comparison) == ({}, (), ())
    assert len(said) == 3


def test_every_pin_of_a_plot_has_dashes_of_its_own() -> None:
    assert len(set(PIN_DASHES)) == len(PIN_DASHES) >= MAX_PINS


def test_a_pin_follows_the_range_of_its_axis_and_no_other_axis() -> None:
    pin = Pin(SHUFFLE)
    narrow = Sweep(SHUFFLE.sweep.key, 10, 20, 5, Scale.LINEAR)
    from dataclasses import replace

    asked = pin.on_axis_of(replace(SHUFFLE, sweep=narrow).with_value("eps0", 0.1))
    assert asked.sweep == narrow
    assert asked["eps0"] == SHUFFLE["eps0"]
    assert pin.on_axis_of(replace(SHUFFLE, sweep=Sweep("eps0", 1, 2, 5))) is None
    assert pin.on_axis_of(ONE_ROUND) is None
    assert pin.on_axis_of(replace(SHUFFLE, sweep=None)) is None


def test_looks_pins_and_comparison_are_steps_to_undo() -> None:
    session = Session(SessionState("shuffle-rdp"))
    subject = ("shuffle-rdp", "eps")
    first = session.state.look_of(*subject)
    session.set_look(subject, first)
    assert not session.undo_text
    session.set_look(subject, PlotView(not first.y_log), "change y scale")
    session.pin()
    session.pin()
    session.set_comparison((Entry(SHUFFLE, "theorem1"),), "add to comparison")
    assert len(session.state.pins) == 1
    said = []
    while session.undo_text:
        said.append(session.undo_text)
        session.undo()
    assert said == ["add to comparison", "pin curves", "change y scale"]
    assert session.state == SessionState("shuffle-rdp")
    session.redo()
    assert session.state.look_of(*subject).y_log is not first.y_log
    session.forget_steps()
    assert (session.undo_text, session.redo_text) == ("", "")

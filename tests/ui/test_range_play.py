"""Animation of a parameter over its range, at the rate of results."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt

from explorer.figures.recipes import read_recipe
from explorer.privacy.core.bound import Role
from explorer.studies.base.study import Origin, Scale, Sweep
from explorer.ui.panels.range_play import SIMULATED, Way


@pytest.fixture
def tiny(tiny_study, open_window, settled):
    window = open_window(study="tiny")
    settled(window)
    return window


def test_once_there_and_back_each_value_after_the_answer_before(tiny, settled, qtbot) -> None:
    session, play = tiny.session, tiny.parameters.range_play
    play.speed = 20.0
    log: list[tuple[str, float]] = []
    session.changed.connect(lambda new, _old: log.append(("asked", new.request["eps"])))
    tiny.answered.connect(lambda result: log.append(("answered", result.request["eps"])))
    before, undo = session.state, session.undo_text
    qtbot.mouseClick(tiny.parameters.row("eps").run, Qt.MouseButton.LeftButton)
    assert play.running == "eps"
    qtbot.waitUntil(lambda: not play.running)
    settled(tiny)
    asked = [value for what, value in log if what == "asked"]
    assert asked.index(10.0) < asked.index(0.01)  # up to the high end, down to the low one …
    assert asked[-1] == before.request["eps"] == 1.0  # … and back
    steps = iter(log)
    for value in asked[:-1]:
        assert ("asked", value) == next(steps)
        assert next(s for s in steps if s[0] == "answered") == ("answered", value)
    session.undo()
    assert (session.state, session.undo_text) == (before, undo)


def test_space_starts_it_and_any_key_stops_it_where_it_is(tiny, settled, qtbot) -> None:
    session, play = tiny.session, tiny.parameters.range_play
    play.way, button = Way.LOOP, tiny.parameters.row("eps").run
    button.setFocus()
    qtbot.keyClick(button, Qt.Key.Key_Space)
    assert button.accessibleName() == "Stop ε privacy"
    qtbot.waitUntil(lambda: session.request()["eps"] > 1.0)
    qtbot.keyClick(tiny, Qt.Key.Key_Right)
    there = session.request()["eps"]
    assert not play.running
    assert not button.isChecked()
    assert settled(tiny).request["eps"] == there == session.request()["eps"]
    session.undo()
    assert session.request()["eps"] == 1.0


def test_what_fails_or_is_simulated_does_not_run(tiny, moon, qtbot) -> None:
    play, button = tiny.parameters.range_play, tiny.parameters.row("eps").run
    result = tiny.current_result
    drawn = replace(result.series[0], role=Role.ESTIMATE)
    play.show_result(replace(result, series=(drawn,)))
    assert not button.isEnabled()
    assert button.toolTip() == SIMULATED
    play.show_result(result)
    assert button.isEnabled()
    moon.touch()
    button.click()
    qtbot.waitUntil(lambda: not play.running)
    assert tiny.banner.isVisible()


def test_a_run_is_exported_with_its_recipe(tiny, settled, qtbot, tmp_path) -> None:
    tiny.session.set_quantity("error")
    tiny.session.set_sweep(Sweep("eps", 0.1, 10, 20, Scale.LOG))
    settled(tiny)
    tiny.output.ask()
    dialog, path = tiny.output.dialog, tmp_path / "run.gif"
    dialog.format.setCurrentIndex(dialog.format.findData("gif"))
    assert [dialog.animate.itemData(i) for i in range(dialog.animate.count())] == ["n", "beta"]
    dialog.frames.setValue(3)
    dialog.preset.setCurrentIndex(dialog.preset.findData("custom"))
    dialog.width_box.setValue(300)
    dialog.height_box.setValue(240)
    with qtbot.waitSignal(tiny.output.controller.done):
        dialog.chosen.emit(dialog.job(path), dialog.animation())
    dialog.reject()
    assert read_recipe(path)["animation"] == {"over": "parameter", "frames": 3, "key": "n"}


@pytest.fixture
def sample(open_window, settled):
    window = open_window(study="heatmap", values=(("resolution", "16"),))
    settled(window)
    return window


def test_the_time_range_runs_over_all_times_and_comes_back(sample, settled, qtbot) -> None:
    panel, session, play = sample.data_panel, sample.session, sample.data_panel.time_play
    play.speed = 40.0
    for chosen in ("all times", "a month"):
        if chosen == "a month":
            panel.time.presets.setCurrentIndex(2)
            panel.time.presets.activated.emit(2)
        settled(sample)
        before, undo = session.state, session.undo_text
        spans: list[tuple[str | None, str | None]] = []

        def note(state, _, spans=spans) -> None:
            spans.append((state.selection.start, state.selection.end))

        session.changed.connect(note)
        sample.sides.setCurrentWidget(sample.data_page)
        qtbot.mouseClick(panel.time.run, Qt.MouseButton.LeftButton)
        assert play.running == "time"
        asked = session.state.selection
        qtbot.waitUntil(lambda asked=asked: session.state.selection != asked)
        assert session.state.selection.time_origin is Origin.DRAWN
        qtbot.waitUntil(lambda: not play.running)
        session.changed.disconnect(note)
        assert session.state.selection == before.selection
        if chosen == "all times":
            assert all(start is None for start, _ in spans)
        else:
            assert {start for start, _ in spans} >= {None, before.selection.start}
            assert None in {end for _, end in spans}
        assert len(set(spans)) > 2
        session.undo()
        assert (session.state, session.undo_text) == (before, undo)

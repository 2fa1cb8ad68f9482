"""Parameter groups, picture of the metric space, and file parameters."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QApplication

from explorer.engine.runtime import (
    FileNotOpenError,
    StudyRuntime,
    content_hash,
    typed_value,
)
from explorer.engine.session.recipe import Recipe
from explorer.studies.base.study import Cancelled, SpacePicture, default_sweep, parameter
from explorer.studies.registry import get_study
from explorer.ui.app.tab_order import focus_chain
from explorer.ui.panels.parameters import MAX_POINTS, SpacePlot, SpaceView
from tests import snapshots
from tests.ui.marks_study import MarksStudy
from tests.ui.test_access import check


@pytest.fixture
def marks():
    from explorer.studies.registry import register, unregister

    study = MarksStudy()
    register(study)
    yield study
    unregister(study.id)


@pytest.fixture
def window(marks, open_window, settled):
    window = open_window(study="marks")
    settled(window)
    window.parameters.section("more").heading.click()
    return window


@pytest.fixture
def points(tmp_path) -> Path:
    path = tmp_path / "my points.csv"
    path.write_text("0,0\n1,2\n3,1\n")
    return path


def value_of(path: Path) -> str:
    return f"{path.name}#{hashlib.sha256(path.read_bytes()).hexdigest()}"


def drop(row, *paths: Path) -> None:
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(p)) for p in paths])
    none = Qt.KeyboardModifier.NoModifier
    left = Qt.MouseButton.LeftButton
    row.dropEvent(QDropEvent(QPointF(5, 5), Qt.DropAction.CopyAction, mime, left, none))


# Groups


def _groups_fold_by_keyboard_and_stay_folded(window, qtbot) -> None:
    panel = window.parameters
    section = panel.section("space")
    section.heading.setFocus()
    qtbot.keyClick(section.heading, Qt.Key.Key_Left)
    assert not panel.row("width").isVisible()
    assert section.heading.text().startswith("▸")
    assert section.heading.accessibleDescription().startswith("collapsed")
    qtbot.keyClick(section.heading, Qt.Key.Key_Space)
    assert panel.row("width").isVisible()
    qtbot.keyClick(section.heading, Qt.Key.Key_Return)
    assert not panel.row("width").isVisible()
    window.session.set_study("shuffle-rdp")
    window.session.set_study("marks")
    assert not panel.row("width").isVisible()
    qtbot.keyClick(section.heading, Qt.Key.Key_Right)
    assert panel.row("width").isVisible()
    assert not window.session.redo_text


def _parameters_stand_under_their_headings_in_order(window) -> None:
    panel = window.parameters
    shown = [
        s for s in ("space", "mechanism", "simulation", "data") if panel.section(s).isVisible()
    ]
    assert shown == ["space", "simulation", "data"]  # no heading over an empty group
    heights = [panel.row("eps").mapTo(panel, QPoint()).y()]
    heights += [panel.section(s).mapTo(panel, QPoint()).y() for s in shown]
    assert heights == sorted(heights)
    assert panel.section("space").heading.text().endswith("Metric space")
    assert panel.section("space").isAncestorOf(panel.row("width"))
    assert not panel.row("steps").isVisible()
    window.session.set_value("mode", "slow")
    assert panel.row("steps").isVisible()
    with pytest.raises(KeyError):
        panel.row("level")


def _the_space_of_the_answer_is_drawn_with_its_diameter(window, qtbot) -> None:
    view = window.parameters.space
    assert view.isVisible()
    assert view.name.text() == "Interval"
    assert view.diameter.text() == "Diameter 10 km"
    assert view.note.text() == "Distances are kept."
    window.session.set_value("metric", "clusters")
    qtbot.waitUntil(lambda: view.name.text() == "Clusters")
    assert "30 points in 3 clusters" in view.plot.accessibleDescription()
    at = view.plot.positions()
    spread = np.ptp(at, axis=0)
    assert (at >= 0).all()
    assert (at <= [view.plot.width(), view.plot.height()]).all()
    wanted = np.ptp(view.plot.points, axis=0)
    assert spread[0] / spread[1] == pytest.approx(wanted[0] / wanted[1])  # equal scales
    assert at[np.argmax(view.plot.points[:, 1]), 1] == at[:, 1].min()  # y upwards
    pixels = view.plot.grab().toImage()
    colours = {pixels.pixelColor(x, y).name() for x in range(0, 220, 1) for y in range(0, 118, 1)}
    assert {"#0072b2", "#d55e00", "#009e73"} <= colours
    window.session.set_study("shuffle-rdp")
    window.session.set_study("marks")
    assert window.parameters.space.isVisible()


def test_groups_are_named_folded_and_drawn(window, qtbot) -> None:
    assert check(window) == []
    panel = window.parameters
    stops = [
        panel.row("eps").slider,
        panel.section("more").heading,
        panel.section("space").heading,
        panel.row("metric").box,
        panel.row("width").slider,
        panel.section("simulation").heading,
        panel.row("mode").box,
        panel.section("data").heading,
        panel.row("points").open_button,
    ]
    chain = focus_chain(window)
    places = [chain.index(stop) for stop in stops]
    assert places == sorted(places)
    _groups_fold_by_keyboard_and_stay_folded(window, qtbot)
    _parameters_stand_under_their_headings_in_order(window)
    _the_space_of_the_answer_is_drawn_with_its_diameter(window, qtbot)


def test_essential_parameters_have_rows_and_a_closed_fold_tells_the_rest(
    open_window, settled, qtbot
) -> None:
    window = open_window(study="shuffle-rdp")
    settled(window)
    panel, session = window.parameters, window.session
    shown = [key for key, row in panel.pages["shuffle-rdp"].rows.items() if row.isVisible()]
    assert sorted(shown) == sorted(get_study("shuffle-rdp").default_sliders(session.request()))
    assert len(shown) == 4
    more, told = panel.section("more"), panel.pages["shuffle-rdp"].told
    assert not more.open
    assert more.heading.accessibleName() == "More parameters (3)"
    assert told.isVisible()
    assert told.text().startswith("δ = 10⁻⁸ · ")
    session.set_value("delta", 1e-6)
    assert told.text().startswith("δ = 10⁻⁶ · ")
    # The parameter on the x axis has its row in front.
    assert more.isAncestorOf(panel.row("delta"))
    session.set_sweep(default_sweep(get_study("shuffle-rdp"), "delta"))
    assert panel.row("delta").isVisible()
    assert not more.isAncestorOf(panel.row("delta"))
    session.undo()
    assert not panel.row("delta").isVisible()
    row = panel.reveal("delta")
    assert row.isVisible()
    assert row.isAncestorOf(QApplication.focusWidget())
    assert not told.isVisible()
    assert "more" in panel.folded  # stored with the groups
    more.heading.click()
    assert told.isVisible()


def test_many_points_are_thinned_and_degenerate_ones_drawn(qtbot) -> None:
    plot = SpacePlot()
    qtbot.addWidget(plot)
    plot.resize(200, 118)
    many = np.random.default_rng(1).normal(size=(40_000, 2))
    plot.set_points(many, np.zeros(40_000, np.intp))
    assert len(plot.points) == MAX_POINTS
    for few in (np.empty((0, 2)), np.zeros((1, 2)), np.ones((3, 2)), np.array([[0, 0], [1, 0]])):
        plot.set_points(few, np.zeros(len(few), np.intp))
        assert np.isfinite(plot.positions()).all()
        plot.grab()


def test_a_space_that_did_not_change_is_not_drawn_again(qtbot, monkeypatch) -> None:
    view = SpaceView()
    qtbot.addWidget(view)
    drawn = []
    monkeypatch.setattr(view.plot, "set_points", lambda *_: drawn.append(1))

    def space(diameter: float) -> SpacePicture:
        return SpacePicture("grid", np.eye(2), np.zeros(2, np.intp), diameter, "mi")

    for diameter in (1.0, 1.0, 2.0):
        view.show_space(space(diameter))
    assert len(drawn) == 2


# Files


def open_points(window, qtbot, path: Path) -> None:
    row = window.parameters.row("points")
    drop(row, path)
    qtbot.waitUntil(lambda: window.session.request("marks")["points"] == value_of(path))


def test_a_file_is_opened_in_a_thread_shown_and_undone(window, settled, qtbot, points, monkeypatch):
    row = window.parameters.row("points")
    assert row.field.text() == ""
    assert not row.clear_button.isEnabled()
    monkeypatch.setattr(
        "explorer.ui.widgets.parameter_rows.QFileDialog.getOpenFileName",
        lambda *_: (str(points), ""),
    )
    row.open_button.click()
    assert "reading" in row.field.text()
    qtbot.waitUntil(lambda: window.session.request("marks")["points"] == value_of(points))
    assert row.field.text() == "my points.csv"
    result = settled(window)
    assert result.space.name == "your own points"
    assert len(result.space.points) == 3
    recipe = json.dumps(Recipe(window.session.request("marks")).to_dict())
    assert "my points.csv#" in recipe
    assert str(points.parent) not in recipe
    row.clear_button.click()
    assert window.session.request("marks")["points"] == ""
    assert row.field.text() == ""
    window.session.undo()
    assert row.field.text() == "my points.csv"
    assert settled(window).space.name == "your own points"
    window.session.undo()
    assert window.session.request("marks")["points"] == ""
    assert not window.session.undo_text


def test_what_can_not_be_opened_is_reported_beside_the_field(
    window, qtbot, tmp_path, points
) -> None:
    row = window.parameters.row("points")
    drop(row, tmp_path)
    snapshots.check(row.error.text(), folder=tmp_path.name)
    assert row.error.isVisible()
    drop(row, tmp_path / "not there.csv")
    qtbot.waitUntil(lambda: "not there.csv" in row.error.text())
    assert row.open_button.isEnabled()
    assert row.field.text() == ""
    open_points(window, qtbot, points)
    assert not row.error.isVisible()
    drop(row, points, points)  # two files at once are ambiguous
    assert row.field.text() == "my points.csv"


def test_a_file_nobody_opened_is_asked_for(window, settled, qtbot, points, monkeypatch) -> None:
    window.session.set_value("points", value_of(points))
    qtbot.waitUntil(window.banner.isVisible)
    assert "my points.csv" in window.banner.text.text().replace("My", "my")
    assert window.banner.remedy.isVisible()
    monkeypatch.setattr(
        "explorer.ui.widgets.parameter_rows.QFileDialog.getOpenFileName",
        lambda *_: (str(points), ""),
    )
    window.banner.remedy.click()
    qtbot.waitUntil(lambda: not window.banner.isVisible())
    assert settled(window).space.name == "your own points"


def test_the_session_reopens_its_files_if_they_are_the_same(
    marks, open_window, settled, qtbot, points, tmp_path
) -> None:
    window = open_window(study="marks")
    settled(window)
    open_points(window, qtbot, points)
    settled(window)
    window.close()
    saved = json.loads(next((tmp_path / "state").rglob("window.json")).read_text())
    assert saved["files"] == {value_of(points): str(points.resolve())}
    assert str(points) not in json.dumps(saved["session"])
    again = open_window()
    assert settled(again).space.name == "your own points"
    assert not again.banner.isVisible()
    again.close()
    points.write_text("5,5\n")
    changed = open_window()
    qtbot.waitUntil(changed.banner.isVisible)
    assert "my points.csv" in changed.banner.text.text().replace("My", "my")
    qtbot.waitUntil(lambda: not changed.busy)


def test_a_changed_or_absent_file_never_stands_in_for_another(tmp_path, points) -> None:
    host = StudyRuntime()
    value = host.add_file(points)
    assert value == value_of(points)
    assert host.file(value) == points.resolve()
    points.write_text("9,9\n")
    assert host.add_file(points) != value
    with pytest.raises(FileNotOpenError, match=r"other\.csv"):
        host.file("other.csv#" + "0" * 64)
    host.close()


def test_reading_can_be_cancelled_and_folders_have_hashes(tmp_path, points) -> None:
    def stop() -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        content_hash(points, stop)
    before = content_hash(tmp_path)
    (tmp_path / "more").write_text("x")
    assert content_hash(tmp_path) != before


def test_words_on_a_command_line_open_files(tmp_path, points, marks) -> None:
    host, p = StudyRuntime(), parameter(marks, "points")
    assert typed_value(host, p, str(points)) == value_of(points)
    with pytest.raises(ValueError, match=r"^points:"):
        typed_value(host, p, str(tmp_path / "none.csv"))
    with pytest.raises(ValueError, match="is not a file"):
        typed_value(host, p, str(tmp_path))
    assert typed_value(host, parameter(marks, "eps"), "2") == 2.0
    host.close()


def test_the_commands_take_files(marks, points, capsys, open_window, settled) -> None:
    from explorer.cli import run

    code = run(["bounds", "marks", "--set", f"points={points}", "--sweep", "eps=1:2:3"])
    out = capsys.readouterr().out
    assert code == 0
    assert value_of(points) in out
    assert str(points.parent) not in out
    window = open_window(study="marks", values=(("points", str(points)),))
    assert settled(window).space.name == "your own points"

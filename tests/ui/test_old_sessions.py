"""Session files of earlier versions."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt

from explorer.engine.paths import state_folder
from explorer.studies.base.study import Scale, Sweep

DATA = Path(__file__).parent.parent / "data"


@pytest.fixture
def put_there(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    def put(name: str) -> None:
        shutil.copy(DATA / name, state_folder() / "window.json")

    return put


def test_tabs_stand_above_all_but_the_guarantee_in_layouts_without_their_row(
    put_there, open_window, settled, qtbot
) -> None:
    put_there("compat/window-3.json")
    window = open_window()
    settled(window)
    left, right = window.docks["question"], window.docks["guarantee"]
    for area in (None, Qt.DockWidgetArea.TopDockWidgetArea):
        window.show_study(window.session.state.study)
        window.resize(1280, 800)
        if area is not None:  # as older versions allowed
            window.dock_area.addDockWidget(area, left)
            window.restore_layout(window.saved_layout())
        corner = window.tabs.mapTo(window.dock_area, QPoint())
        qtbot.waitUntil(lambda: left.y() >= window.tabs.height())
        assert (corner.x(), corner.y(), left.x(), right.y()) == (16, 0, 0, 0), area
        assert left.y() == window.pages.y(), area
        assert right.height() == window.dock_area.height(), area
        assert window.pages.geometry().right() < right.x(), area
        window.resize(1024, 720)
        qtbot.waitUntil(window.compact_layout.rail.isVisible)
        rail = window.compact_layout.rail.geometry()
        assert (rail.y(), rail.height()) == (0, window.dock_area.height()), area
        assert window.pages.geometry().right() < rail.x(), area
        window.show_tool("figures")
        assert window.tabs.isVisible(), area
        assert window.pages.width() == window.dock_area.width(), area


def test_the_first_format_still_opens(put_there, open_window, settled, qtbot) -> None:
    put_there("sessions/window-1.json")
    window = open_window(theme="system")
    result = settled(window)
    assert not window.banner.isVisible()
    assert window.session_store.complaint == ""
    request = window.session.request("shuffle-rdp")
    assert window.session.state.study == "shuffle-rdp"
    assert (request["eps0"], request["k"], request.quantity) == (1.5, 2500, "rdp")
    assert request.sweep == Sweep("lam", 2, 256, 80, Scale.LOG)
    heatmap = window.session.state.request_of("heatmap")
    assert (heatmap["sigma"], heatmap.seed) == (0.05, 17)
    qtbot.waitUntil(lambda: window.session.state.selection is not None)
    assert window.session.state.selection.users == 200
    view = window.workspaces["bounds"].view_state()
    assert view.y_log
    assert "renyi_cap" in view.hidden
    assert "renyi_cap" in {s.key for s in result.series}
    assert window.theme.name == "dark"
    assert not window.session.undo_text
    window.theme.choose("light")


def test_a_session_of_0_1_0_opens_with_pins_and_hidden_curves(
    put_there, open_window, settled, qtbot
) -> None:
    put_there("compat/window-2.json")
    window = open_window()
    settled(window)
    assert not window.banner.isVisible()
    assert window.session.state.study == "heatmap"
    request = window.session.request()
    assert (request["mechanism"], request["resolution"], request.seed) == ("least-squares", "16", 5)
    assert window.session.state.selection.users == 200
    window.session.set_study("shuffle-rdp")
    settled(window)
    view = window.workspaces["bounds"].view_state()
    assert "theorem2" in view.hidden
    assert not view.y_log
    assert [dict(p.request.values)["T"] for p in window.session.state.pins] == [100_000]
    assert window.session.request("itemwise")["delta"] == 1e-6

"""Esc, files opened from a question about curves, the status bar and the start page."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QFileDialog, QToolButton

from tests.engine.jobs import never_ends
from tests.ui.map_page import made_checkins
from tests.ui.small_map import SMALL_MAP

LONG = "Starbucks_visits_of_last_year_in_all_districts.csv"


def test_esc_stops_the_loading_and_not_the_answer(
    open_window, settled, qtbot, tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr("explorer.ui.controllers.file_controller.read_exported", never_ends)
    window = open_window(study="shuffle-rdp")
    settled(window)
    window.session.set_value("eps0", 1.7)
    window.files.open_recipe(tmp_path / "slow.svg")
    answer = window.answers["bounds"]
    assert window.files.busy
    assert answer.busy
    QTest.keyClick(window, Qt.Key.Key_Escape)
    assert not window.files.busy
    QTest.keyClick(window, Qt.Key.Key_Escape)  # too late for the file, not meant for the answer
    result = settled(window)
    assert result.request["eps0"] == 1.7
    window.session.set_value("eps0", 1.6)
    qtbot.waitUntil(lambda: bool(window.activity.running))
    job = window.activity.running[0]
    window.activity.note_named(job)
    monkeypatch.setattr("explorer.ui.controllers.activity.SHOW_AFTER_MS", 0)
    assert window.activity.escape()  # named by the status bar
    qtbot.waitUntil(lambda: not answer.busy)


def test_check_ins_opened_from_curves_are_shown_and_named(
    open_window, settled, qtbot, tmp_path
) -> None:
    window = open_window(study="choose-alpha", size=(1024, 720))
    settled(window)
    window.session.set_value("resolution", "16", "heatmap")
    path = made_checkins(tmp_path).rename(tmp_path / LONG)
    with qtbot.waitSignal(window.data.loaded):
        window.files.open_data([path])
    assert window.pages.currentWidget() is window.workspaces["map"]
    assert window.data.current.basename == LONG
    assert window.data_state.text().startswith(LONG)
    qtbot.waitUntil(lambda: window.current_result is not None)
    window.show_all()
    QApplication.processEvents()
    page = window.start.page
    assert page.horizontalScrollBar().maximum() == 0
    assert window.width() == 1024


def test_the_dialog_of_files_shows_its_icons(open_window, qtbot, tmp_path) -> None:
    window = open_window(study="choose-alpha")
    dialog = QFileDialog(window, "Open check-ins", str(tmp_path))
    dialog.setOption(QFileDialog.Option.DontUseNativeDialog)
    dialog.show()
    qtbot.waitExposed(dialog)
    buttons = [b for b in dialog.findChildren(QToolButton) if b.isVisible()]
    assert len(buttons) >= 5
    for button in buttons:
        inner = button.grab(button.rect().adjusted(3, 3, -3, -3)).toImage()
        seen = {inner.pixel(x, y) for x in range(inner.width()) for y in range(inner.height())}
        assert len(seen) > 8, button.objectName()
    dialog.close()


def test_rejected_rows_leave_the_page_its_room_and_are_shown_when_asked(
    open_window, settled, qtbot, checkins, tmp_path
) -> None:
    window = open_window(study="heatmap", values=SMALL_MAP)
    settled(window)
    room = window.pages.geometry()
    damaged = tmp_path / checkins.name
    bad = "1\t2010-01-01T00:00:00Z\tnorth\t-73.9\t7\n"
    damaged.write_text(checkins.read_text("utf-8") + 2 * bad, "utf-8")
    window.files.open_any(damaged)
    qtbot.waitUntil(window.status_row.aside.isVisible)
    settled(window)
    assert window.pages.geometry() == room
    rejected = window.data.current.report.total_rejected
    assert rejected >= 2
    assert not [d for d in window.findChildren(QDialog) if d.isVisible()]
    row = window.status_row
    assert row.aside.text() == f"{rejected:,} rows rejected · Show…"
    qtbot.mouseClick(row.aside, Qt.MouseButton.LeftButton)
    assert window.data_panel.dialog("report").isVisible()
    window.data_panel.dialog("report").close()
    window.session.set_study("itemwise")  # uses no check-ins
    assert not row.aside.isVisible()


def test_a_map_leads_to_its_release_and_curves_do_not(open_window, settled) -> None:
    window = open_window(study="heatmap", values=SMALL_MAP)
    settled(window)
    assert window.guarantee.release.isVisible()
    window.guarantee.release.click()
    assert window.tool is window.tools["release"]
    window.show_study("choose-alpha")
    settled(window)
    assert not window.guarantee.release.isVisible()

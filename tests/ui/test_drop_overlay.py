"""Drag over the window: the overlay states whether a file can be opened."""

from __future__ import annotations

import json
from pathlib import Path

from PySide6.QtCore import QEvent, QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QApplication

from explorer.ui.app.drop_overlay import ASKED, BACKGROUND, RECIPE
from tests import snapshots
from tests.geography.backgrounds import write_geojson

LEFT, PLAIN = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
COPY = Qt.DropAction.CopyAction


def mime(*paths: Path) -> QMimeData:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    return data


def entered(window, qtbot, data: QMimeData):
    """Drag over the window and wait for the check."""
    event = QDragEnterEvent(QPoint(300, 200), COPY, data, LEFT, PLAIN)
    with qtbot.waitSignal(window.drop_overlay.looked):
        QApplication.sendEvent(window, event)
        assert event.isAccepted()
        assert window.drop_overlay.isVisible()
        assert window.drop_overlay.geometry() == window.rect()
    return window.drop_overlay


def moved(window, data: QMimeData) -> bool:
    event = QDragMoveEvent(QPoint(310, 210), COPY, data, LEFT, PLAIN)
    QApplication.sendEvent(window, event)
    return event.isAccepted()


def checkins(folder: Path) -> Path:
    path = folder / "besuche.csv"
    rows = [f"K{i % 9};48,{200 + i};16,{300 + i}" for i in range(60)]
    path.write_text("\n".join(["Kunde;Breite;Länge", *rows]), encoding="utf-8")
    return path


def test_a_file_that_can_be_opened_is_highlighted_and_dropped(
    open_window, settled, qtbot, tmp_path
) -> None:
    window = open_window(study="unbounded")
    settled(window)
    window.session.set_value("resolution", "16", "heatmap")
    path = checkins(tmp_path)
    data = mime(path)
    overlay = entered(window, qtbot, data)
    assert overlay.can_open is True
    assert overlay.title.endswith("besuche.csv")
    snapshots.check(overlay.detail)
    assert moved(window, data)
    with qtbot.waitSignal(window.data.loaded):
        QApplication.sendEvent(window, QDropEvent(QPointF(300, 200), COPY, data, LEFT, PLAIN))
    assert not overlay.isVisible()
    assert window.data.current.rows == 60
    settled(window)


def test_one_that_cannot_be_opened_says_why_and_is_not_taken(
    open_window, settled, qtbot, tmp_path
) -> None:
    window = open_window(study="unbounded")
    settled(window)
    path = tmp_path / "letter.docx"
    path.write_bytes(b"PK\x03\x04" + bytes(range(256)) * 20)
    data = mime(path)
    overlay = entered(window, qtbot, data)
    assert overlay.can_open is False
    assert overlay.title.startswith("letter.docx")
    assert "letter.docx" in overlay.detail
    assert overlay.detail in overlay.accessibleName()
    assert not moved(window, data)
    QApplication.sendEvent(window, QDragLeaveEvent())
    assert not overlay.isVisible()
    empty = tmp_path / "empty.csv"
    empty.touch()
    assert "empty" in entered(window, qtbot, mime(empty)).detail
    settled(window)


def test_recipes_and_doubtful_columns_are_told_apart(open_window, settled, qtbot, tmp_path) -> None:
    from tests.fuzz.recipes import recipes

    window = open_window(study="unbounded")
    settled(window)
    recipe = tmp_path / "curve.json"
    recipe.write_text(json.dumps(next(r for r in recipes() if r["study"] == "shuffle-rdp")))
    assert entered(window, qtbot, mime(recipe)).detail == RECIPE
    QApplication.sendEvent(window, QDragLeaveEvent())
    table = tmp_path / "table.csv"
    table.write_text("a,b,c\n" + "x,y,z\n" * 20)
    assert entered(window, qtbot, mime(table)).detail == ASKED
    settled(window)


def test_what_is_no_file_is_not_highlighted(open_window, settled) -> None:
    window = open_window(study="unbounded")
    settled(window)
    data = QMimeData()
    data.setText("some words")
    event = QDragEnterEvent(QPoint(300, 200), COPY, data, LEFT, PLAIN)
    event.ignore()
    QApplication.sendEvent(window, event)
    assert not event.isAccepted()
    assert not window.drop_overlay.isVisible()
    assert event.type() == QEvent.Type.DragEnter


def test_tiles_and_lines_become_a_background(open_window, settled, qtbot, tmp_path) -> None:
    window = open_window(study="unbounded")
    settled(window)
    line = {"type": "LineString", "coordinates": [[0, 0], [1, 1]]}
    data = mime(write_geojson(tmp_path / "roads.geojson", line))
    assert entered(window, qtbot, data).detail == BACKGROUND
    before = window.data.current.fingerprint
    QApplication.sendEvent(window, QDropEvent(QPointF(300, 200), COPY, data, LEFT, PLAIN))
    backgrounds = window.workspaces["map"].backgrounds
    qtbot.waitUntil(lambda: bool(backgrounds.listed))
    assert backgrounds.credits == ("roads.geojson",)  # it names nobody
    assert window.data.current.fingerprint == before
    assert window.session.state.study == "heatmap"
    settled(window)

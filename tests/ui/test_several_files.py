"""Several files or a folder as one data set: dropped, chosen, saved."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QFileDialog

from tests.checkins.test_multifile import rows_of, write_part
from tests.ui.small_map import SMALL_MAP


@pytest.fixture
def parts(tmp_path: Path) -> list[Path]:
    folder = tmp_path / "parts"
    return [
        write_part(folder / "a[1].csv", [*rows_of(0, 60), "1,never,2,3,4"]),
        write_part(folder / "b.csv.gz", rows_of(60, 120)),
    ]


def _drop(window, *paths: Path) -> None:
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    window.dropEvent(
        QDropEvent(
            QPointF(400, 300),
            Qt.DropAction.CopyAction,
            mime,
            Qt.MouseButton.LeftButton,
            Qt.KeyboardModifier.NoModifier,
        )
    )


def test_files_and_folders_are_dropped_chosen_and_told(
    open_window, settled, qtbot, monkeypatch, parts
) -> None:
    window = open_window(study="heatmap", values=SMALL_MAP)
    settled(window)
    ways = {
        "files dropped": lambda: _drop(window, *parts[::-1]),
        "folder dropped": lambda: _drop(window, parts[0].parent),
        "files chosen": window.menus.actions["open"].trigger,
        "folder chosen": window.menus.actions["open-folder"].trigger,
    }
    chosen = ([str(path) for path in parts], "")
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_: chosen)
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(parts[0].parent))
    for way, does in ways.items():
        with qtbot.waitSignal(window.data.loaded):
            does()
        data = window.data.current
        assert data.rows == 120, way
        assert [part.rejected for part in data.report.parts] == [1, 0]
        folder = "folder" in way
        assert data.basename == ("parts" if folder else "a[1].csv and 1 more")
        kept = {parts[0].parent} if folder else set(parts)
        assert set(window.session_store.data_source) == kept
    assert str(parts[0].parent) in window.session_store.recent
    assert str(parts[0]) not in window.session_store.recent
    window.data_panel.show_report()
    dialog = window.data_panel.dialog("report")
    top = dialog.tree.topLevelItem(0)
    assert top.child(0).text(0) == "a[1].csv, line 62"

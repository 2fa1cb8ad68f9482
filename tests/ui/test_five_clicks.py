"""From opening a file to a recommended ε in five clicks."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QMenu, QMenuBar, QWidget
from pytestqt.qtbot import QtBot

from explorer.ui.app.main_window import MainWindow
from tests.ui.map_page import made_checkins


class Mouse:
    """Clicks where a user would, and counts."""

    def __init__(self) -> None:
        self.clicks = 0

    def click(self, widget: QWidget, at: QPoint | None = None) -> None:
        assert widget.isVisible()
        assert widget.isEnabled()
        self.clicks += 1
        at = widget.rect().center() if at is None else at
        QTest.mouseClick(widget, Qt.MouseButton.LeftButton, pos=at)


def entry(menu: QMenu | QMenuBar, words: str) -> QPoint:
    """Return the position of an entry of a menu or menu bar."""
    action = next(a for a in menu.actions() if a.text().replace("&", "").startswith(words))
    return menu.actionGeometry(action).center()


@pytest.mark.main_path
def test_from_a_file_to_an_epsilon_in_five_clicks(
    open_window: Callable[..., MainWindow],
    qtbot: QtBot,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path, mouse = made_checkins(tmp_path, rows=20_000, users=600), Mouse()
    window = open_window(study="heatmap", values=(("resolution", "16"),))
    qtbot.waitUntil(lambda: window.workspaces["map"].current_result is not None)

    def chosen(*_: object) -> tuple[list[str], str]:
        mouse.clicks += 1  # system dialog: a double click on the file
        return [str(path)], ""

    monkeypatch.setattr(QFileDialog, "getOpenFileNames", chosen)
    bar = window.menuBar()
    mouse.click(bar, entry(bar, "File"))
    menu = next(m for m in bar.findChildren(QMenu) if m.isVisible())
    mouse.click(menu, entry(menu, "Open check-ins"))
    qtbot.waitUntil(
        lambda: window.data.current is not None and window.data.current.basename == path.name
    )
    page = window.workspaces["map"]
    qtbot.waitUntil(lambda: page.current_result is not None)
    tabs = page.tools.tabs
    mouse.click(tabs, tabs.tabRect(1).center())
    view = page.utility.view
    qtbot.waitUntil(view.parts.use.isEnabled)
    assert re.match(r"ε (≈|≤) [\d.]+$", view.headline.number)
    assert re.search(
        r"9 of 10 maps by .* have an average error below [\d.]+ km", view.headline.text
    )
    assert mouse.clicks == 4
    before = view.request["epsilon"]
    mouse.click(view.parts.use)
    assert mouse.clicks == 5
    assert view.request["epsilon"] != before
    assert f"At the current ε = {view.request['epsilon']:g} they are below ≈" in view.headline.text

"""The map at 1024 × 720, the smallest supported size."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtWidgets import QToolButton
from pytestqt.qtbot import QtBot

from explorer.ui.app.main_window import MainWindow
from explorer.ui.map.tool_bar import ToolBar
from tests.ui.small_map import SMALL_MAP


def test_in_a_small_window_which_epsilon_is_a_tab_beside_the_maps(
    open_window: Callable[..., MainWindow], qtbot: QtBot
) -> None:
    beside = (("beside", "true,least-squares,laplace"),)
    window = open_window(study="heatmap", values=SMALL_MAP + beside)
    page = window.workspaces["map"]
    which, tools = page.utility, page.findChild(ToolBar)
    qtbot.waitUntil(lambda: page.current_result is not None)
    window.resize(1400, 900)
    qtbot.waitUntil(lambda: len(page.panes.keys) == 4)
    assert tools.tabs.isHidden()

    window.resize(1024, 720)
    qtbot.waitUntil(lambda: which.narrow and tools.tabs.isVisible())
    qtbot.waitUntil(lambda: page.panes.keys == ("true", "private"))
    assert window.width() == 1024  # no widget requires more width
    assert not page.add_button.isEnabled()
    for button in page.findChildren(QToolButton):
        if button.isVisible():
            corner = button.mapTo(page, button.rect().bottomRight())
            assert page.rect().contains(corner), button.text()

    tools.tabs.setCurrentIndex(1)
    assert which.view.isVisible()
    assert page.preview.isHidden()
    assert not page.play_button.isVisible()
    tools.tabs.setCurrentIndex(0)
    assert which.view.isHidden()
    assert page.panes.isVisible()

    window.resize(1400, 900)
    qtbot.waitUntil(lambda: len(page.panes.keys) == 4)


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (1024, 720)])
def test_no_button_of_which_epsilon_is_cut_short(
    open_window: Callable[..., MainWindow], qtbot: QtBot, width: int, height: int
) -> None:
    window = open_window(study="heatmap", values=SMALL_MAP)
    page = window.workspaces["map"]
    qtbot.waitUntil(lambda: page.current_result is not None)
    window.resize(width, height)
    page.utility.action.setChecked(True)
    qtbot.waitUntil(lambda: page.utility.view is not None and page.utility.view.isVisible())
    parts = page.utility.view.parts
    buttons = parts.use, parts.sure, parts.more, parts.stop, parts.copy, parts.export
    qtbot.waitUntil(lambda: all(button.width() > 30 for button in buttons))
    short = {button.text(): button.width() - button.sizeHint().width() for button in buttons}
    assert all(room >= 0 for room in short.values()), short

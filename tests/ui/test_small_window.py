"""The map at 1024 × 720, the smallest supported size."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QLabel, QToolButton
from pytestqt.qtbot import QtBot

from explorer.studies.heatmap.experiments.utility_report import CURATOR_NOTE
from explorer.ui.app.main_window import MainWindow
from tests.ui.small_map import SMALL_MAP


def test_a_small_window_has_three_maps_at_most_and_utility_takes_their_place(
    open_window: Callable[..., MainWindow], qtbot: QtBot
) -> None:
    beside = (("beside", "true,least-squares,laplace"),)
    window = open_window(study="heatmap", values=SMALL_MAP + beside)
    page = window.workspaces["map"]
    which, tools = page.utility, page.tools
    qtbot.waitUntil(lambda: page.current_result is not None)
    window.resize(1400, 900)
    qtbot.waitUntil(lambda: len(page.panes.keys) == 4)

    window.resize(1024, 720)
    qtbot.waitUntil(lambda: which.max_panes == 3)
    qtbot.waitUntil(lambda: page.panes.keys == ("true", "private", "private:least-squares"))
    assert window.width() == 1024  # no widget requires more width
    assert not page.add_button.isEnabled()
    for button in page.findChildren(QToolButton):
        if button.isVisible():
            corner = button.mapTo(page, button.rect().bottomRight())
            assert page.rect().contains(corner), button.text()

    tools.tabs.setCurrentIndex(1)
    assert which.view.isVisible()
    assert not page.preview.isVisible()
    assert not page.play_button.isVisible()
    tools.tabs.setCurrentIndex(0)
    assert which.view.isHidden()
    assert page.panes.isVisible()

    window.resize(1400, 900)
    qtbot.waitUntil(lambda: len(page.panes.keys) == 4)


def test_a_new_session_shows_the_difference_where_there_is_space(
    open_window: Callable[..., MainWindow], qtbot: QtBot
) -> None:
    small = open_window(study="shuffle-rdp", size=(1024, 720))
    small.show_study("heatmap")
    page = small.workspaces["map"]
    assert page.panes.keys == ("true", "private")
    qtbot.waitUntil(lambda: page.add_button.isEnabled())
    page.beside.show("difference")
    assert page.panes.keys == ("true", "private", "difference")
    assert not page.add_button.isEnabled()
    small.session.undo()
    small.close()
    stored = open_window(size=(1280, 800))
    assert stored.workspaces["map"].panes.keys == ("true", "private")  # as it was left


def test_a_new_wide_session_shows_the_difference_in_every_way_to_the_map(
    open_window: Callable[..., MainWindow],
) -> None:
    window = open_window(study="shuffle-rdp", size=(1280, 800))
    window.show_study("heatmap")
    assert window.workspaces["map"].panes.keys == ("true", "private", "difference")
    window.session.undo()
    assert window.session.state.study == "shuffle-rdp"


def test_no_button_of_which_epsilon_is_cut_short(
    open_window: Callable[..., MainWindow], qtbot: QtBot
) -> None:
    window = open_window(study="heatmap", values=SMALL_MAP)
    page = window.workspaces["map"]
    qtbot.waitUntil(lambda: page.current_result is not None)
    window.resize(1280, 800)
    page.utility.action.setChecked(True)
    qtbot.waitUntil(lambda: page.utility.view is not None and page.utility.view.isVisible())
    parts = page.utility.view.parts
    buttons = parts.use, parts.sure, parts.more, parts.stop, parts.copy
    for size in ((1280, 800), (1024, 720)):
        window.resize(*size)
        qtbot.turns()
        qtbot.waitUntil(lambda: all(button.width() > 30 for button in buttons))
        short = {button.text(): button.width() - button.sizeHint().width() for button in buttons}
        assert all(room >= 0 for room in short.values()), short
        # What the guarantee does not cover is legible as a whole.
        note = page.answer.beside
        assert note.text() == CURATOR_NOTE
        (shown,) = note.findChildren(QLabel)
        assert shown.text() == CURATOR_NOTE
        assert shown.heightForWidth(note.width()) <= note.height() <= page.answer.height() / 3

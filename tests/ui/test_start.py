"""The start page: when it is shown, its options, keys and way back."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QPushButton

from explorer.engine.session.schema import Visit
from explorer.resources import resource_bytes
from explorer.studies.base.study import parameter
from explorer.studies.catalog import START_OPTIONS
from explorer.studies.registry import get_study, study_infos
from explorer.ui.app.application import Application
from explorer.ui.app.frame import MENUS, visit_label
from explorer.ui.app.options import WindowOptions
from explorer.ui.panels.start import apart
from tests.ui.access import bare, check
from tests.ui.map_page import made_checkins


def button(window, words: str) -> QPushButton:
    return next(b for b in window.start.page.findChildren(QPushButton) if bare(b) == words)


@pytest.fixture
def window(open_window, settled):
    window = open_window(study="shuffle-rdp", start_page=True)
    assert window.start.shown
    settled(window)
    return window


@pytest.mark.parametrize("option", START_OPTIONS, ids=lambda option: option.title)
def test_every_start_option_has_a_picture_and_an_action(option) -> None:
    assert len(resource_bytes(option.picture)) > 500
    for asked in filter(None, (option.does, option.other_does)):
        kind, subject, part = apart(asked)
        assert kind in ("open", "sample", "figures", "study")
        if part:
            assert parameter(get_study(subject), part).in_panel
        elif subject:
            assert get_study(subject)


def test_a_first_start_shows_all_questions_and_nothing_else(open_window, qtbot) -> None:
    window = open_window(start_page=None)
    assert not window.dock_area.isVisible()
    assert not window.banner.isVisible()
    texts = {b.text() for b in window.start.page.findChildren(QPushButton)}
    assert {c.name.replace("&", "&&") for c in study_infos()} <= texts
    qtbot.waitUntil(window.start.page.first.hasFocus)
    assert check(window) == []


@pytest.fixture
def seen_first(own_looks, tmp_path, monkeypatch, qtbot):
    """Return a window that has only its start page."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    launch = Application(WindowOptions(theme="light"), ["test"])
    launch.show()
    window = launch.window
    assert window.start.shown
    assert not window.built
    yield window
    window.close()
    window.deleteLater()


def test_a_door_opens_before_what_is_behind_it_is_there(seen_first, settled, qtbot) -> None:
    qtbot.mouseClick(button(seen_first, "Linear queries"), Qt.MouseButton.LeftButton)
    assert seen_first.built
    assert seen_first.session.state.study == "linear-queries"
    assert seen_first.dock_area.isVisible()
    assert seen_first.guarantee.isVisible()  # built for the present width
    settled(seen_first)


def test_what_is_behind_the_page_comes_by_itself_and_moves_nothing(seen_first, qtbot) -> None:
    bars = [bar.geometry() for bar in (seen_first.menuBar(), seen_first.statusBar())]
    page = seen_first.start.page.mapTo(seen_first, seen_first.start.page.rect().topLeft())
    qtbot.waitUntil(lambda: seen_first.built)
    assert [bar.geometry() for bar in (seen_first.menuBar(), seen_first.statusBar())] == bars
    assert seen_first.start.shown
    assert seen_first.start.page.mapTo(seen_first, page * 0) == page
    assert seen_first.start.page.first.hasFocus()


def test_a_window_closed_before_anything_is_behind_its_page_is_gone(seen_first, qtbot) -> None:
    seen_first.close()
    qtbot.wait(1100)  # by then it would have been built, painted or not
    assert not seen_first.built


@pytest.mark.main_path
def test_a_question_leads_to_its_answer_and_back(window, settled, qtbot) -> None:
    qtbot.mouseClick(button(window, "Linear queries"), Qt.MouseButton.LeftButton)
    assert window.session.state.study == "linear-queries"
    assert window.dock_area.isVisible()
    assert not window.start.shown
    assert window.question.name.text() == "Linear queries"
    settled(window)
    for way in ("button", "key"):
        if way == "button":
            qtbot.mouseClick(window.question.all, Qt.MouseButton.LeftButton)
        else:
            qtbot.keyClick(window, Qt.Key.Key_Home, Qt.KeyboardModifier.AltModifier)
        assert window.start.shown
        past = next(
            b
            for b in window.start.page.findChildren(QPushButton)
            if b.text().startswith("Linear queries, ") and b.isVisibleTo(window)
        )
        assert past.text().endswith(" · today")
        qtbot.mouseClick(past, Qt.MouseButton.LeftButton)
        assert window.session.state.study == "linear-queries"
        assert not window.start.shown


def test_check_ins_of_a_door_are_shown_on_the_map(window, qtbot, tmp_path, monkeypatch) -> None:
    path = made_checkins(tmp_path, rows=3000, users=100)
    window.session.set_study("amplification")
    window.session.set_value("resolution", "16", "heatmap")
    monkeypatch.setattr(
        "explorer.ui.controllers.file_controller.QFileDialog.getOpenFileNames",
        lambda *_: ([str(path)], ""),
    )
    qtbot.mouseClick(button(window, "Open check-ins…"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not window.start.shown)
    assert window.session.state.study == "heatmap"
    assert window.data.current.basename == path.name


def test_arrows_walk_from_door_to_door_and_doors_open(window, qtbot) -> None:
    def press(key: Qt.Key) -> str:
        qtbot.keyClick(window.focusWidget(), key)
        return bare(window.focusWidget())

    assert press(Qt.Key.Key_Right).startswith("Start")
    assert press(Qt.Key.Key_Right) == "Browse the figures"
    assert press(Qt.Key.Key_Right) == "Browse the figures"  # nothing to the right of it
    assert press(Qt.Key.Key_Up).startswith("Take the tour")
    assert press(Qt.Key.Key_Right).startswith("Show this page")
    window.start.page.first.setFocus()
    steps = [press(Qt.Key.Key_Down) for _ in range(4)]
    assert steps[-2:] == ["Heatmap theory", "Shuffled histograms"]
    qtbot.mouseClick(button(window, "Browse the figures"), Qt.MouseButton.LeftButton)
    assert not window.start.shown
    assert window.pages.currentWidget() is window.tools["figures"]
    window.show_all()
    qtbot.mouseClick(button(window, "Start with your numbers"), Qt.MouseButton.LeftButton)
    assert window.session.state.study == "shuffle-rdp"
    assert window.parameters.row("n").isAncestorOf(window.focusWidget())


@pytest.mark.parametrize("width", [1280, 1024])
def test_the_doors_stand_in_one_line_and_open_by_their_letters(window, qtbot, width) -> None:
    window.activateWindow()
    window.resize(width, 720)
    page = window.start.page
    qtbot.waitUntil(lambda: page.width() == width)
    doors = [b for b in page.findChildren(QPushButton) if b.objectName() == "door"]
    assert len(doors) == len(START_OPTIONS)
    qtbot.waitUntil(lambda: len({b.mapTo(page, b.rect().topLeft()).y() for b in doors}) == 1)
    letters = [b.text()[b.text().index("&") + 1].upper() for b in doors]
    menus = {title[title.index("&") + 1] for title in MENUS}
    assert len({*letters} - menus) == len(doors)
    qtbot.keyClick(window, Qt.Key(ord(letters[2])), Qt.KeyboardModifier.AltModifier)
    qtbot.waitUntil(lambda: window.pages.currentWidget() is window.tools["figures"])


def test_unticked_a_start_goes_on_where_the_last_one_ended(window, open_window, settled) -> None:
    window.show_study("choose-alpha")
    window.show_study("amplification")
    window.session.set_value("eps0", 1.5)
    settled(window)
    window.dock_area.docks["guarantee"].hide()
    window.close()
    again = open_window(start_page=None)
    assert again.start.shown
    page = again.start.page
    # The text gives way to the width; the name has all of it.
    names = [b.accessibleName() for b in page.findChildren(QPushButton)]
    past = [name for name in names if " · today" in name]
    assert [words.partition(",")[0] for words in past] == ["Amplification by shuffling", "Choose α"]
    assert "ε₀ = 1.5" in past[0]
    page.findChild(QCheckBox).setChecked(False)
    again.close()  # the dock area was never shown: the stored layout is unchanged
    third = open_window(start_page=None)
    assert not third.start.shown
    assert third.session.request("amplification")["eps0"] == 1.5
    assert not third.docks["guarantee"].isVisible()
    named = open_window(start_page=None, study="itemwise")
    assert not named.start.shown


@pytest.mark.parametrize(
    ("days", "word"), [(0, "today"), (1, "yesterday"), (40, "1 January")], ids=str
)
def test_a_visit_tells_its_day(days, word) -> None:
    noon = datetime(2026, 1, 1, 12, tzinfo=UTC).astimezone()
    visit = Visit("heatmap", "Heatmaps, ε = 1", noon.isoformat())
    assert visit_label(visit, date(2026, 1, 1) + timedelta(days)) == f"Heatmaps, ε = 1 · {word}"
    assert visit_label(Visit("heatmap", "Heatmaps", "once"), date(2026, 1, 1)) == "Heatmaps"

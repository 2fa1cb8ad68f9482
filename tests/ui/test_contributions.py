"""Contributions per user on the real map workspace."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QGuiApplication
from PySide6.QtTest import QTest

from explorer.figures.style import THEMES
from explorer.ui.base.theme import map_style_for
from explorer.ui.map.contributions import Contributions
from tests.ui.map_page import MapPage, made_checkins, opened

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def checkins(tmp_path_factory):
    return made_checkins(tmp_path_factory.mktemp("contributions"))


@pytest.fixture
def map_page(qtbot, checkins) -> Iterator[MapPage]:
    with opened(qtbot) as map_page:
        map_page.widget.resize(1300, 800)
        map_page.load(checkins)
        map_page.session.set_value("resolution", "32", "heatmap")
        yield map_page


def filled(map_page: MapPage) -> Contributions:
    """Open by a click on the number of users and wait for results at rest."""
    view = map_page.map.contributions
    map_page.answered()
    if not view.isVisible():
        map_page.qtbot.mouseClick(map_page.map.users.label, Qt.MouseButton.LeftButton)
    map_page.qtbot.waitUntil(lambda: map_page.map.current_result.complete)
    assert view.isVisible()
    assert view.isEnabled()
    return view


def bars(view: Contributions) -> int:
    """Return the number of pixels in the colour of the first bars."""
    picture = view.bars.grab().toImage()
    wanted = QColor(THEMES[map_style_for(view.palette()).theme].curves[0]).rgb()
    return sum(
        picture.pixel(x, y) == wanted
        for x in range(0, picture.width(), 3)
        for y in range(0, picture.height(), 3)
    )


def test_one_click_opens_it_and_it_counts_every_user(map_page: MapPage) -> None:
    view = filled(map_page)
    view.copy.click()
    text = QGuiApplication.clipboard().text()
    about = [line for line in text.splitlines() if line.startswith("#")]
    assert about[0].startswith("# curator only – not private")
    rows = list(csv.reader(io.StringIO("\n".join(text.splitlines()[len(about) :]))))
    assert rows[0][2].startswith("users")
    assert [[float(x) for x in row] for row in rows[1:]] == [list(r) for r in view.bars.table.rows]
    map_page.map.utility.action.setChecked(True)
    assert not view.isVisible()
    map_page.map.contributions.action.setChecked(True)
    assert view.isVisible()
    assert not map_page.map.utility.action.isChecked()
    assert map_page.map.how_good.isVisible()
    users = int(map_page.map.current_result.readout("users_used").value)
    table = view.bars.table
    for column in (2, 3):
        assert sum(row[column] for row in table.rows) == users
    assert view.badge.text() == "curator only"
    assert f"half of the {users} users" in view.sentence.text()
    assert f"{table.rows[0][2]:,.0f} users" in view.bars.toolTip()
    assert "curator" in view.bars.toolTip()
    assert bars(view) > 20
    view.bars.show_table(None, 1)
    assert bars(view) == 0
    QTest.keyClick(map_page.widget, Qt.Key.Key_U)
    assert not view.isVisible()
    assert not map_page.map.users.label.isChecked()


def test_rule_and_cap_are_set_in_the_window_and_their_bias_is_said(map_page: MapPage) -> None:
    view = filled(map_page)
    assert "bias" not in view.sentence.text()
    before, plain = view.bars.table.rows, view.bars.grab().toImage()
    map_page.session.set_value("weights", "cells", "heatmap")
    map_page.session.set_value("cap", 4, "heatmap")
    map_page.answered()
    view = filled(map_page)
    assert view.bars.cap == 4
    assert view.bars.table.rows == before  # all check-ins, whatever the contribution rule
    assert "at most 4" in view.sentence.text()
    assert "no ε" in view.sentence.text()
    view.bars.resize(plain.size())
    assert view.bars.grab().toImage() != plain  # line at the cap
    assert "no ε" in map_page.map.metrics.loss.sentence.toolTip()


def test_it_is_grey_while_another_answer_is_computed_and_empty_without_data(
    map_page: MapPage,
) -> None:
    view = filled(map_page)
    result = map_page.map.current_result
    view.show_result(replace(result, tables=(), complete=False))
    assert not view.isEnabled()
    assert view.bars.table is not None
    map_page.session.set_selection(None)
    assert view.bars.table is None
    assert view.sentence.text() == ""


def test_the_number_of_users_keeps_its_place_under_an_early_look(map_page: MapPage, qtbot) -> None:
    """Another tool bar row would move the maps under the pointer."""
    result, users = map_page.answered(), map_page.map.users
    said, width = users.label.text(), users.label.width()
    assert said.startswith("All ")
    without = tuple(item for item in result.readouts if not item.key.startswith("users_"))
    users.show_result(replace(result, readouts=without, early=True))
    assert not users.label.isEnabled()  # greyed: former result
    users.follow(map_page.session.state.selection)
    qtbot.turns()
    assert users.label.isVisible()
    assert (users.label.text(), users.label.width()) == (said, width)
    users.show_result(result)
    assert users.label.isEnabled()


def test_the_number_of_users_leaves_room_for_the_bars_other_buttons(open_window, settled) -> None:
    window = open_window(study="heatmap", values=(("resolution", "16"),))
    window.resize(1280, 800)
    settled(window)
    page = window.workspaces["map"]
    assert page.users.label.text() == "All 509 users"
    assert page.play_button.isVisible()

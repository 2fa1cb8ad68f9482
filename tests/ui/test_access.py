"""All controls have names and are in the tab order; keys and mnemonics are unique."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QAbstractButton, QLabel, QMenu, QWidget

from explorer.ui.app.tab_order import focus_chain
from explorer.ui.widgets.number_slider import NumberSlider
from tests.ui.access import check, controls, mnemonics
from tests.ui.small_map import SMALL_MAP


@pytest.fixture(params=["heatmap", "shuffle-rdp"])
def window(request, open_window, settled):
    window = open_window(
        study=request.param, values=SMALL_MAP if request.param == "heatmap" else ()
    )
    settled(window)
    return window


def test_every_control_and_menu_is_reached_by_name_by_tab_and_by_keys(window) -> None:
    assert len(controls(window)) > 20
    assert check(window) == []
    assert set(controls(window)) <= set(focus_chain(window))
    # Tab goes down the parameters as they stand.
    rows = [row for row in window.parameters.findChildren(NumberSlider) if row.isVisible()]
    assert len(rows) >= 2
    chain = focus_chain(window)
    rows.sort(key=chain.index)
    heights = [row.mapTo(window, row.rect().topLeft()).y() for row in rows]
    assert all(above < below for above, below in pairwise(heights))
    # No two keys clash, and menus are chosen by one letter each.
    keys = Counter(
        key.toString()
        for action in window.findChildren(QAction)
        if action.isVisible()
        for key in action.shortcuts()
    )
    assert [key for key, count in keys.items() if count > 1] == []
    menus = [window.menuBar(), *window.menuBar().findChildren(QMenu)]
    for menu in menus:
        shown = [action.text() for action in menu.actions() if action.isVisible()]
        assert mnemonics(shown) == [], shown


def test_the_controls_of_the_dialogs_have_names(open_window, settled, qtbot, tmp_path) -> None:
    window = open_window(study="heatmap", values=SMALL_MAP)
    settled(window)
    window.study_page.open_page()
    window.output.ask()
    window.data_panel.show_report()
    window.data_panel.show_busiest()
    path = tmp_path / "odd.csv"
    path.write_text("a;b;c\n" + "".join(f"{i};48.{i};11.{i}\n" for i in range(20)))
    with qtbot.waitSignal(window.data.mapping_needed):
        window.files.open_data(path, ask=True)
    dialogs = [w for w in window.findChildren(QWidget) if w.isWindow() and w.inherits("QDialog")]
    assert len(dialogs) == 5
    for dialog in dialogs:
        assert check(dialog) == []
        labels = [label.text() for label in dialog.findChildren(QLabel) if label.buddy()]
        buttons = [b.text() for b in dialog.findChildren(QAbstractButton)]
        assert mnemonics(labels + buttons) == []
        dialog.close()
    qtbot.waitUntil(lambda: not window.data.busy)


def test_opening_with_column_mapping_asks_even_where_the_guess_is_sure(
    open_window, settled, qtbot, tmp_path, monkeypatch
) -> None:
    window = open_window(study="heatmap", values=SMALL_MAP)
    settled(window)
    path = tmp_path / "sure.csv"
    path.write_text("user,lat,lon\n" + "".join(f"{i % 9},48.{i},11.{i}\n" for i in range(20)))
    monkeypatch.setattr(
        "explorer.ui.controllers.file_controller.QFileDialog.getOpenFileNames",
        lambda *_: ([str(path)], ""),
    )
    with qtbot.waitSignal(window.data.mapping_needed):
        window.menus.actions["open-mapping"].trigger()
    dialog = window.data_panel.dialog("mapping")
    assert dialog.problem == ""
    with qtbot.waitSignal(window.data.loaded):
        qtbot.mouseClick(dialog.load_button, Qt.MouseButton.LeftButton)
    assert window.data.current.rows == 20
    assert window.session_store.recent[0].endswith("sure.csv")
    settled(window)

"""The Figures tab: presets are listed, filtered and opened."""

from __future__ import annotations

import sys

import pytest
from PySide6.QtCore import Qt

from explorer.studies.base.study import preset, preset_request
from explorer.studies.registry import get_study, study_infos
from tests.ui.test_access import check


@pytest.fixture
def window(open_window, settled, qtbot):
    """The Figures tab with every study listed."""
    window = open_window(study="shuffle-rdp")
    settled(window)
    page = window.tools["figures"]
    assert page.entries == []  # no study is imported before the tab is shown
    window.pages.setCurrentWidget(page)
    qtbot.waitUntil(lambda: len({e.study_id for e in page.entries}) == studies_with_presets())
    return window


def studies_with_presets() -> int:
    return sum(bool(get_study(info.id).presets) for info in study_infos())


def shown(page) -> list[str]:
    return [f"{c.entry.study_id}/{c.entry.item.key}" for c in page.gallery.cards if c.isVisible()]


def test_every_preset_is_found_by_words_paper_and_verdict(window) -> None:
    page = window.tools["figures"]
    everything = {f"{c.id}/{p.key}" for c in study_infos() for p in get_study(c.id).presets}
    assert set(shown(page)) == everything
    assert len(page.filters.papers) == len({e.paper for e in page.entries})
    page.filters.words.setText("14× FIGURE")
    assert shown(page) == ["shuffle-rdp/figure-2a"]
    assert page.gallery.front.entry.item.key == "figure-2a"
    page.filters.words.setText("no such figure")
    assert shown(page) == []
    assert not page.detail.open.isEnabled()
    page.filters.words.clear()
    page.filters.statuses["="].click()
    left = {name for name in everything if preset_named(name).status != "="}
    assert set(shown(page)) == left
    paper = page.gallery.front.entry.paper
    page.filters.papers[paper].click()
    assert set(shown(page)) == {
        f"{e.study_id}/{e.item.key}"
        for e in page.entries
        if e.paper != paper and e.item.status != "="
    }
    assert check(window) == []


def preset_named(name: str):
    study_id, _, key = name.partition("/")
    return preset(get_study(study_id), key)


def test_arrows_choose_enter_opens_and_so_does_a_double_click(window, settled, qtbot) -> None:
    page, session = window.tools["figures"], window.session
    assert all(dock.isHidden() for dock in window.docks.values())
    page.filters.words.setText("Example 1")
    first = page.gallery.front
    first.setFocus()
    qtbot.keyClick(first, Qt.Key.Key_Right)
    second = page.gallery.front
    assert second is not first
    assert second.hasFocus()
    assert second.entry.item.name in page.detail.name.text()
    assert second.entry.item.computed[:30] in page.detail.words.text()
    assert second.entry.item.verdict in second.accessibleName()
    qtbot.keyClick(second, Qt.Key.Key_Left)
    assert page.gallery.front is first
    before = session.state
    qtbot.keyClick(first, Qt.Key.Key_Return)
    entry = first.entry
    assert entry.study_id != "shuffle-rdp"
    assert session.state.study == entry.study_id
    assert session.request() == preset_request(get_study(entry.study_id), entry.item)
    assert window.pages.currentWidget() is window.workspaces["bounds"]
    assert not any(dock.isHidden() for dock in window.docks.values())
    settled(window)
    session.undo()  # one undo step
    assert session.state == before
    # A preset of the study in front opens too.
    window.pages.setCurrentWidget(page)
    page.filters.words.setText("14×")
    layout = window.saved_layout()
    qtbot.mouseDClick(page.gallery.front, Qt.MouseButton.LeftButton)
    qtbot.mouseRelease(window, Qt.MouseButton.LeftButton)  # the page is closed by then
    assert window.pages.currentWidget() is window.workspaces["bounds"]
    assert window.saved_layout() == layout  # the layout saved while docks are hidden contains them
    settled(window)
    window.pages.setCurrentWidget(page)
    window.reset_layout()
    assert not any(dock.isHidden() for dock in window.docks.values())


def test_making_the_tab_imports_nothing_of_it_before_it_is_asked_for() -> None:
    import subprocess

    code = "import sys, explorer.ui.app.main_window\nprint('explorer.ui.gallery' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "False", done.stderr

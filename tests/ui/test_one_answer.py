"""Headline and guarantee belong to the same result; menu entries live as long as the window."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication
from shiboken6 import isValid

SOON = ("choose-alpha", "unbounded")
"""Studies of one workspace with quick results."""


def test_the_guarantee_is_of_the_answer_in_front(open_window, settled, qtbot) -> None:
    window = open_window(study=SOON[0])
    settled(window)
    strip, seen = window.workspaces["bounds"].answer, []

    def look() -> None:
        written, state = window.guarantee.result, window.session.state
        if written is not None:
            seen.append(written.request.study)
            assert written is window.current_result
            assert written.request.study == state.study
            assert strip._result is None or strip._result is written

    window.guarantee.written.connect(look)
    for _ in range(3):
        for study in SOON:
            window.session.set_study(study)
            look()
            for _ in range(3):
                QApplication.processEvents()
                look()
    for study in SOON:
        window.session.set_study(study)
        qtbot.waitUntil(lambda: window.current_result is not None)
        look()
    assert set(seen) == set(SOON)


def test_entries_of_menus_are_the_windows(open_window, settled) -> None:
    window = open_window(study=SOON[0])
    settled(window)
    actions = list(window.menus.actions.values())
    assert len(actions) > 30
    for action in actions:
        owner: QObject | None = action
        while owner is not None and owner is not window:
            owner = owner.parent()
        assert owner is window, action.text()
    for menu in window.titles.values():  # whatever else clears a menu
        menu.clear()
    assert all(map(isValid, actions))
    window.menus.update()
    window.menus.actions["reset"].trigger()


def test_a_closed_window_asks_nothing_of_its_menus(open_window, settled, monkeypatch) -> None:
    window = open_window(study=SOON[0])
    settled(window)
    session, session_store, asked = window.session, window.session_store, []
    window.close()
    monkeypatch.setattr(window.menus, "_window", None)  # any access to a deleted action fails
    monkeypatch.setattr(type(window.menus), "update", lambda *_: asked.append("update"))
    session.set_study(SOON[1])
    session_store.recent_changed.emit()
    window.tabs.setCurrentIndex(1)
    assert not asked

"""The leak guard detects threads, timers and windows."""

from __future__ import annotations

import threading

import pytest
from PySide6.QtCore import QThread, QTimer
from PySide6.QtWidgets import QWidget

from tests.ui.conftest import LeakGuard, watch


@pytest.fixture
def guard(qapp, monkeypatch: pytest.MonkeyPatch) -> LeakGuard:
    guard = LeakGuard()
    watch(guard, monkeypatch)
    guard.begin()
    return guard


def test_a_leaked_timer_is_named(guard: LeakGuard) -> None:
    timer = QTimer()
    timer.start(60_000)
    assert any("60000 ms" in line for line in guard.leftovers())
    timer.stop()
    assert guard.leftovers() == []


def test_a_timer_whose_owner_is_gone_is_no_leak(guard: LeakGuard) -> None:
    owner = QWidget()
    QTimer(owner).start(60_000)
    owner.deleteLater()
    del owner
    assert guard.leftovers() == []


def test_a_leaked_widget_is_named(guard: LeakGuard) -> None:
    widget = QWidget(objectName="forgotten")
    assert any("forgotten" in line for line in guard.leftovers())
    widget.deleteLater()
    del widget
    assert guard.leftovers() == []


def test_a_leaked_thread_is_named(guard: LeakGuard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.ui.conftest.THREAD_GRACE_S", 0.05)
    end = threading.Event()
    thread = threading.Thread(target=end.wait, name="forgotten")
    thread.start()
    assert guard.leftovers() == ["thread 'forgotten' still runs"]
    end.set()
    thread.join()
    assert guard.leftovers() == []


def test_a_leaked_qthread_is_named(guard: LeakGuard) -> None:
    thread = QThread(objectName="forgotten")
    thread.start()
    assert guard.leftovers() == ["QThread 'forgotten' still runs"]
    thread.quit()
    thread.wait()
    assert guard.leftovers() == []

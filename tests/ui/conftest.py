"""Fixtures for tests of the window; a leak guard fails tests that leave objects behind."""

from __future__ import annotations

import gc
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, Qt, QThread, QTimer
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import Shiboken

from explorer.ui.base.startup_tuning import MAKE_AHEAD
from tests.ui.tiny_study import MOON, TinyStudy
from tests.waiting import time_limit

if TYPE_CHECKING:
    from explorer.ui.app.main_window import MainWindow
    from tests.ui.map_page import MapPage


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests that open the whole window full, except those of the main paths."""
    for item in items:
        window = "open_window" in getattr(item, "fixturenames", ())
        if window and not item.get_closest_marker("main_path"):
            item.add_marker(pytest.mark.full)


THREAD_GRACE_S = 3.0
"""Time limit for a stopped thread to end on an idle machine."""


@dataclass
class LeakGuard:
    """Records threads, timers and windows before a test and reports those left after it."""

    timers: list[QTimer] = field(default_factory=list)
    qthreads: list[QThread] = field(default_factory=list)
    _threads: set[threading.Thread] = field(default_factory=set)
    _windows: set[int] = field(default_factory=set)

    def begin(self) -> None:
        # Objects of earlier tests are frozen: scanning them at every collection took seconds a
        # test.
        gc.freeze()
        self._threads = set(threading.enumerate())
        self._windows = {_address(w) for w in QApplication.topLevelWidgets()}

    def leftovers(self) -> list[str]:
        """Return one sentence for each leaked object."""
        # What is left may be in cycles of cycles; one collection takes a tenth of a second.
        for _ in range(3):
            _settle()
            if not (found := self._found()):
                break
        return found

    def _found(self) -> list[str]:
        found = [f"thread {t.name!r} still runs" for t in self._running_threads()]
        found += [
            f"QThread {t.objectName()!r} still runs"
            for t in self.qthreads
            if Shiboken.isValid(t) and t.isRunning()
        ]
        found += [
            f"timer of {timer.interval()} ms (parent {timer.parent()!r}) still ticks"
            for timer in self.timers
            if Shiboken.isValid(timer) and timer.isActive()
        ]
        found += [
            f"top-level widget {_describe(w)} still exists"
            for w in QApplication.topLevelWidgets()
            if _address(w) not in self._windows
        ]
        if QApplication.mouseButtons() != Qt.MouseButton.NoButton:
            found.append("a button of the mouse is still pressed")
        return found

    def _running_threads(self) -> list[threading.Thread]:
        end = time.monotonic() + time_limit(THREAD_GRACE_S)
        while True:
            running = [
                t
                for t in threading.enumerate()
                if t not in self._threads and not isinstance(t, threading._DummyThread)
            ]
            if not running or time.monotonic() > end:
                return running
            time.sleep(0.01)


def _address(widget: QWidget) -> int:
    return Shiboken.getCppPointer(widget)[0]


def _describe(widget: QWidget) -> str:
    return f"{type(widget).__name__}({widget.objectName()!r}, {widget.windowTitle()!r})"


def _settle() -> None:
    """Process deferred deletions and collect reference cycles."""
    QApplication.processEvents()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    gc.collect()


def watch(guard: LeakGuard, monkeypatch: pytest.MonkeyPatch) -> None:
    """Record every timer and thread started by Python code."""
    start_timer, start_thread = QTimer.start, QThread.start

    def timer_started(timer: QTimer, *args: Any) -> None:
        guard.timers.append(timer)
        start_timer(timer, *args)

    def thread_started(thread: QThread, *args: Any) -> None:
        guard.qthreads.append(thread)
        start_thread(thread, *args)

    monkeypatch.setattr(QTimer, "start", timer_started)
    monkeypatch.setattr(QThread, "start", thread_started)


@pytest.fixture(autouse=True)
def leak_guard(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> Iterator[LeakGuard]:
    """Fail tests that leave a thread, an active timer or a top-level widget behind."""
    guard = LeakGuard()
    with monkeypatch.context() as patch:
        watch(guard, patch)
        guard.begin()
        yield guard
        found = guard.leftovers()
    gc.unfreeze()
    if found:
        pytest.fail("left behind: " + "; ".join(found), pytrace=False)


@pytest.fixture
def moon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Path of a missing file; while it exists, the tiny study fails."""
    path = tmp_path / "moon"
    monkeypatch.setenv(MOON, str(path))
    return path


@pytest.fixture
def tiny_study(moon: Path) -> Iterator[TinyStudy]:
    """Register a study unknown to all widgets for one test."""
    from explorer.studies.registry import register, unregister

    study = TinyStudy()
    register(study, "Randomized response", "How often may one tell the truth?")
    yield study
    unregister(study.id)


@pytest.fixture
def own_looks(qapp: QApplication) -> Iterator[None]:
    """Restore the application's palette, style sheet, font and switch interval."""
    palette, sheet, font = qapp.palette(), qapp.styleSheet(), qapp.font()
    style, interval = qapp.style().objectName(), sys.getswitchinterval()
    yield
    qapp.setStyleSheet(sheet)
    qapp.setStyle(style)
    qapp.setPalette(palette)
    qapp.setFont(font)
    sys.setswitchinterval(interval)


@pytest.fixture
def open_window(
    own_looks: None,
    qapp: QApplication,
    qtbot: QtBot,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Callable[..., MainWindow]]:
    """Open the window with a state folder of its own; it is closed after the test.

    Takes the fields of `WindowOptions`. Opening twice in a test restores the session, as a restart
    does; the start page is shown only on request. Pages of other tabs are built when they are asked
    for; with `ahead` also while nothing else is to be done, as the program does.
    """
    from explorer.ui.app import main_window
    from explorer.ui.app.application import Application
    from explorer.ui.app.options import WindowOptions

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    opened: list[Application] = []
    sheet = qapp.styleSheet()

    def delete_closed() -> None:
        """Delete closed windows: setting a style sheet visits every existing widget."""
        QApplication.processEvents()  # pending events close further windows
        for launch in [launch for launch in opened if not launch.window.isVisible()]:
            opened.remove(launch)
            launch.window.deleteLater()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        if not opened:
            qapp.setStyleSheet(sheet)  # else the next window's widgets are styled twice

    def open_one(*, ahead: bool = False, **options: Any) -> MainWindow:
        monkeypatch.setattr(main_window, "MAKE_AHEAD", ahead and MAKE_AHEAD)
        delete_closed()
        options = {"theme": "light", "start_page": False, **options}
        launch = Application(WindowOptions(**options), ["test"])
        opened.append(launch)
        launch.show()
        qtbot.waitExposed(launch.window)
        qtbot.waitUntil(lambda: launch.window.built)
        return launch.window

    yield open_one
    for launch in reversed(opened):
        launch.window.close()
    delete_closed()


@pytest.fixture
def settled(qtbot: QtBot) -> Callable[..., Any]:
    """Wait for the complete result of a window and return it."""

    def wait(window: MainWindow, timeout: int = 120_000) -> Any:
        def done() -> bool:
            result = window.current_result
            return not window.busy and result is not None and result.complete

        qtbot.waitUntil(done, timeout=timeout)
        return window.current_result

    return wait


@pytest.fixture(scope="session")
def checkins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of 3,000 synthetic check-ins; it must not be changed."""
    from tests.ui.map_page import made_checkins

    return made_checkins(tmp_path_factory.mktemp("map"))


@pytest.fixture
def map_page(qtbot: QtBot, checkins: Path) -> Iterator[MapPage]:
    """A map of 64 × 64 cells with its data panel, without the window, after the first answer."""
    from tests.ui.map_page import opened

    with opened(qtbot) as page:
        page.load(checkins)
        page.session.set_value("resolution", "64", "heatmap")
        page.answered()
        yield page

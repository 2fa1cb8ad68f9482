"""Starts the Qt application, shows its window and shuts down in order.

The start page needs neither studies nor plots: it is painted first. `Startup`, which builds the
rest of the window, is imported afterwards.
"""

from __future__ import annotations

import gc
import logging
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer, QtMsgType, Signal, qInstallMessageHandler
from PySide6.QtGui import QGuiApplication, QIcon, QPixmap
from PySide6.QtWidgets import QApplication

from explorer import shutdown
from explorer.engine.paths import cache_complaint, state_folder
from explorer.resources import resource_bytes
from explorer.studies.registry import add_installed
from explorer.ui.app.main_window import MainWindow
from explorer.ui.app.options import WindowOptions
from explorer.ui.base import theme as themes
from explorer.ui.base.errors import ExceptionHook, Problem
from explorer.ui.base.lazy_tabs import IdleTasks
from explorer.ui.base.startup_tuning import (
    COMPUTE_EARLY,
    PAGE_FIRST,
    STYLE_LATE,
    freeze_gc,
    tune_interpreter,
    tune_plots,
)
from explorer.ui.controllers.session_store import SessionStore, own_file

if TYPE_CHECKING:
    from explorer.engine.service import StudyService
    from explorer.ui.app.startup import Startup


DESKTOP_ID = "org.privacy_explorer.PrivacyExplorer"
"""Base name of the desktop file; Wayland finds the icon by it."""
SIZES = (16, 32, 48, 128)


def set_identity(app: QGuiApplication) -> None:
    """Set the application's names and icon."""
    app.setApplicationName("Privacy Explorer")
    app.setDesktopFileName(DESKTOP_ID)
    app.setWindowIcon(window_icon())


def window_icon() -> QIcon:
    """Return the icon in the sizes used by title bars and task lists."""
    icon = QIcon()
    for size in SIZES:
        pixmap = QPixmap()
        pixmap.loadFromData(resource_bytes(f"packaging/icon-{size}.png"))
        icon.addPixmap(pixmap)
    return icon


_STARTED_MS = 2000
"""Delay after which all long-lived objects (modules, the window) exist."""
_UNSEEN_MS = 1000
"""Delay after which the rest follows even if nothing was painted: a window may start hidden."""
_IMPORTED = ("explorer.ui.app.parts", "explorer.ui.app.startup")
"""Modules imported behind the start page, one per step, so that input is handled in between."""


class Application(QObject):
    """Runs the program once, from options to exit code.

    Parameters
    ----------
    options : WindowOptions
    arguments : list of str
        Passed to Qt.

    Attributes
    ----------
    window : MainWindow

    Signals
    -------
    stopped()
        Emitted when SIGINT or SIGTERM was received.
    """

    stopped = Signal()

    def __init__(self, options: WindowOptions, arguments: list[str]) -> None:
        tune_interpreter()
        app = QApplication.instance() or QApplication(arguments)
        assert isinstance(app, QApplication)
        self.app = app
        super().__init__()
        self.options = options
        set_identity(self.app)
        themes.prepare(self.app)
        self.session_store = SessionStore(None)
        if options.screenshot is None:
            try:
                self.session_store = SessionStore(own_file(state_folder()))
            except OSError as error:
                self.session_store.complaint = (
                    f"This session will not be saved: {error.filename}: {error.strerror}."
                )
        self._plug_ins = " ".join(add_installed())
        self.session_store.load()
        start_page = options.start_page
        self._page = start_page or (
            start_page is None and options.selects_nothing and self.session_store.start_page
        )
        choice = options.theme
        if choice == "system" and self.session_store.values is not None:
            choice = self.session_store.values.theme
        self.theme = themes.Theme(choice, apply=not STYLE_LATE)
        self.hook = ExceptionHook()
        self.window = self._make_window()
        self._service: StudyService | None = None
        self._opening: Startup | None = None
        if not (self._page and PAGE_FIRST):
            try:
                self._build()
            except Exception:
                self._end_service()  # its threads would report errors at exit
                raise
        self.theme.apply_stylesheet()

    def run(self) -> int:
        """Show the window, run the event loop and return the exit code."""
        before = qInstallMessageHandler(_log_qt)
        self.hook.install()
        self.stopped.connect(lambda: self.app.exit(0), Qt.ConnectionType.QueuedConnection)
        shutdown.call_on_signal(self.stopped.emit)
        try:
            self.show()
            QTimer.singleShot(_STARTED_MS, self._started)
            self.app.exec()
        finally:
            code = 0 if self._opening is None else self._opening.exit_code
            shutdown.end_soon(code)  # a hanging load would keep the process alive
            self.hook.remove()
            self.window.close()
            if QGuiApplication.platformName() == "offscreen":
                # Nobody else can paste it, and it would be destroyed after Python has ended.
                QGuiApplication.clipboard().clear()
            gc.unfreeze()  # otherwise DuckDB's objects are reported as leaked at exit
            qInstallMessageHandler(before)
        return shutdown.exit_code(code)

    def show(self) -> None:
        """Show the window; data are opened after its first picture."""
        self._show_greeting()
        if self._opening is not None:
            self._opening.begin()
            opened = self._opening.open_first
            self.window.painted.connect(opened, Qt.ConnectionType.QueuedConnection)
            QTimer.singleShot(_UNSEEN_MS, opened)
            self.window.show()
            return
        imports: list[Callable[[], object]] = [partial(import_module, name) for name in _IMPORTED]
        pieces = (self._get_service, tune_plots, *imports, self._finish_building)
        behind = IdleTasks(pieces, self, after_ms=0, between_ms=0)
        self.window.left.connect(lambda: self._abort_building(behind))
        self.window.painted.connect(behind.begin, Qt.ConnectionType.QueuedConnection)
        self.window.start.dock_area_requested.connect(self._finish_building)
        QTimer.singleShot(_UNSEEN_MS, behind.begin)
        self.window.show()

    def _make_window(self) -> MainWindow:
        """Return a window that has only its start page."""
        window = MainWindow(self.theme, self.session_store)
        window.resize(*self.options.size)
        self.hook.caught.connect(window.show_problem)
        return window

    def _show_greeting(self) -> None:
        """Show the start page, if wanted, and pending problems in a new window."""
        self.session_store.restore("geometry", self.window.restoreGeometry)
        for source, sentence in (
            ("cache", cache_complaint()),
            ("session", self.session_store.complaint),
            ("plug-ins", self._plug_ins),
        ):
            if sentence:
                self.window.show_problem(Problem(source, sentence))
        if self._page:
            self.window.start.show()

    def _get_service(self) -> StudyService:
        """Return the service; its process imports its modules in parallel."""
        if self._service is None:
            from explorer.engine.service import StudyService

            self._service = StudyService(compute_process=self.options.compute_process)
            if COMPUTE_EARLY:
                self._service.start()
        return self._service

    def _build(self) -> None:
        """Build the rest of the window; if the saved session fails, build it without."""
        service = self._get_service()  # first: its process imports in parallel
        tune_plots()
        from explorer.ui.app.startup import Startup

        try:
            self._opening = Startup(self.options, self.session_store, self.window, service)
        except Exception as error:
            if not self.session_store.restored:
                raise
            logging.getLogger("explorer").exception("no window on the last session")
            # Keep everything built so far alive: Qt crashes if it is deleted.
            self._half_built = (error, self.window)
            self.session_store.give_up(error)
            self.window = self._make_window()
            self._opening = Startup(self.options, self.session_store, self.window, service)
        self._opening.ended.connect(self.app.quit)

    def _finish_building(self) -> None:
        """Build the window behind the start page and continue; runs once."""
        if self._opening is not None:
            return
        greeted, text = self.window, self.session_store.complaint
        self._build()
        if self.window is not greeted:
            self._show_greeting()
            self.window.show()
            greeted.hide()
        elif self.session_store.complaint != text:
            self.window.show_problem(Problem("session", self.session_store.complaint))
        assert self._opening is not None
        self._opening.begin()
        QTimer.singleShot(0, self._opening.open_first)

    def _abort_building(self, behind: IdleTasks) -> None:
        """Stop building behind a closed window."""
        behind.stop()
        self._end_service()

    def _end_service(self) -> None:
        if self._service is not None:
            self._service.close()

    def _started(self) -> None:
        if self.window.built:
            freeze_gc()
            self.window.menus.cached.sweep()
        else:
            QTimer.singleShot(_STARTED_MS, self._started)


def _log_qt(kind: QtMsgType, _context: object, text: str) -> None:
    """Log Qt's messages, except the one about the off-screen platform."""
    if "propagateSizeHints" not in text:
        level = logging.DEBUG if kind is QtMsgType.QtDebugMsg else logging.WARNING
        logging.getLogger("explorer.qt").log(level, text)

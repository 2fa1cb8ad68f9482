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
"""Name of the desktop file without its ending; Wayland finds the icon by it."""
SIZES = (16, 32, 48, 128)


def introduce(app: QGuiApplication) -> None:
    """Give an application its names and its icon."""
    app.setApplicationName("Privacy Explorer")
    app.setDesktopFileName(DESKTOP_ID)
    app.setWindowIcon(window_icon())


def window_icon() -> QIcon:
    """Return the icon in the sizes that title bars and task lists ask for."""
    icon = QIcon()
    for size in SIZES:
        pixmap = QPixmap()
        pixmap.loadFromData(resource_bytes(f"packaging/icon-{size}.png"))
        icon.addPixmap(pixmap)
    return icon


_STARTED_MS = 2000
"""After this long all that stays for good (modules, the window) has been made."""
_UNSEEN_MS = 1000
"""After this long the rest is made though nothing was painted: a window may start hidden."""
_IMPORTED = ("explorer.ui.app.parts", "explorer.ui.app.startup")
"""What is imported behind the start page, one by one, so that a key or a click comes between."""


class Application(QObject):
    """One run of the program, from options to exit code.

    Parameters
    ----------
    options : WindowOptions
    arguments : list of str
        For Qt.

    Attributes
    ----------
    window : MainWindow

    Signals
    -------
    stopped()
        SIGINT or SIGTERM was received.
    """

    stopped = Signal()

    def __init__(self, options: WindowOptions, arguments: list[str]) -> None:
        tune_interpreter()
        app = QApplication.instance() or QApplication(arguments)
        assert isinstance(app, QApplication)
        self.app = app
        super().__init__()
        self.options = options
        introduce(self.app)
        themes.prepare(self.app)
        self.keeper = SessionStore(None)
        if options.screenshot is None:
            try:
                self.keeper = SessionStore(own_file(state_folder()))
            except OSError as error:
                self.keeper.complaint = (
                    f"This session will not be saved: {error.filename}: {error.strerror}."
                )
        self._plug_ins = " ".join(add_installed())
        self.keeper.load()
        asked = options.start_page
        self._page = asked or (asked is None and options.names_nothing and self.keeper.start_page)
        choice = options.theme
        if choice == "system" and self.keeper.values is not None:
            choice = self.keeper.values.theme
        self.theme = themes.Theme(choice, apply=not STYLE_LATE)
        self.hook = ExceptionHook()
        self.window = self._make_window()
        self._service: StudyService | None = None
        self._opening: Startup | None = None
        if not (self._page and PAGE_FIRST):
            try:
                self._build()
            except Exception:
                self._end_service()  # else its threads speak up while the interpreter ends
                raise
        self.theme.apply_stylesheet()

    def run(self) -> int:
        """Show the window and wait for its end; returns the exit code."""
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
            shutdown.end_soon(code)  # a load that hangs would keep the process alive
            self.hook.remove()
            self.window.close()
            gc.unfreeze()  # else what DuckDB made is said to leak when the interpreter ends
            qInstallMessageHandler(before)
        return shutdown.exit_code(code)

    def show(self) -> None:
        """Show the window; data are opened right after its first picture."""
        self._greet()
        if self._opening is not None:
            self._opening.begin()
            self.window.show()
            return
        imports: list[Callable[[], object]] = [partial(import_module, name) for name in _IMPORTED]
        pieces = (self._serve, tune_plots, *imports, self._open_behind)
        behind = IdleTasks(pieces, self, after_ms=0, between_ms=0)
        self.window.left.connect(lambda: self._leave(behind))
        self.window.painted.connect(behind.begin, Qt.ConnectionType.QueuedConnection)
        self.window.start.desk_asked.connect(self._open_behind)
        QTimer.singleShot(_UNSEEN_MS, behind.begin)
        self.window.show()

    def _make_window(self) -> MainWindow:
        """Return a window of which there is no more than its start page."""
        window = MainWindow(self.theme, self.keeper)
        window.resize(*self.options.size)
        self.hook.caught.connect(window.show_problem)
        return window

    def _greet(self) -> None:
        """Show in a new window the start page, if it is to be shown, and what went wrong."""
        self.keeper.restore("geometry", self.window.restoreGeometry)
        for source, sentence in (
            ("cache", cache_complaint()),
            ("session", self.keeper.complaint),
            ("plug-ins", self._plug_ins),
        ):
            if sentence:
                self.window.show_problem(Problem(source, sentence))
        if self._page:
            self.window.start.show()

    def _serve(self) -> StudyService:
        """Return what answers; its process does its imports beside ours."""
        if self._service is None:
            from explorer.engine.service import StudyService

            self._service = StudyService(compute_process=self.options.compute_process)
            if COMPUTE_EARLY:
                self._service.start()
        return self._service

    def _build(self) -> None:
        """Make all that is behind the start page; without the saved session if it can't be."""
        tune_plots()
        from explorer.ui.app.startup import Startup

        try:
            self._opening = Startup(self.options, self.keeper, self.window, self._serve())
        except Exception as error:
            if not self.keeper.restored:
                raise
            logging.getLogger("explorer").exception("no window on the last session")
            # with all that was made so far: Qt crashes if that goes
            self._half_built = (error, self.window)
            self.keeper.give_up(error)
            self.window = self._make_window()
            self._opening = Startup(self.options, self.keeper, self.window, self._serve())
        self._opening.ended.connect(self.app.quit)

    def _open_behind(self) -> None:
        """Make what is behind the start page, which is in front, and go on, once."""
        if self._opening is not None:
            return
        greeted, said = self.window, self.keeper.complaint
        self._build()
        if self.window is not greeted:
            self._greet()
            self.window.show()
            greeted.hide()
        elif self.keeper.complaint != said:
            self.window.show_problem(Problem("session", self.keeper.complaint))
        assert self._opening is not None
        self._opening.begin()

    def _leave(self, behind: IdleTasks) -> None:
        """Make nothing behind a window that is gone."""
        behind.stop()
        self._end_service()

    def _end_service(self) -> None:
        if self._service is not None:
            self._service.close()

    def _started(self) -> None:
        if self.window.built:
            freeze_gc()
            self.window.menus.cached.sweep()


def _log_qt(kind: QtMsgType, _context: object, text: str) -> None:
    """Log Qt's messages, except the one about the off-screen platform."""
    if "propagateSizeHints" not in text:
        level = logging.DEBUG if kind is QtMsgType.QtDebugMsg else logging.WARNING
        logging.getLogger("explorer.qt").log(level, text)

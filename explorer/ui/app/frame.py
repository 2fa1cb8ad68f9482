"""Window frame with start page, banner and status bar; shown before the rest is built.

Imports no study, no numpy and no plot, so that the first picture does not wait for them.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QPaintEvent, QPalette
from PySide6.QtWidgets import (
    QHBoxLayout,
    QPushButton,
    QSizePolicy,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from explorer.engine.session.schema import Visit
from explorer.studies.registry import study_ids, study_infos
from explorer.ui.app.context import WindowContext
from explorer.ui.app.tab_order import move_focus
from explorer.ui.base.errors import Banner, Problem
from explorer.ui.base.styled import plain_tip, styled_label, tool_button
from explorer.ui.base.theme import Theme
from explorer.ui.controllers.activity import Activity, ActivityBar
from explorer.ui.controllers.session_store import MAX_VISITS, SessionStore
from explorer.ui.dialogs.palette import KEY, PLACEHOLDER
from explorer.ui.panels.start import StartPage, apart
from explorer.ui.widgets.fixed_size_text import FixedSizeLabel

if TYPE_CHECKING:
    from explorer.checkins import CheckinData
    from explorer.engine.session.session import SessionState


class Start(QObject):
    """Switches between start page and dock area; the page may exist before the dock area does.

    Parameters
    ----------
    window : WindowContext

    Signals
    -------
    dock_area_requested()
        Emitted when the start page needs the dock area at once.
    """

    dock_area_requested = Signal()

    def __init__(self, window: WindowContext) -> None:
        super().__init__(window)
        self._window = window
        self.stack = QStackedWidget()
        self.page: StartPage | None = None
        self._coming = False
        """Whether the check-ins being opened were requested by a start option."""
        self._opened = False

    def set_dock_area(self, dock_area: QWidget) -> None:
        """Set the dock area behind the page."""
        self.stack.addWidget(dock_area)
        self._window.session.changed.connect(self._changed)
        self._window.data.loaded.connect(self._loaded)

    @property
    def shown(self) -> bool:
        """Whether the start page is shown."""
        return self.page is not None and self.stack.currentWidget() is self.page

    def show(self) -> None:
        """Show the start page; built on first use."""
        session_store = self._window.session_store
        if self.page is None:
            self.page = StartPage(self._window.theme, session_store.start_page)
            self.page.asked.connect(self._do)
            self.page.ticked.connect(session_store.set_start_page)
            self.stack.addWidget(self.page)
        there = [visit for visit in session_store.visits if visit.study in study_ids()]
        if self._opened:
            now = self._visit(self._window.session.state)
            there = [now, *(v for v in there if v.study != now.study)]
        self.page.show_past(
            [(f"study:{visit.study}", visit_label(visit)) for visit in there],
            [(f"file:{path}", Path(path).name) for path in session_store.recent],
        )
        self.stack.setCurrentWidget(self.page)
        self.page.first.setFocus()

    def tab_areas(self) -> tuple[QWidget, ...]:
        """Return the areas of the page that Tab goes through, in order."""
        return () if self.page is None else self.page.tab_areas()

    def leave(self) -> None:
        """Leave the start page."""
        self._opened = True
        self.stack.setCurrentWidget(self._window.dock_area)

    def visits(self) -> list[Visit]:
        """Return recent studies, latest first, with the current one."""
        before, state = self._window.session_store.visits, self._window.session.state
        if not self._opened or state.study not in study_ids():  # a plug-in may have been removed
            return before
        now = self._visit(state)
        return [now, *(v for v in before if v.study != now.study)][:MAX_VISITS]

    def _visit(self, state: SessionState) -> Visit:
        from explorer.ui.panels.presets import state_words

        return Visit(state.study, state_words(state), datetime.now(UTC).isoformat())

    def _changed(self, state: SessionState, old: SessionState | None) -> None:
        """Store the study that was current."""
        left = old is not None and old.study != state.study and old.study in study_ids()
        if old is not None and left and self._opened:
            self._window.session_store.note_visit(self._visit(old))

    def _loaded(self, *_: object) -> None:
        """Show the map of check-ins requested here; those opened at start need no switch."""
        coming, self._coming = self._coming, False
        if self.shown and coming:
            self._window.show_study(first_map_study())

    def _do(self, action: str) -> None:
        if not self._window.built:
            self.dock_area_requested.emit()
        kind, subject, part = apart(action)
        window, files = self._window, self._window.files
        self._coming = kind in ("open", "sample", "file")
        does: dict[str, Callable[[], object]] = {
            "open": lambda: files.choose_data(window),
            "sample": files.open_sample,
            "file": lambda: files.open_any(subject),
            "recipe": lambda: files.choose_recipe(window),
            "figures": lambda: window.show_tool("figures"),
            "tour": lambda: window.start_tour(),
            "study": lambda: window.show_study(subject, part),
        }
        does[kind]()


def first_map_study() -> str:
    """Return the first study shown on a map."""
    return next(c.id for c in study_infos() if c.workspace == "map")


def visit_label(visit: Visit, today: date | None = None) -> str:
    """Return the label of a visit: study and day."""
    try:
        day = datetime.fromisoformat(visit.when).astimezone().date()
    except ValueError:
        return visit.words
    ago = ((today or datetime.now().astimezone().date()) - day).days
    near = {0: "today", 1: "yesterday"}.get(ago, f"{day.day} {day:%B}")
    return f"{visit.words} · {near}"


MIN_DATA_WIDTH = 90
"""Width in pixels that the name of a file keeps beside running work."""


class StatusRow(QWidget):
    """Status row: state of the result, data and stamp.

    One widget, because the status bar lets several items overlap and cuts the first.

    Attributes
    ----------
    answer : FixedSizeLabel
        State and duration of the result.
    data : FixedSizeLabel
        Check-ins used by the result, if any.
    aside : QToolButton
        Number of rejected rows, if any; a click opens the report. The rows contain personal data,
        so they are shown only on request.
    badge : QLabel
        Stamp of the result (for example "curator only"); hidden if empty.
    """

    def __init__(self, activity: Activity) -> None:
        super().__init__()
        self.answer = FixedSizeLabel()
        self.answer.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self.answer.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.answer.setFixedWidth(self.answer.fontMetrics().horizontalAdvance("Stopped early") + 4)
        self.data = FixedSizeLabel()
        self.data.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self.data.setMinimumWidth(MIN_DATA_WIDTH)
        self.aside = tool_button(
            "", "What was kept of the file, what was rejected and why", quiet=True
        )
        # It comes with a file, and must not make the row higher then.
        self.aside.setFixedHeight(self.aside.fontMetrics().height() + 4)
        self.aside.hide()
        self.badge = styled_label("badge")
        self.badge.hide()
        self.hint = styled_label("faint", "F6 next pane · ? keys")
        line = QHBoxLayout(self)
        line.setContentsMargins(12, 0, 6, 0)
        line.setSpacing(14)
        line.addWidget(self.answer)
        line.addWidget(ActivityBar(activity))
        line.addWidget(self.hint)
        line.addWidget(self.data, 1)
        line.addWidget(self.aside)
        line.addWidget(self.badge)

    def show_stamp(self, stamp: str, tone: str = "") -> None:
        """Show a stamp in the tone of a warning, ``plain`` or ``good``; empty hides it."""
        if stamp != self.badge.text():
            self.badge.setText(stamp)
        if tone != (self.badge.property("tone") or ""):
            self.badge.setProperty("tone", tone)
            self.badge.style().unpolish(self.badge)
            self.badge.style().polish(self.badge)
        if self.badge.isHidden() == bool(stamp):
            self.badge.setVisible(bool(stamp))

    def show_data(self, title: str, data: CheckinData | None, *, alone: bool = False) -> None:
        """Show the name of the check-ins and the number of rejected rows.

        With `alone` the state of the result gives way: the title is not about a result.
        """
        self.answer.setVisible(not alone)
        self.data.setText(title)
        self.data.setToolTip(plain_tip(title))
        self.hint.setVisible(not title)  # there is space for only one of them
        count = data.report.total_rejected if data is not None else 0
        self.aside.setText(f"{count:,} row{'s' * (count != 1)} rejected · Show…")
        self.aside.setVisible(count > 0)


MENUS = ("&File", "&Edit", "&View", "&Study", "&Release", "&Help")


class WindowFrame(WindowContext):
    """Window with bars, banner and start page.

    Parameters
    ----------
    theme : Theme
    session_store : SessionStore, optional

    Signals
    -------
    painted()
        Emitted once, after the first paint event.
    left()
        Emitted when it is closed before the rest is built.
    """

    painted = Signal()
    left = Signal()

    def __init__(self, theme: Theme, session_store: SessionStore | None = None) -> None:
        super().__init__()
        self.setObjectName("main-window")
        self.setWindowTitle("Privacy Explorer")
        self.theme, self.session_store = theme, session_store or SessionStore(None)
        self.built = self._seen = False
        self.activity = Activity(self)
        column = QVBoxLayout(around := QWidget())
        column.setContentsMargins(0, 0, 0, 0)
        self.banner = Banner(around)
        self.titles = {title: self.menuBar().addMenu(title) for title in MENUS}
        self._search = QPushButton(f"{PLACEHOLDER}     {KEY}")
        self._search.setObjectName("search")
        self._search.setAccessibleName(f"{PLACEHOLDER}, {KEY}")
        self._search.clicked.connect(lambda: self.open_palette())
        self.menuBar().setCornerWidget(self._search, Qt.Corner.TopRightCorner)
        self.start = Start(self)
        column.addWidget(self.start.stack)
        self.setCentralWidget(around)
        self.status_row = row = StatusRow(self.activity)
        self.answer_state, self.data_state, self.badge = row.answer, row.data, row.badge
        self.statusBar().addWidget(row, 1)

    def show_status(self, text: str) -> None:
        """Show a message in the status bar for a while."""
        self.statusBar().showMessage(text, 6000)

    def show_problem(self, problem: Problem) -> None:
        """Show a problem in the banner."""
        self.banner.show_problem(problem)

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Move the focus by Tab, or backwards by Shift+Tab, in the order of `tab_areas`."""
        return move_focus(self, self.tab_areas(), forward)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Emit `painted` after the first paint event."""
        super().paintEvent(event)
        if not self._seen:
            self._seen = True
            self.painted.emit()

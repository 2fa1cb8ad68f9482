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
from explorer.ui.base.errors import Banner, Problem
from explorer.ui.base.styled import styled_label, tool_button
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
    """Shows the start page or the desk behind it; the page can be there before the desk is.

    Parameters
    ----------
    window : WindowContext

    Signals
    -------
    desk_asked()
        Something of the page needs the desk, which is to be made at once.
    """

    desk_asked = Signal()

    def __init__(self, window: WindowContext) -> None:
        super().__init__(window)
        self._window = window
        self.stack = QStackedWidget()
        self.page: StartPage | None = None
        self._coming = False
        """Whether check-ins that are being opened are those a door asked for."""
        self._opened = False

    def set_desk(self, desk: QWidget) -> None:
        """Put all that belongs to the question in front behind the page."""
        self.stack.addWidget(desk)
        self._window.session.changed.connect(self._changed)
        self._window.data.loaded.connect(self._loaded)

    @property
    def shown(self) -> bool:
        """Whether the page is in front."""
        return self.page is not None and self.stack.currentWidget() is self.page

    def show(self) -> None:
        """Bring the page to the front; made the first time."""
        keeper = self._window.keeper
        if self.page is None:
            self.page = StartPage(self._window.theme, keeper.start_page)
            self.page.asked.connect(self._do)
            self.page.ticked.connect(keeper.set_start_page)
            self.stack.addWidget(self.page)
        there = [visit for visit in keeper.visits if visit.study in study_ids()]
        if self._opened:
            now = self._visit(self._window.session.state)
            there = [now, *(v for v in there if v.study != now.study)]
        self.page.show_past(
            [(f"study:{visit.study}", told(visit)) for visit in there],
            [(f"file:{path}", Path(path).name) for path in keeper.recent],
        )
        self.stack.setCurrentWidget(self.page)
        self.page.first.setFocus()

    def leave(self) -> None:
        """Bring what is behind the page to the front."""
        self._opened = True
        self.stack.setCurrentWidget(self._window.desk)

    def visits(self) -> list[Visit]:
        """Return what was asked last, the latest first, with the question in front."""
        before, state = self._window.keeper.visits, self._window.session.state
        if not self._opened or state.study not in study_ids():  # a plug-in's may have gone
            return before
        now = self._visit(state)
        return [now, *(v for v in before if v.study != now.study)][:MAX_VISITS]

    def _visit(self, state: SessionState) -> Visit:
        from explorer.ui.panels.presets import state_words

        return Visit(state.study, state_words(state), datetime.now(UTC).isoformat())

    def _changed(self, state: SessionState, old: SessionState | None) -> None:
        """Remember the question that was in front."""
        left = old is not None and old.study != state.study and old.study in study_ids()
        if old is not None and left and self._opened:
            self._window.keeper.note_visit(self._visit(old))

    def _loaded(self, *_: object) -> None:
        """Show the map of check-ins that were asked for; those of the start come by themselves."""
        coming, self._coming = self._coming, False
        if self.shown and coming:
            self._window.show_study(_of_maps())

    def _do(self, asked: str) -> None:
        if not self._window.built:
            self.desk_asked.emit()
        kind, subject, part = apart(asked)
        window, files = self._window, self._window.files
        self._coming = kind in ("open", "sample", "file")
        does: dict[str, Callable[[], object]] = {
            "open": lambda: files.choose_data(window),
            "sample": files.open_sample,
            "file": lambda: files.open_any(subject),
            "recipe": lambda: files.choose_recipe(window),
            "figures": lambda: window.show_tool("figures"),
            "study": lambda: window.show_study(subject, part),
        }
        does[kind]()


def _of_maps() -> str:
    """Return the first study that shows check-ins on a map."""
    return next(c.id for c in study_infos() if c.workspace == "map")


def told(visit: Visit, today: date | None = None) -> str:
    """Return what a button says of a visit: what was asked, and on which day."""
    try:
        day = datetime.fromisoformat(visit.when).astimezone().date()
    except ValueError:
        return visit.words
    ago = ((today or datetime.now().astimezone().date()) - day).days
    near = {0: "today", 1: "yesterday"}.get(ago, f"{day.day} {day:%B}")
    return f"{visit.words} · {near}"


class StatusRow(QWidget):
    """What is shown of the answer in front, in one row.

    A row of its own because the status bar lets items overlap and cuts the first.

    Attributes
    ----------
    answer : FixedSizeLabel
        How good the answer is and how long it took.
    data : QLabel
        The check-ins that it is about, if it is about any.
    aside : QToolButton
        How many rows of them were rejected, if any: a click is to show which. They are rows about
        people, so nothing shows them by itself.
    badge : QLabel
        What must be said of it wherever it is shown; hidden if nothing must.
    """

    def __init__(self, activity: Activity) -> None:
        super().__init__()
        self.answer = FixedSizeLabel()
        self.answer.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self.answer.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.answer.setFixedWidth(
            self.answer.fontMetrics().horizontalAdvance("coarse · 9,999 ms…") + 4
        )
        self.data = styled_label("muted")
        self.data.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.aside = tool_button(
            "", "What was kept of the file, what was rejected and why", quiet=True
        )
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

    def show_stamp(self, stamp: str) -> None:
        """Show what must be said of the answer; nothing if that is empty."""
        if stamp != self.badge.text():
            self.badge.setText(stamp)
        if self.badge.isHidden() == bool(stamp):
            self.badge.setVisible(bool(stamp))

    def show_data(self, title: str, data: CheckinData | None) -> None:
        """Name check-ins, or none, and say how much of them was rejected."""
        self.data.setText(title)
        self.hint.setVisible(not title)  # there is room for one of them
        count = data.report.total_rejected if data is not None else 0
        self.aside.setText(f"{count:,} row{'s' * (count != 1)} rejected · Show…")
        self.aside.setVisible(count > 0)


MENUS = ("&File", "&Edit", "&View", "&Study", "&Release", "&Help")


class WindowFrame(WindowContext):
    """Bars, banner and start page, as wide and high as they stay.

    Parameters
    ----------
    theme : Theme
    keeper : SessionStore, optional

    Signals
    -------
    painted()
        Its first picture is there once control goes back to Qt.
    left()
        It was closed before there was anything behind the start page.
    """

    painted = Signal()
    left = Signal()

    def __init__(self, theme: Theme, keeper: SessionStore | None = None) -> None:
        super().__init__()
        self.setObjectName("main-window")
        self.setWindowTitle("Privacy Explorer")
        self.theme, self.keeper = theme, keeper or SessionStore(None)
        self.built = self._seen = False
        self.activity = Activity(self)
        self.banner = Banner()
        self.titles = {title: self.menuBar().addMenu(title) for title in MENUS}
        self._search = QPushButton(f"{PLACEHOLDER}     {KEY}")
        self._search.setObjectName("search")
        self._search.setAccessibleName(f"{PLACEHOLDER}, {KEY}")
        self._search.clicked.connect(lambda: self.find_anything())
        self.place_search()
        self.start = Start(self)
        column = QVBoxLayout(around := QWidget())
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.banner)
        column.addWidget(self.start.stack, 1)
        self.setCentralWidget(around)
        self.status_row = row = StatusRow(self.activity)
        self.answer_state, self.data_state, self.badge = row.answer, row.data, row.badge
        self.statusBar().addWidget(row, 1)

    def place_search(self) -> None:
        """Put the search into the corner of the menu bar, behind all else in the order of Tab."""
        self._search.setParent(None)
        self.menuBar().setCornerWidget(self._search, Qt.Corner.TopRightCorner)
        self._search.show()

    def show_status(self, text: str) -> None:
        """Show what was done in the status bar, for a while."""
        self.statusBar().showMessage(text, 6000)

    def show_problem(self, problem: Problem) -> None:
        """Show what went wrong in the banner."""
        self.banner.show_problem(problem)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Say when the first picture has been painted."""
        super().paintEvent(event)
        if not self._seen:
            self._seen = True
            self.painted.emit()

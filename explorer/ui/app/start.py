"""The start page over everything else: when it is shown, and what its doors do."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QStackedWidget, QWidget

from explorer.engine.session.wire import Visit
from explorer.studies.registry import study_ids, study_infos
from explorer.ui.controllers.session_store import MAX_VISITS
from explorer.ui.panels.start import StartPage, apart

if TYPE_CHECKING:
    from explorer.engine.session.session import SessionState
    from explorer.ui.app.context import WindowContext


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
        from explorer.ui.panels.questions import state_words

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

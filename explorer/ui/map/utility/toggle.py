"""Action that shows the utility curves, and their headline above the maps."""

from __future__ import annotations

from dataclasses import replace
from pkgutil import resolve_name

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget

from explorer.engine.service import StudyService
from explorer.engine.session.session import Session, SessionState
from explorer.studies.base.claims import Claimed
from explorer.studies.base.face import answer_of
from explorer.studies.base.phrases import Answer
from explorer.studies.base.study import Result
from explorer.studies.registry import get_study
from explorer.ui.base.errors import Banner
from explorer.ui.base.theme import is_narrow
from explorer.ui.panels.answer_strip import AnswerStrip

TYPE_CHECKING = False
if TYPE_CHECKING:
    from explorer.ui.controllers.workspace import Exported, WorkspaceHost
    from explorer.ui.map.utility.view import WhichEpsilon


VIEW = "explorer.ui.map.utility.view:WhichEpsilon"
EXPORTED = "explorer.ui.map.utility.view:exported"
"""Imported when it is first opened, or exported."""
HIGHEST = 330
"""Pixels: the maps keep the rest."""
TIGHT = 700
"""Below so many pixels for all it is a tab, with no maps beside it."""
NARROW = 600
"""The same of the width."""
NARROW_MOST = 2
"""Panes where it is narrow; the question keeps the others."""
QWIDGETSIZE_MAX = (1 << 24) - 1


class WhichToggle(QObject):
    """Opens and closes the view, which is made when it is first opened.

    Parameters
    ----------
    session, service, banner
        What the view needs.
    instead_of : QWidget
        What gives it room.
    maps : QWidget
        What does where there is not room enough for both.
    parent : QWidget
        In which the action works.

    Signals
    -------
    busy_changed(bool)
    small_changed(bool)
        Whether there is room for the view in place of the maps alone; or `narrow` has changed.
    export_asked(Exported)
        The curves are to be exported.
    spoke()
        `spoken` may be another.

    Attributes
    ----------
    small, narrow : bool
        The latter leaves room for two maps at most.
    """

    busy_changed = Signal(bool)
    small_changed = Signal(bool)
    export_asked = Signal(object)
    spoke = Signal()

    def __init__(
        self,
        session: Session,
        service: StudyService,
        banner: Banner,
        instead_of: QWidget,
        maps: QWidget,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._maps, self._parent = maps, parent
        self._session, self._given = session, (session, service, banner)
        self._instead_of = instead_of
        self._box: QVBoxLayout | None = None
        self.small = self.narrow = False
        self.view: WhichEpsilon | None = None
        self.action = QAction("&Which ε?", parent)
        self.action.setShortcut(QKeySequence("E"))
        self.action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
        self.action.setCheckable(True)
        self.action.setToolTip("Which ε? Error against ε for these users, curator only (E)")
        self.action.toggled.connect(self._choose)
        session.changed.connect(self._follow)
        parent.addAction(self.action)
        parent.installEventFilter(self)

    def put_into(self, box: QVBoxLayout) -> None:
        """Stand at the end of a column of widgets."""
        self._box = box
        self._follow(self._session.state)

    def join(self, window: WorkspaceHost) -> None:
        """Let a window show what is computed and ask how to export it."""
        window.activity.watch("which", "judging ε", self.busy_changed, self.cancel)
        self.export_asked.connect(window.export_asked)

    @property
    def spoken(self) -> Answer | None:
        """What was found of the question in front; None while nothing was looked for."""
        view = self.view
        return view.spoken if view is not None and view.speaks else None

    def cancel(self) -> None:
        """Stop what is computed."""
        if self.view is not None:
            self.view.cancel()

    def ask_anew(self) -> None:
        """Ask again what is shown: other rows may lie behind the same question."""
        if self.view is not None:
            self.view.forget()
            self.view.ask()

    def exported(self) -> Exported | None:
        """Return the curves to be exported, if they are in front: focused, or alone."""
        view = self.view
        if view is None or not self.action.isChecked():
            return None
        focused = QApplication.focusWidget()
        in_front = self._maps.isHidden() or (focused is not None and view.isAncestorOf(focused))
        return resolve_name(EXPORTED)(view) if in_front else None

    def close_view(self) -> None:
        """End threads and processes; the window closes."""
        self._session.changed.disconnect(self._follow)
        if self.view is not None:
            self.view.close_view()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the room there is."""
        if event.type() == QEvent.Type.Resize:
            size = self._parent.size()
            narrow = size.width() < NARROW or is_narrow(self._parent)
            room = narrow or size.height() < TIGHT, narrow
            if room != (self.small, self.narrow):
                self.small, self.narrow = room
                self.small_changed.emit(self.small)
            self._make_room()
        return False

    def _export(self) -> None:
        subject = resolve_name(EXPORTED)(self.view)
        if subject is not None:
            self.export_asked.emit(subject)

    def _make_room(self) -> None:
        shown = self.action.isChecked()
        self._instead_of.setVisible(not shown)
        self._maps.setVisible(not (shown and self.small))
        if self.view is not None and self._box is not None:
            self.view.setMaximumHeight(QWIDGETSIZE_MAX if self.small else HIGHEST)

    def _choose(self, shown: bool) -> None:
        which = self._session.state.which
        if shown != which.open:
            self._session.set_which(replace(which, open=shown), "show Which ε?")

    def _follow(self, state: SessionState, _old: SessionState | None = None) -> None:
        """Be open or not as the session says."""
        shown = state.which.open
        if shown == (self.view is not None and not self.view.isHidden()) or self._box is None:
            self.spoke.emit()
            return
        if self.view is None:
            self.view = resolve_name(VIEW)(*self._given)
            self.view.job.busy_changed.connect(self.busy_changed)
            self.view.parts.export.clicked.connect(self._export)
            self.view.spoke.connect(self.spoke)
            self._box.addWidget(self.view, 1)
        self.action.setChecked(shown)
        self._make_room()
        self.view.setVisible(shown)
        if shown:
            self.view.open_view()
        else:
            self.view.cancel()
        self.spoke.emit()


LINES = 2
"""Of the answer at least; its badge keeps its place too: maps are not to move with its words."""


class MapAnswer(AnswerStrip):
    """Follows the pictures and *Which ε?*; away while there is neither.

    What a newer picture does not know yet stays, in grey.
    """

    def __init__(self, which: WhichToggle) -> None:
        super().__init__()
        self._which = which
        self._drawn: Result | None = None
        self._of_which = False
        self.text.setMinimumHeight(LINES * self.text.fontMetrics().lineSpacing() + 2)
        policy = self.badge.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self.badge.setSizePolicy(policy)
        which.spoke.connect(self._say)
        self.clear()

    def clear(self) -> None:
        """Say nothing (no data)."""
        self._drawn = None
        if self._which.spoken is None:
            self.show_none()

    def show_result(self, result: Result, found: Claimed | None = None) -> None:
        """Show what an answer says, if nobody looked for the ε."""
        self._drawn = result
        self._say()

    def _say(self) -> None:
        told, drawn = self._which.spoken, self._drawn
        if told is None and drawn is not None:
            answer = answer_of(get_study(drawn.request.study), drawn, None)
            if answer is None and (self._of_which or self.isHidden()):
                self.show_computing()
            self.set_trailing(answer is None)
        else:
            answer = told
        if answer is not None:
            self.show_answer(answer)
            self.set_trailing(False)
            self._of_which = told is not None

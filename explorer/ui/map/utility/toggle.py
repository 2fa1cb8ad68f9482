"""Action that shows the utility curves, and their headline above the maps."""

from __future__ import annotations

from dataclasses import replace
from pkgutil import resolve_name

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget

from explorer.engine.service import StudyService
from explorer.engine.session.session import Session, SessionState
from explorer.studies.base.claims import ClaimedBound, headline_of
from explorer.studies.base.phrases import Headline
from explorer.studies.base.study import Result
from explorer.studies.registry import get_study
from explorer.ui.base.errors import Banner
from explorer.ui.base.theme import is_narrow
from explorer.ui.panels.headline import HeadlineStrip

TYPE_CHECKING = False
if TYPE_CHECKING:
    from explorer.ui.controllers.workspace import Exported
    from explorer.ui.controllers.workspace_host import WorkspaceHost
    from explorer.ui.map.utility.view import UtilityView


VIEW = "explorer.ui.map.utility.view:UtilityView"
EXPORTED = "explorer.ui.map.utility.view:export_curves"
"""Imported when first opened or exported."""
MAX_HEIGHT = 330
"""Height in pixels; the maps keep the rest."""
MIN_TOTAL_HEIGHT = 700
"""Total height in pixels below which it is a tab without maps."""
NARROW = 600
"""The same for the width."""
MAX_NARROW_PANES = 2
"""Number of panes in narrow windows; the request keeps the others."""
QWIDGETSIZE_MAX = (1 << 24) - 1


class UtilityToggle(QObject):
    """Opens and closes the view, which is built on first use.

    Parameters
    ----------
    session, service, banner
        Parameters of the view.
    instead_of : QWidget
        Column that contains the view.
    maps : QWidget
        Widget hidden when there is no space for both.
    parent : QWidget
        Widget in which the action is active.

    Signals
    -------
    busy_changed(bool)
    small_changed(bool)
        Whether the view replaces the maps, or `narrow` changed.
    export_asked(Exported)
        The curves should be exported.
    spoke()
        `headline` may have changed.

    Attributes
    ----------
    small, narrow : bool
        True if there is space for two maps at most.
    """

    busy_changed = Signal(bool)
    small_changed = Signal(bool)
    export_requested = Signal(object)
    headline_changed = Signal()

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
        self.view: UtilityView | None = None
        self.action = QAction("&Which ε?", parent)
        self.action.setShortcut(QKeySequence("E"))
        self.action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
        self.action.setCheckable(True)
        self.action.setToolTip("Which ε? Error against ε for these users, curator only (E)")
        self.action.toggled.connect(self._choose)
        session.changed.connect(self._follow)
        parent.addAction(self.action)
        parent.installEventFilter(self)

    def append_to(self, box: QVBoxLayout) -> None:
        """Append the view to a column of widgets."""
        self._box = box
        self._follow(self._session.state)

    def join(self, window: WorkspaceHost) -> None:
        """Connect to a window for progress and export."""
        window.activity.watch("which", "judging ε", self.busy_changed, self.cancel)
        self.export_requested.connect(window.export_requested)

    @property
    def headline(self) -> Headline | None:
        """Result for the current request; None if not computed."""
        view = self.view
        return view.headline if view is not None and view.has_headline else None

    def cancel(self) -> None:
        """Stop computing."""
        if self.view is not None:
            self.view.cancel()

    def request_again(self) -> None:
        """Request the curves again: rows may have changed."""
        if self.view is not None:
            self.view.forget()
            self.view.ask()

    def exported(self) -> Exported | None:
        """Return the curves to export if they are in front: focused, or alone."""
        view = self.view
        if view is None or not self.action.isChecked():
            return None
        focused = QApplication.focusWidget()
        in_front = self._maps.isHidden() or (focused is not None and view.isAncestorOf(focused))
        return resolve_name(EXPORTED)(view) if in_front else None

    def close_view(self) -> None:
        """Stop threads and processes before the window closes."""
        self._session.changed.disconnect(self._follow)
        if self.view is not None:
            self.view.close_view()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the available space."""
        if event.type() == QEvent.Type.Resize:
            size = self._parent.size()
            narrow = size.width() < NARROW or is_narrow(self._parent)
            space = narrow or size.height() < MIN_TOTAL_HEIGHT, narrow
            if space != (self.small, self.narrow):
                self.small, self.narrow = space
                self.small_changed.emit(self.small)
            self._adjust_space()
        return False

    def _export(self) -> None:
        subject = resolve_name(EXPORTED)(self.view)
        if subject is not None:
            self.export_requested.emit(subject)

    def _adjust_space(self) -> None:
        shown = self.action.isChecked()
        self._instead_of.setVisible(not shown)
        self._maps.setVisible(not (shown and self.small))
        if self.view is not None and self._box is not None:
            self.view.setMaximumHeight(QWIDGETSIZE_MAX if self.small else MAX_HEIGHT)

    def _choose(self, shown: bool) -> None:
        which = self._session.state.which
        if shown != which.open:
            self._session.set_which(replace(which, open=shown), "show Which ε?")

    def _follow(self, state: SessionState, _old: SessionState | None = None) -> None:
        """Open or close as the session states."""
        shown = state.which.open
        if shown == (self.view is not None and not self.view.isHidden()) or self._box is None:
            self.headline_changed.emit()
            return
        if self.view is None:
            self.view = resolve_name(VIEW)(*self._given)
            self.view.job.busy_changed.connect(self.busy_changed)
            self.view.parts.export.clicked.connect(self._export)
            self.view.headline_changed.connect(self.headline_changed)
            self._box.addWidget(self.view, 1)
        self.action.setChecked(shown)
        self._adjust_space()
        self.view.setVisible(shown)
        if shown:
            self.view.open_view()
        else:
            self.view.cancel()
        self.headline_changed.emit()


LINES = 2
"""Minimum height; it is kept so that the maps do not move with the text."""


class MapHeadline(HeadlineStrip):
    """Headline for maps and utility curves; hidden if there is neither.

    Values not known yet stay, greyed.
    """

    def __init__(self, which: UtilityToggle) -> None:
        super().__init__()
        self._which = which
        self._drawn: Result | None = None
        self._of_which = False
        self.text.setMinimumHeight(LINES * self.text.fontMetrics().lineSpacing() + 2)
        policy = self.badge.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self.badge.setSizePolicy(policy)
        which.headline_changed.connect(self._say)
        self.clear()

    def clear(self) -> None:
        """Clear (no data)."""
        self._drawn = None
        if self._which.headline is None:
            self.show_none()

    def show_result(self, result: Result, found: ClaimedBound | None = None) -> None:
        """Show a result's headline, unless utility curves have one."""
        self._drawn = result
        self._say()

    def _say(self) -> None:
        text, drawn = self._which.headline, self._drawn
        if text is None and drawn is not None:
            answer = headline_of(get_study(drawn.request.study), drawn, None)
            if answer is None and (self._of_which or self.isHidden()):
                self.show_computing()
            self.set_trailing(answer is None)
        else:
            answer = text
        if answer is not None:
            self.show_answer(answer)
            self.set_trailing(False)
            self._of_which = text is not None

"""Action that shows the utility curves, and the headline of curves and maps."""

from __future__ import annotations

from dataclasses import replace
from pkgutil import resolve_name

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QVBoxLayout, QWidget

from explorer.engine.service import StudyService
from explorer.engine.session.session import Session, SessionState
from explorer.studies.base.claims import ClaimedBound, headline_of
from explorer.studies.base.phrases import Headline
from explorer.studies.base.study import Result
from explorer.studies.heatmap.parameters import MOST
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
NARROW = 600
"""Width in pixels of the page below which there is no space for more than two maps."""
MOST_PANES = MOST + 1
MAX_PANES = {"page": 2, "window": 3}
"""Number of panes on a narrow page and in a narrow window; the request keeps the others."""


class UtilityToggle(QObject):
    """Shows the utility curves in place of the maps; they are built on first use.

    Parameters
    ----------
    session, service, banner
        Parameters of the view.
    maps : QWidget
        Page hidden meanwhile.
    parent : QWidget
        Widget in which the action is active.

    Signals
    -------
    busy_changed(bool)
    space_changed()
        There is space for another number of maps.
    headline_changed()
    page_changed(bool)
        Between the pages: the former is hidden, and the curves or the maps are shown next.
    """

    busy_changed = Signal(bool)
    space_changed = Signal()
    headline_changed = Signal()
    page_changed = Signal(bool)

    def __init__(
        self,
        session: Session,
        service: StudyService,
        banner: Banner,
        maps: QWidget,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._maps, self._parent = maps, parent
        self._session, self._given = session, (session, service, banner)
        self._box: QVBoxLayout | None = None
        self.max_panes = MOST_PANES
        """Number of maps for which there is space."""
        self.view: UtilityView | None = None
        self.action = QAction("&Utility", parent)
        self.action.setObjectName("utility")
        self.action.setShortcuts([QKeySequence("Ctrl+U"), QKeySequence("E")])
        self.action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
        self.action.setCheckable(True)
        self.action.setToolTip("Which ε is enough? Error against ε, curator only (Ctrl+U, E)")
        self.action.toggled.connect(self._choose)
        session.changed.connect(self._follow)
        parent.addAction(self.action)
        parent.installEventFilter(self)

    def append_to(self, box: QVBoxLayout) -> None:
        """Append the view to a column of widgets."""
        self._box = box
        self._follow(self._session.state)

    def join(self, window: WorkspaceHost) -> None:
        """Connect to a window for progress."""
        window.activity.watch("which", "computing errors of ε", self.busy_changed, self.cancel)

    @property
    def headline(self) -> Headline | None:
        """Headline of the curves; None while the maps are shown."""
        view = self.view
        return view.headline if view is not None and self.action.isChecked() else None

    @property
    def role(self) -> str:
        """What the number of the headline is and from how many runs."""
        return "" if self.view is None else self.view.role

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
        """Return the curves to export; None while the maps are shown."""
        view = self.view
        shown = view is not None and self.action.isChecked()
        return resolve_name(EXPORTED)(view) if shown else None

    def close_view(self) -> None:
        """Stop threads and processes before the window closes."""
        self._session.changed.disconnect(self._follow)
        if self.view is not None:
            self.view.close_view()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the available space."""
        if event.type() == QEvent.Type.Resize:
            most = MAX_PANES["window"] if is_narrow(self._parent) else MOST_PANES
            if self._parent.width() < NARROW:
                most = MAX_PANES["page"]
            if most != self.max_panes:
                self.max_panes = most
                self.space_changed.emit()
        return False

    def _choose(self, shown: bool) -> None:
        which = self._session.state.which
        if shown != which.open:
            self._session.set_which(replace(which, open=shown), "show Utility")

    def _follow(self, state: SessionState, _old: SessionState | None = None) -> None:
        """Open or close as the session states."""
        if _old is not None and state.which == _old.which:
            return
        shown = state.which.open
        if shown == (self.view is not None and not self.view.isHidden()) or self._box is None:
            self.headline_changed.emit()
            return
        if self.view is None:
            self.view = resolve_name(VIEW)(*self._given)
            self.view.job.busy_changed.connect(self.busy_changed)
            self.view.headline_changed.connect(self.headline_changed)
            self.view.hide()
            self._box.addWidget(self.view, 1)
        self.action.setChecked(shown)
        leaving, coming = (self._maps, self.view) if shown else (self.view, self._maps)
        leaving.hide()  # first: the window would grow for both
        self.page_changed.emit(shown)
        coming.show()
        if shown:
            self.view.open_view()
        else:
            self.view.cancel()
        self.headline_changed.emit()


ONE_MAP = "estimate, one map"
LINES = 2
"""Minimum height; it is kept so that the maps do not move with the text."""


class MapHeadline(HeadlineStrip):
    """Headline of the page in front, maps or utility curves; hidden if it has none.

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
        """Show a result's headline, unless the curves are in front."""
        self._drawn = result
        self._say()

    def _say(self) -> None:
        text, drawn = self._which.headline, self._drawn
        if text is None and drawn is not None:
            answer = headline_of(get_study(drawn.request.study), drawn, None)
            if answer is None and (self._of_which or self.isHidden()):
                self.show_computing()
                self._of_which = False
            self.set_trailing(answer is None)
        else:
            answer = text
        if answer is not None:
            self.show_answer(answer)
            self.role.setText(self._which.role if text is not None else ONE_MAP)
            self.set_trailing(False)
            self._of_which = text is not None

"""The Figures tab: every preset of every study, found by paper, verdict and words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

from PySide6.QtCore import QSize, QTimer
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from explorer.engine.session.session import Session
from explorer.studies.registry import get_study, study_infos
from explorer.ui.base.theme import Theme
from explorer.ui.controllers.workspace import Workspace
from explorer.ui.controllers.workspace_host import WorkspaceHost
from explorer.ui.gallery.detail import Detail
from explorer.ui.gallery.entries import IndexEntry, entries_of
from explorer.ui.gallery.filters import Filters
from explorer.ui.gallery.gallery import Gallery
from explorer.ui.panels.presets import follow_preset


class FiguresWorkspace(Workspace):
    """Lists presets and opens them. Studies are imported when the tab is shown, one at a time."""

    alone = True

    def __init__(
        self,
        session: Session,
        theme: Theme,
        show_study: Callable[[str], None],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._session, self._theme, self._show_study = session, theme, show_study
        self.filters, self.gallery, self.detail = Filters(theme), Gallery(theme), Detail(theme)
        self.entries: list[IndexEntry] = []
        self._listed: set[str] = set()
        self._next = QTimer(self, singleShot=True)
        self._next.setInterval(0)
        self._next.timeout.connect(self._list_next)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.filters)
        layout.addWidget(self.gallery, 1)
        layout.addWidget(self.detail)
        self.filters.changed.connect(self._filter)
        self.gallery.chosen.connect(self.detail.show_entry)
        self.gallery.opened.connect(self.open)
        self.detail.opened.connect(self.open)
        theme.changed.connect(self._retheme)
        self.detail.show_entry(None)

    @classmethod
    def for_window(cls, window: WorkspaceHost) -> Self:
        """Return the workspace of a window."""
        return cls(window.session, window.theme, window.show_study, window)

    @property
    def listing(self) -> bool:
        """Whether studies are still to be listed."""
        return self._next.isActive()

    def open(self, entry: IndexEntry) -> None:
        """Ask what a preset asks, with its study in front."""
        follow_preset(self._session, entry.item, entry.study_id)
        self._show_study(entry.study_id)

    def showEvent(self, event: QShowEvent) -> None:
        """List the studies that are not listed yet."""
        super().showEvent(event)
        self._next.start()
        self.filters.words.setFocus()

    def minimumSizeHint(self) -> QSize:
        """Return little: beside the docks, which are away while it is in front, all has no room."""
        return QSize(240, 200)

    def close_workspace(self) -> None:
        """List no more."""
        self._next.stop()

    def _list_next(self) -> None:
        info = next((c for c in study_infos() if c.id not in self._listed), None)
        if info is None:
            return
        self._listed.add(info.id)
        more = entries_of(get_study(info.id))
        self.entries += more
        self.gallery.add(more)
        self.filters.set_entries(self.entries)
        self._filter()
        if self.isVisible():
            self._next.start()

    def _filter(self) -> None:
        self.gallery.show_only([e for e in self.entries if self.filters.passes(e)])

    def _retheme(self) -> None:
        self.filters.retheme()
        self.detail.retheme()
        for card in self.gallery.cards:
            card.update()
